#!/usr/bin/env python3
"""Measures how CPU time and memory grow with numbers that a file determines: n, 2n, 4n, 8n of each, by command.

Usage: bench/growth.py [BINARY] [ROW...]     default: build/release/rankscope, all rows
Prints a table. The exponent is that of the last doubling, log2(t(8n) / t(4n)), without the start-up time.
An exponent above 1.2 is marked, and the exit code is then 1. Times below 50 ms are too short for an exponent.
"""
import json
import math
import os
import shutil
import sqlite3
import sys
import tempfile
import zipfile

SMALLEST = 0.05  # seconds
LARGEST_EXPONENT = 1.2


def event(category, name, ts, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def kernel(ts, dur=1, name="k", **args):
    return event("kernel", name, ts, dur, 0, 7, device=0, stream=7, **args)


def write_trace(path, events, **header):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump({**header, "traceEvents": events}, f)


def one_correlation_id(folder, n):
    events = []
    for i in range(n):
        events.append(event("cuda_runtime", "cudaLaunchKernel", 2 * i, 1, correlation=1))
        events.append(kernel(2 * i, correlation=1))
    write_trace(f"{folder}/t.json", events)
    return {c: [c, f"{folder}/t.json"] + (["-o", f"{folder}/out.{e}"] if e else [])
            for c, e in (("report", "xlsx"), ("top", ""), ("page", "html"))}


def processes_of_a_database(folder, n):
    db = sqlite3.connect(f"{folder}/x.rpd")
    db.executescript("""CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);
        INSERT INTO rocpd_string VALUES (1, 'hipLaunchKernel'), (2, 'KernelExecution'), (3, 'k');
        CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, "end", apiName_id, args_id);
        CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, start, "end", description_id, opType_id);
        CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);""")
    for i in range(1, n + 1):
        db.execute("INSERT INTO rocpd_api VALUES (?, ?, ?, ?, ?, 1, 1)", (i, 1000 + i, i, 10 * i, 10 * i + 1))
        db.execute("INSERT INTO rocpd_op VALUES (?, 0, 0, ?, ?, 3, 2)", (i, 10 * i + 1, 10 * i + 5))
        db.execute("INSERT INTO rocpd_api_ops VALUES (?, ?, ?)", (i, i, i))
    db.commit()
    db.close()
    return {"top": ["top", f"{folder}/x.rpd"], "page": ["page", f"{folder}/x.rpd", "-o", f"{folder}/o.html"]}


def run_of_two(folder, make, header=lambda rank: {}):
    for rank in (0, 1):
        info = {"rank": rank, "world_size": 2, "backend": "nccl", **header(rank)}
        write_trace(f"{folder}/run/rank{rank}.json", make(rank), distributedInfo=info)
    run = f"{folder}/run"
    return {"top": ["top", run], "page": ["page", run, "-o", f"{folder}/o.html"],
            "merge": ["merge", run, "-o", f"{folder}/m.json"],
            "collectives": ["collectives", run, "-o", f"{folder}/c.xlsx"],
            "analyze": ["analyze", run, "-o", f"{folder}/a", "--no-plots", "--no-individual-reports"]}


def process_groups(folder, n):
    groups = [{"pg_name": str(g), "pg_desc": f"group {g}", "pg_size": 2, "ranks": [0, 1]} for g in range(n)]

    def make(rank):
        return [kernel(10 * g, 5, "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                       **{"Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024,
                          "dtype": "Float", "Group size": 2, "Process Group Name": str(g),
                          "Process Group Ranks": "[0, 1]", "Seq": 1}) for g in range(n)]
    return run_of_two(folder, make, lambda rank: {"pg_config": groups})


def profiler_steps(folder, n):
    events = []
    for i in range(n):
        events.append(event("user_annotation", f"ProfilerStep#{i}", 10 * i, 10))
        events.append(kernel(10 * i, 5))
    write_trace(f"{folder}/t.json", events)
    return {"query": ["query", "SELECT count(*) FROM steps", f"{folder}/t.json"]}


def steps_of_two_ranks(folder, n):
    def make(rank):
        events = []
        for i in range(n):
            events.append(event("user_annotation", f"ProfilerStep#{i}", 10 * i, 10))
            events.append(kernel(10 * i, 5 + (i * 7919 + rank) % 3))
        return events
    commands = run_of_two(folder, make)
    return {c: commands[c] for c in ("top", "page", "analyze")}


def serving_steps(folder, n):
    for name, shift in (("a", 0), ("b", 5)):
        events = []
        for i in range(n):
            sk = 37 * (i % 1000) + i // 1000 + shift
            events.append(event("user_annotation", "execute_%d_context_0(sq0sk0sqsq0sqsk0)_generation_4"
                                "(sq4sk%dsqsq4sqsk%d)" % (i, sk, sk), 10 * i, 9))
            events.append(event("cuda_runtime", "cudaLaunchKernel", 10 * i, 1, correlation=i + 1))
            events.append(kernel(10 * i + 1, 5, correlation=i + 1))
        write_trace(f"{folder}/{name}.json", events)
    return {"split": ["split", f"{folder}/a.json", "-o", f"{folder}/pieces", "--pair-with", f"{folder}/b.json"]}


