#!/usr/bin/env python3
"""`sous bench` from outside, on the smallest sizes: what is written, resumed, compared, kept and drawn.

Nothing here looks at a time: only that times are there. What a compiler that is not installed needs is skipped.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A compiler of two steps, as a source-to-source one is; one that computes something else; one that is not there.
CONFIG = {"version": 1, "compilers": [
    {"name": "two-steps", "steps": [["cp", "{name}.c", "{scratch}/"],
                                    ["clang-19", "{flags}", "{program}", "-I.", "{scratch}/{name}.c", "-o", "{output}",
                                     "{link}"]], "fast_math": ["-Ofast"]},
    {"name": "wrong", "steps": [["sh", "-c", "sed 's/SCALAR(1.5)/SCALAR(1.6)/' {name}.c > {scratch}/{name}.c"],
                                ["clang-19", "{flags}", "{program}", "-I.", "{scratch}/{name}.c", "-o", "{output}",
                                 "{link}"]]},
    {"name": "absent", "command": ["no-such-compiler"],
     "needs": [{"file": "no-such-compiler", "package": "no-such-package"}]}]}


class Bench:
    def __init__(self, sous, folder):
        self.sous, self.folder = sous, pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_")}
        self.environment |= {"SOUS_SEED_DIR": str(self.folder / "none"), "SOUS_DB": str(self.folder / "test.db"),
                             "POLYBENCH_FLUSH_KB": "0", "OMP_WAIT_POLICY": "passive",
                             "XDG_CACHE_HOME": str(self.folder / "cache")}
        (self.folder / "none").mkdir()
        (self.folder / "compilers.json").write_text(json.dumps(CONFIG))

    def run(self, *words, status=0, environment=None):
        done = subprocess.run([str(self.sous), "bench", *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=280, env=self.environment | (environment or {}))
        assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def suite(self, *words, **more):
        return self.run("polybench", "--size", "MINI", "--runs", "2", *words, **more)

    def lines(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


def compilers_sizes_and_types_in_one_session(bench):
    out = bench.suite("--kernels", "gemm,adi", "--type", "double,float", "--out", "r.jsonl", "--config",
                      "compilers.json", "--budget", "1000", "--compilers",
                      "clang,clang+fast-math,polly,sous@1,sous@2,two-steps,mine=clang-19 -O1").stdout
    lines = bench.lines("r.jsonl")
    assert len(lines) == 2 * 2 * 7, len(lines)
    assert all(line["right"] and len(line["runs"]) == 2 and line["complete"] for line in lines), lines
    assert len({line["session"] for line in lines}) == 1
    assert {line["threads"] for line in lines if line["compiler"] == "sous@2"} == {2}
    assert any("-ffast-math" in line["commands"][0] for line in lines if line["fast_math"])
    assert all(line["machine"]["triad_bytes"] > 0 for line in lines)
    for text in ("clang s", "two-steps", "geometric mean", "95 % interval", "adi"):
        assert text in out, out


def programs_are_held_against_the_best(bench):
    out = bench.run("programs", "--size", "SMALL", "--runs", "2", "--kernels", "dice,softmax,life", "--out", "r.jsonl",
                    environment={"SOUS_DB": "none"}).stdout
    lines = bench.lines("r.jsonl")
    assert {line["compiler"] for line in lines} == {"clang", "gcc", "polly", "polly-parallel", "sous"}, lines
    assert len(lines) == 15 and all(line["right"] and len(line["user"]) == len(line["runs"]) for line in lines), lines
    assert all(line["bit_equal"] for line in lines if line["compiler"] in ("clang", "sous")), lines
    assert all(line["commands"][-1][0] == line["program"] for line in lines), "with what it was run"
    assert all("functions" not in line for line in lines if line["compiler"] != "sous"), lines
    for text in ("sous/best", "user time", "faster than the best", "slower than clang by more than 3 %"):
        assert text in out, out
    assert "sous/best" in bench.run("report", "r.jsonl").stdout


def libraries_where_a_program_has_them(bench):
    found = [name for name, file in (("openblas", "openblas-pthread/libopenblas.so"), ("blis", "blis-openmp/libblis.so"))
             if pathlib.Path("/usr/lib/x86_64-linux-gnu", file).exists()]
    if found:
        # One thread: threads of a library that wait for each other by spinning take forever on a busy machine.
        columns = ",".join(["clang", *(name + "@1" for name in found)])
        bench.suite("--kernels", "gemm,lu,atax,adi", "--compilers", columns, "--out", "r.jsonl")
        own = [line for line in bench.lines("r.jsonl") if line["compiler"] != "clang"]
        assert len(own) == 3 * len(found), own
        assert all(line.get("right") and line["library"] for line in own), own


def what_is_wrong_or_missing_is_said(bench):
    wrong = bench.suite("--kernels", "gemm", "--config", "compilers.json", "--compilers", "clang,wrong", status=1)
    assert "WRONG" in wrong.stdout, wrong.stdout
    absent = bench.suite("--config", "compilers.json", "--compilers", "clang,absent", status=2)
    assert "no-such-package" in absent.stderr and "bench.missing" in absent.stderr, absent.stderr
    assert "did you mean clang?" in bench.suite("--compilers", "clnag", status=2).stderr
    bench.suite("--compilers", "openblas", status=2)
    bench.suite("--resume", status=2)


def a_session_goes_on(bench):
    words = ("--kernels", "gemm,atax", "--compilers", "clang,sous", "--out", "r.jsonl", "--resume")
    bench.suite(*words)
    first = (bench.folder / "r.jsonl").read_text()
    bench.suite(*words)
    assert (bench.folder / "r.jsonl").read_text() == first, "what is there is not measured again"
    kept = [line for line in first.splitlines(keepends=True) if '"gemm"' in line]
    (bench.folder / "r.jsonl").write_text("".join(kept) + '{"suite": "polyb')
    out = bench.suite(*words).stdout
    assert "gemm" in out and "atax" in out, out
    text = (bench.folder / "r.jsonl").read_text()
    assert text.startswith("".join(kept)) and len(text.splitlines()) == 4, text


def an_interrupt_keeps_what_was_measured(bench):
    words = [str(bench.sous), "bench", "polybench", "--size", "MINI", "--kernels", "gemm,atax,bicg,mvt,2mm,3mm",
             "--compilers", "clang", "--runs", "200", "--out", "r.jsonl"]
    running = subprocess.Popen(words, cwd=bench.folder, env=bench.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for _ in range(1000):
        if (bench.folder / "r.jsonl").exists() and (bench.folder / "r.jsonl").read_text():
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, errors = running.communicate(timeout=60)
    lines = bench.lines("r.jsonl")
    assert lines and len(lines[0]["runs"]) == 200, lines
    if running.returncode == 0:
        return  # it was faster than the signal
    assert running.returncode == 130, (running.returncode, errors)
    assert "--resume" in errors and "geometric mean" in out or "2mm" in out, (out, errors)


def measurements_are_reported_compared_and_kept(bench):
    bench.suite("--kernels", "gemm,atax,adi", "--compilers", "clang,sous", "--out", "a.jsonl")
    # How far they lie apart on a busy machine is no question of a test.
    lines = bench.lines("a.jsonl")
    for line in lines:
        line["runs"] = [min(line["runs"]) * (1 + k / 1000) for k in range(len(line["runs"]))]
    (bench.folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = bench.run("report", "a.jsonl").stdout
    assert "gemm" in table and "geometric mean" in table, table
    summary = json.loads(bench.run("report", "--json", "a.jsonl").stdout)
    assert summary["baseline"] == "clang" and len(summary["rows"]) == 3
    assert "0 faster, 0 slower" in bench.run("compare", "a.jsonl", "a.jsonl").stdout
    bench.run("keep", "a.jsonl", "--results", "kept")
    kept = list((bench.folder / "kept").iterdir())
    assert len(kept) == 1 and len(bench.lines(kept[0])) == 3
    assert "3 the same" in bench.run("compare", kept[0], "a.jsonl").stdout
    # Three times slower than it was: named, and the exit status says so.
    for line in lines:
        if line["compiler"] == "sous" and line["program"] == "adi":
            line["runs"] = [3 * run for run in line["runs"]]
    (bench.folder / "b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    compared = bench.run("compare", kept[0], "b.jsonl", status=1).stdout
    assert "adi" in compared and "slower" in compared and "gemm" not in compared, compared


def variants_are_equal_to_the_originals(bench):
    bench.run("verify", "--suite", "polybench-variants", "--size", "MINI", "--type", "double", "--recipes", "none",
              "--targets", "cpp", "--kernels", "gemm,syrk,mvt")
    # Whether the times agree is no question of a test: status 1 may be that.
    done = subprocess.run([str(bench.sous), "bench", "spellings", "--size", "MINI", "--runs", "1",
                           "--kernels", "gemm,syrk,mvt"], cwd=bench.folder,
                          capture_output=True, text=True, timeout=280, env=bench.environment)
    assert done.returncode in (0, 1) and "3 programs: 0 wrong" in done.stdout, done.stdout + done.stderr


def shapes_take_the_path_that_their_guards_say(bench):
    bench.run("shapes", "--recipes", ROOT / "tuning-db/seed", "--kernels", "trisolv#0", "--build-only", "p")
    cases = (bench.folder / "p/cases.txt").read_text().splitlines()
    for size, path in ((1, 0), (33, 0), (2000, 1)):
        program, threads, label, words = next(c for c in cases if f'"n0":{size}}},"shapes"' in c).split("\t")
        done = subprocess.run([bench.folder / "p" / program, label, *words.split()], capture_output=True, text=True,
                              timeout=60, env=bench.environment | {"OMP_NUM_THREADS": threads})
        assert json.loads(done.stdout)["path"] == path, done.stdout + done.stderr
        with open(bench.folder / "shapes.jsonl", "a") as results:
            results.write(done.stdout)
    # The rest as far as a second goes: what is there is not run again, so that no line is there twice.
    subprocess.run([bench.folder / "p/run.sh", "shapes.jsonl", "1"], cwd=bench.folder, timeout=60, check=True,
                   env=bench.environment)
    lines = [json.dumps([line["nest"], line["shape"], line["threads"]]) for line in bench.lines("shapes.jsonl")]
    assert len(lines) == len(set(lines)) >= 3, lines
    # Whether one was slower is no question of a test: status 1 may be that.
    done = subprocess.run([str(bench.sous), "bench", "shapes", "report", "shapes.jsonl"], cwd=bench.folder,
                          capture_output=True, text=True, timeout=60, env=bench.environment)
    assert done.returncode in (0, 1) and f"{len(lines)} shapes: " in done.stdout, done.stdout + done.stderr
    assert "the results differ" not in done.stdout, done.stdout


def the_page_is_made_by_one_command(bench):
    needed = [pathlib.Path("/usr/bin/gcc-12"), pathlib.Path("/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so"),
              pathlib.Path("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so"),
              pathlib.Path("/usr/lib/x86_64-linux-gnu/lapack/liblapack.so"),
              pathlib.Path("/usr/lib/python3/dist-packages/matplotlib/__init__.py")]
    if not all(file.exists() for file in needed):
        return  # ./x bench-setup would install them
    page = bench.folder / "performance.md"
    environment = bench.environment | {"SOUS_PROGRAM": str(bench.sous), "SOUS_PERFORMANCE": str(bench.folder / "m"),
                                       "SOUS_PERFORMANCE_PAGE": str(page), "SOUS_RESULTS": str(bench.folder / "kept"),
                                       "SOUS_PERFORMANCE_RUNS": "main sizes float fast-math"}
    done = subprocess.run([str(ROOT / "x"), "performance", "--kernels", "gemm,adi", "--size", "MINI", "--runs", "2"],
                          cwd=bench.folder, capture_output=True, text=True, timeout=280, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    text = page.read_text()
    for part in ("## Speed-ups", "| gemm |", "geometric mean", "## Where Sous loses", "## Roofline", "## Threads",
                 "## Sizes", "Machine:", "Date:", "## Single precision", "## With -ffast-math",
                 " sous+fast-math@1 |"):
        assert part in text, f"{part}\n{text}"
    for picture in ("heat-map", "roofline", "threads", "sizes"):
        file = bench.folder / "performance" / f"{picture}.svg"
        assert file.read_text().startswith("<?xml") and file.stat().st_size < 300_000, picture
        assert f"performance/{picture}.svg" in text


CASES = [compilers_sizes_and_types_in_one_session, programs_are_held_against_the_best, libraries_where_a_program_has_them, what_is_wrong_or_missing_is_said,
         a_session_goes_on, an_interrupt_keeps_what_was_measured, measurements_are_reported_compared_and_kept,
         variants_are_equal_to_the_originals, shapes_take_the_path_that_their_guards_say, the_page_is_made_by_one_command]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sous", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if shutil.which("gcc-12") is None or shutil.which("clang-19") is None:
        print("skipped: clang-19 and gcc-12 are wanted")
        return 77
    failed = 0
    for case in CASES:
        if options.names and case.__name__ not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            try:
                case(Bench(options.sous.resolve(), folder))
                print("ok    ", case.__name__, flush=True)
            except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
                failed += 1
                print("FAILED", case.__name__, type(error).__name__, error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
