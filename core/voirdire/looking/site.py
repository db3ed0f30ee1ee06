"""Where pages go: a small local server that keeps labels, or one file that needs no server."""

from __future__ import annotations

import io
import math
import secrets
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

import polars as pl

from voirdire.errors import InputError, not_one_of
from voirdire.files import guarded, write_text
from voirdire.looking import pages
from voirdire.looking.view import View
from voirdire.serving import (
    LOOPBACK,
    LocalServer,
    Refusal,
    SiteRequest,
    SiteResponse,
    fields,
    same_token,
)
from voirdire.tables.hand_labels import HandLabel, keep_hand_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from voirdire.looking.material import JudgeOnAttribute, Material

#: Rows that a page without a server holds at most.
MOST_ROWS = 2_000
_FILES = {"/look.css": "text/css; charset=utf-8", "/look.js": "text/javascript; charset=utf-8"}
_LONGEST_NAME, _LONGEST_NOTE = 200, 2_000
_COOKIE = "; Path=/; HttpOnly; SameSite=Strict"


class LookServer(LocalServer):
    """The pages, being served. Use it as a context manager, and `run` it.

    Attributes
    ----------
    link : str
        The address to open. Its token is exchanged for a cookie, so no later address holds it.
    """

    def __init__(
        self,
        material: Material,
        name: str,
        who: str = "",
        host: str = LOOPBACK,
        port: int = 0,
        *,
        start: str = "/",
        network: bool = False,
    ) -> None:
        """Open the port.

        Parameters
        ----------
        material : Material
            What is shown.
        name : str
            Of the source.
        who : str
            The name that labels are set in, unless somebody gives another one on the page.
        start : str
            The address in the site that the link leads to.
        host, port, network
            As `voirdire.serving.LocalServer` takes them.

        Raises
        ------
        InputError
            A `start` that is no page of the site, or holds a key that there is none of.
        """
        site = LookSite(material, name, who, start)
        super().__init__(site, host, port, network=network)
        # Browsers share cookies between the ports of one address.
        site.cookie = f"voirdire-look-{self.port}"
        self.link = f"{self.address}/?token={site.token}"


class LookSite:
    """The pages of one examination."""

    forms = True

    def __init__(self, material: Material, name: str, who: str = "", start: str = "/") -> None:
        self.token, self.cookie = secrets.token_urlsafe(24), "voirdire-look"
        self._material, self._name, self._who = material, name, who
        self._pages: dict[str, Callable[[SiteRequest], SiteResponse]] = {
            "/": self._grid,
            "/matrix": self._matrix,
            "/list": self._list,
            "/response": self._response,
            "/export.csv": self._export,
            "/queue.csv": self._queue,
        }
        self._start = self._checked(start)

    def _checked(self, start: str) -> str:
        """The address of a page, as its view writes it."""
        parts = urlsplit(start)
        if parts.scheme or parts.netloc or parts.path not in self._pages:
            raise not_one_of("page", start, tuple(self._pages), "--open", InputError)
        view = View.of(fields(parts.query))
        self._material.pair(view)
        if parts.path == "/response":
            self._material.response(view)
        return view.address(parts.path)

    def answer(self, request: SiteRequest) -> SiteResponse:
        """A page, a table or a kept label."""
        if request.method == "GET" and request.path in _FILES:
            text = pages.TEMPLATES.read(request.path[1:])
            return SiteResponse(_FILES[request.path], text.encode())
        given = dict(request.query).get("token")
        # A cookie in place of the token: addresses are kept in histories and sent as referrers.
        if request.path == "/" and given is not None and same_token(self.token, given):
            return _redirect(self._start, f"{self.cookie}={self.token}{_COOKIE}")
        if not same_token(self.token, request.cookie(self.cookie)):
            raise Refusal(
                HTTPStatus.UNAUTHORIZED,
                "Open the whole address that voirdire look printed, with what stands after token=.",
            )
        if request.method == "POST" and request.path == "/label":
            return self._keep(request)
        page = self._pages.get(request.path)
        if page is None or request.method != "GET":
            raise Refusal(HTTPStatus.NOT_FOUND, "There is nothing here.")
        return page(request)

    def refused(self, refusal: Refusal) -> SiteResponse:
        """A page that says why."""
        html = pages.TEMPLATES.render("refused.j2", name="voirdire look", message=refusal.message)
        return SiteResponse.of_html(html, refusal.status)

    def _show(self, template: str, values: Mapping[str, Any]) -> SiteResponse:
        common = {"name": self._name, "with_text": self._material.with_text}
        return SiteResponse.of_html(pages.TEMPLATES.render(template, **{**common, **values}))

    def _grid(self, _: SiteRequest) -> SiteResponse:
        return self._show("grid.j2", pages.grid(self._material))

    def _matrix(self, request: SiteRequest) -> SiteResponse:
        return self._show("matrix.j2", pages.matrix(self._material, View.of(request.query)))

    def _list(self, request: SiteRequest) -> SiteResponse:
        return self._show("list.j2", pages.listing(self._material, View.of(request.query)))

    def _response(self, request: SiteRequest) -> SiteResponse:
        view = View.of(request.query)
        who = unquote(request.cookie("voirdire-look-name")) or self._who
        return self._show("response.j2", pages.response(self._material, view, who))

    def _export(self, request: SiteRequest) -> SiteResponse:
        view = View.of(request.query)
        pair, rows = self._material.pair(view), self._material.select(view.chosen)
        named = pl.lit(pair.judge).alias("judge"), pl.lit(pair.attribute).alias("attribute")
        columns = (
            "item",
            "system",
            "subgroup",
            "human",
            "score",
            "difference",
            "influence",
            "before",
            "change",
            "status",
            "by_hand",
        )
        return _csv("responses.csv", rows.select(*named, *columns))

    def _queue(self, request: SiteRequest) -> SiteResponse:
        """As `voirdire escalate` writes it: no confidence is known, all go to a human."""
        rows = self._material.select(View.of(request.query).chosen)
        unknown = pl.lit(None, pl.Float64).alias("confidence")
        queue = rows.select("item", "system", "score", unknown, pl.lit("human").alias("decision"))
        return _csv("queue.csv", queue, again=True)

    def _keep(self, request: SiteRequest) -> SiteResponse:
        """Keep a label, and show the response again."""
        sent = dict(fields(request.body.decode("utf-8", "replace")))
        back = urlsplit(sent.get("back", ""))
        # Where to go back to is read as a view and written anew: no address of elsewhere passes.
        view = View.of(fields(back.query))
        path = self._material.labels_path
        if path is None:
            raise InputError("labels: this source is no file or session, so none can be kept")
        pair, row = self._material.pair(view), self._material.response(view)
        who = sent.get("by", "").strip()
        if not 0 < len(who) <= _LONGEST_NAME:
            raise InputError(f"by: give your name, in at most {_LONGEST_NAME} letters")
        note = sent.get("note", "").strip()
        if len(note) > _LONGEST_NOTE:
            raise InputError(f"note: at most {_LONGEST_NOTE:,} letters, got {len(note):,}")
        rater = sent.get("rater") or who
        if sent.get("rater") and rater not in pair.reference:
            raise not_one_of("rater", rater, pair.reference, "label", InputError)
        if rater in {one.judge for one in self._material.pairs}:
            raise InputError(f"by: {rater!r} is a judge here; labels are those of humans")
        score = None if sent.get("do") == "back" else self._score(sent.get("score", ""))
        system = row["system"] or None
        keep_hand_label(
            path, HandLabel(row["item"], system, pair.attribute, rater, score, who, note)
        )
        named = f"voirdire-look-name={quote(who)}{_COOKIE}"
        return _redirect(view.address("/response"), named)

    def _score(self, text: str) -> float:
        scale, score = self._material.scale, math.nan
        with suppress(ValueError):
            score = float(text)
        if not scale.low <= score <= scale.high:
            raise InputError(f"score: {text!r} is not on the scale {scale.low:g} to {scale.high:g}")
        if not scale.continuous and score not in scale.levels:
            raise InputError(f"score: {text!r} is no level of the scale")
        return score


