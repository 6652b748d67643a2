"""What the long commands of ./x have seen: one line of JSON each in tests/results.jsonl, of which tools/trust.py makes
docs/trust.md. A command writes lines only where it is told to (--record): most runs are for whoever runs them.

A line: the command, what of it this is about, the result in words, whether it passed, date, machine (model and
processors; no name) and commit ("+" behind it: with changes on top). "noted" stands in the place of "commit" where only
the commit that wrote the result down is known.
"""
import datetime
import json
import os
import platform
import re
from pathlib import Path

from build_folders import SOURCE, run

FILE = SOURCE / "tests/results.jsonl"


def machine():
    """'AMD EPYC 9B14, 2 cores': those this process may use."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    name = " ".join(re.sub(r"\((R|TM|tm)\)", "", model[1] if model else platform.machine()).split())
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def commit():
    head = run(["git", "-C", SOURCE, "rev-parse", "--short=7", "HEAD"], capture_output=True)
    changed = run(["git", "-C", SOURCE, "status", "--porcelain", "--untracked-files=no", "--", ".", f":!{FILE.relative_to(SOURCE)}",
                   ":!docs"], capture_output=True)
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "") if head.returncode == 0 else "unknown"


def append(command, rows):
    """`rows`: (what, result, passed) or (what, result, passed, further fields)."""
    stamp = {"date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "machine": machine(),
             "commit": commit()}
    with open(FILE, "a", encoding="utf-8") as file:
        for what, result, passed, *more in rows:
            row = {"command": command, "what": what, "result": result, "passed": passed, **stamp, **(more[0] if more else {})}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(rows)} results added to {FILE.relative_to(SOURCE)}; python3 tools/trust.py --update writes the page")


def newest(path=FILE):
    """{command: {what: row}}: of each the last, in the order in which they first came."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["command"], {})[row["what"]] = row
    return found
