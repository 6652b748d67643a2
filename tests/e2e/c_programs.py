"""Random C functions with loop nests, in the forms that docs/frontend-c.md accepts, without undefined behaviour.

A function is a list of statements: ("line", text) or ("block", head, [statements], tail). So a shrinker can take
statements out. Integer expressions carry the interval of their values: signed arithmetic that could overflow is masked.
Every loop variable carries lo <= v < sym + c: a subscript is one that this interval proves to be inside its array, up
to the very last element.
"""
import random

# name: (bits, signed)
INTEGERS = {"int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True), "uint16_t": (16, False),
            "int": (32, True), "unsigned": (32, False), "long": (64, True), "uint64_t": (64, False)}
FLOATS = ("double", "float")
ARRAY_TYPES = ("double",) * 5 + ("float",) * 3 + ("int",) * 4 + tuple(INTEGERS)


def limits(name):
    bits, signed = INTEGERS[name]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def promoted(name):
    return "int" if INTEGERS[name][0] < 32 else name


def common(a, b):
    for f in FLOATS:
        if f in (a, b):
            return f
    a, b = promoted(a), promoted(b)
    (x, xs), (y, ys) = INTEGERS[a], INTEGERS[b]
    if x != y:
        return a if x > y else b
    return a if not xs else b


class Value:
    def __init__(self, text, kind, lo=None, hi=None):
        self.text, self.kind = text, kind
        if kind not in FLOATS and lo is None:
            lo, hi = limits(kind)
        self.lo, self.hi = lo, hi


class Variable:
    """An integer with lo <= value < sym + c (sym None: < c)."""

    def __init__(self, name, kind, lo, sym, c):
        self.name, self.kind, self.lo, self.sym, self.c = name, kind, lo, sym, c


class Array:
    """`dims` are (sym, c): sym + c elements. form: flat (one pointer, c text), rows, fixed, global, member, local."""

    def __init__(self, name, kind, dims, form, restrict=False):
        self.name, self.kind, self.dims, self.form, self.restrict = name, kind, dims, form, restrict

    def extent(self, k):
        return ext(self.dims[k])


def ext(bound):
    sym, c = bound
    if sym is None:
        return str(c)
    return sym if c == 0 else f"{sym} {'+' if c > 0 else '-'} {abs(c)}"


class Function:
    def __init__(self, name):
        self.name = name
        self.body, self.arrays, self.parameters = [], [], []
        self.globals, self.helpers = [], []
        self.least = 0  # the smallest size that it may be called with
        self.size_type = "int"
        self.sizes = ["n", "m"]

    def source(self):
        head = ", ".join([f"{self.size_type} {s}" for s in self.sizes] + self.parameters)
        return "\n".join(self.globals + self.helpers + [f"__attribute__((noinline)) void {self.name}({head}) {{"] +
                         render(self.body, 1) + ["}"])

    def call(self):
        """The block of main that calls it: memory for each parameter, its hash afterwards."""
        out = [f"static void run_{self.name}(int which, long n, long m) {{", "  (void)m; (void)n;",
               f"  if (n < {self.least} || m < {self.least}) return;"]
        names = []
        pointers = [a for a in self.arrays if a.form in ("flat", "rows", "vla", "member")]
        for k, a in enumerate(pointers):
            count = " * ".join(f"ELEMENTS({ext(d)})" for d in a.dims)
            out.append(f"  size_t s{k} = {count} * sizeof({a.kind});")
            before = [j for j in range(k) if pointers[j].kind == a.kind and not a.restrict and not pointers[j].restrict
                      and a.form != "member" and pointers[j].form != "member"]
            place = f"place({k}, s{k}, which)"
            if before:
                j = before[-1]
                place = f"overlap(which, {k}, (char *)p{j}, s{j}, s{k}, sizeof({a.kind}))"
            shared = [g for g in self.arrays if g.form == "global" and g.kind == a.kind and not a.restrict]
            if shared and a.form != "member":
                g = shared[0]
                place = f"within(which, (char *){g.name}, sizeof {g.name}, s{k}, sizeof({a.kind}), {place})"
            out.append(f"  {a.kind} *p{k} = ({a.kind} *){place};")
            out.append(f"  fill_{a.kind}(p{k}, s{k} / sizeof({a.kind}));")
        members = [k for k, a in enumerate(pointers) if a.form == "member"]
        for a in self.arrays:
            if a.form == "global":
                count = " * ".join(ext(d) for d in a.dims)
                out.append(f"  fill_{a.kind}(({a.kind} *){a.name}, {count});")
        if members:
            fields = ", ".join(f".{pointers[k].name} = p{k}" for k in members)
            out.append(f"  struct s_{self.name} s = {{.n = n, .m = m, {fields}}};")
        for k, a in enumerate(pointers):
            if a.form == "member":
                continue
            names.append(f"(void *)p{k}")
        arguments = ", ".join(["n", "m"][:len(self.sizes)] + names + (["&s"] if members else []))
        out.append(f"  {self.name}({arguments});")
        for k, a in enumerate(pointers):
            out.append(f"  hash_{a.kind}(p{k}, s{k} / sizeof({a.kind}));")
        for a in self.arrays:
            if a.form == "global":
                count = " * ".join(ext(d) for d in a.dims)
                out.append(f"  hash_{a.kind}(({a.kind} *){a.name}, {count});")
        return "\n".join(out + ["}"])


