"""Late imports of optional packages."""

from __future__ import annotations

import importlib
from typing import Any

from voirdire.errors import InputError, MissingExtraError


def require(module: str, feature: str, extra: str) -> Any:
    """The module, or an error that names the extra to install.

    >>> require("json", "openai:gpt-4o", "openai").__name__
    'json'
    >>> require("no_such_package", "openai:gpt-4o", "openai")
    Traceback (most recent call last):
    voirdire.errors.MissingExtraError: openai:gpt-4o needs the package 'no_such_package', which is
    not installed: pip install 'voirdire[openai]' (from a clone: pip install '.[openai]')
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module.partition(".")[0] != missing.partition(".")[0]:
            raise
    raise MissingExtraError(feature, extra, missing)


def attribute_at(path: str, whose: str) -> Any:
    """What lies at ``"module:attribute"``.

    >>> attribute_at("math:tau", "langchain: ") > 6
    True

    Raises
    ------
    InputError
        It is no such path, or cannot be imported.
    """
    module, colon, attribute = path.partition(":")
    if not colon or not attribute:
        raise InputError(f'{whose}needs a path "module:attribute", got {path!r}')
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{whose}{path}: {error}") from error
