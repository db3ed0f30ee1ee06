"""Why something is not tested or open, what is special about it, and what to do then."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voirdire.examining.spec.component import Next
from voirdire.examining.spec.registry import Registry
from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining.spec.component import Component

#: Responses that two humans should share before a judge is held against one of them.
SHARED = 100
#: Beyond so many times what is there a number would be a guess, and is not given.
MOST_TIMES = 10
#: Items or clusters of each system: fewer give its mean no error (one alone an error of 0).
FEWEST_IN_SYSTEM = 5
#: Of the rarer outcome, of people and of the judge: fewer do not tell reading from luck.
FEWEST_RARE = 10
#: Labels to add on either side of the judge where there are fewer.
EACH_SIDE = 15
#: The command that shows responses, where no other does what is to be done.
LOOK = "look"
#: Responses that humans must pass (fail) before a judge is held against them.
FEWEST_SUCH = 20


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a component or a verdict is not tested or open, or what is special about it.

    Attributes
    ----------
    key : str
        As output has it.
    words : str
        Inside a sentence.
    next : callable or None
        From a ground and the components with this reason: what to do where it left a use untested.
    holds : bool
        Whether a component that is not tested for it holds a use back which would else go without.
    explains : bool
        Whether it says why a verdict is what it is; else it is said beside the component alone.
    first : bool
        Whether it explains all others and is named in their place.
    instead : bool
        Whether it is said of a component in place of its estimate.
    beside_yes : str
        What is said with a yes that went without a component for it; empty: nothing.
    """

    key: str
    words: str
    next: Callable[[Any, Sequence[Component]], Next] | None = None
    holds: bool = False
    explains: bool = True
    first: bool = False
    instead: bool = False
    beside_yes: str = ""

    @property
    def name(self) -> str:
        """As code has it."""
        return self.key.replace(" ", "_").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Action:
    """What to do next, and how it is said: the fields of `Next` by their names in braces.

    `{condition}` is what two humans would have to show, `{runs}` a number of runs or *many*.
    `after_yes` says that it is said although the answer is yes. `command` is the command of
    `voirdire` that does it, or that shows the responses that it is about.
    """

    key: str
    words: str
    after_yes: bool = False
    command: str = LOOK

    @property
    def name(self) -> str:
        """As code has it."""
        return self.key.replace(" ", "_")


REASONS: Registry[Reason] = Registry("reason")
ACTIONS: Registry[Action] = Registry("action")


def _counts(parts: Sequence[Component]) -> list[int]:
    """What there is, of each component; 0 where there is none."""
    return [part.count for part in parts] or [0]


def _two_humans(ground: Any, _: Sequence[Component]) -> Next:
    return Next("two humans", needed=SHARED, unit="responses", below=ground.humans_below)


def _few_clusters(ground: Any, parts: Sequence[Component]) -> Next:
    now, unit = ground.units
    least = min(now, *_counts(parts))
    return Next("rate more", needed=ground.margins.clusters, now=least, unit=unit)


def _few_in_system(ground: Any, parts: Sequence[Component]) -> Next:
    unit = f"{ground.units[1]} of each system"
    return Next("rate more", needed=FEWEST_IN_SYSTEM, now=max(_counts(parts)), unit=unit)


def _few_such(ground: Any, parts: Sequence[Component]) -> Next:
    """Labels until each side of the gate has enough, the shares staying as they are."""
    least = min(_counts(parts))
    wanted = FEWEST_SUCH * (1 if ground.labels_alone else 2)
    now = ground.n_paired
    if least * MOST_TIMES < wanted:
        return Next("rate more", now=now, unit="labels")
    return Next("rate more", needed=math.ceil(now * wanted / least), now=now, unit="labels")


def _few_failures(ground: Any, parts: Sequence[Component]) -> Next:
    least, now = min(_counts(parts)), ground.n_paired
    # Both sides of a judge are no sample of all responses: only a gate against one column of labels
    # is told from them.
    if not ground.labels_alone:
        wanted = math.ceil(now * FEWEST_RARE / least) if least else None
        return Next("rate more", needed=wanted, now=now, unit="labels")
    return Next("label both sides", needed=EACH_SIDE, now=min(_counts(parts)), unit="responses")


