"""`llm`: an annotator used as classifier, zero-shot or with examples from the training data."""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError, ModelError, check_allowed
from voirdire.running import completer, run
from voirdire.schema import Item, Reply
from voirdire.store import ratings_frame
from voirdire.study import build_study
from voirdire_judges.classifiers._checks import check_task, check_training, read_card
from voirdire_judges.prompts import MARKS_NOTE, delimited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import Annotator, ChatModel
    from voirdire.running import RaterResult
    from voirdire.schema import Parsed

    Floats = NDArray[np.float64]


_CARD = "llm.json"
_ONE = "Read the text and decide which one of these labels fits it best: {labels}."
_SEVERAL = "Read the text and decide which of these labels apply to it: {labels}."
_ANSWER_ONE = "Answer with nothing but that label."
_ANSWER_SEVERAL = "Answer with nothing but the labels that apply, as a comma-separated list."
_RATER = "classifier"
#: Calls under way at a time, to a model that was given as an object.
_AT_ONCE = 16
#: Faults of the text, not of the moment: its prediction is missing.
_FINAL = ("bad_request", "empty_input", "model")


@dataclass(frozen=True, slots=True, eq=False)
class LlmClassifier:
    """A panel member's answers as scores: the share of runs that name a class.

    `decides`: its answers are decisions, so no threshold is chosen, and nothing is asked about
    the validation set. Its replies cost money and are kept.
    """

    classes: tuple[str, ...]
    task: str
    model: str | ChatModel
    rater: Mapping[str, Any]
    runs: int = 1
    shots: int = 0
    seed: int = 0
    none: str = ""
    prompt: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    folder: Path | None = None
    decides: bool = field(default=True, init=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """How it was asked."""
        shown = f"{len(self.examples)} examples" if self.examples else "zero-shot"
        return (f"{shown}, {self.runs} run{'s' * (self.runs != 1)}, threshold 0.5 (not tuned)",)

    def fit(
        self,
        texts: Sequence[str],
        labels: NDArray[np.int8],
        *,
        validation: tuple[Sequence[str], NDArray[np.int8]] | None = None,  # noqa: ARG002 - not tuned
        folder: Path | None = None,
        progress: Callable[[str, int, int], None] | None = None,  # noqa: ARG002 - nothing to wait for
    ) -> LlmClassifier:
        """Choose the examples to show; no weights change. Replies will be kept in `folder`."""
        check_training(texts, labels, self.classes, self.task, "llm classifier")
        given = np.asarray(labels)
        chosen = choose_shots(texts, given, self.classes, self.shots, self.seed)
        return replace(self, examples=tuple(chosen), folder=folder)

    def predict(self, texts: Sequence[str]) -> Floats:
        """Shares of runs; NaN for a blank text or where no run gave an answer."""
        out = np.full((len(texts), len(self.classes)), np.nan)
        there = [place for place, text in enumerate(texts) if text.strip()]
        if there:
            scores, ranks = self._asked([texts[place] for place in there])
            out[there] = _shares(scores, ranks, exclusive=self.task != "multi-label")
        return out

    def save(self, folder: Path) -> None:
        """The examples; the model is named in the study."""
        folder.mkdir(parents=True, exist_ok=True)
        card = {"classes": self.classes, "task": self.task, "examples": self.examples}
        (folder / _CARD).write_text(json.dumps(card), encoding="utf-8")

    def load(self, folder: Path) -> LlmClassifier:
        """What `save` wrote; replies will be kept beside it.

        Raises
        ------
        InputError
            The folder holds no classifier, or one for other classes.
        """
        card = read_card(folder / _CARD, self.classes, self.task, "llm")
        examples = tuple((text, labels) for text, labels in card["examples"])
        return replace(self, examples=examples, folder=folder)

    def _asked(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        rater = dict(self.rater)
        if rater["use"] == "labels":
            rater["options"] = {**self._declared(), **rater["options"]}
        if isinstance(self.model, str):
            named = {**rater, "model": self.model, "runs": self.runs}
            return ask_by_name(named, texts, self.classes, self.folder)
        make_annotator = loaded_plugins().resolve("annotator", rater["use"])
        sampling = {
            name: rater[name] for name in ("temperature", "top_p", "max_tokens") if name in rater
        }
        annotator = make_annotator(**rater["options"], **sampling)
        return ask_model(self.model, annotator, texts, self.classes, self.runs)

    def _declared(self) -> dict[str, Any]:
        """The options of the annotator `labels` that follow from the classes."""
        several = self.task == "multi-label"
        # Binary classes have the negative one first.
        none = self.none or (self.classes[0] if self.task == "binary" else "")
        text = self.prompt or prompt_of(self.classes, self.task, self.none, self.examples)
        declared: dict[str, Any] = {"labels": list(self.classes), "prompt": text}
        declared |= {"kind": "multi"} if several else {"kind": "ranked", "at_most": 1}
        return {**declared, "none": none} if none else declared


def make(  # noqa: PLR0913 - the options are those of a study
    classes: Sequence[str],
    *,
    task: str,
    seed: int = 0,
    model: str | ChatModel = "",
    shots: int = 0,
    runs: int = 1,
    none: str = "",
    prompt: str = "",
    annotator: str = "labels",
    annotator_options: Mapping[str, Any] | None = None,
    **call: Any,
) -> LlmClassifier:
    """An LLM as classifier (`use = "llm"`).

    Parameters
    ----------
    classes, task, seed
        See `voirdire.protocols.ClassifierFactory`; the seed draws the examples.
    model : str or ChatModel
        As in a panel (``openai:gpt-4o``): asked through the runner, with its limits and retries,
        every reply kept. Or a chat model as an object.
    shots : int
        Examples from the training data shown in the prompt, class by class in turn.
    runs : int
        Independent runs; a class's score is the share of runs that answer and name it.
    none : str
        The class that says that no other applies.
    prompt : str
        Instructions of your own, complete; then no examples are added.
    annotator, annotator_options
        Another registered annotator and what it is made with; its labels must have the names of
        the classes.
    **call
        ``temperature``, ``top_p``, ``max_tokens``, ``model_options``, as in a panel.

    Raises
    ------
    InputError
        No model is named, or an option is unknown.
    """
    check_task(task, classes, "llm classifier")
    if not model:
        raise InputError("llm classifier: name a model, such as 'openai:gpt-4o'")
    allowed = ("temperature", "top_p", "max_tokens", "model_options")
    check_allowed("option", call, allowed, "llm classifier")
    if shots < 0 or runs < 1 or (shots and prompt):
        raise InputError(
            "llm classifier: shots must be 0 or more (0 with a prompt of your own) and runs 1 or "
            f"more, got {shots} and {runs}"
        )
    rater = {"use": annotator, "options": dict(annotator_options or {}), **call}
    return LlmClassifier(tuple(classes), task, model, rater, runs, shots, seed, none, prompt)


def _shares(scores: Floats, ranks: Floats, *, exclusive: bool) -> Floats:
    """(texts, runs, classes) to the share of answering runs that name each class."""
    # A run that leaves any class unknown is no answer, and is in neither part of the share.
    answered = ~np.isnan(scores).any(axis=2, keepdims=True)
    named = np.where(answered, np.nan_to_num(scores), 0.0)
    if exclusive:
        # Where classes exclude each other the first named counts; unranked labels all rank
        # first, of which argmin takes the first class.
        order = np.where(named > 0, np.nan_to_num(ranks, nan=1.0), np.inf)
        first = np.eye(scores.shape[2])[order.argmin(axis=2)]
        named = first * named.any(axis=2, keepdims=True)
        answered &= named.any(axis=2, keepdims=True)
    count = answered.sum(axis=1, dtype=np.float64)
    shares: Floats = np.divide(
        named.sum(axis=1), count, out=np.full(scores.shape[::2], np.nan), where=count > 0
    )
    return shares


def prompt_of(
    classes: Sequence[str], task: str, none: str = "", examples: Sequence[tuple[str, str]] = ()
) -> str:
    """The instructions, and examples as pairs of text and answer.

    >>> print(prompt_of(["calm", "loud"], "binary"))
    Read the text and decide which one of these labels fits it best: calm; loud.
    <BLANKLINE>
    Answer with nothing but that label.
    """
    several = task == "multi-label"
    asked = (_SEVERAL if several else _ONE).replace("{labels}", "; ".join(classes))
    answer = _ANSWER_SEVERAL if several else _ANSWER_ONE
    if several and none:
        answer += f" If no other label applies, answer {none}."
    blocks = [asked, answer]
    if examples:
        blocks.append(f"Examples, each with its answer. {MARKS_NOTE}")
    blocks += [f"{delimited(text, 'EXAMPLE')}\nAnswer: {labels}" for text, labels in examples]
    return "\n\n".join(blocks)


def choose_shots(
    texts: Sequence[str],
    labels: NDArray[np.int8],
    classes: Sequence[str],
    shots: int,
    seed: int,
) -> list[tuple[str, str]]:
    """Examples drawn from the training data, class by class in turn, so that rare ones are shown.

    Examples
    --------
    >>> labels = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.int8)
    >>> [answer for _, answer in choose_shots(["a", "b", "c"], labels, ["calm", "loud"], 2, 0)]
    ['calm', 'loud']
    """
    rng = np.random.default_rng(seed)
    queues = [rng.permutation(np.flatnonzero(column)).tolist() for column in labels.T]
    taken: list[int] = []
    while len(taken) < shots and any(queues):
        for queue in queues:
            # A text with several labels stands in several queues, and is shown once.
            fresh = [place for place in queue if place not in taken]
            queue[:] = fresh[1:]
            if fresh and len(taken) < shots:
                taken.append(fresh[0])
    names = np.asarray(classes)
    return [(texts[place], ", ".join(names[labels[place] == 1].tolist())) for place in taken]


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
        Texts were not asked about, or got no answer for a reason that may pass: a network that is
        down or a key that is refused is no answer, and must not be taken for a missing one.
    """
    if folder is None:
        with TemporaryDirectory() as passing:
            return ask_by_name(rater, texts, classes, Path(passing))
    # Named by its texts: dev, test and new texts are asked in sessions of their own.
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
    # The runner has kept what came; the grid must stop too, and not go on with the next cell.
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    _check_asked(result.raters[0])
    return _cube(ratings_frame(session), len(texts), int(rater["runs"]), classes)


def _check_asked(rater: RaterResult) -> None:
    # A fault that may pass is no answer: a missing prediction would lower the score for a
    # network's sake.
    passing = sum(count for kind, count in rater.faults.items() if kind not in _FINAL)
    if rater.open or passing:
        faults = ", ".join(f"{kind} {count}" for kind, count in rater.faults.items())
        why = rater.suspended or faults
        raise InputError(
            f"llm classifier: {rater.model} answered {rater.done} of {rater.tasks} calls ({why}); "
            "what it answered is kept: run again to ask for the others"
        )


def ask_model(
    model: ChatModel, annotator: Annotator, texts: Sequence[str], classes: Sequence[str], runs: int
) -> tuple[Floats, Floats]:
    """The same from a chat model that was given as an object; a call that fails is missing."""
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
