"""The tables of a session, derived from its replies as often as one likes."""

from __future__ import annotations

import math
import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import SessionError
from voirdire.protocols import NamesOptions, Traces
from voirdire.store._schema import unpack
from voirdire.store.parsed import (
    NOT_ASKED,
    PAGE,
    PREFERENCES,
    as_preferences,
    as_ratings,
    framed,
    parsed_pages,
    with_facts,
)
from voirdire.store.raters import participants, read_replies, read_response, read_trace
from voirdire.store.replies import answered, readable
from voirdire.store.said import read_said
from voirdire.store.session import STUDY, read_session
from voirdire.store.tasks import expect, iterate_items, pairs_of
from voirdire.store.turns import has_turns, turns_of
from voirdire.study import family_of, load_study
from voirdire.tables import RATERS, RATINGS, STATUS
from voirdire.units import transcript

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from voirdire._registry import Plugins
    from voirdire.schema import Item, Parsed, Reply, Status, Trace, Usage
    from voirdire.store.parsed import Page
    from voirdire.store.raters import Participant
    from voirdire.study import Stage, Study


RESPONSES: dict[str, Any] = {
    "item": pl.String,
    "system": pl.String,
    "text": pl.String,
    "origin": pl.String,
    "status": STATUS,
}
_RESPONSES = """SELECT r.item, r.system, r.body, r.origin FROM responses r
JOIN items i ON i.id = r.item WHERE r.present = 1 AND i.present = 1 ORDER BY r.position"""
# LIKE first: few sessions have dropped a parameter, and it spares parsing the notes of all.
_DROPPED = """SELECT 1 FROM raters r JOIN calls c ON c.rater = r.id AND c.current = 1
JOIN attempts a ON a.call = c.id WHERE (r.stage, r.name, r.model, r.prompt) = (?, ?, ?, ?)
AND a.extra LIKE '%"dropped"%' AND EXISTS (SELECT 1 FROM json_each(a.extra, '$.notes') n
WHERE json_extract(n.value, '$[0]') = 'dropped' AND json_extract(n.value, '$[1]') = 'temperature')
LIMIT 1"""


@dataclass(frozen=True, slots=True)
class SessionPanel:
    """A session with its study as it ran last, and everyone in it who asks a model, made once."""

    folder: Path
    study: Study
    participants: tuple[Participant, ...]

    def of(self, *stages: Stage) -> tuple[Participant, ...]:
        """Those of some stages."""
        return tuple(
            participant for participant in self.participants if participant.id.stage in stages
        )


def panel_of(folder: str | Path, plugins: Plugins | None = None) -> SessionPanel:
    """The panel of a session, made from the study that lies in it."""
    study = session_study(folder)
    return SessionPanel(
        Path(folder), study, tuple(participants(study, plugins or loaded_plugins()))
    )


#: The ratings of the study's own files, once people have lost their names.
RATED = "rated.parquet"


def session_study(folder: str | Path) -> Study:
    """The study of a session as it ran last; its paths mean what they meant there."""
    with closing(read_session(folder)) as connection:
        meta = dict(connection.execute("SELECT name, value FROM meta"))
    path = Path(folder) / STUDY
    if not path.is_file():
        raise SessionError(f"session {folder}: there is no {STUDY} in it")
    study, origin = load_study(path), meta.get("origin")
    if origin is not None and not Path(origin).is_dir():  # moved, perhaps with its session
        beside = Path(folder).resolve() / meta.get("origin_from_here", ".")
        origin = str(beside.resolve() if beside.is_dir() else Path(folder).resolve())
    if origin is None:
        return study
    kept = Path(folder).resolve() / RATED
    if kept.is_file():
        # Ratings that lie in the session move with it, whatever else the study reads.
        sources = tuple(
            one.model_copy(update={"path": os.path.relpath(kept, origin)})
            if one.path == RATED
            else one
            for one in study.data.sources
        )
        data = study.data.model_copy(update={"sources": sources})
        study = study.model_copy(update={"data": data})
    return study.model_copy(update={"folder": origin})


def session_rule(folder: str | Path) -> str:
    """The version of the verdict's rule when a session began; empty where none was kept."""
    with closing(read_session(folder)) as connection:
        row = connection.execute("SELECT value FROM meta WHERE name = 'rule'").fetchone()
    return "" if row is None else str(row[0])


