"""Forms of a rubric's question that ask for no score: whether a level is reached, how likely it is.

A graded scale has a gate: the level from which on a response is good enough. *yes-no* asks whether
it is reached, and *probability* how probable that is in percent.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError
from voirdire.parsing import parse_scores, parse_yes_no, worst_status
from voirdire.schema import Flag, Parsed, Scale
from voirdire_judges.prompts import object_schema, scale_text, scores_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Attribute, Reply
    from voirdire.study import Study

Form = Literal["yes-no", "probability"]
#: What a probability is said in.
_PERCENT = Scale(0, 100)


@dataclass(frozen=True, slots=True)
class Reaching:
    """Asks whether a response reaches a level, or how probable that is.

    Attributes
    ----------
    form : {"yes-no", "probability"}
    level : float
        From which on a response is good enough.
    scale : Scale
        Of the scores that are made of the answers.
    """

    form: Form
    level: float
    scale: Scale

    def asked(self, attributes: Sequence[Attribute]) -> str:
        """What is asked, and the reply that is asked for."""
        least = f"at least level {self.level:g}"
        if self.form == "yes-no":
            form = json.dumps({one.name: "yes or no" for one in attributes})
            return (
                f"Say of each attribute whether the response reaches {least}. Answer with nothing "
                f"but a JSON object of this form:\n{form}"
            )
        form = json.dumps({one.name: "X" for one in attributes}).replace('"X"', "X")
        return (
            f"Say of each attribute how probable it is, in percent, that the response reaches "
            f"{least}. Answer with nothing but a JSON object of this form, X being "
            f"{scale_text(_PERCENT)}:\n{form}"
        )

    def schema(self, attributes: Sequence[Attribute]) -> dict[str, Any]:
        """Of the reply."""
        names = [one.name for one in attributes]
        if self.form == "probability":
            return scores_schema(dict.fromkeys(names, True), _PERCENT)
        answer = {"type": "string", "enum": ["yes", "no"]}
        return object_schema({name: dict(answer) for name in names})

    def answer(self, scores: Mapping[str, float]) -> str:
        """What an example was answered with, by its scores: yes or no."""
        said = {name: "yes" if score >= self.level else "no" for name, score in scores.items()}
        return json.dumps(said)

    def read(self, reply: Reply, names: tuple[str, ...]) -> Parsed:
        """Scores of a reply: yes is the scale's upper end and no its lower one; never raises."""
        if self.form == "yes-no":
            parsed = parse_yes_no(reply.text, names, finish_reason=reply.finish_reason)
            shares = parsed.scores
        else:
            parsed = parse_scores(reply.text, names, _PERCENT, finish_reason=reply.finish_reason)
            parsed = _in_percent(parsed)
            shares = {
                name: None if said is None else said / 100 for name, said in parsed.scores.items()
            }
        scores = {
            name: None if share is None else self.score(share) for name, share in shares.items()
        }
        return replace(parsed, scores=scores)

    def score(self, share: float) -> float:
        """The score of a probability from 0 to 1: one half is the level itself.

        On a scale of two values, which is nothing but yes and no, it lies between them as it is.

        >>> reaching = Reaching("probability", 4, Scale(1, 5))
        >>> [reaching.score(share) for share in (0, 0.25, 0.5, 1)]
        [1.0, 2.5, 4.0, 5.0]
        >>> Reaching("probability", 1, Scale(0, 1)).score(0.3)
        0.3
        """
        low, high = float(self.scale.low), float(self.scale.high)
        if _of_two(self.scale):
            return low + (high - low) * share
        if share < 0.5:
            return low + (self.level - low) * 2 * share
        return self.level + (high - self.level) * (2 * share - 1)


def _in_percent(parsed: Parsed) -> Parsed:
    """Without what may be a share of one: 0.85 is 85 % or less than one, and nothing says which."""
    lost = [name for name, said in parsed.scores.items() if said is not None and 0 < said < 1]
    if not lost:
        return parsed
    # What was flagged of it was of a number that now stands for nothing.
    flags = tuple(flag for flag in parsed.flags if flag.about not in lost)
    return replace(
        parsed,
        scores={**parsed.scores, **dict.fromkeys(lost)},
        status=worst_status((*parsed.statuses.values(), "unparsable")),
        statuses={**parsed.statuses, **dict.fromkeys(lost, "unparsable")},
        reasons={**parsed.reasons, **dict.fromkeys(lost, "scale_mismatch")},
        flags=(*flags, *(Flag("scale_mismatch", name) for name in lost)),
    )


def _of_two(scale: Scale) -> bool:
    return not scale.continuous and len(scale.levels) == 2


def reaching(form: Form, at: float | None, scale: Scale, study: Study | None) -> Reaching:
    """The form by the level that is declared: `at`, else the study's gate.

    Raises
    ------
    InputError
        No level is declared and the scale has more than two, or it lies outside the scale.
    """
    level = at
    if level is None and study is not None and study.gate is not None:
        level = study.gate.at
    if level is None and _of_two(scale):
        level = scale.high
    if level is None:
        raise InputError(
            f'rubric judge: score "{form}" asks whether a level is reached, and none is declared: '
            "say gate = {at = 4} in the study, or at = 4 among the judge's options"
        )
    if not scale.low < level <= scale.high:
        raise InputError(
            f"rubric judge: at must lie above {scale.low:g} and up to {scale.high:g}, got {level:g}"
        )
    return Reaching(form, float(level), scale)
