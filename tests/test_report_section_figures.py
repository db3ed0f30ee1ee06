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
from examinations import with_changes
from rich.console import Console

from voirdire import PluginError
from voirdire.examining import examine
from voirdire.examining.preferences import examine_preferences, means_figure, shares_figure
from voirdire.report import write_outputs
from voirdire.report.figures import draw_figures, draw_sections
from voirdire.report.printing import print_sections
from voirdire.tabular import Section, SectionFigure, Table, count

ONE = SectionFigure("bars", ("first", "second"), (("won", (0.25, 0.5)), ("lost", (0.75, 0.5))))


def section(figure):
    figures = () if figure is None else (figure,)
    return Section("Shares", "How often.", (Table((count("a"),), ((1,),)),), figures)


def drawn(figure):
    return next(iter(draw_sections([section(figure)])), None)


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


@pytest.mark.parametrize("kind", ["bars", "grouped_bars", "lines", "intervals", "heat"])
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
        intervals=((((0.1, 0.9),) * labels,) * series) if kind == "intervals" else (),
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


WHISKERS = SectionFigure(
    "intervals",
    ("Safety", "Tone"),
    (("people", (3.0, 4.0)), ("judge", (5.0, math.nan))),
    intervals=(((2.0, 4.0), None), ((4.5, 5.0), None)),
)


def test_points_stand_on_their_intervals(monkeypatch):
    from matplotlib.axes import Axes

    seen, vlines = [], Axes.vlines

    def spy(self, x, low, high, **more):
        seen.append((np.asarray(x), np.asarray(low), np.asarray(high)))
        return vlines(self, x, low, high, **more)

    monkeypatch.setattr(Axes, "vlines", spy)
    assert drawn(WHISKERS) is not None
    (x, low, high), (other, *_) = seen
    assert (low.tolist(), high.tolist()) == ([2, 4], [4, 4])
    assert (x < other).all()


def test_intervals_belong_to_their_kind_and_to_each_label():
    with pytest.raises(PluginError, match=r"'intervals' needs intervals of 2 series and 2 labels"):
        replace(WHISKERS, intervals=WHISKERS.intervals[:1])
    with pytest.raises(PluginError, match=r"'bars' needs intervals of 0 series"):
        replace(WHISKERS, kind="bars")


def on_a_terminal(figure, width, *, leading=True, encoding="utf-8"):
    text = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    told = Section("Means", "", (), (figure,), leading=leading)
    print_sections("Title", (told,), console=Console(file=text, width=width))
    text.seek(0)
    return text.read()


def test_a_terminal_draws_the_intervals_of_a_leading_section():
    lines = on_a_terminal(WHISKERS, 50).splitlines()
    at = lines.index("Safety")
    people, judge, tone, *_ = lines[at + 1 :]
    # 33 columns from 2 to 5: 3 stands at 10.67, 4 at 21.33, 4.5 at 26.67; values at the right.
    assert people == "  people " + "├──────────●─────────┤".ljust(33) + "3.00".rjust(8)
    assert judge == "  judge  " + (" " * 27 + "├────●").ljust(33) + "5.00".rjust(8)
    assert tone == "Tone"
    assert lines[at + 5] == "  judge  –"
    assert lines[-1].split() == ["2.00", "5.00"]
    plain = on_a_terminal(WHISKERS, 50, encoding="ascii")
    assert "|----------*---------|" in plain
    assert "Safety" not in on_a_terminal(WHISKERS, 30)
    assert "Safety" not in on_a_terminal(WHISKERS, 50, leading=False)


def test_a_terminal_says_how_many_more_intervals_there_are():
    many = replace(
        WHISKERS,
        labels=tuple(f"attribute {n}" for n in range(20)),
        series=(("people", (3.0,) * 20),),
        intervals=(((2.0, 4.0),) * 20,),
    )
    said = on_a_terminal(many, 60)
    assert ("attribute 15" in said, "attribute 16" in said) == (True, False)
    assert "and 4 more: see the report" in said


def test_a_report_holds_the_figures_of_sections_even_without_judges(example_study, tmp_path):
    found = examine(example_study, resamples=0)
    alone = with_changes(found, results=(), verdicts=(), sections=(section(None), section(ONE)))
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
