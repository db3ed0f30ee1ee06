"""Traces as ratings of runs and steps: files of `tests/foreign/traces`, made by their makers."""

import copy
import json
import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire import TableError, examine
from voirdire.study import ReadOptions
from voirdire.tables import read_foreign
from voirdire.testing import check_reader
from voirdire.units import Unit, parted
from voirdire_plugins.readers import OPENINFERENCE, OPENTELEMETRY, opentelemetry
from voirdire_plugins.readers.steps import TracedStep, Trajectory, steps_of_message, steps_of_span

TRACES = Path(__file__).parent / "foreign" / "traces"
#: What people and the model said in `make_traces.py`: of the first model's step, the last, the run.
PEOPLE = ("111", "110", "111", "111", "000", "111", "111", "001", "100", "111")
KEY = ["item", "rater", "attribute"]


def read(name):
    found = read_foreign(TRACES / name)
    assert found is not None
    return found


def kinds(found):
    return [one.kind for one in found.findings]


def refusal(path):
    with pytest.raises(TableError) as caught:
        read_foreign(path)
    assert path.name in str(caught.value)
    return str(caught.value)


def said(path, reader):
    """What a reader says against a file; None where it reads it."""
    try:
        read_foreign(path, reader)
    except TableError as error:
        return str(error)
    return None


def scores(found, attribute, rater="ann"):
    rows = found.ratings.filter(attribute=attribute, rater=rater)
    return dict(rows.select("item", "score").sort("item").iter_rows())


def otlp(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_foreign(path)


def of_lines(change=lambda value: value):
    lines = (TRACES / "opentelemetry.jsonl").read_text().splitlines()
    return [change(json.loads(line)) for line in lines]


def spans(line):
    return line["resourceSpans"][0]["scopeSpans"][0]["spans"]


def records(line):
    return line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]


def attribute(name, value):
    return {"key": name, "value": {"stringValue": value}}


# One truth, in the files of four makers


@pytest.mark.parametrize(
    ("name", "mark", "steps"),
    [
        ("opentelemetry.jsonl", "a1", (3, 5)),  # the thought before the call is a step
        ("openinference.jsonl", "b2", (2, 4)),
        ("phoenix.jsonl", "d4", (2, 4)),
    ],
)
def test_evaluations_of_people_and_models_are_ratings_of_runs_and_steps(name, mark, steps):
    found = read(name)
    traces = [f"{mark}{at:030x}" for at in range(1, 11)]
    assert scores(found, "resolved") == {
        trace: float(said[2]) for trace, said in zip(traces, PEOPLE, strict=True)
    }
    assert scores(found, "step_right") == {
        Unit("step", position).of(trace): float(said[at])
        for trace, said in zip(traces, PEOPLE, strict=True)
        for at, position in enumerate(steps)
    }
    assert dict(found.raters.select("rater", "kind").rows()) == {"ann": "human", "gpt-4o": "judge"}
    assert set(kinds(found)) <= {"file_read_as", "spans_read"}
    # Two runs are one conversation, and all that was judged in it one cluster.
    clusters = found.ratings.group_by("cluster").agg(pl.col("item").n_unique()).sort("cluster")
    assert clusters.rows() == [(f"c{at}", 6) for at in range(5)]
    said = dict(found.responses.select("item", "text").iter_rows())
    assert said[traces[0]] == "At ten."
    assert said[Unit("step", steps[0]).of(traces[0])] == '{"q": "hours sunday"}'
    assert found.items.filter(item=traces[1])["text"].to_list() == ["May I bring a sandwich?"]


def test_lines_one_object_and_protobuf_hold_the_same():
    pytest.importorskip("opentelemetry.proto", reason="pip install 'voirdire[otlp]'")
    lines, protobuf = read("opentelemetry.jsonl"), read("opentelemetry.binpb")
    assert lines.ratings.sort(KEY).equals(protobuf.ratings.sort(KEY))
    whole = read("opentelemetry.json").ratings
    assert whole.sort(KEY).equals(
        lines.ratings.filter(item=pl.lit(""))
        .vstack(lines.ratings.filter(pl.col("item").is_in(whole["item"].unique().implode())))
        .sort(KEY)
    )


