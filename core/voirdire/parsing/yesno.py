"""Yes/no replies: true, false or missing, never true because something is there."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire.parsing._doubts import withdraws
from voirdire.parsing._hearing import (
    CLAUSE,
    FEW_WORDS,
    LONGEST,
    QUOTED,
    SENTENCE,
    denies_behind,
    is_polite,
    is_taken_back,
    only_denies,
    opens_with,
    truth,
)
from voirdire.parsing._keys import RawValue, key_forms, plain_key
from voirdire.parsing._parsed import answered, answered_from, missing, one_answer
from voirdire.parsing._rivals import Bare
from voirdire.parsing._settling import InText, Settled, in_text, with_text_behind
from voirdire.parsing._source import (
    ReplySource,
    by_verdict_key,
    nothing_there,
    read_source,
    values_by_key,
    why_no_answer,
)
from voirdire.parsing._spelling import Phrases, words_of
from voirdire.parsing._statements import verdict_keys
from voirdire.parsing._ticks import BOX, is_ticked, without_boxes
from voirdire.parsing._vocabulary import answer_words, rule
from voirdire.parsing._words import TAKES_BACK, either

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import FinishReason, Parsed

_YES = frozenset(rule("yes"))
_NO = frozenset(rule("no"))
# What says that something is there, or is not, without a yes or a no.
_PRESENCE = re.compile(
    r"\W*(?P<no>no\s+(?:\w+\s+){0,2}(?:signs?|evidence|indications?|symptoms?|traces?)\b(?!\s+(?:either|but))"
    r"|not\s+(?:present|observed|detected|found|shown)\b)",
    re.IGNORECASE,
)
# "No evidence of X, but ...": what follows may say the opposite, so it is no plain no.
_HOWEVER = Phrases("yes", "but", "so", "although", "yet")
# The first word and what stands behind it: "**Yes**, it does".
_FIRST = re.compile(
    r"[\s*_`\"'“”(\[$]*(?:\\boxed\{)?(\w+)[^\S\n]*[*_`\"'“”)\]}$]*[^\S\n]*(?P<tail>.*)", re.DOTALL
)
# What may follow a yes: its end, a remark, another sentence; not "yes or no".
_REMARK = re.compile(r"[\W_]*$|[.,;:–—(]\s*[^\W\d]|-\s+[^\W\d]|[.!](?![^\S\n]?\d)\s*\S|\n\s*\S")
# "Yes, but", "No, maybe", "Yes. Actually": then it is neither.
_HEDGE = re.compile(
    r"\W*(?:(?:and\s+)?(?P<again>yes|no)\b|(?:i\s+)?(?:or|but|if|unless|maybe|actually|wait|cannot|can['’]t)\b|i\s+(?:can\s+help|understand|will)\b"
    r"|[^.!?\n]*\b(?:maybe|possibly|perhaps|unsure|not\s+sure|unclear)\b)",
    re.IGNORECASE,
)
# What denies in a clause behind a yes, and of whom or why it is said.
_DENIES = Phrases(*rule("denies_verdict"), "no")
_PEOPLE = frozenset(rule("people"))
_WHY = frozenset({"because", "since"})
# A later line that begins with the other word, or with a second thought.
_BELOW = re.compile(
    r"^[\s*_]*(?:(?:wait|hmm+|actually)\b|(?P<again>yes|no)\b)", re.IGNORECASE | re.MULTILINE
)
# What may follow a yes or no of another language: its clause ends.
_PAUSES = ".,;:!(–—-\n。，、；：！؛،।…"


def said_yes(value: Any) -> bool | None:
    """The truth value that a JSON scalar states; None where it states none.

    >>> said_yes("false"), said_yes("YES"), said_yes("unsure"), said_yes(0), said_yes(2)
    (False, True, None, False, None)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return _in_words(value) if isinstance(value, str) else None


