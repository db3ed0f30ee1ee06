"""A study of your own conversations, responses and judges on the rubric of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError
from voirdire.errors import check_columns
from voirdire.study import known_families, model_entries, named_models, write_study
from voirdire.tables import read_labelled, read_raw
from voirdire_judges.chat import SYSTEM_PROMPTS
from voirdire_judges.rubrics import load_rubric
from voirdire_plugins.conversations.studies import PERSONAS, dialogues, judged_units, personas
from voirdire_plugins.mentalalign.benchmark import RUBRIC
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_ITEMS, _RESPONSES, _HUMANS = "items.csv", "responses.csv", "humans.csv"
#: What generators are told (section 3.2): see `voirdire_judges.chat`.
_PROMPT = {"prompt": "psychiatrist"}
_RATED = ("item", "system", "rater", "attribute", "score")


def write_judge_study(  # noqa: PLR0913 - each is an option of the command
    out: str | Path,
    conversations: str | Path,
    models: Sequence[str],
    *,
    responses: str | Path | None = None,
    generators: Sequence[str] = (),
    client: str = "",
    turns: int = 6,
    unit: str | None = None,
    guidance: Sequence[float] = (),
    excerpt: int = 0,
    humans: str | Path | None = None,
    runs: int = 1,
    temperature: float = 0.0,
    prompts: int = 1,
    families: Mapping[str, str] | None = None,
    model_options: Mapping[str, Any] | None = None,
) -> Path:
    """Write study.toml, the items and responses, and people's ratings where there are any.

    A judge leaves out the systems of its own family, where `responses` names families. A model's
    family is its maker, as `families` says (model -> maker, or ``none``), else as its name tells;
    where neither does and the systems have families, that is an error that asks. With several
    `prompts` each model is asked in so many wordings, each a judge of its own. A column
    ``conditions`` of the conversations, their names separated by semicolons, is kept; results are
    given by a column ``language``.

    `generators` are models that answer under a psychiatrist's prompt (section 3.2), beside or in
    place of the responses of a file. With a `client`, a model, they talk with it instead: the
    texts of `conversations` (or ``personas``: ours) say who it is, `turns` how often a generator
    speaks at most. What of conversations is rated says `unit`, ``turn`` (each turn of a generator)
    or ``whole``. `guidance` are the bounds of the guidance matrix: up to which
    width an interval is narrow, from which on it is wide, and which ICC is high (0.75 by default).
    `excerpt` is how many characters of a justification a report may show.

    Raises
    ------
    InputError
        The same model twice, neither responses nor generators, bounds that are none, another study
        in the folder, or a model whose maker must be known and is not.
    TableError
        A column is absent, or an id is empty or repeated.
    """
    bounds = _bounds(guidance)
    if (unit is not None or str(conversations) == PERSONAS) and not client:
        raise InputError("who plays the clients? Give a model of theirs (--client)")
    if client and (responses is not None or not generators):
        raise InputError(
            "--client talks with models that answer: give --generator, and no --responses"
        )
    items = personas() if str(conversations) == PERSONAS else read_labelled(conversations)
    extra = [name for name in ("conditions",) if name in items.columns]
    spoken = [name for name in ("language",) if name in items.columns]
    tables = {_ITEMS: items.select("id", "text", *extra, *spoken)}
    systems: list[dict[str, Any]] = []
    if responses is not None:
        tables[_RESPONSES], systems = _responses(responses)
    if not systems and not generators:
        raise InputError("give responses (--responses) or models that answer (--generator)")
    answering: list[dict[str, Any]] = []
    if client:
        told = SYSTEM_PROMPTS[_PROMPT["prompt"]]
        answering = dialogues(generators, client, turns, told, model_options)
    elif generators:
        answering = model_entries(generators, "chat", _PROMPT, kind="", model_options=model_options)
    theirs = [system["family"] for system in systems if "family" in system]
    # Models that answer are systems too: whose they are must be known beside any judge.
    known = known_families(
        dict.fromkeys([*models, *generators]), families or {}, [*theirs, *generators], model_options
    )
    systems += [{"name": name, "family": known[model]} for name, model in _named(generators)]
    study: dict[str, Any] = {
        "name": "mentalalign",
        "title": "Judges on the rubric of MentalAlign-70k",
        "items": {"path": _ITEMS, "extra": extra, **{name: name for name in spoken}},
        **({"responses": {"path": _RESPONSES}} if responses is not None else {}),
        **({"generators": answering} if answering else {}),
        **({"conversations": judged_units(unit, "assistant")} if client else {}),
        "rubric": {"use": "mentalalign", **RUBRIC},
        "systems": systems,
        **({"analysis": {"guidance": bounds}} if bounds else {}),
    }
    data: dict[str, Any] = {"excerpt": excerpt} if excerpt else {}
    panel = _judges(models, known, runs, temperature, prompts, model_options)
    if humans is not None:
        rated = read_raw(humans).frame
        check_columns(humans, _RATED, rated.columns)
        tables[_HUMANS] = rated.select(_RATED)
        names = rated["rater"].cast(pl.String).unique(maintain_order=True).to_list()
        data |= {"sources": [{"path": _HUMANS, "layout": "long"}], "reference": names}
        panel = [*({"name": name, "kind": "human"} for name in names), *panel]
    return write_study(out, {**study, "panel": panel, **({"data": data} if data else {})}, tables)


def _named(models: Sequence[str]) -> list[tuple[str, str]]:
    return named_models(models) if models else []


def _responses(path: str | Path) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """The responses of a file, and what it says of their systems."""
    answers = read_raw(path).frame
    check_columns(path, ("item", "system", "text"), answers.columns)
    declared = [name for name in ("label", "family", "group") if name in answers.columns]
    systems = answers.select(pl.col("system").alias("name"), *declared).unique(
        "name", keep="first", maintain_order=True
    )
    said = [
        {key: str(value) for key, value in row.items() if value not in (None, "")}
        for row in systems.to_dicts()
    ]
    return answers.select("item", "system", "text"), said


def _bounds(guidance: Sequence[float]) -> dict[str, float]:
    if len(guidance) not in (0, 2, 3):
        raise InputError(
            f"--guidance: give NARROW and WIDE, and the ICC that is high, got {list(guidance)}"
        )
    return dict(zip(("narrow", "wide", "icc"), guidance, strict=False))


def _judges(
    models: Sequence[str],
    known: Mapping[str, str],
    runs: int,
    temperature: float,
    prompts: int,
    model_options: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    own = load_rubric("mentalalign").instructions
    wordings = [own, *map(str.strip, resource("mentalalign", "paraphrases")["paraphrases"])]
    given = {"model_options": dict(model_options)} if model_options else {}
    return [
        {
            "name": name if at == 1 else f"{name} prompt {at}",
            "kind": "judge",
            "use": "rubric",
            "model": model,
            **({"family": known[model]} if model in known else {}),
            "runs": runs,
            "temperature": temperature,
            # One wording alone is the rubric's own, and said nowhere else.
            **({"options": {"instructions": words}} if prompts > 1 else {}),
            **given,
        }
        for name, model in named_models(models)
        for at, words in enumerate(wordings[:prompts], start=1)
    ]
