#!/usr/bin/env python3
"""Runs rankscope on damaged traces for a while; a long-running search, not part of the gate.

Takes small traces (generated ones, and any given by --seeds), changes bytes, tokens or events of them,
and runs commands on the result. Anything but exit 0 or 2 to 7 is a failure, as are a run past the time
limit, a report of a sanitizer and a temporary file that is left. The input of a failure is kept.
Usage: scripts/mutate.py [--binary build/fuzz/rankscope] [--seconds 600] [--seed N] [--seeds DIR] [--keep DIR]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

NUMBERS = [b"0", b"-0", b"-1", b"1e3", b"1E+3", b"127", b"128", b"255", b"256", b"32767", b"32768", b"65535",
           b"2147483647", b"2147483648", b"-2147483648", b"4294967295", b"4294967296", b"9007199254740993",
           b"2305843009213693.951", b"2305843009213693952", b"9223372036854775807", b"-9223372036854775808",
           b"9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"1e400", b"-1e400",
           b"1e-400", b"5e-324", b"1.7976931348623157e308", b"NaN", b"Infinity", b"-Infinity", b"", b"x",
           b"null", b"true", b'"7"', b"[]", b"{}", b"9" * 400, b"0." + b"0" * 300 + b"1"]
TEXTS = [b"", b"a" * 70000, b"\\u0000", b"\\ud83d\\ude00", b"\\ud800", b"=1+1", b"+cmd", b"<script>", b"../../x",
         b"%s%n", b"\\u001b[2J", b"`id`", b"rank99999999999999999999", b"traceEvents", b"ProfilerStep#1",
         b"ProfilerStep#-1", b"ncclDevKernel", b"kernel", b"[0, 1, 2", b"[999999999999999999999]", b"|a|b|",
         b"\xff\xfe", b"\xc3", b"\\", b"\"", b"\n", b"[[1,2],[3", b"((((", b"*" * 300]
JSON_VALUES = [None, True, -1, 0, 2**31, 2**63, -2**63, 2**64, 1e308, "", "x", [], {}, [[]], [0] * 40, "7", "aten::mm",
               "c10::BFloat16", [[2**40, 2**40], [2**40, 2**40]], [[-1]], "[0, 1]", 9007199254740993]


def number_spans(data):
    """Where numbers stand, roughly: runs of digits and signs."""
    spans, begin = [], None
    for i, c in enumerate(data):
        if c in b"0123456789.+-eE" and (begin is not None or c in b"0123456789-"):
            begin = i if begin is None else begin
        elif begin is not None:
            spans.append((begin, i))
            begin = None
    return spans


def text_spans(data):
    spans, begin = [], None
    for i, c in enumerate(data):
        if c == 0x22 and (i == 0 or data[i - 1] != 0x5C):
            if begin is None:
                begin = i + 1
            else:
                spans.append((begin, i))
                begin = None
    return spans


def change_bytes(rng, data, other):
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 40])):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del out[at:at + rng.choice([1, 2, 10, 300])]
        elif kind == 2:
            out[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 3, 20])))
        elif kind == 3:
            begin = rng.randrange(len(data) + 1)
            out[at:at] = data[begin:begin + rng.choice([1, 30, 1000])]
        elif kind == 4 and rng.randrange(4) == 0:
            out = bytearray(out[:at] + other[rng.randrange(len(other) + 1):])
        if not out:
            break
    return bytes(out)


def change_tokens(rng, data, _other):
    for _ in range(rng.choice([1, 1, 3, 10])):
        spans, values = (number_spans(data), NUMBERS) if rng.randrange(3) else (text_spans(data), TEXTS)
        if spans:
            begin, end = rng.choice(spans)
            data = data[:begin] + rng.choice(values) + data[end:]
    return data


def change_event(rng, events):
    at = rng.randrange(len(events))
    event = events[at]
    kind = rng.randrange(8)
    if kind == 0:
        events.extend([json.loads(json.dumps(event))] * rng.choice([1, 2, 50]))
    elif kind == 1:
        rng.shuffle(events)
    elif kind == 2:
        del events[at]
    elif isinstance(event, dict) and event:
        where = event
        if isinstance(event.get("args"), dict) and event["args"] and rng.randrange(2):
            where = event["args"]
        key = rng.choice(list(where))
        if kind == 3:
            del where[key]
        elif kind == 4:
            where[key] = rng.choice(JSON_VALUES)
        elif kind == 5:  # ids made to collide
            for e in events:
                if isinstance(e, dict) and isinstance(e.get("args"), dict) and "correlation" in e["args"]:
                    e["args"]["correlation"] = 1
        elif kind == 6:  # the same field of another event
            twin = rng.choice(events)
            if isinstance(twin, dict):
                other = twin if where is event else twin.get("args")
                if isinstance(other, dict) and other:
                    where[key] = other[rng.choice(list(other))]
        elif isinstance(where[key], (int, float)):
            where[key] = where[key] * rng.choice([-1, 0, 1e3, 1e9, 1e12]) + rng.choice([0, 1, -1])


def change_events(rng, data, other):
    try:
        trace = json.loads(data)
        events = trace["traceEvents"]
        for _ in range(rng.choice([1, 3, 20, 100])):
            if events:
                change_event(rng, events)
        for key in list(trace):
            if key != "traceEvents" and rng.randrange(10) == 0:
                trace[key] = rng.choice(JSON_VALUES)
        return json.dumps(trace).encode("utf-8", "surrogatepass")
    except (ValueError, KeyError, TypeError, OverflowError):
        return change_bytes(rng, data, other)


CHANGES = [change_bytes, change_tokens, change_events, change_events]


def commands(rng, folder, out):
    """One form of one command on the mutated run in `folder` (rank0, rank1) and the good one beside it."""
    trace = f"{folder}/run/rank0/t.json"
    run, good = f"{folder}/run", f"{folder}/good"
    return rng.choice([
        ["info", trace],
        ["report", trace, "-o", f"{out}/r.xlsx"],
        ["report", trace, "-o", f"{out}/r.json", "--per-step", "--gpu-arch", "MI300X"],
        ["report", trace, "--csv-dir", f"{out}/csv", "--compat", "tracelens"],
        ["report", trace, "-o", f"{out}/r.md", "--include-unlinked-kernels", "--detect-recompute",
         "--include-overlap-info", "--include-call-stack", "--enable-pseudo-ops"],
        ["collectives", run, "-o", f"{out}/c.xlsx"],
        ["merge", run, "-o", f"{out}/m.json.gz", "--cpu-ops"],
        ["merge", run, "-o", f"{out}/m.json", "--align", "collectives"],
        ["analyze", run, "-o", f"{out}/a", "--no-plots"],
        ["compare", "--baseline", good, "--test", run, "--output", f"{out}/k", "--no-plots"],
    ])


def run_one(binary, command, limit, out):
    """None, or what is wrong."""
    try:
        run = subprocess.run([binary, *command, "-q"], capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"over {limit} s"
    err = run.stderr.decode("utf-8", "replace")
    if run.returncode not in (0, 2, 3, 4, 5, 6, 7):
        return f"exit {run.returncode}: {err[-2000:]}"
    if "Sanitizer" in err or "runtime error" in err:
        return err[:3000]
    left = [str(p) for p in pathlib.Path(out).rglob("*.tmp")]
    return f"left behind: {left}" if left else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/fuzz/rankscope")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", help="folder with more traces to start from (.json, up to 200 kB)")
    parser.add_argument("--keep", default="mutate-failures", help="folder for the inputs of failures")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    binary = str(pathlib.Path(options.binary).resolve())
    with tempfile.TemporaryDirectory() as folder:
        synth = [binary, "synth", f"{folder}/s", "--threads", "256", "--channels", "28", "--ranks", "2",
                 "--layers", "1", "--steps", "2"]
        subprocess.run(synth, check=True, capture_output=True)
        ranks = sorted(pathlib.Path(folder, "s").rglob("*.json"))
        ranks = [p for p in ranks if "rank" in p.parent.name]
        seeds = [p.read_bytes() for p in ranks]
        extra = pathlib.Path(options.seeds) if options.seeds else None
        if extra:
            seeds += [p.read_bytes() for p in sorted(extra.rglob("*.json")) if 0 < p.stat().st_size < 200_000]
        for name in ("good", "run"):
            for r, path in enumerate(ranks):
                os.makedirs(f"{folder}/{name}/rank{r}")
                shutil.copy(path, f"{folder}/{name}/rank{r}/t.json")
        end = time.monotonic() + options.seconds
        runs, failures, codes_wrong = 0, {}, 0
        while time.monotonic() < end:
            out = f"{folder}/out"
            shutil.rmtree(out, ignore_errors=True)
            os.makedirs(out)
            data = rng.choice(CHANGES)(rng, rng.choice(seeds), rng.choice(seeds))
            pathlib.Path(folder, "run/rank0/t.json").write_bytes(data)
            command = commands(rng, folder, out)
            runs += 1
            wrong = run_one(binary, command, options.limit, out)
            if wrong is None:
                continue
            codes_wrong += 1
            signature = command[0] + ": " + wrong.strip().splitlines()[0][:160]
            if signature not in failures:
                os.makedirs(options.keep, exist_ok=True)
                kept = f"{options.keep}/{len(failures)}_{command[0]}.json"
                pathlib.Path(kept).write_bytes(data)
                print(f"{kept}: {' '.join(command)}\n{wrong}\n", flush=True)
            failures[signature] = failures.get(signature, 0) + 1
        print(f"{runs} runs, {codes_wrong} failures, {len(failures)} kinds")
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
