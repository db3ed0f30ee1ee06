"""The questionnaire judge: four instruments, their standard scoring and the paper's variant."""

from __future__ import annotations

import json

import pytest

from voirdire import InputError, plugins
from voirdire.parsing import parse_questionnaire
from voirdire.schema import Item, Reply, Scale
from voirdire_judges.questionnaire import make
from voirdire_judges.questionnaires import load_questionnaire, score_answers

POST = Item("1", "I slept badly before the language exam.")


@pytest.fixture(scope="module")
def printed(shared):
    path = shared / "reference" / "paper_checks.json"
    return json.loads(path.read_text(encoding="utf-8"))["paper_004"]["questionnaires"]


def reply(values, finish="stop"):
    return [Reply(json.dumps(values), finish)]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "key", "paper"),
    [
        ("phq9", "PHQ-9", [0, 1]),
        ("madrs", "MADRS", [0, 6]),
        ("hamilton", "HAM-A", [0, 4]),
        ("bai", "BAI", [0, 4]),
    ],
)
def test_standard_scoring_beside_the_papers(printed, name, key, paper):
    expected, known = printed[key], load_questionnaire(name)
    assert (known.name, len(known.questions)) == (key, expected["items"])
    assert [known.scale.low, known.scale.high] == expected["standard_item"]
    assert [known.total.low, known.total.high] == expected["standard_total"]
    variant = load_questionnaire(name, "hengle2024")
    assert [variant.scale.low, variant.scale.high] == paper
    if "paper_prompt_item" in expected:
        assert expected["paper_prompt_item"] == paper
    assert variant.bands == ()  # bands of another range would mean nothing


@pytest.mark.shared
def test_the_papers_phq9_cannot_reach_the_usual_cut(printed):
    expected = printed["PHQ-9"]
    assert load_questionnaire("phq9", "hengle2024").total.high == expected["max_total_yes_no"]
    with pytest.raises(InputError, match="threshold 10 decides nothing, its total lies in 0 to 9"):
        make(scale="phq9", variant="hengle2024", threshold=expected["usual_cut"])
    assert make(scale="phq9", threshold=10).label == "depression"
    assert load_questionnaire("bai", "hengle2024").total.high == printed["BAI"]["max_total_paper"]


def test_a_complete_reply_has_a_total_a_band_and_a_label():
    judge = make(scale="phq9", threshold=10)
    found = judge.parse(reply({str(n): 2 if n < 6 else 0 for n in range(1, 10)}))
    assert (found.scores["PHQ-9.total"], found.scores["depression"]) == (10.0, 1.0)
    assert found.extra["scored"]["band"] == "moderate"
    assert found.status == "ok"


def test_a_partial_reply_has_bounds_and_no_total():
    judge = make(scale="phq9", threshold=10)
    found = judge.parse(reply({"1": 3, "2": 3, "4": 3}))
    assert found.scores["PHQ-9.total"] is None
    assert found.scores["PHQ-9.3"] is None
    assert found.scores["depression"] is None  # 9 to 27: the rest decides
    scored = found.extra["scored"]
    assert (scored["partial"], scored["low"], scored["high"]) == (9.0, 9.0, 27.0)
    assert scored["missing"] == (3, 5, 6, 7, 8, 9)
    assert found.reasons["PHQ-9.total"] == found.reasons["depression"] == "incomplete"
    assert found.statuses["PHQ-9.total"] == found.statuses["PHQ-9.3"] == "blank"


def test_what_missing_answers_cannot_change_is_decided():
    known = load_questionnaire("phq9")
    assert score_answers(known, {1: 3, 2: 3, 3: 3, 4: 3}, 10).positive is True
    assert score_answers(known, dict.fromkeys(range(1, 9), 0), 10).positive is False
    assert score_answers(known, {}, 10).positive is None


@pytest.mark.parametrize(("name", "serial"), [("madrs", 1), ("hamilton", 14)])
def test_items_that_need_observation_may_be_not_ratable(name, serial):
    judge = make(scale=name, variant="hengle2024")
    size = len(judge.questionnaire.questions)
    values = {str(n): 1 for n in range(1, size + 1)}
    found = judge.parse(reply({**values, str(serial): "not ratable"}))
    key = judge.questionnaire.name
    assert found.reasons[f"{key}.{serial}"] == "not_ratable"
    assert found.scores[f"{key}.total"] is None
    assert found.status == "ok"  # an answer: nothing to ask again
    assert "not ratable" in judge.requests(POST)[0].messages[0].content
    other = 2 if serial != 2 else 3
    refused = judge.parse(reply({**values, str(other): "not ratable"}))
    assert refused.reasons[f"{key}.{other}"] == "not_numeric"
    assert refused.status == "unparsable"


