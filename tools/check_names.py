#!/usr/bin/env python3
"""Holds that no type has two definitions in one namespace: what the linker takes for one, and nothing diagnoses.

The functions of such types, their vectors' above all, are the same symbols; which of two stays is the linker's choice,
and it is seen only where they were not inlined (the one-definition rule: C++23, basic.def.odr). Definitions are told by
clang-format's layout: what a namespace holds stands in the first column. What a namespace without a name holds is the
file's own, and tests of several programs may share names.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ["sdfg", "frontends", "transforms", "targets", "tuning-db", "server", "client", "benchmarks"]
OPENED = re.compile(r"(?:inline )?namespace\s*([\w:]*)\s*\{")
CLOSED = re.compile(r"\}\s*// namespace")
DEFINED = re.compile(r"(?:struct|class|union|enum(?: class| struct)?)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)?"
                     r"([\w:]+)(?:\s+final)?\s*(?::[^;]*)?\{")


def definitions(text):
    """The types that the file defines in namespaces with names: (qualified name, line)."""
    namespaces = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if opened := OPENED.match(line):
            if not line.rstrip().endswith("}"):
                namespaces.append(opened[1])
        elif CLOSED.match(line) and namespaces:
            namespaces.pop()
        elif "" not in namespaces and (defined := DEFINED.match(" ".join(lines[number - 1:number + 1]))):
            yield "::".join([*namespaces, defined[1]]), number


def main():
    places = collections.defaultdict(list)
    for module in MODULES:
        for file in sorted((ROOT / module).rglob("*")):
            if file.suffix in (".h", ".cc") and file.is_file():
                # (In one file, the compiler says so, or the two are alternatives.)
                for name, line in dict(definitions(file.read_text(errors="replace"))).items():
                    places[name].append(f"{file.relative_to(ROOT).as_posix()}:{line}")
    twice = {name: where for name, where in sorted(places.items()) if len(where) > 1}
    for name, where in twice.items():
        print(f"{name} has {len(where)} definitions: {', '.join(where)}")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
