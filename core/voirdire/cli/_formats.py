"""The option `--format`, which several commands take beside `--out`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def formats_of(
    text: str | None, out: Path | None, allowed: Sequence[str], default: Sequence[str]
) -> tuple[str, ...]:
    """The formats that are asked for; where none are written, it is said.

    Raises
    ------
    InputError
        An unknown format.
    """
    from voirdire.report import check_formats

    if text is None:
        return tuple(default)
    asked = parts(text)
    check_formats(asked, allowed)
    if out is None:
        typer.echo("--format without --out: nothing is written.", err=True)
    return asked


def parts(text: str | None) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
