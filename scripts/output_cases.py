"""The inputs and command lines of compare_outputs.py. A case is a list of commands that run in one folder.
Files below out/ are compared. Files that one command writes for a later one (parts, saved runs) are below
state/, because their formats have separate versions. RANKSCOPE_MPI as the first word starts two MPI processes."""
import csv
import itertools
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile

RANKSCOPE_MPI = "rankscope-mpi"
REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def quiet(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def generate(before, data, golden):
    """Generates the inputs: sweeps, runs with a missing rank or a truncated trace, a run of a server, reports,
    analysed sweeps, a baseline, and files of other recorders."""
    shape = ["--channels", "28,70", "--ranks", "4", "--layers", "4", "--steps", "4", "-q"]
    for name, seed in (("sweep", "1"), ("sweep2", "7")):
        quiet(before, "synth", f"{data}/{name}", "--threads", "256,512", "--seed", seed, *shape)
    quiet(before, "synth", f"{data}/one", "--threads", "384", "--channels", "37", "--ranks", "3",
          "--layers", "2", "--steps", "3", "-q")
    quiet(before, "synth", f"{data}/slow", "--threads", "256", "--channels", "28", "--ranks", "8",
          "--gpus-per-node", "4", "--layers", "2", "--steps", "12", "--straggler", "5", "--straggler-us", "900", "-q")
    quiet(before, "synth", f"{data}/server", "--program", "inference", "-q")
    runs = {"37cu_384threads": "one/384thread/nccl_37channels",
            "56cu_256threads": "sweep/256thread/nccl_28channels"}
    for name, source in runs.items():
        shutil.copytree(f"{data}/{source}", f"{data}/cu/{name}")
    shutil.copytree(f"{data}/sweep/512thread/nccl_28channels", f"{data}/missing")
    shutil.rmtree(f"{data}/missing/torch_profiler/rank1")
    shutil.copytree(f"{data}/sweep/512thread/nccl_28channels", f"{data}/torn")
    torn = trace_of(f"{data}/torn", 2)
    os.truncate(torn, os.path.getsize(torn) * 2 // 3)
    run = f"{data}/sweep/256thread/nccl_28channels"
    os.makedirs(f"{data}/batch/run")
    for rank in range(4):
        os.symlink(trace_of(run, rank), f"{data}/batch/run/rank_{rank}_step_1.json")
    for rank in (0, 1):
        quiet(before, "report", trace_of(run, rank), "-o", f"{data}/r{rank}.xlsx",
              "--csv-dir", f"{data}/r{rank}", "-q")
    for name in ("sweep", "sweep2"):
        quiet(before, "analyze", f"{data}/{name}", "-o", f"{data}/analysed/{name}", "-q")
    quiet(before, "gemm", "timestamps", f"{data}/sweep", "-o", f"{data}/gemm", "-q")
    quiet(before, "gemm", "variance", f"{data}/sweep", "-o", f"{data}/gemm", "-q")
    quiet(before, "baseline", "save", run, "-o", f"{data}/kept.rsb", "-q")
    for kind, ending in (("rocpd", ".db"), ("rpd", ".rpd")):
        seeds_as_databases(f"{REPOSITORY}/tests/fuzz/corpus/{kind}", f"{data}/seeds/{kind}", ending)
    nsys_export(f"{data}/export.sqlite")
    nsys_tables(f"{data}/tables")
    arch = {"name": "board", "mem_bw_gbps": 4000,
            "max_achievable_tflops": {"matrix_bf16": 600, "matrix_fp16": 600, "vector_fp32": 90}}
    with open(f"{data}/board.json", "w", encoding="utf-8") as f:
        json.dump(arch, f)
    packed = f"{golden}/dlrm/dlrm_kineto.tar.gz"
    if golden and os.path.exists(packed):
        with tarfile.open(packed) as tar:
            tar.extractall(data)


def trace_of(run, rank):
    folder = f"{run}/torch_profiler/rank{rank}"
    return f"{folder}/{sorted(f for f in os.listdir(folder) if f.endswith('.json'))[0]}"


def seeds_as_databases(corpus, folder, ending):
    os.makedirs(folder)
    for name in sorted(f for f in os.listdir(corpus) if f.endswith(".sql")):
        db = sqlite3.connect(f"{folder}/{name[:-4]}{ending}")
        with open(f"{corpus}/{name}", encoding="utf-8") as f:
            db.executescript(f.read())
        db.close()


def nsys_export(path):
    """Writes an Nsight Systems export with the tables that the summary reads: kernels, copies, ranges."""
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
        with open(f"{prefix}_{name}.csv", "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows(rows)


def reference_traces(golden):
    """Returns the traces of the reference data by case name. Folders of unusual inputs and of other recorders
    have separate cases."""
    left_out = ("formats", "hostile", "batch", "inference", "whatif", "rocprof")
    found = {}
    for root, folders, files in os.walk(golden):
        folders[:] = [f for f in folders if f not in left_out]
        for f in files:
            if f.endswith((".json.gz", ".pt.trace.json")):
                path = os.path.join(root, f)
                found[os.path.relpath(path, golden).replace(os.sep, "_")[:60]] = path
    return dict(sorted(found.items()))


# Options of `report`: each entry is a list of alternatives, of which the first is no option.
REPORT_CHOICES = [[[], [flag]] for flag in (
    "--include-overlap-info", "--include-call-stack", "--enable-pseudo-ops", "--detect-recompute",
    "--group-by-num-kernels", "--group-by-parent-module", "--module-path", "--per-step", "--clip-overruns",
    "--include-unlinked-kernels", "--include-first-occurrence-time", "--no-kernel-summary",
    "--no-short-kernels", "--no-coll-analysis")] + [
    [[], ["--compat", "tracelens"], ["--compat", "tracelens-inference"]],
    [[], ["--gpu-arch", "MI300X"], ["--gpu-arch", "none"], ["--gpu-arch", "BOARD"]],
    [[], ["--memset", "memory"]], [[], ["--layout", "2025-11"]], [[], ["--micro-idle-us", "5"]],
    [[], ["--top-k", "5", "--top-k-ops", "4", "--top-k-roofline-ops", "3", "--top-k-short-kernels", "6"]],
    [[], ["--short-kernel-bins", "7", "--short-kernel-threshold-us", "30"]],
]


def pairwise(choices):
    """Returns rows with one alternative per choice. Each pair of alternatives of two choices is in some row."""
    left = {((i, a), (j, b)) for (i, x), (j, y) in itertools.combinations(enumerate(choices), 2)
            for a in range(len(x)) for b in range(len(y))}
    rows = []
    while left:
        first, second = min(left)
        row = dict((first, second))
        for i, values in enumerate(choices):
            if i not in row:
                row[i] = max(range(len(values)), key=lambda a: (sum(
                    (min((i, a), other), max((i, a), other)) in left for other in row.items()), -a))
        left -= set(itertools.combinations(sorted(row.items()), 2))
        rows.append([word for i, a in sorted(row.items()) for word in choices[i][a]])
    return rows


def report_cases(data, golden, traces):
    out = {}
    for name, trace in traces.items():
        report = ["report", trace, "--csv-dir", "out/csv", "-o", "out/r.xlsx"]
        out[f"report_{name}"] = [report + ["--gpu-arch", "MI300X"]]
        out[f"report_json_{name}"] = [["report", trace, "--format", "json", "-o", "out/r.json"]]
        out[f"report_compat_{name}"] = [report + ["--compat", "tracelens"]]
        out[f"info_{name}"] = [["info", trace], ["info", trace, "--json"]]
        out[f"top_{name}"] = [["top", trace, "--width", "120"], ["--json", "top", trace]]
        out[f"collectives_one_{name}"] = [["collectives", trace, "--csv-dir", "out/csv", "-o", "out/c.xlsx"]]
    pairs = [[word.replace("BOARD", f"{data}/board.json") for word in row] for row in pairwise(REPORT_CHOICES)]
    kinds = ("generated", "synth_nv_rank0", "resnet_act", "nccl_data", "triton")
    for name in [n for kind in kinds for n in traces if kind in n]:
        for i, row in enumerate(pairs):
            out[f"report_pairs_{i:02}_{name}"] = [
                ["report", traces[name], *row, "--csv-dir", "out/csv", "-o", "out/r.xlsx"]]
    trace = traces["generated"]
    short = ["report", trace, "--csv-dir", "out/csv"]
    out["report_stdout"] = [["report", trace, "--json"], ["report", trace, "--format", "markdown", "-o", "out/r.md"],
                            short + ["--sheets", "gpu_timeline,ops_summary,GEMM"]]
    out["report_compare_with"] = [short + ["--compare-with", trace_of(f"{data}/sweep2/256thread/nccl_28channels", 0),
                                           "-o", "out/r.xlsx"]]
    return out


def run_cases(data):
    """analyze, gemm, collectives, merge, compare, top, page over generated runs."""
    sweep = f"{data}/sweep"
    run, other = f"{sweep}/256thread/nccl_28channels", f"{sweep}/512thread/nccl_28channels"
    missing, torn, slow = f"{data}/missing", f"{data}/torn", f"{data}/slow"
    out = {"info_many": [["info", *(trace_of(run, r) for r in range(4))]]}
    for name, inputs in {"run": [run], "missing": [missing], "torn": [torn], "slow": [slow + "/256thread/nccl_28channels"],
                         "files": [trace_of(run, r) for r in range(4)]}.items():
        out[f"top_{name}"] = [["top", *inputs, "--width", "140"], ["--json", "top", *inputs],
                              ["top", *inputs, "-k", "0", "--gpu-arch", "none"]]
        out[f"why_{name}"] = [["why", *inputs, "-k", "0"], ["--json", "why", *inputs]]
        out[f"whatif_{name}"] = [["--json", "whatif", *inputs]]
        out[f"page_{name}"] = [["page", *inputs, "-o", "out/p.html"]]
        out[f"collectives_{name}"] = [["collectives", *inputs, "--csv-dir", "out/csv", "-o", "out/c.xlsx"],
                                      ["collectives", *inputs, "--json", "--align", "base"]]
    out["page_sweep"] = [["page", sweep, "-o", "out/p.html"], ["--json", "page", run, "-o", "out/q.html"]]
    out["page_comparison"] = [["page", "--baseline", run, "--test", other, "-o", "out/p.html"]]
    analyze = ["analyze", sweep, "-o", "out/a"]
    out["analyze"] = [analyze + ["--force", "--svg"]]
    out["analyze_no_plots"] = [analyze + ["--no-plots", "--no-merge", "--top-k", "7", "--rank-by", "cv"]]
    out["analyze_options"] = [analyze + ["--no-plots", "--no-individual-reports", "--rank-by", "total-excess",
                                         "--layout", "2025-11", "--gpu-arch", "MI300X", "--align", "base"]]
    out["analyze_twice"] = [analyze + ["--no-plots"]] * 2
    out["analyze_json"] = [analyze + ["--no-plots", "--json"]]
    for name, folder in {"run": run, "cu": f"{data}/cu", "missing": missing, "torn": torn, "slow": slow}.items():
        out[f"analyze_{name}"] = [["analyze", folder, "-o", "out/a", "--no-plots"]]
    out["analyze_two"] = [analyze + ["--sweep2", f"{data}/sweep2", "--html", "out/two.html"]]
    out["analyze_dry_run"] = [analyze + ["--dry-run"], analyze + ["--dry-run", "--json"]]
    for step in ("variance", "timestamps", "overlap"):
        out[f"gemm_{step}"] = [["gemm", step, sweep, "-o", "out"], ["gemm", step, sweep, "-o", "out/cv", "--rank-by", "cv"]]
    out["gemm_filter"] = [["gemm", "overlap", sweep, "-o", "out", "--threads", "256", "--ranks", "1", "--json"]]
    tables = sorted(f for f in (os.listdir(f"{data}/gemm") if os.path.isdir(f"{data}/gemm") else []) if f.endswith(".csv"))
    analysed = f"{data}/analysed/sweep"
    out["gemm_from_reports"] = [analyze + ["--no-plots", "--no-merge"],
                                ["gemm", "variance", "--base-path", "out/a", "--output-file", "v.csv"]] + [
        ["gemm", "timestamps", "--input-csv", f"{data}/gemm/{t}", "--base-path", sweep, "--output-csv", "out/t.csv"]
        for t in tables if "timestamps" not in t] + [
        ["gemm", "overlap", "--input-csv", f"{data}/gemm/{t}", "--tracelens-path", analysed, "--output-csv", "out/o.csv"]
        for t in tables if "timestamps" in t] + [
        ["gemm", "plot", "--csv-path", f"{data}/gemm/{t}", "--output-dir", "out/plots", "--svg"] for t in tables[:1]]
    collectives = ["collectives", f"{run}/torch_profiler"]
    out["collectives_compat"] = [collectives + ["--csv-dir", "out/csv", "--compat", "tracelens",
                                                "--all2allv-heatmap", "-o", "out/c.xlsx"]]
    out["collectives_options"] = [collectives + ["--agg-metrics", "min,std", "--gpus-per-node", "2", "--align", "none",
                                                 "-o", "out/c.json"], collectives + ["-o", "out/c.md"]]
    out["collectives_dry_run"] = [collectives + ["--dry-run"], collectives + ["--dry-run", "--json"]]
    out["merge"] = [["merge", run, "-o", "out/m.json"]]
    out["merge_gz"] = [["merge", run, "-o", "out/m.json.gz", "--align", "collectives"]]
    out["merge_window"] = [["merge", run, "-o", "out/m.json", "--cpu-ops", "--from-ms", "1", "--to-ms", "9"],
                           ["merge", run, "-o", "out/n.json", "--ranks", "1,3"]]
    out["merge_all"] = [["merge", "--all", sweep, "-o", "out/merged", "-n", "2"]]
    compare = ["compare", "--baseline", run, "--test"]
    out["compare"] = [compare + [other, "--output", "out", "--markdown", "out/x.md", "--svg"]]
    out["compare_three"] = [compare + [other, "--test", f"{sweep}/256thread/nccl_70channels", "--output", "out",
                                       "--no-plots", "--fail-on", "total_time>0.1%", "--json"]]
    out["compare_geo_mean"] = [compare + [missing, "--output", "out", "--no-plots", "--geo-mean"]]
    out["compare_verdict"] = [compare + [slow, "--output", "out", "--no-plots", "--verdict", "out/v.json", "--junit",
                                         "out/j.xml", "--annotate", "--fail-on", "total_time>2%", "--fail-on",
                                         "exposed_comm>5%", "--labels", "a,b", "--align", "base"]]
    out["compare_reports"] = [["compare-reports", f"{data}/r0.xlsx", f"{data}/r1.xlsx", "-o", "out/c.xlsx"],
                              ["compare-reports", f"{data}/r0", f"{data}/r1", "--csv-dir", "out/csv", "-o", "out/d.xlsx"]]
    out["html"] = [["html", analysed, f"{data}/analysed/sweep2", "-o", "out/h.html"]]
    out["split"] = [["split", server_trace(data), "-o", "out/s", "--phases"],
                    ["report", server_trace(data), "--csv-dir", "out/csv", "--phase", "decode"],
                    ["report", server_trace(data), "--csv-dir", "out/steady", "--find-steady-state"],
                    ["top", server_trace(data)]]
    return out


def server_trace(data):
    files = [os.path.join(root, f) for root, _, names in os.walk(f"{data}/server") for f in names
             if f.endswith((".json", ".json.gz")) and "truth" not in f]
    return min(files, default=f"{data}/server")


RECORDS = ("events", "kernels", "operators", "collectives", "steps", "ranks", "idle", "findings")
SHEETS = ("gpu_timeline", "kernel_summary", "ops_summary", "gemm", "sdpa_fwd", "coll_analysis", "nccl_long",
          "straggler_summary", "gemm_variance", "top_operators", "table_columns", "tables")
VIEWS = ("kernels_by_time", "work_by_family", "operators_by_time", "exposed_by_step", "time_by_rank", "slow_ranks",
         "late_ranks", "collectives_by_size", "exposed_by_collective", "idle_by_cause", "gemm_by_shape",
         "launch_delay", "launch_calls", "queue_points", "stream_gaps", "streams")


def dataset_cases(data):
    """query and export. DuckDB returns rows in any order, so each statement has an ORDER BY."""
    run, missing = f"{data}/one/384thread/nccl_37channels", f"{data}/missing"
    everything = {"records": RECORDS, "sheets": SHEETS, "views": VIEWS}
    out = {}
    for name, tables in everything.items():
        sql = ";".join(f"FROM {t} ORDER BY ALL" for t in tables)
        out[f"query_{name}"] = [["query", sql, run, "--format", "csv"]]
        out[f"query_one_{name}"] = [["query", f"FROM {t} ORDER BY ALL", missing, "--json"] for t in tables[:6]]
    out["query_files"] = [["query", "FROM gemm_by_shape ORDER BY ALL", f"{data}/sweep", "-o", f"out/q.{form}"]
                          for form in ("csv", "json", "xlsx", "md")]
    out["query_tables"] = [["query", "--tables"], ["query", "--tables", "--json"],
                           ["query", "FROM ranks ORDER BY ALL", run, "--gpus-per-node", "2"]]
    rows = ["query", "--allow-files", "--format", "csv"]
    out["export"] = [["export", "--parquet", "state/set", run]] + [
        rows + [f"FROM 'state/set/{t}/**/*.parquet' ORDER BY ALL", run] for t in ("kernels", "ranks", "steps", "idle")]
    out["export_tables"] = [["export", "--parquet", "state/set", "--tables", "ranks,steps", f"{data}/sweep", "--json"],
                            ["export", "--parquet", "state/set", "--tables", "ranks", missing]]
    return out


def shared_cases(data, mpi):
    """Commands that read files of the same program (parts, saved runs), and MPI jobs of two processes."""
    sweep = f"{data}/sweep"
    run, other, missing, torn = (f"{sweep}/256thread/nccl_28channels", f"{sweep}/512thread/nccl_28channels",
                                 f"{data}/missing", f"{data}/torn")
    out = {}
    for name, folder in {"run": run, "missing": missing, "torn": torn}.items():
        shards = [["partial", folder, "--shard", f"{i}/2", "-o", f"state/p{i}", "--for", "all"] for i in (0, 1)]
        reduce = ["reduce", "state/p0", "state/p1"]
        out[f"reduce_{name}"] = shards + [
            reduce + ["-o", "out/c.xlsx", "--csv-dir", "out/csv"],
            reduce + ["--as", "analyze", "-o", "out/a", "--no-plots"],
            reduce + ["--as", "page", "-o", "out/p.html"],
            reduce + ["--as", "baseline", "-o", "state/b.rsb"],
            ["baseline", "check", other, "--baseline", "state/b.rsb", "--fail-on", "total_time>1%"],
            reduce[:2] + ["-o", "out/half.json"]]
    out["reduce_sweep"] = [["partial", sweep, "-o", "state/p", "--for", "all", "--rank-by", "cv", "--top-k", "4"],
                           ["reduce", "state/p", "--as", "analyze", "-o", "out/a", "--svg"],
                           ["reduce", "state/p", "--as", "page", "-o", "out/p.html", "--json"]]
    out["reduce_compare"] = [["partial", run, "-o", "state/a", "--for", "compare"],
                             ["partial", other, "-o", "state/b", "--for", "compare"],
                             ["reduce", "--as", "compare", "--baseline", "state/a", "--test", "state/b", "-o", "out/c",
                              "--no-plots", "--fail-on", "total_time>1%"]]
    batch = ["-f", "step_", "-p", "rank_"]
    out["reduce_more"] = [["partial", sweep, "-o", "state/p", "--for", "gemm,html", "--top-k", "3", "--rank-by", "cv"],
                          ["reduce", "variance", "state/p", "--as", "gemm", "-o", "out/g"],
                          ["reduce", "overlap", "state/p", "--as", "gemm", "-o", "out/g", "--threads", "256"],
                          ["reduce", "state/p", "--as", "html", "-o", "out/h.html"],
                          ["partial", missing, "-o", "state/t", "--for", "top"],
                          ["reduce", "state/t", "--as", "top"], ["reduce", "state/t", "--as", "top", "--json"],
                          ["partial", f"{data}/batch", "-o", "state/b", "--for", "batch", *batch],
                          ["reduce", "--as", "batch", "-b", "state/b", "-o", "out/b.xlsx"]]
    out["reduce_query"] = [["partial", sweep, "-o", "state/q", "--for", "query"],
                           ["reduce", "FROM slow_ranks", "state/q", "--as", "query"],
                           ["reduce", "FROM findings; FROM gemm_variance", "state/q", "--as", "query", "--json"],
                           ["reduce", "FROM kernels", "state/q", "--as", "query"]]
    out["partial_dry_run"] = [["partial", run, "-o", "state/p", "--dry-run"],
                              ["partial", run, "-o", "state/p", "--dry-run", "--json"]]
    out["baseline"] = [["baseline", "save", run, "-o", "state/0.rsb"], ["baseline", "save", other, "-o", "state/1.rsb"],
                       ["baseline", "save", missing, "-o", "state/2.rsb", "--label", "third"],
                       ["baseline", "check", other, "--baseline", "state/0.rsb", "--fail-on", "total_time>1%"],
                       ["baseline", "check", other, "--baseline", "state/0.rsb", "-o", "out/check", "--json"],
                       ["baseline", "history", "state", "-o", "out/h.xlsx", "--csv-dir", "out/csv"],
                       ["baseline", "history", "state", "-o", "out/h.html", "--json"]]
    out["baseline_of_before"] = [["baseline", "check", other, "--baseline", f"{data}/kept.rsb", "-o", "out/check"]]
    if mpi:
        out["mpi_collectives"] = [[RANKSCOPE_MPI, "collectives", run, "-o", "out/c.xlsx", "--csv-dir", "out/csv"],
                                  [RANKSCOPE_MPI, "collectives", torn, "-o", "out/t.json"]]
        out["mpi_analyze"] = [[RANKSCOPE_MPI, "analyze", sweep, "-o", "out/a", "--no-plots", "--rank-by", "cv"]]
        out["mpi_compare"] = [[RANKSCOPE_MPI, "compare", "--baseline", run, "--test", other, "-o", "out/c", "--no-plots"]]
        out["mpi_page"] = [[RANKSCOPE_MPI, "page", run, "-o", "out/p.html"]]
    return out


def batch_cases(data, golden):
    out = {}
    folders = {"generated": f"{data}/batch"}
    if golden:
        folders["golden"] = f"{golden}/batch/profiles"
    for name, folder in folders.items():
        batch = ["batch", "-b", folder, "-f", "step_", "-p", "rank_"]
        out[f"batch_{name}"] = [batch + ["-o", "out/b.xlsx"], batch + ["-o", "out/all.json", "--all-kernels"],
                                batch + ["-o", "out/compat.xlsx", "--compat", "tracelens"],
                                batch + ["--dry-run"], batch + ["--dry-run", "--json"]]
    return out


def foreign_cases(data, golden):
    """Files of other recorders, broken files, and the seeds of the fuzz targets of the readers."""
    nsys = ["--csv-dir", "out/csv", "-o", "out/n.xlsx", "--iters"]
    out = {"nsys_sqlite": [["nsys", f"{data}/export.sqlite", "--nvtx", "step", *nsys, "5"],
                           ["report", f"{data}/export.sqlite", "--csv-dir", "out/r"]],
           "nsys_csv": [["nsys", f"{data}/tables", "--nvtx", ":step", *nsys, "2"], ["--json", "nsys", f"{data}/tables", "--iters", "2"]],
           "synth": [["synth", "out/s", "--threads", "256", "--channels", "28", "--ranks", "2", "--layers", "2",
                      "--steps", "2"]],
           "lists": [["columns"], ["columns", "--json"], ["completion", "bash"], ["man"], ["--help"]]}
    folders = {f"seeds_{f}": f"{REPOSITORY}/tests/fuzz/corpus/{f}" for f in (
        "kineto", "rocprof_csv", "rocprof_json", "captures")}
    folders.update({f"seeds_{f}": f"{data}/seeds/{f}" for f in ("rocpd", "rpd")})
    if golden:
        folders["hostile"] = f"{golden}/hostile"
        folders.update({f"format_{f}": f"{golden}/formats/{f}" for f in sorted(os.listdir(f"{golden}/formats"))
                        if f != "README.md"})
        folders["rocprof"] = f"{golden}/rocprof"
        out["inspector"] = [["watch", f"{golden}/formats/inspector", "--once"]]
        out["nsys_golden"] = [["nsys", f"{golden}/nsys/llama2-70B-GBS512-FSDP256", *nsys, "5"]]
        inference = f"{golden}/inference"
        server = ["report", f"{inference}/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz", "--csv-dir"]
        graphs = ["report", f"{inference}/vllm_decode_full/graph_execution.json.gz", "--csv-dir"]
        captures = ["--capture-folder", f"{inference}/vllm_decode_full/capture_traces"]
        out["inference_server"] = [server + ["out/all", "--enable-pseudo-ops", "--group-by-parent-module"],
                                   server + ["out/prefill", "--phase", "prefill"],
                                   server + ["out/compat", "--compat", "tracelens-inference", "--enable-pseudo-ops"]]
        out["inference_graphs"] = [graphs + ["out/alone"], graphs + ["out/pseudo", *captures, "--enable-pseudo-ops"],
                                   graphs + ["out/compat", *captures, "--compat", "tracelens-inference"]]
        out["top_inference"] = [["top", server[1]], ["top", graphs[1]]]
        dlrm = f"{data}/dlrm_kineto"
        out["dlrm"] = [["collectives", dlrm, "--csv-dir", "out/csv", "-o", "out/c.xlsx"], ["top", dlrm],
                       ["--json", "top", dlrm], ["analyze", dlrm, "-o", "out/a", "--no-plots"]]
    for name, folder in folders.items():
        files = sorted(os.path.join(root, f) for root, _, names in os.walk(folder) for f in names)
        out[name] = [["info", "--json", f] for f in files] + [
            ["report", f, "-o", f"out/{i}.json"] for i, f in enumerate(files)] + [["top", folder], ["collectives", folder,
                                                                                                    "-o", "out/c.json"]]
    return out


def cases(data, golden, mpi):
    """Returns the commands by case name. golden: folder of the reference data or ""; mpi: whether MPI jobs can run."""
    traces = {"generated": trace_of(f"{data}/sweep/256thread/nccl_28channels", 0),
              **(reference_traces(golden) if golden else {})}
    return {**report_cases(data, golden, traces), **run_cases(data), **dataset_cases(data), **shared_cases(data, mpi),
            **batch_cases(data, golden), **foreign_cases(data, golden)}
