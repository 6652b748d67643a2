"""End-to-end cases of the recipe server and its clients."""
import contextlib
import gzip
import http.server
import json
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request

from case import FLAGS


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def served(case, *options):
    """sous serve over the case's database: its URL."""
    port = free_port()
    server = subprocess.Popen([case.sous, "serve", "--db=test.db", "--listen", f"127.0.0.1:{port}", *options], cwd=case.folder,
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


def body_of(handler):
    """Of the request that a server of http.server's handles, behind its encoding."""
    body = handler.rfile.read(int(handler.headers["Content-Length"]))
    return gzip.decompress(body) if handler.headers["Content-Encoding"] == "gzip" else body


def malformed_requests_are_refused(case):
    with served(case) as url:
        for body, kind, status, why in ((b"{", "application/json", 400, "well-formed"),
                                        (b"[" * 100000, "application/json", 400, "nested"),
                                        (b"[" * 100000, "application/x-www-form-urlencoded", 400, "nested"),
                                        (b" " * 9000000, "application/json", 413, "8388608")):
            try:
                request = urllib.request.Request(url + "/v1/query", data=body, headers={"Content-Type": kind})
                urllib.request.urlopen(request)
                raise AssertionError("answered")
            except urllib.error.HTTPError as refused:
                error = json.load(refused)["error"]
                assert refused.code == status and why in error["why"], (refused.code, error)


def ask(url, path, body=None, token=""):
    """The answer's status and JSON body."""
    head = {"Authorization": "Bearer " + token} if token else {}
    request = urllib.request.Request(url + path, data=body, headers=head)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        assert refused.code != 401 or refused.headers["WWW-Authenticate"] == "Bearer"
        return refused.code, json.load(refused)


def a_second_token_confirms_what_one_sent(case):
    case.entry_without_doubt("desk.jsonl")
    with contextlib.closing(sqlite3.connect(case.folder / "measured.db")) as db, db:
        db.execute("UPDATE entries SET tuned_seconds = 0.13")
    case.s("--db=measured.db", "db", "export", "-o", "farm.jsonl")
    token = {}
    for who in ("desk", "farm"):
        token[who] = case.s("token", "add", who).stdout.strip()
        case.s(f"--db={who}.db", "db", "import", f"{who}.jsonl")

    def send(url, who, shown, status=0):
        return case.s(f"--db={who}.db", f"--server={url}", "db", "send", status=status, environment={"SOUS_TOKEN": shown})

    def served_to(url, shown):
        said = case.s("--explain", "--db=none", f"--server={url}", case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o",
                      environment={"SOUS_TOKEN": shown}).stderr
        return "(server, distance 0" in said

    with served(case) as url:
        assert "[token.missing]" in send(url, "desk", "", 1).stderr
        assert ": added" in send(url, "desk", token["desk"]).stdout
        assert ": known" in send(url, "desk", token["desk"]).stdout
        time.sleep(0.8)
        assert [served_to(url, t) for t in (token["desk"], token["farm"], "")] == [True, False, False]
        assert "only for desk" in case.s("db", "list").stdout
        assert case.s("db", "export").stdout == ""
        assert ": added" in send(url, "farm", token["farm"]).stdout
        time.sleep(0.8)
        assert [served_to(url, t) for t in (token["desk"], token["farm"], "")] == [True, True, True]
        log = case.s("token", "log").stdout
        assert "  desk  recipes: " in log and "  farm  recipes: " in log, log
    with served(case, "--read-only") as url:
        assert "[server.read-only]" in send(url, "farm", token["farm"], 1).stderr


def what_is_acknowledged_survives_a_kill(case):
    case.entry_without_doubt()
    token = case.s("token", "add", "desk").stdout.strip()
    sent = []
    for times in range(3):
        with contextlib.closing(sqlite3.connect(case.folder / "measured.db")) as db, db:
            db.execute("UPDATE entries SET tuned_seconds = ?", (0.1 + times / 100,))
        case.s("--db=measured.db", "db", "export", "-o", "all.jsonl")
        entries = [json.loads(line) for line in (case.folder / "all.jsonl").read_text().splitlines()]
        server = subprocess.Popen([case.sous, "serve", "--db=test.db", "--listen=127.0.0.1:0"], cwd=case.folder,
                                  env=case.environment, stdout=subprocess.PIPE, text=True)
        url = server.stdout.readline().split(",")[0].split("listening on ")[1]
        status, answer = ask(url, "/v1/recipes", json.dumps({"protocol": 1, "entries": entries}).encode(), token)
        server.kill()
        server.communicate()
        assert status == 200 and all(one["taken"] == "added" for one in answer["entries"]), answer
        sent += [one["id"] for one in answer["entries"]]
    kept = [line.split()[0] for line in case.s("db", "list").stdout.splitlines()]
    assert sorted(kept) == sorted(id[:12] for id in sent)
    assert "every entry is sound" in case.s("db", "verify").stdout
    assert case.s("token", "log").stdout.count("  desk  recipes: ") == 3


def what_is_acknowledged_outlives_others_that_open_the_file(case):
    case.entry_without_doubt()
    token = case.s("token", "add", "desk").stdout.strip()
    sent = []
    with served(case) as url:
        for times in range(3):
            with contextlib.closing(sqlite3.connect(case.folder / "measured.db")) as db, db:
                db.execute("UPDATE entries SET tuned_seconds = ?", (0.1 + times / 100,))
            case.s("--db=measured.db", "db", "export", "-o", "all.jsonl")
            entries = [json.loads(line) for line in (case.folder / "all.jsonl").read_text().splitlines()]
            status, answer = ask(url, "/v1/recipes", json.dumps({"protocol": 1, "entries": entries}).encode(), token)
            assert status == 200 and all(one["taken"] == "added" for one in answer["entries"]), answer
            sent += [one["id"][:12] for one in answer["entries"]]
            # Whoever watches the server asks this all the time. The next command opens the file, and closes it.
            assert urllib.request.urlopen(url + "/healthz").status == 200
            kept = [line.split()[0] for line in case.s("db", "list").stdout.splitlines()]
            assert sorted(kept) == sorted(sent), (kept, sent)


def wanted_nests_are_told_within_the_deadline(case):
    build = [case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o"]
    shown = case.s("share", "mm.c", "--show", "--db=none", "--", case.cc, *FLAGS).stdout
    told = json.loads(shown)
    assert 0 < len(told["nests"]) < 10 and "mm" not in json.dumps(told["nests"]), shown
    desk, worker = (case.s("token", "add", who, "--scopes", scope).stdout.strip()
                     for who, scope in (("desk", "upload"), ("worker", "work")))
    with served(case) as url:
        def wanted():
            status, answer = ask(url, "/v1/wanted", token=worker)
            assert status == 200, answer
            return [one["nest"] for one in answer["nests"]]

        sharing = {"SOUS_SERVER": url, "SOUS_SHARE": "wanted", "SOUS_TOKEN": desk}
        case.s("--db=none", *build, environment={**sharing, "SOUS_SHARE": ""})
        assert wanted() == []
        said = case.s("--db=none", *build, environment={**sharing, "SOUS_TOKEN": worker}).stderr
        assert said.count("\n") == 1 and "[token.scope]" in said, said  # said, and no failure
        (case.folder / "mm.c").write_text((case.folder / "mm.c").read_text() + "\n")
        shutil.rmtree(case.folder / "cache" / "sous" / "shared", ignore_errors=True)
        assert case.s("--db=none", *build, environment=sharing).stderr == ""
        key = lambda nest: json.dumps(nest, sort_keys=True)
        assert sorted(map(key, wanted())) == sorted(key(one["nest"]) for one in told["nests"])
        assert "  desk  wanted: " in case.s("token", "log").stdout
        assert ask(url, "/v1/wanted")[0] == 401
    expected = case.expected()
    with silent_for("/v1/wanted") as url:
        for times in (1, 2):
            shutil.rmtree(case.folder / "cache" / "sous" / "shared", ignore_errors=True)
            begun = time.monotonic()
            case.s("--db=none", "--deadline=1", case.cc, *FLAGS, "mm.c", "-o", "prog", environment={
                **sharing, "SOUS_SERVER": url})
            assert time.monotonic() - begun < 6, "the second time it is not asked"
            assert case.run("./prog").stdout == expected
    assert "[cli.value]" in case.s(*build, status=None, environment={"SOUS_SHARE": "all"}).stderr


@contextlib.contextmanager
def silent_for(path):
    """A server that knows nothing, and never answers at `path`."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(body_of(self))
            if self.path == path:
                time.sleep(20)
                return
            answer = json.dumps({"protocol": 1, "matches": [[] for _ in body["nests"]]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def tokens_open_a_private_server(case):
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    token = case.s("token", "add", "desk", "--scopes", "read").stdout.strip()
    assert token not in case.bytes("test.db").decode(errors="replace")
    listed = case.s("token", "list").stdout
    assert "desk  read  since 20" in listed and token not in listed, listed
    command = [case.cc, *FLAGS, "-c", "mm.c", "-o"]

    def said(url, token):
        return case.s("--explain", "--db=none", f"--server={url}", *command, "x.o", environment={"SOUS_TOKEN": token}).stderr

    with served(case, "--private") as url:
        assert ask(url, "/v1/recipes/0000")[0] == 401
        assert ask(url, "/v1/recipes/0000", token=token)[0] == 404
        assert "(server, distance 0" in said(url, token)
        assert "[token.missing]" in said(url, "")
        assert "[token.unknown]" in said(url, token[:-1])
        assert "[http.token]" in said(url, "a\r\nb")
        case.s("token", "revoke", "desk")
        assert "[token.unknown]" in said(url, token)
    refused = case.s("token", "revoke", "desk", status=1).stderr
    assert "[token.not-found]" in refused, refused
    assert "[token.scopes]" in case.s("token", "add", "farm", "--scopes=wrte", status=1).stderr
    assert "did you mean revoke" in case.s("token", "revok", status=2).stderr
    log = case.s("token", "log").stdout
    assert log.count("\n") == 2 and "of desk revoked" in log, log


def who_asks_for_too_much_builds_without_it(case):
    case.fill_database()
    command = ["--explain", "--db=none", case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o"]
    with served(case, "--limit-requests=1") as url:
        assert "(server, distance 0" in case.s(f"--server={url}", *command).stderr
        case.write("mm.c", (case.folder / "mm.c").read_text() + "\n")  # no kept result
        said = case.s(f"--server={url}", *command).stderr
        assert "answered 429: " in said and "[request.rate]" in said, said
        metrics = urllib.request.urlopen(url + "/metrics").read().decode()
        assert 'sous_limited_total{limit="requests",party="address"} 1' in metrics, metrics
    assert "--limit-nests takes a number" in case.s("serve", "--limit-nests=x", status=2).stderr


def a_served_database_is_backed_up_and_restored(case):
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    command = ["--explain", "--db=none", case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o"]

    def is_served(url):
        time.sleep(0.8)
        case.write("mm.c", (case.folder / "mm.c").read_text() + "\n")  # no kept result
        return "(server, distance 0" in case.s(f"--server={url}", *command).stderr

    with served(case) as url:
        case.s("db", "backup", "copy.db")
        assert "[db.exists]" in case.s("db", "backup", "copy.db", status=1).stderr
        case.s("db", "remove", case.s("db", "list").stdout.split()[0])
        assert not is_served(url)
        assert "[db.open]" in case.s("db", "restore", "none.db", status=1).stderr
        assert "kept as " in case.s("db", "restore", "copy.db").stdout
        assert is_served(url)
        assert case.s("--db=test.db.before-restore-1", "db", "list").stdout == ""
        assert urllib.request.urlopen(url + "/healthz").status == 200
