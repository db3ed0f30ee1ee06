"""`questionnaire`: fills in a questionnaire about a text, item by item."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.parsing import parse_questionnaire, worst_status
from voirdire.schema import Item, Message, Parsed, Reply, Request, Rubric, Sampling
from voirdire_judges._parsed import missing_reply
from voirdire_judges.prompts import MARKS_NOTE, delimited, object_schema
from voirdire_judges.questionnaires import (
    STANDARD,
    Questionnaire,
    load_questionnaire,
    score_answers,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Status
    from voirdire.study import Study

NOT_RATABLE = "not ratable"


@dataclass(frozen=True, slots=True)
class QuestionnaireJudge:
    """Asks for an answer to every item and scores what comes. Pure.

    Its columns are ``NAME.1`` to ``NAME.n``, ``NAME.total`` (only when complete) and, with a
    threshold, the construct as 1, 0 or missing.
    """

    questionnaire: Questionnaire
    threshold: float | None = None
    sampling: Sampling = Sampling()
    task: str = "item"

    @property
    def label(self) -> str:
        """The construct that the threshold decides; empty without one."""
        return "" if self.threshold is None else self.questionnaire.construct

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text."""
        if not task.text.strip():
            return []
        return [
            self.sampling.request(
                (
                    Message("system", self._instructions()),
                    Message("user", delimited(task.text, "TEXT")),
                ),
                schema=object_schema(
                    {str(n): self._form(n) for n in range(1, len(self._questions) + 1)}
                ),
            )
        ]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """Answers, total and label; what lacks an answer is missing with a reason, never 0."""
        reply = replies[-1] if replies else missing_reply(replies)
        parsed = parse_questionnaire(
            reply.text,
            [self.questionnaire.scale] * len(self._questions),
            yes_no=self.questionnaire.yes_no,
            not_ratable=self.questionnaire.may_lack,
            finish_reason=reply.finish_reason,
        )
        answers = {int(serial): value for serial, value in parsed.scores.items()}
        scored = score_answers(self.questionnaire, answers, self.threshold)
        named = {f"{self._name}.{serial}": value for serial, value in parsed.scores.items()}
        named[f"{self._name}.total"] = scored.total
        if self.label:
            named[self.label] = None if scored.positive is None else float(scored.positive)
        derived = [name for name in (f"{self._name}.total", self.label) if name]
        reasons = {f"{self._name}.{serial}": why for serial, why in parsed.reasons.items()}
        reasons |= {name: "incomplete" for name in derived if named[name] is None}
        return Parsed(
            named,
            _status_of(parsed),
            self._statuses(parsed, named),
            parsed.flags,
            extra={**parsed.extra, "scored": dataclasses.asdict(scored)},
            reasons=reasons,
        )

    @property
    def _name(self) -> str:
        return self.questionnaire.name

    @property
    def _questions(self) -> tuple[Any, ...]:
        return self.questionnaire.questions

    def _statuses(self, parsed: Parsed, named: dict[str, float | None]) -> dict[str, Status]:
        """Items as they were read; what follows from them is missing as the worst of them is."""
        read = {f"{self._name}.{serial}": status for serial, status in parsed.statuses.items()}
        # A total may be missing though every answer was read: an item that is not ratable
        # has none.
        rest: Status = "ok" if parsed.status in ("ok", "repaired") else parsed.status
        return {name: read.get(name, "ok" if named[name] is not None else rest) for name in named}

    def _instructions(self) -> str:
        questionnaire = self.questionnaire
        anchors = "; ".join(f"{level:g}: {words}" for level, words in questionnaire.anchors)
        parts = [
            questionnaire.instructions,
            "\n".join(
                f"{n}. {one.name}" + (f": {one.text}" if one.text else "")
                for n, one in enumerate(questionnaire.questions, 1)
            ),
            f"Levels: {anchors}." if anchors else "",
            MARKS_NOTE,
            self._form_in_words(),
        ]
        return "\n\n".join(part for part in parts if part)

    def _form_in_words(self) -> str:
        questionnaire = self.questionnaire
        value = '"yes" or "no"' if questionnaire.yes_no else _levels(questionnaire)
        form = (
            "{" + ", ".join(f'"{n}": X' for n in range(1, len(questionnaire.questions) + 1)) + "}"
        )
        wording = (
            f"Answer with nothing but a JSON object that has the serial numbers of all "
            f"{len(questionnaire.questions)} items as keys, X being {value}: {form}."
        )
        if questionnaire.not_ratable == "all":
            return f'{wording} Where the text does not say, X is "{NOT_RATABLE}".'
        if not questionnaire.observed:
            return wording
        items = ", ".join(map(str, questionnaire.observed))
        return (
            f'{wording} Where a text cannot show it (items {items} only), X may be "{NOT_RATABLE}".'
        )

    def _form(self, serial: int) -> dict[str, Any]:
        scale = self.questionnaire.scale
        levels: list[Any] = ["yes", "no"]
        if not self.questionnaire.yes_no:
            levels = [int(x) if float(x).is_integer() else x for x in scale.levels]
        if serial in self.questionnaire.may_lack:
            levels = [*levels, NOT_RATABLE]
        if all(isinstance(level, str) for level in levels):
            return {"type": "string", "enum": levels}
        # A range, since some providers do not take an enum of numbers.
        if all(isinstance(level, int) for level in levels):
            return {"type": "integer", "minimum": levels[0], "maximum": levels[-1]}
        return {"enum": levels}


