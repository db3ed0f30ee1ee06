"""Annotators that name labels: of a declared set (`labels`), or by what they call it themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from voirdire.errors import InputError, check_allowed
from voirdire.parsing import LabelSet, parse_labels, parse_named
from voirdire.schema import Message, Parsed, Reply, Request, Sampling
from voirdire_judges._parsed import echo_flags, flagged, missing_reply
from voirdire_judges.prompts import MARKS_NOTE, delimited
from voirdire_judges.stepwise import StepwiseAnnotator
from voirdire_judges.yes_no import fenced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Item

Contradiction = Literal["missing", "labels"]
#: Runs of an annotator, as in Sharma et al.: which labels recur is what is asked.
RUNS = 5
#: Labels that a ranked prompt allows: a dominant and a secondary one.
RANKED_MOST = 2
#: Stands in a prompt for the list of labels.
LIST = "{labels}"
MULTI = """\
Read the text and decide which of the labels in the list apply to it.

Labels: [{labels}]

Answer with nothing but the labels that apply, as a comma-separated list."""
RANKED = """\
Read the text and decide which of the labels in the list applies to it most. Add a second label \
only if one clearly applies as well.

Labels: [{labels}]

Answer with nothing but a comma-separated list: the dominant label first, then the second one, if \
any. Name at most {at_most} labels."""
_NONE = " If none applies, answer {none}."


@dataclass(frozen=True, slots=True)
class LabelAnnotator:
    """Asks which labels apply and reads the answer. Pure.

    Attributes
    ----------
    labels : LabelSet
        The declared set with its synonyms, `none` and `other`.
    prompt : str
        What the model is told, complete.
    at_most : int or None
        A reply with more labels is flagged ``too_many``; the order tells them apart by `ranks`.
    contradiction : {"missing", "labels"}
        A reply that names `none` beside a label is missing, or the label stands; flagged in either
        case.
    guard : bool
        Whether the text stands between marks that it cannot know, and the prompt says so.
    unsure : (str, str)
        What an item without a recurring label is called in reports: where `none` was named in some
        run, and where it was not.
    runs : int
        Independent runs where the study does not say how many.
    """

    labels: LabelSet
    prompt: str
    at_most: int | None = None
    contradiction: Contradiction = "missing"
    guard: bool = True
    sampling: Sampling = Sampling()
    unsure: tuple[str, str] = ("not sure if any", "not sure which")
    task: str = "item"
    runs: int = RUNS

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text."""
        if not task.text.strip():
            return []
        prompt = f"{self.prompt}\n\n{MARKS_NOTE}" if self.guard else self.prompt
        text = delimited(task.text, "TEXT") if self.guard else task.text
        return [
            self.sampling.request(
                (Message("system", prompt), Message("user", text)),
            )
        ]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """1 or 0 a label, None where the reply does not say; never raises."""
        reply = replies[-1] if replies else missing_reply(replies)
        parsed = parse_labels(
            reply.text,
            self.labels,
            at_most=self.at_most,
            contradiction=self.contradiction,
            finish_reason=reply.finish_reason,
        )
        return flagged(parsed, *echo_flags(reply.text))


