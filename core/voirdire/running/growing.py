"""A session that grows by what others' runs hand over, answer by answer.

Another tool has the answers and wants a score at once; a session wants items, responses, and
replies that are kept. So what comes is added to files of items and responses beside a session, the
panel of a study is asked about it, and its scores are read back. What came within a moment is one
run.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError, check_allowed
from voirdire.files import locked
from voirdire.running import arun
from voirdire.store import is_session, ratings_frame
from voirdire.study import ItemsSpec, ResponsesSpec, load_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Study

ITEMS, RESPONSES, SESSION = "items.jsonl", "responses.jsonl", "session"


@dataclass(frozen=True, slots=True)
class Handed:
    """An answer that another tool hands over.

    Attributes
    ----------
    output, context : str
        The response that is judged, and what it answers.
    item : str
        The item's id; empty takes one that follows from `context`.
    system : str
        What produced it.
    """

    output: str
    context: str = ""
    item: str = ""
    system: str = "output"

    @property
    def key(self) -> tuple[str, str]:
        """Item and system, of which a session holds one response."""
        own = hashlib.sha256(self.context.encode()).hexdigest()[:12]
        return self.item or own, self.system


@dataclass
class GrowingSession:
    """The panel of a study, asked about one answer at a time, with every reply kept.

    Parameters
    ----------
    study : path or Study
        Whose rubric and panel are asked; its own items and responses are left out.
    folder : path
        Where items, responses and the folder ``session`` stand. People's labels are joined to it by
        ``voirdire examine FOLDER/session/ratings.parquet --human labels.csv``.
    max_cost : float, optional
        The most that the whole session may cost. Where it is spent, an answer has no score.
    wait : float
        Seconds for which further answers are awaited, so that they are one run.

    Examples
    --------
    >>> import tempfile
    >>> from voirdire.study import build_study
    >>> panel = [{"name": "north", "model": "simulated:a"}]
    >>> study = build_study({"name": "s", "rubric": {"attributes": ["calm"]}, "panel": panel})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     session = GrowingSession(study, place, wait=0)
    ...     asyncio.run(session.judged(Handed("Breathe slowly.", "I shout.", system="mine")))
    {'north': {'calm': 5.0}}
    """

    study: str | Path | Study
    folder: str | Path
    max_cost: float | None = None
    wait: float = 0.2
    _open: list[tuple[Handed, asyncio.Future[dict[str, dict[str, float | None]]]]] = field(
        default_factory=list, repr=False
    )
    _turn: asyncio.Task[None] | None = field(default=None, repr=False)

    async def judged(self, one: Handed) -> dict[str, dict[str, float | None]]:
        """Rater -> attribute -> score, None where none could be read.

        Raises
        ------
        InputError
            The session holds another text as this system's response to this item.
        StudyError, SessionError
            As a run would.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[dict[str, dict[str, float | None]]] = loop.create_future()
        self._open.append((one, answer))
        if self._turn is None or self._turn.done():
            self._turn = asyncio.create_task(self._take_turns())
        return await answer

    def judged_now(self, one: Handed) -> dict[str, dict[str, float | None]]:
        """The same where no loop runs."""
        return asyncio.run(self.judged(one))

    async def _take_turns(self) -> None:
        """Judge what has come, until nothing more has."""
        while self._open:
            await asyncio.sleep(self.wait)
            taken, self._open = self._open, []
            try:
                found = await asyncio.to_thread(self._judge, [one for one, _ in taken])
            except Exception as error:  # noqa: BLE001 - each that waits is told
                found = [error for _ in taken]
            for (_, answer), scores in zip(taken, found, strict=True):
                if answer.done():
                    continue
                if isinstance(scores, Exception):
                    answer.set_exception(scores)
                else:
                    answer.set_result(scores)

    def _judge(self, given: Sequence[Handed]) -> list[Any]:
        """Scores of each, or the error that is its own."""
        place = Path(self.folder)
        place.mkdir(parents=True, exist_ok=True)
        with locked(place / RESPONSES):  # other processes may hand over answers to the same session
            errors = _added(place, given)
            session = place / SESSION
            asyncio.run(
                arun(
                    self._asking,
                    session,
                    resume=is_session(session),
                    only="judge",
                    max_cost=self.max_cost,
                    quiet=True,
                )
            )
            scores = _scores(session)
        return [errors.get(at) or scores.get(one.key, {}) for at, one in enumerate(given)]

    @cached_property
    def _asking(self) -> Study:
        """The study with what is handed over in place of its own items, generators and people."""
        study = load_study(self.study) if isinstance(self.study, str | Path) else self.study
        place = Path(self.folder).resolve()
        return study.model_copy(
            update={
                "items": ItemsSpec(path=str(place / ITEMS)),
                "responses": ResponsesSpec(path=str(place / RESPONSES)),
                "generators": (),
            }
        )


def _added(place: Path, given: Sequence[Handed]) -> dict[int, InputError]:
    """Write what is new; which of them are refused, by their number."""
    texts = {one["id"]: one["text"] for one in _lines(place / ITEMS)}
    there = {(one["item"], one["system"]): one["text"] for one in _lines(place / RESPONSES)}
    errors: dict[int, InputError] = {}
    items: list[dict[str, str]] = []
    responses: list[dict[str, str]] = []
    for at, one in enumerate(given):
        item, system = one.key
        other = [
            what
            for what, before, now in (
                ("text of the item", texts.get(item), one.context),
                (f"response of {system!r}", there.get(one.key), one.output),
            )
            if before is not None and before != now
        ]
        if other:
            errors[at] = InputError(
                f"item {item!r}: the session in {place} holds another {other[0]}. Give another "
                "item or system, or another folder"
            )
            continue
        if item not in texts:
            items.append({"id": item, "text": one.context})
            texts[item] = one.context
        if one.key not in there:
            responses.append({"item": item, "system": system, "text": one.output})
            there[one.key] = one.output
    _append(place / ITEMS, items)
    _append(place / RESPONSES, responses)
    return errors


def _lines(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _append(path: Path, rows: Sequence[dict[str, str]]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def _scores(session: Path) -> dict[tuple[str, str], dict[str, dict[str, float | None]]]:
    """Item and system -> rater -> attribute -> the mean over runs, None where nothing was read."""
    by = ("item", "system", "rater", "attribute")
    means = ratings_frame(session).group_by(by, maintain_order=True).agg(pl.col("score").mean())
    found: dict[tuple[str, str], dict[str, dict[str, float | None]]] = {}
    for row in means.iter_rows(named=True):
        own = found.setdefault((row["item"], row["system"]), {}).setdefault(row["rater"], {})
        own[row["attribute"]] = row["score"]
    return found


def score_of(
    scores: dict[str, dict[str, float | None]], judge: str, attribute: str = ""
) -> float | None:
    """The score of one judge on one attribute; its mean over attributes where none is named.

    Raises
    ------
    InputError
        No such judge or attribute.

    Examples
    --------
    >>> score_of({"north": {"calm": 2.0, "warm": 4.0}}, "north")
    3.0
    """
    check_allowed("judge", [judge], scores)
    own = scores[judge]
    if attribute:
        check_allowed("attribute", [attribute], own, judge)
        return own[attribute]
    values = [one for one in own.values() if one is not None]
    return sum(values) / len(values) if values and len(values) == len(own) else None
