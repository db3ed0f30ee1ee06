"""A study written as TOML, beside its files: items, a key that raters are held against."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.files import whole, write_text
from voirdire.study._load import build_study
from voirdire.study._model import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import polars as pl

#: The rater under whose name a key stands, its file, and that of people's answers.
KEY_RATER, KEY_FILE, PEOPLE_FILE = "Key", "key.csv", "people.csv"
#: The files of items and of responses that are there from the start.
ITEMS_FILE, RESPONSES_FILE = "items.jsonl", "responses.csv"


def write_study(
    out: str | Path,
    raw: Study | Mapping[str, Any],
    tables: Mapping[str, pl.DataFrame] | None = None,
) -> Path:
    """Write study.toml into a folder, with the tables that it names beside it.

    Parameters
    ----------
    out : path
        A folder; made where there is none, and not before the study is found to be valid.
    raw : Study or mapping
        The study, or its keys as `build_study` takes them.
    tables : mapping of str to pl.DataFrame, optional
        File name (``.csv``, or ``.jsonl`` where values are lists) -> its rows. Names are relative
        to `out`, as the paths in a study are.

    Returns
    -------
    Path
        The study.toml.

    Raises
    ------
    InputError
        The study is not valid, or another one lies in the folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_study(folder, {"name": "calm"}).read_text().strip()
    'name = "calm"'
    """
    folder = Path(out)
    path = folder / "study.toml"
    study = raw if isinstance(raw, Study) else build_study(dict(raw), str(raw["name"]), str(out))
    text = study_to_toml(study)
    # The same study again is no harm: a command that was repeated goes through.
    if path.is_file() and path.read_bytes() != text.encode():
        raise InputError(f"{path}: another study lies there; give another folder, or remove it")
    for name, frame in (tables or {}).items():
        with whole(folder / name) as draft:
            (frame.write_ndjson if name.endswith(".jsonl") else frame.write_csv)(draft)
    write_text(path, text)
    return path


def named_models(models: Sequence[str]) -> list[tuple[str, str]]:
    """Each model with the name of its rater: the model's, with the provider only where needed.

    Raises
    ------
    InputError
        No model, or one that is given twice.

    Examples
    --------
    >>> named_models(["openai:gpt-4o", "google:gemini"])
    [('gpt-4o', 'openai:gpt-4o'), ('gemini', 'google:gemini')]
    >>> [name for name, _ in named_models(["openai:a", "compatible:a"])]
    ['openai:a', 'compatible:a']
    """
    if not models:
        raise InputError("--model: name at least one model")
    repeated = [model for model in models if list(models).count(model) > 1]
    if repeated:
        raise InputError(f"--model {repeated[0]!r} is given more than once")
    return [(name, model) for model, name in short_names(models).items()]


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Each model -> its name without the provider, but for models of two providers with one name.

    >>> short_names(["openai:a", "compatible:a", "google:b"])
    {'openai:a': 'openai:a', 'compatible:a': 'compatible:a', 'google:b': 'b'}
    """
    short = {model: model.partition(":")[2] or model for model in models}
    shared = Counter(short.values())
    return {model: model if shared[name] > 1 else name for model, name in short.items()}


def model_entries(
    models: Sequence[str],
    use: str,
    options: Mapping[str, Any] | None = None,
    *,
    kind: str = "annotator",
    **shared: Any,
) -> list[dict[str, Any]]:
    """The entries of a study in which each model does the same: a panel's, or its generators.

    Parameters
    ----------
    models : sequence of str
        As in `named_models`.
    use : str
    options : mapping, optional
    kind : str
        Of a panel's entries; empty for generators.
    shared
        Further keys of every entry (``temperature``, ``runs``, ``model_options``, ...); one that is
        empty is left out.

    Examples
    --------
    >>> model_entries(["simulated:a"], "yes-no", {"labels": ["calm"]}, runs=2)[0]["name"]
    'a'
    """
    given = {"kind": kind, "use": use, **shared, "options": dict(options or {})}
    kept = {key: value for key, value in given.items() if value not in (None, {}, (), "")}
    return [{"name": name, "model": model, **kept} for name, model in named_models(models)]