def _status_of(parsed: Parsed) -> Status:
    """*Not ratable* is an answer: a reply with no other gap is not asked again."""
    lacking = {serial for serial, why in parsed.reasons.items() if why != "not_ratable"}
    if lacking or parsed.status not in ("blank", "ok", "repaired"):
        return parsed.status
    rest = [status for serial, status in parsed.statuses.items() if serial not in parsed.reasons]
    return worst_status(rest)


def _levels(questionnaire: Questionnaire) -> str:
    scale = questionnaire.scale
    if scale.step == 1:
        return f"a whole number from {scale.low:g} to {scale.high:g}"
    return "one of " + json.dumps(list(scale.levels))


def make(
    rubric: Rubric | str = "",
    *,
    scale: str = "",
    variant: str = STANDARD,
    threshold: float | None = None,
    sampling: Sampling = Sampling(),
    study: Study | None = None,
) -> QuestionnaireJudge:
    """A questionnaire judge (`use = "questionnaire"`), as a judge or an annotator of items.

    Parameters
    ----------
    rubric : Rubric or str
        Where the study's rubric is the name of a questionnaire, that one; else unused.
    scale : str
        A built-in questionnaire (phq9, madrs, hamilton, bai), or a TOML file beside the study.
    variant : str
        ``"standard"`` (the instrument's own scoring, and any item may be *not ratable*), or another
        that the file declares; ``"hengle2024"`` keeps that paper's wording, in which only items
        that need an observer may be.
    threshold : float, optional
        Totals of as much or more count as the construct. Without one no label is derived, for
        none is a fact of nature: declare it.
    sampling : Sampling
        Sent with every request; what is None is left to the model.
    study : Study, optional
        Handed over by the runner; files are relative to its folder.

    Raises
    ------
    InputError
        No such questionnaire or variant, or a threshold that no total can reach.

    Examples
    --------
    >>> judge = make(scale="phq9", threshold=10)
    >>> reply = Reply('{"1":2,"2":3,"3":1,"4":3,"5":0,"6":1,"7":2,"8":0,"9":0}')
    >>> parsed = judge.parse([reply])
    >>> parsed.scores["PHQ-9.total"], parsed.scores["depression"], parsed.extra["scored"]["band"]
    (12.0, 1.0, 'moderate')
    """
    name = scale or (rubric if isinstance(rubric, str) else "")
    if not name:
        raise InputError("questionnaire judge: scale must name a questionnaire or a TOML file")
    questionnaire = load_questionnaire(name, variant, study.folder if study else ".")
    total = questionnaire.total
    if threshold is not None and not total.low < threshold <= total.high:
        raise InputError(
            f"questionnaire {questionnaire.name} ({variant}): threshold {threshold:g} decides "
            f"nothing, its total lies in {total.low:g} to {total.high:g}"
        )
    return QuestionnaireJudge(questionnaire, threshold, sampling)


def scales_of(given: Sequence[str]) -> dict[str, float | None]:
    """Questionnaires and their thresholds from ``NAME`` or ``NAME=THRESHOLD``.

    Raises
    ------
    InputError
        A threshold that is no number.

    Examples
    --------
    >>> scales_of(["phq9", "madrs=20"])
    {'phq9': None, 'madrs': 20.0}
    """
    thresholds: dict[str, float | None] = {}
    for entry in given:
        name, equals, threshold = entry.partition("=")
        try:
            thresholds[name] = float(threshold) if equals else None
        except ValueError:
            raise InputError(f"--scale {entry!r}: the threshold must be a number") from None
    return thresholds


def asked_by_scales(
    rater: Mapping[str, Any], scales: Mapping[str, float | None], variant: str = STANDARD
) -> list[dict[str, Any]]:
    """The entries of a panel in which one rater fills in each questionnaire.

    Parameters
    ----------
    rater : mapping
        ``name``, ``kind``, ``model`` and what else the entries share.
    scales : mapping
        Questionnaire -> threshold, or None for a total without a label.

    Raises
    ------
    InputError
        As `make`; a TOML file is only looked for when the study runs, beside it.

    Examples
    --------
    >>> [one["name"] for one in asked_by_scales({"name": "a"}, {"phq9": 10, "bai": None})]
    ['a PHQ-9', 'a BAI']
    """
    entries = []
    for scale, threshold in scales.items():
        options: dict[str, Any] = {"scale": scale, "variant": variant}
        options |= {} if threshold is None else {"threshold": threshold}
        title = scale if scale.endswith(".toml") else make(**options).questionnaire.name
        name = f"{rater['name']} {title}"
        entries.append({**rater, "use": "questionnaire", "name": name, "options": options})
    return entries
