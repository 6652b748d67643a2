"""End-to-end cases of what others can make a build wait for."""
import contextlib
import fcntl
import http.server
import json
import os
import threading
import time
import urllib.request

from case import FLAGS
from server_cases import body_of, served


@contextlib.contextmanager
def answering(answer):
    """A server that answers what `answer` makes of a query."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = answer(body_of(self))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def of_256_tiles(url, body):
    """What the server there answers to the query, with other recipes."""
    honest = json.load(urllib.request.urlopen(urllib.request.Request(url + "/v1/query", data=body)))
    match = next(one for ranked in honest["matches"] for one in ranked)

    def tiles(size):
        return {**match, "recipe": {"version": 1, "target": "cpp", "steps": [
            {"step": "tile", "loops": ["i0"], "sizes": [size + k % 3]} for k in range(256)]}}
    return json.dumps({"protocol": 1, "matches": [[tiles(size) for size in range(2, 10)]
                                                  for _ in json.loads(body)["nests"]]}).encode()


def recipes_of_256_tiles_cost_a_build_two_deadlines(case):
    """Each is legal for 33 steps, and each step is proven more slowly than the one before."""
    case.fill_database()
    expected = case.expected()
    with served(case) as url:
        with answering(lambda body: of_256_tiles(url, body)) as server:
            build = ["--explain", "--deadline=0.5", "--db=none", f"--server={server}", case.cc, *FLAGS, "mm.c", "-o", "prog"]
            said = case.s(*build).stderr
            assert "[recipe.time]" in said, said
            assert case.run("./prog").stdout == expected
            case.write("mm.c", (case.folder / "mm.c").read_text() + "\n")
            assert "[http.resting]" in case.s(*build).stderr, "the next file does not pay again"


def an_answer_of_millions_of_values_is_refused_before_it_is_read(case):
    with answering(lambda _: b'{"protocol":1,"matches":[' + b"[]," * 9_000_000 + b"[]]}") as server:
        said = case.s("--explain", "--db=none", f"--server={server}", case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o").stderr
        assert "more than 2000000 values [reply.budget]" in said, said


def pipes_and_locks_stop_no_build(case):
    expected = case.expected()
    build = [case.cc, *FLAGS, "mm.c", "-o", "prog"]
    seeds, cache = case.folder / "seeds", case.folder / "other-cache" / "sous"
    seeds.mkdir()
    cache.mkdir(parents=True)
    for pipe in (seeds / "a.jsonl", seeds / "gain_model.json", cache / "hardware.json", case.folder / "pipe-log"):
        os.mkfifo(pipe)
    places = {"SOUS_SEED_DIR": str(seeds), "XDG_CACHE_HOME": str(cache.parent), "SOUS_LOG": str(case.folder / "pipe-log"),
              "SOUS_DB": str(case.folder / "new.db")}
    begun = time.monotonic()
    said = case.s("--explain", *build, environment=places).stderr
    assert "a.jsonl: this is no regular file" in said, said
    assert case.run("./prog").stdout == expected
    assert time.monotonic() - begun < 60
    case.fill_database()
    with contextlib.ExitStack() as held:
        folder = os.open(case.folder, os.O_RDONLY | os.O_DIRECTORY)
        held.callback(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        assert "[lock.busy]" in case.s("--lock", *build).stderr
        assert not (case.folder / "sous.lock").exists()
    case.s("--lock", *build)
    assert (case.folder / "sous.lock").exists()
