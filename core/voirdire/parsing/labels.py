"""Label replies: which labels of a declared set an answer names, in which order."""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from voirdire.errors import InputError
from voirdire.parsing._doubts import withdraws
from voirdire.parsing._hearing import SENTENCE, denies_behind, hedges
from voirdire.parsing._keys import plain_key
from voirdire.parsing._labelentries import of_one_text
from voirdire.parsing._labellines import (
    Line,
    read_line,
    says_place,
    sorts_all,
)
from voirdire.parsing._labelobjects import NO_ENTRY, NONE, is_empty, said_in
from voirdire.parsing._labelverdicts import verdicts_on
from voirdire.parsing._languages import adds, says_none
from voirdire.parsing._parsed import REASONS, missing, worst_status
from voirdire.parsing._rivals import REPLACES, rivals
from voirdire.parsing._settling import Settled, settled, with_last_words
from voirdire.parsing._source import (
    ReplySource,
    answering,
    nothing_there,
    read_source,
    storable,
    why_no_answer,
)
from voirdire.parsing._spelling import WORD, spelled, word_form, words_of
from voirdire.parsing._stated import READ, Statement
from voirdire.parsing._statements import set_apart, verdict_keys, verdicts
from voirdire.parsing._words import (
    SAYS_DRAFT,
    TAKES_BACK,
    TURNS,
    TURNS_TO,
    headings,
    turns_at_once,
)
from voirdire.schema import Flag, Parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.parsing._labelset import LabelSet
    from voirdire.schema import FinishReason

# "None of the above apply", "The answer is: no label applies".
_NONE_OF = re.compile(
    r"\W*(?:(?:the\s+)?(?:answer|label)\s+is\W+)?(?:no\s+labels?\s+(?:apply|applies|fits?)"
    r"|none(?:\s+of\s+(?:these|them|those|the\s+(?:above|listed|labels|options)))?(?:\s+\w+){0,2}"
    r"|none\s+of\s+(?:the|these|those)\s+(?:\w+\s+){0,3}(?:labels|emotions|feelings|categories|options"
    r"|classes|types|distortions)\s+(?!but\b|except\b)\w+(?:\s+(?!but\b|except\b)\w+){0,6})\W*",
    re.IGNORECASE,
)
# "Was: Anger", "Before: Anger": what stood before.
_BEFORE = frozenset({"was", "before", "previously", "earlier", "old", "originally"})
#: Heads of the answer beside the words of verdict that all parsers know.
_HEADS = ("labels", "answers", "category", "categories", "class")
# "Present: Anger. Absent: Fear": another head in the same line.
_HEAD_BEHIND = re.compile(r"(?<=[.;])[ \t]+(?=([^\W\d_]{1,20}(?: [^\W\d_]{1,20})?)[:：] )")
# What another value says of itself behind one: "Fear after all."
_LAST_CLAUSE = re.compile(rf"(?<=[.;!?])\s+[^.;!?\n]{{1,60}}?{REPLACES.pattern}$", re.IGNORECASE)
# A line that names all of so many labels, or so many lines, repeat the prompt.
_FEWEST_OFFERED, _MANY_OFFERED = 3, 6
_MAX_LENGTH = 50_000
_MAX_LINES = 500
_LONGEST_ENTRY = 120


class _Named(NamedTuple):
    """Labels in order of mention, and entries that are none.

    `denied` are labels that a list of verdicts denies, `unread` those of which it says neither yes
    nor no.
    """

    labels: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    explicit_none: bool = False
    denied: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    conflict: bool = False


