"""What a person should know of a session beside its scores: findings on replies, counted by rater,
and what raters say of their own work.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import BROKEN_PLUGIN
from voirdire.files import whole, write_json
from voirdire.protocols import Finds
from voirdire.schema import Finding
from voirdire.store.counts import count_finished
from voirdire.store.raters import model_identity
from voirdire.store.replies import messages_of, rater_number
from voirdire.store.session import (
    OLD_REPLY_FINDINGS,
    RATER_FINDINGS,
    REPLY_FINDINGS,
    is_session,
    read_session,
    session_mode,
)
from voirdire.study import identities
from voirdire.tools import failure_in

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.store.frames import SessionPanel
    from voirdire.store.parsed import Page
    from voirdire.store.raters import Participant
    from voirdire.study import Comparisons


COLUMNS: dict[str, Any] = {
    "rater": pl.String,
    "kind": pl.String,
    "count": pl.Int64,
    "of": pl.Int64,
    "detail": pl.String,
    "places": pl.List(pl.String),
}
#: Flags of parsers and judges that are findings; the others tell how a reply was read.
FLAGS = ("echoes_orders", "no_logprobs", "low_mass", "parser_raised")
#: Flags that mean more where nearly all replies bear them.
SHARES = ("low_mass",)
#: Kinds of a reply's notes that are findings.
_NOTES = ("dropped", "simulated", "unknown_word", "several_messages")
# Only of current and final replies: what an older prompt ran into is not said of this one.
_NOTED = f"""SELECT json_extract(n.value, '$[0]') AS kind, json_extract(n.value, '$[1]') AS about,
count(*) FROM calls c JOIN attempts a ON a.id = c.final, json_each(a.extra, '$.notes') n
WHERE c.rater = ? AND c.current = 1 AND a.extra IS NOT NULL AND kind IN {_NOTES}
GROUP BY kind, about ORDER BY kind, about"""  # noqa: S608
_ENFORCED = "SELECT model, answer FROM abilities WHERE ability = 'json_schema' ORDER BY model"
_ANSWERED_BY = """SELECT c.role, a.model, count(*) FROM calls c JOIN attempts a ON a.id = c.final
WHERE c.rater = ? AND c.current = 1 AND a.model != '' GROUP BY c.role, a.model"""
#: Tasks of several runs, and how many gave the same text in all of them, step by step.
_ALIKE = """SELECT count(*), total(alike) FROM (SELECT min(same) AS alike FROM (
    SELECT c.task, count(DISTINCT iif(a.forgotten, a.hash, a.text)) = 1 AS same,
    count(DISTINCT c.run) AS runs
    FROM calls c JOIN attempts a ON a.id = c.final
    WHERE c.rater = ? AND c.current = 1 AND c.run <= ? GROUP BY c.task, c.step)
  WHERE runs > 1 GROUP BY task)"""
_CUT = """SELECT t.item, t.first, t.second, c.run FROM calls c JOIN tasks t ON t.id = c.task
WHERE c.rater = ? AND c.current = 1 AND c.cut = 1 AND c.run <= ? ORDER BY c.run, t.id"""
#: The last request of each task and run that quotes results of tools: it quotes them all.
_TOLD = """SELECT messages FROM (SELECT c.messages, row_number() OVER (
    PARTITION BY c.task, c.run, c.role ORDER BY c.step DESC) AS nth FROM calls c
  WHERE c.rater = ? AND c.current = 1 AND c.run <= ? AND c.messages LIKE '%"tool"%')
WHERE nth = 1"""
#: The share of tasks with equal texts from which runs are no independent draws.
#: Not 1: a provider's cache gives nearly all replies again, and a few slip past it.
ALIKE = 0.95
_PLACES = 20
_TASK = ("rater", "item", "first", "second", "run")


@dataclass(frozen=True, slots=True)
class ReplyFinding:
    """A finding on a rater's replies, a row of `COLUMNS`: see `reply_findings_frame`."""

    rater: str
    kind: str
    count: int
    of: int | None = None
    detail: str = ""
    places: Sequence[str] = ()


