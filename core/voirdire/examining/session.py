"""A session as a source: the study of its tables, and what it says of its own replies."""

from __future__ import annotations

import datetime as dt
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError
from voirdire.files import file_hash
from voirdire.schema import RULE, Finding
from voirdire.store import is_session, read_session, session_study
from voirdire.store.findings import kept_findings, reply_findings_frame, schema_answers
from voirdire.store.frames import session_rule
from voirdire.store.health import changed_database, changed_tables, damage, older_tables
from voirdire.store.readings import keep_readings, kept_readings
from voirdire.store.session import RATERS
from voirdire.store.turns import parts_by_kind, without_units
from voirdire.study import Rater, Source, Study, load_study
from voirdire.tables import COLUMN_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.schema import Severity
    from voirdire.tables import Tables

#: From which share of replies with little probability on the levels on that is serious.
MOSTLY = 0.5
#: Share of tasks that were never asked above which no verdict is given.
UNASKED = 0.1
#: Kind -> (severity, message, consequence).
_WORDS: dict[str, tuple[Severity, str, str]] = {
    "echoes_orders": (
        "serious",
        "Replies that speak of orders in the text they judge: {count}, such as {detail!r}.",
        "The text may have steered the score: read them by voirdire session show.",
    ),
    "no_logprobs": (
        "serious",
        "Replies without the log-probabilities that the scores are to rest on: {count}.",
        "The number that was generated stands in their place.",
    ),
    "low_mass": (
        "note",
        "Replies with less than half of the probability on the levels: {count} of {of}.",
        "The model mostly meant something else; the weighted score rests on the rest.",
    ),
    "parser_raised": (
        "serious",
        "Replies on which the rater's own parser broke: {count} ({detail}).",
        "Their scores are missing; correct the parser, then run voirdire session reparse.",
    ),
    "dropped": (
        "serious",
        "Replies made without the parameter {detail!r}, which the model refuses: {count}.",
        "They follow the model's own setting in its place.",
    ),
    "unknown_word": (
        "serious",
        "Replies in which the provider uses a word that is not known ({detail}): {count}.",
        "They are read as replies that may be cut: look at some by voirdire session show.",
    ),
    "several_messages": (
        "serious",
        "Replies of several messages that differ ({detail}), none marked as final: {count}.",
        "They are read together; look at some by voirdire session show.",
    ),
    "runs_identical": (
        "serious",
        "All {detail} runs gave the same text on {count} of {of} tasks: they are one run copied.",
        "How stable this rater is has not been tested.",
    ),
    "steps_cut": (
        "serious",
        "Tasks that were cut at {detail} steps, where the rater had more to ask: {count}.",
        "What it had until then counts; give the panel's key max_steps more if it needs more.",
    ),
    "tools_failed": (
        "serious",
        "Calls of tools that failed: {count} of {of}: {detail}.",
        "The rater answered without what they would have said.",
    ),
    "several_models": (
        "serious",
        "Replies of one rater came from several models: {detail}.",
        "They are examined as one; name a dated version of the model, so that all come from it.",
    ),
    "unanswered": (
        "serious",
        "{count} of {of} tasks were given up: {detail}.",
        "They are missing because no answer came: voirdire run --resume asks again.",
    ),
    "never_asked": (
        "serious",
        "{count} of {of} tasks were never asked.",
        "The run ended before it came to them: voirdire run --resume asks.",
    ),
}


#: Answer -> (message, consequence).
_SCHEMA = {
    "yes": (
        "{model}: its server enforces a JSON schema, as it showed when the session was made.",
        "Answers were bound to the schema of each question that has one.",
    ),
    "no": (
        "{model}: its server enforces no JSON schema, as it showed when the session was made.",
        "No schema was sent, and answers were read as they were written.",
    ),
}