def parse_labels(
    text: str | None,
    labels: LabelSet,
    *,
    at_most: int | None = None,
    contradiction: Literal["missing", "labels"] = "missing",
    finish_reason: FinishReason = "stop",
) -> Parsed:
    r"""Read which declared labels a reply names. Never raises, whatever the text.

    Lists count before sentences, a *final* or *answer* line before both; in sentences a label
    counts only where nothing is denied. A label is named once, however often it is repeated.

    Parameters
    ----------
    labels
        The declared set with its synonyms; see `LabelSet`.
    at_most
        More labels than this are flagged ``too_many``; none is dropped, for `ranks` tells them
        apart.
    contradiction
        The `none` label beside another one is flagged ``contradiction``; by default such a reply
        is missing, with ``"labels"`` the other labels stand.

    Returns
    -------
    Parsed
        ``scores`` 1 or 0 a label, None where missing: after a cut, labels closed before it are 1
        and the rest unknown. ``ranks``: 1 is the first named. ``extra["unknown"]`` lists entries
        outside the set, which make `other` 1 unless a declared label comes with them.

    Examples
    --------
    >>> from voirdire.parsing import LabelSet
    >>> kinds = LabelSet(("Grief, loss", "Anger", "None"))
    >>> parse_labels("1. **anger**\n2. Grief, loss", kinds).ranks
    {'Anger': 1, 'Grief, loss': 2}
    >>> parse_labels("None", kinds).scores
    {'Grief, loss': 0.0, 'Anger': 0.0, 'None': 1.0}
    """
    if text is None or nothing_there(text, finish_reason):
        return _missing(labels, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    if len(source.text) > _MAX_LENGTH:
        return _missing(labels, "too_deep")
    settles = _settle(source, labels)
    if settles.value is None:
        reason = settles.reason or why_no_answer(source)
        flags = [*source.flags, Flag("conflicting")] if settles.conflict else []
        return _missing(labels, reason, flags)
    flags = [Flag("conflicting")] if settles.conflict else []
    return _parsed(settles.value, labels, source, flags, at_most, contradiction)


def parse_labels_column(
    texts: Sequence[str | None],
    labels: LabelSet,
    *,
    at_most: int | None = None,
    contradiction: Literal["missing", "labels"] = "missing",
    finish_reasons: Sequence[FinishReason] | None = None,
) -> list[Parsed]:
    """`parse_labels` over many replies; equal replies are read once and share their result.

    Raises InputError if `finish_reasons` does not have one entry a reply.
    """
    finishes: Sequence[FinishReason] = finish_reasons or ["stop"] * len(texts)
    if len(finishes) != len(texts):
        raise InputError(f"finish_reasons has {len(finishes)} entries for {len(texts)} replies")
    seen: dict[tuple[str | None, FinishReason], Parsed] = {}
    for key in zip(texts, finishes, strict=True):
        if key not in seen:
            seen[key] = parse_labels(
                key[0],
                labels,
                at_most=at_most,
                contradiction=contradiction,
                finish_reason=key[1],
            )
    return [seen[key] for key in zip(texts, finishes, strict=True)]


def _settle(source: ReplySource, labels: LabelSet) -> Settled[_Named]:
    """What boxes and final lines settle on, else what objects name, else what the lines name."""
    if not source.has_object and (settles := _decided(source, labels)):
        return settles
    nothing: Settled[_Named] = Settled(None)
    in_objects = _from_objects(source, labels) if _is_data(source) else nothing
    named = in_objects.value
    if (named is not None or in_objects.conflict) and source.has_object:
        behind = source.reading.behind
        # Behind an object a plain sentence explains it; only what calls itself final
        # or corrects replaces it.
        final = [each for each in verdicts(behind, verdict_keys(*_HEADS)) if each.final]
        settles = with_last_words(
            named, source, final, lambda text: _of_line(text, labels), labels.bare
        )
        settles = settles or in_objects
        return settles._replace(conflict=settles.conflict or in_objects.conflict)
    if named is None and not (source.has_object or in_objects.conflict):
        named = _from_lines(source, labels)
    return Settled(named)


def _is_data(source: ReplySource) -> bool:
    """Whether objects or lists answer; in running text ``[[Anger]]`` is a box and no list."""
    trees = source.reading.values
    boxes = [t for t in trees if isinstance(t, list) and len(t) == 1 and isinstance(t[0], list)]
    in_text = source.reading.mixed or len(trees) > 1
    return bool(trees) and not (in_text and len(boxes) == len(trees))


def _decided(source: ReplySource, labels: LabelSet) -> Settled[_Named] | None:
    """What final statements and boxes settle on; plain ones may each name a label of several."""
    text, cut = source.text, not source.keep_cut
    boxes = [_read_already(each, labels) for each in set_apart(text)]
    # Plain statements count only at a cut: "Label: Anger" on each of three
    # lines names three labels.
    told = verdicts(text, verdict_keys(*_HEADS))
    stated = [*boxes, *(_read_already(each, labels) for each in told)]
    naming = [each for each in stated if each.value is not None]
    marked = any(each.final or each in boxes for each in naming) or (
        naming
        and (
            TURNS_TO.search(text, min(each.at for each in naming))
            or (len(naming) == 1 and _is_followed(naming[0], text, labels))
        )
    )
    if not marked and not (cut and len(stated) > 1 and naming):
        return None
    return settled(stated, text, partial(_of_line, labels=labels), cut=cut, bare=labels.bare)


def _read_already(stated: Statement, labels: LabelSet) -> Statement:
    # "Final answer: Anger. Fear after all.": the last clause is another statement.
    value = _of_line(_LAST_CLAUSE.sub("", stated.text), labels)
    unread = value is None and stated.text
    return stated._replace(text=READ if unread else stated.text, value=value)


def _is_followed(stated: Statement, text: str, labels: LabelSet) -> bool:
    """Whether another label is claimed behind the one that a plain statement names."""
    read = partial(_of_line, labels=labels)
    start = labels.bare.behind(stated.value, text, stated.value_at, stated.end, read)
    return any(
        (other := read(each.text)) is not None and other != stated.value
        for each in rivals(text, start, len(text), labels.bare)
    )


def _of_line(text: str, labels: LabelSet) -> _Named | None:
    """The labels of a statement's text, or None where it names none."""
    if _NONE_OF.fullmatch(text):
        return _Named((), explicit_none=True)
    if told := _listed(text, labels):
        return told
    line = read_line(labels, text)
    return _together([line]) if line.labels or (line.kind == "list" and line.unknown) else None


def _from_objects(source: ReplySource, labels: LabelSet) -> Settled[_Named]:
    """What objects and lists say of labels; several that answer must say the same."""
    stated: list[_Named] = []
    for tree in answering(source.reading.values):
        told = list(said_in(tree, labels))
        named = [each.name for each in told if each and each.says]
        unread = tuple(each.name for each in told if each and each.says is None)
        # What is not read is no answer, and an older object does not come back for it.
        if (None in told or (unread and not named)) and not stated:
            return Settled(None, "not_yes_no" if unread else "")
        if not (told or stated or source.keep_cut) and source.reading.cut:
            return Settled(None)  # the last object fell to the cut
        # In running text an empty list is a footnote and names nothing.
        silent = not (told or is_empty(tree)) or (tree == [] and source.reading.mixed)
        if None not in told and not silent and (one := _of_entries(named, labels)):
            stated.append(one._replace(unread=unread))
    if len({frozenset(each.labels) for each in stated}) > 1:
        return Settled(None, "ambiguous", conflict=True)
    return Settled(stated[0] if stated else None)


def _of_entries(entries: list[str], labels: LabelSet) -> _Named | None:
    named = tuple(labels.forms[form] for e in entries if (form := spelled(e)) in labels.forms)
    unknown = tuple(e for e in entries if spelled(e) not in {*labels.forms, *NO_ENTRY})
    none = not entries or any(spelled(entry) in NONE for entry in entries)
    if not (named or unknown or none):
        return None
    return _Named(named, unknown, explicit_none=none and not (named or unknown))


def _from_lines(source: ReplySource, labels: LabelSet) -> _Named | None:
    if (stated := _listed(source.text, labels)) is not None:
        return stated if stated.labels or stated.explicit_none or stated.unread else None
    text = of_one_text(_in_final_section(_behind_second_thoughts(source.text.strip()), labels))
    last = text.rpartition("\n")[2]
    if not source.keep_cut and (TURNS.search(last) or turns_at_once(last)):
        text = ""  # another label was to follow
    # *Secondary: Anger* goes on with the line before it; *Absent: Fear* begins anew.
    apart = text
    if ":" in text or "：" in text:
        apart = _HEAD_BEHIND.sub(lambda at: at[0] if says_place(at[1]) else "\n", text)
    raw = apart.splitlines()[:_MAX_LINES]
    if not source.keep_cut and raw:  # the entry at the cut may be half a label
        raw[-1] = raw[-1].rpartition(",")[0]
    raw = [line for line in raw if line.strip() and not _is_draft(line)]
    if all(line.rstrip(" *").endswith(":") for line in raw):  # a form that is not filled in
        return None
    if sorts_all(labels, raw):
        return None
    return _of_lines(raw, labels, text)


def _of_lines(raw: list[str], labels: LabelSet, text: str) -> _Named | None:
    """What lines of a text name that lists no verdicts."""
    readings = [(read_line(labels, line), line) for line in raw]
    naming = [at for at, (line, _) in enumerate(readings) if line.labels]
    if naming:
        last = raw[naming[-1]]
        listed = readings[naming[-1]][0].kind != "prose"
        further = SENTENCE.search(last.rstrip(" .*_")) if listed else None
        rest = last[further.end() :] if further else ""
        if withdraws("\n".join((rest, *raw[naming[-1] + 1 :])), last) or (
            rest and (hedges(rest) or denies_behind(rest)) and not labels.bare.pattern.search(rest)
        ):
            return None
    named = _of_readings(readings, raw, labels, text)
    unread = {*chain(*(line.unread for line, _ in readings))} - {*(named.labels if named else ())}
    if not unread:
        return named
    return (named or _Named(()))._replace(unread=tuple(unread), explicit_none=False)


def _of_readings(
    readings: list[tuple[Line, str]], raw: list[str], labels: LabelSet, text: str
) -> _Named | None:
    lines = [one for one, line in readings if not _is_offer(one, line, len(raw) == 1, labels)]
    if any(line.final and (line.labels or line.unknown) for line in lines):
        lines = [[line for line in lines if line.final][-1]]
    silent = not any(one.labels for one in lines) and says_none(text)
    lists = [line for line in lines if line.kind != "prose" and (line.labels or line.marked)]
    # A list without a mark counts where it is all: in a longer text it is a phrase of a sentence.
    lists = lists or [line for line in lines if line.kind == "list" and len(lines) == 1]
    if any(line.labels for line in lists):
        named = _together(lists)
        # All labels in the order in which they were offered: the prompt told again.
        echo = len(lists) >= _MANY_OFFERED and named.labels == labels.offered
        # What a sentence beside the list names as well is neither in it nor denied.
        prose = [(one, raw) for one, raw in readings if one.kind == "prose" and one in lines]
        beside = [x for one, raw in prose for x in (*one.labels, *_added(raw, labels))]
        left = tuple(dict.fromkeys(x for x in beside if x not in named.labels))
        return None if echo else named._replace(unread=(*named.unread, *left))
    if mentioned := [line for line in lines if line.labels]:
        return _Named(_together(mentioned).labels)
    if any(line.unknown for line in lists) and not silent:
        return _together(lists)
    if silent or any(_says_none(labels, r) for r in raw):
        return _Named((), explicit_none=True)
    return None


def _added(line: str, labels: LabelSet) -> list[str]:
    """Labels that a sentence of another language speaks of, where it adds something."""
    folded = line.casefold()
    named = [label for label in labels.offered if label.casefold() in folded]
    return named if named and adds(line) else []


def _behind_second_thoughts(text: str) -> str:
    """What stands behind the last second thoughts: *Wait,*, *Actually,*."""
    ends = [each.end() for each in TAKES_BACK.finditer(text)]
    return text[ends[-1] :] if ends else text


def _in_final_section(text: str, labels: LabelSet) -> str:
    """What stands below the last heading that says it is final, where it names a label."""
    below = [text[end:] for end, rank in zip(*headings(text), strict=True) if rank == "final"]
    names_any = below and any(read_line(labels, line).labels for line in below[-1].splitlines())
    return below[-1] if names_any else text


def _is_draft(line: str) -> bool:
    """Whether a line gives a first try only: *Initial label: Anger*."""
    stated = verdicts(line, verdict_keys(*_HEADS))
    if stated:
        return all(each.rank == "draft" for each in stated)
    head, colon, _ = line.partition(":")
    return bool(colon) and bool(
        SAYS_DRAFT.among(words_of(head).forms) or plain_key(head) in _BEFORE
    )


def _is_offer(line: Line, raw: str, alone: bool, labels: LabelSet) -> bool:
    """Whether a line repeats the list of labels that the prompt offers, in its order."""
    if len(labels.offered) < _FEWEST_OFFERED or line.labels != labels.offered:
        return False
    return not alone or line.kind == "prose" or "[" in raw.lstrip("[")


def _listed(text: str, labels: LabelSet) -> _Named | None:
    """``Anger: yes`` in lines, cells or tags; *none* only where each label is denied."""
    told = verdicts_on(text, labels)
    if told is None:
        return None
    asked = {*labels.labels} - {labels.none, labels.other}
    none = not (told.yes or told.unknown) and asked <= {*told.no}
    return _Named(
        told.yes,
        explicit_none=none,
        denied=told.no,
        unread=told.unknown,
        conflict=told.conflict,
    )


def _says_none(labels: LabelSet, line: str) -> bool:
    """``There are no cognitive distortions in this text``, where *No Distortion* is declared."""
    if _NONE_OF.fullmatch(line):
        return True
    words = WORD.findall(labels.none or "")
    if len(words) < 2 or word_form(words[0]) != "no":
        return False
    noun = re.escape(words[-1].removesuffix("s"))
    start = r"\W*(?:there\s+(?:is|are)\s+|i\s+(?:see|find|found)\s+)?no\s+(?:[\w-]+\s+){0,2}"
    pattern = rf"{start}{noun}s?\b(?!\s*(?:other|but|except))"
    return re.match(pattern, line, re.IGNORECASE) is not None


def _together(lines: Sequence[Line]) -> _Named:
    unknown = tuple(entry for line in lines for entry in line.unknown)
    real = tuple(entry for entry in unknown if spelled(entry) not in NO_ENTRY)
    named = tuple(label for line in lines for label in line.labels)
    unread = tuple(label for line in lines for label in line.unread if label not in named)
    return _Named(named, real, explicit_none=not (named or real or unread), unread=unread)


def _parsed(
    named: _Named,
    labels: LabelSet,
    source: ReplySource,
    flags: list[Flag],
    at_most: int | None,
    contradiction: str,
) -> Parsed:
    chosen = list(dict.fromkeys(named.labels))
    unknown = tuple(dict.fromkeys(storable(entry[:_LONGEST_ENTRY]) for entry in named.unknown))
    flags = [*source.flags, *flags, *(Flag("unknown_label", entry) for entry in unknown)]
    beside = [label for label in chosen if label not in (labels.none, labels.other)]
    # Before contradictions are looked for: *none* beside an unknown entry is one.
    if unknown and labels.other is not None and labels.other not in chosen:
        chosen.append(labels.other)
    if named.explicit_none and labels.none is not None:
        chosen = [labels.none]
    if labels.none in chosen and len(chosen) > 1:
        flags.append(Flag("contradiction", labels.none or ""))
        if contradiction == "missing":
            return _missing(labels, "contradiction", flags, unknown)
        chosen.remove(labels.none)
    if beside and labels.other in chosen:
        flags.append(Flag("other_dropped", labels.other or ""))
        chosen.remove(labels.other)
    if named.conflict:
        flags.append(Flag("conflicting"))
    if not (chosen or named.explicit_none or named.denied):
        return _missing(labels, "not_yes_no" if named.unread else "unknown_label", flags, unknown)
    if at_most is not None and len(chosen) > at_most:
        flags.append(Flag("too_many", count=len(chosen)))
    return _scored(chosen, named, labels, source, flags, unknown)


def _scored(
    chosen: list[str],
    named: _Named,
    labels: LabelSet,
    source: ReplySource,
    flags: list[Flag],
    unknown: tuple[str, ...],
) -> Parsed:
    cut = source.cut or not (source.keep_cut or source.reading.values)
    reasons = dict.fromkeys(named.unread, "not_yes_no")
    # A label that was not named before the cut may have been about to be; and beside one that was
    # not read, what is neither named nor denied is not known.
    absent = "cut" if cut else "absent" if named.unread and not chosen else ""
    if absent:
        told = {*chosen, *named.denied, *reasons}
        reasons |= dict.fromkeys((each for each in labels.labels if each not in told), absent)
    scores = {x: None if x in reasons else float(x in chosen) for x in labels.labels}
    statuses = {x: REASONS[reasons[x]] if x in reasons else source.status for x in labels.labels}
    return Parsed(
        scores=scores,
        status="truncated" if cut else worst_status(statuses.values(), source.status),
        statuses=statuses,
        flags=tuple(flags),
        ranks={label: rank for rank, label in enumerate(chosen, 1)},
        extra={"unknown": unknown},
        reasons=reasons,
    )


def _missing(
    labels: LabelSet, reason: str, flags: Sequence[Flag] = (), unknown: tuple[str, ...] = ()
) -> Parsed:
    return missing(labels.labels, reason, flags=flags, extra={"unknown": unknown})
