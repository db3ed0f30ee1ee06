"""Questions that a file leaves open, asked all at once: each with the answers before it taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from voirdire.errors import InputError, QuestionError, cells, names_of
from voirdire.tables._same import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.study import ReadOptions

Result = TypeVar("Result")
#: Whoever is asked more than this is better served by a study.
_MOST = 12


def all_at_once(
    attempt: Callable[[tuple[str, ...], ReadOptions], Result],
    reference: Sequence[str],
    read: ReadOptions,
) -> Result:
    """What an attempt gives; where it asks, the questions that come after the first are asked too.

    Raises
    ------
    QuestionError
        The first question with all further ones.
    """
    named = tuple(reference)
    try:
        return attempt(named, read)
    except QuestionError as first:
        questions = [first]
        while len(questions) < _MOST:
            try:
                named, read = with_answer(named, read, questions[-1].key, questions[-1].choices[0])
                attempt(named, read)
                break
            except QuestionError as further:
                if any((q.key, q.question) == (further.key, further.question) for q in questions):
                    break
                if first.key == "reference" and further.has_blanks:
                    break  # with that named the file may be of another kind
                questions.append(further)
            except InputError:
                break  # what is wrong besides is said once the first questions are answered
        raise first.with_more(questions[1:]) from None


def with_answers(
    question: QuestionError, reference: Sequence[str], read: ReadOptions
) -> tuple[tuple[str, ...], ReadOptions]:
    """The reference and the options with the first choice of a question and of those after it."""
    named = tuple(reference)
    for one in (question, *question.more):
        named, read = with_answer(named, read, one.key, one.choices[0])
    return named, read


def with_answer(
    reference: Sequence[str], read: ReadOptions, key: str, value: str
) -> tuple[tuple[str, ...], ReadOptions]:
    """The reference and the options with the answer to one question.

    Raises
    ------
    InputError
        The answer is not written as its option is.

    Examples
    --------
    >>> from voirdire.study import ReadOptions
    >>> with_answer((), ReadOptions(), "rescale", "llm=0..1")[1].rescale
    {'llm': (0.0, 1.0)}
    """
    key, value = QuestionError.settled_by(key, value)
    if key == "reference":
        return tuple(names_of([value])), read
    if key == "judge":
        return tuple(reference), read.with_(judge=tuple(names_of([value])))
    changed: dict[str, Any] = {key: value}
    if key == "words":
        changed = {key: numbers_of(value)}
    elif key == "rescale":
        changed = {key: {**read.rescale, **ends_of([value])}}
    elif key == "same":
        changed = {key: {**read.same, **names_kept([value])}}
    elif key in ("labels", "only"):
        changed = {key: tuple(names_of([value]))}
    elif key == "ignore":
        changed = {key: (*read.ignore, value)}
    return tuple(reference), read.with_(**changed)


def ends_of(given: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Ends of raters' own scales, as ``--rescale llm=0..1`` writes them, the worst first.

    Raises
    ------
    InputError
        It is written otherwise.
    """
    ends: dict[str, tuple[float, float]] = {}
    for pair in (cell for text in given for cell in cells(text)):
        name, _, span = (part.strip() for part in pair.rpartition("="))
        worst, mark, best = span.partition("..")
        try:
            ends[name] = float(worst), float(best)
        except ValueError:
            ends[name] = (0.0, 0.0)
        if not name or not mark or ends[name][0] == ends[name][1]:
            raise InputError(
                f"--rescale {pair.strip()!r}: write RATER=WORST..BEST, such as llm=0..1, or "
                f"llm=5..1 where 1 is best"
            )
    return ends


def names_kept(given: Sequence[str]) -> dict[str, str]:
    """The name that is kept of attributes under two, as ``--same`` writes them.

    >>> names_kept(["Clarté=Klarheit, Ton=Tonfall"])
    {'Clarté': 'Klarheit', 'Ton': 'Tonfall'}

    Raises
    ------
    InputError
        It is written otherwise.
    """
    kept: dict[str, str] = {}
    for pair in (cell for text in given for cell in cells(text)):
        name, mark, other = (part.strip() for part in pair.partition("="))
        if name == NONE and not mark:
            kept[NONE] = NONE
            continue
        if not (name and other):
            raise InputError(
                f"--same {pair.strip()!r}: write NAME=KEPT, such as 'Clarté=Klarheit', or none"
            )
        kept[name] = other
    return kept


def numbers_of(text: str) -> dict[str, Any]:
    """The number of each word, as ``--words`` writes them.

    Raises
    ------
    InputError
        It is written otherwise.
    """
    numbers: dict[str, Any] = {}
    for pair in cells(text):
        # From the right: a word may hold an equals sign, a number cannot.
        word, _, number = (part.strip() for part in pair.rpartition("="))
        try:
            numbers[word] = "missing" if number == "missing" else float(number)
        except ValueError:
            raise InputError(
                f"--words {pair.strip()!r}: write WORD=NUMBER or WORD=missing, by commas"
            ) from None
    return numbers
