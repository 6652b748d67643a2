#!/usr/bin/env python3
"""Tunes the nests of benchmarks/corpus on this machine: what becomes tuning-db/seed/corpus.jsonl.

    python3 tools/corpus.py --sous build/sous --out corpus.jsonl              all functions, double and float
    python3 tools/corpus.py --sous build/sous --out corpus.jsonl fir relax    some
    python3 tools/corpus.py --merge tuning-db/seed/corpus.jsonl corpus.jsonl  adds what a file has to the seeds

Each function is tuned by itself on two cores (--cores), as many at a time as the machine has pairs of cores. Ctrl-C keeps what is done; a
second call with the same --out goes on.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import time

# A neighbour of a nest with less would lose it on the way.
LEAST_GAIN = 1.5
ROOT = pathlib.Path(__file__).resolve().parents[1]
FUNCTION = re.compile(r"^void (\w+)\(", re.MULTILINE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions (default: all); with --merge: files of entries")
    parser.add_argument("--sous", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="entries, one line each")
    parser.add_argument("--merge", type=pathlib.Path, metavar="SEEDS")
    parser.add_argument("--budget", default="60s", help="for each nest")
    parser.add_argument("--cores", type=int, default=2, help="for each function at a time")
    parser.add_argument("--minutes", type=float, default=600, help="begin nothing more after these")
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--flags", default="-O3 -march=native")
    return parser.parse_args()


def tasks(names):
    for file in sorted((ROOT / "benchmarks" / "corpus").glob("*.c")):
        for function in FUNCTION.findall(file.read_text()):
            for element in ("double", "float"):
                if not names or function in names:
                    yield file, function, element


def name_of(file, function, element):
    return f"{file.stem}{'' if element == 'double' else '-' + element}.{function}"


def entries_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_of(entry, name):
    return entry["name"].split("#")[0] == name


def tune(options, task, cores, folder):
    file, function, element = task
    name = name_of(*task)
    database = pathlib.Path(folder) / f"{name}.db"
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.cores), "SOUS_CACHE_DIR": "off"}
    words = ["taskset", "-c", ",".join(map(str, cores)), options.sous, "tune", file, "--nest", function, "--name", name, "--db", database,
             "--budget", options.budget, "--", options.cc, *options.flags.split(), f"-DT={element}"]
    done = subprocess.run([str(w) for w in words], env=environment, capture_output=True, text=True, start_new_session=True)
    exported = subprocess.run([str(options.sous), "db", "export", "--db", str(database)], env=environment, capture_output=True, text=True)
    found = [json.loads(line) for line in exported.stdout.splitlines()]
    return done.stdout + done.stderr, [e for e in found if is_of(e, name)]


def write(path, entries):
    lines = sorted(json.dumps(e, sort_keys=True, separators=(",", ":")) for e in entries)
    path.write_text("".join(line + "\n" for line in lines))


def merge(options):
    entries = entries_in(options.merge)
    for file in options.names:
        entries += entries_in(pathlib.Path(file))
    entries = [e for e in entries if e["baseline_seconds"] >= LEAST_GAIN * e["tuned_seconds"]]
    write(options.merge, list({json.dumps(e, sort_keys=True): e for e in entries}.values()))
    return 0


def main():
    options = arguments()
    if options.merge:
        return merge(options)
    if options.sous is None or options.out is None:
        sys.exit("--sous and --out are wanted")
    known = entries_in(options.out)
    missing = [t for t in tasks(options.names) if not any(is_of(e, name_of(*t)) for e in known)]
    available = sorted(os.sched_getaffinity(0))
    sets = queue.Queue()
    for k in range(max(1, len(available) // options.cores)):
        sets.put(available[k * options.cores:(k + 1) * options.cores] or available)
    start = time.monotonic()

    def one(task):
        if time.monotonic() - start > 60 * options.minutes:
            return name_of(*task), "not begun: no time was left\n", []
        cores = sets.get()
        try:
            return name_of(*task), *tune(options, task, cores, folder)
        finally:
            sets.put(cores)

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(sets.qsize()) as pool:
        running = [pool.submit(one, task) for task in missing]
        try:
            for done in concurrent.futures.as_completed(running):
                name, said, entries = done.result()
                print(f"{name}: {said}", end="", flush=True)
                known += entries
                write(options.out, known)
        except KeyboardInterrupt:
            for task in running:
                task.cancel()
    print(f"{len(known)} entries in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
