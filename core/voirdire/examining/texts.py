"""The texts behind the scores: items, responses and what the raters replied."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.tables import RATINGS
from voirdire.units import cluster_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.schema import Parsed, Turn

_ITEMS = {"item": pl.String, "text": pl.String}
_RESPONSES = {"item": pl.String, "system": pl.String, "run": pl.Int64, "text": pl.String}
_REASONS = {
    "item": pl.String, "system": pl.String, "rater": pl.String, "run": pl.Int64,
    "attribute": pl.String, "text": pl.String,
}  # fmt: skip
_REPLIES = {
    "item": pl.String, "system": pl.String, "rater": pl.String, "run": pl.Int64, "step": pl.Int64,
    "status": pl.String, "text": pl.String, "notes": pl.String, "finish_reason": pl.String,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as frames; a response without a system has an empty one.

    Attributes
    ----------
    items : DataFrame
        ``item, text``.
    responses : DataFrame
        ``item, system, run, text``: mostly one row a response; one whose text differs from run to
        run, or was written twice, has several.
    replies : DataFrame
        ``item, system, rater, run, step, status, text, notes``: one row a reply that counts, in
        the order of runs and steps.
    reasons : DataFrame
        ``item, system, rater, run, attribute, text``: what raters said beside scores that a file
        holds; `attribute` is null where it is about all of them.
    session : Path or None
        Where the replies are kept, so that they can be read anew.
    """

    items: pl.DataFrame
    responses: pl.DataFrame
    replies: pl.DataFrame
    reasons: pl.DataFrame
    session: Path | None = None

    @classmethod
    def none(cls) -> Texts:
        """No texts at all."""
        kinds = (_ITEMS, _RESPONSES, _REPLIES, _REASONS)
        items, responses, replies, reasons = (pl.DataFrame(schema=kind) for kind in kinds)
        return cls(items, responses, replies, reasons)

    @classmethod
    def of(cls, examination: Examination) -> Texts:
        """Those of a session, else those that the files hold."""
        if examination.session is not None:
            from voirdire.store.session import is_session  # noqa: PLC0415 - loads the store

            if is_session(examination.session):
                return _of_session(examination.session, examination.texts.reasons)
        return _of_files(examination)

    @property
    def there(self) -> bool:
        """Whether there is any."""
        frames = (self.items, self.responses, self.replies, self.reasons)
        return any(frame.height for frame in frames)

    def item(self, item: str) -> str | None:
        """The text of an item; of a turn or step, that of its conversation."""
        for name in dict.fromkeys((item, cluster_of(item))):
            for text in self.items.filter(pl.col("item") == name)["text"]:
                return str(text)
        return None

    def turns(self, item: str, system: str) -> tuple[Turn, ...]:
        """The turns of the conversation that an item is, or is a part of, where a session has any.

        They are the response's, else the item's own.
        """
        if self.session is None:
            return ()
        from voirdire.store.session import read_session  # noqa: PLC0415 - for sessions alone
        from voirdire.store.turns import turns_of  # noqa: PLC0415 - the same

        name = cluster_of(item)
        with closing(read_session(self.session)) as connection:
            return turns_of(connection, name, system) or turns_of(connection, name)

    def answers(self, item: str, system: str) -> list[tuple[str, str]]:
        """The texts of a response, each with a heading; mostly one."""
        texts = self.responses.filter(pl.col("item") == item, pl.col("system") == system)
        rows = texts.select("run", "text").rows()
        if len(rows) == 1:
            return [("Answer", rows[0][1])]
        # A response that was written twice within a run has two texts of one number.
        by_run = texts["run"].n_unique() == texts.height
        return [
            (f"Answer, run {run}" if by_run else f"Answer, {at} of {len(rows)}", text)
            for at, (run, text) in enumerate(rows, start=1)
        ]

    def response(self, item: str, system: str) -> str | None:
        """The text of a response; several one after another, each under its heading."""
        answers = self.answers(item, system)
        if len(answers) == 1:
            return answers[0][1]
        return "\n\n".join(f"{title}: {text}" for title, text in answers) or None

    def said(self, item: str, system: str, rater: str = "") -> list[dict[str, Any]]:
        """What each rater (or one) replied, and what was read of it; one entry a rater and run.

        A rater whose scores a file holds has no reply, and maybe reasons.
        """
        here = (pl.col("item") == item) & (pl.col("system") == system)
        here = here & (pl.col("rater") == rater) if rater else here
        rows, beside = self.replies.filter(here), self.reasons.filter(here)
        runs = rows.partition_by("rater", "run", maintain_order=True)
        replies = [self._run(run) for run in runs]
        for (who, run), reasons in beside.group_by("rater", "run", maintain_order=True):
            given = [
                (name or "", text) for name, text in reasons.select("attribute", "text").rows()
            ]
            replies.append(
                {
                    "rater": who,
                    "run": run,
                    "status": None,
                    "shown": [],
                    "steps": [],
                    "reasons": given,
                    "flags": [],
                }
            )
        return replies

    def reply(self, item: str, system: str, rater: str) -> str | None:
        """What a rater said of a response in its first run; several steps, or reasons, one after
        another.
        """
        rows = self.replies.filter(
            pl.col("item") == item, pl.col("system") == system, pl.col("rater") == rater
        )
        if rows.is_empty():
            rows = self.reasons.filter(
                pl.col("item") == item, pl.col("system") == system, pl.col("rater") == rater
            ).with_columns(
                pl.when(pl.col("attribute").is_null())
                .then("text")
                .otherwise(pl.format("{}: {}", "attribute", "text"))
                .alias("text")
            )
        texts = rows.filter(pl.col("run") == pl.col("run").min())["text"].drop_nulls()
        return "\n\n".join(texts) or None

    def _shown(self, first: dict[str, Any]) -> list[tuple[str, str]]:
        """Role and text of what the rater was sent: its prompt, with the examples in it."""
        if self.session is None:
            return []
        from voirdire.store.replies import shown_messages  # noqa: PLC0415 - loads the store

        place = (first["rater"], first["item"], first["system"], first["run"])
        return [
            (f"Step {one.step + 1}, {one.role}", one.text)
            for one in shown_messages(self.session, *place)
        ]

    def _run(self, run: pl.DataFrame) -> dict[str, Any]:
        first = run.row(0, named=True)
        read = None if self.session is None else _read_anew(self.session, run)
        return {
            "rater": first["rater"],
            "run": first["run"],
            "status": first["status"] if read is None else read.status,
            "shown": self._shown(first),
            "steps": run.select("step", "text", "notes").to_dicts(),
            "reasons": [] if read is None else _reasons(read),
            "flags": [] if read is None else [str(flag) for flag in read.flags],
        }

    def hits(self, words: str, judge: str) -> tuple[pl.Series, pl.DataFrame]:
        """Items whose text holds the words, and the responses that do or whose reply does."""
        sought = pl.col("text").str.contains(f"(?i){re.escape(words)}")
        own = [
            frame.filter(pl.col("rater") == judge, sought) for frame in (self.replies, self.reasons)
        ]
        both = [frame.select("item", "system") for frame in (self.responses.filter(sought), *own)]
        return self.items.filter(sought)["item"], pl.concat(both).unique()


