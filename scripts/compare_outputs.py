#!/usr/bin/env python3
"""Two rankscope binaries side by side: runs every command with both on the same traces (OLD generates
them), compares all that they write and print, and times the main commands in turns. Workbooks are
compared unzipped without docProps/core.xml, .gz unpacked; sizes in manifests and durations in printed
text are masked, state folders left out. Exits 1 when outputs differ (--report-only: 0).

  compare_outputs.py OLD NEW [--runs N] [--only TEXT] [--golden DIR] [--keep DIR] [--report-only]
"""
import argparse
import concurrent.futures
import csv
import gzip
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

STATE = ".rankscope"  # the state of an earlier run; it may change with the version
TIMES = re.compile(rb"\b\d+(\.\d+)? (MB/s|s)\b")  # how long it took, how fast it read


def parse_arguments():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    p.add_argument("old")
    p.add_argument("new")
    p.add_argument("--runs", type=int, default=7, help="timed runs of each main command; 0: none")
    p.add_argument("--only", default="", help="cases whose name holds this")
    p.add_argument("--golden", default="", help="reference data; its traces are read too")
    p.add_argument("--keep", default="", help="folder that keeps the outputs")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--report-only", action="store_true")
    return p.parse_args()


def quiet(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def generate(old, data):
    """Sweeps, runs with a lost rank, folders named by compute units, reports and analysed sweeps."""
    shape = ["--channels", "28,70", "--ranks", "4", "--layers", "4", "--steps", "4", "-q"]
    for name, seed in (("sweep", "1"), ("sweep2", "7")):
        quiet(old, "synth", f"{data}/{name}", "--threads", "256,512", "--seed", seed, *shape)
    quiet(old, "synth", f"{data}/big", "--threads", "256,512", "--channels", "28,70", "--ranks", "4",
          "--events", "60000", "-q")
    quiet(old, "synth", f"{data}/one", "--threads", "384", "--channels", "37", "--ranks", "3",
          "--layers", "2", "--steps", "3", "-q")
    runs = {"37cu_384threads": "one/384thread/nccl_37channels",
            "56cu_256threads": "sweep/256thread/nccl_28channels"}
    for name, source in runs.items():
        shutil.copytree(f"{data}/{source}", f"{data}/cu/{name}")
    shutil.copytree(f"{data}/sweep/512thread/nccl_28channels", f"{data}/missing")
    shutil.rmtree(f"{data}/missing/torch_profiler/rank1")
    for rank in (0, 1):
        quiet(old, "report", trace_of(f"{data}/sweep/256thread/nccl_28channels", rank),
              "-o", f"{data}/r{rank}.xlsx", "--csv-dir", f"{data}/r{rank}", "-q")
    for name in ("sweep", "sweep2"):
        quiet(old, "analyze", f"{data}/{name}", "-o", f"{data}/analysed/{name}", "-q")
    nsys_export(f"{data}/export.sqlite")
    nsys_tables(f"{data}/tables")
    arch = {"name": "board", "mem_bw_gbps": 4000,
            "max_achievable_tflops": {"matrix_bf16": 600, "matrix_fp16": 600, "vector_fp32": 90}}
    with open(f"{data}/board.json", "w") as f:
        json.dump(arch, f)


def trace_of(run, rank):
    folder = f"{run}/torch_profiler/rank{rank}"
    return f"{folder}/{sorted(f for f in os.listdir(folder) if f.endswith('.json'))[0]}"


def nsys_export(path):
    """The tables of an Nsight Systems export that the summary reads: kernels, copies, ranges."""
    db = sqlite3.connect(path)
    db.executescript("""
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, mangledName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER,
  correlationId INTEGER, globalPid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER,
  globalTid INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
  globalTid INTEGER, endGlobalTid INTEGER, rangeId INTEGER, domainId INTEGER);
""")
    names = ["xmma_gemm_bf16", "ncclDevKernel_AllReduce_Sum(x)", "fmha_forward", "loop_fusion_7"]
    db.executemany("INSERT INTO StringIds VALUES(?,?)", list(enumerate(names, 1)))
    pid, tid = 7 << 24, (7 << 24) + 1
    for step in range(5):
        base = step * 100000
        db.execute("INSERT INTO NVTX_EVENTS VALUES(?,?,59,'step',NULL,?,NULL,NULL,0)",
                   (base, base + 50000, tid))
        for i in range(20):
            at, correlation, name = base + i * 2000, step * 100 + i, 1 + i % len(names)
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,?,0)",
                       (at, at + 500, correlation, tid, 1))
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,0,1,7,?,?,?,?,?)",
                       (at + 1000, at + 1900 + 37 * i, correlation, pid, name, name, name))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?,?,0,7,4096,1,0,2,?,?)",
                   (base + 41000, base + 43000, step * 100 + 50, pid))
    db.commit()
    db.close()


