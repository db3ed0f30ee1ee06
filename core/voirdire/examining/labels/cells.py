"""Several labels in one cell of a table: lists, and names with a separator between them."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from voirdire.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

#: What stands between labels where nothing else is said.
SEPARATOR = ";"
#: What other tools write between labels. A name may hold each of them: it is asked about.
#: What may stand between two words: signs, blanks, and an *and* among them.
_BETWEEN = re.compile(r"\W+(?:and|or|und|et)\W+|\W+", re.IGNORECASE)
_OTHERS = ("|", ",", "/", "+", "&", "\t", "\n")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
#: A list, tuple or set as Python prints it, and an array as NumPy does (without commas, which
#: Python would read as one word): pandas writes such columns of objects to CSV.
_PRINTED = re.compile(rf"[\[({{]\s*(?:(?:{_QUOTED})\s*,?\s*)*[\])}}]", re.DOTALL)
_WORD = re.compile(_QUOTED, re.DOTALL)
_BARE = re.compile(r"\[[^\[\]]*,[^\[\]]*\]", re.DOTALL)


def split_labels(cell: Any, separator: str = SEPARATOR) -> list[str] | None:
    """The labels in one cell in their order; None where it is blank.

    Lists (of Python, of NumPy, of JSON) are read as they are printed. A separator alone, or an
    empty list, says that no label applies.

    >>> split_labels("calm; warm"), split_labels("['calm', 'warm']"), split_labels(";")
    (['calm', 'warm'], ['calm', 'warm'], [])
    >>> split_labels("calm|warm", "|"), split_labels(" ")
    (['calm', 'warm'], None)
    """
    if isinstance(cell, list | tuple):
        return [str(part) for part in cell if part is not None]
    text = "" if cell is None else str(cell).strip()
    if not text:
        return None
    listed = _listed(text)
    if listed is not None:
        return listed
    return [part.strip() for part in text.split(separator) if part.strip()]


def _listed(text: str) -> list[str] | None:
    """The parts of a printed list; None where the text is none."""
    if text == "set()":
        return []
    if text.startswith("["):
        try:
            parts = json.loads(text)
        except ValueError:
            parts = None
        if isinstance(parts, list):
            return [str(part) for part in parts if part is not None]
    if _PRINTED.fullmatch(text):
        return [str(ast.literal_eval(word)) for word in _WORD.findall(text)]
    return None


def ask_about_separators(
    pairs: Iterable[tuple[str | None, str | None]], where: str, option: str
) -> None:
    """Stop and ask where cells seem to hold several labels with another separator between them.

    A cell is one label as long as nothing speaks against it. Against it speaks that a part of the
    cell is a cell of its own, that all its parts recur in other cells, or that truth and prediction
    hold the same parts in another order: whoever takes such cells for one label each gets another
    F1.

    Parameters
    ----------
    pairs : iterable of (str or None, str or None)
        Truth and prediction of each row.
    where, option
        The table, and what names the separator, for the message.

    Raises
    ------
    TableError
        With a cell, the separator, and how to answer.
    """
    different = set(pairs)
    texts = {text for pair in different for text in pair if text}
    plain = {text for text in texts if _listed(text.strip()) is None}
    for text in sorted(plain):
        if _BARE.fullmatch(text.strip()):
            raise _question(text, ",", where, option, "[")
    # The usual separator is there: other signs are parts of names then.
    if any(SEPARATOR in text for text in plain):
        return
    for sign in _OTHERS:
        several = _several(plain, different, sign)
        if several is not None:
            raise _question(several, sign, where, option)
    for pair in sorted((one for one in different if all(one)), key=str):
        if (question := _in_other_order(*pair)) is not None:
            raise _question(*question, where, option)


def _in_other_order(true: str | None, predicted: str | None) -> tuple[str, str] | None:
    """A cell and the sign in it, where both sides hold the same parts in another order.

    >>> _in_other_order("anger and fear", "fear and anger"), _in_other_order("a b", "a c")
    (('anger and fear', ' and '), None)
    """
    if not true or not predicted or true == predicted:
        return None
    # Longer signs first: *and* with its blanks before a blank alone.
    for sign in sorted({each.group() for each in _BETWEEN.finditer(true)}, key=len, reverse=True):
        parts = _parts(true, sign)
        if len(parts) > 1 and parts == _parts(predicted, sign):
            return true, sign
    return None


def _several(
    texts: Collection[str], pairs: Collection[tuple[str | None, str | None]], sign: str
) -> str | None:
    """A cell that seems to hold several labels with the sign between them, if there is one."""
    parts = {text: _parts(text, sign) for text in texts}
    many = {text: own for text, own in parts.items() if len(own) > 1}
    count = Counter(part for own in parts.values() for part in own)
    alone = {text.strip() for text in texts if text not in many}
    for text, own in sorted(many.items()):
        # A part that is a cell of its own, or parts that all recur, are labels.
        if own & alone or all(count[part] > 1 for part in own):
            return text
    for true, predicted in pairs:
        if (
            true
            and predicted
            and true != predicted
            and true in many
            and many[true] == many.get(predicted)
        ):
            return true
    return None


def _parts(text: str, sign: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(sign) if part.strip())


def _question(text: str, sign: str, where: str, option: str, bracket: str = "") -> TableError:
    shown = {"\t": "\\t", "\n": "\\n"}.get(sign, sign)
    what = "a list without quotes" if bracket else f"several labels with {shown!r} between them"
    answer = (
        "quote the labels in it"
        if bracket
        else f"give {option} {shown!r} if it does, and {option} {SEPARATOR!r} if it is one label"
    )
    return TableError(f"{where}: the cell {text!r} seems to hold {what}; {answer}")
