"""The projects: how each is configured, built and tested by its own means, unchanged.

Commands run in the unpacked source, one after the other, by the shell. They see $CC (the compiler, Sous before it or
not), $CFLAGS, $JOBS, $LAUNCHER (for CMake: `-DCMAKE_C_COMPILER_LAUNCHER=…` or nothing), $INPUTS (our own test inputs,
for projects that bring no tests or few) and $WORK (an empty folder outside the source).

Tests are read from the output of the test commands: a line "name: PASS" in one of the forms below. Lines
`OUTPUT name value` are compared as they are between the build without Sous and the one with: programs whose results
must be the same bytes.
"""
import dataclasses
import re

AUTOMAKE = re.compile(r"(?m)^(?P<result>PASS|FAIL|XFAIL|XPASS|SKIP|ERROR): (?P<name>.+?)\s*$")
CTEST = re.compile(r"(?m)Test\s+#\d+: (?P<name>\S+) \.+\s*(?P<result>Passed|\*\*\*\w[\w ]*)")


@dataclasses.dataclass(frozen=True)
class Project:
    name: str
    package: str  # Debian's source package
    configure: str
    build: str
    test: str
    tests: re.Pattern = AUTOMAKE  # groups "name" and "result"
    dependencies: tuple = ()  # Debian packages
    minutes: int = 10  # hard limit of each step
    patched: bool = True  # with Debian's patches (they may need Debian's own build)


def same(name, command):
    """A test whose output must be the same bytes with Sous as without."""
    return f'echo "OUTPUT {name} $({command} | sha256sum | cut -c1-16)"'


AUTOTOOLS = '"./configure" --disable-dependency-tracking'
VORBIS = re.compile(r"(?m)(?P<name>vorbis_\S+\.ogg|Dequant test \d+)(?: : |\.\.\. )(?P<result>\w+)")
SIMPLE = re.compile(r"(?m)^\W*(?P<name>[\w .+-]+?) (?P<result>test OK|test FAILED|PASS|FAIL)\b")

