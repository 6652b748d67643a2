"""What a program must do at least: operations and bytes, from the formulas of its suite file.

The sizes in the formulas are those that the program itself defines ("#define NI SIZE(20, 60, 200, 1000, 2000)"), so
that they are written down once.
"""
import ast
import json
import operator
import pathlib
import re

SIZES = ["MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE"]
DEFINITION = re.compile(r"^#define (\w+) SIZE\(([0-9, ]+)\)", re.MULTILINE)
ELEMENT_BYTES = {"f64": 8, "f32": 4, "i64": 8, "i32": 4}
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.Pow: operator.pow}


def evaluate(formula, names):
    """Value of an arithmetic formula. Not eval: a suite file may come from anywhere."""
    def value(node):
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"not understood in {formula!r}: {ast.dump(node)}")
    return value(ast.parse(formula, mode="eval"))


def dimensions(source, size):
    """The sizes that a C file defines for a dataset."""
    column = SIZES.index(size)
    return {name: int(values.split(",")[column]) for name, values in DEFINITION.findall(source)}


def work(suite_path, program, size, element_type):
    """(operations, bytes) of a program of a suite file, or None where it does not say."""
    suite_path = pathlib.Path(suite_path)
    suite = json.loads(suite_path.read_text())
    row = next((p for p in suite["programs"] if p["name"] == program), None)
    if row is None or "work" not in row or size not in SIZES:
        return None
    names = dimensions((suite_path.parent / row["sources"][0]).read_text(), size)
    element = ELEMENT_BYTES[suite["types"][element_type]["element"]]
    return evaluate(row["work"]["operations"], names), element * evaluate(row["work"]["elements"], names)
