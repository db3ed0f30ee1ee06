"""What a plugin's objects must be able to do. Judges are pure: only the runner awaits.

What is registered as a model is a `ModelFactory`, as a judge a `JudgeFactory`: a callable whose
keyword parameters are the options that a study may give it. Annotators and generators are made
like judges, without a rubric. A model factory marked by `costs_nothing` makes models without a
bill. A model whose `complete` is a plain function blocks: the runner calls
it in a worker thread. A model may say how many calls it bears at once (`concurrency: int`; one that
blocks bears a single call unless it says more).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.schema import Finding, Item, Parsed, Reply, Request, Response, Rubric, Sampling

Make = TypeVar("Make", bound="Callable[..., Any]")


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers requests. Raise `voirdire.ModelError` where no reply comes.

    A refusal, a filtered, cut or empty answer is a reply with its `finish_reason`, not an error.
    A model that holds connections also has `async aclose()`, which the runner calls at the end.
    """

    name: str

    async def complete(self, request: Request) -> Reply:
        """One reply to one request; never retried inside, the runner does that."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Scores responses on attributes, or prefers one of two. Pure: no I/O, no state.

    What it is asked about it says by an attribute `task`: ``"rating"`` (the default: a
    `schema.Rating`), ``"comparison"`` (a `schema.Comparison`) or ``"item"`` (a `schema.Item`).
    `parse` of a reply whose `finish_reason` is ``"error"`` gives every score None, status failed.
    """

    def requests(self, task: Any) -> list[Request]:
        """What to ask about one task (a `schema.Rating` or a `schema.Comparison`)."""
        ...

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the replies say; never raises on hostile text."""
        ...


class ModelFactory(Protocol):
    """Makes the model behind `prefix:name`, for example `openai:gpt-4o`."""

    def __call__(self, model_name: str, **options: Any) -> ChatModel:
        """The model; `model_name` is what stands after the colon, `options` come from the study."""
        ...


def costs_nothing(factory: Make) -> Make:
    """Mark a model factory (a function or class): its models are asked without a bill.

    Their price is 0 unless the study's `[run.prices]` says otherwise, so that a limit on cost asks
    for no price of theirs.
    """
    marked: Any = factory
    marked.free = True
    return factory


class JudgeFactory(Protocol):
    """Makes a judge for a rubric (`use = "rubric"` in the study's panel)."""

    def __call__(
        self,
        rubric: Rubric | str,
        *,
        sampling: Sampling = ...,
        **options: Any,
    ) -> Judge:
        """The judge; a rubric given as text is the name of a built-in one or a TOML file.

        A study's temperature, top_p, max_tokens and seed come in `sampling`, over those that stand
        as its default.
        """
        ...


@runtime_checkable
class FollowsUp(Protocol):
    """A judge, annotator or generator that takes several steps."""

    def follow_up(self, replies: Sequence[Reply]) -> list[Request]:
        """What to ask next, given all replies so far (each knows its `request`); empty: no more."""
        ...


@runtime_checkable
class ParsesColumns(Protocol):
    """A judge that reads many single replies at once, with the same results as one by one."""

    def parse_column(self, replies: Sequence[Reply]) -> Any:
        """What they say as `parsing.ScoreColumns`; None where it cannot read them so."""
        ...


@runtime_checkable
class Finds(Protocol):
    """A rater that has something to say of its own work, such as leaks in its examples."""

    def findings(self) -> Sequence[Finding] | None:
        """What it found; None where it has not looked."""
        ...


@runtime_checkable
class NamesLabels(Protocol):
    """A rater with labels of its own, an attribute each."""

    labels: Any


@runtime_checkable
class Annotator(Protocol):
    """Labels items; a label is an attribute scored 0 or 1. Pure."""

    def requests(self, task: Item) -> list[Request]:
        """What to ask about one item."""
        ...

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """The labels that the replies name."""
        ...


@runtime_checkable
class DeclaresLabels(Protocol):
    """An annotator that says itself which labels it names."""

    @property
    def labels(self) -> Any:
        """A `voirdire.parsing.LabelSet`."""
        ...


@runtime_checkable
class NamesUnsure(Protocol):
    """An annotator that has its own names for an item without a label that recurs."""

    @property
    def unsure(self) -> tuple[str, str]:
        """Where some run said that no label applies, and where none did."""
        ...


@runtime_checkable
class Classifier(Protocol):
    """Predicts labels; may be trained."""

    def fit(self, texts: Sequence[str], labels: NDArray[np.int8]) -> Classifier:
        """Learn from texts and a 0/1 matrix of labels, and return the fitted classifier."""
        ...

    def predict(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row a text, one column a label: scores in [0, 1], NaN where there is none."""
        ...


@runtime_checkable
class Trainable(Classifier, Protocol):
    """A classifier that learns with a validation set, goes on after a kill, and is saved.

    `notes` are sentences that a report must not leave out (epochs trained, on what).
    """

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its results must know."""
        ...

    def fit(
        self,
        texts: Sequence[str],
        labels: NDArray[np.int8],
        *,
        validation: tuple[Sequence[str], NDArray[np.int8]] | None = None,
        folder: Path | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Trainable:
        """Learn; `folder` holds what it needs to go on, `progress` takes (what, done, of)."""
        ...

    def save(self, folder: Path) -> None:
        """Write the trained classifier."""
        ...

    def load(self, folder: Path) -> Trainable:
        """The trained classifier that `save` wrote."""
        ...


@runtime_checkable
class Noted(Protocol):
    """A classifier of which a reader must know something, trained or not."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a report must not leave out."""
        ...


@runtime_checkable
class CountsCuts(Protocol):
    """A classifier that knows which texts it does not read whole."""

    def too_long(self, texts: Sequence[str]) -> int:
        """How many of the texts lose their ends."""
        ...


@runtime_checkable
class Decides(Protocol):
    """A classifier whose scores may be decisions: then no threshold is chosen for them."""

    @property
    def decides(self) -> bool:
        """Whether they are. What was asked and paid for on the way is then kept."""
        ...


class ClassifierFactory(Protocol):
    """Makes a classifier (`use = "tfidf"` in a study's `classify.models`).

    Classes stand in the order of the columns of `fit` and `predict`. The task is ``"binary"`` (two
    classes, the negative one first), ``"multi-class"`` (one class an item) or ``"multi-label"``.
    """

    def __call__(
        self, classes: Sequence[str], *, task: str, seed: int = 0, **options: Any
    ) -> Classifier:
        """The untrained classifier."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    An embedder may also have `revision` (which weights the name stands for), `limit` and
    `tokens(texts)` (how much it reads of a text), `batch_size` and `notes`.
    """

    @property
    def name(self) -> str:
        """The model."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row a text."""
        ...


@runtime_checkable
class ExampleSelector(Protocol):
    """Picks few-shot examples for an item."""

    def select(self, item: Item, k: int) -> list[Mapping[str, Any]]:
        """At most k examples, never the item itself."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Produces a system's response to an item. Pure."""

    def requests(self, task: Item) -> list[Request]:
        """What to ask."""
        ...

    def parse(self, replies: Sequence[Reply], item: str = "") -> Response:
        """The response to the item of that id."""
        ...
