"""The figures of a report, each drawn from an Examination and returned as SVG and PNG."""

from __future__ import annotations

import re
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
from voirdire.report.figures._painter import Painter, painter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.report.figures._style import Drawing

__all__ = ["begin_figures", "draw_figures", "draw_named", "painter", "save_figures"]

_FIGURES = {
    "heatmaps": _heatmaps.draw,
    "forest": _forest.draw,
    "dumbbells": _dumbbells.draw,
    "bland_altman": _bland_altman.draw,
    "bars": _bars.draw,
    "strips": _strips.draw,
    "exclusion": _exclusion.draw,
}
_SECTIONS = "sections"
#: The files that figures may be saved as.
_FILES = re.compile(
    r"(heatmaps|forest|bias|bland_altman|systems|leave_one_out|exclusion|section_\d+(?:_\d+)?)\.(svg|png)"
)

#: Drawn where the ratings are: they are too many to hand over to another process.
_FROM_RATINGS = ("bland_altman",)


def draw_figures(examination: Examination) -> tuple[Drawing, ...]:
    """All figures that the examination has data for, those of its sections last."""
    return begin_figures(examination, None)()


def begin_figures(
    examination: Examination, helper: Painter | None
) -> Callable[[], tuple[Drawing, ...]]:
    """Let a helper draw what needs no ratings; the call that is returned draws the rest."""
    names = (*(_FIGURES if examination.results else ()), _SECTIONS)
    handed = tuple(name for name in names if name not in _FROM_RATINGS)
    begun = helper is not None and helper.begin(_without_frames(examination), handed)

    def finish() -> tuple[Drawing, ...]:
        own = draw_named(examination, [name for name in names if not begun or name not in handed])
        theirs = helper.finish() if helper is not None and begun else {}
        if theirs is None:
            theirs = draw_named(examination, handed)
        return tuple(drawing for name in names for drawing in (own | theirs)[name])

    return finish


def draw_named(examination: Examination, names: Iterable[str]) -> dict[str, tuple[Drawing, ...]]:
    """The figures of these names; none where the data for one are missing."""
    found: dict[str, tuple[Drawing, ...]] = {}
    for name in names:
        if name == _SECTIONS:
            found[name] = _sections.draw_all(examination.sections)
        else:
            drawing = _FIGURES[name](examination)
            found[name] = () if drawing is None else (drawing,)
    return found


def save_figures(drawings: Sequence[Drawing], folder: Path) -> list[Path]:
    """Write them into a folder of figures, in place of those of an earlier report."""
    if folder.is_dir():
        for path in folder.iterdir():
            if _FILES.fullmatch(path.name):
                path.unlink()
        if not drawings and not any(folder.iterdir()):
            folder.rmdir()
    if drawings:
        folder.mkdir(exist_ok=True)
    return [path for drawing in drawings for path in drawing.save(folder)]


def _without_frames(examination: Examination) -> Examination:
    """Little to hand over: no ratings and no texts."""
    return examination.replace(
        ratings=examination.ratings.clear(), items=None, replies=None, preferences=None
    )
