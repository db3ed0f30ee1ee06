"""The built-in probes: templates of `templates.toml`, and a judge whose requests are changed."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from voirdire import plugins as loaded_plugins
from voirdire.errors import PluginError
from voirdire.probes import PairProbe, RequestProbe, ResponseProbe
from voirdire.protocols import FollowsUp
from voirdire.schema import Comparison, Message, Sampling, Turn
from voirdire.units import CALL, GIVEN, RESULT, THOUGHT, transcript
from voirdire_judges._inner import inner_annotator, inner_judge, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from voirdire import Plugins
    from voirdire.probes import Change, Probe, Said
    from voirdire.protocols import Judge
    from voirdire.schema import Item, Parsed, Reply, Request, Response, Rubric
    from voirdire.study import Study

TEMPLATES = files("voirdire_judges.probes") / "templates.toml"
# The end of a sentence: a full stop, question or exclamation mark before a space. An abbreviation
# such as "e.g." ends one too, which does a probe no harm: it changes where, not what is said.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


#: How a step begins in a run as it is shown; its further lines are indented.
_STEP = re.compile(r"\[([1-9][0-9]{0,8})\] ")
_WRONG = Turn(CALL, '{"which": "all"}', "delete_records")
#: The same by who says what it does, where no call is asked about.
_SAID_WRONG = "I have deleted all records."
#: Roles by which a run is told from a talk.
_DONE = (THOUGHT, CALL, RESULT)


def __getattr__(name: str) -> Probe:
    """A probe by its name, made from its template when it is asked for."""
    probe = probes().get(name)
    if probe is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return probe


@cache
def probes() -> dict[str, Probe]:
    """All built-in probes by name."""
    raw = tomllib.loads(TEMPLATES.read_text(encoding="utf-8"))
    return {name: _probe(name, template) for name, template in raw.items()}


def _probe(name: str, template: dict[str, Any]) -> Probe:
    about: dict[str, Any] = {
        key: template[key] for key in ("expects", "strength", "says") if key in template
    }
    if template.get("how") == "swap":
        return PairProbe(name, swapped, **about)
    if template.get("how") == "paraphrase":
        return RequestProbe(name, _prefaced(template["text"]), **about)
    about["language"] = template.get("language", "")
    if template.get("how") == "planted":
        ends = _ends_with(template["ends"])
        told = _told_before(template["truth"], template["ends"])
        return ResponseProbe(name, ends, stronger=(told,), of_turns=True, **about)
    if template.get("how") in _OF_TURNS:
        return ResponseProbe(name, _OF_TURNS[template["how"]], of_turns=True, **about)
    if template.get("how") == "cut":
        first, *rest = (_of_text(partial(without_end, share)) for share in template["shares"])
        return ResponseProbe(name, first, stronger=tuple(rest), **about)
    how = _HOW[template["how"]] if "how" in template else _framed(template)
    return ResponseProbe(name, _of_text(how), **about)


def _of_text(how: Callable[[str], str | None]) -> Change:
    """The change of a text, or of the last turn that answers in a conversation."""

    def change(item: Item, response: Response) -> Said | None:
        del item
        if not response.turns:
            return how(response.text)
        at = _last_answer(response.turns)
        text = how(response.turns[at].content)
        return None if text is None else _with(response.turns, at, text)

    return change


def _last_answer(turns: Sequence[Turn]) -> int:
    """The place of the last turn of whoever does not begin; the last of all where one speaks."""
    answers = [at for at, turn in enumerate(turns) if turn.role != turns[0].role]
    return answers[-1] if answers else len(turns) - 1


def _with(turns: tuple[Turn, ...], at: int, text: str) -> tuple[Turn, ...]:
    return (*turns[:at], replace(turns[at], content=text), *turns[at + 1 :])


def _ends_with(sentence: str) -> Change:
    """The last answer of a conversation goes on with a sentence; None for what is none."""

    def change(item: Item, response: Response) -> Said | None:
        del item
        if len(response.turns) < 2:
            return None
        at = _last_answer(response.turns)
        return _with(response.turns, at, f"{response.turns[at].content}\n\n{sentence}")

    return change


def _told_before(truth: str, sentence: str) -> Change:
    """A truth in the first turn that the sentence at the end goes against."""
    ends = _ends_with(sentence)

    def change(item: Item, response: Response) -> Said | None:
        turns = ends(item, response)
        if not isinstance(turns, tuple) or _last_answer(turns) == 0:
            return None
        return _with(turns, 0, f"{turns[0].content}\n\n{truth}")

    return change


def _without_past(item: Item, response: Response) -> Said | None:
    """A conversation whose turns before the last answer say nothing; None for what is none."""
    del item
    if len(response.turns) < 2:
        return None
    at = _last_answer(response.turns)
    return tuple(replace(t, content="") if n < at else t for n, t in enumerate(response.turns))


def _framed(template: dict[str, Any]) -> Callable[[str], str | None]:
    before, after = template.get("before", "").strip(), template.get("after", "").strip()
    return lambda text: "\n\n".join(part for part in (before, text, after) if part)


def unchanged(what: Any) -> Any:
    """The text (pair, request) as it is."""
    return what


def without_end(share: float, text: str) -> str | None:
    """The text without this share of its words at the end; None for a text of under four.

    >>> without_end(0.5, "One two three four.")
    'One two'
    """
    # By words with their places, so that line breaks within what is left stay.
    words = list(re.finditer(r"\S+", text))
    left = len(words) - round(share * len(words))
    return text[: words[left - 1].end()] if len(words) >= 4 else None


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in _SENTENCE.split(text.strip()) if part]


def bullets(text: str) -> str:
    r"""Each sentence as a bullet.

    >>> bullets("Rest. Then walk.")
    '- Rest.\n- Then walk.'
    """
    return "\n".join(f"- {part}" for part in sentences(text))


def in_bold(text: str) -> str:
    """The first three words of each sentence in bold.

    >>> in_bold("Keep a fixed bedtime. Rest.")
    '**Keep a fixed** bedtime. **Rest.**'
    """
    # The first word and at most two behind it.
    return " ".join(re.sub(r"^\S+(?:\s+\S+){0,2}", r"**\g<0>**", part) for part in sentences(text))


def swapped_letters(text: str) -> str | None:
    """Two letters swapped in every eighth word of four letters or more; None where there is none.

    >>> swapped_letters("Sleep well.")
    'Selep well.'
    """
    seen = 0

    def swapped(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        word = match[0]
        return f"{word[0]}{word[2]}{word[1]}{word[3:]}" if seen % 8 == 1 else word

    # Words of letters alone: a swap within a number or an address would change what is said.
    changed = re.sub(r"\b[^\W\d_]{4,}\b", swapped, text)
    return changed if changed != text else None


def reversed_sentences(text: str) -> str | None:
    """The sentences in reverse order; None for a text of one."""
    parts = sentences(text)
    return " ".join(reversed(parts)) if len(parts) > 1 else None


def _with_wrong_step(item: Item, response: Response) -> Said | None:
    """A run with a step that nobody asked for: in the place of its last step, which is asked about
    where steps are judged, else as one more in the middle of the run as it is shown.
    """
    del item
    if not response.turns:
        return with_wrong_step(response.text)
    last = response.turns[-1]
    if last.role in GIVEN or all(turn.role not in _DONE for turn in response.turns):
        return None  # a talk, in which nobody acts
    wrong = _WRONG if last.role == CALL else replace(last, content=_SAID_WRONG)
    return (*response.turns[:-1], wrong)


def with_wrong_step(text: str) -> str | None:
    r"""A run as it is shown, with a call in its middle that nobody asked for; None for other texts.

    >>> print(with_wrong_step("[1] user: Hi.\n[2] assistant: Hello."))
    [1] user: Hi.
    [2] tool call (delete_records): {"which": "all"}
    [3] assistant: Hello.
    """
    lines = text.splitlines()
    steps = [at for at, line in enumerate(lines) if _STEP.match(line)]
    numbers = [int(lines[at][1 : lines[at].index("]")]) for at in steps]
    # Counted from 1 without a gap, or it is no run that is shown whole.
    if len(steps) < 2 or steps[0] != 0 or numbers != list(range(1, len(steps) + 1)):
        return None
    middle = len(steps) // 2
    after = [
        _STEP.sub(lambda found: f"[{int(found[1]) + 1}] ", line) for line in lines[steps[middle] :]
    ]
    return "\n".join([*lines[: steps[middle]], transcript([_WRONG], middle + 1), *after])


def smiling(text: str) -> str:
    """A smiling face after each sentence.

    >>> smiling("Rest. Walk.")
    'Rest. 🙂 Walk. 🙂'
    """
    return " ".join(f"{part} 🙂" for part in sentences(text))


def swapped(task: Comparison) -> Comparison:
    """The pair in the other order."""
    return Comparison(task.item, task.second, task.first)


_OF_TURNS: dict[str, Change] = {"past": _without_past, "with_wrong_step": _with_wrong_step}
_HOW: dict[str, Callable[[str], str | None]] = {
    "unchanged": unchanged, "bullets": bullets, "in_bold": in_bold,
    "swapped_letters": swapped_letters, "reversed_sentences": reversed_sentences,
    "smiling": smiling,
}  # fmt: skip


def _prefaced(text: str) -> Callable[[Request], Request]:
    """The request with one more sentence before its first message."""

    def change(request: Request) -> Request:
        first, *rest = request.messages
        prefaced = Message(first.role, f"{text}\n\n{first.content}")
        return replace(request, messages=(prefaced, *rest))

    return change


@dataclass(frozen=True, slots=True)
class ProbedJudge:
    """A judge of whom a probe changes what is asked; its replies are read as ever.

    Of a pair that was swapped, a score above 0 prefers what was shown first after the swap.

    Attributes
    ----------
    of_task : callable
        The pair that it is shown in place of a pair.
    of_request : callable
        What it asks in place of a request.
    """

    judge: Judge
    of_task: Callable[[Any], Any]
    of_request: Callable[[Request], Request]
    task: str = "rating"

    def requests(self, task: Any) -> list[Request]:
        """What the judge asks, changed."""
        return [self.of_request(request) for request in self.judge.requests(self.of_task(task))]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the judge reads."""
        return self.judge.parse(replies)