def keyed_study(
    name: str,
    title: str,
    labels: Sequence[str],
    truth: Iterable[tuple[str, Collection[str]]],
    panel: Sequence[Mapping[str, Any]],
    *,
    key: str = KEY_RATER,
    people: pl.DataFrame | None = None,
    **parts: Any,
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """A study whose raters are held against a key of labels, and the tables of its files.

    Parameters
    ----------
    name, title : str
    labels : sequence of str
        The attributes, scored 0 or 1.
    truth : iterable of (item, labels)
        The key; see `key_table`.
    panel : sequence of mapping
        Those who are asked; the key and the people join it as humans.
    key : str
        The rater under whose name the key stands: the reference.
    people : pl.DataFrame, optional
        Answers of people to the same items: ``item, rater, attribute, score``.
    parts
        Further parts of the study, such as ``items``.

    Returns
    -------
    tuple of dict and dict
        What `write_study` takes.

    Raises
    ------
    InputError
        A person is called as the key is, or has answered an item or label that is not asked.
    """
    sources = [{"path": KEY_FILE, "layout": "long"}]
    tables = {KEY_FILE: key_table(truth, labels, key)}
    if people is not None:
        _check_people(people, tables[KEY_FILE]["item"], labels)
    names = [] if people is None else people["rater"].unique(maintain_order=True).to_list()
    if key in names:
        raise InputError(f"people's answers: nobody can be called {key!r}, as the key is")
    if people is not None:
        sources.append({"path": PEOPLE_FILE, "layout": "long"})
        tables[PEOPLE_FILE] = people
    # The key first: tables of a report begin with the reference.
    humans = [{"name": human, "kind": "human"} for human in (key, *names)]
    raw = {
        "name": name,
        "title": title,
        "data": {"sources": sources, "reference": [key]},
        "rubric": {"scale": [0, 1], "attributes": list(labels)},
        "panel": [humans[0], *panel, *humans[1:]],
        **parts,
    }
    return raw, tables


def _check_people(people: pl.DataFrame, items: pl.Series, labels: Sequence[str]) -> None:
    """What people answered is what is asked: told before a run is paid for."""
    import polars as pl  # noqa: PLC0415 - as in `key_table`

    for name, allowed in (
        ("item", items.unique(maintain_order=True)),
        ("attribute", pl.Series(labels)),
    ):
        given = people[name].cast(pl.String)
        lost = given.filter(~given.is_in(allowed.cast(pl.String).implode()))
        if len(lost):
            n, whole = lost.n_unique(), given.n_unique()
            raise InputError(
                f"people's answers, column {name!r}: {n} of {whole} are not asked, such as "
                f"{lost[0]!r}; the study asks about {', '.join(map(repr, allowed[:3]))}"
                f"{' ...' if len(allowed) > 3 else ''}. Leave out rows about anything else"
            )


def compared_study(  # noqa: PLR0913 - one a part of the study
    name: str,
    title: str,
    items: Sequence[Mapping[str, Any]],
    references: Mapping[str, str],
    generators: Sequence[Mapping[str, Any]],
    judges: Sequence[Mapping[str, Any]],
    attributes: Sequence[str],
    *,
    against: str = "reference",
    order: str = "both",
    **parts: Any,
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """A study in which models answer items and judges compare each answer with a reference.

    Parameters
    ----------
    name, title : str
    items : sequence of mapping
        ``id``, ``text`` and further fields, which the items keep.
    references : mapping of str to str
        Item -> the response that the others are compared with.
    generators, judges : sequence of mapping
        Those who answer, and those who compare: entries of the study.
    attributes : sequence of str
        What is compared, from -2 (the reference is much better) to 2.
    against : str
        The system under whose name the references stand.
    order : {"both", "random"}
        Each pair in both orders, or in one that is drawn and recorded.
    parts
        Further parts of the study, such as ``humans``.

    Returns
    -------
    tuple of dict and dict
        What `write_study` takes.
    """
    import polars as pl  # noqa: PLC0415 - slow, and only here

    extra = [key for key in items[0] if key not in ("id", "text")]
    raw = {
        "name": name,
        "title": title,
        "items": {"path": ITEMS_FILE, "extra": extra},
        "responses": {"path": RESPONSES_FILE},
        "generators": list(generators),
        "panel": list(judges),
        "comparisons": {"against": against, "order": order},
        "rubric": {"scale": [-2, 2], "attributes": list(attributes)},
        **parts,
    }
    rows = [(item, against, text) for item, text in references.items()]
    responses = pl.DataFrame(rows, schema=["item", "system", "text"], orient="row")
    return raw, {ITEMS_FILE: pl.DataFrame(items), RESPONSES_FILE: responses}


def key_table(
    truth: Iterable[tuple[str, Collection[str]]], labels: Sequence[str], rater: str = KEY_RATER
) -> pl.DataFrame:
    """The file of a key: one row an item and label, 1 where the item carries it.

    >>> key_table([("1", ["b"])], ["a", "b"]).rows()
    [('1', 'Key', 'a', 0.0), ('1', 'Key', 'b', 1.0)]
    """
    import polars as pl  # noqa: PLC0415 - reading a study needs no table library

    rows = [
        (item, rater, label, float(label in right)) for item, right in truth for label in labels
    ]
    return pl.DataFrame(rows, schema=["item", "rater", "attribute", "score"], orient="row")


def study_to_toml(study: Study) -> str:
    """The study as TOML, but for what was left to defaults; `load_study` reads the same study.

    Examples
    --------
    >>> from voirdire.study import build_study
    >>> print(study_to_toml(build_study({"name": "calm", "panel": [{"name": "a", "runs": 3}]})))
    name = "calm"
    <BLANKLINE>
    [[panel]]
    name = "a"
    runs = 3
    """
    return to_toml(study.model_dump(mode="json", exclude_unset=True, exclude_none=True))


def study_in(study: Study, out: Path) -> Study:
    """A study whose paths are seen from another folder, to be written there."""

    def seen(path: str) -> str:
        return Path(os.path.relpath(Path(study.folder) / path, out)).as_posix()

    update: dict[str, object] = {"folder": str(out)}
    for key in ("items", "responses"):
        part = getattr(study, key)
        if part is not None:
            update[key] = part.model_copy(update={"path": seen(part.path)})
    sources = tuple(one.model_copy(update={"path": seen(one.path)}) for one in study.data.sources)
    update["data"] = study.data.model_copy(update={"sources": sources})
    update["panel"] = tuple(
        one.model_copy(update={"options": _options_seen(one.options, seen)}) if one.options else one
        for one in study.panel
    )
    use = study.rubric.use
    if use and (Path(study.folder) / use).is_file():
        update["rubric"] = study.rubric.model_copy(update={"use": seen(use)})
    return study.model_copy(update=update)


def _options_seen(options: dict[str, Any], seen: Callable[[str], str]) -> dict[str, Any]:
    """A rater's options, whose files are those of its words and of its pool of examples."""
    made = dict(options)
    if isinstance(words := made.get("words"), str) and words:
        made["words"] = seen(words)
    shots = made.get("examples")
    if isinstance(shots, dict) and isinstance(shots.get("pool"), str):
        made["examples"] = {**shots, "pool": seen(shots["pool"])}
    return made


def to_toml(plain: Mapping[str, Any]) -> str:
    """Plain values as TOML: values, then tables, then those inside them on one line each.

    Examples
    --------
    >>> print(to_toml({"a": float("nan"), "b": [{"c": [1.0, 2]}]}))
    a = nan
    <BLANKLINE>
    [[b]]
    c = [1.0, 2]
    """
    # Values before tables, as what follows a table's head belongs to that table.
    blocks = [_block("", {key: value for key, value in plain.items() if not _is_table(value)})]
    for key, value in plain.items():
        if _is_table(value):
            parts = value if isinstance(value, list | tuple) else [value]
            head = f"[[{_key(key)}]]\n" if isinstance(value, list | tuple) else f"[{_key(key)}]\n"
            blocks += [_block(head, part) for part in parts]
    return "\n".join(blocks)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(part, dict) for part in value)
    )


def _block(head: str, values: dict[str, Any]) -> str:
    return head + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in _given(values))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in _given(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # nan, inf and -inf, as TOML writes them
    # A JSON string is a TOML string, but for one control character that JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _given(values: dict[str, Any]) -> list[tuple[str, Any]]:
    """What is not None: TOML has no null, and what is left out is null."""
    return [(key, value) for key, value in values.items() if value is not None]


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)
