"""What tools/store_faults.py starts and kills: a PostgreSQL, servers over a database, and the clock that they believe in; and
what it sends to them."""
import contextlib
import glob
import itertools
import json
import os
import pathlib
import pwd
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

LEASE = 2  # seconds

# Real time with an offset, which a file says: for whoever is started with it in LD_PRELOAD.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
static long offset(void) {
  static volatile const long* shared;
  if (!shared) {
    int file = open(getenv("SOUS_CLOCK"), O_RDONLY);
    if (file < 0) return 0;
    shared = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  }
  return shared == MAP_FAILED ? 0 : *shared;
}
int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return result;
}
int gettimeofday(struct timeval* now, void* zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec, now->tv_usec = time.tv_nsec / 1000;
  return 0;
}
time_t time(time_t* now) {
  struct timespec spec;
  clock_gettime(CLOCK_REALTIME, &spec);
  if (now) *now = spec.tv_sec;
  return spec.tv_sec;
}
"""


class Wrong(Exception):
    pass


class Clock:
    def __init__(self, folder):
        (folder / "clock.c").write_text(CLOCK)
        self.library, self.file = folder / "clock.so", folder / "offset"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.library, folder / "clock.c", "-ldl"], check=True)
        self.file.write_bytes(bytes(8))
        for path in (self.library, self.file):
            path.chmod(0o755)
        self.environment = {"LD_PRELOAD": str(self.library), "SOUS_CLOCK": str(self.file)}

    def jump(self, seconds):
        with open(self.file, "r+b") as file:
            file.write(seconds.to_bytes(8, "little", signed=True))


class Postgres:
    """As the user that Debian's package makes, where this is root: PostgreSQL refuses to be."""

    def __init__(self, folder, clock):
        self.bin = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]).parent
        self.folder, self.clock = folder / "postgres", clock
        self.folder.mkdir()
        self.user = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.run("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-N", "--wal-segsize=1").check_returncode()
        with open(self.folder / "data/postgresql.conf", "a") as file:
            file.write("listen_addresses = ''\nmax_wal_size = 32MB\nmin_wal_size = 4MB\nshared_buffers = 16MB\n")
        self.process = None
        self.start()
        self.url = f"postgres://postgres@/postgres?host={self.folder}"

    def run(self, program, *words):
        return subprocess.run([self.bin / program, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, **self.user)

    def sql(self, *statements):
        """Each in a transaction of its own."""
        words = [word for one in statements for word in ("-c", one)]
        self.run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-d", "postgres", *words).check_returncode()

    def start(self):
        for _ in range(600):
            # Until the processes of one that was killed are gone another one ends at once.
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen([self.bin / "postgres", "-D", self.folder / "data", "-k", self.folder],
                                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                env={**os.environ, **self.clock.environment}, **self.user)
            if self.run("pg_isready", "-q", "-h", self.folder).returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit("PostgreSQL does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def signal_all(self, number):
        """Its first process first, which starts the others: none is started behind the list of them."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, number)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True).stdout
        for pid in map(int, children.split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


class Server:
    def __init__(self, rounds, number):
        self.rounds, self.number = rounds, number
        self.start()

    def start(self):
        for _ in range(100):  # where PostgreSQL was killed as well it may not be back yet
            self.process = subprocess.Popen(
                [self.rounds.sous, "serve", f"--db={self.rounds.database}", "--listen=127.0.0.1:0", "--limit-requests=0",
                 "--log=none", f"--lease={LEASE}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                env={**self.rounds.environment, **self.rounds.clock.environment})
            said = self.process.stdout.readline()
            if "listening on " in said:
                self.url = said.split(",")[0].split("listening on ")[1]
                return
            self.process.communicate()
            time.sleep(0.1)
        raise Wrong(f"server {self.number} does not start")

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def ask(self, path, body=None, token="", timeout=40):
        head = {"Authorization": "Bearer " + token} if token else {}
        body = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data=body, headers=head), timeout=timeout) as answer:
            return json.loads(answer.read())

    def status(self, path, timeout=40):
        try:
            with urllib.request.urlopen(self.url + path, timeout=timeout) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code


# A hot nest for workers.
PROGRAM = """
static double A[320][320], B[320][320], C[320][320];
void rows(void) {
  for (int i = 0; i < 320; i++)
    for (int j = 0; j < 320; j++)
      for (int k = 0; k < 320; k++) C[i][j] += A[i][k] * B[j][k];
}
"""


def some_entries(rounds):
    """Seeds, as if they had been measured again and again: entries that a server finds legal."""
    source = str(rounds.folder / "measured.db")
    lines = (pathlib.Path(__file__).parent.parent / "tuning-db/seed/polybench.jsonl").read_text().splitlines()
    (rounds.folder / "some.jsonl").write_text("\n".join(lines[:6]) + "\n")
    rounds.s(f"--db={source}", "db", "import", str(rounds.folder / "some.jsonl"))
    for times in range(1, 1 << 30):
        with contextlib.closing(sqlite3.connect(source)) as db, db:
            db.execute("UPDATE entries SET tuned_spread = ?", (times / 1e6,))
        for line in rounds.s(f"--db={source}", "db", "export").splitlines():
            yield json.loads(line)


def some_wanted(rounds):
    """What builds lack: one nest after the other, since a job does not say for whom it is."""
    for n in itertools.count(320):
        (rounds.folder / "rows.c").write_text(PROGRAM.replace("320", str(n)))
        shown = json.loads(rounds.s("share", str(rounds.folder / "rows.c"), "--show", "--db=none", "--", "clang-19", "-O3",
                                  "-march=native"))
        shown["nests"] = shown["nests"][:1]
        rounds.machine = shown["hardware"]
        yield shown
