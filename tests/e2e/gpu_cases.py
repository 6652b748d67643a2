"""Cases of run.py: nests offloaded to a GPU, and what is known of GPUs, without one."""
import os
import shutil

import gpu_programs as gpu
from case import FLAGS



def a_gpu_that_is_not_there(case):
    case.run(case.cc, *FLAGS, "mm.c", "-o", "plain")
    if shutil.which("nvcc") is None and not os.path.exists("/usr/local/cuda/bin/nvcc"):
        said = case.s("--explain=all", "--target", "cuda", "--offload=all", case.cc, *FLAGS, "mm.c", "-o", "gpu").stderr
        assert "nvcc.missing" in said, said
        assert case.run("./gpu").stdout == case.run("./plain").stdout
        return
    said = case.s("--explain=all", "--target", "cuda", "--offload=all", case.cc, *FLAGS, "mm.c", "-o", "gpu").stderr
    assert "mm, lines 6 to 8: served: offloaded" in said and "offload(loops=[i0_t, i2_t]" in said, said
    ran = case.run("./gpu", environment={"SOUS_GPU_TRACE": "1"})
    assert "sous_mm_6: " in ran.stderr, ran.stderr  # on the GPU, or the reason why not
    assert ran.stdout == case.run("./plain").stdout
    # Objects bring the runtime with them: two meet in one program, and any link takes them.
    for name in ("one", "two"):
        case.write(f"{name}.c", f"void {name}(int n, double *restrict x) {{ for (int i = 0; i < n; i++) x[i] += 1.5; }}\n")
        case.s("--target", "cuda", "--offload=all", case.cc, *FLAGS, "-c", f"{name}.c", "-o", f"{name}.o")
    first = case.bytes("one.o")
    case.s("--target", "cuda", "--offload=all", case.cc, *FLAGS, "-c", "one.c", "-o", "one.o")
    assert case.bytes("one.o") == first
    case.write("main.c", "#include <stdio.h>\nvoid one(int, double *);\nvoid two(int, double *);\n"
               "int main(void) { double x[9] = {1}; one(9, x); two(9, x); printf(\"%g %g\\n\", x[0], x[8]); return 0; }\n")
    case.run(case.cc, "main.c", "one.o", "two.o", "-o", "both")
    assert case.run("./both").stdout == "4 3\n"


def each_call_decides_for_its_size(case):
    """Where sizes are not known now: the GPU is used when it has been started, or that pays, and only for large ones."""
    runs, said = gpu.emulated(case, "product", gpu.PRODUCT, offload="gain")
    assert len(runs) == 2, said
    rewritten = (case.folder / "out/product.c").read_text()
    assert "sous_product_6(" in rewritten, rewritten
    # What crosses the bus for one sum of each element stays on the CPU; so does what is small for good.
    for name, body in (("sums", "for (int i = 0; i < n; i++) A[i] += B[i];"),
                       ("small", "for (int i = 0; i < 40; i++) for (int k = 0; k < 40; k++) for (int j = 0; j < 40; j++)\n"
                        "A[i * 40 + j] += B[i * 40 + k] * B[k * 40 + j];")):
        case.write(f"{name}.c", f"void {name}(int n, double *restrict A, const double *restrict B) {{\n{body}\n}}\n")
        said = case.s("opt", "--explain", "--target", "cuda", f"{name}.c", "-o", "no", "--", "-O2").stderr
        assert "not offered to the GPU: expected to take" in said and not (case.folder / f"no/{name}.sous.cu").exists(), said
    # Whoever says so gets it.
    case.s("opt", "--target", "cuda", "--offload=all", "sums.c", "-o", "yes", "--", "-O2")
    assert (case.folder / "yes/sums.sous.cu").exists()


def a_nest_of_a_chain_stays_on_the_cpu(case):
    """What it has written is brought again. Where all three are on the GPU, only what the second writes is brought twice: C
    is behind a restrict pointer, and where m is 0 the nest writes nothing of it."""
    runs, said = gpu.emulated(case, "chain", gpu.CHAIN, offload="gain")
    m = 400 * 400 * 8
    assert [r[1] for r in runs] == [3 * m, 3 * m, 3 * m, m, 0], said


def arrays_stay_on_the_gpu(case):
    """The fewest copies that there can be. What a nest writes comes to the host once in each nest that writes it: where the
    GPU fails later, the original takes over there. Nothing is brought twice."""
    v, m = 40 * 8, 40 * 40 * 8
    plain = {"second": "", "third": "", "fourth": ""}
    runs, said = gpu.emulated(case, "five", gpu.FIVE % plain)
    assert len(runs) == 5, said
    # x is all that comes from outside; A, y, z are made there. A and x are written twice: x by nobody else.
    assert gpu.totals(runs) == (v, m + v + v + m + v), runs
    assert [r[4] for r in runs] == [0, m, m + v, m + v + v, m + v + v], runs
    # The host writes between nests: A is brought again.
    runs, said = gpu.emulated(case, "five", gpu.FIVE % (plain | {"third": "\n  A[3][5] = z[2];"}))
    assert gpu.totals(runs)[0] == v + m, runs
    # A nest runs on the host: what it has written is brought again.
    fails = {"second": "\n  fail_next(1);", "third": "\n  fail_next(0);"}
    runs, said = gpu.emulated(case, "five", gpu.FIVE % (plain | fails))
    assert len(runs) == 4 and "not on the GPU: an error that was asked for" in said, said
    fails = {"third": "\n  fail_next(1);", "fourth": "\n  fail_next(0);"}
    runs, said = gpu.emulated(case, "five", gpu.FIVE % (plain | fails))
    assert len(runs) == 4 and gpu.totals(runs)[0] >= v + m, said


