"""A study of probes: the same judges, asked about each response as it is and as it is changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._manager import plugins as loaded_plugins
from voirdire.errors import InputError, PluginError, listed, not_one_of
from voirdire.files import whole
from voirdire.probes import RequestProbe, ResponseProbe
from voirdire.schema import Item, Response
from voirdire.store import is_session, responses_frame, session_study
from voirdire.store.raters import askers
from voirdire.study import Comparisons, Data, Rater, ResponsesSpec, System, load_study
from voirdire.tables import read_items, read_responses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire._registry import Plugins
    from voirdire.probes import Probe
    from voirdire.study import ItemsSpec, Study

#: Between a system (or judge) and the probe that changes it.
SEPARATOR = " ~ "
IDENTITY = "identity"
#: The two sessions of a suite: changed responses, and changed requests.
RESPONSES, REQUESTS = "responses", "requests"


@dataclass(frozen=True, slots=True)
class Suite:
    """Studies that ask what a suite of probes needs.

    Attributes
    ----------
    studies : mapping
        ``"responses"``, and ``"requests"`` where a probe changes requests -> the study.
    probes : tuple
        In the order asked for, `identity` first.
    systems, judges : tuple of str
        Those that are probed.
    skipped : mapping
        Probe -> responses to which it does not apply, where there are any.
    """

    studies: Mapping[str, Study]
    probes: tuple[Probe, ...]
    systems: tuple[str, ...]
    judges: tuple[str, ...]
    n_responses: int
    skipped: Mapping[str, int] = field(default_factory=dict)


def chosen_probes(names: Sequence[str] = (), plugins: Plugins | None = None) -> tuple[Probe, ...]:
    """Probes by name, all where none is named; `identity` comes first and is always there.

    Raises
    ------
    InputError
        There is no probe of that name; the message lists them.
    PluginError
        What is registered as a probe is none.
    """
    known = (plugins or loaded_plugins()).names("probe")
    for name in names:
        if name not in known:
            raise not_one_of("probe", name, known)
    wanted = dict.fromkeys([IDENTITY, *(names or known)])
    found = [(plugins or loaded_plugins()).resolve("probe", name) for name in wanted]
    for name, probe in zip(wanted, found, strict=True):
        if not isinstance(probe, ResponseProbe | RequestProbe) or probe.name != name:
            raise PluginError(
                f"probe {name!r}: it must be a voirdire.probes.ResponseProbe or RequestProbe of "
                f"that name, got {type(probe).__name__}"
            )
    return tuple(found)


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
        A study file with items and responses, or a session, whose generated responses count too.
    probes : sequence of Probe
        As `chosen_probes` gives them.
    folder : str or Path
        Where ``responses.parquet`` is written; the sessions belong into folders in it.
    items : int, optional
        Draw so many items; by default all are probed.
    runs : int
        How often each is asked about.
    seed : int
        Of the draw.

    Raises
    ------
    InputError
        No responses, or no judge that rates single responses; more items than there are.
    """
    study, responses = _read(Path(source))
    kept = _drawn(responses, items, seed)
    named = plugins or loaded_plugins()
    judges = [
        asker.spec
        for asker in askers(study, named)
        if isinstance(asker.spec, Rater) and asker.task == "rating"
    ]
    if not judges:
        raise InputError(f"{source}: no judge of its panel rates single responses")
    texts = {item.id: item for item, _ in read_items(study, _items(study, source))}
    rows, skipped = _changed(kept, texts, probes)
    folder = Path(folder)
    systems = tuple(dict.fromkeys(one.system for one in kept))
    base = [(one.item, one.system, one.text) for one in kept]
    studies = {RESPONSES: _study(study, judges, [*base, *rows], folder / "responses.parquet", runs)}
    requests = [probe for probe in probes if isinstance(probe, RequestProbe)]
    if requests:
        asked = [_probed(judge, probe) for judge in judges for probe in requests]
        studies[REQUESTS] = _study(study, asked, base, folder / "originals.parquet", runs)
    return Suite(
        studies, tuple(probes), systems, tuple(judge.name for judge in judges), len(kept), skipped
    )