def ratings_frame(folder: str | Path, plugins: Plugins | None = None) -> pl.DataFrame:
    """All ratings and labels: item, system, rater, run, attribute, score, rank, status.

    Every rating that the study asks for is there, in the order of raters, responses and runs; one
    without a reply has a null score and status ``failed``. Replies are parsed anew.
    """
    panel = panel_of(folder, plugins)
    return _all(ratings_pages(panel), ratings_schema(panel))


def ratings_schema(panel: SessionPanel) -> dict[str, Any]:
    """The columns of a session's ratings, with what is known of items."""
    return with_facts(RATINGS, _columns_of_facts(panel))


def preferences_schema(panel: SessionPanel) -> dict[str, Any]:
    """The columns of a session's comparisons, with what is known of items."""
    return with_facts(PREFERENCES, _columns_of_facts(panel))


def _columns_of_facts(panel: SessionPanel) -> dict[str, str]:
    """Fact -> the column of items that says it; none is named where turns are their own cluster."""
    items = panel.study.items
    declared = {} if items is None else {"cluster": items.cluster, "subgroup": items.language}
    facts = {name: column for name, column in declared.items() if column}
    if any(participant.judged.placed for participant in panel.participants):
        facts.setdefault("cluster", "")
    return facts


def _facts(panel: SessionPanel) -> dict[str, dict[str, str]]:
    """Fact -> item -> what its column says; an item without a value is not there."""
    columns = _columns_of_facts(panel)
    facts: dict[str, dict[str, str]] = {name: {} for name in columns}
    if any(columns.values()):
        with closing(read_session(panel.folder)) as connection:
            for item in iterate_items(connection):
                for name, column in columns.items():
                    if (said := item.extra.get(column)) not in (None, ""):
                        facts[name][item.id] = str(said)
    return facts


def preferences_frame(folder: str | Path, plugins: Plugins | None = None) -> pl.DataFrame:
    """All comparisons: item, system_a, system_b, shown_first, rater, run, attribute, score, status.

    What the study declares of items (`cluster`, `subgroup`) follows. `score` > 0 prefers system_a,
    whichever was shown first.
    """
    panel = panel_of(folder, plugins)
    return _all(preferences_pages(panel), preferences_schema(panel))


def ratings_pages(
    panel: SessionPanel, heard: Callable[[Page], None] | None = None
) -> Iterator[pl.DataFrame]:
    """`ratings_frame` in pages that fit any memory; `heard` gets each page as it was parsed."""
    facts = _facts(panel)
    for _, page in _pages(panel, lambda participant: participant.task != "comparison"):
        if heard:
            heard(page)
        yield as_ratings(page.rows, facts)


def preferences_pages(
    panel: SessionPanel, heard: Callable[[Page], None] | None = None
) -> Iterator[pl.DataFrame]:
    """`preferences_frame` in pages that fit any memory; `heard` gets each page as it was parsed."""
    facts = _facts(panel)
    for connection, page in _pages(panel, lambda participant: participant.task == "comparison"):
        if heard:
            heard(page)
        yield as_preferences(page.rows, pairs_of(connection, panel.study.comparisons), facts)


def session_items(folder: str | Path) -> tuple[Item, ...]:
    """All items of a session, in order.

    Raises
    ------
    InputError
        The folder holds no session.
    """
    with closing(read_session(folder)) as connection:
        return tuple(iterate_items(connection))


def responses_frame(folder: str | Path, plugins: Plugins | None = None) -> pl.DataFrame:
    """All responses: item, system, text, origin (``file`` or ``generated``), status.

    A response that was to be generated and was not is there with a null text and the reason.
    """
    return _all(responses_pages(panel_of(folder, plugins)), RESPONSES)


def responses_pages(panel: SessionPanel) -> Iterator[pl.DataFrame]:
    """`responses_frame` in pages that fit any memory."""
    with closing(read_session(panel.folder)) as connection:
        cursor, talks = connection.execute(_RESPONSES), has_turns(connection)

        def text(item: str, system: str, body: Any) -> str | None:
            turns = turns_of(connection, item, system) if talks else ()
            # A text that was forgotten is missing, and not empty.
            return None if body is None else readable(transcript(turns) or unpack(body))

        while page := cursor.fetchmany(PAGE):
            yield _responses((*row[:2], text(*row[:3]), row[3], "ok") for row in page)
        for participant in panel.of("generate"):
            yield _responses(_missing(connection, participant, panel.study))


