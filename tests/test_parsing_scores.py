"""Scores out of judges' replies: invented variants of every kind of damage."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine import second

from voirdire import InputError
from voirdire.parsing import REASONS, parse_scores, parse_scores_column
from voirdire.parsing.scores import _with_care
from voirdire.schema import STATUSES, Flag, Scale

KEYS = ["Empathy", "Safety"]
BOTH = {"Empathy": 4.0, "Safety": 2.0}
GOOD = '{"Empathy": 4, "Safety": 2}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```jsonc\n{GOOD}\n```",
        f"~~~json\n{GOOD}\n~~~",
        f"My rating follows [1]; {{calm}} overall.\n{GOOD}\nHope this helps.",
        f"<thinking>Draft: {GOOD.replace('4', '1')}</thinking>{GOOD}",
        f'<reasoning>\n```json\n{{"Empathy": 1,\n</reasoning>\n```json\n{GOOD}\n```',
        f'Draft {{"Empathy": 1, "why": "not closed </think> {GOOD}',
        "<|channel|>analysis<|message|>{}<|channel|>final<|message|>" + GOOD + "<|return|>",
        f'[THINK]{{"Safety": 5}}[/THINK]{GOOD}',
        "{'Empathy': 4, 'note': 'it's kind', 'Safety': 2}",
        "{Empathy: 4, Safety: 2}",
        "{“Empathy”: 4, “note”: “says “calm” twice”, “Safety”: 2}",
        '{„Empathy“: 4, «Safety»: "2"}',
        '{"Empathy": 4 "Safety": 2}',
        '{"Empathy": 4\n"Safety": 2\n}',
        '{"Empathy": 4,, "Safety": 2,}',
        '{"Empathy": 4; "Safety": 2}',
        '{"Empathy": 4, // warm\n "Safety": 2 /* of five */}',
        '{"Empathy": 4 (warm), "Safety": 2}',
        '{"Empathy": 4/5, "Safety": 2 out of 5}',
        '{"Empathy": "4 / 5", "Safety": "Score: 2"}',
        '{"note": "a "b", and "c": d" e", "Empathy": 4, "Safety": 2}',
        '{"note": "tab\there, break\nthere", "Empathy": 4, "Safety": 2}',
        '{"Empathy": 4, "Safety": 2, "note": "ends early"',
        '```json\n{"Empathy": 4, "Safety": 2\n```',
        json.dumps(GOOD),
        GOOD.replace('"', '\\"'),
        '{" empathy ": 4, "SAFETY": 2}',
        '{"**Empathy**": 4, "safety_": 2}',
        '{"ratings": [{"criterion": "Empathy", "score": 4}, {"criterion": "safety", "score": 2}]}',
        '{"a": {"b": {"Empathy": {"rating": {"value": 4}}, "Safety": [[2]]}}}',
        '{"Empathy": {"score": 4, "max": 5}, "Safety": {"reason": "score: 5", "score": 2}}',
        '[{"Empathy": 4}, {"Safety": 2}]',
        '{"Empathy": 4}\n{"Safety": 2}',
        '{"Empathy": 1, "Safety": 1}\nOn reflection:\n{"Empathy": 4, "Safety": 2}',
        "Empathy: 4\nSafety: 2",
        "- **Empathy**: 4/5 - warm\n- **Safety** (1-5): 2",
        "| Empathy | 4 |\n|---|---|\n| Safety | 2 |",
        "Empathy is 4, Safety is 2.",
        "<Empathy>4</Empathy><Safety>2</Safety>",
        "Empathy: 3? No. Final Empathy: 4. Safety - 2",
        "\ufeff" + GOOD,
        '{"Empathy": "４", "Safety": "٢"}',
        '{"Empathy": ４, "Safety": ２}',
        '{"Empathy": 4.0, "Safety": 2e0}',
    ],
)
def test_recovered(text: str) -> None:
    parsed = parse_scores(text, KEYS, Scale())
    assert parsed.scores == BOTH
    assert parsed.status in {"ok", "repaired"}
    assert not parsed.reasons


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("null", "null"),
        ('""', "empty"),
        ('"N/A"', "null"),
        ("NaN", "nan"),
        ("true", "not_numeric"),
        ('"four"', "not_numeric"),
        ('"²"', "not_numeric"),
        ('"4²"', "not_numeric"),
        ('"④"', "not_numeric"),
        ('"4th"', "not_numeric"),
        ('"~4"', "not_numeric"),
        ('"3-4"', "ambiguous"),
        ('"3–4"', "ambiguous"),
        ('"3 to 4"', "ambiguous"),
        ('"4, maybe 5"', "ambiguous"),
        ('"4 (or 5)"', "ambiguous"),
        ('"4/5/2"', "ambiguous"),
        ('"4,5"', "ambiguous"),
        ("4,5", "ambiguous"),
        ("3-4", "ambiguous"),
        ("[4, 5]", "ambiguous"),
        ('"8/10"', "scale_mismatch"),
        ('"4 out of 10"', "scale_mismatch"),
        ('"80%"', "scale_mismatch"),
        ('{"score": 4, "out_of": 10}', "scale_mismatch"),
        ("0", "off_scale"),
        ("6", "off_scale"),
        ('"6/5"', "off_scale"),
        ("-4", "off_scale"),
        ("1e999", "off_scale"),
        ("1" + "0" * 400, "off_scale"),
        ("1" * 5_000, "off_scale"),
        ('{"parts": {"score": 4}}', "no_score"),
        ('{"score": 4, "score": 3}', "duplicate_key"),
        ('4, "empathy": 3', "duplicate_key"),
    ],
)
def test_missing_costs_the_other_score_nothing(value: str, reason: str) -> None:
    parsed = parse_scores(f'{{"Empathy": {value}, "Safety": 2}}', KEYS, Scale())
    assert parsed.scores == {"Empathy": None, "Safety": 2.0}
    assert parsed.reasons == {"Empathy": reason}
    assert parsed.statuses["Empathy"] == parsed.status == REASONS[reason]


def test_off_scale_numbers_are_kept_for_the_caller() -> None:
    parsed = parse_scores('{"Empathy": 0, "Safety": 6}', KEYS, Scale())
    assert parsed.extra["off_scale"] == {"Empathy": 0.0, "Safety": 6.0}
    assert parsed.status == "out_of_scale"


def test_equal_repeats_are_fine() -> None:
    assert (
        parse_scores('{"Empathy": 4, "Safety": 2, "empathy": "4/5"}', KEYS, Scale()).scores == BOTH
    )


def test_words_count_only_where_they_are_declared() -> None:
    text = '{"Empathy": "Good.", "Safety": "poor"}'
    assert parse_scores(text, KEYS, Scale()).reasons == dict.fromkeys(KEYS, "not_numeric")
    assert parse_scores(text, KEYS, Scale(), words={"good": 4, "Poor": 2}).scores == BOTH


def test_a_reply_that_contradicts_itself_in_text_is_ambiguous() -> None:
    parsed = parse_scores("Empathy: 4. I could defend Empathy: 3. Safety: 2", KEYS, Scale())
    assert parsed.scores == {"Empathy": None, "Safety": 2.0}
    assert parsed.reasons == {"Empathy": "ambiguous"}


@pytest.mark.parametrize(
    "text", ["4", "**4**", "Score: 4/5", "Rating - 4", '{"score": 4}', "Empathy = 4"]
)
def test_a_single_attribute_needs_no_key(text: str) -> None:
    assert parse_scores(text, ["Empathy"], Scale()).scores == {"Empathy": 4.0}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (None, "blank"),
        (" \n\ufeff", "blank"),
        ("I'm sorry, but I can't score this exchange.", "refused"),
        ("As an AI, I am not able to judge people.", "refused"),
        ("The reply is warm and has 4 parts.", "unparsable"),
        ("{}", "unparsable"),
        ('{"verdict": "fine"}', "unparsable"),
        ("<think>Empathy: 4", "truncated"),
        ('<think>{"Empathy": 4, "Safety": 2}', "truncated"),
        ("[" * 100_000, "unparsable"),
    ],
)
def test_no_answer(text: str | None, status: str) -> None:
    parsed = parse_scores(text, KEYS, Scale())
    assert parsed.scores == dict.fromkeys(KEYS)
    assert parsed.status == status
    assert parsed.statuses == dict.fromkeys(KEYS, status)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("refusal", "refused"),
        ("content_filter", "filtered"),
        ("error", "failed"),
        ("length", "truncated"),
    ],
)
def test_what_the_provider_says_counts(reason: Any, status: str) -> None:
    assert parse_scores("", KEYS, Scale(), finish_reason=reason).status == status


@pytest.mark.parametrize(
    ("text", "finish", "safety", "status"),
    [
        ('{"Empathy": 4, "Safety": 2', "length", None, "truncated"),
        ('{"Empathy": 4, "Safety": "2"', "length", None, "truncated"),
        ('{"Empathy": 4, "Safety": 2,', "length", 2.0, "truncated"),
        ('{"Empathy": 4, "Safety": {"score": 2', "length", None, "truncated"),
        ('{"Empathy": 4, "Safety": {"score": 2, "why": "a', "length", 2.0, "truncated"),
        ('{"Empathy": 4, "Saf', "length", None, "truncated"),
        ('```json\n{"Empathy": 4, "Safety": 2}', "length", 2.0, "ok"),
        ('{"Empathy": 4, "Safety": 2', "stop", 2.0, "repaired"),
        ('{"Empathy": 4, "Safety": 2, "note": "and th', "stop", 2.0, "truncated"),
        ('{"Empathy": 4, "Safety":', "stop", None, "truncated"),
    ],
)
def test_cut(text: str, finish: Any, safety: float | None, status: str) -> None:
    parsed = parse_scores(text, KEYS, Scale(), finish_reason=finish)
    assert parsed.scores == {"Empathy": 4.0, "Safety": safety}
    assert parsed.status == status
    assert safety is not None or parsed.reasons == {"Safety": "cut"}


def test_keys_that_differ_only_in_signs_are_told_apart() -> None:
    parsed = parse_scores('{"a_b": 4, "a b": 2}', ["a b", "a_b"], Scale())
    assert parsed.scores == {"a b": 2.0, "a_b": 4.0}


def test_what_cannot_be_stored_is_replaced() -> None:
    text = '{"Empathy": 4, "Safety": 2, "x": "\\ud800", "y": NaN, "z": ' + "[" * 60 + "]" * 60 + "}"
    fields = parse_scores(text, KEYS, Scale()).extra["fields"]
    json.dumps(fields, allow_nan=False).encode()
    assert fields["x"] == "?"
    assert fields["y"] is None


MEGABYTE = 1_000_000
HOSTILE = {
    "brackets": "[" * 100_000,
    "closed brackets": "[" * 100_000 + "]" * 100_000,
    "braces": "{" * MEGABYTE,
    "objects": "{}" * (MEGABYTE // 2),
    "nested": '{"a":' * (MEGABYTE // 5),
    "lists": "[1, " * (MEGABYTE // 4),
    "quotes": '{"a": "' + '"' * MEGABYTE,
    "apostrophes": "{'a': '" + "'" * MEGABYTE,
    "blanks": '{"a": "x"' + " " * MEGABYTE + "x",
    "quotes in blanks": '{"a": "' + ('"' + " " * 999) * (MEGABYTE // 1000),
    "backslashes": '{"a": "' + "\\" * MEGABYTE,
    "comments": "{/*" * (MEGABYTE // 3),
    "many pairs": "{" + '"a":1,' * (MEGABYTE // 6),
    "many short objects": ("{a:1," * 200 + "}") * 1_000,
    "many tags": "</think>" * (MEGABYTE // 8),
    "tags in objects": '{"a":"<think>' * (MEGABYTE // 13),
    "tags in open objects": ('{"a":"' + "x" * 2_000 + "</think>") * 500,
    "fences": "```" * (MEGABYTE // 3),
    "digits": '{"Empathy":' + "1" * MEGABYTE + "}",
    "digits in text": "Empathy: " + "1" * MEGABYTE,
    "statements": "Empathy: 4\n" * (MEGABYTE // 11),
    "stars": "Empathy" + "*" * MEGABYTE,
    "refusals": "I cannot " * (MEGABYTE // 9),
    "json in text": '{"a": "' + '{\\"a\\": 1}' * (MEGABYTE // 12) + '"}',
    "nulls": "\x00" * MEGABYTE,
    "surrogates": "\ud800" * MEGABYTE,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    parsed = parse_scores(text, KEYS, Scale())
    # A quarter of this is usual; the margin is for a busy machine.
    assert time.process_time() - start < 5 * second()
    assert None in parsed.scores.values()


noise = st.sampled_from(
    [
        "",
        "Here is my rating:\n",
        '<think>maybe {"Empathy": 1}</think>\n',
        "```json\n",
        "Note [2].\n\n",
    ]
)


@given(
    st.dictionaries(st.sampled_from(["Empathy", "Safety", "Tone"]), st.integers(1, 5), min_size=1),
    noise,
    st.sampled_from(["", "\n```", "\nThat is all.", "  "]),
    st.sampled_from([str, "{}/5".format, "{} out of 5".format, "{}.0".format, int]),
    st.text(),
)
def test_scores_survive_any_known_noise(
    scores: dict[str, int], before: str, after: str, form: Any, note: str
) -> None:
    body = {key: form(value) for key, value in scores.items()} | {"note": note}
    text = before + json.dumps(body, ensure_ascii=False) + after
    assert parse_scores(text, list(scores), Scale()).scores == scores


SHARDS = (
    '{"Empathy": ', "4", '"', "}", "{", "[", "]", ",", ":", "\\", "/", "5", "<think>", "</think>", "```"
)  # fmt: skip
ODD = ("Empathy", "Safety", " ", "\n", "“", "'", "null", "1e999", "\ud800", "\x00", "٤", "²")
pieces = st.lists(st.sampled_from(SHARDS + ODD), max_size=40).map("".join)


@given(st.one_of(st.text(), pieces), st.sampled_from(["stop", "length", "refusal", "empty"]))
def test_never_raises_never_off_scale(text: str, finish: Any) -> None:
    parsed = parse_scores(text, KEYS, Scale(), finish_reason=finish)
    assert list(parsed.scores) == KEYS
    assert parsed.status in STATUSES
    for name, score in parsed.scores.items():
        assert score is None or 1 <= score <= 5
        assert (score is None) == (name in parsed.reasons)
        assert (score is None) == (parsed.statuses[name] not in {"ok", "repaired"})
    columns = parse_scores_column([text], KEYS, Scale(), finish_reasons=[finish])
    assert {name: [score] for name, score in parsed.scores.items()} == columns.scores
    assert (columns.status, columns.flags) == ([parsed.status], [parsed.flags])


NAMES = (
    *KEYS, "empathy", "Empathy score", "2. Safety (1-5)", "name", "score", "attribute", "final",
    "Overall", "note", "Safety_rating", "max", "Empathy_final", "final_Safety", "revised",
)  # fmt: skip
values = st.one_of(
    st.integers(0, 6),
    st.booleans(),
    st.none(),
    st.text(max_size=6),
    st.sampled_from(NAMES),
    st.floats(0, 6),
    st.sampled_from([{"Empathy": 2}, [4], '{"Safety": 3}', {}]),
)
objects = st.lists(st.tuples(st.sampled_from(NAMES), st.one_of(values, st.just(4))), max_size=6)
FRAMES = ("%s", "```json\n%s\n```", " %s\n", "```%s```")


@given(
    objects,
    st.sampled_from(FRAMES),
    st.sampled_from(["stop", "length"]),
    st.booleans(),
    st.sampled_from([1, 0]),
)
@settings(max_examples=500)
def test_the_quick_way_says_what_the_careful_one_says(pairs, frame, finish, single, step) -> None:
    """The careful way is the quick one's slow twin, to the last field and flag."""
    keys = KEYS[:1] if single else KEYS
    parts = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs)
    text = frame % ("{" + parts + "}")
    scale = Scale(step=step)
    read = parse_scores(text, keys, scale, finish_reason=finish)
    assert read == _with_care(text, keys, scale, finish, None)
    columns = parse_scores_column([text], keys, scale, finish_reasons=[finish])
    assert {key: [score] for key, score in read.scores.items()} == columns.scores
    assert {key: [status] for key, status in read.statuses.items()} == columns.statuses
    assert read.reasons == {key: why[0] for key, why in columns.reasons.items() if why}


