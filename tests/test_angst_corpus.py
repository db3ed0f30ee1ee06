"""angst: annotators' agreement, the corpus, its data and the printed tables."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import polars as pl
import pytest
from printed_rows import PrintedRow, derived, implied_share, misfits
from sklearn import metrics

from voirdire import InputError, TableError
from voirdire.examining.annotating import adjudicate, annotator_agreement
from voirdire.tables import read_labelled
from voirdire_plugins.angst.corpus import build_corpus
from voirdire_plugins.angst.labels import LABELS, read_posts, with_class


def agreement(annotations, annotators):
    return annotator_agreement(annotations, annotators, LABELS)


def adjudicated(annotations, annotators, **options):
    return adjudicate(annotations, annotators, LABELS, **options)


def annotated(columns=("evidence", "flag")):
    rows = [
        ("1", "a", 1, 0, "so low| tired", None), ("1", "b", 1, 1, "nervous", None),
        ("1", "c", 1, 1, None, None), ("2", "a", 0, 0, None, None), ("2", "b", 1, 0, "low", None),
        ("2", "c", 0, 0, None, None), ("3", "a", 1, 1, None, 1), ("3", "b", 0, 0, None, None),
        ("4", "a", 0, 1, None, None), ("4", "b", 0, None, None, None),
    ]  # fmt: skip
    names = ["item", "annotator", "depression", "anxiety", "evidence", "flag"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.select(*names[:4], *columns)


def test_conflicts_are_settled_by_rule_and_flagged_posts_go():
    found = adjudicated(annotated(), ["a", "b"], secondary="c")
    assert with_class(found.labels).select("item", "depression", "anxiety", "class").rows() == [
        ("1", 1, 1, "comorbid"), ("2", 0, 0, "control"), ("4", 0, 1, "anxiety"),
    ]  # fmt: skip
    assert (found.items, found.flagged) == (4, 1)
    assert found.conflicts == found.adjudicated == {"depression": 1, "anxiety": 1}
    assert found.labels["evidence"].to_list() == [["so low", "tired", "nervous"], ["low"], None]
    least = adjudicated(annotated(), ["a", "b"], rule="at_least_one").labels
    assert least["depression"].to_list() == [1, 1, 0]
    tie = adjudicated(annotated(), ["a", "b"], rule="majority")
    assert tie.labels["depression"].to_list() == [1, None, 0]
    assert (tie.conflicts["depression"], tie.adjudicated["depression"]) == (1, 0)
    three = adjudicated(annotated(), ["a", "b", "c"], rule="majority").labels
    assert three["depression"].to_list() == [1, 0, 0]


def test_evidence_is_looked_for_in_the_post():
    texts = pl.DataFrame({"item": ["1", "2"], "text": ["So  LOW and tired.", "All is fine."]})
    found = adjudicated(annotated(), ["a", "b"], secondary="c", texts=texts)
    assert (found.spans, found.foreign) == (4, 2)  # "nervous", and "low" in post 2
    assert adjudicated(annotated(()), ["a", "b"], secondary="c").spans == 0


@pytest.mark.parametrize("flag", ["yes", "True", "1", "1.0"])
def test_a_flag_removes_a_post_however_it_is_written(flag):
    table = annotated().with_columns(pl.col("flag").cast(pl.String).replace("1", flag))
    assert adjudicated(table, ["a", "b"], secondary="c").flagged == 1
    with pytest.raises(TableError, match="column 'flag': 'perhaps' is neither yes nor no"):
        adjudicated(table.with_columns(flag=pl.lit("perhaps")), ["a", "b"], secondary="c")


def test_only_who_says_yes_gives_evidence():
    table = annotated().with_columns(
        evidence=pl.when(pl.col("annotator") == "c").then(pl.lit("aside")).otherwise("evidence")
    )
    found = adjudicated(table, ["a", "b"], secondary="c").labels["evidence"].to_list()
    assert found == [["so low", "tired", "nervous", "aside"], ["low"], None]


def test_agreement_and_its_identity():
    """Alpha = kappa + (1 - kappa) / (2 n) for two complete raters and Fleiss' kappa."""
    rng = np.random.default_rng(4)
    n = 300
    first = rng.integers(0, 2, (n, 2))
    second = np.where(rng.random((n, 2)) < 0.85, first, 1 - first)
    rows = [
        (str(i), who, *map(int, values[i]))
        for who, values in (("a", first), ("b", second))
        for i in range(n)
    ]
    names = ["item", "annotator", "depression", "anxiety"]
    found = agreement(pl.DataFrame(rows, schema=names, orient="row"), ["a", "b"])
    for label, column in (("depression", 0), ("anxiety", 1)):
        kappa, alpha = found[label]["fleiss"].value, found[label]["alpha"].value
        assert alpha == pytest.approx(kappa + (1 - kappa) / (2 * n))
        assert alpha >= kappa
        cohen = metrics.cohen_kappa_score(first[:, column], second[:, column])
        assert found[label]["cohen"].value == pytest.approx(cohen)


