"""What a person should know of a session's replies beside their scores, counted by rater."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire._manager import plugins as loaded_plugins
from voirdire.files import whole
from voirdire.store._counts import count_settled
from voirdire.store._frames import session_study
from voirdire.store._raters import askers
from voirdire.store._replies import seat_number
from voirdire.store._session import read_session

if TYPE_CHECKING:
    import sqlite3
    from collections import Counter
    from collections.abc import Iterator

    from voirdire._registry import Plugins
    from voirdire.store._raters import Asker
    from voirdire.study import Comparisons

FILE = "remarks.parquet"
REMARKS: dict[str, Any] = {
    "rater": pl.String, "remark": pl.String, "count": pl.Int64, "of": pl.Int64,
    "detail": pl.String, "places": pl.List(pl.String),
}  # fmt: skip
#: Flags of parsers and judges that are remarks; the others tell how a reply was read.
FLAGS = ("echoes_orders", "no_logprobs", "low_mass", "parser_raised")
_NOTED = """SELECT substr(n.value, 1, instr(n.value, ':') - 1) AS note, count(*)
FROM calls c JOIN attempts a ON a.id = c.final, json_each(a.extra, '$.notes') n
WHERE c.rater = ? AND c.current = 1 AND a.extra IS NOT NULL AND (n.value LIKE 'dropped %:%'
OR n.value LIKE 'simulated:%') GROUP BY note ORDER BY note"""
_ANSWERED_BY = """SELECT a.model, count(*) FROM calls c JOIN attempts a ON a.id = c.final
WHERE c.rater = ? AND c.current = 1 AND a.model != '' GROUP BY a.model ORDER BY 2 DESC, 1"""
_PLACES = 20
_TASK = ("rater", "item", "first", "second", "run")


@dataclass
class Flagged:
    """Counts the flagged replies of pages of parsed replies."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    places: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    details: dict[tuple[str, str], str] = field(default_factory=dict)

    def hear(self, page: pl.DataFrame) -> None:
        """Count one page: one row a task and attribute, `flags` on the first row of each task."""
        flags = page.filter(pl.col("flags").list.len() > 0).select(*_TASK, "flags")
        parts = pl.col("flags").str.splitn(":", 2).struct
        found = (
            flags.explode("flags")
            .with_columns(remark=parts.field("field_0"), detail=parts.field("field_1"))
            .filter(pl.col("remark").is_in(FLAGS))
            .unique((*_TASK, "remark"), keep="first", maintain_order=True)
        )
        for (rater, remark), block in found.group_by("rater", "remark", maintain_order=True):
            self._add((str(rater), str(remark)), block)

    def _add(self, key: tuple[str, str], block: pl.DataFrame) -> None:
        self.counts[key] = self.counts.get(key, 0) + block.height
        places = self.places.setdefault(key, [])
        wanted = block.head(_PLACES - len(places)).select("item", "first", "second", "run")
        places += [_place(*row) for row in wanted.iter_rows()]
        self.details.setdefault(key, block["detail"][0] or "")

    def rows(self) -> list[tuple[Any, ...]]:
        """Rows of `REMARKS`."""
        return [
            (*key, count, None, self.details[key], self.places[key])
            for key, count in self.counts.items()
        ]


def _place(item: str, first: str, second: str, run: int) -> str:
    systems = ", ".join(name for name in (first, second) if name)
    return (
        f"item {item}" + (f", {systems}" if systems else "") + (f", run {run}" if run > 1 else "")
    )


def kept_remarks(folder: str | Path, plugins: Plugins | None = None) -> list[tuple[Any, ...]]:
    """Rows of `REMARKS` that need no parsing: on the raters of the study as it ran last."""
    study = session_study(folder)
    with closing(read_session(folder)) as connection:
        found = [(asker, seat_number(connection, asker.seat))
                 for asker in askers(study, plugins or loaded_plugins())]  # fmt: skip
        return [
            *(row for a, seat in found for row in _noted(connection, a.seat.name, seat or -1)),
            *(row for a, seat in found for row in _several(connection, a.seat.name, seat or -1)),
            *(row for a, _ in found for row in _unanswered(connection, a, study.comparisons)),
        ]


def _unanswered(
    connection: sqlite3.Connection, asker: Asker, comparisons: Comparisons
) -> Iterator[tuple[Any, ...]]:
    """Tasks that failed, by kind of fault, and that were never asked."""
    counts = count_settled(connection, asker, comparisons)
    missing = counts.tasks - counts.statuses.total()
    if missing:
        detail = _why(counts.faults, missing)
        yield asker.seat.name, "unanswered", missing, counts.tasks, detail, []


def _noted(connection: sqlite3.Connection, name: str, seat: int) -> Iterator[tuple[Any, ...]]:
    """Replies of simulated models, and parameters that were dropped."""
    for note, count in connection.execute(_NOTED, (seat,)).fetchall():
        remark, _, detail = note.partition(" ")
        yield name, remark, count, None, detail, []


def _several(connection: sqlite3.Connection, name: str, seat: int) -> Iterator[tuple[Any, ...]]:
    """Replies that came from another model than most, by the names that its provider gave."""
    found = connection.execute(_ANSWERED_BY, (seat,)).fetchall()
    if len(found) > 1:
        detail = ", ".join(f"{model} {count:,}" for model, count in found)
        total = sum(count for _, count in found)
        yield name, "several_models", total - found[0][1], total, detail, []


def _why(faults: Counter[str], missing: int) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(faults.items()))
    parts = [f"{faults.total():,} given up ({kinds})"] if faults else []
    never = missing - faults.total()
    parts += [f"{never:,} never asked"] if never else []
    return " and ".join(parts)


def write_remarks(folder: Path, flagged: Flagged, plugins: Plugins | None) -> None:
    """Write the remarks on a session's replies beside its tables."""
    rows = [*flagged.rows(), *kept_remarks(folder, plugins)]
    with whole(folder / FILE) as draft:
        pl.DataFrame(rows, schema=REMARKS, orient="row").write_parquet(draft)


def remarks_frame(folder: str | Path) -> pl.DataFrame:
    """What a person should know of a session's replies, as of when its tables were written.

    Returns
    -------
    polars.DataFrame
        ``rater, remark, count, of`` (tasks in all, null where that is not the question),
        ``detail`` (an example, or the kinds of fault), ``places`` (the first twenty). Remarks are
        ``echoes_orders``, ``no_logprobs``, ``low_mass``, ``parser_raised``, ``dropped`` (a
        parameter, which `detail` names), ``simulated``, ``several_models``, ``unanswered``. Empty
        where the session has none on file.
    """
    path = Path(folder) / FILE
    return pl.read_parquet(path) if path.is_file() else pl.DataFrame(schema=REMARKS)
