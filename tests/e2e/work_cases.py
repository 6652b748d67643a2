"""End-to-end cases of workers: what a build lacks, others find."""
import http.server
import json
import signal
import subprocess
import threading
import time

from server_cases import ask, body_of, served

FLAGS = ["-O3", "-march=native"]
# Rows times rows: as it is written, every product waits for the sum before it; gains are beyond what a busy machine hides.
KERNEL = """\
#include <stdio.h>
#define N 320
static float A[N][N], B[N][N], C[N][N];
void rows(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) C[i][j] += A[i][k] * B[j][k];
}
int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] = (i * j) % 7, B[i][j] = (i + j) % 5;
  rows();
  double s = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) s += C[i][j] * (i + 2 * j);
  printf("%.17g\\n", s);
  return 0;
}
"""


def tokens(of, **scopes):
    return {who: of.s("token", "add", who, "--scopes", scope).stdout.strip() for who, scope in scopes.items()}


def build_of(case, url, token):
    """Builds the kernel as a client of the server; what it said of the hot nest, and what the program printed."""
    said = case.s("--explain", "--db=none", case.cc, *FLAGS, "rows.c", "-o", "prog", environment={
        "SOUS_SERVER": url, "SOUS_SHARE": "wanted", "SOUS_TOKEN": token}).stderr
    (line,) = [line for line in said.splitlines() if line.startswith("rows.c:5: rows: ")]
    return line, case.run("./prog").stdout


def work(case, url, token, *options, **more):
    return case.s("work", f"--server={url}", *options, environment={"SOUS_TOKEN": token}, **more).stdout


def what_a_build_lacks_is_tuned_confirmed_and_served(case):
    case.write("rows.c", KERNEL)
    case.run(case.cc, *FLAGS, "rows.c", "-o", "plain")
    expected = case.run("./plain").stdout
    token = tokens(case, desk="upload", farm="work,upload", lab="work,upload", guest="upload")
    with served(case) as url:
        assert work(case, url, token["farm"], "--once") == "no job\n"
        line, printed = build_of(case, url, token["desk"])
        assert "left as it is" in line and printed == expected, line
        assert "[token.scope]" in case.s("work", f"--server={url}", "--once", status=1,
                                         environment={"SOUS_TOKEN": token["guest"]}).stderr
        found = ""
        for _ in range(8):  # the other nests of the file are wanted, too
            found = work(case, url, token["farm"], "--once", "--budget=2s")
            if "times as fast" in found:
                break
        assert found.count("\n") == 1 and found.startswith("tune ") and "times as fast" in found, found
        time.sleep(0.8)
        line, printed = build_of(case, url, token["desk"])
        assert "left as it is" in line and printed == expected, line  # one party alone says so
        again = work(case, url, token["lab"], "--once", "--budget=2s")
        assert again.startswith("measure ") and "; claimed: " in again, again
        time.sleep(0.8)
        line, printed = build_of(case, url, token["desk"])
        assert ": served: " in line and "(server, distance 0" in line and printed == expected, line
        status, told = ask(url, "/v1/jobs", token=token["farm"])
        assert status == 200 and told["counts"]["leased"] == 0 and told["counts"]["found"] >= 2, told
        assert {job["worker"] for job in told["jobs"] if job["state"] == "found"} == {"farm", "lab"}, told
    assert "every entry is sound" in case.s("db", "verify").stdout


def a_job_outlives_its_worker_and_its_server(case):
    case.write("rows.c", KERNEL)
    token = tokens(case, desk="upload", farm="work,upload")
    shown = json.loads(case.s("share", "rows.c", "--show", "--db=none", "--", case.cc, *FLAGS).stdout)
    shown["nests"] = shown["nests"][:1]  # the hottest
    asks = json.dumps({"protocol": 1, "hardware": shown["hardware"], "kinds": ["tune"],
                       "targets": ["cpp", "openmp", "highway"], "seconds": 60}).encode()

    def start():
        server = subprocess.Popen([case.sous, "serve", "--db=test.db", "--listen=127.0.0.1:0", "--lease=3"], cwd=case.folder,
                                  env=case.environment, stdout=subprocess.PIPE, text=True)
        return server, server.stdout.readline().split(",")[0].split("listening on ")[1]

    def leased(url):
        status, answer = ask(url, "/v1/jobs/lease", asks, token["farm"])
        assert status == 200, answer
        return answer["job"]

    def wait_for(url, state):
        for _ in range(200):
            jobs = ask(url, "/v1/jobs", token=token["farm"])[1]["jobs"]
            if [job["state"] for job in jobs] == [state]:
                return
            time.sleep(0.05)
        raise AssertionError(jobs)

    server, url = start()
    try:
        assert ask(url, "/v1/wanted", json.dumps(shown).encode(), token["desk"])[1]["added"] == 1
        worker = subprocess.Popen([case.sous, "work", f"--server={url}"], cwd=case.folder, stdout=subprocess.DEVNULL,
                                  env={**case.environment, "SOUS_TOKEN": token["farm"]})
        try:
            wait_for(url, "leased")
            time.sleep(3.5)
            assert leased(url) is None  # it is renewed as long as somebody is at it
        finally:
            worker.kill()
            worker.wait()
        server.kill()
        server.communicate()
        server, url = start()
        wait_for(url, "lost")
        job = leased(url)
        assert job["wanted"]["structural_hash"] == shown["nests"][0]["structural_hash"], job
        assert leased(url) is None
        done = {"protocol": 1, "lease": job["lease"], "outcome": "nothing"}
        assert ask(url, "/v1/jobs/done", json.dumps(done).encode(), token["desk"])[0] == 403
        assert ask(url, "/v1/jobs/done", json.dumps(done).encode(), token["farm"])[0] == 200
        status, refused = ask(url, "/v1/jobs/done", json.dumps(done).encode(), token["farm"])
        assert status == 409 and refused["error"]["code"] == "job.lease", refused
        time.sleep(3.1)
        assert leased(url) is None  # it rests
    finally:
        server.kill()
        server.communicate()


