"""Public names resolved on first use, from the list that type checkers read.

A package's `__init__.pyi` re-exports its public names, one `from module import name as name` a
line. Python reads the same lines here, so there is one list and importing the package stays light.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# The formatter breaks a line that is too long into parentheses.
_EXPORT = re.compile(r"^from (\S+) import \(?\s*(\w+) as \2,?\s*\)?$", re.MULTILINE)


def attach(
    package: str, file: str, *others: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose stub lies beside `file`.

    `others` are names that the package itself defines.
    """
    # By the package's own loader: it may lie in a zip file.
    loader: Any = sys.modules[package].__loader__
    stub = loader.get_data(str(Path(file).with_suffix(".pyi"))).decode("utf-8")
    homes = {name: module for module, name in _EXPORT.findall(stub)}
    names = sorted([*homes, *others])

    def resolve(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return resolve, lambda: names, names