def study_of_session(folder: Path) -> Study:
    """The study of a session, its data being the ratings derived there.

    Raises
    ------
    InputError
        The folder is no session, has no tables yet, or holds no score.
    """
    ratings = folder / "ratings.parquet"
    if is_session(folder) and not ratings.is_file():
        raise InputError(
            f"session {folder} has no tables yet: write them by voirdire session reparse {folder}"
        )
    if not (folder / "study.toml").is_file() or not ratings.is_file():
        raise InputError(
            f"{folder} is no session folder: study.toml and ratings.parquet are not both in it"
        )
    if is_session(folder) and not any(map(_holds_rows, (ratings, folder / "preferences.parquet"))):
        raise InputError(
            f"session {folder} holds no score: the parser of its raters breaks on every reply; "
            f"correct it, then run voirdire session reparse {folder}"
        )
    if names := changed_tables(folder):
        raise InputError(
            f"session {folder}: {', '.join(names)}: not as voirdire wrote it; derive the tables "
            f"again: voirdire session reparse {folder}"
        )
    # Human ratings that the study names lie beside the file it was run from, not in the session.
    study = session_study(folder) if is_session(folder) else load_study(folder / "study.toml")
    # Beside the study's own sources: human ratings may lie in files of their own.
    source = Source(path=_beside(ratings, study.folder), layout="long")
    own = tuple(_as_before(folder, study))
    data = study.data.model_copy(update={"sources": (*own, source)})
    return study.model_copy(update={"data": data, "panel": _panel(folder, study)})


def _as_before(folder: Path, study: Study) -> Iterator[Source]:
    """The study's own files, read as the session keeps that they were read, while they are the
    same.
    """
    kept = kept_readings(folder) if study.data.sources else {}
    for source in study.data.sources:
        path = Path(study.folder) / source.path
        there = any(name == source.path for name, _ in kept) and path.is_file()
        reading = kept.get((source.path, file_hash(path))) if there else None
        keys = {} if reading is None else reading[0].keys
        found = {k: v for k, v in keys.items() if k in COLUMN_KEYS and not getattr(source, k)}
        yield source.model_copy(update=found)


def reading_kept(folder: Path, rated: Tables) -> tuple[Finding, ...]:
    """Keep in a session how the study's own files were read, and a note on each that is kept."""
    derived = (folder / "ratings.parquet").resolve()
    own = [
        one
        for one in rated.readings
        if (Path(folder) / one.source).resolve() != derived
        and Path(one.source).name != derived.name
    ]
    keep_readings(folder, own)
    known = kept_readings(folder) if own else {}
    notes = []
    for one in own:
        if (kept := known.get((one.source, one.content))) is None:
            continue
        day = dt.datetime.fromtimestamp(kept[1], dt.UTC).date().isoformat()
        columns = [f"{key} = {value}" for key, value in one.keys.items() if key in COLUMN_KEYS]
        notes.append(
            Finding(
                "reading_kept",
                "note",
                one.source,
                1,
                tuple(columns),
                f"Read as the session keeps since {day} that it is read.",
                "A file that changes is looked at anew.",
            )
        )
    return tuple(notes)


def session_as_study(data: Path | None, needs: str) -> Study:
    """The study of a session that was handed to a benchmark.

    Parameters
    ----------
    data : Path or None
        The folder that the user named.
    needs : str
        What is said where it is no session: what the benchmark needs, and how it is made.

    Raises
    ------
    InputError
        The folder is no session, has no tables yet, or holds no score.
    """
    if data is None or not is_session(data):
        raise InputError(needs + ("" if data is None else f", got {data}"))
    return study_of_session(data)


def _holds_rows(path: Path) -> bool:
    return path.is_file() and bool(pl.scan_parquet(path).select(pl.len()).collect().item())


def _beside(path: Path, folder: str) -> str:
    """A path as seen from the study's folder, so that reports name no folder of this machine."""
    try:
        return os.path.relpath(path.resolve(), Path(folder).resolve())
    except ValueError:  # another drive
        return str(path.resolve())


def _panel(folder: Path, study: Study) -> tuple[Rater, ...]:
    """The panel with the temperatures that were sent, raters' own defaults included."""
    path = folder / "raters.parquet"
    if not path.is_file():
        return study.panel
    sent = dict(pl.read_parquet(path, columns=["rater", "temperature"]).iter_rows())
    return tuple(
        rater.model_copy(update={"temperature": sent.get(rater.name, rater.temperature)})
        for rater in study.panel
    )


def session_findings(folder: Path) -> tuple[Finding, ...]:
    """What a session says of its own replies."""
    rows = list(reply_findings_frame(folder).iter_rows(named=True))
    played = [row for row in rows if row["kind"] == "simulated"]
    findings = [_finding(row) for row in rows if row not in played]
    played_by = (_simulated(played),) if played else ()
    kept = (*_schemas(folder), *(kept_findings(folder) or ()))
    more = (*_not_shown(folder), *_health(folder), *_other_rule(folder))
    return (*findings, *played_by, *kept, *more)


