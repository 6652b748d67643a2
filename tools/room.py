#!/usr/bin/env python3
"""A Debian with Sous and its compilers in an archive, for a machine that has none of them and no network.

    python3 tools/room.py pack room.tar.xz             here: this build, the compilers, and what they need, in pieces room.tar.xz.0 …
    python3 tools/room.py pack room.tar.xz --tests     and the server, the programs of tests, gcc, ccache and Debian's Python
    python3 tools/room.py pack room.tar.xz --peers     and the compilers and libraries that sous bench holds Sous against
    python3 tools/room.py enter room.tar.xz -- build/sous bench verify --size MINI       there, as root

`enter` puts the pieces together and unpacks them beside themselves (once; what is there is used again), makes /proc and /dev of the machine
seen in it, and runs the command in the project's folder there. Its output and exit status are the command's; what it writes stays there.
"""
import argparse
import lzma
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALWAYS = ("base-files bash coreutils dash grep sed findutils libc-bin binutils-x86-64-linux-gnu binutils-common binutils libbinutils clang-19 "
          "libclang-common-19-dev libomp5-19 libomp-19-dev libc6-dev linux-libc-dev libcrypt-dev libstdc++-12-dev libgcc-12-dev libhwy-dev").split()
TESTS = "gcc-12 g++-12 cpp-12 ccache cmake python3-minimal util-linux python3.11-minimal libpython3.11-minimal libpython3.11-stdlib csmith libcsmith-dev".split()
PEERS = ("gcc-12 cpp-12 libgcc-12-dev libgomp1 libgfortran5 libquadmath0 libopenblas0-pthread libopenblas-pthread-dev libblis4-openmp libblis-openmp-dev "
         "libblas3 liblapack3 liblapack-dev").split()
# Of packages and of this tree: pages for people, what other machines run, and what only links whole compilers.
LEFT_OUT = ("/usr/lib/llvm-19/lib/libomptarget", "/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/usr/share/lintian", "/usr/share/cmake",
            "/usr/lib/x86_64-linux-gnu/ldscripts", "/usr/lib/llvm-19/build")
SANITIZER = re.compile(r"/lib\w*san(_preinit)?\.(a|o|so[.\d]*)$")  # gcc's
STATIC = re.compile(r"/lib(openblas|blis|blas|lapack)\w*[-.\w]*\.a$")
BUILT = ("sous", "sous-core")


def packaged(packages):
    """The files of Debian packages."""
    listed = subprocess.run(["dpkg", "-L", *packages], capture_output=True, text=True, check=True).stdout.split("\n")
    kept = [path for path in listed if path.startswith("/") and not path.startswith(LEFT_OUT) and not SANITIZER.search(path) and not STATIC.search(path)]
    return [path for path in kept if not os.path.isdir(path)]


def libraries(programs):
    """What the dynamic linker loads for them."""
    found = set()
    for program in programs:
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        found.update(os.path.normpath(word) for line in said.splitlines() for word in line.split() if word.startswith("/"))
    return sorted(found)


class Pieces:
    """A file written as several, each of at most so many bytes."""

    def __init__(self, path, most):
        self.path, self.most, self.written, self.last = path, most, 0, -1
        self.file = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.file:
            self.file.close()

    def write(self, data):
        for at in range(0, len(data), 1 << 16):
            if self.written // self.most > self.last:
                if self.file:
                    self.file.close()
                self.last += 1
                self.file = open(f"{self.path}.{self.last}", "wb")
            self.written += self.file.write(data[at : at + (1 << 16)])
        return len(data)


def is_program(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def with_targets(paths):
    """Each path, and, of links, what they lead to."""
    todo, seen = list(paths), set()
    while todo:
        path = todo.pop()
        if path in seen or not os.path.lexists(path):
            continue
        seen.add(path)
        if os.path.islink(path):
            todo.append(os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path))))
    return seen


def in_place(path):
    """Where it lies in the archive: Debian's /bin and /lib are links into /usr."""
    for old in ("/bin/", "/sbin/", "/lib/", "/lib64/"):
        if path.startswith(old):
            return "usr" + path
    return path.lstrip("/")


