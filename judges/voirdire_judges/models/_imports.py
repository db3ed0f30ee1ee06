"""Late imports of optional packages."""

from __future__ import annotations

import importlib
from typing import Any

from voirdire.errors import MissingExtraError


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
