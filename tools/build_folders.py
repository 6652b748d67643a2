"""What the long commands of ./x share: build folders of their own beside build/, running commands and tests there."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def run(command, **options):
    """Like subprocess.run, with text and without an exception for a failure."""
    return subprocess.run([str(word) for word in command], check=False, text=True, errors="replace", **options)


def jobs():
    return os.environ.get("SOUS_JOBS", str(os.cpu_count()))


def beside(build, name):
    """build-fuzz, build-coverage, … beside build."""
    build = build.resolve()
    return build.with_name(f"{build.name}-{name}")


def cached(build, name, default):
    """What a build folder was configured with; the default where there is no such folder."""
    cache = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text(), re.M) if cache.exists() else None
    return found[1] if found else default


def configure(build, options=()):
    if (build / "build.ninja").exists():
        return
    command = ["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
               "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19", *options]
    if run(command, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"cmake could not configure {build}; a stale folder? remove it and run again")


def configure_and_build(build, targets=(), options=()):
    """No targets: all. ccache serves what did not change."""
    configure(build, options)
    wanted = ["--target", *targets] if targets else []
    if run(["cmake", "--build", build, "-j", jobs(), *wanted]).returncode != 0:
        sys.exit(f"the build in {build} stopped; the first error is above")


def fuzz_targets():
    text = (SOURCE / "tests/fuzz/targets.list").read_text()
    return re.findall(r"^X\((\w+)\)", text, re.MULTILINE)


# In CI: the tests of the modules through which generated code comes to be, but not those on random nests, which are long.
CUT_TARGETS = ("test_sdfg", "test_frontends", "test_transforms", "test_targets", "test_golden", "fuzz_corpus",
               *(f"fuzz_{name}" for name in fuzz_targets()))
CUT_LEAVES_OUT = r"^e2e\.|^Property\.|AtRandom|^Random\."


def not_built(build):
    """The names of the tests whose program is not there."""
    listed = run(["ctest", "--test-dir", build, "--show-only=json-v1"], stdout=subprocess.PIPE)
    return [test["name"] for test in json.loads(listed.stdout)["tests"]
            if "command" not in test or shutil.which(test["command"][0]) is None]


def run_ctest(build, log, regex="", cut=False, environment=None):
    """ctest's output, which is kept in `log`, and its exit status."""
    words = ["ctest", "--test-dir", build, "-j", jobs(), "--output-on-failure", "--timeout", "3600"]
    words += ["-R", regex] if regex else []
    if cut:
        words += ["-E", "|".join([CUT_LEAVES_OUT, *(f"^{re.escape(name)}$" for name in not_built(build))])]
    done = run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    log.write_text(done.stdout)
    return done.stdout, done.returncode


def profiles(build):
    """Where the programs of a build with SOUS_COVERAGE leave what ran."""
    return build / "profiles"


def counting(build, environment):
    """The environment in which they do, with what earlier runs left removed."""
    folder = profiles(build)
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.profraw"):
        old.unlink()
    # %8m: processes of one program merge into eight files, so that thousands of compilations do not make thousands of files.
    return {**environment, "LLVM_PROFILE_FILE": str(folder / "%8m.profraw")}