def of_this_tree(build, tests):
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True,
                             check=True).stdout.decode().split("\0")
    programs = list(BUILT) + (["sous-serve", *sorted(p.name for p in build.glob("test_*") if os.access(p, os.X_OK) and p.is_file())] if tests else [])
    return [str(ROOT / name) for name in tracked if name and (ROOT / name).is_file()] + [
        str(build / name) for name in programs if (build / name).exists()]


def stripped(path, folder):
    """A copy without symbols, which are a sixth of sous-core."""
    if os.path.islink(path) or not is_program(path):
        return path
    copy = os.path.join(folder, "stripped")
    subprocess.run(["strip", "-o", copy, path], check=True)
    return copy


def pack(arguments):
    build = arguments.build.resolve()
    paths = packaged(ALWAYS + (TESTS if arguments.tests else []) + (PEERS if arguments.peers else [])) + of_this_tree(build, arguments.tests)
    paths += libraries([p for p in paths if os.path.isfile(p) and os.access(p, os.X_OK) and is_program(p)])
    # Most of it is machine code of x86-64.
    filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": arguments.preset}]
    with Pieces(arguments.archive, arguments.piece << 20) as pieces:
        with (lzma.open(pieces, "wb", filters=filters) as compressed, tarfile.open(fileobj=compressed, mode="w|") as archive,
              tempfile.TemporaryDirectory() as folder):
            names = set()
            for path in sorted(with_targets(paths)):
                name = in_place(path)
                if name not in names and not os.path.isdir(path):
                    names.add(name)
                    archive.add(stripped(path, folder) if path.startswith(str(build)) else path, name, recursive=False)
            for link in ("bin", "sbin", "lib", "lib64"):
                info = tarfile.TarInfo(link)
                info.type, info.linkname = tarfile.SYMTYPE, "usr/" + link
                archive.addfile(info)
        print(f"{arguments.archive}.0 to .{pieces.last}: {pieces.written / 2**20:.1f} MiB, {len(names)} files")


def enter(arguments):
    archive = arguments.archive.absolute()
    room = archive.with_suffix("").with_suffix("")
    if not (room / ".project").exists():
        room.mkdir(exist_ok=True)
        pieces = sorted(archive.parent.glob(archive.name + ".[0-9]"))
        joined = subprocess.run(f"cat {' '.join(map(shlex.quote, map(str, pieces)))} | tar -xJ -C {shlex.quote(str(room))}", shell=True, check=False)
        if joined.returncode != 0:
            return f"{archive}: its {len(pieces)} pieces are not the whole of it"
        # The project's folder keeps its path: it is written into what was built.
        project = next(room.glob("**/tools/room.py")).parent.parent
        (room / ".project").write_text("/" + str(project.relative_to(room)))
        for folder in ("proc", "dev", "sys", "tmp", "root", "etc"):
            (room / folder).mkdir(exist_ok=True)
        for folder in ("proc", "dev", "sys"):
            subprocess.run(["mount", "--rbind", f"/{folder}", room / folder], check=True)
    inside = (room / ".project").read_text()
    environment = {key: os.environ[key] for key in os.environ if key.startswith(("SOUS_", "OMP_"))}
    environment |= {"PATH": "/usr/bin:/usr/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
    return subprocess.run(["chroot", room, "/usr/bin/env", "-C", inside, *arguments.command], env=environment, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack")
    packing.add_argument("archive", type=pathlib.Path)
    packing.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    packing.add_argument("--tests", action="store_true")
    packing.add_argument("--peers", action="store_true")
    packing.add_argument("--preset", type=int, default=6, help="of xz")
    packing.add_argument("--piece", type=int, default=45, help="MiB of each piece, at most")
    entering = verbs.add_parser("enter")
    entering.add_argument("archive", type=pathlib.Path)
    entering.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    return enter(arguments) if arguments.verb == "enter" else pack(arguments)


if __name__ == "__main__":
    sys.exit(main())
