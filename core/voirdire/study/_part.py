"""What every part of a study is: frozen, without unknown keys, and without anybody's secrets."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from voirdire.secrets import secret_in_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Pydantic's variable that names plugins to leave out.
_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"

Names = tuple[str, ...]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]

#: Parameters of a query that carry a key.
_KEY_IN_QUERY = re.compile(r"(?i)(key|token|secret|password|sig|signature)$")
#: Names of options under which clients take a key.
_SECRET = ("api_key", "apikey", "authorization", "headers", "default_headers", "token", "password")


class StudyPart(BaseModel):
    """A part of a study: frozen, and an unknown key is an error.

    How it is checked is worked out when it is first checked, and plugins of pydantic are not looked
    for, which would read the metadata of all that is installed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def model_rebuild(cls, **how: Any) -> bool | None:
        """As pydantic does, without its plugins."""
        before = os.environ.get(_PLUGINS)
        os.environ[_PLUGINS] = "__all__"
        try:
            return super().model_rebuild(**how)
        finally:
            if before is None:
                del os.environ[_PLUGINS]
            else:
                os.environ[_PLUGINS] = before


def no_secrets(options: dict[str, Any]) -> dict[str, Any]:
    """The options, unless one of them would carry a key into the session folder."""
    for name, value, inside in _each(options):
        if name.lower() in _SECRET or (inside == "query" and _KEY_IN_QUERY.search(name)):
            raise ValueError(
                f"{[name]} may not stand in a study: keys come from the environment only"
            )
        part = secret_in_address(value, query=name == "base_url") if isinstance(value, str) else ""
        if part:
            raise ValueError(
                f"{name} holds {part}, which may be a key and would be kept with the session: keys "
                "come from the environment only"
            )
    return options


def _each(options: dict[str, Any], inside: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every option, however deep, with its value and the name of the table that it stands in."""
    for name, value in options.items():
        yield name, value, inside
        if isinstance(value, dict):
            yield from _each(value, name)


def check_once(kinds: Mapping[str, Sequence[str]]) -> None:
    """Refuse a name that a list of a study gives twice; `kinds` are the lists by their keys."""
    for kind, names in kinds.items():
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{kind} names {repeated} twice")
