"""docs/gpu.md, of what `./x gpu` measured (tools/gpu.py)."""


def text(data):
    lines = ["# On a GPU", "",
             f"Last measured {data['date']}, {data['gpu']}, {data['cpu']}; each row says when and where it was, and the commit. `{data['options']}`; made by `./x gpu page` from",
             "[benchmarks/results/gpu.json](../benchmarks/results/gpu.json). The programs are PolyBench's, offloaded by strategy",
             "(`sous --target cuda --offload=all`), in double precision.", "",
             "## The same bytes", ""]
    checked = data["verified"]
    sizes = sorted({r["size"] for r in checked})
    ran = [r for r in checked if r["ran"] == "gpu"]
    differ = [f"{r['program']} {r['size']}" for r in checked if not r["same"]]
    names = sorted({r["program"] for r in ran})
    others = sorted({r["program"] for r in checked} - set(names))
    lines += [f"{len(checked)} programs ({len({r['program'] for r in checked})} kernels, sizes {' and '.join(sizes)}) put out, byte for byte, what they",
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
    lines += cublas_text(data["cublas"]) + beside_text(data["beside"]) + offered_text(data["offered"])
    if data["recipes"]:
        work = 2 * 2000 * 2300 * 2600
        alike = all(row["same"] for row in data["recipes"])
        lines += ["", "## By recipe", "", "The product of gemm alone (C += alpha A B), EXTRALARGE, its kernel, by recipe (`--recipe`): the shortest of four in a",
                  "row, without the first. All put out the same bytes" + ("." if alike else ": **no, they do not**."), "",
                  "| recipe | milliseconds | TFLOP/s | measured |", "|---|---|---|---|"]
        lines += [f"| `{r['recipe']}` | {r['ms']:.2f} | {work / r['ms'] / 1e9:.1f} | {r['on']} |" for r in data["recipes"]]
    return "\n".join(lines) + "\n"


def cublas_text(rows):
    if not rows:
        return []
    lines = ["", "## Beside cuBLAS", "", "Milliseconds, medians, all data on the device and all code, too (`CUDA_MODULE_LOADING=EAGER`; in *Times* it is not): the kernels of the whole",
             "program by Sous, in the program's own order of sums, and the same mathematics by cuBLAS without what it has no function for (means,",
             "scalings). A triangular or symmetric result is computed once by both.", "",
             "| program | size | type | Sous | cuBLAS | of cuBLAS | measured |", "|---|---|---|---|---|---|---|"]
    return lines + [f"| {r['program']} | {r['size']} | {r['type']} | {r['sous_ms']:.2f} | {r['cublas_ms']:.2f} | {100 * r['cublas_ms'] / r['sous_ms']:.0f} % | {r['on']} |" for r in rows]


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
