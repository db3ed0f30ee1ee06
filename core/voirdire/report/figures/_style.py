"""One look for all figures: quiet ink, few colours that colour-blind readers tell apart."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.report.figures._letters import MAIN, columns, give_fonts, unknown_letters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAPER, INK, MUTED, RULE, SHADE = "#fffffe", "#20242a", "#69707b", "#d8dbe0", "#eef0f3"
#: Inside of hollow markers.
HOLLOW = "#fffefe"
#: Okabe and Ito (2008); the shapes differ as well, so that no colour must be told apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d1f", "#56b4e9", "#7b6ba8", "#3f4650")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_UNHATCHED = 4
HATCHES = ("////", "....", "xxxx", "----", "\\\\\\\\", "++++")
#: Inches that a row of a legend takes.
LEGEND_ROW = 0.17
WIDTH = 7.4
_DPI = 170
#: Against the usual 6 a PNG takes a tenth less time and 4 % more room.
_COMPRESSION = 3
#: Ids that matplotlib gives to groups and that nothing refers to; two figures share them.
_OWN_IDS = re.compile(r' id="(?:[a-z0-9]+|[A-Z]\w*Collection)_[\d.]+"')
_UNSEEN = re.compile(r"\s*(?:<metadata>.*?</metadata>|<!--.*?-->)", re.DOTALL)

#: Colours of the page that follow the reader's light or dark scheme in an inline figure.
_SCHEME = {
    PAPER: "none",
    HOLLOW: "var(--paper)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    SHADE: "var(--shade)",
}
_RC = {
    "font.family": MAIN,
    "font.size": 8.0,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.facecolor": PAPER,
    "axes.titlesize": 8.5,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "figure.facecolor": PAPER,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 2.0,
    "ytick.major.size": 0.0,
    "svg.fonttype": "path",
    "image.composite_image": False,
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure: its name, what it shows, and how to read it."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes

    @property
    def inline(self) -> str:
        """The SVG for a page: its colours follow the scheme, and it carries no ids but its own."""
        body = self.svg[self.svg.index("<svg") :]
        for colour, name in _SCHEME.items():
            body = body.replace(colour, name)
        body = re.sub(_OWN_IDS, "", body)
        return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', 'aria-hidden="true"', body, count=1)

    def save(self, folder: Path) -> list[Path]:
        """Write the SVG and the PNG."""
        svg, png = folder / f"{self.name}.svg", folder / f"{self.name}.png"
        svg.write_text(self.svg, encoding="utf-8")
        png.write_bytes(self.png)
        return [svg, png]


def new_figure(height: float, width: float = WIDTH) -> Any:
    """An empty figure in the house style; no window system is touched."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with styled():
        figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def styled(**more: Any) -> Any:
    """The context in which axes are made and drawn; `more` are further settings."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    return mpl.rc_context({**_RC, **more})


def finish(figure: Any, name: str, title: str, caption: str) -> Drawing:
    """Render both forms; the SVG is the same for the same content."""
    try:
        with unknown_letters("error"):
            svg, png = _rendered(figure, name)
    except UserWarning:
        caption = f"{caption} {give_fonts(figure)}".rstrip()
        with unknown_letters("ignore"):
            svg, png = _rendered(figure, name)
    return Drawing(name, title, caption, svg, png)


def _rendered(figure: Any, name: str) -> tuple[str, bytes]:
    svg, png = io.StringIO(), io.BytesIO()
    with styled(**{"svg.hashsalt": name}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=_DPI, pil_kwargs={"compress_level": _COMPRESSION})
    return _UNSEEN.sub("", svg.getvalue()), png.getvalue()


def margins(figure: Any, *, left: float, right: float = 0.15, top: float = 0.3,
            bottom: float = 0.4, **spacing: float) -> None:  # fmt: skip
    """Margins in inches, so that a taller figure keeps them."""
    width, height = figure.get_size_inches()
    figure.subplots_adjust(
        left=left / width,
        right=1 - right / width,
        top=1 - top / height,
        bottom=bottom / height,
        **spacing,
    )


def label_width(labels: Sequence[str], size: float = 8.0) -> float:
    """Inches that the longest label takes, roughly."""
    return 0.25 + max(map(columns, labels), default=0) * size * 0.6 / 72


def shorten(label: str, most: int = 28) -> str:
    """A label that fits, cut in the middle where it is too long.

    >>> shorten("a-very-long-name-of-a-judge-by-a-vendor")
    'a-very-long-na…e-by-a-vendor'
    """
    if len(label) <= most:
        return label
    half = (most - 1) // 2
    return f"{label[: most - 1 - half]}…{label[-half:]}"


def colour_of(index: int) -> str:
    """Colour by position."""
    return COLOURS[index % len(COLOURS)]


def marker_of(index: int) -> str:
    """Marker by position: the same with the same colour for the 65th at the earliest."""
    return MARKERS[(index + index // len(COLOURS)) % len(MARKERS)]


def hatch_of(index: int) -> str:
    """Hatch of a bar by position: the first colours need none, and no pair comes again in 48."""
    again, colour = divmod(index, len(COLOURS))
    if not again and colour < _UNHATCHED:
        return ""
    return HATCHES[(colour - _UNHATCHED + again) % len(HATCHES)]


def legend_columns(names: Sequence[str]) -> int:
    """Columns of a legend that a figure's width holds."""
    return max(1, min(5, len(names), int((WIDTH - 0.4) / (label_width(names) + 0.1))))


def legend_name(name: str, most: int = 26) -> str:
    """A name for a legend, which leaves out names that begin with an underscore."""
    return f" {name}" if name.startswith("_") else shorten(name, most)
