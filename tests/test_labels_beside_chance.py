"""Comparison by kappa_F1: printed results, predictions, baselines, intervals, the command."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from sklearn.metrics import f1_score

from voirdire import InputError, StatisticsError, TableError
from voirdire.examining.labels import BESIDE_CHANCE, labels_beside_chance
from voirdire.stats import (
    best_constant_f1,
    f1_above_chance,
    kappa_f1,
    random_f1,
    simulate_random_f1,
)

CLASSES = ["a", "b", "c"]


def wrote(path, rows, columns):
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(path)
    return path


def predictions(folder, *, seeds=3, n=60, right=0.6, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(seeds):
        for item in range(n):
            truth = CLASSES[min(item % 5, 2)]
            rows.append(
                (f"i{item}", number, truth, truth if rng.random() < right else rng.choice(CLASSES))
            )
    return wrote(folder / "predictions.csv", rows, ["item", "seed", "truth", "predicted"])


def test_predictions_by_name_against_scikit_learn(tmp_path):
    path = predictions(tmp_path)
    row = labels_beside_chance([path]).row(0, named=True)
    frame = pl.read_csv(path)
    scores = [
        f1_score(part["truth"], part["predicted"], average="weighted")
        for part in frame.partition_by("seed")
    ]
    assert row["f1"] == pytest.approx(np.mean(scores))
    assert row["f1_sd"] == pytest.approx(np.std(scores, ddof=1))
    support = [12, 12, 36]
    assert row["f1_random"] == pytest.approx(random_f1(support).value)
    assert row["f1_drawn"] == pytest.approx(random_f1(support, draws="independent").value)
    assert row["f1_constant"] == pytest.approx(best_constant_f1(support).value)
    assert row["kappa"] == pytest.approx(kappa_f1(np.mean(scores), random_f1(support)).value)
    assert row["kappa_low"] < row["kappa"] < row["kappa_high"]
    assert (row["n"], row["seeds"], row["missing"], row["task"]) == (60, 3, 0, "multi-class")
    assert abs(row["f1_simulated"] - row["f1_drawn"]) < 3 * row["f1_simulated_sd"] / 1000**0.5


def test_the_two_shapes_of_predictions_agree(tmp_path):
    path = predictions(tmp_path)
    frame = pl.read_csv(path)
    long = frame.join(pl.DataFrame({"label": CLASSES}), how="cross").with_columns(
        truth=(pl.col("truth") == pl.col("label")).cast(pl.Int8),
        predicted=(pl.col("predicted") == pl.col("label")).cast(pl.Int8),
    )
    long.write_parquet(tmp_path / "long.parquet")
    one, two = (
        labels_beside_chance([path, tmp_path / "long.parquet"])
        .drop("source", "configuration")
        .rows()
    )
    assert one == pytest.approx(two)


def test_multi_label_cells_and_missing_predictions(tmp_path):
    rows = [
        ("1", "a; b", "a"), ("2", "a", "a; b"), ("3", "c", ""), ("4", "b", "b"), ("5", "c", "c"),
    ]  # fmt: skip
    row = labels_beside_chance(
        [wrote(tmp_path / "p.csv", rows, ["item", "truth", "predicted"])]
    ).row(0, named=True)
    truth = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    said = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert row["f1"] == pytest.approx(f1_score(truth, said, average="weighted"))
    assert (row["task"], row["n"], row["missing"], row["f1_sd"]) == ("multi-label", 5, 1, None)
    # Chance is that of the items that are scored: what has no prediction is in neither.
    assert row["f1_random"] == pytest.approx(random_f1([2, 2, 1], 4).value)


def test_folders_of_predictions_name_the_configuration(tmp_path):
    for name in ("tfidf", "deep/mental"):
        (tmp_path / name).mkdir(parents=True)
        predictions(tmp_path / name)
    assert labels_beside_chance([tmp_path], resamples=0)["configuration"].to_list() == [
        "deep/mental",
        "tfidf",
    ]


def test_no_resamples_no_intervals(tmp_path):
    row = labels_beside_chance([predictions(tmp_path)], resamples=0, draws=10).row(0, named=True)
    assert (row["f1_low"], row["kappa_high"]) == (None, None)


def test_printed_results_with_baseline_shares_or_support(tmp_path):
    path = wrote(
        tmp_path / "printed.csv",
        [
            ("x", "RLP", "Multi-label", 0.548, 0.325, None, None, None),
            ("y", "gold", "multiclass", 0.5, None, "A 60 %; B 30 %; C 10 %", 100, None),
            ("z", "gold", "binary", 0.8, None, None, None, "70; 30"),
            ("w", "gold", "multi-label", 0.4, None, "0.3; 0.2", None, None),
        ],
        ["configuration", "labels", "task", "f1", "f1_random", "shares", "n", "support"],
    )
    found = labels_beside_chance([path])
    assert found.schema == BESIDE_CHANCE
    x, y, z, w = found.iter_rows(named=True)
    assert (x["kappa"], x["baseline"]) == (pytest.approx(0.3304, abs=5e-5), "printed")
    assert x["kappa_constant"] is None
    assert y["f1_random"] == pytest.approx(0.46)
    assert y["f1_constant"] == pytest.approx(0.45)
    assert y["f1_simulated"] == simulate_random_f1([60, 30, 10]).value
    assert z["f1_random"] == pytest.approx(0.58)
    assert w["f1_random"] == pytest.approx((0.09 + 0.04) / 0.5)
    assert w["f1_simulated"] is None  # how far draws stray depends on the number of items


def test_cells_are_read_as_papers_print_them(tmp_path):
    path = wrote(
        tmp_path / "printed.csv",
        [
            ("x", "83.8 % ± 0.6 %", "58.9%", None, None, None),
            ("y", "0.5", None, "A 1: 60 %; B (2) 40.0%", "2,530", None),
            ("z", "0.5", None, None, None, "Class 1 1,234 (68.5 %); Class 2 567 (31.5 %)"),
            ("w", ".5", None, "103 (60 %); 68 (40 %)", "171", None),
        ],
        ["configuration", "f1", "f1_random", "shares", "n", "support"],
    )
    x, y, z, w = labels_beside_chance([path]).iter_rows(named=True)
    assert (x["f1"], x["f1_sd"], x["f1_random"]) == pytest.approx((0.838, 0.006, 0.589))
    assert (y["n"], y["f1_random"]) == (2530, pytest.approx(0.52))
    assert (z["n"], z["f1_random"]) == (1801, random_f1([1234, 567]).value)
    assert (w["n"], w["f1_random"]) == (171, random_f1([103, 68]).value)


def test_one_label_of_0_and_1_is_a_binary_task(tmp_path):
    truth, said = ([at % 2 for at in range(40)], [at // 2 % 2 for at in range(40)])
    rows = [(f"i{at}", "low", *pair) for at, pair in enumerate(zip(truth, said, strict=True))]
    path = wrote(tmp_path / "x.csv", rows, ["item", "label", "truth", "predicted"])
    row = labels_beside_chance([path], draws=10, resamples=10).row(0, named=True)
    assert row["task"] == "binary"
    assert row["f1"] == pytest.approx(f1_score(truth, said, average="weighted"))
    assert row["f1_random"] == random_f1([20, 20]).value


def test_a_separator_makes_no_label_of_nothing(tmp_path):
    rows = [("1", "a;b", "a;"), ("2", "b", " ; "), ("3", "a", "")]
    path = wrote(tmp_path / "x.csv", rows, ["item", "truth", "predicted"])
    row = labels_beside_chance([path], draws=10, resamples=0).row(0, named=True)
    assert (row["task"], row["missing"]) == ("multi-label", 1)
    assert row["f1"] == pytest.approx((1 * 1 + 2 * 0) / 3)  # a: found, b: never
    # Two labels and no third one, on the two items that are answered.
    assert row["f1_constant"] == best_constant_f1([1, 2], 2).value


def test_two_files_of_predictions_are_known_by_their_folders(tmp_path):
    paths = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        paths.append(predictions(tmp_path / name, n=20))
    assert labels_beside_chance(paths)["configuration"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    ("columns", "row", "message"),
    [
        (["f1", "f1_random"], (1.2, 0.3), "column 'f1': must lie in 0..1 or be a percentage"),
        (["f1", "f1_random"], (None, 0.3), "column 'f1': is empty"),
        (["f1", "f1_random"], (0.5, None), "needs f1_random, shares or support"),
        (["f1", "shares"], (0.5, "A; B"), "must end in a share, such as 0.6 or 60 %, for each class"),
        (["f1", "shares"], (0.5, "A 60,5 %; B 39,5 %"), "for each class, got 'A 60,5 %'"),
        (["f1", "shares"], (0.5, "A -0.5; B 1.5"), "must be 0 or more, got 'A -0.5'"),
        (["f1", "support"], (0.5, "60 %; 40 %"), "must end in a count for each class, got '60 %'"),
        (["f1", "support"], (0.5, "0; 0"), "column 'support': no class has an item"),
        (["f1", "f1_random"], ("83.8", 0.3), "or be a percentage with its sign, got '83.8'"),
        (["f1", "f1_random"], ("0,838", 0.3), "column 'f1': not a number: '0,838'"),
        (["f1", "f1_random", "n"], (0.5, 0.3, "1e400"), "must be a whole number of items, got inf"),
        (["f1", "shares"], (0.5, "0.5; 0.2"), "must add up to 1, got 0.7"),
        (["f1", "task", "f1_random"], (0.5, "ranking", 0.2), "column 'task': task 'ranking' is unknown"),
        (["f1", "n"], (0.5, 3), "neither predictions"),
        (["item", "label", "truth", "predicted"], ("1", "a", 1, 2), "must be 0, 1 or empty, got '2'"),
        (["item", "label", "truth", "predicted"], ("1", "a", None, 1), "item '1' has no truth"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_named(tmp_path, columns, row, message):
    with pytest.raises(TableError, match=re.escape(message)):
        labels_beside_chance([wrote(tmp_path / "x.csv", [row], columns)])


def test_predictions_must_fit_together(tmp_path):
    columns = ["item", "seed", "truth", "predicted"]
    for rows, message in (
        ([("1", 0, "a", "a"), ("1", 0, "a", "b")], "occurs 2 times"),
        ([("1", 0, "a", "a"), ("2", 0, "b", "b"), ("1", 1, "a", "a")], "occurs 0 times"),
        ([("1", 0, "a", "a"), ("1", 1, "b", "b")], "differs between seeds"),
    ):
        with pytest.raises(TableError, match=message):
            labels_beside_chance([wrote(tmp_path / "x.csv", rows, columns)])
    with pytest.raises(InputError, match="no file predictions"):
        labels_beside_chance([tmp_path])
    with pytest.raises(TableError, match="there is no such file"):
        labels_beside_chance([tmp_path / "absent.csv"])


def test_the_command_writes_table_and_figure(tmp_path):
    path = predictions(tmp_path)
    out = tmp_path / "out"
    done = invoke(["labels", str(path), "--out", str(out), "--draws", "50", "--resamples", "50"])
    assert done.exit_code == 0, done.output
    assert "Kappa" in done.output
    names = {file.name for file in out.iterdir()}
    assert names == {f"labels.{end}" for end in ("md", "tex", "csv", "json", "svg", "png")}
    (record,) = json.loads((out / "labels.json").read_text("utf-8"))
    assert record["configuration"] == tmp_path.name
    assert "kappa_F1" in (out / "labels.md").read_text("utf-8").replace("\\", "")


def test_missing_predictions_are_told_beside_the_f1_that_they_are_not_in(tmp_path):
    rows = [(f"i{n}", "ab"[n % 2], "" if n < 5 else "ab"[n % 2]) for n in range(40)]
    path = wrote(tmp_path / "sure.csv", rows, ["item", "truth", "predicted"])
    command = ["labels", str(path), "--out", str(tmp_path / "out"), "--resamples", "0"]
    said = invoke(command).output.splitlines()
    assert said[0].split() == [
        "Configuration",
        "Labels",
        "Task",
        "Missing",
        "F1",
        "Chance",
        "Kappa",
        "Kappa,",
        "interval",
    ]
    assert said[1].split()[:5] == ["sure", "–", "binary", "5", "1.000"]
    assert "| Missing |" in (tmp_path / "out" / "labels.md").read_text("utf-8")


def test_bootstrap_redraws_items_for_all_seeds_at_once():
    truth = np.eye(2)[[0] * 30 + [1] * 30]
    rng = np.random.default_rng(0)
    one = np.eye(2)[np.where(rng.random(60) < 0.8, truth.argmax(1), 1 - truth.argmax(1))]
    single = f1_above_chance(truth, one[None], multilabel=False, ci="percentile")
    five = f1_above_chance(truth, np.stack([one] * 5), multilabel=False, ci="percentile")
    # Five copies of one model are no more test items than one.
    assert five.f1.intervals[0].low == pytest.approx(single.f1.intervals[0].low)
    assert five.f1.details["sd"] == 0


def test_an_undefined_f1_has_a_reason():
    truth = [[1, 0], [0, 1]]
    found = f1_above_chance(truth, np.full((1, 2, 2), np.nan), multilabel=False, ci="percentile")
    assert (found.f1.reason, found.kappa.reason) == ("no_data", "no_data")
    assert np.isnan(found.kappa.intervals[0].low)


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([[1, 1]], [[[1, 0]]], "must have one label, got 2"),
        ([[1, 0]], [[[1, 0, 0]]], "predicted must have shape"),
        ([[1, 0]], [[1, 0]], "must be a (seeds, items, labels) array"),
        ([[2, 0]], [[[1, 0]]], "truth must be"),
    ],
)
def test_unfit_arrays_are_named(truth, predicted, message):
    with pytest.raises(StatisticsError, match=re.escape(message)):
        f1_above_chance(truth, predicted, multilabel=False)


def paper(shared):
    checks = json.loads((shared / "reference" / "paper_checks.json").read_text("utf-8"))
    return checks["paper_000"]


@pytest.mark.shared
def test_table_5_from_tables_4_and_10(shared, tmp_path):
    """The twelve multi-label cells follow; of the twenty others none does, by these amounts."""
    cells = paper(shared)["kappa_f1"]["cells"]
    rows = [(c["dataset"], c["labels"], c["task"], c["f1"], c["f1_random"]) for c in cells]
    columns = ["configuration", "labels", "task", "f1", "f1_random"]
    found = labels_beside_chance([wrote(tmp_path / "printed.csv", rows, columns)])
    gaps = {"binary": [], "multi-class": [], "multi-label": []}
    for cell, row in zip(cells, found.iter_rows(named=True), strict=True):
        gaps[row["task"]].append(abs(row["kappa"] - cell["kappa_printed"]))
    assert [len(part) for part in gaps.values()] == [12, 8, 12]
    assert max(gaps["multi-label"]) < 0.0012
    assert min(gaps["binary"] + gaps["multi-class"]) > 0.004
    assert max(gaps["binary"]) == pytest.approx(0.1113, abs=1e-4)
    assert max(gaps["multi-class"]) == pytest.approx(0.0565, abs=1e-4)


def table_8(shared):
    """Counts of Table 8 by column: the ten distortions, four categories, as they are printed."""
    text = next((shared / "papers").glob("000*.txt")).read_text("utf-8")
    body = text[text.index("Cognitive Distortion\tGPT-4 0.5") : text.index("Table 8: Distribution")]
    rows = {}
    for line in body.splitlines()[2:]:
        name, *cells = line.split("\t")
        if len(cells) == 8:
            rows[name] = [int(cell.split()[0]) for cell in cells]
    assert len(rows) == 14
    return rows


@pytest.mark.shared
@pytest.mark.parametrize("large", [False, True])
def test_theory_and_simulation_agree_at_the_shares_of_table_8(shared, large):
    rows = table_8(shared)
    unsure = [name for name in rows if name.startswith("Not sure")]
    labels = [name for name in rows if name not in unsure]
    tests = [100_000] * 4 if large else [356, 347, 323, 272]  # Table 3
    worst = 0.0
    for column in range(8):
        n = tests[column // 2]
        kept = 2530 - sum(rows[name][column] for name in unsure)
        counts = np.array([rows[name][column] for name in labels])
        calm = round(n * rows["No Distortion"][column] / kept)
        classes = np.floor(counts * n / counts.sum()).astype(int)
        for support, size in (
            (np.array([calm, n - calm]), None),
            (classes, None),
            (np.rint(counts * n / kept).astype(int), n),
        ):
            theory = random_f1(support, size, draws="independent").value
            drawn = simulate_random_f1(support, size, runs=1000, seed=column)
            worst = max(worst, abs(theory - drawn.value) / drawn.details["se"])
    assert worst < 3


def test_labels_that_are_numbers_are_one_whatever_their_type(tmp_path):
    frame = pl.DataFrame(
        {"item": [1, 2, 3, 4], "truth": [1, 0, 1, 0], "predicted": [1.0, 0, 0, None]}
    )
    for name in ("p.parquet", "p.csv"):
        getattr(frame, f"write_{name.partition('.')[2]}")(tmp_path / name)
        row = labels_beside_chance([tmp_path / name], draws=5, resamples=0).row(0, named=True)
        # Answered: 1, 0, 1 by 1, 0, 0. Label 1 misses one, label 0 has a false alarm: F1 2/3 each.
        assert row["f1"] == pytest.approx(2 / 3)


def test_lists_of_labels_in_json_and_parquet(tmp_path):
    truth, predicted = [["a", "b"], ["b"], []], [["a"], ["b"], ["a", "b"]]
    frame = pl.DataFrame({"item": [1, 2, 3], "truth": truth, "predicted": predicted})
    frame.write_parquet(tmp_path / "p.parquet")
    frame.write_ndjson(tmp_path / "p.jsonl")
    for name in ("p.parquet", "p.jsonl"):
        row = labels_beside_chance([tmp_path / name], draws=5, resamples=0).row(0, named=True)
        # a: TP 1, FP 1; b: TP 1, FN 1, FP 1: F1 2/3 and 1/2, weighted by 1 and 2 items.
        assert row["task"] == "multi-label"
        assert row["f1"] == pytest.approx((2 / 3 + 2 * 1 / 2) / 3)


def test_a_label_in_another_spelling_is_the_same_label(tmp_path):
    rng = np.random.default_rng(2)
    labels = np.array(["all_or_nothing", "mind_reading", "labeling"])
    truth = rng.integers(0, 3, 120)
    said = np.where(rng.random(120) < 0.9, truth, rng.integers(0, 3, 120))
    scores = {}
    for name, words in {
        "same": labels, "signs": ["all-or-nothing", "Mind Reading", "labelings"],
        "codes": ["0", "1", "2"],
    }.items():  # fmt: skip
        frame = pl.DataFrame(
            {"item": range(120), "truth": labels[truth], "predicted": np.array(words)[said]}
        )
        frame.write_csv(tmp_path / f"{name}.csv")
    for name in ("same", "signs"):
        found = labels_beside_chance([tmp_path / f"{name}.csv"], draws=5, resamples=0)
        scores[name] = found.row(0, named=True)["f1"]
    assert scores["signs"] == scores["same"] > 0.8
    with pytest.raises(TableError, match=r"truth says .*all_or_nothing.*predictions say '0'|'1'"):
        labels_beside_chance([tmp_path / "codes.csv"], draws=5, resamples=0)


def several(folder, cell, *, true=("anger", "x"), said=("x", "anger"), n=60):
    """Sixty rows: the same two labels in another order, every tenth wrong; `cell` writes a list."""
    wrong = [at % 10 == 0 for at in range(n)]
    rows = [
        (f"i{at}", cell(list(true)), cell(list(said)[:1] if bad else list(said)))
        for at, bad in enumerate(wrong)
    ]
    return wrote(folder / "p.csv", rows, ["item", "truth", "predicted"])


# Both labels of all 60 items; of six items one is not named: "anger" 54 of 60, F1 2 54 / 114.
TWO_LABELS = (1 + 2 * 54 / 114) / 2


@pytest.mark.parametrize(
    "cell",
    [
        ";".join,
        "; ".join,
        str,  # ['x', 'anger']
        json.dumps,
        lambda names: str(tuple(names)) if len(names) > 1 else f"('{names[0]}',)",
        lambda names: str(np.array(names)),  # NumPy prints no commas: Python would join the words
        lambda names: "{" + ", ".join(map(repr, names)) + "}",
    ],
)
def test_lists_in_cells_are_read_as_they_are_printed(tmp_path, cell):
    row = labels_beside_chance([several(tmp_path, cell)], draws=5, resamples=0).row(0, named=True)
    assert row["task"] == "multi-label"
    assert row["f1"] == pytest.approx(TWO_LABELS)


@pytest.mark.parametrize("sign", ["|", ", ", ",", " / ", "+", " & "])
def test_another_separator_is_asked_about_and_can_be_named(tmp_path, sign):
    path = several(tmp_path, sign.join)
    asked = f"seems to hold several labels with '{sign.strip()}' between them; give --separator"
    with pytest.raises(TableError, match=re.escape(asked)):
        labels_beside_chance([path], draws=5, resamples=0)
    found = labels_beside_chance([path], draws=5, resamples=0, separator=sign.strip())
    assert found["f1"][0] == pytest.approx(TWO_LABELS)
    # The answer that it is one label: classes "anger|x" and "x|anger" never agree.
    one = labels_beside_chance([path], draws=5, resamples=0, separator=";")
    assert one["f1"][0] == 0


def test_names_that_hold_a_sign_are_no_question(tmp_path):
    """Labels as CBT-Bench has them: commas inside a name, of which no part is a label."""
    labels = ["I am powerless, weak, vulnerable", "I am needy", "I am a failure, loser", "AC/DC"]
    rows = [(f"i{at}", labels[at % 4], labels[at * 3 % 4]) for at in range(40)]
    path = wrote(tmp_path / "p.csv", rows, ["item", "truth", "predicted"])
    row = labels_beside_chance([path], draws=5, resamples=0).row(0, named=True)
    assert row["task"] == "multi-class"


def test_a_list_without_quotes_is_asked_about(tmp_path):
    path = several(tmp_path, lambda names: f"[{', '.join(names)}]")
    with pytest.raises(TableError, match="seems to hold a list without quotes; quote the labels"):
        labels_beside_chance([path], draws=5, resamples=0)


def test_the_command_takes_a_separator(tmp_path):
    path = several(tmp_path, "|".join)
    command = ["labels", str(path), "--draws", "5", "--resamples", "0"]
    asked = invoke(command)
    assert asked.exit_code != 0
    assert "--separator" in str(asked.exception) + asked.output
    answered = invoke([*command, "--separator", "|"])
    assert answered.exit_code == 0, answered.output
    assert f"{TWO_LABELS:.3f}" in answered.output


@pytest.mark.parametrize(
    "rows",
    [
        [("anger|x", "x"), ("anger|x", "x")],  # a part is a cell of its own
        [("a|b", "b|c"), ("b|c", "c|a"), ("c|a", "a|b")],  # every part recurs in another cell
    ],
)
def test_parts_that_recur_make_a_question(tmp_path, rows):
    cells = [(f"i{at}", *row) for at, row in enumerate(rows)]
    path = wrote(tmp_path / "p.csv", cells, ["item", "truth", "predicted"])
    with pytest.raises(TableError, match="seems to hold several labels"):
        labels_beside_chance([path], draws=5, resamples=0)


def test_several_predicted_labels_make_a_task_multi_label(tmp_path):
    rows = [("1", "a", "a; b"), ("2", "b", "b"), ("3", "a", "a")]
    path = wrote(tmp_path / "p.csv", rows, ["item", "truth", "predicted"])
    assert labels_beside_chance([path], draws=5, resamples=0)["task"].to_list() == ["multi-label"]


@pytest.mark.parametrize("sign", [" and ", " ", "#", " und ", " -- "])
def test_the_same_labels_in_another_order_are_asked_about_whatever_stands_between(tmp_path, sign):
    rows = [("item", "truth", "predicted")]
    both = [("anger", "joy"), ("fear", "joy"), ("anger", "fear")] * 4
    rows += [(str(at), sign.join(one), sign.join(reversed(one))) for at, one in enumerate(both)]
    path = tmp_path / "l.csv"
    path.write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    with pytest.raises(TableError, match=f"several labels with '{sign}' between them"):
        labels_beside_chance([path], draws=2, resamples=0)
