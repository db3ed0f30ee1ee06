"""What a plugin's objects must be able to do. Judges are pure: only the runner awaits.

What is registered as a model is a `ModelFactory`, as a judge a `JudgeFactory`: a callable whose
keyword parameters are the options that a study may give it. Annotators and generators are made
like judges, without a rubric. A model whose `complete` is a plain function blocks: the runner calls
it in a worker thread.

A plugin's object needs its main protocol only (`ChatModel`, `Judge`, `Annotator`, `Generator`,
`Classifier`, `Embedder`, `ExampleSelector`). What it may do beside that is a small protocol each
(`FollowsUp`, `ClosesConnections`, ...): an object that has the members has the ability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.errors import ModelError
    from voirdire.optimizers import Evaluates, OptimizerUnit
    from voirdire.schema import (
        BatchState,
        Finding,
        Item,
        Parsed,
        Reply,
        Request,
        Response,
        Rubric,
        Sampling,
        Trace,
    )

Make = TypeVar("Make", bound="Callable[..., Any]")
Part = TypeVar("Part")
Sum = TypeVar("Sum")


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers requests. Raise `voirdire.ModelError` where no reply comes.

    A refusal, a filtered, cut or empty answer is a reply with its `finish_reason`, not an error.
    """

    name: str

    async def complete(self, request: Request) -> Reply:
        """One reply to one request; never retried inside, the runner does that."""


@runtime_checkable
class ClosesConnections(Protocol):
    """A model that holds connections or other things open."""

    async def aclose(self) -> None:
        """Close them; the runner calls it at the end, also of a run that failed."""


@runtime_checkable
class Prepares(Protocol):
    """A model that is made ready before it can answer, such as one whose weights are loaded."""

    async def prepare(self) -> None:
        """Make it ready; the runner awaits it before the first call, whose time begins afterwards.

        It is called before every call and returns at once where the model is ready. What it raises
        becomes the fault of that call.
        """


@runtime_checkable
class SaysProgress(Protocol):
    """A model whose calls take so long that a run shows how far it is with them."""

    @property
    def progress(self) -> str:
        """A few words, such as ``loading`` or ``312 tokens in a batch of 8``; empty when idle."""


@runtime_checkable
class BearsConcurrency(Protocol):
    """A model that says how many calls it can take at once.

    Without it an `async` model takes as many as the study allows, and one that blocks a single one.
    """

    @property
    def concurrency(self) -> int:
        """Calls at once, from 1."""


@runtime_checkable
class EnforcesSchema(Protocol):
    """A model that can find out whether its server binds answers to a JSON schema."""

    @property
    def schema_key(self) -> str:
        """By which a session keeps the answer; empty where nobody wants it to be asked."""

    async def enforces_schema(self) -> bool | None:
        """Whether a schema binds what the server answers; None where that could not be learnt."""

    def take_schema(self, enforced: bool) -> None:
        """Send schemas from now on, or none."""


@runtime_checkable
class CostsNothing(Protocol):
    """A model factory that says whether its models are asked without a bill (`costs_nothing`)."""

    @property
    def free(self) -> bool:
        """Whether they are."""


@runtime_checkable
class Judge(Protocol):
    """Scores responses on attributes, or prefers one of two. Pure: no I/O, no state.

    It is asked about a `schema.Rating`, unless it says something else (see `SaysTask`). `parse` of
    a reply whose `finish_reason` is ``"error"`` gives every score None, status failed.
    """

    def requests(self, task: Any) -> list[Request]:
        """What to ask about one task (a `schema.Rating` or a `schema.Comparison`)."""

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the replies say; never raises on hostile text."""


class ModelFactory(Protocol):
    """Makes the model behind `prefix:name`, for example `openai:gpt-4o`."""

    def __call__(self, model_name: str, **options: Any) -> ChatModel:
        """The model; `model_name` is what stands after the colon, `options` come from the study."""


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

    def __call__(self, rubric: Rubric | str, *, sampling: Sampling = ..., **options: Any) -> Judge:
        """The judge; a rubric given as text is the name of a built-in one or a TOML file.

        A study's temperature, top_p, max_tokens and seed come in `sampling`, over those that stand
        as its default.
        """


class Batches(Protocol):
    """A model's calls in one piece, answered later at a lower price; all methods raise ModelError.

    `named` says whether the provider keeps the name that a batch is submitted under.
    """

    @property
    def named(self) -> bool:
        """See above."""

    def fits(self, request: Request) -> bool:
        """Whether a request can be a line of a batch."""

    async def submit(self, name: str, lines: Sequence[tuple[str, Request]]) -> str:
        """Hand over requests, each with the name of its line; returns the provider's id."""

    async def states(self, since: float) -> list[BatchState]:
        """The batches that the provider was given since then, by seconds since 1970."""

    async def state(self, number: str) -> BatchState:
        """How far a batch is."""

    async def results(
        self, number: str, requests: Mapping[str, Request]
    ) -> list[tuple[str, Reply | ModelError]]:
        """What became of these lines; of others nothing is said."""

    async def cancel(self, number: str) -> None:
        """Ask the provider to stop; what was answered before can be fetched."""


