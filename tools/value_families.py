"""Families of nests of rows, values and lookups: recurrences, statistics, tables, iterations, integers (corpus_nests.py)."""
from nest_text import at, coefficient, family, ints, nest, reads, writes


@family
def recurrence(r):
    """Scans and recursive filters along the rows or columns of a matrix."""
    along_rows, order = r.random() < 0.6, r.choice([1, 1, 2, 3])
    v, end = ("j", "m") if along_rows else ("i", "n")
    back = lambda o: f"a[i * m + j - {o}]" if along_rows else f"a[(i - {o}) * m + j]"
    x = r.choice(["x[i * m + j]", "x[i * m + j]", "a[i * m + j]"])
    value = r.choice(["scan", "filter", "filter", "max"])
    if value == "scan":
        value = f"{x} + {back(1)}"
    elif value == "max":
        value = f"{x} > {back(1)} ? {x} : {back(1)}"
    else:
        value = f"{coefficient(r)} * {x} + " + " + ".join(f"(T){r.choice([0.1, 0.2, 0.3])} * {back(o)}" for o in range(1, order + 1))
    loops = [("i", 0 if along_rows else order, "n"), ("j", order if along_rows else 0, "m")]
    if r.random() < 0.4:
        loops.reverse()
    return ints("n", "m") + (reads("x") if "x[" in x else []) + writes("a"), nest(loops, f"a[i * m + j] = {value};")


@family
def statistics(r):
    """Sums, extrema and moments of rows or columns."""
    rows = r.random() < 0.6
    outer, inner = (("i", 0, "n"), ("j", 0, "m")) if rows else (("j", 0, "m"), ("i", 0, "n"))
    a, o = "a[i * m + j]", "i" if rows else "j"
    kind = r.choice(["sum", "squares", "maximum", "moments", "pair", "center"])
    if kind == "moments":
        body = f"T s = 0, q = 0;\n{nest([inner], f's += {a};{chr(10)}q += {a} * {a};')}\nmean[{o}] = s;\ndeviation[{o}] = q - s * s;"
        return ints("n", "m") + reads("a") + writes("mean", "deviation"), nest([outer], body)
    if kind == "center":
        return ints("n", "m") + writes("a", "mean"), nest([outer], f"T s = 0;\n{nest([inner], f's += {a};')}\nmean[{o}] = s * (T)0.01;\n" + nest([inner], f"{a} -= mean[{o}];"))
    step = {"sum": f"s += {a};", "squares": f"s += {a} * {a};", "maximum": f"s = {a} > s ? {a} : s;", "pair": f"s += {a} * b[i * m + j];"}[kind]
    return ints("n", "m") + reads("a", *(["b"] if kind == "pair" else [])) + writes("mean"), nest([outer], f"T s = {r.choice(['0', '(T)1'])};\n{nest([inner], step)}\nmean[{o}] = s;")


@family
def rowwise(r):
    """Chains of passes over each row: normalization, softmax, activations with a scale for each row or column."""
    a, b = "a[i * m + j]", "b[i * m + j]"
    kind = r.choice(["softmax", "norm", "scale", "affine", "clip", "unit"])
    row = [("j", 0, "m")]
    if kind == "softmax":
        body = f"T top = a[i * m], s = 0;\n{nest(row, f'top = {a} > top ? {a} : top;')}\n{nest(row, f'{b} = exp({a} - top);{chr(10)}s += {b};')}\n{nest(row, f'{b} /= s;')}"
    elif kind == "norm":
        body = f"T s = 0, q = 0;\n{nest(row, f's += {a};')}\ns /= m;\n{nest(row, f'q += ({a} - s) * ({a} - s);')}\nq = 1 / sqrt(q / m + (T)1e-5);\n{nest(row, f'{b} = ({a} - s) * q;')}"
    elif kind == "unit":
        body = f"T q = 0;\n{nest(row, f'q += {a} * {a};')}\n{nest(row, f'{b} = {a} / q;')}"
    else:
        value = {"scale": f"{a} * v[i] + v[j]", "affine": f"({a} - v[j]) * {coefficient(r)} + {b}", "clip": f"{a} > v[j] ? v[j] : {a} < 0 ? 0 : {a}"}[kind]
        return ints("n") + reads("a", "v") + writes("b"), nest([("i", 0, "n"), ("j", 0, "n")], f"{b} = {value};").replace("* m", "* n")
    return ints("n", "m") + reads("a") + writes("b"), nest([("i", 0, "n")], body)


