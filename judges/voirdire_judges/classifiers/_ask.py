"""An annotator's answers on texts: through the runner, or from a chat model at hand."""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, ModelError
from voirdire.running import completer, run
from voirdire.schema import Item, Reply
from voirdire.store import ratings_frame
from voirdire.study import build_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import Annotator, ChatModel
    from voirdire.running import RaterResult
    from voirdire.schema import Parsed

    Floats = NDArray[np.float64]

_RATER = "classifier"
#: Calls at a time to a model at hand.
_AT_ONCE = 16
#: Faults of the text, not of the moment: its prediction is missing.
_FINAL = ("bad_request", "empty_input", "model")


def ask_by_name(
    rater: Mapping[str, Any],
    texts: Sequence[str],
    classes: Sequence[str],
    folder: Path | None,
) -> tuple[Floats, Floats]:
    """Scores and ranks, (texts, runs, classes), of a rater run over the texts.

    The session lies in `folder`, named by the texts: a run that was killed goes on there, and what
    was answered is never asked again. Without a folder it is thrown away.

    Raises
    ------
    InputError
        Texts were not asked about, or in vain for a reason that may pass: a network that is down
        or a key that is refused is no answer, and must not be taken for a missing one.
    """
    if folder is None:
        with TemporaryDirectory() as passing:
            return ask_by_name(rater, texts, classes, Path(passing))
    named = hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:16]
    place = folder / f"asked-{named}"
    place.mkdir(parents=True, exist_ok=True)
    rows = {"id": [str(number) for number in range(len(texts))], "text": list(texts)}
    pl.DataFrame(rows).write_parquet(place / "items.parquet")
    study = build_study(
        {
            "name": "classify",
            "items": {"path": "items.parquet"},
            "panel": [{**rater, "name": _RATER, "kind": "annotator"}],
        },
        folder=str(place),
    )
    session = place / "session"
    result = run(study, session, resume=session.exists(), quiet=True)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    _check_asked(result.raters[0])
    return _cube(ratings_frame(session), len(texts), int(rater["runs"]), classes)


def _check_asked(rater: RaterResult) -> None:
    passing = sum(count for kind, count in rater.faults.items() if kind not in _FINAL)
    if rater.open or passing:
        faults = ", ".join(f"{kind} {count}" for kind, count in rater.faults.items())
        why = rater.parked or faults
        raise InputError(
            f"llm classifier: {rater.model} answered {rater.done} of {rater.tasks} calls ({why}); "
            "what it answered is kept: run again to ask for the others"
        )


def ask_model(
    model: ChatModel, annotator: Annotator, texts: Sequence[str], classes: Sequence[str], runs: int
) -> tuple[Floats, Floats]:
    """The same from a chat model at hand; a call that fails is missing."""
    items = [Item(str(number), text) for number, text in enumerate(texts) for _ in range(runs)]
    with ThreadPoolExecutor(1) as pool:  # a loop of its own, also where one is running already
        parsed = pool.submit(asyncio.run, _all(model, annotator, items)).result()
    scores = np.array([[_number(one.scores.get(name)) for name in classes] for one in parsed])
    ranks = np.array([[one.ranks.get(name, np.nan) for name in classes] for one in parsed])
    shape = (len(texts), runs, len(classes))
    return scores.reshape(shape).astype(np.float64), ranks.reshape(shape).astype(np.float64)


async def _all(model: ChatModel, annotator: Annotator, items: Sequence[Item]) -> list[Parsed]:
    complete, gate = completer(model), asyncio.Semaphore(_AT_ONCE)

    async def one(item: Item) -> Parsed:
        replies = []
        for request in annotator.requests(item):
            async with gate:
                try:
                    replies.append(await complete(request))
                except ModelError as error:
                    replies.append(Reply("", "error", error=str(error)))
        return annotator.parse(replies)

    return list(await asyncio.gather(*(one(item) for item in items)))


def _cube(
    ratings: pl.DataFrame, items: int, runs: int, classes: Sequence[str]
) -> tuple[Floats, Floats]:
    scores, ranks = (np.full((items, runs, len(classes)), np.nan) for _ in range(2))
    place = {name: at for at, name in enumerate(classes)}
    if absent := sorted(set(classes) - set(ratings["attribute"].to_list())):
        raise InputError(f"llm classifier: the annotator knows no label {absent[0]!r}")
    wanted = ratings.select("item", "run", "attribute", "score", "rank").iter_rows()
    for item, number, name, score, rank in wanted:
        if name in place:
            cell = int(item), number - 1, place[name]
            scores[cell], ranks[cell] = _number(score), _number(rank)
    return scores, ranks


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
