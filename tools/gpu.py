#!/usr/bin/env python3
"""./x gpu: the PolyBench programs on a GPU, held against themselves on the CPU.

    ./x gpu build programs.tar.xz            here: programs with and without the GPU, for a machine that has one
    python3 tools/gpu.py run programs.tar.xz result.json    there: Python, this file and gpu_*.py are all that it takes
    ./x gpu page result.json                 docs/gpu.md, and the data to benchmarks/results/gpu.json: new rows replace those of the
                                             same program, the others stay; each says when, where and of which commit it is

`build` compiles each program with `sous --target cuda --offload=all` for sm_80 and sm_90 (SOUS_CUDA_ARCH says otherwise), and as it is
with the same options; and at LARGE and EXTRALARGE, for sm_90 and with vectors of 512 bits, with the GPU offered (`--target cuda`) and with Sous
alone, where that is different code; with `--before SOUS` also with another Sous, for what is measured; `--only gemm,3mm` takes some, and no recipes. `run` compares what they put out, byte for
byte, and then measures: each program so often that the median says something, the GPU's parts as the generated code itself
reports them (SOUS_GPU_TRACE). The product of gemm is measured alone, too, by recipes (RECIPES). What cuBLAS has a form for is
measured beside it, on the same GPU in the same run (gpu_cublas.py); of FLOATS in float, too.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile

import gpu_cublas
import gpu_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["-O3", "-march=x86-64-v3", "-fno-math-errno"]
CHECKED = ("MINI", "SMALL")
MEASURED = ("gemm", "2mm", "3mm", "syrk", "doitgen", "atax", "bicg", "mvt", "gemver", "gesummv", "jacobi-2d", "heat-3d",
            "symm", "syr2k", "trmm", "covariance", "correlation", "fdtd-2d", "adi", "lu", "cholesky", "floyd-warshall")
SIZES = ("LARGE", "EXTRALARGE")
FLOATS = ("gemm",)
OPTIONS_OF_OFFERS = ["-O3", "-march=x86-64-v4", "-fno-math-errno"]
SIZES_ON_CPU = ("LARGE",)  # the others take minutes in one thread
# C += alpha A B at EXTRALARGE. {tile}: what a thread computes; {block}: threads; {depth}: of what is staged.
STAGED = ("interchange(outer=i1, inner=i2); tile(loops=[i0, i2], sizes=[{tile}]); offload(loops=[i0_t, i2_t], sizes=[{block}]); "
          "register_tile(loops=[i0, i2], sizes=[{tile}], lanes=1, partial=padded); stage(loop=i1, size={depth}, {how}, buffers={buffers}) -> cuda")
RECIPES = (
    "interchange(outer=i1, inner=i2); offload(loops=[i0, i2], sizes=[4, 64]) -> cuda",
    "interchange(outer=i1, inner=i2); tile(loops=[i0, i2], sizes=[8, 2]); offload(loops=[i0_t, i2_t], sizes=[1, 128]); "
    "register_tile(loops=[i0, i2], sizes=[8, 2], lanes=1) -> cuda",
    STAGED.format(tile="4, 8", block="16, 8", depth=16, how="fold=yes", buffers=1),
    STAGED.format(tile="4, 8", block="16, 8", depth=16, how="fold=yes, along=yes", buffers=1),
    STAGED.format(tile="4, 8", block="16, 8", depth=16, how="fold=yes, along=yes", buffers=2),
    STAGED.format(tile="4, 8", block="16, 8", depth=16, how="fold=no, along=no", buffers=2),
    STAGED.format(tile="4, 8", block="16, 8", depth=16, how="fold=no, along=yes", buffers=1),
    STAGED.format(tile="4, 8", block="16, 8", depth=16, how="fold=no, along=yes", buffers=2),
    STAGED.format(tile="4, 8", block="16, 8", depth=8, how="fold=no, along=yes", buffers=2),
    STAGED.format(tile="4, 8", block="8, 8", depth=16, how="fold=no, along=yes", buffers=2),
    STAGED.format(tile="4, 4", block="16, 8", depth=16, how="fold=no, along=yes", buffers=2),
    STAGED.format(tile="8, 8", block="8, 8", depth=16, how="fold=no, along=yes", buffers=2),
)
PRODUCT = """#include <stdio.h>
#include <stdlib.h>
enum { ni = 2000, nj = 2300, nk = 2600 };
static double C[ni][nj], A[ni][nk], B[nk][nj];
static void product(double alpha) {
  for (int i = 0; i < ni; i++)
    for (int k = 0; k < nk; k++)
      for (int j = 0; j < nj; j++) C[i][j] += alpha * A[i][k] * B[k][j];
}
static void fill(volatile double* at, long n) { for (long k = 0; k < n; k++) at[k] = (double)(k * 7 % 1001) / 1001 - 0.5; }
int main(void) {
  fill(C[0], (long)ni * nj), fill(A[0], (long)ni * nk), fill(B[0], (long)nk * nj);
  for (int t = 0; t < 4; t++) product(1.5);
  fwrite(C, sizeof C, 1, stdout);
  return 0;
}
"""
TRACE = re.compile(r"sous: (\S+): on the GPU: start ([0-9.]+) ms, (\d+) bytes in ([0-9.]+) ms to it, (\d+) launches in "
                   r"([0-9.]+) ms, (\d+) bytes in ([0-9.]+) ms from it")


def programs(only):
    names = sorted(p.stem for p in (ROOT / "benchmarks/polybench").glob("*.c"))
    all_of_them = [(n, s) for n in names for s in CHECKED] + [(n, s) for n in MEASURED for s in SIZES]
    return [p for p in all_of_them if not only or p[0] in only.split(",")]


def for_gpu(sous, command, target):
    """What the launcher said."""
    environment = os.environ | {"SOUS_CUDA_ARCH": os.environ.get("SOUS_CUDA_ARCH", "80,90"), "SOUS_DB": "none"}
    return subprocess.run([sous, "--explain", "--target", "cuda", "--offload=all", *command, "-o", str(target)], check=True, text=True,
                          capture_output=True, env=environment).stderr


def compile_one(arguments, folder, name, size):
    """What the launcher said of it."""
    command = ["clang-19", *OPTIONS, f"-D{size}", str(ROOT / f"benchmarks/polybench/{name}.c"), "-lm", "-s"]
    target = folder / f"{name}-{size}"
    if size not in SIZES or size in SIZES_ON_CPU:
        subprocess.run([*command, "-o", f"{target}.cpu"], check=True)
    said = for_gpu(arguments.sous, command, f"{target}.gpu")
    if name in FLOATS and size in SIZES:
        for_gpu(arguments.sous, [*command, "-DDATA_TYPE=float"], f"{target}.float")
    if name in gpu_cublas.FORMS and size in SIZES:
        source = (ROOT / f"benchmarks/polybench/{name}.c").read_text()
        pathlib.Path(f"{target}.form").write_text(json.dumps(gpu_cublas.sizes_of(source, size)))
    if arguments.before and size in SIZES:
        for_gpu(arguments.before, command, f"{target}.before")
    return f"{name} {size}: " + " | ".join(line.strip() for line in said.splitlines() if "kernel_" in line or "GPU" in line)


def compile_offered(arguments, folder, name, size):
    """Two programs where the GPU is offered something; none where it is not: both would be the same."""
    command = ["clang-19", *OPTIONS_OF_OFFERS, f"-D{size}", str(ROOT / f"benchmarks/polybench/{name}.c"), "-lm", "-s"]
    target = folder / f"{name}-{size}"
    environment = os.environ | {"SOUS_CUDA_ARCH": "90", "SOUS_DB": str(folder / "tuning.db"), "SOUS_CACHE_DIR": "off"}
    said = subprocess.run([arguments.sous, "--explain", "--target", "cuda", *command, "-o", f"{target}.offered"], check=True, text=True,
                          capture_output=True, env=environment).stderr
    lines = [line.strip() for line in said.splitlines() if ": kernel_" in line]
    (folder / f"{name}-{size}.said").write_text("\n".join(lines) + "\n")
    if any(": offered to the GPU" in line for line in said.splitlines() if ": kernel_" in line):
        subprocess.run([arguments.sous, *command, "-o", f"{target}.beside"], check=True, capture_output=True, env=environment)
    else:
        pathlib.Path(f"{target}.offered").unlink()
    return f"{name} {size}, offered: " + " | ".join(lines)


def compile_product(arguments, folder, number):
    source, recipe = folder / "product.c", folder / f"{number}.recipe"
    source.write_text(PRODUCT)
    recipe.write_text(RECIPES[number] + "\n")
    command = ["--recipe", str(recipe), "clang-19", *OPTIONS, str(source), "-s"]
    return f"product {number}: " + for_gpu(arguments.sous, command, folder / f"{number}.product").strip()


def build(arguments):
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for line in pool.map(lambda p: compile_one(arguments, folder, *p), [] if arguments.only_offers else programs(arguments.only)):
                print(line, flush=True)
            offers = [] if arguments.no_offers else [(p.stem, s) for p in sorted((ROOT / "benchmarks/polybench").glob("*.c")) for s in SIZES]
            if arguments.only:
                offers = [o for o in offers if o[0] in arguments.only.split(",") or "-".join(o) in arguments.only.split(",")]
            for line in pool.map(lambda p: compile_offered(arguments, folder, *p), offers):
                print(line, flush=True)
            (folder / "tuning.db").unlink(missing_ok=True)
            omp = subprocess.run(["clang-19", "-print-file-name=libomp.so.5"], capture_output=True, text=True).stdout.strip()
            if os.path.exists(omp):
                shutil.copy(omp, folder / "libomp.so.5")
            recipes = () if arguments.only or arguments.only_offers or arguments.no_offers else range(len(RECIPES))
            for line in pool.map(lambda n: compile_product(arguments, folder, n), recipes):
                print(line, flush=True)
        commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
        (folder / "commit").write_text(commit.stdout)
        with tarfile.open(arguments.archive, "w:xz") as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)


def execute(program, dump=None, libraries=None, variables=None):
    """(seconds of the kernel, what the GPU's code said, whether it ended well)"""
    environment = os.environ | {"SOUS_GPU_TRACE": "1"} | (variables or {}) | ({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})
    command = [str(program)] + (["--dump", str(dump)] if dump else [])
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    seconds = re.search(r"seconds: ([0-9.]+)", done.stderr)
    return float(seconds.group(1)) if seconds else 0.0, done.stderr, done.returncode == 0


def verify(folder, name, size):
    outputs = []
    for kind in ("cpu", "gpu"):
        dump = folder / f"{name}-{size}.{kind}.out"
        _, said, well = execute(folder / f"{name}-{size}.{kind}", dump)
        outputs.append(dump.read_bytes() if well else None)
    declined = re.search(r"not on the GPU: (.*)", said)
    ours = any("kernel_" in c[0] for c in TRACE.findall(said))
    state = declined.group(1) if declined else "gpu" if ours else "not offloaded"
    return {"program": name, "size": size, "ran": state, "same": outputs[0] is not None and outputs[0] == outputs[1]}


def measure(folder, name, size, runs):
    row = {"program": name, "size": size, "cpu": None}
    if (folder / f"{name}-{size}.cpu").exists():
        row["cpu"] = execute(folder / f"{name}-{size}.cpu")[0]
    row |= parts_of(folder / f"{name}-{size}.gpu", runs)
    if (folder / f"{name}-{size}.before").exists():
        row["before_ms"] = parts_of(folder / f"{name}-{size}.before", runs).get("kernels_ms")
    return row


def parts_of(program, runs, variables=None):
    parts = []
    for _ in range(runs):
        seconds, said, _ = execute(program, variables=variables)
        calls = [c for c in TRACE.findall(said) if "kernel_" in c[0]]  # the data is made on the GPU, too
        if not calls:
            return {"gpu": None, "why": said.strip()[-200:]}
        parts.append([seconds] + [sum(float(c[k]) for c in calls) for k in (1, 3, 5, 7)]
                     + [sum(int(c[k]) for c in calls) for k in (2, 4, 6)])
    median = [statistics.median(p[k] for p in parts) for k in range(8)]
    keys = ("gpu", "start_ms", "to_ms", "kernels_ms", "from_ms", "bytes_to", "launches", "bytes_from")
    return dict(zip(keys, median)) | {"runs": runs}


def offered(folder, name, size, runs):
    """Whole programs' clocks, in turns: with the GPU offered, and with Sous on the CPU alone. The start of CUDA is in them."""
    row = {"program": name, "size": size, "said": (folder / f"{name}-{size}.said").read_text().strip(), "ran": "cpu"}
    program, beside = folder / f"{name}-{size}.offered", folder / f"{name}-{size}.beside"
    if not program.exists():
        return row
    times = {"offered": [], "beside": []}
    dumps = [folder / f"{name}-{size}.{kind}.out" for kind in times]
    for number in range(runs + 1):
        for kind, path, dump in zip(times, (program, beside), dumps):
            seconds, said, well = execute(path, dump if number == 0 else None, folder)
            if number > 0:
                times[kind].append(seconds)
            if kind == "offered" and any("kernel_" in c[0] for c in TRACE.findall(said)):
                row["ran"] = "gpu"
                row["start_ms"] = max(float(c[1]) for c in TRACE.findall(said))
            row["same"] = row.get("same", True) and well
        if number == 0:
            row["same"] = row["same"] and dumps[0].read_bytes() == dumps[1].read_bytes()
            for dump in dumps:
                dump.unlink()
    return row | {kind: statistics.median(values) for kind, values in times.items()} | {"runs": runs}


def beside_cublas(folder, runs):
    """Of each form: the milliseconds of Sous's kernels, once their code is on the GPU, and of cuBLAS's."""
    forms = sorted(folder.glob("*.form"))
    try:
        cublas = gpu_cublas.Cublas() if forms else None
    except OSError as why:
        print(f"not beside cuBLAS: {why}")
        return []
    rows = []
    for path in forms:
        (name, size), sizes = path.stem.rsplit("-", 1), json.loads(path.read_text())
        for kind, program in (("double", path.with_suffix(".gpu")), ("float", path.with_suffix(".float"))):
            ours = parts_of(program, runs, {"CUDA_MODULE_LOADING": "EAGER"}).get("kernels_ms") if program.exists() else None
            if ours:
                rows.append({"program": name, "size": size, "type": kind, "sous_ms": ours,
                             "cublas_ms": cublas.milliseconds(name, sizes, kind, runs)})
                print(rows[-1], flush=True)
    return rows


def measure_products(folder, runs):
    """Of each recipe: the milliseconds of its kernel, and whether its bytes are those of the first one."""
    rows, first = [], None
    for number, recipe in enumerate(RECIPES):
        times = []
        if not (folder / f"{number}.product").exists():
            continue
        for _ in range(runs):
            done = subprocess.run([str(folder / f"{number}.product")], capture_output=True, env=os.environ | {"SOUS_GPU_TRACE": "1"})
            first = first or done.stdout
            times += [float(c[5]) for c in TRACE.findall(done.stderr.decode())][1:]
        if times:
            rows.append({"recipe": recipe, "ms": min(times), "same": done.stdout == first})
            print(rows[-1], flush=True)
    return rows


def run(arguments):
    said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
                          capture_output=True, text=True)
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    result = {"date": datetime.date.today().isoformat(), "gpu": said.stdout.strip(), "cpu": cpu.group(1) if cpu else "?",
              "options": " ".join(OPTIONS), "verified": [], "measured": []}
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        with tarfile.open(arguments.archive) as archive:
            archive.extractall(folder)
        result["commit"] = (folder / "commit").read_text().strip()
        if not arguments.only_measure:
            checked = [p for p in programs_in(folder) if p[1] in CHECKED]
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for row in pool.map(lambda p: verify(folder, *p), checked):
                    result["verified"].append(row)
                    print(row, flush=True)
            pathlib.Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
        for name, size in programs_in(folder):
            if size not in SIZES or arguments.only_verify:
                continue
            result["measured"].append(measure(folder, name, size, arguments.runs))
            print(result["measured"][-1], flush=True)
            pathlib.Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
        result["offered"] = []
        for path in [] if arguments.only_verify else sorted(folder.glob("*.said")):
            result["offered"].append(offered(folder, *path.stem.rsplit("-", 1), arguments.runs))
            print(result["offered"][-1], flush=True)
            pathlib.Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
        if not arguments.only_verify:
            result["recipes"] = measure_products(folder, arguments.runs)
            result["cublas"] = beside_cublas(folder, arguments.runs)
            pathlib.Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(row["same"] for row in result["verified"]) else 1


