"""End-to-end cases of the page's routes: what a browser gets, and C from strangers."""
import concurrent.futures
import json
import urllib.error
import urllib.request

from case import KERNEL
from server_cases import ask, served


def lift(url, source, timeout=60):
    body = json.dumps({"protocol": 1, "source": source}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + "/v1/lift", data=body), timeout=timeout) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)["error"]


def the_page_shows_what_the_database_knows(case):
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    with served(case) as url:
        with urllib.request.urlopen(url + "/") as answer:
            page, etag = answer.read().decode(), answer.headers["ETag"]
            assert "script-src 'self'" in answer.headers["Content-Security-Policy"], answer.headers
            assert answer.headers["X-Content-Type-Options"] == "nosniff" and "<script type=\"module\"" in page
        try:
            urllib.request.urlopen(urllib.request.Request(url + "/", headers={"If-None-Match": etag}))
            raise AssertionError("sent again")
        except urllib.error.HTTPError as unchanged:
            assert unchanged.code == 304 and unchanged.read() == b""
        nests = ask(url, "/v1/map")[1]["nests"]
        assert len(nests) > 0 and all(nest["family"] for nest in nests), nests
        found = ask(url, "/v1/nests?q=MM")[1]["nests"]
        assert [nest["hash"] for nest in found] == sorted(nest["hash"] for nest in nests), (found, nests)
        one = ask(url, "/v1/nests/" + nests[0]["hash"])[1]
        assert one["text"].startswith("sdfg 1") and one["measurements"][0]["gain"] > 1, one
        with urllib.request.urlopen(url + "/v1/pictures/" + nests[0]["hash"]) as picture:
            assert picture.headers["Content-Type"] == "image/svg+xml" and picture.read().startswith(b"<svg ")
        near = [unit["near"] for nest in lift(url, KERNEL)[1]["nests"] for unit in nest["units"]]
        assert any(match["name"].startswith("mm") for matches in near for match in matches), near
        with urllib.request.urlopen(url + "/metrics") as answer:
            assert 'sous_requests_total{route="/v1/lift",status="200"} 1' in answer.read().decode()


def pasted_c_reads_the_systems_headers_and_nothing_else(case):
    case.write("secret.h", "#error the secret is 12345\n")
    temporary = case.folder / "tmp"
    temporary.mkdir()
    case.environment["TMPDIR"] = str(temporary)
    secret = case.folder / "secret.h"
    with served(case) as url:
        status, answer = lift(url, "#include <math.h>\nvoid f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = sin(x[i]); }\n")
        if status == 501:
            assert answer["code"] == "lift.off" and "kernel" in answer["why"], answer
            return  # there is nothing else to see
        assert status == 200 and answer["nests"][0]["function"] == "f", answer
        for source in (f'#include "{secret}"\n', f'#include "../../{secret}"\n', '#include "/proc/self/environ"\n', '#include "/dev/zero"\n',
                       f'char x[] = {{\n#embed "{secret}"\n}};\n', "#include __FILE__\n", "int x = ;\n"):
            status, error = lift(url, source)
            assert status == 400 and error["code"] == "lift.source" and "12345" not in error["why"], (source, status, error)
        # Doubled thirty times: it takes as much time as it gets.
        doubled = "#define A0 x+x\n" + "".join(f"#define A{i} A{i - 1}+A{i - 1}\n" for i in range(1, 30))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            many = [pool.submit(lift, url, doubled + "int f(int x) { return A29; }\n") for _ in range(7)]
            assert ask(url, "/v1/nests")[0] == 200
            codes = [one.result()[1]["code"] for one in many]
        # One is looked at, four wait for 10 s at most, and the others are refused at once.
        assert set(codes) <= {"lift.limit", "lift.source", "server.busy"} and codes.count("server.busy") >= 2, codes
        assert list(temporary.iterdir()) == [], "nothing is kept"
