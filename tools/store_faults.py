#!/usr/bin/env python3
"""Rounds of faults for the stores of servers: python3 tools/store_faults.py --sous build/sous --rounds 100

Two servers over one database (a file of SQLite, a PostgreSQL that this starts itself) take uploads from two clients, each
of which sends to both, and hand out jobs. In each round something goes wrong in the middle of that:

  server       a server is ended with kill -9
  worker       `sous work` is, at a job
  postgres     PostgreSQL is, and a server, too, in some rounds
  hangs        PostgreSQL answers nothing for a while, and closes no connection
  full         the disk is full
  read-only    the database may only be read
  clock        clocks jump, by up to a year, and back
  replaced     another database is put in the place of the one that is served, or restored into it

Then:
  - every entry that was acknowledged is there, or in what `sous db restore` kept; and no other than what was sent
  - `sous db verify` finds nothing
  - who was killed answers when started again, and the other server did so without being started again
  - what one server took the other one answers for
  - no job is held by two workers, and that of a worker that was killed is handed out again
"""
import argparse
import contextlib
import http.client
import itertools
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

from store_servers import LEASE, Clock, Postgres, Server, Wrong, some_entries, some_wanted

DISK = 256 << 20

AWAY = (OSError, ValueError, http.client.HTTPException)