@dataclass
class Flagged:
    """Counts the flagged replies of pages of parsed replies."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    places: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    details: dict[tuple[str, str], str] = field(default_factory=dict)
    tasks: Counter[str] = field(default_factory=Counter)

    def hear(self, page: Page) -> None:
        """Count one page."""
        for rater, count in page.rows.select(_TASK).unique().group_by("rater").len().iter_rows():
            self.tasks[rater] += count
        flags = page.rows.filter(pl.col("flags").list.len() > 0).select(*_TASK, "flags")
        parts = pl.col("flags").struct
        found_flags = (
            flags.explode("flags")
            .with_columns(kind=parts.field("kind"), detail=parts.field("about"))
            .filter(pl.col("kind").is_in(FLAGS))
            # A reply may bear a flag for each attribute; the finding counts replies.
            .unique((*_TASK, "kind"), keep="first", maintain_order=True)
        )
        for (rater, kind), block in found_flags.group_by("rater", "kind", maintain_order=True):
            self._add((str(rater), str(kind)), block)

    def _add(self, key: tuple[str, str], block: pl.DataFrame) -> None:
        self.counts[key] = self.counts.get(key, 0) + block.height
        places = self.places.setdefault(key, [])
        wanted = block.head(_PLACES - len(places)).select("item", "first", "second", "run")
        places += [_place(*row) for row in wanted.iter_rows()]
        self.details.setdefault(key, block["detail"][0] or "")

    def findings(self) -> list[ReplyFinding]:
        """What was counted, by rater and flag."""
        return [
            # Of what share matters where a fault of many is another than that of a few.
            ReplyFinding(
                *key,
                count,
                self.tasks[key[0]] if key[1] in SHARES else None,
                self.details[key],
                self.places[key],
            )
            for key, count in self.counts.items()
        ]


def _place(item: str, first: str, second: str, run: int) -> str:
    systems = ", ".join(name for name in (first, second) if name)
    return (
        f"item {item}" + (f", {systems}" if systems else "") + (f", run {run}" if run > 1 else "")
    )


def _without_parsing(panel: SessionPanel) -> list[ReplyFinding]:
    """Those that need no parsing, on the raters of the study as it ran last."""
    with closing(read_session(panel.folder)) as connection:
        numbered = [
            (participant, rater_number(connection, participant.id))
            for participant in panel.participants
        ]
        return [
            *(row for a, number in numbered for row in _noted(connection, a.id.name, number or -1)),
            *(row for a, number in numbered for row in _several(connection, a, number or -1)),
            *(row for a, number in numbered for row in _alike(connection, a, number or -1)),
            *(row for a, number in numbered for row in _cut(connection, a, number or -1)),
            *(row for a, number in numbered for row in _tools(connection, a, number or -1)),
            *(
                row
                for a, _ in numbered
                for row in _unanswered(connection, a, panel.study.comparisons)
            ),
        ]


def _unanswered(
    connection: sqlite3.Connection, participant: Participant, comparisons: Comparisons
) -> Iterator[ReplyFinding]:
    """Tasks that failed, by kind of fault, and those that were never asked."""
    counts = count_finished(connection, participant, comparisons)
    given_up = counts.faults.total()
    never = counts.tasks - counts.statuses.total() - given_up
    if given_up:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.faults.items()))
        yield ReplyFinding(participant.id.name, "unanswered", given_up, counts.tasks, kinds)
    if never:
        yield ReplyFinding(participant.id.name, "never_asked", never, counts.tasks)


def _noted(connection: sqlite3.Connection, name: str, number: int) -> Iterator[ReplyFinding]:
    """Replies of simulated models, and parameters that were dropped."""
    for kind, about, count in connection.execute(_NOTED, (number,)).fetchall():
        yield ReplyFinding(name, kind, count, None, about)


def _distinct(models: Counter[str]) -> Counter[str]:
    """Names of one model over several roads counted as one, under that which came most often."""
    table, counts = identities(), Counter[str]()
    names: dict[tuple[str, ...], str] = {}
    for model, count in models.most_common():
        counts[names.setdefault(table.identify(model).key, model)] += count
    return counts


def _several(
    connection: sqlite3.Connection, participant: Participant, number: int
) -> Iterator[ReplyFinding]:
    """Replies that came from another model than most, by the names that its provider gave.

    A rater that asks several models, each in a role of its own, expects the names of several: what
    is compared is the replies to one model that was asked.
    """
    answered: dict[str, Counter[str]] = {}
    for role, model, count in connection.execute(_ANSWERED_BY, (number,)).fetchall():
        wanted = participant.spec.asks.get(role) or participant.spec.asks.get("")
        # A role that the study no longer names is compared with itself.
        asked = f"role {role}" if wanted is None else model_identity(wanted.model, wanted.options)
        answered.setdefault(asked, Counter())[model] += count
    answered = {asked: _distinct(models) for asked, models in answered.items()}
    several = [models.most_common() for models in answered.values() if len(models) > 1]
    if several:
        detail = "; ".join(
            ", ".join(f"{model} {count:,}" for model, count in models) for models in several
        )
        odd = sum(count for models in several for _, count in models[1:])
        total = sum(models.total() for models in answered.values())
        yield ReplyFinding(participant.id.name, "several_models", odd, total, detail)


def _alike(
    connection: sqlite3.Connection, participant: Participant, number: int
) -> Iterator[ReplyFinding]:
    """Runs that are one run copied, where a temperature above 0 should have told them apart."""
    # At temperature 0 equal texts are what was asked for.
    if participant.runs < 2 or participant.temperature == 0:
        return
    tasks, alike = map(int, connection.execute(_ALIKE, (number, participant.runs)).fetchone())
    if tasks and alike >= ALIKE * tasks:
        yield ReplyFinding(
            participant.id.name, "runs_identical", alike, tasks, str(participant.runs)
        )


def _tools(
    connection: sqlite3.Connection, participant: Participant, number: int
) -> Iterator[ReplyFinding]:
    """Calls of tools that failed, by tool, with how the first of them did."""
    called, failed = Counter[str](), Counter[str]()
    first: dict[str, str] = {}
    for (messages,) in connection.execute(_TOLD, (number, participant.runs)).fetchall():
        for message in messages_of(connection, messages):
            if message.role != "tool":
                continue
            called[message.name] += 1
            if failure := failure_in(message):
                failed[message.name] += 1
                first.setdefault(message.name, failure)
    if failed:
        detail = "; ".join(
            f"{name} {count:,} of {called[name]:,} ({first[name]})"
            for name, count in failed.most_common()
        )
        yield ReplyFinding(
            participant.id.name, "tools_failed", failed.total(), called.total(), detail
        )


def _cut(
    connection: sqlite3.Connection, participant: Participant, number: int
) -> Iterator[ReplyFinding]:
    """Tasks for which a rater had more steps to take than it may."""
    rows = connection.execute(_CUT, (number, participant.runs)).fetchall()
    if rows:
        places = [_place(*row) for row in rows[:_PLACES]]
        limit = str(participant.max_steps)
        yield ReplyFinding(participant.id.name, "steps_cut", len(rows), None, limit, places)


def write_reply_findings(panel: SessionPanel, flagged: Flagged) -> None:
    """Write the findings on a session's replies beside its tables."""
    folder = panel.folder
    rows = [astuple(one) for one in (*flagged.findings(), *_without_parsing(panel))]
    with whole(folder / REPLY_FINDINGS, mode=session_mode(folder)) as draft:
        pl.DataFrame(rows, schema=COLUMNS, orient="row").write_parquet(draft)
    (folder / OLD_REPLY_FINDINGS).unlink(missing_ok=True)