def test_annotations_are_checked():
    with pytest.raises(TableError, match="no annotator 'z'"):
        agreement(annotated(), ["a", "z"])
    with pytest.raises(TableError, match="no column 'anxiety'"):
        agreement(annotated().drop("anxiety"), ["a", "b"])
    with pytest.raises(TableError, match="values must be 0, 1 or empty"):
        agreement(annotated().with_columns(anxiety=pl.lit(3)), ["a", "b"])
    with pytest.raises(TableError, match="annotator 'a' labels item '1' more than once"):
        agreement(pl.concat([annotated(), annotated().head(1)]), ["a", "b"])
    with pytest.raises(InputError, match="of two annotators or more"):
        agreement(annotated(), ["a", "a"])
    with pytest.raises(InputError, match="needs the name of the secondary"):
        adjudicated(annotated(), ["a", "b"])


def scraped():
    rows = []
    for author, count, discloses in (("ann", 12, True), ("ben", 12, False), ("cleo", 3, True)):
        for n in range(count):
            words = "word " * (80 if n % 4 else 20)
            said = "I was diagnosed with mild anxiety. " if discloses and n == 0 else ""
            rows.append((f"{author}{n:02}", author, f"{said}{author} {n} {words}", float(n), n % 3))
    rows.append(("blank", "ann", " ", 99.0, 9))
    rows.append(("twice", "ann", rows[1][2], 99.0, 9))
    return pl.DataFrame(rows, schema=["id", "author", "text", "fear", "sad"], orient="row")


def test_a_corpus_is_built_with_counts_at_every_step():
    found = build_corpus(scraped(), lexicons=["fear"], top=6, sample=2, seed=3)
    assert [(step.posts, step.authors) for step in found.steps] == [
        (29, 3), (27, 3), (15, 2), (11, 2), (9, 1), (6, 1), (2, 1),
    ]  # fmt: skip
    assert found.sample.height + found.rest.height == 6
    assert not set(found.sample["id"]) & set(found.rest["id"])
    assert min(found.sample["fear"].to_list() + found.rest["fear"].to_list()) == 5.0
    again = build_corpus(scraped(), lexicons=["fear"], top=6, sample=2, seed=3)
    assert again.sample.equals(found.sample)
    assert not build_corpus(scraped(), lexicons=["fear"], top=6, sample=2, seed=4).sample.equals(
        found.sample
    )


def test_a_corpus_names_what_it_cannot_rank_or_find():
    table = pl.DataFrame(
        {"id": ["1", "2"], "author": ["a", "a"], "text": ["x", "y"], "fear": ["0.5", "n/a"]}
    )
    with pytest.raises(TableError, match="column 'fear': a score must be a number, got 'n/a'"):
        build_corpus(table, lexicons=["fear"])
    with pytest.raises(InputError, match="give at least one pattern"):
        build_corpus(table, patterns=[])


def test_patterns_and_columns_of_a_corpus_are_the_users():
    none = build_corpus(scraped(), patterns=["nobody says this"])
    assert [step.posts for step in none.steps][-1] == 0
    everyone = build_corpus(scraped(), patterns=["word"], min_words=0, min_posts=1, sample=27)
    assert everyone.sample.height == 27
    with pytest.raises(InputError, match="is no regular expression"):
        build_corpus(scraped(), patterns=["("])
    with pytest.raises(TableError, match="no column 'joy'"):
        build_corpus(scraped(), lexicons=["joy"])
    with pytest.raises(TableError, match="an id is empty or occurs more than once"):
        build_corpus(pl.concat([scraped(), scraped()]))


