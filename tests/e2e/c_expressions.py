"""Random subscripts and expressions without undefined behaviour: the lower half of the generator in c_programs.py."""
from c_model import FLOATS, INTEGERS, Value, common, ext, limits, promoted


class Expressions:
    """Uses `r` (random numbers), `f` (the function), `scope`, `scalars`, `writable` and `depth` of the generator."""

    def chance(self, p):
        return self.r.random() < p

    # ---- subscripts

    def subscript(self, dim):
        """Text of an index that is inside of sym + c elements, or None."""
        sym, c = dim
        r = self.r
        options = []
        for v in self.scope:
            if v.lo < 0:  # shifted by at least as much
                if (v.sym, sym) != (None, None) and (v.sym == sym or sym is None and c >= 70):
                    most = c - v.c if sym else 3
                    options += [self.plus(v.name, d) for d in range(-v.lo, most + 1)] * 4
                    if v.c - v.lo <= (c if sym else 3):
                        options.append(f"({v.name} + {1 - v.lo}) / 2")
                continue
            if self.plain:
                most = 1 if sym is None else c - v.c
                if v.sym == sym if sym else v.sym and c >= 70:
                    options += [self.plus(v.name, d) for d in range(-min(v.lo, 2), most + 1)]
                    if sym and self.chance(0.3) and (INTEGERS[v.kind][1] or v.c - v.lo <= c):
                        options.append(f"{ext((sym, v.c - 1))} - {v.name}")
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
        for _ in range(3 * tries if self.plain else tries):
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
            if v.kind in FLOATS and "[" in v.text and self.chance(0.3):
                return self.library(v)
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

    def library(self, v):
        """A function of math.h of a value from memory (of constants, compilers know more digits than the library)."""
        r = self.r
        name = r.choice(("ceil", "trunc", "rint", "exp", "sin", "cbrt", "atan", "pow", "fmod", "hypot", "copysign"))
        if name in ("pow", "fmod", "hypot"):
            return Value(f"{name}({v.text}, {r.choice(('2.0', '3.5', '0.5'))})", "double")
        if name == "copysign":
            return Value(f"copysign({self.constant('double')}, {self.masked(v).text})", "double")
        return Value(f"{name}({v.text})", "double")

    @staticmethod
    def signed_range(a, b, limit):
        t = common(a.kind, b.kind)
        return (-limit, limit) if INTEGERS[t][1] else limits(t)

    def condition(self):
        r = self.r
        # A guard at an end, and an access that it makes possible.
        if self.chance(0.5 if self.plain else 0.3) and self.scope:
            v = r.choice(self.scope)
            arrays = [a for a in self.f.arrays[:-1] if len(a.dims) == 1 and a.dims[0][0] is not None and
                      a.dims[0][0] == v.sym and v.c <= a.dims[0][1] and v.lo >= 0 and INTEGERS[v.kind][1]]
            if arrays and self.writable:
                a = r.choice(arrays)
                name = f"s->{a.name}" if a.form == "member" else a.name
                # What the guard keeps from being read is in front of the array, or behind it.
                front, behind = (k + r.choice((1, 2)) for k in (v.lo, a.dims[0][1] - v.c))
                other = self.leaf().text
                return r.choice((f"{v.name} >= {front} && {name}[{v.name} - {front}] > {other}",
                                 f"{v.name} + {behind} >= {a.extent(0)} || {name}[{v.name} + {behind}] < {other}",
                                 f"{v.name} + {behind} < {a.extent(0)} && {name}[{v.name} + {behind}] < {other}"))
        a, b = self.leaf(), self.leaf()
        one = f"{a.text} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {b.text}"
        if self.chance(0.2):
            return f"({one}) {r.choice(('&&', '||'))} ({self.leaf().text} > {self.leaf().text})"
        return one
