"""Figures: all of them, in both forms, for odd sizes, with nothing cut off at the edges."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from examinations import NAN, matrix, pair_result, with_changes

from voirdire.examining import SystemMean
from voirdire.report.figures import _estimates, _overviews, draw_figures
from voirdire.report.figures.style import colour_of, families, hatch_of, label_width, marker_of

NAMES = [
    "components_1",
    "components_2",
    "heatmaps",
    "forest",
    "bias",
    "bland_altman",
    "systems",
    "leave_one_out",
    "exclusion",
]


@pytest.fixture(scope="module")
def drawings(example):
    return draw_figures(example)


def pixels(drawing):
    from PIL import Image

    with Image.open(io.BytesIO(drawing.png)) as image:
        return np.asarray(image.convert("L"), dtype=int)


def assert_nothing_is_cut(drawing):
    """No ink touches the edge of the picture."""
    image = pixels(drawing)
    edges = np.concatenate(
        [image[:2].ravel(), image[-2:].ravel(), image[:, :2].ravel(), image[:, -2:].ravel()]
    )
    assert edges.min() > 245, drawing.name


def test_all_are_drawn(drawings):
    assert [drawing.name for drawing in drawings] == NAMES
    for drawing in drawings:
        assert drawing.title
        assert drawing.caption.endswith(".")


def test_svg_is_well_formed_and_text_is_paths(drawings):
    for drawing in drawings:
        root = ET.fromstring(drawing.svg)
        assert root.tag.endswith("svg")
        assert not list(root.iter("{http://www.w3.org/2000/svg}text"))
        assert len(drawing.svg) < 400_000
        ET.fromstring(drawing.inline)
        assert not re.search(r'id="(figure|axes|patch|text|line2d)_', drawing.inline)


def test_nothing_is_cut(drawings):
    for drawing in drawings:
        assert_nothing_is_cut(drawing)


def test_names_do_not_reach_the_svg_as_text(example):
    odd = tuple(replace(r, judge="--><script>x</script>") for r in example.results[:1])
    forest = next(
        one for one in draw_figures(with_changes(example, results=odd)) if one.name == "forest"
    )
    assert "script" not in forest.svg


@pytest.mark.parametrize(("judges", "attributes"), [(1, 1), (1, 12), (9, 2), (3, 10)])
def test_any_size_of_panel(example, judges, attributes):
    rng = np.random.default_rng(1)
    results = tuple(
        pair_result(
            matrix(9, rng.uniform(-0.3, 0.97), rng.uniform(-1, 1)),
            f"a-judge-with-a-rather-long-name-{j}",
            f"Attribute number {a}",
            loo_c1={"a-system-with-quite-a-long-name": -0.4, "b": 0.9},
        )
        for j in range(judges)
        for a in range(attributes)
    )
    found = with_changes(example, results=results, system_means=(), composites=(), verdicts=())
    drawings = draw_figures(found)
    assert [d.name for d in drawings] == [
        "heatmaps",
        "forest",
        "bias",
        "bland_altman",
        "leave_one_out",
    ]
    for drawing in drawings:
        assert_nothing_is_cut(drawing)


def test_undefined_values_are_left_blank(example):
    flat = pair_result([[3, 3], [3, 3], [3, 3]], bias_interval=None, loa_low=NAN, loa_high=NAN)
    nothing = replace(
        flat, attribute="b", human_mean=NAN, judge_mean=NAN, bias=NAN, ci=(), systems=()
    )
    drawings = draw_figures(
        with_changes(example, results=(flat, nothing), composites=(), system_means=(), verdicts=())
    )
    # Three systems are too few for a coefficient of their means, and so for its figures.
    assert [drawing.name for drawing in drawings] == ["bias", "bland_altman"]


def test_no_results_no_figures(example):
    assert draw_figures(with_changes(example, results=())) == ()


def test_bars_are_sorted_by_the_humans(example, monkeypatch):
    from matplotlib.axes import Axes

    means = tuple(
        SystemMean(rater, system, {}, {}, 1, value, 0.0, 1.0)
        for rater, values in (("human-1", (2.0, 4.0)), ("judge-north", (5.0, 1.0)))
        for system, value in zip(("a", "b"), values, strict=True)
    )
    labels, set_xticks = [], Axes.set_xticks

    def spy(self, ticks, names=None, **more):
        labels.append(names)
        return set_xticks(self, ticks, names, **more)

    monkeypatch.setattr(Axes, "set_xticks", spy)
    bare = with_changes(
        example, results=example.results[:1], composites=(), verdicts=(), sections=()
    )
    drawn = [one.name for one in draw_figures(with_changes(bare, system_means=means))]
    assert "systems" in drawn
    assert ["b", "a"] in labels
    assert "systems" not in [one.name for one in draw_figures(with_changes(bare, system_means=()))]


def named(example, letters):
    """The drawings of an examination whose judge's name is written in these letters."""
    judge = example.results[0].judge
    results = tuple(
        replace(result, judge=letters) for result in example.results if result.judge == judge
    )
    bare = with_changes(example, results=results, composites=(), tests=(), verdicts=(), sections=())
    return draw_figures(bare)