def test_one_command_gives_a_verdict():
    examination = examine(TRACES / "opentelemetry.jsonl")
    assert examination.inputs.reference == ("ann",)
    # A run and its steps are shown with the same question, which is no copy.
    assert "duplicate_contexts" not in {one.kind for one in examination.findings}
    assert {(one.judge, one.attribute) for one in examination.results} == {
        ("gpt-4o", "step_right"),
        ("gpt-4o", "resolved"),
    }


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        (OPENTELEMETRY, "opentelemetry.jsonl"),
        (OPENTELEMETRY, "opentelemetry.json"),
        (OPENINFERENCE, "openinference.jsonl"),
        (OPENINFERENCE, "phoenix.jsonl"),
    ],
)
def test_the_readers_keep_the_contract(reader, name):
    check_reader(reader, TRACES / name)


def test_scores_on_the_way_of_inspect_are_of_the_step_that_was_the_last_by_then():
    found = read("inspect_ai.eval")
    whole = found.ratings.filter(attribute="score").sort("rater", "item")
    assert whole.filter(rater="ann")["score"].to_list() == [float(said[2]) for said in PEOPLE]
    steps = found.ratings.filter(attribute="score (step)")
    assert set(steps["rater"]) == {"resolved"}
    # The first message of the model says something and calls a tool; the second is the answer.
    assert {parted(name)[1].position for name in steps["item"]} == {3, 5}
    assert steps.filter(item="q4 step 3")["score"].to_list() == [0.0]
    assert steps.filter(item="q4 step 5")["score"].to_list() == [1.0]
    assert set(found.ratings.filter(item="q4")["cluster"]) == {"q4"}
    assert set(found.ratings.filter(item="q4 step 5")["cluster"]) == {"q4"}


# What is joined, and what cannot be


def test_the_order_of_lines_changes_nothing(tmp_path):
    lines = of_lines()
    random.Random(4).shuffle(lines)
    left = otlp(tmp_path / "a.jsonl", reversed(of_lines()))
    right = otlp(tmp_path / "b.jsonl", lines)
    assert left.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))
    assert right.ratings.sort(KEY).equals(left.ratings.sort(KEY))


def test_an_evaluation_by_a_response_id_is_of_the_span_that_gave_it(tmp_path):
    lines = of_lines()
    spans(lines[0])[2]["attributes"].append(attribute("gen_ai.response.id", "r-7"))
    last = records(lines[1])[1]
    assert last["spanId"] == spans(lines[0])[2]["spanId"]
    del last["spanId"], last["traceId"]
    last["attributes"].append(attribute("gen_ai.response.id", "r-7"))
    found = otlp(tmp_path / "a.jsonl", lines)
    assert found.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))


def test_evaluations_as_events_of_spans_are_read_as_those_in_logs(tmp_path):
    lines = of_lines()
    by_id = {one["spanId"]: one for line in (lines[0], lines[2]) for one in spans(line)}
    for line in (lines[1], lines[3]):
        for record in records(line):
            event = {"name": record["eventName"], "attributes": record["attributes"]}
            by_id[record["spanId"]].setdefault("events", []).append(event)
    found = otlp(tmp_path / "a.jsonl", [lines[0], lines[2]])
    assert found.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))


def test_logs_alone_are_read_by_their_ids_and_it_is_said(tmp_path):
    found = otlp(tmp_path / "logs.jsonl", [of_lines()[1], of_lines()[3]])
    assert found.ratings.height == 60
    assert "spans_absent" in kinds(found)
    assert set(found.ratings["cluster"]) == {f"a1{at:030x}" for at in range(1, 11)}


