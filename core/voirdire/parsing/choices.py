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
from voirdire.parsing.yesno import said_yes
from voirdire.schema import Parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import FinishReason, Status

_KEYS = (
    *("finalanswer", "answer", "answers", "correctanswer", "choice", "choices", "selectedoption"),
    *("correctoption", "option", "options", "letter", "letters", "selection", "selected"),
    *("prediction", "response", "result"),
)
_ANSWER_LINE = re.compile(
    r"\b(?:answer|choice)[*_]{0,2}\s*[:：]\s*(?P<rest>[^\n]{1,300})", re.IGNORECASE
)
_MARK = re.compile(r"^[ \t]*(?:(?:[-*•>#→✅✓]{1,6}|=>)[ \t]+|```\w*$)", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+", re.MULTILINE)
_FULL_WIDTH = {at + 0xFEE0: at for at in range(0x21, 0x7F)}
_OTHER_LETTER = re.compile(r"\W*[A-Za-z]\W*")
_CHOOSES = re.compile(
    r"\b(?:(?:answer|choice)\s+is|i\s+(?:would\s+)?(?:choose|pick|select))\s+(?P<rest>[^\n]{1,300})",
    re.IGNORECASE,
)
_UP_TO = re.compile(r"[.,;!]|\b(?:because|since)\b", re.IGNORECASE)
_BOLD_TAG = re.compile(r"<(?:b|i|u|p|em|strong)>(?=[^\s<])|</(?:b|i|u|p|em|strong)>", re.IGNORECASE)
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
    source = replace(source, text=_bare(source.text[-_MAX_LENGTH:], letters))
    chosen = _chosen(source, letters, texts, several=several)
    if isinstance(chosen, str):
        return _missing(letters, chosen, source.flags)
    return _scored(letters, chosen, source, at_most)


def _bare(text: str, letters: tuple[str, ...]) -> str:
    """The text without bold tags, fences and the marks and numbers of lists."""
    text = _MARK.sub("", _BOLD_TAG.sub("", text.translate(_FULL_WIDTH)))
    return text if any(letter.isdigit() for letter in letters) else _NUMBERED.sub("", text)


def _chosen(
    source: Source, letters: tuple[str, ...], texts: Mapping[str, str], *, several: bool
) -> tuple[str, ...] | str:
    """The letters chosen, or the reason why there are none."""
    by = patterns(letters)
    if source.has_object or any(_is_list_of_text(tree) for tree in source.reading.values):
        return _from_object(source, letters, texts, by, several=several)
    if (letter := _by_text(source.text, texts)) is not None:
        return (letter,)
    if run := _run_of_letters(source.text, letters, by):
        return run if several else "ambiguous"
    return _from_text(source, letters, texts, by, several=several)


def _from_text(
    source: Source,
    letters: tuple[str, ...],
    texts: Mapping[str, str],
    by: Patterns,
    *,
    several: bool,
) -> tuple[str, ...] | str:
    said = list(_ANSWER_LINE.finditer(source.text))
    if cues := strong_cues(source.text, by):
        other = (
            said and said[-1].start() > cues[-1].end and _OTHER_LETTER.fullmatch(said[-1]["rest"])
        )
        return "no_choice" if other else _settled(cues[-1], source, by, several=several)
    if said:
        return _from_line(said[-1]["rest"], letters, texts, by, several=several)
    if letter := _named_in(source.text, texts):
        return (letter,)
    return _without_cue(source, by, letters, several=several)


def _from_line(
    rest: str, letters: tuple[str, ...], texts: Mapping[str, str], by: Patterns, *, several: bool
) -> tuple[str, ...] | str:
    """What stands behind *Answer:* where it begins with no letter: a run of them, or a text."""
    if several and (run := _run_of_letters(rest, letters, by)):
        return run
    letter = _by_text(rest, texts) or _by_text(_UP_TO.split(rest, maxsplit=1)[0], texts)
    return (letter,) if letter else "no_choice"


def _named_in(text: str, texts: Mapping[str, str]) -> str | None:
    """The option whose text a sentence chooses: *The answer is a plan.*"""
    said = list(_CHOOSES.finditer(text))
    return _by_text(_UP_TO.split(said[-1]["rest"], maxsplit=1)[0], texts) if said else None


def _settled(cue: Cue, source: Source, by: Patterns, *, several: bool) -> tuple[str, ...] | str:
    at_cut = not source.keep_cut and cue.end >= len(source.text.rstrip())
    if at_cut and not by.alone.fullmatch(source.text):
        return "cut"  # the letter may be the first of a word
    if not cue.letters:
        return "no_choice"
    if cue.retracted:
        return "ambiguous"
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
    spoken = weak_cues(source.text, by)
    weak = {letter for cue in spoken if not cue.retracted for letter in cue.letters}
    faulted = {letter for cue in spoken if cue.retracted for letter in cue.letters}
    if len(weak) == 1 and (not faulted or weak | faulted == set(letters)):
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
    values = _values(source, letters)
    if values is None:
        return "cut" if source.cut else "no_answer"
    read = (_from_value(value, letters, texts, by, several=several) for value in values)
    picked = tuple(dict.fromkeys(letter for some in read for letter in some))
    if not picked or not set(picked) <= set(letters):
        return "no_choice"
    return picked if several or len(picked) == 1 else "ambiguous"


def _values(source: Source, letters: tuple[str, ...]) -> list[Any] | None:
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
        if tree and all(
            key.upper() in letters and said_yes(v) is not None for key, v in tree.items()
        ):
            return [Found(key.upper()) for key, value in tree.items() if said_yes(value)]
    return None


def _from_value(
    found: Found, letters: tuple[str, ...], texts: Mapping[str, str], by: Patterns, *, several: bool
) -> tuple[str, ...]:
    value: Any = found.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:g}"
    if not isinstance(value, str):
        return ()
    if (letter := _by_text(value, texts)) is not None:
        return (letter,)
    if several and (run := _run_of_letters(value, letters, by)):
        return run
    cues = [cue for cue in strong_cues(value, by) or weak_cues(value, by) if not cue.retracted]
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