def _in_words(text: str) -> bool | None:
    """A text that begins with yes or no and does not take it back."""
    if (box := BOX.match(text[:40])) and not any(map(str.isalnum, text[: box.end()])):
        # A tick alone, or before the word that it says: "✓", "✅ Yes".
        behind, ticked = text[box.end() :].strip(" *_`"), is_ticked(box)
        agrees = not behind or (not BOX.match(behind[:40]) and _in_words(behind) is ticked)
        return ticked if agrees else None
    # "Not present" begins with no word of yes or no.
    if presence := _PRESENCE.match(text[:200]):
        return None if _HOWEVER.among(words_of(text[presence.end() : 300]).forms) else False
    first = _FIRST.match(text[:2_000].strip())
    word, tail = (first[1].casefold(), first["tail"]) if first else ("", "")
    if first is None or (word not in _YES and word not in _NO):
        return _in_other_words(text)
    asked = tail.lstrip("*_ ")[:1] in ("?", "？")
    if tail and (asked or not _REMARK.match(tail) or is_taken_back(tail, other=word in _NO)):
        return None
    hedge = _HEDGE.match(tail[:60])
    # "Yes, yes" repeats itself and takes nothing back.
    again = hedge is not None and (hedge["again"] or "").casefold() == word
    back: object = TAKES_BACK.search(text, first.end(1), first.end(1) + 300)
    back = back or (word in _YES and _undoes(tail[:LONGEST], first_too=False))
    opposite = _NO if word in _YES else _YES
    further = SENTENCE.split(tail[:LONGEST])[1:]
    back = back or any(
        plain_key(part) in opposite for each in further for part in CLAUSE.split(each)
    )
    if (hedge is not None and not again) or back or withdraws(tail[:LONGEST]):
        return None
    # A later line that says the other word, or has second thoughts, undoes the first.
    below = {(line["again"] or "").casefold() for line in _BELOW.finditer(tail)}
    return word in _YES if below <= {word} else None


def _undoes(text: str, *, first_too: bool = True) -> bool:
    """Whether a clause behind a yes may take it back, since it denies and speaks of nobody.

    *Although, that is not the case*; not *he cannot sleep*. Unless it is `first_too`, a clause of
    the first sentence, which is that of the yes, does so by little more than *not*.
    """
    if first_too and denies_behind(text):
        return True
    for place, sentence in enumerate(SENTENCE.split(QUOTED.sub(" ", text))):
        forms = words_of(sentence).forms
        of_somebody = not (_PEOPLE.isdisjoint(forms) and _WHY.isdisjoint(forms))
        for clause in CLAUSE.split(sentence):
            words = words_of(clause).forms
            denied = _DENIES.among(words) or any(word.endswith("n't") for word in words)
            few = len(words) <= FEW_WORDS and (place or first_too)
            denied = denied and not (of_somebody or is_polite(words, clause))
            if denied and (few or only_denies(words)):
                return True
    return False


def _in_other_words(text: str) -> bool | None:
    """What a text says that begins with no English yes or no."""
    text = text[:2_000].strip(" \t\r\n*_`\"'“”()[]$")
    if (whole := truth(text)) is not None:
        return whole
    opening = opens_with(text)
    if opening is None:
        return None
    tail = text[opening.end :].lstrip(' *_`"”’)')
    if tail and tail[0] not in _PAUSES:
        return None
    if is_taken_back(text, opening.end, other=not opening.says):
        return None
    return opening.says


