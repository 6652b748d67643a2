"""The projects: how each is configured, built and tested by its own means, unchanged.

Commands run in the unpacked source, one after the other, by the shell. They see $CC (the compiler, Sous before it or
not), $CFLAGS, $JOBS, $LAUNCHER (for CMake: `-DCMAKE_C_COMPILER_LAUNCHER=…` or nothing), $INPUTS (our own test inputs,
for projects that bring no tests or few) and $WORK (an empty folder outside the source).

Tests are read from the output of the test commands: a line "name: PASS" in one of the forms below. Lines
`OUTPUT name value` are compared as they are between the build without Sous and the one with: programs whose results
must be the same bytes. After a line `FAILED name` nothing is compared: the program did not run to its end.
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
    """A test whose output must be the same bytes with Sous as without; a program that fails has none."""
    return f'(set -o pipefail; sum=$({command} | sha256sum | cut -c1-16) && echo "OUTPUT {name} $sum" || echo "FAILED {name}")'


AUTOTOOLS = '"./configure" --disable-dependency-tracking'
VORBIS = re.compile(r"(?m)(?P<name>vorbis_\S+\.ogg|Dequant test \d+)(?: : |\.\.\. )(?P<result>\w+)")
SIMPLE = re.compile(r"(?m)^\W*(?P<name>[\w .+-]+?) (?P<result>test OK|test FAILED|PASS|FAIL)\b")

# The test program of sqlite3, which its own Makefile compiles from more than fifty files with a single command. What
# its tests may take is a hundred times as much: a millisecond is too little on a machine that does other things.
SQLITE_FIXTURE = """\
include Makefile
OBJECTS = $(patsubst %.c,%.fixture.o,$(TESTFIXTURE_SRC))
$(OBJECTS): %.fixture.o: %.c
\t$(TCC) -DSQLITE_NO_SYNC=1 -DCONFIG_SLOWDOWN_FACTOR=100.0 $(TEMP_STORE) $(TESTFIXTURE_FLAGS) -c $< -o $@
fixture: $(OBJECTS)
\t$(TCC) -o testfixture $(OBJECTS) $(LIBTCL) $(TLIBS)
"""
# About half of its test files: no injected faults, no corrupt files, none that runs for seconds.
SQLITE_TESTS = "|".join("""
    aggnested alter analyze auto between bloom cast check coalesce collate conflict count cse date delete descidx distinct
    expr fkey fts3a fts4[a-f] func[2-9] hexlit hook in[0-9]*[.] index insert instr int join json like limit minmax misc[1-6]
    null numcast orderby pragma printf quote rowid savepoint[^246] schema select[1-8] sort[1or] subquery substr table[^.t]
    tkt trigger[1-9A] types uni(que|on[.v]) update upsert utf vacuum[.] view[.2] wal[a-fhmn4] where[^8] window[^3] with[^1]
    without zeroblob""".split())
SQLITE_LONG = "malloc|fault|ioerr|err[.]|crash|corrupt|fuzz|thread|big|index5|joinD|tkt(2686|4018)|fts3a[nu]|fts4check"

# Slow ones are left out: matrix, vector, block and multiset (compiling), specfunc, multifit*, ode-initval*, siman (running).
GSL_TESTS = ("blas bspline bst cblas cdf cheb combination complex deriv dht diff eigen err fft filter fit histogram "
             "ieee-utils integration interpolation linalg min monte movstat multimin multiroots ntuple permutation poly "
             "qrng randist rng roots rstat sort spblas splinalg spmatrix statistics sum sys wavelet")

# The libraries in C, without BLAS (another library), METIS, GraphBLAS (a package of its own) and GPUs; then the programs.
SUITESPARSE_PARTS = (
    "SuiteSparse_config", "AMD/Lib", "BTF/Lib", "CAMD/Lib", "COLAMD/Lib", "CCOLAMD/Lib", "LDL/Lib", "CXSparse/Lib",
    "CHOLMOD/Lib", "KLU/Lib", "RBio/Lib", "UMFPACK/Lib", "AMD/Demo amd_demo amd_demo2 amd_l_demo amd_simple",
    "CAMD/Demo camd_demo camd_demo2 camd_l_demo camd_simple", "COLAMD/Demo colamd_example colamd_l_example",
    "CCOLAMD/Demo ccolamd_example ccolamd_l_example", "LDL/Demo ldlmain ldllmain ldlsimple ldlamd ldllamd",
    "CHOLMOD/Demo cholmod_demo cholmod_l_demo cholmod_simple", "KLU/Demo klu_simple kludemo kluldemo",
    "RBio/Demo RBdemo", "UMFPACK/Demo umfpack_simple umfpack_di_demo umfpack_dl_demo umfpack_zi_demo umfpack_zl_demo",
    "CXSparse/Demo " + " ".join(f"cs_{kind}_demo{n}" for kind in ("di", "dl", "ci", "cl") for n in (1, 2, 3)))
SUITESPARSE_DEMOS = (
    *(f"{a}MD {b}_{demo}" for a, b in (("A", "amd"), ("CA", "camd")) for demo in ("demo", "demo2", "l_demo", "simple")),
    "COLAMD colamd_example", "COLAMD colamd_l_example", "CCOLAMD ccolamd_example", "CCOLAMD ccolamd_l_example",
    *(f"LDL {demo}" for demo in ("ldlmain", "ldllmain", "ldlsimple", "ldlamd", "ldllamd")),
    *(f"CHOLMOD cholmod_{demo} Matrix/{matrix}" for demo in ("demo", "l_demo", "simple")
      for matrix in ("bcsstk01.tri", "lp_afiro.tri", "can___24.mtx", "c.tri")),
    "KLU klu_simple", *(f"KLU {demo} ../Matrix/{matrix}.mtx" for demo in ("kludemo", "kluldemo")
                        for matrix in ("1c", "arrowc", "arrow", "impcol_a", "w156", "ctina")),
    "RBio RBdemo ../RBio/private/west0479.rua",
    *(f"UMFPACK umfpack_{demo}" for demo in ("simple", "di_demo", "dl_demo", "zi_demo", "zl_demo")),
    *(f"CXSparse cs_{kind}_demo{n} ../Matrix/{matrix}" for kind in ("di", "dl") for n, matrix in (
        (1, "t1"), (2, "fs_183_1"), (2, "west0067"), (2, "lp_afiro"), (2, "ash219"), (2, "bcsstk01"), (2, "bcsstk16"),
        (3, "bcsstk16"))),
    *(f"CXSparse cs_{kind}_demo{n} ../Matrix/{matrix}" for kind in ("ci", "cl") for n, matrix in (
        (1, "t2"), (2, "t3"), (2, "c_west0067"), (2, "young1c"), (2, "qc324"), (2, "mhd1280b"), (3, "mhd1280b"))))

# Kernels in C, real numbers in both precisions; its tests are those of the reference BLAS, and some of its own.
OPENBLAS = ('CC="$CC" HOSTCC=$COMPILER FC=gfortran COMMON_OPT="$CFLAGS" TARGET=GENERIC NO_LAPACK=1 NO_SHARED=1 '
            'NUM_THREADS=2 BUILD_SINGLE=1 BUILD_DOUBLE=1')
OPENBLAS_TESTS = """'
    /Test of subprogram number/ { n = $6 }
    /-- PASS --/ { print "PASS: level 1 " n }
    / PASSED THE / { sub(/ PASSED THE/, ""); $1 = $1; print "PASS: " $0 }
    /^TEST .*\\[OK\\]/ { print "PASS: " $3 }'"""

