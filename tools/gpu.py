#!/usr/bin/env python3
"""./x gpu: the PolyBench programs on a GPU, held against themselves on the CPU.

    ./x gpu build programs.tar.xz            here: programs with and without the GPU, for a machine that has one
    python3 tools/gpu.py run programs.tar.xz result.json    there: Python and this file are all that it takes
    ./x gpu page result.json                 docs/gpu.md, and the data to benchmarks/results/gpu.json: new rows replace those of the
                                             same program, the others stay; each says when, where and of which commit it is

`build` compiles each program with `sous --target cuda --offload=all` for sm_80 and sm_90 (SOUS_CUDA_ARCH says otherwise), and as it is
with the same options; and at LARGE and EXTRALARGE, for sm_90 and with vectors of 512 bits, with the GPU offered (`--target cuda`) and with Sous
alone, where that is different code; with `--before SOUS` also with another Sous, for what is measured; `--only gemm,3mm` takes some, and no recipes. `run` compares what they put out, byte for
byte, and then measures: each program so often that the median says something, the GPU's parts as the generated code itself
reports them (SOUS_GPU_TRACE). The product of gemm is measured alone, too, by recipes (RECIPES).
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["-O3", "-march=x86-64-v3", "-fno-math-errno"]
CHECKED = ("MINI", "SMALL")
MEASURED = ("gemm", "2mm", "3mm", "syrk", "doitgen", "atax", "bicg", "mvt", "gemver", "gesummv", "jacobi-2d", "heat-3d",
            "symm", "syr2k", "trmm", "covariance", "correlation", "fdtd-2d")
SIZES = ("LARGE", "EXTRALARGE")
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
            offers = [(p.stem, s) for p in sorted((ROOT / "benchmarks/polybench").glob("*.c")) for s in SIZES]
            if arguments.only:
                offers = [o for o in offers if o[0] in arguments.only.split(",") or "-".join(o) in arguments.only.split(",")]
            for line in pool.map(lambda p: compile_offered(arguments, folder, *p), offers):
                print(line, flush=True)
            (folder / "tuning.db").unlink(missing_ok=True)
            omp = subprocess.run(["clang-19", "-print-file-name=libomp.so.5"], capture_output=True, text=True).stdout.strip()
            if os.path.exists(omp):
                shutil.copy(omp, folder / "libomp.so.5")
            recipes = () if arguments.only or arguments.only_offers else range(len(RECIPES))
            for line in pool.map(lambda n: compile_product(arguments, folder, n), recipes):
                print(line, flush=True)
        commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
        (folder / "commit").write_text(commit.stdout)
        with tarfile.open(arguments.archive, "w:xz") as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)


def execute(program, dump=None, libraries=None):
    """(seconds of the kernel, what the GPU's code said, whether it ended well)"""
    environment = os.environ | {"SOUS_GPU_TRACE": "1"} | ({"LD_LIBRARY_PATH": str(libraries)} if libraries else {})
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


def parts_of(program, runs):
    parts = []
    for _ in range(runs):
        seconds, said, _ = execute(program)
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
            pathlib.Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(row["same"] for row in result["verified"]) else 1


def programs_in(folder):
    names = sorted(p.stem for p in folder.glob("*.gpu"))
    return [tuple(n.rsplit("-", 1)) for n in names]


def with_origin(data):
    """The data with every row saying when, where and of which commit it was measured."""
    origin = f"{data['date']}, {data['gpu'].split(',')[0]}, {data['commit']}"
    for kind in ("verified", "measured", "offered", "beside"):
        data[kind] = [{"on": origin} | row for row in data.get(kind, [])]
    data["recipes"] = [{"on": origin} | row if isinstance(row, dict) else {"on": origin, "recipe": row[0], "ms": row[1], "same": row[2]}
                       for row in data.get("recipes", [])]
    return data


def page(arguments):
    kept = ROOT / "benchmarks/results/gpu.json"
    data = with_origin(json.loads(pathlib.Path(arguments.result).read_text()))
    before = with_origin(json.loads(kept.read_text())) if kept.exists() else {}
    data["recipes"] = data["recipes"] or before.get("recipes", [])
    key = ("program", "size")
    for kind in ("verified", "measured", "offered", "beside"):
        rows = {}
        for row in before.get(kind, []) + data[kind]:
            naive = {k: v for k, v in rows.get(tuple(row[k] for k in key), {}).items() if k == "before_ms"}
            rows[tuple(row[k] for k in key)] = naive | row
        data[kind] = [rows[k] for k in sorted(rows)]
    kept.write_text(json.dumps(data, indent=1) + "\n")
    (ROOT / "docs/gpu.md").write_text(page_text(data))


def page_text(data):
    lines = ["# On a GPU", "",
             f"Last measured {data['date']}, {data['gpu']}, {data['cpu']}; each row says when and where it was, and the commit. `{data['options']}`; made by `./x gpu page` from",
             "[benchmarks/results/gpu.json](../benchmarks/results/gpu.json). The programs are PolyBench's, offloaded by strategy",
             "(`sous --target cuda --offload=all`), in double precision.", "",
             "## The same bytes", ""]
    checked = data["verified"]
    ran = [r for r in checked if r["ran"] == "gpu"]
    differ = [f"{r['program']} {r['size']}" for r in checked if not r["same"]]
    names = sorted({r["program"] for r in ran})
    others = sorted({r["program"] for r in checked} - set(names))
    lines += [f"{len(checked)} programs ({len({r['program'] for r in checked})} kernels, sizes {' and '.join(CHECKED)}) put out, byte for byte, what they",
              f"do without the GPU{' — but for ' + ', '.join(differ) if differ else ''}; in {len(ran)} of them the GPU computed: {', '.join(names)}.",
              f"The others stay on the CPU (a nest without a parallel loop, a function that CUDA rounds otherwise): {', '.join(others)}.", "",
              "## Times", "",
              "Milliseconds, medians of as many runs as *runs* says. *Kernels*: from the first launch to the end of the last one, the data on the device. *To* and",
              "*from*: allocation and copies, from and to pageable memory, and into the program's arrays. *Whole*: the program's own clock around the nest, all of these",
              "together. *CPU*: the program without Sous, one thread, one run. The start of the CUDA runtime, once in",
              "each process, is in none: the programs make their data on the GPU, too, before the clock starts. *Before*: the kernels",
              "with each iteration of the parallel loops in a thread of its own and nothing in shared memory, once, in an earlier run on an H100. The first",
              "launch of a kernel brings its code to the GPU, 0.1 to 0.5 ms each time: most of what small products take here.", "",
              "| program | size | kernels | before | ratio | launches | to | MB | from | MB | whole | CPU | runs | measured |",
              "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in data["measured"]:
        cpu = f"{1e3 * r['cpu']:.1f}" if r.get("cpu") else ""
        if r.get("gpu") is None:
            lines.append(f"| {r['program']} | {r['size']} | not on the GPU ||||||||| {cpu} || {r['on']} |")
            continue
        before = r.get("before_ms")
        lines.append(f"| {r['program']} | {r['size']} | {r['kernels_ms']:.2f} | " + (f"{before:.2f} | {before / r['kernels_ms']:.2f}" if before else " | ")
                     + f" | {r['launches']:.0f} | {r['to_ms']:.1f} | {r['bytes_to'] / 1e6:.0f} | "
                     f"{r['from_ms']:.1f} | {r['bytes_from'] / 1e6:.0f} | {1e3 * r['gpu']:.1f} | {cpu} | {r['runs']} | {r['on']} |")
    lines += beside_text(data["beside"]) + offered_text(data["offered"])
    if data["recipes"]:
        work = 2 * 2000 * 2300 * 2600
        alike = all(row["same"] for row in data["recipes"])
        lines += ["", "## By recipe", "", "The product of gemm alone (C += alpha A B), EXTRALARGE, its kernel, by recipe (`--recipe`): the shortest of four in a",
                  "row, without the first. All put out the same bytes" + ("." if alike else ": **no, they do not**."), "",
                  "| recipe | milliseconds | TFLOP/s | measured |", "|---|---|---|---|"]
        lines += [f"| `{r['recipe']}` | {r['ms']:.2f} | {work / r['ms'] / 1e9:.1f} | {r['on']} |" for r in data["recipes"]]
    return "\n".join(lines) + "\n"


def beside_text(rows):
    if not rows:
        return []
    lines = ["", "## Beside the processors", "", "Milliseconds, medians of three, by the program's own clock: all nests on the GPU, whether that gains or not, and Sous alone on the 16",
             "processors of the same machine (both `-march=x86-64-v4`). *Start*: of CUDA's runtime, once in a process, which is not in the times.", "",
             "| program | size | GPU | CPU | ratio | start | measured |", "|---|---|---|---|---|---|---|"]
    return lines + [f"| {r['program']} | {r['size']} | {r['gpu_ms']:.1f} | {r['cpu_ms']:.1f} | {r['cpu_ms'] / r['gpu_ms']:.3g} | {r['start_ms']:.0f} | {r['on']} |" for r in rows]


def offered_text(rows):
    if not rows:
        return []
    there = [r for r in rows if "offered" in r]
    ratios = [r["beside"] / r["offered"] for r in there]
    at_home = sorted({f"{r['program']} {r['size']}" for r in rows if "offered" not in r})
    lines = ["", "## Offered", "", "`sous --target cuda` and `sous` (vectors of 512 bits, all processors beside the GPU), milliseconds by the program's own clock, the start of",
             "CUDA in it where the GPU is used; medians, the two programs in turns. A program's nest runs once: what the GPU gains must exceed",
             "the start. *At home*: each call that pays is not worth the start alone, and the CPU's recipe runs.", "",
             "| program | size | runs | offered | CPU alone | ratio | start | same bytes | measured |", "|---|---|---|---|---|---|---|---|---|"]
    for r in there:
        lines.append(f"| {r['program']} | {r['size']} | {'on the GPU' if r['ran'] == 'gpu' else 'at home'} | {1e3 * r['offered']:.1f} | {1e3 * r['beside']:.1f} | "
                     f"{r['beside'] / r['offered']:.2f} | " + (f"{r['start_ms']:.0f}" if "start_ms" in r else "") + f" | {'yes' if r['same'] else '**no**'} | {r['on']} |")
    least = f" The smallest ratio is {min(ratios):.2f}." if ratios else ""
    return lines + ["", f"The others are offered nothing, and are what `sous` makes of them alone: {', '.join(at_home)}.{least}"]


def main():
    parser = argparse.ArgumentParser(prog="./x gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("build")
    one.add_argument("archive")
    one.add_argument("--sous", default=str(ROOT / "build/sous"))
    one.add_argument("--before", metavar="SOUS")
    one.add_argument("--only", metavar="NAMES")
    one.add_argument("--only-offers", action="store_true")
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
