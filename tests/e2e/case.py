"""What the cases of run.py share: a folder of its own for each, small programs, flags."""
import contextlib
import os
import pathlib
import sqlite3
import subprocess

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
        self.environment["SOUS_CACHE_DIR"] = str(self.folder / "cache")
        self.environment["OMP_NUM_THREADS"] = "2"
        self.environment["SOUS_LOG"] = str(self.folder / "log")
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")  # what was said once, in this case
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

    def fill_database(self, *options):
        """An entry for mm that no busy machine can spoil: strided access made contiguous."""
        self.entry_without_doubt("all.jsonl", *options)
        self.s("db", "import", "all.jsonl")

    def entry_without_doubt(self, file="all.jsonl", *options):
        """The same as a file of seeds, with times that no busy machine can spoil."""
        self.s("--db=measured.db", "db", "add", *options, "mm.c", "--recipe", "nf.json", "--nest", "mm", "--runs", "1", "--", self.cc,
               *FLAGS)
        with contextlib.closing(sqlite3.connect(self.folder / "measured.db")) as db, db:
            db.execute("UPDATE entries SET baseline_seconds = 0.5, tuned_seconds = 0.125, baseline_spread = 0.01, "
                       "tuned_spread = 0.01")
        (self.folder / file).parent.mkdir(exist_ok=True)
        self.s("--db=measured.db", "db", "export", "-o", file)


def cases_of(module):
    """The module's own functions of a case, in their order."""
    own = [f for f in vars(module).values() if getattr(f, "__module__", None) == module.__name__ and hasattr(f, "__code__")]
    return [f for f in own if f.__code__.co_varnames[:1] == ("case",) and f.__code__.co_argcount == 1]
