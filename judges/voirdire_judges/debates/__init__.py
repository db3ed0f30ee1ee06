"""`debate`: advocates argue in rounds and a judge decides; each step is a kept reply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError, check_allowed
from voirdire.schema import Beside, Flag, Message, Parsed, Reply, Sampling, Trace
from voirdire.study import read_toml
from voirdire_judges._inner import inner_judge, only_question, task_of, told_more
from voirdire_judges._parsed import flagged
from voirdire_judges.prompts import delimited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable

    from voirdire import Plugins
    from voirdire.protocols import Judge
    from voirdire.schema import Request, Rubric
    from voirdire.study import Study

#: Characters that stand for a token where a provider does not count.
_CHARACTERS = 4
#: The role of the judge, and of an advocate that names none.
JUDGE, ADVOCATE = "judge", "advocate"
_KEYS = {"advocates": ("name", "stance", "role"), "prompts": ("opening", "reply", "verdict")}


@dataclass(frozen=True, slots=True)
class Advocate:
    """Who argues: a name, what it looks for, and the role that names its model."""

    name: str
    stance: str
    role: str = ADVOCATE


@dataclass(frozen=True, slots=True)
class Prompts:
    """Who argues and what they are told; see `debates/standard.toml`."""

    advocates: tuple[Advocate, ...]
    opening: str
    reply: str
    verdict: str


@dataclass(frozen=True, slots=True)
class DebateJudge:
    """Another judge's question, argued about before it is answered. Pure.

    The first replies to a task are the judge's own answer, which nobody in the debate is shown, and
    each advocate's opening. Then follow rounds of one reply an advocate, and the verdict.

    Attributes
    ----------
    judge : Judge
        Who asks one question and reads each answer.
    prompts : Prompts
    rounds : int
        The most, openings included. Fewer are held where all positions agree, where nobody's
        position has moved in a round, and where another round would exceed the budget.
    budget : int or None
        Tokens for one task, in and out. The openings and the verdict are given in any case.
    """

    judge: Judge
    prompts: Prompts
    rounds: int = 2
    budget: int | None = None
    task: str = "rating"

    @property
    def roles(self) -> tuple[str, ...]:
        """The judge's and the advocates'."""
        return tuple(dict.fromkeys((JUDGE, *(one.role for one in self.prompts.advocates))))

    def requests(self, task: Any) -> list[Request]:
        """The judge's question as it is, and the same to each advocate with its stance.

        Raises
        ------
        InputError
            The judge asks several questions about one task.
        """
        asked = only_question(self.judge, task, "debate")
        alone = [replace(request, role=JUDGE) for request in asked]
        return [
            *alone,
            *(self._opening(one, request) for request in asked for one in self._advocates),
        ]

    def follow_up(self, replies: Sequence[Reply]) -> list[Request]:
        """The next round, or the judge's request for a verdict; nothing after it."""
        if self._decided(replies):
            return []
        rounds = self._rounds(replies)
        if self._ended(replies):
            return [self._verdict(replies[0], rounds)]
        return [self._answer(at, rounds[-1]) for at in range(len(self._advocates))]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """What the judge reads in the verdict; its flags say how the debate went."""
        # One voice that failed to come makes it another debate: the whole is missing, for
        # that reason.
        lost = next((reply for reply in replies if reply.finish_reason == "error"), None)
        if not replies or lost is not None:
            return self.judge.parse([lost] if lost is not None else [])
        if not self._decided(replies):  # cut by a limit on steps before it came to a verdict
            return self.judge.parse([Reply("", "length")])
        flag = Flag("debate_rounds", self._ended(replies[:-1]), len(self._rounds(replies)))
        return flagged(self.judge.parse([replies[-1]]), flag)

    def trace(self, replies: Sequence[Reply]) -> Trace:
        """What the judge said alone, the mean of the openings, and why the debate ended."""
        if not self._decided(replies):
            return Trace()
        k = len(self._advocates)
        openings = self._positions(self._rounds(replies)[0])
        beside = (
            Beside("alone", (0,), self.judge.parse(replies[:1]).scores),
            Beside("openings", tuple(range(1, k + 1)), _mean(openings)),
        )
        rounds = len(self._rounds(replies))
        return Trace({"rounds": rounds}, beside, self._ended(replies[:-1]))

    @property
    def _advocates(self) -> tuple[Advocate, ...]:
        return self.prompts.advocates

    def _decided(self, replies: Sequence[Reply]) -> bool:
        """Whether the last reply is the verdict: one more than whole rounds make."""
        return len(replies) > 1 and (len(replies) - 1) % len(self._advocates) == 1

    def _rounds(self, replies: Sequence[Reply]) -> list[Sequence[Reply]]:
        """The advocates' replies of each whole round."""
        k = len(self._advocates)
        return [replies[at : at + k] for at in range(1, len(replies) - k + 1, k)]

    def _positions(self, replies: Sequence[Reply]) -> list[Mapping[str, float | None]]:
        return [self.judge.parse([reply]).scores for reply in replies]

    def _ended(self, replies: Sequence[Reply]) -> str:
        """Why no further round is held; empty where one is."""
        rounds = self._rounds(replies)
        now = self._positions(rounds[-1])
        # In this order: a round in which all agree needs no limit to end it.
        if _complete(now) and all(position == now[0] for position in now):
            return "agreed"
        if len(rounds) > 1 and _complete(now) and now == self._positions(rounds[-2]):
            return "unmoved"
        if len(rounds) >= self.rounds:
            return "rounds"
        # The next round holds what this one did and more, and the verdict reads all of it.
        more = sum(map(_tokens, rounds[-1])) + _tokens(replies[0])
        if self.budget is not None and sum(map(_tokens, replies)) + more > self.budget:
            return "budget"
        return ""

    def _opening(self, advocate: Advocate, asked: Request) -> Request:
        told = self.prompts.opening.strip()
        told = told.replace("{name}", advocate.name).replace("{stance}", advocate.stance)
        # A schema would leave no room for an argument.
        return replace(told_more(asked, told), schema=None, options=(), role=advocate.role)

    def _answer(self, at: int, replies: Sequence[Reply]) -> Request:
        """What an advocate is asked next, with the others' last words."""
        own = replies[at]
        others = [self._said(i, reply) for i, reply in enumerate(replies) if i != at]
        told = "\n\n".join([self.prompts.reply.strip(), *others])
        asked = _request(own)
        messages = (*asked.messages, Message("assistant", own.text), Message("user", told))
        return replace(asked, messages=messages)

    def _verdict(self, alone: Reply, rounds: Sequence[Sequence[Reply]]) -> Request:
        """The judge's own question with all that was said behind it."""
        asked = _request(alone)
        transcript = [
            "\n\n".join([f"Round {number}", *(self._said(at, r) for at, r in enumerate(replies))])
            for number, replies in enumerate(rounds, start=1)
        ]
        *before, last = asked.messages
        content = "\n\n".join([last.content, self.prompts.verdict.strip(), *transcript])
        return replace(asked, messages=(*before, replace(last, content=content)))

    def _said(self, at: int, reply: Reply) -> str:
        return f"{self._advocates[at].name}:\n{delimited(reply.text, 'ARGUMENT')}"


