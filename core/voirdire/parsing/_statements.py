r"""One grammar of statements: what a reply says behind a key, a verdict word, in a table or a box.

``Empathy: 4``, ``**Empathy** (4/5)``, ``| Empathy | 4 |``, ``Final grade: B``, ``[[A]]``,
``\boxed{4}``, ``<answer>yes</answer>``. Which of them counts is said by `_settling`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from voirdire.parsing._keys import key_forms, match_key, plain_key
from voirdire.parsing._names import LAST, FoundName, SpelledNames, names_in
from voirdire.parsing._spelling import Phrases, words_of
from voirdire.parsing._stated import Statement
from voirdire.parsing._tables import cells, rows_of, tables, unmarked
from voirdire.parsing._ticks import ticks
from voirdire.parsing._vocabulary import copulas, numbers_of, of_heads, rule
from voirdire.parsing._words import (
    DENIED,
    DRAFT_NOUNS,
    FINAL_NOUNS,
    MARK,
    VERDICTS,
    Rank,
    either,
    mark_rank,
    rank_of,
    without_aside,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MARKS = r"[*_`\"'”’\s]{0,6}"
# "Empathy 4/5": a fraction needs no sign before it.
_NUMBER_OF = r"\d(?:[.,]\d{1,3})?\s*(?:/|out\s+of)\s*\d"
# What is a value on the line below its key: a number, perhaps with a remark, a yes, a preference.
_BELOW = (
    r"(?:score\s)?\d(?:[.,]\d+)?(?:\s?/\s?\d+|\s(?:out\s+of\s+\d+|stars?|points?))?"
    r"[*_`.\s]{0,4}(?:\n|$|\s[(–—-]|\bbecause\b)"
    r"|(?:yes|no|true|false)\b|[AB]\s?[<>=]"
    r"|(?-i:[A-E])[)*_`.]{0,4}\s*?(?:\n|$)"
)
#: "Final answer, after weighing it: 4", "Score before review: 2": between key and colon.
BETWEEN = (
    r"(?:,?\s+(?P<between>(?:before|after|having|upon|given|considering|all\s+things)\b[^,.:;\n]{0,50}),?"
    r"(?=[*_]{0,2}[:：]))?"
)
# Where a field ends: with its line, cell or tag, or where the next name and colon begin; the sign
# of "A<B" is no tag.
_ENDS = re.compile(
    r"\n|。|<(?![<=]|\s?[AB]\b)|[|;&](?!\s*\d)|,\s*(?=[\"']?[^\W\d_][\w ]{0,30}[\"']?\s*[:=])"
)
# What joins a field to the next one is no part of it: "4, and".
_JOINS = re.compile(r"(?:[\s,•#✅✔✓☑\ufe0f\"'`}\]]|\s-+|\b(?:and|while|but|with|the|its)\b)+$")
_TICKS = frozenset("✅✔✓☑")
# An item of a list, or a level described, on the line below a key: "Empathy:\n5: Deeply empathic."
_ITEM = re.compile(r"\d{1,2}(?:[.)][ \t]|\s?[:=])")
# What joins two keys: "Empathy and Safety: 4" says it of both, "Empathy vs Safety: 4" of neither.
_JOINT = re.compile(
    r"(?P<joint>(?:\s+is\s+\w+\s+than\b|\s*(?:,\s*and\b|[&/+→]"
    r"|\b(?:and|or|nor|vs\.?|versus|plus|than|without)\b))\s*(?:the\s+)?)",
    re.IGNORECASE,
)
# Before a key: nothing that it is a part of, or a mark of how far it goes.
_LEAD = re.compile(
    rf"(?:(?<!\w)|(?<=__))(?:(?P<mark>{MARK})_|(?P<last>{'|'.join(LAST)})[的\s]?)?\Z",
    re.IGNORECASE,
)
_REACH = 20
#: The value with which a field begins, without what is said of it: "**2** (draft)".
VALUE = re.compile(r"[^\w\n]*[\w.,/]+(?:\s*/\s*\d+|\s*[<>=≫≪]{1,3}\s*\w+)?[*_\"'`)\]]*")
# Before a key that stands over its value, and is no word of a sentence.
_HEADING = re.compile(r"[\W\d_]*(?:(?:final|overall|my|the)\s+)?[\W_]*", re.IGNORECASE)
_COLONS = frozenset(":：=")
# Only "and" and "&" say a value of both keys; "or" and "vs" of neither.
_AND = ("&", "and", "&the", "andthe")
# Both keys must open their clause: in "less warmth and safety: 4" the first is no head.
_OPENS = re.compile(r"(?:^|[.;\n])[\W_]*(?:for\s+)?(?:both\s+|the\s+)?$", re.IGNORECASE)
_APART_NOUN = (
    "answer|output|score|rating|verdict|winner|result|grade|label|choice|decision|judge?ment"
)
# Where a format sets the answer apart: Prometheus' [RESULT], a LaTeX box, a tag, MT-Bench's [[4]].
_APART = re.compile(
    rf"(?:\[(?:RESULT|(?-i:(?P<head>{MARK.upper()})(?:[ _](?:{_APART_NOUN.upper()}))?))\]"
    r"[ \t]*:?[ \t]*(?P<result>[^\n]{0,120})"
    r"|\\?\b(?:f?box(?:ed)?)(?P<brace>[{\[])\s*(?P<box>(?:\\\w{1,10}\s?\{[^{}\n]{0,60}\}|[^{}\[\]\n]){0,120})(?P<unbox>[}\]])?"
    rf"|<(?P<tag>(?:(?P<mark>{MARK})[ _-]?)?(?:{_APART_NOUN})"
    r"|(?P<only>final|draft|revised|corrected))>"
    r"\s*(?P<tagged>[^<\n]{0,120})(?P<untag>\s*</(?P=tag)>)?"
    r"|\[\[(?P<double>[^\[\]\n]{0,60})(?P<undouble>\]\])?)",
    re.IGNORECASE,
)
# "[[A]] if assistant A is better": the prompt's format is repeated, nothing is set apart.
_TOLD = Phrases("if", "for", "when")
# "\boxed{\text{B}}": a command of LaTeX around a value, which is kept.
_LATEX = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|mathit)\s?\{([^{}]*)\}")
_ASKS = frozenset("?？؟")
_MOST_MARKS = 4  # between a key and the word before it
_MOST = 500  # the last so many: no honest reply states more
_LONGEST, _SECTION, _INTO, _SHORT = 300, 2_000, 30, 8
# "[[A]] or [[B]]": the format is repeated, nothing is set apart.
_ALTERNATIVES = frozenset({"or", ", or", ",or", "/", "|", "vs", "vs."})
_MARKED_NOUNS = (*FINAL_NOUNS, *DRAFT_NOUNS)
_MARKED_RANKS: dict[str, Rank] = {
    **dict.fromkeys(map(plain_key, FINAL_NOUNS), "final"),
    **dict.fromkeys(map(plain_key, DRAFT_NOUNS), "draft"),
}
#: What may lead to a verdict word in its line; another word makes it another thing's.
_OPENERS = frozenset(rule("openers"))


class _NamedCue(NamedTuple):
    """A name, the sign that a value follows, and what brackets or words between them say.

    `before` is the name before it in the text, if any.
    """

    name: FoundName
    start: int
    end: int
    mark: str
    last: bool
    remark: str
    before: FoundName | None


@lru_cache(maxsize=64)
def _keys(names: tuple[str, ...]) -> SpelledNames:
    return SpelledNames.of(names)


def statements(
    text: str, keys: Sequence[str], read: Callable[[str], object] | None = None
) -> list[Statement]:
    """Everything that the text states of the given keys, in its tables and in its lines.

    `read` gives the value of a text, None where it holds none: by it the column of a table is known
    whose head is no word of verdict.
    """
    marked = list[Statement]()
    if "|" in text or "[" in text or not text.isascii():  # it may hold a table or a box
        name_of = partial(match_key, forms=key_forms(keys))
        marked += cells(text, name_of, read)
        for cell in marked:  # a table's words are no cues
            text = _without(text, cell)
        marked += ticks(text, name_of)
    return [*marked, *_in_lines(text, _keys(tuple(keys)))]


def _without(text: str, cell: Statement) -> str:
    """The text without the table of a cell, blanked so that the places of all others stay."""
    return f"{text[: cell.at]}{' ' * (cell.end - cell.at - 1)}\n{text[cell.end :]}"


# A text is asked more than once for what stands behind words of verdict.
@lru_cache(maxsize=4)
def _in_lines(text: str, keys: SpelledNames) -> Sequence[Statement]:
    cues = [*_cues(text, keys)][-_MOST:]
    ends = [*(cue.start for cue in cues), len(text)][1:]
    stated = []
    for cue, end in zip(cues, ends, strict=True):
        # A denial reaches no further than its line: each line of a list speaks for itself.
        if DENIED.search(text[max(0, cue.start - 80) : cue.start].rpartition("\n")[2]):
            continue
        field = _field(text[cue.end : end], below="\n" in text[cue.start : cue.end])
        if _is_asked(field):
            continue
        rank, value = _rank(text, cue, field), _JOINS.sub("", without_aside(field.replace("*", "")))
        if not value and not _TICKS.isdisjoint(field):  # "calm: ✅"
            value = field.strip()
        if value.endswith(")") and "(" not in value:  # "rate(Empathy=3)"
            value = value[:-1]
        section = text[cue.end : min(end, cue.end + _SECTION)]
        before, upto = _word_before(text, cue.start), cue.end + len(field)
        stated += [
            Statement(key, value, cue.start, upto, rank, section, before, begins=cue.end)
            for key in _spoken_of(text, cue)
        ]
    return stated


def _cues(text: str, keys: SpelledNames) -> Iterator[_NamedCue]:
    """The names of a text behind which a sign says that a value follows."""
    sign, free, before = _follows(), 0, None
    for named in names_in(text, keys):
        if named.start < free:
            continue
        lead = _LEAD.search(text, max(0, named.start - _REACH), named.start)
        if lead is None:
            continue  # part of another word
        if match := sign.match(text, named.end):
            remark = match["remark"] or match["between"] or ""
            mark, last = lead["mark"] or "", bool(lead["last"])
            yield _NamedCue(named, lead.start(), match.end(), mark, last, remark, before)
            free = match.end()
        if before is None or named.start >= before.end:
            before = named


@lru_cache(maxsize=16)
def verdict_words(*more: str) -> tuple[str, ...]:
    """The nouns of a verdict in every language, and further heads."""
    return (*VERDICTS, *of_heads("verdict"), *more)


@lru_cache(maxsize=16)
def verdict_keys(*more: str) -> SpelledNames:
    """The nouns of a verdict, and further heads, as keys."""
    return _nameless((*verdict_words(*more), *_MARKED_NOUNS))


@lru_cache(maxsize=16)
def only_keys(*nouns: str) -> SpelledNames:
    """These nouns of a verdict alone."""
    return _nameless((*nouns, *_MARKED_NOUNS))


def _nameless(nouns: tuple[str, ...]) -> SpelledNames:
    """Nouns that all stand for the one question."""
    keys = _keys(nouns)
    return replace(keys, forms=dict.fromkeys(keys.forms, ""))


def names_another(keys: Sequence[str], own: str) -> Callable[[str], bool]:
    """Whether a text names another of several keys, and not its own."""
    named_in = _named_keys(tuple(keys))

    def names(text: str) -> bool:
        named = named_in(text)
        return bool(named) and own not in named

    return names


@lru_cache(maxsize=4)
def _named_keys(keys: tuple[str, ...]) -> Callable[[str], frozenset[str]]:
    """Which keys a text names; each of them asks the same of every line."""
    forms = [(key, f" {' '.join(words_of(key).forms)} ") for key in keys]

    @lru_cache(maxsize=128)
    def named(text: str) -> frozenset[str]:
        said = " ".join(("", *words_of(text).forms, ""))
        return frozenset(key for key, words in forms if words in said)

    return named


@cache
def _openers() -> frozenset[str]:
    return _OPENERS | frozenset(of_heads("article"))


def verdicts(text: str, keys: SpelledNames | None = None) -> list[Statement]:
    """What stands behind words of verdict, under the key ``""``: ``Score: 4``, ``Final: B``.

    Not of another thing: ``Confidence score: 5``.
    """
    for cell in _verdict_cells(text):  # a table's heads are no cues
        if mark_rank(cell.key.partition(" ")[0]) != "said":
            text = _without(text, cell)
    stated = _in_lines(text, keys or verdict_keys())
    return [each for each in stated if each.rank != "said" or each.before in _openers()]


def set_apart(text: str) -> list[Statement]:
    r"""What a format sets apart, in order, under the key ``""``.

    >>> [(each.text, each.rank) for each in set_apart("Draft: [[2]]. Final: \\boxed{4}")]
    [('2', 'draft'), ('4', 'final')]
    """
    stated = [cell._replace(key="", rank=_of_cell(cell.key)) for cell in _verdict_cells(text)]
    # The search tries each place of a text: few texts hold a box.
    may = "[" in text or "<" in text or "box" in text.casefold()
    boxes = list(_APART.finditer(text))[-_MOST:] if may else []
    if not boxes:
        return stated
    # By identity: two boxes of the same text are two.
    alternatives = {
        id(box)
        for pair in pairwise(boxes)
        if _between(text, *pair) in _ALTERNATIVES
        for box in pair
    }
    for box in boxes:
        if id(box) in alternatives or _is_told(text[box.end() : box.end() + 40]):
            continue
        value = next(filter(None, box.group("result", "box", "tagged", "double")), "")
        rank = mark_rank(next(filter(None, box.group("mark", "only", "head")), None))
        rank = rank if rank != "said" else rank_of(text, box.start(), box.end())
        closed = any(box.group("unbox", "untag", "undouble"))
        rank = "apart" if rank == "said" else rank
        stated.append(Statement("", _plain(value), box.start(), box.end(), rank, closed=closed))
    return stated


def _between(text: str, one: re.Match[str], other: re.Match[str]) -> str:
    return text[one.end() : other.start()].strip(" \t\n\"'`").casefold()


def _is_told(behind: str) -> bool:
    body = behind.lstrip("])}> \t\n\"”'’`")
    return body[:1].isalpha() and _TOLD.begin(words_of(body).forms)


def last_words(text: str) -> list[Statement]:
    """What settles a single question behind an object: final verdicts."""
    return [each for each in verdicts(text) if each.final]


def _plain(value: str) -> str:
    return _LATEX.sub(r"\1", value).strip(" *_`$\\")


def _of_cell(head: str) -> Rank:
    """A column *Draft* or *Final score* beside others says how far its cell goes."""
    rank = mark_rank(head.split(maxsplit=1)[0] if head else None)
    return "apart" if rank == "said" else rank


def _rank(text: str, cue: _NamedCue, field: str) -> Rank:
    if (marked := mark_rank(cue.mark)) != "said":
        return marked
    if cue.last:
        return "final"
    # "Endgültig Empathie: 2", "Korrektur: Empathie: 2"; nearly always a key begins its line.
    if (before := _word_before(text, cue.start)) and (told := _heads().get(before)):
        return told
    headed = text[max(0, cue.start - _MOST_MARKS) : cue.start]
    if not _COLONS.isdisjoint(headed) and _word_before(text, cue.start, ":：") in of_heads("back"):
        return "final"
    if marked_noun := _MARKED_RANKS.get(plain_key(text[cue.name.start : cue.name.end])):
        return marked_noun
    value = VALUE.match(field)
    return rank_of(text, cue.start, cue.end + (value.end() if value else 0), cue.remark)


@cache
def _heads() -> dict[str, Rank]:
    """What words before a key make of its statement, in other languages than English."""
    heads: dict[str, Rank] = dict.fromkeys(of_heads("draft"), "draft")
    return heads | dict.fromkeys(of_heads("final"), "final")


def _spoken_of(text: str, cue: _NamedCue) -> list[str]:
    """Its own key, both of *Empathy and Safety*, or none where two are compared."""
    start = max(0, cue.start - _LONGEST)
    before = text[start : cue.start].rpartition("\n")[2]
    # A key over its value, without a colon, must have its line for itself: else it
    # is a word of a sentence.
    head = text[cue.start : cue.end]
    if "\n" in head and _COLONS.isdisjoint(head) and not _HEADING.fullmatch(before):
        return []
    other = cue.before
    if other is None or other.start < cue.start - len(before):
        return [cue.name.name]
    joint = _JOINT.fullmatch(text, other.end, cue.start)
    if joint is None:
        return [cue.name.name]
    both = "".join(joint["joint"].casefold().split()) in _AND and _OPENS.search(
        text[cue.start - len(before) : other.start]
    )
    return [other.name, cue.name.name] if both else []


def _is_asked(field: str) -> bool:
    """Whether a value is asked for and no other follows it: *4? Hardly.*, not *4? Or 3?*."""
    at = next((at for at, sign in enumerate(field[:_SHORT]) if sign in _ASKS), None)
    return at is not None and not any(map(str.isdecimal, field[at:]))


def _word_before(text: str, at: int, signs: str = "") -> str:
    """The word right before a key, as *final* in *Final **Empathy***, and before further signs."""
    part = text[max(0, at - 40) : at]
    lead = part.rstrip(f" \t*_{signs}")
    if not 0 < len(part) - len(lead) <= _MOST_MARKS or not lead[-1:].isalpha():
        return ""
    return words_of(lead).forms[-1]


def _field(text: str, *, below: bool) -> str:
    if below and _ITEM.match(text):
        return ""
    return _ENDS.split(text[:_LONGEST], maxsplit=1)[0]


@cache
def _noun_behind() -> str:
    """A noun of a score right behind its key: *Empathy score*, *Empati puanı*, 共情评分."""
    words = ("score", "rating", "level", *of_heads("verdict"))
    # Words of a script without capitals may stand right behind another.
    joined = [word for word in words if word.upper() == word]
    spaced = either(tuple(word for word in words if word not in joined))
    return rf"{_MARKS}\b{spaced}\w{{0,2}}|{_MARKS}(?:{either(tuple(joined))})"


@cache
def _sign() -> str:
    """What leads from a key to its value: a colon, an arrow, "is", a cell, or a line break."""
    verbs = "|".join(("is", "was", "gets", "receives", "deserves", "scores", "at", *copulas()))
    numbers = either(numbers_of("en"))
    below = rf"{_BELOW}|{numbers}[*_`]{{0,2}}(?:\n|$|[.,])"
    return (
        rf"(?:(?:[-=]>|[:=：|>→?]|\b(?:{verbs})\b(?:\s*[:：])?(?-i:\s+an?\b)?"
        rf"|[-–—](?=\s)|\.{{3,}}|\t)|\n(?=[*_`\s]{{0,6}}(?:{below})))"
    )


@cache
def _follows() -> re.Pattern[str]:
    """Behind a key: "score", a remark in brackets, and a sign that a value follows."""
    # "Empathy score (1-5): 4", "**Empathy** [4]": the number itself in brackets, or a sign.
    return re.compile(
        rf"(?:{_noun_behind()})?(?!\w){_MARKS}"
        rf"(?:(?=[(\[]?\s?{_NUMBER_OF})"
        rf"|(?:[(\[](?P<remark>[^()\[\]\n]{{0,40}})[)\]])?{BETWEEN}{_MARKS}{_sign()}{_MARKS})",
        re.IGNORECASE,
    )


def _verdict_cells(text: str) -> list[Statement]:
    """The cell below a word of verdict, where a table has one row and begins with that word.

    A mark may stand before the word; where all columns are such words, each is a cell under its
    head: ``| Draft | Final score |``. Other tables with such a column are about several things.
    """
    stated = list[Statement]()
    for table in tables(text) if "|" in text else ():
        forms = key_forms((*VERDICTS, *_MARKED_NOUNS))
        head, *rows = rows_of(table.group())
        # Several rows are about several things, of which none is the verdict.
        if len(rows) != 1 or not head or not rows[0]:
            continue
        is_verdict = [match_key(unmarked(cell), forms) is not None for cell in head]
        upto = len(head) if all(is_verdict) else 1 if is_verdict[0] else 0
        stated += [
            Statement(name, cell, table.start(), table.end(), closed=True)
            for name, cell in zip(head[:upto], rows[0], strict=False)
        ]
    return stated
