"""Families of nests over arrays: products, factorizations, passes, stencils, windows (corpus_nests.py)."""
from nest_text import ACTIVATIONS, at, coefficient, family, ints, nest, reads, writes


@family
def product(r):
    ta, tb = r.random() < 0.4, r.random() < 0.4
    depth = r.choice(["k", "k", "k", "8", "32", "64", "3"])
    bounds = {"i": "n", "j": "m", "l": depth}
    term = r.choice(["{a} * {b}", "{a} * {b}", "{a} * {b}", "({a} - {b}) * ({a} - {b})", "fabs({a} - {b})", "alpha * {a} * {b}"])
    a = at("a", "i", "l", "n" if ta else depth, ta)
    b = at("b", "l", "j", depth if tb else "m", tb)
    term = term.format(a=a, b=b)
    more = reads("a", "b")
    if r.random() < 0.2:
        term += " + " + at("d", "i", "l", depth) + " * " + at("e", "l", "j", "m")
        more += reads("d", "e")
    scalars = ["T alpha"] if "alpha" in term else []
    form = r.choice(["sum", "sum", "update", "update", "beta", "layer"])
    c = "c[i * m + j]"
    if form in ("sum", "layer"):
        end = f"{c} = s;"
        if form == "layer":
            more += reads("bias")
            end = f"s += bias[{r.choice('ij')}];\n{c} = " + r.choice(ACTIVATIONS).replace("{}", "s") + ";"
        body = nest([("i", 0, "n"), ("j", 0, "m")], f"T s = 0;\n{nest([('l', 0, depth)], f's += {term};')}\n{end}")
    else:
        order = r.sample("ijl", 3)
        body = nest([(v, 0, bounds[v]) for v in order], f"{c} += {term};")
        if form == "beta":
            body = nest([("i", 0, "n"), ("j", 0, "m")], f"{c} *= {coefficient(r)};") + "\n" + body
    return ints("n", "m", *(["k"] if depth == "k" else [])) + scalars + more + writes("c"), body


@family
def semiring(r):
    plus, times = r.choice([("min", "+"), ("max", "+"), ("max", "min"), ("min", "max"), ("max", "*")])
    x = {"+": "a[i * n + l] + b[l * n + j]", "*": "a[i * n + l] * b[l * n + j]", "min": "(a[i * n + l] < b[l * n + j] ? a[i * n + l] : b[l * n + j])",
         "max": "(a[i * n + l] > b[l * n + j] ? a[i * n + l] : b[l * n + j])"}[times]
    c = "c[i * n + j]"
    compare = "<" if plus == "min" else ">"
    if r.random() < 0.5:
        return ints("n") + reads("a", "b") + writes("c"), nest(
            [("i", 0, "n"), ("j", 0, "n")],
            f"T s = {c};\n" + nest([("l", 0, "n")], f"T v = {x};\ns = v {compare} s ? v : s;") + f"\n{c} = s;")
    x = x.replace("a[", "c[").replace("b[", "c[")
    return ints("n") + writes("c"), nest([("l", 0, "n"), ("i", 0, "n"), ("j", 0, "n")], f"T v = {x};\nif (v {compare} {c}) {c} = v;")


@family
def batch(r):
    n = r.choice(["n", "n", "4", "8", "12", "16", "3"])
    tb = r.random() < 0.4
    shared = r.random() < 0.3
    a, b = f"a[(t * {n} + i) * {n} + l]", ("b[" if shared else f"b[t * {n} * {n} + ") + (f"j * {n} + l]" if tb else f"l * {n} + j]")
    c = f"c[(t * {n} + i) * {n} + j]"
    around = [("t", 0, "count" if n != "n" else "16"), ("i", 0, n), ("j", 0, n)]
    body = nest(around, f"T s = {r.choice(['0', c])};\n{nest([('l', 0, n)], f's += {a} * {b};')}\n{c} = s;")
    return ints("n" if n == "n" else "count") + reads("a", "b") + writes("c"), body