def test_messages_in_an_event_are_the_steps_of_their_span(tmp_path):
    lines = of_lines()
    plan = spans(lines[0])[0]
    told = [one for one in plan["attributes"] if one["key"].endswith("messages")]
    plan["attributes"] = [one for one in plan["attributes"] if one not in told]
    records(lines[1]).append(
        {
            "traceId": plan["traceId"],
            "spanId": plan["spanId"],
            "attributes": told,
            "eventName": "gen_ai.client.inference.operation.details",
        }
    )
    found = otlp(tmp_path / "a.jsonl", lines)
    assert found.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))


def test_who_evaluated_is_never_guessed(tmp_path):
    def unnamed(line):
        for record in records(line) if "resourceLogs" in line else ():
            record["attributes"] = [
                one
                for one in record["attributes"]
                if "evaluator" not in one["key"] or one["value"].get("stringValue") == "gpt-4o"
            ]
        return line

    found = otlp(tmp_path / "a.jsonl", of_lines(unnamed))
    assert {"evaluator_unnamed", "evaluator_kind_unknown"} <= set(kinds(found))
    assert set(found.raters["kind"]) == {"judge"}
    assert set(found.raters["rater"]) == {"evaluation", "gpt-4o"}


def test_an_evaluation_that_failed_is_missing_and_one_without_a_value_is_left_out(tmp_path):
    lines = of_lines()
    first, second = records(lines[1])[:2]
    for record in (first, second):
        record["attributes"] = [one for one in record["attributes"] if "score" not in one["key"]]
    first["attributes"].append(attribute("error.type", "timeout"))
    found = otlp(tmp_path / "a.jsonl", lines)
    (missing,) = found.ratings.filter(pl.col("score").is_null()).select("item", "status").rows()
    assert missing == (f"a1{1:030x} step 3", "failed")
    assert any("neither a score nor a label" in one.message for one in found.findings)
    assert found.ratings.height == 59
    assert found.account.open[0] == 0


def in_words(right, wrong):
    """The evaluations as labels alone, in words of one's own."""

    def change(line):
        for record in records(line) if "resourceLogs" in line else ():
            kept = [one for one in record["attributes"] if not one["key"].endswith("score.label")]
            for one in kept:
                if one["key"].endswith("score.value"):
                    good = one["value"]["doubleValue"] > 0
                    one.update(attribute("gen_ai.evaluation.score.label", right if good else wrong))
            record["attributes"] = kept
        return line

    return of_lines(change)


def test_labels_in_words_are_the_numbers_that_somebody_says(tmp_path):
    path = tmp_path / "a.jsonl"
    otlp(path, in_words("all good", "needs work"))
    words = {"All good": 1.0, "needs work": 0.0}
    found = read_foreign(path, words=words)
    assert found.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))
    assert "labels_inferred" not in kinds(found)
    (note, _) = (one for one in found.findings if one.kind == "words_read")
    assert "all good = 1, needs work = 0" in note.message
    examination = examine(path, read=ReadOptions(words=words))
    assert {one.attribute for one in examination.results} == {"step_right", "resolved"}
    with pytest.raises(TableError, match="step_right is also 'needs work'"):
        examine(path, read=ReadOptions(words={"all good": 1.0}))
    lost = read_foreign(path, words={"all good": 1.0, "*": "missing"}).ratings
    assert set(lost.filter(pl.col("score").is_null())["status"]) == {"unparsable"}
    assert read_foreign(path).only_labels is not None


def test_one_name_on_runs_and_steps_is_two_attributes(tmp_path):
    text = (TRACES / "openinference.jsonl").read_text().replace("step_right", "resolved")
    (tmp_path / "a.jsonl").write_text(text)
    found = read_foreign(tmp_path / "a.jsonl")
    assert set(found.ratings["attribute"]) == {"resolved", "resolved (step)"}
    assert {parted(name)[1].kind for name in scores(found, "resolved (step)")} == {"step"}