@pytest.mark.parametrize("name", ["phq9", "madrs", "hamilton", "bai"])
def test_by_default_any_item_may_be_not_ratable_and_none_is_scored_0_for_silence(name):
    judge = make(scale=name, threshold=2)
    size = len(judge.questionnaire.questions)
    (request,) = judge.requests(POST)
    asked = request.messages[0].content
    assert 'Where the text does not say, X is "not ratable".' in asked
    assert "scores 0" not in asked
    assert "is not absent: it cannot be rated" in asked
    assert all("not ratable" in one["enum"] for one in request.schema["properties"].values())
    found = judge.parse(reply(dict.fromkeys(map(str, range(1, size + 1)), "not ratable")))
    assert found.status == "ok"  # answers: nothing to ask again
    key, construct = judge.questionnaire.name, judge.questionnaire.construct
    assert found.scores[f"{key}.total"] is found.scores[construct] is None
    some = judge.parse(reply({"1": 2, **{str(n): "not ratable" for n in range(2, size + 1)}}))
    assert some.scores[construct] == 1.0  # whatever the others are
    assert (
        make(scale=name, variant="hengle2024").questionnaire.may_lack
        == judge.questionnaire.observed
    )


def test_it_is_said_whose_words_the_items_are():
    assert "voirdire's words" in load_questionnaire("madrs").descriptions
    assert "as the instrument prints them" in load_questionnaire("phq9").descriptions


def test_yes_and_no_are_1_and_0_in_the_papers_phq9():
    judge = make(scale="phq9", variant="hengle2024", threshold=5)
    values = {str(n): "yes" if n in (1, 2, 3, 4, 6) else "No." for n in range(1, 10)}
    found = judge.parse(reply(values))
    assert (found.scores["PHQ-9.total"], found.scores["depression"]) == (5.0, 1.0)
    (request,) = judge.requests(POST)
    assert request.schema["properties"]["1"] == {"type": "string", "enum": ["yes", "no"]}


@pytest.mark.parametrize("item", range(5))
@pytest.mark.shared
def test_the_reported_bug_a23(shared, item):
    path = shared / "cases" / "bug_cases.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    case = next(line for line in lines if line["id"] == "A23")["variants"][item]
    scale = Scale(0, 6 if "MADRS" in case.get("note", "") else 3)
    name = "madrs" if scale.high == 6 else "phq9"
    found = make(scale=name).parse([Reply(case["input"])])
    key, expected = load_questionnaire(name).name, case["expected"]
    for serial in filter(str.isdigit, expected):
        assert found.scores[f"{key}.{serial}"] == expected[serial]
    if "total" in expected:
        assert found.scores[f"{key}.total"] == expected["total"]
        assert found.extra["complete"] == expected["complete"]
    if expected.get("status") == "zero_based_keys":
        assert set(found.reasons.values()) == {"zero_based_keys", "incomplete"}
        assert parse_questionnaire(case["input"], [scale] * 9).status == found.status


@pytest.mark.parametrize(
    ("text", "finish", "status"),
    [
        ("", "stop", "blank"),
        ("I would rather not.", "refusal", "refused"),
        ("", "error", "failed"),
        ("word salad", "stop", "unparsable"),
        ('{"1": 1, "2": ', "length", "truncated"),
    ],
)
def test_a_bad_reply_is_missing_with_its_status(text, finish, status):
    found = make(scale="bai", threshold=20).parse([Reply(text, finish)])
    assert found.status == status
    assert found.scores["BAI.total"] is None is found.scores["anxiety"]
    assert len(found.scores) == 21 + 2


def test_a_post_without_text_is_not_asked_about():
    judge = make(scale="bai")
    assert judge.requests(Item("1", "  ")) == []
    assert judge.parse([]).status == "blank"


def test_another_scale_is_a_file(tmp_path):
    (tmp_path / "calm.toml").write_text(
        'name = "CALM"\nconstruct = "calm"\nrange = [1, 5]\n[[items]]\nname = "At ease"\n'
        '[[items]]\nname = "Breath"\ntext = "slow"\nobserved = true\n[[bands]]\nname = "low"\n'
        "low = 2\n[variants.short]\nrange = [0, 1]\nyes_no = true\n",
        encoding="utf-8",
    )
    judge = make(scale=str(tmp_path / "calm.toml"), threshold=6)
    assert judge.parse(reply({"1": 5, "2": 1})).scores == {
        "CALM.1": 5.0, "CALM.2": 1.0, "CALM.total": 6.0, "calm": 1.0,
    }  # fmt: skip
    assert make(scale=str(tmp_path / "calm.toml"), variant="short").questionnaire.yes_no
    with pytest.raises(InputError, match=r"variant 'long' is unknown \(allowed: standard, short\)"):
        make(scale=str(tmp_path / "calm.toml"), variant="long")
    (tmp_path / "odd.toml").write_text('name = "x"\nitem = 3\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"key 'item' is unknown \(did you mean 'items'\?"):
        make(scale=str(tmp_path / "odd.toml"))
    with pytest.raises(InputError, match="neither a TOML file nor built in"):
        make(scale="phq10")
    with pytest.raises(InputError, match="scale must name"):
        make()


def test_it_is_registered_as_a_judge_and_as_an_annotator():
    for kind in ("judge", "annotator"):
        assert plugins().resolve(kind, "questionnaire") is make
    assert make("phq9").questionnaire.name == "PHQ-9"  # a study's rubric names it
