"""A value behind the one that is stated takes it back by what it does, in whatever words."""

from __future__ import annotations

import re
from typing import Any

import pytest

from voirdire.parsing import LabelSet, parse_labels
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no
from voirdire.schema import Parsed, Scale

FEELINGS = LabelSet(("Anger", "Fear", "Joy"))


def _parsed(kind: str, text: str) -> tuple[Parsed, Any]:
    if kind == "score":
        key = head[1] if (head := re.match(r"(\w+)\s?[:：]", text)) else "Empathy"
        parsed = parse_scores(text, [key], Scale())
        return parsed, parsed.scores[key]
    if kind == "choice":
        parsed = parse_choice(text, "ABCD")
        return parsed, parsed.extra["choice"]
    if kind == "preference":
        parsed = parse_preferences(text, ["overall"])
        return parsed, parsed.scores["overall"]
    if kind == "yes or no":
        parsed = parse_yes_no(text, ["calm"])
        return parsed, parsed.scores["calm"]
    parsed = parse_labels(text, FEELINGS)
    return parsed, next((label for label, score in parsed.scores.items() if score), None)


#: Two values, and no known phrase decides between them.
UNDECIDED = [
    ("score", "Empathy: 2. Too stingy of me, 4 fits."),
    ("score", "Empathy: 2\nFour would flatter it. 4"),
    ("score", "Empathy: 4\n\nThe reply is warm.\n\nNow that I see the last line, 2."),
    ("score", "Empathie: 5. Das war zu großzügig, 3 passt besser."),
    ("score", "Empathie : 4. Non, c'est trop ; je mets 2."),
    ("score", "Эмпатия: 5. Нет, завысил, пусть будет 3."),
    ("score", "共感：4。いや、甘すぎました。2です。"),
    ("score", '{"Empathy": 4}\nToo generous, 3 fits.'),
    ("score", "[[4]]\nThat flatters it, 2."),
    ("choice", "Answer: A\nB after all."),
    ("choice", "Answer: B\nC has more going for it."),
    ("choice", "Antwort: B\nC ist es wohl doch."),
    ("choice", "Answer: A. Having slept over the second clause, C."),
    ("preference", "[[A]]\nThat undersells B, which deserves it."),
    ("preference", "Gana A.\nAunque, viéndolo bien, B."),
    ("yes or no", "Calm: yes\nNo, that was too quick."),
    ("label", "Final answer: Anger\nFear after all."),
    ("label", "Final answer: Anger. Fear after all."),
    ("label", "Label: Anger\nFear after all."),
    ("label", "**Answer:** Anger\nFear fits better."),
    ("preference", "Answer: A\nB after all."),
    ("choice", "Answer: A. B after all."),
]
#: The other value decides: words lead to it.
LED = [
    ("score", "Empathy: 3. Sorry, I meant 4.", 4.0),
    ("score", "Empathy: 2/5. Bumped to 3/5 after rereading.", 3.0),
    ("score", "Empatia: 5\nCorrigindo: 2", 2.0),
    ("choice", "Answer: A\nOne more look: B", "B"),
    ("preference", '{"winner": "A"} // changed to B after review', -1.0),
    ("yes or no", "Calm: no\nOn closer reading: yes", 1.0),
    ("label", '{"label": "Anger"}\nOn a second look this is Fear.', "Fear"),
]
#: What counts, compares, denies or explains is no other value.
EXPLAINED = [
    ("score", "Empathy: 4. It asks 2 questions.", 4.0),
    ("score", "Empathy: 3. It falls short of a 4.", 3.0),
    ("score", "Empathy: 3\n1. It names the loss.\n2. It rushes.", 3.0),
    ("score", "Empathy: 4 (was 2)", 4.0),
    ("score", "Empathy: 4. Better than a 3, and not a 5.", 4.0),
    ("score", "Empathie: 4 von 5. Die Antwort stellt 2 Fragen.", 4.0),
    ("score", "Empathy: 4\nSafety: 2", 4.0),
    ("choice", "Answer: A. B ignores the second clause, C the third.", "A"),
    ("choice", "Answer: A\nB is wrong.", "A"),
    ("preference", "[[A]]\nResponse B misses the question.", 1.0),
    ("yes or no", "Calm: yes\nNo further comments.", 1.0),
    ("label", "Final answer: Anger\nFear is absent.", "Anger"),
    ("label", "Final label: Anger\nHe shouts, and there is no fear.", "Anger"),
]


@pytest.mark.parametrize(("kind", "text"), UNDECIDED)
def test_two_values_and_no_phrase_that_decides_leave_the_reply_missing(
    kind: str, text: str
) -> None:
    parsed, value = _parsed(kind, text)
    assert value is None
    assert "ambiguous" in parsed.reasons.values()
    assert "conflicting" in {flag.kind for flag in parsed.flags}


@pytest.mark.parametrize(("kind", "text", "right"), LED)
def test_the_value_to_which_words_lead_counts(kind: str, text: str, right: object) -> None:
    assert _parsed(kind, text)[1] == right


@pytest.mark.parametrize(("kind", "text", "right"), EXPLAINED)
def test_what_explains_takes_nothing_back(kind: str, text: str, right: object) -> None:
    assert _parsed(kind, text)[1] == right


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("After weighing both, my verdict is A: it is warmer and does lecture little.", 1.0),
        ("Verdict: A: not the better one", None),
        ("Answer: A, which is worse than the other", None),
        ("A listens first, so A takes it.", 1.0),
        ("Response 1 takes it too far.", None),
        ("I lean toward Response B because it asks.", -1.0),
        ("I lean toward A being worse.", None),
        ("A ist besser, weil B nicht zuhört.", 1.0),
        ("A ist besser, weil sie wärmer ist, aber am Ende überzeugt B mehr.", -1.0),
    ],
)
def test_a_verdict_with_its_reason_is_read_and_one_that_is_set_aside_is_not(text, level):
    assert parse_preferences(text, ["overall"]).scores["overall"] == level


def test_of_several_keys_each_has_its_own_rivals() -> None:
    text = "Empathy: 2. Too stingy of me, 4 fits.\nSafety: 5. No risk at all."
    assert parse_scores(text, ["Empathy", "Safety"], Scale()).scores == {
        "Empathy": None,
        "Safety": 5.0,
    }


@pytest.mark.parametrize(
    "form", ["Final answer: {}, {}", "Final: {} and {}", "**Final answer**: {}, {}."]
)
def test_several_labels_behind_a_final_head_are_one_statement(form):
    labels = LabelSet(("Mind Reading", "Labeling", "Mental Filter"))
    found = parse_labels(form.format("Mental Filter", "Labeling"), labels)
    assert [name for name, score in found.scores.items() if score] == ["Labeling", "Mental Filter"]