@family
def triangular(r):
    kind = r.choice(["syrk", "syr2k", "trmm", "symm", "gram"])
    if kind in ("syrk", "gram", "syr2k"):
        t = r.random() < 0.5
        x = lambda m, row: at(m, row, "l", "n" if t else "k", t)
        term = f"{x('a', 'i')} * {x('a', 'j')}"
        if kind == "syr2k":
            term = f"{x('a', 'i')} * {x('b', 'j')} + {x('b', 'i')} * {x('a', 'j')}"
        first, end = (("0", "i + 1") if r.random() < 0.5 else ("i", "n"))
        form = f"T s = 0;\n{nest([('l', 0, 'k')], f's += {term};')}\nc[i * n + j] = s;"
        if r.random() < 0.5:
            form = nest([("l", 0, "k")], f"c[i * n + j] += {term};")
        return ints("n", "k") + reads("a", *(["b"] if kind == "syr2k" else [])) + writes("c"), nest([("i", 0, "n"), ("j", first, end)], form)
    inside = ("l", 0, "i + 1") if r.random() < 0.5 else ("l", "i", "n")
    c = "c[i * m + j]"
    order = [("i", 0, "n"), inside, ("j", 0, "m")] if r.random() < 0.5 else [("i", 0, "n"), ("j", 0, "m"), inside]
    return ints("n", "m") + reads("a", "b") + writes("c"), nest(order, f"{c} += {at('a', 'i', 'l', 'n', kind == 'symm')} * b[l * m + j];")


@family
def factorization(r):
    kind = r.choice(["lu", "cholesky", "ldl", "solve", "solve_rows", "gram_schmidt"])
    if kind == "lu":
        update = nest([("j", "k + 1", "n")], "a[i * n + j] -= a[i * n + k] * a[k * n + j];")
        return ints("n") + writes("a"), nest([("k", 0, "n")], nest([("i", "k + 1", "n")], f"a[i * n + k] /= a[k * n + k] + (T)4;\n{update}"))
    if kind in ("cholesky", "ldl"):
        inner = nest([("k", 0, "j")], "s -= a[i * n + k] * a[j * n + k]" + (" * d[k];" if kind == "ldl" else ";"))
        close = "a[i * n + j] = s / (a[j * n + j] + (T)2);"
        return ints("n") + (reads("d") if kind == "ldl" else []) + writes("a"), nest([("i", 0, "n"), ("j", 0, "i")], f"T s = a[i * n + j];\n{inner}\n{close}")
    if kind == "gram_schmidt":
        dots = nest([("i", 0, "n")], "s += q[i * n + k] * q[i * n + j];")
        body = f"T s = 0;\n{dots}\nr[k * n + j] = s;\n" + nest([("i", 0, "n")], "q[i * n + j] -= (T)0.01 * q[i * n + k] * s;")
        return ints("n") + writes("q", "r"), nest([("k", 0, "n"), ("j", "k + 1", "n")], body)
    x = "b[i * m + j]" if kind == "solve" else "b[j * n + i]"
    y = "b[k * m + j]" if kind == "solve" else "b[j * n + k]"
    divide = nest([("j", 0, "m")], f"{x} /= l[i * n + i] + (T)3;") if r.random() < 0.6 else ""
    order = [("k", 0, "i"), ("j", 0, "m")] if r.random() < 0.6 else [("j", 0, "m"), ("k", 0, "i")]
    return ints("n", "m") + reads("l") + writes("b"), nest([("i", 0, "n")], nest(order, f"{x} -= l[i * n + k] * {y};") + "\n" + divide)


@family
def passes(r):
    """Matrices that are read once or twice: matrix times vector and its kin."""
    a, t = "a[i * m + j]", r.random() < 0.4
    kind = r.choice(["times", "times", "both", "rank", "rank2", "two", "transposed", "weighted"])
    if kind == "times":
        term = r.choice([f"{a} * x[j]", f"{a} * x[j] * w[j]", f"({a} - x[j]) * ({a} - x[j])", f"{a} * {a} * x[j]"])
        end = r.choice(["y[i] = s;", "y[i] += s;", "y[i] = s * x[i % 1];", "y[i] = alpha * s + y[i];"]).replace(" * x[i % 1]", "")
        scalars = ["T alpha"] if "alpha" in end else []
        return ints("n", "m") + scalars + reads("a", "x", *(["w"] if "w[" in term else [])) + writes("y"), nest(
            [("i", 0, "n")], f"T s = 0;\n{nest([('j', 0, 'm')], f's += {term};')}\n{end}")
    if kind == "both":
        return ints("n", "m") + reads("a", "x", "p") + writes("y", "q"), nest([("i", 0, "n"), ("j", 0, "m")], f"q[j] += {a} * p[i];\ny[i] += {a} * x[j];")
    if kind in ("rank", "rank2"):
        term = "x[i] * y[j]" + (" + u[i] * v[j]" if kind == "rank2" else "")
        order = [("i", 0, "n"), ("j", 0, "m")]
        return ints("n", "m") + reads("x", "y", *("uv" if kind == "rank2" else "")) + writes("a"), nest(order[::-1] if t else order, f"{a} {r.choice(['+=', '-=', '='])} {term};")
    if kind == "two":
        return ints("n", "m") + reads("a", "b", "x") + writes("y"), nest(
            [("i", 0, "n")], f"T s = 0, t = 0;\n{nest([('j', 0, 'm')], f's += {a} * x[j];{chr(10)}t += b[i * m + j] * x[j];')}\ny[i] = (T)1.5 * s + (T)1.2 * t;")
    order = [("j", 0, "m"), ("i", 0, "n")] if t else [("i", 0, "n"), ("j", 0, "m")]
    return ints("n", "m") + reads("a", "x") + writes("y"), nest(order, f"y[j] += {a} * x[i]" + (" * x[i];" if kind == "weighted" else ";"))


