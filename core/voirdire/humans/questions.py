"""Questions that a person answers, built from a study's `[humans]`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import InputError, StudyError, TableError, check_allowed, duplicate
from voirdire.parsing.options import read_options
from voirdire.schema import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voirdire.schema import Item
    from voirdire.study import Humans, Step, Study

#: The five levels of a comparison (Zhang et al. 2025, 5.2), worth 2, 1, 0, -1, -2 for A.
LEVELS = (
    "A is much better than B",
    "A is slightly better than B",
    "A and B are about the same",
    "B is slightly better than A",
    "B is much better than A",
)
OVERALL, OPTIONS, REASON = "Overall", "Options", "Reason"
#: The answer to "in which turn does it first fail" where it fails in none.
NEVER_FAILS = "never"
_WHICH_TURN = "In which turn does it first fail? Its number, or never."
_MOST_LEVELS = 1_000


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """One thing to answer.

    Attributes
    ----------
    kind : {"one", "many", "text"}
        One of the options, up to `at_most` of them, or words of one's own.
    asked : str
        What is asked, where the name does not say it all.
    hints : tuple of str
        What each option means; empty where nothing is said.
    none : str
        A further option of kind ``many`` that stands alone: no other one applies.
    parent, label : str
        The question is asked only where `label` is among the answers to `parent`.
    """

    name: str
    kind: Literal["one", "many", "text"]
    options: tuple[str, ...] = ()
    asked: str = ""
    hints: tuple[str, ...] = ()
    at_most: int = 1
    none: str = ""
    parent: str = ""
    label: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """Everything that may be chosen."""
        return (*self.options, self.none) if self.none else self.options


Form = tuple[FormQuestion, ...]


def form_of(study: Study, humans: Humans, item: Item, turns: int = 0) -> Form:
    """The questions about one item, whose conversation has so many turns (0: it is none).

    Raises
    ------
    StudyError
        What is asked is not declared, or two questions, options or labels share a name.
    TableError
        The item has no criteria or no options; the message names it.
    """
    form = _built(study, humans, item, turns)
    if humans.reason:
        form = (*form, FormQuestion(REASON, "text", asked=humans.reason))
    _check(form, humans.task)
    return form


def options_of(humans: Humans, item: Item) -> dict[str, str]:
    """Letter -> text of the options that an item brings; empty where the study declares them."""
    if not humans.options_from:
        return {}
    texts = list(read_options(item.extra.get(humans.options_from)).values())
    if not 2 <= len(texts) <= len(ascii_uppercase):
        raise TableError(
            f"item {item.id!r}, column {humans.options_from!r}: two to 26 options are needed "
            f"(a list, or one a line), got {item.extra.get(humans.options_from)!r}"
        )
    return dict(zip(ascii_uppercase, texts, strict=False))


def _built(study: Study, humans: Humans, item: Item, turns: int) -> Form:
    if humans.task == "pointwise":
        first = study.conversations.unit == "first"
        return _first_failures(study, humans, item, turns) if first else _pointwise(study, humans)
    if humans.task == "pairwise":
        return _pairwise(humans, item)
    if humans.task == "choice":
        return _choice(humans, item)
    if humans.task == "labels":
        return (_labels(humans),)
    return tuple(question for step in humans.steps for question in _step(step))


def _rated(study: Study, humans: Humans) -> dict[str, Any]:
    """The attributes that people rate, by name."""
    declared = {attribute.name: attribute for attribute in study.rubric.attributes}
    names = humans.attributes or tuple(declared)
    check_allowed("attribute", names, declared, "humans.attributes", StudyError)
    if not names:
        raise StudyError(
            "humans: a pointwise task needs rubric.attributes in the study, or rubric.use"
        )
    return {name: declared[name] for name in names}


def _first_failures(study: Study, humans: Humans, item: Item, turns: int) -> Form:
    """In which turn of a conversation each attribute first fails."""
    if not turns:
        raise StudyError(
            f"conversations.unit is 'first', and item {item.id!r} has no turns: say by the key "
            "'messages' which column holds them"
        )
    places = (NEVER_FAILS, *map(str, range(1, turns + 1)))
    return tuple(
        FormQuestion(name, "one", places, f"{one.description} {_WHICH_TURN}".strip())
        for name, one in _rated(study, humans).items()
    )


def _pointwise(study: Study, humans: Humans) -> Form:
    declared = _rated(study, humans)
    scale = Scale(*study.rubric.scale, study.rubric.step)
    if scale.count > _MOST_LEVELS:
        many = "no levels (step 0)" if scale.continuous else f"{scale.count} levels"
        raise StudyError(f"rubric.scale has {many}; people choose among at most 1,000")
    levels = tuple(format(level, ".10g") for level in scale.levels)
    return tuple(
        FormQuestion(name, "one", levels, one.description, _hints(one, scale))
        for name, one in declared.items()
    )


def _hints(attribute: Any, scale: Scale) -> tuple[str, ...]:
    meaning = {float(level): text for level, text in attribute.levels.items()}
    return tuple(meaning.get(level, "") for level in scale.levels) if meaning else ()


def _labels(humans: Humans) -> FormQuestion:
    most = min(humans.at_most or len(humans.labels), len(humans.labels))
    return FormQuestion("Labels", "many", humans.labels, at_most=most, none=humans.none)


def _pairwise(humans: Humans, item: Item) -> Form:
    questions = [FormQuestion(c.name, "one", LEVELS, c.description) for c in humans.criteria]
    if humans.criteria_by:
        value = str(item.extra.get(humans.criteria_by) or "")
        if value not in humans.criteria_of:
            raise TableError(
                f"item {item.id!r}: {humans.criteria_by} {value!r} has no criteria "
                f"(humans.criteria_of: {list(humans.criteria_of)})"
            )
        texts = enumerate(humans.criteria_of[value], start=1)
        questions = [
            FormQuestion(f"Criteria {number}", "one", LEVELS, text) for number, text in texts
        ]
    if humans.overall:
        questions.append(
            FormQuestion(OVERALL, "one", LEVELS, "Which response is the better one in all?")
        )
    return tuple(questions)


def _step(step: Step) -> Iterator[FormQuestion]:
    if not step.labels:
        yield FormQuestion(step.name, "text", asked=step.description)
        return
    most = min(step.at_most or len(step.labels), len(step.labels))
    yield FormQuestion(
        step.name, "many", step.labels, step.description, at_most=most, none=step.none
    )
    for label, finer in step.under.items():
        most = min(step.under_at_most or len(finer), len(finer))
        yield FormQuestion(
            f"{step.name}: {label}", "many", finer, at_most=most, parent=step.name, label=label
        )


def _choice(humans: Humans, item: Item) -> Form:
    letters = options_of(humans, item)
    return (FormQuestion("Choice", "one", tuple(letters) or humans.options),)


def _check(form: Form, task: str) -> None:
    _unique([question.name for question in form], "questions")
    for question in form:
        _unique(list(question.choices), f"options of {question.name!r}")
    if task in ("labels", "nested"):
        _unique([label for question in form for label in question.options], "labels")


def _unique(names: list[str], what: str) -> None:
    plain = [fold(name) for name in names]
    for name, folded in zip(names, plain, strict=True):
        if not folded or plain.count(folded) > 1:
            raise StudyError(f"humans: {what} need different names, got {name!r} in {names}")


#: An option, several of them, or words.
Answer = str | tuple[str, ...]
#: Question -> answer; a question without one is missing.
Answered = dict[str, Answer]

MOST_WORDS = 20_000
_COMMA = re.compile(r"^(\s*-?\d+),(\d{1,2}\s*)$")
#: Spreadsheet programs put another one where a straight one is typed.
_APOSTROPHE = re.compile("[\u2018\u2019\u02bc\u00b4`]")
#: Characters of a wrong answer that a message repeats.
_SHOWN = 60


def find_option(question: FormQuestion, cell: str) -> str:
    """The option meant by a cell, whatever its case, white space, apostrophe or final stop.

    A number may stand with a decimal comma, as programs of other languages write it.

    Raises
    ------
    InputError
        It is none of them; the message lists what is allowed.

    Examples
    --------
    >>> from voirdire.humans.questions import FormQuestion
    >>> find_option(FormQuestion("Calm", "one", ("1", "2", "3")), " 2.0 ")
    '2'
    """
    folded = {fold(cell), fold(_COMMA.sub(r"\1.\2", cell))}
    for option in question.choices:
        if fold(option) in folded:
            return option
    allowed = ", ".join(question.choices)
    shown = cell if len(cell) <= _SHOWN else cell[: _SHOWN - 1] + "…"
    raise InputError(f"{shown!r} is off the scale (allowed: {allowed})")


def check_answer(question: FormQuestion, value: Any) -> Answer | None:
    """An answer as a page or sheet gives it; None where there is none.

    Raises
    ------
    InputError
        Not of the question's kind, an option that was not offered, one named twice, more than are
        allowed, or a label beside the one that says that there is none.
    """
    if question.kind == "many":
        return _many(question, value) or None
    if value in (None, ""):
        return None
    if not isinstance(value, str):
        raise InputError(f"{value!r} is no text")
    if question.kind == "one":
        return find_option(question, value)
    if len(value) > MOST_WORDS:
        raise InputError(f"the text has {len(value):,} characters (allowed: {MOST_WORDS:,})")
    # A browser may send half of a letter, which no file of ours could hold.
    whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.strip() or None


def applies(question: FormQuestion, answered: Mapping[str, Answer]) -> bool:
    """Whether a question is asked, given the answers to others."""
    return not question.parent or question.label in answered.get(question.parent, ())


def open_questions(form: Form, answered: Mapping[str, Answer]) -> list[str]:
    """The questions that are asked and have no answer."""
    return [q.name for q in form if applies(q, answered) and q.name not in answered]


def unasked(form: Form, answered: Mapping[str, Answer]) -> list[FormQuestion]:
    """The questions that have an answer although nobody asked them."""
    return [q for q in form if q.name in answered and not applies(q, answered)]


def asked_alone(form: Form, answered: Mapping[str, Answer]) -> Answered:
    """The answers without those to questions that are no longer asked."""
    gone = {question.name for question in unasked(form, answered)}
    return {name: answer for name, answer in answered.items() if name not in gone}


def _many(question: FormQuestion, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{value!r} is no list of labels")
    options = [find_option(question, one) for one in value if one]
    _check_many(question, options)
    return tuple(option for option in question.choices if option in options)


def _check_many(question: FormQuestion, options: Sequence[str]) -> None:
    twice = next((one for one in options if options.count(one) > 1), None)
    if twice is not None:
        raise duplicate("label", twice)
    if question.none in options and len(options) > 1:
        raise InputError(f"{question.none!r} cannot be combined with other labels: {list(options)}")
    if len(options) > question.at_most:
        raise InputError(f"{len(options)} labels where at most {question.at_most} are allowed")


def fold(text: str) -> str:
    """What two writings of one option have in common."""
    plain = " ".join(unicodedata.normalize("NFC", text).split()).casefold().rstrip(".")
    plain = _APOSTROPHE.sub("'", plain)
    # A spreadsheet makes 3.0 of a typed 3.
    try:
        return format(float(plain), ".10g")
    except ValueError:
        return plain
