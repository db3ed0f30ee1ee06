"""Keys: read from the environment, never shown."""

from __future__ import annotations

import os

from voirdire.errors import InputError, ModelError
from voirdire.secrets import secret_in_address


class Key:
    """A secret that no repr, str or format shows; `reveal` is for the SDK alone."""

    __slots__ = ("_text", "variable")

    def __init__(self, text: str, variable: str = "") -> None:
        self._text, self.variable = text, variable

    def reveal(self) -> str:
        """The secret itself."""
        return self._text

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def key_from_environment(model: str, variable: str) -> Key:
    """The key in the environment variable, or an error that names the variable."""
    found = os.environ.get(variable, "").strip()
    if not found:
        raise ModelError(
            f"{model} needs the environment variable {variable}, which is not set", "auth"
        )
    return Key(found, variable)


def checked_address(model: str, address: str | None) -> str | None:
    """The address of an endpoint, which carries no key.

    Raises
    ------
    InputError
        A user, a password or a query stands in it: it is kept with the session and shown.
    """
    if address and (part := secret_in_address(address)):
        raise InputError(
            f"{model}: base_url holds {part}, which may be a key and would be kept and shown: keys "
            "come from the environment (api_key_env); a query belongs into the option query"
        )
    return address
