#!/usr/bin/env python3
"""The machinery of ./x realworld on small bundled projects: that it sees equal results as equal, and a wrong
result, a build that fails, a hang and a crash as what they are.

    realworld_test.py --sous build/sous
"""
import argparse
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools" / "realworld"))
import build as builds  # noqa: E402
import projects  # noqa: E402
import report  # noqa: E402


class Bundled:
    """Stands for the archive of source packages."""

    def unpack(self, package, folder, patched):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(HERE / "realworld" / package, folder)
        return "bundled"


def project(name, **changes):
    fields = {"configure": "true", "build": "make -j$JOBS", "test": "make check", **changes}
    return projects.Project(name, name, **fields)


class Bench:
    def __init__(self, folder, sous):
        self.folder = folder
        self.builder = builds.Builder(Bundled(), sous, "clang-19", folder, folder / "work", folder)

    def row(self, subject, mode="rewritten", sous=None):
        plain = self.builder.run(subject, "-O2", "plain")
        real, self.builder.sous = self.builder.sous, sous or self.builder.sous
        row = report.row(plain, self.builder.run(subject, "-O2", mode))
        self.builder.sous = real
        return row

    def script(self, name, text):
        """A program in the place of Sous."""
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path


def equal_results_are_equal(bench):
    for name, tests, nests in (("matrix", 2, 3), ("codec", 3, 3), ("pointers", 25, 24)):
        row = bench.row(project(name))
        assert row["problems"] == [], row
        assert row["tests_plain"] == row["tests_sous"] == tests, row
        assert row["nests_served"] >= nests, row
        assert row["files"] >= 1 and row["functions_with_loops"] >= 3 and row["seconds_own"] > 0, row
        assert row["object_bytes_sous"] > 0 or name == "codec", row  # codec leaves no object


def without_evidence_nothing_is_served(bench):
    row = bench.row(project("codec"), "served")
    assert row["problems"] == [] and row["nests_served"] == 0, row
    assert row["nests_lifted"] == 0 and "floating point" in next(iter(row["files_left"])), row
    row = bench.row(project("matrix"), "served")
    assert row["problems"] == [] and sum(row["not_served"].values()) + row["nests_served"] == row["nests_lifted"] > 0, row


def a_wrong_result_is_seen(bench):
    row = bench.row(project("matrix"), sous=bench.script("wrong", 'exec "$@" -DPLANTED_FAULT\n'))
    assert row["problems"] == ["test trace of a product: PASS without Sous, FAIL with it"], row


def other_bytes_are_seen(bench):
    row = bench.row(project("codec"), sous=bench.script("bytes", 'exec "$@" -DSIZE=999\n'))
    assert row["problems"] == ["output encoded: other bytes"], row


def a_failing_build_is_seen(bench):
    row = bench.row(project("matrix"), sous=bench.script("failing", "exit 1\n"))
    assert row["problems"] == ["build: exit status 2"], row


def a_hang_is_a_failure(bench):
    row = bench.row(project("matrix", minutes=0.1), sous=bench.script("hanging", "sleep 1000\n"))
    assert row["problems"] == ["build: did not end within 6 s"], row


def a_crash_is_a_failure(bench):
    line = '{"fate":"crash","file":"codec.c","folder":"","object":"","why":"","seconds_own":0}'
    row = bench.row(project("codec"), sous=bench.script("crash", f"echo '{line}' >> $SOUS_REPORT\nexec \"$@\"\n"))
    assert row["problems"] == ["crash on codec.c"], row


CASES = (equal_results_are_equal, without_evidence_nothing_is_served, a_wrong_result_is_seen, other_bytes_are_seen,
         a_failing_build_is_seen, a_hang_is_a_failure, a_crash_is_a_failure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", required=True, type=pathlib.Path)
    options = parser.parse_args()
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            case(Bench(pathlib.Path(folder), options.sous.resolve()))
        print(f"{case.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
