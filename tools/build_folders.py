"""What the long commands of ./x share: build folders of their own beside build/, and running commands."""
import os
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
