"""The figures of a report, each drawn from an Examination and returned as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.report.figures import (
    _bars,
    _bland_altman,
    _dumbbells,
    _exclusion,
    _forest,
    _heatmaps,
    _sections,
    _strips,
)

if TYPE_CHECKING:
    from voirdire.examining._examination import Examination
    from voirdire.report.figures._style import Drawing

_ALL = (_heatmaps, _forest, _dumbbells, _bland_altman, _bars, _strips, _exclusion)

__all__ = ["draw_figures"]


def draw_figures(examination: Examination) -> tuple[Drawing, ...]:
    """All figures that the examination has data for, those of its sections last."""
    figures = _ALL if examination.results else ()
    drawn = (figure.draw(examination) for figure in figures)
    own = tuple(drawing for drawing in drawn if drawing is not None)
    return (*own, *_sections.draw_all(examination.sections))