class Rounds:
    def __init__(self, sous, folder, postgres):
        self.sous = str(pathlib.Path(sous).resolve())
        self.folder = folder
        os.chmod(folder, 0o711)
        seeds = folder / "no-seeds"
        seeds.mkdir()
        self.disk = folder / "disk"
        self.disk.mkdir()
        self.has_disk = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=711", "tmpfs", self.disk], stderr=subprocess.DEVNULL).returncode == 0
        self.environment = dict(os.environ, SOUS_SEED_DIR=str(seeds), XDG_CACHE_HOME=str(folder / "cache"))
        for name in ("SOUS_DB", "SOUS_SERVER", "SOUS_TOKEN", "SOUS_SHARE"):
            self.environment.pop(name, None)
        self.clock = Clock(folder)
        self.postgres = Postgres(self.disk, self.clock) if postgres else None
        self.database = self.postgres.url if postgres else str(self.disk / "team.db")
        self.tokens = [self.s("token", "add", name, "--scopes=upload,work", f"--db={self.database}").strip()
                       for name in ("desk", "farm")]
        self.servers = [Server(self, number) for number in (0, 1)]
        self.acknowledged, self.sent, self.held = set(), set(), {}
        self.lock, self.may_send = threading.Lock(), threading.Event()
        self.under_way = 0
        self.may_send.set()
        self.entries, self.wanted, self.copies = some_entries(self), some_wanted(self), itertools.count()
        self.clock_moves = False

    def s(self, *words, wrong=False):
        done = subprocess.run([self.sous, *words], env=self.environment, capture_output=True, text=True)
        if done.returncode != 0 and not wrong:
            raise Wrong(f"sous {' '.join(words)}: {done.stderr}")
        return done.stdout

    def upload(self, client, stop):
        while not stop.is_set():
            self.may_send.wait()
            with self.lock:
                entries = [next(self.entries) for _ in range(2)]
                self.sent |= {entry["id"] for entry in entries}
                self.under_way += 1
            taken = set()
            try:
                answer = random.choice(self.servers).ask("/v1/recipes", {"protocol": 1, "entries": entries}, self.tokens[client])
                taken = {one["id"] for one in answer["entries"] if one["taken"] in ("added", "known")}
            except AWAY:
                time.sleep(0.02)
            with self.lock:
                self.acknowledged |= taken
                self.under_way -= 1

    def lease(self, server, client):
        asks = {"protocol": 1, "hardware": self.machine, "kinds": ["tune"], "targets": ["cpp", "openmp", "highway"], "seconds": 60}
        return server.ask("/v1/jobs/lease", asks, self.tokens[client])["job"]

    def work(self, client, stop):
        """Takes jobs, and gives each back: nobody else may have had it meanwhile."""
        while not stop.is_set():
            server = random.choice(self.servers)
            try:
                # Its clock counts whole seconds, and it was asked no earlier than this.
                until = time.monotonic() + 0.4 * LEASE
                job = self.lease(server, client)
                if job is None:
                    time.sleep(0.05)
                    continue
                key = json.dumps(job.get("wanted") or job.get("entry"), sort_keys=True) + job["class"]
                now = time.monotonic()
                with self.lock:
                    if self.held.get(key, 0) > now and not self.clock_moves:
                        raise Wrong("a job is held by two workers")
                    self.held[key] = until
                time.sleep(random.uniform(0, 0.05))
                with self.lock:
                    self.held.pop(key, None)  # before the server hears of it
                server.ask("/v1/jobs/done", {"protocol": 1, "lease": job["lease"], "outcome": "returned"}, self.tokens[client])
            except AWAY:
                time.sleep(0.02)
            except Wrong as wrong:
                self.wrong = wrong
                return

    def faults(self):
        common = ["server", "worker", "clock", "replaced", "restored"]
        if self.has_disk:
            common.append("full")
        return common + (["postgres", "hangs", "read-only"] if self.postgres else ["read-only"])

    def one(self, fault):
        stop, self.wrong = threading.Event(), None
        self.ask_until(0, "/v1/wanted", next(self.wanted))
        threads = [threading.Thread(target=what, args=(k, stop)) for k in (0, 1) for what in (self.upload, self.work)]
        for thread in threads:
            thread.start()
        try:
            time.sleep(random.uniform(0.3, 1.0))
            getattr(self, "fault_" + fault.replace("-", "_"))()
            time.sleep(0.5)
        finally:
            stop.set()
            self.may_send.set()
            for thread in threads:
                thread.join()
        if self.wrong:
            raise self.wrong
        self.check()

    def fault_server(self):
        victim = random.choice(self.servers)
        victim.kill()
        time.sleep(random.uniform(0, 0.3))
        victim.start()

    def fault_postgres(self):
        server = random.choice(self.servers + [None])
        self.postgres.kill()
        if server:
            server.kill()
        time.sleep(random.uniform(0, 0.3))
        self.postgres.start()
        if server:
            server.start()

    def fault_worker(self):
        worker = subprocess.Popen([self.sous, "work", f"--server={self.servers[0].url}", "--budget=5s"], start_new_session=True,
                                  env={**self.environment, "SOUS_TOKEN": self.tokens[0]}, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(1, 3))
        os.killpg(worker.pid, signal.SIGKILL)
        worker.communicate()

    def fault_hangs(self):
        self.postgres.signal_all(signal.SIGSTOP)
        begun = time.monotonic()
        try:
            while self.servers[0].status("/healthz") != 503:
                if time.monotonic() - begun > 8:
                    raise Wrong("nobody says that PostgreSQL hangs")
                time.sleep(0.1)
            for path in ("/healthz", "/livez", "/metrics", "/v1/steps"):
                begun = time.monotonic()
                self.servers[0].status(path)
                if time.monotonic() - begun > 12:
                    raise Wrong(f"{path} waits for a PostgreSQL that hangs")
        finally:
            self.postgres.signal_all(signal.SIGCONT)

    def fault_full(self):
        filler = self.disk / "filler"
        file = os.open(filler, os.O_WRONLY | os.O_CREAT)
        for piece in (1 << 20, 1 << 12):
            with contextlib.suppress(OSError):
                while os.write(file, bytes(piece)) == piece:
                    pass
        os.close(file)
        time.sleep(random.uniform(0.5, 1.5))
        filler.unlink()
        if self.postgres:
            self.postgres.start()  # where it has given up

    def fault_read_only(self):
        if self.postgres:
            self.postgres.sql("ALTER DATABASE postgres SET default_transaction_read_only = on")
            away = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
            self.postgres.sql(away)
            time.sleep(random.uniform(0.3, 1))
            self.until(self.servers[0], "/v1/steps")
            self.postgres.sql("SET default_transaction_read_only = off", "ALTER DATABASE postgres RESET default_transaction_read_only", away)
            return
        if os.geteuid() != 0:
            return
        # A server that may read the file, and no more.
        nobody = pwd.getpwnam("nobody")
        copy = self.folder / "read-only.db"
        copy.unlink(missing_ok=True)
        self.s(f"--db={self.database}", "db", "backup", str(copy))
        copy.chmod(0o644)
        # Not by `sous`, which would leave the file with a log that only who may write can open.
        with contextlib.closing(sqlite3.connect(f"file:{copy}?immutable=1", uri=True)) as db:
            ((held,),) = db.execute("SELECT count(*) FROM entries").fetchall()
        process = subprocess.Popen([self.sous, "serve", f"--db={copy}", "--listen=127.0.0.1:0", "--log=none"], user=nobody.pw_uid,
                                   group=nobody.pw_gid, extra_groups=[], env=self.environment, stdout=subprocess.PIPE, text=True)
        try:
            said = process.stdout.readline()
            if "listening on " not in said:
                raise Wrong("a database that may only be read is not served")
            reader = Server.__new__(Server)
            reader.url = said.split(",")[0].split("listening on ")[1]
            with self.lock:
                entry = next(self.entries)
            try:
                reader.ask("/v1/recipes", {"protocol": 1, "entries": [entry]}, self.tokens[0])
                raise Wrong("what may only be read was written")
            except urllib.error.HTTPError as error:
                if error.code not in (500, 503):
                    raise Wrong(f"what may only be read is said with {error.code}") from error
            if f" {held} entries" not in said or reader.status("/healthz") != 200:
                raise Wrong("a database that may only be read is not served: " + said)
        finally:
            process.kill()
            process.communicate()

    def fault_clock(self):
        with self.lock:
            self.clock_moves = True
        for _ in range(3):
            self.clock.jump(random.choice((-1, 1)) * random.choice((3, 3600, 30 * 86400, 365 * 86400)))
            time.sleep(random.uniform(0.1, 0.5))
        self.clock.jump(0)
        time.sleep(LEASE)
        with self.lock:
            self.held.clear()
            self.clock_moves = False

    def pause_clients(self):
        self.may_send.clear()
        while self.under_way:
            time.sleep(0.01)

    def fault_replaced(self):
        """By a copy of this moment."""
        if self.postgres:
            return self.fault_restored()
        self.pause_clients()
        copy = self.disk / f"copy-{next(self.copies)}.db"
        self.s(f"--db={self.database}", "db", "backup", str(copy))
        os.rename(copy, self.database)
        self.may_send.set()
        time.sleep(1)

    def fault_restored(self):
        """While clients write: what is lost of that is in what is kept."""
        copy = self.folder / f"copy-{next(self.copies)}.db"
        self.s(f"--db={self.database}", "db", "backup", str(copy))
        time.sleep(random.uniform(0, 0.5))
        said = self.s(f"--db={self.database}", "db", "restore", str(copy))
        with self.lock:
            known = set(self.acknowledged)
        kept = said.split("kept as ")[1].strip()
        both = self.listed(kept) | self.listed(self.database)
        missing = {one for one in known if one[:12] not in both}
        if missing:
            raise Wrong(f"acknowledged, and neither restored nor kept: {sorted(missing)}")
        there = self.listed(self.database)
        with self.lock:
            self.acknowledged -= {one for one in known if one[:12] not in there}
        copy.unlink()
        os.unlink(kept)

    def listed(self, database):
        return {line.split()[0] for line in self.s(f"--db={database}", "db", "list").splitlines()}

    def check(self):
        there = self.listed(self.database)
        missing = {one for one in self.acknowledged if one[:12] not in there}
        strange = there - {one[:12] for one in self.sent}
        if missing or strange:
            raise Wrong(f"acknowledged and lost: {sorted(missing)}; there and never sent: {sorted(strange)}")
        self.s(f"--db={self.database}", "db", "verify")
        last = sorted(self.acknowledged)[-1] if self.acknowledged else None
        for server in self.servers:
            self.until(server, "/healthz")
            if last:
                self.until(server, "/v1/recipes/" + last)
        # Whoever held a job is gone by now.
        for _ in range(100):
            counts = self.ask_until(0, "/v1/jobs")["counts"]
            if counts["leased"] == 0:
                return
            time.sleep(0.1)
        raise Wrong(f"the job of a worker that is gone is not taken back: {counts}")

    def ask_until(self, client, path, body=None):
        for _ in range(100):
            try:
                return self.servers[0].ask(path, body, self.tokens[client])
            except AWAY as error:
                why = error
            time.sleep(0.1)
        raise Wrong(f"server 0 does not answer {path}: {why}")

    def until(self, server, path):
        """It answers, in ten seconds at most."""
        for _ in range(100):
            # What one party sent is told to that party alone.
            for token in self.tokens:
                try:
                    return server.ask(path, token=token)
                except AWAY as error:
                    why = error
            time.sleep(0.1)
        raise Wrong(f"server {server.number} does not answer {path}: {why}")

    def end(self):
        for server in self.servers:
            server.process.send_signal(signal.SIGTERM)
            server.process.communicate()
        if self.postgres:
            self.postgres.signal_all(signal.SIGCONT)
            self.postgres.kill()
            time.sleep(0.3)
        if self.has_disk:
            subprocess.run(["umount", "-l", self.disk], check=False)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--sous", default="build/sous")
    options.add_argument("--rounds", type=int, default=100)
    options.add_argument("--store", choices=("sqlite", "postgres", "both"), default="both")
    options.add_argument("--faults", help="some of them, with commas")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    for store in ("sqlite", "postgres") if given.store == "both" else (given.store,):
        random.seed(given.seed)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sous-faults-"))
        rounds = Rounds(given.sous, folder, store == "postgres")
        counts = {}
        try:
            faults = given.faults.split(",") if given.faults else rounds.faults()
            order = []
            for number in range(given.rounds):
                order = order or random.sample(faults, len(faults))
                fault = order.pop()
                try:
                    rounds.one(fault)
                except Wrong as wrong:
                    before = ", ".join(f"{one} {count}" for one, count in counts.items())
                    raise SystemExit(f"{store}, round {number + 1} (--seed {given.seed}; before it {before}), {fault}: {wrong}") from wrong
                counts[fault] = counts.get(fault, 0) + 1
            told = ", ".join(f"{fault} {count}" for fault, count in sorted(counts.items()))
            print(f"{store}: {given.rounds} rounds ({told}), {len(rounds.sent)} entries sent, none lost", flush=True)
        finally:
            rounds.end()
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
