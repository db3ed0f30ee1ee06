"""The answer that each built-in prompt asks for, in the forms that models give it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from voirdire.schema import Comparison, Item, Rating, Reply, Response
from voirdire_judges import choice, labels, pairwise, rubric, yes_no
from voirdire_judges.questionnaire import make as questionnaire

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ITEM = Item("1", "I slept badly.")
RATING = Rating(ITEM, Response("1", "one", "Try a fixed bedtime."))
PAIR = Comparison(ITEM, Response("1", "one", "Try tea."), Response("1", "two", "Go for a walk."))
QUESTION = Item("1", "Which is a fruit?", {"choices": ["Oak", "Apple", "Fir", "Pear"]})
RUBRIC, PAIRWISE = rubric.make("mentalalign"), pairwise.make("mentalalign")
NAMES = RUBRIC.rubric.names
SCORES = dict(zip(NAMES, (4, 3, 5, 2, 1, 4, 3), strict=True))
LEVELS = dict(zip(NAMES, ("A>>B", "A>B", "A=B", "B>A", "B>>A", "A>B", "A=B"), strict=True))
PREFERENCES = dict(zip(NAMES, (2, 1, 0, -1, -2, 1, 0), strict=True))
ANSWERS = {"hopeful": "yes", "calm": "no", "angry": "yes"}
SAID = {"hopeful": 1, "calm": 0, "angry": 1}
FEELINGS = ["Anger", "Fear", "Joy", "Grief, loss", "None"]


def objects(answer: Mapping[str, Any]) -> Iterator[str]:
    """One JSON object as models write it."""
    plain, wide = json.dumps(answer), json.dumps(answer, indent=2)
    yield from (plain, wide, f"```json\n{wide}\n```", f"```\n{plain}\n```", f"json\n{plain}")
    yield f"Here is the JSON object:\n\n{plain}"
    yield f"{plain}\n\nLet me know if you need more than 1 answer."
    yield f"<think>Maybe {json.dumps(dict.fromkeys(answer, 1))}?</think>\n\n{plain}"
    yield f"Step 1: read. Step 2: rate.\n\nFinal answer:\n{plain}"
    yield f"**Answer:**\n```json\n{plain}\n```\n**Explanation:** fine"
    yield from (plain.replace('"', "'"), wide.replace("\n}", ",\n}"), plain[1:], f"{{{plain}}}")
    yield from (f"{plain}<|im_end|>", f"{plain}\n{plain}")
    yield json.dumps({key.lower(): value for key, value in answer.items()})
    yield json.dumps({key: str(value) for key, value in answer.items()})
    yield json.dumps({key: {"score": v, "reason": "It names 3."} for key, v in answer.items()})
    yield from map(json.dumps, ({"scores": answer}, [answer], {"result": answer, "sure": 0.9}))


def lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """One line, row, cell or heading an attribute."""
    forms = ("{}: {}", "- **{}**: {}", "**{}:** {}", "{} = {}", "* {}: {} - it is so", "### {}\n{}")
    for form in forms:
        yield "\n".join(form.format(key, value) for key, value in answer.items())
    yield "\n".join(f"{n}. **{k}** - {v}" for n, (k, v) in enumerate(answer.items(), 1))
    yield ", ".join(f"{key}: {value}" for key, value in answer.items())
    yield "; ".join(f"{key}: {value}" for key, value in answer.items())
    rows = "\n".join(f"| {key} | {value} |" for key, value in answer.items())
    yield f"| Attribute | Score |\n|---|---|\n{rows}"


@pytest.mark.parametrize("text", [*objects(SCORES), *lines(SCORES)])
def test_rubric(text: str) -> None:
    assert RUBRIC.parse([Reply(text)]).scores == SCORES


@pytest.mark.parametrize(
    "form", ["{}/5", "{} out of 5", "{} (good)", "{} – fine", "{} stars", "{} because it is so"]
)
def test_rubric_with_remarks(form: str) -> None:
    said = {key: form.format(score) for key, score in SCORES.items()}
    for text in (json.dumps(said), *lines(said)):
        assert RUBRIC.parse([Reply(text)]).scores == SCORES


@pytest.mark.parametrize(
    "form",
    [
        *("{}", "{}.", "**{}**", "Score: {}", "{}/5", "The score is {}.", "{}\n\nIt is warm."),
        *("{}: It is warm.", "{} - warm", "<think>5?</think>{}", "{} out of 5"),
        *("I would rate this {}.", "Rating: {}/5", "**Score:** {}", "({})"),
        *("Answer: {}", "{}</s>", "`{}`", "I'd give this a {}/5", "It deserves a {} out of 5."),
    ],
)
def test_one_level(form: str) -> None:
    judge = rubric.make("mentalalign", score="levels")
    for score in range(1, 6):
        scores = judge.parse([Reply(form.format(score))] * len(NAMES)).scores
        assert scores == dict.fromkeys(NAMES, score)


@pytest.mark.parametrize("text", [*objects(LEVELS), *lines(LEVELS)])
def test_pairwise(text: str) -> None:
    assert PAIRWISE.parse([Reply(text)]).scores == PREFERENCES


def test_pairwise_with_entities() -> None:
    said = {key: level.replace(">", "&gt;") for key, level in LEVELS.items()}
    for text in (json.dumps(said), *lines(said)):
        assert PAIRWISE.parse([Reply(text)]).scores == PREFERENCES


@pytest.mark.parametrize("text", [*objects(ANSWERS), *lines(ANSWERS)])
def test_yes_no(text: str) -> None:
    assert yes_no.make(labels=list(ANSWERS)).parse([Reply(text)]).scores == SAID


@pytest.mark.parametrize(
    "form",
    [
        *("{0}", "{1}", "({0})", "{0}.", "{0})", "**{0}**", "{0}: Apple", "{0}) Apple", "`{0}`"),
        *("Answer: {0}", "The answer is {0}.", "The correct choice is {1}.", "{1}\n\nIt is so."),
        *("<think>a? b?</think>{0}", "Answer:\n{0}", "Answer: **{1}: Apple**", "{0}</s>"),
        *("The letter corresponding to the choice is {0}", "Answer: {0}: Apple", "Option {1}"),
    ],
)
def test_choice(form: str) -> None:
    judge = choice.make(letters=4)
    for letter in "abcd":
        parsed = judge.parse([Reply(form.format(letter, letter.upper()))])
        assert parsed.extra["choice"] == letter.upper()


@pytest.mark.parametrize("kind", ["multi", "ranked"])
@pytest.mark.parametrize(
    "form",
    [
        *("{}, {}", "{}; {}", "**{}**, **{}**", "- {}\n- {}", "1. {}\n2. {}", "Labels: {}, {}"),
        *("[{}, {}]", '["{}", "{}"]', '{{"labels": ["{}", "{}"]}}', "{} and {}", "`{}, {}`"),
        *("The labels that apply are {} and {}.", "Dominant: {}\nSecondary: {}"),
        *("{} (he shouts), {} (he hides)", "{}: he shouts at all.\n{}: he hides from all."),
        *("The text shows {} and {}.", "The dominant label is {}, and the second label is {}."),
        "Dominant: {} (he shouts at them). Secondary: {} (he may hide).",
    ],
)
def test_labels(kind: Any, form: str) -> None:
    ranks = labels.make(FEELINGS, kind=kind).parse([Reply(form.format("Fear", "Anger"))]).ranks
    assert ranks == {"Fear": 1, "Anger": 2}


@pytest.mark.parametrize("name", ["bai", "hamilton", "madrs", "phq9"])
def test_questionnaires(name: str) -> None:
    judge = questionnaire(name)
    names = [question.name for question in judge.questionnaire.questions]
    top = int(judge.questionnaire.scale.high) + 1
    answer = {str(n): n % top for n in range(1, len(names) + 1)}
    wanted = {f"{judge.questionnaire.name}.{n}": score for n, score in answer.items()}
    full = {f"{n}. {name}": score for (n, score), name in zip(answer.items(), names, strict=True)}
    spelled = dict(judge.questionnaire.anchors)
    for form in ("{0}", "{0} ({1})", "{1} ({0})", "{0}: {1}"):
        said = {key: form.format(v, spelled.get(v, "slight")) for key, v in full.items()}
        texts = ["\n".join(f"{k}: {v}" for k, v in said.items()), json.dumps(said)]
        texts += objects(answer) if form == "{0}" else ()
        for text in texts:
            scores = judge.parse([Reply(text)]).scores
            assert {key: scores[key] for key in wanted} == wanted


JUDGES = [
    (RUBRIC, RATING),
    (rubric.make("mentalalign", ask="each"), RATING),
    (rubric.make("mentalalign", score="levels"), RATING),
    (PAIRWISE, PAIR),
    (yes_no.make(labels=["hopeful"]), ITEM),
    (choice.make(letters=4), QUESTION),
    (choice.make(letters=4, several=True), QUESTION),
    (labels.make(FEELINGS), ITEM),
    (labels.make(FEELINGS, kind="ranked"), ITEM),
    *((questionnaire(name), ITEM) for name in ("bai", "hamilton", "madrs", "phq9")),
]


@pytest.mark.parametrize(("judge", "task"), JUDGES)
def test_an_echo_of_the_prompt_answers_nothing(judge: Any, task: Any) -> None:
    requests = judge.requests(task)
    head, whole = ("\n\n".join(m.content for m in requests[0].messages[:n]) for n in (1, None))
    for lead in ("", "Sure! Here are the instructions:\n", "Okay, so I need to answer this: "):
        for text in (head, whole, *(head[:cut] for cut in range(120, len(head), 97))):
            found = judge.parse([Reply(lead + text)] * len(requests)).scores
            assert set(found.values()) == {None}, text[-80:]
