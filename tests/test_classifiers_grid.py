"""A grid of classifiers: its cells, what is skipped, and the tables that come out."""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import invoke, typed
from tiny_encoder import sentences

from voirdire import Plugins
from voirdire.errors import InputError, SessionError, StudyError, TableError, VoirdireError
from voirdire.examining import examine
from voirdire.examining.labels import label_scores, labels_beside_chance, matrix_of_ratings
from voirdire.stats import f1_above_chance
from voirdire.store.lock import acquire, release
from voirdire.study import build_study, load_study, study_to_toml
from voirdire_judges.classifiers import cells_of, dry_run, evaluate_grid, fit_grid, predict_texts
from voirdire_plugins.distortions import datasets
from voirdire_plugins.distortions import labels as distortions
from voirdire_plugins.resources import resource

ROOT = Path(__file__).resolve().parent.parent


class Plain:
    """A classifier of the smallest protocol: says of every text what train says most."""

    def __init__(self, classes, *, task, seed=0):
        self.share = None

    def fit(self, texts, labels):
        self.share = labels.mean(axis=0)
        return self

    def predict(self, texts):
        return np.tile(self.share, (len(texts), 1))


def mild_study(folder, n=240, **changes):
    texts, labels = sentences(n)
    texts[n - 1] = ""  # the last item is a test item without a text
    split = ["train"] * (n - 80) + ["dev"] * 40 + ["test"] * 40
    frame = pl.DataFrame(
        {
            "id": [f"i{i}" for i in range(n)],
            "text": texts,
            "gold": ["; ".join(row) for row in labels],
            "split": split,
        }
    )
    frame.write_csv(folder / "data.csv")
    part = {
        "labels": ["garden", "music", "kitchen", "weather"],
        "data": [{"name": "mild", "path": "data.csv"}],
        "label_sets": [{"name": "gold", "column": "gold", "tasks": ["multi-class", "multi-label"]}],
        "models": [{"name": "words", "use": "tfidf", "options": {"c": 10.0}}],
        "split": "split",
        "seeds": [0, 1],
        **changes,
    }
    study = build_study({"name": "mild", "classify": part}, folder=str(folder))
    (folder / "grid.toml").write_text(study_to_toml(study), encoding="utf-8")
    return study


def test_the_grid_of_appendix_h_has_320_models():
    cells = cells_of(load_study(ROOT / "examples/classifier/grid_000.toml"))
    assert len(cells) == 320
    # Appendix H: 24 binary + 16 multi-class + 24 multi-label configurations, 5 seeds each.
    assert Counter(cell.task for cell in cells) == {
        "binary": 24 * 5,
        "multi-class": 16 * 5,
        "multi-label": 24 * 5,
    }
    assert len({cell.model for cell in cells}) == 2
    assert not any(cell.label_set == "MLP" and cell.task == "multi-class" for cell in cells)


def test_the_grid_of_appendix_h_reads_what_distortions_writes():
    spec = load_study(ROOT / "examples/classifier/grid_000.toml").classify
    assert spec.labels == distortions.LABELS.labels
    assert spec.none == distortions.LABELS.none
    written = resource("distortions", "grid")["classify"]["label_sets"]
    assert [one.model_dump(exclude_unset=True) for one in spec.label_sets] == [
        {**one, "tasks": tuple(one["tasks"])} for one in written
    ]
    assert [one.column for one in spec.label_sets] == list(datasets.LABEL_SETS)
    assert {spec.id, spec.text, spec.split} == {"item", "text", "part"}
    assert [Path(one.path).stem for one in spec.data] == [
        f"{model}-{heat}" for model in ("gpt-4", "gpt-4o") for heat in (0.5, 0.7)
    ]


def test_the_grid_of_paper_004():
    cells = cells_of(load_study(ROOT / "plugins/voirdire_plugins/angst/finetune.toml"))
    assert len(cells) == 5 * 2 * 4 * 3 * 3
    assert {cell.options["batch_size"] for cell in cells} == {4, 8, 16, 32}
    assert {cell.options["learning_rate"] for cell in cells} == {2e-5, 2e-6}


