"""Which of several statements counts, by one rule for every parser.

Drafts and what was taken back never count, the last final statement settles what stands before it,
and a statement that falls to a cut leaves the reply missing.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from voirdire.parsing._doubts import withdraws
from voirdire.parsing._rivals import rivals
from voirdire.parsing._stated import READ, Statement
from voirdire.parsing._statements import last_words, names_another, set_apart, statements, verdicts
from voirdire.parsing._words import LOOKS_AGAIN, TAKES_BACK, TURNS, rank_of, turns_at_once

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence

    from voirdire.parsing._keys import RawValue
    from voirdire.parsing._names import SpelledNames
    from voirdire.parsing._rivals import Bare
    from voirdire.parsing._source import ReplySource

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Characters around a value in which second thoughts about it are looked for.
_AROUND, _SECTION, _INTO = 300, 2_000, 30


class Settled(NamedTuple, Generic[T_co]):
    """The value that counts, or the reason why none does; `conflict`: another one disagreed."""

    value: T_co | None
    reason: str = ""
    conflict: bool = False


#: Key -> the statements of a text on it, and on what they settle.
InText = dict[str, tuple[list[Statement], Settled[T] | None]]


def settled(
    stated: Sequence[Statement],
    text: str,
    read: Callable[[str], T | None],
    *,
    cut: bool,
    bare: Bare | None = None,
    of_others: Callable[[str], bool] | None = None,
) -> Settled[T] | None:
    """Which of the statements on one question counts; None where none states a value.

    Parameters
    ----------
    stated
        Statements in any order.
    text
        The text in which they stand.
    read
        The value of a statement's text; None where it holds none.
    cut
        Whether a limit ended the text: a last statement that reaches its end, or that was about to
        be replaced, then leaves the question missing.
    bare
        How a value stands without a head: one behind the last statement that differs replaces it
        where words lead to it, and else leaves the question ambiguous.
    of_others
        Where several questions are asked: whether a text names another one and not this. Second
        thoughts of it are not about these statements.
    """
    order = sorted(stated, key=lambda each: (each.at, each.end))
    values = [(each, value) for each in order if (value := _value(each, read)) is not None]
    if cut and order and _falls_to_the_cut(order, values, text, read):
        return Settled(None, "cut")
    others = _rivals(values, text, read, bare) if bare is not None else []
    if of_others is not None:
        others = [each for each in others if not of_others(_line_at(text, each[0].at))]
    if cut and others:
        return Settled(None, "cut")
    values += others
    if not values:
        return None
    # Second thoughts are about the value before them: they are looked for up to the next one.
    starts = [*sorted({each.at for each, _ in values}), len(text)]
    live = [
        (each, value)
        for each, value in values
        if each.rank != "draft"
        and not _is_withdrawn(
            text,
            each,
            starts[at := bisect_right(starts, each.at)],
            at + 1 == len(starts),
            of_others,
        )
    ]
    # What is taken back last does not bring back an older one.
    fallen = values[-1][0].rank != "draft" and values[-1] not in live
    if fallen or all(each.rank == "rival" for each, _ in live):
        return Settled(None, "ambiguous")
    return _of_live(live)


def _value(stated: Statement, read: Callable[[str], T | None]) -> T | None:
    """What a statement states, read already or out of its text."""
    value: T | None = stated.value
    return read(stated.text) if value is None else value


def _rivals(
    values: Sequence[tuple[Statement, T]], text: str, read: Callable[[str], T | None], bare: Bare
) -> list[tuple[Statement, T]]:
    """Claims behind the last statement that state another value, as statements.

    Without any statement only those to which words lead.
    """
    start, end, value = 0, len(text), None
    if values:
        last, value = values[-1]
        start = max(last.value_at, 0)
        if not last.closed:  # behind the value itself, which stands in its field
            start = bare.behind(value, text, start, last.end, read)
        if last.begins is not None:
            end = last.begins + len(last.section)
    closed = not values or values[-1][0].closed
    found = list[tuple[Statement, T]]()
    for each in rivals(text, start, end, bare, apart=closed, led=not values):
        if values and bare.one(text[max(values[-1][0].value_at, 0) : each.end]):
            continue
        other = read(each.text)
        if other is not None and not (value is not None and bare.agree(other, value)):
            found.append((each, other))
    return found


def in_text(
    text: str,
    keys: Sequence[str],
    read: Callable[[str], T | None],
    *,
    cut: bool,
    bare: Bare | None = None,
    heads: SpelledNames | None = None,
) -> InText[T]:
    """Key -> the statements of a text on it, and on what they settle.

    With `heads` a single question is answered behind these words of verdict and in boxes as well:
    beside a value of its key only where they are final or set apart.
    """
    stated, alone = statements(text, keys, read), len(keys) == 1
    by_key = {key: [each for each in stated if each.key == key] for key in keys}
    if alone and heads is not None:
        told = any(read(each.text) is not None for each in stated)
        general = (*verdicts(text, heads), *set_apart(text))
        by_key[keys[0]] += [each for each in general if not told or each.rank in ("apart", "final")]
    return {
        key: (
            here,
            None
            if not here and heads is None  # nothing is said of it
            else settled(
                *(here, text, read),
                cut=cut,
                bare=bare,
                of_others=None if alone else names_another(keys, key),
            ),
        )
        for key, here in by_key.items()
    }


def with_text_behind(
    values: Mapping[str, T | None],
    source: ReplySource,
    read: Callable[[str], T | None],
    behind: str | None = None,
    *,
    raw: Mapping[str, Sequence[RawValue]] | None = None,
    bare: Bare | None = None,
) -> dict[str, Settled[T]]:
    """What objects say of each key (None: nothing), as far as the text behind them lets it stand.

    `behind` is that text, where a parser reads it with other signs than it came with; `raw` are
    the values as they came.
    """
    behind = source.reading.behind if behind is None else behind
    settles = _as_far_as(values, source, read, behind, bare)
    for key, told in (raw or {}).items():
        if any(each.conflict for each in told):
            settles[key] = settles[key]._replace(conflict=True)
    return settles


def _as_far_as(
    values: Mapping[str, T | None],
    source: ReplySource,
    read: Callable[[str], T | None],
    text: str,
    bare: Bare | None,
) -> dict[str, Settled[T]]:
    # What is absent from the objects stays so, unless a final statement behind them names it.
    settles = {
        key: Settled(value, "absent" if value is None else "") for key, value in values.items()
    }
    if not text.strip():  # nearly always, and looking for statements is slow
        return settles
    stated = statements(text, tuple(values))
    # A single question may be settled without its name: "On reflection, 4".
    unnamed = last_words(text) if len(values) == 1 else []
    for key, value in values.items():
        on_key = [*(each for each in stated if each.key == key), *unnamed]
        alone = bare if len(values) == 1 else None
        of_others = None if len(values) == 1 else names_another(tuple(values), key)
        settles[key] = (
            with_last_words(value, source, on_key, read, alone, of_others) or settles[key]
        )
    return settles


def with_last_words(
    value: T | None,
    source: ReplySource,
    stated: Sequence[Statement],
    read: Callable[[str], T | None],
    bare: Bare | None = None,
    of_others: Callable[[str], bool] | None = None,
) -> Settled[T] | None:
    """What an object says of a question once the text behind it has been heard.

    A final statement behind the object settles it, second thoughts withdraw it, and a plain
    statement that disagrees leaves it undecided. `stated` are the statements behind the object;
    where the object says nothing (`value` None) only final ones count.
    """
    reading = source.reading
    if not source.keep_cut and "{" in reading.behind:
        return Settled(None, "cut")  # another object had begun
    if value is None:
        return settled(
            [e for e in stated if e.final], reading.behind, read, cut=not source.keep_cut
        )
    around = reading.before[-_AROUND:]
    rank = rank_of(f"{around}{READ}{reading.behind[:_AROUND]}", len(around), len(around) + 1)
    rank = "apart" if rank == "said" else rank
    whole = Statement("", READ, -1, 0, rank, closed=True, value=value)
    if rank == "draft" and not stated:
        return Settled(value)  # nothing replaced it
    return settled(
        [whole, *stated],
        reading.behind,
        read,
        cut=not source.keep_cut,
        bare=bare,
        of_others=of_others,
    )


def _of_live(live: list[tuple[Statement, T]]) -> Settled[T]:
    # The highest rank that is there decides, and within it the last word.
    top = next(rank for rank in ("final", "apart", "said") if any(e.rank == rank for e, _ in live))
    ranked = [pair for pair in live if pair[0].rank == top]
    chosen, value = ranked[-1]
    differ = [each for each, other in live if other != value]
    later = [each for each in differ if each.at > chosen.at]
    # A final statement settles what stands before it. A box that comes behind it with another
    # value does not agree, and plain statements that differ settle nothing.
    undecided = (top == "said" and differ) or (
        later and (top == "apart" or any(each.rank in ("apart", "rival") for each in later))
    )
    if undecided:
        return Settled(None, "ambiguous", conflict=True)
    return Settled(value, conflict=bool(differ))


def _is_withdrawn(
    text: str, each: Statement, end: int, last: bool, of_others: Callable[[str], bool] | None
) -> bool:
    """Whether second thoughts stand between a statement's value and the next one.

    Another look may confirm: it withdraws only where another statement follows it.
    """
    start = each.value_at
    # They may reach into the next one: "No, the answer is Y".
    upto = min(end + _INTO, start + _SECTION) if _may_be_taken_back(text) else start
    for match in TAKES_BACK.finditer(text, start, upto):
        if match.start() >= end:
            break
        if of_others is None or not of_others(_spoken_of(text, match)):
            return True
    # Where a value follows, it says by itself whether words lead to it. Not in the head: a
    # correction takes back what stands before it.
    behind = each.end if each.begins is None else each.begins
    upto = min(end, behind + _SECTION)
    rest = _without(of_others, text[behind:upto]) if last else ""
    # Nearly always nothing stands behind the value, which is a part of the rest in a field.
    # Some scripts put no blanks between words.
    more = not rest.isascii() or len(rest.split(None, 1)) > (each.begins is not None)
    if more and withdraws(rest):
        return True
    return not last and LOOKS_AGAIN.search(text, start, min(end, start + _SECTION)) is not None


def is_taken_back_behind(text: str, at: int) -> bool:
    """Whether anything behind a place takes a statement back."""
    return _may_be_taken_back(text) or withdraws(text[at : at + _SECTION])


# A text is asked once for each of its statements, and nearly always has no second thoughts.
@lru_cache(maxsize=8)
def _may_be_taken_back(text: str) -> bool:
    return TAKES_BACK.search(text) is not None


def _without(of_others: Callable[[str], bool] | None, text: str) -> str:
    """A text without the lines that speak of another question."""
    if of_others is None:
        return text
    return "\n".join(line for line in text.split("\n") if not of_others(line))


def _spoken_of(text: str, match: re.Match[str]) -> str:
    """What second thoughts speak of: their line, up to its first blank one."""
    return text[match.end() : match.end() + _AROUND].lstrip().partition("\n")[0]


def _line_at(text: str, at: int) -> str:
    """The line in which a place stands, as far as it is near."""
    before, behind = text[max(0, at - _AROUND) : at], text[at : at + _AROUND]
    return before.rpartition("\n")[2] + behind.partition("\n")[0]


def _falls_to_the_cut(
    order: Sequence[Statement],
    values: Sequence[tuple[Statement, T]],
    text: str,
    read: Callable[[str], T | None],
) -> bool:
    """Whether the last statement reaches the end of a cut text, or the text turns behind it."""
    last = order[-1]
    if last.end >= len(text.rstrip()) and not last.closed:
        value = _value(last, read)
        # Without its last word it says something else: that word may be half of one.
        torn = not text[-1:].isspace() and read(last.text.rpartition(" ")[0]) != value
        if torn or (value is None and (values or not last.text)):
            return True
    if not values:
        return False
    last = values[-1][0]
    # "4. However, ..." and the cut: the weighing was not over.
    if turns_at_once(text, last.end):
        return True
    if LOOKS_AGAIN.search(text, max(0, last.value_at)):
        return True
    return TURNS.search(text, last.end if last.final else max(0, last.value_at)) is not None
