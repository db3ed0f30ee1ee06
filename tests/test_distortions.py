"""Data sets of the distortions study: human labels, fixed split, filtering, tasks, predictions."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from command_line import invoke

from voirdire import InputError, plugins
from voirdire.examining import examine
from voirdire.examining.labels import (
    decide,
    final_labels,
    label_matrices,
    label_set_differences,
    labels_beside_chance,
    read_results,
    runs_of_replies,
    stratified_split,
)
from voirdire.files import file_stems
from voirdire.running import run
from voirdire.schema import Item
from voirdire.study import build_study, study_to_toml
from voirdire.tables import named_labels
from voirdire_plugins.distortions.benchmark import BENCHMARK
from voirdire_plugins.distortions.datasets import (
    REASONS,
    build_dataset,
    configurations,
)
from voirdire_plugins.distortions.labels import DISTORTIONS, LABELS, NO_DISTORTION, UNSURE
from voirdire_plugins.resources import resource

WORDS = {"Labeling": "useless", "Mind Reading": "she thinks", "Fortune Telling": "will fail"}


def items_of(n=2530):
    labels = [*DISTORTIONS, NO_DISTORTION]
    return pl.DataFrame(
        {"item": [f"i{at}" for at in range(n)], "dominant": [labels[at % 11] for at in range(n)]}
    )


def split_items(items, seed=0):
    strata = items["dominant"].fill_null("").to_list()
    return items.select(
        "item", part=pl.Series(stratified_split(items["item"].to_list(), strata, seed=seed))
    )


def test_the_split_has_the_papers_sizes_and_keeps_strata():
    items = items_of()
    found = items.join(split_items(items), on="item")
    counts = dict(found.group_by("part").len().iter_rows())
    assert counts == {"train": 1771, "dev": 379, "test": 380}  # Table 3
    shares = found.group_by("dominant").agg((pl.col("part") == "train").mean())["part"]
    assert shares.min() > 0.69
    assert shares.max() < 0.71


def test_the_split_hangs_on_ids_alone():
    items = items_of(300)
    one = split_items(items).sort("item")
    assert split_items(items.reverse()).sort("item").equals(one)
    assert not split_items(items, seed=1).sort("item").equals(one)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 20, 101])
def test_small_and_uneven_data_are_split_whole(n):
    items = pl.DataFrame(
        {
            "item": [str(at) for at in range(n)],
            "dominant": ["rare" if at == 0 else None for at in range(n)],
        },
        schema={"item": pl.String, "dominant": pl.String},
    )
    parts = split_items(items)["part"]
    train = round(0.7 * n)
    assert parts.len() == n
    assert (parts == "train").sum() == train
    assert (parts == "dev").sum() == (n - train) // 2


def test_the_split_refuses_what_would_not_be_fixed():
    with pytest.raises(InputError, match="item 'a' occurs more than once"):
        split_items(pl.DataFrame({"item": ["a", "a"], "dominant": ["x", "x"]}))
    with pytest.raises(InputError, match="three numbers that add up to 1"):
        stratified_split(["a", "b"], ["x", "x"], (0.5, 0.5, 0.5))


def test_human_labels_are_read_against_the_set():
    found = named_labels(
        [
            Item("1", "t", {"dominant": "mind-reading", "secondary": "Labelling"}),
            Item("2", "t", {"dominant": "No distortion", "secondary": None}),
            Item("3", "t", {"dominant": "", "secondary": ""}),
        ],
        LABELS,
    )
    assert found["labels"].to_list() == [["Mind Reading", "Labeling"], [NO_DISTORTION], None]
    assert found["dominant"].to_list() == ["Mind Reading", NO_DISTORTION, None]
    with pytest.raises(InputError, match="item '4', column 'dominant': 'Envy' is no single label"):
        named_labels([Item("4", "t", {"dominant": "Envy"})], LABELS)
    with pytest.raises(
        InputError, match="item '5': No Distortion cannot be combined with another label"
    ):
        named_labels(
            [Item("5", "t", {"dominant": "No Distortion", "secondary": "Labeling"})], LABELS
        )
    with pytest.raises(InputError, match=r"item '6': has a secondary label \(Labeling\) and"):
        named_labels([Item("6", "t", {"dominant": "", "secondary": "Labeling"})], LABELS)


def final(rater, replies):
    """Final labels of one annotator from five runs an item."""
    rows = [
        (rater, str(item), number, reply)
        for item, runs in enumerate(replies)
        for number, reply in enumerate(runs, 1)
    ]
    frame = pl.DataFrame(rows, schema=["rater", "item", "run", "reply"], orient="row")
    return final_labels(runs_of_replies(frame, LABELS), unsure=UNSURE)


STEADY, UNSTEADY, DOUBTED = (
    ["Labeling"] * 5,
    [*DISTORTIONS[:5]],
    ["Labeling", NO_DISTORTION] * 2 + ["Labeling"],
)
OPEN = ["Labeling", "Labeling", "Labeling", "Mind Reading", None]


def small_dataset():
    ranked = [STEADY, UNSTEADY, STEADY, DOUBTED, OPEN, STEADY, [NO_DISTORTION] * 5]
    multi = [["Mind Reading, Labeling"] * 5, UNSTEADY, DOUBTED, STEADY, STEADY, STEADY, STEADY]
    golden = ["Labeling"] * 5 + [None, "Mind Reading"]
    items = named_labels(
        [Item(str(at), f"text {at}", {"dominant": name}) for at, name in enumerate(golden)],
        LABELS,
    )
    return build_dataset(
        "gpt-0.5", items, split_items(items), final("r", ranked), final("m", multi)
    )


def test_filtering_takes_an_item_from_all_label_sets_and_counts_why():
    data = small_dataset()
    assert data.frame["item"].to_list() == ["0", "6"]
    assert data.frame["mlp"].to_list() == [["Mind Reading", "Labeling"], ["Labeling"]]
    assert dict(data.removed) == dict.fromkeys(REASONS, 1)
    assert sum(data.sizes().values()) == 2


def worded_dataset(n=120):
    """Texts whose words say the label; human labels are shuffled and say nothing."""
    rng = np.random.default_rng(5)
    names = [*WORDS, NO_DISTORTION]
    labels = [names[at % 4] for at in range(n)]
    items = named_labels(
        (
            Item(
                str(at),
                f"Letter {at}: {WORDS.get(name, 'a calm day')}.",
                {"dominant": str(rng.choice(names))},
            )
            for at, name in enumerate(labels)
        ),
        LABELS,
    )
    replies = [[name] * 5 for name in labels]
    return build_dataset(
        "gpt-0.5", items, split_items(items), final("r", replies), final("m", replies)
    )


def test_label_sets_are_learnt_and_compared_by_the_one_path(tmp_path):
    grid = resource("distortions", "grid")
    worded_dataset().frame.write_parquet(tmp_path / "d.parquet")
    data = [{"name": "gpt-0.5", "path": "d.parquet"}]
    classify = {**grid["classify"], "data": data, "seeds": [0]}
    (tmp_path / "grid.toml").write_text(
        study_to_toml(build_study({**grid, "classify": classify}, "g", str(tmp_path)))
    )
    for command in (
        ["classify", "fit", "grid.toml", "--only", "words", "--out", "models"],
        ["classify", "evaluate", "models"],
    ):
        given = [str(tmp_path / one) if one in ("grid.toml", "models") else one for one in command]
        done = invoke(given)
        assert done.exit_code == 0, done.output
    results = read_results([tmp_path / "models"])
    found = labels_beside_chance(results, draws=100, resamples=100)
    kappas = {(row["labels"], row["task"]): row["kappa"] for row in found.iter_rows(named=True)}
    assert len(kappas) == 8
    assert kappas["RLP", "multi-class"] > 0.9  # labels that follow from the text are learnt
    assert abs(kappas["Golden", "multi-class"]) < 0.5  # labels by chance are not
    matrix = label_matrices(found)[1].table
    assert matrix.rows[0][matrix.names.index("RLP multi-class")] == kappas["RLP", "multi-class"]
    tests = label_set_differences(results, resamples=300)
    row = tests.filter(task="multi-class").row(0, named=True)
    assert {row["first"], row["second"]} == {"RLP", "Golden"}
    assert abs(row["kappa"]) > 0.5
    assert row["p_adjusted"] < 0.1


def test_scores_decide_or_stay_missing():
    assert decide(np.array([[0.4, 0.4], [0.1, 0.6]]), "multi-class").tolist() == [[1, 0], [0, 1]]
    assert decide(np.array([[0.5, 0.4], [0.1, 0.2]]), "multi-label").tolist() == [[1, 0], [0, 0]]


def panel(*changes):
    given = {
        "kind": "annotator",
        "use": "distortions",
        "model": "simulated:gpt",
        "temperature": 0.5,
    }
    return build_study(
        {"name": "s", "panel": [{"name": f"r{at}", **given, **c} for at, c in enumerate(changes)]}
    )


def test_configurations_pair_the_two_prompts():
    found = configurations(panel({}, {"options": {"prompt": "multi"}}, {"temperature": 0.7}))
    assert found == {"gpt-0.5": {"ranked": "r0", "multi": "r1"}, "gpt-0.7": {"ranked": "r2"}}
    defined = panel({}, {"options": {"definitions": True}})
    assert list(configurations(defined)) == ["gpt-0.5", "gpt-0.5 defined"]
    with pytest.raises(
        InputError, match="'r0' and 'r1' have the same model, temperature and prompt"
    ):
        configurations(panel({}, {}))


def test_one_model_of_two_providers_is_two_configurations():
    other = {"model": "compatible:gpt", "options": {"prompt": "multi"}}
    found = configurations(panel({}, other, {"model": "simulated:b"}))
    assert found == {
        "simulated:gpt-0.5": {"ranked": "r0"}, "compatible:gpt-0.5": {"multi": "r1"},
        "b-0.5": {"ranked": "r2"},
    }  # fmt: skip
    stems = file_stems(["a:B", "a_b", "a/b"], "model", "_")
    assert list(stems.values()) == ["a_B", "a_b-2", "a_b-3"]


def test_the_benchmark_asks_for_a_session(tmp_path):
    assert plugins().resolve("benchmark", "distortions") is BENCHMARK
    for folder in (None, tmp_path):
        with pytest.raises(InputError, match="needs --data FOLDER with a session"):
            BENCHMARK.study(folder)


def session(folder, *, golden=True):
    """Two annotators that are not models: replies are made up and say so."""
    text = [f"Letter {at}: the bus was late." for at in range(12)]
    frame = pl.DataFrame({"id": [str(at) for at in range(12)], "text": text})
    extra = []
    if golden:
        frame, extra = frame.with_columns(dominant=pl.lit("Labeling")), ["dominant"]
    frame.write_csv(folder / "items.csv")
    study = build_study(
        {
            "name": "letters", "items": {"path": "items.csv", "extra": extra},
            "panel": [
                {
                    "name": prompt, "kind": "annotator", "use": "distortions", "runs": 5,
                    "model": "simulated:x", "temperature": 0.5, "options": {"prompt": prompt},
                }
                for prompt in ("ranked", "multi")
            ],
        },
        folder=str(folder),
    )  # fmt: skip
    run(study, folder / "a", quiet=True)
    return folder / "a"


def test_replies_that_name_no_label_leave_every_item_open(tmp_path):
    found = examine("distortions", data=session(tmp_path))
    titles = {part.title: part for part in found.sections}
    table = titles["Final labels (Table 8)"]
    assert {row[0]: row[1:] for row in table.table.written()}["incomplete"] == ("12 (100.0 %)",) * 2
    sizes = titles["Data sets after filtering (Table 3)"]
    assert sizes.table.rows[1][:5] == ("x-0.5", 0, 0, 0, 0)


def test_the_command_writes_data_sets_or_says_why_not(tmp_path):
    folder = session(tmp_path)
    done = invoke(["paper", "distortions", "datasets", str(folder), "--out", str(tmp_path / "d")])
    assert done.exit_code == 0, done.output
    assert "left out 12" in done.output
    frame = pl.read_parquet(tmp_path / "d" / "x-0.5.parquet")
    assert frame.columns[:3] == ["item", "text", "part"]
    shown = invoke(["classify", "fit", str(tmp_path / "d" / "grid.toml"), "--dry-run"])
    assert "x-0.5" in shown.output, shown.output
    (tmp_path / "b").mkdir()
    bare = session(tmp_path / "b", golden=False)
    done = invoke(["paper", "distortions", "datasets", str(bare)])
    assert re.search("its items have no human labels", str(done.exception))
    notes = examine("distortions", data=bare).notes
    assert any(note.startswith("Data sets were not built") for note in notes)