def test_the_study_of_the_docs_loads():
    text = (ROOT / "docs/classifiers.md").read_text().split("```toml")[1].split("```")[0]
    cells = cells_of(build_study(tomllib.loads(text)))
    assert len(cells) == (1 + 2) * (3 + 1) * 5


def test_a_dry_run_lists_cells_and_needs_no_data():
    done = typed("classify", "fit", ROOT / "examples/classifier/grid_000.toml", "--dry-run")
    lines = done.stdout.splitlines()
    assert lines[0] == "no data   MentalRoBERTa | GPT4-0.5 | RLP | binary | seed 0"
    assert lines[-2] == "320 cells: 320 no data"


def test_the_whole_way_on_the_command_line(tmp_path):
    mild_study(tmp_path)
    out = tmp_path / "models"
    first = typed("classify", "fit", tmp_path / "grid.toml", "--out", out)
    assert "4 cells trained, 0 were finished before." in first.stdout, first.stderr
    again = typed("classify", "fit", tmp_path / "grid.toml", "--out", out)
    assert "0 cells trained, 4 were finished before." in again.stdout
    shown = typed("classify", "evaluate", out)
    assert "Weighted F1 on the test sets" in shown.stdout
    summary = pl.read_csv(out / "summary.csv")
    assert summary["task"].to_list() == ["multi-class", "multi-label"]
    for row in summary.iter_rows(named=True):
        assert (row["seeds"], row["n"], row["missing"]) == (2, 39, 1)
        assert row["f1_weighted"] > max(row["f1_constant"], row["f1_random"])
    wanted = pl.DataFrame({"id": ["p", "q"], "text": ["piano scales after work", None]})
    wanted.write_csv(tmp_path / "new.csv")
    said = typed(
        "classify", "predict", out, "--texts", tmp_path / "new.csv", "--only", "multi-class seed 0"
    )
    assert "1 of 2 texts are blank" in said.stderr
    rows = pl.read_csv(said.stdout.encode())
    assert rows.filter(item="p", predicted=1)["label"].to_list() == ["music"]
    assert rows.filter(item="q")["predicted"].null_count() == 4
    told = invoke(["classify", "predict", out, "--texts", tmp_path / "new.csv", "--json"])
    assert json.loads(told.stdout)["answer"]["state"] == "ok", told.output


def test_compare_reads_what_evaluate_writes(tmp_path):
    study = mild_study(tmp_path)
    fit_grid(study, tmp_path / "models", quiet=True)
    found = evaluate_grid(tmp_path / "models")
    found.write(tmp_path / "models")
    compared = labels_beside_chance([tmp_path / "models"], draws=50, resamples=0)
    assert compared["configuration"].to_list() == ["words", "words"]
    assert compared["labels"].to_list() == ["gold", "gold"]
    assert compared["seeds"].to_list() == [2, 2]
    summary = found.summary
    assert np.allclose(compared["f1"], summary["f1_weighted"])
    one = found.predictions.filter(task="multi-label", seed=0)
    truth = one["truth"].to_numpy().reshape(-1, 4)
    predicted = one["predicted"].cast(pl.Float64).to_numpy().reshape(1, -1, 4)
    direct = f1_above_chance(truth, predicted, multilabel=True)
    assert summary["f1_weighted"][1] == pytest.approx(direct.f1.value)


