"""Files for programs and for papers: JSON, CSV, Parquet, Markdown, LaTeX."""

from __future__ import annotations

import csv
import dataclasses
import json
import re

import numpy as np
import polars as pl
import pytest
from examinations import NAN, html_of, matrix, pair_result, with_changes

import voirdire
from voirdire.examining import UnderRule, examine
from voirdire.files import unguard
from voirdire.report import FORMATS, evidence, write_outputs
from voirdire.report.figures import draw_figures
from voirdire.report.records import RESULT_KEYS, icc_frame
from voirdire.report.sections import escape, latex, markdown
from voirdire.study import load_study
from voirdire.tabular import Section, SectionFigure, Table, number_text, text

TEXT_FORMATS = [name for name in FORMATS if name != "html"]
KEYS = {
    "judge", "attribute", "level", "n_systems", "n_pairs", "icc_c1", "icc_a1", "ci",
    "reliability_class", "band", "bias", "bias_normalised", "human_mean", "judge_mean", "mse",
    "mse_system", "rmse", "ms_rows", "ms_raters", "ms_error", "ccc", "pearson_r", "loa_low",
    "loa_high", "qwk", "alpha_ordinal", "excluded_systems", "reason",
}  # fmt: skip


def refuse(name):
    raise AssertionError(f"a bare {name} in JSON")