@family
def pointwise(r):
    """Much arithmetic for each element of an image or of records."""
    x, y = "a[i * m + j]", "b[i * m + j]"
    kind = r.choice(["polynomial", "root", "divide", "blend", "exponential", "colour", "complex", "rotate"])
    if kind == "polynomial":
        value = coefficient(r)
        for _ in range(r.choice([3, 5, 8])):
            value = f"({value}) * {x} + {coefficient(r)}"
    elif kind == "colour":
        c = lambda k: f"a[3 * (i * m + j) + {k}]"
        value = " + ".join(f"{coefficient(r)} * {c(k)}" for k in range(3))
    elif kind == "complex":
        z = lambda m, k: f"{m}[2 * (i * m + j) + {k}]"
        return ints("n", "m") + reads("a", "b") + writes("c"), nest(
            [("i", 0, "n"), ("j", 0, "m")], f"{z('c', 0)} = {z('a', 0)} * {z('b', 0)} - {z('a', 1)} * {z('b', 1)};\n{z('c', 1)} = {z('a', 0)} * {z('b', 1)} + {z('a', 1)} * {z('b', 0)};")
    elif kind == "rotate":
        z = lambda m, k: f"{m}[3 * (i * m + j) + {k}]"
        return ints("n", "m") + reads("a", "q") + writes("c"), nest(
            [("i", 0, "n"), ("j", 0, "m")], "\n".join(f"{z('c', k)} = " + " + ".join(f"q[{3 * k + l}] * {z('a', l)}" for l in range(3)) + ";" for k in range(3)))
    else:
        value = {"root": f"sqrt({x} * {x} + {y} * {y})", "divide": f"{x} / ({y} + {x} * {y})", "blend": f"{x} * v[j] + {y} * ((T)1 - v[j])", "exponential": f"exp(-{x} * {x}) * {y}"}[kind]
        return ints("n", "m") + reads("a", "b", *(["v"] if "v[" in value else [])) + writes("c"), nest([("i", 0, "n"), ("j", 0, "m")], f"c[i * m + j] = {value};")
    return ints("n", "m") + reads("a") + writes("c"), nest([("i", 0, "n"), ("j", 0, "m")], f"c[i * m + j] = {value};")


@family
def pairs(r):
    """Every element with every other: forces, potentials, densities, counts."""
    dimensions = r.choice([1, 2, 3, 3])
    names = "xyz"[:dimensions]
    d = "\n".join(f"T d{v} = {v}[j] - {v}[i];" for v in names)
    square = " + ".join(f"d{v} * d{v}" for v in names)
    kind = r.choice(["force", "force", "potential", "density", "count", "nearest"])
    if kind == "force":
        w = r.choice([f"m[j] / ({square} + (T)1e-3)", f"m[j] / sqrt({square} + (T)1e-3)", f"m[j] * ({square})"])
        sums = "\n".join(f"s{v} += w * d{v};" for v in names)
        body = f"{''.join(f'T s{v} = 0; ' for v in names)}\n{nest([('j', 0, 'n')], f'{d}{chr(10)}T w = {w};{chr(10)}{sums}')}\n" + "\n".join(f"f{v}[i] = s{v};" for v in names)
        return ints("n") + reads(*names, "m") + writes(*[f"f{v}" for v in names]), nest([("i", 0, "n")], body)
    step = {"potential": f"s += m[j] / sqrt({square} + (T)1e-3);", "density": f"s += exp(-({square}));", "count": f"s += {square} < (T)0.25 ? (T)1 : (T)0;",
            "nearest": f"T w = {square};\ns = w < s ? w : s;"}[kind]
    body = f"T s = {'(T)1e9' if kind == 'nearest' else '0'};\n{nest([('j', 0, 'n')], d + chr(10) + step)}\nf[i] = s;"
    return ints("n") + reads(*names, *(["m"] if "m[" in step else [])) + writes("f"), nest([("i", 0, "n")], body)


