"""Findings, and what commands of the program answer."""

import functools
import html
import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Union, overload


class Finding(Dict[str, Any]):
    """A conclusion with its evidence: a dict of the columns of docs/findings.md."""

    @property
    def headline(self) -> str:
        """The effect, without a full stop."""
        return self.get("headline") or ""

    @property
    def evidence(self) -> str:
        """The numbers behind it."""
        return self.get("evidence") or ""

    @property
    def action(self) -> str:
        """What to do about it; may be empty."""
        return self.get("action") or ""

    def __str__(self) -> str:
        return ". ".join(part for part in (self.headline, self.evidence, self.action) if part) + "."


class Findings(Sequence[Finding]):
    """Findings in their order. `problems`: what the traces lost, as docs/json.md describes it."""

    def __init__(self, document: Dict[str, Any], table: str = "findings") -> None:
        self.problems: List[Dict[str, Any]] = document.get("problems", [])
        sheet = document["tables"].get(table, {"ids": [], "rows": []})
        self._all = [Finding(zip(sheet["ids"], row)) for row in sheet["rows"]]

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> List[Finding]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Finding, List[Finding]]:
        return self._all[index]

    def __repr__(self) -> str:
        return "\n".join(f"{i}. {finding}" for i, finding in enumerate(self._all, 1)) or "no findings"

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{html.escape(f.headline)}</b>"
            + (f"<br>{html.escape(f.evidence)}" if f.evidence else "")
            + (f"<br><i>{html.escape(f.action)}</i>" if f.action else "")
            + "</li>"
            for f in self._all
        )
        return f"<ol>{items}</ol>" if items else "<p>no findings</p>"


class Report:
    """What a command answers: `text` for the terminal, `findings`, `tables`, `problems`."""

    def __init__(self, run: Callable[[List[str]], str]) -> None:
        self._run = run

    @functools.cached_property
    def text(self) -> str:
        """The page that the command prints."""
        return self._run([])

    @functools.cached_property
    def _document(self) -> Dict[str, Any]:
        out: Dict[str, Any] = json.loads(self._run(["--json"]))
        return out

    @property
    def findings(self) -> Findings:
        """The findings of the command."""
        return Findings(self._document)

    @property
    def tables(self) -> Dict[str, Dict[str, List[Any]]]:
        """A list of values for each column of each table."""
        out = {}
        for name, sheet in self._document["tables"].items():
            columns = list(zip(*sheet["rows"])) or [()] * len(sheet["ids"])
            out[name] = {column: list(values) for column, values in zip(sheet["ids"], columns)}
        return out

    @property
    def problems(self) -> List[Dict[str, Any]]:
        """What the traces lost, as docs/json.md describes it."""
        out: List[Dict[str, Any]] = self._document["problems"]
        return out

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Page:
    """An interactive HTML page; Jupyter shows it in a frame. `path` is its file, if it has one."""

    def __init__(self, text: Optional[str], path: Optional[Path]) -> None:
        self._content = text
        self.path = path
        self.height = 800

    @property
    def html(self) -> str:
        """The page itself."""
        if self._content is None and self.path is not None:
            self._content = self.path.read_text(encoding="utf-8")
        return self._content or ""

    def __repr__(self) -> str:
        return f"page {self.path}" if self.path else f"page of {len(self.html):,} characters"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads allow-popups"'
            f' style="width:100%;height:{int(self.height)}px;border:0"></iframe>'
        )