def _of_files(examination: Examination) -> Texts:
    items = examination.texts.items.select(pl.col(_ITEMS).cast(pl.String)).drop_nulls("text")
    replies = examination.texts.replies.select(
        "item",
        pl.col("system").cast(pl.String).fill_null(""),
        "rater",
        pl.col("run").cast(pl.Int64),
        pl.lit(0, pl.Int64).alias("step"),
        pl.col("status").cast(pl.String),
        pl.col("reply").alias("text"),
        pl.lit(None, pl.String).alias("notes"),
        pl.lit("stop").alias("finish_reason"),
    )
    responses = _named(examination.texts.responses, _RESPONSES)
    return Texts(items, responses, replies.sort("run"), _named(examination.texts.reasons, _REASONS))


def _named(frame: pl.DataFrame | None, kinds: Mapping[str, Any]) -> pl.DataFrame:
    """A frame of texts in its columns; a response without a system has an empty one."""
    if frame is None:
        return pl.DataFrame(schema=kinds)
    named = frame.with_columns(pl.col("system").cast(pl.String).fill_null(""))
    return named.select(pl.col(name).cast(kind) for name, kind in kinds.items())


def _of_session(folder: Path, reasons: pl.DataFrame | None) -> Texts:
    from voirdire import store  # noqa: PLC0415 - loads the store
    from voirdire.store.frames import session_items  # noqa: PLC0415 - the same

    items = [(item.id, item.text) for item in session_items(folder)]
    replies = (
        # The replies that scores rest on: not those of failed attempts, of earlier prompts, or of
        # generators.
        store.replies_frame(folder)
        .filter(pl.col("final") == 1, pl.col("current") == 1, pl.col("stage") != "generate")
        .with_columns(system=pl.col("first").fill_null(""))
        .select(list(_REPLIES))
        .sort("run", "step", maintain_order=True)
    )
    responses = (
        store.responses_frame(folder)
        .with_columns(run=pl.lit(1))
        .select(pl.col(name).cast(kind) for name, kind in _RESPONSES.items())
    )
    return Texts(
        pl.DataFrame(items, schema=_ITEMS, orient="row"),
        responses.drop_nulls("text"),
        replies,
        _named(reasons, _REASONS),
        folder,
    )


def _read_anew(folder: Path, run: pl.DataFrame) -> Parsed | None:
    """What the replies of one task say now; None where the rater is no longer in the study."""
    from voirdire.schema import Reply  # noqa: PLC0415 - for sessions alone
    from voirdire.store.frames import panel_of  # noqa: PLC0415 - loads the store
    from voirdire.store.raters import read_replies  # noqa: PLC0415 - the same

    rater = run["rater"][0]
    participants = panel_of(folder).of("judge", "annotate")
    participant = next((one for one in participants if one.id.name == rater), None)
    if participant is None:
        return None
    replies = [
        Reply(text or "", finish or "error")
        for text, finish in run.select("text", "finish_reason").iter_rows()
    ]
    return read_replies(participant, replies)


def _reasons(read: Parsed) -> list[tuple[str, str]]:
    """Why a score is missing, and texts beside the scores, such as the judge's own reason."""
    reasons = [(name, str(reason)) for name, reason in read.reasons.items()]
    texts = {**read.extra, **dict(read.extra.get("fields") or {})}
    return reasons + [(str(name), text) for name, text in texts.items() if isinstance(text, str)]


def scores_of(ratings: pl.DataFrame, item: str, system: str) -> pl.DataFrame:
    """Every rating of one response: ``rater, attribute, run, score, status`` and who labelled."""
    here = pl.col("system").cast(pl.String).fill_null("") == system
    wanted = [name for name in ("labelled_by", "labelled_at") if name in ratings.columns]
    columns = [name for name in RATINGS if name in {"rater", "attribute", "run", "score", "status"}]
    return ratings.filter(pl.col("item").cast(pl.String) == item, here).select(*columns, *wanted)
