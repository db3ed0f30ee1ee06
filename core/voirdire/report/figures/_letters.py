"""Letters of any script: which installed fonts draw them, and which none does."""

from __future__ import annotations

import unicodedata
import warnings
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIN = "DejaVu Sans"
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


@contextmanager
def unknown_letters(action: Literal["error", "ignore"]) -> Iterator[None]:
    """What becomes of a letter that no font of its text has: a UserWarning raised, or a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings(action, message=r"Glyph \d+ .* missing from font")
        yield


def give_fonts(figure: Any) -> str:
    """Have further fonts draw what the main one lacks; a sentence on the letters that none has.

    Further fonts are named for such texts alone, since each one slows the drawing of a text.
    """
    from matplotlib.text import Text  # noqa: PLC0415 - slow to import

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
