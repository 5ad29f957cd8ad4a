#!/usr/bin/env python3
"""Runs rankscope on damaged inputs for a while; a long-running search (scripts/nightly.sh mutate).

Takes small inputs and changes them:
  traces     generated ones, and any given by --seeds: bytes, tokens or events
  parts      files of partial, baselines and states: bytes, with a checksum that fits
  databases  RPD and rocpd: values, types, rows and the schema, by SQL; some pages by bytes
and runs commands on the result. Anything but exit 0 or 2 to 7 is a failure, as are a run past the time
limit, a report of a sanitizer and a temporary file that is left. The input of a failure is kept.
Usage: scripts/mutate.py [--binary build/asan/rankscope] [--seconds 600] [--count N] [--jobs N] [--kind KIND]
                         [--seed N] [--seeds DIR] [--keep DIR]
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import sqlite3
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
    """Returns (begin, end) of each run of digits, signs, points and exponents; most of them are numbers."""
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
        elif kind == 5:  # give all events the same id
            for e in events:
                if isinstance(e, dict) and isinstance(e.get("args"), dict) and "correlation" in e["args"]:
                    e["args"]["correlation"] = 1
        elif kind == 6:  # take the value of another event
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


def fnv64(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return value


def change_part(rng, data, other):
    """Changes the content of a part and updates the checksum at its end (src/core/part.h)."""
    head = data.index(b"RSKPART1") + 8 + 24 if data.startswith(b"RSKPART1") else 0
    content = change_bytes(rng, data[head:-8], other[head:-8])
    if rng.randrange(4) == 0:  # insert a large number (7 bits per byte) or an unusual double
        at = rng.randrange(len(content) + 1)
        content = content[:at] + rng.choice([b"\xff" * 9 + b"\x01", b"\xff\xff\xff\xff\x0f", b"\x80" * 9 + b"\x01",
                                             b"\x00\x00\x00\x00\x00\x00\xf0\x7f", b"\x00" * 7 + b"\xf8"]) + content[at:]
    out = data[:head] + content
    return out + fnv64(out).to_bytes(8, "little")


def change_database(rng, data, other):
    if rng.randrange(6) == 0:
        return change_bytes(rng, data, other)
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(data)
        file.flush()
        db = sqlite3.connect(file.name)
        try:
            tables = [t for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for _ in range(rng.choice([1, 3, 20])):
                table = rng.choice(tables)
                columns = [c[1] for c in db.execute(f'PRAGMA table_info("{table}")')]
                if not columns:
                    continue
                column, twin = rng.choice(columns), rng.choice(columns)
                value = rng.choice([None, -1, 0, 2**31, 2**63 - 1, -2**63, 1e308, float("inf"), "", "x", "7", b"\x00",
                                    "a" * 70000, "=1+1", "\u0000"])
                where = rng.choice(["", "WHERE rowid = (SELECT rowid FROM \"%s\" ORDER BY random() LIMIT 1)" % table])
                statement = rng.choice([
                    f'UPDATE "{table}" SET "{column}" = ? {where}',
                    f'UPDATE "{table}" SET "{column}" = ? {where}',
                    f'UPDATE "{table}" SET "{column}" = "{twin}" {where}',
                    f'UPDATE "{table}" SET "{column}" = -"{column}" {where}',
                    f'DELETE FROM "{table}" {where}',
                    f'INSERT INTO "{table}" SELECT * FROM "{table}" LIMIT 3',
                    f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{rng.choice(["x", "start", "id"])}"',
                    f'ALTER TABLE "{table}" DROP COLUMN "{column}"',
                    f'DROP TABLE "{table}"',
                    "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', 'TEXT')",
                    f"UPDATE sqlite_master SET rootpage = {rng.randrange(9)} WHERE name = '{table}'",
                    f"UPDATE sqlite_master SET type = 'view' WHERE name = '{table}'",
                ])
                db.execute(f"PRAGMA writable_schema = {int('sqlite_master' in statement)}")
                try:
                    db.execute(statement, (value,) if "?" in statement else ())
                except sqlite3.Error:
                    pass
            db.commit()
        except sqlite3.Error:
            pass
        finally:
            db.close()
        return pathlib.Path(file.name).read_bytes()


def trace_commands(rng, folder, out):
    """Returns a random command on the mutated run `folder`/run or its trace; compare also uses `folder`/good."""
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


class Traces:
    """Traces of two ranks. Only the trace of rank 0 is mutated."""
    changes = [change_bytes, change_tokens, change_events, change_events]

    def __init__(self, binary, folder, extra):
        synth(binary, folder)
        ranks = [p for p in sorted(pathlib.Path(folder, "s").rglob("*.json")) if "rank" in p.parent.name]
        self.folder = folder
        self.seeds = [p.read_bytes() for p in ranks]
        if extra:
            self.seeds += [p.read_bytes() for p in sorted(pathlib.Path(extra).rglob("*.json"))
                           if 0 < p.stat().st_size < 200_000]
        for name in ("good", "run"):
            for r, path in enumerate(ranks):
                os.makedirs(f"{folder}/{name}/rank{r}")
                shutil.copy(path, f"{folder}/{name}/rank{r}/t.json")

    def next(self, rng, out):
        data = rng.choice(self.changes)(rng, rng.choice(self.seeds), rng.choice(self.seeds))
        pathlib.Path(self.folder, "run/rank0/t.json").write_bytes(data)
        return data, trace_commands(rng, self.folder, out)


class Parts:
    """Files that rankscope writes and reads again, each with the commands that read it."""

    def __init__(self, binary, folder, _extra):
        run = synth(binary, folder)
        logs = f"{folder}/logs"
        os.makedirs(logs)
        for command in (["partial", run, "-o", f"{folder}/parts", "--for", "all"],
                        ["baseline", "save", run, "-o", f"{folder}/kept/a.rsb"],
                        ["baseline", "save", run, "-o", f"{folder}/kept/b.rsb"],
                        ["analyze", f"{folder}/s", "-o", f"{folder}/analysis", "--no-plots"],
                        ["watch", run, "--once", "--state", f"{folder}/watch.state"]):
            os.makedirs(f"{folder}/kept", exist_ok=True)
            subprocess.run([binary, "-q", *command], capture_output=True, check=False)
        files = [p for p in pathlib.Path(folder).rglob("*")
                 if p.is_file() and p.read_bytes()[:8] == b"RSKPART1"]
        assert files, "nothing to mutate"
        self.folder, self.run = folder, run
        self.files = [(p, p.read_bytes()) for p in files]

    def next(self, rng, out):
        for path, data in self.files:  # undo the last change
            path.write_bytes(data)
        path, data = rng.choice(self.files)
        changed = change_part(rng, data, rng.choice(self.files)[1])
        path.write_bytes(changed)
        folder, run = self.folder, self.run
        if "parts" in path.parts:
            command = rng.choice([["reduce", f"{folder}/parts", "-o", f"{out}/r.xlsx"],
                                  ["reduce", f"{folder}/parts", "--as", "page", "-o", f"{out}/p.html"],
                                  ["reduce", f"{folder}/parts", "--as", "analyze", "-o", f"{out}/a", "--no-plots"]])
        elif path.suffix == ".rsb":
            command = rng.choice([["baseline", "check", run, "--baseline", str(path)],
                                  ["baseline", "history", f"{folder}/kept", "-o", f"{out}/h.html"]])
        elif path.name == "watch.state":
            command = ["watch", run, "--once", "--state", str(path)]
        else:
            command = rng.choice([["analyze", f"{folder}/s", "-o", f"{folder}/analysis", "--no-plots"],
                                  ["html", f"{folder}/analysis", "-o", f"{out}/h.html"]])
        return changed, command


class Databases:
    """RPD and rocpd databases of one rank."""

    def __init__(self, binary, folder, _extra):
        self.seeds = []
        for form in ("rpd", "rocpd"):
            synth(binary, f"{folder}/{form}", "--format", form)
            self.seeds += [(p.suffix, p.read_bytes()) for p in sorted(pathlib.Path(folder, form).rglob("*"))
                           if p.is_file() and p.read_bytes()[:6] == b"SQLite"][:1]
        assert len(self.seeds) == 2, "nothing to mutate"
        self.folder = folder

    def next(self, rng, out):
        suffix, data = rng.choice(self.seeds)
        changed = change_database(rng, data, rng.choice(self.seeds)[1])
        path = f"{self.folder}/t{suffix}"
        pathlib.Path(path).write_bytes(changed)
        return changed, rng.choice([["info", path], ["top", path], ["report", path, "-o", f"{out}/r.xlsx"],
                                    ["collectives", path], ["page", path, "-o", f"{out}/p.html"]])


KINDS = {"traces": Traces, "parts": Parts, "databases": Databases}


def synth(binary, folder, *more):
    """Generates a small run. Returns the folder of its traces."""
    subprocess.run([binary, "synth", f"{folder}/s", "--threads", "256", "--channels", "28", "--ranks", "2", "--layers",
                    "1", "--steps", "2", *more], check=True, capture_output=True)
    return f"{folder}/s/256thread/nccl_28channels/torch_profiler"


def run_one(binary, command, limit, out):
    """Returns a description of the failure, or None."""
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


def search(options, worker):
    """Runs damaged inputs until the time is over. Returns the runs of each kind and the failures by signature."""
    rng = random.Random(f"{options.seed} {worker}")
    binary = str(pathlib.Path(options.binary).resolve())
    with tempfile.TemporaryDirectory() as folder:
        kinds = {}
        for name in KINDS if options.kind == "all" else [options.kind]:
            os.makedirs(f"{folder}/{name}")
            kinds[name] = KINDS[name](binary, f"{folder}/{name}", options.seeds)
        end = time.monotonic() + options.seconds
        runs, failures = dict.fromkeys(kinds, 0), {}
        while time.monotonic() < end and not 0 < options.count <= sum(runs.values()):
            out = f"{folder}/out"
            shutil.rmtree(out, ignore_errors=True)
            os.makedirs(out)
            name = rng.choice(list(kinds))
            data, command = kinds[name].next(rng, out)
            runs[name] += 1
            wrong = run_one(binary, command, options.limit, out)
            if wrong is None:
                continue
            signature = command[0] + ": " + wrong.strip().splitlines()[0][:160]
            if signature not in failures:
                os.makedirs(options.keep, exist_ok=True)
                kept = f"{options.keep}/{worker}_{len(failures)}_{name}_{command[0]}"
                pathlib.Path(kept).write_bytes(data)
                print(f"{kept}: {' '.join(command)}\n{wrong}\n", flush=True)
            failures[signature] = failures.get(signature, 0) + 1
        return runs, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/asan/rankscope")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--count", type=int, default=0, help="inputs of each process (default: until the time is over)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one per processor)")
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", help="folder with more traces to start from (.json, up to 200 kB)")
    parser.add_argument("--keep", default="mutate-failures", help="folder for the inputs of failures")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one run")
    options = parser.parse_args()
    runs, failures = collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for some_runs, some_failures in pool.map(search, [options] * options.jobs, range(options.jobs)):
            runs.update(some_runs)
            failures.update(some_failures)
    per_kind = ", ".join(f"{n} {name}" for name, n in runs.items())
    print(f"{sum(runs.values())} runs ({per_kind}), {sum(failures.values())} failures, {len(failures)} kinds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
