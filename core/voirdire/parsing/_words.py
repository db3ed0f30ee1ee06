"""The words by which a reply marks what it says: as a verdict, a draft, final, or taken back.

One list of each for all parsers. What is a fragment of a regular expression ignores case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from voirdire.parsing._spelling import Phrases, last_part, words_of
from voirdire.parsing._vocabulary import rule

if TYPE_CHECKING:
    from collections.abc import Iterable

#: How far a statement goes: a draft never answers, a final one settles what stands before it.
#: A rival is a value without a head behind another one: it leaves both undecided.
Rank = Literal["draft", "said", "rival", "apart", "final"]

#: Nouns of a verdict: what stands behind one and a sign is what the reply decides.
VERDICTS = rule("verdicts")
#: These stand for a noun of verdict too: ``Final: 4``, ``Draft: 2``.
FINAL_NOUNS = rule("final_nouns")
DRAFT_NOUNS = rule("draft_nouns")
#: Joined to a noun by a sign they say the same: ``final_answer``, ``<revised_score>``.
FINAL_MARKS = rule("final_marks")
DRAFT_MARKS = rule("draft_marks")
#: Any of these marks, as a fragment.
MARK = "|".join((*FINAL_MARKS, *DRAFT_MARKS))
_FINAL = (
    r"(?:final(?:ly|ised|ized|e|er|es)?|revised|corrected|amended|updated|adjusted|edit(?:ed)?|definitive"
    r"|re-?(?:considered|evaluated|assessed|examined|scored|rated|graded|judged|labell?ed|checked|weighed)"
    r"|ultimate(?:ly)?|settled|therefore|thus|hence|in\s+conclusion|to\s+conclude)"
)
# An adjective beside its noun; "first" and "old" stand before many other things.
_DRAFT = (
    r"(?:initial|draft|first(?:[- ](?:pass|draft|guess|impression))?|preliminary|tentative"
    r"|provisional|earlier|previous|prior|old|original|starting|rough|temporary|intermediate|interim|before"
    r")"
)
_DRAFT_CLAUSE = (
    r"(?:at\s+first|initially|originally|previously|earlier"
    r"|(?:first|initial)\s+(?:thought|instinct))"
)
# "2 at first", "[[2]] draft.", "2 (tentative)", "2 was my first guess".
_DRAFT_BEHIND = re.compile(
    r"[ \t*_,(\[–—-]*(?:(?:was|is|being|as|for|only|just)\s+)?(?:(?:my|the|an?)\s+)?"
    r"(?:at\s+first|initial(?:ly)?|draft|first\s+(?:pass|draft|guess|impression|thought)|tentative(?:ly)?"
    r"|preliminary|provisional(?:ly)?|to\s+(?:begin|start)\s+with|originally"
    r"|before\s+(?:the\s+)?(?:review|reflection|revision|discussion)"
    r"|but\s+(?:(?:it|that|this)(?:\s+is|['’]s)\s+|i(?:['’]d|\s+would|\s+have)?\s+)?now)\b",
    re.IGNORECASE,
)
# "4 is my final score", "4 (revised)", "4 after review".
_FINAL_BEHIND = re.compile(
    r"[ \t*_,(\[–—-]*(?:(?:is|as)\s+)?(?:(?:my|the)\s+)?(?:final|revised|corrected|amended"
    r"|after\s+(?:the\s+)?(?:review|reflection|revision|discussion))\b"
    # "4 Final score: 3": the word belongs to what follows.
    r"(?!(?:[ \t]+\w+){0,2}[ \t]*[:：])",
    re.IGNORECASE,
)
# One word, behind which its sentence ends.
_ONE_WORD = r"[*_\"'`(\[]{0,3}(?:[^\W_]|[./+-]){1,12}[*_\"'`)\]]{0,3}"
_SENTENCE_ENDS = r"(?=\s*(?:[.!](?:\s|$)|\n|$))"
# Second thoughts: what stands before them does not count any more. The first kind may begin a
# clause, the second begins a sentence, for it also occurs in what a text is about.
_SECOND_THOUGHTS = (
    r"(?:wait|hmm+|oops|correction|never\s*mind|(?:hold|hang)\s+on(?!\s+to\b)|re-?(?:considering|reading)"
    r"|actually(?=\s*[,:.…–—-]|\s+(?:i|no|not|my|let|make|\d|(?-i:[A-Z]))\b)"
    r"|(?:please\s+)?(?:scratch|strike|forget|ignore|disregard)\s+(?:that|this|it"
    r"|(?:the|my)\s+(?:above|previous|earlier|first|last|initial|old)\b)"
    r"|i\s+(?:can(?:no|['’])t|could\s+not|couldn['’]t)\s+(?:choose|decide|tell|say|settle)"
    r"|thinking\s+(?:again|twice|about\s+(?:it|this)\s+(?:again|more))"
    r"|make\s+(?:that|it)\s+(?=\W{0,3}(?:an?\s+)?(?:\d|(?-i:[A-Z])\b|yes\b|no\b))"
    r"|no,\s+(?:wait|sorry|rather|it\s+should|(?:the|my)\s+(?:\w+\s+)?(?:"
    + "|".join(VERDICTS)
    + r")\s+(?:is|should))"
    r"|(?:(?:sorry|apologies|oh|no)[,.!:;–—-]*\s+)?i\s+meant\b"
    r"|(?:sorry|apologies)[,.!:;–—-]*\s+(?:that|this|it|the\s+\w+)\s+should\b"
    r"|(?:on|upon|after)\s+(?:(?:second|further|closer|deeper|more)\s+)?(?:reflection|thoughts?|consideration"
    r"|inspection|reading|re-?reading)|on\s+an?\s+(?:second|further|closer|deeper)\s+(?:look|glance)"
    r"|(?:looking|reading|going|thinking)\s+(?:[\w']+\s+){0,4}again\b"
    rf"|(?:err?|sorry|apologies|whoops|well)(?=[\s,.:;…–—-]{{1,4}}{_ONE_WORD}{_SENTENCE_ENDS})"
    r"|i(?:['’]d|\s+would)?\s+(?:now\s+)?(?:change|revise|correct|amend|update)\s+(?:this|that|it|my)\b"
    r"|(?:let\s+me|i(?:['’]ll|\s+will|\s+should|\s+must|\s+need\s+to|\s+have\s+to)?)"
    r"\s+(?:revise|reconsider|correct|re-?evaluate|re-?think|re-?assess|change))"
)
_OWNED_UP = (
    r"(?:i\s+take\s+(?:that|this|it)\s+back|i(?:\s+was|\s+am|['’]m)\s+(?:wrong|mistaken)"
    r"|i\s+(?:retract|withdraw)\b|i\s+stand\s+corrected"
    r"|i\s+(?:misread|misjudged|miscounted|misunderstood|overlooked)\b"
    r"|(?:that|this|it|the\s+above)\s+was\s+(?:only|just|merely)\s+(?:an?|my|the)\s+(?:\w+\s+)?(?:draft|guess|thought|try|impression)"
    r"|i\s+made\s+(?:a\s+mistake|an\s+error)|my\s+(?:mistake|bad)"
    r"|(?:that|this|(?:that|my)\s+answer)(?:['’]s|\s+is|\s+was|\s+seems|\s+would\s+be)\s+(?:wrong|incorrect"
    r"|not\s+right|a\s+mistake|too\s+(?:high|low|harsh|generous|lenient|strict))"
    r"|i(?:['’]ve|\s+have)?\s+changed?\s+my\s+mind)"
)
TAKEN_BACK = rf"(?:{_SECOND_THOUGHTS}|{_OWNED_UP})"
# Bounded: a run of blanks or stars is begun at each of its places.
_LEAD = r"[\s*_]{0,9}+(?:(?:oh|but|no|and|so|hmm+|well|yet)\b[,.]?\s+){0,2}"
#: What takes back the statement before it.
TAKES_BACK = re.compile(
    rf"(?:(?:^|[.!?\n)\]}}>…—–]|\s-){_LEAD}{TAKEN_BACK}"
    rf"|[;:,*]{_LEAD}{_SECOND_THOUGHTS})(?!\w)[\s,.:!–—-]*",
    re.IGNORECASE,
)
#: In a reply that was cut these announce that another statement was to follow.
TURNS = re.compile(
    rf"\b(?:{TAKEN_BACK}|{_FINAL}|then\s+again|then(?=\W*$)|reconsider(?:ing|ed)?|revis(?:e|ing|ed)"
    r"|adjust(?:ing|ed)?|upgrad(?:e|ing)|downgrad(?:e|ing)|actually)(?!\w)",
    re.IGNORECASE,
)
#: The sentence right behind a statement, in a reply that was cut, weighs something against it.
_TURNS_AT_ONCE = Phrases(*rule("turns_at_once"))
# One more look, a closer reading, a second check; looking again, checked twice; re-reading.
_LOOK = (
    r"(?:(?:one\s+(?:more|last|final)|another|an?\s+(?:more\s+careful)|(?:an?\s+)?(?:second|third|last|closer|further|fresh|new"
    r"|careful|quick))\s+(?:look|read(?:ing)?|check|pass|glance|review|inspection|try|thoughts?|impression)"
    r"|double[- ]?check(?:ing|ed)?"
    r"|re-?(?:look|read|check|think|consider|examin|assess|evaluat|visit|count|weigh|scor|label|judg)\w{0,6}"
    r"|(?:look|read|check|think|thought|consider|count|weigh|go|went|sle(?:ep|pt))(?:s|ing|ed)?\s+(?:[\w']+\s+){0,4}"
    r"(?:again|once\s+more|one\s+more\s+time|twice|a\s+second\s+time|more\s+(?:closely|carefully)|sleeping|on\s+it)"
    r"|sleeping\s+on\s+it)"
)
#: Another look: where another value is stated behind it, the one before it does not stand.
LOOKS_AGAIN = re.compile(rf"\b{_LOOK}(?!\w)", re.IGNORECASE)
#: Words that lead from a value to the one that replaces it: *sorry, I meant 4*, *I raise it to 4*.
TURNS_TO = re.compile(
    rf"""
    (?:\b|(?<=\W))(?:
        meant | should\s+(?:be|have\s+been) | make\s+(?:that|it)
      | on\s+second\s+thoughts? | (?:scratch|strike)\s+(?:that|this|it)
      | sorry | apologies | o+ps | whoops | err?
      | {_LOOK}(?!\w)
        # "I raise it to", "Bumped to"; in a story moods change to fear as well
      | (?:(?<=\bi\s)|(?<=\bi['’]m\s)
          |(?<=[.!?;(/#]\s)|(?<=[.!?;(/#\n])|(?<=\bhave\s)|(?<=\bwould\s)|^)
        (?: chang|rais|lower|bump|mov|revis|adjust|upgrad|downgrad|increas|decreas|reduc|correct
          | amend|updat|switch )\w{{0,3}}(?:\s[^.!?\n]{{0,40}})?\sto
      | (?:settled?|land(?:ed)?|end(?:ed)?\s+up)\s+(?:on|with|at)
    )(?!\w)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_SEPARATORS = r"[ \t*_`,:=(\[$\\\"'–—-]"
_NOUN = "|".join(VERDICTS)
# "Final answer: ", "My final, revised score is ": up to three words lead on to the statement.
_FINAL_BEFORE = re.compile(
    rf"(?<![^\W_])(?:{_FINAL}(?:{_SEPARATORS}{{1,6}}[^\W_]{{1,20}}){{0,3}}{_SEPARATORS}{{1,6}}|re-)$",
    re.IGNORECASE,
)
# "Draft: ", "Initial overall score: ", "At first I would say ".
_DRAFT_BEFORE = re.compile(
    rf"(?:(?<![^\W_]){_DRAFT}(?:[ \t]+(?:{_NOUN}|overall))?(?:\s+(?:was|is|would\s+be))?"
    rf"{_SEPARATORS}{{1,6}}|\b{_DRAFT_CLAUSE}\b[^.!?;\n]{{0,40}})$",
    re.IGNORECASE,
)
#: What is somebody else's to say: "Another judge might answer", "my colleague scored".
OTHERS_SAY = (
    r"\b(?:another|others?|someone|some|many|most|people|my\s+colleagues?"
    r"|an?\s+(?:\w+\s+)?(?:judge|rater|annotator|reviewer|coder|colleague))\s+(?:\w+\s+){0,2}?"
    r"(?:would|might|may|could|says?|said|scored?|rated?|gave|answers?|answered|chose|picked|labell?ed)\b"
)
#: Words before a statement that deny it, suppose it, or leave it to someone else.
DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bnor|\bneither|\brather\s+than|\binstead\s+of)\s+(?:(?!but\b)\w+\s+){0,3}$"
    r"|\b(?:if|unless|whether|suppos(?:e|ing)|imagine)\b[^.!?:;\n]*$"
    rf"|{OTHERS_SAY}[^.!?;\n]*$"
    r"|^\W*(?:for\s+)?(?:examples?|instance|e\.g\.|format|template)\b[\s\w]{0,20}[:,]?\W*$",
    re.IGNORECASE,
)
# "4, not 2", "yes because ...": behind a value these words are about another one, or
# say why.
_OTHER_VALUE = (
    r"\s*\((?:not|was|were|formerly|previously|initially|originally|before|changed\s+from|up\s+from"
    r"|down\s+from|instead\s+of|rather\s+than)\b[^()\n]{0,80}\)?"
    r"|\bchanged\s+from\s[^,.;\n]{1,60}?\s(?=to\s)"
    r"|\bwas\s[^,.;\n]{1,60}?,\s+but\s+(?=(?:\w+\s+){0,3}?now\b)"
)
#: "B (was A)", "changed from A to B": what is said of a value that does not stand any more.
OTHER_VALUE = re.compile(_OTHER_VALUE, re.IGNORECASE)


def other_values(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where a text speaks of a value that does not stand any more."""
    part = text[start:end]
    if "(" not in part and "as" not in part and "from" not in part:
        return []  # nearly always
    return [each.span() for each in OTHER_VALUE.finditer(text, start, end)]


# What stands behind a value and is about another one, or about its reason.
_ASIDE = re.compile(
    rf"{_OTHER_VALUE}"
    r"|,\s*(?:and\s+)?(?:not|rather\s+than|instead\s+of)\s[^,;.\n]{1,60}"
    r"|(?<=\w)[*_\"'”)]*\s+(?:rather\s+than|instead\s+of|because|since|#)\s[^\n]*",
    re.IGNORECASE,
)
# One sign of an expression: a letter, an escaped sign, or a class with its count.
_ATOM = re.compile(r"\[(?:\\.|[^\]\\])*\](?:\{[\d,]+\}|[*+?])?|\\.[*+?]?|.", re.DOTALL)


def either(names: Iterable[str]) -> str:
    """An expression that finds any of these, the longest first, without trying each in turn.

    >>> either(["score", "scale", "answer"])
    '(?:answer|sc(?:ale|ore))'
    """
    tree: dict[str, Any] = {}
    for name in names:
        branch = tree
        for atom in _ATOM.findall(name):
            branch = branch.setdefault(atom, {})
        branch[""] = {}
    return _branches(tree) or "(?!)"


def _branches(tree: dict[str, Any]) -> str:
    parts = [f"{atom}{_branches(below)}" for atom, below in sorted(tree.items()) if atom]
    if not parts:
        return ""
    one = parts[0] if len(parts) == 1 and "" not in tree else f"(?:{'|'.join(parts)})"
    return f"{one}?" if "" in tree else one


# More of one sign than any reply needs; what looks for a lead would begin at each of them.
_RUN = 60
_LONG_RUN = re.compile(rf"([^\w{{}}\[\]\"'])\1{{{_RUN},}}")


def squeezed(text: str) -> str:
    """A text in which no sign stands more than forty times in a row."""
    if len(text) < _RUN:
        return text
    return _LONG_RUN.sub(lambda run: run.group()[:40], text)


#: What a reply struck out says nothing.
STRUCK = re.compile(
    r"~~[^~\n]{1,200}~~|<(?P<tag>del|s|strike)>[^<\n]{0,200}</(?P=tag)>", re.IGNORECASE
)
# "## Draft", "**Final ratings**", "Initial scores:" alone on a line.
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+(?P<marked>[^\n]{1,60})"
    r"|(?:\d{1,2}[.)][ \t]+)?[*_]{2}(?P<bold>[^*_\n]{1,60})[*_]{2}:?"
    r"|(?P<plain>[^\W\d][^\n:|]{0,50})[:：])[ \t*_]*$",
    re.MULTILINE,
)
_OF_HEADINGS = frozenset("#*_:：")
# A heading below which the final answer stands.
_SAYS_FINAL = Phrases(*FINAL_MARKS)
#: Words of a heading, or a head of a line, below which a draft stands.
SAYS_DRAFT = Phrases(*rule("says_draft"))
_SECTION = 2_000
# "At first I thought 2, but now 4": behind these words the draft is over.
_NOT_DRAFT = Phrases("but", "now")
#: Words further before a statement belong to another one; a heading reaches `_SECTION`.
_REACH = 80


_NO_WORDS = " \t*_#>.()[]-\"'`"


def rank_of(text: str, at: int, end: int, remark: str = "") -> Rank:
    r"""What the words around a statement make of it; `remark` is what brackets behind its key say.

    >>> rank_of("Draft score: 2", 6, 14), rank_of("My final score: 4", 9, 17)
    ('draft', 'final')
    >>> rank_of("[[2]] at first", 0, 5), rank_of("Score: 4", 0, 8)
    ('draft', 'said')
    >>> rank_of("## Draft\nEmpathy: 2", 9, 19)
    'draft'
    """
    before = text[max(0, at - _REACH) : at].rpartition("\n")[2]
    behind = text[end : end + 40]
    # A statement nearly always begins its line.
    before = before if before.strip(_NO_WORDS) else ""
    if (
        (before and _FINAL_BEFORE.search(before))
        or _FINAL_BEHIND.match(behind)
        or _FINAL_BEHIND.match(remark)
    ):
        return "final"
    drafted = (before and _DRAFT_BEFORE.search(before) and not _is_over(before)) or (
        _DRAFT_BEHIND.match(behind) or _DRAFT_BEHIND.match(remark)
    )
    return "draft" if drafted else _rank_of_section(text, at)


def _is_over(before: str) -> bool:
    return _NOT_DRAFT.among(words_of(last_part(before, ".!?;\n")).forms)


def turns_at_once(text: str, at: int = 0) -> bool:
    """Whether the words right behind a place weigh something against what stands before it."""
    return _TURNS_AT_ONCE.begin(words_of(text[at : at + 60]).forms)


def _rank_of_section(text: str, at: int) -> Rank:
    """What the heading above a statement makes of it: ``## Draft``, ``**Final ratings**``."""
    ends, ranks = headings(text)
    last = bisect_right(ends, at) - 1
    return ranks[last] if last >= 0 and at - ends[last] < _SECTION else "said"


# A text is asked once for each of its statements; few texts are read at a time.
@lru_cache(maxsize=16)
def headings(text: str) -> tuple[list[int], list[Rank]]:
    """Where the headings of a text end, and what each makes of its section."""
    ends, ranks = list[int](), list[Rank]()
    # Without one of its signs no line is a heading.
    for each in () if _OF_HEADINGS.isdisjoint(text) else _HEADING.finditer(text):
        head = next(filter(None, each.group("marked", "bold", "plain")))
        forms = words_of(head).forms
        draft: Rank = "draft" if SAYS_DRAFT.among(forms) else "said"
        ends.append(each.end() + 1)
        ranks.append("final" if _SAYS_FINAL.among(forms) else draft)
    return ends, ranks


def mark_rank(mark: str | None) -> Rank:
    """How far a statement goes by the word that is joined to its noun: *final*_answer."""
    word = (mark or "").casefold().strip(" _-")
    if word in FINAL_MARKS or word in FINAL_NOUNS:
        return "final"
    return "draft" if word in DRAFT_MARKS or word in DRAFT_NOUNS else "said"


def without_aside(text: str) -> str:
    """A value without what is said of other values behind it, and without its reasons.

    >>> without_aside("4, not 2"), without_aside("B (was A)"), without_aside("yes because A")
    ('4', 'B', 'yes')
    """
    return _ASIDE.sub("", text)