def test_an_evaluators_own_span_says_nothing_of_what_it_judged(tmp_path):
    lines = of_lines()
    spans(lines[0])[2]["attributes"].append(attribute("openinference.span.kind", "EVALUATOR"))
    found = otlp(tmp_path / "a.jsonl", lines)
    assert found.ratings.height == 58
    assert any("the evaluator's own span" in one.message for one in found.findings)
    assert found.account.open[0] == 0


def test_spans_that_were_sent_twice_count_once(tmp_path):
    found = otlp(tmp_path / "a.jsonl", [of_lines()[0], *of_lines()])
    assert found.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))
    assert "spans_again" in kinds(found)


def test_ids_in_base64_are_decoded_and_it_is_said():
    found = read("base64_ids.json")
    assert set(found.ratings["cluster"]) == {f"a1{1:030x}"}
    assert "ids_in_base64" in kinds(found)


# Which span is the whole run


def judged(tmp_path, parents, lines=None):
    """The evaluated attributes where the spans of each trace have these parents."""
    lines = lines or of_lines()
    for line in (lines[0], lines[2]):
        by_trace = {}
        for one in spans(line):
            by_trace.setdefault(one["traceId"], []).append(one)
        for own in by_trace.values():
            first = min(own, key=lambda one: int(one["startTimeUnixNano"]))
            for one in own:
                one["parentSpanId"] = parents(one, first, own)
    return otlp(tmp_path / "a.jsonl", lines)


def same(one, first, own):
    return "" if one is first else first["spanId"]


def test_a_root_whose_parent_is_elsewhere_or_itself_is_the_run_all_the_same(tmp_path):
    want = judged(tmp_path, same)
    assert set(want.ratings["attribute"]) == {"resolved", "step_right"}
    for elsewhere in (
        lambda one, first, own: "ab" * 8 if one is first else first["spanId"],
        lambda one, first, own: first["spanId"],
        lambda one, first, own: one["spanId"],  # each its own: the earliest is the first
    ):
        found = judged(tmp_path, elsewhere)
        assert found.ratings.sort(KEY).equals(want.ratings.sort(KEY))
        assert "first_span_absent" not in kinds(found)


def test_parents_in_a_circle_and_a_first_span_that_is_absent_leave_no_run_and_it_is_said(tmp_path):
    found = judged(tmp_path, lambda one, first, own: own[own.index(one) - 1]["spanId"])
    assert "first_span_absent" in kinds(found)
    assert {parted(name)[1].kind for name in scores(found, "step_right")} == {"step"}
    assert not scores(found, "resolved").keys() & set(found.ratings["cluster"])
    lines = of_lines()
    for line in (lines[0], lines[2]):
        whole = [one for one in spans(line) if one.get("parentSpanId")]
        line["resourceSpans"][0]["scopeSpans"][0]["spans"] = whole
    assert {"first_span_absent", "spans_absent"} <= set(kinds(otlp(tmp_path / "b.jsonl", lines)))


def test_a_span_with_the_id_of_another_and_messages_in_another_form_are_said(tmp_path):
    lines = of_lines()
    first, second = spans(lines[0])[:2]
    second |= {"spanId": first["spanId"], "traceId": first["traceId"]}
    told = next(one for one in spans(lines[0])[2:] if "messages" in json.dumps(one))
    for one in told["attributes"]:
        if one["key"].endswith("messages"):
            one["value"] = {"stringValue": "{'role': 'user'}"}
    found = otlp(tmp_path / "a.jsonl", lines)
    assert {"span_ids_shared", "messages_unread"} <= set(kinds(found))


def test_numbers_may_be_texts_as_in_protobufs_own_json_and_infinite_ones_are_none(tmp_path):
    lines = of_lines()
    one, other = records(lines[1])[:2]
    for record, value in ((one, "0.0"), (other, "NaN")):
        kept = [a for a in record["attributes"] if not a["key"].endswith("score.label")]
        for a in kept:
            if a["key"].endswith("score.value"):
                a["value"] = {"doubleValue": value}
        record["attributes"] = kept
    found = otlp(tmp_path / "a.jsonl", lines)
    assert found.ratings.height == 59
    assert any("neither a score nor a label" in said.message for said in found.findings)
    assert 0.0 in scores(found, "step_right").values()


