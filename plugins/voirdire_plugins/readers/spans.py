"""Traces as tidy ratings: spans and evaluations of any maker, joined by their ids.

Whatever their order and number, spans lie in a temporary database on disk until they are joined:
memory holds the judgements alone.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from voirdire.errors import TableError
from voirdire.tables import ReadingBuilder
from voirdire.units import Unit
from voirdire_plugins.readers.sourced import judge
from voirdire_plugins.readers.steps import (
    MESSAGES,
    TracedStep,
    Trajectory,
    numbered,
    steps_of_span,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from voirdire.schema import Rating
    from voirdire.tables import Reading

#: Words for who evaluated that speak of people, and of programs; any other is said and asked about.
_PEOPLE = frozenset(("human", "person", "user", "annotator", "expert"))
_PROGRAMS = frozenset(
    ("llm", "llm_judge", "llm-judge", "model", "code", "deterministic", "heuristic", "program")
)
#: Where each is told, by the semantic conventions, by OpenInference and by makers that went ahead.
_RATERS = (
    "gen_ai.evaluation.evaluator.name",
    "gen_ai.evaluation.evaluator.id",
    "gen_ai.evaluation.evaluator",
    "gen_ai.evaluator.name",
    "gen_ai.evaluator.id",
)
_KINDS = ("gen_ai.evaluation.evaluator.type", "gen_ai.evaluator.type")
_TABLES = """
CREATE TABLE span (
    trace TEXT, span TEXT, parent TEXT, start INTEGER, conversation TEXT, system TEXT,
    response TEXT, evaluates INTEGER, told TEXT, details TEXT,
    UNIQUE (trace, span) ON CONFLICT IGNORE);
CREATE TABLE details (trace TEXT, span TEXT, told TEXT);
CREATE TABLE evaluation (
    trace TEXT, span TEXT, scope TEXT, response TEXT, name TEXT, told TEXT, place TEXT);
"""
_KEEP = "INSERT INTO span VALUES (?,?,?,?,?,?,?,?,?,?)"
_KEPT = "SELECT parent, told FROM span WHERE trace = ? AND span = ?"
_SPANS = """
SELECT trace, span, parent, conversation, system, evaluates, told, details FROM span
WHERE ? OR trace IN (SELECT trace FROM evaluation) ORDER BY trace, start, rowid
"""
_READY = """
UPDATE span SET parent = '' WHERE parent = span;
UPDATE span SET parent = '' WHERE parent != '' AND trace IN (
    SELECT trace FROM span s GROUP BY trace HAVING min(parent) != '' AND 1 = sum(NOT EXISTS (
        SELECT 1 FROM span p WHERE p.trace = s.trace AND p.span = s.parent)))
AND NOT EXISTS (SELECT 1 FROM span p WHERE p.trace = span.trace AND p.span = span.parent);
UPDATE span SET parent = '?' WHERE parent = '' AND EXISTS (
    SELECT 1 FROM span s WHERE s.trace = span.trace AND s.parent = ''
    AND (s.start, s.rowid) < (span.start, span.rowid));
CREATE INDEX by_trace ON evaluation (trace);
CREATE INDEX by_response ON span (response) WHERE response != '';
CREATE INDEX by_span ON span (span);
UPDATE evaluation SET trace = (SELECT trace FROM span WHERE span.span = evaluation.span)
WHERE trace = '' AND span IN (SELECT span FROM span);
UPDATE span SET details = (
    SELECT told FROM details d WHERE d.trace = span.trace AND d.span = span.span)
WHERE (trace, span) IN (SELECT trace, span FROM details);
UPDATE evaluation SET (trace, span) = (
    SELECT span.trace, span.span FROM span WHERE span.response = evaluation.response)
WHERE response IN (SELECT response FROM span WHERE response != '');
"""
#: Traces that were evaluated, of which spans are in the file and none of them is the first.
_ROOTLESS = """
SELECT count(*) FROM (
    SELECT 1 FROM span WHERE trace IN (SELECT trace FROM evaluation)
    GROUP BY trace HAVING min(parent) != '')
"""
_LEVELS = """
SELECT DISTINCT name, CASE
    WHEN scope = 'session' THEN 'conversation'
    WHEN scope = 'trace' OR e.span = '' OR s.parent = '' THEN 'run' ELSE 'step' END