def _responses(rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    return framed(list(rows), RESPONSES)


def _missing(
    connection: sqlite3.Connection, participant: Participant, study: Study
) -> Iterator[tuple[Any, ...]]:
    """What a generator was to write and did not."""
    name = participant.id.name
    there = "SELECT 1 FROM responses WHERE (item, system, present) = (?, ?, 1)"
    expect(connection, "item", study.comparisons)
    for item, _, _, _, replies, *_ in answered(connection, participant.id, 1):
        if connection.execute(there, (item, name)).fetchone() is None:
            yield item, name, None, "generated", _status(participant, replies, item)


def _status(participant: Participant, replies: Sequence[Reply] | None, item: str) -> Status:
    """Why there is no response; one that was cut before it had a text is *truncated*."""
    if replies is None:
        return "failed"
    # Reasoning used up its cap: to read *blank* there would hide that a larger one helps.
    if replies and replies[-1].finish_reason == "length":
        return "truncated"
    status = read_response(participant, replies, item)[0].status
    return "blank" if status == "ok" else status


def raters_frame(
    folder: str | Path, plugins: Plugins | None = None, *, panel: SessionPanel | None = None
) -> pl.DataFrame:
    """The panel: rater, kind, family, excludes, model, temperature, prompt_hash.

    The temperature is the one sent, the rater's own default included; null where none was, or
    where the model refused it and it was dropped.
    """
    panel = panel or panel_of(folder, plugins)
    asked = {participant.id.name: participant for participant in panel.of("judge", "annotate")}
    with closing(read_session(folder)) as connection:
        sent = {name: _temperature(connection, participant) for name, participant in asked.items()}
    rows = [
        (
            rater.name,
            rater.kind,
            family_of(rater, panel.study),
            None if rater.excludes is None else list(rater.excludes),
            rater.model_names or None,
            sent.get(rater.name, rater.temperature),
            asked[rater.name].id.prompt if rater.name in asked else None,
        )
        for rater in panel.study.panel
    ]
    return pl.DataFrame(rows, schema=RATERS, orient="row")


def _temperature(connection: sqlite3.Connection, participant: Participant) -> float | None:
    """What a rater sends, unless its model refused it."""
    rater_id = participant.id
    place = (rater_id.stage, rater_id.name, rater_id.model, rater_id.prompt)
    dropped = connection.execute(_DROPPED, place).fetchone() is not None
    return None if dropped else participant.temperature


def _pages(
    panel: SessionPanel, wanted: Callable[[Participant], bool]
) -> Iterator[tuple[sqlite3.Connection, Page]]:
    for connection, participant in _expecting(panel, filter(wanted, panel.of("judge", "annotate"))):
        for page in parsed_pages(connection, participant):
            yield connection, page


def _expecting(
    panel: SessionPanel, asking: Iterable[Participant]
) -> Iterator[tuple[sqlite3.Connection, Participant]]:
    """Each of those who ask, while `expected` in the connection holds what is expected of it."""
    with closing(read_session(panel.folder)) as connection:
        for participant in asking:
            expect(connection, participant.task, panel.study.comparisons, participant.judged)
            yield connection, participant


def _all(pages: Iterator[pl.DataFrame], schema: Any) -> pl.DataFrame:
    # The empty frame first: without any page there is a table of the right columns all the same.
    return pl.concat([pl.DataFrame(schema=schema), *pages])


class ParsedTask(NamedTuple):
    """One task of one rater in one run, parsed."""

    rater: str
    item: str
    first: str
    second: str
    run: int
    parsed: Parsed


def iterate_parsed(
    folder: str | Path, stage: Stage, plugins: Plugins | None = None
) -> Iterator[ParsedTask]:
    """Everything that the raters of a stage said, with flags, reasons and extras.

    Equal replies of a rater are parsed once; a run without a reply is there with status failed.
    """
    panel = panel_of(folder, plugins)
    for connection, participant in _expecting(panel, panel.of(stage)):
        parsed: dict[Any, Parsed] = {}
        for task in answered(connection, participant.id, participant.runs):
            kept, said = task.replies, task.said
            replies = NOT_ASKED if kept is None else kept
            # Replies repeat: of yes and no there are a handful among millions.
            key = said or tuple((reply.text, reply.finish_reason) for reply in replies)
            if key not in parsed:
                parsed[key] = read_said(said)[0] if said else read_replies(participant, replies)
            place = (task.name, task.first, task.second, task.run)
            yield ParsedTask(participant.id.name, *place, parsed[key])


CERTAINTY: dict[str, Any] = {
    "rater": pl.String,
    "item": pl.String,
    "system": pl.String,
    "attribute": pl.String,
    "certainty": pl.Float64,
}


def certainty_frame(folder: str | Path, plugins: Plugins | None = None) -> pl.DataFrame:
    """The probability of the likeliest option in each judge's reply on an attribute.

    Only replies with log-probabilities of options, one reply an attribute; a row a run.

    Returns
    -------
    DataFrame
        ``rater, item, system, attribute, certainty``, the last from 0 to 1.
    """
    panel, rows = panel_of(folder, plugins), []
    for connection, participant in _expecting(panel, panel.of("judge")):
        for task in answered(connection, participant.id, participant.runs):
            kept, said = task.replies, task.said
            # Half of them would make a rater look as sure as its surest replies.
            if not kept or not all(reply.option_logprobs for reply in kept):
                continue
            names = list((read_said(said)[0] if said else read_replies(participant, kept)).scores)
            # One reply an attribute: else nobody can tell whose probability it is.
            if len(names) != len(kept):
                continue
            for name, reply in zip(names, kept, strict=True):
                likeliest = math.exp(max(reply.option_logprobs.values()))
                rows.append((participant.id.name, task.name, task.first, name, likeliest))
    return pl.DataFrame(rows, schema=CERTAINTY, orient="row")


Claim: TypeAlias = "tuple[str, str | None, str, int, str, float]"


def label_claims(folder: str | Path, plugins: Plugins | None = None) -> list[Claim]:
    """How probable annotators' models say that each label is, where their requests name options.

    Returns
    -------
    list of tuple
        ``item, system, rater, run, label, probability``, a row a label: 0 to 1, and together 1 over
        the options of a reply. An option below those that a provider reports has 0.
    """
    panel, claims = panel_of(folder, plugins), []
    asking = [
        one
        for one in panel.of("annotate")
        if isinstance(one.rater, NamesOptions) and one.rater.options_named
    ]
    for connection, participant in _expecting(panel, asking):
        labels = participant.rater.options_named
        for task in answered(connection, participant.id, participant.runs):
            said = task.replies[-1].option_logprobs if task.replies else {}
            odds = {
                label: math.exp(said.get(option, -math.inf)) for option, label in labels.items()
            }
            total = sum(odds.values())
            if total > 0:
                claims += [
                    (task.name, task.first or None, participant.id.name, task.run, label, p / total)
                    for label, p in odds.items()
                ]
    return claims


class TracedTask(NamedTuple):
    """One task of a rater of several steps: what was read, how it came to it, what each step used.

    `steps` are the tokens of each reply, with the role in which it was asked.
    """

    rater: str
    item: str
    first: str
    second: str
    run: int
    parsed: Parsed
    trace: Trace
    steps: tuple[tuple[str, Usage], ...]


def iterate_traces(panel: SessionPanel) -> Iterator[TracedTask]:
    """Every task with replies of those raters that say how they come to their scores."""
    tracing = [one for one in panel.of("judge", "annotate") if isinstance(one.rater, Traces)]
    for connection, participant in _expecting(panel, tracing):
        for task in answered(connection, participant.id, participant.runs):
            if not task.replies:
                continue
            steps = zip(task.roles, (reply.usage for reply in task.replies), strict=True)
            parsed, trace = (
                read_said(task.said)
                if task.said
                else (
                    read_replies(participant, task.replies),
                    read_trace(participant, task.replies),
                )
            )
            yield TracedTask(
                participant.id.name,
                task.name,
                task.first,
                task.second,
                task.run,
                parsed,
                trace,
                tuple(steps),
            )
