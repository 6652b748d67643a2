#!/usr/bin/env python3
"""End-to-end cases: the `sous` program on real files with real compilers. One case per ctest entry.

    run.py --sous build/sous            all cases
    run.py --sous build/sous NAME…      some
    run.py --list
"""
import argparse
import contextlib
import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

KERNEL = """\
#include <stdio.h>
#include <stdlib.h>
#define N 300
static double A[N][N], B[N][N], C[N][N];
static void mm(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) C[i][j] += A[k][i] * B[k][j];
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : N;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i][j] = (i * j) % 7;
      B[i][j] = (i + j) % 5;
      C[i][j] = 0;
    }
  mm(n);
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) s += C[i][j] * (i + 2 * j);
  printf("%.17g\\n", s);
  return 0;
}
"""
PARSER = """\
#include <ctype.h>
#include <stdio.h>
#include <string.h>
struct token { int kind; const char *text; };
int next(struct token *t, const char **s) {
  while (isspace((unsigned char)**s)) ++*s;
  t->text = *s;
  if (!**s) return t->kind = 0;
  if (isdigit((unsigned char)**s)) { while (isdigit((unsigned char)**s)) ++*s; return t->kind = 1; }
  switch (*(*s)++) { case '+': return t->kind = 2; case '(': return t->kind = 3; default: return t->kind = 4; }
}
"""
NORMAL_FORM = '{"version": 1, "target": "cpp", "steps": []}'
PARALLEL = '{"version": 1, "target": "openmp", "steps": [{"step": "parallelize", "loop": "i0"}]}'
FLAGS = ["-O3", "-ffp-contract=off"]


class Case:
    """A folder of its own, a database of its own, no server unless the case says so."""

    def __init__(self, sous, folder, cc):
        self.sous, self.folder, self.cc = sous, pathlib.Path(folder), cc
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_")}
        self.environment["SOUS_SEED_DIR"] = str(self.folder / "no-seeds")
        self.environment["SOUS_DB"] = str(self.folder / "test.db")
        self.environment["OMP_NUM_THREADS"] = "2"
        self.environment["SOUS_GUARD"] = "0"  # a fault of ours is a fault, not a compile without us
        (self.folder / "no-seeds").mkdir()
        self.write("mm.c", KERNEL)
        self.write("parser.c", PARSER)
        self.write("nf.json", NORMAL_FORM)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def run(self, *words, status=0, **more):
        environment = {**self.environment, **more.pop("environment", {})}
        done = subprocess.run([str(w) for w in words], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=120, **more)
        assert status is None or done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def s(self, *words, **more):
        return self.run(self.sous, *words, **more)

    def expected(self):
        self.run(self.cc, *FLAGS, "mm.c", "-o", "plain")
        return self.run("./plain").stdout

    def fill_database(self):
        """A measured entry for mm: strided access made contiguous, several times faster on any machine."""
        self.s("db", "add", "mm.c", "--recipe", "nf.json", "--nest", "mm", "--runs", "5", "--", self.cc, *FLAGS)


def same_object_when_nothing_to_gain(case):
    for options in (["-O2"], ["-O3", "-g"], ["-O0"], ["-O3", "-fPIC", "-Wall", "-Wextra"]):
        case.run(case.cc, *options, "-c", "parser.c", "-o", "a.o")
        case.s(case.cc, *options, "-c", "parser.c", "-o", "b.o")
        assert case.bytes("a.o") == case.bytes("b.o"), options


def passes_through(case):
    for words in (["--version"], ["-E", "mm.c"], ["-O3", "-S", "mm.c", "-o", "-"], ["-M", "mm.c"], ["-dumpversion"],
                  ["-O3", "-fsyntax-only", "mm.c"], ["-print-file-name=libc.a"]):
        plain, ours = case.run(case.cc, *words), case.s(case.cc, *words)
        assert plain.stdout == ours.stdout and plain.stderr == ours.stderr, words
    case.write("x.cpp", "int main() { int s = 0; for (int i = 0; i < 3; ++i) s += i; return s - 3; }\n")
    case.s(case.cc, "-O3", "-c", "x.cpp", "-o", "x.o")
    case.run(case.cc, "-O3", "-c", "x.cpp", "-o", "y.o")
    assert case.bytes("x.o") == case.bytes("y.o")
    plain = case.run(case.cc, "-O3", "-x", "c", "-", "-c", "-o", "in.o", input=KERNEL)
    ours = case.s(case.cc, "-O3", "-x", "c", "-", "-c", "-o", "in2.o", input=KERNEL)
    assert plain.stderr == ours.stderr and case.bytes("in.o") == case.bytes("in2.o")
    case.run(case.cc, "-O3", "-x", "c", "/dev/stdin", "-c", "-o", "in.o", input=KERNEL)  # a pipe: can be read once
    case.s(case.cc, "-O3", "-x", "c", "/dev/stdin", "-c", "-o", "in2.o", input=KERNEL)
    assert case.bytes("in.o") == case.bytes("in2.o")


