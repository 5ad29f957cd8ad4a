#!/usr/bin/env python3
"""Two rankscope binaries side by side: runs every command with both on the same traces (BEFORE
generates them; the reference data's are read too), compares all that they write and print, and with
--runs times the main commands in turns. What may differ is in NORMALISED and PICTURES below, and the
folders .rankscope and state. Exits 1 when anything else differs (--report-only: 0).

  compare_outputs.py --before BIN --after BIN [--only WORD] [--golden DIR] [--keep DIR] [--jobs N]
                     [--runs N] [--report-only]
"""
import argparse
import concurrent.futures
import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import output_cases
from output_cases import RANKSCOPE_MPI, REPOSITORY

# Left out: the state of an earlier run and what one command keeps for the next, which may change with
# the version.
KEPT = "state"
NOT_COMPARED = (".rankscope", KEPT)
# Written text that may differ; what matches is replaced on both sides.
NORMALISED = {
    "paths": (re.compile(rb"/side_(?:before|after)_/"), rb"/"),
    "versions": (re.compile(rb'\b(rankscope[ "/:_a-z]{0,12}|"version": ?")\d+\.\d+\.\d+[-+.\w]*'), rb"\1N"),
    "dates": (re.compile(rb"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z)?"), rb"DATE"),
    "durations and speeds": (re.compile(rb"\b\d+(\.\d+)? (MB/s|s)\b"), rb"N \2"),
    "sizes of files": (re.compile(rb'"bytes": \d+'), rb'"bytes": N'),
}
# Which of them applies where: printed text, and files by the end of their names ("": all).
PRINTED = ("paths", "versions", "dates", "durations and speeds")
WRITTEN = {"": ("paths", "versions", "dates"), "manifest.json": ("sizes of files",)}
# Drawn pictures may differ, as files, in pages and in workbooks; they have to be there.
PICTURES = (".png",)
PICTURE_IN_PAGE = (re.compile(rb"data:image/png;base64,[A-Za-z0-9+/=]+"), b"PICTURE")


def parse_arguments():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    p.add_argument("--before", required=True)
    p.add_argument("--after", required=True)
    p.add_argument("--only", default="", help="cases whose name has this word")
    p.add_argument("--golden", default=os.environ.get("RANKSCOPE_GOLDEN", f"{REPOSITORY}/../shared/golden"),
                   help="reference data")
    p.add_argument("--keep", default="", help="folder that keeps the outputs")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--runs", type=int, default=0, help="timed runs of each main command")
    p.add_argument("--report-only", action="store_true")
    return p.parse_args()


def mpi_of(binary):
    """The program of jobs beside the binary, and the launcher of its implementation; () = none."""
    for kind in ("", "openmpi", "mpich"):
        program = f"{os.path.dirname(binary)}/{RANKSCOPE_MPI}{'-' if kind else ''}{kind}"
        launcher = shutil.which(f"mpirun.{kind}") or shutil.which("mpirun")
        if os.path.exists(program) and launcher:
            return (launcher, *(() if kind == "mpich" else ("--oversubscribe", "--bind-to", "none")), "-n", "2", program)
    return ()


def duckdb_of(binaries):
    """DuckDB's library in the build tree of either, so that both have the same one; "" = none."""
    for binary in binaries.values():
        folder = binary
        while folder != (folder := os.path.dirname(folder)):
            library = f"{folder}/web/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so"
            if os.path.exists(library):
                return library
    return ""


