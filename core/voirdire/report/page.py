"""Pages from templates: what comes from data is escaped, its control characters written out."""

from __future__ import annotations

import base64
import hashlib
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Templates:
    """The templates, styles and scripts in a folder of a package.

    Parameters
    ----------
    package, folder : str
        Where they lie.
    filters : mapping of str to callable
        What templates may apply to a value.
    """

    def __init__(
        self, package: str, folder: str, filters: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self._files = files(package).joinpath(folder)
        self._filters = dict(filters or {})

    def read(self, name: str) -> str:
        """A file as it lies there."""
        return self._files.joinpath(name).read_text(encoding="utf-8")

    def render(self, template: str, **values: Any) -> str:
        """A page; a name that the template uses and nobody gave is an error."""
        html: str = self._environment.get_template(template).render(**values)
        return html

    def inlined(self, style: str, script: str) -> dict[str, str]:
        """Style and script of a page that needs no other file: ``style, script, script_hash``.

        The hash is for the page's policy, by which no other script may run.
        """
        text = self.read(script)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return {
            "style": Markup(self.read(style)),  # noqa: S704 - our own file
            "script": Markup(text),  # noqa: S704 - our own file
            "script_hash": f"sha256-{digest}",
        }

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=FunctionLoader(self.read),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_visible,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(self._filters)
        return environment


def _visible(value: object) -> object:
    """Our own parts are Markup and have no control or direction characters to be shown."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value, keep="\n\t\r")
    return value