def test_an_object_that_marks_a_last_version_is_read_with_care() -> None:
    for text in ('{"Empathy": 3, "Empathy_final": 4}', '{"Empathy": 3, "final": {"Empathy": 4}}'):
        assert parse_scores(text, ["Empathy"], Scale()).scores == {"Empathy": 4}


def test_columns_need_one_finish_reason_a_reply() -> None:
    with pytest.raises(InputError, match="1 entries for 2 replies"):
        parse_scores_column([GOOD, GOOD], KEYS, Scale(), finish_reasons=["stop"])


@pytest.mark.parametrize(("step", "keys", "status"), [(1, 7, "ok"), (0, 7, "ok"), (1, 8, "blank")])
def test_columns_are_fast(step: float, keys: int, status: str) -> None:
    """Also where the scale is continuous, and where each reply leaves out a key."""
    text = json.dumps({f"k{n}": n % 5 + 1 for n in range(7)} | {"note": "calm " * 60})
    texts = [text, f"```json\n{text}\n```"] * 10_000
    start = time.process_time()
    columns = parse_scores_column(texts, [f"k{n}" for n in range(keys)], Scale(step=step))
    # 0.1 s on one core; the margin is for a busy machine.
    assert time.process_time() - start < 1.5 * second()
    assert set(columns.status) == {status}