def test_examine_reads_trained_models_as_raters(tmp_path):
    study = mild_study(
        tmp_path, label_sets=[{"name": "gold", "column": "gold", "tasks": ["multi-label"]}]
    )
    fit_grid(study, tmp_path / "models", quiet=True)
    found = evaluate_grid(tmp_path / "models")
    found.write(tmp_path / "models")
    ratings = found.ratings
    assert set(ratings["rater"]) == {"truth", "words"}
    assert sorted(ratings.filter(rater="words")["run"].unique()) == [1, 2]  # the seeds
    assert set(ratings["attribute"]) == {"garden", "music", "kitchen", "weather"}
    blank = ratings.filter((pl.col("rater") == "words") & (pl.col("item") == "i239"))
    assert blank["status"].to_list() == ["blank"] * 8  # the item without a text, in both seeds
    examined = examine(tmp_path / "models" / "ratings.parquet", reference=["truth"])
    assert {result.judge for result in examined.results} == {"words"}
    # The same predictions lead to the same F1, whichever way they are read.
    key = matrix_of_ratings(ratings, "truth", ratings["attribute"].unique(maintain_order=True))
    said = matrix_of_ratings(ratings, "words", key.labels, items=key.items)
    f1 = label_scores(key, said, resamples=0).f1.value
    assert f1 == pytest.approx(found.summary["f1_weighted"][0])


def test_the_best_options_are_chosen_on_dev_and_reported_on_test(tmp_path):
    study = mild_study(
        tmp_path,
        models=[
            {"name": "words", "use": "tfidf", "grid": {"c": [0.001, 10.0, 0.01]}},
            {"name": "plain", "use": "tfidf", "options": {"c": 1.0}},
        ],
    )
    fit_grid(study, tmp_path / "models", quiet=True)
    found = evaluate_grid(tmp_path / "models")
    assert found.best["tried"].to_list() == [3, 3]  # nothing is chosen of the model without a grid
    for row in found.best.iter_rows(named=True):
        own = found.summary.filter(grid="words", task=row["task"])
        top = own.row(own["validation_f1"].arg_max(), named=True)
        assert (row["model"], row["f1_weighted"]) == (top["model"], top["f1_weighted"])
        assert row["validation_f1"] > own["validation_f1"].min()
    shown = typed("classify", "evaluate", tmp_path / "models", "--best")
    assert shown.stdout.count("Best of 3 on dev") == 2, shown.stderr
    kept = pl.read_parquet(tmp_path / "models" / "predictions.parquet")
    assert set(kept["model"]) == set(found.best["model"])
    assert pl.read_csv(tmp_path / "models" / "best.csv").height == 2
    cards = json.loads((tmp_path / "models" / "grid.json").read_text())
    old = [{name: value for name, value in card.items() if name != "grid"} for card in cards]
    (tmp_path / "models" / "grid.json").write_text(json.dumps(old))  # as 0.1 wrote it
    assert evaluate_grid(tmp_path / "models").best.is_empty()
    with pytest.raises(SessionError, match="no grid of options was tried"):
        evaluate_grid(tmp_path / "models", best=True)


def test_keys_that_differ_stand_apart_among_the_ratings(tmp_path):
    fit_grid(mild_study(tmp_path), tmp_path / "models", quiet=True)
    raters = set(evaluate_grid(tmp_path / "models").ratings["rater"])
    assert raters == {
        "truth, gold, multi-class",
        "truth, gold, multi-label",
        "words, gold, multi-class",
        "words, gold, multi-label",
    }


def without_kitchen_in_train(folder):
    frame = pl.read_csv(folder / "data.csv")
    named = pl.col("gold").str.starts_with("kitchen")
    moved = pl.when(named).then(pl.lit("test")).otherwise("split")
    frame.with_columns(split=moved).write_csv(folder / "data.csv")


def test_a_rare_class_stops_its_own_cells_alone(tmp_path):
    sets = [
        {"name": "all", "column": "gold", "tasks": ["multi-class"]},
        {"name": "any", "column": "gold", "tasks": ["binary"], "positive": "some"},
    ]
    declared = {
        "labels": ["garden", "music", "kitchen", "weather"],
        "none": "weather",
        "label_sets": sets,
        "seeds": [0],
    }
    study, out = mild_study(tmp_path, **declared), tmp_path / "models"
    without_kitchen_in_train(tmp_path)
    lacks = r"1 of 2 cells failed .*\| all \| .*pool_lacks_class: train has no row of 'kitchen' \(\d+ in"
    with pytest.raises(InputError, match=lacks):
        fit_grid(study, out, quiet=True)
    found = evaluate_grid(out)  # what is finished is scored, and what is not is named
    assert found.scores["labels"].to_list() == ["any"]
    assert found.unfinished == ("words | mild | all | multi-class | seed 0",)
    allowed = mild_study(tmp_path, **declared, untrained="note")
    without_kitchen_in_train(tmp_path)
    assert fit_grid(allowed, out, quiet=True)["trained"] == 1
    shown = typed("classify", "evaluate", out)
    assert "| all | multi-class | seed 0: train has no row of 'kitchen'" in shown.stderr
    assert "any" in shown.stdout
    noted = evaluate_grid(out).scores.filter(labels="all")["notes"].item()
    assert "train has no row of 'kitchen'" in noted


