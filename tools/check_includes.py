#!/usr/bin/env python3
"""Holds every #include "…" of the tree against the module table below.

A top-level folder is a module; it may include itself and what the table names. Clang, isl, SQLite and FAISS headers
have one place each, and so has what knows C.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# module -> modules it may include, besides itself
MAY_INCLUDE = {
    "sdfg": set(),
    "frontends": {"sdfg"},
    "transforms": {"sdfg"},
    "targets": {"sdfg"},
    "tuning-db": {"sdfg", "transforms"},
    "server": {"sdfg", "transforms", "tuning-db"},
    "client": {"sdfg", "frontends", "transforms", "targets", "tuning-db"},
    "benchmarks": {"sdfg", "frontends", "transforms", "targets", "tuning-db", "server", "client"},
}
# An arrow for what the target `protocol` declares.
EXCEPTIONS = {"client": {"server/gzip.h", "server/job_protocol.h", "server/protocol.h"}}
# Plain C programs: compiled on their own, as a user would.
KERNELS = ROOT / "benchmarks" / "polybench"
# What generated code includes stands alone: nothing of ours but itself.
STANDALONE = "targets/runtime/"
# third-party headers with one place: pattern -> paths that may include them
ONE_PLACE = {
    r"clang/|llvm/": ["frontends/c/"],
    r"isl/": ["sdfg/"],
    r"sqlite3\.h": ["tuning-db/sqlite"],
    r"faiss/": ["tuning-db/nearest"],
    r"boost/": ["server/connection.", "server/http_server.cc", "server/stream.h", "server/tls."],
    r"openssl/": ["server/secret.", "server/tls.", "client/tls."],
    r"brotli/": ["server/content."],
    r"zlib\.h": ["server/gzip."],
    # What stands in front of C compilers, or rewrites C; all else of client/ knows languages by frontends/lifted.h.
    r"frontends/c/": ["frontends/c/", "client/compile.", "client/command_opt.", "client/db_add.", "client/front.",
                      "client/request.", "client/timed_program.", "client/verdicts.", "benchmarks/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


# The program's entry point joins the client with the harness.
PROGRAM = "client/main.cc"


def complaints(path: str, text: str):
    module = "benchmarks" if path == PROGRAM else path.split("/", 1)[0]
    for quote, name in INCLUDE.findall(text):
        for pattern, places in ONE_PLACE.items():
            if re.match(pattern, name) and not any(path.startswith(p) for p in [*places, "tests/"]):
                yield f"{path}: {name} belongs to {', '.join(places)}"
        if quote == "<" or any(re.match(pattern, name) for pattern in ONE_PLACE):
            continue
        other = name.split("/", 1)[0]
        if path.startswith(STANDALONE) and not name.startswith(STANDALONE):
            yield f"{path}: {name}: {STANDALONE} includes only itself"
        elif module in MAY_INCLUDE and other != module:
            if other not in MAY_INCLUDE:
                yield f"{path}: \"{name}\": write the path from the repository root"
            elif other not in MAY_INCLUDE[module] and name not in EXCEPTIONS.get(module, ()):
                yield f"{path}: {module}/ may not include {name}"
        if module in MAY_INCLUDE and other in MAY_INCLUDE and not (ROOT / name).exists():
            yield f"{path}: {name} does not exist"


def main() -> int:
    found = []
    for module in [*MAY_INCLUDE, "tests"]:
        for file in sorted((ROOT / module).rglob("*")):
            if KERNELS in file.parents:
                continue
            if file.suffix in (".h", ".cc") and file.is_file():
                found += complaints(file.relative_to(ROOT).as_posix(), file.read_text(errors="replace"))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
