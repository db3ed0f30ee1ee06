"""How every result of a command shows itself: at a prompt, in a frame, in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from voirdire.tabular import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How a class of results is told, each function as ``"module:name"``.

    Attributes
    ----------
    title : str
        Above it in a notebook.
    rows : str
        The field of which `to_frame` makes a row each, or is, where that is a frame.
    sections : str
        From the result to its sections, as the command prints them.
    said : str
        From the result to its first sentences; empty: the first of each section.
    """

    title: str
    rows: str
    sections: str
    said: str = field(default="")


class AtPrompt:
    """A frozen result that shows itself; `telling` says how its class is told."""

    __slots__ = ()
    telling: ClassVar[Telling]

    def summary(self) -> str:
        """What it comes to, a sentence a line.

        Examples
        --------
        >>> import polars as pl, voirdire
        >>> rows = [(f"i{k}", 1 + k % 5, 1 + k % 5 if k < 60 else None) for k in range(90)]
        >>> frame = pl.DataFrame(rows, schema=["item", "gpt", "ann"], orient="row")
        >>> print(voirdire.correct(frame, reference=["ann"]).summary().partition(" [")[0])
        People would have scored 3.00
        """
        return "\n".join(self._sentences())

    def to_frame(self) -> pl.DataFrame:
        """One row an entry of the result's main list, in the columns of its JSON record.

        Returns
        -------
        DataFrame
            A field of a field has both names: ``corrected_value``, ``corrected_interval_low``. What
            is undefined is null; lists of parts are left out.
        """
        entries = getattr(self, self.telling.rows)
        frame: pl.DataFrame = _of_report("result_frame")(entries)
        return frame

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences and the tables; names are escaped."""
        shown = _of_report("render_result", "_html")
        findings = getattr(self, "findings", ())
        return str(shown(self.telling.title, self._sentences(), self._sections(), findings))

    def _sections(self) -> Sequence[Section]:
        sections: Sequence[Section] = _found(self.telling.sections)(self)
        return sections

    def _sentences(self) -> list[str]:
        if self.telling.said:
            return list(_found(self.telling.said)(self))
        return [one for section in self._sections() if (one := _first_sentence(section.text))]


def _first_sentence(text: str) -> str:
    first, stop, _ = text.partition(". ")
    return f"{first}." if stop else first


def _found(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _of_report(name: str, module: str = "summary") -> Any:
    """How `report` shows a result: found when asked for, as the room above this one."""
    return _found(f"voirdire.report.{module}:{name}")