def reply_findings_frame(folder: str | Path) -> pl.DataFrame:
    """What a person should know of a session's replies, as of when its tables were written.

    Returns
    -------
    polars.DataFrame
        ``rater, kind, count, of`` (tasks in all, null where that is not the question),
        ``detail`` (an example, or the kinds of fault), ``places`` (the first twenty). Kinds are
        ``echoes_orders``, ``no_logprobs``, ``low_mass``, ``parser_raised``, ``dropped`` (a
        parameter, which `detail` names), ``simulated``, ``several_models``, ``unanswered``,
        ``unknown_word`` (of a provider), ``runs_identical`` (`detail` says how many runs),
        ``steps_cut`` (`detail` is the limit), ``tools_failed`` (calls of tools,
        named in `detail`). Empty where the session has none on file.
    """
    path, old = Path(folder) / REPLY_FINDINGS, Path(folder) / OLD_REPLY_FINDINGS
    if not path.is_file() and old.is_file():
        return pl.read_parquet(old).rename({"remark": "kind"})
    return pl.read_parquet(path) if path.is_file() else pl.DataFrame(schema=COLUMNS)


def schema_answers(folder: str | Path) -> dict[str, str]:
    """Model -> *yes* or *no*: whether its server said that it enforces a JSON schema."""
    if not is_session(folder):
        return {}
    with closing(read_session(folder)) as connection:
        rows = connection.execute(_ENFORCED).fetchall()
    return {model.partition(" ")[0]: answer for model, answer in rows}


