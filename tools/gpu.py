#!/usr/bin/env python3
"""./x gpu: the PolyBench programs on a GPU, held against themselves on the CPU.

    ./x gpu build programs.tar.xz            here: programs with and without the GPU, for a machine that has one
    python3 tools/gpu.py run programs.tar.xz result.json    there: Python and this file are all that it takes
    ./x gpu page result.json                 docs/gpu.md, and the data to benchmarks/results/gpu.json

`build` compiles each program with `sous --target cuda` for sm_80 and sm_90 (SOUS_CUDA_ARCH says otherwise), and as it is
with the same options. `run` compares what they put out, byte for byte, and then measures: each program so often that the
median says something, the GPU's parts as the generated code itself reports them (SOUS_GPU_TRACE).
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["-O3", "-march=x86-64-v3", "-fno-math-errno"]
CHECKED = ("MINI", "SMALL")
MEASURED = ("gemm", "2mm", "jacobi-2d", "heat-3d", "atax")
SIZES = ("LARGE", "EXTRALARGE")
TRACE = re.compile(r"sous: (\S+): on the GPU: start ([0-9.]+) ms, (\d+) bytes in ([0-9.]+) ms to it, (\d+) launches in "
                   r"([0-9.]+) ms, (\d+) bytes in ([0-9.]+) ms from it")


def programs():
    names = sorted(p.stem for p in (ROOT / "benchmarks/polybench").glob("*.c"))
    return [(n, s) for n in names for s in CHECKED] + [(n, s) for n in MEASURED for s in SIZES]


def compile_one(sous, folder, name, size):
    """What the launcher said of it."""
    command = ["clang-19", *OPTIONS, f"-D{size}", str(ROOT / f"benchmarks/polybench/{name}.c"), "-lm", "-s"]
    target = folder / f"{name}-{size}"
    subprocess.run([*command, "-o", f"{target}.cpu"], check=True)
    environment = os.environ | {"SOUS_CUDA_ARCH": os.environ.get("SOUS_CUDA_ARCH", "80,90"), "SOUS_DB": "none"}
    said = subprocess.run([sous, "--explain", "--target", "cuda", *command, "-o", f"{target}.gpu"], check=True, text=True,
                          capture_output=True, env=environment).stderr
    return f"{name} {size}: " + " | ".join(line.strip() for line in said.splitlines() if "kernel_" in line or "GPU" in line)


def build(arguments):
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for line in pool.map(lambda p: compile_one(arguments.sous, folder, *p), programs()):
                print(line, flush=True)
        with tarfile.open(arguments.archive, "w:xz") as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)


def execute(program, dump=None):
    """(seconds of the kernel, what the GPU's code said, whether it ended well)"""
    command = [str(program)] + (["--dump", str(dump)] if dump else [])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"SOUS_GPU_TRACE": "1"})
    seconds = re.search(r"seconds: ([0-9.]+)", done.stderr)
    return float(seconds.group(1)) if seconds else 0.0, done.stderr, done.returncode == 0


def verify(folder, name, size):
    outputs = []
    for kind in ("cpu", "gpu"):
        dump = folder / f"{kind}.out"
        _, said, well = execute(folder / f"{name}-{size}.{kind}", dump)
        outputs.append(dump.read_bytes() if well else None)
    declined = re.search(r"the original runs: (.*)", said)
    ours = any("kernel_" in c[0] for c in TRACE.findall(said))
    state = declined.group(1) if declined else "gpu" if ours else "not offloaded"
    return {"program": name, "size": size, "ran": state, "same": outputs[0] is not None and outputs[0] == outputs[1]}


def measure(folder, name, size, runs):
    row = {"program": name, "size": size, "cpu": execute(folder / f"{name}-{size}.cpu")[0]}
    parts = []
    for _ in range(runs):
        seconds, said, _ = execute(folder / f"{name}-{size}.gpu")
        calls = [c for c in TRACE.findall(said) if "kernel_" in c[0]]  # the data is made on the GPU, too
        if not calls:
            return row | {"gpu": None, "why": said.strip()[-200:]}
        parts.append([seconds] + [sum(float(c[k]) for c in calls) for k in (1, 3, 5, 7)]
                     + [sum(int(c[k]) for c in calls) for k in (2, 4, 6)])
    median = [statistics.median(p[k] for p in parts) for k in range(8)]
    keys = ("gpu", "start_ms", "to_ms", "kernels_ms", "from_ms", "bytes_to", "launches", "bytes_from")
    return row | dict(zip(keys, median)) | {"runs": runs}


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
        for name, size in programs_in(folder):
            if size in CHECKED and not arguments.only_measure:
                result["verified"].append(verify(folder, name, size))
                print(result["verified"][-1], flush=True)
            elif size in SIZES and not arguments.only_verify:
                result["measured"].append(measure(folder, name, size, arguments.runs))
                print(result["measured"][-1], flush=True)
            pathlib.Path(arguments.result).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(row["same"] for row in result["verified"]) else 1


def programs_in(folder):
    names = sorted(p.stem for p in folder.glob("*.gpu"))
    return [tuple(n.rsplit("-", 1)) for n in names]


def page(arguments):
    data = json.loads(pathlib.Path(arguments.result).read_text())
    (ROOT / "benchmarks/results/gpu.json").write_text(json.dumps(data, indent=1) + "\n")
    (ROOT / "docs/gpu.md").write_text(page_text(data))


def page_text(data):
    lines = ["# On a GPU", "",
             f"{data['date']}, {data['gpu']}, {data['cpu']}; `{data['options']}`; made by `./x gpu page` from",
             "[benchmarks/results/gpu.json](../benchmarks/results/gpu.json). The programs are PolyBench's, offloaded by strategy",
             "(`sous --target cuda`), in double precision, with no tiles in shared memory.", "",
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
              "Milliseconds, medians. *Kernels*: from the first launch to the end of the last one, the data on the device. *To* and",
              "*from*: allocation and copies, from and to pageable memory. *Whole*: the program's own clock around the nest, all of these",
              "together. *CPU*: the program without Sous, one thread, one run. The start of the CUDA runtime, once in",
              "each process, is in none: the programs make their data on the GPU, too, before the clock starts.", "",
              "| program | size | kernels | launches | to | MB | from | MB | whole | CPU |", "|---|---|---|---|---|---|---|---|---|---|"]
    for r in data["measured"]:
        if r.get("gpu") is None:
            lines.append(f"| {r['program']} | {r['size']} | not on the GPU ||||||| {1e3 * r['cpu']:.1f} |")
            continue
        lines.append(f"| {r['program']} | {r['size']} | {r['kernels_ms']:.2f} | {r['launches']:.0f} | {r['to_ms']:.1f} | {r['bytes_to'] / 1e6:.0f} | "
                     f"{r['from_ms']:.1f} | {r['bytes_from'] / 1e6:.0f} | {1e3 * r['gpu']:.1f} | {1e3 * r['cpu']:.1f} |")
    if data.get("recipes"):
        lines += ["", "## By recipe", "", "The product of gemm alone (C += alpha A B), EXTRALARGE, its kernel, by recipe (`--recipe`).", "", "| recipe | milliseconds |", "|---|---|"]
        lines += [f"| `{recipe}` | {milliseconds:.2f} |" for recipe, milliseconds in data["recipes"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="./x gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("build")
    one.add_argument("archive")
    one.add_argument("--sous", default=str(ROOT / "build/sous"))
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