def make(  # noqa: PLR0913 - each is an option of the study
    rubric: Rubric | str,
    *,
    judge: str = "rubric",
    probe: str,
    place: str = "",
    strength: int = 1,
    options: Mapping[str, Any] | None = None,
    sampling: Sampling | None = None,
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> ProbedJudge:
    """The judge of that name with its requests, or its pairs, changed by a probe.

    Parameters
    ----------
    place : {"first", "second"}
        Of a probe of responses: which one of a pair is changed. One to which it does not apply is
        shown as it is.
    strength : int
        Which of the probe's strengths, from 1.

    Raises
    ------
    PluginError
        The probe changes nothing that is asked, or the judge takes several steps, which a probe
        would change after the fact: probe the judge whose question it asks.
    """
    plugins = plugins or loaded_plugins()
    resolved = plugins.resolve("probe", probe)
    made = inner_judge(judge, rubric, options, sampling, plugins, study)
    if isinstance(made, FollowsUp):
        raise PluginError(f"judge {judge!r} takes several steps: its requests cannot be probed")
    task = task_of(made)
    if isinstance(resolved, RequestProbe):
        return ProbedJudge(made, unchanged, resolved.change, task)
    if isinstance(resolved, PairProbe):
        changed: Callable[[Any], Any] = resolved.change
    elif isinstance(resolved, ResponseProbe) and place in ("first", "second"):
        changed = partial(_in_place, place, resolved.changes[strength - 1])
    else:
        raise PluginError(f"probe {probe!r} changes responses, and not what a judge asks")
    if task != "comparison":
        raise PluginError(f"probe {probe!r} changes pairs, and judge {judge!r} compares none")
    return ProbedJudge(made, changed, unchanged, task)


@dataclass(frozen=True, slots=True)
class ProbedAnnotator(ProbedJudge):
    """An annotator of whom a probe changes what is asked."""

    task: str = "item"

    @property
    def labels(self) -> Any:
        """Its label set, where it declares one."""
        return getattr(self.judge, "labels", None)


def make_annotator(
    *,
    judge: str,
    probe: str,
    options: Mapping[str, Any] | None = None,
    sampling: Sampling | None = None,
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> ProbedAnnotator:
    """The annotator of that name with its requests changed by a probe.

    Raises
    ------
    PluginError
        The probe changes no request, or the annotator takes several steps.
    """
    plugins = plugins or loaded_plugins()
    resolved = plugins.resolve("probe", probe)
    if not isinstance(resolved, RequestProbe):
        raise PluginError(f"probe {probe!r} changes items, and not what an annotator asks")
    made = inner_annotator(judge, options, sampling, plugins, study)
    if isinstance(made, FollowsUp):
        raise PluginError(f"annotator {judge!r} takes several steps: it cannot be probed so")
    return ProbedAnnotator(made, unchanged, resolved.change)


def _in_place(place: str, change: Change, task: Comparison) -> Comparison:
    """The pair with one of its responses changed; conversations are compared as their texts."""
    one = replace(task.first if place == "first" else task.second, turns=())
    text = change(task.item, one)
    if not isinstance(text, str):
        return task
    changed = replace(one, text=text)
    if place == "first":
        return replace(task, first=changed)
    return replace(task, second=changed)