def _few_in_tail(ground: Any, _: Sequence[Component]) -> Next:
    # A tenth of the responses is looked at.
    now = ground.n_paired
    return Next("rate more", needed=max(10 * FEWEST_SUCH, now + 1), now=now, unit="responses")


def _not_asked(ground: Any, _: Sequence[Component]) -> Next:
    return Next("rate the rest", needed=ground.n_labelled, now=0)


def _more_systems(ground: Any, _: Sequence[Component]) -> Next:
    needed = ground.margins.systems
    return Next("more systems", needed=needed, now=ground.systems, unit="systems")


def _plainly(action: str) -> Callable[[Any, Sequence[Component]], Next]:
    return lambda _ground, _parts: Next(action)


for _reason in (
    Reason("not asked", "it was not asked about every attribute", _not_asked),
    Reason("one human", "there is one column of human scores", _two_humans),
    Reason("few shared", "two humans share too few responses", _two_humans),
    Reason("few clusters", "there are too few items", _few_clusters),
    Reason(
        "one system",
        "with one system a right mean cannot be told from a lucky constant",
        _plainly("estimate instead"),
    ),
    Reason(
        "two systems",
        "two systems are too few for a correlation",
        _plainly("estimate instead"),
    ),
    Reason("few systems", "there are too few systems", _more_systems),
    Reason("few in system", "a system has too few items", _few_in_system, holds=True),
    Reason(
        "raters apart",
        "people who rated share no response, so how severe each is cannot be told",
        _plainly("share responses"),
        holds=True,
    ),
    Reason(
        "unequal chances",
        "responses were given to people with different probabilities",
        _plainly("estimate instead"),
        holds=True,
        instead=True,
    ),
    Reason("humans alike", "the humans do not tell these systems apart", holds=True),
    Reason(
        "swapped",
        "its scores of two systems seem to lie under each other's name",
        _plainly("check systems"),
        first=True,
        instead=True,
    ),
    Reason(
        "by question",
        "in a system its scores seem to follow the items, and hardly the responses to them",
        _plainly("keep humans"),
        instead=True,
    ),
    Reason(
        "items apart",
        "whether it answers by the question was not tested: a stream reads items in parts",
        explains=False,
        beside_yes="Whether it answers some system by the question alone, or two under each "
        "other's name, was not tested: the ratings were read as a stream.",
    ),
    Reason("humans unclear", "the humans are not shown to agree on single responses"),
    Reason(
        "humans disagree",
        "the humans do not agree on single responses",
        _plainly("settle the rubric"),
    ),
    Reason("constant", "it gives one score whatever it is shown", first=True, instead=True),
    Reason("one answer", "it gives one answer whatever it is shown", first=True, instead=True),
    Reason("no variance", "its scores do not vary within a system", instead=True),
    Reason("always or never", "it says it always, or never", instead=True),
    Reason("choices alike", "its choices do not vary within a pair of systems", instead=True),
    Reason("few such", "there are too few responses on one side of the gate", _few_such),
    Reason(
        "few failures",
        "too few responses have the rarer outcome to tell reading from luck",
        _few_failures,
    ),
    Reason(
        "labels alone",
        "it errs as often one way as the other, as a second person might",
        lambda _ground, _parts: Next("label twice", needed=SHARED // 2, unit="responses"),
    ),
    Reason(
        "worst unknown",
        "scores without fixed levels, read in parts, do not show which responses are the worst",
        _plainly("read it whole"),
    ),
    Reason("few in tail", "the worst tenth holds too few responses", _few_in_tail),
    Reason(
        "no minima",
        "no sensitivity and specificity are declared for the gate",
        _plainly("declare minima"),
    ),
    Reason(
        "default minima",
        "no sensitivity and specificity are declared, and 80 % of each is needed",
        explains=False,
    ),
    Reason("no gate", "no gate is declared"),
    Reason("one run", "there is one run", _plainly("run twice")),
    Reason(
        "temperature 0",
        "runs at temperature 0 agree because of decoding",
        _plainly("run twice"),
    ),
    Reason(
        "not random",
        "the labelled responses were not drawn at random",
        _plainly("draw at random"),
    ),
    Reason("no interval", "no interval can be given"),
    Reason("few in subgroup", "a subgroup is too small"),
    Reason("safety-critical", "the study declares this attribute safety-critical"),
    Reason("blocked", "a finding of the audit forbids a verdict", _plainly("correct the data")),
    Reason("nominal", "labels without an order have no such statistic"),
    Reason("not computed", "it was not computed"),
    Reason("never used", "it never says a label that people say"),
    Reason(
        "looks bad", "a label that is not vouched for does not look right either", explains=False
    ),
    Reason("humans unclear of it", "people are not shown to agree on the label"),
    Reason(
        "hard items",
        "nothing is known of responses on which people differ",
        explains=False,
        beside_yes="Nothing is vouched for where people find it hard.",
    ),
    Reason(
        "leak unknown", "two humans cannot say whether it has seen their labels", explains=False
    ),
    Reason(
        "seen",
        "it follows one human beyond what people share: it may have seen those labels",
        holds=True,
        instead=True,
    ),
    Reason(
        "looks seen",
        "it follows one human more than the others: it may have seen those labels, or that human "
        "is the better one",
        instead=True,
    ),
    Reason(
        "follows less",
        "in comparisons of one system it goes with people far less than another human does",
        instead=True,
    ),
    Reason(
        "seen answers",
        "it follows people's own errors: it has seen the answers",
        _plainly("keep answers away"),
        first=True,
    ),
    Reason(
        "follows one",
        "a human whom it follows beyond what people share was left out",
        explains=False,
    ),
    Reason(
        "order not recorded",
        "who was shown first is not recorded",
        _plainly("say who was first"),
        holds=True,
    ),
    Reason(
        "order drawn",
        "the order was drawn each time, and not recorded",
        explains=False,
        beside_yes="Whether it leans to the response shown first is not known: the order was drawn "
        "each time, and not recorded.",
    ),
    Reason(
        "no texts", "neither the responses nor their lengths are there", _plainly("hand in texts")
    ),
    Reason("not connected", "some systems were never compared, even through others"),
    Reason("judge alike", "it is not shown to tell these systems apart"),
    Reason("few released", "it is sure of too few responses"),
):
    REASONS.register(_reason)

for _action in (
    Action("use it", ""),
    Action("rate more", "Rate about {needed:,} {unit} instead of {now:,}."),
    Action("calibrate", "`voirdire calibrate` may help.{after}", command="calibrate"),
    Action("two humans", "Hand in two humans on {needed} shared responses.{condition}"),
    Action(
        "label twice",
        "How far people agree among themselves is not known: have {needed} {unit} labelled by a "
        "second human.",
        after_yes=True,
    ),
    Action(
        "label instead",
        "Label by hand instead: the judge saves only {share} of the labels.",
        command="correct",
    ),
    Action("average runs", "Use the mean of {runs}."),
    Action("more systems", "It takes {needed} systems; there are {now}."),
    Action("trust it with nothing", "Trust it with nothing."),
    Action("run twice", "Run it twice or more, at a temperature above 0."),
    Action(
        "estimate instead",
        "Use your labels and its scores together for an estimate.",
        command="correct",
    ),
    Action("declare a gate", "Declare the gate in the study, or by --gate."),
    Action(
        "declare minima", "Declare the sensitivity and the specificity that the gate must reach."
    ),
    Action("draw at random", "Label responses that were drawn at random."),
    Action("rate the rest", "Rate the responses that it left out."),
    Action("settle the rubric", "Settle the rubric first: the humans have to agree."),
    Action("check systems", "Check which system each of its scores is of."),
    Action("keep humans", "Keep the humans for this."),
    Action("correct the data", "Correct what the audit found first.", command="audit"),
    Action(
        "label both sides",
        "Label {needed} responses that it fails and {needed} that it passes, drawn at random: "
        "voirdire plan --each {needed} --draw next.csv.",
        command="plan --each {needed} --draw next.csv",
    ),
    Action(
        "share responses", "Have some responses rated by several people, so that all are linked."
    ),
    Action("read it whole", "Examine it in memory, without --streaming."),
    Action("keep answers away", "Keep people's answers from the judge, and run it again."),
    Action(
        "say who was first",
        "Say who was shown first, or that the order was drawn each time: --first, or a column "
        "shown_first.",
    ),
    Action("hand in texts", "Hand in the responses, so that a lean to length can be told."),
):
    ACTIONS.register(_action)