def diagnostics_are_the_compilers_own(case):
    case.write("bad.c", "int f(int n) {\n  for (int i = 0; i < n; ++i) undeclared(;\n}\n")
    case.write("warn.c", KERNEL.replace("double s = 0;", "double s = 0; int unused;"))
    case.write("preprocess.c", '#include "missing.h"\nint x;\n')
    for words, status in ((["-O3", "-c", "bad.c"], 1), (["-O3", "-Wall", "-c", "warn.c"], 0),
                          (["-O3", "-Wall", "-Werror", "-c", "warn.c"], 1), (["-O3", "-c", "preprocess.c"], 1),
                          (["-O3", "-c", "none.c"], 1), (["-O3", "-c", "mm.c", "-lm", "-L/x"], 0),
                          (["-O3", "-c", "mm.c", "-o", "none/mm.o"], 1)):
        plain = case.run(case.cc, *words, status=None)
        ours = case.s("--recipe=normal-form", case.cc, *words, status=None)
        assert (plain.returncode != 0) == (status != 0) and plain.returncode == ours.returncode, words
        assert plain.stderr == ours.stderr, f"{words}\n{plain.stderr}\n---\n{ours.stderr}"


def served_nest_gives_the_same_output(case):
    expected = case.expected()
    for target in ("cpp", "openmp", "highway"):
        done = case.s("--explain", "--recipe=normal-form", f"--target={target}", case.cc, *FLAGS, "mm.c", "-o", target)
        assert "served: the recipe given applies" in done.stderr, done.stderr
        assert case.run(f"./{target}").stdout == expected, target
        assert case.run(f"./{target}", "17").stdout == case.run("./plain", "17").stdout, target


