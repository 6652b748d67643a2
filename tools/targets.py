"""The targets that there are, by name: sdfg/targets.list."""
import pathlib
import re

LIST = pathlib.Path(__file__).resolve().parent.parent / "sdfg" / "targets.list"
NAMES = tuple(re.findall(r"^X\((\w+)\)$", LIST.read_text(), re.MULTILINE))
# Those whose code clang and gcc compile: nvcc takes seconds for a file, whatever is in it.
OF_C_COMPILERS = tuple(name for name in NAMES if name != "cuda")
