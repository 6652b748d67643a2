#!/usr/bin/env python3
"""Generated pages: docs/cli.md and docs/steps.md come from the program itself, docs/trust.md from tests/results.jsonl
(tools/trust.py), docs/openapi.yaml from the server's routes (tools/openapi.py). Says which differ, or writes them."""
import argparse
import pathlib
import subprocess
import sys

import openapi
import trust

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = {"docs/cli.md": ["help", "--markdown"], "docs/steps.md": ["help", "--markdown", "steps"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sous", required=True, help="the program")
    parser.add_argument("--update", action="store_true", help="write the pages instead of comparing")
    options = parser.parse_args()
    differ = False

    def said(*arguments):
        return subprocess.run([options.sous, *arguments], capture_output=True, text=True, check=True).stdout

    texts = {page: said(*arguments) for page, arguments in PAGES.items()}
    texts["docs/openapi.yaml"] = openapi.page((ROOT / "server/openapi.yaml").read_text(), said("serve", "--routes"))
    texts["docs/trust.md"] = trust.page()
    for page, text in texts.items():
        path = ROOT / page
        if options.update:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            print(f"{page}: differs from what its program says")
            differ = True
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