FROM evaluation e LEFT JOIN span s ON e.trace = s.trace AND e.span = s.span
"""


class SpanEvaluation(NamedTuple):
    """What somebody said of a span, a trace or a conversation.

    `kind` is the maker's word for who evaluated (human, LLM); empty where it says nothing.
    """

    name: str
    score: Any = None
    label: Any = None
    reason: Any = None
    rater: str = ""
    kind: str = ""
    error: str = ""


class Run:
    """One trace: its steps, and what is known of its spans."""

    def __init__(self, trace: str) -> None:
        self.trace = trace
        self.trajectory = Trajectory()
        self.conversation = self.system = self.root = ""
        self.given: str | None = None
        self.gave: str | None = None
        #: Of each span whether it evaluates others, and what it gave.
        self.spans: dict[str, tuple[bool, str | None]] = {}

    def add(
        self,
        span: str,
        parent: str,
        conversation: str,
        system: str,
        evaluates: int,
        told: str,
        details: str | None,
    ) -> None:
        """A span, in the order in which they began; `details` says what an event tells of it."""
        given, made, asked, gave = json.loads(told)
        if details and not (given or made):
            given, made = json.loads(details)
        self.spans[span] = bool(evaluates), gave
        self.conversation = self.conversation or conversation
        if not parent:
            self.root, self.given, self.gave = span, asked, gave
        self.system = system if not parent or not self.system else self.system
        self.trajectory.add(
            span, (TracedStep(*one) for one in given), (TracedStep(*one) for one in made)
        )

    @property
    def asked(self) -> str | None:
        """What was put to it."""
        return self.trajectory.asked or self.given

    @property
    def answered(self) -> str | None:
        """What it gave in the end."""
        return self.gave or self.trajectory.answered


class SpanTraces:
    """Spans and evaluations as they come, and what is read of them once all are there."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.spans = self.again = self.other = self.evaluations = self.unread = 0

    def span(
        self,
        trace: str,
        span: str,
        parent: str,
        start: int,
        attributes: Mapping[str, Any],
        *,
        system: str = "",
        place: str,
    ) -> None:
        """Keep a span, and the evaluations among its attributes."""
        self.spans += 1
        given, made = steps_of_span(attributes)
        own = attributes.get("gen_ai.agent.name") or attributes.get("agent.name") or system
        plain = (attributes.get("input.value"), attributes.get("output.value"))
        told = (given, made, *(None if one is None else text_of(one) for one in plain))
        row = (
            trace,
            span,
            parent,
            start,
            text_of(attributes.get("gen_ai.conversation.id", attributes.get("session.id"))),
            text_of(own),
            text_of(attributes.get("gen_ai.response.id")) if made else "",
            attributes.get("openinference.span.kind") == "EVALUATOR",
            json.dumps(told),
            None,
        )
        if not self.database.execute(_KEEP, row).rowcount:
            self.again += 1
            first = self.database.execute(_KEPT, (trace, span)).fetchone()
            self.other += first != (parent, row[8])
            return
        self.unread += not (given or made) and any(attributes.get(key) for key in MESSAGES)
        for scope, evaluation in annotations_of(attributes):
            self.evaluation(trace, span, evaluation, scope=scope, place=place)

    def details(self, trace: str, span: str, attributes: Mapping[str, Any]) -> None:
        """Keep what an event tells of a span: what a model was given and said."""
        told = json.dumps(steps_of_span({"gen_ai.operation.name": "chat", **attributes}))
        self.database.execute("INSERT INTO details VALUES (?,?,?)", (trace, span, told))

    def evaluation(
        self,
        trace: str,
        span: str,
        said: SpanEvaluation,
        *,
        scope: str = "span",
        response: str = "",
        place: str,
    ) -> None:
        """Keep an evaluation until all spans are there."""
        self.evaluations += 1
        row = (trace, span, scope, response, said.name, json.dumps(said[1:]), place)
        self.database.execute("INSERT INTO evaluation VALUES (?,?,?,?,?,?,?)", row)

    def runs(self, *, rated: bool = False) -> Iterator[Run]:
        """Each trace with its steps; only those that have evaluations where `rated`."""
        found = self.database.execute(_SPANS, (not rated,))
        run: Run | None = None
        for trace, *columns in found:
            if run is None or run.trace != trace:
                if run is not None:
                    yield run
                run = Run(trace)
            run.add(*columns)
        if run is not None:
            yield run

    def trajectories(self) -> Iterator[Rating]:
        """Each run that has steps, as what a judge is asked about."""
        self.database.executescript(_READY)
        for run in self.runs():
            if run.trajectory.steps:
                yield run.trajectory.of(run.trace, run.system or "agent", run.conversation)

    def judge(self, rows: ReadingBuilder) -> None:
        """Add the evaluations, as judgements of runs and steps."""
        self.database.executescript(_READY)
        levels: dict[str, set[str]] = {}
        for name, level in self.database.execute(_LEVELS):
            levels.setdefault(name, set()).add(level)
        judging = _Judging(rows, levels)
        for run in self.runs(rated=True):
            for row in self._of(run.trace):
                judging.add(run, *row)
        absent = "SELECT DISTINCT trace FROM evaluation WHERE trace NOT IN (SELECT trace FROM span)"
        for (trace,) in self.database.execute(absent):
            for row in self._of(trace):
                judging.add(Run(trace), *row)
        judging.end()
        self._account(rows)

    def _of(self, trace: str) -> sqlite3.Cursor:
        return self.database.execute(
            "SELECT span, scope, name, told, place FROM evaluation WHERE trace = ? ORDER BY rowid",
            (trace,),
        )

    def _account(self, rows: ReadingBuilder) -> None:
        if self.again:
            rows.note(
                "spans_again",
                f"{self.again:,} spans stand in the file more than once.",
                "The first of each counts.",
                serious=False,
            )
        if self.other:
            rows.note(
                "span_ids_shared",
                f"{self.other:,} spans have the id of an earlier one of their trace, and say "
                "something else.",
                "The first of each counts; the steps of the others are in no run.",
            )
        if self.unread:
            rows.note(
                "messages_unread",
                f"The messages of {self.unread:,} spans are not in the form of the semantic "
                "conventions.",
                "What these spans said is no step of a run.",
            )
        (rootless,) = self.database.execute(_ROOTLESS).fetchone()
        if rootless:
            rows.note(
                "first_span_absent",
                f"Of {rootless:,} traces the first span is not in the file, or spans are each "
                "other's parents.",
                "Evaluations of their spans are read as of steps, and none as of the run.",
            )


