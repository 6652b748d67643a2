"""Source packages of Debian, through apt and into a cache folder.

apt runs on lists and settings of its own in the cache: no root, and nothing of the system's apt changes. What it needs
beyond them, deb-src lines, is derived from the system's deb lines.
"""
import pathlib
import re
import shutil
import subprocess

DEFAULT_SOURCES = [("http://deb.debian.org/debian", "bookworm"), ("http://deb.debian.org/debian", "bookworm-updates"),
                   ("http://deb.debian.org/debian-security", "bookworm-security")]
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class SourceError(Exception):
    """A package that cannot be unpacked or built."""


class Unreachable(SourceError):
    """What the archive did not give: no network, or the package is not there."""


def system_sources(folder=pathlib.Path("/etc/apt")):
    """(mirror, suite) pairs of Debian's own archives that the system takes binary packages from."""
    found = []
    for path in sorted(folder.glob("sources.list.d/*.sources")):
        for block in re.split(r"\n\s*\n", path.read_text()):
            fields = dict(re.findall(r"(?m)^(\w[\w-]*):\s*(.*)$", block))
            for uri in fields.get("URIs", "").split():
                found += [(uri, suite) for suite in fields.get("Suites", "").split()]
    for path in [folder / "sources.list", *sorted(folder.glob("sources.list.d/*.list"))]:
        if path.exists():
            found += re.findall(r"(?m)^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)", path.read_text())
    return [(uri.rstrip("/"), suite) for uri, suite in found
            if re.search(r"/debian(-security)?/?$", uri) and suite.startswith("bookworm")] or DEFAULT_SOURCES


def first_error(text):
    """apt repeats itself for each file of a package or list."""
    return next((line for line in text.splitlines() if line.startswith("E: ")), text.strip()[-300:])


class Sources:
    def __init__(self, cache):
        self.cache = cache
        self.apt = cache / "apt"
        self.archive = cache / "archive"
        self.updated = False
        self.archive.mkdir(parents=True, exist_ok=True)

    def run(self, *words, cwd=None, timeout=600):
        try:
            return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=timeout, errors="replace")
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, "", f"no answer within {timeout} s")

    def options(self):
        """apt's options for a state of its own."""
        options = []
        for key, value in (("Dir::Etc::SourceList", self.apt / "sources.list"), ("Dir::Etc::SourceParts", "/dev/null"),
                           ("Dir::State::Lists", self.apt / "lists"), ("Dir::Cache", self.apt / "cache"),
                           ("APT::Sandbox::User", ""), ("Acquire::Languages", "none"),
                           ("Acquire::http::Timeout", "20"), ("Acquire::Retries", "1")):
            options += ["-o", f"{key}={value}"]
        return options

    def update(self):
        """The lists of what the archive has now. Asked once: an archive that does not answer is not asked again."""
        if self.updated:
            raise Unreachable("the archive of source packages did not answer before")
        self.updated = True
        (self.apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (self.apt / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        (self.apt / "sources.list").write_text("".join(f"deb-src [signed-by={KEYS}] {uri} {suite} main\n"
                                                       for uri, suite in system_sources()))
        done = self.run("apt-get", *self.options(), "--error-on=any", "update")
        if done.returncode:
            (self.apt / "sources.list").unlink()
            raise Unreachable("apt-get update for source packages failed: " + first_error(done.stderr))

    def versions(self, package):
        done = self.run("apt-cache", *self.options(), "showsrc", package)
        versions = re.findall(r"(?m)^Version: (\S+)", done.stdout)
        # Newest first; a mirror may have dropped it already, or not have it yet.
        return sorted(set(versions), key=versions.index, reverse=True)

    def fetched(self, package):
        found = sorted(self.archive.glob(f"{package}_*.dsc"))
        return found[-1] if found else None

    def fetch(self, package):
        """The package's .dsc, with all files that it names beside it."""
        have = self.fetched(package)
        if have:
            return have
        if not (self.apt / "sources.list").exists():
            self.update()
        while True:
            found, complaint = self.download(package)
            if found:
                return found
            if self.updated:
                raise Unreachable(f"{package}: {complaint}")
            self.update()  # old lists may name what the archive has replaced since

    def download(self, package):
        complaint = "no such source package"
        for version in self.versions(package):
            done = self.run("apt-get", *self.options(), "source", "--download-only", f"{package}={version}",
                            cwd=self.archive)
            if done.returncode == 0 and self.fetched(package):
                return self.fetched(package), ""
            complaint = first_error(done.stderr)
            for leftover in self.archive.glob(f"{package}_*.dsc"):
                leftover.unlink()
        return None, complaint

    def unpack(self, package, folder, patched=True):
        """Fresh sources of the package in `folder`, with Debian's patches or without. Returns the version."""
        dsc = self.fetch(package)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        done = self.run("dpkg-source", "--no-check", *([] if patched else ["--skip-patches"]), "-x", str(dsc),
                        str(folder))
        if done.returncode:
            raise SourceError(f"{package}: dpkg-source: {done.stderr.strip()[-300:]}")
        return dsc.stem.split("_", 1)[1]


def install(packages):
    """What is missing of the build dependencies, with the system's apt. Needs root or sudo."""
    missing = [p for p in packages if subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", p],
                                                     capture_output=True, text=True).stdout != "installed"]
    if not missing:
        return
    root = [] if subprocess.run(["id", "-u"], capture_output=True, text=True).stdout.strip() == "0" else ["sudo"]
    words = root + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-q",
                    "--no-install-recommends", *missing]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Unreachable(f"apt-get install {' '.join(missing)}: {done.stderr.strip()[-300:]}")
