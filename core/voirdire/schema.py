"""The nouns of voirdire as frozen dataclasses: what is rated, on which scale, what came back."""

from __future__ import annotations

import math
import sys
from dataclasses import field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, get_args

from voirdire.errors import InputError
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The version of the rule by which verdicts are decided. Locks, sessions and reports carry it, as
#: one and the same judge may get another answer by another rule. 0.2 looked at averages over all
#: responses; 0.3 looks at each system, at the worst tenth, at few failures and at seen answers; 0.4
#: tells who answers a system by the question, or two under each other's name, from fewer items,
#: and takes the order of means on a scale where their noise has one size.
RULE, RULE_BEFORE = "0.4", "0.2"

#: What became of a reply, or of one attribute in it.
Status = Literal[
    "ok",  # read as it stands
    "repaired",  # read after a repair of the syntax
    "blank",  # an empty reply, or the attribute is absent or null
    "refused",  # the model declined
    "filtered",  # the provider withheld the reply
    "truncated",  # cut by a token limit
    "unparsable",  # a reply without a readable answer
    "out_of_scale",  # a number off the declared scale
    "failed",  # no reply came
]
STATUSES: tuple[Status, ...] = get_args(Status)

FinishReason = Literal["stop", "length", "refusal", "content_filter", "empty", "error"]
#: Words of providers for an answer that ended by itself, or in a call of a tool that holds the
#: answer. No word is one too: some servers leave the field out.
ENDED = frozenset(
    {"", "none", "stop", "eos", "eos_token", "stop_sequence", "stop_token", "end_turn", "end"}
    | {"complete", "completed", "done", "finished", "tool_calls", "tool_use", "function_call"}
)
RaterKind = Literal["judge", "annotator", "classifier", "human"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The declared levels of an attribute, ``low``..``high`` in steps of ``step``.

    A step of 0 is a continuous scale: any number between the ends, and no levels.
    """

    low: float = 1
    high: float = 5
    step: float = 1

    def __post_init__(self) -> None:
        if not self.low < self.high or not self.step >= 0:
            raise InputError(
                f"a scale needs low < high and step > 0 (0: continuous), "
                f"got {self.low}..{self.high} by {self.step}"
            )
        if self.step and not math.isfinite(self.width / self.step):
            raise InputError(
                f"a scale needs levels that can be counted, got {self.low}..{self.high} "
                f"by {self.step}"
            )

    @property
    def width(self) -> float:
        """``high - low``, by which bias is normalised."""
        return self.high - self.low

    @property
    def continuous(self) -> bool:
        """Whether any number between the ends is a score."""
        return self.step == 0

    @property
    def count(self) -> int:
        """How many levels are declared (continuous: beyond any limit); know it before `levels`."""
        return sys.maxsize if self.continuous else round(self.width / self.step) + 1

    @property
    def levels(self) -> tuple[float, ...]:
        """All declared levels in order.

        Raises
        ------
        InputError
            The scale is continuous.
        """
        if self.continuous:
            raise InputError(
                f"the scale {self.low:g} to {self.high:g} is continuous (step 0) and has no levels"
            )
        # As decimals: 3 x 0.1 is the level 0.3, not the 0.30000000000000004 of binary sums.
        first, step = (Decimal(repr(float(part))) for part in (self.low, self.step))
        levels = [float(first + i * step) for i in range(self.count)]
        if math.isclose(levels[-1], self.high, rel_tol=1e-12):  # steps of a third reach their end
            levels[-1] = float(self.high)
        return tuple(levels)

    def holds(self, value: float) -> bool:
        """Whether the value lies between the ends (a mean need not be a level)."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation.

    Attributes
    ----------
    role : str
        Who speaks, in the file's own word: ``user``, ``assistant``, ``client``, ``therapist``.
    content : str
        What is said, as text.
    name : str
        The speaker's name where the file gives one.
    time : str
        When, as the file writes it.
    parts : tuple of mapping
        What else the message holds and is no text, such as images, as it came. It is kept and no
        judge is shown it; a transcript says that it is there.

    Examples
    --------
    >>> Turn("user", "I slept badly.").role
    'user'
    """

    role: str
    content: str
    name: str = ""
    time: str = ""
    parts: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """What is rated about: a post, a conversation's context, or a conversation by its `turns`."""

    id: str
    text: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """One system's answer to an item: a text, or a whole conversation by its `turns`."""

    item: str
    system: str
    text: str
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """One criterion of a rubric; `levels` maps a level to its description."""

    name: str
    description: str = ""
    levels: Mapping[float, str] = field(default_factory=dict)
    safety_critical: bool = False


@dataclass(frozen=True, slots=True)
class Rubric:
    """Attributes on one scale, and composites as means of attributes.

    `output` shows the reply that is asked for; where empty, a JSON object with one number an
    attribute is asked for.
    """

    name: str
    attributes: tuple[Attribute, ...]
    scale: Scale = Scale()
    composites: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    instructions: str = ""
    output: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Attribute names in the declared order."""
        return tuple(attribute.name for attribute in self.attributes)


@dataclass(frozen=True, slots=True)
class Rating:
    """The task of a pointwise judge: one response, with a reference answer or none."""

    item: Item
    response: Response
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The task of a pairwise judge: two responses in the order in which they are shown.

    Asking in both orders is two tasks; a score > 0 in the judge's `Parsed` prefers `first`.
    """

    item: Item
    first: Response
    second: Response


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: a name, what it is good for, and a JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for.

    `arguments` is its text as it came, which may be no JSON. `signature` is whatever the provider
    wants to see again beside the call.
    """

    id: str
    name: str
    arguments: str = "{}"
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message.

    An assistant's message may hold the `calls` that it made; one of role ``tool`` is the result of
    the call named by `call_id` (and `name`, the tool's, which some providers ask for). `thoughts`
    are those of the reply that made the calls, handed back unread.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    thoughts: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is to draw its answer; what is None is left to the model.

    Examples
    --------
    >>> Sampling(temperature=0.0).request((Message("user", "Hello"),)).temperature
    0.0
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def request(
        self,
        messages: tuple[Message, ...],
        *,
        schema: Mapping[str, Any] | None = None,
        options: tuple[str, ...] = (),
        tools: tuple[Tool, ...] = (),
    ) -> Request:
        """A request that is sampled so; `schema`, `options` and `tools` as in `Request`."""
        return Request(
            messages,
            self.temperature,
            self.top_p,
            self.max_tokens,
            self.seed,
            schema=schema,
            options=options,
            tools=tools,
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a model, complete and pure: equal requests ask the same thing.

    `options` names the answers among which a model that scores log-probabilities chooses;
    `schema` is a JSON schema for providers that have structured output. `run` is which of the k
    independent runs asks: the runner sets it, and a model that draws by itself draws anew for each.
    With `tools` the model may call some in place of an answer; a schema is then not enforced.
    `role` says which of the rater's models is asked (`models` in the study's panel); without one
    it is the rater's `model`.
    """

    messages: tuple[Message, ...]
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    options: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    run: int = 1
    tools: tuple[Tool, ...] = ()
    role: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; None where it did not say.

    `input` counts cached tokens too and `output` counts reasoning tokens too, whatever the
    provider's own custom, so that every billed token stands in exactly one of the two. `cached` are
    those read from the provider's cache and `written` those written to it, both within `input`.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    written: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a reply that its text does not say.

    Attributes
    ----------
    kind : str
        ``dropped`` (a parameter, with the study's leave), ``renamed`` (one sent under another
        name), ``simulated``, ``unknown_word`` (of a provider), ``several_messages`` (which
        differ, none of them marked as final), ``finish_reason``,
        ``content_filter``, ``block_reason``, ``option_logprobs``, ``retries``; ``note`` for others.
    about : str
        What it is about, such as the parameter.
    detail : str
        Why, or what was done.
    """

    kind: str
    about: str = ""
    detail: str = ""

    def __str__(self) -> str:
        head = " ".join(part for part in (self.kind, self.about) if part)
        return f"{head}: {self.detail}" if self.detail else head


#: What a part of a reply is.
PartKind = Literal["text", "reasoning", "tool_call", "refusal", "object"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a reply, in the order in which it came.

    Attributes
    ----------
    kind : str
        ``text``, ``reasoning``, ``tool_call`` (its text are the arguments), ``refusal``, or
        ``object`` (a structured answer as JSON).
    text : str
        As it came; empty where the provider keeps it to itself.
    phase : str
        What the provider says of a text: ``commentary``, ``final_answer``; else empty.
    name : str
        The tool that is called.
    """

    kind: PartKind
    text: str
    phase: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model returned, kept as it came: the text that is read, and all its parts.

    `text` is the final text, which parsers read with `finish_reason`. `parts` are all pieces in
    order, thoughts and calls too; none means that the text is all there is. `ended_by` is the
    provider's field and word by which the finish reason is known (``finish_reason stop``), and
    `candidate` which of several answers this is. `params` are the parameters really sent, `notes`
    what was dropped with the study's leave, `option_logprobs` the log-probability of each requested
    option where the model gives them.
    `tool_calls` are what it wants to call, where the request brought tools, and `thoughts` the
    provider's blocks of reasoning before them, as they came: some providers want them back.
    `inner` are the messages between the question and the answer, where the model is a chain or a
    graph of its own and gives them: they are kept and shown, and no parser reads them.
    `request` is what was asked; the runner sets it for `follow_up`, and `parse` must not need it.
    """

    text: str
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    model: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    provider_id: str = ""
    latency: float = 0.0
    attempts: int = 1
    notes: tuple[Note, ...] = ()
    option_logprobs: Mapping[str, float] = field(default_factory=dict)
    error: str = ""
    request: Request | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Mapping[str, Any], ...] = ()
    inner: tuple[Message, ...] = ()
    parts: tuple[Part, ...] = ()
    ended_by: str = ""
    candidate: int = 0


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch of calls is at its provider.

    Attributes
    ----------
    id, name : str
        The provider's id, and the name that it was submitted under where the provider keeps it.
    ended : bool
        Whether nothing more will come of it.
    lines, done, failed : int
        Calls in it, answered and in vain; 0 where the provider does not say.
    created : float
        When it was submitted, in seconds since 1970.
    said : str
        The provider's own word for its state, and why it failed.
    """

    id: str
    name: str = ""
    ended: bool = False
    lines: int = 0
    done: int = 0
    failed: int = 0
    created: float = 0.0
    said: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """An observation on a reply, which costs no score by itself.

    Attributes
    ----------
    kind : str
        What was observed: a key of `voirdire.parsing.FLAGS`, or a word of a plugin's own.
    about : str
        The attribute, label, phrase or error it concerns; empty where it concerns the reply.
    count : int or None
        How many, where that was counted.

    Examples
    --------
    >>> str(Flag("duplicate_key", "Empathy")), str(Flag("too_many", count=3))
    ('duplicate_key:Empathy', 'too_many:3')
    """

    kind: str
    about: str = ""
    count: int | None = None

    def __str__(self) -> str:
        """As it is shown."""
        parts = (self.kind, self.about, "" if self.count is None else str(self.count))
        return ":".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read out of a reply.

    `scores` holds one entry a requested key, None where missing; `statuses` says for each why.
    `flags` are observations that cost nothing (``Flag("other_text")``).
    `reasons` says finely why a score is missing (``{"Empathy": "scale_mismatch"}``); which reasons
    there are stands with each parser.
    `ranks` orders labels (1 is dominant); `extra` keeps text such as an explanation.
    """

    scores: Mapping[str, float | None]
    status: Status
    statuses: Mapping[str, Status] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """What some of a task's steps say by themselves, for less than all of them cost.

    `name` is ``"alone"`` (the judge, before any evidence), ``"openings"`` (the plain mean of first
    positions) or a word of a plugin's own; `steps` are the positions of its replies.
    """

    name: str
    steps: tuple[int, ...]
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Trace:
    """How a rater of several steps came to its score.

    `used` counts what it did on the way, such as calls by tool; `ended` is a word for why it ended.
    """

    used: Mapping[str, int] = field(default_factory=dict)
    beside: tuple[Beside, ...] = ()
    ended: str = ""


Severity = Literal["blocking", "serious", "note"]
#: Worst first.
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd in the data, with what follows from it.

    Attributes
    ----------
    kind : str
        A stable code, for example ``"out_of_scale"``.
    severity : {"blocking", "serious", "note"}
        A blocking finding forbids any verdict on what it concerns.
    table : str
        The file or rater it was found in; empty where it concerns several.
    count : int
        How often.
    places : tuple of str
        Where, shortened to the first twenty; a run of rows or items is one place.
    message : str
        One sentence that says what was found.
    consequence : str
        What was done about it, and what it may distort.
    attributes : tuple of str
        The attributes that it concerns; empty where it concerns all of them.
    """

    kind: str
    severity: Severity
    table: str
    count: int
    places: tuple[str, ...]
    message: str
    consequence: str
    attributes: tuple[str, ...] = ()


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, otherwise in their order."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))
