"""The Python package on a run: tables against the program, conversions, streams for others, what
notebooks show, wrong arguments. Standard library only; parts for packages that are absent say so.

Usage: package_test.py RUN [UNITTEST OPTION...]   RUN: a folder of rank traces
"""

import ast
import ctypes
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import rankscope as rs
from rankscope import _arrow, _native

RUN = ""


def package(name):
    """An installed package, or the test is skipped."""
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


def needs_duckdb(run):
    try:
        run.query("SELECT 1")
    except rs.RankscopeError as error:
        if error.code == 7:
            raise unittest.SkipTest(str(error)) from None
        raise


class Tables(unittest.TestCase):
    def setUp(self):
        self.run_ = rs.open(RUN, cache=None, jobs=2)

    def test_every_table_is_that_of_the_program(self):
        needs_duckdb(self.run_)
        listed = self.run_.tables.to_dict()
        names = [n for n, kind in zip(listed["name"], listed["kind"]) if kind != "view"]
        sql = ";".join("FROM " + name for name in names)
        answer = subprocess.run(
            [_native.program_path(), "query", sql, RUN, "--json", "-q", "-j", "1", "--no-cache"],
            stdout=subprocess.PIPE,
            check=True,
        )
        tables = list(json.loads(answer.stdout)["tables"].values())
        self.assertEqual(len(tables), len(names))
        cells = 0
        for name, want in zip(names, tables):
            got = self.run_.table(name)
            self.assertEqual([c.name for c in got.columns], want["columns"], name)
            self.assertEqual(len(got), len(want["rows"]), name)
            columns = got.to_dict()
            for c, column in enumerate(want["columns"]):
                values = columns[column]
                for r, row in enumerate(want["rows"]):
                    value = values[r]
                    if isinstance(value, float) and not math.isfinite(value):
                        value = None  # JSON has no others
                    self.assertEqual(value, row[c], f"{name} {column} {r}")
                    cells += 1
        self.assertGreater(cells, 10000)

    def test_columns_have_units_and_meanings(self):
        units = {c.name: c for c in self.run_.gpu_timeline.columns}
        self.assertEqual((units["time_ms"].unit, units["time_ms"].label), ("ms", "time ms"))
        self.assertEqual(units["time_ms"].type, "number")
        self.assertTrue(any(c.help for c in self.run_.kernels.columns))

    def test_numpy_arrays_have_the_same_values(self):
        numpy = package("numpy")
        for name in ("kernels", "operators", "ranks", "findings", "all2allv_heatmap"):
            table = self.run_.table(name)
            lists, arrays = table.to_dict(), table.to_numpy()
            self.assertEqual(list(lists), list(arrays))
            for column, values in lists.items():
                array = arrays[column]
                self.assertEqual(len(array), len(values))
                if array.dtype.kind == "f":
                    shown = [None if v is None or math.isnan(v) else v for v in array.tolist()]
                    values = [None if v is None or math.isnan(v) else v for v in values]
                else:
                    shown = array.tolist()
                self.assertEqual(shown, values, f"{name} {column}")
        self.assertEqual(self.run_.kernels.to_numpy(["dur_ns"])["dur_ns"].dtype, numpy.int64)

    def test_of_equal_names_the_last_column_counts(self):
        needs_duckdb(self.run_)
        rows = self.run_.query("SELECT i AS a, 'x' AS b, i + 10 AS a FROM range(3) r(i)")
        want = {"a": [10, 11, 12], "b": ["x", "x", "x"]}
        self.assertEqual(rows.to_dict(), want)
        self.assertEqual(rows.to_dict(["a", "a"], rows=2), {"a": [10, 11]})

    def test_pandas_has_the_same_values(self):
        pandas = package("pandas")
        for name in ("kernels", "operators", "findings"):
            table = self.run_.table(name)
            frame, lists = table.to_pandas(), table.to_dict()
            self.assertEqual(frame.shape, (len(table), len(lists)))
            for column, values in lists.items():
                null = pandas.isna(frame[column]).tolist()
                self.assertEqual(null, [v is None or v != v for v in values], column)
                got = [None if n else v for n, v in zip(null, frame[column].tolist())]
                self.assertEqual(got, [None if n else v for n, v in zip(null, values)], column)

    def test_pyarrow_polars_and_duckdb_read_the_stream(self):
        found = []
        kernels = self.run_.kernels
        want = kernels.to_dict()
        for name, read in (
            ("pyarrow", lambda m: m.table(kernels).to_pydict()),
            ("polars", lambda m: m.DataFrame(kernels).to_dict(as_series=False)),
            ("duckdb", lambda m: m.sql("FROM kernels").fetchnumpy()),
        ):
            try:
                module = package(name)
            except unittest.SkipTest:
                continue
            found.append(name)
            got = read(module)
            self.assertEqual(list(got), list(want), name)
            if name != "duckdb":
                self.assertEqual(got, want, name)
            else:
                self.assertEqual(got["dur_ns"].tolist(), want["dur_ns"])
        print("read the stream:", ", ".join(found) or "none (pyarrow, polars and duckdb are not installed)")

    def test_a_capsule_is_taken_or_released(self):
        table = self.run_.kernels
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.argtypes, get.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
        for taken in [False] * 200 + [True] * 200:
            capsule = table.__arrow_c_stream__()
            self.assertEqual(type(capsule).__name__, "PyCapsule")
            stream = _arrow.ArrowArrayStream.from_address(get(capsule, b"arrow_array_stream"))
            self.assertTrue(stream.release)
            if taken:
                stream.release(ctypes.addressof(stream))
                self.assertFalse(stream.release)
            del capsule
        gc.collect()
        capsule = table.__arrow_c_stream__()
        del table
        self.run_.close()
        stream = _arrow.ArrowArrayStream.from_address(get(capsule, b"arrow_array_stream"))
        batch = _arrow.ArrowArray()
        self.assertEqual(stream.get_next(ctypes.addressof(stream), ctypes.addressof(batch)), 0)
        self.assertGreater(batch.length, 0)
        batch.release(ctypes.addressof(batch))

    def test_sql_over_the_tables(self):
        needs_duckdb(self.run_)
        rows = self.run_.query("SELECT rank, count(*) AS n, NULL AS nothing FROM kernels GROUP BY 1 ORDER BY 1")
        self.assertEqual(sum(rows["n"]), len(self.run_.kernels))
        self.assertEqual(set(rows["nothing"]), {None})
        self.assertEqual(self.run_.slow_ranks["rank"], self.run_.query("FROM slow_ranks")["rank"])
        with self.assertRaises(rs.RankscopeError) as failure:
            self.run_.query("FROM read_text('/etc/passwd')")
        self.assertEqual(failure.exception.code, 2)