@family
def table(r):
    """Dynamic programs over grids and triangles."""
    kind = r.choice(["longest", "cheapest", "area", "triangle", "band"])
    if kind == "longest":
        return ints("n", "m") + reads("x", "y") + writes("f"), nest(
            [("i", 1, "n"), ("j", 1, "m")],
            "T best = f[(i - 1) * m + j] > f[i * m + j - 1] ? f[(i - 1) * m + j] : f[i * m + j - 1];\n"
            "T both = f[(i - 1) * m + j - 1] + (x[i] == y[j] ? (T)1 : (T)0);\nf[i * m + j] = both > best ? both : best;")
    if kind == "cheapest":
        ways = ["f[(i - 1) * m + j]", "f[i * m + j - 1]"] + (["f[(i - 1) * m + j - 1]"] if r.random() < 0.5 else [])
        steps = "".join(f"if ({w} < s) s = {w};\n" for w in ways[1:])
        return ints("n", "m") + reads("c") + writes("f"), nest([("i", 1, "n"), ("j", 1, "m")], f"T s = {ways[0]};\n{steps}f[i * m + j] = s + c[i * m + j];")
    if kind == "area":
        return ints("n", "m") + reads("a") + writes("f"), nest(
            [("i", 1, "n"), ("j", 1, "m")], "f[i * m + j] = a[i * m + j] + f[(i - 1) * m + j] + f[i * m + j - 1] - f[(i - 1) * m + j - 1];")
    if kind == "band":
        back = r.choice([3, 8, 17])
        return ints("n", "m") + reads("v") + writes("f"), nest(
            [("i", 1, "n"), ("j", str(back), "m")],
            f"T with = f[(i - 1) * m + j - {back}] + v[i];\nf[i * m + j] = with > f[(i - 1) * m + j] ? with : f[(i - 1) * m + j];")
    return ints("n") + reads("w") + writes("f"), "for (int i = n - 1; i >= 0; i--)\n" + nest(
        [("j", "i + 1", "n")], "T s = f[i * n + j];\n" + nest([("k", "i", "j")], "T v = f[i * n + k] + f[(k + 1) * n + j];\nif (v < s) s = v;") + "\nf[i * n + j] = s + w[i * n + j];")


@family
def moves(r):
    kind = r.choice(["transpose", "transpose3", "interleave", "split", "mirror", "add_transposed"])
    if kind == "transpose":
        return ints("n", "m") + reads("a") + writes("b"), nest([("i", 0, "n"), ("j", 0, "m")], f"b[j * n + i] = a[i * m + j]{r.choice(['', ' * (T)2', ' + b[j * n + i]'])};")
    if kind == "transpose3":
        order = r.choice(["(k * n + j) * n + i", "(i * n + k) * n + j", "(j * n + i) * n + k", "(k * n + i) * n + j"])
        return ints("n") + reads("a") + writes("b"), nest([("i", 0, "n"), ("j", 0, "n"), ("k", 0, "n")], f"b[{order}] = a[(i * n + j) * n + k];")
    channels = r.choice([2, 3, 4])
    if kind in ("interleave", "split"):
        one, many = f"[({channels} * i + c) * m + j]", f"[{channels} * (i * m + j) + c]"
        to, source = (many, one) if kind == "interleave" else (one, many)
        return ints("n", "m") + reads("a") + writes("b"), nest([("i", 0, "n"), ("j", 0, "m"), ("c", 0, str(channels))], f"b{to} = a{source};")
    if kind == "mirror":
        return ints("n", "m") + reads("a") + writes("b"), nest([("i", 0, "n"), ("j", 0, "m")], "b[i * m + j] = a[i * m + m - 1 - j];")
    return ints("n") + reads("a") + writes("b"), nest([("i", 0, "n"), ("j", 0, "n")], "b[i * n + j] = (a[i * n + j] + a[j * n + i]) * (T)0.5;")


