"""The words by which a reply marks what it says: as a verdict, a draft, final, or taken back.

One list of each for all parsers, as fragments of regular expressions that ignore case.
"""

from __future__ import annotations

import re

#: Nouns of a verdict: what stands behind one and a sign is what the reply decides.
VERDICTS = (
    *("score", "rating", "grade", "level", "result", "answer", "verdict", "decision", "judgement"),
    *("judgment", "conclusion", "assessment", "evaluation", "choice", "response", "output"),
    *("total rating", "total score", "overall", "mark"),
)
#: The same in other languages in which rubrics are asked.
FOREIGN_VERDICTS = (
    *("bewertung", "punktzahl", "note", "nota", "urteil", "ergebnis", "endergebnis", "punteggio"),
    *("puntuación", "puntaje", "calificación", "valoración", "pontuação", "avaliação"),
    *("évaluation", "voto", "valutazione", "beoordeling", "оценка", "ocena", "betyg", "puan"),
    *("评分", "分数", "得分", "スコア", "評価", "점수", "평점"),
)
#: Before a noun of verdict: this one settles whatever was said before.
FINAL = (
    r"(?:final(?:ly|ised|ized|e|es|er)?|revised|corrected|amended|updated|adjusted|definitive"
    r"|ultimate|settled|endgültige?|définitive?|definitiv[ao]|finale|finaal|eindelijke|最终|最終|최종)"
)
#: Before a noun of verdict, or behind the verdict: it was only a first try.
DRAFT = (
    r"(?:initial(?:ly)?|draft|first(?:-pass|\s+pass|\s+impression)?|preliminary|tentative(?:ly)?"
    r"|provisional(?:ly)?|earlier|previous(?:ly)?|prior|old|original(?:ly)?|starting|baseline|rough"
    r"|temporary|intermediate|interim|vorläufige?|provisoire|初步)"
)
DRAFT_BEHIND = (
    r"(?:at\s+first|initially|to\s+begin\s+with|to\s+start\s+with|for\s+now|as\s+a\s+(?:first|draft)"
    r"|(?:was|is|being)\s+(?:my|the|an?|only)\s+(?:\w+\s+)?(?:first|initial|draft)|draft"
    r"|\(?(?:initial|draft|first\s+(?:pass|draft|impression)|tentative|preliminary|provisional)\)?)\b"
)
#: Second thoughts: what stands before them does not count any more.
TAKEN_BACK = (
    r"(?:wait|hmm+|oops|actually|correction|(?:scratch|strike|forget|ignore|disregard)\s+(?:that|this|it)"
    r"|on\s+(?:(?:second|further|closer|deeper|more)\s+)?(?:reflection|thoughts?|consideration"
    r"|inspection|reading)|(?:let\s+me|i(?:['’]ll|\s+will|\s+should|\s+must|\s+need\s+to|\s+have\s+to|['’]d)?)"
    r"\s+(?:revise|reconsider|correct|re-?evaluate|re-?think|re-?assess|change)"
    r"|i\s+take\s+(?:that|it)\s+back|i\s+(?:was|am)\s+(?:wrong|mistaken)|i\s+made\s+a\s+mistake"
    r"|my\s+(?:mistake|bad)|(?:that|this)(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|a\s+mistake|too\s+(?:high|low|harsh|generous|lenient))"
    r"|i(?:['’]ve)?\s+changed?\s+my\s+mind|never\s*mind)"
)
#: In a reply that was cut these announce that another verdict was to follow.
TURNS = (
    rf"(?:{TAKEN_BACK}|but|however|although|though|yet|nevertheless|nonetheless|that\s+said"
    r"|then\s+again|still|instead|rather|reconsidering|revis(?:e|ing|ed)|adjust(?:ing|ed)?|so\s+(?:i|my|the))"
)
TAKES_BACK = re.compile(rf"\b{TAKEN_BACK}\b", re.IGNORECASE)
