"""Judges and systems of one family: what is known of it, and what nobody has said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.identity import NONE
from voirdire.study import (
    Rater,
    family_of,
    identities,
    identity_of,
    own_systems,
    system_families,
)
from voirdire.tables._tables import finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables


def family_findings(tables: Tables, study: Study, systems: Sequence[str]) -> list[Finding]:
    """Judges that may rate systems of their own family, and families that no one declared.

    Parameters
    ----------
    tables, study
    systems : sequence of str
        That the files hold.
    """
    raters = [rater for rater in _judges(tables, study) if not rater.is_jury]
    declared = system_families(study)
    families = {name: declared[name] for name in systems if declared.get(name, NONE) != NONE}
    return [
        *_unknown_names(study, tables, systems),
        *(one for name in study.data.reference for one in _model_as_reference(name, raters, study)),
        *(one for rater in raters for one in _unmatched(rater, study, families)),
        *(one for rater in raters for one in _by_table(rater, study, families)),
        *_undeclared(raters, study, [name for name in systems if name not in declared]),
    ]


def _judges(tables: Tables, study: Study) -> list[Rater]:
    """Raters of systems' responses that are judges, declared or not."""
    whole = tables.rated.filter(pl.col("system").is_not_null())
    rating = set(whole["rater"].cast(pl.String).unique())
    kinds = dict(tables.raters.select("rater", "kind").iter_rows())
    people = set(study.data.reference)
    names = [name for name, kind in kinds.items() if kind == "judge" and name in rating - people]
    return [study.rater(name) or Rater(name=name) for name in names]


def _model_as_reference(name: str, judges: Sequence[Rater], study: Study) -> list[Finding]:
    """A reference that is no person: judges learnt from what its maker made, or are its kin."""
    rater, table = study.rater(name) or Rater(name=name), identities()
    # A name without a version may be a person's: Claude.
    called = table.identify(name)
    maker = family_of(rater, study) or (called.maker if called.version else "")
    if not maker or maker == NONE:
        return []
    kin = [
        judge.name
        for judge in judges
        if table.same(maker, family_of(judge, study) or table.identify(judge.name).maker)
    ]
    theirs = f", and so is {listed(kin)}: agreement with it may be of kin" if kin else ""
    return [
        finding(
            "reference_is_model",
            "serious",
            name,
            kin,
            f"The reference {name} is a model of {maker} (voirdire's table of makers as of "
            f"{table.date}){theirs}.",
            "Each verdict says how near judges come to that model, and nothing of people. If it "
            f"is a person, say --family '{name}={NONE}'.",
        )
    ]


def _unmatched(rater: Rater, study: Study, families: dict[str, str]) -> list[Finding]:
    """A judge of no declared family: a slip, or a maker that is unknown, undoes self-exclusion."""
    family = family_of(rater, study)
    if not families or rater.excludes is not None or family == NONE or own_systems(rater, study):
        return []
    theirs = listed(list(dict.fromkeys(families.values())))
    identity = identity_of(rater)
    if family:
        what = f"Its family, {family}, is that of no system (families: {theirs})."
    elif identity.possible:
        what = (
            f"Its model, {identity.model}, may be of {listed(list(identity.possible))}, and the "
            f"systems have families ({theirs})."
        )
    else:
        model = f"who made its model, {identity.model}," if identity.model else "its family"
        what = f"The systems have families ({theirs}), and {model} is not known."
    return [
        finding(
            "family_unmatched",
            "serious",
            rater.name,
            sorted(families),
            what,
            "It is held against systems that may be its own: say its family in the study or by "
            f"--family '{rater.name}=MAKER'; {NONE} where no system is of its family.",
        )
    ]


def _by_table(rater: Rater, study: Study, families: dict[str, str]) -> list[Finding]:
    """Systems left out because a model's name says who made it."""
    own = [name for name in own_systems(rater, study) if name in families]
    answered = rater.family or rater.excludes is not None
    if answered or not own or family_of(rater, study) != identity_of(rater).maker:
        return []
    identity, table = identity_of(rater), identities()
    return [
        finding(
            "family_by_name",
            "note",
            rater.name,
            own,
            f"Its model, {identity.model}, is by its name of {identity.maker} (voirdire's table "
            f"of makers as of {table.date}), and so are {listed(own)}.",
            "They are left out for it. If that is wrong, say its family, or excludes = [].",
        )
    ]


def _undeclared(raters: Sequence[Rater], study: Study, systems: Sequence[str]) -> list[Finding]:
    """Systems without a family whose names are of the maker of a judge."""
    table, findings = identities(), []
    for rater in raters:
        if rater.excludes is not None:
            continue
        # A rater that only a file names may be called after its model.
        said = family_of(rater, study) or table.identify(rater.name).maker
        maker = table.maker(said) if said != NONE else ""
        own = [name for name in systems if maker and table.identify(name).maker == maker]
        if own:
            findings.append(
                finding(
                    "family_undeclared",
                    "serious",
                    rater.name,
                    own,
                    f"By their names it and {listed(own)} are of one maker, {maker} (table of "
                    f"{table.date}), and no family is declared for these.",
                    "It rates what may be its own, and nothing is left out: say who made them by "
                    f"--family '{own[0]}={maker}' --family '{rater.name}={maker}', or {NONE}.",
                )
            )
    return findings


def _unknown_names(study: Study, tables: Tables, systems: Sequence[str]) -> list[Finding]:
    """Answers about a name that neither rater, model nor system bears."""
    names = {*systems, *tables.raters["rater"].to_list(), *(rater.name for rater in study.panel)}
    for rater in study.panel:
        for asked in rater.asks.values():
            names |= {asked.model, asked.model.partition(":")[2]}
    odd = [name for name in study.families if name not in names]
    if not odd:
        return []
    return [
        finding(
            "family_of_nobody",
            "serious",
            "",
            odd,
            f"A family is given for {listed(odd)}: no rater, model or system has that name.",
            "It has no effect: compare it with the names in the files.",
        )
    ]
