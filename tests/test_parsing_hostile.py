"""A hundred and twenty hostile replies, each with the reading that was decided before it was tried.

Where a reading is not found the reply is missing: it is never another value.
"""

from __future__ import annotations

import pytest
from test_parsing_grammar import PARSERS

from voirdire.parsing import parse_scores
from voirdire.schema import Scale

#: Parser -> reply, its right reading, and how it ended.
REPLIES = {
    "scores": [
        ("Score: 3\n\nOne more look: 4", 4, "stop"),
        (
            "Empathy: 2\nLet me look once more at the last line. It does validate.\nEmpathy: 4",
            4,
            "stop",
        ),
        ("Note : 4 sur 5", 4, "stop"),
        ("Bewertung: 4 von 5 Punkten", 4, "stop"),
        ("Puntuación: 4 de 5", 4, "stop"),
        ("评分：４分（满分5分）", 4, "stop"),
        ("التقييم: ٤ من ٥", 4, "stop"),
        ("Punteggio: 3,5 su 5", 3.5, "stop"),
        ("<think>Empathy: 5? no, Empathy: 2</think>Empathy: 3", 3, "stop"),
        ("<think>I would say Empathy: 4", None, "length"),
        ('Here is my JSON: {"empathy": 4, "reason": "I first had {\\"empathy\\": 2}"}', 4, "stop"),
        ("I initially gave 2/5. After rereading the user's message, I raise it to 4/5.", 4, "stop"),
        ("| Criterion | Draft | Final |\n|---|---|---|\n| Empathy | 2 | 4 |", 4, "stop"),
        ("| Criterion | Max | Score |\n|---|---|---|\n| Empathy | 5 | 3 |", 3, "stop"),
        ("Empathy: 4 → 3", 3, "stop"),
        ("Empathy: 4 (out of a possible 5; earlier draft: 2)", 4, "stop"),
        ("Empathy: not 2 but 4", 4, "stop"),
        ("Minimum score: 1\nMaximum score: 5\nEmpathy score: 3", 3, "stop"),
        ("Empathy: 4\n\nP.S. On rereading I'd lower that by one.", None, "stop"),
        ("Empathy: four out of five", None, "stop"),
        ("Score: 2\n\nAfter a second reading of the dialogue, I settle on 4.", 4, "stop"),
        ("Score: 2\nHmm, too harsh. 4.", None, "stop"),
        ("Empathy: 3\n\nReassessment: 4", 4, "stop"),
        ("Empathy: 2/5. Bumped to 3/5 after rereading.", 3, "stop"),
        ("Rating: ★★★★☆", 4, "stop"),
        ("Empathy: ４／５", 4, "stop"),
        ("Оценка: 4 из 5 баллов", 4, "stop"),
        ("Nota: 4,0/5", 4, "stop"),
        ("점수: 5점 만점에 4점", 4, "stop"),
        ("<think>Maybe 2. Or 4.</think>\n\n**4**", 4, "stop"),
        ("<think>Empathy: 4</think>", None, "stop"),
        ('{"empathy": 2}\n\nScratch that, here is the corrected JSON:\n{"empathy": 4}', 4, "stop"),
        ('{"empathy": {"draft": 2, "final": 4}}', 4, "stop"),
        ('{"scores": [{"attribute": "Empathy", "score": 4}]}', 4, "stop"),
        ("| Pass | Empathy |\n|---|---|\n| first | 2 |\n| final | 4 |", 4, "stop"),
        ("Empathy: 4\nThe same judge last week: 2", 4, "stop"),
        ("My colleague scored Empathy: 2. I disagree: Empathy: 4", 4, "stop"),
        ("Empathy: 4\n\nIf I were stricter, Empathy: 3", 4, "stop"),
        ("Step 1: read.\nStep 2: weigh.\nStep 3: Empathy: 4", 4, "stop"),
        ("Final answer: \\boxed{4} or perhaps \\boxed{3}", None, "stop"),
    ],
    "choice": [
        ("I'm torn. A? B? ... Taking another look: B.", "B", "stop"),
        ("Answer: A\nOne more look: B", "B", "stop"),
        ("Answer: C\nDouble-checking... yes, C.", "C", "stop"),
        ("A is wrong, B is wrong, so C", "C", "stop"),
        ("The answer is (B), even though (A) is tempting.", "B", "stop"),
        ('{"thought": "A seems right", "answer": "B"}', "B", "stop"),
        ("**Answer:** ~~A~~ → B", "B", "stop"),
        ("Answer: A\nAnswer key says B, but I disagree.", "A", "stop"),
        ("Réponse : B", "B", "stop"),
        ("答案是 B。", "B", "stop"),
        ("Answer: B\n\nIf the passage had said otherwise the answer would be C.", "B", "stop"),
        ("Final answer: A\nUpdated after discussion: C", "C", "stop"),
        ("Answer: A\nRe-evaluation: B", "B", "stop"),
        ("Between A and B, B.", "B", "stop"),
        ("A? No. B? No. C.", "C", "stop"),
        ("The correct option is not A but B.", "B", "stop"),
        ("Answer: B (I had A before)", "B", "stop"),
        ("I change my answer from A to C.", "C", "stop"),
        ("Option B is my pick; option A came close.", "B", "stop"),
        ("Answer:\n\nB\n\nConfidence: A lot", "B", "stop"),
        ('{"answer": "A", "answer_after_review": "B"}', "B", "stop"),
        ("```\nAnswer: A\n```\nThe above is the example format.\n\nAnswer: B", "B", "stop"),
        ("Antwort: B\nBegründung: A passt nicht.", "B", "stop"),
        ("Answer: A. Double-checking: A fails, since the text says so. Answer: C.", "C", "stop"),
    ],
    "preferences": [
        ("[[A]]\nOne more look: [[B]]", -1, "stop"),
        ("At first glance A. But reading both closely, B is better.", -1, "stop"),
        ("Winner: A\nCorrection to the above: winner is B", -1, "stop"),
        ("A is better than B at grammar. Overall, B is better.", -1, "stop"),
        ('{"winner": "A"} // changed to B after review', -1, "stop"),
        ("Not A. B.", -1, "stop"),
        ("Assistant B > Assistant A", -1, "stop"),
        ("My verdict: [[A>>B]]\n\n(Edit: I swapped the letters, should be [[B>>A]])", -2, "stop"),
        ("Better: B\nWorse: A", -1, "stop"),
        ("I'd go with A if tone mattered, but it does not, so B.", -1, "stop"),
        ("Winner: A\nReconsidered winner: B", -1, "stop"),
        ("I preferred A until I checked the facts. B.", -1, "stop"),
        ("[[A]] was my instinct; [[B]] is my verdict.", -1, "stop"),
        ("A: 3/5, B: 4/5. Verdict: B", -1, "stop"),
        (
            "Response A is warmer. Response B is safer. Safety matters more, so Response B wins.",
            -1,
            "stop",
        ),
        ("B, by a hair. Not A.", -1, "stop"),
        ('{"winner": "A", "corrected_winner": "B"}', -1, "stop"),
        ("Verdict: B\n(The swapped order gave A.)", -1, "stop"),
        ("Verdict: A\nOn a third pass: tie", 0, "stop"),
        ("Verdict: A. However, on balance", None, "length"),
    ],
    "yes_no": [
        ("Yes.\nOne more look: no.", 0, "stop"),
        ("calm: yes — no wait, calm: no", 0, "stop"),
        ("Is the user calm? I'd lean no at first, yet the answer is yes.", 1, "stop"),
        ('{"calm": false, "was": true}', 0, "stop"),
        ("calm: yes/no\ncalm: no", 0, "stop"),
        ("Calm: Yes (75%) / No (25%)", None, "stop"),
        ("calm: no\nEverything considered: yes", 1, "stop"),
        ("Not no. Yes.", 1, "stop"),
        ("calm: no\nOn closer reading: yes", 1, "stop"),
        ("Yes, he is calm; no, he is not happy.", 1, "stop"),
        ("No... well, yes.", None, "stop"),
        ("calm: ☐ yes ☒ no", 0, "stop"),
        ("calm: [ ] yes [x] no", 0, "stop"),
        ("Answer: no\nChanged to: yes", 1, "stop"),
        ('{"calm": "no", "calm_final": "yes"}', 1, "stop"),
        ("calm = False", 0, "stop"),
    ],
    "labels": [
        ("Label: Anger\nOne more look: Fear", "Fear", "stop"),
        ("Not Anger. Fear.", "Fear", "stop"),
        ('{"labels": ["Fear"], "rejected": ["Anger"]}', "Fear", "stop"),
        ("Labels considered: Anger, Fear, Joy\nLabel: Joy", "Joy", "stop"),
        ("Anger: 0\nFear: 1\nJoy: 0", "Fear", "stop"),
        ("Anger ✗\nFear ✓\nJoy ✗", "Fear", "stop"),
        (
            "| Label | Present |\n|---|---|\n| Anger | no |\n| Fear | yes |\n| Joy | no |",
            "Fear",
            "stop",
        ),
        ("Final: Fear\n\n(Previously: Anger)", "Fear", "stop"),
        ("Label: Anger\nHaving thought it over once more, Label: Fear", "Fear", "stop"),
        ("Answer: Fear, absolutely not Joy", "Fear", "stop"),
        ("Label: Anger\nRelabelled: Fear", "Fear", "stop"),
        ("Label: Anger\nRechecking: Fear", "Fear", "stop"),
        ("It is Fear rather than Anger.", "Fear", "stop"),
        ("[ ] Anger\n[x] Fear\n[ ] Joy", "Fear", "stop"),
        ('{"label": "Anger"}\nOn a second look this is Fear.', "Fear", "stop"),
        ("Label: ~~Anger~~ Fear", "Fear", "stop"),
        ("Candidate: Anger. Rejected. Candidate: Fear. Accepted.", "Fear", "stop"),
        ("Label: Fear\nA weaker judge might say Label: Anger", "Fear", "stop"),
    ],
}
#: Replies whose reading is not found.
MISSING = {
    "Empathy: 4 → 3",
    "Empathy: not 2 but 4",
    "점수: 5점 만점에 4점",
    "**Answer:** ~~A~~ → B",
    "Answer: B\n\nIf the passage had said otherwise the answer would be C.",
    "Between A and B, B.",
    "A? No. B? No. C.",
    "```\nAnswer: A\n```\nThe above is the example format.\n\nAnswer: B",
    "A is better than B at grammar. Overall, B is better.",
    "Not A. B.",
    "I'd go with A if tone mattered, but it does not, so B.",
    "I preferred A until I checked the facts. B.",
    "B, by a hair. Not A.",
    "Is the user calm? I'd lean no at first, yet the answer is yes.",
    "Not no. Yes.",
    "calm: ☐ yes ☒ no",
    "calm: [ ] yes [x] no",
    "Not Anger. Fear.",
    "Answer: Fear, absolutely not Joy",
    "Candidate: Anger. Rejected. Candidate: Fear. Accepted.",
}


def reading(parser: str, text: str, finish: str) -> object:
    if parser != "scores":
        return PARSERS[parser][0](text, finish)[0]
    scale = Scale(1, 5, 0.5) if "3,5" in text else Scale()
    return parse_scores(text, ["Empathy"], scale, finish_reason=finish).scores["Empathy"]


@pytest.mark.parametrize(
    ("parser", "text", "right", "finish"),
    [(parser, *each) for parser, some in REPLIES.items() for each in some],
)
def test_a_hostile_reply_is_read_rightly_or_is_missing(
    parser: str, text: str, right: object, finish: str
) -> None:
    assert reading(parser, text, finish) == (None if text in MISSING else right)
