"""Multiple-choice questions from any file of them, and the study that asks them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError, TableError, duplicate
from voirdire.parsing.options import read_options
from voirdire.study import ITEMS_FILE, KEY_RATER, keyed_study, model_entries
from voirdire.tables.labelled import read_answers
from voirdire.tables.records import cell_text, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_SEVERAL = re.compile(r"select all|all that apply|check all|choose all", re.IGNORECASE)
#: What stands between two texts, and what between two letters.
_SEPARATORS = (
    re.compile(r"[;|\n]+"),
    re.compile(r"[\s,;|&]+(?:and[\s,;|&]+)?", re.IGNORECASE),
)


_NUMBERED = "; where answers count the options, say what number the first one has"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its options in order, and the letters that are right."""

    id: str
    text: str
    choices: tuple[str, ...]
    answer: tuple[str, ...]
    type: str = ""
    several: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """The question as an item, without its answer."""
        return {
            "id": self.id, "text": self.text, "choices": list(self.choices),
            "several": self.several, "type": self.type,
        }  # fmt: skip

    @property
    def shot(self) -> dict[str, Any]:
        """The question as a few-shot example: with the texts of its right options."""
        right = [self.choices[ascii_uppercase.index(letter)] for letter in self.answer]
        return {**self.fields, "answer": right}


@dataclass(frozen=True, slots=True)
class QuestionColumns:
    """Which columns of a file hold what.

    Attributes
    ----------
    choices : str or sequence of str
        One column that holds a list, label -> text, or ``{"label": [...], "text": [...]}``; or one
        column an option.
    answer : str
        Letters (``"C"``, ``"A, C"``, ``"AC"``), labels or texts of options, several of them by
        semicolons or as a list.
    type : str
        The knowledge type; empty where there is none.
    id : str
        Empty: questions are numbered from 1.
    first : int, optional
        Where answers count the options: the number of the first one, 0 or 1.
    """

    text: str = "question"
    choices: str | Sequence[str] = "choices"
    answer: str = "answer"
    type: str = ""
    id: str = ""
    first: int | None = None


def read_questions(
    path: str | Path, columns: QuestionColumns | None = None
) -> tuple[Question, ...]:
    """The questions of a JSON, JSONL or CSV file (or a workbook).

    A question has several right choices where its answer names several, or its text says so
    ("select all that apply").

    Raises
    ------
    TableError
        A column is absent; a question without text, with fewer than two options, or whose answer
        is none of them, or two at once; an id that is empty or occurs twice. The message names
        the row.
    """
    names = columns or QuestionColumns()
    options = [names.choices] if isinstance(names.choices, str) else list(names.choices)
    wanted = [names.text, names.answer, *options, *filter(None, (names.type, names.id))]
    questions: dict[str, Question] = {}
    for number, (place, row) in enumerate(read_rows(path, wanted), start=1):
        question = _question(row, names, options, number, f"{path}, {place}")
        if question.id in questions:
            raise duplicate("question", question.id, f"{path}, {place}", error=TableError)
        questions[question.id] = question
    return tuple(questions.values())


def held_out(
    path: str | Path,
    asked: Sequence[Question],
    k: int,
    columns: QuestionColumns | None = None,
) -> tuple[Question, ...]:
    """The first k questions of a file of examples, none of which is asked.

    Raises
    ------
    InputError
        A question of the file is asked too, by its text; or the file holds fewer than k.
    """
    pool = read_questions(path, columns)
    texts = {_fold(question.text) for question in asked}
    shared = [question.id for question in pool if _fold(question.text) in texts]
    if shared:
        raise InputError(
            f"--examples {path}: {len(shared)} of its {len(pool)} questions are asked in the study "
            f"(question {shared[0]!r} first): their answers would be shown"
        )
    if not 0 < k <= len(pool):
        raise InputError(f"--examples {path}: -k is {k}, and it holds {len(pool)} questions")
    return pool[:k]


