#!/usr/bin/env python3
"""Sous among other programs: results of earlier compiles, ccache in front of it and behind, an installed copy.

    tests/e2e/install_test.py --sous build/sous [--build build] [case…]
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from case import FLAGS, Case  # noqa: E402


def is_served(case, name):
    return b"sous_mm_" in case.bytes(name)


def log(case, name="report"):
    return [json.loads(line) for line in (case.folder / name).read_text().splitlines()]


def results_are_kept(case, _):
    case.fill_database()
    report = {"SOUS_REPORT": str(case.folder / "report")}
    compile_ = [case.cc, *FLAGS, "-c"]
    for name in ("first.o", "second.o"):
        case.s(*compile_, "mm.c", "-o", name, environment=report)
        case.s(*compile_, "parser.c", "-o", "p" + name, environment=report)
    assert is_served(case, "first.o") and case.bytes("first.o") == case.bytes("second.o")
    first, left, second, left_again = log(case)
    assert [e["fate"] for e in (first, left, second, left_again)] == ["served", "left", "served", "left"]
    assert "cached" not in first and "cached" not in left, "the first compiles found something"
    assert second["cached"], second
    for fact in ("nests", "reasons", "file"):
        assert second["report"][fact] == first["report"][fact], fact
    # What is asked for is found out anew; other flags, another text and another database are something else.
    assert "distance 0" in case.s("--explain", *compile_, "mm.c", "-o", "said.o").stderr
    case.s(*compile_, "-g", "mm.c", "-o", "debug.o", environment=report)
    case.write("mm.c", (case.folder / "mm.c").read_text() + "int more;\n")
    case.s(*compile_, "mm.c", "-o", "more.o", environment=report)
    [entry] = re.findall(r"\b[0-9a-f]{8,32}\b", case.s("db", "list").stdout)[:1]
    case.s("db", "remove", entry)
    case.s(*compile_, "mm.c", "-o", "none.o", environment=report)
    assert [e.get("cached", False) for e in log(case)[4:]] == [False, False, False]
    assert is_served(case, "more.o") and not is_served(case, "none.o")
    # Warnings are said each time.
    case.write("warn.c", (case.folder / "parser.c").read_text() + "int f(void) { }\n")
    said = {case.s(*compile_, "-Wall", "warn.c", "-o", "w.o").stderr for _ in range(2)}
    assert len(said) == 1 and "-Wreturn-type" in said.pop()
    assert re.search(r"\b([5-9]|\d\d) results", case.s("cache").stdout), case.s("cache").stdout
    assert "\n0 results" in case.s("cache", "clear").stdout
    assert "no cache" in case.s("cache", environment={"SOUS_CACHE_DIR": "off"}).stdout


def a_root_of_headers(folder, minor):
    """The system's headers, but for one: they are of another version of the C library."""
    include = folder / "root/usr/include"
    include.mkdir(parents=True)
    for header in pathlib.Path("/usr/include").iterdir():
        if header.name != "features.h":
            (include / header.name).symlink_to(header)
    (folder / "root/usr/lib").symlink_to("/usr/lib")
    (folder / "root/lib").symlink_to("/lib")
    text = pathlib.Path("/usr/include/features.h").read_text()
    (include / "features.h").write_text(re.sub(r"(?m)^(#define\s+__GLIBC_MINOR__\s+)\d+", rf"\g<1>{minor}", text))


def results_of_other_headers_are_others(case, _):
    """Generated code includes headers of the system, which the preprocessed text of a file does not show."""
    case.write("par.recipe", "parallelize(loop=i0) -> openmp")
    kernel = (case.folder / "mm.c").read_text()
    report = {"SOUS_REPORT": str(case.folder / "report")}
    case.fill_database()
    joins = []
    for name, minor in (("old", 28), ("new", 36)):
        folder = case.folder / name
        a_root_of_headers(folder, minor)
        (folder / "mm.c").write_text(kernel)
        words = [case.cc, *FLAGS, "--sysroot=root", "-c", "mm.c", "-o"]
        # The team that is compiled for all files.
        for cache in ({}, {"SOUS_CACHE_DIR": "off"}):
            case.run("sh", "-c", f"cd {name} && exec \"$@\"", "sh", case.sous, f"--recipe={case.folder}/par.recipe",
                     "--nest=mm", *words, "par.o", environment=cache)
            joins.append([row.split()[0] for row in case.run("nm", f"{name}/par.o").stdout.splitlines()
                          if row.endswith(" pthread_join")])
        # And whole results.
        for k in range(2):
            case.run("sh", "-c", f"cd {name} && exec \"$@\"", "sh", case.sous, *words, "mm.o", environment=report)
    assert joins == [["w"], ["w"], ["U"], ["U"]], joins
    assert [(e["fate"], e.get("cached", False)) for e in log(case)] == [("served", False), ("served", True)] * 2, log(case)


