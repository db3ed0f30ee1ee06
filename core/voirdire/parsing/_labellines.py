"""Which labels a line of running text names, and whether the line is a list or a sentence."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from voirdire.parsing._hearing import denies, hedges, is_foreign, truth
from voirdire.parsing._keys import ASIDES
from voirdire.parsing._labelentries import (
    DENYING,
    MAX_REMARK,
    NOT,
    OR,
    Entry,
    begins_a_sentence,
    entries_of,
    is_denied,
    is_either,
    is_entry,
    is_unknown,
    text_of,
)
from voirdire.parsing._labelverdicts import headed_aside, verdict
from voirdire.parsing._languages import contrasted, not_only, predicates
from voirdire.parsing._names import name_at, names_any, names_in
from voirdire.parsing._spelling import WORD, Phrases, spelled, words_of
from voirdire.parsing._ticks import BOX, CROSSES, is_ticked
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import DENIED, OTHER_VALUE, OTHERS_SAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.parsing._labelset import LabelSet

# "- Anger", "2) Anger", "(b) Anger", also several: "1. - Anger".
_BULLET = re.compile(r"\s*(?:[-*•>#–—]+\s*|\(?\d{1,2}[.):]\s*|\(?[A-Za-z][.)]\s+)+")
# "Label: Anger": a head of at most 80 signs, so that a sentence with a colon is none.
_CUE = re.compile(r"(?P<cue>[^:：\n]{1,80})[:：]\s*(?=\S)")
# "Final label:", "Answer:": a head after which the line is the answer, not a draft.
_FINAL = frozenset({"final", "answer", "output", "conclusion"})
# "Anger - he shouts": spaces are asked for, since "self-blame" is one word.
_DASH = re.compile(r"\s*[–—]\s|\s-\s")
# "Anger (he shouts)", "Anger because he shouts": an explanation follows the label.
_AFTER_LEAD = re.compile(r"\s*(?:[:：(–—.]|-\s|\b(?:because|since|as|is|was)\b)", re.IGNORECASE)
# "Anger, not Fear", "Anger rather than Fear": what stands behind is denied, what before is not.
_TURNED = re.compile(
    r"(?:[,(;–—]\s*(?:and\s+|but\s+)?not\b(?!\s+(?:only|just))|(?<!other\s)\b(?:rather\s+)?than\b|\b(?:instead\s+of|as\s+opposed\s+to)\b)"
    r".*",
    re.IGNORECASE,
)
# Where a denial ends: "It is not Fear, but Anger".
_CLAUSE = re.compile(r"(?<=[.!?])\s+|;\s*|,?\s+\bbut\s+(?!also|not)", re.IGNORECASE)
# "Which label fits? Anger": the question is an echo of the prompt.
_ECHO = re.compile(r"\?[\s\"*]++(?=[^\W\d_])")
# "Anger and Fear occur; the label is Fear": the last clause decides.
_NOUNS = ("label", "answer", "category", "class", "classification", "verdict")
_HENCE = ("so", "thus", "hence", "therefore")
_SETTLES = re.compile(
    rf"\b(?:{'|'.join(_NOUNS)})\s+(?:is|would\s+be|should\s+be)[:\s]+"
    rf"|\b(?:{'|'.join(_HENCE)}),?\s+(?:the\s+|my\s+)?(?:label|answer|verdict)\s*[:：]\s*",
    re.IGNORECASE,
)
_SETTLING = frozenset(_NOUNS)
# "Anger (0.9)", "Anger - 90%": a confidence is no word of an entry.
_CONFIDENCE = re.compile(
    r"\(\s*\d*\.?\d+\s*%?\s*\)|\s[-–—]\s*\d*\.?\d+\s*%|(?<![:=])(?<![:=]\s)\b\d+\.\d+\b"
)
# "Free of anger" denies it.
_FREE_OF = re.compile(r"\bfree\s+(?:of|from)\b", re.IGNORECASE)
# "Secondary: None" speaks of a second place.
_FURTHER = frozenset(rule("further"))
# Heads of labels that are there, by their place or by what they are.
_OF_LABELS = rule("of_labels")
# Heads of what is not the answer: "Ruled out: Fear", "Labels considered: Anger, Fear".
_NO_ANSWER = frozenset(rule("no_answer"))
# "The text shows none of these": no label, whatever is listed behind.
_SHOWS = rule("shows")
# "Mind Reading is a distortion", "Anger means hostility": what a label is, not where it applies.
_DEFINES = Phrases(*rule("defines"))
# "All four except Joy": what is named is what is not there.
_EXCEPTS = Phrases(*rule("excepts"))
# "It could be Anger if ...", "choose among Anger and Fear": nothing is said to be there.
_SUPPOSES = Phrases(*rule("supposes"))
# What explains a label names none, and its "would" supposes nothing of it.
_BECAUSE = re.compile(r"(?:,?\s+(?:because|since)\b|,\s+as\s).*", re.IGNORECASE)
# "Another judge would say: Fear": a head that leaves the answer to somebody else.
_OF_OTHERS = re.compile(
    r"\b(?:colleague|judge|rater|annotator|reviewer|human|assistant|model|expert)['’]s\b"
    rf"|{OTHERS_SAY}|\b(?:an?other|others?|someone|some|many|people|he|she|they|you|one)\s+(?:\w+\s+)?(?:would|might|may|could)\b",
    re.IGNORECASE,
)
# "Anger (he shouts), and Fear (he hides)": where a further label may begin.
_SEGMENT = re.compile(r"(?:(?<=[.;])|(?<=\)),?)\s+(?:and\s+)?")
# "Second label: Fear" in the middle of a line.
_PLACE = re.compile(r"(?:second|third|tertiary)[^:.\n]{0,30}:\s*", re.IGNORECASE)
# "Anger ✗, Fear ✓"
_CROSSED = re.compile(rf"[^,;|]{{0,200}}[{CROSSES}]\ufe0f?\s*(?:[,;|]|$)")
# "Anger (he may hide)": what brackets say behind a label.
_REMARK = re.compile(r"[ \t*_`]{0,4}[(（](?P<told>[^()（）\n]{1,200})[)）]")
_WEIGHED = frozenset(rule("weighed"))
_STATES = frozenset({"is", "are", "was", "were", "there"})
#: These deny nothing.
_NOT_ONLY = ("not only", "Not only", "not just", "Not just")
#: Words of `_TURNED` and `_BECAUSE`: without one of them neither finds anything.
_TURNS = frozenset({"not", "than", "instead", "opposed", "because", "since", "as"})
_DENIED_FIRST = NOT | {"wrong", "incorrect"}
_DEGREES = frozenset(rule("degrees"))
_NO_ENTRY = frozenset({"na", "null", "nil", "unknown", "unclear", "yes", "no"})
#: A sentence has at least so many words; *non-factual* is an entry.
_FEWEST = 3
_MAX_REMARKS, _LONGEST_LABEL, _LONGEST_LINE = 100, 200, 400


class Line(NamedTuple):
    """Labels named by a line, unknown entries, and what kind of line it is.

    `kind`: ``"list"``, ``"lead"`` (a label, then an explanation) or ``"prose"``. `unread` are
    labels behind which brackets say neither yes nor no.
    """

    kind: str
    labels: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    marked: bool = False
    final: bool = False
    unread: tuple[str, ...] = ()


def read_line(labels: LabelSet, raw: str) -> Line:
    """The labels of one line."""
    signs = frozenset(raw)
    raw, unread = (raw, ()) if signs.isdisjoint("(（") else _without_remarks(labels, raw)
    # Nearly no line has what is taken away, and each search goes through all of it.
    if "(" in signs or "from" in raw or "as" in raw:
        raw = OTHER_VALUE.sub("", raw)
    raw = _ticked(raw)
    line = raw.replace("*", "").replace("`", "").replace('"', "").strip()
    line = _behind_last(_ECHO, line) if "?" in line else line
    line = _FREE_OF.sub("not", line) if "ree" in line else line
    decimal = "." in signs and any(part[:1].isdigit() for part in line.split(".")[1:])
    if decimal or "%" in signs or "(" in signs:
        line = _CONFIDENCE.sub("", line)
    if unread and line.endswith((":", "：")):  # nothing is left behind its head
        return Line("prose", unread=unread)
    return _read(labels, raw, line)._replace(unread=unread) if unread else _read(labels, raw, line)


def _without_remarks(labels: LabelSet, line: str) -> tuple[str, tuple[str, ...]]:
    """The line without what brackets say of whether a label is there, and labels left open.

    *Anger (he may hide)* explains the label, *Anger (unclear)* says neither yes nor no.
    """
    kept, unread, at = "", list[str](), 0
    for remark in islice(_REMARK.finditer(line), _MAX_REMARKS):
        told, start = remark["told"], max(at, remark.start() - _LONGEST_LABEL)
        if headed_aside(told):
            kept, at = kept + line[at : remark.start()], remark.end()
            continue
        if not _is_like_a_verdict(told) or names_any(labels, words_of(told)):
            continue
        label = _label_before(labels, line[start : remark.start()])
        if label is None:
            continue
        if (says := verdict(told)) == "explained":
            kept += line[at : remark.start()]
        elif says is None:
            kept += line[at : start + label[1]]
            unread.append(label[0])
        else:
            continue
        at = remark.end()
    return kept + line[at:], tuple(unread)


def _label_before(labels: LabelSet, text: str) -> tuple[str, int] | None:
    """The label with which a text ends, and where it begins."""
    words = words_of(text)
    for at in range(max(0, len(words.forms) - labels.longest), len(words.forms)):
        named = name_at(labels, words, at)
        if named and at + named[1] == len(words.forms):
            return named[0], words.spans[at][0]
    return None


def _is_like_a_verdict(text: str) -> bool:
    """Whether words in brackets deny, weigh or suppose, whatever they speak of."""
    forms = words_of(text).forms
    return not (DENYING | _WEIGHED | {"none", "nil"}).isdisjoint(forms) or (
        _is_supposed(forms) or hedges(text) or any(map(denies, forms))
    )


def _is_supposed(forms: Sequence[str]) -> bool:
    """Whether words suppose something; *I would say* does not."""
    if _SUPPOSES.among(forms):
        return True
    mine = sum(pair == ("i", "would") for pair in pairwise(forms)) if "would" in forms else 0
    return forms.count("would") > mine


def _read(labels: LabelSet, raw: str, line: str) -> Line:
    bullet = _BULLET.match(line)
    line = line[bullet.end() :] if bullet else line
    # Half of a bracket: a piece of a list or of code that goes on, and names nothing alone.
    if (
        not line
        or _shows_none(line)
        or _EXCEPTS.among(words_of(line).forms)
        or line.count("[") != line.count("]")
    ):
        return Line("prose")
    marked = bullet is not None or _BULLET.match(raw) is not None
    # First: what explains a label may hold commas and the names of others.
    if leads := _leads(labels, line):
        return Line("lead", leads, marked=marked)
    cue = _CUE.match(line)
    final = cue is not None and not _FINAL.isdisjoint(words_of(cue["cue"]).forms)
    body = line[cue.end() :] if cue else line
    if cue and (headed := _headed(labels, cue["cue"], body)):
        return headed._replace(final=True) if final else headed
    listed = _listed(labels, _before_turn(body))
    # A sentence of another language is no entry outside the set, though it reads as one here.
    named = listed is not None and (listed.labels or marked or cue)
    if listed is None or not (named or not is_foreign(line, least=_FEWEST)):
        # Of a sentence in another language nobody knows here what it says of the labels it names.
        told = _of_sentence(labels, line) if is_foreign(line) else _mentioned(labels, line)
        return Line("prose", tuple(told))
    if listed.labels and (hedges(line) or not_only(line)):
        return Line("prose")
    return Line(listed.kind, listed.labels, listed.unknown, marked or cue is not None, final)


def _before_turn(body: str) -> str:
    """What is said before a word that sets another label aside: *Anger, not Fear*."""
    return body if _TURNS.isdisjoint(words_of(body).forms) else _TURNED.sub("", body)


def _of_sentence(labels: LabelSet, line: str) -> Iterator[str]:
    """The label that a sentence of another language says to be it: *Die Emotion ist Wut.*"""
    named = {labels.forms[form] for p in predicates(line) if (form := spelled(p)) in labels.forms}
    named = named or {name for name, *_ in names_in(contrasted(line), labels)}
    yield from named if len(named) == 1 else ()


def _listed(labels: LabelSet, body: str) -> Line | None:
    """The entries of a list; None where the line is a sentence."""
    if body.endswith("?") or (len(body) < _LONGEST_LABEL and spelled(body) in _NO_ENTRY):
        return Line("prose")
    entries = list[Entry]()
    undecided = not OR.isdisjoint(words_of(body).forms)
    if not undecided and begins_a_sentence(labels, body):
        return None
    for entry in entries_of(labels, body):
        if not (undecided or is_entry(entry)):
            return None
        entries.append(entry)
    if undecided and is_either(body, entries):
        return Line("prose")
    if not entries or not all(map(is_entry, entries)):
        return None
    unknown = tuple(text_of(body, each) for each in entries if is_unknown(labels, each))
    named = [e for e in entries if not (is_unknown(labels, e) or is_denied(e))]
    return Line("list", tuple(label for each in named for label in each.labels), unknown)


def _behind_last(pattern: re.Pattern[str], text: str) -> str:
    """What stands behind the last match, or all of the text."""
    ends = [match.end() for match in pattern.finditer(text)]
    return text[ends[-1] :] if ends else text


def _headed(labels: LabelSet, cue: str, body: str) -> Line | None:
    """What ``Anger: he shouts`` and ``Label: Anger because he shouts`` name."""
    if _is_aside(cue) or is_empty_slot(cue, body) or _OF_OTHERS.search(cue):
        return Line("prose")
    named = labels.forms.get(spelled(cue))
    if named is None and (is_no_answer(cue) or truth(cue) is False):
        return Line("prose")
    # *None* and *Other* as heads are words of a form; only what stands behind them names a label.
    if named is None or named in (labels.none, labels.other):
        leads = _leads(labels, _before_turn(body))
        return Line("lead", leads, marked=True) if leads else None
    forms = words_of(body[:60]).forms[:4]
    if not forms or _is_taken_back(forms):
        return Line("prose")
    return Line("lead", (named, *_further(labels, body)), marked=True)


def says_place(head: str) -> bool:
    """Whether a head counts labels, as *secondary* does: it goes on with what stands before it."""
    return not _FURTHER.isdisjoint(words_of(head).forms)


def _is_aside(head: str) -> bool:
    """Whether a head announces a reason: *Final remarks*."""
    forms = words_of(head).forms
    return bool(forms) and forms[-1] in ASIDES and forms[:-1] in ((), ("final",), ("closing",))


def _shows_none(line: str) -> bool:
    """Whether a line says that it shows none, or none of what is listed."""
    if "one" not in line:
        return False
    forms = words_of(line).forms
    pairs = pairwise(forms)
    return forms[:2] == ("none", "of") or any(
        after == "none" and one.removesuffix("s") in _SHOWS for one, after in pairs
    )


def sorts_all(labels: LabelSet, lines: Sequence[str]) -> bool:
    """Whether lists under heads that nobody knows share out all labels: which are there?"""
    cues = [(line, cue["cue"]) for line in lines if (cue := _CUE.match(line))]
    heads = dict[str, set[str]]()
    for line, told in cues if len(cues) > 1 else ():
        if (read := read_line(labels, line)).kind != "prose":
            head = "".join(filter(str.isalpha, told.casefold()))
            heads.setdefault(head, set()).update(read.labels)
    named = sorted(label for some in heads.values() for label in some)
    if len(heads) < 2 or named != sorted(labels.offered):
        return False
    return any(
        head not in labels.forms
        and truth(head) is None
        and not any(word in head for word in _OF_LABELS)
        for head in heads
    )


def is_no_answer(head: str) -> bool:
    """Whether a head announces what was rejected, or only considered.

    >>> is_no_answer("Ruled out"), is_no_answer("possible_labels"), is_no_answer("Labels")
    (True, True, False)
    """
    forms = words_of(head).forms
    for at, form in enumerate(forms):
        pair = " ".join(forms[at : at + 2])
        size = 2 if pair in _NO_ANSWER else 1 if form in _NO_ANSWER else 0
        # With two words before it and two behind at the most.
        if size and at < 3 and len(forms) - at - size < 3:
            return not any(map(str.isdigit, forms))
    return False


def is_empty_slot(cue: str, body: str) -> bool:
    """``Secondary: None`` says that there is no second label, not that there is none at all."""
    return says_place(cue) and spelled(body[:40]) in ("none", *_NO_ENTRY)


def _is_taken_back(forms: Sequence[str]) -> bool:
    """Whether the words behind a label deny or weigh it: *absent*, *is not shown*, *low*, *0.3*."""
    first = forms[0] if forms else "-"
    if (
        {"yes", "no"} <= set(forms[:2])
        or first in _DENIED_FIRST
        or first in _DEGREES
        or first.isdigit()
    ):
        return True
    return first in _STATES and not (DENYING | _WEIGHED).isdisjoint(forms)


def _ticked(raw: str) -> str:
    """A line without its box; nothing where the box is empty or crossed."""
    box = BOX.match(raw)
    if box is None:
        return raw if raw.isascii() else _CROSSED.sub("", raw)
    return f"- {raw[box.end() :]}" if is_ticked(box) else ""


def _leads(labels: LabelSet, line: str) -> tuple[str, ...]:
    """Labels with their explanations: ``Anger (he shouts), Fear (he hides)``."""
    first = _lead(labels, line)
    return (first, *_further(labels, line)) if first else ()


def _further(labels: LabelSet, line: str) -> Iterator[str]:
    """Labels that begin a later sentence of the line and are explained there."""
    for each in _SEGMENT.finditer(line[:2_000]):
        rest = line[each.end() :]
        place = _PLACE.match(rest)
        rest = rest[place.end() :] if place else rest
        start = _at_start(labels, rest)
        explained = start and (place or _AFTER_LEAD.match(rest, start[1]))
        if start and explained and not _is_taken_back(start[2]):
            yield start[0]


def _at_start(labels: LabelSet, line: str) -> tuple[str, int, tuple[str, ...]] | None:
    """The label with which a text begins, where it ends, and the words that follow."""
    words = words_of(line if len(line) < _LONGEST_LINE else line[:_LONGEST_LINE])
    begins = bool(words.forms) and words.spans[0][0] <= 2 and words.forms[0] in labels.beginnings
    named = name_at(labels, words, 0) if begins else None
    if named is None:
        return None
    label, count = named
    behind = words.forms[count : labels.longest + MAX_REMARK + 1]
    return label, words.spans[count - 1][1], behind


def _lead(labels: LabelSet, line: str) -> str | None:
    """A label at the start, followed by an explanation longer than a remark."""
    start = _at_start(labels, line)
    if start is None:
        return None
    label, end, behind = start
    if not _AFTER_LEAD.match(line, end) or _defines(line, end, behind):
        return None
    if _is_taken_back(behind[:4]):
        return None
    return label if len(behind) > MAX_REMARK or _DASH.match(line, end) else None


def _defines(line: str, end: int, behind: Sequence[str]) -> bool:
    """Whether the words right behind a label say what it is."""
    return line[end : end + 1].isspace() and _DEFINES.begin(behind)


def _mentioned(labels: LabelSet, line: str) -> Iterator[str]:
    """Labels that a sentence names without denying anything.

    Ordinary words that happen to be labels (*others*, *none*) count only in lists.
    """
    forms = words_of(line).forms
    if labels.beginnings.isdisjoint(forms):
        return
    if "only" in forms or "just" in forms:
        for each in _NOT_ONLY:
            line = line.replace(each, "")
    decides = [] if _SETTLING.isdisjoint(forms) else list(_SETTLES.finditer(line))
    # Of two such sentences neither is the last word.
    if len(decides) == 1 and not DENIED.search(line[: decides[0].start()]):
        line = line[decides[0].end() :]
    for sentence in _CLAUSE.split(line):
        for label in _of_clause(labels, sentence):
            # "others" and "none" stand in any sentence.
            ordinary = label in (labels.none, labels.other) and len(WORD.findall(label)) == 1
            if not ordinary and (label != labels.none or "none" not in sentence.casefold()):
                yield label


def _of_clause(labels: LabelSet, clause: str) -> list[str]:
    """The labels that a clause names, unless it asks, supposes, defines or denies."""
    forms = words_of(clause).forms
    if labels.beginnings.isdisjoint(forms) or clause.endswith("?"):
        return []
    # Reasons and what is set against the label name others, which are not meant.
    kept = clause if _TURNS.isdisjoint(forms) else _BECAUSE.sub("", _TURNED.sub("", clause))
    if _is_supposed(words_of(kept).forms):
        return []
    entries = list(entries_of(labels, kept))
    if not any(entry.labels for entry in entries) or is_either(kept, entries):
        return []
    if not all(DENYING.isdisjoint(entry.rest) for entry in entries):
        return []
    start = _at_start(labels, clause)
    defined = start is not None and _defines(clause, start[1], start[2])
    return [] if defined else [label for entry in entries for label in entry.labels]