def _read(path: Path) -> tuple[Study, list[Response]]:
    """The study, and its responses as far as they have a text."""
    if is_session(path):
        frame = responses_frame(path).filter(pl.col("text").is_not_null())
        rows = frame.select("item", "system", "text").iter_rows()
        return session_study(path), [Response(*row) for row in rows]
    if not path.is_file():
        raise InputError(f"{path}: there is no such study file or session")
    study = load_study(path)
    if study.responses is None:
        raise InputError(f"{path}: it declares no [responses]; run it first and probe its session")
    return study, [one for one in read_responses(study, study.responses) if one.text.strip()]


def _items(study: Study, source: object) -> ItemsSpec:
    if study.items is None:
        raise InputError(f"{source}: it declares no [items]")
    return study.items


def _drawn(responses: Sequence[Response], items: int | None, seed: int) -> list[Response]:
    if items is None:
        return list(responses)
    there = list(dict.fromkeys(one.item for one in responses))
    if items > len(there):
        raise InputError(f"--items {items}: there are {len(there)} items with responses")
    kept = {there[k] for k in np.random.default_rng(seed).choice(len(there), items, replace=False)}
    return [one for one in responses if one.item in kept]


def _changed(
    responses: Sequence[Response], items: Mapping[str, Item], probes: Iterable[Probe]
) -> tuple[list[tuple[str, str, str]], dict[str, int]]:
    """(item, system ~ probe, text) of every change, and to how many each probe does not apply."""
    rows: list[tuple[str, str, str]] = []
    skipped: dict[str, int] = {}
    for probe in probes:
        if isinstance(probe, RequestProbe):
            continue
        for one in responses:
            text = probe.change(items.get(one.item, Item(one.item)), one)
            if text is None or (text == one.text and probe.name != IDENTITY):
                skipped[probe.name] = skipped.get(probe.name, 0) + 1
            else:
                rows.append((one.item, f"{one.system}{SEPARATOR}{probe.name}", text))
        if skipped.get(probe.name) == len(responses):
            raise InputError(f"probe {probe.name!r} applies to no response; leave it out")
    return rows, skipped


def _study(
    study: Study,
    panel: Sequence[Rater],
    rows: Sequence[tuple[str, str, str]],
    path: Path,
    runs: int,
) -> Study:
    """The study over these responses, with judges alone, none of whom leaves systems out."""
    with whole(path) as draft:
        frame = pl.DataFrame(rows, schema=["item", "system", "text"], orient="row")
        frame.write_parquet(draft)
    judges = tuple(
        judge.model_copy(update={"runs": runs, "excludes": None, "family": ""}) for judge in panel
    )
    names = dict.fromkeys(system for _, system, _ in rows)
    return study.model_copy(
        update={
            "data": Data(),
            "panel": judges,
            "generators": (),
            "comparisons": Comparisons(),
            "humans": None,
            "classify": None,
            "systems": tuple(System(name=name) for name in names),
            "responses": ResponsesSpec(path=_beside(path, study.folder)),
        }
    )


def _beside(path: Path, folder: str) -> str:
    """The path as seen from the study's folder, so that no study names a folder of this machine."""
    return os.path.relpath(path.resolve(), Path(folder).resolve())


def _probed(judge: Rater, probe: RequestProbe) -> Rater:
    """The judge with its requests changed, as a rater of its own."""
    options = {"judge": judge.use or "rubric", "probe": probe.name, "options": judge.options}
    name = f"{judge.name}{SEPARATOR}{probe.name}"
    return judge.model_copy(update={"name": name, "use": "probed", "options": options})


def check_names(suite: Suite) -> None:
    """Raise where a system has the separator in its name, so that no two meet."""
    odd = [name for name in (*suite.systems, *suite.judges) if SEPARATOR in name]
    if odd:
        raise InputError(f"{listed(odd)}: names with {SEPARATOR!r} in them cannot be probed")