class Shown(unittest.TestCase):
    def test_names_are_text_in_notebooks(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "<b>.json"
            name = "<script>alert(1)</script>" + "x" * 100
            event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 5}
            trace.write_text(json.dumps({"traceEvents": [event]}))
            with rs.open(trace, cache=None) as run:
                shown = run.operators._repr_html_()
                self.assertIn("&lt;script&gt;alert(1)", shown)
                self.assertNotIn("<script>", shown)
                self.assertIn("1 rows", shown)
                self.assertIn("operators: 1 rows", repr(run.operators))
                self.assertNotIn("<b>", run.operators._repr_html_())
        findings = rs.Findings({"tables": {"findings": {"ids": ["headline", "action"], "rows": [["<i>a", None]]}}})
        self.assertEqual(findings._repr_html_(), "<ol><li><b>&lt;i&gt;a</b></li></ol>")
        self.assertEqual(str(findings[0]), "<i>a.")
        page = rs.Page('<p title="x">', None)
        self.assertIn('srcdoc="&lt;p title=&quot;x&quot;&gt;"', page._repr_html_())

    def test_findings_and_reports(self):
        run = rs.open(RUN, cache=None)
        findings = run.findings()
        self.assertEqual([f["headline"] for f in findings], run.table("findings")["headline"])
        self.assertTrue(all(f.headline for f in findings))
        self.assertIn("<ol>", findings._repr_html_())
        why = run.why("-k", "0")
        self.assertTrue(why.text.startswith("WHY"), why.text)
        self.assertGreater(len(why.findings), 0)
        top = run.top()
        self.assertIn("top_ranks", top.tables)
        self.assertEqual(sorted(top.tables["top_ranks"]["rank"]), sorted(run.ranks["rank"]))
        self.assertEqual(top.problems, [])
        self.assertTrue(repr(top) in top._repr_html_() or "&" in top._repr_html_())

    def test_pages(self):
        run = rs.open(RUN, cache=None)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "-out.html"
            try:
                page = run.page(path)
            except rs.RankscopeError as error:
                self.assertEqual(error.code, 7)  # built without ECharts
                raise unittest.SkipTest(str(error)) from None
            self.assertEqual(page.html, path.read_text(encoding="utf-8"))
        in_memory = run.page()
        self.assertTrue(in_memory.html.lstrip().lower().startswith("<!doctype html"))
        self.assertIn('<iframe srcdoc="', in_memory._repr_html_())


class Failures(unittest.TestCase):
    def fails(self, code, word, call, *arguments, **options):
        with self.assertRaises(rs.RankscopeError) as failure:
            call(*arguments, **options)
        self.assertEqual(failure.exception.code, code, failure.exception)
        self.assertIn(word, str(failure.exception))

    def test_wrong_arguments_are_exceptions(self):
        self.fails(3, "/no/such", rs.open, "/no/such\nrun")
        self.fails(2, "wrong option", rs.open, RUN, colour="red")
        self.fails(2, "wrong option", rs.open, RUN, jobs=-1)
        self.fails(2, "NUL", rs.open, "a\0b")
        run = rs.open(RUN, cache=None)
        self.fails(2, "kernels", run.table, "kernel")
        self.fails(2, "NUL", run.table, "ker\0nels")
        self.fails(2, "no table", run.table, "\udcff")
        with self.assertRaises(AttributeError):
            run.kernel
        with self.assertRaises(KeyError):
            run.ranks["no such column"]
        self.fails(2, "--no-such-flag", run.top, "--no-such-flag")
        run.close()
        run.close()
        self.fails(2, "closed", run.table, "kernels")

    def test_tables_outlive_their_run(self):
        run = rs.open(RUN, cache=None)
        ranks = run.ranks
        run.close()
        del run
        self.assertEqual(len(ranks["rank"]), len(ranks))

    def test_the_console_script_is_the_program(self):
        done = subprocess.run([sys.executable, "-m", "rankscope._main", "--version"], stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout.decode().strip(), "rankscope " + rs.version())
        self.assertEqual(rs.__version__, rs.version())
        code = subprocess.run([sys.executable, "-m", "rankscope._main", "no-such-command"], stderr=subprocess.PIPE)
        self.assertEqual(code.returncode, 2)

    def test_the_sources_are_python_3_8(self):
        for source in Path(rs.__file__).parent.glob("*.py"):
            ast.parse(source.read_text(), feature_version=(3, 8))


if __name__ == "__main__":
    RUN = os.path.abspath(sys.argv.pop(1))
    unittest.main()
