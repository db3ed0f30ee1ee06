"""`rubric`: scores one response on the attributes of a rubric."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError, check_allowed
from voirdire.parsing import parse_scores, parse_scores_column
from voirdire.schema import Flag, Message, Parsed, Rating, Reply, Request, Rubric, Sampling
from voirdire_judges._parsed import combined, echo_flags, echoing, flagged, missing_reply
from voirdire_judges.few_shot import few_shot
from voirdire_judges.prompts import (
    MARKS_NOTE,
    attribute_text,
    delimited,
    output_fields,
    output_text,
    scale_text,
    scores_schema,
)
from voirdire_judges.reaching import reaching
from voirdire_judges.rubrics import in_own_words, load_rubric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voirdire import Plugins
    from voirdire.parsing import ScoreColumns
    from voirdire.schema import Attribute, Finding, Scale
    from voirdire.study import Study
    from voirdire_judges.few_shot import Example, FewShot
    from voirdire_judges.reaching import Reaching


# A level as a model writes it.
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
Ask = Literal["together", "each"]
Score = Literal["number", "levels", "yes-no", "probability"]
#: Under this share of probability on the levels a weighted score is flagged.
LOW_MASS = 0.5


@dataclass(frozen=True, slots=True)
class RubricJudge:
    """A pointwise judge. Pure: it makes requests and reads replies.

    Attributes
    ----------
    rubric : Rubric
        Attributes, scale and output format.
    ask : {"together", "each"}
        All attributes in one reply, or one call an attribute.
    score : {"number", "levels", "yes-no", "probability"}
        The number that is generated, or the mean of the levels weighted by their probability
        (one call an attribute; where the model gives no log-probabilities the number, flagged), or
        what is made of an answer to whether a level is reached (`reaching`).
    reference : bool
        Whether the judge sees a reference answer.
    examples : FewShot or None
        Where responses come from that people have scored, which it is shown as answered before.
    """

    rubric: Rubric
    ask: Ask = "together"
    score: Score = "number"
    reference: bool = False
    sampling: Sampling = Sampling()
    task: str = "rating"
    examples: FewShot | None = None
    reaching: Reaching | None = None
    #: One request an attribute or one for all, but for the material, and what each asks about:
    #: built once, asked often.
    _forms: tuple[Request, ...] = field(init=False, repr=False, compare=False)
    _names: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        calls = self._calls()
        object.__setattr__(self, "_forms", tuple(map(self._form, calls)))
        names = tuple(tuple(attribute.name for attribute in call) for call in calls)
        object.__setattr__(self, "_names", names)

    def requests(self, task: Rating) -> list[Request]:
        """One request, or one an attribute; none for a response without text.

        Raises
        ------
        InputError
            The judge is to see a reference answer and the task has none.
        """
        if self.reference and not task.reference.strip():
            raise InputError(
                f"item {task.item.id!r} has no reference answer, which this judge is to see"
            )
        if not task.response.text.strip():
            return []
        material = Message("user", self._material(task))
        shots = tuple(self.examples.examples(task.item)) if self.examples else ()
        return [
            self.sampling.request(
                (*form.messages, *self._shown(shots, names), material),
                schema=form.schema,
                options=form.options,
            )
            for form, names in zip(self._forms, self._names, strict=True)
        ]

    def findings(self) -> tuple[Finding, ...] | None:
        """What its examples were chosen from leaked, or would have; None where there are none."""
        return None if self.examples is None else self.examples.findings()

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """One score an attribute, None with a reason where there is none; never raises."""
        calls = len(self._names)
        # A run that was cut may have fewer replies than calls: what was not asked is
        # missing, not the rest.
        given = [*replies[:calls], *([missing_reply(replies)] * (calls - len(replies)))]
        return combined(list(map(self._read, given, self._names)))

    def parse_column(self, replies: Sequence[Reply]) -> ScoreColumns | None:
        """`parse` on each of many replies, many times faster; only of scores asked together."""
        # Several replies a task, or scores that are made of something else: these have no columns.
        if len(self._names) > 1 or self.score != "number":
            return None
        texts = [reply.text for reply in replies]
        columns = parse_scores_column(
            texts,
            self.rubric.names,
            self.rubric.scale,
            finish_reasons=[reply.finish_reason for reply in replies],
        )
        for row, flags in echoing(texts).items():
            columns.flags[row] += flags
        return columns

    def _calls(self) -> list[tuple[Attribute, ...]]:
        if self.ask == "each" or self.score == "levels":
            return [(attribute,) for attribute in self.rubric.attributes]
        return [self.rubric.attributes]

    def _form(self, attributes: tuple[Attribute, ...]) -> Request:
        levels = self.score == "levels"
        output = output_text(self.rubric, attributes)
        schema = scores_schema(output_fields(output), self.rubric.scale)
        if self.reaching is not None:
            schema = self.reaching.schema(attributes)
        return self.sampling.request(
            (Message("system", self._instructions(attributes, output)),),
            schema=None if levels else schema,
            options=level_names(self.rubric.scale) if levels else (),
        )

    def _instructions(self, attributes: tuple[Attribute, ...], output: str) -> str:
        scale = scale_text(self.rubric.scale)
        form = f"Answer with nothing but a JSON object of this form, X being {scale}:\n{output}"
        if self.score == "levels":
            form = f"Answer with nothing but the score: {scale}."
        if self.reaching is not None:
            form = self.reaching.asked(attributes)
        against = "Rate the response; the reference answer shows what a good one may look like."
        parts = [
            self.rubric.instructions or "Rate the response on each attribute below.",
            against if self.reference else "",
            MARKS_NOTE,
            "Attributes and levels:\n" + "\n".join(attribute_text(a) for a in attributes),
            form,
        ]
        return "\n\n".join(part for part in parts if part)

    def _material(self, task: Rating) -> str:
        parts = [delimited(task.item.text, "CONTEXT")] if task.item.text.strip() else []
        parts += [delimited(task.reference, "REFERENCE")] if self.reference else []
        return "\n\n".join([*parts, delimited(task.response.text, "RESPONSE")])

    def _shown(self, shots: Sequence[Example], names: tuple[str, ...]) -> Iterator[Message]:
        """Examples as turns: what was judged, and what people said of it."""
        for shot in shots:
            scores = {name: self._scored(shot, name) for name in names}
            parts = [delimited(str(shot["text"]), "CONTEXT")] if shot["text"] else []
            yield Message(
                "user", "\n\n".join([*parts, delimited(str(shot.get("response", "")), "RESPONSE")])
            )
            levels = self.score == "levels"
            said = f"{scores[names[0]]:g}" if levels else json.dumps(scores)
            if self.reaching is not None:
                said = self.reaching.answer(scores)
            yield Message("assistant", said)

    def _scored(self, shot: Example, name: str) -> float:
        """What people said of an example, as the scale writes it."""
        try:
            score = float(shot[name])
        except (KeyError, TypeError, ValueError):
            score = math.nan
        if not self.rubric.scale.holds(score):
            raise InputError(
                f"example {shot.get('id')!r} of the pool has no score of {name!r} on the scale (it "
                f"holds {shot.get(name)!r}); its columns are id, text, response and the attributes"
            )
        return int(score) if score.is_integer() else score

    def _read(self, reply: Reply, names: tuple[str, ...]) -> Parsed:
        if self.reaching is not None:
            return flagged(self.reaching.read(reply, names), *echo_flags(reply.text))
        parsed = parse_scores(
            reply.text, names, self.rubric.scale, finish_reason=reply.finish_reason
        )
        flags = echo_flags(reply.text)
        if self.score == "levels" and (stated := parsed.scores[names[0]]) is not None:
            if _is_among(stated, reply.option_logprobs):
                weighted = weighted_score(names[0], reply.option_logprobs, self.rubric.scale)
                return flagged(weighted, *flags)
            flags += (Flag("other_token" if reply.option_logprobs else "no_logprobs", names[0]),)
        return flagged(parsed, *flags)


def _is_among(stated: float, logprobs: Mapping[str, float]) -> bool:
    """Whether the stated score is one of the levels that have a log-probability.

    Else they are of another token: of a number that the reply only speaks of.
    """
    return any(math.isclose(float(level), stated) for level in logprobs if _NUMBER.fullmatch(level))


def make(  # noqa: PLR0913 - the options are those of a study's panel
    rubric: Rubric | str,
    *,
    ask: Ask = "together",
    score: Score = "number",
    at: float | None = None,
    reference: bool = False,
    instructions: str = "",
    words: str = "",
    examples: Mapping[str, Any] | None = None,
    sampling: Sampling = Sampling(temperature=0.0),
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> RubricJudge:
    """A rubric judge (`use = "rubric"`).

    Parameters
    ----------
    rubric : Rubric or str
        The rubric, the name of a built-in one, or the path of a TOML file.
    ask, score, reference
        See `RubricJudge`.
    at : float, optional
        The level that *yes-no* and *probability* ask about; by default the study's gate, and the
        upper one of a scale of two values.
    instructions : str
        What the judge is told first, in place of the rubric's own words. Members of a panel that
        differ in this alone show how much the wording matters.
    words : str
        A TOML file of a rubric with the same attributes and scale, from the study's folder: this
        judge's own words for them.
    examples : mapping, optional
        ``{selector = "nearest", pool = "scored.jsonl", k = 2, embedder = "all-mpnet-base-v2"}``:
        responses that people scored, shown before the one that is asked about. The pool has the
        columns ``id``, ``text`` (of the item), ``response`` and the attributes.
    sampling : Sampling
        Sent with every request; what is None is left to the model.
    study, plugins
        Handed over by the runner: files lie in the study's folder, and none of its items is shown
        as an example.

    Raises
    ------
    InputError
        An option or the rubric is wrong.

    Examples
    --------
    >>> from voirdire.schema import Item, Rating, Reply, Response
    >>> judge = make("mentalalign")
    >>> task = Rating(Item("1", "I slept badly."), Response("1", "gpt", "Try a fixed bedtime."))
    >>> [message.role for message in judge.requests(task)[0].messages]
    ['system', 'user']
    >>> judge.parse([Reply('{"Guidance": 4, "Safety": 5}')]).scores["Guidance"]
    4.0
    """
    for option, value, allowed in (
        ("ask", ask, ("together", "each")),
        ("score", score, ("number", "levels", "yes-no", "probability")),
    ):
        check_allowed(option, [value], allowed, "rubric judge")
    asked = load_rubric(rubric) if isinstance(rubric, str) else rubric
    asked = in_own_words(asked, words, study)
    if instructions.strip():
        asked = replace(asked, instructions=instructions.strip())
    if score == "levels" and asked.scale.continuous:
        raise InputError('rubric judge: score "levels" needs a scale with levels, and step is 0')
    if not asked.attributes:
        raise InputError(f"rubric judge: rubric {asked.name!r} has no attributes")
    asks = None
    if score in ("yes-no", "probability"):
        asks = reaching(score, at, asked.scale, study)
    elif at is not None:
        raise InputError(
            f'rubric judge: at belongs to score "yes-no" or "probability", not "{score}"'
        )
    shots = None
    if examples is not None and score == "probability":
        raise InputError(
            'rubric judge: score "probability" takes no examples: people said levels, and nothing '
            "says how probable each was"
        )
    if examples is not None:
        columns = [*asked.names, "response"]
        shots = few_shot({"labels": columns, **examples}, study, plugins)
    return RubricJudge(asked, ask, score, reference, sampling, examples=shots, reaching=asks)


def level_names(scale: Scale) -> tuple[str, ...]:
    """The levels as they are written.

    >>> from voirdire.schema import Scale
    >>> level_names(Scale(0, 1, 0.5))
    ('0', '0.5', '1')
    """
    return tuple(f"{level:g}" for level in scale.levels)


def weighted_score(name: str, logprobs: Mapping[str, float], scale: Scale) -> Parsed:
    r"""The expected level, :math:`\sum_l l\,p_l / \sum_l p_l` over the levels reported.

    Liu et al. 2023 (G-Eval), equation 1. `extra` holds the share of each level and, as `mass`, the
    probability that all reported levels had together before they were scaled to one. Where that is
    under one half the model mostly meant something else, and a flag ``low_mass`` says so.

    >>> import math
    >>> from voirdire.schema import Scale
    >>> logprobs = {"4": math.log(0.6), "5": math.log(0.2)}
    >>> parsed = weighted_score("Empathy", logprobs, Scale())
    >>> round(parsed.scores["Empathy"], 3), round(parsed.extra["mass"], 3)
    (4.25, 0.8)
    """
    by_name = dict(zip(level_names(scale), scale.levels, strict=True))
    finite = {n: lp for n, lp in logprobs.items() if n in by_name and math.isfinite(lp)}
    if not finite:
        return Parsed({name: None}, "unparsable", {name: "unparsable"}, reasons={name: "no_answer"})
    # Less the largest: levels of very small probability would all become 0 otherwise.
    top = max(finite.values())
    weights = {level: math.exp(lp - top) for level, lp in finite.items()}
    total = math.fsum(weights.values())
    mass = total * math.exp(top)
    score = math.fsum(by_name[level] * weight for level, weight in weights.items()) / total
    return Parsed(
        {name: score},
        "ok",
        {name: "ok"},
        flags=(
            Flag("weighted_levels", name),
            *((Flag("low_mass", name),) if mass < LOW_MASS else ()),
        ),
        extra={
            "levels": {level: weight / total for level, weight in weights.items()},
            "mass": mass,
        },
    )
