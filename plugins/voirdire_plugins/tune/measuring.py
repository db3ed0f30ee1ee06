"""Label where two judges differ: which responses, and what their labels say of the gain."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, listed
from voirdire.examining.planning import draw_labels
from voirdire.files import write_csv, write_text
from voirdire.stats import differing_gain
from voirdire.stats.tuning import allotted
from voirdire_plugins.tune.units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.stats import Estimate
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.candidates import Scored
    from voirdire_plugins.tune.goals import Marks

    Floats = NDArray[np.float64]

#: What a draw is kept in, and the list that `voirdire humans export --queue` takes.
DRAW, QUEUE = "differ.json", "differ.csv"
#: What a gain is in from labels where judges differ: it adds up over responses.
_MEASURES = {
    "gate": "the share of right verdicts at the gate",
    "filter": "the share of right verdicts at the gate",
}
_CLOSE = "closeness to a human's score"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Responses that were drawn to be labelled, and the gain once they are.

    Attributes
    ----------
    units, differ, number : int
        All that both judged; those on which they differ; those drawn.
    rows : tuple
        By size of the difference: (size, responses, drawn, labelled).
    queue, people : str
        The list of what was drawn, and the study by which people are asked about it.
    measure : str
        What a gain is in.
    gain : Estimate or None
        None before there are labels.
    """

    units: int
    differ: int
    number: int
    rows: tuple[tuple[Any, ...], ...]
    queue: str
    measure: str
    gain: Estimate | None = None
    people: str = ""


def stock(asking: Asking, attributes: Sequence[str], labelled: set[tuple[str, str]]) -> Units:
    """All responses that nobody labelled, on each attribute; of people there is no score.

    Raises
    ------
    InputError
        There is none.
    """
    rows = [
        (*key, attribute) for key in asking.responses if key not in labelled
        for attribute in attributes
    ]  # fmt: skip
    if not rows:
        raise InputError(
            "--differ: people labelled every response of the study: there is no stock to draw from"
        )
    keys = pl.DataFrame(rows, schema=["item", "system", "attribute"], orient="row")
    empty = np.full((len(rows), 1), np.nan)
    return Units(keys, empty, keys["item"].to_numpy().astype(str), ())


@dataclass(frozen=True, slots=True, eq=False)
class OldAndNew:
    """The judge as it was and the chosen one, on some units.

    At a gate a score is a verdict, 0 or 1; else it is 0 at one end of the scale and 1 at the other.
    """

    old: Scored
    new: Scored
    use: str
    marks: Marks

    @property
    def measure(self) -> str:
        """What a gain is in: what adds up over responses."""
        return _MEASURES.get(self.use, _CLOSE)

    @property
    def away(self) -> Floats:
        """(n,) how far they are apart; one that gave no score is farther than any."""
        apart = np.abs(self._said(self.old) - self._said(self.new))
        return np.asarray(np.round(np.minimum(apart, 1.0), 9))

    def gains(self, humans: Floats) -> Floats:
        """(n,) agreement with people, the new judge's less the old one's."""
        new, old = (self._agreement(one, humans) for one in (self.new, self.old))
        return np.asarray(np.round(new - old, 9))

    def _said(self, one: Scored) -> Floats:
        """(n,) the mean of its runs; 2 where it gave no score, which nobody says."""
        marks, read = self.marks, ~np.isnan(one.runs)
        runs: Floats = (one.runs - marks.low) / marks.width
        if self.use in _MEASURES:
            runs = np.asarray((one.runs >= marks.gate) * 1.0)
        with np.errstate(invalid="ignore"):
            mean = np.where(read, runs, 0.0).sum(axis=0) / read.sum(axis=0)
        return np.asarray(np.nan_to_num(mean, nan=2.0))

    def _agreement(self, one: Scored, humans: Floats) -> Floats:
        """(n,) 0 to 1; a judge that gave no score agrees with nobody."""
        said, marks = self._said(one)[:, None], self.marks
        people = (humans - marks.low) / marks.width
        if self.use in _MEASURES:
            people = np.where(np.isnan(humans), np.nan, (humans >= marks.gate) * 1.0)
        close = np.nanmean(1 - np.abs(said - people), axis=1)
        return np.asarray(np.where(said[:, 0] > 1, 0.0, close))


def _by_response(units: Units, values: Floats) -> tuple[list[tuple[str, ...]], Floats]:
    """Responses (item, system), and the mean over what is asked of each: (n,) -> (responses,)."""
    keys = units.keys.select("item", "system").rows()
    place: dict[tuple[str, ...], int] = {}
    codes = np.array([place.setdefault(key, len(place)) for key in keys])
    mean = np.bincount(codes, weights=values) / np.bincount(codes)
    return list(place), np.asarray(np.round(mean, 9))