@pytest.mark.parametrize(
    ("text", "empathy"),
    [
        ('The `<think>` tag is shown. {"Empathy": 4}', 4.0),
        ('<think>x</think>```json\n{"Empathy": 4}\n```', 4.0),
        ('<think>say "</think>" {"Empathy": 1}</think>{"Empathy": 4}', 4.0),
        ('a {"Empathy": 4, "note": "a "b" </think> c"}', 4.0),
        ('{"Empathy": 4}\n<think>was that fair?', 4.0),
        ('{"Empathy": 4}</think>', None),
        ('<analysis>{"Empathy": 1}</analysis><answer>{"Empathy": 4}</answer>', 4.0),
        ("◁think▷Empathy: 1◁/think▷Empathy: 4", 4.0),
    ],
)
def test_reasoning(text: str, empathy: float | None) -> None:
    assert parse_scores(text, ["Empathy"], Scale()).scores == {"Empathy": empathy}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("I give it 4 out of 5.", 4.0),
        ("I would rate this 8 out of 10.", None),
        ("4/5 or 3/5", None),
        ("Score: **4** / 5", 4.0),
        ("Score: [4]", 4.0),
        ("Rating: [[4]]", 4.0),
        ("score = 4 because it is warm", 4.0),
        ("My score:\n4", 4.0),
        ("Score: 3 to 4", None),
        ("Score: 4, maybe 5", None),
        ("There are 4 parts.", None),
    ],
)
def test_one_number_in_a_sentence(text: str, score: float | None) -> None:
    assert parse_scores(text, ["score"], Scale()).scores == {"score": score}