def _request(reply: Reply) -> Request:
    if reply.request is None:
        raise InputError("debate: a reply without its request cannot be followed up")
    return reply.request


def _complete(positions: Sequence[Mapping[str, float | None]]) -> bool:
    """Whether each position could be read whole: what is missing neither agrees nor stays."""
    return all(score is not None for position in positions for score in position.values())


def _mean(positions: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean of those that took a position, by attribute."""
    means: dict[str, float | None] = {}
    for name in positions[0]:
        scores = [score for one in positions if (score := one.get(name)) is not None]
        means[name] = sum(scores) / len(scores) if scores else None
    return means


def _tokens(reply: Reply) -> int:
    """Tokens in and out as they were counted, else by the length of what was said."""
    used = reply.usage
    if used.input is not None and used.output is not None:
        return used.input + used.output
    asked = reply.request.messages if reply.request else ()
    return (sum(len(m.content) for m in asked) + len(reply.text)) // _CHARACTERS


def read_prompts(path: Path | Traversable) -> Prompts:
    """Who argues and what they are told, from a TOML file.

    Raises
    ------
    InputError
        It cannot be read, a key is unknown or missing, or fewer than two argue.
    """
    raw = read_toml(path, "prompts of a debate")
    check_allowed("key", raw, _KEYS, path)
    for section, given in raw.items():
        for part in given if isinstance(given, list) else [given]:
            _check_keys(path, section, part)
    advocates = tuple(Advocate(**part) for part in raw.get("advocates", ()))
    if len({one.name for one in advocates}) < 2 or len({o.name for o in advocates}) < len(
        advocates
    ):
        raise InputError(f"{path}: a debate needs two or more [[advocates]] of different names")
    if any(one.role == JUDGE for one in advocates):
        raise InputError(f"{path}: an advocate cannot have the role {JUDGE!r}, which decides")
    if "prompts" not in raw:
        raise InputError(f"{path}: there is no table [prompts]")
    return Prompts(advocates, **raw["prompts"])


def _check_keys(path: Path | Traversable, section: str, part: Any) -> None:
    if not isinstance(part, dict):
        raise InputError(f"{path}: {section} must be a table, got {part!r:.80}")
    check_allowed("key", part, _KEYS[section], f"{path}, {section}")
    for key, value in part.items():
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{path}, {section}: {key} must be a text, got {value!r:.80}")
    needed = [key for key in _KEYS[section] if key not in part and key != "role"]
    if needed:
        raise InputError(f"{path}, {section}: the key {needed[0]!r} is missing")


def make(  # noqa: PLR0913 - each is an option of the study
    rubric: Rubric | str,
    *,
    rounds: int = 2,
    budget: int | None = None,
    prompts: str = "",
    judge: str = "rubric",
    options: Mapping[str, Any] | None = None,
    sampling: Sampling = Sampling(temperature=0.0),
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> DebateJudge:
    """A debate (`use = "debate"`, `models = {advocate = "...", judge = "..."}`).

    Parameters
    ----------
    rounds : int
        The most, openings included, from 1.
    budget : int, optional
        Tokens for one task, in and out, beyond which no further round begins.
    prompts : str
        A TOML file of advocates and prompts, relative to the study; by default our own.
    judge, options
        Whose question it is and who reads the answers, and that judge's own options.

    Raises
    ------
    InputError, PluginError
        A number or a file that is not fit, or options that the judge does not take.

    Examples
    --------
    >>> from voirdire.schema import Item, Rating, Response
    >>> debate = make("mentalalign")
    >>> task = Rating(Item("1", "I slept badly."), Response("1", "a", "Try a fixed bedtime."))
    >>> [request.role for request in debate.requests(task)]
    ['judge', 'advocate', 'advocate']
    """
    plugins = plugins or loaded_plugins()
    given: dict[str, Any] = {"rounds": rounds, "budget": budget}
    for name, value in given.items():
        if value is not None and (type(value) is not int or value < 1):
            raise InputError(f"debate: {name} must be a whole number from 1 on, got {value!r}")
    folder = Path(study.folder if study is not None else ".")
    standard = files("voirdire_judges.debates") / "standard.toml"
    file = folder / prompts if prompts else standard
    inner = inner_judge(judge, rubric, options, sampling, plugins, study)
    return DebateJudge(inner, read_prompts(file), rounds, budget, task_of(inner))
