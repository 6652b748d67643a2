"""Random C functions with loop nests, in the forms that docs/frontend-c.md accepts, without undefined behaviour.

A function is a list of statements: ("line", text) or ("block", head, [statements], tail). So a shrinker can take
statements out. Integer expressions carry the interval of their values: signed arithmetic that could overflow is masked.
Every loop variable carries lo <= v < sym + c: a subscript is one that this interval proves to be inside its array, up
to the very last element.
"""
import random

from c_expressions import Expressions
from c_model import ARRAY_TYPES, FLOATS, INTEGERS, Array, Function, Value, Variable, common, ext


class Generator(Expressions):
    def __init__(self, rng, name):
        self.r, self.f = rng, Function(name)
        self.count = 0
        self.scope = []    # Variables that may be subscripts
        self.scalars = []  # (name, kind) assignable, of any value
        self.depth = 0
        # Half of the functions are simple enough for most recipes to apply.
        self.simple = self.chance(0.6)
        # And half of those have subscripts that move with the loops alone: their dependences are exact.
        self.plain = self.simple and self.chance(0.5)
        self.label = None
        self.budget = rng.choice((2, 3, 4)) if self.simple else rng.choice((4, 6, 9, 14))

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    # ---- the function

    def function(self):
        f, r = self.f, self.r
        f.size_type = r.choice(("int",) * 6 + ("long", "unsigned", "uint64_t", "int16_t", "uint8_t"))
        self.signed_sizes = INTEGERS[f.size_type][1]
        if self.signed_sizes and self.chance(0.5):
            f.least = -3
        kinds = [r.choice(ARRAY_TYPES)]
        for _ in range(r.randint(1, 3)):
            kinds.append(kinds[0] if self.chance(0.7) else r.choice(ARRAY_TYPES))
        members = []
        for k, kind in enumerate(kinds):
            self.array(f"{'ABCDE'[k]}", kind, members)
        if members:
            fields = " ".join(f"{a.kind} *{a.name};" for a in members)
            f.globals.append(f"struct s_{f.name} {{ {f.size_type} n, m; {fields} }};")
            f.parameters.append(f"struct s_{f.name} *s")
        own = [self.own_array(k) for k in range(r.choice((0, 0, 1, 1, 2, 3)))]
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
            nests += self.repeated(self.loop())
            if self.chance(0.2):
                nests += self.statement(False)
        for name, kind in self.outside:
            declared.append(("line", f"{kind} {name} = 5;"))
        ends = [("line", f"out[{k}] = {self.convert(Value(name, kind), out.kind)};") for k, (name, kind) in enumerate((self.scalars + self.outside)[:24])
                if self.chance(0.7)]
        nests += self.own_kernel([a for a, *_ in own])
        for a, _, after in own:
            if self.chance(0.5):  # of the array's elements, only some are looked at
                at = r.choice((0, 1, 7, 69))
                ends.append(("line", f"out[{r.randrange(24)}] = "
                                     f"{self.convert(Value(f'{a.name}[{at}]', a.kind), out.kind)};"))
            elif self.chance(0.3):
                ends.append(("line", f"hash_{a.kind}({a.name}, {r.choice((1, 5, 70))});"))
        self.r.shuffle(ends)
        ends += [line for _, _, after in own for line in after]
        declared = [line for _, before, _ in own for line in before] + declared
        f.body = declared + nests + ([("line", f"{self.label}:;")] if self.label else []) + ends
        return f

    def dimension(self):
        r = self.r
        if self.plain:
            return (r.choice(("n", "n", "n", "m")), r.choice((0, 1, 2, 3)))
        if self.chance(0.25):
            return (None, r.choice((4, 8, 16, 17)))
        return (r.choice(("n", "n", "n", "m")), r.choice((0, 0, 0, 0, 1, 2)))

    def array(self, name, kind, members):
        f, r = self.f, self.r
        restrict = "restrict " if self.chance(0.45 if self.plain else 0.75 if self.simple else 0.35) else ""
        forms = ("flat1",) * 3 + ("flat2", "flat2", "vla", "vla", "rows", "global", "global2", "member", "in")
        form = r.choice(forms[:7] + forms[8:10] if self.plain else forms)
        if form == "flat1":
            a = Array(name, kind, [self.dimension()], "flat", bool(restrict))
            star = self.chance(0.7)
            f.parameters.append(f"{kind} *{restrict}{name}" if star else f"{kind} {name}[{restrict.strip()}]")
        elif form == "flat2":
            rows, columns = self.dimension(), self.dimension()
            leading = None
            if self.chance(0.3):
                leading, f.least = self.dimension(), max(f.least, 0)
            a = Array(name, kind, [rows, columns], "flat", bool(restrict), leading)
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
        elif form == "in":  # an array in a struct variable
            a = Array(f"{f.name}_{name}.a", kind, [(None, r.choice((70, 80)))], "global", True)
            f.globals.append(f"static struct {{ char before; {kind} a[{a.extent(0)}]; }} {f.name}_{name};")
        else:
            dims = [(None, r.choice((70, 80)))] + ([(None, r.choice((8, 70)))] if form == "global2" else [])
            a = Array(f"{f.name}_{name}", kind, dims, "global", True)
            shape = "".join(f"[{d[1]}]" for d in dims)
            f.globals.append(f"{'static ' if self.chance(0.5) else ''}{kind} {a.name}{shape};")
        f.arrays.append(a)

    def own_array(self, k):
        """An array that the caller does not see: what is left in it matters only where it is read afterwards."""
        f, r = self.f, self.r
        name, kind, extent = f"O{k}", r.choice(("double", "double", "float", "int", "long", "uint8_t")), 80
        where = r.choice(("automatic", "automatic", "automatic", "static", "file", "block"))
        if where == "file":
            name = f"{f.name}_{name}"
            f.globals.append(f"static {kind} {name}[{extent}];")
        a = Array(name, kind, [(None, extent)], "own", True)
        f.arrays.append(a)
        q = self.fresh("q")
        fill = r.choice(([("line", f"fill_{kind}({name}, {extent});")],
                         [("block", f"for (int {q} = 0; {q} < {extent}; {q}++) {{",
                           [("line", f"{name}[{q}] = ({kind})({q} % 7);")], "}")]))
        declaration = {"automatic": f"{kind} {name}[{extent}];", "static": f"static {kind} {name}[{extent}];",
                       "block": f"{kind} *{name} = malloc({extent} * sizeof({kind}));", "file": ""}[where]
        if where in ("static", "file") and self.chance(0.5):
            fill = []  # what the call before has left
        after = [("line", f"free({name});")] if where == "block" and self.chance(0.8) else []
        return a, ([("line", declaration)] if declaration else []) + fill, after

    def own_kernel(self, own):
        """Calls of a function that is given own arrays, of which it may read what it did not write."""
        f, r = self.f, self.r
        pairs = [(a, b) for a in own for b in own if a is not b and a.kind == b.kind]
        if not pairs or self.chance(0.3):
            return []
        (t, x), name = r.choice(pairs), f"{f.name}_h{len(f.helpers)}"
        written, read = r.choice((("70", "70"), ("70", "50"), ("60", "70"), ("k", "k"), ("k", "70"), ("70", "k")))
        f.helpers.append(f"static __attribute__((noinline)) void {name}(int k, "
                         f"{t.kind} *{r.choice(('', 'restrict '))}t, {t.kind} *x) {{ for (int i = 0; i < {written}; i++) t[i] = x[i]; "
                         f"for (int i = 0; i < {read}; i++) x[i] = t[{r.choice(('i', f'{read} - 1 - i'))}]; }}")
        call = [("line", f"{name}({self.r.choice((3, 20, 70))}, {a}, {b});") for a, b in
                r.choice((((t.name, x.name),), ((t.name, x.name), (x.name, t.name))))]
        return self.repeated(call)

    def repeated(self, statements):
        """Sometimes in a loop that is left alone."""
        if not self.chance(0.2):
            return statements
        again = self.fresh("again")
        self.f.globals.append(f"static volatile int {self.f.name}_{again};")
        return [("block", f"for (int {again} = 0; {again} < 2; {again}++) {{",
                 [("line", f"{self.f.name}_{again} = 1;")] + statements, "}")]

    # ---- loops

    def loop(self):
        """A loop and what stands around it."""
        f, r = self.f, self.r
        self.depth += 1
        self.budget -= 1
        if self.chance(0.04 if self.simple else 0.16):
            return self.other_loop()
        kind = r.choice(("int",) * 6 + ("long", "unsigned", "uint64_t", "int16_t", "uint8_t"))
        if not INTEGERS[kind][1]:
            f.least = max(f.least, 0)
        name = self.fresh("i")
        outside = self.chance(0.25)
        outer = [v for v in self.scope if v.lo >= 0 or INTEGERS[kind][1]]
        style = r.random()
        lo, sym, c = r.choice((0, 0, 0, 1, 2)), r.choice(("n", "n", "m")), r.choice((0, 0, 0, -1, -2, 1))
        if self.plain:
            sym, c = r.choice([d[0] for a in self.writable for d in a.dims if d[0]] or ["n"]), min(c, 0)
        if INTEGERS[kind][1] and self.signed_sizes and self.chance(0.12):
            lo = r.choice((-1, -2, -3))
            c = lo if self.plain else min(c, -1)
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
        unsigned = not INTEGERS[kind][1] or not self.signed_sizes
        # high - 1 of a quotient or a minimum that is 0 has no end.
        if style < 0.46 and (form in ("!=", "&&") or form == "<=" and unsigned):
            form = "<"
        if form == "!=" and (sym is None or lo or step != 1 or c < 0):
            form = "<"
        if form == "!=":
            f.least = max(f.least, 0)
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
            # n - m of unsigned sizes may wrap.
            other = r.choice((f"{name} < {r.choice((5, 9, 20))}", f"{name} < m", f"{name} < n", f"{name} < n - m",
                              f"{name} <= m - n"))
            head = f"{declare}{name} = {low}; {name} < {high} && {other}; {up}"
        elif form == "down":
            head = f"{declare}{name} = {high} - 1; {name} >= {low}; {down}"
        else:
            head = f"{declare}{name} = {high}; {name} > {low}; {down}"
            lo, c = lo + 1, c + 1
        if outside:
            self.outside.append((name, kind))
        return self.spelled(head, self.loop_body(Variable(name, kind, lo, sym, c)))

    def spelled(self, head, body):
        """The loop as `for`, or as `while` or `do` with the step at its end."""
        begin, test, step = head.split("; ")
        form = self.r.choices(("for", "while", "do"), (6, 2, 1))[0]
        if form == "for" or "continue" in str(body):
            return [("block", f"for ({head}) {{", body, "}")]
        body = body + [("line", step + ";")]
        if form == "while":
            loop = ("block", f"while ({test}) {{", body, "}")
        else:
            loop = ("block", f"if ({test}) do {{", body, f"}} while ({test});")
        return [("block", "{", [("line", begin + ";"), loop], "}")]

    def loop_body(self, variable):
        mark, marks = len(self.scope), len(self.scalars)
        self.scope.append(variable)
        body = self.block(True) or self.block(True)
        del self.scope[mark:]
        del self.scalars[marks:]
        self.depth -= 1
        return body

    def other_loop(self):
        """Bounds from data, sums, products and maxima of sizes, scaled variables, unsigned bounds that wrap; and forms
        of which the front end leaves most alone."""
        r = self.r
        i = self.fresh("i")
        integers = [a for a in self.f.arrays if a.kind in INTEGERS and a.name != "out"]
        first = self.element(integers, 2) if integers and self.scope else None
        kind = r.choice(("data", "data", "size", "scaled", "wrap", "left"))
        variable = Variable(i, "int", 0, "n", 0)
        if kind == "data" and first:
            last = self.element(integers, 2) or first
            # Compared with an unsigned bound, -1 is no less than it.
            low, high = (f"({'(int)' if v.kind in ('unsigned', 'uint64_t') else ''}{v.text} & {mask})"
                         for v, mask in ((first, 3), (last, 15)))
            low = r.choice(("0", low))
            head = f"int {i} = {low}; {i} < {high}; {i}++"
            if self.chance(0.3):
                head = f"int {i} = {high} - 1; {i} >= {low}; {i}--"
            variable = Variable(i, "int", 0, None, 15)
        elif kind == "scaled":
            heads = [f"int {i} = 0; 2 * {i} < n; {i}++", f"int {i} = 0; {i} + 1 <= n; ++{i}"]
            if self.signed_sizes:
                heads.append(f"int {i} = 0; n - 3 * {i} > 0; {i} += 2")
            head = r.choice(heads)
        elif kind == "wrap":
            t, rest, low, c = r.choice((("unsigned", f"= 0; {i} < n - 1u && {i} < 9; {i}++", 0, 9),
                                        ("uint64_t", f"= 0; {i} < (uint64_t)n - 2 && {i} < 9; {i}++", 0, 9),
                                        ("unsigned", f"= 8; {i} < 9u; {i}--", 0, 9),
                                        ("uint8_t", f"= 250; {i} > 245; {i}++", 246, 256)))
            head = f"{t} {i} {rest}"
            variable = Variable(i, t, low, None, c)
        elif kind == "left":
            head = r.choice((f"int {i} = 1; {i} < n; {i} *= 2", f"int {i} = n; {i}-- > 0;",
                             f"int {i} = 0, {i}e = n; {i} < {i}e; {i}++, {i}e--"))
        else:
            bound = r.choice(("n + m", "2 * n", "(n > m ? n : m)", "(m >= 3 ? m : 3)", "(n + 1) * 2"))
            head = f"int {i} = 0; {i} < {bound}; {i}++"
            variable = Variable(i, "int", 0, None, 140)
        return [("block", f"for ({head}) {{", self.loop_body(variable), "}")]

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
        kinds = ("store", "temporary", "scalar", "if", "while", "continue", "derived", "local", "helper", "pointer",
                 "chain", "extremum", "exit", "carried", "search", "switch", "led")
        kind = r.choices(kinds, (40, 8, 6, 8, 0, 0, 2, 3, 2, 2, 0, 3, 0, 6, 2, 2, 0 if self.plain else 8) if self.simple
                         else (30, 8, 12, 10, 3, 2, 4, 3, 5, 4, 2, 4, 3, 4, 4, 4, 6))[0]
        if kind in ("continue", "exit") and not in_loop:
            kind = "store"
        if kind == "exit":
            return self.left_alone()
        if kind == "extremum":
            return self.extremum()
        if kind == "carried" and self.scalars:
            return self.carried()
        if nested > 1 and kind in ("if", "while", "search", "switch"):
            kind = "store"
        if kind == "search":
            return self.search()
        if kind == "switch":
            return self.switch(in_loop, nested)
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
            test = f"{name} < {limit}" + (f" && ({self.condition()})" if self.chance(0.6) else "")
            if self.chance(0.5):
                loop = ("block", f"while ({test}) {{", inner + [("line", f"{name}++;")], "}")
            else:
                loop = ("block", "do {", inner + [("line", f"{name}++;")], f"}} while ({test});")
            self.scalars.append((name, "int"))
            return [("line", f"int {name} = 0;"), loop] + self.store()
        if kind == "continue":
            return [("line", f"if ({self.condition()}) continue;")]
        below = [v for v in self.scope if v.lo >= 0]
        if kind == "led" and below:  # by data: how far it leads is known to nobody
            v, name, by = r.choice(below), self.fresh("u"), self.masked(self.expression(1))
            self.scope.append(Variable(name, "int", 0, v.sym, v.c))
            return [("line", f"int {name} = (({by.text}) & 63) % ((int){v.name} + 1);")] + self.store()
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

    def search(self):
        """A loop that a break may end before its bound."""
        r = self.r
        q, marks = self.fresh("q"), (len(self.scalars), len(self.scope))
        outside = self.chance(0.5)
        limit = r.choice((("n", 0), ("n", 0), (None, 7)))
        step = r.choice(("++", "++", " += 2"))
        self.scope.append(Variable(q, "int", 0, *limit))
        inner = [s for _ in range(r.choice((0, 1, 1))) for s in self.statement(False, 2)]
        inner.append(("line", f"if ({self.condition()}) {r.choice(('break', 'break', 'continue'))};"))
        inner += [s for _ in range(r.choice((0, 1))) for s in self.statement(False, 2)]
        inner.append(("block", f"if ({self.condition()}) {{", self.store() + [("line", "break;")], "}"))
        del self.scalars[marks[0]:], self.scope[marks[1]:]
        head = f"for ({'' if outside else 'int '}{q} = 0; {q} < {limit[0] or limit[1]}; {q}{step}) {{"
        if not outside:
            return [("block", head, inner, "}")] + self.store()
        self.scalars.append((q, "int"))
        return [("line", f"int {q} = 1;"), ("block", head, inner, "}")] + self.store()

    def switch(self, in_loop, nested):
        r = self.r
        marks = len(self.scalars), len(self.scope)
        cases = []
        labels = r.sample(("case 0", "case 1", "case 2", "case 3", "default"), r.choice((2, 3, 4, 5)))
        for k, label in enumerate(labels):
            inside = self.statement(False, nested + 1)
            del self.scalars[marks[0]:], self.scope[marks[1]:]
            if self.chance(0.2):
                inside = [("line", f"if ({self.condition()}) break;")] + inside
            if label == "case 2":
                label = "case 2: case 9"
            ends = r.choice(("break;", "break;", "break;", "", "continue;" if in_loop and self.chance(0.5) else "break;"))
            cases.append(("block", f"{label}: {{", inside, "} " + ends))
        return [("block", f"switch ({self.masked(self.leaf(), 3).text}) {{", cases, "}")]

    def left_alone(self):
        """What ends a nest: the loops around it stay as they are, those before and behind it need not."""
        r = self.r
        kind = r.choice(("break", "return", "goto", "walk"))
        if kind == "break":
            return [("line", f"if ({self.condition()}) break;")]
        if kind == "return":
            return [("line", f"if ({self.condition()}) return;")]
        if kind == "goto":
            self.label = "end"
            return [("line", f"if ({self.condition()}) goto end;")]
        flat = [a for a in self.writable if a.form in ("flat", "global") and len(a.dims) == 1]
        if not flat:
            return self.store()
        a, p, q = r.choice(flat), self.fresh("p"), self.fresh("q")
        value = self.convert(self.expression(1), a.kind)
        return [("line", f"{a.kind} *{p} = {a.name};"),
                ("block", f"for (int {q} = 0; {q} < {a.extent(0)}; {q}++) {{", [("line", f"*{p}++ = {value};")], "}")]

    def carried(self):
        """A variable from around the loop that is set before, behind or on some of the ways to where it is used."""
        r = self.r
        name, kind = r.choice(self.scalars)
        place = self.element(self.writable)
        if place is None:
            return self.store()
        setting = ("line", f"{name} = {self.convert(self.expression(1), kind)};")
        use = ("line", f"{place.text} = {self.convert(Value(name, kind), place.kind)};")
        sometimes = ("block", f"if ({self.condition()}) {{", [setting], "}")
        return r.choice(([setting, use], [use, setting], [sometimes, use], [use, sometimes],
                         [setting, sometimes, use], [setting, ("block", f"if ({self.condition()}) {{", [use], "}")]))

    def extremum(self):
        """A minimum or maximum, in the ways in which it is written."""
        r = self.r
        place = self.element(self.writable)
        value = self.leaf()
        if self.scalars and (place is None or self.chance(0.5)):
            place = Value(*r.choice(self.scalars))
        if place is None or (place.kind in FLOATS) != (value.kind in FLOATS):
            return self.store()
        op = r.choice("<>")
        if self.chance(0.5):
            return [("block", f"if ({value.text} {op} {place.text}) {{", [("line", f"{place.text} = {value.text};")], "}")]
        first, second = r.choice(((place, value), (value, place)))
        return [("line", f"{place.text} = {first.text} {op} {second.text} ? {first.text} : {second.text};")]

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
        if INTEGERS[kind][0] in (8, 16) and self.chance(0.2):  # computed in a wider type than the place has
            return r.choice((f"{place} /= {r.choice(('2', '3', '2.5', '-3'))};", f"{place} >>= 1;", f"{place} %= 7;",
                             f"{place} *= 0.5f;")).replace("-3", "-3" if INTEGERS[kind][1] else "3")
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


def random_function(seed, name):
    return Generator(random.Random(seed), name).function()