def test_a_changed_cell_is_a_new_one_and_others_are_skipped(tmp_path):
    out = tmp_path / "models"
    done = fit_grid(mild_study(tmp_path), out, quiet=True)
    assert done == {"trained": 4, "skipped": 0, "elsewhere": 0}
    more = mild_study(tmp_path, seeds=[0, 1, 2])
    assert Counter(state for _, state in dry_run(more, out)) == {"finished": 4, "open": 2}
    other = mild_study(tmp_path, models=[{"name": "words", "use": "tfidf", "options": {"c": 1.0}}])
    assert Counter(state for _, state in dry_run(other, out)) == {"open": 4}
    changed = mild_study(tmp_path, n=241)
    assert Counter(state for _, state in dry_run(changed, out)) == {"open": 4}
    # Evaluation knows the cells of the study trained last, and says which are open.
    fit_grid(more := mild_study(tmp_path, seeds=[0, 1, 2]), out, only="seed 2", quiet=True)
    assert evaluate_grid(out).scores.height == 6
    fit_grid(mild_study(tmp_path, seeds=[0, 7]), out, only="multi-class seed 7", quiet=True)
    found = evaluate_grid(out)
    assert found.scores["seed"].to_list() == [0, 7, 0]
    assert found.unfinished == ("words | mild | gold | multi-label | seed 7",)


def test_results_say_what_was_left_out_and_how_thresholds_were_chosen(tmp_path):
    study = mild_study(tmp_path, threshold="each", seeds=[0])
    fit_grid(study, tmp_path / "models", quiet=True)
    cell = cells_of(study, "multi-label")[0]
    result = json.loads((cell.folder(tmp_path / "models") / "result.json").read_text())
    assert result["rows"]["test"] == {"used": 40, "no text": 1, "incomplete": 0}
    assert len(set(result["thresholds"])) > 1
    assert 0 < result["validation_f1"] <= 1
    assert any("all seeds agree" in note for note in result["notes"])
    tested = evaluate_grid(tmp_path / "models").predictions
    assert tested.filter(item="i239")["predicted"].null_count() == 8


def test_another_task_or_a_split_column_leaves_other_cells_finished(tmp_path):
    def sets(*tasks, labels=()):
        return [
            {"name": "gold", "column": "gold", "tasks": tasks},
            {"name": "kinds", "column": "gold", "labels": labels, "tasks": ["multi-label"]},
        ]

    out, some = tmp_path / "models", ["garden", "music", "kitchen", "snow"]
    drawn = {"split": "", "stratify": "kinds"}
    for extra in ({}, drawn):
        fit_grid(mild_study(tmp_path, label_sets=sets("multi-label"), **extra), out, quiet=True)
        more = mild_study(tmp_path, label_sets=sets("multi-label", "multi-class"), **extra)
        assert Counter(state for _, state in dry_run(more, out)) == {"finished": 4, "open": 2}
    # Drawn splits hang on the labels of `stratify`; those of a column on none.
    other = sets("multi-label", labels=some)
    states = [dry_run(mild_study(tmp_path, label_sets=other, **how), out) for how in ({}, drawn)]
    assert [Counter(state for _, state in found) for found in states] == [
        {"finished": 2, "open": 2},
        {"open": 4},
    ]