def render(statements, depth):
    out = []
    for s in statements:
        if s[0] == "line":
            out.append("  " * depth + s[1])
        else:
            out.append("  " * depth + s[1])
            out += render(s[2], depth + 1)
            out.append("  " * depth + s[3])
    return out


class Generator:
    def __init__(self, rng, name):
        self.r, self.f = rng, Function(name)
        self.count = 0
        self.scope = []    # Variables that may be subscripts
        self.scalars = []  # (name, kind) assignable, of any value
        self.depth = 0
        # Half of the functions are simple enough for most recipes to apply.
        self.simple = self.chance(0.5)
        self.budget = rng.choice((2, 3, 4)) if self.simple else rng.choice((4, 6, 9, 14))

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, p):
        return self.r.random() < p

    # ---- the function

    def function(self):
        f, r = self.f, self.r
        f.size_type = r.choice(("int",) * 6 + ("long", "unsigned", "uint64_t", "int16_t", "uint8_t"))
        self.signed_sizes = INTEGERS[f.size_type][1]
        if self.signed_sizes and self.chance(0.5):
            f.least = -3
        kinds = [r.choice(ARRAY_TYPES)]
        for _ in range(r.randint(1, 3)):
            kinds.append(kinds[0] if self.chance(0.6) else r.choice(ARRAY_TYPES))
        members = []
        for k, kind in enumerate(kinds):
            self.array(f"{'ABCDE'[k]}", kind, members)
        if members:
            fields = " ".join(f"{a.kind} *{a.name};" for a in members)
            f.globals.append(f"struct s_{f.name} {{ {f.size_type} n, m; {fields} }};")
            f.parameters.append(f"struct s_{f.name} *s")
        out = Array("out", r.choice(("double", "long")), [(None, 24)], "flat", True)
        f.arrays.append(out)
        f.parameters.append(f"{out.kind} *restrict out")
        self.writable = [a for a in f.arrays if a is not out]
        declared = []
        for _ in range(r.randint(0, 3)):
            kind = r.choice(("double", "float", "int", "long", "unsigned", "uint8_t", "int16_t", "uint64_t"))
            name = self.fresh("t")
            declared.append(("line", f"{kind} {name} = {self.constant(kind)};"))
            self.scalars.append((name, kind))
        self.outside = []
        nests = []
        for _ in range(r.choice((1, 1, 2) if self.simple else (1, 1, 2, 3))):
            nests += self.loop()
            if self.chance(0.2):
                nests += self.statement(False)
        for name, kind in self.outside:
            declared.append(("line", f"{kind} {name} = 5;"))
        ends = [("line", f"out[{k}] = {name};") for k, (name, _) in enumerate((self.scalars + self.outside)[:24])
                if self.chance(0.7)]
        self.r.shuffle(ends)
        f.body = declared + nests + ends
        return f

    def dimension(self):
        r = self.r
        if self.chance(0.25):
            return (None, r.choice((4, 8, 16, 17)))
        return (r.choice(("n", "n", "n", "m")), r.choice((0, 0, 0, 0, 1, 2)))

    def array(self, name, kind, members):
        f, r = self.f, self.r
        restrict = "restrict " if self.chance(0.9 if self.simple else 0.35) else ""
        form = r.choice(("flat1",) * 3 + ("flat2", "flat2", "vla", "vla", "rows", "global", "global2", "member"))
        if form == "flat1":
            a = Array(name, kind, [self.dimension()], "flat", bool(restrict))
            star = self.chance(0.7)
            f.parameters.append(f"{kind} *{restrict}{name}" if star else f"{kind} {name}[{restrict.strip()}]")
        elif form == "flat2":
            a = Array(name, kind, [self.dimension(), self.dimension()], "flat", bool(restrict))
            f.parameters.append(f"{kind} *{restrict}{name}")
        elif form == "vla":
            dims = [self.dimension() for _ in range(r.choice((1, 2, 2, 2, 3)))]
            f.least = max(f.least, 1)
            a = Array(name, kind, dims, "vla", bool(restrict))
            first = ext(dims[0])
            f.parameters.append(f"{kind} {name}[{restrict}{first}]" + "".join(f"[{ext(d)}]" for d in dims[1:]))
        elif form == "rows":
            dims = [self.dimension(), (None, r.choice((4, 7, 8, 16)))]
            a = Array(name, kind, dims, "rows", bool(restrict))
            f.parameters.append(f"{kind} (*{restrict}{name})[{dims[1][1]}]")
        elif form == "member":
            a = Array(name, kind, [self.dimension()], "member", False)
            members.append(a)
        else:
            dims = [(None, r.choice((70, 80)))] + ([(None, r.choice((8, 70)))] if form == "global2" else [])
            a = Array(f"{f.name}_{name}", kind, dims, "global", True)
            shape = "".join(f"[{d[1]}]" for d in dims)
            f.globals.append(f"{'static ' if self.chance(0.5) else ''}{kind} {a.name}{shape};")
        f.arrays.append(a)

    # ---- loops

    def loop(self):
        """A loop and what stands around it."""
        f, r = self.f, self.r
        self.depth += 1
        self.budget -= 1
        kind = r.choice(("int",) * 6 + ("long", "unsigned", "uint64_t", "int16_t", "uint8_t"))
        if not INTEGERS[kind][1]:
            f.least = max(f.least, 0)
        name = self.fresh("i")
        outside = self.chance(0.25)
        outer = self.scope
        style = r.random()
        lo, sym, c = r.choice((0, 0, 0, 1, 2)), r.choice(("n", "n", "m")), r.choice((0, 0, 0, -1, -2, 1))
        if self.chance(0.2):
            sym, c = None, r.choice((1, 3, 4, 8, 16))
        low, high = str(lo), ext((sym, c))
        if style < 0.22 and outer:  # triangular
            v = r.choice(outer)
            which = r.randrange(4)
            if which == 0:
                low, high, lo, sym, c = str(lo), v.name, lo, v.sym, v.c - 1
            elif which == 1:
                low, high, sym, c = str(lo), f"{v.name} + 1", v.sym, v.c
            elif which == 2:
                low, lo = v.name, v.lo
            else:
                low, lo = f"{v.name} + 1", v.lo + 1
        elif style < 0.32 and outer:  # a tile or a window
            v = r.choice(outer)
            w = r.choice((2, 3, 4))
            sym, c = v.sym, v.c
            end = ext((sym, c))
            if self.chance(0.5):
                low, lo, high = v.name, v.lo, f"({v.name} + {w} < {end} ? {v.name} + {w} : {end})"
            else:
                low, lo = f"({v.name} > {w} ? {v.name} - {w} : 0)", 0
                high = f"({end} < {v.name} + {w} ? {end} : {v.name} + {w})"
        elif style < 0.40 and sym is not None:
            c = r.choice((0, 1))
            d = r.choice((2, 3, 4))
            f.least = max(f.least, 0)
            high = r.choice((f"({sym} + {c}) / {d}", f"{sym} / {d}", f"{sym} % {d}", f"({sym} >> 1)"))
            if high.startswith("("):
                c = c if "/" in high else 0
            else:
                c = 0
        elif style < 0.46 and sym is not None:
            c = 0
            other = "m" if sym == "n" else "n"
            high = f"({sym} < {other} ? {sym} : {other})"
        needed = -c if sym in ("n", "m") else 0
        if (not INTEGERS[kind][1] or not self.signed_sizes) and style >= 0.22:
            f.least = max(f.least, needed)
        if not INTEGERS[kind][1] or not self.signed_sizes:
            f.least = max(f.least, 0, needed + 1 if style < 0.46 else needed)
        step = r.choice((1,) * 7 + (2, 3))
        form = r.choice(("<", "<", "<", "<", "<=", "down", "down", "down>", "!=", "&&"))
        if style < 0.46 and form in ("!=", "&&"):
            form = "<"
        if form == "!=" and (sym is None or lo or step != 1 or c < 0):
            form = "<"
        if form == "!=":
            f.least = max(f.least, 0)
        unsigned = not INTEGERS[kind][1] or (not self.signed_sizes)
        if unsigned and form == "down":
            form = "down>"
        if unsigned and form == "down>" and step != 1:
            step = 1
        if unsigned and (style < 0.32) and form != "<":
            form = "<"
        up = f"{name}++" if step == 1 else r.choice((f"{name} += {step}", f"{name} = {name} + {step}"))
        down = r.choice((f"{name}--", f"--{name}"))
        if step != 1:
            down = r.choice((f"{name} -= {step}", f"{name} = {name} - {step}"))
        if step == 1 and self.chance(0.3):
            up = f"++{name}"
        declare = "" if outside else f"{kind} "
        if form == "<":
            head = f"{declare}{name} = {low}; {name} < {high}; {up}"
        elif form == "<=":
            head = f"{declare}{name} = {low}; {name} <= {high} - 1; {up}"
            if unsigned:
                f.least = max(f.least, 1)
        elif form == "!=":
            head = f"{declare}{name} = {low}; {name} != {high}; {up}"
        elif form == "&&":
            other = r.choice((f"{name} < {r.choice((5, 9, 20))}", f"{name} < m", f"{name} < n"))
            head = f"{declare}{name} = {low}; {name} < {high} && {other}; {up}"
        elif form == "down":
            head = f"{declare}{name} = {high} - 1; {name} >= {low}; {down}"
        else:
            head = f"{declare}{name} = {high}; {name} > {low}; {down}"
            lo, c = lo + 1, c + 1
        if outside:
            self.outside.append((name, kind))
        variable = Variable(name, kind, lo, sym, c)
        self.scope.append(variable)
        mark, marks = len(self.scope), len(self.scalars)
        body = self.block(True)
        del self.scope[mark:]
        del self.scalars[marks:]
        self.scope.pop()
        self.depth -= 1
        return [("block", f"for ({head}) {{", body, "}")]

    def block(self, in_loop):
        out = []
        for _ in range(self.r.choice((1, 1, 2, 3))):
            if self.depth < 3 and self.budget > 0 and self.chance(0.5 if self.depth < 2 else 0.3):
                out += self.loop()
            else:
                out += self.statement(in_loop)
        return out

    # ---- statements

    def statement(self, in_loop, nested=0):
        r = self.r
        self.budget -= 1
        weights = (40, 8, 2, 4, 0, 0, 2, 3, 2, 2, 0) if self.simple else (30, 8, 12, 10, 3, 2, 4, 3, 5, 4, 2)
        kind = r.choices(("store", "temporary", "scalar", "if", "while", "continue", "derived", "local", "helper",
                          "pointer", "chain"), weights)[0]
        if kind == "continue" and not in_loop:
            kind = "store"
        if nested > 1 and kind in ("if", "while"):
            kind = "store"
        if kind == "store":
            return self.store()
        if kind == "temporary":
            t = r.choice(("double", "float", "int", "long", "unsigned", "uint8_t", "int16_t"))
            value = self.convert(self.expression(2), t)
            name = self.fresh("t")
            self.scalars.append((name, t))
            return [("line", f"{t} {name} = {value};")] + self.store()
        if kind == "scalar" and self.scalars:
            name, t = r.choice(self.scalars)
            return [("line", self.assign(name, t))]
        if kind == "if":
            marks = len(self.scalars), len(self.scope)
            head = f"if ({self.condition()}) {{"
            then = [s for _ in range(r.choice((1, 2))) for s in self.statement(in_loop, nested + 1)]
            del self.scalars[marks[0]:], self.scope[marks[1]:]
            if self.chance(0.4):
                other = [s for _ in range(r.choice((1, 2))) for s in self.statement(in_loop, nested + 1)]
                del self.scalars[marks[0]:], self.scope[marks[1]:]
                return [("block", head, then, "}"), ("block", "else {", other, "}")]
            return [("block", head, then, "}")]
        if kind == "while":
            name = self.fresh("w")
            marks = len(self.scalars), len(self.scope)
            inner = self.statement(False, 2)
            del self.scalars[marks[0]:], self.scope[marks[1]:]
            limit = r.choice((2, 3, 5))
            test = f"{name} < {limit}" + (f" && {self.condition()}" if self.chance(0.6) else "")
            if self.chance(0.5):
                loop = ("block", f"while ({test}) {{", inner + [("line", f"{name}++;")], "}")
            else:
                loop = ("block", "do {", inner + [("line", f"{name}++;")], f"}} while ({test});")
            self.scalars.append((name, "int"))
            return [("line", f"int {name} = 0;"), loop] + self.store()
        if kind == "continue":
            return [("line", f"if ({self.condition()}) continue;")]
        if kind == "derived" and self.scope:
            v = r.choice(self.scope)
            name = self.fresh("k")
            if v.sym is not None and self.chance(0.5) and INTEGERS[v.kind][1]:
                # sym + c - 1 - v is in 0 .. sym + c - 1 - lo
                self.scope.append(Variable(name, "int", 0, v.sym, v.c - v.lo))
                return [("line", f"int {name} = {ext((v.sym, v.c - 1))} - {v.name};")] + self.store()
            self.scope.append(Variable(name, "int", v.lo + 1, v.sym, v.c + 1))
            return [("line", f"int {name} = {v.name} + 1;")] + self.store()
        if kind == "local" and in_loop:
            name, t, size = self.fresh("L"), r.choice(("double", "int", "float")), r.choice((2, 4, 8))
            q = self.fresh("q")
            fill = ("block", f"for (int {q} = 0; {q} < {size}; {q}++) {{",
                    [("line", f"{name}[{q}] = {self.convert(self.expression(1), t)};")], "}")
            after = self.store()
            out = [("line", f"{t} {name}[{size}];"), fill] + after
            if self.scalars:
                at = r.choice((q, f"{size - 1} - {q}", f"{q} ^ 1"))
                line = self.assign(*r.choice(self.scalars), Value(f"{name}[{at}]", t))
                out.append(("block", f"for (int {q} = 0; {q} < {size}; {q}++) {{", [("line", line)], "}"))
            return out
        if kind == "helper":
            return self.helper()
        if kind == "pointer" and self.scope:
            choices = [a for a in self.writable if len(a.dims) == 2]
            if choices:
                a = r.choice(choices)
                row = self.subscript(a.dims[0])
                if row:
                    name = self.fresh("p")
                    start = {"flat": f"{a.name} + ({row}) * ({a.extent(1)})"}.get(a.form, f"{a.name}[{row}]")
                    column, column2 = self.subscript(a.dims[1]), self.subscript(a.dims[1])
                    if column and column2:
                        text = f"{name}[{column}]" if self.chance(0.6) else f"*({name} + {column})"
                        value = self.convert(Value(f"{name}[{column2}]", a.kind), a.kind)
                        other = self.convert(self.expression(1), a.kind)
                        return [("line", f"{a.kind} *{name} = {start};"), ("line", self.assign(text, a.kind)),
                                ("line", f"{text} = {self.chance(0.5) and other or value};")]
        if kind == "chain" and len(self.scalars) > 1:
            one = self.element(self.writable)
            if one:
                name, t = r.choice(self.scalars)
                return [("line", f"{one.text} = {name} = {self.convert(self.expression(2), t)};")]
        return self.store()

    def store(self):
        place = self.element(self.writable)
        if place is None:
            if self.scalars:
                name, t = self.r.choice(self.scalars)
                return [("line", self.assign(name, t))]
            return []
        return [("line", self.assign(place.text, place.kind))]

    def assign(self, place, kind, value=None):
        """place op= value, without overflow."""
        r = self.r
        value = value or self.expression(r.choice((1, 2) if self.simple else (1, 2, 3)))
        if kind in FLOATS:
            op = r.choice(("=", "=", "=", "+=", "+=", "-=", "*="))
            return f"{place} {op} {value.text};"
        if value.kind in FLOATS:
            return f"{place} = {self.convert(value, kind)};"
        if self.chance(0.5):
            return f"{place} = {value.text};"
        wide = common(kind, value.kind)
        if INTEGERS[wide][1]:
            small = self.masked(value)
            if INTEGERS[kind][0] < 32:
                return f"{place} {r.choice(('+=', '-=', '^=', '|='))} {small.text};"
            if self.chance(0.5):
                unsigned = {"int": "unsigned", "long": "uint64_t"}[wide]
                return f"{place} = ({kind})(({unsigned}){place} + {small.text});"
            return f"{place} {r.choice(('^=', '|=', '&='))} {small.text};"
        if self.chance(0.2) and value.text == place:
            return f"{place}++;"
        return f"{place} {r.choice(('+=', '-=', '*=', '^=', '&='))} {value.text};"

    def helper(self):
        """A call of a function of the file: with one return, or one that only assigns."""
        f, r = self.f, self.r
        name = f"{f.name}_h{len(f.helpers)}"
        kind = r.choice(("double", "int", "float", "unsigned"))
        place = self.element(self.writable)
        if place is None:
            return []
        saved = self.scope, self.scalars, self.writable
        if self.chance(0.6) or place.kind not in FLOATS:
            self.scope, self.scalars, self.writable = [], [("x", kind), ("y", "int")], []
            lines = []
            if self.chance(0.5):
                t = r.choice(("double", "int", "unsigned", "uint8_t"))
                lines.append(f"{t} z = {self.convert(self.expression(2), t)};")
                self.scalars.append(("z", t))
            if self.chance(0.3):
                lines.append(f"if ({self.condition()}) x = {self.constant(kind)};")
            value = self.expression(2)
            result = r.choice(("double", "int", "uint8_t", "long"))
            lines.append(f"return {self.convert(value, result)};")
            f.helpers.append(f"static {result} {name}({kind} x, int y) {{ (void)x; (void)y; {' '.join(lines)} }}")
            self.scope, self.scalars, self.writable = saved
            x, y = self.convert(self.expression(1), kind), self.convert(self.expression(1), "int")
            return [("line", self.assign(place.text, place.kind, Value(f"{name}({x}, {y})", result)))]
        self.scope, self.scalars, self.writable = [], [("x", kind), ("*p", place.kind)], []
        lines = [self.assign("*p", place.kind)]
        if self.chance(0.4):
            lines = [f"if ({self.condition()}) {lines[0]}"]
        f.helpers.append(f"static void {name}({place.kind} *p, {kind} x) {{ (void)x; {' '.join(lines)} }}")
        self.scope, self.scalars, self.writable = saved
        return [("line", f"{name}(&{place.text}, {self.convert(self.expression(1), kind)});")]

    # ---- subscripts

    def subscript(self, dim):
        """Text of an index that is inside of sym + c elements, or None."""
        sym, c = dim
        r = self.r
        options = []
        for v in self.scope:
            if v.lo < 0:
                continue
            if sym is None:
                options.append(f"{v.name} % {c}")
                if c & (c - 1) == 0:
                    options.append(f"({v.name} & {c - 1})")
                options.append(f"({v.name} < {c} ? {v.name} : {c - 1})")
                if v.sym is None:
                    options += [self.plus(v.name, d) for d in range(-min(v.lo, 2), c - v.c + 1)][:4] * 3
                    if v.c <= c:
                        options.append(f"{c - 1} - {v.name}")
                elif c >= 70:  # sizes are at most 65
                    options += [v.name] * 4 + [self.plus(v.name, 1)] + ([self.plus(v.name, -1)] * 2 if v.lo else [])
                continue
            if v.sym == sym and v.c <= c + v.lo:
                options += [self.plus(v.name, d) for d in range(-v.lo, c - v.c + 1)][-4:] * 4
                if INTEGERS[v.kind][1] or v.c - v.lo <= c:
                    options.append(f"{ext((sym, v.c - 1))} - {v.name}")
                options.append(f"{v.name} / 2" if v.c <= c else f"({v.name} - {v.lo}) / 2")
                if v.c <= c:
                    options.append(f"({v.name} >> 1)")
            if v.sym == sym and v.c <= c and self.chance(0.3):
                w = r.choice(self.scope)
                if w.lo >= 0:
                    options.append(f"({v.name} + {w.name}) % ({ext(dim)})")
        if sym is None and self.chance(0.25):
            whole = [a for a in self.f.arrays if a.kind in INTEGERS and a.name != "out"]
            one = self.element(whole, 1) if whole and self.depth else None
            if one:
                options.append(f"(({one.text}) & {7 if c >= 8 else 3})")
        if not options:
            return str(r.randrange(c)) if sym is None else None
        return r.choice(options)

    @staticmethod
    def plus(name, d):
        return name if d == 0 else f"{name} {'+' if d > 0 else '-'} {abs(d)}"

    def element(self, arrays, tries=4):
        if not arrays:
            return None
        for _ in range(tries):
            a = self.r.choice(arrays)
            at = [self.subscript(d) for d in a.dims]
            if None in at:
                continue
            name = f"s->{a.name}" if a.form == "member" else a.name
            if len(at) == 1:
                text = f"{name}[{at[0]}]" if self.chance(0.85) else f"*({name} + {at[0]})"
            elif a.form == "flat":
                text = self.r.choice((f"{name}[({at[0]}) * ({a.extent(1)}) + {at[1]}]",
                                      f"*({name} + ({at[0]}) * ({a.extent(1)}) + {at[1]})",
                                      f"{name}[{at[1]} + ({a.extent(1)}) * ({at[0]})]"))
            else:
                text = name + "".join(f"[{x}]" for x in at)
            return Value(text, a.kind)
        return None

    # ---- expressions

    def constant(self, kind):
        r = self.r
        if kind in FLOATS:
            suffix = "f" if kind == "float" else ""
            return r.choice(("0.0", "-0.0", "1.0", "0.5", "-1.25", "3.0", "1e10", "0.1")) + suffix
        return str(r.choice((0, 1, 2, 3, 5, 7, 100, 127)))

    def leaf(self):
        r = self.r
        pick = r.random()
        if pick < 0.55:
            readable = self.f.arrays[:-1] if self.writable else []
            one = self.element(readable)
            if one:
                return one
        if pick < 0.75 and self.scalars:
            return Value(*r.choice(self.scalars))
        if pick < 0.88 and self.scope:
            v = r.choice(self.scope)
            return Value(v.name, v.kind, *( (v.lo, 80) if v.lo >= 0 else (-4, 80)))
        if self.chance(0.4):
            t = r.choice(FLOATS)
            return Value(self.constant(t), t)
        if self.chance(0.15):
            return r.choice((Value("4294967290u", "unsigned", 4294967290, 4294967290), Value("-1", "int", -1, -1),
                             Value("2147483647", "int", 2147483647, 2147483647), Value("255", "int", 255, 255)))
        k = r.choice((0, 1, 2, 3, 7, 10))
        return Value(str(k), "int", k, k)

    def masked(self, v, mask=63):
        if v.kind in FLOATS:
            if self.chance(0.8):
                return Value(f"truncated({v.text})", "int", -60, 60)
            return Value(f"(({v.text}) > -60 && ({v.text}) < 60 ? (int)({v.text}) : 9)", "int", -60, 60)
        if v.lo >= 0 and v.hi <= mask:
            return v
        return Value(f"(({v.text}) & {mask})", common(v.kind, "int"), 0, mask)

    def convert(self, v, kind):
        """Text of v where the type is assigned: conversions that C leaves undefined are guarded."""
        if v.kind in FLOATS and kind not in FLOATS:
            return self.masked(v).text
        return v.text

    def expression(self, depth):
        r = self.r
        if depth <= 0 or self.chance(0.15):
            return self.leaf()
        pick = r.random()
        if pick < 0.08:
            t = r.choice(("double", "float", "int", "long", "unsigned", "uint8_t", "int8_t", "uint16_t", "int16_t"))
            v = self.expression(depth - 1)
            if t in FLOATS:
                return Value(f"({t})({v.text})", t)
            if v.kind in FLOATS:
                v = self.masked(v)
            lo, hi = limits(t)
            return Value(f"({t})({v.text})", t, *((v.lo, v.hi) if lo <= v.lo and v.hi <= hi else (lo, hi)))
        if pick < 0.17:
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            t = common(a.kind, b.kind)
            cond = self.condition()
            text = f"({cond} ? {a.text} : {b.text})"
            if t in FLOATS:
                return Value(text, t)
            return Value(text, t) if not INTEGERS[t][1] else Value(text, t, min(a.lo, b.lo), max(a.hi, b.hi))
        if pick < 0.23:
            return Value(f"({self.condition()})", "int", 0, 1)
        if pick < 0.31:
            v = self.expression(depth - 1)
            if v.kind in FLOATS:
                text = f"{r.choice(('fabs', 'sqrt', '-', 'floor', 'fabsf'))}({v.text})"
                return Value(text, v.kind if text[0] == "-" else "float" if text.startswith("fabsf") else "double")
            op = r.choice(("~", "-", "!"))
            if op == "!":
                return Value(f"!({v.text})", "int", 0, 1)
            if op == "-":
                v = self.masked(v)
                if INTEGERS[v.kind][1]:
                    return Value(f"-({v.text})", v.kind, -v.hi, -v.lo)
            return Value(f"{op}({v.text})", promoted(v.kind))
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        t = common(a.kind, b.kind)
        if t in FLOATS:
            op = r.choice(("+", "+", "-", "*", "*", "/"))
            return Value(f"({a.text} {op} {b.text})", t)
        op = r.choice(("+", "+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "<", "=="))
        if op in ("<", "=="):
            return Value(f"({a.text} {op} {b.text})", "int", 0, 1)
        if op in ("/", "%"):
            if self.chance(0.4):
                k = r.choice((2, 3, 4, 7))
                b = Value(str(k), "int", k, k)
                t = common(a.kind, "int")
                if INTEGERS[t][1] and a.lo < 0:
                    lo, hi = (a.lo, max(a.hi, 0)) if op == "/" else (1 - k, k - 1)
                else:
                    lo, hi = 0, limits(t)[1]
                return Value(f"({a.text} {op} {k})", t, lo, hi)
            a, b = self.masked(a, 1023), self.masked(b, 15)
            if self.chance(0.5):
                text = f"({b.text} != 0 ? {a.text} {op} {b.text} : 3)"
            else:
                text = f"({a.text} {op} (({b.text} & 7) + 1))"
            return Value(text, common(a.kind, b.kind), *self.signed_range(a, b, 1023))
        if op == ">>":
            s = r.randrange(8)
            return Value(f"({a.text} >> {s})", promoted(a.kind))
        if op == "<<":
            s = r.randrange(8)
            a = self.masked(a, 1023)
            if a.lo < 0:
                a = Value(f"({a.text} & 63)", a.kind, 0, 63)
            return Value(f"({a.text} << {s})", promoted(a.kind), 0, min(limits(promoted(a.kind))[1], a.hi << s)
                         if INTEGERS[promoted(a.kind)][1] else limits(promoted(a.kind))[1])
        text = f"({{}} {op} {{}})"
        if not INTEGERS[t][1]:
            return Value(text.format(a.text, b.text), t)
        if op in "&|^":
            return Value(text.format(a.text, b.text), t)
        for _ in range(3):
            corners = {"+": (a.lo + b.lo, a.hi + b.hi), "-": (a.lo - b.hi, a.hi - b.lo),
                       "*": (min(x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)),
                             max(x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)))}[op]
            lo, hi = limits(t)
            if lo <= corners[0] and corners[1] <= hi:
                return Value(text.format(a.text, b.text), t, *corners)
            if self.chance(0.3):
                unsigned = {"int": "unsigned", "long": "uint64_t"}[t]
                return Value(f"({t})(({unsigned}){a.text} {op} {b.text})", t)
            if b.hi - b.lo > a.hi - a.lo:
                b = self.masked(b, 1023)
            else:
                a = self.masked(a, 1023)
        a, b = self.masked(a), self.masked(b)
        return Value(text.format(a.text, b.text), t, -70000, 70000)

    @staticmethod
    def signed_range(a, b, limit):
        t = common(a.kind, b.kind)
        return (-limit, limit) if INTEGERS[t][1] else limits(t)

    def condition(self):
        r = self.r
        if self.chance(0.3) and self.scope:  # a guard at an end, and an access that it makes possible
            v = r.choice(self.scope)
            arrays = [a for a in self.f.arrays[:-1] if len(a.dims) == 1 and a.dims[0][0] is not None and
                      a.dims[0][0] == v.sym and v.c <= a.dims[0][1] and v.lo >= 0 and INTEGERS[v.kind][1]]
            if arrays and self.writable:
                a = r.choice(arrays)
                name = f"s->{a.name}" if a.form == "member" else a.name
                d = r.choice((1, 2))
                if self.chance(0.5):
                    return f"{v.name} >= {d} && {name}[{v.name} - {d}] > {self.leaf().text}"
                if self.chance(0.5):
                    return f"{v.name} + {d} >= {a.extent(0)} || {name}[{v.name} + {d}] < {self.leaf().text}"
                return f"{v.name} + {d} < {a.extent(0)} && {name}[{v.name} + {d}] < {self.leaf().text}"
        a, b = self.leaf(), self.leaf()
        one = f"{a.text} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {b.text}"
        if self.chance(0.2):
            return f"({one}) {r.choice(('&&', '||'))} ({self.leaf().text} > {self.leaf().text})"
        return one


def random_function(seed, name):
    return Generator(random.Random(seed), name).function()
