"""One look for all figures: quiet ink, few colours that colour-blind readers tell apart."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
MAIN = "DejaVu Sans"
_RC = {
    "font.family": MAIN,
    "font.size": 8.0,
    "text.color": INK,
    # A name with two dollar signs is no formula.
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
    # Text as paths looks the same without our font, and no name from the data is markup.
    "svg.fonttype": "path",
    "image.composite_image": False,
}
#: Asked in this order for what the main font lacks, where they are installed.
_OTHERS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "PingFang SC",
    "Hiragino Sans GB", "Hiragino Sans", "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Yu Gothic", "Malgun Gothic", "Apple SD Gothic Neo", "NanumGothic",
    "Noto Sans", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari",
    "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Thai", "Nirmala UI", "Leelawadee UI",
    "Arial Unicode MS", "Unifont", "STIXGeneral",
)  # fmt: skip
_SHOWN = 12


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
    # Without a salt the ids of clip paths are random, and equal input gives other bytes; with the
    # same salt in every figure two of them on one page would share ids.
    with styled(**{"svg.hashsalt": name}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=_DPI, pil_kwargs={"compress_level": _COMPRESSION})
    return _UNSEEN.sub("", svg.getvalue()), png.getvalue()


def margins(
    figure: Any,
    *,
    left: float,
    right: float = 0.15,
    top: float = 0.3,
    bottom: float = 0.4,
    **spacing: float,
) -> None:
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
    # A letter is about 0.6 of its size wide, a point is 1/72 inch.
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
    # Shifted by one each time the colours come round again.
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


@contextmanager
def unknown_letters(action: Literal["error", "ignore"]) -> Iterator[None]:
    """What becomes of a letter that no font of its text has: a UserWarning raised, or a box."""
    with warnings.catch_warnings():
        # Matplotlib says of a missing letter only this, as a warning while it draws.
        warnings.filterwarnings(action, message=r"Glyph \d+ .* missing from font")
        yield


def give_fonts(figure: Any) -> str:
    """Have further fonts draw what the main one lacks; a sentence on the letters that none has.

    Further fonts are named for such texts alone, since each one slows the drawing of a text.
    """
    from matplotlib.text import Text  # noqa: PLC0415 - slow to import

    # ASCII is in every font, and asking a font takes time.
    others = [text for text in figure.findobj(Text) if not text.get_text().isascii()]
    lacking = [text for text in others if set(text.get_text()) - _letters_of((MAIN,))]
    if not lacking:
        return ""
    for text in lacking:
        text.set_fontfamily(families())
    letters = {letter for text in lacking for letter in text.get_text() if letter.isprintable()}
    return _said(sorted(letters - _letters_of(families())))


def _said(lost: list[str]) -> str:
    if not lost:
        return ""
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return (
        f"No installed font has the letters {''.join(lost[:_SHOWN])}{more}, which are drawn as "
        "boxes; the tables hold the names as they are. A font such as Noto Sans CJK, once "
        "installed, is found by itself."
    )


@cache
def families() -> tuple[str, ...]:
    """The main font, and those of the others that are installed."""
    from matplotlib.font_manager import fontManager  # noqa: PLC0415 - slow to import

    installed = set(fontManager.get_font_names())
    return (MAIN, *(name for name in _OTHERS if name in installed))


@cache
def _letters_of(names: tuple[str, ...]) -> frozenset[str]:
    from matplotlib.font_manager import findfont, get_font  # noqa: PLC0415 - slow to import

    return frozenset(chr(code) for name in names for code in get_font(findfont(name)).get_charmap())


def columns(label: str) -> float:
    """How wide a label is, in letters of the Latin script."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in label)
    return len(label) + 0.67 * wide
