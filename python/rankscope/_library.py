"""The functions of librankscope.so (include/rankscope/rankscope_c.h) by ctypes."""

import ctypes
import functools
from typing import Any, List, Optional

from ._native import library_path

_RUN_FUNCTIONS = {
    "open": (ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_void_p)),
    "tables": (ctypes.POINTER(ctypes.c_void_p),),
    "run_table": (ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)),
    "run_query": (ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)),
    "table_stream": (ctypes.c_void_p, ctypes.c_void_p),
    "table_json": (ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)),
}


class RankscopeError(Exception):
    """What failed, where and what to do, in one line. `code` is the exit code of the program for
    the same failure: 2 usage, 3 input unreadable, 6 output failed, 7 missing tool, 70 internal."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded at the first call."""
    path = library_path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise RankscopeError(f"{path}: {error}", 7) from None
    for name, arguments in _RUN_FUNCTIONS.items():
        function = getattr(loaded, "rankscope_" + name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    for name in ("close", "table_free", "free"):
        function = getattr(loaded, "rankscope_" + name)
        function.argtypes = (ctypes.c_void_p,)
        function.restype = None
    loaded.rankscope_table_rows.argtypes = (ctypes.c_void_p,)
    loaded.rankscope_table_rows.restype = ctypes.c_int64
    for name in ("version", "last_error"):
        function = getattr(loaded, "rankscope_" + name)
        function.argtypes = ()
        function.restype = ctypes.c_char_p
    return loaded


def version() -> str:
    """The version of the library."""
    return str(library().rankscope_version().decode())


def check(code: int) -> None:
    """Raises RankscopeError for what a function of the library has returned."""
    if code != 0:
        message = library().rankscope_last_error()
        raise RankscopeError(message.decode("utf-8", "replace"), code)


class Handle:
    """A pointer that the library has made; it is released with this object."""

    pointer: Optional[int] = None

    def __init__(self, pointer: Optional[int], release: str) -> None:
        self.pointer = pointer
        self._release = getattr(library(), "rankscope_" + release)

    def close(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer is not None:
            self._release(pointer)

    def __del__(self) -> None:
        self.close()


def make(function: str, release: str, *arguments: Any) -> Handle:
    """The object that a function of the library writes to its last argument."""
    out = ctypes.c_void_p()
    check(getattr(library(), "rankscope_" + function)(*arguments, ctypes.byref(out)))
    return Handle(out.value, release)


def text_argument(text: str) -> bytes:
    """A text for the library: a path can contain bytes that are not UTF-8."""
    out = text.encode("utf-8", "surrogateescape")
    if b"\0" in out:
        raise RankscopeError("a NUL byte in an argument", 2)
    return out


def text_list(texts: List[str]) -> Any:
    """A list of texts that ends with NULL."""
    return (ctypes.c_char_p * (len(texts) + 1))(*map(text_argument, texts), None)


def json_text(table: Handle) -> str:
    """The rows of a table as the document of docs/json.md."""
    out = ctypes.c_void_p()
    check(library().rankscope_table_json(table.pointer, ctypes.byref(out)))
    try:
        return ctypes.string_at(out.value or 0).decode("utf-8")
    finally:
        library().rankscope_free(out)


def stream_capsule(table: Handle) -> Any:
    """A new stream of the table as the PyCapsule that `__arrow_c_stream__` returns."""
    function = ctypes.PyDLL(library_path()).rankscope_table_capsule  # keeps the interpreter's lock
    function.argtypes = (ctypes.c_void_p,)
    function.restype = ctypes.py_object
    try:
        return function(table.pointer)
    except ValueError:  # NULL
        message = library().rankscope_last_error().decode("utf-8", "replace")
    raise RankscopeError(message, 70)
