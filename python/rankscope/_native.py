"""Where the library and the program of this package are."""

import os
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "_native"


def library_path() -> str:
    """librankscope.so; RANKSCOPE_LIBRARY names another one."""
    return os.environ.get("RANKSCOPE_LIBRARY") or str(_FOLDER / "lib" / "librankscope.so.1")


def program_path() -> str:
    """The command-line program; RANKSCOPE_PROGRAM names another one."""
    return os.environ.get("RANKSCOPE_PROGRAM") or str(_FOLDER / "bin" / "rankscope")
