"""Rubrics as TOML files: read one by the name of a built-in, or by path."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, check_allowed
from voirdire.schema import Attribute, Rubric, Scale
from voirdire.study import read_toml

if TYPE_CHECKING:
    from voirdire.study import Study

_HERE = files("voirdire_judges.rubrics")
_KEYS = ("attributes", "composites", "instructions", "name", "output", "scale", "step")
_ATTRIBUTE_KEYS = ("description", "levels", "name", "safety_critical")


def built_in_rubrics() -> list[str]:
    """Names of the rubrics that come with this package.

    >>> built_in_rubrics()
    ['mentalalign']
    """
    return sorted(
        one.name.removesuffix(".toml") for one in _HERE.iterdir() if one.name.endswith(".toml")
    )


def load_rubric(name: str) -> Rubric:
    """The rubric of that name, or in that TOML file.

    A file holds `name`, `scale` (two ends), optionally `step`, `instructions` (what the judge is
    told first), `output` (the reply asked for), `composites` (name to attributes), and one
    `[[attributes]]` each with `name`, `description`, `levels` and `safety_critical`.

    Raises
    ------
    InputError
        There is no such rubric or file, or a key of it is wrong.

    Examples
    --------
    >>> rubric = load_rubric("mentalalign")
    >>> rubric.names[:2], rubric.attributes[0].levels[5]
    (('Guidance', 'Informativeness'), 'Provides specific, actionable steps or clear advice.')
    """
    path = Path(name) if name.endswith(".toml") else _HERE / f"{name}.toml"
    if not path.is_file():
        raise InputError(
            f"there is no rubric {name!r} (built in: {', '.join(built_in_rubrics())}; or the path "
            "of a .toml file)"
        )
    return _rubric(read_toml(path, "rubric"), str(path))


def in_own_words(rubric: Rubric, words: str, study: Study | None = None) -> Rubric:
    """The rubric as another file words it: the same attributes on the same scale.

    Parameters
    ----------
    words : str
        The file, from the study's folder; empty leaves the rubric as it is.

    Raises
    ------
    InputError
        There is no such file, or its attributes or scale are not those of the rubric.
    """
    if not words:
        return rubric
    own = load_rubric(str(Path(study.folder if study is not None else ".") / words))
    if (own.names, own.scale) != (rubric.names, rubric.scale):
        raise InputError(
            f"rubric {words}: words of {rubric.name!r} must have its attributes in its order, "
            f"{list(rubric.names)} on {_on(rubric.scale)}; it has {list(own.names)} on "
            f"{_on(own.scale)}"
        )
    return replace(own, name=rubric.name, composites=rubric.composites)


def _on(scale: Scale) -> str:
    return f"{scale.low:g} to {scale.high:g} by {scale.step:g}"


def _rubric(given: dict[str, Any], path: str) -> Rubric:
    check_allowed("key", given, _KEYS, f"rubric {path}")
    attributes = given.get("attributes")
    if not isinstance(attributes, list) or not attributes:
        raise InputError(f"rubric {path}: key 'attributes' must hold at least one attribute")
    rubric = Rubric(
        name=str(given.get("name", Path(path).stem)),
        attributes=tuple(_attribute(part, path) for part in attributes),
        scale=_scale(given, path),
        composites={name: tuple(parts) for name, parts in given.get("composites", {}).items()},
        instructions=str(given.get("instructions", "")).strip(),
        output=str(given.get("output", "")).strip(),
    )
    _consistent(rubric, path)
    return rubric


def _scale(given: dict[str, Any], path: str) -> Scale:
    ends = given.get("scale", [1, 5])
    if not isinstance(ends, list) or len(ends) != 2:
        raise InputError(f"rubric {path}: key 'scale' must be [low, high], got {ends!r}")
    return Scale(ends[0], ends[1], given.get("step", 1))


def _attribute(given: Any, path: str) -> Attribute:
    if not isinstance(given, dict) or not given.get("name"):
        raise InputError(f"rubric {path}: each of 'attributes' needs a 'name', got {given!r}")
    check_allowed("key", given, _ATTRIBUTE_KEYS, f"rubric {path}")
    try:
        # Keys of TOML are texts: 5 = "..." is "5".
        levels = {float(level): str(text) for level, text in given.get("levels", {}).items()}
    except ValueError as error:
        raise InputError(
            f"rubric {path}, {given['name']!r}: a level is a number: {error}"
        ) from error
    return Attribute(
        name=str(given["name"]),
        description=str(given.get("description", "")),
        levels=levels,
        safety_critical=bool(given.get("safety_critical", False)),
    )


def _is_level(level: float, scale: Scale) -> bool:
    return scale.holds(level) if scale.continuous else level in scale.levels


def _consistent(rubric: Rubric, path: str) -> None:
    if len(set(rubric.names)) < len(rubric.names):
        raise InputError(f"rubric {path}: attributes repeat a name: {list(rubric.names)}")
    for attribute in rubric.attributes:
        off = [level for level in attribute.levels if not _is_level(level, rubric.scale)]
        if off:
            raise InputError(
                f"rubric {path}, {attribute.name!r}: level {off[0]:g} is not on the scale "
                f"{rubric.scale.low:g}..{rubric.scale.high:g}"
            )
    for name, parts in rubric.composites.items():
        unknown = [part for part in parts if part not in rubric.names]
        if unknown:
            raise InputError(f"rubric {path}: composite {name!r} uses unknown {unknown[0]!r}")