def nsys_tables(prefix):
    tables = {
        "cuda_gpu_kern_sum": [["Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Name"],
                              [60, 600000, 70, 1, "xmma_gemm<1>"], [40, 400000, 20, 1, "ncclDevKernel_AllGather(x)"]],
        "cuda_gpu_mem_time_sum": [["Time (%)", "Total Time (ns)", "Count", "Operation"],
                                  [100, 5000, 3, "[CUDA memcpy HtoD]"]],
        "nvtx_gpu_proj_trace": [["Name", "Projected Start (ns)", "Projected Duration (ns)"],
                                [":step", 0, 800000], [":step", 900000, 700000]],
    }
    for name, rows in tables.items():
        with open(f"{prefix}_{name}.csv", "w", newline="") as f:
            csv.writer(f).writerows(rows)


def reference_traces(golden):
    """Whole single traces below the reference data; folders of odd or foreign inputs are left out."""
    left_out = ("formats", "hostile", "batch", "inference", "whatif", "rocprof")
    found = {}
    for root, folders, files in os.walk(golden):
        folders[:] = [f for f in folders if f not in left_out]
        for f in files:
            if f.endswith((".json.gz", ".pt.trace.json")):
                path = os.path.join(root, f)
                found[os.path.relpath(path, golden).replace(os.sep, "_")[:60]] = path
    return dict(sorted(found.items()))


