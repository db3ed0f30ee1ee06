"""The contract of judges, annotators and generators: pure, and never surprised by a reply."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import BROKEN_PLUGIN, InputError
from voirdire.protocols import FollowsUp, ParsesColumns, SaysTask, TakesTime
from voirdire.schema import (
    Attribute,
    Comparison,
    Item,
    Rating,
    Reply,
    Response,
    Rubric,
    Sampling,
    Scale,
)
from voirdire.store.raters import checked_parsed, checked_rater, checked_requests
from voirdire.testing.checks import Checks, name_of, shown
from voirdire.testing.hostile import REPLIES, TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Parsed

#: What a study might say; a factory must hand it on.
_SAMPLING = Sampling(temperature=0.5, max_tokens=64, seed=3)
_ITEM = Item("1", "I keep putting things off, and I do not know why.")
_FIRST = Response("1", "a", "Pick one small task and spend five minutes on it.")
_SECOND = Response("1", "b", "Many people know that.")
_Task = Rating | Comparison | Item
_TASKS: dict[str, _Task] = {
    "rating": Rating(_ITEM, _FIRST, "Be kind."),
    "comparison": Comparison(_ITEM, _FIRST, _SECOND),
    "item": _ITEM,
}
#: Steps after which a `follow_up` that never ends is called endless.
_STEPS = 16
_PURE = (
    "A judge is pure: it reads no clock, no file and no random number, and keeps nothing between "
    "calls."
)
_HOSTILE = (
    "Replies are hostile text. Read them by a parser of voirdire.parsing, or catch what your own "
    "raises, and return a Parsed whose scores are None with a status such as 'unparsable'."
)


def check_judge(
    make: Any,
    rubric: Rubric | None = None,
    *,
    task: _Task | None = None,
    answers: Mapping[str, Mapping[str, float | None]] | None = None,
    **options: Any,
) -> None:
    """Check a judge's factory, as `voirdire_register_judges` names it.

    Parameters
    ----------
    make : callable
        ``make(rubric, *, sampling, **options) -> Judge``.
    rubric : Rubric, optional
        What it judges by; by default two attributes on a scale from 1 to 5.
    task : Rating, Comparison or Item, optional
        A task of the judge's own kind; by default a mild one of the kind that it says.
    answers : mapping, optional
        Texts of replies, and the scores that must be read from each.
    options
        As a study's ``options`` would be.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_judges.rubric import make
    >>> check_judge(make, answers={'{"warmth": 4, "clarity": 2}': {"warmth": 4, "clarity": 2}})
    """
    by = rubric or Rubric("sample", (Attribute("warmth"), Attribute("clarity")))
    checks = Checks(f"the judge {name_of(make)}")
    judge = _made(checks, make, by, **options)
    kind = judge.task if isinstance(judge, SaysTask) else "rating"
    # A judge that needs more of its task than ours hold, such as options, is
    # given one by its author.
    given = task or _TASKS[kind]
    _check_requests(checks, judge, given, [_with_text(given, text) for text in TEXTS])
    _check_parse(checks, judge, by.scale if kind == "rating" else None)
    _check_answers(checks, judge, answers or {})
    _check_steps(checks, judge, given)
    checks.done()


def check_annotator(
    make: Any,
    *,
    item: Item | None = None,
    answers: Mapping[str, Mapping[str, float | None]] | None = None,
    **options: Any,
) -> None:
    """Check an annotator's factory, as `voirdire_register_annotators` names it.

    Parameters are those of `check_judge`; `item` is what it is to label.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_judges.yes_no import make
    >>> check_annotator(make, labels=["hopeful"], answers={'{"hopeful": "no"}': {"hopeful": 0}})
    """
    checks = Checks(f"the annotator {name_of(make)}")
    annotator = _made(checks, make, **options)
    given = item or _ITEM
    _check_requests(checks, annotator, given, [replace(given, text=text) for text in TEXTS])
    _check_parse(checks, annotator, None)
    _check_answers(checks, annotator, answers or {})
    _check_steps(checks, annotator, given)
    checks.done()


def check_generator(make: Any, *, item: Item | None = None, **options: Any) -> None:
    """Check a generator's factory, as `voirdire_register_generators` names it.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire_judges.chat import make
    >>> check_generator(make)
    """
    checks = Checks(f"the generator {name_of(make)}")
    generator = _made(checks, make, **options)
    given = item or _ITEM
    _check_requests(checks, generator, given, [replace(given, text=text) for text in TEXTS])
    for text in REPLIES:
        with checks.safely(f"parse raises on the reply {shown(text)}", _HOSTILE):
            response = generator.parse([Reply(text)], given.id)
            checks.hold(
                isinstance(response, Response) and isinstance(response.text, str),
                f"parse returns a {type(response).__name__}, or one without a text",
                "A generator's parse returns a voirdire.schema.Response.",
            )
    checks.done()


def _made(checks: Checks, make: Any, *given: Any, **options: Any) -> Any:
    takes = inspect.signature(make).parameters
    # A factory with `**options` takes it as well.
    any_key = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values())
    if checks.hold(
        "sampling" in takes or any_key,
        "its factory takes no `sampling`",
        "Give it the keyword `sampling: Sampling = Sampling()`: a study's temperature comes in it.",
    ):
        options["sampling"] = _SAMPLING
    made = checks.made(make, *given, **options)
    return checked_rater(made, checks.whose)


def _with_text(task: _Task, text: str) -> _Task:
    if isinstance(task, Item):
        return replace(task, text=text)
    if isinstance(task, Comparison):
        return replace(task, first=replace(task.first, text=text))
    return replace(task, response=replace(task.response, text=text))


def _check_requests(checks: Checks, rater: Any, task: Any, hostile: Sequence[Any]) -> None:
    # Frozen classes hold mappings and lists, which can still be written into.
    before = copy.deepcopy(task)
    hint = "It says what to ask, and asks nothing."
    try:
        asked = checked_requests(rater.requests(task))
    # No fault of the judge: the test must name a task that it can be asked about.
    except InputError as error:
        raise InputError(f"{checks.whose} needs a task of its own kind: {error}") from error
    except BROKEN_PLUGIN as error:
        problem = f"requests raises on a mild task: {type(error).__name__}: {error}"
        checks.hold(condition=False, what=problem, hint=hint)
        return
    with checks.safely("requests raises on a mild task", hint):
        checks.hold(asked, "requests asks nothing of a mild task", "Return a list of one Request.")
        checks.hold(checked_requests(rater.requests(task)) == asked, "requests changes", _PURE)
        checks.hold(task == before, "requests changes the task", _PURE)
        checks.hold(
            all((one.temperature, one.seed) == (0.5, 3) for one in asked),
            "its requests leave out what a study says of temperature and seed",
            "Make them by `sampling.request(messages)`, of the `sampling` that the factory got.",
        )
    for other in hostile:
        with checks.safely(
            "requests raises on a hostile or empty text",
            "Put the text into the message as it is (no % or format over it); for a text without "
            "words return [].",
            lawful=(InputError,),
        ):
            checked_requests(rater.requests(other))


def _check_parse(checks: Checks, rater: Any, scale: Scale | None) -> None:
    keys = _check_failed(checks, rater)
    for text in REPLIES:
        # Both ends: a reply that was cut is read by other rules.
        for reason in ("stop", "length"):
            with checks.safely(f"parse raises on the reply {shown(text)}", _HOSTILE):
                replies = [Reply(text, reason)]
                read = checked_parsed(rater.parse(replies))
                _check_parsed(checks, read, keys, scale, text)
                checks.hold(
                    # By what it shows first: NaN in its fields would differ from itself.
                    repr(rater.parse(replies)) == repr(read) or rater.parse(replies) == read,
                    f"parse reads the reply {shown(text)} in two ways",
                    _PURE,
                )
    with checks.safely("parse raises on no reply at all", _HOSTILE):
        checked_parsed(rater.parse([]))
    _check_columns(checks, rater)


def _check_failed(checks: Checks, rater: Any) -> set[str]:
    """What it scores, by a reply that never came."""
    with checks.safely("parse raises on a reply that never came", _HOSTILE):
        read = checked_parsed(rater.parse([Reply("", "error", error="no connection")]))
        checks.hold(
            not any(score is not None for score in read.scores.values())
            and read.status == "failed",
            f"a reply that never came is read as {dict(read.scores)}, {read.status!r}",
            "Where `finish_reason` is 'error' every score is None, and the status is 'failed'; the "
            "parsers of voirdire.parsing do so if they are handed `finish_reason`.",
        )
        checks.hold(
            read.scores,
            "a reply that never came has no scores, so nobody can tell what is missing",
            "Return every score that is asked for as None.",
        )
        # By a failed reply, since nobody else can say what a judge scores before it has judged.
        return set(read.scores)
    return set()


def _check_parsed(
    checks: Checks, read: Parsed, keys: set[str], scale: Scale | None, text: str
) -> None:
    # A label that a reply names beside the declared ones may come on top; none may go.
    checks.hold(
        keys <= set(read.scores),
        f"the reply {shown(text)} loses {sorted(keys - set(read.scores))}",
        "Return one entry for everything that was asked, None where it is missing.",
    )
    lacking = [name for name, score in read.scores.items() if score is None]
    checks.hold(
        # Where only some are missing, each has a status of its own.
        not lacking or not (read.status in ("ok", "repaired") and len(lacking) == len(read.scores)),
        f"the reply {shown(text)} gives no score, and its status is {read.status!r}",
        "Say why: 'blank', 'refused', 'unparsable', 'out_of_scale', 'truncated'.",
    )
    if scale is not None:
        off = [score for score in read.scores.values() if score is not None]
        checks.hold(
            all(scale.holds(score) for score in off),
            f"the reply {shown(text)} gives {off}, off the scale {scale.low:g} to {scale.high:g}",
            "A number off the scale is missing (None, 'out_of_scale'), never a score.",
        )


def _check_columns(checks: Checks, rater: Any) -> None:
    replies, parse = [Reply(text) for text in REPLIES], rater.parse
    if not isinstance(rater, ParsesColumns):
        return
    with checks.safely("parse_column raises", _HOSTILE):
        # All at once, as the store calls it: what one reply leaves behind must not reach the next.
        columns = rater.parse_column(replies)
        if columns is None:
            return
        for row, reply in enumerate(replies):
            one = parse([reply])
            many = {name: column[row] for name, column in columns.scores.items()}
            checks.hold(
                many == dict(one.scores),
                f"parse_column reads {shown(reply.text)} as {many}, parse as {dict(one.scores)}",
                "Both must read alike; drop parse_column if it does not earn its place.",
            )


def _check_answers(
    checks: Checks, rater: Any, answers: Mapping[str, Mapping[str, float | None]]
) -> None:
    for text, expected in answers.items():
        with checks.safely(f"parse raises on the reply {shown(text)}", _HOSTILE):
            scores = checked_parsed(rater.parse([Reply(text)])).scores
            checks.hold(
                {name: scores.get(name) for name in expected} == dict(expected),
                f"the reply {shown(text)} is read as {dict(scores)}, not {dict(expected)}",
                "This is one of the answers that your test names.",
            )


def _check_steps(checks: Checks, rater: Any, task: Any) -> None:
    limit = rater.max_steps if isinstance(rater, TakesTime) else _STEPS
    ask = rater.requests
    if not isinstance(rater, FollowsUp):
        return
    for text in REPLIES:
        with checks.safely(f"follow_up raises after the reply {shown(text)}", _HOSTILE):
            asked = checked_requests(ask(task))
            replies: list[Reply] = []
            # The same reply to every step: the worst that can happen to
            # one that waits for another.
            while asked and len(replies) <= limit:
                replies += [Reply(text, request=request) for request in asked]
                asked = checked_requests(rater.follow_up(replies))
            checks.hold(
                not asked,
                f"follow_up still asks after {limit} replies that say {shown(text)}",
                "Return [] when enough is known, or after `max_steps` replies.",
            )
