"""The grid of uses: judges beside what each may be used for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from voirdire.examining.spec import ACTIONS, REASONS, USES
from voirdire.examining.spec.reasons import LOOK
from voirdire.late import dataclass
from voirdire.report.answers import (
    JudgeAnswer,
    answers,
    attributes_of,
    components_section,
    scope_text,
    sureness_section,
    uses_of,
    why_section,
)
from voirdire.report.sentences import next_text
from voirdire.tabular import Section, Table, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import State

#: Rows of a grid that has uses as its columns.
_MOST_LINES = 8
#: The marks of a cell: a state a use.
Cell = tuple[tuple[str, "State"], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of the first screen: a row a judge (or judge and attribute), marks in its cells.

    Attributes
    ----------
    corner : str
        What stands above the names of the rows.
    columns : tuple of str
        Uses, where each cell has one mark; else judges or attributes (whichever are fewer), with a
        mark a use in each cell.
    rows : tuple of (name, cells)
        A cell is a tuple of (use, state); empty where there is no verdict.
    judges : "rows", "columns"
        Where the judges stand, in the order of the answers; `places` are theirs in it.
    places : tuple of int
        Position of the answer of each row (or column).
    uses : tuple of str
        Those shown, in order.
    untested : str
        Which uses were not tested for any judge, and why; they have no column.
    """

    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    judges: Literal["rows", "columns"]
    places: tuple[int, ...]
    uses: tuple[str, ...]
    untested: str

    @property
    def titles(self) -> tuple[str, ...]:
        """The uses as people call them."""
        return tuple(USES[use].title for use in self.uses)

    @property
    def heads(self) -> tuple[str, ...]:
        """The columns as people call them."""
        return self.titles if self.by_use else self.columns

    @property
    def by_use(self) -> bool:
        """Whether the columns are uses."""
        return self.columns == self.uses


def grid_of(examination: Examination, answers: Sequence[JudgeAnswer]) -> Grid:
    """Uses as columns while the rows are few, else attributes with a mark a use in each cell."""
    attributes = attributes_of(examination)
    called = _called(attributes)
    tested = tuple(
        use
        for use in uses_of(examination)
        if any(v.use == use and v.state != "not tested" for v in examination.verdicts)
    )
    shown = tested or uses_of(examination)

    untested = _untested(examination, tested)

    def marks(answer: JudgeAnswer, name: str, uses: Iterable[str]) -> Cell:
        pairs = ((use, answer.verdict(name, use)) for use in uses)
        return tuple((use, one.state) for use, one in pairs if one is not None)

    if len(answers) * len(attributes) <= _MOST_LINES or len(attributes) == 1:
        lines = [
            (at, answer, name) for at, answer in enumerate(answers) for name in answer.attributes
        ]
        rows = tuple(
            (
                answer.name if len(attributes) == 1 else f"{answer.name}, {called[name]}",
                tuple(marks(answer, name, (use,)) for use in shown),
            )
            for _, answer, name in lines
        )
        places = tuple(at for at, _, _ in lines)
        return Grid("Judge", shown, rows, "rows", places, shown, untested)
    names, places = tuple(answer.name for answer in answers), tuple(range(len(answers)))
    if len(attributes) > len(answers):
        rows = tuple(
            (called[n], tuple(marks(answer, n, shown) for answer in answers)) for n in attributes
        )
        return Grid("Attribute", names, rows, "columns", places, shown, untested)
    rows = tuple((one.name, tuple(marks(one, n, shown) for n in attributes)) for one in answers)
    columns = tuple(called.values())
    return Grid("Judge", columns, rows, "rows", places, shown, untested)


def _called(attributes: Sequence[str]) -> dict[str, str]:
    """Attribute, or attribute and label -> its name in the grid: labels of one question alone.

    >>> _called(["intent", "intent:refund"])
    {'intent': 'intent', 'intent:refund': 'refund'}
    """
    question = min(attributes, key=len, default="")
    prefix = f"{question}:"
    alone = all(name == question or name.startswith(prefix) for name in attributes)
    called = {name: name.removeprefix(prefix) if alone else name for name in attributes}
    # A label that is called as its question is needs both.
    return called if len({*called.values()}) == len(called) else {one: one for one in attributes}


def _untested(examination: Examination, tested: Sequence[str]) -> str:
    """The uses without a column, those of one reason together, and what would test them."""
    found: dict[str, list[str]] = {}
    steps: dict[str, None] = {}
    for use in uses_of(examination) if tested else ():
        if use in tested:
            continue
        own = [v for v in examination.verdicts if v.use == use]
        why = next((REASONS[v.reason].words for v in own if v.reason), "")
        found.setdefault(why, []).append(USES[use].title)
        # Of several steps those that are a command: the others are in the report.
        steps |= {
            next_text(v.next, v.state): None for v in own if ACTIONS[v.next.action].command != LOOK
        }
    clauses = [
        f"{', '.join(names)} ({why})" if why else ", ".join(names) for why, names in found.items()
    ]
    said = f"Not tested: {'; '.join(clauses)}." if clauses else ""
    return " ".join((said, *filter(None, steps))) if said else ""


def grid_section(examination: Examination, answers: Sequence[JudgeAnswer]) -> Section:
    """The sentences, and the grid: judges by attributes, one sign a use."""
    uses, attributes = uses_of(examination), attributes_of(examination)
    columns = (text("Use"), *(text(f"On {name}") for name in attributes))
    rows = []
    for answer in answers:
        for use in uses:
            states = [answer.verdict(name, use) for name in attributes]
            cells = [None if one is None else one.state for one in states]
            rows.append((f"{answer.name}: {USES[use].title}", *cells))
    return Section(
        "What each judge may be used for",
        " ".join((*(answer.sentence for answer in answers), scope_text(examination))),
        (Table(columns, tuple(rows)),),
    )


def answer_sections(examination: Examination) -> dict[str, Section]:
    """Name -> section: the grid with its sentences, why and what next, every component."""
    shown = answers(examination)
    if not shown:
        return {}
    return {
        "answers": grid_section(examination, shown),
        "why": why_section(shown),
        "components": components_section(shown),
        "sureness": sureness_section(shown),
    }