@runtime_checkable
class TakesBatches(Protocol):
    """A model that may take calls in one piece (`voirdire run --batch`)."""

    @property
    def batches(self) -> Batches | None:
        """How; None where this one does not."""


@runtime_checkable
class Executor(Protocol):
    """Where partial results are computed. Its factory is called with the address that
    ``--workers`` gives, and with ``insecure=True`` where the user accepts a network without TLS.
    """

    @property
    def workers(self) -> int:
        """Parts that are computed at once, from 1."""

    def map_reduce(
        self,
        partial: Callable[[Part], Sum],
        parts: Iterable[Part],
        add: Callable[[Sum, Sum], Sum] = ...,
    ) -> Sum:
        """The sum of ``partial(part)`` over the parts, added in their order (default: by ``+``).

        `partial` and the parts are pickled, so a function of a module, or a `functools.partial` of
        one. Parts are taken as they are needed, and no more results are held than there are
        workers, twice. A part whose worker died is given out again: `partial` must bear to be
        called again. What `partial` raises is raised here.

        Raises
        ------
        InputError
            There is no part.
        WorkerError
            The workers of one part died again and again.
        """

    def close(self) -> None:
        """End what was started; called once, also after an error."""


@runtime_checkable
class SaysTask(Protocol):
    """A rater that says what it is asked about.

    Without it a judge is asked about ratings and an annotator about items.
    """

    @property
    def task(self) -> Literal["rating", "comparison", "item"]:
        """A `schema.Rating`, a `schema.Comparison` or a `schema.Item`."""


@runtime_checkable
class SaysRuns(Protocol):
    """A rater that says how often each task is to be asked, unless the study says it."""

    @property
    def runs(self) -> int:
        """Repetitions, from 1."""


@runtime_checkable
class ShowsExamples(Protocol):
    """A rater that shows its model examples."""

    @property
    def examples(self) -> Any:
        """How they are chosen (a `voirdire_judges.few_shot.FewShot`), or None."""


@runtime_checkable
class FollowsUp(Protocol):
    """A judge, annotator or generator that takes several steps."""

    def follow_up(self, replies: Sequence[Reply]) -> list[Request]:
        """What to ask next, given all replies so far (each knows its `request`); empty: no more."""


@runtime_checkable
class Converses(Protocol):
    """A generator that holds a conversation: several steps, each of which needs its item."""

    @property
    def speakers(self) -> tuple[str, ...]:
        """Every role of a turn of its conversations, so that a study may say whose are judged."""

    def next_of(self, task: Item, replies: Sequence[Reply]) -> list[Request]:
        """What to ask next about an item, given all replies so far; empty where it has ended."""

    def conversation(self, task: Item, replies: Sequence[Reply]) -> Response:
        """The conversation as a response with turns; it must not need the replies' `request`."""


@runtime_checkable
class BuildsOn(Protocol):
    """A judge that asks another judge's question; its options `judge` and `options` name that one.

    What it asks in later steps begins with that question too, so whoever changes the question
    changes all steps.
    """

    @property
    def judge(self) -> Judge:
        """Whose question it is."""


@runtime_checkable
class AsksInRoles(Protocol):
    """A rater whose requests have roles, each of which the study may give a model of its own."""

    @property
    def roles(self) -> tuple[str, ...]:
        """Every `Request.role` that it asks in."""


@runtime_checkable
class Traces(Protocol):
    """A rater of several steps that says how it came to its scores."""

    def trace(self, replies: Sequence[Reply]) -> Trace:
        """What all replies to one task show; it must not need their `request`."""


@runtime_checkable
class Replays(Protocol):
    """A rater whose `follow_up` does work that is not to be done twice, such as calling tools."""

    def follows(self, replies: Sequence[Reply], kept: Request) -> bool:
        """Whether a request that an earlier run made in this place follows from these replies.

        Then it is taken as it was made, and `follow_up` is not called.
        """


@runtime_checkable
class TakesTime(Protocol):
    """A rater whose `follow_up` may take long: where `slow`, it is called beside the runner's loop.

    It also says how many replies it needs for one task, which counts where the study does not;
    those in other roles than its first are not counted.
    """

    @property
    def slow(self) -> bool:
        """Whether it may."""

    @property
    def max_steps(self) -> int:
        """Replies for one task at most, from 1."""


@runtime_checkable
class ParsesColumns(Protocol):
    """A judge that reads many single replies at once, with the same results as one by one."""

    def parse_column(self, replies: Sequence[Reply]) -> Any:
        """What they say as `parsing.ScoreColumns`; None where it cannot read them so."""


@runtime_checkable
class Finds(Protocol):
    """A rater that has something to say of its own work, such as leaks in its examples."""

    def findings(self) -> Sequence[Finding] | None:
        """What it found; None where it has not looked."""