PROJECTS = (
    Project("zlib", "zlib", './configure', "make -j$JOBS", "make test && " +
            same("compress", "./minigzip64 < $INPUTS/data.bin") + " && " +
            same("round-trip", "./minigzip64 -9 < $INPUTS/data.bin | ./minigzip64 -d"), SIMPLE),
    Project("bzip2", "bzip2", "true", 'make -j$JOBS CC="$CC" CFLAGS="-Wall -Winline $CFLAGS -D_FILE_OFFSET_BITS=64" '
            "libbz2.a bzip2 bzip2recover",
            # The samples that `make check` decompresses are not in Debian's package: ours then.
            " && ".join(same(f"level-{n}", f"./bzip2 -{n} < $INPUTS/data.bin") for n in (1, 5, 9)) + " && " +
            same("round-trip", "./bzip2 -9 < $INPUTS/data.bin | ./bzip2 -d") + " && " +
            same("repetitive", "head -c 3000000 /dev/zero | ./bzip2 | ./bzip2 -d") + " && " +
            "./bzip2 -9 < $INPUTS/data.bin | ./bzip2 -t && echo 'test OK' | sed 's/^/integrity /'", SIMPLE),
    Project("lua", "lua5.4", "true", 'make -C src -j$JOBS CC="$CC -std=gnu99" MYCFLAGS="$CFLAGS -DLUA_USE_POSIX" generic',
            "for t in $INPUTS/*.lua; do n=$(basename $t .lua); " + same("$n", "./src/lua $t") +
            "; done; ./src/lua $INPUTS/sort.lua > /dev/null && echo 'PASS: runs'", patched=False),
    Project("libgsm", "libgsm", "true", 'make CC="$CC" CCFLAGS="-c -DNeedFunctionPrototypes=1 $CFLAGS" '
            'all',
            same("encode", "./bin/toast -l -c < $INPUTS/speech.raw") + " && " +
            same("decode", "./bin/toast -l -c < $INPUTS/speech.raw | ./bin/untoast -l -c") + " && " +
            same("fast", "./bin/toast -F -l -c < $INPUTS/speech.raw | ./bin/untoast -l -F -c") +
            " && echo 'PASS: runs'"),
    Project("lame", "lame", AUTOTOOLS + " --disable-shared --disable-gtktest --disable-decoder",
            "make -j$JOBS",
            same("cbr", "./frontend/lame --quiet -r -s 44.1 -b 128 $INPUTS/speech.raw -") + " && " +
            same("vbr", "./frontend/lame --quiet -r -s 44.1 -V 2 $INPUTS/speech.raw -") + " && " +
            same("low", "./frontend/lame --quiet -r -s 44.1 -b 64 -q 0 -m j $INPUTS/speech.raw -") +
            " && echo 'PASS: runs'"),
    Project("sqlite3", "sqlite3", "./configure --enable-all --disable-shared --with-tcl=/usr/lib/tcl8.6",
            "make -j$JOBS parse.h opcodes.h sqlite3 && make testfixture",
            "./sqlite3 :memory: < $INPUTS/queries.sql > $WORK/out && " + same("queries", "cat $WORK/out") + "; " +
            "for t in select1 select2 join where sort func expr insert update delete index trans vacuum fts3aa rtree1 "
            "json101 window1 with1 blob printf printf2 utf16align malloc5 like date aggnested view trigger1 alter "
            "savepoint pager1 wal collate1 subquery upsert1 tkt3841; do [ -f test/$t.test ] && "
            "if timeout 300 ./testfixture test/$t.test > $WORK/$t.log 2>&1; then echo \"PASS: $t\"; "
            "else echo \"FAIL: $t\"; fi; done; true",
            dependencies=("tcl-dev", "tcl"), minutes=20),
    Project("libpng", "libpng1.6", AUTOTOOLS + " --disable-shared", "make -j$JOBS", "make -k -j$JOBS check",
            dependencies=("zlib1g-dev", "automake", "autoconf", "libtool"), minutes=20),
    Project("libjpeg-turbo", "libjpeg-turbo", 'cmake -S . -B $WORK/build -DCMAKE_C_COMPILER=$COMPILER $LAUNCHER '
            '-DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$CFLAGS" -DWITH_SIMD=0 -DENABLE_SHARED=1',
            "cmake --build $WORK/build -j$JOBS", "ctest --test-dir $WORK/build -j$JOBS --timeout 300", CTEST,
            ("cmake",), 20),
    Project("opus", "opus", AUTOTOOLS + " --disable-shared --disable-doc --disable-asm --disable-rtcd "
            "--disable-intrinsics", "make -j$JOBS", "make -k check", minutes=30),
    Project("libvorbis", "libvorbis", AUTOTOOLS + " --disable-shared", "make -j$JOBS", "make -k check; " +
            same("streams", "cat test/vorbis_*.ogg"), VORBIS, ("libogg-dev", "pkg-config"), 20),
    Project("gsl", "gsl", AUTOTOOLS + " --disable-shared", "make -j$JOBS", "make -k -j$JOBS check", minutes=60),
    Project("fftw3", "fftw3", AUTOTOOLS + " --disable-fortran --disable-shared", "make -j$JOBS",
            "(cd tests && for size in 8 60 256 1000 30x20 6x7x8 64x64; do for kind in c r; do "
            "for sign in f b; do p=$kind$sign$size; ./bench --verify o$p --verify i$p > $WORK/log 2>&1 && "
            "echo \"PASS: $p\" || echo \"FAIL: $p\"; done; done; done; "
            "./bench --verify okd9e01x8e11 > $WORK/log 2>&1 && echo 'PASS: real-to-real' || echo 'FAIL: real-to-real')",
            minutes=40),
    Project("netcdf", "netcdf", AUTOTOOLS + " --disable-shared --disable-hdf5 --disable-netcdf-4 --disable-dap "
            "--disable-byterange --disable-libxml2 --disable-doxygen", "make -j$JOBS", "make -k check",
            dependencies=("m4",), minutes=30),
)


def find(names):
    """The projects of these names (all for none), or a message."""
    if not names:
        return list(PROJECTS), ""
    by_name = {p.name: p for p in PROJECTS}
    unknown = [n for n in names if n not in by_name]
    return [by_name[n] for n in names if n in by_name], \
        f"no project {', '.join(unknown)}; there are {', '.join(by_name)}" if unknown else ""
