"""The mathematics of PolyBench's products by cuBLAS, on the GPU of this machine, for `./x gpu` (tools/gpu.py).

Through cuBLAS's own C interface, with nothing but Python: the library is the toolkit's, or one that a Python package brings. Matrices are row by row, as the
programs have them; cuBLAS has columns, so it is given the transposed problem. Float is computed as float (no TF32, which is cuBLAS's default).
"""
import ctypes
import glob
import os
import re
import statistics
import sys
import time

N, T = 0, 1  # cublasOperation_t
UPPER, RIGHT, UNIT = 1, 1, 1  # of enumerations that begin with the other one

# What a program computes, by the names of its sizes. gemm: rows, columns, sum; syrk, syr2k: rows and columns, sum, which of both the
# operand's rows are; symm, trmm: rows (and sum), columns; gemv: rows, columns, whether transposed; ger: rows, columns.
FORMS = {
    "gemm": [("gemm", "NI", "NJ", "NK")],
    "2mm": [("gemm", "NI", "NJ", "NK"), ("gemm", "NI", "NL", "NJ")],
    "3mm": [("gemm", "NI", "NJ", "NK"), ("gemm", "NJ", "NL", "NM"), ("gemm", "NI", "NL", "NJ")],
    "doitgen": [("gemm", "NR*NQ", "NP", "NP")],
    "syrk": [("syrk", "N", "M", "rows")],
    "syr2k": [("syr2k", "N", "M", "rows")],
    "symm": [("symm", "M", "N")],
    "trmm": [("trmm", "M", "N")],
    "covariance": [("syrk", "M", "N", "columns")],
    "correlation": [("syrk", "M", "N", "columns")],
    "atax": [("gemv", "N", "M", N), ("gemv", "N", "M", T)],
    "bicg": [("gemv", "N", "M", N), ("gemv", "N", "M", T)],
    "mvt": [("gemv", "N", "N", N), ("gemv", "N", "N", T)],
    "gemver": [("ger", "N", "N"), ("ger", "N", "N"), ("gemv", "N", "N", T), ("gemv", "N", "N", N)],
    "gesummv": [("gemv", "N", "N", N), ("gemv", "N", "N", N)],
}


def sizes_of(source, size):
    """{name: value} of a program's text; SIZE(mini, small, medium, large, extralarge)."""
    at = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE").index(size)
    return {name: int(values.split(",")[at]) for name, values in re.findall(r"#define (\w+) SIZE\(([^)]*)\)", source)}


def library(name):
    places = [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64")]
    places += [f for path in sys.path for f in sorted(glob.glob(os.path.join(path, "nvidia/*/lib")))]
    for path in [p for place in places for p in sorted(glob.glob(f"{place}/{name}.so*"))] + [f"{name}.so"]:
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    return None


class Cublas:
    """Errors: OSError, where something is not there or fails."""

    def __init__(self):
        self.runtime, light, self.blas = (library(n) for n in ("libcudart", "libcublasLt", "libcublas"))
        if None in (self.runtime, light, self.blas):
            raise OSError("no cuBLAS")
        self.handle = ctypes.c_void_p()
        self.check(self.blas.cublasCreate_v2(ctypes.byref(self.handle)))

    @staticmethod
    def check(code):
        if code != 0:
            raise OSError(f"CUDA says {code}")

    def matrix(self, elements, type_):
        """On the device, with values that are no zeros: bytes 0x3f are 0.0005 (double) and 0.75 (float)."""
        at, count = ctypes.c_void_p(), elements * ctypes.sizeof(type_)
        self.check(self.runtime.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(count)))
        self.check(self.runtime.cudaMemset(at, 0x3F, ctypes.c_size_t(count)))
        return at

    def calls(self, forms, sizes, type_):
        """[a function that computes one of the forms], and the memory that they use."""
        letter = "D" if type_ is ctypes.c_double else "S"
        one = ctypes.byref(type_(1.0))
        done, memory = [], []

        def value(text):
            product = 1
            for name in text.split("*"):
                product *= sizes[name]
            return product

        def place(elements):
            memory.append(self.matrix(elements, type_))
            return memory[-1]

        def add(name, *arguments):
            function = getattr(self.blas, f"cublas{letter}{name}")
            done.append(lambda: self.check(function(self.handle, *arguments)))

        for kind, *of in forms:
            m, n = value(of[0]), value(of[1])
            if kind == "gemm":
                k = value(of[2])
                add("gemm_v2", N, N, n, m, k, one, place(k * n), n, place(m * k), k, one, place(m * n), n)
            elif kind == "syrk":
                rows = of[2] == "rows"
                add("syrk_v2", UPPER, T if rows else N, m, n, one, place(m * n), n if rows else m, one, place(m * m), m)
            elif kind == "syr2k":
                add("syr2k_v2", UPPER, T, m, n, one, place(m * n), n, place(m * n), n, one, place(m * m), m)
            elif kind == "symm":
                add("symm_v2", RIGHT, UPPER, n, m, one, place(m * m), m, place(m * n), n, one, place(m * n), n)
            elif kind == "trmm":
                add("trmm_v2", RIGHT, UPPER, T, UNIT, n, m, one, place(m * m), m, place(m * n), n, place(m * n), n)
            elif kind == "gemv":
                add("gemv_v2", N if of[2] == T else T, n, m, one, place(m * n), n, place(max(m, n)), 1, one, place(max(m, n)), 1)
            else:
                add("ger_v2", n, m, one, place(n), 1, place(m), 1, place(m * n), n)
        return done, memory

    def milliseconds(self, program, sizes, type_name, runs):
        """The median, all data on the device, of what comes after three rounds that nobody looks at."""
        calls, memory = self.calls(FORMS[program], sizes, ctypes.c_double if type_name == "double" else ctypes.c_float)
        times = []
        for _ in range(runs + 3):
            self.check(self.runtime.cudaDeviceSynchronize())
            begun = time.perf_counter()
            for call in calls:
                call()
            self.check(self.runtime.cudaDeviceSynchronize())
            times.append(1e3 * (time.perf_counter() - begun))
        for at in memory:
            self.check(self.runtime.cudaFree(at))
        return statistics.median(times[3:])
