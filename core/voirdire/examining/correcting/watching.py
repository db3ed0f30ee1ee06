"""A folder of judgements and labels that grows: has the system moved, or the judge?"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from voirdire.errors import InputError, check_allowed
from voirdire.examining.at_prompt import AtPrompt, Telling
from voirdire.examining.correcting.escalating import named_place
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.examining.planning.drawing import draw_labels
from voirdire.examining.spoken import speaks_python
from voirdire.files import mode_like, write_json
from voirdire.progress import stage
from voirdire.stats import Period, watch
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.correcting.labelled import LabelledResponses
    from voirdire.examining.planning.drawing import LabelDraw
    from voirdire.schema import Finding
    from voirdire.stats import Watched

Every = Literal["day", "week", "month"]
#: What is kept of a folder, beside its files.
STATE = "watch.json"
_VERSION = 2
_TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
#: How files of people's labels begin; all others hold judgements.
_LABELS = "labels"


@dataclass(frozen=True, slots=True)
class WatchedPeriod:
    """A day, week or month: its name, what was counted, and what was known after it.

    `known` is None within the baseline.
    """

    name: str
    labels: int
    judged: int
    judge_mean: float
    known: Watched | None


@dataclass(frozen=True, slots=True)
class Watching(AtPrompt):
    """What a folder says.

    Attributes
    ----------
    periods : tuple of WatchedPeriod
        In the order of time.
    first_alarm : str
        The period in which something was first seen to have moved; empty without one.
    draw : LabelDraw or None
        Responses of the newest period to label, where a budget is given.
    """

    telling = Telling(
        title="What has moved",
        rows="periods",
        sections="voirdire.examining.correcting.watched:watching_sections",
    )

    judge: str
    attribute: str
    every: Every
    baseline: int
    looks: int
    alpha: float
    periods: tuple[WatchedPeriod, ...]
    first_alarm: str
    draw: LabelDraw | None
    findings: tuple[Finding, ...]

    @property
    def now(self) -> Watched | None:
        """What is known after the newest period."""
        return self.periods[-1].known


@speaks_python
def watch_folder(  # noqa: PLR0913 - the options are those of the command
    folder: str | Path,
    *,
    at: str,
    reference: Sequence[str] = (),
    read: ReadOptions | None = None,
    judge: str = "",
    on: str = "",
    every: Every = "week",
    baseline: int = 4,
    looks: int = 52,
    alpha: float = 0.05,
    gate: float | None = None,
    budget: int = 0,
    seed: int = 0,
) -> Watching:
    """Read a folder anew, and say what has moved in it.

    Parameters
    ----------
    folder : path
        Tables of judgements that grow in number or length; those whose names begin with ``labels``
        hold what people said, and are joined to the others. What a period came to is kept in
        ``watch.json``, so that files may be taken away once their period is over.
    at : str
        The column of dates (``2026-11-29``, with or without a time) of the judged responses.
    reference, read
        As in `voirdire.examine`.
    judge, on : str, optional
        Which judge and attribute, where there are several.
    every : {"day", "week", "month"}
        How long a period is.
    baseline, looks, alpha
        As in `voirdire.stats.watch`.
    gate : float, optional
        Scores at or above it pass, and pass rates are watched.
    budget : int
        So many responses of the newest period are drawn at random to be labelled.
    seed : int
        Of the draw.

    Raises
    ------
    InputError
        No such folder, nothing to read in it, a date that cannot be read, other settings than those
        under which the folder was watched before, or as `read_labelled`.
    """
    check_allowed("period", (every,), ("day", "week", "month"))
    folder = Path(folder)
    judged, labels = _files(folder)
    read = (read or ReadOptions()).with_(human=tuple(labels)) if labels else read
    data = read_labelled(judged, reference=reference, by=at, read=read, within=True)
    data = data if gate is None else data.at_gate(gate)
    a, j = (
        named_place("attribute", "on", on, data.attributes),
        named_place("judge", "judge", judge, data.judges),
    )
    of_rows = np.array([_period(text, every, at) for text in data.group.tolist()])
    human, scores = data.human[a], data.judge[j, a]
    there = ~np.isnan(scores)
    found = {
        name: Period.of(
            human[own], scores[own], clusters=None if data.cluster is None else data.cluster[own]
        )
        for name in sorted(set(of_rows[there].tolist()))
        for own in (there & (of_rows == name),)
    }
    asked = {
        "judge": data.judges[j], "attribute": data.attributes[a], "every": every, "gate": gate,
    }  # fmt: skip
    stage("looking at the periods")
    kept = _kept(folder, asked, found)
    known = watch(list(kept.values()), baseline=baseline, looks=looks, alpha=alpha)
    periods = tuple(
        WatchedPeriod(
            name,
            int(one.labelled[0]),
            int(one.judged[0]),
            float(one.judged[1] / one.judged[0]),
            known[k - baseline] if baseline <= k < baseline + len(known) else None,
        )
        for k, (name, one) in enumerate(kept.items())
    )
    alarm = next((one.name for one in periods if one.known and one.known.alarm), "")
    drawn = None
    if budget:
        newest = there & (of_rows == max(found))
        drawn = _drawn(data, newest, human, budget, seed)
    return Watching(
        data.judges[j],
        data.attributes[a],
        every,
        baseline,
        looks,
        alpha,
        periods,
        alarm,
        drawn,
        # How each of many files was read is said by `voirdire audit`.
        tuple(one for one in data.findings if one.severity != "note"),
    )


def _files(folder: Path) -> tuple[list[Path], list[Path]]:
    """Files of judgements, and of labels."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    tables = [path for path in sorted(folder.iterdir()) if _is_table(path)]
    labels = [path for path in tables if path.name.startswith(_LABELS)]
    judged = [path for path in tables if path not in labels]
    if not judged:
        raise InputError(
            f"{folder}: holds no table of judgements ({', '.join(_TABLES)}; files whose names "
            f"begin with {_LABELS!r} are people's)"
        )
    return judged, labels


