#!/usr/bin/env python3
"""Every error code in the sources has a row in docs/errors.md, and every row has a code in the sources.

Codes are string literals of the form "area.kebab-case" in fail("…"), Error{"…"} or a refusal table. An area counts
once docs/errors.md has a section for it or a fail() uses it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["sdfg", "frontends", "transforms", "targets", "tuning-db", "server", "client", "benchmarks"]
RAISED = re.compile(r'(?:\bfail|\bError|\brefuse|\breason|\bstop)\s*[({]\s*"([a-z0-9_]+(?:\.[a-z0-9-]+)+)"')
LITERAL = re.compile(r'"([a-z0-9_]+(?:\.[a-z0-9-]+)+)"')
ROW = re.compile(r"^\| `([a-z0-9_.-]+)` \|", re.MULTILINE)
# literals that look like codes and are file names
FILE_NAME = re.compile(r"\.(h|c|cc|cpp|o|i|d|json|jsonl|lock|db|so|md|a|s|sdfg|txt|dot|svg)$")


def main() -> int:
    raised, literals = {}, set()
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".h", ".cc") and file.is_file():
                text = file.read_text(errors="replace")
                for code in RAISED.findall(text):
                    raised.setdefault(code, file.relative_to(ROOT).as_posix())
                literals.update(LITERAL.findall(text))
    page = ROOT / "docs" / "errors.md"
    listed = set(ROW.findall(page.read_text())) if page.exists() else set()
    areas = {code.split(".")[0] for code in raised}
    for code in literals:  # codes held in tables or variables
        if code.split(".")[0] in areas and not FILE_NAME.search(code):
            raised.setdefault(code, "a table")
    missing = sorted(set(raised) - listed)
    stale = sorted(code for code in listed if code not in literals)
    for code in missing:
        print(f"docs/errors.md: no row for {code} ({raised[code]})")
    for code in stale:
        print(f"docs/errors.md: {code} is nowhere in the sources")
    return 1 if missing or stale else 0


if __name__ == "__main__":
    sys.exit(main())
