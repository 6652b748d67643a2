"""What random C functions are made of: types, values with intervals, variables with bounds, arrays, statements."""

# name: (bits, signed)
INTEGERS = {"_Bool": (1, False), "int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True), "uint16_t": (16, False),
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


def may_overlap(a, b):
    """Whether C lets an array of type a lie in the memory of one of type b. Bytes over floats are left out: in them one
    would see which of several NaNs it is, and that is nobody's promise."""
    if a == b:
        return True
    if a in FLOATS or b in FLOATS or "_Bool" in (a, b):
        return False
    return INTEGERS[a][0] in (8, INTEGERS[b][0])


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
    """`dims` are (sym, c): sym + c elements. form: flat (one pointer, c text), rows, fixed, global, member, own."""

    def __init__(self, name, kind, dims, form, restrict=False, leading=None):
        self.name, self.kind, self.dims, self.form, self.restrict = name, kind, dims, form, restrict
        self.leading = leading  # from row to row of a flat array: less than a row, for some sizes

    def extent(self, k):
        return ext(self.leading if k == 1 and self.leading else self.dims[k])

    def elements(self):
        """How many there are, in C."""
        counts = [f"ELEMENTS({ext(d)})" for d in self.dims]
        if not self.leading:
            return " * ".join(counts)
        return f"({counts[0]} ? ({counts[0]} - 1) * ELEMENTS({ext(self.leading)}) + {counts[1]} : 0)"


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
        groups = []  # of pointers that may overlap
        for k, a in enumerate(pointers):
            out.append(f"  size_t s{k} = {a.elements()} * sizeof({a.kind});")
            fits = [g for g in groups if not a.restrict and all(
                not pointers[j].restrict and may_overlap(a.kind, pointers[j].kind) for j in g)]
            if fits:
                fits[0].append(k)
            else:
                groups.append([k])
        for g in groups:
            slots, bytes_, sizes = (", ".join(each.format(k=k, kind=pointers[k].kind) for k in g)
                                    for each in ("{k}", "s{k}", "sizeof({kind})"))
            out.append(f"  char *at{g[0]}[{len(g)}];")
            out.append(f"  lay(which, {len(g)}, (int[]){{{slots}}}, (size_t[]){{{bytes_}}}, (size_t[]){{{sizes}}}, "
                       f"at{g[0]});")
        for k, a in enumerate(pointers):
            group = next(g for g in groups if k in g)
            place = f"at{group[0]}[{group.index(k)}]"
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
        arguments = ", ".join(["n", "m"][:len(self.sizes)] + names[:-1] + (["&s"] if members else []) + names[-1:])
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
