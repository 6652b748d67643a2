#!/usr/bin/env python3
"""Tunes the nests of benchmarks/corpus, and nests drawn at random (corpus_nests.py), on this machine: what becomes
tuning-db/seed/corpus.jsonl.

    python3 tools/corpus.py --sous build/sous --out corpus.jsonl              all functions, double and float
    python3 tools/corpus.py --sous build/sous --out corpus.jsonl fir relax    some
    python3 tools/corpus.py --sous build/sous --out corpus.jsonl --seed 1 --count 400    and 400 drawn ones
    python3 tools/corpus.py --merge tuning-db/seed/corpus.jsonl corpus.jsonl  adds what a file has to the seeds

Each function is tuned by itself on two cores (--cores), as many at a time as the machine has pairs of cores. Ctrl-C keeps what is done; a
second call with the same --out goes on.
"""
import argparse
import collections
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

import corpus_nests

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
    parser.add_argument("--samples", type=pathlib.Path, help="every measurement, one line each, faster or not")
    parser.add_argument("--count", type=int, default=0, help="so many nests drawn at random as well")
    parser.add_argument("--seed", type=int, default=1, help="of those")
    parser.add_argument("--families", nargs="*", default=[], metavar="NAME", help="of those, only these (corpus_nests.py --help)")
    parser.add_argument("--budget", default="60s", help="for each nest")
    parser.add_argument("--cores", type=int, default=2, help="for each function at a time")
    parser.add_argument("--minutes", type=float, default=600, help="begin nothing more after these")
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--flags", default="-O3 -march=native")
    return parser.parse_args()


def tasks(options, folder):
    """File, function and definitions of each: those drawn have an element type of their own."""
    for file in sorted((ROOT / "benchmarks" / "corpus").glob("*.c")):
        for function in FUNCTION.findall(file.read_text()):
            for element in ("double", "float"):
                if not options.names or function in options.names:
                    name = f"{file.stem}{'' if element == 'double' else '-' + element}.{function}"
                    yield file, function, name, [f"-DT={element}"]
    for function, text in corpus_nests.nests(options.seed, options.count, options.families):
        file = folder / f"{function}.c"
        file.write_text(text)
        yield file, function, f"drawn-{options.seed}.{function}", []


def entries_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def seeds():
    folder = pathlib.Path(os.environ.get("SOUS_SEED_DIR") or ROOT / "tuning-db" / "seed")
    return [e for file in folder.glob("*.jsonl") for e in entries_in(file)]


def is_of(entry, name):
    return entry["name"].split("#")[0] == name


def tune(options, task, cores, folder):
    file, function, name, definitions = task
    database, samples = folder / f"{name}.db", folder / f"{name}.jsonl"
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.cores), "SOUS_CACHE_DIR": "off"}
    words = ["taskset", "-c", ",".join(map(str, cores)), options.sous, "tune", file, "--nest", function, "--name", name, "--db", database,
             "--samples", samples, "--budget", options.budget, "--", options.cc, *options.flags.split(), *definitions]
    done = subprocess.run([str(w) for w in words], env=environment, capture_output=True, text=True, start_new_session=True)
    exported = subprocess.run([str(options.sous), "db", "export", "--db", str(database)], env=environment, capture_output=True, text=True)
    found = [json.loads(line) for line in exported.stdout.splitlines()]
    if options.samples and samples.exists():
        with options.samples.open("a") as out:
            out.write(samples.read_text())
    known = {e["id"] for e in seeds()}  # of earlier runs: the new database began with them
    return done.stdout + done.stderr, [e for e in found if is_of(e, name) and e["id"] not in known]


def write(path, entries):
    lines = sorted(json.dumps(e, sort_keys=True, separators=(",", ":")) for e in entries)
    path.write_text("".join(line + "\n" for line in lines))


def children(node):
    return [c for part in ("body", "then", "else") for c in node.get(part) or []]


def depth(node):
    return (node["kind"] == "loop") + max(map(depth, children(node)), default=0)


def written(node):
    return ([node["out"]["container"]] if "out" in node else []) + [name for c in children(node) for name in written(c)]


def looked_for(entry):
    """Neither single loops nor integers for the most part: docs/tuning.md says why."""
    types = {c["name"]: c["type"] for c in entry["nest"]["containers"]}
    root = entry["nest"]["root"]
    most, _ = collections.Counter(types[name] for node in root for name in written(node)).most_common(1)[0]
    return max(map(depth, root)) > 1 and most in ("f32", "f64")


def merge(options):
    entries = entries_in(options.merge)
    for file in options.names:
        entries += entries_in(pathlib.Path(file))
    entries = [e for e in entries if e["baseline_seconds"] >= LEAST_GAIN * e["tuned_seconds"]]
    entries = [e for e in entries if looked_for(e)]
    write(options.merge, list({json.dumps(e, sort_keys=True): e for e in entries}.values()))
    return 0


def main():
    options = arguments()
    if options.merge:
        return merge(options)
    if options.sous is None or options.out is None:
        sys.exit("--sous and --out are wanted")
    known = entries_in(options.out)
    available = sorted(os.sched_getaffinity(0))
    sets = queue.Queue()
    for k in range(max(1, len(available) // options.cores)):
        sets.put(available[k * options.cores:(k + 1) * options.cores] or available)
    start = time.monotonic()

    def one(task):
        if time.monotonic() - start > 60 * options.minutes:
            return task[2], "not begun: no time was left\n", []
        cores = sets.get()
        try:
            return task[2], *tune(options, task, cores, folder)
        finally:
            sets.put(cores)

    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(sets.qsize()) as pool:
        folder = pathlib.Path(temporary)
        missing = [t for t in tasks(options, folder) if not any(is_of(e, t[2]) for e in known)]
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
