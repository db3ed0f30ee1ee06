"""How the pages become a site: `python -m sphinx -W docs site`, which needs no network."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

import voirdire
from voirdire import __version__

project = "voirdire"
author = "The voirdire developers"
version = release = __version__
_PAGES = "".join(
    page.read_text("utf-8") for page in sorted((Path(__file__).parent / "api").glob("*.md"))
)
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

html_theme = "furo"
html_title = f"voirdire {__version__}"
html_show_sphinx = False
html_copy_source = False
exclude_patterns = ["_build"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# Pages link to files beside the docs (benchmarks, plugins), which are no part of the site.
myst_all_links_external = False
suppress_warnings = ["misc.highlighting_failure"]

autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_typehints = "none"  # signatures hold them, and docstrings say shapes and units
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # or Sphinx documents an attribute of a dataclass twice
default_role = "code"
nitpicky = False


html_math_renderer = "mathml"


def setup(app: Any) -> None:
    """What the pages do not hold themselves, and formulas that need no script from elsewhere."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("source-read", _without_outside)
    app.connect("source-read", _root_names)
    app.connect("build-finished", _readable_aloud)


#: What the theme leaves out for those who listen to a page or have no mouse, as axe-core names it:
#: the level of a heading, names of regions, and a key that reaches text that scrolls.
_ALOUD = (
    ('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'),
    ('<aside class="sidebar-drawer"', '<aside aria-label="All pages" class="sidebar-drawer"'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<div class="math-wrapper', '<div tabindex="0" class="math-wrapper'),
    ('<th class="head"><p></p></th>', '<td class="head"></td>'),
    ('<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">'),
)


def _readable_aloud(app: Any, error: Exception | None) -> None:
    """Complete the pages that were written."""
    pages = [] if error or app.builder.name != "html" else Path(app.outdir).rglob("*.html")
    for page in pages:
        text = page.read_text("utf-8")
        for plain, whole in _ALOUD:
            text = text.replace(plain, whole)
        page.write_text(text, "utf-8")


def _without_outside(_app: Any, _name: str, source: list[str]) -> None:
    """Links to files outside the docs lead to nothing on the site: they are shown as text."""
    source[0] = re.sub(r"\[([^\]]+)\]\(\.\./[^)]*\)", r"\1", source[0])


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def _root_names(_app: Any, name: str, source: list[str]) -> None:
    """What the root re-exports is described where it lives; the root's page lists and links it."""
    if name != "api/voirdire":
        return
    rows = ["| name | what it is |", "|---|---|"]
    for one in voirdire.__all__:
        thing = getattr(voirdire, one)
        said = (getattr(thing, "__doc__", "") or "").strip().partition("\n")[0].replace("|", r"\|")
        rows.append(f"| {_linked(one, thing)} | {said if not isinstance(thing, str) else thing} |")
    source[0] += "\n" + "\n".join(rows) + "\n"


def _linked(name: str, thing: Any) -> str:
    """The name, linked to the public package that describes it."""
    packages = re.findall(r"automodule:: (\S+)", _PAGES)
    for package in packages:
        if getattr(importlib.import_module(package), name, None) is thing:
            return f"{{py:obj}}`{name} <{package}.{name}>`"
    return f"`{name}`"