def keep_findings(folder: str | Path, raters: Iterable[tuple[str, Any]]) -> None:
    """Keep what raters find, given as (name, rater); one that says None keeps what it said before.

    A rater says it by a method `findings() -> sequence of Finding or None`, which few have: one
    whose prompts hold examples tells of leaks.
    """
    rows_by_rater = {name: _said(name, rater) for name, rater in raters if isinstance(rater, Finds)}
    new = {name: rows for name, rows in rows_by_rater.items() if rows is not None}
    if not new:
        return
    write_json(Path(folder) / RATER_FINDINGS, {**_kept(folder), **new}, mode=session_mode(folder))


def rater_findings(name: str, rater: Any) -> tuple[Finding, ...]:
    """What one rater says of what it has asked; nothing where it says nothing."""
    rows = _said(name, rater) if isinstance(rater, Finds) else None
    return tuple(_as_finding(row) for row in rows or ())


def _said(name: str, rater: Finds) -> list[dict[str, Any]] | None:
    """What a rater finds; one that breaks at it is a finding itself."""
    try:
        findings = rater.findings()
        rows = None if findings is None else [asdict(one) for one in findings]
        # A finding that cannot be written is found out here, where the rater can be named.
        json.dumps(rows)
    except BROKEN_PLUGIN as error:
        message = f"{name} was asked for its findings and broke: {type(error).__name__}: {error}"
        broken = Finding(
            "findings_broke", "note", name, 1, (), message, "What it knows of is not told here."
        )
        return [asdict(broken)]
    return rows


def take_findings(folder: str | Path, other: str | Path) -> None:
    """Keep what the raters of another session found beside what those of this one did.

    Each session taken in has a number of its own in the file, so that `kept_findings` adds up what
    several found of one kind, and what each found more than once stays apart.
    """
    kept = _kept(folder)
    for name, rows in _kept(other).items():
        stored = kept.setdefault(name, [])
        # The next free one: pieces come back in any order.
        number = 1 + max((row.get("piece", 0) for row in stored), default=0)
        known_findings = [_as_finding(row) for row in stored]
        stored += [
            {**row, "piece": number} for row in rows if _as_finding(row) not in known_findings
        ]
    if kept:
        write_json(Path(folder) / RATER_FINDINGS, kept, mode=session_mode(folder))


def kept_findings(folder: str | Path) -> tuple[Finding, ...] | None:
    """What a session's raters found, what several found alike once; None where none was asked.

    What a rater found in several pieces of a shared run, or in sessions that were merged, is added
    up by kind.
    """
    kept = _kept(folder)
    if not kept:
        return None
    return tuple(dict.fromkeys(one for rows in kept.values() for one in _together(rows)))


def _together(rows: list[dict[str, Any]]) -> Iterator[Finding]:
    """Findings of one rater, those of one kind from several pieces added up."""
    same: dict[tuple[Any, ...], list[tuple[int, Finding]]] = {}
    for row in rows:
        one = _as_finding(row)
        key = (one.kind, one.severity, one.table, one.consequence, one.attributes)
        same.setdefault(key, []).append((row.get("piece", 0), one))
    for group in same.values():
        pieces, findings = {piece for piece, _ in group}, [one for _, one in group]
        # Two of one kind from the same piece are two things, which no sum may hide.
        if len(findings) == 1 or len(pieces) < len(findings):
            yield from findings
            continue
        total = sum(one.count for one in findings)
        most = max(findings, key=lambda one: one.count)
        message = (
            f"{most.message.rstrip('.')} (in one of {len(findings)} pieces of the work; of this "
            f"kind {total:,} in all)."
        )
        places = tuple(dict.fromkeys(place for one in findings for place in one.places))[:_PLACES]
        yield replace(most, count=total, places=places, message=message)


def _as_finding(row: dict[str, Any]) -> Finding:
    """A finding as JSON holds it: lists for tuples; older files know no attributes."""
    lists = {name: tuple(row.get(name, ())) for name in ("places", "attributes")}
    fields = {name: value for name, value in row.items() if name != "piece"}
    return Finding(**{**fields, **lists})


def _kept(folder: str | Path) -> dict[str, list[dict[str, Any]]]:
    path = Path(folder) / RATER_FINDINGS
    if not path.is_file():
        return {}
    kept: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return kept