def _is_table(path: Path) -> bool:
    # What this command and the ledger write is no judgement; nor is a list of what to label.
    written = path.name.startswith((".", "~", "watch", "next")) or ".looks." in path.name
    return path.is_file() and path.suffix.lower() in _TABLES and not written


def _period(text: str, every: Every, column: str) -> str:
    """The name of the period of a date: names sort by time."""
    try:
        day = dt.date.fromisoformat(text.strip()[:10])
    except ValueError:
        raise InputError(
            f"--at {column}: {text!r} is no date: write 2026-11-29, with or without a time"
        ) from None
    if every == "day":
        return day.isoformat()
    if every == "month":
        return f"{day.year:04d}-{day.month:02d}"
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


def _kept(folder: Path, asked: dict[str, Any], found: dict[str, Period]) -> dict[str, Period]:
    """The periods of now and of before, written back; the newer count of one is the larger one."""
    path = folder / STATE
    held: dict[str, Period] = {}
    if path.is_file():
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            before, version = raw["asked"], int(raw["version"])
            held = {name: _unpacked(one) for name, one in raw["periods"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: cannot be read as what was watched ({error})") from None
        if version > _VERSION:
            raise InputError(f"{path}: a newer voirdire wrote it: update voirdire")
        differs = [key for key in asked if before.get(key) != asked[key]]
        if differs:
            key = differs[0]
            raise InputError(
                f"{path}: this folder was watched with {key} {before.get(key)!r}, and now "
                f"{asked[key]!r} is asked for: ask for the same, or move {STATE} away"
            )
    periods = {**held, **found}
    for name in set(held) & set(found):
        # A file that was taken away takes units from its period: what was seen of it stays.
        if held[name].judged[0] > found[name].judged[0]:
            periods[name] = held[name]
    periods = dict(sorted(periods.items()))
    record = {
        "version": _VERSION,
        "asked": asked,
        "periods": {name: _packed(one) for name, one in periods.items()},
    }
    write_json(path, record, mode=mode_like(path if path.exists() else folder))
    return periods


def _packed(period: Period) -> dict[str, Any]:
    return {
        "labelled": period.labelled.tolist(), "products": period.products.tolist(),
        "even": period.even.tolist(),
        "clusters": period.clusters, "judged": period.judged.tolist(),
        "squares": period.squares.tolist(), "others": period.others,
    }  # fmt: skip


def _unpacked(raw: dict[str, Any]) -> Period:
    labelled, products, squares = (
        np.array(raw[name], float) for name in ("labelled", "products", "squares")
    )
    clusters, others = int(raw["clusters"]), int(raw["others"])
    if "even" in raw:
        even, judged = np.array(raw["even"], float), np.array(raw["judged"], float)
        return Period(labelled, products, even, clusters, judged, squares, others)
    # The first version kept what had no label, which together with what has one is all; each unit
    # stood for its fellows, and clusters count as equally large.
    own, twice = np.ix_([0, 2], [0, 2]), np.ix_([0, 1, 2, 2], [0, 1, 2, 2])
    squares, judged = squares + products[own], labelled[[0, 2]] + np.array(raw["rest"], float)
    products = products[twice]
    even = products * clusters / max(float(labelled[0]), 1.0)
    return Period(labelled, products, even, clusters, judged, squares, others + clusters)


def _drawn(data: LabelledResponses, newest: Any, human: Any, budget: int, seed: int) -> LabelDraw:
    """Responses of the newest period, as many as the budget leaves beside its labels."""
    responses = pl.DataFrame(
        {
            "item": np.array(data.items)[data.item[newest]],
            "system": np.array(data.systems)[data.system[newest]],
            "stratum": [""] * int(newest.sum()),
            "labelled": ~np.isnan(human[newest]),
        }
    )
    left = max(budget - int(responses["labelled"].sum()), 0)
    return draw_labels(responses, {"": left}, seed=seed)