def draw(pair: OldAndNew, units: Units, number: int, seed: int, out: Path) -> Drawn:
    """Draw responses on which two judges differ, and write the list for people.

    Raises
    ------
    InputError
        They differ nowhere.
    """
    old, new = pair.old, pair.new
    responses, away = _by_response(units, pair.away)
    found = np.unique(away[away > 0])
    if not len(found):
        raise InputError(
            f"{new.name} and {old.name} say the same of all {len(responses)} responses: there is "
            "no gain to measure"
        )
    if len(found) > 4:  # scores between the levels: fours of equal numbers
        edges = np.quantile(away[away > 0], [0.25, 0.5, 0.75])
        place = np.where(away > 0, np.searchsorted(edges, away, side="left"), -1)
    else:
        place = np.where(away > 0, np.searchsorted(found, away), -1)
    strata = np.unique(place[place >= 0])
    sizes = [int((place == one).sum()) for one in strata]
    ends = [float(away[place == one].max()) for one in strata]
    wanted = allotted(sizes, [float(away[place == one].mean()) for one in strata], number)
    names = [_named(one, away[place == one]) for one in strata]
    placed = pl.DataFrame(responses, schema=["item", "system"], orient="row").with_columns(
        stratum=pl.Series([names[list(strata).index(one)] if one >= 0 else "they agree"
                           for one in place]),
        labelled=pl.lit(value=False),
    )  # fmt: skip
    drawn = draw_labels(
        placed,
        dict(zip(names, wanted.tolist(), strict=True)), seed=seed,
    )  # fmt: skip
    rows = drawn.units.filter(pl.col("decision") == "human")
    queue = out / QUEUE
    write_csv(queue, rows, again=True)
    kept = {
        "schema_version": 1, "old": old.name, "new": new.name, "use": pair.use,
        "units": len(responses),
        "sizes": sizes, "ends": ends, "names": names,
        "strata": [[*row, int(one)] for row, one in zip(responses, place, strict=True)
                   if one >= 0],
        "attributes": units.keys["attribute"].unique(maintain_order=True).to_list(),
        "drawn": rows.select("item", "system").rows(),
    }  # fmt: skip
    write_text(out / DRAW, json.dumps(kept))
    told = tuple(
        (name, size, int(n), None) for name, size, n in zip(names, sizes, wanted, strict=True)
    )
    return Drawn(len(responses), sum(sizes), rows.height, told, str(queue), pair.measure)


def _named(place: int, away: Floats) -> str:
    low, high = float(away.min()), float(away.max())
    return f"{high:.3g}" if low == high else f"{low:.3g} to {high:.3g} ({place + 1})"


def measure_drawn(
    units: Units, both: Callable[[Units], OldAndNew], out: Path, level: float
) -> Drawn:
    """The gain from labels of what was drawn.

    Raises
    ------
    InputError
        Nothing was drawn for these judges, or none of what was drawn is labelled.
    """
    path = out / DRAW
    if not path.is_file():
        raise InputError(f"--measure: nothing was drawn in {out}: draw by --differ first")
    kept = json.loads(path.read_text(encoding="utf-8"))
    # An older draw names the one attribute in each row.
    places = {tuple(row[:2]): row[-1] for row in kept["strata"]}
    asked = set(kept.get("attributes", [row[2] for row in kept["strata"]]))
    wanted = {tuple(row) for row in kept["drawn"]}
    rows = units.keys.select("item", "system", "attribute").rows()
    said = Counter(row[:2] for row in rows if row[2] in asked)
    mine = np.array([row[2] in asked and row[:2] in wanted and said[row[:2]] == len(asked)
                     for row in rows], bool)  # fmt: skip
    if not mine.any():
        raise InputError(
            f"--measure: none of the {len(wanted)} responses that were drawn is labelled in these "
            "files" + (f" on all of {listed(sorted(asked))}" if len(asked) > 1 else "")
        )
    units = units.taken(mine)
    pair = both(units)
    if [pair.old.name, pair.new.name, pair.use] != [kept[key] for key in ("old", "new", "use")]:
        raise InputError(
            f"--measure: the draw in {out} is of {kept['new']} beside {kept['old']} for "
            f"{kept['use']}, and not of {pair.new.name} beside {pair.old.name} for {pair.use}"
        )
    responses, gains = _by_response(units, pair.gains(units.humans))
    place = [places[row] for row in responses]
    gain = differing_gain(
        gains, kept["sizes"], kept["units"], strata=place, ends=kept["ends"],
        level=level,
    )  # fmt: skip
    labelled = np.bincount(place, minlength=len(kept["sizes"])).tolist()
    told = tuple(
        (name, size, None, n)
        for name, size, n in zip(kept["names"], kept["sizes"], labelled, strict=True)
    )
    return Drawn(
        kept["units"], sum(kept["sizes"]), len(wanted), told, str(out / QUEUE), pair.measure, gain
    )