# Cut, mixed and hostile files


@pytest.mark.parametrize(
    "name", ["opentelemetry.jsonl", "opentelemetry.json", "openinference.jsonl"]
)
def test_a_file_that_was_cut_is_refused_by_the_line_or_read_as_far_as_lines_go(name, tmp_path):
    data = (TRACES / name).read_bytes()
    path = tmp_path / name
    for share in (0.1, 0.37, 0.5, 0.83, 0.999):
        path.write_bytes(data[: int(len(data) * share)])
        said = refusal(path)
        assert "line" in said or name.endswith(".json") or b"\n" not in path.read_bytes()


def test_protobuf_that_was_cut_or_is_none_is_refused(tmp_path):
    pytest.importorskip("opentelemetry.proto", reason="pip install 'voirdire[otlp]'")
    data = (TRACES / "opentelemetry.binpb").read_bytes()
    path = tmp_path / "cut.binpb"
    for size in (5, 6, 1000, len(data) - 1):
        path.write_bytes(data[:size])
        assert "ends within it" in refusal(path)
    path.write_bytes(b"\n" + b"\xff" * 50)
    assert "neither traces nor logs" in refusal(path)
    path.write_bytes(b"\x7f\xff\xff\xff\n" + b"x" * 50)
    assert "no file of OTLP messages" in refusal(path)


def test_lines_of_other_kinds_are_counted_and_change_nothing(tmp_path):
    lines = of_lines()
    others = [{"resourceMetrics": [{"scopeMetrics": []}]}, {"message": "started"}, 5, [1, None]]
    other = copy.deepcopy(records(lines[1])[0]) | {"eventName": "app.started"}
    lines[1]["resourceLogs"][0]["scopeLogs"].append({"logRecords": [other]})
    found = otlp(tmp_path / "a.jsonl", [*lines[:2], *others, *lines[2:]])
    assert found.ratings.sort(KEY).equals(read("opentelemetry.jsonl").ratings.sort(KEY))
    (unused,) = (one for one in found.findings if one.kind == "rows_unused")
    assert unused.count == 4
    assert unused.places == ("lines 4-6", "line 6")
    (counted,) = (one for one in found.findings if one.kind == "spans_read")
    assert "1 other log records and 1 batches of metrics" in counted.message


def test_ids_that_are_none_leave_their_span_out(tmp_path):
    lines = of_lines()
    spans(lines[0])[1]["spanId"] = "xyz"
    spans(lines[0])[5]["traceId"] = "0" * 32
    found = otlp(tmp_path / "a.jsonl", lines)
    said = " ".join(one.message for one in found.findings)
    assert "the spanId of a span is 'xyz', and no id" in said
    assert f"the traceId of a span is '{'0' * 32}', and no id" in said


def test_a_long_line_and_a_large_object_are_refused_by_their_size(tmp_path, monkeypatch):
    monkeypatch.setattr(opentelemetry, "MOST_AT_ONCE", 5_000)
    assert "line 1 is over 5,000 bytes" in refusal(TRACES / "opentelemetry.jsonl")
    path = tmp_path / "whole.json"
    path.write_text(json.dumps(json.loads((TRACES / "opentelemetry.json").read_text()), indent=1))
    assert "the file, which is one value, is over 5,000 bytes" in refusal(path)