def _redirect(address: str, cookie: str) -> SiteResponse:
    headers = {"Location": address, "Set-Cookie": cookie}
    return SiteResponse("text/plain", b"", HTTPStatus.SEE_OTHER, headers)


def _csv(name: str, frame: pl.DataFrame, *, again: bool = False) -> SiteResponse:
    file = io.BytesIO()
    guarded(frame, again=again).write_csv(file)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return SiteResponse("text/csv; charset=utf-8", file.getvalue(), headers=headers)


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
    tables = [_static_table(material, pair, each) for pair in material.pairs[:most]]
    html = pages.TEMPLATES.render(
        "static.j2",
        name=name,
        **_own_anchors(pages.grid(material), tables),
        tables=tables,
        with_text=material.with_text,
        **pages.TEMPLATES.inlined("look.css", "static.js"),
    )
    write_text(path, html.encode("utf-8", "replace").decode())
    return sum(len(table["rows"]) for table in tables)


def _static_table(material: Material, pair: JudgeOnAttribute, most: int) -> dict[str, Any]:
    rows = material.select(View(judge=pair.judge, attribute=pair.attribute, turn=pair.turn))
    shown = rows.filter(pl.col("difference").is_not_null()).head(most)
    return {
        **pages.heading(pair),
        "id": f"pair-{pair.place}",
        "count": f"{rows.height:,}",
        "rows": [_static_row(material, pair, row) for row in shown.to_dicts()],
    }


def _static_row(material: Material, pair: JudgeOnAttribute, row: dict[str, Any]) -> dict[str, Any]:
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
        "item": pages.name_of(row["item"]),
        "system": pages.name_of(row["system"]),
        "human": pages.plain(row["human"]),
        "score": pages.plain(row["score"]),
        "difference": pages.plain(row["difference"], signed=True),
        "texts": [{"title": title, **pages.cut(text, 5_000)} for title, text in parts if text],
    }


def _own_anchors(grid: dict[str, Any], tables: list[dict[str, Any]]) -> dict[str, Any]:
    """The grid, its links leading to the tables of the same page."""
    at = {(table["judge"], table["attribute"]): f"#{table['id']}" for table in tables}
    rows = [
        {
            **row,
            "cells": [
                {**cell, "address": at.get((cell["judge"], cell["attribute"]), "#")}
                for cell in row["cells"]
            ],
        }
        for row in grid["grid"]
    ]
    return {**grid, "grid": rows}