@family
def escape(r):
    """Iterations for each point until it is far enough or near enough: how many there are, only the data says."""
    most = r.choice(["50", "200", "most"])
    given = ["most"] if most == "most" else []
    kind = r.choice(["square", "square", "newton", "decay", "integer"])
    if kind == "integer":
        step = r.choice(["v = v % 2 == 0 ? v / 2 : 3 * v + 1;", "v = (v >> 1) ^ (-(v & 1) & 40961);", "v = v % 7 == 0 ? v / 7 : v + 1;"])
        body = f"int v = start[i] & 1023, steps = 0;\nwhile (v > 1 && steps < {most}) {{\n{step}\nsteps++;\n}}\nout[i] = steps;"
        return ints("n", *given) + ["const int *restrict start", "int *restrict out"], nest([("i", 0, "n")], body)
    if kind == "square":
        first = r.choice(["(cx[j] - (T)1.6) * 2", "(T)-2 + j * (x0 * 2) / m"])
        second = "(cy[i] - 1) * 2" if "c" in first else "(T)-1.2 + i * (y0 * 2) / n"
        power = r.choice(["T t = x * x - y * y + a;\ny = 2 * x * y + b;\nx = t;", "T t = x * (x * x - 3 * y * y) + a;\ny = y * (3 * x * x - y * y) + b;\nx = t;"])
        body = f"T a = {first}, b = {second}, x = 0, y = 0;\nint steps = 0;\nwhile (steps < {most} && x * x + y * y < (T)4) {{\n{power}\nsteps++;\n}}\nout[i * m + j] = steps;"
        inputs = reads("cx", "cy") if "c" in first else ["T x0", "T y0"]
        return ints("n", "m", *given) + inputs + ["int *restrict out"], nest([("i", 0, "n"), ("j", 0, "m")], body)
    if kind == "newton":
        body = f"T a = fabs(x[i * m + j]) + (T)0.5, s = a;\nfor (int l = 0; l < {most}; l++) {{\nT next = (T)0.5 * (s + a / s);\nif (fabs(next - s) < (T)1e-6 * s) break;\ns = next;\n}}\nout[i * m + j] = s;"
    else:
        body = f"T v = fabs(x[i * m + j]) + (T)1;\nint l = 0;\nwhile (v > (T)0.01 && l < {most}) {{\nv *= (T)0.9;\nl++;\n}}\nout[i * m + j] = v + l;"
    return ints("n", "m", *given) + reads("x") + writes("out"), nest([("i", 0, "n"), ("j", 0, "m")], body)


@family
def functions(r):
    """Mathematical functions of each element: prices, waves, activations, distances on a sphere."""
    one = lambda v: r.choice([f"exp({v})", f"exp(-{v} * {v})", f"log(fabs({v}) + (T)1)", f"sqrt(fabs({v}))", f"sin({v})", f"cos({v})", f"tanh({v})", f"pow(fabs({v}) + (T)0.5, p)"])
    rows = r.random() < 0.5
    place = "[i * m + j]" if rows else "[i]"
    terms = [one(f"x{place}")]
    for _ in range(r.choice([0, 1, 2, 3])):
        terms.append(r.choice([f"{one(f'y{place}')}", f"{coefficient(r)} * {one(f'x{place}')}", one(f"x{place} / (y{place} + (T)3)")]))
    value = f" {r.choice(['+', '*'])} ".join(terms)
    body = f"T v = {value};\nout{place} = v;"
    if r.random() < 0.4:
        body = f"T v = {value};\nT q = 1 / (1 + (T)0.2 * fabs(v));\nT w = q * ((T)0.3 + q * ((T)-0.35 + q * (T)1.7));\nout{place} = v < 0 ? (T)1 - w : w;"
    loops = [("i", 0, "n"), ("j", 0, "m")] if rows else [("i", 0, "n")]
    scalars = ["T p"] if "p)" in body else []
    return ints("n", *(["m"] if rows else [])) + scalars + reads("x", *(["y"] if "y[" in body else [])) + writes("out"), nest(loops, body)