def cases(data, golden):
    """name -> argument list; every command writes below out/ of its own folder."""
    sweep = f"{data}/sweep"
    run, other = f"{sweep}/256thread/nccl_28channels", f"{sweep}/512thread/nccl_28channels"
    traces = {"generated": trace_of(run, 0), **(reference_traces(golden) if golden else {})}
    out = {}
    for name, trace in traces.items():
        report = ["report", trace, "--csv-dir", "out/csv"]
        out[f"report_{name}"] = report + ["-o", "out/r.xlsx", "--gpu-arch", "MI300X"]
        out[f"report_file_arch_{name}"] = report + ["--gpu-arch", f"{data}/board.json", "-o", "out/r.xlsx"]
        out[f"report_json_{name}"] = ["report", trace, "--format", "json", "-o", "out/r.json"]
        out[f"report_compat_{name}"] = report + ["--compat", "tracelens", "-o", "out/r.xlsx"]
        out[f"report_all_{name}"] = report + [
            "--include-overlap-info", "--include-call-stack", "--enable-pseudo-ops",
            "--detect-recompute", "--group-by-num-kernels", "--per-step", "--clip-overruns",
            "--include-unlinked-kernels", "--include-first-occurrence-time", "--micro-idle-us", "5",
            "-o", "out/r.xlsx"]
        out[f"report_top_{name}"] = report + ["--top-k", "5", "--top-k-ops", "4", "--short-kernel-bins", "7",
                                              "--top-k-roofline-ops", "3", "-o", "out/r.xlsx"]
        out[f"info_{name}"] = ["info", trace]
        out[f"info_json_{name}"] = ["info", trace, "--json"]
        out[f"collectives_one_{name}"] = ["collectives", trace, "--csv-dir", "out/csv", "-o", "out/c.xlsx"]
    out["info_many"] = ["info", *(trace_of(run, r) for r in range(4))]
    out["analyze"] = ["analyze", sweep, "-o", "out/a", "--force", "--svg"]
    out["analyze_no_plots"] = ["analyze", sweep, "-o", "out/a", "--no-plots", "--no-merge", "--top-k", "7",
                               "--rank-by", "cv"]
    out["analyze_twice"] = ["analyze", sweep, "-o", "out/a", "--no-plots"]
    out["analyze_json"] = ["analyze", sweep, "-o", "out/a", "--no-plots", "--json"]
    out["analyze_run"] = ["analyze", run, "-o", "out/a", "--no-plots"]
    out["analyze_cu"] = ["analyze", f"{data}/cu", "-o", "out/a", "--no-plots"]
    out["analyze_missing"] = ["analyze", f"{data}/missing", "-o", "out/a", "--no-plots"]
    out["analyze_two"] = ["analyze", sweep, "--sweep2", f"{data}/sweep2", "-o", "out/a", "--html", "out/two.html"]
    out["analyze_dry_run"] = ["analyze", sweep, "-o", "out/a", "--dry-run"]
    for step in ("variance", "timestamps", "overlap"):
        out[f"gemm_{step}"] = ["gemm", step, sweep, "-o", "out"]
    out["gemm_filter"] = ["gemm", "overlap", sweep, "-o", "out", "--threads", "256", "--ranks", "1", "--json"]
    collectives = ["collectives", f"{run}/torch_profiler"]
    out["collectives"] = collectives + ["--csv-dir", "out/csv", "-o", "out/c.xlsx"]
    out["collectives_compat"] = collectives + ["--csv-dir", "out/csv", "--compat", "tracelens",
                                               "--all2allv-heatmap", "-o", "out/c.xlsx"]
    out["collectives_json"] = collectives + ["--json", "--align", "base", "-o", "out/c.xlsx"]
    out["collectives_missing"] = ["collectives", f"{data}/missing", "--csv-dir", "out/csv", "-o", "out/c.xlsx"]
    out["collectives_dry_run"] = collectives + ["--dry-run"]
    out["merge"] = ["merge", run, "-o", "out/m.json"]
    out["merge_gz"] = ["merge", run, "-o", "out/m.json.gz", "--align", "collectives"]
    out["merge_window"] = ["merge", run, "-o", "out/m.json", "--cpu-ops", "--from-ms", "1", "--to-ms", "9"]
    out["merge_all"] = ["merge", "--all", sweep, "-o", "out/merged"]
    compare = ["compare", "--baseline", run, "--test"]
    out["compare"] = compare + [other, "--output", "out", "--markdown", "out/x.md", "--svg"]
    out["compare_three"] = compare + [other, "--test", f"{sweep}/256thread/nccl_70channels", "--output", "out",
                                      "--no-plots", "--fail-on", "total_time>0.1%", "--json"]
    out["compare_geo_mean"] = compare + [f"{data}/missing", "--output", "out", "--no-plots", "--geo-mean"]
    analysed = [f"{data}/analysed/sweep", f"{data}/analysed/sweep2"]
    out["compare_reports"] = ["compare-reports", f"{data}/r0.xlsx", f"{data}/r1.xlsx", "-o", "out/c.xlsx"]
    out["compare_reports_csv"] = ["compare-reports", f"{data}/r0", f"{data}/r1", "--csv-dir", "out/csv",
                                  "-o", "out/c.xlsx"]
    out["html"] = ["html", *analysed, "-o", "out/h.html"]
    nsys = ["--csv-dir", "out/csv", "-o", "out/n.xlsx", "--iters"]
    out["nsys_sqlite"] = ["nsys", f"{data}/export.sqlite", "--nvtx", "step", *nsys, "5"]
    out["nsys_csv"] = ["nsys", f"{data}/tables", "--nvtx", ":step", *nsys, "2"]
    out["synth"] = ["synth", "out/s", "--threads", "256", "--channels", "28", "--ranks", "2", "--layers", "2",
                    "--steps", "2"]
    return out


def run_case(binary, folder, name, args):
    """Leaves out/, stdout, stderr and code in `folder`; durations and speeds in the text are masked."""
    os.makedirs(f"{folder}/out")
    for _ in range(2 if name.endswith("_twice") else 1):
        p = subprocess.run([binary, *args], cwd=folder, capture_output=True)
    for stream, text in (("stdout", p.stdout), ("stderr", p.stderr)):
        with open(f"{folder}/{stream}", "wb") as f:
            f.write(TIMES.sub(rb"N \2", text))
    with open(f"{folder}/code", "w") as f:
        f.write(f"{p.returncode}\n")


def content(path):
    """What has to be equal: parts of a workbook by name, otherwise bytes."""
    if path.endswith(".xlsx"):
        with zipfile.ZipFile(path) as z:
            return {n: z.read(n) for n in z.namelist() if n != "docProps/core.xml"}
    with open(path, "rb") as f:
        data = f.read()
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith("manifest.json"):
        data = re.sub(rb'"bytes": \d+', b'"bytes": N', data)
    return data


def files_below(folder):
    found = set()
    for root, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f != STATE]
        found.update(os.path.relpath(os.path.join(root, f), folder) for f in files)
    return found


