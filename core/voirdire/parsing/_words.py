"""The words by which a reply marks what it says: as a verdict, a draft, final, or taken back.

One list of each for all parsers. What is a fragment of a regular expression ignores case.
"""

from __future__ import annotations

import re
from typing import Literal

#: How far a statement goes: a draft never answers, a final one settles what stands before it.
Rank = Literal["draft", "said", "apart", "final"]

#: Nouns of a verdict: what stands behind one and a sign is what the reply decides.
VERDICTS = (
    *("score", "rating", "grade", "level", "result", "answer", "verdict", "decision", "judgement"),
    *("judgment", "conclusion", "assessment", "evaluation", "overall", "mark", "total rating"),
    *("choice", "label", "preference", "winner"),
)
#: The same in other languages in which rubrics are asked.
FOREIGN_VERDICTS = (
    *("bewertung", "punktzahl", "note", "urteil", "ergebnis", "endergebnis", "antwort"),
    *("puntuación", "puntaje", "calificación", "valoración", "respuesta", "nota"),
    *("évaluation", "réponse", "voto", "valutazione", "punteggio", "risposta"),
    *("pontuação", "avaliação", "resposta", "beoordeling", "antwoord", "оценка", "ocena", "betyg"),
    *("评分", "分数", "得分", "答案", "スコア", "評価", "점수", "평점"),
)
#: These stand for a noun of verdict too: ``Final: 4``, ``Draft: 2``.
FINAL_NOUNS = ("final", "revised", "corrected", "updated")
DRAFT_NOUNS = ("draft", "initial", "initially", "preliminary")
_FINAL = (
    r"(?:final(?:ly|ised|ized|e|er|es)?|revised|corrected|amended|updated|adjusted|definitive"
    r"|ultimate(?:ly)?|settled|endgültige?[rsn]?|définitive?|definitiv[ao]|finaal|最终|最終|최종)"
)
# An adjective beside its noun; "first" and "old" stand before many other things.
_DRAFT = (
    r"(?:initial|draft|first(?:[- ](?:pass|draft|guess|impression))?|preliminary|tentative"
    r"|provisional|earlier|previous|prior|old|original|starting|rough|temporary|intermediate|interim|before"
    r"|vorläufige?[rsn]?|erste[rsn]?|provisoire|初步)"
)
_DRAFT_CLAUSE = (
    r"(?:at\s+first|initially|originally|previously|earlier"
    r"|(?:first|initial)\s+(?:thought|instinct))"
)
# "2 at first", "[[2]] draft.", "2 (tentative)", "2 was my first guess".
_DRAFT_BEHIND = re.compile(
    r"[\s*_,(\[–—-]*(?:(?:was|is|being|as|for|only|just)\s+)?(?:(?:my|the|an?)\s+)?"
    r"(?:at\s+first|initial(?:ly)?|draft|first\s+(?:pass|draft|guess|impression|thought)|tentative(?:ly)?"
    r"|preliminary|provisional(?:ly)?|to\s+(?:begin|start)\s+with|originally)\b",
    re.IGNORECASE,
)
_FINAL_BEHIND = re.compile(
    r"[\s*_,(\[–—-]*(?:(?:is|as)\s+)?(?:(?:my|the)\s+)?(?:final|revised|corrected)\b", re.IGNORECASE
)
# Second thoughts: what stands before them does not count any more. The first kind may begin a
# clause, the second begins a sentence, for it also occurs in what a text is about.
_SECOND_THOUGHTS = (
    r"(?:wait|hmm+|oops|correction|never\s*mind"
    r"|actually(?=\s*[,:.…–—-]|\s+(?:i|no|not|my|let|make|\d|(?-i:[A-Z]))\b)"
    r"|(?:scratch|strike|forget|ignore|disregard)\s+(?:that|this|it)"
    r"|on\s+(?:(?:second|further|closer|deeper|more)\s+)?(?:reflection|thoughts?|consideration"
    r"|inspection|reading)"
    r"|(?:let\s+me|i(?:['’]ll|\s+will|\s+should|\s+must|\s+need\s+to|\s+have\s+to)?)"
    r"\s+(?:revise|reconsider|correct|re-?evaluate|re-?think|re-?assess|change))"
)
_OWNED_UP = (
    r"(?:i\s+take\s+(?:that|it)\s+back|i(?:\s+was|\s+am|['’]m)\s+(?:wrong|mistaken)"
    r"|i\s+made\s+(?:a\s+mistake|an\s+error)|my\s+(?:mistake|bad)"
    r"|(?:that|this)(?:['’]s|\s+is|\s+was|\s+seems|\s+would\s+be)\s+(?:wrong|incorrect"
    r"|not\s+right|a\s+mistake|too\s+(?:high|low|harsh|generous|lenient|strict))"
    r"|i(?:['’]ve|\s+have)?\s+changed?\s+my\s+mind)"
)
TAKEN_BACK = rf"(?:{_SECOND_THOUGHTS}|{_OWNED_UP})"
_LEAD = r"[\s*_]*(?:(?:oh|but|no|and|so|hmm+|well|yet)\b[,.]?\s+){0,2}"
#: What takes back the statement before it.
TAKES_BACK = re.compile(
    rf"(?:(?:^|[.!?\n;:,)\]}}>*…—–]|\s-){_LEAD}{_SECOND_THOUGHTS}"
    rf"|(?:^|[.!?\n)\]}}>…—–]|\s-){_LEAD}{_OWNED_UP})(?!\w)[\s,.:!–—-]*",
    re.IGNORECASE,
)
#: In a reply that was cut these announce that another statement was to follow.
TURNS = re.compile(
    rf"\b(?:{TAKEN_BACK}|{_FINAL}|then\s+again|reconsider(?:ing|ed)?|revis(?:e|ing|ed)"
    r"|adjust(?:ing|ed)?|upgrad(?:e|ing)|downgrad(?:e|ing))(?!\w)",
    re.IGNORECASE,
)
_SEPARATORS = r"[ \t*_`,:=(\[$\\\"'–—-]"
_NOUN = "|".join(VERDICTS)
# "Final answer: ", "My final, revised score is ": up to three words lead on to the statement.
_FINAL_BEFORE = re.compile(
    rf"(?<![^\W_]){_FINAL}(?:{_SEPARATORS}{{1,6}}[^\W_]{{1,20}}){{0,3}}{_SEPARATORS}{{1,6}}$",
    re.IGNORECASE,
)
# "Draft: ", "Initial overall score: ", "At first I would say ".
_DRAFT_BEFORE = re.compile(
    rf"(?:(?<![^\W_]){_DRAFT}(?:[ \t]+(?:{_NOUN}|overall))?(?:\s+(?:was|is|would\s+be))?"
    rf"{_SEPARATORS}{{1,6}}|\b{_DRAFT_CLAUSE}\b[^.!?;\n]{{0,40}})$",
    re.IGNORECASE,
)
_NOT_DRAFT = re.compile(r"\b(?:but|now)\b[^.!?;\n]*$", re.IGNORECASE)
_REACH = 80


def rank_of(text: str, at: int, end: int, remark: str = "") -> Rank:
    """What the words around a statement make of it; `remark` is what brackets behind its key say.

    >>> rank_of("Draft score: 2", 6, 14), rank_of("My final score: 4", 9, 17)
    ('draft', 'final')
    >>> rank_of("[[2]] at first", 0, 5), rank_of("Score: 4", 0, 8)
    ('draft', 'said')
    """
    before = text[max(0, at - _REACH) : at].rpartition("\n")[2]
    behind = text[end : end + 40]
    if _FINAL_BEFORE.search(before) or _FINAL_BEHIND.match(behind) or _FINAL_BEHIND.match(remark):
        return "final"
    drafted = (_DRAFT_BEFORE.search(before) and not _NOT_DRAFT.search(before)) or (
        _DRAFT_BEHIND.match(behind) or _DRAFT_BEHIND.match(remark)
    )
    return "draft" if drafted else "said"