def points(r, dimensions, radius, box):
    """Offsets of a stencil."""
    if box:
        spans = [range(-radius, radius + 1)] * dimensions
        out = [()]
        for span in spans:
            out = [p + (o,) for p in out for o in span]
        return out
    out = [(0,) * dimensions]
    for d in range(dimensions):
        for o in range(1, radius + 1):
            out += [(0,) * d + (s * o,) + (0,) * (dimensions - d - 1) for s in (-1, 1)]
    return out


def grid(array, offsets):
    parts = [v + (f" + {o}" if o > 0 else f" - {-o}" if o < 0 else "") for v, o in zip("ijk", offsets)]
    text = parts[0]
    for p in parts[1:]:
        text = f"({text}) * n + {p}"
    return f"{array}[{text}]"


def weighted(r, array, offsets, same):
    if same:
        return "(" + " + ".join(grid(array, o) for o in offsets) + f") * {coefficient(r)}"
    return " + ".join(f"{coefficient(r)} * {grid(array, o)}" for o in offsets)


@family
def sweep(r):
    """One sweep over a grid, from one array into another."""
    dimensions, radius = r.choice([1, 2, 2, 2, 3, 3]), r.choice([1, 1, 2, 3])
    box = r.random() < 0.35 and (radius == 1 or dimensions == 2)
    offsets = points(r, dimensions, radius, box)
    value = weighted(r, "a", offsets, r.random() < 0.6)
    more = []
    if r.random() < 0.3:
        value = f"{grid('c', (0,) * dimensions)} * ({value})"
        more = reads("c")
    if r.random() < 0.2:
        value = f"{grid('a', (0,) * dimensions)} - {value}"
    loops = [(v, str(radius), f"n - {radius}") for v in "ijk"[:dimensions]]
    if r.random() < 0.25:
        r.shuffle(loops)
    return ints("n") + reads("a") + more + writes("b"), nest(loops, f"{grid('b', (0,) * dimensions)} {r.choice(['=', '=', '+='])} {value};")


@family
def time(r):
    """Sweeps in time: from one array into another and back, in place, of several fields."""
    dimensions = r.choice([1, 2, 2, 3])
    loops = [(v, "1", "n - 1") for v in "ijk"[:dimensions]]
    zero = (0,) * dimensions
    kind = r.choice(["two", "two", "copy", "place", "wave", "fields"])
    if kind == "fields" and dimensions == 1:
        kind = "wave"
    offsets = points(r, dimensions, 1, r.random() < 0.3)
    if kind == "two":
        same = r.random() < 0.6
        body = nest(loops, f"{grid('b', zero)} = {weighted(r, 'a', offsets, same)};") + "\n" + nest(loops, f"{grid('a', zero)} = {weighted(r, 'b', offsets, same)};")
        arrays = "ab"
    elif kind == "copy":
        body = nest(loops, f"{grid('b', zero)} = {weighted(r, 'a', offsets, True)};") + "\n" + nest(loops, f"{grid('a', zero)} = {grid('b', zero)};")
        arrays = "ab"
    elif kind == "place":
        body = nest(loops, f"{grid('a', zero)} = {weighted(r, 'a', offsets, r.random() < 0.7)};")
        arrays = "a"
    elif kind == "wave":
        body = nest(loops, f"{grid('b', zero)} = (T)2 * {grid('a', zero)} - {grid('b', zero)} + {weighted(r, 'a', offsets, True)};")
        body += "\n" + nest(loops, f"{grid('a', zero)} = (T)2 * {grid('b', zero)} - {grid('a', zero)} + {weighted(r, 'b', offsets, True)};")
        arrays = "ab"
    else:
        one, other = (1,) + zero[1:], (0, 1) + zero[2:]
        body = nest(loops, f"{grid('a', zero)} -= {coefficient(r)} * ({grid('c', zero)} - {grid('c', tuple(-x for x in one))});") + "\n"
        body += nest(loops, f"{grid('b', zero)} -= {coefficient(r)} * ({grid('c', zero)} - {grid('c', tuple(-x for x in other))});") + "\n"
        body += nest(loops, f"{grid('c', zero)} -= {coefficient(r)} * ({grid('a', one)} - {grid('a', zero)} + {grid('b', other)} - {grid('b', zero)});")
        arrays = "abc"
    return ints("steps", "n") + writes(*arrays), nest([("t", 0, "steps")], body)


