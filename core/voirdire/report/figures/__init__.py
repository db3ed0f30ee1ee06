"""The figures of a report, each drawn from an Examination and returned as SVG and PNG."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.report.figures import _estimates, _overviews
from voirdire.report.figures._sections import draw_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.report.figures.style import Drawing

__all__ = ["draw_figures", "draw_sections", "save_figures"]

_FIGURES: tuple[Callable[[Examination], Drawing | None], ...] = (
    _overviews.draw_heatmaps,
    _estimates.draw_intervals,
    _estimates.draw_bias,
    _overviews.draw_bland_altman,
    _overviews.draw_systems,
    _estimates.draw_left_out,
    _estimates.draw_exclusion,
)
#: The files that figures may be saved as.
_FILES = re.compile(
    r"(heatmaps|forest|bias|bland_altman|systems|leave_one_out|exclusion|components_\d+|section_\d+(?:_\d+)?)\.(svg|png)"
)


def draw_figures(examination: Examination) -> tuple[Drawing, ...]:
    """All figures that the examination has data for, those of its sections last."""
    drawn = (draw(examination) for draw in _FIGURES) if examination.results else ()
    own = tuple(drawing for drawing in drawn if drawing is not None)
    parts = _estimates.draw_components(examination) if examination.results else ()
    return (*parts, *own, *draw_sections(examination.sections))


def save_figures(drawings: Sequence[Drawing], folder: Path) -> list[Path]:
    """Write them into a folder of figures, in place of those of an earlier report."""
    if folder.is_dir():
        for path in folder.iterdir():
            # Only what we name so: somebody may keep other pictures there.
            if _FILES.fullmatch(path.name):
                path.unlink()
        if not drawings and not any(folder.iterdir()):
            folder.rmdir()
    if drawings:
        folder.mkdir(exist_ok=True)
    return [path for drawing in drawings for path in drawing.save(folder)]