def test_only_takes_whole_words(tmp_path):
    models = [{"name": "words", "use": "tfidf", "grid": {"c": [1.0, 10.0]}}]
    study = mild_study(tmp_path, models=models, seeds=[0, 1, 10])
    assert {cell.seed for cell in cells_of(study, "seed 1")} == {1}
    assert {cell.model for cell in cells_of(study, "c=1.0")} == {"words c=1.0"}


class Stubborn(Plain):
    """Learns from no seed but the first."""

    def __init__(self, classes, *, task, seed=0):
        super().__init__(classes, task=task)
        self.seed = seed

    def fit(self, texts, labels):
        if self.seed:
            raise InputError("the loss is nan in epoch 3")
        return super().fit(texts, labels)


def test_a_training_that_fails_is_named_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plain_classifier", sys.modules[__name__])
    known = Plugins()
    known.add("classifier", "tests", "stubborn", "plain_classifier:Stubborn")
    known.add("classifier", "tests", "plain", "plain_classifier:Plain")
    models = [{"name": name, "use": name} for name in ("stubborn", "plain")]
    study = mild_study(tmp_path, models=models)
    out = tmp_path / "models"
    message = (
        r"2 of 8 cells failed \(the others are done.*: stubborn \| mild \| gold \| multi-class "
        r"\| seed 1: the loss is nan in epoch 3; stubborn .* multi-label"
    )
    with pytest.raises(InputError, match=message):
        fit_grid(study, out, quiet=True, plugins=known)
    assert Counter(state for _, state in dry_run(study, out)) == {"finished": 6, "open": 2}
    assert len(evaluate_grid(out).unfinished) == 2
    with pytest.raises(InputError, match="2 of 8 cells failed"):
        fit_grid(study, out, quiet=True, plugins=known)


class Deaf(Plain):
    """Cannot predict."""

    predict = None


class Forgetful(Plain):
    """Returns nothing from `fit`."""

    def fit(self, texts, labels):
        super().fit(texts, labels)


class Flat(Plain):
    """Predicts one number a text."""

    def predict(self, texts):
        return [1.0] * len(texts)


class Wordy(Plain):
    """Predicts words."""

    def predict(self, texts):
        return [["much"] * 4] * len(texts)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Deaf", r"^classifier 'Deaf' \(m\) must be a classifier, got Deaf without 'predict'$"),
        ("Forgetful", r"seed 0: what fit returns must be a classifier, got NoneType without 'fit'"),
        ("Flat", r"seed 0: predict must return .* one column a class, \(40, 4\), got \(40,\)"),
        ("Wordy", r"seed 0: predict must return numbers, got list"),
    ],
)
def test_the_usual_slips_of_a_classifier_are_named(tmp_path, monkeypatch, name, says):
    monkeypatch.setitem(sys.modules, "plain_classifier", sys.modules[__name__])
    known = Plugins()
    known.add("classifier", "tests", name, f"plain_classifier:{name}")
    study = mild_study(tmp_path, models=[{"name": "m", "use": name}], seeds=[0])
    with pytest.raises(VoirdireError, match=says):
        fit_grid(study, tmp_path / "models", quiet=True, plugins=known)


def test_a_cell_that_another_process_trains_is_left_to_it(tmp_path):
    study, out = mild_study(tmp_path), tmp_path / "models"
    folder = cells_of(study)[0].folder(out)
    folder.mkdir(parents=True)
    held = acquire(folder)
    assert fit_grid(study, out, quiet=True) == {"trained": 3, "skipped": 0, "elsewhere": 1}
    release(held)
    assert fit_grid(study, out, quiet=True) == {"trained": 1, "skipped": 3, "elsewhere": 0}


def test_names_with_brackets_are_no_markup(tmp_path, monkeypatch):
    models = [{"name": "words [/v2]", "use": "tfidf"}]
    mild_study(tmp_path, models=models, seeds=[0])
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal: with a bar
    done = typed("classify", "fit", tmp_path / "grid.toml", "--out", tmp_path / "models")
    assert done.returncode == 0, done.stderr
    assert "[/v2]" in typed("classify", "evaluate", tmp_path / "models").stdout


