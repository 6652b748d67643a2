"""The targets that there are, by name: sdfg/targets.list."""
import pathlib
import re

LIST = pathlib.Path(__file__).resolve().parent.parent / "sdfg" / "targets.list"
NAMES = tuple(re.findall(r"^X\((\w+)\)$", LIST.read_text(), re.MULTILINE))
