"""One study of judges on a rubric and annotators of labels: both are shown, each on its scale."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

from voirdire import examine
from voirdire.examining import audit_source
from voirdire.report import print_examination
from voirdire.running import run
from voirdire.study import build_study

LABELS = ("worry", "low mood", "sleep")
RUBRIC = "scale = [1, 5]\n" + "".join(
    f"[[attributes]]\nname = '{name}'\n" for name in ("Calm", "Clear")
)


def session(folder, *, rubric=None, labelled=None, reference=True, runs=5):
    """A session of a simulated judge and annotator; people rated answers, and perhaps labelled."""
    items = [f"p{at}" for at in range(10)]
    texts = [f"Post {at} about an exam and the evening." for at in range(10)]
    pl.DataFrame({"id": items, "text": texts}).write_csv(folder / "posts.csv")
    rows = [(item, system, f"{system} on {item}.") for item in items for system in "abc"]
    pl.DataFrame(rows, schema=["item", "system", "text"], orient="row").write_csv(
        folder / "answers.csv"
    )
    rated = [
        (item, system, "ann", name, (at + len(name)) % 5 + 1)
        for at, (item, system, _) in enumerate(rows)
        for name in ("Calm", "Clear")
    ]
    long = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(rated, schema=long, orient="row").write_csv(folder / "human.csv")
    (folder / "rubric.toml").write_text(RUBRIC)
    sources = [{"path": "human.csv"}]
    if labelled is not None:
        labelled.write_csv(folder / "labels.csv")
        sources.append({"path": "labels.csv"})
    options = {"labels": list(LABELS)}
    raw = {
        "name": "both",
        "rubric": rubric or {"scale": [1, 5], "attributes": ["Calm", "Clear"]},
        "items": {"path": "posts.csv"},
        "responses": {"path": "answers.csv"},
        "analysis": {"resamples": 0},
        "panel": [
            {"name": "ann", "kind": "human"} if reference else {"name": "south", "model": "simulated:s"},
            {"name": "north", "model": "simulated:n"},
            {"name": "tagger", "kind": "annotator", "use": "labels", "model": "simulated:t",
             "runs": runs, "options": options, "model_options": {"answers": list(LABELS)}},
        ],
    }  # fmt: skip
    if reference:
        raw["data"] = {"reference": ["ann"], "sources": sources}
    out = folder / "session"
    assert run(build_study(raw, folder=str(folder)), out, quiet=True).complete
    return out


def own_labels(folder):
    """What the annotator named in its first run, as if a person had."""
    found = pl.read_parquet(folder / "ratings.parquet").filter(rater="tagger", run=1)
    return found.select("item", pl.lit("ann").alias("rater"), "attribute", "score")


@pytest.mark.parametrize("rubric", [None, {"use": "rubric.toml"}])
def test_judges_have_results_and_annotators_have_sections(tmp_path, rubric):
    found = examine(session(tmp_path, rubric=rubric))
    assert {(r.judge, r.attribute) for r in found.results} == {
        ("north", "Calm"),
        ("north", "Clear"),
    }
    assert [section.title for section in found.sections] == [
        "Labels: what became of the replies",
        "Largest label count per item",
        "Fleiss' kappa of each label over runs",
        "Final labels",
        "Items with a label where 3 to all runs must agree",
    ]
    (kappas,) = [section for section in found.sections if section.leading]
    assert [row[1] for row in kappas.table.rows] == [*LABELS, "Average"]
    kinds = {finding.kind for finding in found.findings}
    assert kinds.isdisjoint({"rater_missing", "attribute_undeclared", "out_of_scale"})
    stream = io.StringIO()
    print_examination(found, console=Console(file=stream, width=80))
    shown = stream.getvalue()
    # The answer on the judge comes first, then the leading tables, then the coefficients.
    leading = shown.index("Fleiss' kappa of each label")
    assert shown.index("north") < leading < shown.index("ICC(C,1)")


def test_labels_of_people_are_what_annotators_are_held_against(tmp_path):
    (tmp_path / "first").mkdir()
    said = own_labels(session(tmp_path / "first"))
    found = examine(session(tmp_path, labelled=said))
    against = next(s for s in found.sections if s.title == "Labels against ann")
    # A rater of several runs is one row: the mean over runs, of which the first is the key itself.
    (row,) = [row for row in against.table.rows if row[0] == "tagger"]
    assert 0 < row[5].value <= 1
    assert row[5].sd >= 0
    (tmp_path / "single").mkdir()
    alone = examine(session(tmp_path / "single", labelled=said, runs=1))
    against = next(s for s in alone.sections if s.title == "Labels against ann")
    assert {row[0]: row[5] for row in against.table.rows}["tagger"] == 1.0
    assert {r.judge for r in found.results} == {"north"}
    # A label that the person did not give, and one run: precision falls, recall does not.
    first = said["item"][0]
    flipped = said.with_columns(
        pl.when(pl.col("item") == first).then(0).otherwise("score").alias("score")
    )
    (tmp_path / "third").mkdir()
    found = examine(session(tmp_path / "third", labelled=flipped, runs=1))
    against = next(s for s in found.sections if s.title == "Labels against ann")
    _, n, missing, precision, recall, *_ = against.table.rows[0]
    assert (n, missing, recall) == (10, 0, 1.0)
    assert 0.5 < precision < 1
    assert all("kappa of each label" not in section.title for section in found.sections)


@pytest.mark.parametrize(
    ("scores", "kind"), [((None, None), "missing_scores"), ((0, 0), ""), ((3, 1), "out_of_scale")]
)
def test_labels_of_people_that_say_little_are_no_error(tmp_path, scores, kind):
    rows = [(f"p{at}", "ann", n, s) for at, s in enumerate(scores) for n in LABELS]
    schema = {"item": pl.String, "rater": pl.String, "attribute": pl.String, "score": pl.Int64}
    found = examine(session(tmp_path, labelled=pl.DataFrame(rows, schema=schema, orient="row")))
    assert {r.judge for r in found.results} == {"north"}
    assert not kind or kind in {f.kind for f in found.findings if f.table == "ann"}
    against = [s for s in found.sections if s.title == "Labels against ann"]
    assert [section.table.rows[0][1] for section in against] == ([1] if scores == (3, 1) else [])


def test_without_a_reference_annotators_are_shown_all_the_same(tmp_path):
    found = examine(session(tmp_path, reference=False))
    assert found.results == ()
    assert any(section.title.startswith("Fleiss' kappa") for section in found.sections)


def test_what_is_odd_in_labels_is_said(tmp_path):
    kinds = {(f.kind, f.table) for f in audit_source(session(tmp_path, runs=1))}
    assert ("few_ratings", "tagger") in kinds
    assert not any(kind == "rater_missing" for kind, _ in kinds)
