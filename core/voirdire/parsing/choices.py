"""Multiple-choice replies: a letter is an answer only where it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.parsing._choicecues import (
    Cue,
    OptionPatterns,
    leading_letters,
    patterns,
    strong_cues,
    weak_cues,
)
from voirdire.parsing._keys import RawValue, find_keys, plain_key, possible_forms, scalars
from voirdire.parsing._languages import chosen
from voirdire.parsing._parsed import missing
from voirdire.parsing._settling import Settled, settled, with_last_words
from voirdire.parsing._source import (
    VERDICT_KEYS,
    ReplySource,
    answering,
    nothing_there,
    read_source,
    why_no_answer,
)
from voirdire.parsing._spelling import FULL_WIDTH, spelled
from voirdire.parsing._stated import READ, Statement
from voirdire.parsing._statements import set_apart, statements
from voirdire.parsing._ticks import without_boxes
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import FINAL_MARKS, VERDICTS
from voirdire.parsing.yesno import said_yes
from voirdire.schema import Flag, Parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.schema import FinishReason

#: Keys of an object that may hold the letter, the surest first.
_KEYS = (
    *(key for key in VERDICT_KEYS if key.startswith(FINAL_MARKS)),
    *(*rule("option_keys"), *VERDICT_KEYS),
)
_COLONS = frozenset(":：")
# Marks of lists and fences at the start of a line: "- B", "=> B".
_LIST_MARK = re.compile(r"^[ \t]*(?:(?:[-*•>#→✅✓]{1,6}|=>)[ \t]+|```\w*$)", re.MULTILINE)
# "2. B": the number of a line is not the answer.
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+", re.MULTILINE)
# "The answer is a plan": an option by its text.
_CHOOSES = re.compile(
    r"\b(?:(?:answer|choice)\s+is|i\s+(?:would\s+)?(?:choose|pick|select))\s+(?P<rest>[^\n]{1,300})",
    re.IGNORECASE,
)
# Where the text of an option ends: at a stop, or where its reason begins.
_UP_TO = re.compile(r"[.,;!]|\b(?:because|since)\b", re.IGNORECASE)
# An opening tag only where text follows at once, so that "a <b" stays a comparison.
_BOLD_TAG = re.compile(r"<(?:b|i|u|p|em|strong)>(?=[^\s<])|</(?:b|i|u|p|em|strong)>", re.IGNORECASE)
_MAX_LENGTH = 50_000

#: The letters that a place chooses, or the reason why it chooses none.
Chosen = tuple[str, ...] | str


@dataclass(frozen=True, slots=True)
class _QuestionOptions:
    """The options of one question."""

    letters: tuple[str, ...]
    texts: Mapping[str, str]
    by: OptionPatterns
    several: bool


def parse_choice(
    text: str | None,
    options: Mapping[str, str] | Sequence[str],
    *,
    several: bool = False,
    at_most: int | None = None,
    finish_reason: FinishReason = "stop",
) -> Parsed:
    """Read which options a reply chooses. Never raises on any text.

    A letter counts where the reply consists of it, where a line begins with it (``d) worry``) or
    behind a cue such as *answer*, *my choice is* or a LaTeX box. A final answer settles what
    stands before it; plain ones that disagree leave the reply ambiguous. The letters of ordinary
    words, of options that are argued against and of echoed lists do not count. A reply that is
    exactly the text of an option chooses it.

    Parameters
    ----------
    options
        Letters, or letter -> text of the option.
    several
        Whether several choices may be right; otherwise two letters are ambiguous.
    at_most
        More choices than this are flagged ``too_many``; none is dropped.

    Returns
    -------
    Parsed
        ``scores`` 1 or 0 an option, None for all where nothing was chosen; ``ranks`` in the order
        named; ``extra["choice"]`` the letter (None unless it is one), ``extra["choices"]`` all.

    Examples
    --------
    >>> parse_choice("I believe option (D) fits; I am sure.", "ABCD").extra["choice"]
    'D'
    >>> parse_choice("Answer: None of these", "ABCD").status
    'unparsable'
    """
    if not options:
        raise InputError("a choice needs at least one option, got none")
    letters = tuple(letter.upper() for letter in options)
    texts = dict(options) if isinstance(options, Mapping) else {}
    if text is None or nothing_there(text, finish_reason):
        return _missing(letters, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    # The end of a long text: the answer stands there.
    source = source._replace(text=_bare(without_boxes(source.text[-_MAX_LENGTH:]), letters))
    settles = _chosen(source, _QuestionOptions(letters, texts, patterns(letters), several))
    flags = (*source.flags, Flag("conflicting")) if settles.conflict else source.flags
    chosen = settles.reason if settles.value is None else settles.value
    if isinstance(chosen, str):
        return _missing(letters, chosen, flags)
    return _scored(letters, chosen, source, flags, at_most)


def _bare(text: str, letters: tuple[str, ...]) -> str:
    """The text without bold tags, fences and the marks and numbers of lists."""
    text = _LIST_MARK.sub("", _BOLD_TAG.sub("", text.translate(FULL_WIDTH)))
    return text if any(letter.isdigit() for letter in letters) else _NUMBERED.sub("", text)


def _chosen(source: ReplySource, asked: _QuestionOptions) -> Settled[Chosen]:
    """The letters chosen, or the reason why there are none."""
    listed = any(_is_list_of_text(tree) for tree in source.reading.values)
    # An object answers for itself: letters in the text beside it explain it.
    if source.has_object or (listed and not set_apart(source.text)):  # [[A]] is no list
        return _from_object(source, asked)
    if (letter := _by_text(source.text, asked.texts)) is not None:
        return Settled((letter,))
    if run := _run_of_letters(source.text, asked):
        return Settled(run if asked.several else "ambiguous")
    return _from_text(source, asked)


def _from_text(source: ReplySource, asked: _QuestionOptions) -> Settled[Chosen]:
    # For where no letter stands behind a cue: the words there may be the option's text.
    lines = _with_colons(source.text)
    cues = strong_cues(source.text, asked.by)
    if settles := _decided(cues, source.text, asked, cut=not source.keep_cut):
        end = max(cue.end for cue in cues) if cues else len(source.text)
        # "GRADE: Z" behind the last answer: the reply ends with what is no option.
        other = any(each.at >= end and len(plain_key(each.text)) == 1 for each in lines)
        return Settled("no_choice") if other else settles
    if lines:
        return Settled(_from_line(lines[-1].text, asked))
    if letter := _named_in(source.text, asked.texts):
        return Settled((letter,))
    return Settled(_without_cue(source, asked))


def _with_colons(text: str) -> list[Statement]:
    """The statements to which a head and a colon lead: *Answer: a plan*."""
    stated = [] if _COLONS.isdisjoint(text) else statements(text, VERDICTS)
    places = [(each, text[each.at : each.begins]) for each in stated if each.begins is not None]
    return [each for each, head in places if not _COLONS.isdisjoint(head)]


def _from_line(rest: str, asked: _QuestionOptions) -> Chosen:
    """What stands behind *Answer:* where it begins with no letter: a run of them, or a text."""
    if asked.several and (run := _run_of_letters(rest, asked)):
        return run
    up_to = _UP_TO.split(rest, maxsplit=1)[0]
    letter = _by_text(rest, asked.texts) or _by_text(up_to, asked.texts)
    return (letter,) if letter else "no_choice"


def _named_in(text: str, texts: Mapping[str, str]) -> str | None:
    """The option whose text a sentence chooses: *The answer is a plan.*"""
    matches = list(_CHOOSES.finditer(text))
    return _by_text(_UP_TO.split(matches[-1]["rest"], maxsplit=1)[0], texts) if matches else None


def _decided(
    cues: list[Cue], text: str, asked: _QuestionOptions, *, cut: bool
) -> Settled[Chosen] | None:
    """What cues and boxes settle on: letters, or the reason why they are none."""
    standing = [cue for cue in cues if not cue.retracted]
    # Where all are retracted they are what was said: the reply is ambiguous, and not silent.
    stated = _claims(standing or cues, text, asked)
    return settled(stated, text, _letter(asked), cut=cut, bare=asked.by.bare)


def _letter(asked: _QuestionOptions) -> Callable[[str], Chosen | None]:
    """A letter that stands without a cue."""

    def read(text: str) -> Chosen | None:
        letter = text.strip("([*\"')]")
        return (letter,) if letter in asked.letters else None

    return read


def _claims(cues: list[Cue], text: str, asked: _QuestionOptions) -> list[Statement]:
    """Cues and boxes as statements, with what they choose."""
    claims = [_claim(cue, asked) for cue in cues]
    for box in set_apart(text):
        # A box without a letter is kept without a value: at a cut it may be the beginning of one.
        inside = strong_cues(box.text, asked.by) if asked.by.alone.fullmatch(box.text) else []
        value = _of_cue(inside[-1], asked) if inside else None
        claims.append(box._replace(text=READ, value=value))
    return claims


def _claim(cue: Cue, asked: _QuestionOptions) -> Statement:
    value = _of_cue(cue, asked)
    return Statement("", READ, cue.at, cue.end, cue.rank, closed=cue.alone, value=value)


def _of_cue(cue: Cue, asked: _QuestionOptions) -> Chosen:
    if not cue.letters:
        return "no_choice"
    if cue.retracted or (len(cue.letters) > 1 and (cue.alternatives or not asked.several)):
        return "ambiguous"
    return cue.letters


def _run_of_letters(text: str, asked: _QuestionOptions) -> tuple[str, ...]:
    """A reply that is nothing but letters: ``A C D``, one a line, or ``ACD`` in their order."""
    bare = text.strip(" \n\t.*`\"'")
    if len(bare) > 1 and bare.isupper() and set(bare) <= set(asked.letters):
        ordered = sorted(set(bare), key=asked.letters.index)
        return tuple(bare) if ordered == list(bare) else ()
    if not asked.by.many.fullmatch(text[:500]) or len(text) > 500:
        return ()
    run = dict.fromkeys(each.group().upper() for each in asked.by.letter.finditer(text))
    return tuple(run) if len(run) > 1 else ()


def _without_cue(source: ReplySource, asked: _QuestionOptions) -> Chosen:
    leading = tuple(dict.fromkeys(leading_letters(source.text, asked.by)))
    # All letters in turn are the options told again.
    if len(leading) == 1 or (asked.several and 1 < len(leading) < len(asked.letters)):
        return leading
    spoken = weak_cues(source.text, asked.by)
    weak = {letter for cue in spoken if not cue.retracted for letter in cue.letters}
    faulted = {letter for cue in spoken if cue.retracted for letter in cue.letters}
    if len(weak) == 1 and (not faulted or weak | faulted == set(asked.letters)):
        return tuple(weak)
    if not (weak or leading) and source.keep_cut:
        letter = chosen(source.text, asked.letters)
        return (letter,) if letter else why_no_answer(source)
    return "ambiguous" if weak or leading else why_no_answer(source)


def _from_object(source: ReplySource, asked: _QuestionOptions) -> Settled[Chosen]:
    """What the object says, as far as the text behind it lets it stand."""
    chosen, conflict = _of_objects(source, asked)
    behind = source.reading.behind
    if not behind.strip():
        return Settled(chosen, conflict=conflict)
    stated = _claims(strong_cues(behind, asked.by), behind, asked)
    answer = None if chosen == "no_answer" else chosen
    final = [each for each in stated if each.final]
    settles: Settled[Chosen] | None = with_last_words(
        answer, source, final, _letter(asked), asked.by.bare
    )
    settles = settles or Settled(chosen)
    return settles._replace(conflict=settles.conflict or conflict)


def _of_objects(source: ReplySource, asked: _QuestionOptions) -> tuple[Chosen, bool]:
    """What the last object that answers chooses, and whether another one chooses otherwise."""
    trees = answering(source.reading.values)
    found = [_values(tree, asked.letters, keep_cut=source.keep_cut) for tree in trees]
    stated = [_of_object(values, asked) for values in found if values is not None]
    if not stated:
        return "cut" if source.cut else "no_answer", False
    chosen = {each for each in stated if not isinstance(each, str)}
    if not isinstance(stated[0], str) and len(chosen) > 1:
        return "ambiguous", True
    return stated[0], False


def _of_object(values: list[RawValue], asked: _QuestionOptions) -> Chosen:
    picks = (_from_value(value, asked) for value in values)
    picked = tuple(dict.fromkeys(letter for some in picks for letter in some))
    if not picked or not set(picked) <= set(asked.letters):
        return "no_choice"
    return picked if asked.several or len(picked) == 1 else "ambiguous"


def _values(tree: Any, letters: tuple[str, ...], *, keep_cut: bool) -> list[RawValue] | None:
    """The scalars under *answer*, *choice* and the like, or of a bare list; None where none is."""
    # The surest key first, in whatever order the object holds them.
    there = possible_forms(tree)
    for key in _KEYS:
        if key in there and (answers := find_keys(tree, {key: key}).get(key)):
            flat = [
                item for each in answers for item in (each if isinstance(each, list) else [each])
            ]
            return [each for item in flat for each in scalars([item], keep_cut=keep_cut)]
    if isinstance(tree, list):
        return scalars(tree, keep_cut=keep_cut)
    if tree and all(key.upper() in letters and said_yes(v) is not None for key, v in tree.items()):
        return [RawValue(key.upper()) for key, value in tree.items() if said_yes(value)]
    return None


def _from_value(answer: RawValue, asked: _QuestionOptions) -> tuple[str, ...]:
    value: Any = answer.value
    # Options may be numbered, and a reply give 2 as well as "2".
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:g}"
    if not isinstance(value, str):
        return ()
    if (letter := _by_text(value, asked.texts)) is not None:
        return (letter,)
    if asked.several and (run := _run_of_letters(value, asked)):
        return run
    boxed = _decided(strong_cues(value, asked.by), value, asked, cut=False)
    if boxed and isinstance(boxed.value, tuple):
        return boxed.value
    cues = [cue for cue in weak_cues(value, asked.by) if not cue.retracted]
    return cues[-1].letters if cues else tuple(leading_letters(value, asked.by)[:1])


def _by_text(text: str, texts: Mapping[str, str]) -> str | None:
    """The option whose text this is but for case and signs, with its letter before it or not."""
    form = spelled(text[:2_000])
    same = [
        letter.upper()
        for letter, option in texts.items()
        if form and form in (spelled(option), spelled(f"{letter} {option}"))
    ]
    return same[0] if len(same) == 1 else None


def _is_list_of_text(tree: Any) -> bool:
    return isinstance(tree, list) and any(isinstance(item, str) for item in tree)


def _scored(
    letters: tuple[str, ...],
    chosen: tuple[str, ...],
    source: ReplySource,
    flags: tuple[Flag, ...],
    at_most: int | None,
) -> Parsed:
    excess = at_most is not None and len(chosen) > at_most
    flags = (*flags, Flag("too_many", count=len(chosen))) if excess else flags
    return Parsed(
        scores={letter: float(letter in chosen) for letter in letters},
        status=source.status,
        statuses=dict.fromkeys(letters, source.status),
        flags=flags,
        ranks={letter: rank for rank, letter in enumerate(chosen, 1)},
        extra={"choice": chosen[0] if len(chosen) == 1 else None, "choices": chosen},
    )


def _missing(letters: tuple[str, ...], reason: str, flags: tuple[Flag, ...] = ()) -> Parsed:
    return missing(letters, reason, flags=flags, extra={"choice": None, "choices": ()})