PROJECTS = (
    Project("zlib", "zlib", './configure', "make -j$JOBS", "make test && " +
            same("compress", "./minigzip64 < $INPUTS/data.bin") + " && " +
            same("round-trip", "./minigzip64 -9 < $INPUTS/data.bin | ./minigzip64 -d"), SIMPLE),
    Project("bzip2", "bzip2", "true", 'make -j$JOBS CC="$CC" CFLAGS="-Wall -Winline $CFLAGS -D_FILE_OFFSET_BITS=64" '
            "libbz2.a bzip2 bzip2recover",
            "export LD_LIBRARY_PATH=$PWD && " +
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
            "export LD_LIBRARY_PATH=$PWD/lib && " + same("encode", "./bin/toast -l -c < $INPUTS/speech.raw") + " && " +
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
            f"cat > $WORK/fixture.mk <<'END'\n{SQLITE_FIXTURE}END\n"
            "make -j$JOBS sqlite3 && make -f $WORK/fixture.mk -j$JOBS fixture",
            "./sqlite3 :memory: < $INPUTS/queries.sql > $WORK/out && " + same("queries", "cat $WORK/out") + "; " +
            f"for t in $(cd test; ls *.test | grep -E '^({SQLITE_TESTS})' | grep -vE '{SQLITE_LONG}'); do "
            "timeout 120 ./testfixture test/$t > $WORK/log 2>&1 && r=PASS || r=FAIL; "
            "echo \"$r: ${t%.test}, $(grep -o '[0-9]* errors out of [0-9]* tests' $WORK/log)\"; done; true",
            dependencies=("tcl-dev", "tcl"), minutes=60),
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
    # The sources of its manual are not in Debian's package.
    Project("gsl", "gsl", AUTOTOOLS + " --disable-shared", "make -k -j$JOBS; make -j$JOBS libgsl.la",
            f"for d in {GSL_TESTS}; do make -k -j$JOBS -C $d check 2>&1 | "
            'sed -E "s,^((PASS|FAIL|ERROR): )test$,\\\\1$d,"; done', minutes=90),
    Project("fftw3", "fftw3", AUTOTOOLS + " --disable-fortran --disable-shared --disable-doc", "make -j$JOBS",
            # Planned by estimate: what is measured would choose other codelets each time.
            "cd tests; for size in 8 13 60 256 1000 1009 30x20 6x7x8 64x64 12*10; do for kind in "
            "ocf icf ocb icb orf irf orb irb; do ./bench -oestimate --verify $kind$size > $WORK/log 2>&1 && "
            'echo "PASS: $kind$size" || echo "FAIL: $kind$size"; done; done; '
            "for kind in e00 e01 e10 e11 o00 o01 o10 o11 h; do "
            "./bench -oestimate --verify ok24$kind --verify ok9${kind}x8e11 > $WORK/log 2>&1 &&"
            ' echo "PASS: $kind" || echo "FAIL: $kind"; done', minutes=40),
    Project("suitesparse", "suitesparse", "mkdir -p include && touch include/metis.h",
            "export LD_LIBRARY_PATH=$PWD/lib; for part in " + " ".join(f"'{p}'" for p in SUITESPARSE_PARTS) + "; do "
            'make -j$JOBS -C $part CC="$CC" CF="$CFLAGS -fPIC" SUITESPARSE=$PWD CUDA=no BLAS= LAPACK= '
            'UMFPACK_CONFIG="-DNBLAS -DNCHOLMOD" CHOLMOD_CONFIG="-DNSUPERNODAL -DNPARTITION -DNCAMD" || exit 1; done',
            "export LD_LIBRARY_PATH=$PWD/lib; demo() { (cd $1/Demo; f=/dev/null; [ $# -lt 3 ] || f=$3; "
            "./$2 < $f > $WORK/log 2>&1; status=$?; "
            "grep -vE 'mflop|wallclock|seconds' $WORK/log | sed -E 's/time:? +[0-9.]+//' > $WORK/text; "
            'echo "OUTPUT $1/$2/${f##*/} $status-$(sha256sum < $WORK/text | cut -c1-16)"); }; ' +
            "; ".join(f"demo {demo}" for demo in SUITESPARSE_DEMOS), minutes=20),
    Project("openblas", "openblas", "true", f"make -j$JOBS {OPENBLAS} libs",
            f"make -k {OPENBLAS} tests 2>&1 | awk {OPENBLAS_TESTS}", dependencies=("gfortran",), minutes=30),
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
