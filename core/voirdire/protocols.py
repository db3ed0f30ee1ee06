"""What a plugin's objects must be able to do. Judges are pure: only the runner awaits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voirdire.schema import Item, Parsed, Reply, Request, Response


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers requests. Raise `voirdire.ModelError` where no reply comes."""

    name: str

    async def complete(self, request: Request) -> Reply:
        """One reply to one request; never retried inside, the runner does that."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Scores responses on attributes, or prefers one of two. Pure: no I/O, no state."""

    def requests(self, task: Any) -> list[Request]:
        """What to ask about one task (an item, its response or responses)."""
        ...

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the replies say; never raises on hostile text."""
        ...


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
class Classifier(Protocol):
    """Predicts labels; may be trained."""

    def fit(self, texts: Sequence[str], labels: NDArray[np.int8]) -> Classifier:
        """Learn from texts and a 0/1 matrix of labels, and return the fitted classifier."""
        ...

    def predict(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row a text, one column a label: scores in [0, 1], NaN where there is none."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    name: str
    dimension: int

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

    def parse(self, replies: Sequence[Reply]) -> Response:
        """The response."""
        ...
