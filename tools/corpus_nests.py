"""Writes varied C for the tuner: nests of all kinds that the strategies are for, each a function of its own, drawn at random.

    python3 tools/corpus_nests.py --seed 1 --count 400 --out FOLDER

Each family is a function that draws one of its nests; what varies is what the normal form keeps: which operands there are and how they lie,
what is summed and how, how many points, fields and right-hand sides, what is short and known (taps, channels, dimensions), in place or not.
The same seed writes the same files. T is the element type.
"""
import argparse
import pathlib
import random
import re

# Declared in this order.
import array_families  # noqa: F401
import value_families  # noqa: F401
from nest_text import FAMILIES, function

SINGLE = re.compile(r"\b(sqrt|exp|log|sin|cos|tanh|pow|fabs)\(")  # functions with a form for float


def nests(seed, count, names=()):
    """Pairs of name and C text, each text once; of all families, or of those that are named."""
    r = random.Random(seed)
    families = [f for f in FAMILIES if not names or f.__name__ in names]
    seen, result = set(), []
    for k in range(50 * count):
        if len(result) == count:
            break
        write = families[k % len(families)]
        parameters, body = write(r)
        if (tuple(parameters), body) in seen:
            continue
        seen.add((tuple(parameters), body))
        name = f"{write.__name__}_{len(result)}"
        element = r.choice(["float", "double"])
        text = f"#include <math.h>\n#ifndef T\n#define T {element}\n#endif\n"
        if element == "float":
            body = SINGLE.sub(r"\1f(", body)
        result.append((name, text + function(name, parameters, body)))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--families", nargs="*", default=[], metavar="NAME", help="only these of: " + ", ".join(f.__name__ for f in FAMILIES))
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in nests(options.seed, options.count, options.families):
        (options.out / f"{name}.c").write_text(text)


if __name__ == "__main__":
    main()
