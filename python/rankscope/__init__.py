"""Tables, findings and pages of traces of distributed GPU runs.

>>> import rankscope as rs
>>> run = rs.open("run")           # a trace, a folder of rank traces, or a sweep
>>> run.kernels.to_pandas()        # a table; run.tables lists them
>>> run.findings()                 # conclusions with their evidence
>>> run.why()                      # what makes the steps slow, and the remedy

docs/python.md of the project has more. Needs nothing besides the standard library.
"""

from ._library import RankscopeError, version
from ._run import Run, open
from ._report import Finding, Findings, Page, Report
from ._table import Column, Table

__all__ = ["Column", "Finding", "Findings", "Page", "RankscopeError", "Report", "Run", "Table", "open", "version"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'rankscope' has no attribute '{name}'")