def communicators(folder, n):
    os.makedirs(f"{folder}/logs")
    with open(f"{folder}/logs/node-pid0.log", "w") as f:
        for c in range(n):
            f.write(json.dumps({
                "header": {"id": hex(c), "rank": 0, "n_ranks": 2, "nnodes": 1},
                "metadata": {"inspector_output_format_version": "v4.0", "dump_timestamp_us": 1748030377748202 + c,
                             "hostname": "h", "pid": 1},
                "coll_perf": {"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": 4096,
                              "coll_exec_time_us": 61974, "coll_algobw_gbs": 277.2, "coll_busbw_gbs": 485.1}}) + "\n")
    return {"watch": ["watch", f"{folder}/logs", "--once"]}


def workbook(path, shared, rows):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("xl/workbook.xml", '<workbook><sheets><sheet name="s" r:id="a"/></sheets></workbook>')
        z.writestr("xl/_rels/workbook.xml.rels",
                   '<Relationships><Relationship Id="a" Target="worksheets/s.xml"/></Relationships>')
        z.writestr("xl/worksheets/s.xml", f"<worksheet><sheetData>{rows}</sheetData></worksheet>")
        z.writestr("xl/sharedStrings.xml", f"<sst>{shared}</sst>")


def escapes_of_a_workbook(folder, n):
    workbook(f"{folder}/x.xlsx", "<si><t>" + "_x0041_" * n + "</t></si>",
             '<row><c t="s"><v>0</v></c></row>' * 2)
    return {"compare-reports": ["compare-reports", f"{folder}/x.xlsx", f"{folder}/x.xlsx", "--names", "a,b",
                                "-o", f"{folder}/o.xlsx"]}


def rows_of_one_key(folder, n):
    os.makedirs(f"{folder}/csv")
    with open(f"{folder}/csv/ops_summary.csv", "w") as f:
        f.write("name,total_direct_kernel_time_ms,Count\n" + "aten::mm,4,2\n" * n)
    words = ["compare-reports", f"{folder}/csv", f"{folder}/csv", "--names", "a,b", "-o", f"{folder}/o.xlsx"]
    return {"compare-reports": words, "with --compat": words + ["--compat", "tracelens", "--sheets", "ops_summary"]}


def links_in_folders(folder, n):
    for i in range(n):
        os.makedirs(f"{folder}/d{i}")
    for i in range(n - 1):
        for link in "ab":
            os.symlink(f"../d{i + 1}", f"{folder}/d{i}/{link}")
    write_trace(f"{folder}/d{n - 1}/rank0.json", [kernel(1)])
    return {"collectives": ["collectives", f"{folder}/d0"]}


# name of the row: the function that makes its input, and n
ROWS = {
    "one correlation id": (one_correlation_id, 40_000),
    "processes of a database": (processes_of_a_database, 1_000),
    "process groups, 2 ranks": (process_groups, 2_000),
    "profiler steps": (profiler_steps, 20_000),
    "steps, 2 ranks": (steps_of_two_ranks, 10_000),
    "serving steps, paired": (serving_steps, 5_000),
    "communicators of a log": (communicators, 5_000),
    "escapes of a workbook": (escapes_of_a_workbook, 200_000),
    "rows of one key": (rows_of_one_key, 2_000),
    "folders with two links each": (links_in_folders, 50),
}


def remove_output(words):
    """So that a second run does not reuse the outputs of the first."""
    if "-o" in words:
        output = words[words.index("-o") + 1]
        if os.path.isdir(output):
            shutil.rmtree(output)
        elif os.path.exists(output):
            os.remove(output)


def measure(binary, words):
    """CPU seconds and peak MB of the program, without kept facts."""
    remove_output(words)
    pid = os.fork()
    if pid == 0:
        os.environ["XDG_CACHE_HOME"] = "/dev/null"
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execv(binary, [binary, "-q", "-j", "1"] + words)
    _, _, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    binary = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release/rankscope")
    wanted = sys.argv[2:]
    start = min(measure(binary, ["--version"])[0] for _ in range(3))
    bad = 0
    print(f"{'input':30} {'command':16} {'n':>7}  {'CPU s at n, 2n, 4n, 8n':32} {'exponent':>8}  peak MB")
    for row, (make, n) in ROWS.items():
        if wanted and not any(w in row for w in wanted):
            continue
        times, memory = {}, {}
        for factor in (1, 2, 4, 8):
            folder = tempfile.mkdtemp(prefix="growth_")
            try:
                for command, words in make(folder, factor * n).items():
                    runs = [measure(binary, words) for _ in range(2)]
                    times.setdefault(command, []).append(max(0.0, min(t for t, _ in runs) - start))
                    memory.setdefault(command, []).append(max(m for _, m in runs))
            finally:
                shutil.rmtree(folder)
        for command, t in times.items():
            exponent = math.log2(t[3] / t[2]) if t[3] >= SMALLEST and t[2] > 0 else None
            above = exponent is not None and exponent > LARGEST_EXPONENT
            bad += above
            print(f"{row:30} {command:16} {n:>7}  {' '.join(f'{x:7.3f}' for x in t):32} "
                  f"{'-' if exponent is None else f'{exponent:.2f}':>8}{'!' if above else ' '} "
                  f"{' '.join(f'{m:.0f}' for m in memory[command])}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
