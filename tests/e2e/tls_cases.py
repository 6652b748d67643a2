"""End-to-end cases of TLS between sous and sous serve, with certificates that openssl makes here."""
import contextlib
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

from case import FLAGS


def certificate(case, name, names="IP:127.0.0.1", authority="ca", days=2):
    """NAME.pem and NAME.key, from AUTHORITY.pem, which is made too."""
    def openssl(*words):
        case.run("openssl", *words)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    if not (case.folder / f"{authority}.pem").exists():
        openssl("req", "-x509", *key, "-keyout", f"{authority}.key", "-out", f"{authority}.pem", "-subj", f"/CN={authority}",
                "-days", "2")
    case.write("names.cnf", f"subjectAltName={names}\n")
    openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-out", f"{name}.pem",
            "-days", str(days), "-set_serial", "1", "-extfile", "names.cnf")


@contextlib.contextmanager
def serving(case, *options):
    """sous serve over the case's database: the process and its URL."""
    with open(case.folder / "serve.err", "w") as said:
        server = subprocess.Popen([case.sous, "serve", "--db=test.db", "--listen=127.0.0.1:0", *options], cwd=case.folder,
                                  env=case.environment, stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL, text=True)
    try:
        yield server, server.stdout.readline().split(",")[0].split("listening on ")[-1]
    finally:
        server.terminate()
        server.communicate()
        assert server.returncode == 0


def in_tls(name):
    return f"--tls-cert={name}.pem", f"--tls-key={name}.key"


def explained(case, url, **environment):
    return case.s("--explain", "--db=none", f"--server={url}", case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o",
                  environment={"SOUS_CA_FILE": "ca.pem", **environment}).stderr


def a_server_is_verified(case):
    case.fill_database()
    token = case.s("token", "add", "desk", "--scopes", "read").stdout.strip()
    certificate(case, "good")
    certificate(case, "named", "DNS:localhost,DNS:*.localhost")
    certificate(case, "expired", days=-1)
    certificate(case, "foreign", authority="other")
    with serving(case, *in_tls("good"), "--private") as (_, url):
        assert url.startswith("https://")
        assert "(server, distance 0" in explained(case, url, SOUS_TOKEN=token)
        assert "not believed: self-signed certificate in certificate chain [http.tls]" in explained(case, url, SOUS_CA_FILE="other.pem") \
            or "not believed: unable to get local issuer" in explained(case, url, SOUS_CA_FILE="other.pem")
        assert "not believed" in explained(case, url, SOUS_CA_FILE=""), "the system does not know it"
        assert "[http.tls]" in explained(case, url, SOUS_CA_FILE="none.pem")
        assert "ask as https://" in explained(case, url.replace("https", "http"))
        by_name = url.replace("127.0.0.1", "localhost")
        assert "hostname mismatch [http.tls]" in explained(case, by_name), "the subject is no name"
    for name, why in (("named", "IP address mismatch"), ("expired", "has expired"), ("foreign", "unable to get local issuer")):
        with serving(case, *in_tls(name)) as (_, url):
            said = explained(case, url)
            assert why in said and "[http.tls]" in said, said
            if name == "named":
                assert "(server, distance 0" in explained(case, url.replace("127.0.0.1", "localhost"))
    with serving(case) as (_, url):
        assert "is no TLS" in explained(case, url.replace("http", "https"))


def a_token_is_for_verified_servers(case):
    """What a server that is not verified gets to see, byte for byte, beside one that only listens."""
    certificate(case, "foreign", authority="other")
    certificate(case, "good")
    heard = []

    def listen(context):
        def serve():
            with contextlib.suppress(OSError), listener.accept()[0] as plain:
                with context.wrap_socket(plain, server_side=True) if context else plain as one:
                    heard.append(one.recv(1 << 16))
        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=serve)
        thread.start()
        return thread, listener.getsockname()[1]

    secret = "sous_0123_4567"
    for name, gets in (("foreign", False), ("good", True)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(case.folder / f"{name}.pem", case.folder / f"{name}.key")
        thread, port = listen(context)
        heard.clear()
        explained(case, f"https://127.0.0.1:{port}", SOUS_TOKEN=secret)
        thread.join()
        assert (secret.encode() in b"".join(heard)) == gets, (name, heard)
    # In the clear to this machine alone.
    thread, port = listen(None)
    heard.clear()
    explained(case, f"http://127.0.0.1:{port}", SOUS_TOKEN=secret)
    thread.join()
    assert secret.encode() in b"".join(heard)


def a_certificate_is_read_again(case):
    certificate(case, "old")
    certificate(case, "new", authority="other")

    def authority_of(port):
        for one in ("ca", "other"):
            context = ssl.create_default_context(cafile=case.folder / f"{one}.pem")
            with contextlib.suppress(ssl.SSLCertVerificationError), socket.create_connection(("127.0.0.1", port)) as plain:
                with context.wrap_socket(plain, server_hostname="127.0.0.1"):
                    return one
        return None

    for kind in ("pem", "key"):
        shutil.copy(case.folder / f"old.{kind}", case.folder / f"now.{kind}")
    with serving(case, *in_tls("now")) as (server, url):
        port = int(url.rsplit(":", 1)[1])
        kept = ssl.create_default_context(cafile=case.folder / "ca.pem").wrap_socket(
            socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1")
        assert authority_of(port) == "ca"
        shutil.copy(case.folder / "new.pem", case.folder / "now.pem")  # beside the old key: no pair
        server.send_signal(signal.SIGHUP)
        for _ in range(200):
            if "stays as it was" in (case.folder / "serve.err").read_text():
                break
            time.sleep(0.02)
        assert "[server.tls]" in (case.folder / "serve.err").read_text()
        assert authority_of(port) == "ca"
        shutil.copy(case.folder / "new.key", case.folder / "now.key")
        server.send_signal(signal.SIGHUP)
        assert "from now on" in server.stdout.readline()
        assert authority_of(port) == "other"
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept.recv(100).startswith(b"HTTP/1.1 200 ")
        kept.close()
    refused = case.run(case.sous, "serve", "--tls-cert=now.pem", status=2).stderr
    assert "go together" in refused, refused
    assert "[file.read]" in case.run(case.sous, "serve", "--tls-cert=none", "--tls-key=none", status=1).stderr
    with serving(case) as (server, url):  # without a certificate there is nothing to read again
        server.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        assert urllib.request.urlopen(url + "/healthz").status == 200


def a_slow_handshake_costs_one_deadline(case):
    """A server that takes the connection and says nothing, or not enough."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        build = ["--explain", "--deadline=0.3", "--db=none", f"--server={url}", case.cc, *FLAGS, "-c", "mm.c", "-o", "x.o"]
        begun = time.monotonic()
        first = case.s(*build).stderr
        assert "[http.timeout]" in first and time.monotonic() - begun < 10, first
        case.write("mm.c", (case.folder / "mm.c").read_text() + "\n")
        second = case.s(*build).stderr
        assert "[http.resting]" in second, second
