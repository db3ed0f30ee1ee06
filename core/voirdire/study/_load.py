"""TOML to Study, with errors that name the file and the key; keys of earlier studies among them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from voirdire.errors import StudyError
from voirdire.study._model import Study
from voirdire.study._part import StudyPart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

Model = TypeVar("Model", bound=StudyPart)


def load_study(path: str | Path) -> Study:
    """Read a study file.

    Parameters
    ----------
    path : str or Path
        A TOML file. Paths inside it are relative to its folder.

    Raises
    ------
    StudyError
        No such file, not TOML, an unknown key or a value of the wrong kind; the message names
        the file, the key, the value and what is allowed.
    """
    path = Path(path)
    raw = read_toml(path, "study")
    raw.setdefault("name", path.stem)
    return build_study(raw, str(path), str(path.parent))


def read_toml(path: str | Path | Traversable, what: str) -> dict[str, Any]:
    """The tables of a TOML file; `what` it is stands before its path in errors.

    A file of an installed package (`importlib.resources.files`) may lie in a zip.

    Raises
    ------
    StudyError
        No such file, or not TOML.
    """
    path = Path(path) if isinstance(path, str) else path
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise StudyError(f"{what} {path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{what} {path}: cannot be read ({error})") from None
    except RecursionError:
        raise StudyError(f"{what} {path}: its tables or lists are nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        # A path of Windows in double quotes is the commonest mistake, and TOML speaks of escapes.
        escaped = "\\" in str(error) or "hex" in str(error)
        hint = "; in paths write '/', for a backslash begins an escape" if escaped else ""
        raise StudyError(f"{what} {path}: not valid TOML: {error}{hint}") from None


def build_part(kind: type[Model], raw: Mapping[str, Any], where: str) -> Model:
    """A part of a study, or a file of such parts, from plain values; `where` is named in errors.

    Raises
    ------
    StudyError
        An unknown key, one that is lacking, or a value of the wrong kind.
    """
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise StudyError(f"{where}: {first_complaint(error, kind)}") from None


def build_study(raw: Mapping[str, Any], where: str = "study", folder: str | Path = ".") -> Study:
    """A Study from plain values; `where` names their origin in errors."""
    return build_part(Study, {**raw, "folder": str(folder)}, where)


def study_hash(study: Study) -> str:
    """SHA-256 over everything the study declares; equal for equal declarations."""
    declared = study.model_dump(mode="json")
    if not study.families:  # so that studies from before this key have the hash that they had
        del declared["families"]
    text = json.dumps(declared, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def thresholds_hash(study: Study) -> str:
    """SHA-256 over what a verdict asks for, so that a later change of it shows.

    Uses, gate and margins count where they are declared: a study that declares none has the hash
    that version 0.1 gave it.
    """
    asked = study.thresholds.model_dump(mode="json")
    declared = study.model_dump(mode="json", include={"uses", "gate", "margins"})
    bare = Study(name="").model_dump(mode="json", include=set(declared))
    asked |= {key: value for key, value in declared.items() if value != bare[key]}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def first_complaint(error: ValidationError, kind: type[StudyPart]) -> str:
    """The first complaint as a sentence, an unknown key before others, and how many follow."""
    # A misspelt key is also one that is lacking, and only its spelling is wrong.
    errors = sorted(error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")
    head = errors[0]
    key = ".".join(str(part) for part in head["loc"]) or "the study"
    if head["type"] == "extra_forbidden":
        now = successor(key)
        text = f"unknown key {key!r}" + (f": {now}" if now else _suggestion(head["loc"], kind))
    elif head["type"] == "missing":
        text = f"key {key!r} is required"
    elif head["type"] == "value_error":
        text = f"{key}: {head['ctx']['error']}"
    else:
        text = f"key {key!r} is {head['input']!r}: {_wanted(head['msg'])}{_brackets(key, head)}"
    more = len(errors) - 1
    return text + (f" (and {more} more {'problem' if more == 1 else 'problems'})" if more else "")


def _wanted(message: str) -> str:
    """What pydantic wants, in the words of TOML."""
    text = message.partition(" or instance of ")[0].removesuffix(" after validation")
    for python, toml in (("valid tuple", "list"), ("valid dictionary", "table"), ("Tuple", "List")):
        text = text.replace(python, toml)
    return text[0].lower() + text[1:].replace(" after validation", "")


def _brackets(key: str, problem: Any) -> str:
    """How a part is written of which there may be several, or only one."""
    value = problem["input"]
    if problem["type"] == "tuple_type" and isinstance(value, dict):
        return f" of tables, each under [[{key}]]"
    if problem["type"] == "model_type" and isinstance(value, list):
        return f", under [{key}]"
    return ""


def _suggestion(loc: tuple[int | str, ...], kind: type[StudyPart]) -> str:
    """The keys allowed beside an unknown one, the one it is nearly spelt like first."""
    here: Any = kind
    for part in loc[:-1]:
        if isinstance(part, str):
            field = here.model_fields.get(part)
            here = _model_of(field.annotation) if field else None
        if here is None:
            return ""
    allowed = [name for name in here.model_fields if name != "folder"]
    near = get_close_matches(str(loc[-1]).casefold(), allowed, 1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f" ({meant}allowed: {', '.join(allowed)})"


def _model_of(annotation: Any) -> Any:
    """The study part inside an annotation such as `tuple[Source, ...]`."""
    # `tuple[Source, ...]` and `Gate | None` hold the part among their arguments.
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if hasattr(candidate, "model_fields"):
            return candidate
    return None


#: Key -> the key that took its place; empty where nothing did. A study may still hold those that
#: `_model` declares, and its hash counts them; the others are met where the study is read.
RENAMED: Mapping[str, str] = {
    "thresholds.valid_pairs": "margins.cover",
    "thresholds.icc_c": "margins.order",
    "thresholds.icc_a": "margins.agree",
    "thresholds.bias": "margins.bias",
    "thresholds.stability": "margins.run",
    "thresholds.alpha": "",
    "thresholds.bands_spanned": "",
    "thresholds.winning_rate": "",
    "thresholds.min_humans": "",
    "humans.seed": "",
}


def successor(key: str) -> str:
    """What to write for a key, as half a sentence; empty for one that never was.

    >>> successor("thresholds.icc_c")
    'thresholds.icc_c is now margins.order'
    >>> successor("thresholds.alpha")
    'thresholds.alpha has no effect any longer'
    """
    if key not in RENAMED:
        return ""
    new = RENAMED[key]
    return f"{key} is now {new}" if new else f"{key} has no effect any longer"


def without_effect(study: Study) -> tuple[str, ...]:
    """Keys that a study gives, not as they were by default, and that change nothing."""
    return tuple(key for key in RENAMED if _given(study, key.split(".")))


def _given(part: Any, path: list[str]) -> bool:
    *outer, last = path
    for name in outer:
        part = getattr(part, name, None)
    if not isinstance(part, BaseModel) or last not in part.model_fields_set:
        return False
    return bool(getattr(part, last) != type(part).model_fields[last].get_default())