def object_then_link(case):
    expected = case.expected()
    case.write("par.json", PARALLEL)
    case.s("--recipe=par.json", "--nest=mm", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    symbols = case.run("nm", "mm.o").stdout
    assert " t sous_mm_6" in symbols and " T sous" not in symbols, symbols
    case.s(case.cc, "mm.o", "-o", "prog")
    assert case.run("./prog").stdout == expected


def macros_of_the_runtime_reach_generated_code(case):
    case.write("par.json", PARALLEL)
    objects = {}
    for macro in ((), ("-DSOUS_PARALLEL_FROM=10000",), ("-DSOUS_PARALLEL_FROM=77",), ("-D", "SOUS_PARALLEL_FROM=77"),
                  ("-DOTHER=77",)):
        case.s("--recipe=par.json", "--nest=mm", case.cc, *FLAGS, *macro, "-c", "mm.c", "-o", "mm.o")
        objects[" ".join(macro)] = case.bytes("mm.o")
    default = objects[""]
    assert objects["-DSOUS_PARALLEL_FROM=10000"] == default == objects["-DOTHER=77"]
    assert objects["-DSOUS_PARALLEL_FROM=77"] == objects["-D SOUS_PARALLEL_FROM=77"] != default


def several_inputs_and_response_file(case):
    expected = case.expected()
    case.write("helper.c", "int helper(void) { return 1; }\n")
    case.write("args", "-O3 -ffp-contract=off mm.c helper.c -o 'prog two'")
    case.s("--recipe=normal-form", case.cc, "@args")
    assert case.run("./prog two").stdout == expected
    case.s("--recipe=normal-form", case.cc, *FLAGS, "-c", "mm.c", "helper.c")
    case.run(case.cc, "mm.o", "helper.o", "-o", "prog3")
    assert case.run("./prog3").stdout == expected


def dependency_files(case):
    case.write("n.h", "#define N 300\n")
    case.write("mm.c", '#include "n.h"\n' + KERNEL.replace("#define N 300\n", ""))
    for words in (["-MD"], ["-MMD", "-MP"], ["-MMD", "-MF", "x.dep"], ["-MD", "-MT", "a b"], ["-MD", "-MQ", "$x"]):
        for name in ("plain.d", "x.dep"):
            (case.folder / name).unlink(missing_ok=True)
        file = "x.dep" if "-MF" in words else "plain.d"
        case.run(case.cc, *FLAGS, *words, "-c", "mm.c", "-o", "plain.o")
        plain = case.bytes(file)
        (case.folder / file).unlink()
        case.s("--recipe=normal-form", case.cc, *FLAGS, *words, "-c", "mm.c", "-o", "plain.o")
        assert plain == case.bytes(file), f"{words}\n{plain}\n{case.bytes(file)}"


def contraction_core(case):
    """A product on packed register tiles: the innermost loop has the tile's operations, and no register is spilled."""
    for cc, (march, rows, vectors, fma), (kind, bytes_each) in itertools.product(
            (case.cc, "gcc-12"),
            (("x86-64-v4", 8, 3, True), ("x86-64-v3", 4, 3, True), ("x86-64-v2", 4, 2, False)),
            (("double", 8), ("float", 4))):
        lanes = {"x86-64-v4": 64, "x86-64-v3": 32, "x86-64-v2": 16}[march] // bytes_each
        columns = vectors * lanes
        case.write("core.c", f"""\
void product(int n, int m, int k, {kind} C[restrict n][m], const {kind} A[restrict n][k], const {kind} B[restrict k][m]) {{
  for (int i = 0; i < n; i++)
    for (int p = 0; p < k; p++)
      for (int j = 0; j < m; j++) C[i][j] += A[i][p] * B[p][j];
}}
""")
        case.write("core.r", f"tile(loops=[i0, i1, i2], sizes=[{8 * rows}, 256, {8 * columns}]); "
                   "interchange(outer=i0_t, inner=i1_t); interchange(outer=i1, inner=i2); "
                   f"register_tile(loops=[i0, i2], sizes=[{rows}, {columns}], lanes={lanes}, partial=padded); "
                   "pack(loop=i1_t, panel=i2_r); pack(loop=i0_t, panel=i0_r) -> highway")
        case.s("--recipe=core.r", cc, "-O3", f"-march={march}", "-c", "core.c", "-o", "core.o")
        table = case.s("bench", "asm", "core.o").stdout
        head = re.split(r"\s{2,}", table.splitlines()[1].strip())
        first = dict(zip(head, table.splitlines()[3].split()))
        what = f"{cc} {march} {kind}\n{table}"
        assert first["function"].startswith("sous_product"), what
        assert int(first["vector fma"]) == (rows * vectors if fma else 0), what
        assert int(first["other vector"]) == (0 if fma else 2 * rows * vectors), what
        assert int(first["spills"]) == 0, what


def debugger_sees_the_users_lines(case):
    case.s("--recipe=normal-form", case.cc, *FLAGS, "-g", "-c", "mm.c", "-o", "mm.o")
    lines = case.run("objdump", "--dwarf=decodedline", "mm.o").stdout
    assert "mm.c" in lines, lines
    assert any(line.split()[:2] == ["mm.c", "8"] for line in lines.splitlines() if line.strip()), lines


def deterministic(case):
    case.write("par.json", PARALLEL)
    for recipe in ("normal-form", "par.json"):
        for k in range(2):
            case.s(f"--recipe={recipe}", case.cc, *FLAGS, "-g", "-c", "mm.c", "-o", f"{k}.o",
                   environment={"TMPDIR": tempfile.mkdtemp(dir=case.folder)})
        assert case.bytes("0.o") == case.bytes("1.o"), recipe
        assert str(case.folder / "tmp").encode() not in case.bytes("0.o") and b"sous-" not in case.bytes("0.o")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def served(case):
    """sous serve over the case's database: its URL."""
    port = free_port()
    server = subprocess.Popen([case.sous, "serve", "--db=test.db", "--listen", f"127.0.0.1:{port}"], cwd=case.folder,
                              env=case.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        assert server.wait() == 0


def malformed_requests_are_refused(case):
    with served(case) as url:
        for body, kind, status, why in ((b"{", "application/json", 400, "well-formed"),
                                        (b"[" * 100000, "application/json", 400, "nested"),
                                        (b"[" * 100000, "application/x-www-form-urlencoded", 413, "application/json"),
                                        (b" " * 9000000, "application/json", 413, "8388608")):
            try:
                request = urllib.request.Request(url + "/v1/query", data=body, headers={"Content-Type": kind})
                urllib.request.urlopen(request)
                raise AssertionError("answered")
            except urllib.error.HTTPError as refused:
                error = json.load(refused)["error"]
                assert refused.code == status and why in error["why"], (refused.code, error)


def database_server_and_lock_give_the_same_bytes(case):
    case.fill_database()
    command = [case.cc, *FLAGS, "-c", "mm.c", "-o"]
    assert "served" in case.s("--explain", "--lock", *command, "database.o").stderr
    lock = case.bytes("sous.lock")
    assert case.bytes("database.o") != (case.run(*command, "plain.o"), case.bytes("plain.o"))[1]
    case.s("--frozen", *command, "frozen.o", environment={"SOUS_DB": str(case.folder / "nowhere" / "x.db")})
    assert case.bytes("frozen.o") == case.bytes("database.o")
    (case.folder / "sous.lock").unlink()
    with served(case) as url:
        done = case.s("--explain", "--lock", "--db=none", f"--server={url}", *command, "server.o")
    assert "(server)" in done.stderr, done.stderr
    assert case.bytes("server.o") == case.bytes("database.o")
    assert case.bytes("sous.lock") == lock


class Garbage(http.server.BaseHTTPRequestHandler):
    delay = 0

    def do_POST(self):
        time.sleep(self.delay)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"matches": [[{"recipe": 7}]], garbage')

    def log_message(self, *_):
        pass


def builds_go_on_without_the_server(case):
    expected = case.expected()

    def build(url):
        start = time.monotonic()
        done = case.s("--db=none", f"--server={url}", "--deadline=1", case.cc, *FLAGS, "mm.c", "-o", "prog")
        assert time.monotonic() - start < 8
        assert done.stderr.count("sous:") == 1, done.stderr
        assert case.run("./prog").stdout == expected

    build(f"http://127.0.0.1:{free_port()}")  # nobody there
    for delay in (0, 10):
        handler = type("Handler", (Garbage,), {"delay": delay})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        build(f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()


def one_clear_line(case):
    case.write("broken.json", '{"version": 1, "steps": [')
    case.write("unknown.json", '{"version": 1, "target": "cpp", "steps": [{"step": "tyle"}]}')
    case.write("target.json", '{"version": 1, "target": "opemp", "steps": []}')
    for words, code, hint in ((["opt", "mm.c", "--recipe=broken.json"], "recipe.json", ""),
                              (["opt", "mm.c", "--recipe=unknown.json"], "recipe.unknown-step", "tile"),
                              (["opt", "mm.c", "--recipe=target.json"], "recipe.unknown-target", "openmp"),
                              (["opt", "mm.c", "--nest=none"], "cli.value", "none"),
                              (["opt", "mm.c", "--target=higway"], "cli.value", "highway"),
                              (["opt", "none.c"], "client.read", "none.c"), (["opy", "mm.c"], "cli.unknown-command", "opt"),
                              (["db", "lst"], "cli.unknown-command", "list"), (["--frozn", "cc"], "cli.unknown-option", "--frozen"),
                              (["help", "tyle"], "cli.unknown-command", "tile"),
                              (["opt", "mm.c", "-o", "/proc/none"], "client.write", "/proc/none")):
        done = case.s(*words, status=None)
        assert done.returncode in (1, 2), words
        assert done.stderr.count("\n") == 1 and f"[{code}]" in done.stderr and hint in done.stderr, f"{words}: {done.stderr}"
    assert case.s("no-such-compiler-19", "-c", "mm.c", status=None).returncode != 0


def corrupt_files_are_kept(case):
    case.write("sous.lock", '{"version": 1, "nests": [{"hash"')
    done = case.s("--frozen", case.cc, *FLAGS, "mm.c", "-o", "prog")
    assert "lock.corrupt" in done.stderr and case.bytes("sous.lock").startswith(b'{"version": 1, "nests": [{"hash"')
    (case.folder / "sous.lock").unlink()
    case.write("test.db", "this is no database, and somebody may want it back" * 100)
    before = case.bytes("test.db")
    done = case.s(case.cc, *FLAGS, "mm.c", "-o", "prog")
    kept = [p for p in case.folder.iterdir() if p.name.startswith("test.db.")]
    assert any(p.read_bytes() == before and p.name in done.stderr for p in kept), (done.stderr, kept)
    assert case.run("./prog").stdout == case.expected()


def full_disk(case):
    if not os.path.exists("/dev/full"):
        return
    with open("/dev/full", "w") as full:
        done = subprocess.run([case.sous, "help"], stdout=full, stderr=subprocess.PIPE, text=True, env=case.environment)
    assert done.returncode == 1 and "[client.write]" in done.stderr, done


def opt_writes_readable_files(case):
    case.s("opt", "mm.c", "--recipe=normal-form", "--nest=mm", "-o", "out", "--", case.cc, *FLAGS)
    text = (case.folder / "out/mm.c").read_text()
    assert '#line 6 "mm.c"' in text and "if (!sous_mm_6(" in text, text
    case.run(case.cc, *FLAGS, "-c", "out/mm.c", "-o", "user.o")
    case.run(case.cc, "-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fwrapv", *FLAGS,
             "-I", pathlib.Path(__file__).resolve().parents[2], "-c", "out/mm.sous.cpp", "-o", "generated.o")
    case.run(case.cc, "user.o", "generated.o", "-o", "prog")
    assert case.run("./prog").stdout == case.expected()
    for form, start in (("sdfg", "sdfg"), ("json", "{"), ("dot", "digraph"), ("svg", "<svg"), ("report", "{")):
        out = case.s("opt", "mm.c", "--recipe=normal-form", f"--emit={form}").stdout
        assert start in out[:200], f"{form}: {out[:200]}"
        assert out.count("<svg") == (form == "svg"), form
    json.loads(case.s("opt", "mm.c", "--recipe=normal-form", "--emit=report").stdout)


def database_commands(case):
    case.fill_database()
    assert "mm#0" in case.s("db", "list").stdout
    identity = case.s("db", "list").stdout.split()[0]
    assert "loop" in case.s("db", "show", identity).stdout
    case.s("db", "export", "-o", "all.jsonl")
    assert "1 added" in case.s("--db=second.db", "db", "import", "all.jsonl").stdout
    assert "1 known already" in case.s("--db=second.db", "db", "import", "all.jsonl").stdout
    for verb in ("stats", "verify", "rebuild-index"):
        case.s("--db=second.db", "db", verb)
    assert case.s("--db=second.db", "db", "export").stdout == (case.folder / "all.jsonl").read_text()
    assert "mm#0" in case.s("query", "mm.c").stdout
    case.s("--db=second.db", "db", "remove", identity)
    assert case.s("--db=second.db", "db", "list").stdout == ""


SIZED = """\
#include <stdio.h>
#include <stdlib.h>
void mm(int n, double A[n][n], double B[n][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) C[i][j] += A[k][i] * B[k][j];
}
int main(void) {
  int n = 96;
  double (*A)[n] = calloc(n, sizeof *A), (*B)[n] = calloc(n, sizeof *B), (*C)[n] = calloc(n, sizeof *C);
  mm(n, A, B, C);
  printf("%g\\n", C[1][1]);
}
"""


def measured_on_the_spot_is_kept(case):
    case.write("sized.c", SIZED)
    case.s("db", "add", "sized.c", "--recipe", "nf.json", "--nest", "mm", "--", case.cc, *FLAGS)
    build = [case.cc, *FLAGS, "-c", "sized.c", "-o", "sized.o"]
    # No evidence at this size; then measured, once, and kept.
    assert "served: " not in case.s("--explain", "--size", "n=500", *build).stderr
    first = case.s("--explain", "--measure", "--size", "n=500", "--runs", "3", *build).stderr
    assert "served: " in first, first
    kept = case.s("db", "list").stdout.splitlines()
    assert len(kept) == 2 and sum("sized#0" in line for line in kept) == 2, kept
    again = case.s("--explain", "--size", "n=500", *build).stderr
    assert "served: " in again and "(database, distance 0" in again, again
    case.s("--measure", "--size", "n=500", *build)
    assert len(case.s("db", "list").stdout.splitlines()) == 2


def setup_measures_once(case):
    case.fill_database()  # for SSE2: another class than that of the builds below
    command = ["setup", "--budget", "2", "--", case.cc, "-O3", "-march=native"]
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        return
    first = case.s(*command).stdout
    assert "1 measured here" in first, first
    assert len(case.s("db", "list").stdout.splitlines()) == 2
    second = case.s(*command).stdout
    assert "0 recipes to measure" in second and "0 measured here" in second, second
    assert "1 measured here" in case.s(*command[:1], "--again", *command[1:]).stdout
    assert len(case.s("db", "list").stdout.splitlines()) == 2
    assert "0 recipes to measure" in case.s("setup", "--only", "nothing-of-this-name").stdout


CASES = [v for v in list(globals().values()) if callable(v) and getattr(v, "__code__", None) and
         v.__code__.co_varnames[:1] == ("case",) and v.__code__.co_argcount == 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", type=pathlib.Path)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(c.__name__ for c in CASES))
        return 0
    if shutil.which(options.cc) is None:
        print(f"skipped: there is no {options.cc}")
        return 77
    failed = 0
    for function in CASES:
        if options.names and function.__name__ not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
            try:
                function(Case(options.sous.resolve(), folder, options.cc))
                print("ok    ", function.__name__, flush=True)
            except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError) as error:
                failed += 1
                print("FAILED", function.__name__, type(error).__name__, error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