def ctrl_c_gives_a_job_back(case):
    case.write("rows.c", KERNEL)
    token = tokens(case, desk="upload", farm="work,upload")
    with served(case) as url:
        case.s("share", "rows.c", f"--server={url}", "--db=none", "--", case.cc, *FLAGS,
               environment={"SOUS_TOKEN": token["desk"]})
        worker = subprocess.Popen([case.sous, "work", f"--server={url}"], cwd=case.folder, stdout=subprocess.PIPE, text=True,
                                  env={**case.environment, "SOUS_TOKEN": token["farm"]})
        for _ in range(200):
            counts = ask(url, "/v1/jobs", token=token["farm"])[1]["counts"]
            if counts["leased"] == 1:
                break
            time.sleep(0.05)
        worker.send_signal(signal.SIGINT)
        said = worker.communicate(timeout=60)[0]
        assert worker.returncode == 0 and "given back" in said, said
        counts = ask(url, "/v1/jobs", token=token["farm"])[1]["counts"]
        assert counts["returned"] == 1 and counts["leased"] == 0, counts


def what_is_found_outlives_a_server_that_is_killed(case):
    case.write("rows.c", KERNEL)
    token = tokens(case, desk="upload", farm="work,upload")
    shown = json.loads(case.s("share", "rows.c", "--show", "--db=none", "--", case.cc, *FLAGS).stdout)
    shown["nests"] = shown["nests"][:1]
    with served(case, "--lease=2") as url:
        ask(url, "/v1/wanted", json.dumps(shown).encode(), token["desk"])
    listen = "--listen=" + url.removeprefix("http://")

    def start():
        server = subprocess.Popen([case.sous, "serve", "--db=test.db", listen, "--lease=2"], cwd=case.folder,
                                  env=case.environment, stdout=subprocess.PIPE, text=True)
        assert "listening" in server.stdout.readline()
        return server

    server = start()
    try:
        worker = subprocess.Popen([case.sous, "work", f"--server={url}", "--once", "--budget=2s"], cwd=case.folder,
                                  stdout=subprocess.PIPE, text=True, env={**case.environment, "SOUS_TOKEN": token["farm"]})
        for _ in range(200):
            if ask(url, "/v1/jobs", token=token["farm"])[1]["counts"]["leased"] == 1:
                break
            time.sleep(0.05)
        server.kill()
        server.communicate()
        time.sleep(3)
        server = start()
        said = worker.communicate(timeout=90)[0]
        assert worker.returncode == 0 and "times as fast" in said and "not reported" not in said, said
        status, told = ask(url, "/v1/jobs", token=token["farm"])
        assert [job["state"] for job in told["jobs"]] == ["found"], told
        assert "only for farm" in case.s("db", "list").stdout
    finally:
        server.kill()
        server.communicate()


HOSTILE = {"protocol": 1, "job": {"lease": "0" * 32, "seconds": 60, "isa": "sse", "cores": 1, "threads": 1, "class": "x",
                                  "wanted": {"nest": {"schema": 1}, "structural_hash": "0" * 32, "sizes": {},
                                             "reassociate": False}}}


def a_server_that_talks_nonsense_stops_no_worker(case):
    answers = [b"<html>", json.dumps(HOSTILE).encode(), json.dumps({**HOSTILE, "job": 7}).encode(),
               json.dumps({"protocol": 1, "job": None, "retry_seconds": 1}).encode()]
    heard = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append((self.path, body_of(self)))
            body = b'{"protocol":1}' if self.path == "/v1/jobs/done" else answers.pop(0) if answers[1:] else answers[0]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = case.s("work", f"--server=http://127.0.0.1:{server.server_address[1]}", "--idle-exit=3", "--isa=sse")
    server.shutdown()
    assert len(answers) == 1 and done.stdout.count("a job that cannot be read: ") == 1, done.stdout
    (told,) = [json.loads(body) for path, body in heard if path == "/v1/jobs/done"]
    assert told["lease"] == "0" * 32 and told["outcome"] == "failed" and told["code"].startswith("sdfg."), told