def question_study(  # noqa: PLR0913 - one a part of the study
    path: str | Path,
    models: Sequence[str],
    *,
    name: str = "questions",
    title: str = "Multiple-choice questions",
    use: str = "choice",
    key: str = KEY_RATER,
    columns: Mapping[str, Any] | None = None,
    examples: str | Path | None = None,
    k: int = 5,
    people: str | Path | None = None,
    model_options: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    r"""A study in which models answer a file's questions and are held against its right answers.

    Parameters
    ----------
    path : path
        See `read_questions`.
    models : sequence of str
        Such as ``"openai:gpt-4o"``; each is an annotator of the panel.
    name, title : str
    use : str
        The annotator that asks. It takes the options ``letters`` (the most options that a question
        has), ``several`` (whether some question has several right ones) and ``examples``.
    key : str
        The rater under whose name the right answers stand.
    columns : mapping, optional
        Fields of `QuestionColumns`.
    examples : path, optional
        A file of held-out questions with the same columns, of which the first `k` are shown with
        their answers before each question; see `held_out`.
    people : path, optional
        People's answers, compared with the models'; see `read_answers`.
    model_options : mapping, optional
        Of every model.
    more : mapping, optional
        Further keys of the study, such as ``{"run": {"max_cost": 5}}``.

    Returns
    -------
    tuple of dict and dict
        What `voirdire.study.write_study` takes.

    Raises
    ------
    InputError
        The same model twice, or a held-out question that is asked.
    TableError
        What the files hold; see `read_questions`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     exam = Path(folder, "exam.csv")
    ...     _ = exam.write_text("question,A,B,answer\nWhich is a fruit?,oak,apple,B\n")
    ...     where = {"choices": ("A", "B")}
    ...     study, tables = question_study(exam, ["simulated:a"], columns=where)
    >>> study["rubric"]["attributes"], tables["key.csv"].rows()
    (['A', 'B'], [('1', 'Key', 'A', 0.0), ('1', 'Key', 'B', 1.0)])
    """
    where = QuestionColumns(**(columns or {}))
    asked = read_questions(path, where)
    shown = () if examples is None else held_out(examples, asked, k, where)
    most = max(len(question.choices) for question in (*asked, *shown))
    options: dict[str, Any] = {
        "letters": most,
        "several": any(question.several for question in asked),
    }
    options |= {"examples": [question.shot for question in shown]} if shown else {}
    study, tables = keyed_study(
        name,
        title,
        tuple(ascii_uppercase[:most]),
        ((question.id, question.answer) for question in asked),
        model_entries(models, use, options, temperature=0.0, model_options=model_options),
        key=key,
        people=None if people is None else read_answers(people),
        **{"items": {"path": ITEMS_FILE, "extra": ["choices", "several", "type"]}, **(more or {})},
    )
    items = pl.DataFrame([question.fields for question in asked])
    return study, {ITEMS_FILE: items, **tables}


def _question(
    row: Mapping[str, Any], names: QuestionColumns, options: list[str], number: int, where: str
) -> Question:
    text, ident = cell_text(row[names.text]), cell_text(row[names.id]) if names.id else str(number)
    choices = _choices(row, options, where)
    if not text or not 2 <= len(choices) <= len(ascii_uppercase):
        shown = list(choices.values()) or row[options[0]]
        raise TableError(f"{where}: a text and 2 to 26 options are needed, got {text!r}, {shown}")
    if not ident:
        raise TableError(f"{where}: column {names.id!r} (the id) is empty")
    answer = _answer(_decoded(row[names.answer]), choices, names.first, where)
    return Question(
        ident,
        text,
        tuple(choices.values()),
        answer,
        cell_text(row[names.type]) if names.type else "",
        len(answer) > 1 or _SEVERAL.search(text) is not None,
    )


def _choices(row: Mapping[str, Any], options: list[str], where: str) -> dict[str, str]:
    """Label -> text."""
    if len(options) == 1:
        return read_options(row[options[0]])
    texts = [cell_text(row[name]) for name in options]
    while texts and not texts[-1]:
        texts.pop()
    if "" in texts:
        raise TableError(f"{where}: option {options[texts.index('')]!r} is empty")
    return read_options(texts)


def _answer(
    given: Any, choices: Mapping[str, str], first: int | None, where: str
) -> tuple[str, ...]:
    """The right letters in order."""
    # The plainest reading that fits counts: an option may itself hold a comma or an *and*.
    for parts in _readings(given):
        meant = [_meant(part, choices, first) for part in parts]
        for part, letters in zip(parts, meant, strict=True):
            if len(letters) > 1:
                raise TableError(
                    f"{where}: answer {part!r} may be {' or '.join(letters)}, by the text of one "
                    "option and the letter or text of another"
                )
        if meant and all(meant):
            return tuple(sorted({letters[0] for letters in meant}))
    allowed = ", ".join(ascii_uppercase[: len(choices)])
    hint = _NUMBERED if first is None and cell_text(given).isdecimal() else ""
    raise TableError(f"{where}: answer {given!r} is none of the options ({allowed}){hint}")


def _readings(given: Any) -> Iterator[list[str]]:
    """What may be meant as one answer or several, the plainest reading first."""
    if isinstance(given, list):
        yield [cell_text(part) for part in given if cell_text(part)]
        return
    text = cell_text(given)
    yield [text]
    for separator in _SEPARATORS:
        yield [part.strip() for part in separator.split(text) if part.strip()]
    # `AC` is A and C; `CAB` is a word, as letters in no order are.
    if re.fullmatch("[A-Z]{2,26}", text) and list(text) == sorted(set(text)):
        yield list(text)


def _meant(part: str, choices: Mapping[str, str], first: int | None) -> list[str]:
    """The letters that a part may stand for: by text or label, else by letter."""
    letters = ascii_uppercase[: len(choices)]
    if first is not None:
        place = int(part) - first if part.isdecimal() else -1
        return [letters[place]] if 0 <= place < len(letters) else []
    # By text or label before letter: an option may be the text "B".
    folded, bare = _fold(part), part.strip("(). ").casefold()
    named = [
        letter
        for letter, (label, text) in zip(letters, choices.items(), strict=True)
        if folded == _fold(text) or bare == label.casefold()
    ]
    return named or [letter for letter in letters if bare == letter.casefold()]


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _decoded(value: Any) -> Any:
    """A nested value out of its JSON text; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
