"""report.html: one file that needs nothing else and asks nothing of a network."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from voirdire.report._page import build_page
from voirdire.report._words import brief
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.report.figures._style import Drawing
    from voirdire.schema import Finding
    from voirdire.tabular import Section


def write_html(
    examination: Examination, folder: Path, drawings: Sequence[Drawing], *, with_text: bool
) -> list[Path]:
    """Write the report."""
    path = folder / "report.html"
    html = render_html(examination, drawings, with_text=with_text)
    path.write_text(html, encoding="utf-8")
    return [path]


def render_html(
    examination: Examination, drawings: Sequence[Drawing] = (), *, with_text: bool = False
) -> str:
    """The report as text. Whatever comes from data is escaped; only our own parts are not."""
    page = build_page(examination, _figures(drawings), with_text=with_text)
    return _rendered("report.html.j2", page=page)


def render_sections(
    title: str,
    sections: Sequence[Section],
    findings: Sequence[Finding] = (),
    drawings: Sequence[Drawing] = (),
) -> str:
    """Sections, findings and figures as a page of the same kind."""
    return _rendered(
        "sections.html.j2",
        title=title,
        sections=sections,
        findings=findings,
        figures=_figures(drawings),
    )


def _figures(drawings: Sequence[Drawing]) -> list[dict[str, Any]]:
    return [
        {
            "name": drawing.name,
            "title": drawing.title,
            "caption": drawing.caption,
            "svg": Markup(drawing.inline),  # noqa: S704 - drawn here, text as paths
        }
        for drawing in drawings
    ]


def _rendered(template: str, **values: Any) -> str:
    script = _template("script.js")
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["brief"] = brief
    html: str = environment.get_template(template).render(
        style=Markup(_template("style.css")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=_hash(script),
        **values,
    )
    return html


def _visible(value: object) -> object:
    """What comes from data shows its control and direction characters; our own parts have none."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, keep="\n\t\r")
    return value


def _template(name: str) -> str:
    return files("voirdire.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """The only script that the page's policy lets run."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"sha256-{digest}"
