"""Whose models the members of a panel are, and which systems are therefore their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire._manager import plugins
from voirdire.errors import InputError, listed
from voirdire.identity import NONE, Identities, Identity, built_in, makers_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.study._model import Rater, Study

#: Options of a model by which it is asked at another address than its provider's own.
_ELSEWHERE = frozenset({"base_url", "api_base", "endpoint"})


def identities() -> Identities:
    """The table of makers that comes with voirdire, and what plugins add to it.

    Raises
    ------
    PluginError
        What a plugin registered is no maker.
    """
    registry, table = plugins(), built_in()
    names = registry.names("maker")
    if not names:
        return table
    more = {name: registry.resolve("maker", name) for name in names}
    return table.with_makers(makers_in(more, "a plugin"))


def identity_of(rater: Rater) -> Identity:
    """What is known of the model that a rater asks; unknown where it asks none, or several."""
    made = {
        identities().identify(asked.model, elsewhere=bool(_ELSEWHERE & set(asked.options)))
        for asked in rater.asks.values()
    }
    if len(made) == 1:
        return made.pop()
    makers = {one.maker for one in made}
    name = ", ".join(sorted(one.model for one in made))
    if len(makers) == 1:
        return Identity(name, makers.pop())
    return Identity(name, possible=tuple(sorted(makers - {"", NONE})))


def family_of(rater: Rater, study: Study) -> str:
    """The family of a rater: as it declares it, as `[families]` says, else its model's maker.

    Returns
    -------
    str
        ``none`` where that is the answer; empty where nobody says it and the table does not know.
    """
    if rater.family or rater.kind == "human":
        return rater.family
    answers = study.families
    names = [rater.name, *(form for one in rater.asks.values() for form in _forms(one.model))]
    return next((answers[name] for name in names if name in answers), identity_of(rater).maker)


def system_families(study: Study) -> dict[str, str]:
    """System -> its family, as it declares it or as `[families]` says; others are not in it."""
    declared = {system.name: system.family for system in study.systems}
    others = {rater.name for rater in study.panel}
    others |= {
        form
        for rater in study.panel
        for asked in rater.asks.values()
        for form in _forms(asked.model)
    }
    # An answer about a name that no rater and no model bears may be about a system that only a
    # file names.
    answers = {
        name: family
        for name, family in study.families.items()
        if name in declared or name not in others
    }
    return {**answers, **{name: family for name, family in declared.items() if family}}


def own_systems(rater: Rater, study: Study) -> tuple[str, ...]:
    """The systems whose family is the rater's own: by equal words, else by one maker."""
    family = family_of(rater, study)
    if not family or family == NONE or rater.kind == "human":
        return ()
    table = identities()
    systems = system_families(study)
    return tuple(name for name, other in systems.items() if table.same(family, other))


def known_families(
    models: Iterable[str],
    answers: Mapping[str, str],
    systems: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """The family of each model, for a command that writes a study of them.

    Parameters
    ----------
    models : iterable of str
        As ``prefix:name``.
    answers : mapping
        Model, or its name without the prefix -> its maker, or ``none``.
    systems : iterable of str
        Families of the systems that these models will judge; without one, nothing is asked.
    options : mapping, optional
        Options of every model.

    Returns
    -------
    dict
        Model -> family; a model whose maker is unknown, and need not be known, is not in it.

    Raises
    ------
    InputError
        A maker that must be known and is not, or an answer about a model that there is not.

    Examples
    --------
    >>> known_families(["compatible:gpt-4o", "compatible:prod"], {"prod": "none"}, ["openai"])
    {'compatible:gpt-4o': 'openai', 'compatible:prod': 'none'}
    """
    models, elsewhere = list(models), bool(_ELSEWHERE & set(options or {}))
    allowed = [form for model in models for form in _forms(model)]
    odd = [name for name in answers if name not in allowed]
    if odd:
        raise InputError(f"--family {odd[0]!r} is no model of these: {listed(models)}")
    made = {model: identities().identify(model, elsewhere=elsewhere) for model in models}
    families = {
        model: next((answers[f] for f in _forms(model) if f in answers), made[model].maker)
        for model in models
    }
    unknown = [model for model, family in families.items() if not family]
    theirs = list(dict.fromkeys(filter(None, systems)))
    if unknown and theirs:
        name = unknown[0]
        several = listed(made[name].possible)
        why = f" (its name speaks of {several})" if several else ""
        raise InputError(
            f"whose model is {name!r}{why}? A judge leaves out systems of its own family, and the "
            f"families here are {listed(theirs)}: say --family {_forms(name)[-1]}=MAKER, or "
            f"--family {_forms(name)[-1]}={NONE} where it is of none of them"
        )
    return {model: family for model, family in families.items() if family}


def _forms(model: str) -> tuple[str, ...]:
    """How an answer may name a model: whole, or without its prefix."""
    rest = model.partition(":")[2]
    return (model, rest) if rest else (model,)