def test_what_was_found_in_the_data_is_said(tmp_path):
    study = mild_study(tmp_path, labels=["garden", "music"], seeds=[0])
    fit_grid(study, tmp_path / "models", quiet=True)
    shown = typed("classify", "evaluate", tmp_path / "models")
    assert "mild: label set 'gold':" in shown.stderr
    assert "'kitchen'" in shown.stderr
    assert "test texts are in train or dev too" in shown.stderr
    notes = pl.read_csv(tmp_path / "models" / "scores.csv")["notes"]
    assert notes.str.contains("all seeds agree").all()


@pytest.mark.parametrize(
    ("ids", "options", "message"),
    [
        (["p", "p"], [], "item 'p' occurs more than once"),
        (["p", "q"], ["--out", "labels.xlsx"], "--out must end in .csv or .parquet"),
        (["p", "q"], ["--only", "multi"], "holds no finished cell with the words 'multi'"),
    ],
)
def test_what_predict_cannot_use(tmp_path, ids, options, message):
    fit_grid(mild_study(tmp_path, seeds=[0]), tmp_path / "models", quiet=True)
    pl.DataFrame({"id": ids, "text": ["piano", "soup"]}).write_csv(tmp_path / "new.csv")
    said = typed(
        "classify", "predict", tmp_path / "models", "--texts", tmp_path / "new.csv", *options
    )
    assert said.returncode == 1
    assert message in said.stderr


def test_a_plugins_classifier_of_the_smallest_kind(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plain_classifier", sys.modules[__name__])
    known = Plugins()
    known.add("classifier", "tests", "plain", "plain_classifier:Plain")
    study = mild_study(tmp_path, models=[{"name": "most", "use": "plain"}], threshold="fixed")
    fit_grid(study, tmp_path / "models", quiet=True, plugins=known)
    found = evaluate_grid(tmp_path / "models").scores
    row = found.filter(task="multi-class").row(0, named=True)
    assert row["f1_weighted"] == pytest.approx(row["f1_constant"], abs=0.02)
    assert row["kappa"] < 0.1


def test_errors_are_plain(tmp_path):
    study = mild_study(tmp_path)
    with pytest.raises(StudyError, match="has no part"):
        cells_of(build_study({"name": "bare"}))
    with pytest.raises(StudyError, match="has the words 'nothing' in its name, such as 'words"):
        cells_of(study, "nothing")
    with pytest.raises(SessionError, match="holds no grid"):
        evaluate_grid(tmp_path)
    (tmp_path / "grid.json").write_text("[{", encoding="utf-8")
    with pytest.raises(SessionError, match=r"grid\.json: cannot be read"):
        evaluate_grid(tmp_path)
    (tmp_path / "data.csv").unlink()
    with pytest.raises(TableError, match=r"data 'mild': there is no file .*data\.csv"):
        fit_grid(study, tmp_path / "models", quiet=True)
    wrong = mild_study(tmp_path, models=[{"name": "w", "use": "tfidf", "options": {"depth": 3}}])
    with pytest.raises(InputError, match="unexpected keyword argument 'depth'"):
        fit_grid(wrong, tmp_path / "models", quiet=True)
    gone = mild_study(tmp_path, split="", fractions=[1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="no row of dev has both text and labels"):
        fit_grid(gone, tmp_path / "models", quiet=True)
    assert not (tmp_path / "models").exists()  # all that was found before anything was trained
    said = typed("classify", "fit", tmp_path / "grid.toml")
    assert said.returncode == 1
    assert "give the grid's folder by --out" in said.stderr


def test_models_that_were_not_kept_cannot_predict(tmp_path):
    study = mild_study(tmp_path, keep_models=False)
    fit_grid(study, tmp_path / "models", quiet=True)
    with pytest.raises(InputError, match="was not kept"):
        predict_texts(tmp_path / "models", ["a"], ["a quiet song"])
