"""The parts of a study that say what is run: items, responses, generators, limits and prices."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from voirdire.study._part import Count, Names, Share, StudyPart, no_secrets
from voirdire.units import JudgedUnits, UnitKind

Seconds = Annotated[float, Field(gt=0)]
#: Tokens that a price is for.
MILLION = 1_000_000
Price = Annotated[float, Field(ge=0)]
ReaskOn = Literal["unparsable", "truncated", "blank", "out_of_scale"]
Stage = Literal["generate", "judge", "annotate"]
STAGES: tuple[Stage, ...] = ("generate", "judge", "annotate")


class MessageColumns(StudyPart):
    """The columns of a file of one row a message, those of a conversation in their order."""

    role: str = "role"
    content: str = "content"
    name: str = ""
    time: str = ""


class ItemsSpec(StudyPart):
    """The file of items, and the columns that hold id, text and reference answer.

    Where items are conversations, `messages` names the column of their turns, or the columns of a
    file of one row a message; the text is then what a conversation begins with, and may be absent.
    `extra` names further columns that judges and annotators may read from `Item.extra`; `only` are
    ids of the items that are asked about, all of them where it is empty. `language` is the column
    that says in which language an item is: results are given by it, as by any subgroup. `cluster`
    is the column of what several items are parts of (the conversation of some runs): intervals draw
    those, not items.
    """

    path: str
    sheet: str | None = None
    id: str = "id"
    text: str = "text"
    messages: str | MessageColumns = ""
    reference: str = ""
    language: str = ""
    cluster: str = ""
    extra: Names = ()
    only: Names = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is kept in `Item.extra`."""
        return tuple(dict.fromkeys((*self.extra, *filter(None, [self.language, self.cluster]))))


class ResponsesSpec(StudyPart):
    """The file of responses: one row a response, or one column a system (`columns`).

    Where responses are conversations, `messages` names the column of their turns, or the columns of
    a file of one row a message. `only` are the responses that are asked about, as item and system;
    all of them where it is empty.
    """

    path: str
    sheet: str | None = None
    item: str = "item"
    system: str = "system"
    text: str = "text"
    messages: str | MessageColumns = ""
    columns: dict[str, str] = Field(default_factory=dict)
    only: tuple[tuple[str, str], ...] = ()


class Conversations(StudyPart):
    """What is judged: the ``whole``, each ``turn`` or ``step``, or the ``first`` failure.

    `role` says whose turns are judged; of steps it may be left out, and all that an agent did is.
    `past` is how many turns before its own a rater sees, and `longest` how many characters of each
    of them; without them all is seen. With `last` only the last of these turns is judged. A rater
    of the panel may have a `unit` of its own.
    """

    unit: UnitKind | None = None
    role: str = ""
    past: Annotated[int, Field(ge=0)] | None = None
    longest: Count | None = None
    last: bool = False

    @model_validator(mode="after")
    def _role_of_turns(self) -> Self:
        window = self.past is not None or self.longest is not None
        if window and self.unit not in (None, "turn", "step"):
            raise ValueError(
                "past and longest say what of the turns before one that is judged is shown: give "
                "unit = 'turn' or unit = 'step'"
            )
        return self

    def judged(self, unit: UnitKind | None = None) -> JudgedUnits:
        """Which units are asked about, by whoever has a `unit` of its own or by all."""
        kind = unit or self.unit or "whole"
        if kind not in ("turn", "step"):
            return JudgedUnits(kind)
        return JudgedUnits(kind, self.role, self.past, self.longest, self.last)


class Comparisons(StudyPart):
    """Which systems pairwise judges compare: all pairs, or each `against` one.

    `order` is how a pair is shown: ``random`` (drawn from `seed`, item and pair), ``both`` (two
    calls) or ``fixed`` (as declared).
    """

    against: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    order: Literal["random", "both", "fixed"] = "random"
    seed: int = 0


class Asked(StudyPart):
    """A model that is asked, with its options; a name alone stands for one without any."""

    model: str
    options: dict[str, Any] = Field(default_factory=dict)

    _no_keys = field_validator("options")(no_secrets)

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"model": value} if isinstance(value, str) else value


def asked_models(spec: Any) -> dict[str, Asked]:
    """The models that a member of a study asks, by role; the one without a role is asked in all
    others.
    """
    named = {"": Asked(model=spec.model)} if spec.model else {}
    return {
        role: Asked(model=one.model, options={**spec.model_options, **one.options})
        for role, one in {**named, **spec.models}.items()
    }


def shown_models(spec: Any) -> str:
    """The model of a member of a study as a table shows it; several with their roles."""
    if not spec.models:
        return str(spec.model)
    return ", ".join(
        f"{role}: {one.model}" if role else one.model for role, one in spec.asks.items()
    )