def arrays_stay_on_the_gpu_in_a_time_loop(case):
    m, inner = 40 * 40 * 8, 5
    runs, said = gpu.emulated(case, "steps", gpu.STEPS % {"inside": ""})
    assert len(runs) == inner, said
    # Both are brought for the first step, and never again; each step's results are on the host when `say` is called.
    assert gpu.totals(runs)[0] == 2 * m, runs
    assert [r[4] for r in runs] == [0] + 4 * [2 * m], runs
    # B is the host's affair, too: A stays.
    runs, said = gpu.emulated(case, "steps", gpu.STEPS % {"inside": "\n    B[2][3] += 1;"})
    assert gpu.totals(runs)[0] == m + inner * m, runs
    # In the third step the GPU fails: the host takes that one over, and the fourth brings both again.
    runs, said = gpu.emulated(case, "steps", gpu.STEPS % {"inside": "\n    fail_next(t == 1);"})
    assert len(runs) == inner - 1 and gpu.totals(runs)[0] == 4 * m, said


def what_others_write_between_elements_is_kept(case):
    """The host writes to what lies between the elements of a resident array: it is brought again with them."""
    runs, said = gpu.emulated(case, "halves", gpu.HALVES)
    assert len(runs) == 2 and runs[1][4] == 0, said


def programs_move_each_array_once(case):
    """PolyBench, one stretch each: what is brought is what the program has made and the nest reads; what comes back is what
    the nest writes and somebody looks at afterwards."""
    b = 8
    for name, to, back in (
            # 16 x 18, 16 x 22 x 18, 24: A, B, C, D (tmp is made there); D (of tmp nobody knows that it is not looked at).
            ("2mm", b * (16 * 22 + 22 * 18 + 18 * 24 + 16 * 24), b * (16 * 24 + 16 * 18)),
            # A, B, C, D; E, F, G.
            ("3mm", b * (16 * 20 + 20 * 18 + 18 * 24 + 24 * 22), b * (16 * 18 + 18 * 22 + 16 * 22)),
            # A, u1, v1, u2, v2, y, z and the x and w that are added to; A, x, w.
            ("gemver", b * (40 * 40 + 8 * 40), b * (40 * 40 + 2 * 40)),
            # A and B, of which the borders stay: both ways.
            ("jacobi-2d", b * 2 * 30 * 30, b * 2 * 30 * 30)):
        source = (gpu.ROOT / f"benchmarks/polybench/{name}.c").read_text()
        runs, said = gpu.emulated(case, name, source, ["-DMINI"], [f"-I{gpu.ROOT}/benchmarks/polybench"])
        made, kernel = runs
        assert made[1] == 0, (name, runs)  # init fills what it does not look at
        assert (kernel[1], kernel[3]) == (to, back), (name, to, back, runs)


# What a driver answers: a GPU of 132 multiprocessors at 1 GHz, a bus of 5120 lines at 2 GHz. Kernels take no time.
DRIVER = """\
#include <stdlib.h>
#include <string.h>
#include <time.h>
int cuInit(unsigned f) { return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int k) { *d = k; return 0; }
int cuDeviceGetName(char *name, int bytes, int d) { strcpy(name, "Test\\tGPU"); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int d) { *bytes = 3ul << 29; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  *v = a == 13 ? 1000000 : a == 16 ? 132 : a == 36 ? 2000000 : a == 37 ? 5120 : a == 38 ? 50 << 20 : a == 75 ? 9 : a == 87 ? 2 :
       a == 97 ? 227 << 10 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = 0; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuCtxSynchronize(void) { struct timespec t = {0, 1000}; nanosleep(&t, 0); return 0; }
int cuModuleLoadData(void **m, const void *image) { *m = 0; return strstr(image, ".entry nothing()") == 0; }
int cuModuleUnload(void *m) { return 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { *f = 0; return strcmp(name, "nothing"); }
int cuLaunchKernel(void *f, ...) { return getenv("BROKEN") != 0; }
int cuMemAlloc_v2(unsigned long long *a, size_t bytes) { *a = (unsigned long long)malloc(bytes); return 0; }
int cuMemFree_v2(unsigned long long a) { free((void *)a); return 0; }
int cuMemAllocHost_v2(void **m, size_t bytes) { *m = malloc(bytes); return 0; }
int cuMemFreeHost(void *m) { free(m); return 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) { memcpy((void *)to, from, bytes); return 0; }
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) { memcpy(to, (void *)from, bytes); return 0; }
"""


def hw_describes_the_gpu(case):
    case.write("driver.c", DRIVER)
    (case.folder / "driver").mkdir()
    case.run(case.cc, "-w", "-O1", "-shared", "-fPIC", "driver.c", "-o", "driver/libcuda.so.1")
    with_driver = {"LD_LIBRARY_PATH": str(case.folder / "driver")}
    broken = case.s("hw", environment=with_driver | {"BROKEN": "1"})
    assert "hardware.gpu" in broken.stderr and "132 multiprocessors" in broken.stdout and "a launch" not in broken.stdout, broken
    said = case.s("hw", environment=with_driver).stdout
    # 132 multiprocessors with 128 pipes each, two operations at 1 GHz; 640 bytes twice at 2 GHz.
    for words in ("Test GPU (sm_90), 132 multiprocessors, 1.5 GiB, L2 50 MiB, 227 KiB",
                  "f64 16.9 TFLOP/s, f32 33.8; memory 2.56 TB/s", "a launch "):
        assert words in said, (words, said)
    # Kept: nothing is launched again.
    assert "a launch " in case.s("hw", environment=with_driver | {"BROKEN": "1"}).stdout
    without = case.s("hw").stdout
    assert "GPU " not in without or os.path.exists("/dev/nvidiactl"), without