def _not_shown(folder: Path) -> Iterator[Finding]:
    """Conversations of which nothing was judged, and parts that are no text."""
    if not is_session(folder):
        return
    judged = session_study(folder).conversations.judged()
    with closing(read_session(folder)) as connection:
        kinds = parts_by_kind(connection)
        bare = without_units(connection, judged) if judged.placed else []
    if bare:
        yield Finding(
            "no_turn_judged",
            "serious",
            "",
            len(bare),
            tuple(bare[:20]),
            f"{len(bare):,} conversations have no {judged.kind} that is judged: {bare[0]!r} ...",
            "Nobody was asked about them: they are empty, or nobody speaks in that role.",
        )
    if kinds:
        named = ", ".join(f"{count:,} of kind {kind!r}" for kind, count in kinds.items())
        yield Finding(
            "parts_not_shown",
            "serious",
            "",
            sum(kinds.values()),
            tuple(kinds),
            f"Conversations hold parts that are no text: {named}.",
            "No judge was shown them: transcripts say where they stand, and the text is judged.",
        )


def _other_rule(folder: Path) -> Iterator[Finding]:
    """That a session began under another rule of the verdict."""
    began = session_rule(folder) if is_session(folder) else ""
    if began not in ("", RULE):
        yield Finding(
            "other_rule",
            "note",
            "",
            1,
            (),
            f"The session began when the verdict's rule was that of {began}; here it is {RULE}.",
            "A verdict may be another by the rule alone: docs/verdict.md says what changed.",
        )


def _schemas(folder: Path) -> Iterator[Finding]:
    """What servers said when they were asked whether they enforce a JSON schema."""
    for model, answer in schema_answers(folder).items():
        message, consequence = _SCHEMA[answer]
        yield Finding("json_schema", "note", model, 1, (), message.format(model=model), consequence)


def _health(folder: Path) -> Iterator[Finding]:
    """What is wrong with the database: looked for row by row only where its hash is another."""
    if not is_session(folder):
        return
    if changed_database(folder):
        for one in damage(folder):
            if one.kind in ("damaged", "changed_database"):
                yield Finding(
                    one.kind,
                    "serious",
                    one.where,
                    one.count,
                    (one.detail,),
                    f"The session is not as it was kept: {one.where}, {one.count:,}.",
                    f"The numbers here are those of its tables, which are whole; {one.remedy}.",
                )
    if older_tables(folder):
        yield Finding(
            "older_tables",
            "note",
            RATERS,
            1,
            (),
            "Replies have come since the session's tables were derived.",
            "They are in no number here: run voirdire session reparse.",
        )


def _finding(row: dict[str, Any]) -> Finding:
    severity, message, consequence = _WORDS[row["kind"]]
    if row["kind"] == "low_mass" and row["of"] and row["count"] > MOSTLY * row["of"]:
        severity = "serious"
        consequence = (
            "It hardly ever meant to give a level, and its scores say next to nothing: let its "
            "answer begin with words before the level (prefix of an hf: model), or ask for text."
        )
    if row["kind"] == "never_asked" and row["count"] > UNASKED * row["of"]:
        # Which tasks came first is no draw, and what was never asked was not left unanswered.
        severity = "blocking"
        consequence = f"A verdict waits until the run has ended. {consequence}"
    numbers = {name: f"{row[name]:,}" for name in ("count", "of") if row[name] is not None}
    # Sessions from before the share was kept do not say of how many.
    numbers = {"of": "an unknown number", **numbers}
    return Finding(
        kind=row["kind"],
        severity=severity,
        table=row["rater"],
        count=row["count"],
        places=tuple(row["places"]),
        message=message.format(**{**row, **numbers}),
        consequence=consequence,
    )


def _simulated(rows: Sequence[dict[str, Any]]) -> Finding:
    names = [row["rater"] for row in rows]
    return Finding(
        kind="simulated",
        severity="note",
        table="",
        count=sum(row["count"] for row in rows),
        places=tuple(names),
        message=f"Simulated, no model was asked: {', '.join(names)}.",
        consequence="What is said about these is a demonstration.",
    )
