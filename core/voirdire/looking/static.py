"""One page that needs no server: the grid and the responses that differ most, to hand on."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import Markup

from voirdire.errors import InputError
from voirdire.files import write_text
from voirdire.looking import pages
from voirdire.looking.view import View

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.looking.material import Material, Pair

#: Rows that such a page holds at most.
MOST_ROWS = 2_000


def write_static(material: Material, name: str, path: Path, most: int = MOST_ROWS) -> int:
    """Write the page: each judge and attribute with its responses, those that differ most first.

    Parameters
    ----------
    material : Material
        What is shown; its texts only where it holds them.
    name : str
        Of the source.
    path : Path
        The file.
    most : int
        Rows at most, shared out evenly among the judges and attributes.

    Returns
    -------
    int
        The rows written.

    Raises
    ------
    InputError
        More than 2,000 rows are asked for.
    """
    if not 1 <= most <= MOST_ROWS:
        raise InputError(f"a static page holds 1 to {MOST_ROWS:,} rows, got {most:,}")
    each = max(most // len(material.pairs), 1)
    tables = [_table(material, pair, each) for pair in material.pairs[:most]]
    style, script = pages.read("look.css"), pages.read("static.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = pages.render(
        "static.j2",
        name=name,
        **_own_anchors(pages.grid(material), tables),
        tables=tables,
        with_text=material.with_text,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=f"sha256-{digest}",
    )
    write_text(path, html.encode("utf-8", "replace").decode())
    return sum(len(table["rows"]) for table in tables)


def _table(material: Material, pair: Pair, most: int) -> dict[str, Any]:
    rows = material.select(View(judge=pair.judge, attribute=pair.attribute, turn=pair.turn))
    shown = rows.filter(pl.col("difference").is_not_null()).head(most)
    return {
        **pages.heading(pair),
        "id": f"pair-{pair.place}",
        "count": f"{rows.height:,}",
        "rows": [_row(material, pair, row) for row in shown.to_dicts()],
    }


def _row(material: Material, pair: Pair, row: dict[str, Any]) -> dict[str, Any]:
    texts = material.texts
    parts = [("Item", texts.item(row["item"])), *texts.answers(row["item"], row["system"])]
    for run in texts.said(row["item"], row["system"], pair.judge):
        parts += [(f"Reply of {pages.name_of(pair.judge)}", step["text"]) for step in run["steps"]]
        if not run["steps"]:  # of replies the reasons stand in them
            parts += [
                (f"What {pages.name_of(pair.judge)} said" + (f" of {name}" if name else ""), text)
                for name, text in run["reasons"]
            ]
    return {
        "item": pages.name_of(row["item"]), "system": pages.name_of(row["system"]),
        "human": pages.plain(row["human"]), "score": pages.plain(row["score"]),
        "difference": pages.plain(row["difference"], signed=True),
        "texts": [{"title": title, **pages.cut(text, 5_000)} for title, text in parts if text],
    }  # fmt: skip


def _own_anchors(grid: dict[str, Any], tables: list[dict[str, Any]]) -> dict[str, Any]:
    """The grid, its links leading to the tables of the same page."""
    at = {(table["judge"], table["attribute"]): f"#{table['id']}" for table in tables}
    rows = [
        {**row, "cells": [{**cell, "address": at.get((cell["judge"], cell["attribute"]), "#")}
                          for cell in row["cells"]]}
        for row in grid["grid"]
    ]  # fmt: skip
    return {**grid, "grid": rows}
