"""Multiple-choice replies: a letter is an answer only where it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire._errors import InputError
from voirdire.parsing._choicecues import (
    Cue,
    Patterns,
    leading_letters,
    patterns,
    strong_cues,
    weak_cues,
)
from voirdire.parsing._keys import Found, find_keys, scalars
from voirdire.parsing._labelset import spelled
from voirdire.parsing._parsed import missing
from voirdire.parsing._source import (
    Source,
    nothing_there,
    read_source,
    why_no_answer,
)
from voirdire.schema import Parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import FinishReason, Status

_KEYS = ("answer", "answers", "choice", "choices", "option", "options", "letter", "letters")
_ANSWER_LINE = re.compile(
    r"\b(?:answer|choice)[*_]{0,2}\s*[:：]\s*(?P<rest>[^\n]{1,300})", re.IGNORECASE
)
_BOLD_TAG = re.compile(r"</?(?:b|i|u|p|em|strong)>", re.IGNORECASE)
_MAX_LENGTH = 50_000


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
    behind a cue such as *answer*, *my choice is* or a LaTeX box; the last cue wins. The letters of
    ordinary words, of options that are argued against and of echoed lists do not count. A reply
    that is exactly the text of an option chooses it.

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
    body = _BOLD_TAG.sub("", source.text[-_MAX_LENGTH:])
    source = replace(source, text=body)
    chosen = _chosen(source, letters, texts, several=several)
    if isinstance(chosen, str):
        return _missing(letters, chosen, source.flags)
    return _scored(letters, chosen, source, at_most)


def _chosen(
    source: Source, letters: tuple[str, ...], texts: Mapping[str, str], *, several: bool
) -> tuple[str, ...] | str:
    """The letters chosen, or the reason why there are none."""
    by = patterns(letters)
    if source.has_object or any(_is_list_of_text(tree) for tree in source.reading.values):
        return _from_object(source, letters, texts, by, several=several)
    if (letter := _by_text(source.text, texts)) is not None:
        return (letter,)
    if several and (run := _run_of_letters(source.text, letters, by)):
        return run
    if cues := strong_cues(source.text, by):
        return _settled(cues[-1], source, by, several=several)
    if said := list(_ANSWER_LINE.finditer(source.text)):
        letter = _by_text(said[-1]["rest"], texts)
        return (letter,) if letter else "no_choice"
    return _without_cue(source, by, letters, several=several)


def _settled(cue: Cue, source: Source, by: Patterns, *, several: bool) -> tuple[str, ...] | str:
    at_cut = not source.keep_cut and cue.end >= len(source.text.rstrip())
    if at_cut and not by.alone.fullmatch(source.text):
        return "cut"  # the letter may be the first of a word
    if not cue.letters:
        return "no_choice"
    if len(cue.letters) > 1 and (cue.alternatives or not several):
        return "ambiguous"
    return cue.letters


def _run_of_letters(text: str, letters: tuple[str, ...], by: Patterns) -> tuple[str, ...]:
    """A reply that is nothing but letters: ``A C D``, one a line, or ``ACD`` in their order."""
    bare = text.strip(" \n\t.*`\"'")
    if len(bare) > 1 and bare.isupper() and set(bare) <= set(letters):
        return tuple(bare) if sorted(set(bare), key=letters.index) == list(bare) else ()
    if not by.many.fullmatch(text[:500]) or len(text) > 500:
        return ()
    found = dict.fromkeys(each.group().upper() for each in by.letter.finditer(text))
    return tuple(found) if len(found) > 1 else ()


def _without_cue(
    source: Source, by: Patterns, letters: tuple[str, ...], *, several: bool
) -> tuple[str, ...] | str:
    leading = tuple(dict.fromkeys(leading_letters(source.text, by)))
    if len(leading) == 1 or (several and 1 < len(leading) < len(letters)):
        return leading
    weak = {letter for cue in weak_cues(source.text, by) for letter in cue.letters}
    if len(weak) == 1:
        return tuple(weak)
    return "ambiguous" if weak or leading else why_no_answer(source)


def _from_object(
    source: Source,
    letters: tuple[str, ...],
    texts: Mapping[str, str],
    by: Patterns,
    *,
    several: bool,
) -> tuple[str, ...] | str:
    values = _values(source)
    if values is None:
        return "cut" if source.cut else "no_answer"
    picked = tuple(dict.fromkeys(x for value in values for x in _from_value(value, texts, by)))
    if not picked or not set(picked) <= set(letters):
        return "no_choice"
    return picked if several or len(picked) == 1 else "ambiguous"


def _values(source: Source) -> list[Any] | None:
    """The scalars under *answer*, *choice* and the like, or of a bare list; None where none is."""
    for tree in reversed(source.reading.values):
        for key in _KEYS:
            if found := find_keys(tree, {key: key}).get(key):
                flat = [
                    item for each in found for item in (each if isinstance(each, list) else [each])
                ]
                return [each for item in flat for each in scalars([item], keep_cut=source.keep_cut)]
        if isinstance(tree, list):
            return scalars(tree, keep_cut=source.keep_cut)
    return None


def _from_value(found: Found, texts: Mapping[str, str], by: Patterns) -> tuple[str, ...]:
    value: Any = found.value
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return ()
    if (letter := _by_text(value, texts)) is not None:
        return (letter,)
    cues = strong_cues(value, by)
    return cues[-1].letters if cues else tuple(leading_letters(value, by)[:1])


def _by_text(text: str, texts: Mapping[str, str]) -> str | None:
    """The option whose text this is but for case and signs, with its letter before it or not."""
    said = spelled(text[:2_000])
    same = [
        letter.upper()
        for letter, option in texts.items()
        if said and said in (spelled(option), spelled(f"{letter} {option}"))
    ]
    return same[0] if len(same) == 1 else None


def _is_list_of_text(tree: Any) -> bool:
    return isinstance(tree, list) and any(isinstance(item, str) for item in tree)


def _scored(
    letters: tuple[str, ...], chosen: tuple[str, ...], source: Source, at_most: int | None
) -> Parsed:
    read: Status = "repaired" if source.reading.mended else "ok"
    excess = at_most is not None and len(chosen) > at_most
    flags = (*source.flags, f"too_many:{len(chosen)}") if excess else source.flags
    return Parsed(
        scores={letter: float(letter in chosen) for letter in letters},
        status=read,
        statuses=dict.fromkeys(letters, read),
        flags=flags,
        ranks={letter: rank for rank, letter in enumerate(chosen, 1)},
        extra={"choice": chosen[0] if len(chosen) == 1 else None, "choices": chosen},
    )


def _missing(letters: tuple[str, ...], reason: str, flags: tuple[str, ...] = ()) -> Parsed:
    return missing(letters, reason, flags=flags, extra={"choice": None, "choices": ()})