def what_has_no_deep_loops_is_the_compilers_alone(case, _):
    """Once the sources of recipes were asked, a file whose text tells that none knows its nests is not preprocessed, and one
    that was left is not until something that it is made of changes."""
    case.fill_database()
    report = {"SOUS_REPORT": str(case.folder / "report")}
    case.write("inner.h", "static double half(double x) { return x / 2; }\n")
    deep = '#include "inner.h"\nvoid g(int n, double *a) { for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) for (int k = 0; k < j; ++k) a[j] += half(a[k]); }\n'
    case.write("deep.c", deep)
    case.write("shallow.c", "void f(int n, double *a) { for (int i = 0; i < n; ++i) a[i] *= 2; }\n")
    case.write("integer.c", "void f(int n, int *a) { for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) for (int k = 0; k < j; ++k) a[i] += a[k]; }\n")
    # No clang of our own, which sous-core needs no child for.
    script = case.folder / "clang-script"
    script.write_text(f'#!/bin/sh\nexec {shutil.which(case.cc)} "$@"\n')
    script.chmod(0o755)
    compile_ = [script, *FLAGS, "-c"]
    for name in ("shallow.c", "shallow.c", "integer.c", "deep.c", "deep.c"):
        case.s(*compile_, name, "-o", "sous.o", environment=report)
        case.run(*compile_, name, "-o", "plain.o")
        assert case.bytes("sous.o") == case.bytes("plain.o"), name
    lines = log(case)
    assert {e["fate"] for e in lines} == {"left"}, lines
    # The compiler preprocesses for Sous, or does not: time of its children.
    looked = [e["seconds_children"] > 0 for e in lines]
    # Strategies write recipes for three loops in each other, of integers as well.
    assert looked == [True, False, True, True, False], lines
    assert "nested as deep" in lines[1]["why"] and lines[2]["why"] == "nothing is served" and lines[4]["cached"], lines
    case.write("inner.h", "static double half(double x) { return x / 2 + 1; }\n")
    case.s(*compile_, "deep.c", "-o", "sous.o", environment=report)
    case.s("--explain", *compile_, "shallow.c", "-o", "sous.o", environment=report)
    assert all(e["seconds_children"] > 0 for e in log(case)[5:]), log(case)[5:]
    if case.cc == "clang-19":
        case.s(case.cc, *compile_[1:], "deep.c", "-o", "sous.o", environment=report)
        assert log(case)[-1]["seconds_children"] == 0 and not log(case)[-1].get("cached"), log(case)[-1]
    # What must be there is; what is missing is said, and is no failure of the build.
    alone = case.folder / "alone"
    alone.mkdir()
    shutil.copy2(case.sous, alone / "sous")
    case.run(*compile_, "deep.c", "-o", "plain.o")
    for options in ((), ("--explain",), ("--recipe", "parallelize(loop=i0)")):
        done = case.run(alone / "sous", *options, *compile_, "deep.c", "-o", "alone.o")
        assert "sous-core" in done.stderr and case.bytes("alone.o") == case.bytes("plain.o"), (options, done.stderr)
        (case.folder / "alone.o").unlink()


