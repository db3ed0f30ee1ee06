"""A small distribution with one plugin, written from templates: `voirdire new`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from voirdire import __version__
from voirdire.errors import InputError, not_one_of

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from voirdire._registry import Plugins


@dataclass(frozen=True, slots=True)
class PluginKind:
    """What a kind's templates need: a sentence, what is registered, and a command that tries it."""

    about: str
    target: str
    tries: str


#: Kinds for which there are templates.
KINDS = {
    "judge": PluginKind(
        "Scores how concrete the next step is that an answer names",
        "make",
        "voirdire run example/study.toml --out out",
    ),
    "annotator": PluginKind(
        "Labels texts that tell of a worry about sleep",
        "make",
        "voirdire run example/study.toml --out out",
    ),
    "model": PluginKind(
        "Answers by the length of a text alone",
        "make",
        "voirdire run example/study.toml --out out",
    ),
    "classifier": PluginKind("Learns which words go with which class", "make", "voirdire plugins"),
    "reader": PluginKind(
        "Reads the ratings of a tool from its lines of JSON",
        "Reader",
        "voirdire import tests/sample.jsonl --out ratings.parquet",
    ),
    "tool": PluginKind("Counts words and sentences for an agent judge", "make", "voirdire plugins"),
    "probe": PluginKind(
        "Adds a sentence of thanks, which should change no score",
        "PROBE",
        "voirdire probe example/study.toml --probes @name@ --out out",
    ),
    "optimizer": PluginKind(
        "Adds one sentence at a time to a judge's instructions and keeps what helps",
        "make",
        "voirdire tune example/study.toml --judge b --for single --optimizer @name@ --out out",
    ),
    "benchmark": PluginKind(
        "Examines the ratings in a folder, with a table of its own",
        "BENCHMARK",
        "voirdire examine @name@ --data example",
    ),
}
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")


def write_plugin(kind: str, name: str, folder: Path, plugins: Plugins) -> list[Path]:
    """Write a distribution `voirdire-NAME` that installs, passes its own tests and runs.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    name : str
        Small letters, digits and hyphens: what a study will name.
    folder : Path
        Where it is written; it must not exist, or be empty.
    plugins : Plugins
        The plugins of this process, whose names are taken.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InputError
        An unknown kind, a name that is no name or is taken, or a folder that holds something.
    """
    if kind not in KINDS:
        raise not_one_of("kind of plugin", kind, KINDS)
    if not _NAME.fullmatch(name):
        raise InputError(
            f"a plugin's name is of small letters, digits and hyphens (next-step), got {name!r}"
        )
    package = f"voirdire_{name.replace('-', '_')}"
    taken = plugins.whole().get(kind, name)
    if taken is not None:
        raise InputError(f"{kind} {name!r} is registered by plugin {taken.plugin!r} already")
    # A package of that name would shadow the new one, or be shadowed by it.
    if package in sys.modules or name in plugins.versions:
        raise InputError(f"there is a plugin {name!r} already: choose another name")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already, and not empty")
    about = KINDS[kind].about
    values = {
        "kind": kind,
        "name": name,
        "package": package,
        "attribute": name.replace("-", "_"),
        "about": about,
        "target": KINDS[kind].target,
        "version": __version__,
    }
    values["try"] = _filled(KINDS[kind].tries, values)
    templates = files("voirdire.kit") / "templates"
    return [
        path for part in ("common", kind) for path in _written(templates / part, folder, values)
    ]


def _written(template: Traversable, target: Path, values: dict[str, str]) -> list[Path]:
    """Write a template, or all of a folder of them."""
    if template.is_dir():
        written = []
        for one in sorted(template.iterdir(), key=lambda one: one.name):
            name = _filled(one.name.removesuffix(".txt"), values)
            written += _written(one, target / name, values)
        return written
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_filled(template.read_text("utf-8"), values), encoding="utf-8")
    return [target]


def _filled(text: str, values: dict[str, str]) -> str:
    """A template with its @names@ replaced."""
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], text)
