"""Reading a stream of the Arrow C stream interface by ctypes."""

import ctypes
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._library import Handle, RankscopeError, check, library


class ArrowSchema(ctypes.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


class ArrowArray(ctypes.Structure):
    pass


ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("private_data", ctypes.c_void_p),
    ]


class Field(NamedTuple):
    """A column of a stream: name, Arrow's format, and its metadata."""

    name: str
    format: str
    metadata: Dict[str, str]


def _metadata(address: Optional[int]) -> Dict[str, str]:
    """The pairs of a field, in the encoding of the specification."""
    out: Dict[str, str] = {}
    if not address:
        return out
    at = address

    def number() -> int:
        nonlocal at
        value = struct.unpack("=i", ctypes.string_at(at, 4))[0]
        at += 4
        return int(value)

    def text() -> str:
        nonlocal at
        size = number()
        value = ctypes.string_at(at, size).decode("utf-8", "replace")
        at += size
        return value

    for _ in range(number()):
        key = text()
        out[key] = text()
    return out


class Stream:
    """A reading of a table of the library; released with this object."""

    def __init__(self, table: Handle) -> None:
        self._stream = ArrowArrayStream()
        check(library().rankscope_table_stream(table.pointer, ctypes.addressof(self._stream)))

    def __del__(self) -> None:
        if self._stream.release:
            self._stream.release(ctypes.addressof(self._stream))

    def _check(self, code: int) -> None:
        if code != 0:
            text = self._stream.get_last_error(ctypes.addressof(self._stream)) or b"reading failed"
            raise RankscopeError(text.decode("utf-8", "replace"), 70)

    def fields(self) -> List[Field]:
        """The columns."""
        schema = ArrowSchema()
        self._check(self._stream.get_schema(ctypes.addressof(self._stream), ctypes.addressof(schema)))
        try:
            children = [schema.children[i].contents for i in range(schema.n_children)]
            return [
                Field(c.name.decode("utf-8", "replace"), c.format.decode(), _metadata(c.metadata)) for c in children
            ]
        finally:
            schema.release(ctypes.addressof(schema))

    def batches(self) -> Iterator[ArrowArray]:
        """The batches; each is valid until the next one is asked for."""
        while True:
            batch = ArrowArray()
            self._check(self._stream.get_next(ctypes.addressof(self._stream), ctypes.addressof(batch)))
            if not batch.release:
                return
            try:
                yield batch
            finally:
                batch.release(ctypes.addressof(batch))


def _valid(column: ArrowArray) -> Optional[bytes]:
    """Bytes of the bits that say which rows have a value; None: all have."""
    address = column.buffers[0]
    if column.null_count == 0 or not address:
        return None
    return ctypes.string_at(address, (column.length + 7) // 8)


def column_list(column: ArrowArray, arrow_format: str, most: Optional[int] = None) -> List[Any]:
    """The values of a column of a batch, None for NULL; at most the first `most`."""
    n = column.length if most is None else min(column.length, most)
    if n == 0:
        return []
    address = column.buffers[1] or 0
    values: List[Any]
    if arrow_format == "l":
        values = (ctypes.c_int64 * n).from_address(address)[:]
    elif arrow_format == "g":
        values = (ctypes.c_double * n).from_address(address)[:]
    elif arrow_format == "b":
        bits = ctypes.string_at(address, (n + 7) // 8)
        values = [bool(bits[i >> 3] >> (i & 7) & 1) for i in range(n)]
    else:
        values = _texts(column, n)
    valid = _valid(column)
    if valid is not None:
        values = [v if valid[i >> 3] >> (i & 7) & 1 else None for i, v in enumerate(values)]
    return values


def _texts(column: ArrowArray, n: int) -> List[str]:
    ends = (ctypes.c_int64 * (n + 1)).from_address(column.buffers[1])[:]
    raw = ctypes.string_at(column.buffers[2] or 0, ends[n]) if ends[n] else b""
    known: Dict[bytes, str] = {}  # names repeat: one object for each
    out = []
    for i in range(n):
        piece = raw[ends[i] : ends[i + 1]]
        text = known.get(piece)
        if text is None:
            text = known[piece] = piece.decode("utf-8", "replace")
        out.append(text)
    return out


def column_arrays(column: ArrowArray, arrow_format: str) -> Tuple[Any, Any]:
    """The values of a column of a batch as a numpy array, and which are NULL (None: none is)."""
    import numpy

    n = column.length
    valid = _valid(column)
    null = None
    if valid is not None:
        bits = numpy.frombuffer(valid, dtype=numpy.uint8)
        null = numpy.unpackbits(bits, bitorder="little", count=n) == 0
    if arrow_format in ("l", "g"):
        raw = (ctypes.c_char * (8 * n)).from_address(column.buffers[1]) if n else b""
        return numpy.frombuffer(raw, dtype=numpy.int64 if arrow_format == "l" else numpy.float64).copy(), null
    if arrow_format == "b":
        bits = numpy.frombuffer(ctypes.string_at(column.buffers[1], (n + 7) // 8), dtype=numpy.uint8)
        return numpy.unpackbits(bits, bitorder="little", count=n).astype(bool), null
    values = numpy.empty(n, dtype=object)
    values[:] = column_list(column, arrow_format)
    return values, null