def programs_in(folder):
    names = sorted(p.stem for p in folder.glob("*.gpu"))
    return [tuple(n.rsplit("-", 1)) for n in names]


def with_origin(data):
    """The data with every row saying when, where and of which commit it was measured."""
    origin = f"{data['date']}, {data['gpu'].split(',')[0]}, {data['commit']}"
    for kind in ("verified", "measured", "offered", "beside", "cublas"):
        data[kind] = [{"on": origin} | row for row in data.get(kind, [])]
    data["recipes"] = [{"on": origin} | row if isinstance(row, dict) else {"on": origin, "recipe": row[0], "ms": row[1], "same": row[2]}
                       for row in data.get("recipes", [])]
    return data


def page(arguments):
    kept = ROOT / "benchmarks/results/gpu.json"
    data = with_origin(json.loads(pathlib.Path(arguments.result).read_text()))
    before = with_origin(json.loads(kept.read_text())) if kept.exists() else {}
    data["recipes"] = data["recipes"] or before.get("recipes", [])
    for kind in ("verified", "measured", "offered", "beside", "cublas"):
        key = ("program", "size", "type") if kind == "cublas" else ("program", "size")
        rows = {}
        for row in before.get(kind, []) + data[kind]:
            naive = {k: v for k, v in rows.get(tuple(row[k] for k in key), {}).items() if k == "before_ms"}
            rows[tuple(row[k] for k in key)] = naive | row
        data[kind] = [rows[k] for k in sorted(rows)]
    kept.write_text(json.dumps(data, indent=1) + "\n")
    (ROOT / "docs/gpu.md").write_text(gpu_page.text(data))


def main():
    parser = argparse.ArgumentParser(prog="./x gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("build")
    one.add_argument("archive")
    one.add_argument("--sous", default=str(ROOT / "build/sous"))
    one.add_argument("--before", metavar="SOUS")
    one.add_argument("--only", metavar="NAMES")
    one.add_argument("--only-offers", action="store_true")
    one.add_argument("--no-offers", action="store_true", help="nor recipes")
    one = commands.add_parser("run")
    one.add_argument("archive")
    one.add_argument("result")
    one.add_argument("--runs", type=int, default=5)
    one.add_argument("--only-verify", action="store_true")
    one.add_argument("--only-measure", action="store_true")
    commands.add_parser("page").add_argument("result")
    arguments = parser.parse_args()
    return {"build": build, "run": run, "page": page}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