@contextmanager
def traces() -> Iterator[SpanTraces]:
    """An empty collection of spans, in a database that ends with it."""
    # An empty name is a file of SQLite's own, which it writes only once its cache is full.
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_TABLES}")
        database.execute("BEGIN")
        yield SpanTraces(database)


Collect: TypeAlias = "Callable[[Sequence[Path], SpanTraces, ReadingBuilder], None]"


def judged_spans(maker: str, paths: Sequence[Path], collect: Collect) -> Reading:
    """What is said of runs and steps in files; `collect` keeps the spans of their maker."""
    rows = ReadingBuilder(maker, _names(paths))
    with traces() as kept:
        collect(paths, kept, rows)
        if kept.spans and not kept.evaluations:
            raise TableError(
                f"{rows.file}: {kept.spans:,} spans without any rating of them. If evaluations lie "
                "in another file (logs), name it beside this one; to have the runs judged, write "
                f"them by `voirdire import {paths[0].name} --messages --out runs.jsonl`"
            )
        kept.judge(rows)
        return rows.reading()


def runs_of_spans(maker: str, paths: Sequence[Path], collect: Collect) -> Iterator[Rating]:
    """Each trace of the files as a run with its steps, evaluated or not."""
    with traces() as kept:
        collect(paths, kept, ReadingBuilder(maker, _names(paths)))
        yield from kept.trajectories()


def _names(paths: Sequence[Path]) -> str:
    return " and ".join(path.name for path in paths)


