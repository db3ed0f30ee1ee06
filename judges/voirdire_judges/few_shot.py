"""Few-shot examples for an item: named in a study, opened and chosen when they are first needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError, VoirdireError
from voirdire.protocols import FindsInSelections, SelectsMany, ShowsExamples
from voirdire.store.raters import participants
from voirdire.tables import read_items

if TYPE_CHECKING:
    from voirdire import Plugins
    from voirdire.protocols import ExampleSelector
    from voirdire.schema import Finding, Item
    from voirdire.study import Study

Example = Mapping[str, Any]


@dataclass(frozen=True)
class FewShot:
    """Where examples come from: ``{selector = "nearest", pool = "silver.jsonl", k = 2, ...}``.

    Within a study the examples of all its items are chosen together, once, and none of the items
    is ever an example: the selector is handed them as the test split.

    Attributes
    ----------
    selector : str
        A name registered by `voirdire_register_selectors`.
    k : int
        Examples an item.
    options : mapping
        What the selector is made with: ``pool``, ``embedder``, and so on.
    study : Study or None
        The study it stands in; its items are the test split, its folder the place of files.
    of_items : bool
        The pool is of the study's own items: an item is kept from itself and its like alone.
    """

    selector: str
    k: int
    options: Mapping[str, Any]
    study: Study | None = field(default=None, repr=False)
    plugins: Plugins | None = field(default=None, repr=False, compare=False)
    of_items: bool = False

    def examples(self, item: Item) -> Sequence[Example]:
        """The examples for one item, the nearest first.

        Raises
        ------
        InputError
            The pool or the selector cannot be opened, or the item is none of the study's.
        """
        if not self.items:
            return list(self.opened.select(item, self.k))
        # The guard knows the study's items alone: another text could be shown its own
        # answer.
        if item.id not in self.items or self.items[item.id].text != item.text:
            raise InputError(f"item {item.id!r} is not one of the study's items")
        return self.chosen[item.id]

    @cached_property
    def items(self) -> dict[str, Item]:
        """The study's items by id; none without a study."""
        if self.study is None or self.study.items is None:
            return {}
        return {item.id: item for item, _ in read_items(self.study, self.study.items)}

    @cached_property
    def opened(self) -> ExampleSelector:
        """The selector itself."""
        factory = (self.plugins or loaded_plugins()).resolve("selector", self.selector)
        folder = "." if self.study is None else self.study.folder
        # A pool of the study's own items is one whose authors keep those that measure out of it.
        kept_out = () if self.of_items else tuple(self.items.values())
        around = {"test": kept_out, "folder": folder}
        selector: ExampleSelector = factory(**{**around, **self.options})
        return selector

    @cached_property
    def selections(self) -> Sequence[Any]:
        """What the selector says of each of the study's items, where it can say more than one."""
        if not isinstance(self.opened, SelectsMany):
            return ()
        return tuple(self.opened.select_many(list(self.items.values()), self.k))

    def findings(self) -> tuple[Finding, ...] | None:
        """What the selector says of the examples chosen, leaks above all.

        None before any is chosen, and where the selector says nothing.
        """
        # Looked up without choosing: a session that showed no example has no findings of
        # examples.
        if "selections" not in self.__dict__ or not isinstance(self.opened, FindsInSelections):
            return None
        return tuple(self.opened.findings(self.items.values(), self.selections))

    @cached_property
    def chosen(self) -> dict[str, Sequence[Example]]:
        """Examples by item."""
        if self.selections:
            return {one.item: one.examples for one in self.selections}
        return {name: list(self.opened.select(item, self.k)) for name, item in self.items.items()}


def few_shot(
    spec: Mapping[str, Any], study: Study | None = None, plugins: Plugins | None = None
) -> FewShot:
    """The examples that a study's table asks for; nothing is opened yet.

    Raises
    ------
    InputError
        No pool is named, or k is no whole number above 0.

    Examples
    --------
    >>> few_shot({"pool": "silver.jsonl", "embedder": "all-mpnet-base-v2"}).k
    2
    """
    options = dict(spec)
    name, k = options.pop("selector", "nearest"), options.pop("k", 2)
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise InputError(f"examples: k must be a whole number above 0, got {k!r}")
    if not options.get("pool"):
        raise InputError("examples: pool must name a file of examples")
    of_items = options.pop("of_items", False)
    if not isinstance(of_items, bool):
        raise InputError(f"examples: of_items must be true or false, got {of_items!r}")
    return FewShot(str(name), k, options, study, plugins=plugins, of_items=of_items)


def few_shots(study: Study, plugins: Plugins | None = None) -> list[FewShot]:
    """The distinct ways in which a panel's examples are chosen; nothing is opened yet.

    Raters that are asked for the same examples share one.
    """
    raters = (participant.rater for participant in participants(study, plugins or loaded_plugins()))
    shown = (rater.examples for rater in raters if isinstance(rater, ShowsExamples))
    distinct: dict[str, FewShot] = {}
    for one in shown:
        if isinstance(one, FewShot):
            # By what was asked for and not by object: each rater of a panel made its
            # own.
            asked = [one.selector, one.k, one.of_items, one.options]
            key = json.dumps(asked, sort_keys=True, default=str)
            distinct.setdefault(key, one)
    return list(distinct.values())


def leaks_of(
    study: Study, plugins: Plugins | None = None
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """What of a study's items lies in its pools, what was kept out of prompts, what is unknown.

    Examples are chosen as in the run: the same pool, embedder and items give the same ones.

    Returns
    -------
    tuple of tuple of Finding and tuple of str
        The findings, and a note for each pool that cannot be looked at any more.
    """
    findings: list[Finding] = []
    notes: list[str] = []
    for shots in few_shots(study, plugins):
        why = f"selector {shots.selector!r} does not tell"
        try:
            leaks = shots.findings() if shots.selections else None
        except VoirdireError as error:
            leaks, why = None, str(error)
        if leaks is None:
            notes.append(f"Leaks from {shots.options.get('pool')} could not be counted: {why}")
        findings += leaks or ()
    return tuple(findings), tuple(notes)
