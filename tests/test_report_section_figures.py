"""Figures that sections specify: every kind, odd names and values, and the files of a report."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

from voirdire import PluginError
from voirdire.examining import examine
from voirdire.examining.preferences import examine_preferences, means_figure, shares_figure
from voirdire.report import write_outputs
from voirdire.report.figures import draw_figures
from voirdire.report.figures._sections import draw
from voirdire.tabular import Section, SectionFigure, Table, count

ONE = SectionFigure("bars", ("first", "second"), (("won", (0.25, 0.5)), ("lost", (0.75, 0.5))))


def section(figure):
    figures = () if figure is None else (figure,)
    return Section("Shares", "How often.", (Table((count("a"),), ((1,),)),), figures)


def drawn(figure, name="section_1"):
    return draw(figure, section(figure), name)


def pixels(drawing):
    from PIL import Image

    with Image.open(io.BytesIO(drawing.png)) as image:
        return np.asarray(image.convert("L"), dtype=int)


def bars_of(monkeypatch, figure):
    """(left, bottom, height) of each bar that is drawn."""
    from matplotlib.axes import Axes

    seen, bar = [], Axes.bar

    def spy(self, x, height, width, **more):
        bottoms = np.broadcast_to(more.get("bottom", 0), np.shape(height))
        seen.extend(zip(np.asarray(x) - width / 2, bottoms, height, strict=True))
        return bar(self, x, height, width, **more)

    monkeypatch.setattr(Axes, "bar", spy)
    drawn(figure)
    return seen


@pytest.mark.parametrize("kind", ["bars", "grouped_bars", "lines"])
@pytest.mark.parametrize(("labels", "series"), [(1, 1), (6, 8), (19, 3), (3, 12)])
def test_nothing_is_cut_at_any_size(kind, labels, series):
    rng = np.random.default_rng(labels * series)
    figure = SectionFigure(
        kind,
        tuple(f"a rather long name of label {n}" for n in range(labels)),
        tuple(
            (f"a rather long name of rater {n}", tuple(rng.random(labels))) for n in range(series)
        ),
        x="Labels",
        y="F1",
    )
    drawing = drawn(figure)
    image = pixels(drawing)
    edges = (image[:2], image[-2:], image[:, :2], image[:, -2:])
    assert min(edge.min() for edge in edges) > 245
    ET.fromstring(drawing.inline)


def test_bars_are_stacked_and_grouped_bars_stand_side_by_side(monkeypatch):
    stacked = bars_of(monkeypatch, ONE)
    assert [bottom for _, bottom, _ in stacked] == [0, 0, 0.25, 0.5]
    assert stacked[0][0] == stacked[2][0]
    grouped = bars_of(monkeypatch, replace(ONE, kind="grouped_bars"))
    assert [bottom for _, bottom, _ in grouped] == [0, 0, 0, 0]
    assert grouped[0][0] < grouped[2][0]


def test_what_is_unknown_is_left_blank_and_nothing_known_is_no_figure():
    unknown = (("a", (math.nan, math.nan)),)
    assert drawn(replace(ONE, series=unknown)) is None
    assert drawn(SectionFigure("bars", (), ())) is None
    some = replace(ONE, kind="lines", series=(("_a$b$", (-1.5, math.nan)),))
    assert drawn(some).caption == "How often."


def test_a_series_has_a_value_for_each_label():
    with pytest.raises(PluginError, match="series 'a' has 1 values for 2 labels"):
        SectionFigure("bars", ("x", "y"), (("a", (1.0,)),))


def test_a_report_holds_the_figures_of_sections_even_without_judges(example_study, tmp_path):
    found = examine(example_study, resamples=0)
    alone = found.replace(results=(), verdicts=(), sections=(section(None), section(ONE)))
    assert [drawing.name for drawing in draw_figures(alone)] == ["section_2"]
    write_outputs(alone, tmp_path, ["html", "json"])
    assert 'id="figure-section_2"' in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert sorted(p.name for p in (tmp_path / "figures").iterdir()) == [
        "section_2.png",
        "section_2.svg",
    ]
    said = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["sections"]
    assert said[0]["figures"] == []
    assert said[1]["figures"][0]["series"] == [["won", [0.25, 0.5]], ["lost", [0.75, 0.5]]]


def test_figures_of_preferences_name_what_tells_their_bars_apart():
    rows = [
        (f"{n}", system, "ref", system, "ann", "Overall", score)
        for system, scores in (("m", (2, 1, -1, 0)), ("w", (-2, -2, 0, 1)))
        for n, score in enumerate(scores)
    ]
    names = ["item", "system_a", "system_b", "shown_first", "rater", "attribute", "score"]
    groups = pl.DataFrame({"item": ["0", "1", "2", "3"], "level": ["low", "low", "high", "high"]})
    table = pl.DataFrame(rows, schema=names, orient="row", strict=False)
    cells = examine_preferences(table, groups).parts["level"]
    means, shares = means_figure(cells), shares_figure(cells)
    assert means.labels == ("low", "high")
    assert dict(means.series) == {"m": (1.5, -0.5), "w": (-2.0, 0.5)}
    assert "against ref" in means.caption
    at = shares.labels.index("high: m")
    assert {name: values[at] for name, values in shares.series} == {
        "win": 0,
        "tie": 0.5,
        "loss": 0.5,
    }
