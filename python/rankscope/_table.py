"""Tables of a run."""

import html
from typing import Any, Dict, Iterable, List, NamedTuple, Optional

from ._arrow import Stream, column_arrays, column_list
from ._library import Handle, library, stream_capsule

_TYPES = {"l": "integer", "g": "number", "b": "boolean", "U": "text"}
_ROWS_SHOWN = 20
_TEXT_SHOWN = 60


class Column(NamedTuple):
    """A column: its id, the heading in workbooks, the type of its cells, unit and meaning."""

    name: str
    label: str
    type: str
    unit: str
    help: str


class Table:
    """The rows of `rankscope query 'FROM name'`, read from the library whenever they are asked for.

    polars, pyarrow, DuckDB and pandas 3 take a Table as it is (`pyarrow.table(table)`): it has
    `__arrow_c_stream__`, which hands the buffers of the library over without a copy.
    """

    def __init__(self, handle: Handle, name: str) -> None:
        self._handle = handle
        self.name = name

    def __len__(self) -> int:
        """Number of rows."""
        return int(library().rankscope_table_rows(self._handle.pointer))

    @property
    def columns(self) -> List[Column]:
        """The columns, in order."""
        return [
            Column(
                f.name,
                f.metadata.get("label", f.name),
                _TYPES.get(f.format, "text"),
                f.metadata.get("unit", ""),
                f.metadata.get("help", ""),
            )
            for f in Stream(self._handle).fields()
        ]

    def __getitem__(self, column: str) -> List[Any]:
        """The values of one column; None for NULL."""
        return self.to_dict([column])[column]

    def to_dict(self, columns: Optional[Iterable[str]] = None, rows: Optional[int] = None) -> Dict[str, List[Any]]:
        """A list of values for each column (or those named); None for NULL. At most the first `rows`.

        Of columns with the same name (in a result of SQL) the last one counts."""
        stream = Stream(self._handle)
        wanted = self._wanted(stream, columns)
        out: Dict[str, List[Any]] = {name: [] for name, _, _ in wanted}
        left = rows
        for batch in stream.batches():
            for name, arrow_format, place in wanted:
                out[name] += column_list(batch.children[place].contents, arrow_format, left)
            if left is not None:
                left -= min(left, batch.length)
                if left == 0:
                    break
        return out

    def to_numpy(self, columns: Optional[Iterable[str]] = None) -> Dict[str, Any]:
        """A numpy array for each column (or those named). Integers and flags with NULL are masked
        arrays, numbers have NaN and texts None there."""
        import numpy

        out = {}
        for name, values, null in self._arrays(columns):
            if null is not None and values.dtype.kind == "f":
                values[null] = numpy.nan
            elif null is not None and values.dtype.kind != "O":
                values = numpy.ma.masked_array(values, null)  # type: ignore[no-untyped-call]
            out[name] = values
        return out

    def to_pandas(self, columns: Optional[Iterable[str]] = None) -> Any:
        """A pandas.DataFrame. Integers and flags with NULL have the types Int64 and boolean. Needs
        pandas 1.0 or later, and not pyarrow."""
        import numpy
        import pandas

        out = {}
        for name, values, null in self._arrays(columns):
            if null is not None and values.dtype.kind == "f":
                values[null] = numpy.nan
            elif null is not None and values.dtype.kind == "i":
                values = pandas.arrays.IntegerArray(values, null)
            elif null is not None and values.dtype.kind == "b":
                values = pandas.arrays.BooleanArray(values, null)
            out[name] = values
        return pandas.DataFrame(out)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A PyCapsule with an ArrowArrayStream; `requested_schema` is not followed, as the
        interface allows."""
        return stream_capsule(self._handle)

    def __repr__(self) -> str:
        lines = [f"{self.name}: {len(self):,} rows"]
        for column in self.columns:
            unit = f" [{column.unit}]" if column.unit else ""
            lines.append(f"  {column.name}: {column.type}{unit}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns = self.columns
        stream = Stream(self._handle)
        formats = [f.format for f in stream.fields()]
        cells: List[List[Any]] = []
        for batch in stream.batches():
            cells = [column_list(batch.children[c].contents, f, _ROWS_SHOWN) for c, f in enumerate(formats)]
            break
        head = "".join(f'<th title="{html.escape(c.help)}">{html.escape(_heading(c))}</th>' for c in columns)
        body = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in zip(*cells))
        count = len(self)
        more = f" ({_ROWS_SHOWN} shown)" if count > _ROWS_SHOWN else ""
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{html.escape(self.name)}: {count:,} rows{more}</p>"
        )

    def _wanted(self, stream: Stream, columns: Optional[Iterable[str]]) -> List[Any]:
        """Name, format and place of the columns that are asked for, once per name."""
        by_name = {f.name: (f.name, f.format, place) for place, f in enumerate(stream.fields())}
        out = []
        for name in list(by_name) if columns is None else list(dict.fromkeys(columns)):
            if name not in by_name:
                raise KeyError(f"{self.name} has no column {name!r}; it has {', '.join(by_name)}")
            out.append(by_name[name])
        return out

    def _arrays(self, columns: Optional[Iterable[str]]) -> Any:
        """Name, values and NULLs (None: it has no NULLs) of each column."""
        import numpy

        stream = Stream(self._handle)
        wanted = self._wanted(stream, columns)
        parts: List[List[Any]] = [[] for _ in wanted]
        for batch in stream.batches():
            for c, (_, arrow_format, place) in enumerate(wanted):
                parts[c].append(column_arrays(batch.children[place].contents, arrow_format))
        kinds = {"l": numpy.int64, "g": numpy.float64, "b": bool}
        for (name, arrow_format, _), of in zip(wanted, parts):
            empty = numpy.empty(0, dtype=kinds.get(arrow_format, object))
            values = numpy.concatenate([v for v, _ in of]) if of else empty
            null = None
            if any(n is not None for _, n in of):
                null = numpy.concatenate([numpy.zeros(len(v), dtype=bool) if n is None else n for v, n in of])
            yield name, values, null


def _heading(column: Column) -> str:
    return f"{column.name} [{column.unit}]" if column.unit else column.name


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    text = str(value)
    if isinstance(value, float):
        text = f"{value:.6g}"
    short = text if len(text) <= _TEXT_SHOWN else text[: _TEXT_SHOWN - 1] + "\u2026"
    title = "" if short == text else f' title="{html.escape(text)}"'
    return f"<td{title}>{html.escape(short)}</td>"