class _Judging:
    """Makes judgements of evaluations, and counts what is not known of them."""

    def __init__(self, rows: ReadingBuilder, levels: Mapping[str, set[str]]) -> None:
        self.rows, self.levels = rows, levels
        self.unplaced = self.unnamed = 0
        self.unclear: dict[str, str] = {}

    def add(self, run: Run, span: str, scope: str, name: str, told: str, place: str) -> None:
        """One evaluation, of a run that may hold no span where the file has none."""
        said = SpanEvaluation(name, *json.loads(told))
        if not name.strip():
            self.rows.skip("the evaluation has no name", place)
            return
        if run.spans.get(span, (False, None))[0]:
            why = f"{name} stands on the evaluator's own span: what it judged is not said"
            self.rows.skip(why, place)
            return
        self.rows.records += 1
        item, level, gave = self._unit(run, span, scope)
        attribute = name if len(self.levels[name]) == 1 or level == "run" else f"{name} ({level})"
        system = run.system or None
        if gave:
            self.rows.respond(item, gave, system)
        before = self.rows.made
        if said.error and said.score is None and said.label is None:
            self.rows.rate(item, self._rater(said), attribute, None, system=system, status="failed")
        else:
            judge(
                self.rows,
                place,
                item,
                rater=self._rater(said),
                attribute=intern(attribute),
                person=said.kind.lower() in _PEOPLE,
                score=said.score,
                label=said.label,
                reason=said.reason,
                system=system,
            )
        self.rows.silent += self.rows.made == before

    def _unit(self, run: Run, span: str, scope: str) -> tuple[str, str, str | None]:
        """What was judged: its id, its level, and what it said."""
        cluster = run.conversation or run.trace
        if scope == "session":
            return self.rows.item(cluster, cluster=cluster), "conversation", None
        if scope == "trace" or not span or span == run.root:
            name = self.rows.item(run.trace, run.asked, cluster=cluster)
            return name, "run", run.answered
        position = run.trajectory.ends.get(span)
        if position is None:  # a span of no step of its own, or one that the file lacks
            self.unplaced += span not in run.spans
            gave = run.spans.get(span, (False, None))[1]
            return self.rows.item(span, cluster=cluster), "step", gave
        step = run.trajectory.steps[position - 1]
        item = self.rows.item(Unit("step", position).of(run.trace), run.asked, cluster=cluster)
        return item, "step", step.content

    def _rater(self, said: SpanEvaluation) -> str:
        kind = said.kind.lower()
        if not said.rater:
            self.unnamed += not said.kind
            return f"{said.kind} evaluation".strip()
        if kind not in _PEOPLE and kind not in _PROGRAMS:
            self.unclear.setdefault(said.rater, said.kind)
        return intern(said.rater)

    def end(self) -> None:
        """What was not known, as findings."""
        if self.unplaced:
            self.rows.note(
                "spans_absent",
                f"{self.unplaced:,} evaluations are of spans that are not in the file.",
                "They are read by the span's id; what was judged and its place in the run are not "
                "known. Name the file of the traces beside it.",
            )
        if self.unnamed:
            self.rows.note(
                "evaluator_unnamed",
                f"{self.unnamed:,} evaluations do not say who evaluated: no name and no kind.",
                "They are taken for one rater, called 'evaluation', and for no person.",
            )
        if self.unclear:
            names = ", ".join(
                f"{name} ({kind or 'no kind'})" for name, kind in self.unclear.items()
            )
            self.rows.note(
                "evaluator_kind_unknown",
                f"Whether these are people is not said in a known word: {names}.",
                "They are read as judges; name those that are people by --reference.",
            )


def evaluation_of(attributes: Mapping[str, Any]) -> SpanEvaluation | None:
    """The evaluation that an event `gen_ai.evaluation.result` tells of; None without a name.

    >>> evaluation_of({"gen_ai.evaluation.name": "clear", "gen_ai.evaluation.score.value": 4}).score
    4
    """
    name = text_of(attributes.get("gen_ai.evaluation.name")).strip()
    if not name:
        return None
    score, label = (attributes.get(f"gen_ai.evaluation.score.{key}") for key in ("value", "label"))
    who, kind = (
        next((text_of(attributes[key]) for key in keys if attributes.get(key)), "")
        for keys in (_RATERS, _KINDS)
    )
    why = attributes.get("gen_ai.evaluation.explanation")
    return SpanEvaluation(name, score, label, why, who, kind, text_of(attributes.get("error.type")))


def annotations_of(attributes: Mapping[str, Any]) -> Iterator[tuple[str, SpanEvaluation]]:
    """The annotations and evaluations that OpenInference writes as attributes, with their scope."""
    for scope in ("", "trace.", "session."):
        for word in ("annotation", "evaluation"):
            prefix = f"{scope}{word}s."
            if not any(key.startswith(prefix) for key in attributes):
                continue
            for one in numbered(attributes, prefix):
                said = one.get(word, {})
                get = said.get if isinstance(said, dict) else {}.get
                yield (
                    scope.rstrip(".") or "span",
                    SpanEvaluation(
                        text_of(get("name")),
                        get("score"),
                        get("label"),
                        get("explanation"),
                        text_of(get("identifier")),
                        text_of(get("annotator_kind")),
                    ),
                )