@family
def window(r):
    """Filters with short or long windows over lines, images and images of several channels."""
    kind = r.choice(["fir", "rows", "columns", "image", "image", "pool", "channels", "separable"])
    taps = r.choice(["3", "5", "7", "9", "16", "taps"])
    given = ["taps"] if taps == "taps" else []
    if kind == "fir":
        where = r.choice(["t + l", f"t + {taps} - 1 - l", "t + 2 * l"])
        return ints("n", *given) + reads("x", "h") + writes("y"), nest([("t", 0, "n")], f"T s = 0;\n{nest([('l', 0, taps)], f's += x[{where}] * h[l];')}\ny[t] = s;")
    if kind in ("rows", "columns"):
        x = f"in[i * (m + {taps}) + j + l]" if kind == "rows" else "in[(i + l) * m + j]"
        scale = r.choice(["s", f"s / {taps}", f"s * {coefficient(r)}"])
        return ints("n", "m", *given) + reads("in", "h") + writes("out"), nest(
            [("i", 0, "n"), ("j", 0, "m")], f"T s = 0;\n{nest([('l', 0, taps)], f's += {x} * h[l];')}\nout[i * m + j] = {scale};")
    size = r.choice(["3", "3", "5", "7"])
    if kind == "image":
        return ints("n", "m") + reads("in", "w") + writes("out"), nest(
            [("i", 0, "n"), ("j", 0, "m")],
            f"T s = 0;\n{nest([('u', 0, size), ('v', 0, size)], f's += in[(i + u) * (m + {size}) + j + v] * w[u * {size} + v];')}\nout[i * m + j] = s;")
    if kind == "pool":
        size = r.choice(["2", "3", "4"])
        x = f"in[({size} * i + u) * {size} * m + {size} * j + v]"
        keep = r.choice([f"s = {x} > s ? {x} : s;", f"s += {x};"])
        return ints("n", "m") + reads("in") + writes("out"), nest([("i", 0, "n"), ("j", 0, "m")], f"T s = 0;\n{nest([('u', 0, size), ('v', 0, size)], keep)}\nout[i * m + j] = s;")
    if kind == "channels":
        inputs, outs = r.choice(["3", "8", "16"]), r.choice(["4", "8", "16", "32"])
        x = f"in[(c * (n + 2) + i + u) * (n + 2) + j + v] * w[((o * {inputs} + c) * 3 + u) * 3 + v]"
        return ints("n") + reads("in", "w") + writes("out"), nest(
            [("o", 0, outs), ("i", 0, "n"), ("j", 0, "n")],
            f"T s = 0;\n{nest([('c', 0, inputs), ('u', 0, '3'), ('v', 0, '3')], f's += {x};')}\nout[(o * n + i) * n + j] = s;")
    radius = r.choice([1, 2, 3])
    row = " + ".join(f"{coefficient(r)} * in[i * m + j{' + ' + str(o) if o > 0 else ' - ' + str(-o) if o < 0 else ''}]" for o in range(-radius, radius + 1))
    column = " + ".join(f"{coefficient(r)} * tmp[(i{' + ' + str(o) if o > 0 else ' - ' + str(-o) if o < 0 else ''}) * m + j]" for o in range(-radius, radius + 1))
    return ints("n", "m") + reads("in") + writes("tmp", "out"), nest(
        [("i", 0, "n"), ("j", str(radius), f"m - {radius}")], f"tmp[i * m + j] = {row};") + "\n" + nest(
        [("i", str(radius), f"n - {radius}"), ("j", str(radius), f"m - {radius}")], f"out[i * m + j] = {column};")