def make(  # noqa: PLR0913 - the options are those of a study's panel
    labels: Sequence[str],
    *,
    synonyms: Mapping[str, str] | None = None,
    none: str | None = None,
    other: str | None = None,
    kind: Literal["multi", "ranked"] = "multi",
    prompt: str | None = None,
    at_most: int | None = None,
    contradiction: Contradiction = "missing",
    guard: bool = True,
    steps: Sequence[str] = (),
    sampling: Sampling = Sampling(),
) -> LabelAnnotator | StepwiseAnnotator:
    """An annotator with a label set of your own (`use = "labels"`).

    Parameters
    ----------
    labels : sequence of str
        The declared labels, `none` and `other` among them where there are any.
    synonyms : mapping, optional
        Another spelling -> the declared label.
    none, other : str, optional
        The label that says that no other applies; the label for answers outside the set.
    kind : {"multi", "ranked"}
        Any number of labels, or a dominant and at most one secondary label.
    prompt : str, optional
        A prompt of your own; ``{labels}`` in it stands for the labels but `none` and `other`.
    at_most : int, optional
        More labels are flagged; 2 for ranked labels by default.
    contradiction, guard
        See `LabelAnnotator`.
    steps : sequence of str
        What is asked before, in one conversation, each with the replies so far in sight; the first
        holds ``{text}``. Each step is a call, and only the last reply is read.
    sampling : Sampling
        Sent with every request; what is None is left to the model.

    Raises
    ------
    InputError
        The label set or an option is wrong.

    Examples
    --------
    >>> from voirdire.schema import Item, Reply
    >>> annotator = make(["Anger", "Fear", "None"], kind="ranked")
    >>> annotator.requests(Item("1", "The bus was late again!"))[0].messages[0].content[:40]
    'Read the text and decide which of the la'
    >>> annotator.parse([Reply("**Fear**, then anger")]).ranks
    {'Fear': 1, 'Anger': 2}
    """
    if isinstance(labels, str):
        raise InputError(f"labels annotator: labels must be a list, got the text {labels!r}")
    check_allowed("contradiction", [contradiction], ("missing", "labels"), "labels annotator")
    if at_most is not None and at_most < 1:
        raise InputError(f"labels annotator: at_most must be 1 or more, got {at_most!r}")
    label_set = LabelSet(tuple(labels), dict(synonyms or {}), none, other)
    most = RANKED_MOST if at_most is None and kind == "ranked" else at_most
    asked = built_in(kind, label_set, most) if prompt is None else prompt
    made = LabelAnnotator(label_set, filled(asked, label_set), most, contradiction, guard, sampling)
    return StepwiseAnnotator(made, tuple(steps)) if steps else made


def built_in(kind: str, labels: LabelSet, at_most: int | None) -> str:
    """The prompt of that kind, ``"multi"`` or ``"ranked"``.

    Raises
    ------
    InputError
        There is no prompt of that kind.
    """
    prompts = {"multi": MULTI, "ranked": RANKED}
    check_allowed("kind", [kind], prompts, "labels annotator")
    none = _NONE.replace("{none}", labels.none) if labels.none else ""
    return prompts[kind].replace("{at_most}", str(at_most)) + none


def filled(prompt: str, labels: LabelSet) -> str:
    """The prompt with the labels in place of ``{labels}``, those apart that are never offered.

    >>> from voirdire.parsing import LabelSet
    >>> kinds = LabelSet(("Anger", "Fear", "None", "Others"), none="None", other="Others")
    >>> filled("Choose from [{labels}].", kinds)
    'Choose from [Anger, Fear].'
    """
    # `other` is where answers outside the list go, and is never offered; `none` has a sentence
    # of its own.
    offered = (label for label in labels.labels if label not in (labels.none, labels.other))
    return prompt.replace(LIST, ", ".join(offered))


@dataclass(frozen=True, slots=True)
class NamedAnnotator:
    """Asks openly and reads three lines: yes or no, a name, and why. Pure.

    Attributes
    ----------
    prompt : str
        What the model is told; ``{post}`` stands for the text, which is put between backticks.
    fields : tuple of three str
        The names of the lines that it answers in.
    patterns : mapping of str to sequence of str
        Label -> regular expressions of what names it; see `voirdire.parsing.parse_named`.
    whole : str
        The attribute that says whether anything is there.
    nameless : frozenset of str
        What stands where no name is given.
    """

    prompt: str
    fields: tuple[str, ...]
    patterns: Mapping[str, Sequence[str]]
    whole: str = "any"
    nameless: frozenset[str] = field(default=frozenset({""}))
    sampling: Sampling = Sampling()

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text."""
        if not task.text.strip():
            return []
        message = Message("user", self.prompt.replace("{post}", fenced(task.text)))
        return [self.sampling.request((message,))]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """1, 0 or None for `whole` and each label; never raises."""
        reply = replies[-1] if replies else missing_reply(replies)
        return parse_named(
            reply.text,
            self.fields,
            self.patterns,
            whole=self.whole,
            nameless=self.nameless,
            finish_reason=reply.finish_reason,
        )
