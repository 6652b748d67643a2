#!/usr/bin/env python3
"""benchmarks/programs: what becomes of each function of each program is what expected.json says, and with its nests
rewritten the program puts out the same bytes.

    programs_test.py --sous build/sous            all programs
    programs_test.py --sous build/sous NAME…      some
    programs_test.py --sous build/sous --update   writes down what is found (look at the difference)
"""
import argparse
import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "benchmarks/programs"
EXPECTED = PROGRAMS / "expected.json"
SUITE = PROGRAMS / "suite.json"
sys.path.insert(0, str(HERE / "semantics"))
from run import Bench, decisions  # noqa: E402

FLAGS = ["-O2", "-w", "-std=gnu17", "-march=native"]


def check(bench, program, row, update):
    source, small = PROGRAMS / program["sources"][0], program["arguments"]["SMALL"]
    bench.good(bench.cc, *FLAGS, source, "-o", "plain", "-lm")
    done = bench.good(bench.sous, "--db=none", "--explain=all", f"--recipe={bench.recipe('normal')}", bench.cc, *FLAGS,
                      source, "-o", "rewritten", "-lm")
    found = {f: sorted({"lifted" if d == "served" else d for d in said}) for f, said in decisions(done.stderr).items()}
    found.pop("main", None)
    expected = {f: sorted(codes) for f, codes in row.get("functions", {}).items()}
    if update:
        row["functions"] = dict(sorted(found.items()))
    assert update or found == expected, f"\n  expected {expected}\n  found    {found}"
    if row.get("parallel"):
        done = bench.good(bench.sous, "--db=none", "--explain=all", f"--recipe={bench.recipe('parallelize')}", bench.cc,
                          *FLAGS, source, "-o", "parallel", "-lm")
        found = decisions(done.stderr)
        missing = [f for f in row["parallel"] if "served" not in found[f]]
        assert not missing, f"\n  not parallel: {missing}"
        plain, parallel = (bench.good(f"./{binary}", *small).stdout for binary in ("plain", "parallel"))
        assert plain == parallel, f"\n  expected {plain}\n  on threads {parallel}"
    plain, rewritten = (bench.good(f"./{binary}", *small).stdout for binary in ("plain", "rewritten"))
    assert plain and plain == rewritten, f"\n  expected {plain}\n  found    {rewritten}"


def write(table):
    """One row a line."""
    rows = ",\n".join("    " + json.dumps(row) for row in sorted(table["programs"], key=lambda row: row["name"]))
    about = json.dumps(table["about"], indent=2).replace("\n", "\n  ")
    EXPECTED.write_text(f'{{\n  "about": {about},\n  "programs": [\n{rows}\n  ]\n}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if shutil.which(options.cc) is None:
        print(f"skipped: there is no {options.cc}")
        return 77
    table = json.loads(EXPECTED.read_text())
    suite = json.loads(SUITE.read_text())
    files = sorted(str(p.relative_to(PROGRAMS)) for p in PROGRAMS.glob("**/*.c"))
    assert sorted(p["sources"][0] for p in suite["programs"]) == files, "suite.json and the folder differ"
    names = [p["name"] for p in suite["programs"]]
    assert sorted(suite["groups"]["development"] + suite["groups"]["judging"]) == sorted(names), "one half is in none"
    rows = {row["name"]: row for row in table["programs"]}
    if options.update:
        rows = {name: rows.get(name, {"name": name}) for name in names}
        table["programs"] = list(rows.values())
    assert sorted(rows) == sorted(names), "suite.json and expected.json differ"
    failed = 0
    for program in suite["programs"]:
        if options.names and program["name"] not in options.names:
            continue
        row = rows[program["name"]]
        with tempfile.TemporaryDirectory(prefix="programs-") as folder:
            try:
                check(Bench(options.sous.resolve(), options.cc, folder), program, row, options.update)
                print("ok    ", row["name"], flush=True)
            except AssertionError as error:
                failed += 1
                print("FAILED", row["name"], error, flush=True)
    if options.update:
        write(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
