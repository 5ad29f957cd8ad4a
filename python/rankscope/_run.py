"""Runs: how to open them, their tables, and the results of commands."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from . import _library
from ._library import Handle, RankscopeError, make, text_argument, text_list
from ._native import program_path
from ._report import Findings, Page, Report
from ._table import Table

PathLike = Union[str, "os.PathLike[str]"]

#: Options of open() that no command besides `query` has.
_TABLES_ONLY = ("gpus_per_node", "config_regex", "files_as_runs")


class Run:
    """A trace, the ranks of a run, or a sweep. Each table is an attribute: `run.kernels` is
    `run.table("kernels")`. Traces are read when a table needs them, once, and remain in memory."""

    def __init__(self, inputs: List[str], options: Dict[str, Any]) -> None:
        self._inputs = inputs
        self._options = options
        pairs = [f"{name.replace('_', '-')}={_text(value)}" for name, value in options.items()]
        self._handle = make("open", "close", text_list(inputs), text_list(pairs))

    def close(self) -> None:
        """Releases the traces; tables that are still used keep their data."""
        self._handle.close()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def tables(self) -> Table:
        """Every table and view: name, kind and help. Views need DuckDB's library."""
        return Table(make("tables", "table_free"), "tables")

    def table(self, name: str) -> Table:
        """A table by name."""
        return Table(self._table_handle(name), name)

    def query(self, sql: str) -> Table:
        """The rows of one SQL statement over the tables. It can read and write no files."""
        return Table(make("run_query", "table_free", self._pointer(), text_argument(sql)), "result")

    def findings(self) -> Findings:
        """The conclusions of `rankscope top` and `rankscope collectives`, with what was lost."""
        return Findings(json.loads(_library.json_text(self._table_handle("findings"))))

    def why(self, *flags: str) -> Report:
        """`rankscope why`: what makes the steps slow, the remedy and its gain."""
        return self._report("why", flags)

    def top(self, *flags: str) -> Report:
        """`rankscope top`: a summary of the trace or of all ranks."""
        return self._report("top", flags)

    def page(self, path: Optional[PathLike] = None, *flags: str) -> Page:
        """`rankscope page`: the interactive page, in a file or (without `path`) in memory."""
        if path is None:
            return Page(self._program("page", [*flags, "-o", "-"]), None)
        file = Path(path)
        self._program("page", [*flags, "-o", os.path.abspath(file)])
        return Page(None, file)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except RankscopeError as error:
            if error.code != 2:
                raise
            raise AttributeError(str(error)) from None

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.tables["name"]})

    def __repr__(self) -> str:
        return f"rankscope run of {', '.join(self._inputs)}"

    def _pointer(self) -> int:
        if not self._handle.pointer:
            raise RankscopeError("the run is closed", 2)
        return self._handle.pointer

    def _table_handle(self, name: str) -> Handle:
        return make("run_table", "table_free", self._pointer(), text_argument(name))

    def _report(self, command: str, flags: Any) -> Report:
        report = Report(lambda more: self._program(command, [*flags, *more]))
        report.text  # now, so that what fails does so here
        return report

    def _program(self, command: str, flags: List[str]) -> str:
        """Standard output of a command of the program over the inputs; no shell is involved."""
        arguments = [program_path(), command, *self._inputs, "-q"]
        for name, value in self._options.items():
            if name in _TABLES_ONLY:
                continue
            flag = "--" + name.replace("_", "-")
            if isinstance(value, bool):
                arguments += [flag] if value else []
            else:
                arguments.append(f"{flag}={_text(value)}")
        arguments += flags
        try:
            done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise RankscopeError(f"{arguments[0]}: {error.strerror}", 7) from None
        if done.returncode not in (0, 4):  # 4: some events or ranks were lost; the rest is there
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            message = lines[-1] if lines else f"{command} failed with exit code {done.returncode}"
            raise RankscopeError(message, done.returncode)
        return done.stdout.decode("utf-8", "replace")


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(int(value))
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def open(path: Union[PathLike, List[PathLike]], **options: Any) -> Run:
    """Opens a trace, a folder of rank traces (or a list of both, of one run) or a sweep.

    Options are the flags of `rankscope query`: jobs, cache (a folder, None for no cache), gpu_arch,
    gpus_per_node, memory_mib, trace_name, step, trace_pattern, rank_regex, config_regex,
    require_all_ranks, files_as_runs. Raises RankscopeError where there is no trace."""
    paths = path if isinstance(path, (list, tuple)) else [path]
    return Run([os.path.abspath(os.fspath(p)) for p in paths], options)
