#!/usr/bin/env python3
"""Rounds of faults for the stores of servers: python3 tools/store_faults.py --sous build/sous --rounds 100

Two servers over one database (a file of SQLite, a PostgreSQL that this starts itself) take uploads from two clients, each
of which sends to both. In each round one is ended with kill -9 in the middle of that: a server, or PostgreSQL. Then:
  - every entry that was acknowledged is there, and no other than what was sent
  - `sous db verify` finds nothing
  - what was started again answers, and the other server did so without being started again
  - what one server took the other one answers for
"""
import argparse
import contextlib
import glob
import http.client
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request


class Postgres:
    """As the user that Debian's package makes, where this is root: PostgreSQL refuses to be."""

    def __init__(self, folder):
        self.bin = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]).parent
        self.folder = folder / "postgres"
        self.folder.mkdir()
        self.user = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            os.chmod(folder, 0o711)
            self.user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.run("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-N").check_returncode()
        self.process = None
        self.start()
        self.url = f"postgres://postgres@/postgres?host={self.folder}"

    def run(self, program, *words):
        return subprocess.run([self.bin / program, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, **self.user)

    def start(self):
        for _ in range(600):
            # Until the processes of one that was killed are gone another one ends at once.
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen([self.bin / "postgres", "-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses="],
                                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.user)
            if self.run("pg_isready", "-q", "-h", self.folder).returncode == 0:
                return
            time.sleep(0.1)
        raise SystemExit("PostgreSQL does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Server:
    def __init__(self, rounds, number):
        self.rounds, self.number = rounds, number
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.rounds.sous, "serve", f"--db={self.rounds.database}", "--listen=127.0.0.1:0", "--limit-requests=0"],
                                        env=self.rounds.environment, stdout=subprocess.PIPE, text=True)
        said = self.process.stdout.readline()
        if "listening on " not in said:
            raise SystemExit(f"server {self.number} does not start")
        self.url = said.split(",")[0].split("listening on ")[1]

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def ask(self, path, body=None, token=""):
        head = {"Authorization": "Bearer " + token} if token else {}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data=body, headers=head), timeout=40) as answer:
            return answer.read()


class Rounds:
    def __init__(self, sous, folder, postgres):
        self.sous = str(pathlib.Path(sous).resolve())
        self.folder = folder
        seeds = folder / "no-seeds"
        seeds.mkdir()
        self.environment = dict(os.environ, SOUS_SEED_DIR=str(seeds), XDG_CACHE_HOME=str(folder / "cache"))
        self.environment.pop("SOUS_DB", None)
        self.postgres = Postgres(folder) if postgres else None
        self.database = self.postgres.url if postgres else str(folder / "team.db")
        self.tokens = [self.s("token", "add", name, f"--db={self.database}").strip() for name in ("desk", "farm")]
        self.servers = [Server(self, number) for number in (0, 1)]
        self.acknowledged, self.sent = set(), set()
        self.lock = threading.Lock()
        self.entries = self.some_entries()

    def s(self, *words):
        done = subprocess.run([self.sous, *words], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"sous {' '.join(words)}: {done.stderr}")
        return done.stdout

    def some_entries(self):
        """Seeds, as if they had been measured again and again: entries that a server finds legal."""
        source = str(self.folder / "measured.db")
        lines = (pathlib.Path(__file__).parent.parent / "tuning-db/seed/polybench.jsonl").read_text().splitlines()
        (self.folder / "some.jsonl").write_text("\n".join(lines[:6]) + "\n")
        self.s(f"--db={source}", "db", "import", str(self.folder / "some.jsonl"))
        for times in range(1, 1 << 30):
            with contextlib.closing(sqlite3.connect(source)) as db, db:
                db.execute("UPDATE entries SET tuned_spread = ?", (times / 1e6,))
            for line in self.s(f"--db={source}", "db", "export").splitlines():
                yield json.loads(line)

    def upload(self, client, stop):
        while not stop.is_set():
            with self.lock:
                entries = [next(self.entries) for _ in range(2)]
                self.sent |= {entry["id"] for entry in entries}
            body = json.dumps({"protocol": 1, "entries": entries}).encode()
            server = random.choice(self.servers)
            try:
                answer = json.loads(server.ask("/v1/recipes", body, self.tokens[client]))
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.02)
                continue
            taken = {one["id"] for one in answer["entries"] if one["taken"] in ("added", "known")}
            with self.lock:
                self.acknowledged |= taken

    def one(self):
        stop = threading.Event()
        clients = [threading.Thread(target=self.upload, args=(k, stop)) for k in (0, 1)]
        for client in clients:
            client.start()
        time.sleep(random.uniform(0.3, 1.2))
        victim = random.choice(self.servers + ([self.postgres] if self.postgres else []))
        victim.kill()
        time.sleep(random.uniform(0, 0.3))
        if victim is self.postgres:
            victim.start()
        time.sleep(0.5)
        stop.set()
        for client in clients:
            client.join()
        if victim in self.servers:
            victim.start()
        self.check()

    def check(self):
        there = {line.split()[0] for line in self.s(f"--db={self.database}", "db", "list").splitlines()}
        missing = {one for one in self.acknowledged if one[:12] not in there}
        strange = there - {one[:12] for one in self.sent}
        if missing or strange:
            raise SystemExit(f"acknowledged and lost: {sorted(missing)}; there and never sent: {sorted(strange)}")
        self.s(f"--db={self.database}", "db", "verify")
        last = sorted(self.acknowledged)[-1] if self.acknowledged else None
        for server in self.servers:
            self.until(server, "/healthz")
            if last:
                self.until(server, "/v1/recipes/" + last)

    def until(self, server, path):
        """It answers, in ten seconds at most."""
        for times in range(100):
            # What one party sent is told to that party alone.
            for token in self.tokens:
                try:
                    return server.ask(path, token=token)
                except (OSError, http.client.HTTPException) as error:
                    why = error
            time.sleep(0.1)
        raise SystemExit(f"server {server.number} does not answer {path}: {why}")

    def end(self):
        for server in self.servers:
            server.process.send_signal(signal.SIGTERM)
            server.process.communicate()
        if self.postgres:
            self.postgres.kill()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sous", default="build/sous")
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--store", choices=("sqlite", "postgres", "both"), default="both")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    random.seed(given.seed)
    for store in ("sqlite", "postgres") if given.store == "both" else (given.store,):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sous-faults-"))
        rounds = Rounds(given.sous, folder, store == "postgres")
        try:
            for number in range(given.rounds):
                rounds.one()
            print(f"{store}: {given.rounds} rounds, {len(rounds.acknowledged)} entries acknowledged, none lost")
        finally:
            rounds.end()
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