def strict_json(path):
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def csv_rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def written(example, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    write_outputs(example, folder, TEXT_FORMATS, figures=False)
    return folder


def test_every_file_is_there(written):
    names = {path.name for path in written.iterdir()}
    assert names == {
        "results.json", "audit.json", "icc.csv", "tests.csv", "icc.parquet", "ratings.parquet",
        "tables.md", "tables.tex",
    }  # fmt: skip


def test_results_hold_the_promised_keys(written, example):
    found = strict_json(written / "results.json")
    assert {"schema_version", "versions", "seed", "options", "input_hashes", "results"} <= set(
        found
    )
    assert found["versions"]["voirdire"] == voirdire.__version__
    assert len(found["results"]) == len(example.results) == 6
    for record, result in zip(found["results"], example.results, strict=True):
        assert set(RESULT_KEYS) == KEYS
        assert tuple(record)[: len(RESULT_KEYS)] == RESULT_KEYS
        assert record["icc_c1"] == result.icc_c1
        assert {"form", "method", "level", "low", "high"} <= set(record["ci"][0])
    keys = ("judge", "attribute", "use", "target", "state")
    assert [tuple(v[key] for key in keys) for v in found["verdicts"]] == [
        tuple(getattr(v, key) for key in keys) for v in example.verdicts
    ]
    assert set(found["verdicts"][0]) >= {"deciding", "why", "next", "p", "components"}
    assert set(found["verdicts"][0]["components"][0]) >= {
        "name",
        "estimate",
        "low",
        "high",
        "margin",
        "state",
        "note",
    }


def test_the_audit_is_a_list_of_findings(written, example):
    found = strict_json(written / "audit.json")
    assert len(found) == len(example.findings) > 0
    assert set(found[0]) == {
        "kind", "severity", "table", "count", "places", "consequence", "message",
        "attributes"
    }  # fmt: skip


def test_what_is_undefined_is_null_and_an_empty_cell(example, tmp_path):
    result = pair_result([[3, 3]] * 5, "judge-north", "Guidance", mse=float("inf"))
    write_outputs(
        with_changes(example, results=(result,)), tmp_path, ["json", "csv"], figures=False
    )
    record = strict_json(tmp_path / "results.json")["results"][0]
    assert record["icc_c1"] is record["mse"] is None
    assert record["reason"] == "zero_variance"
    row = csv_rows(tmp_path / "icc.csv")[0]
    assert row["icc_c1"] == row["mse"] == row["icc_c1_f_low"] == ""


def test_csv_and_parquet_hold_the_same_rows(written, example):
    rows = csv_rows(written / "icc.csv")
    frame = pl.read_parquet(written / "icc.parquet")
    assert len(rows) == frame.height == len(example.results) + len(example.rated.composites)
    assert float(rows[0]["icc_c1"]) == frame["icc_c1"][0] == example.results[0].icc_c1
    low = example.results[0].interval("A,1", "f").low
    assert float(rows[0]["icc_a1_f_low"]) == frame["icc_a1_f_low"][0] == low
    assert pl.read_parquet(written / "ratings.parquet").height == example.ratings.height


def test_markdown_rows_are_as_wide_as_their_head(written):
    for block in re.split(r"\n## ", (written / "tables.md").read_text(encoding="utf-8"))[1:]:
        bars = {
            len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines() if line[:1] == "|"
        }
        assert len(bars) == 1, block[:80]


HOSTILE = Section(
    "T", "C", (Table((text("a"), text("b")), (("x|y\nz", "<script>alert(1)</script>"),)),)
)


def test_markdown_cells_cannot_break_out():
    line = markdown(HOSTILE).splitlines()[-1]
    assert line == r"| x\|y z | &lt;script&gt;alert(1)&lt;/script&gt; |"


def test_latex_cells_are_escaped():
    hostile = Table((text("A & B"),), (("[1] #$~^\\",),))
    said = latex(Section("50 %", "a_b", (hostile,)), "t")
    assert r"\caption{50 \%}" in said
    assert r"\footnotesize a\_b" in said
    assert r"A \& B" in said
    assert r"{}[1] \#\$\textasciitilde{}\textasciicircum{}\textbackslash{}" in said
    assert escape("−0.1 ≥ 0") == r"$-$0.1 $\geq$ 0"


def test_latex_is_balanced_and_has_booktabs_rules(written):
    text = (written / "tables.tex").read_text(encoding="utf-8")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    for rule, times in (("toprule", 2), ("midrule", 2), ("bottomrule", 1)):
        # A long table has its head on the first page and on the others, its caption on the first.
        long = times * text.count("\\begin{longtable}")
        assert text.count(f"\\{rule}") == text.count("\\begin{tabular}") + long
    assert text.count("\\endfirsthead") == text.count("\\begin{longtable}")
    assert text.count("\\begin{table}") == text.count("\\end{table}")
    assert bare.count("{") == bare.count("}")
    fitted = text.count("\\resizebox{\\ifdim\\width>\\linewidth")
    assert fitted == text.count("\\begin{table}") == text.count("\\end{tabular}}")
    assert all(ord(sign) < 128 or sign in "·…“”" for sign in text), "a sign LaTeX may not print"


def test_each_human_as_reference_has_rows_of_its_own(example_study):
    study = load_study(example_study)
    data = study.data.model_copy(update={"reference_use": "each"})
    found = examine(study.model_copy(update={"data": data}), resamples=50)
    assert len(found.results) == 18
    table = evidence(found)["icc"].table
    assert len({row[:2] for row in table.rows}) == len(found.results) + len(found.rated.composites)
    assert table.rows[0][0] == "judge-north vs human-1"


def test_an_unknown_format_names_what_is_allowed(example, tmp_path):
    with pytest.raises(voirdire.InputError, match=r"'pdf' is unknown .allowed: json, csv"):
        write_outputs(example, tmp_path, ["json", "pdf"])
    assert not list(tmp_path.iterdir())


def test_no_format_writes_nothing(example, tmp_path):
    assert write_outputs(example, tmp_path, []) == ()


def test_an_examination_without_results_is_written(example, tmp_path):
    bare = with_changes(example, results=(), composites=(), verdicts=(), system_means=(), tests=())
    write_outputs(bare, tmp_path, FORMATS)
    assert strict_json(tmp_path / "results.json")["results"] == []
    assert "no verdict" in (tmp_path / "report.html").read_text(encoding="utf-8").lower()


def test_long_families_of_tests_are_cut_for_people_only(example, tmp_path):
    (test, *_) = example.rated.tests
    ps = [NAN, *(0.9 - 0.01 * step for step in range(59))]
    tests = tuple(
        dataclasses.replace(test, rater=f"r{at}", p=p / 2, p_holm=p) for at, p in enumerate(ps)
    )
    long = with_changes(example, tests=tests)
    write_outputs(long, tmp_path, ("md", "tex", "csv", "json"), figures=False)
    tested = evidence(long)["tests"]
    assert [row[0] for row in tested.table.rows] == [f"r{at}" for at in range(59, 19, -1)]
    assert "The 40 with the smallest p after it; results.json and tests.csv have the 20 others" in (
        tmp_path / "tables.md"
    ).read_text("utf-8")
    said = latex(tested, "tests")
    assert said in (tmp_path / "tables.tex").read_text("utf-8")
    assert said.startswith(r"\begin{table}")
    assert max(map(len, re.findall(r"tabular}{([lr]+)}", said))) <= 8
    rows = csv_rows(tmp_path / "tests.csv")
    assert len(rows) == len(strict_json(tmp_path / "results.json")["tests"]) == 60
    assert (rows[0]["p_holm"], float(rows[59]["p_holm"])) == ("", ps[59])
    few = evidence(with_changes(long, tests=tests[:40]))["tests"]
    assert [row[0] for row in few.table.rows] == [f"r{at}" for at in range(40)]
    assert "smallest" not in few.text


def test_a_strange_result_prints_dashes(example):
    result = pair_result(matrix(9, 0.9), loa_low=NAN, bias_interval=None)
    table = evidence(with_changes(example, results=(result,)))["bias"].table
    assert "–" in next(table.written())


def test_the_published_class_stands_beside_the_exact_one(example):
    assert "Class" not in evidence(example)["icc"].table.names
    analysis = example.study.analysis.model_copy(update={"published_class": "badawi2025"})
    study = example.study.model_copy(update={"analysis": analysis})
    shown = evidence(with_changes(example, study=study))["icc"].table.records()
    for row, result in zip(shown, example.results, strict=False):
        star = "*" if result.class_borderline else ""
        assert row["Class"] == result.reliability_class + star
        assert row["Exact class"] == (result.class_exact or None)


def test_no_folder_of_figures_is_made_where_none_is_drawn(example, tmp_path):
    bare = with_changes(example, results=(), composites=(), verdicts=(), sections=())
    assert [path.name for path in write_outputs(bare, tmp_path, ["json"])] != []
    assert not (tmp_path / "figures").exists()


def test_figures_of_an_earlier_report_do_not_stand_beside_new_ones(example, tmp_path):
    figures = tmp_path / "figures"
    figures.mkdir()
    for name in ("section_9.svg", "exclusion.png", "mine.png"):
        (figures / name).write_bytes(b"old")
    written = write_outputs(example, tmp_path, ["json"])
    assert {path for path in written if path.parent == figures} | {figures / "mine.png"} == set(
        figures.iterdir()
    )
    assert (figures / "exclusion.png").read_bytes() != b"old"
    write_outputs(example, tmp_path, ["json"], figures=False)
    assert [path.name for path in figures.iterdir()] == ["mine.png"]


@pytest.mark.parametrize(("name", "form"), [("ratings.parquet", "parquet"), ("tests.csv", "csv")])
def test_a_table_that_was_examined_is_not_written_over(tmp_path, name, form):
    rows = [(str(i), "h" if h else "j", 1 + (i + h) % 5, "x") for i in range(9) for h in (0, 1)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score", "remark"], orient="row")
    path = tmp_path / name
    frame.write_parquet(path) if form == "parquet" else frame.write_csv(path)
    before = path.read_bytes()
    found = examine(path, reference=["h"], resamples=0)
    with pytest.raises(voirdire.InputError, match=f"{name} there was examined"):
        write_outputs(found, tmp_path, [form], figures=False)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [(name, before)]
    write_outputs(found, tmp_path, ["json", "html"], figures=False)
    write_outputs(found, tmp_path / "out", [form], figures=False)
    assert path.read_bytes() == before


def test_a_column_has_one_type_whatever_it_holds(example):
    nothing = pair_result(matrix(9, 0.5), bias_interval=None, loa_low_ci=None, qwk=NAN, reason=None)
    full = icc_frame(example).schema
    bare = icc_frame(with_changes(example, results=(nothing,), composites=()))
    none = icc_frame(with_changes(example, results=(), composites=()))
    for frame in (bare, none):
        assert {name: full[name] for name in frame.columns} == dict(frame.schema)
    assert "bias_interval" not in bare.columns
    assert (bare["bias_low"].item(), bare["reason"].dtype) == (None, pl.String)
    (first, *_) = example.results
    row = icc_frame(example).row(0, named=True)
    assert (row["bias_low"], row["bias_high"]) == (
        first.bias_interval.low,
        first.bias_interval.high,
    )


def test_each_human_as_reference_has_pairs_and_texts_of_its_own(example_study):
    study = load_study(example_study)
    data = study.data.model_copy(update={"reference_use": "each", "pairs": "listwise"})
    found = examine(study.model_copy(update={"data": data}), resamples=0)
    for at, result in enumerate(found.results):
        own = found.rated.pairs.filter(result=at).select("reference", "score").to_numpy()
        assert len(own) == result.n_pairs
        assert float(((own[:, 1] - own[:, 0]) ** 2).mean()) == pytest.approx(result.mse)
    page = html_of(found, with_text=True)
    texts = re.findall("<article>(.*?)</article>", page, re.DOTALL)
    assert len(texts) == 12
    assert all(" vs " in text and "The judge&#39;s reply" in text for text in texts)
    judges = re.findall(r'<h3 id="j\d+">(.*?)</h3>\n<p class="facts">(.*?)</p>', page)
    assert len(judges) == 6
    assert judges[0][0].endswith(" vs human-1")
    assert "held against human-1;" in judges[0][1]


FORMULAS = ("=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-2", "calm")


def test_no_cell_of_a_table_for_people_is_a_formula(example, tmp_path):
    results = tuple(
        dataclasses.replace(result, judge=name, attribute=name)
        for result, name in zip(example.results, FORMULAS, strict=False)
    )
    tests = tuple(dataclasses.replace(example.rated.tests[0], rater=name) for name in FORMULAS)
    hostile = with_changes(example, results=results, composites=(), tests=tests)
    write_outputs(hostile, tmp_path, ["csv"], figures=False)
    for name in ("icc.csv", "tests.csv"):
        rows = csv_rows(tmp_path / name)
        texts = [row[key] for row in rows for key in ("judge", "attribute", "rater") if key in row]
        assert not [cell for cell in texts if cell[0] in "=+-@"]
        assert {unguard(cell) for cell in texts} == set(FORMULAS[: len(rows)])
    assert (
        float(csv_rows(tmp_path / "icc.csv")[0]["bias"]) == results[0].bias
    )  # numbers are numbers


def test_captions_say_what_is_counted():
    rows = [
        (str(i), rater, 1 + (i * k) % 5) for i in range(12) for k, rater in ((1, "h"), (2, "j"))
    ]
    frame = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    found = examine(frame, reference=["h"], resamples=20)
    said = [evidence(found)[name].text for name in ("icc", "bias")]
    assert all("over responses" in text for text in said)
    page = html_of(found).partition('id="methods-title"')[2]
    assert "over responses" in page
    assert "over systems" not in " ".join((*said, page))
    drawn = {drawing.name: drawing.caption for drawing in draw_figures(found)}
    assert "systems" not in drawn, "bars of systems where there are none"
    assert "Points are systems" not in drawn["bland_altman"]
    assert "over responses" in drawn["forest"]
    means = evidence(found)["system_means"]
    assert {row[1] for row in means.table.rows} == {"all"}


def test_a_family_that_changes_nothing_has_a_dash(example):
    (first, *rest) = example.results
    rule = UnderRule((), 9, 0.5, 0.4, 0.0)
    none = {"without_exclusion": None, "family_rule": None}
    changed = [
        dataclasses.replace(first, **none | {name: rule})
        for name in ("without_exclusion", "family_rule")
    ]
    plain = [dataclasses.replace(result, **none) for result in rest]
    found = with_changes(example, results=(*changed, *plain), composites=())
    table = evidence(found)["exclusion"].table
    assert [row[5:] for row in table.written()] == [
        ("0.500", "0.400", "–", "–"),
        ("–", "–", "0.500", "0.400"),
    ]


def test_numbers_of_numpy_are_numbers():
    values = (np.int64(5), np.float32("nan"), np.float32(0.5))
    assert [number_text(value) for value in values] == [
        "5",
        "–",
        "0.500",
    ]


def test_a_section_without_rows_is_its_text(example, tmp_path):
    spec = SectionFigure("bars", ("a",), (("s", (1.0,)),))
    sections = (
        Section("Only words", "Nothing was_found."),
        Section("No errors", "None of 5 & more.", (Table((text("Item"), text("Error"))),)),
        Section("Drawn", "Said below the figure.", figures=(spec,)),
        Section("Empty"),
    )
    write_outputs(example.replace(sections=sections), tmp_path, FORMATS, figures=False)
    html, md, tex = (
        (tmp_path / name).read_text("utf-8") for name in ("report.html", "tables.md", "tables.tex")
    )
    assert "<p><b>Only words.</b> Nothing was_found.</p>" in html
    assert "## Only words\n\nNothing was\\_found.\n" in md
    assert r"\paragraph{No errors.} None of 5 \& more." in tex
    for page in (html, md, tex):
        assert ("None of 5" in page, "Drawn" in page, "Empty" in page) == (True, False, False)