def a_front_end_is_loaded_for_what_needs_one(case, _):
    """The preprocessed text shows of most files that no recipe is for them: `sous` preprocesses them, once, and only the
    others get to sous-core, with that text."""
    case.fill_database()
    alone = case.folder / "alone"
    alone.mkdir()
    shutil.copy2(case.sous, alone / "sous")
    shutil.copy2(pathlib.Path(case.sous).parent / "sous-core", alone / "sous-core-itself")
    calls = case.folder / "calls"
    for path, word, target in ((alone / "sous-core", "core", alone / "sous-core-itself"),
                               (alone / "clang-counted", "$*", shutil.which(case.cc))):
        path.write_text(f'#!/bin/sh\necho "{word}" >> {calls}\nexec {target} "$@"\n')
        path.chmod(0o755)

    def looks(name, *more):
        """How often the compiler preprocessed, and whether sous-core was started; the object is the compiler's."""
        calls.write_text("")
        case.run(alone / "sous", alone / "clang-counted", *FLAGS, "-MD", "-MF", "sous.d", "-c", name, "-o", "x.o", *more)
        lines = calls.read_text().splitlines()
        case.run(case.cc, *FLAGS, "-MD", "-MF", "plain.d", "-c", name, "-o", "x.o2", *more)
        assert case.bytes("x.o") == case.bytes("x.o2"), name
        assert case.bytes("sous.d").replace(b"x.o:", b"") == case.bytes("plain.d").replace(b"x.o2:", b""), name
        return sum(" -E " in f" {line} " for line in lines), "core" in lines

    # Braces in macros: the file's own text does not tell.
    head = '#include "head.h"\n'
    case.write("head.h", "#define BEGIN {\n#define END }\n")
    loop = "for (int {0} = 0; {0} < n; ++{0}) "
    nest = "void {}(int n, double *a, int *k) BEGIN {} END\n"
    shallow = nest.format("f", loop.format("i") + "a[i] *= 2;")
    deep = nest.format("g", "".join(loop.format(v) for v in "ijl") + "a[k[i]] += a[k[j]] * k[l];")
    for name in ("first.c", "second.c"):
        case.write(name, head + shallow)
    case.write("nothing.c", head + nest.format("h", "a[0] = k[n];"))
    case.write("deep.c", head + deep)
    assert looks("first.c") == (1, True), "what the database has is asked once"
    assert looks("second.c") == (1, False) and looks("second.c") == (0, False)
    assert looks("nothing.c")[1] is False and looks("nothing.c") == (0, False)
    assert looks("deep.c") == (1, True) and looks("deep.c") == (0, False)
    # The same text in a file that is new: the result is known.
    (case.folder / "deep.c").touch()
    assert looks("deep.c") == (1, False) and looks("deep.c") == (0, False)
    case.write("head.h", "#define BEGIN {\n#define END a[0] = 1; }\n")
    assert looks("deep.c") == (1, True) and looks("second.c") == (1, False)
    # Another command line is another question, also where the text is the same.
    assert looks("second.c", "-Inear") == (1, False) and looks("second.c", "-Inear") == (0, False)


def many_builds_share_the_results(case, _):
    names = [f"f{k}.c" for k in range(4)]
    for k, name in enumerate(names):
        case.write(name, f"void f{k}(int n, double *a) {{ for (int i = 0; i < n; ++i) a[i] *= {k}; }}\n")
    for _ in range(2):
        started = [subprocess.Popen([str(case.sous), case.cc, *FLAGS, "-c", name, "-o", f"{name}.{k}.o"], cwd=case.folder,
                                    env=case.environment) for name in names for k in range(3)]
        assert [process.wait(timeout=120) for process in started] == [0] * len(started)
    for name in names:
        case.run(case.cc, *FLAGS, "-c", name, "-o", "plain.o")
        assert {case.bytes(f"{name}.{k}.o") for k in range(3)} == {case.bytes("plain.o")}


def ccache_environment(case, **more):
    if shutil.which("ccache") is None:
        sys.exit(77)
    return {"CCACHE_DIR": str(case.folder / "ccache"), "CCACHE_CONFIGPATH": str(case.folder / "ccache.conf"),
            "CCACHE_LOGFILE": str(case.folder / "ccache.log"), **more}


def ccache_hits(case, environment):
    statistics = dict(line.split("\t") for line in case.run("ccache", "--print-stats", environment=environment)
                      .stdout.splitlines())
    return int(statistics["direct_cache_hit"]) + int(statistics["preprocessed_cache_hit"])