@pytest.mark.parametrize("name", ["opentelemetry.json", "base64_ids.json", "openinference.jsonl"])
def test_any_value_may_be_of_another_type(name, tmp_path):
    """Each value of the first records in turn becomes null, a number, a text, a list, an object."""
    text = (TRACES / name).read_text()
    whole = (
        json.loads(text)
        if name.endswith(".json")
        else [*map(json.loads, text.splitlines()[::3][:2])]
    )
    path = tmp_path / name.replace(".jsonl", ".json")
    tried = 0
    for place in _places(whole):
        for other in (None, -7, "x\x00\u202e", [[]], {"a": [{}]}):
            changed = copy.deepcopy(whole)
            at = changed
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = other
            path.write_text(json.dumps(changed))
            tried += 1
            reader = "openinference" if name.endswith("l") else "opentelemetry"
            assert path.name in (said(path, reader) or path.name)
    assert tried > 100


def _places(value, at=()):
    if at:
        yield at
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _places(one, (*at, key))
    elif isinstance(value, list) and value:
        yield from _places(value[0], (*at, 0))


# Steps


WORDS = st.text("ab ", min_size=1, max_size=3)
STEPS = st.tuples(st.sampled_from(["user", "assistant", "thought"]), WORDS).map(
    lambda x: TracedStep(*x)
)


@given(st.lists(st.tuples(st.lists(STEPS, max_size=2), STEPS), max_size=6))
def test_a_past_that_models_are_given_again_adds_no_step(rounds):
    run, past = Trajectory(), []
    for at, (asked, answer) in enumerate(rounds):
        past += asked
        run.add(str(at), list(past), [answer])
        past.append(answer)
        assert run.steps == past
        assert run.ends[str(at)] == len(past)


def test_calls_of_a_model_and_spans_of_its_tools_are_one_step_each():
    run = Trajectory()
    calls = [TracedStep("tool call", "{}", "search", "c1"), TracedStep("tool call", "{}", "add")]
    run.add("model", [TracedStep("user", "Hi")], calls)
    run.add(
        "search",
        [],
        [
            TracedStep("tool call", "{}", "search", "c1"),
            TracedStep("tool result", "none", "search", "c1"),
        ],
    )
    run.add(
        "add", [], [TracedStep("tool call", "[]", "add"), TracedStep("tool result", "4", "add")]
    )
    # A second call of the same tool, which no model's span tells of, is a step.
    run.add(
        "again", [], [TracedStep("tool call", "[]", "add"), TracedStep("tool result", "5", "add")]
    )
    assert [step.role for step in run.steps] == [
        "user",
        "tool call",
        "tool call",
        "tool result",
        "tool result",
        "tool call",
        "tool result",
    ]
    assert run.ends == {"model": 3, "search": 4, "add": 5, "again": 7}


def test_the_spans_of_langgraph_and_its_messages_tell_the_same_steps():
    from voirdire.tables import ReadingBuilder
    from voirdire_plugins.readers.opentelemetry import collect
    from voirdire_plugins.readers.spans import traces

    with traces() as kept:
        collect([TRACES / "langgraph_spans.jsonl"], kept, ReadingBuilder("x", "x"))
        (run, _) = kept.runs()
    state = json.loads((TRACES / "langgraph.jsonl").read_text().splitlines()[0])
    messages = state["values"]["messages"]
    told = [step for message in messages for step in steps_of_message(message)]
    assert [(s.role, s.content) for s in run.trajectory.steps] == [
        (s.role, s.content) for s in told
    ]
    assert [step.role for step in told] == [
        "user",
        "assistant",
        "tool call",
        "tool result",
        "assistant",
    ]


def test_traces_without_an_evaluation_say_what_they_are():
    said = refusal(TRACES / "langgraph_spans.jsonl")
    assert said.startswith("langgraph_spans.jsonl: 14 spans without any rating of them")
    assert "voirdire import langgraph_spans.jsonl --messages" in said


def test_parts_that_are_no_text_are_said_to_be_there():
    parts = [{"type": "text", "content": "See:"}, {"type": "blob", "mime_type": "image/png"}]
    said = json.dumps([{"role": "user", "parts": parts}])
    given_, _ = steps_of_span({"gen_ai.operation.name": "chat", "gen_ai.input.messages": said})
    assert [step.content for step in given_] == ["See:", "[blob, not shown]"]
