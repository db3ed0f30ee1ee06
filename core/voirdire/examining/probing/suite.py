"""A study of probes: the same judges, asked about each response as it is and as it is changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import InputError, PluginError, check_allowed, listed
from voirdire.examining.narrowing import narrowed, study_and_responses
from voirdire.examining.preferences.table import preference_table
from voirdire.examining.probing.names import IDENTITY, SEPARATOR, arms_of, changed_name
from voirdire.probes import PairProbe, Probe, RequestProbe, ResponseProbe, StoredProbe
from voirdire.protocols import BuildsOn, FollowsUp
from voirdire.schema import Item, Response
from voirdire.store.raters import participants
from voirdire.study import Rater
from voirdire.tables import read_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire.probes import Said
    from voirdire.study import ItemsSpec, Study

#: A probe that asks anew.
AskingProbe = ResponseProbe | RequestProbe | PairProbe
#: Where a response of a pair is shown.
PLACES = ("first", "second")
#: The sessions of a suite: changed responses, changed requests, pairs, and items of annotators.
RESPONSES, REQUESTS, COMPARISONS, LABELS = "responses", "requests", "comparisons", "labels"


@dataclass(frozen=True, slots=True)
class Suite:
    """Studies that ask what a suite of probes needs.

    Attributes
    ----------
    studies : mapping
        ``"responses"``, ``"requests"`` where a probe changes requests, ``"comparisons"`` where
        judges compare, and ``"labels"`` where annotators label items -> the study.
    probes : tuple
        In the order asked for, `identity` first.
    systems, judges, comparers : tuple of str
        Those that are probed: `judges` rate single responses, `comparers` compare two.
    skipped : mapping
        Probe -> responses to which it does not apply, where there are any.
    stepwise : tuple of str
        Those that ask in several steps and build on no judge's question, so that no probe can
        change what they ask.
    untouched : mapping
        Arm -> (item, system) of the responses to which it does not apply.
    labellers : tuple of str
        Annotators that are probed.
    n_items : int
        Items that they label.
    """

    studies: Mapping[str, Study]
    probes: tuple[Probe, ...]
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    comparers: tuple[str, ...]
    n_responses: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    stepwise: tuple[str, ...] = ()
    untouched: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    labellers: tuple[str, ...] = ()
    n_items: int = 0


def chosen_probes(names: Sequence[str] = (), plugins: Plugins | None = None) -> tuple[Probe, ...]:
    """Probes by name, all where none is named; `identity` comes first and is always there.

    Raises
    ------
    InputError
        There is no probe of that name; the message lists them.
    PluginError
        What is registered as a probe is none.
    """
    registered = (plugins or loaded_plugins()).names("probe")
    check_allowed("probe", names, registered)
    wanted = dict.fromkeys([IDENTITY, *(names or registered)])
    probes = [(plugins or loaded_plugins()).resolve("probe", name) for name in wanted]
    for name, probe in zip(wanted, probes, strict=True):
        if not isinstance(probe, Probe) or probe.name != name:
            raise PluginError(
                f"probe {name!r}: it must be a voirdire.probes.ResponseProbe, RequestProbe, "
                f"PairProbe or StoredProbe of that name, got {type(probe).__name__}"
            )
    return tuple(probes)


def make_suite(
    source: str | Path,
    probes: Sequence[Probe],
    folder: str | Path,
    *,
    items: int | None = None,
    runs: int = 2,
    seed: int = 0,
    plugins: Plugins | None = None,
) -> Suite:
    """Write the changed responses into a folder, and make the studies that rate them.

    Parameters
    ----------
    source : str or Path
        A study file with items, and responses or annotators, or a session, whose generated
        responses count too.
    probes : sequence of Probe
        As `chosen_probes` gives them.
    folder : str or Path
        Where ``responses.parquet`` is written; the sessions belong into folders in it.
    items : int, optional
        Draw so many items; by default all are probed.
    runs : int
        How often each is asked about.
    seed : int
        The seed of the draw of items.

    Raises
    ------
    InputError
        No responses, or nobody that rates, compares or labels; more items than there are.
    """
    named = plugins or loaded_plugins()
    study, responses = study_and_responses(Path(source), needed=False)
    judges, comparers, labellers = _panel(study, named, source)
    asked = tuple(probe for probe in probes if not isinstance(probe, StoredProbe))
    folder, draw = Path(folder), (items, seed)
    labelled = (
        _of_labels(study, labellers, asked, folder, source, runs, draw) if labellers else None
    )
    if labelled is not None and not (judges or comparers):
        return labelled
    if not responses:
        study_and_responses(Path(source))  # which says what is missing
    kept = _drawn(responses, items, seed)
    rated = _of_responses(study, (judges, comparers), asked, kept, folder, source, runs)
    if labelled is None:
        return rated
    return replace(
        rated,
        studies={**rated.studies, **labelled.studies},
        labellers=labelled.labellers,
        n_items=labelled.n_items,
        stepwise=(*rated.stepwise, *labelled.stepwise),
    )


def _of_responses(
    study: Study,
    panel: tuple[list[_AskedProbe], list[_AskedProbe]],
    asked: tuple[AskingProbe, ...],
    kept: Sequence[Response],
    folder: Path,
    source: object,
    runs: int,
) -> Suite:
    """The suite of judges of responses and of pairs.

    Raises
    ------
    InputError
        A probe applies to no response, or is about comparisons where nobody compares.
    """
    judges, comparers = panel
    if study.conversations.unit == "first":
        asked = _of_positions(asked, source)
    asked = _applying(asked, kept, source)
    of_pairs = [probe for probe in asked if isinstance(probe, PairProbe)]
    if not comparers:
        asked = tuple(probe for probe in asked if probe not in of_pairs)
    if all(probe.name == IDENTITY for probe in asked) and of_pairs:
        raise InputError(
            f"{source}: probe {of_pairs[0].name!r} is about comparisons, and no judge of its panel "
            "compares"
        )
    base = [(one.item, one.system, one.turns or one.text) for one in kept]
    # Of a conversation its last turn: what a probe changes is there, or before it.
    last = study.conversations.model_copy(update={"last": True})
    study = study.model_copy(update={"conversations": last})
    studies = {}
    texts = {}
    if judges or study.items is not None:
        texts = {item.id: item for item, _ in read_items(study, _items(study, source))}
    languages = _languages(study, texts)
    rows, untouched = _changed(kept, texts, asked, languages)
    if judges:
        path = folder / "responses.parquet"
        studies[RESPONSES] = narrowed(study, _runs(judges, runs), [*base, *rows], path)
    of_requests = [probe for probe in asked if isinstance(probe, RequestProbe)]
    changed = [_probed(one, probe) for one in judges for probe in of_requests if one.changeable]
    path = folder / "originals.parquet"
    if changed:
        studies[REQUESTS] = narrowed(study, _runs(changed, runs), base, path)
    if comparers:
        every = [one for comparer in comparers for one in _comparing(comparer, asked)]
        pairs = narrowed(study, _runs(every, runs), base, path)
        # In one order: a probe of places asks for the other one itself, and both would double the
        # cost.
        order = "random" if study.comparisons.order == "both" else study.comparisons.order
        shown = study.comparisons.model_copy(update={"order": order})
        studies[COMPARISONS] = pairs.model_copy(update={"comparisons": shown})
    return Suite(
        studies,
        asked,
        tuple(dict.fromkeys(one.system for one in kept)),
        tuple(one.name for one in judges),
        tuple(one.name for one in comparers),
        len(kept),
        {name: len(there) for name, there in untouched.items() if "@" not in name},
        tuple(one.name for one in (*judges, *comparers) if not one.changeable),
        untouched,
    )


def _of_labels(
    study: Study,
    labellers: Sequence[_AskedProbe],
    probes: Sequence[AskingProbe],
    folder: Path,
    source: object,
    runs: int,
    draw: tuple[int | None, int],
) -> Suite:
    """The suite of annotators: each item as it is and as it is changed.

    Raises
    ------
    InputError
        No item has a text; no probe is for labels.
    """
    from voirdire.examining.probing.items import (  # noqa: PLC0415 - of annotators alone
        changed_items,
        study_of_items,
    )

    # What does harm to a text has no label that it should have instead.
    asked = tuple(
        probe
        for probe in probes
        if probe.expects == "same"
        and not isinstance(probe, PairProbe)
        and not (isinstance(probe, ResponseProbe) and probe.of_turns)
    )
    left = [probe.name for probe in probes if probe not in asked]
    if left and all(probe.name == IDENTITY for probe in asked):
        raise InputError(
            f"{source}: its panel labels items, and probe {left[0]!r} says nothing of which labels "
            "a sound annotator then names; probes whose change leaves a label as it is are for it"
        )
    every = [item for item, _ in read_items(study, _items(study, source)) if item.text.strip()]
    if not every:
        raise InputError(f"{source}: no item has a text that a probe could change")
    kept = _drawn_items([item.id for item in every], *draw)
    items = [item for item in every if item.id in kept]
    odd = [item.id for item in items if SEPARATOR in item.id]
    if odd:
        raise InputError(f"{listed(odd)}: ids of items with {SEPARATOR!r} in them cannot be probed")
    languages = _languages(study, {item.id: item for item in items})
    rows, untouched = changed_items(items, asked, languages)
    # Those that say nothing of labels apply to no item, and a note says so.
    untouched |= dict.fromkeys(left, len(items))
    changed = [
        _probed(one, probe)
        for one in labellers
        for probe in asked
        if isinstance(probe, RequestProbe) and one.changeable
    ]
    panel = _runs([*labellers, *changed], runs)
    path = folder / "items.jsonl"
    return Suite(
        {LABELS: study_of_items(study, panel, rows, path)},
        asked,
        (),
        (),
        (),
        0,
        untouched,
        tuple(one.name for one in labellers if not one.changeable),
        {},
        tuple(one.name for one in labellers),
        len(items),
    )


def _of_positions(probes: tuple[AskingProbe, ...], source: object) -> tuple[AskingProbe, ...]:
    """The probes of judges whose answer is a position: no damage makes that fall."""
    kept = tuple(one for one in probes if one.expects != "monotone")
    left = [one.name for one in probes if one not in kept]
    if left and all(one.name == IDENTITY for one in kept):
        raise InputError(
            f"{source}: its judges name the first turn or step that fails, and probe {left[0]!r} "
            "asks whether a score falls; probe judges of wholes, turns or steps"
        )
    return kept


def _applying(
    probes: tuple[AskingProbe, ...], responses: Sequence[Response], source: object
) -> tuple[AskingProbe, ...]:
    """The probes without those of conversations that apply to no response."""
    left = [
        probe
        for probe in probes
        if isinstance(probe, ResponseProbe)
        and probe.of_turns
        and all(probe.change(Item(one.item), one) is None for one in responses)
    ]
    kept = tuple(one for one in probes if one not in left)
    if left and all(one.name == IDENTITY for one in kept):
        raise InputError(
            f"{source}: probe {left[0].name!r} is about conversations, and no response is one"
        )
    return kept


@dataclass(frozen=True, slots=True)
class _AskedProbe:
    """A member of the panel, and how what it asks can be changed.

    `steps`: it asks in several; then a probe changes the judge whose question it asks, if any.
    """

    spec: Rater
    steps: bool = False
    builds: bool = False

    @property
    def changeable(self) -> bool:
        return self.builds or not self.steps

    @property
    def name(self) -> str:
        return self.spec.name


def _panel(
    study: Study, plugins: Plugins, source: object
) -> tuple[list[_AskedProbe], list[_AskedProbe], list[_AskedProbe]]:
    """Judges of single responses and of pairs, and annotators of items."""
    panel: dict[str, list[_AskedProbe]] = {"rating": [], "comparison": [], "item": []}
    for participant in participants(study, plugins):
        if isinstance(participant.spec, Rater):
            rater = participant.rater
            panel[participant.task].append(
                _AskedProbe(
                    participant.spec, isinstance(rater, FollowsUp), isinstance(rater, BuildsOn)
                )
            )
    if not any(panel.values()):
        raise InputError(f"{source}: nobody of its panel rates, compares or labels")
    odd = [one.name for kind in panel.values() for one in kind if SEPARATOR in one.name]
    odd += [system.name for system in study.systems if SEPARATOR in system.name]
    if odd:
        raise InputError(f"{listed(odd)}: names with {SEPARATOR!r} in them cannot be probed")
    return panel["rating"], panel["comparison"], panel["item"]


def _comparing(one: _AskedProbe, probes: Sequence[Probe]) -> list[_AskedProbe]:
    """A judge of pairs, the same once more, and once for each change of what it is shown.

    A change of responses is tried on either place of the pair.
    """
    again = one.spec.model_copy(update={"name": f"{one.name}{SEPARATOR}{IDENTITY}"})
    if not one.changeable:
        return [one, _AskedProbe(again)]
    changed = [
        _probed(one, probe) for probe in probes if isinstance(probe, PairProbe | RequestProbe)
    ]
    changed += [
        _probed(one, probe, arm, place, strength)
        for probe in probes
        if isinstance(probe, ResponseProbe) and probe.name != IDENTITY
        for strength, arm in enumerate(arms_of(probe), start=1)
        for place in PLACES
    ]
    return [one, _AskedProbe(again), *changed]


def _items(study: Study, source: object) -> ItemsSpec:
    if study.items is None:
        raise InputError(f"{source}: it declares no [items]")
    return study.items


def _drawn(responses: Sequence[Response], items: int | None, seed: int) -> list[Response]:
    there = list(dict.fromkeys(one.item for one in responses))
    kept = _drawn_items(there, items, seed, " with responses")
    return [one for one in responses if one.item in kept]


def _drawn_items(there: Sequence[str], items: int | None, seed: int, what: str = "") -> set[str]:
    if items is None:
        return set(there)
    if items > len(there):
        raise InputError(f"--items {items}: there are {len(there)} items{what}")
    drawn = np.random.default_rng(seed).choice(len(there), items, replace=False)
    return {there[k] for k in drawn}


def _languages(study: Study, items: Mapping[str, Item]) -> dict[str, str]:
    """Item -> its language, as ``de`` of ``de-AT``; only where the study says which column."""
    if study.items is None or not study.items.language:
        return {}
    said = {name: item.extra.get(study.items.language) for name, item in items.items()}
    return {
        name: str(one).replace("_", "-").partition("-")[0].strip().lower()
        for name, one in said.items()
        if one not in (None, "")
    }


def _changed(
    responses: Sequence[Response],
    items: Mapping[str, Item],
    probes: Iterable[Probe],
    languages: Mapping[str, str],
) -> tuple[list[tuple[str, str, Said]], dict[str, frozenset[tuple[str, str]]]]:
    """(item, system ~ arm, text) of every change, and those to which each arm does not apply."""
    rows: list[tuple[str, str, Said]] = []
    untouched: dict[str, frozenset[tuple[str, str]]] = {}
    for probe in probes:
        if not isinstance(probe, ResponseProbe):
            continue
        for arm, change in zip(arms_of(probe), probe.changes, strict=True):
            none = set()
            for one in responses:
                # Words of another language would be a change of their own.
                if probe.language and languages.get(one.item, probe.language) != probe.language:
                    none.add((one.item, one.system))
                    continue
                said = change(items.get(one.item, Item(one.item)), one)
                # A change that leaves the text as it is would count as a response on which nothing
                # happens.
                same = said == (one.turns or one.text) and probe.name != IDENTITY
                if said is None or same:
                    none.add((one.item, one.system))
                else:
                    rows.append((one.item, f"{one.system}{SEPARATOR}{arm}", said))
            if len(none) == len(responses):
                words = f" (its words are in {probe.language!r})" if probe.language else ""
                raise InputError(
                    f"probe {probe.name!r}{words} applies to no response; leave it out"
                )
            if none:
                untouched[arm] = frozenset(none)
    return rows, untouched


def _runs(panel: Sequence[_AskedProbe], runs: int) -> list[Rater]:
    """So many runs of each, none of whom leaves systems out."""
    changes: dict[str, object] = {"runs": runs, "excludes": None, "family": ""}
    return [one.spec.model_copy(update=changes) for one in panel]


def preferences_of(folder: str | Path) -> pl.DataFrame:
    """The comparisons that a finished session holds, as `preference_table` gives them."""
    path = Path(folder) / "preferences.parquet"
    if not path.is_file():
        raise InputError(f"{folder}: it holds no comparisons; the run did not finish")
    return preference_table(pl.read_parquet(path), str(path))


def _probed(
    judge: _AskedProbe, probe: Probe, arm: str = "", place: str = "", strength: int = 1
) -> _AskedProbe:
    """The judge with what it asks changed, as a rater of its own.

    Of one that asks another judge's question in several steps, that judge is changed.
    """
    spec = judge.spec
    # An agent or debate asks through a judge that stands in its options: that one is probed.
    inner = dict(spec.options) if judge.steps else {}
    use, options = (
        (inner.get("judge", "rubric"), inner.get("options", {}))
        if judge.steps
        else (spec.use or "rubric", spec.options)
    )
    probed: dict[str, object] = {"judge": use, "probe": probe.name, "options": options}
    if place:
        probed |= {"place": place, "strength": strength}
    changes: dict[str, object] = {"name": changed_name(judge.name, arm or probe.name, place)}
    if judge.steps:
        changes["options"] = {**inner, "judge": "probed", "options": probed}
    else:
        changes |= {"use": "probed", "options": probed}
    return _AskedProbe(spec.model_copy(update=changes))