@pytest.mark.parametrize(
    "text",
    [
        '{"empathy_score": 4, "Safety rating": 2}',
        '{"1. Empathy": 4, "2. Safety (1-5)": 2}',
        '{"draft": {"Empathy": 1, "Safety": 1}, "final": {"Empathy": 4, "Safety": 2}}',
        '{"scores": {"Empathy": 4, "Safety": 2}, "weights": {"Empathy": 1, "Safety": 1}}',
        '{"Empathy": 4, "Empathy (reason)": "warm", "Safety": 2, "Safety score (max)": 5}',
        '"Empathy": 4, "Safety": 2',
    ],
)
def test_decorated_keys_and_wrappers(text: str) -> None:
    assert parse_scores(text, KEYS, Scale()).scores == BOTH
    columns = parse_scores_column([text], KEYS, Scale())
    assert columns.scores == {name: [score] for name, score in BOTH.items()}


def test_a_value_between_levels_is_kept_and_said() -> None:
    text = '{"Empathy": 4.5, "Safety": 3}'
    parsed = parse_scores(text, KEYS, Scale())
    assert (parsed.scores["Empathy"], parsed.flags) == (4.5, (Flag("between_levels", "Empathy"),))
    coarse = parse_scores_column([text], KEYS, Scale(1, 5, 4))
    assert coarse.flags == [(Flag("between_levels", "Empathy"), Flag("between_levels", "Safety"))]