def parse_yes_no(
    text: str | None, keys: Sequence[str], *, finish_reason: FinishReason = "stop"
) -> Parsed:
    """Read one yes/no answer a key: 1, 0, or None with a reason. Never raises.

    JSON comes first, then statements such as ``depression: yes``; for a single key a reply that
    begins with yes or no answers too. A missing key is missing, never *no*.

    Examples
    --------
    >>> parse_yes_no('{"calm": "Yes.", "warm": "unsure"}', ["calm", "warm"]).scores
    {'calm': 1.0, 'warm': None}
    """
    if text is None or nothing_there(text, finish_reason):
        return missing(keys, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    by_key = values_by_key(source, key_forms(keys), _yes_in)
    if len(keys) == 1 and not any(by_key.values()):
        _, by_key = by_verdict_key(source, keys[0], _yes_in)
    if any(by_key.values()):
        return answered_from(_from_objects(by_key, source, keys), source)
    stated = {} if source.has_object else _stated(source, keys)
    if any(each.reason != "absent" for each in stated.values()):
        return answered_from(stated, source)
    if source.has_object and not source.cut:
        return answered(dict.fromkeys(keys, "absent"), source)
    return missing(keys, why_no_answer(source), flags=source.flags)


@cache
def _bare() -> Bare:
    """A yes or no that stands without a key, in any language."""
    words = {"yes", "no", *answer_words()}
    return Bare(re.compile(rf"(?<!\w){either(map(re.escape, words))}(?!\w)", re.IGNORECASE))


def _yes_in(raw: RawValue) -> bool | None:
    return None if raw.reason else said_yes(raw.value)


def _one(raw: RawValue) -> float | str:
    if raw.reason:
        return raw.reason
    answer = said_yes(raw.value)
    if answer is not None:
        return float(answer)
    return "null" if raw.value is None or raw.value == "" else "not_yes_no"


def _from_objects(
    by_key: dict[str, list[RawValue]], source: ReplySource, keys: Sequence[str]
) -> dict[str, Settled[float | str]]:
    """What the objects say, as far as the text behind the last one lets it stand."""
    own = {key: one_answer([_one(each) for each in by_key.get(key, ())]) for key in keys}
    values = {key: None if answer == "absent" else answer for key, answer in own.items()}
    settles: dict[str, Settled[float | str]] = with_text_behind(
        values, source, _read, raw=by_key, bare=_bare()
    )
    return _unless_undone(settles, source.reading.behind)


def _unless_undone(
    settles: dict[str, Settled[float | str]], behind: str
) -> dict[str, Settled[float | str]]:
    """The answer to one question, unless it is yes and the text behind it may take it back."""
    for key, each in settles.items() if len(settles) == 1 and behind.strip() else ():
        if each.value == 1 and _undoes(behind[:LONGEST]):
            return {key: Settled(None, "ambiguous")}
    return settles


def _read(text: str) -> float | str | None:
    answer = said_yes(text)
    return None if answer is None else float(answer)


def _stated(source: ReplySource, keys: Sequence[str]) -> dict[str, Settled[float | str]]:
    """What the text states of each key; for one key also behind a verdict word or in a box."""
    alone = len(keys) == 1
    kept = without_boxes(source.text) if alone else source.text
    bare, heads = (_bare(), verdict_keys("response")) if alone else (None, None)
    found: InText[float | str] = in_text(
        source.text, keys, _read, cut=not source.keep_cut, bare=bare, heads=heads
    )
    settles = {key: settles for key, (_, settles) in found.items()}
    here, told = found[keys[0]]
    if alone and told and here:
        return _unless_undone({keys[0]: told}, source.text[max(each.end for each in here) :])
    if alone and settles[keys[0]] is None:
        if kept != source.text:
            return _stated(source._replace(text=kept), keys)
        settles = {keys[0]: _outer(source)}
    return {key: each or Settled(None, "absent") for key, each in settles.items()}


def _outer(source: ReplySource) -> Settled[float | str] | None:
    """The reply as a whole, or a yes or no that is all of its first or last line."""
    text = source.uncut
    lines = text.strip().splitlines()
    # A line that is nothing but a yes or a no, marks aside.
    last = [line for line in lines[1:][-1:] if plain_key(line) in ("yes", "no")]
    first = [line for line in lines[:1] if last and plain_key(line) in ("yes", "no")]
    answers = {answer for one in (text, *first, *last) if (answer := _read(one)) is not None}
    if len(answers) > 1:
        return Settled(None, "ambiguous")
    return Settled(answers.pop()) if answers else None
