"""The contract of selectors: at most k examples, and never the item itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voirdire.protocols import SelectsMany
from voirdire.schema import Item
from voirdire.testing.checks import Checks, name_of, shown
from voirdire.testing.hostile import TEXTS

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAK = "Leave out the item's own id and text: an example that holds the answer is a leak."


def check_selector(make: Any, items: Sequence[Item] = (), *, k: int = 2, **options: Any) -> None:
    """Check a selector's factory, as `voirdire_register_selectors` names it.

    Parameters
    ----------
    make : callable
        ``make(**options) -> ExampleSelector``.
    items : sequence of Item, optional
        For which examples are chosen; name some of the pool itself, which it must not show.
    k : int
        How many examples are asked for.
    options
        As a study's ``examples`` would be (``pool``, ``labels``, ``folder``).

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.
    """
    # Also one that is in no pool: leaving itself out must not be all that it can do.
    asked = [*items, Item("new", "A quiet evening by the river.")]
    checks = Checks(f"the selector {name_of(make)}")
    selector = checks.made(make, test=(), **options)
    choose = selector.select
    for item in asked:
        with checks.safely(
            f"select raises for the item {shown(item.text)}", "See ExampleSelector."
        ):
            chosen = list(choose(item, k))
            _check_chosen(checks, item, chosen, k)
            checks.hold(
                chosen == list(choose(item, k)),
                "two calls for one item choose differently",
                "Draw from np.random.default_rng of a seed and the item's id.",
            )
    for text in TEXTS:
        with checks.safely("select raises on a hostile text", "Choose, or return []."):
            choose(Item("odd", text), k)
    if isinstance(selector, SelectsMany):
        # Prompts may be made by the one and looked through for leaks by the other.
        many = [list(one.examples) for one in selector.select_many(asked, k)]
        single = [list(choose(item, k)) for item in asked]
        checks.hold(
            many == single,
            "select_many chooses otherwise than select",
            "Both must choose alike.",
        )
    checks.done()


def _check_chosen(checks: Checks, item: Item, chosen: Sequence[Any], k: int) -> None:
    checks.hold(len(chosen) <= k, f"{len(chosen)} examples come where k is {k}", "At most k.")
    if checks.hold(
        all(isinstance(one, Mapping) and isinstance(one.get("text"), str) for one in chosen),
        "an example is no mapping with a `text`",
        "An example is a mapping of id, text and its labels.",
    ):
        own = [one for one in chosen if one.get("id") == item.id or one["text"] == item.text]
        checks.hold(not own, "an item is shown itself", _LEAK)
