"""Rows and tables from builds."""
import collections

PASSED = {"PASS", "Passed", "test OK", "XFAIL", "ok", "OK"}


def compiled(build):
    """The last line of each input: a file may be compiled for a static and a shared library."""
    return list({(e["folder"], e["file"], e["object"]): e for e in build.log
                 if e["fate"] in ("left", "served", "crash")}.values())


def codes(text):
    """'c.goto: a goto or a label' -> 'c.goto'; a sentence stays one."""
    head = text.split(":")[0]
    return head if "." in head and " " not in head else text.split(" for ")[0]


def sous_facts(build):
    """What Sous says about the project's files."""
    entries = compiled(build)
    reports = [e["report"] for e in entries if "report" in e]
    nests = [n for r in reports for n in r["nests"]]
    reasons = collections.Counter(x["code"] for r in reports for x in r["reasons"])
    not_served = collections.Counter(codes(n["why"]) for n in nests if not n["served"])
    failed = collections.Counter(codes(e["why"]) for e in entries if e["fate"] == "left" and "report" not in e)
    return {
        "files": len(entries),
        "passed_through": sum(e["fate"] == "pass" and e["file"].endswith(".c") for e in build.log),
        "functions_with_loops": sum(r["functions_with_loops"] for r in reports),
        "nests_lifted": len(nests),
        "nests_served": sum(n["served"] for n in nests),
        "crashes": [e["file"] for e in entries if e["fate"] == "crash"],
        "reasons": dict(reasons.most_common()),
        "not_served": dict(not_served.most_common()),
        "files_left": dict(failed.most_common()),
        "seconds_own": round(sum(e["seconds_own"] for e in build.log), 3),
    }


def differences(plain, build):
    """What the project's tests say differently with Sous; empty is what we want."""
    out = []
    if not build.ok:
        return [build.why]
    for name in sorted({*plain.tests, *build.tests}):
        before, now = plain.tests.get(name, "missing"), build.tests.get(name, "missing")
        if before != now:
            out.append(f"test {name}: {before} without Sous, {now} with it")
    for name in sorted({*plain.outputs, *build.outputs}):
        if plain.outputs.get(name) != build.outputs.get(name):
            out.append(f"output {name}: other bytes")
    return out


def count_passed(build):
    return sum(r in PASSED for r in build.tests.values()) + len(build.outputs)


def row(plain, build):
    """One line of the results file."""
    problems = differences(plain, build)
    facts = sous_facts(build)
    problems += [f"crash on {file}" for file in facts["crashes"]]
    return {
        "project": build.project, "version": build.version, "flags": build.flags, "mode": build.mode, **facts,
        "tests_plain": count_passed(plain), "tests_sous": count_passed(build),
        "build_cpu_plain": round(plain.build_cpu, 2), "build_cpu_sous": round(build.build_cpu, 2),
        "object_bytes_plain": plain.object_bytes, "object_bytes_sous": build.object_bytes,
        "problems": problems,
    }


HEAD = ("project", "flags", "mode", "files", "loop functions", "lifted", "served", "Sous s", "build cpu s", "object KB",
        "tests", "same")


def cells(r):
    return (r["project"], r["flags"], r["mode"], str(r["files"]), str(r["functions_with_loops"]),
            str(r["nests_lifted"]), str(r["nests_served"]), f"{r['seconds_own']:.1f}",
            f"{r['build_cpu_plain']:.1f} → {r['build_cpu_sous']:.1f}",
            f"{r['object_bytes_plain'] / 1e3:.0f} → {r['object_bytes_sous'] / 1e3:.0f}",
            f"{r['tests_sous']} of {r['tests_plain']}", "no" if r["problems"] else "yes")


def recorded(r, most=6):
    """For tests/results.jsonl."""
    counts = collections.Counter(r["reasons"])
    left = f"{counts.total():,} loops not lifted: {most_frequent(counts, most)}"
    return (" ".join((r["project"], r["flags"], r["mode"])), "; ".join(r["problems"]) or "same", not r["problems"],
            {"cells": dict(zip(HEAD, cells(r))), "reasons": left})


def terminal(rows):
    return aligned([HEAD, *map(cells, rows)])


def aligned(lines):
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)


def markdown(rows):
    return "\n".join("| " + " | ".join(line) + " |" for line in (HEAD, ("---",) * len(HEAD), *map(cells, rows)))


def reasons(rows):
    """Why loops are not lifted: {project: counts by code}, of the first of its builds, and of "all" of them."""
    found = {}
    for r in rows:
        found.setdefault(r["project"], collections.Counter(r["reasons"]))
    return {**found, "all": sum(found.values(), collections.Counter())}


def most_frequent(counts, most):
    listed = [f"{code} {n:,}" for code, n in counts.most_common(most)]
    rest = counts.total() - sum(n for _, n in counts.most_common(most))
    return ", ".join(listed + ([f"others {rest:,}"] if rest else []))


def reasons_markdown(rows, most=6, most_of_all=15):
    lines = [f"| {name} | {counts.total():,} | {most_frequent(counts, most_of_all if name == 'all' else most)} |"
             for name, counts in reasons(rows).items()]
    return "\n".join(["| project | not lifted | why |", "|---|---|---|", *lines])
