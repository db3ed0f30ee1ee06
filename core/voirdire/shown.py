"""Texts of others on a terminal and on a page."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console

#: Categories of characters that are written out: control, format, half a pair, ends of lines.
_WRITTEN_OUT = ("Cc", "Cf", "Cs", "Zl", "Zp")
#: Format characters that belong to the spelling of words: the joiners and the soft hyphen.
_SPELLING = "\u200c\u200d\xad"


def visible(text: object, keep: str = "\n") -> str:
    r"""A text whose control and direction characters are written out, so that none acts.

    Newlines stay, or what `keep` says.

    >>> visible("red\x1b[31m"), visible("good\u202edab")
    ('red\\x1b[31m', 'good\\u202edab')
    """
    raw = str(text)
    if raw.isprintable():
        return raw
    return "".join(
        repr(letter)[1:-1]
        if unicodedata.category(letter) in _WRITTEN_OUT and letter not in keep + _SPELLING
        else letter
        for letter in raw
    )


#: What a text is written into.
Form = Literal["terminal", "csv", "md", "tex", "html", "xml", "json"]
#: What a spreadsheet program would run; any apostrophes before it are kept apart from our own.
FORMULA = r"^'*[=+\-@\t\r]"
#: Characters that stand for themselves in a form only when they are written so.
_SIGNS: dict[str, dict[str, str]] = {
    # Signs of HTML as HTML writes them, which is safe also where a page takes Markdown as it is.
    "md": {
        **{sign: "\\" + sign for sign in "\\|*_~$`["}, "<": "&lt;", ">": "&gt;", "&": "&amp;",
    },
    "tex": {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": r"$-$",
        "–": r"--",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "±": r"$\pm$",
    },
    "html": {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&#34;", "'": "&#39;"},
}  # fmt: skip


def foreign(text: object, form: Form) -> str:
    r"""What somebody else wrote, for any form that we write: shown as it stands, and never acting.

    Control and direction characters are written out in every form; besides, a cell of a CSV file is
    no formula, and a text is no markup of Markdown, LaTeX or HTML. XML is escaped by its own writer
    and holds no control characters.

    Examples
    --------
    >>> foreign("=1+1", "csv"), foreign("<b>|50 %", "md"), foreign("50 % of o4_mini", "tex")
    ("'=1+1", '&lt;b&gt;\\|50 %', '50 \\% of o4\\_mini')
    >>> {foreign("red\x1b[31m", form) for form in ("terminal", "csv", "html", "xml")}
    {'red\\x1b[31m'}
    """
    written = visible(text, keep="\n" if form == "terminal" else "\n\t\r")
    if form == "csv":
        return "'" + written if re.match(FORMULA, written) else written
    signs = _SIGNS.get(form)
    return written if signs is None else "".join(signs.get(sign, sign) for sign in written)


def json_text(value: Any) -> str:
    r"""A value as JSON that people may look at too: signs that would act stand there as escapes.

    Letters of all scripts stay as they are. A bare NaN is an error.

    >>> print(json_text({"name": "good\u202edab"}))
    {
     "name": "good\u202edab"
    }
    """
    return harmless_json(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def harmless_json(text: str) -> str:
    """JSON whose signs that would act stand there as escapes."""
    if all(line.isprintable() for line in text.split("\n")):
        return text
    # Outside of its strings JSON has no such sign but the ends of its lines.
    return "".join(
        "".join(f"\\u{half:04x}" for half in _halves(letter))
        if letter != "\n" and unicodedata.category(letter) in _WRITTEN_OUT
        else letter
        for letter in text
    )


def _halves(letter: str) -> tuple[int, ...]:
    """The units of UTF-16 of a sign."""
    raw = letter.encode("utf-16-be", "surrogatepass")
    return tuple(int.from_bytes(raw[at : at + 2]) for at in range(0, len(raw), 2))


def terminal(*, stderr: bool = False) -> Console:
    """A terminal that takes no markup and no codes of emoji from what it prints.

    What others wrote still has to go through `visible`.
    """
    from rich.console import Console  # noqa: PLC0415 - slow to import

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)
