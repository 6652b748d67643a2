"""End-to-end cases of what a server answered, and what was made of it, kept for the builds that follow."""
import contextlib
import http.server
import json
import os
import stat
import threading
import time

from budget_cases import of_256_tiles
from case import FLAGS
from server_cases import ask, body_of, served


@contextlib.contextmanager
def counting(answer):
    """A server that answers queries by `answer(request)`, the list of what it was asked, and what ends it."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(body_of(self)))
            status, said = answer(asked[-1])
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def end():
        server.shutdown()
        server.server_close()

    yield f"http://127.0.0.1:{server.server_address[1]}", asked, end
    end()


def build(case, url, *options, **environment):
    """Builds mm.o; what was said of it, and its line in $SOUS_REPORT."""
    environment["SOUS_REPORT"] = case.folder / "lines"
    said = case.s("--db=none", f"--server={url}", *options, case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o",
                  environment=environment).stderr
    return said, json.loads(environment["SOUS_REPORT"].read_text().splitlines()[-1])


def a_server_is_not_asked_again(case):
    """Over a real server: the object is kept, an edit that changes no nest asks nobody, and what it learns is noticed."""
    case.entry_without_doubt()
    with served(case) as real:
        state = {"status": 200}

        def relay(request):
            if state["status"] != 200:
                return state["status"], b"{}"
            return 200, json.dumps(ask(real, "/v1/query", json.dumps(request).encode())[1]).encode()

        with counting(relay) as (url, asked, end):
            said, line = build(case, url)
            assert said == "" and len(asked) == 1 and not line.get("cached"), (said, line, asked)
            said, line = build(case, url)
            assert said == "" and len(asked) == 1 and line.get("cached"), (said, line)
            case.write("mm.c", (case.folder / "mm.c").read_text() + "\n// an edit\n")
            build(case, url)
            assert len(asked) == 1, asked
            build(case, url, SOUS_TOKEN="another")  # who may see other things
            assert len(asked) == 2
            case.s("db", "import", "all.jsonl")
            end_of_patience = time.monotonic() + 60
            while ask(real, "/v1/query", json.dumps(asked[0]).encode())[1]["matches"][0] == []:
                assert time.monotonic() < end_of_patience
            assert build(case, url)[1]["fate"] == "left", "for ten minutes"
            _, line = build(case, url, "--answers=0")
            assert len(asked) == 3 and line["fate"] == "served" and not line.get("cached"), line
            _, line = build(case, url, "--answers=0")  # one request, and the object is the one that is kept
            assert len(asked) == 4 and line["fate"] == "served" and line.get("cached"), line
            state["status"] = 503
            _, line = build(case, url, "--answers=0")
            assert len(asked) == 5 and line["fate"] == "served" and line.get("cached"), line
            state["status"] = 403
            said, line = build(case, url, "--answers=0")
            assert line["fate"] == "left" and "answered 403" in said, (said, line)
            end()
            said, line = build(case, url, "--answers=0")
            assert said == "" and line["fate"] == "served" and line.get("cached"), (said, line)


def files_that_the_server_knows_nothing_of_are_left_at_once(case):
    """Without sous-core, as long as the answer is taken for what the server would say."""
    with counting(lambda request: (200, json.dumps({"protocol": 1, "matches": [[] for _ in request["nests"]]}).encode())) as (
            url, asked, _):
        for times in range(3):
            said, line = build(case, url)
            assert said == "" and line["fate"] == "left" and bool(line.get("cached")) == (times > 0), (said, line)
        assert len(asked) == 1
        case.s("--db=none", f"--server={url}", case.cc, *FLAGS, "-c", "parser.c", "-o", "parser.o")
        assert len(asked) == 1


def what_answers_badly_is_not_kept(case):
    said_first = [b'{"protocol": 1, "matches": [[{"recipe": 7}]]}']

    def answer(request):
        nothing = json.dumps({"protocol": 1, "matches": [[] for _ in request["nests"]]}).encode()
        return 200, said_first.pop() if said_first else nothing

    with counting(answer) as (url, asked, _):
        said, line = build(case, url)
        assert "reply." in said and len(asked) == 1, said
        said, line = build(case, url)
        assert said == "" and len(asked) == 2 and not line.get("cached"), (said, line)
        assert build(case, url)[1].get("cached") and len(asked) == 2


def what_is_wanted_is_told_by_each_build(case):
    with counting(lambda request: (200, json.dumps({"protocol": 1, "matches": [[] for _ in request["nests"]]}).encode())) as (
            url, asked, _):
        assert not build(case, url)[1].get("cached") and build(case, url)[1].get("cached")
        before = len(asked)
        build(case, url, SOUS_SHARE="wanted")
        assert len(asked) == before + 1 and "k" not in asked[-1], "nothing is asked, but told"


def a_slow_server_that_says_the_same_rests(case):
    """Kept objects hold; nobody waits for each of a thousand files."""
    pause = {"seconds": 0}

    def nothing_new(request):
        time.sleep(pause["seconds"])
        return 200, json.dumps({"protocol": 1, "matches": [[] for _ in request["nests"]]}).encode()

    with counting(nothing_new) as (url, asked, _):
        build(case, url)
        assert len(asked) == 1
        pause["seconds"] = 0.2
        for _ in range(8):
            _, line = build(case, url, "--answers=0", "--deadline=0.5")
            assert line["fate"] == "left", line
        assert len(asked) < 8, "four times 0.2 s are more than the deadline"


def an_answer_that_takes_all_the_time_is_asked_for_once(case):
    """Also where it comes in the place of one that a kept result rests on."""
    case.fill_database()
    with served(case) as real:
        state = {"hostile": False}

        def answer(request):
            body = json.dumps(request).encode()
            nothing = {"protocol": 1, "matches": [[] for _ in request["nests"]]}
            return 200, of_256_tiles(real, body) if state["hostile"] else json.dumps(nothing).encode()

        with counting(answer) as (url, asked, _):
            build(case, url, "--deadline=0.5")
            state["hostile"] = True
            for _ in range(3):
                build(case, url, "--answers=0", "--deadline=0.5")
            assert len(asked) == 2, "the next build does not pay again"


def what_rests_on_answers_is_for_its_owner(case):
    case.entry_without_doubt()
    with served(case) as real:
        case.s("db", "import", "all.jsonl")
        build(case, real)
        kept = [path for path in (case.folder / "cache").rglob("*") if path.is_file() and b"/v1" not in path.read_bytes()
                and b'"nests"' in path.read_bytes()]
        assert kept
        for path in kept:
            assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0, path