def test_letters_that_no_font_has_are_said_in_a_sentence_and_in_no_warning(example):
    drawn = named(example, "\U00010600\U00010601 judge")  # Linear A
    said = [drawing for drawing in drawn if "No installed font has" in drawing.caption]
    assert said
    for drawing in said:
        assert "has the letters \U00010600\U00010601, which are drawn as boxes" in drawing.caption
    for drawing in drawn:
        assert_nothing_is_cut(drawing)


def test_letters_that_another_font_has_are_drawn(example):
    """A double-struck sans digit stands in STIXGeneral, which comes with matplotlib."""
    assert families()[0] == "DejaVu Sans"
    for drawing in named(example, "\U0001d7ec\U0001d7ed"):
        assert "No installed font" not in drawing.caption


def test_wide_letters_take_more_room(example):
    assert label_width(["评委评委"]) > label_width(["abcd"])
    for drawing in named(example, "评委评委评委评委"):
        assert_nothing_is_cut(drawing)


def test_many_judges_are_cut_and_it_is_said(example):
    results = tuple(
        pair_result(matrix(9, 0.5), f"judge-{j}", f"a{a}", loo_c1={"s": 0.1})
        for j in range(41)
        for a in range(6)
    )
    humans = [str(name) for name in example.inputs.options["reference"]]
    means = tuple(
        SystemMean(rater, f"s{s}", {}, {}, 5, 3.0 + s / 4, 0.1, 1.0)
        for rater in (*humans, *(f"_judge-{j}" for j in range(41)))
        for s in range(3)
    )
    found = with_changes(example, results=results, composites=(), system_means=means)
    # Not the figure that each of the judges has of its own.
    cut = (_estimates.draw_intervals, _estimates.draw_bias, _estimates.draw_left_out)
    said = dict.fromkeys(cut, "The first 240 of 246 rows are shown.")
    said[_overviews.draw_systems] = "The first 24 of 41 judges are shown."
    for draw, sentence in said.items():
        drawing = draw(found)
        assert_nothing_is_cut(drawing)
        assert drawing.caption.endswith(sentence)


def test_no_two_bars_or_markers_look_alike():
    assert len({(colour_of(at), hatch_of(at)) for at in range(48)}) == 48
    assert len({(colour_of(at), marker_of(at)) for at in range(64)}) == 64


def test_a_judge_that_always_agrees_is_drawn(example):
    same = pair_result(matrix(9, 0.9), loo_c1={"a": 1.0, "b": 1.0}, icc_c1=1.0)
    names = [d.name for d in draw_figures(with_changes(example, results=(same,), composites=()))]
    assert "leave_one_out" in names
