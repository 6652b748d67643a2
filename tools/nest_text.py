"""Pieces of C that families of nests are written with (corpus_nests.py)."""
FAMILIES = []  # in the order in which they are declared


def family(write):
    FAMILIES.append(write)
    return write


def loop(variable, first, end, body, step="++"):
    return f"for (int {variable} = {first}; {variable} < {end}; {variable}{step}) {{\n{body}\n}}"


def nest(loops, body):
    for variable, first, end in reversed(loops):
        body = loop(variable, first, end, body)
    return body


def function(name, parameters, body):
    return f"void {name}({', '.join(parameters)}) {{\n{body}\n}}\n"


def ints(*names):
    return [f"int {n}" for n in names]


def reads(*names):
    return [f"const T *restrict {n}" for n in names]


def writes(*names):
    return [f"T *restrict {n}" for n in names]


def coefficient(r):
    return f"(T){r.choice([0.1, 0.125, 0.2, 0.25, 0.3, 0.5, 0.7, 1.5])}"


def at(matrix, row, column, width, transposed=False):
    return f"{matrix}[({column}) * {width} + {row}]" if transposed else f"{matrix}[({row}) * {width} + {column}]"


ACTIVATIONS = ["{}", "{} > 0 ? {} : 0", "{} > 0 ? {} : (T)0.01 * {}", "{} < 0 ? 0 : {} > 6 ? 6 : {}"]