@family
def kernels(r):
    """Sums of functions of both indices: transforms, splines, integrals, windows."""
    angle = r.choice(["(T)i * j * w", "(T)(i * j % n) * w", "(i + (T)0.5) * j * w", "x[j] * (T)i"])
    function = r.choice(["cos", "sin", "both", "exp", "sinc"])
    data = "x[j]" if "x[" not in angle else "y[j]"
    inputs = reads("x", *(["y"] if "y[" in data else []))
    if function == "both":
        step = f"T t = {angle};\nre += {data} * cos(t);\nim -= {data} * sin(t);"
        return ints("n") + ["T w"] + inputs + writes("a", "b"), nest([("i", 0, "n")], f"T re = 0, im = 0;\n{nest([('j', 0, 'n')], step)}\na[i] = re;\nb[i] = im;")
    value = {"sinc": "(t > 0 ? sin(t) / (t + (T)1e-6) : (T)1)", "exp": "exp(-t * t)"}.get(function, f"{function}(t)")
    step = f"T t = {angle};\ns += {data} * {value};"
    return ints("n") + ["T w"] + inputs + writes("a"), nest([("i", 0, "n")], f"T s = 0;\n{nest([('j', 0, 'n')], step)}\na[i] = s;")


@family
def nearest(r):
    """The best of a list for each element, and which one it is."""
    dimensions = r.choice(["2", "3", "8", "d"])
    centres = r.choice(["k", "k", "16"])
    given = (["k"] if centres == "k" else []) + (["d"] if dimensions == "d" else [])
    distance = r.choice(["v * v", "fabs(v)"])
    inner = f"T s = 0;\n{nest([('l', 0, dimensions)], f'T v = x[i * {dimensions} + l] - c[j * {dimensions} + l];{chr(10)}s += {distance};')}"
    end = r.choice(["label[i] = at;", "label[i] = at;\nscore[i] = best;"])
    body = f"T best = (T)1e30;\nint at = 0;\n{nest([('j', 0, centres)], inner + chr(10) + 'if (s < best) { best = s; at = j; }')}\n{end}"
    return ints("n", *given) + reads("x", "c") + ["int *restrict label"] + (writes("score") if "score" in end else []), nest([("i", 0, "n")], body)


@family
def lookup(r):
    """What is read where the data says: tables, sparse rows, resampled images, first matches in rows."""
    kind = r.choice(["resample", "resample", "nearest", "table", "sparse", "sparse", "match", "interpolate"])
    if kind == "resample":
        body = ("T y = (i + (T)0.5) * sy, x = (j + (T)0.5) * sx;\nint u = (int)y, v = (int)x;\nif (u > h - 2) u = h - 2;\nif (v > w - 2) v = w - 2;\n"
                "T fy = y - u, fx = x - v;\nT top = in[u * w + v] * (1 - fx) + in[u * w + v + 1] * fx;\nT low = in[(u + 1) * w + v] * (1 - fx) + in[(u + 1) * w + v + 1] * fx;\n"
                "out[i * m + j] = top * (1 - fy) + low * fy;")
        return ints("n", "m", "h", "w") + ["T sx", "T sy"] + reads("in") + writes("out"), nest([("i", 0, "n"), ("j", 0, "m")], body)
    if kind == "nearest":
        return ints("n", "m", "h", "w") + reads("in") + writes("out"), nest(
            [("i", 0, "n"), ("j", 0, "m")], "int u = (int)((long)i * h / n), v = (int)((long)j * w / m);\nout[i * m + j] = in[u * w + v];")
    if kind == "table":
        change = r.choice(["t[p[i * m + j]]", "t[p[i * m + j]] * x[i * m + j]", "t[p[i * m + j]] + t[(p[i * m + j] + 1) & 255]"])
        return ints("n", "m") + ["const unsigned char *restrict p"] + reads("t", *(["x"] if "x[" in change else [])) + writes("out"), nest(
            [("i", 0, "n"), ("j", 0, "m")], f"out[i * m + j] = {change};")
    if kind == "sparse":
        width = r.choice(["5", "16", "k"])
        given = ["k"] if width == "k" else []
        at = f"column[i * {width} + l]"
        return ints("n", *given) + ["const int *restrict column"] + reads("a", "x") + writes("y"), nest(
            [("i", 0, "n")], f"T s = {r.choice(['0', 'y[i]'])};\n{nest([('l', 0, width)], f's += a[i * {width} + l] * x[{at}];')}\ny[i] = s;")
    if kind == "match":
        return ints("n", "m") + ["T key"] + reads("a") + ["int *restrict first"], nest(
            [("i", 0, "n")], "int at = -1;\n" + nest([("j", 0, "m")], f"if (a[i * m + j] {r.choice(['>', '>='])} key) {{ at = j; break; }}") + "\nfirst[i] = at;")
    return ints("n", "size") + reads("x", "t") + writes("y"), nest(
        [("i", 0, "n")], "T v = fabs(x[i]) * (size - 1);\nint u = (int)v;\nif (u > size - 2) u = size - 2;\nT f = v - u;\ny[i] = t[u] * (1 - f) + t[u + 1] * f;")