@runtime_checkable
class Annotator(Protocol):
    """Labels items; a label is an attribute scored 0 or 1. Pure."""

    def requests(self, task: Item) -> list[Request]:
        """What to ask about one item."""

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """The labels that the replies name."""


@runtime_checkable
class DeclaresLabels(Protocol):
    """A rater that says itself which labels it names, an attribute each."""

    @property
    def labels(self) -> Any:
        """A `voirdire.parsing.LabelSet`."""


@runtime_checkable
class NamesUnsure(Protocol):
    """An annotator that has its own names for an item without a label that recurs."""

    @property
    def unsure(self) -> tuple[str, str]:
        """Where some run said that no label applies, and where none did."""


@runtime_checkable
class NamesOptions(Protocol):
    """An annotator whose requests name their options, so that a model says how likely each is."""

    @property
    def options_named(self) -> Mapping[str, str]:
        """Option of the last request -> the label that it stands for; empty where none is named."""


@runtime_checkable
class Classifier(Protocol):
    """Predicts labels; may be trained."""

    def fit(self, texts: Sequence[str], labels: NDArray[np.int8]) -> Classifier:
        """Learn from texts and a 0/1 matrix of labels, and return the fitted classifier."""

    def predict(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row a text, one column a label: scores in [0, 1], NaN where there is none."""


@runtime_checkable
class Noted(Protocol):
    """A classifier or embedder of which a reader must know something."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a report must not leave out."""


@runtime_checkable
class Trainable(Classifier, Noted, Protocol):
    """A classifier that learns with a validation set, goes on after a kill, and is saved.

    Its notes say what a report must not leave out: epochs trained, and on what.
    """

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

    def save(self, folder: Path) -> None:
        """Write the trained classifier."""

    def load(self, folder: Path) -> Trainable:
        """The trained classifier that `save` wrote."""


@runtime_checkable
class CountsCuts(Protocol):
    """A classifier that knows which texts it does not read whole."""

    def too_long(self, texts: Sequence[str]) -> int:
        """How many of the texts lose their ends."""


@runtime_checkable
class Decides(Protocol):
    """A classifier whose scores may be decisions: then no threshold is chosen for them."""

    @property
    def decides(self) -> bool:
        """Whether they are. What was asked and paid for on the way is then kept."""


class ClassifierFactory(Protocol):
    """Makes a classifier (`use = "tfidf"` in a study's `classify.models`).

    Classes stand in the order of the columns of `fit` and `predict`. The task is ``"binary"`` (two
    classes, the negative one first), ``"multi-class"`` (one class an item) or ``"multi-label"``.
    """

    def __call__(
        self, classes: Sequence[str], *, task: str, seed: int = 0, **options: Any
    ) -> Classifier:
        """The untrained classifier."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The model."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row a text."""


@runtime_checkable
class HasRevision(Protocol):
    """An embedder that knows which weights its name stands for."""

    @property
    def revision(self) -> str:
        """Such as a commit; empty where it is not known."""


@runtime_checkable
class CountsTokens(Protocol):
    """An embedder that reads a text up to a number of tokens."""

    @property
    def limit(self) -> int | None:
        """The most tokens that it reads of a text; None where there is no limit."""

    def tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text, those that it does not read included."""


@runtime_checkable
class EmbedsInBatches(Protocol):
    """An embedder that says how many texts it takes at once."""

    @property
    def batch_size(self) -> int:
        """Texts, from 1."""


@runtime_checkable
class ExampleSelector(Protocol):
    """Picks few-shot examples for an item."""

    def select(self, item: Item, k: int) -> list[Mapping[str, Any]]:
        """At most k examples, never the item itself."""


@runtime_checkable
class SelectsMany(Protocol):
    """A selector that chooses for many items at once, faster than one by one."""

    def select_many(self, items: Sequence[Item], k: int) -> Sequence[Any]:
        """One selection an item, each with `item` (its id) and `examples`."""


@runtime_checkable
class FindsInSelections(Protocol):
    """A selector that has something to say of what it chose, such as leaks."""

    def findings(self, items: Iterable[Item], selections: Sequence[Any]) -> Sequence[Finding]:
        """What it found in the selections for these items."""


@runtime_checkable
class Generator(Protocol):
    """Produces a system's response to an item. Pure."""

    def requests(self, task: Item) -> list[Request]:
        """What to ask."""

    def parse(self, replies: Sequence[Reply], item: str = "") -> Response:
        """The response to the item of that id."""


@runtime_checkable
class Optimizer(Protocol):
    """Looks for better instructions of a judge; what it finds is measured on other labels."""

    def optimize(self, start: str, units: Sequence[OptimizerUnit], evaluate: Evaluates) -> str:
        """The best instructions found.

        `evaluate(text, units)` gives a score and a text for each unit, and `evaluate.left` says how
        many judgements may still be asked for.
        """