def test_posts_are_read_with_their_columns_mapped(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("nr,body,dep,anx,who\n1,One day,yes,No,x\n2,Two,1,0,y\n3,Three,,0,z\n")
    columns = {"id": "nr", "text": "body", "depression": "dep", "anxiety": "anx"}
    found = read_posts(path, columns)
    assert found.columns == ["id", "text", "depression", "anxiety", "class", "who"]
    assert found["class"].to_list() == ["depression", "depression", None]
    with pytest.raises(TableError, match="no column 'text'"):
        read_labelled(path, (), {"id": "nr"})
    path.write_text("id,text,depression,anxiety\n1,One,maybe,0\n")
    with pytest.raises(TableError, match="'maybe' is neither yes nor no"):
        read_posts(path)
    pl.DataFrame(
        {"id": ["1"], "text": ["x"], "depression": [float("nan")], "anxiety": [1.0]}
    ).write_parquet(tmp_path / "posts.parquet")
    assert read_posts(tmp_path / "posts.parquet")["depression"].to_list() == [None]
    path.write_text("id,text\n1,One\n1,Two\n")
    with pytest.raises(TableError, match="occurs more than once"):
        read_labelled(path)


def printed_rows(shared):
    """Tables 3 to 5 out of the paper's text: task -> rows."""
    text = next((shared / "papers").glob("004*.txt")).read_text(encoding="utf-8")
    ends = {number: text.index(f"\nTable {number}:") for number in (2, 3, 4, 5)}
    tables = {n: _numbers(text[ends[n - 1] : ends[n]]) for n in (3, 4, 5)}
    found = {}
    for task, table, columns in (("depression", 4, slice(0, 5)), ("anxiety", 5, slice(5, 10))):
        found[task] = [
            PrintedRow(name, tuple(row[:3]), tuple(row[3:6]), tuple(tables[3][place][1][columns]))
            for place, (name, row) in enumerate(tables[table])
        ]
    return found


def _numbers(block):
    """(model, numbers) of each row; subscripts are deviations, and go."""
    rows = []
    model = ""
    for line in block.splitlines():
        cells = [re.sub(r"_\{[^}]*\}|[‡†*]|\*\*", "", cell).strip() for cell in line.split("\t")]
        if len(cells) < 7 or ("SFT" not in cells[1] and "shot" not in cells[1]):
            continue
        model = re.sub(r"\W+$", "", cells[0]) or model
        plain = [re.sub(r"\s*_?\s*\{?[\d.]*\}?$", "", c) if "_" in c else c for c in cells[2:]]
        values = [re.match(r"[\d.]+", cell) for cell in plain]
        rows.append((f"{model}, {cells[1]}", [float(v[0].rstrip(".")) for v in values if v]))
    return rows


@pytest.mark.shared
def test_tables_3_4_and_5_agree_but_for_one_row(shared):
    path = shared / "reference" / "paper_checks.json"
    expected = json.loads(path.read_text(encoding="utf-8"))["paper_004"]
    rows = printed_rows(shared)
    for task, known in expected["class_shares_implied"].items():
        assert len(rows[task]) == 13
        share = implied_share(rows[task])
        assert share == pytest.approx(known["pi"], abs=0.0008)
        names = ("acc", "precision", "recall", "f1", "macro_f1")
        reference = [r for r in expected["table3_from_4_and_5"] if r["task"] == task]
        for row, one in zip(rows[task], reference, strict=True):
            assert row.overall == tuple(one["printed"][name] for name in names)
            for cell, name in zip(derived(row, share).values(), names, strict=True):
                assert cell == pytest.approx(one["derived"][name], abs=0.06)
        found = misfits(rows[task], share)
        wrong = [r for r in expected["table3_rows_that_do_not_fit"] if r["task"] == task]
        assert len({one.row for one in found}) == len(wrong)
        if wrong:
            assert {one.cell for one in found} == {"recall", "f1"}
            by_cell = {one.cell: one for one in found}
            # The two cells look exchanged: each fits what the other should be.
            assert by_cell["recall"].printed == pytest.approx(by_cell["f1"].derived, abs=0.1)
            assert by_cell["f1"].printed == pytest.approx(by_cell["recall"].derived, abs=0.1)


def test_a_share_that_nothing_confines_is_undefined():
    row = PrintedRow("even", (50.0, 50.0, 50.0), (50.0, 50.0, 50.0), (50.0,) * 5)
    assert math.isnan(implied_share([row]))
