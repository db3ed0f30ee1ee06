"""What is imported late: public names on first use, packages that are optional, and factories.

A package's `__init__.pyi` re-exports its public names, one `from module import name as name` a
line. Python reads the same lines here, so there is one list and importing the package stays light.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, MissingExtraError, PluginError, not_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from importlib.metadata import Distribution

# The formatter breaks a line that is too long into parentheses.
_EXPORT = re.compile(r"^from (\S+) import \(?\s*(\w+) as \2,?\s*\)?$", re.MULTILINE)

_HEADER = re.compile(r"^(Name|Version):(.*)$", re.MULTILINE)


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


@cache  # whoever asks would read what every installed distribution says
def entry_points_on(_: tuple[str, ...]) -> Any:
    """The entry points of distributions on `sys.path` (the argument) that name voirdire in them."""
    from importlib.metadata import EntryPoints, distributions  # noqa: PLC0415 - for plugins only

    # Those of all others are read as text and not taken apart: an environment has hundreds.
    ours: dict[str, Distribution] = {}
    for dist in distributions():
        if "voirdire" in (dist.read_text("entry_points.txt") or ""):
            ours.setdefault(name_and_version(dist)[0], dist)  # the first on the path is imported
    return EntryPoints(point for dist in ours.values() for point in dist.entry_points)


@cache  # a distribution may have many entry points
def name_and_version(dist: Distribution | None) -> tuple[str, str]:
    """Of an installed distribution, as its metadata says; empty for none.

    `importlib.metadata` has the whole file parsed as an e-mail for either, its README included.

    >>> from importlib.metadata import distribution
    >>> name_and_version(distribution("numpy"))[0]
    'numpy'
    """
    if dist is None:
        return "", ""
    text = dist.read_text("METADATA") or dist.read_text("PKG-INFO") or ""
    found = {key: value.strip() for key, value in _HEADER.findall(text.partition("\n\n")[0])}
    return found.get("Name", ""), found.get("Version", "")


def make_importable(folder: str | Path) -> None:
    """Let modules be imported that lie in a folder, such as beside a study."""
    there = str(Path(folder).resolve())
    if there not in sys.path:
        # Last, so that no file of a study takes the place of an installed package; and for good,
        # since a module may import its neighbours later.
        sys.path.append(there)
        importlib.invalidate_caches()


def attribute_at(path: str, whose: str, folder: str | Path | None = None) -> Any:
    """What lies at ``"module:attribute"``; the module may lie in `folder`, as beside a study.

    >>> attribute_at("math:tau", "langchain: ") > 6
    True

    Raises
    ------
    InputError
        It is no such path, or cannot be imported.
    """
    module, colon, attribute = path.partition(":")
    if folder is not None:
        make_importable(folder)
    if not colon or not attribute:
        raise InputError(f'{whose}needs a path "module:attribute", got {path!r}')
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{whose}{path} cannot be imported: {error}") from error


def check_options(
    factory: Any, options: Iterable[str], where: str, handed: Iterable[str] = ()
) -> None:
    """Raise where a factory does not take an option that a study names.

    Parameters
    ----------
    factory : callable
    options : iterable of str
        Names that the study gives.
    where : str
        What stands before the error.
    handed : iterable of str
        Parameters that are no options of a study.

    Raises
    ------
    PluginError
        An option that it does not take; the message lists those that it takes.

    Examples
    --------
    >>> check_options(lambda *, steps=1: None, ["step"], "judge 'x'")
    Traceback (most recent call last):
    voirdire.errors.PluginError: judge 'x': option 'step' is unknown (did you mean 'steps'? allowed:
    steps)
    """
    parameters = inspect.signature(factory).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    allowed = [n for n, one in parameters.items() if one.kind in named and n not in set(handed)]
    for option in options:
        if option not in allowed:
            raise not_one_of("option", option, allowed, where, PluginError)
