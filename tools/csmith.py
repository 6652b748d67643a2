#!/usr/bin/env python3
"""csmith's programs through the launcher: what sous makes of them must say what the compiler's own programs say.

    ./x fuzz csmith                                  2,000 programs
    csmith.py --sous build/sous                      100 programs, those that every test run sees
    csmith.py --sous build/sous --seed 47 --runs 1   one of them again

Each program is built by plain clang-19 at -O0 and at -O2, and by `sous clang-19 -O2` with every nest that is lifted
rewritten, evidence or not (--recipe=normal-form). Checksums must be equal, nothing may crash or hang, and a build by
sous may take no more than five times the processor time of plain -O2 (and a second, which small programs need to
start). Programs on which
the two plain builds disagree, or that do not end in time, say nothing and are counted apart. csmith itself makes few
loops over arrays, so its options here ask for arrays and leave out what ends every nest (bit-fields, unions, volatile).
A failure is kept in --keep: the program, and what was seen. Exit status 77: csmith is not installed.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import results
import targets

INCLUDE = "/usr/include/csmith"
OPTIONS = (["--no-bitfields", "--no-unions", "--no-volatiles", "--max-array-dim", "2", "--max-array-len-per-dim", "20",
            "--no-pointers"],
           ["--no-volatiles", "--max-funcs", "4", "--no-structs", "--no-unions"],
           [])
RUN_SECONDS, BUILD_SECONDS, STARTING = 2, 120, 1.0
SLOWER = float(os.environ.get("SOUS_CSMITH_SLOWER", "5"))  # more for a sous that is slow itself: ./x sanitize


def seed_options(seed):
    """Options of csmith and of sous for the program of this seed."""
    return OPTIONS[seed % len(OPTIONS)], targets.OF_C_COMPILERS[seed // len(OPTIONS) % len(targets.OF_C_COMPILERS)]


def run(words, folder, limit):
    """(status, output, seconds of processor time); status 124: it did not end within `limit` seconds of that, or thirty
    times as long by the clock (others may be at work on this machine)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_")}
    environment.update(OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive", SOUS_LOG="none")
    with tempfile.TemporaryFile() as output:
        started = subprocess.Popen(["prlimit", f"--cpu={limit}", *map(str, words)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        stop = threading.Timer(30 * limit, lambda: os.killpg(started.pid, signal.SIGKILL))
        stop.start()
        _, status, usage = os.wait4(started.pid, 0)
        late = not stop.is_alive() or os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        stop.cancel()
        started.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return 124 if late else started.returncode, text, usage.ru_utime + usage.ru_stime


class Verdict:
    """What came of one program: "agrees", why it says nothing, or what is wrong with sous's build."""

    def __init__(self, seed, kind, what="", served=0, left=0):
        self.seed, self.kind, self.what, self.served, self.left = seed, kind, what, served, left


def judge(seed, sous, keep):
    """The verdict on the program of one seed."""
    csmith, target = seed_options(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        status, text, _ = run(["csmith", "--seed", seed, *csmith, "--output", "p.c"], folder, 60)
        if status:
            return Verdict(seed, "csmith made none", text)
        compile_it = ["-w", "-I", INCLUDE, "p.c", "-o"]
        outputs = []
        for level in ("-O0", "-O2"):
            status, text, seconds = run(["clang-19", level, *compile_it, level[1:]], folder, BUILD_SECONDS)
            if status:
                return Verdict(seed, "the compiler fails", text)
            status, text, _ = run([f"./{level[1:]}"], folder, RUN_SECONDS)
            if status == 124:
                return Verdict(seed, "the program does not end")
            outputs.append((status, text))
        if outputs[0] != outputs[1]:
            return Verdict(seed, "the compiler disagrees with itself")
        status, text, sous_seconds = run([sous, "--db=none", "--explain=all", "--recipe=normal-form", f"--target={target}",
                                          "clang-19", "-O2", *compile_it, "sous"], folder, BUILD_SECONDS)
        served = len(re.findall(r"\bserved\b", text))
        left = len(re.findall(r"\bleft as it is\b", text))
        what = ""
        if status == 124 or sous_seconds > SLOWER * seconds + STARTING:
            what = f"compiles in {sous_seconds:.1f} s instead of {seconds:.1f}"
        if not what:
            if status or "internal error" in text or "faulted" in text:
                what = f"the build ends with {status}: {text[-1500:]}"
            else:
                got = run(["./sous"], folder, 4 * RUN_SECONDS)[:2]
                if got != outputs[0]:
                    what = f"says {got[1].strip()[-200:]} (status {got[0]}), plain: {outputs[0][1].strip()[-200:]}"
        if what:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "p.c", keep / f"csmith-{seed}.c")
            (keep / f"csmith-{seed}.txt").write_text(f"--target={target}\n{what}\n")
        return Verdict(seed, "WRONG" if what else "agrees", what, served, left)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", required=True)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("csmith-failures"))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOUS_SEED") or 1), help="of the first program")
    parser.add_argument("--runs", type=int, default=int(os.environ.get("SOUS_CASES") or 100), help="how many programs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--record", action="store_true", help="add the results to tests/results.jsonl")
    arguments = parser.parse_args()
    if not shutil.which("csmith") or not pathlib.Path(INCLUDE).is_dir():
        print("csmith is not installed: apt-get install csmith libcsmith-dev")
        return 77
    sous = str(pathlib.Path(arguments.sous).resolve())
    first, cases = arguments.seed, arguments.runs
    kinds, served, left, wrong = collections.Counter(), 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for verdict in pool.map(lambda seed: judge(seed, sous, arguments.keep.resolve()), range(first, first + cases)):
            kinds[verdict.kind] += 1
            served, left = served + verdict.served, left + verdict.left
            if verdict.kind == "WRONG":
                wrong += 1
                what = " ".join(verdict.what.split())
                print(f"failure {what} | tools/csmith.py --sous {arguments.sous} --seed {verdict.seed} --runs 1", flush=True)
    said = (f"csmith: seeds {first} to {first + cases - 1}: " + ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())) +
            f"; nests: {served} rewritten, {left} left as they are")
    print(f"executions {cases}\n{said}")
    if arguments.record:
        results.append("./x fuzz", [("csmith", said, wrong == 0)])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