@pytest.mark.parametrize("scale", [Scale(0, 1e12), Scale(0, 1e200, 1e-9), Scale(0, 1, 1e-9)])
def test_scales_too_fine_to_enumerate(scale: Scale) -> None:
    text = '{"Empathy": 1, "Safety": 0.5}'
    parsed = parse_scores(text, KEYS, scale)
    assert parsed.scores == {"Empathy": 1.0, "Safety": 0.5}
    assert parse_scores_column([text], KEYS, scale).flags == [parsed.flags]


def test_a_scale_without_countable_levels_is_refused() -> None:
    with pytest.raises(InputError, match="levels that can be counted"):
        Scale(-1e308, 1e308, 1e-300)


@pytest.mark.parametrize(
    ("twice", "score"),
    [("4, 4", 4.0), ("4, 4.0", 4.0), ("1, true", None), ("true, 1", None), ("4, 3", None)],
)
def test_a_key_that_comes_twice_counts_where_it_says_the_same(
    twice: str, score: float | None
) -> None:
    """Equal as JSON values: 4 is 4.0, and true is not 1, though Python thinks so."""
    one, other = twice.split(", ")
    text = f'{{"Empathy": {{"score": {one}, "score": {other}}}, "Safety": 2}}'
    parsed = parse_scores(text, KEYS, Scale())
    assert parsed.scores["Empathy"] == score
    assert parsed.reasons == ({} if score else {"Empathy": "duplicate_key"})


def test_a_key_that_is_no_number_twice_is_not_said_to_contradict_itself() -> None:
    """NaN differs from itself in every comparison, and says the same all the same."""
    text = '{"Empathy": {"score": NaN, "score": NaN}, "Safety": 2}'
    parsed = parse_scores(text, KEYS, Scale())
    assert parsed.scores["Empathy"] is None
    assert parsed.reasons["Empathy"] != "duplicate_key"


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        ("4", "4", "ok"),
        ("4", "4.0", "ok"),
        ("4", "5", "unparsable"),
        ("1", "true", "unparsable"),  # equal in Python, and not in JSON
        ("true", "1", "unparsable"),
        ("4", '"4"', "unparsable"),
        ("NaN", "NaN", "blank"),  # unequal in Python; the model said the same twice
        ("null", "null", "blank"),
    ],
)
def test_a_score_that_is_given_twice_counts_where_both_are_the_same(one, other, status):
    reply = f'{{"calm": {{"score": {one}, "score": {other}}}}}'
    found = parse_scores(reply, ["calm"], Scale(1, 5))
    assert found.statuses["calm"] == status