def run_case(binary, folder, commands):
    """Leaves out/, stdout, stderr and code of each command in `folder`."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for below in ("out", KEPT):
        os.makedirs(f"{folder}/{below}")
    for i, args in enumerate(commands):
        words = [*mpi_of(binary), *args[1:]] if args[0] == RANKSCOPE_MPI else [binary, *args]
        p = subprocess.run(words, cwd=folder, capture_output=True, check=False, env=environment)
        for stream, text in (("stdout", p.stdout), ("stderr", p.stderr), ("code", b"%d\n" % p.returncode)):
            with open(f"{folder}/{i:02}.{stream}", "wb") as f:
                f.write(normalised(text, PRINTED))


def normalised(text, rules):
    for rule in rules:
        pattern, replacement = NORMALISED[rule]
        text = pattern.sub(replacement, text)
    return text


def content(path):
    """What has to be equal: the parts of a workbook by name, otherwise bytes, unpacked."""
    if path.endswith(".xlsx"):
        with zipfile.ZipFile(path) as z:
            return {n: b"PICTURE" if n.endswith(PICTURES) else normalised(z.read(n), WRITTEN[""])
                    for n in z.namelist() if n != "docProps/core.xml"}
    with open(path, "rb") as f:
        data = f.read()
    if path.endswith(PICTURES):
        return b"PICTURE"
    if path.endswith(".gz"):
        data = gzip.decompress(data)
    if path.endswith(".html"):
        data = PICTURE_IN_PAGE[0].sub(PICTURE_IN_PAGE[1], data)
    return normalised(data, [rule for end, rules in WRITTEN.items() if path.endswith(end) for rule in rules])


def files_below(folder):
    found = set()
    for root, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in NOT_COMPARED or (f == KEPT and root != folder)]
        found.update(os.path.relpath(os.path.join(root, f), folder) for f in files)
    return found


def differences(before, after):
    """One line per file that differs or stands on one side only."""
    a, b, lines = files_below(before), files_below(after), []
    for f in sorted(a | b):
        if f not in a or f not in b:
            lines.append(f"{f}: only written by {'BEFORE' if f in a else 'AFTER'}")
            continue
        x, y = content(f"{before}/{f}"), content(f"{after}/{f}")
        if x != y:
            parts = [n for n in sorted(set(x) | set(y)) if x.get(n) != y.get(n)] if isinstance(x, dict) else []
            lines.append(f"{f} differs{': ' + ', '.join(parts[:4]) if parts else ''}")
    return lines


def compare_case(binaries, work, name, commands, keep):
    """The number of files and the lines of differences; equal outputs go."""
    folders = {side: f"{work}/side_{side}_/{name}" for side in binaries}
    for side, binary in binaries.items():
        shutil.rmtree(folders[side], ignore_errors=True)
        run_case(binary, folders[side], commands)
    lines = differences(*folders.values())
    count = len(files_below(folders["after"]))
    failed = sum(open(f"{folders['after']}/{f}", "rb").read() not in (b"0\n", b"4\n", b"5\n")
                 for f in files_below(folders["after"]) if f.endswith(".code"))
    if not keep:
        for folder in folders.values():
            shutil.rmtree(folder)
    return count, failed, lines


def timed(binaries, args, runs, work):
    """Seconds of each side in turns, the first pair left out; codes that are no success."""
    times, failed = {side: [] for side in binaries}, set()
    for i in range(runs + 1):
        for side in ("before", "after") if i % 2 == 0 else ("after", "before"):
            folder = f"{work}/time_{side}"
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(f"{folder}/out")
            start = time.monotonic()
            code = subprocess.run([binaries[side], "-q", *args], cwd=folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode
            if i > 0:
                times[side].append(time.monotonic() - start)
            if code not in (0, 4):
                failed.add(f"{side} exits {code}")
    return times, failed


def print_times(binaries, data, runs, work):
    output_cases.quiet(binaries["before"], "synth", f"{data}/big", "--threads", "256,512", "--channels", "28,70",
                       "--ranks", "4", "--events", "60000", "-q")
    run = f"{data}/big/256thread/nccl_28channels"
    trace = output_cases.trace_of(run, 0)
    main = {
        "info": ["info", trace],
        "top": ["top", run],
        "report": ["report", trace, "-o", "out/r.xlsx"],
        "report --csv-dir": ["report", trace, "--csv-dir", "out"],
        "collectives": ["collectives", run, "-o", "out/c.xlsx"],
        "gemm overlap": ["gemm", "overlap", f"{data}/big", "-o", "out"],
        "merge": ["merge", run, "-o", "out/m.json"],
        "page": ["page", run, "-o", "out/p.html"],
        "compare --no-plots": ["compare", "--baseline", run, "--test", f"{data}/big/512thread/nccl_28channels",
                               "--output", "out", "--no-plots"],
        "analyze --no-plots": ["analyze", f"{data}/big", "-o", "out", "--force", "--no-plots"],
    }
    print("\n| command | before s | after s | after / before | range |\n|---|---|---|---|---|")
    for name, args in main.items():
        times, failed = timed(binaries, args, runs, work)
        ratios = [n / o for n, o in zip(times["after"], times["before"])]
        old, new = (statistics.median(times[side]) for side in binaries)
        print(f"| {name} | {old:.3f} | {new:.3f} | {new / old:.3f} | {min(ratios):.2f} to {max(ratios):.2f} |"
              f"{' ' + ', '.join(sorted(failed)) if failed else ''}", flush=True)


def compare_all(a, binaries, work, data, golden):
    """Prints a row for each case; the number of those that differ."""
    begin = time.monotonic()
    output_cases.generate(binaries["before"], data, golden)
    mpi = all(mpi_of(binary) for binary in binaries.values())
    chosen = {n: c for n, c in output_cases.cases(data, golden, mpi).items() if a.only in n}
    unequal = commands = 0
    print("| case | commands | that fail | files | outputs |\n|---|---|---|---|---|")
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        done = {name: pool.submit(compare_case, binaries, work, name, c, a.keep) for name, c in chosen.items()}
        for name, job in done.items():
            count, failed, lines = job.result()
            unequal += bool(lines)
            commands += len(chosen[name])
            print(f"| {name} | {len(chosen[name])} | {failed or ''} | {count} | "
                  f"{'; '.join(lines[:6]) if lines else 'equal'} |", flush=True)
    missing = ["reference data"] if not golden else []
    missing += ["DuckDB (RANKSCOPE_DUCKDB names its library)"] if "RANKSCOPE_DUCKDB" not in os.environ else []
    missing += ["mpirun or rankscope-mpi"] if not mpi else []
    print(f"\n{len(chosen)} cases, {commands} commands, {unequal} cases with differences, "
          f"{time.monotonic() - begin:.0f} s; may differ: {', '.join(NORMALISED)}, pictures"
          f"{'; not there: ' + ', '.join(missing) if missing else ''}", flush=True)
    return unequal


def main():
    a = parse_arguments()
    binaries = {"before": os.path.abspath(a.before), "after": os.path.abspath(a.after)}
    golden = os.path.abspath(a.golden) if os.path.isdir(a.golden) else ""
    work = os.path.abspath(a.keep) if a.keep else tempfile.mkdtemp(prefix="rankscope_compare_")
    if library := os.environ.get("RANKSCOPE_DUCKDB") or duckdb_of(binaries):
        os.environ["RANKSCOPE_DUCKDB"] = library
    data = f"{work}/data"
    shutil.rmtree(data, ignore_errors=True)
    os.makedirs(data)
    try:
        unequal = compare_all(a, binaries, work, data, golden)
        if a.runs > 0:
            print_times(binaries, data, a.runs, work)
    finally:
        if not a.keep:
            shutil.rmtree(work, ignore_errors=True)
    return 1 if unequal and not a.report_only else 0


if __name__ == "__main__":
    sys.exit(main())
