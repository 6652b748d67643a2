"""The targets that there are, by name: targets/targets.list."""
import pathlib
import re

LIST = pathlib.Path(__file__).resolve().parent.parent / "targets" / "targets.list"
NAMES = tuple(re.findall(r"^X\((\w+)\)$", LIST.read_text(), re.MULTILINE))