@family
def whole(r):
    """Integers: pixels, hashes, bits, generators."""
    kind = r.choice(["blend", "grey", "hash", "bits", "threshold", "generator", "distance"])
    at = "[i * m + j]"
    pixels = [f"const unsigned char *restrict {v}" for v in "ab"]
    if kind == "blend":
        value = r.choice(["(a{p} * alpha + b{p} * (255 - alpha) + 127) / 255", "a{p} + b{p} > 255 ? 255 : a{p} + b{p}", "a{p} * b{p} / 255", "a{p} < 128 ? 2 * a{p} * b{p} / 255 : 255 - 2 * (255 - a{p}) * (255 - b{p}) / 255"])
        value = value.replace("{p}", at)
        return ints("n", "m") + (["int alpha"] if "alpha" in value else []) + pixels + ["unsigned char *restrict out"], nest([("i", 0, "n"), ("j", 0, "m")], f"out{at} = {value};")
    if kind == "grey":
        return ints("n", "m") + pixels[:1] + ["unsigned char *restrict out"], nest(
            [("i", 0, "n"), ("j", 0, "m")], "out[i * m + j] = (77 * a[3 * (i * m + j)] + 150 * a[3 * (i * m + j) + 1] + 29 * a[3 * (i * m + j) + 2]) >> 8;")
    if kind == "threshold":
        return ints("n", "m") + pixels[:1] + ["unsigned char *restrict out"], nest([("i", 0, "n"), ("j", 0, "m")], f"out{at} = a{at} > {r.choice(['100', '(i ^ j) % 256'])} ? 255 : 0;")
    if kind == "distance":
        compare = r.choice(["!=", ">", "^"])
        return ints("n", "m", "k") + ["const int *restrict a", "const int *restrict b", "int *restrict out"], nest(
            [("i", 0, "n"), ("j", 0, "m")], f"int s = 0;\n{nest([('l', 0, 'k')], f's += a[i * k + l] {compare} b[j * k + l];')}\nout{at} = s;")
    rounds = r.choice(["3", "8", "rounds"])
    given = ["rounds"] if rounds == "rounds" else []
    step = {"hash": "v ^= v >> 16;\nv *= 0x45d9f3bu;\nv ^= v >> 13;", "bits": "v = (v & 0x55555555u) + ((v >> 1) & 0x55555555u) + l;", "generator": "v ^= v << 13;\nv ^= v >> 17;\nv ^= v << 5;"}[kind]
    return ints("n", *given) + ["const unsigned *restrict x", "unsigned *restrict out"], nest([("i", 0, "n")], f"unsigned v = x[i];\n{nest([('l', 0, rounds)], step)}\nout[i] = v;")
