#!/usr/bin/env python3
"""Every error code in the sources has a row in docs/errors.md, and every row has a code in the sources.

Codes are string literals of the form "area.kebab-case" in fail("…"), Error{"…"} or a refusal table, or made by a
reader of JSON for an area. With --update,
missing rows are added, their meaning taken from the message beside the code (edit it where it says too little), and
rows without a code are dropped; what a person wrote stays.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["sdfg", "frontends", "transforms", "targets", "tuning-db", "server", "client", "benchmarks"]
RAISED = re.compile(r'(?:\bfail|\bError|\brefuse|\breason|\bstop)\s*[({]\s*"([a-z0-9_-]+(?:\.[a-z0-9-]+)+)"')
LITERAL = re.compile(r'"([a-z0-9_-]+(?:\.[a-z0-9-]+)+)"')
ROW = re.compile(r"^\| `([a-z0-9_.-]+)` \| (.*) \|$", re.MULTILINE)
# Readers of JSON make codes of the area that they are given (tuning-db/json_reader.h).
MADE = [(re.compile(r'\bparse_json\([^;]*?"([a-z-]+)"'), ("json", "budget")),
        (re.compile(r'\bObjectReader::of\([^,;]*, "([a-z-]+)"'), ("field",)),
        (re.compile(r'\bcheck_version\(\w+, "([a-z-]+)"'), ("version",))]
# literals that look like codes and are file names
FILE_NAME = re.compile(r"\.(h|c|cc|cpp|o|i|d|json|jsonl|lock|db|so|md|a|s|sdfg|txt|dot|svg)$")


# "code", then the expression of the message up to the end of the statement or table row
MESSAGE = r'"{}"\s*,\s*((?:"(?:[^"\\\\]|\\\\.)*"|[^;"}}])*)'
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def message(code: str, text: str) -> str:
    """The literals of the message, with … for what is computed."""
    found = re.search(MESSAGE.format(re.escape(code)), text)
    if not found:
        return ""
    pieces = STRING.findall(re.split(r",\s*(?=[a-z_]+[,)(.])|\{", found.group(1))[0])
    return " … ".join(p.strip() for p in pieces if p.strip()).replace("|", "\\|").replace('\\"', '"')


def update(page: pathlib.Path, codes: dict, listed: dict) -> None:
    lines = ["# Error codes", "", "Every refusal carries a code; codes are stable. `tools/check_errors.py` holds this page",
             "against the sources.", ""]
    area = None
    for code in sorted(codes):
        if code.split(".")[0] != area:
            area = code.split(".")[0]
            lines += ["", f"## {area}", "", "| code | meaning |", "|---|---|"]
        lines.append(f"| `{code}` | {listed.get(code) or codes[code]} |")
    page.write_text("\n".join(lines).replace("\n\n\n", "\n\n") + "\n")


def main() -> int:
    raised, literals, texts = {}, set(), []
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".h", ".cc") and file.is_file():
                text = file.read_text(errors="replace")
                texts.append(text)
                for code in RAISED.findall(text):
                    raised.setdefault(code, file.relative_to(ROOT).as_posix())
                literals.update(LITERAL.findall(text))
                for pattern, kinds in MADE:
                    for code in [f"{area}.{kind}" for area in pattern.findall(text) for kind in kinds]:
                        raised.setdefault(code, file.relative_to(ROOT).as_posix())
                        literals.add(code)
    page = ROOT / "docs" / "errors.md"
    listed = dict(ROW.findall(page.read_text())) if page.exists() else {}
    areas = {code.split(".")[0] for code in [*raised, *listed]}
    for code in literals:  # codes held in tables or variables
        if code.split(".")[0] in areas and not FILE_NAME.search(code):
            raised.setdefault(code, "a table")
    if "--update" in sys.argv[1:]:
        meanings = {c: next((m for m in (message(c, t) for t in texts) if m), "") for c in raised}
        update(page, meanings, listed)
        return 0
    missing = sorted(set(raised) - set(listed))
    stale = sorted(code for code in listed if code not in literals)
    for code in missing:
        print(f"docs/errors.md: no row for {code} ({raised[code]})")
    for code in stale:
        print(f"docs/errors.md: {code} is nowhere in the sources")
    return 1 if missing or stale else 0


if __name__ == "__main__":
    sys.exit(main())