class GeneratorSpec(StudyPart):
    """A system that produces responses; its name is the system's name in every table.

    One that holds conversations asks in several roles: `models` names a model for each.
    """

    name: str
    use: str
    model: str = ""
    model_options: dict[str, Any] = Field(default_factory=dict)
    models: dict[str, Asked] = Field(default_factory=dict)
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Count | None = None
    seed: int | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    _no_keys = field_validator("model_options", "options")(no_secrets)

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        if not (self.model or self.models):
            raise ValueError("a generator asks a model: give it model, or models by role")
        return self

    @property
    def model_names(self) -> str:
        """Its model as a table shows it."""
        return shown_models(self)

    @property
    def asks(self) -> dict[str, Asked]:
        """The models that it asks, by role."""
        return asked_models(self)


class Prices(StudyPart):
    """What a model costs a million tokens; `cached` and `written` default to `input`.

    `cached` is the price of input read from the provider's cache, `written` of input written to it.
    `batch` is the share of the price that calls cost in a batch: half of it at all three providers.
    """

    input: Price
    output: Price
    cached: Price | None = None
    written: Price | None = None
    batch: Share = 0.5

    def cost(
        self,
        input: float,  # noqa: A002 - as tokens are called
        output: float,
        cached: float = 0,
        written: float = 0,
    ) -> float:
        """What so many tokens cost; `cached` and `written` of the input, no more than there are.

        >>> Prices(input=1.0, output=2.0, cached=0.1).cost(1000, 0, 800)
        0.00028
        """
        cached = min(cached, input)
        written = min(written, input - cached)
        cached_price = self.input if self.cached is None else self.cached
        written_price = self.input if self.written is None else self.written
        fresh = (input - cached - written) * self.input
        stored = cached * cached_price + written * written_price
        return (fresh + stored + output * self.output) / MILLION


class ModelLimits(StudyPart):
    """What one model bears; what is not given stands as `[run]` says."""

    requests_per_minute: Seconds | None = None
    tokens_per_minute: Seconds | None = None
    concurrency: Count | None = None
    start_concurrency: Count | None = None


class RunSpec(StudyPart):
    """How calls are made. Limits hold for each model; `max_cost` and `max_calls` for the session.

    Attributes
    ----------
    timeout : float
        Seconds for one call, first to last byte.
    retries : int
        Further attempts after a passing fault (5xx, connection, timeout, malformed body).
    patience : float
        Seconds that a call waits on 429 and 529 before it counts as failed.
    backoff, backoff_cap, retry_after_cap : float
        First wait, longest wait, and the longest Retry-After that is obeyed, in seconds.
    reask : int
        How often a bad reply is asked again, for the statuses in `reask_on`.
    reask_tokens : float
        Factor on max_tokens when a truncated reply is asked again.
    breaker : int
        Calls that fail in a row, with no success between, before a rater is suspended.
    batch_poll : float
        Seconds between looks at how far a batch is.
    """

    timeout: Seconds = 120.0
    retries: Annotated[int, Field(ge=0)] = 5
    patience: Seconds = 900.0
    backoff: Annotated[float, Field(ge=0)] = 0.5
    backoff_cap: Seconds = 30.0
    retry_after_cap: Seconds = 120.0
    reask: Annotated[int, Field(ge=0)] = 1
    reask_on: tuple[ReaskOn, ...] = ("unparsable", "truncated", "blank")
    reask_tokens: Annotated[float, Field(ge=1)] = 2.0
    concurrency: Count = 64
    start_concurrency: Count = 16
    requests_per_minute: Seconds | None = None
    tokens_per_minute: Seconds | None = None
    breaker: Count = 5
    batch_poll: Seconds = 30.0
    max_cost: Price | None = None
    max_calls: Annotated[int, Field(ge=0)] | None = None
    currency: str = "USD"
    prices: dict[str, Prices] = Field(default_factory=dict)
    models: dict[str, ModelLimits] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _starts_within(self) -> Self:
        if "start_concurrency" in self.model_fields_set and (
            self.start_concurrency > self.concurrency
        ):
            raise ValueError(
                f"start_concurrency is {self.start_concurrency}, "
                f"more than concurrency ({self.concurrency})"
            )
        return self

    def limits(self, model: str) -> ModelLimits:
        """What holds for one model, every key filled in."""
        own = self.models.get(model, ModelLimits())
        most = own.concurrency or self.concurrency
        return ModelLimits(
            requests_per_minute=own.requests_per_minute or self.requests_per_minute,
            tokens_per_minute=own.tokens_per_minute or self.tokens_per_minute,
            concurrency=most,
            start_concurrency=min(own.start_concurrency or self.start_concurrency, most),
        )
