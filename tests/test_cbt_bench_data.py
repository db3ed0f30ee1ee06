"""The published files of CBT-Bench and the paper's printed numbers."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest
from word_embedder import WordEmbedder

from voirdire import InputError, TableError
from voirdire.examining import examine
from voirdire.examining.labels import baselines, described, implied_differences, named_counts
from voirdire.tables import Example, check_pool, overlap
from voirdire_plugins.cbt_bench.annotators import make_cd, make_pc
from voirdire_plugins.cbt_bench.data import (
    PRINTED,
    data_sections,
    key_matrix,
    level_three,
    printed_numbers,
    printed_scores,
    read_examples,
    read_seeds,
)
from voirdire_plugins.cbt_bench.labels import PRIMARY, TASKS, plain
from voirdire_retrieval import nearest_examples

# Tables 9-11 of Zhang et al. (2025).
TABLES_9_TO_11 = {
    "cd": {
        "all-or-nothing thinking": 65, "mind reading": 47, "fortune-telling": 44,
        "personalization": 42, "emotional reasoning": 36, "overgeneralization": 32,
        "labeling": 29, "should statements": 28, "magnification": 25, "mental filter": 21,
    },
    "pc": {"helpless": 162, "unlovable": 101, "worthless": 81},
    "fc": {
        "I am incompetent": 16, "I am helpless": 36, "I am powerless, weak, vulnerable": 38,
        "I am a victim": 29, "I am needy": 5, "I am trapped": 28, "I am out of control": 22,
        "I am a failure, loser": 22, "I am defective": 31, "I am unlovable": 25,
        "I am unattractive": 6, "I am undesirable, unwanted": 27, "I am bound to be rejected": 29,
        "I am bound to be abandoned": 24, "I am bound to be alone": 21,
        "I am worthless, waste": 31, "I am immoral": 10, "I am bad - dangerous, toxic, evil": 14,
        "I don't deserve to live": 8,
    },
}  # fmt: skip
KEYS = tuple(TASKS)


@pytest.fixture(scope="session")
def folder(shared):
    return shared / "data" / "cbt_bench"


@pytest.fixture(scope="session")
def checks(shared):
    return json.loads((shared / "reference" / "paper_checks.json").read_text("utf-8"))["paper_002"]


@pytest.mark.shared
@pytest.mark.parametrize("key", KEYS)
def test_label_counts_are_those_of_tables_9_to_11(folder, key):
    counts = named_counts(read_examples(folder, TASKS[key]), TASKS[key].labels)
    assert {plain(label): count for label, count in counts.items()} == TABLES_9_TO_11[key]


@pytest.mark.shared
@pytest.mark.parametrize("key", KEYS)
def test_statistics_are_those_of_table_3(folder, checks, key):
    task = TASKS[key]
    found = described(read_examples(folder, task), task.labels)
    examples, labels, situation, thoughts, mean = PRINTED["table_3"][key]
    assert (found.examples, found.labels) == (examples, labels)
    assert found.lengths["situation"] == pytest.approx(situation, abs=0.05)
    assert found.lengths["thoughts"] == pytest.approx(
        thoughts, abs=0.07
    )  # CBT-PC: 256.84, printed 256.9
    assert found.mean_labels == pytest.approx(mean, abs=0.05)
    data = checks["data"][task.file]
    assert found.mean_labels == pytest.approx(data["mean_labels"]["file"], abs=1e-4)
    assert found.lengths["thoughts"] == pytest.approx(data["thought_chars"]["file"], abs=1e-3)
    assert found.most_labels == data["max_labels"]


@pytest.mark.shared
@pytest.mark.parametrize("key", KEYS)
def test_baselines_are_those_of_the_reference_file(folder, checks, key):
    task = TASKS[key]
    floor = baselines(key_matrix(task, read_examples(folder, task)))
    data = checks["data"][task.file]
    assert floor.chance.value == pytest.approx(data["F1_random"], abs=5e-5)
    assert floor.constant.value == pytest.approx(data["F1_of_predicting_every_label"], abs=5e-5)
    assert floor.named == task.labels


@pytest.mark.shared
def test_the_other_apostrophe_is_read(folder):
    found = read_examples(folder, TASKS["fc"])
    assert sum("I don’t deserve to live" in example.labels for example in found) == 8
    assert "I don’t deserve to live" in TASKS["fc"].labels
    assert PRIMARY["I don’t deserve to live"] == "worthless"


@pytest.mark.shared
def test_two_of_94_primary_beliefs_disagree(folder, checks):
    shared, differing = implied_differences(
        *(read_examples(folder, TASKS[key]) for key in ("pc", "fc")), PRIMARY
    )
    expected = checks["core_major_vs_core_fine"]
    assert shared == expected["shared_test_ids"] == 94
    assert len(differing) == expected["primary_set_not_equal_to_that_implied_by_fine_labels"] == 2


@pytest.mark.shared
@pytest.mark.parametrize("key", KEYS)
def test_seeds_serve_only_their_own_task(folder, checks, key):
    test = read_examples(folder, TASKS[key])
    seeds = {other: read_examples(folder, TASKS[other], "seed") for other in KEYS}
    assert len(read_seeds(folder, TASKS[key])) == 20
    for other in KEYS:
        shared_ids = checks["seed_ids_found_in_test"][f"{TASKS[other].file}_seed"]
        assert len(overlap(seeds[other], test)) == shared_ids[f"{TASKS[key].file}_test"]
    pooled = [example for found in seeds.values() for example in found]
    with pytest.raises(InputError, match="seeds serve only their own task"):
        check_pool(pooled, test, TASKS[key].name)
    # Without the ids the texts give them away.
    renamed = [Example(f"x{n}", e.texts, ()) for n, e in enumerate(pooled)]
    assert len(overlap(renamed, test)) == len(overlap(pooled, test))


@pytest.mark.shared
def test_the_report_makes_the_constant_predictor_plain(folder):
    found = examine("cbt_bench", data=folder)
    note = next(note for note in found.notes if note.startswith("CBT-PC"))
    assert note == (
        "CBT-PC: Naming helpless, unlovable, worthless for every item, without reading one, scores "
        "0.793: above 4 of 6 models (Mistral-v0.3-7B, Llama-3.1-70B, Llama-3.1-405B, GPT-4o) and "
        "above Human's 0.776."
    )
    table = next(s for s in found.sections if s.title.startswith("CBT-PC: the printed F1"))
    order = [row[0] for row in table.table.rows]
    assert order.index("Naming every label") == 2
    assert order.index("Human") == 4
    beyond = {row[0]: row[-1] for row in table.table.rows}
    assert beyond["Human"] < 0 < beyond["Llama-3.1-8B"]
    assert found.results == found.verdicts == ()
    counts = {(f.kind, f.table): f.count for f in found.findings}
    assert counts.pop(("hierarchy_differs", "")) == 2
    assert counts == {
        ("seeds_are_test_items", "CBT-CD seeds"): 20,
        ("seeds_are_test_items", "CBT-PC seeds"): 16,
        ("seeds_are_test_items", "CBT-FC seeds"): 19,
    }


@pytest.mark.shared
def test_every_table_of_the_files_is_there(folder):
    titles = [section.title for section in data_sections(folder)]
    assert titles == [
        "Examples (Table 3)",
        "CBT-CD: labels (Table 9)",
        "CBT-PC: labels (Table 10)",
        "CBT-FC: labels (Table 11)",
        "CBT-CD: the printed F1 beside baselines",
        "CBT-PC: the printed F1 beside baselines",
        "CBT-FC: the printed F1 beside baselines",
        "Seed examples that stand in a test set",
        "Primary beliefs against fine-grained ones",
        "Printed numbers of level III, checked",
    ]
    drawn = [section for section in data_sections(folder) if section.figures]
    assert [section.title for section in drawn] == titles[4:7]
    for section in drawn:
        f1s = {name: f1 for name, f1, *_ in section.table.rows}
        (_, printed), (_, floors) = section.figures[0].series
        shown = np.nan_to_num(printed) + np.nan_to_num(floors)
        assert dict(zip(section.figures[0].labels, shown, strict=True)) == f1s
        assert np.isfinite(floors).sum() == 2  # the best constant predictor, and chance


@pytest.mark.shared
def test_seed_examples_stand_before_the_question(folder):
    fixed = make_cd(data=str(folder), k=3)
    item = read_examples(folder, TASKS["cd"])[0].item
    (request,) = fixed.requests(item)
    assert [m.role for m in request.messages] == ["user", "assistant"] * 3 + ["user"]
    seeds = read_seeds(folder, TASKS["cd"])
    assert seeds[0].text in request.messages[0].content
    letters = dict(zip(TASKS["cd"].labels, "abcdefghij", strict=True))
    assert request.messages[1].content == ", ".join(sorted(letters[x] for x in seeds[0].labels))
    assert request.messages[-1].content.endswith("should be separated by a comma.")
    assert fixed.requests(item)[0] == request
    with pytest.raises(InputError, match="option 'k' is 21, and there are 20 seed examples"):
        make_cd(data=str(folder), k=21)
    with pytest.raises(InputError, match="examples 'best' is unknown"):
        make_cd(data=str(folder), k=2, examples="best")


@pytest.mark.shared
@pytest.mark.skipif(find_spec("faiss") is None, reason="faiss is not installed")
def test_nearest_seeds_come_through_retrieval(folder):
    nearest = make_pc(data=str(folder), k=2, examples="nearest", embedder=WordEmbedder())
    for example in read_examples(folder, TASKS["pc"])[:5]:
        (request,) = nearest.requests(example.item)
        assert len(request.messages) == 5
        assert example.text not in "".join(m.content for m in request.messages[:-1])


@pytest.mark.skipif(find_spec("faiss") is None, reason="faiss is not installed")
def test_the_item_itself_is_never_its_own_example():
    pool = [
        Example(
            f"s{n}",
            {"situation": "At work.", "thoughts": f"Thought number {n} of mine."},
            ("helpless",),
        )
        for n in range(4)
    ]
    found = nearest_examples(pool, WordEmbedder())
    chosen = found.select(pool[2].item, 3)
    assert "s2" not in [shot["id"] for shot in chosen]
    assert len(chosen) >= 2


def test_printed_numbers_of_level_three():
    """Table 6's averages, Table 12's sums and the impossible means, as paper_checks.json has them."""
    averages, sums, means = printed_numbers()
    assert [one.fits for one in averages] == [True] * 3
    assert sums[-1].sums == (156, 49, 55, 52) == sums[-1].totals
    wrong = [(one.what, one.totals, one.sums) for one in sums if not one.fits]
    assert wrong == [("row 4", (15,), (17,))]  # Assigning and Reviewing Between-Session Activities
    assert [(one.where, one.what, one.value, one.n) for one in means if not one.possible] == [
        ("Tables 8 and 23", "Llama-3.1-405B, exercise 2, criterion 1", 0.34, 16),
        ("Table 6", "Llama-3.1-405B, exercise 3", 0.21, 15),
    ]
    results = [row[-1] for row in level_three().table.rows]
    assert results == ["fits"] * 3 + ["does not fit", "fits", "impossible", "impossible"]


@pytest.mark.shared
def test_printed_numbers_are_those_of_the_checks(checks):
    for model, found in checks["table6"].items():
        row = PRINTED["table_6"][model]
        assert row["means"] == found["values"]
        assert row["average"] == found["printed_avg"]
        assert found["fits"]
    assert [row[0] for row in PRINTED["table_12"]["rows"]] == [
        r["printed"] for r in checks["table12"]["rows"]
    ]
    assert [sum(row[1:]) for row in PRINTED["table_12"]["rows"]] == [
        r["sum"] for r in checks["table12"]["rows"]
    ]
    for key, name in (("cd", "CBT-CD"), ("pc", "CBT-PC"), ("fc", "CBT-FC")):
        shares = printed_scores(key)
        assert {m: round(f1 * 100, 1) for m, f1 in shares.items()} == checks["table5_printed_f1"][
            name
        ]
    counts = checks["table5_accuracy_counts_of_220"]
    for model, (accuracy, *_) in PRINTED["table_5"].items():
        if model != "Human":
            assert round(counts[f"{accuracy:.1f}"] / 220 * 100, 1) == accuracy
    impossible = {
        (f"{m['model']}, exercise {m['exercise']}", m["printed"])
        for m in checks["means_impossible_for_n"]
    }
    found = [one for one in printed_numbers()[2] if not one.possible]
    assert impossible == {(one.what.partition(", criterion")[0], one.value) for one in found}


def label_file(tmp_path, *records, name="core_major_test.json"):
    (tmp_path / name).write_text(json.dumps(records), encoding="utf-8")
    return tmp_path


def record(**changes):
    given = {
        "id": "1",
        "situation": "At home.",
        "thoughts": "I am late.",
        "core_belief_major": ["helpless"],
    }
    return {**given, **changes}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            record(id="2", core_belief_major=["hopeless"]),
            r"record 2 \(id '2'\): label of CBT-PC 'hopeless' is unknown",
        ),
        (
            record(id="2", core_belief_major=["helpless", "helpless"]),
            "record 2.*occurs more than once",
        ),
        (record(), "record 2: id '1' occurs more than once"),
        (
            record(id="2", core_belief_major="helpless"),
            "record 2: key 'core_belief_major' must be a list",
        ),
        (record(id="2", thoughts=" "), "record 2: key 'thoughts' must be a text"),
        ("text", "record 2: an object is needed"),
    ],
)
def test_a_bad_record_of_a_data_file_is_named(tmp_path, bad, message):
    folder = label_file(tmp_path, record(), bad)
    with pytest.raises(TableError, match=f"core_major_test.json, {message}"):
        read_examples(folder, TASKS["pc"])


def test_folders_that_are_none_are_said(tmp_path):
    with pytest.raises(InputError, match="needs data=FOLDER"):
        examine("cbt_bench")
    with pytest.raises(InputError, match="needs data=FOLDER"):
        examine("cbt_bench", data=tmp_path)
    with pytest.raises(TableError, match="there is no such file"):
        read_examples(tmp_path, TASKS["cd"])
    (tmp_path / "distortions_test.json").write_text("{not json")
    with pytest.raises(TableError, match="cannot be read as JSON"):
        examine("cbt_bench", data=tmp_path)
    with pytest.raises(InputError, match="option 'data' must name the folder"):
        make_cd(k=2)


def test_one_task_alone_is_enough(tmp_path):
    folder = label_file(tmp_path, record(), record(id="2", core_belief_major=["worthless"]))
    titles = [section.title for section in data_sections(folder)]
    assert titles == [
        "Examples (Table 3)",
        "CBT-PC: labels (Table 10)",
        "CBT-PC: the printed F1 beside baselines",
        "Printed numbers of level III, checked",
    ]


def test_fine_labels_imply_coarse_ones():
    def example(name, *labels):
        return Example(name, {"text": f"text {name}"}, labels)

    parents = {"low": "mood", "flat": "mood", "panic": "anxiety"}
    coarse = [example("1", "mood"), example("2", "anxiety", "mood"), example("3", "mood")]
    fine = [example("1", "flat"), example("2", "panic"), example("4", "panic")]
    rows = (("2", "anxiety; mood", "anxiety"),)
    assert implied_differences(coarse, fine, parents) == (2, rows)
    with pytest.raises(InputError, match=r"example '1': fine label 'calm'.*low, flat, panic"):
        implied_differences(coarse, [example("1", "calm")], parents)


def test_a_pool_must_hold_as_many_examples_as_are_shown():
    pool = [Example(str(n), {"text": f"text {n}"}, ()) for n in range(3)]
    check_pool(pool, (), "CBT-CD", 3)
    for k in (0, 4):
        with pytest.raises(InputError, match=f"CBT-CD: option 'k' is {k}, and there are 3 seed"):
            check_pool(pool, (), "CBT-CD", k)
