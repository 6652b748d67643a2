"""Takes parts out of a failing function as long as it fails in the same way and stays defined."""
import re
import time

import c_harness


def halves(text):
    """The text with one parenthesized `a op b` replaced by a or by b, outermost first."""
    for start, c in enumerate(text):
        if c != "(" or (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
            continue
        depth, parts, last = 0, [], start + 1
        for k in range(start, len(text)):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[k], 0)
            if depth == 0:
                parts.append((last, k))
                break
            operator = re.match(r" (\?|:|[-+*/%&|^<>=!]{1,2}) ", text[k:])
            if depth == 1 and operator:
                parts.append((last, k))
                last = k + len(operator[0])
        else:
            return
        if len(parts) > 1:
            for a, b in parts:
                yield text[:start] + f"({text[a:b]})" + text[parts[-1][1] + 1:]


def simpler(line):
    """Assignments with less on the right, and shorter constants."""
    match = re.match(r"(.*?[^<>=!]\s*[-+*^|&]?=) (.*);$", line)
    if match and match[2] not in ("1", "0"):
        yield match[1] + " 1;"
    yield from halves(line)
    for number in re.finditer(r"(?<![\w.])\d{2,}(?![\w.])", line):
        yield line[:number.start()] + "2" + line[number.end():]


def smaller(statements):
    """Every program that is one deletion, one unwrapped block or one simpler line away."""
    for k, s in enumerate(statements):
        rest = statements[k + 1:]
        yield statements[:k] + rest
        if s[0] == "block":
            yield statements[:k] + s[2] + rest
            for inner in smaller(s[2]):
                yield statements[:k] + [("block", s[1], inner, s[3])] + rest
            for head in halves(s[1]):
                yield statements[:k] + [("block", head, s[2], s[3])] + rest
        else:
            for line in simpler(s[1]):
                yield statements[:k] + [("line", line)] + rest


def still_fails(bench, function, one, reference):
    """Whether the function is defined, and sous makes something else of it than the compiler."""
    if bench.build(["clang-19", *reference], [function], "r").returncode:
        return False
    expected = bench.run(["./r"]).stdout
    if not bench.differs([function], expected, one):
        return False
    kept, sanitized = bench.defined([function])
    return bool(kept) and sanitized == expected


def shrink(bench, function, one, reference, seconds=300):
    """The function as small as the time allows."""
    end = time.time() + seconds
    again = True
    while again and time.time() < end:
        again = False
        for body in smaller(function.body):
            if time.time() > end:
                break
            saved, function.body = function.body, body
            if still_fails(bench, function, one, reference):
                again = True
                break
            function.body = saved
    return function
