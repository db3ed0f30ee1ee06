"""The contract of makers of models: names that can be recognised, and that are nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.identity import built_in, makers_in
from voirdire.testing.checks import Checks

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_maker(maker: Any, models: Mapping[str, str] | None = None, name: str = "house") -> None:
    """Check a maker, as `voirdire_register_makers` names it.

    Parameters
    ----------
    maker : mapping
        ``families`` (family -> beginnings of names), ``aliases``, ``owners``.
    models : mapping, optional
        Names of its models -> the family that each must be recognised as.
    name : str
        Under which it is registered.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> check_maker({"families": {"sage": ["sage-2"]}}, {"compatible:sage-2-mini": "sage"})
    """
    checks = Checks(f"the maker {name}")
    form = "A mapping of families (family -> list of beginnings), aliases and owners."
    with checks.safely("it cannot be read", form):
        made = makers_in({name: maker}, "it")
        before, table = built_in(), built_in().with_makers(made)
        for family, beginnings in made[0].families.items():
            for beginning in beginnings:
                theirs = before.identify(beginning).maker
                checks.hold(
                    theirs in ("", name),
                    f"{beginning!r}, of its family {family}, begins names of {theirs}'s models",
                    "Choose a longer beginning, or leave it out.",
                )
        for model, family in (models or {}).items():
            identity = table.identify(model)
            checks.hold(
                (identity.maker, identity.family) == (name, family),
                f"{model!r} is recognised as {identity.maker or 'unknown'} {identity.family}",
                "Add the beginning of its name to a family.",
            )
    checks.done()