def differences(old, new):
    """One line per file that differs or stands on one side only."""
    a, b, lines = files_below(old), files_below(new), []
    for f in sorted(a | b):
        if f not in a or f not in b:
            lines.append(f"{f}: only written by {'OLD' if f in a else 'NEW'}")
            continue
        x, y = content(f"{old}/{f}"), content(f"{new}/{f}")
        if x != y:
            parts = [n for n in sorted(set(x) | set(y)) if x.get(n) != y.get(n)] if isinstance(x, dict) else []
            lines.append(f"{f} differs{': ' + ', '.join(parts[:4]) if parts else ''}")
    return lines


def timed(binaries, args, runs, work):
    """Seconds of each side in turns, the first pair left out; codes that are no success."""
    times, failed = {"old": [], "new": []}, set()
    for i in range(runs + 1):
        for side in ("old", "new") if i % 2 == 0 else ("new", "old"):
            folder = f"{work}/time_{side}"
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(f"{folder}/out")
            start = time.monotonic()
            code = subprocess.run([binaries[side], "-q", *args], cwd=folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode
            if i > 0:
                times[side].append(time.monotonic() - start)
            if code not in (0, 4):
                failed.add(f"{side} exits {code}")
    return times, failed


def print_times(binaries, data, runs, work):
    run = f"{data}/big/256thread/nccl_28channels"
    main = {
        "info": ["info", trace_of(run, 0)],
        "report": ["report", trace_of(run, 0), "-o", "out/r.xlsx"],
        "report --csv-dir": ["report", trace_of(run, 0), "--csv-dir", "out"],
        "collectives": ["collectives", run, "-o", "out/c.xlsx"],
        "gemm overlap": ["gemm", "overlap", f"{data}/big", "-o", "out"],
        "merge": ["merge", run, "-o", "out/m.json"],
        "compare --no-plots": ["compare", "--baseline", run, "--test", f"{data}/big/512thread/nccl_28channels",
                               "--output", "out", "--no-plots"],
        "analyze --no-plots": ["analyze", f"{data}/big", "-o", "out", "--force", "--no-plots"],
    }
    print("\n| command | old s | new s | new / old | range |\n|---|---|---|---|---|")
    for name, args in main.items():
        times, failed = timed(binaries, args, runs, work)
        ratios = [n / o for n, o in zip(times["new"], times["old"])]
        old, new = statistics.median(times["old"]), statistics.median(times["new"])
        print(f"| {name} | {old:.3f} | {new:.3f} | {new / old:.3f} | {min(ratios):.2f} to {max(ratios):.2f} |"
              f"{' ' + ', '.join(sorted(failed)) if failed else ''}", flush=True)


def main():
    a = parse_arguments()
    binaries = {"old": os.path.abspath(a.old), "new": os.path.abspath(a.new)}
    golden = os.path.abspath(a.golden) if a.golden and os.path.isdir(a.golden) else ""
    work = os.path.abspath(a.keep) if a.keep else tempfile.mkdtemp(prefix="rankscope_compare_")
    os.makedirs(work, exist_ok=True)
    data = f"{work}/data"
    shutil.rmtree(data, ignore_errors=True)
    os.makedirs(data)
    try:
        generate(binaries["old"], data)
        chosen = {n: c for n, c in cases(data, golden).items() if a.only in n}
        jobs = []
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            for side, binary in binaries.items():
                for name, args in chosen.items():
                    folder = f"{work}/{side}/{name}"
                    shutil.rmtree(folder, ignore_errors=True)
                    jobs.append(pool.submit(run_case, binary, folder, name, args))
            for job in jobs:
                job.result()
        print("| case | files | outputs |\n|---|---|---|")
        unequal = 0
        for name in chosen:
            lines = differences(f"{work}/old/{name}", f"{work}/new/{name}")
            unequal += bool(lines)
            count = len(files_below(f"{work}/new/{name}"))
            print(f"| {name} | {count} | {'; '.join(lines[:6]) if lines else 'equal'} |")
        print(f"\n{len(chosen)} cases, {unequal} with differences" +
              ("" if golden else "; reference traces: none given"), flush=True)
        if a.runs > 0:
            print_times(binaries, data, a.runs, work)
    finally:
        if not a.keep:
            shutil.rmtree(work, ignore_errors=True)
    return 1 if unequal and not a.report_only else 0


if __name__ == "__main__":
    sys.exit(main())