def ccache_in_front_sees_the_database(case, _):
    environment = ccache_environment(case, CCACHE_COMPILERCHECK=f"{case.sous} fingerprint")
    command = ["ccache", case.sous, case.cc, *FLAGS, "-c", "mm.c", "-o"]
    before = case.s("fingerprint").stdout
    case.run(*command, "a.o", environment=environment)
    case.run(*command, "b.o", environment=environment)
    assert case.bytes("a.o") == case.bytes("b.o") and not is_served(case, "a.o")
    assert ccache_hits(case, environment) == 1
    case.fill_database()
    assert case.s("fingerprint").stdout != before
    case.run(*command, "c.o", environment=environment)
    assert is_served(case, "c.o"), "a stale object"
    case.run(*command, "d.o", environment=environment)
    assert case.bytes("c.o") == case.bytes("d.o") and ccache_hits(case, environment) == 2
    assert case.s("fingerprint").stdout != case.s("--frozen", "fingerprint").stdout


def ccache_behind_is_a_prefix(case, _):
    case.fill_database()
    environment = ccache_environment(case)
    case.s("ccache", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o", environment=environment)
    assert is_served(case, "mm.o")
    case.run(case.cc, *FLAGS, "-c", "parser.c", "-o", "plain.o")
    for name in ("a.o", "b.o"):
        case.s("ccache", case.cc, *FLAGS, "-c", "parser.c", "-o", name, environment=environment)
        assert case.bytes(name) == case.bytes("plain.o")
    assert ccache_hits(case, environment) == 1
    case.s("ccache", case.cc, *FLAGS, "mm.o", "-o", "mm", environment=environment)
    assert case.run("./mm").stdout == case.expected()
    assert "ccache" in case.s("ccache", "--version", environment=environment).stdout


def an_installed_copy_stands_on_its_own(case, build):
    prefix = case.folder / "usr local"  # a path with a blank
    case.run("cmake", "--install", build, "--prefix", prefix)
    for name in ("bin/sous", "bin/sous-core", "bin/sous-serve", "include/sous/targets/runtime/sous.h", "share/sous/seed/polybench.jsonl",
                 "share/sous/seed/gain_model.json", "share/man/man1/sous.1", "share/bash-completion/completions/sous", "share/zsh/vendor-completions/_sous"):
        assert (prefix / name).is_file(), name
    case.run("bash", "-n", prefix / "share/bash-completion/completions/sous")
    page = (prefix / "share/man/man1/sous.1").read_text()
    for word in ("sous opt", r"\-\-explain", "SOUS_CACHE_DIR"):
        assert word in page, word
    # Its own seeds and headers, though the build folder's are there too: seeds of one entry, a header that says so.
    (prefix / "share/sous/seed/corpus.jsonl").unlink()
    seeds = prefix / "share/sous/seed/polybench.jsonl"
    seeds.write_text(seeds.read_text().splitlines()[0] + "\n")
    header = prefix / "include/sous/targets/runtime/sous.h"
    header.write_text(header.read_text() + "#pragma message(\"of the installed copy\")\n")
    case.sous = prefix / "bin/sous"
    del case.environment["SOUS_SEED_DIR"]
    assert len(case.s("db", "list").stdout.splitlines()) in (1, 2), case.s("db", "list").stdout
    case.s("--recipe", "nf.json", case.cc, *FLAGS, "mm.c", "-o", "ours")
    assert case.run("./ours").stdout == case.expected()
    header.write_text("#error of the installed copy\n")
    said = case.s("--explain", "--recipe", "nf.json", case.cc, *FLAGS, "-c", "mm.c", "-o", "ours.o").stderr
    assert "of the installed copy" in said, said


CASES = [results_are_kept, results_of_other_headers_are_others, what_has_no_deep_loops_is_the_compilers_alone, a_front_end_is_loaded_for_what_needs_one,
         many_builds_share_the_results,
         ccache_in_front_sees_the_database, ccache_behind_is_a_prefix,
         an_installed_copy_stands_on_its_own]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.__name__ for case in CASES))
        return
    for case in CASES:
        if options.names and case.__name__ not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="sous-e2e-") as folder:
            case(Case(options.sous.resolve(), folder, options.cc), options.build.resolve())
        print(f"ok {case.__name__}")


if __name__ == "__main__":
    main()
