#!/usr/bin/env python3
"""./x verify: every recipe on every kernel, bit for bit (`sous bench verify`; its options follow).

    ./x verify                                         116 cases, an hour on two processors
    ./x verify --kernels gemm,lu --size MINI --record  some, and the result goes to tests/results.jsonl
"""
import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import results
from build_folders import SOURCE, configure_and_build


def main():
    parser = argparse.ArgumentParser(prog="./x verify", description=__doc__.split("\n")[0], add_help=False)
    parser.add_argument("--build", type=Path, default=SOURCE / "build", help="the ordinary build folder")
    parser.add_argument("--record", action="store_true", help="add the result to tests/results.jsonl")
    arguments, options = parser.parse_known_args()
    build, start = arguments.build.resolve(), time.monotonic()
    configure_and_build(build, ["sous"])
    last = ""
    with subprocess.Popen([build / "sous", "bench", "verify", *options], stdout=subprocess.PIPE, text=True) as verify:
        for line in verify.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    if arguments.record and re.match(r"\d+ cases", last):
        results.append("sous bench verify", [(" ".join(options) or "all kernels", f"{last} ({time.monotonic() - start:.0f} s)",
                                              verify.returncode == 0)])
    return verify.returncode


if __name__ == "__main__":
    sys.exit(main())
