"""Label where two judges differ: which responses, and what their labels say of the gain."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import InputError, listed
from voirdire.examining.planning import draw_labels
from voirdire.files import write_csv, write_text
from voirdire.stats import differing_gain
from voirdire.stats.differing import allotted, labels_to_show
from voirdire.stats.tuning import FEW_DIFFER
from voirdire_plugins.tune.candidates import mean_run
from voirdire_plugins.tune.subjects import KEYS
from voirdire_plugins.tune.units import Units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.stats import Estimate
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.candidates import Scored
    from voirdire_plugins.tune.goals import Marks

    Floats = NDArray[np.float64]

#: What a draw is kept in, and the list that `voirdire humans export --queue` takes.
DRAW, QUEUE = "differ.json", "differ.csv"
#: What a gain is in from labels where judges differ: it adds up over units.
_MEASURES = {
    "single": "closeness to a human's score",
    "gate": "the share of right verdicts at the gate",
    "filter": "the share of right verdicts at the gate",
    "pick": "the share of all pairs on which it takes people's side",
    "worth": "the share of people's variance that the judge explains",
}
_YES_NO = ("gate", "filter")


@dataclass(frozen=True, slots=True)
class Drawn:
    """Responses, items or pairs that were drawn to be labelled, and the gain once they are.

    Attributes
    ----------
    units, differ, number : int
        All that both judged; those on which they differ; those drawn.
    rows : tuple
        By size of the difference: (size, responses, drawn, labelled).
    queue, people : str
        The list of what was drawn, and the study by which people are asked about it.
    what : str
        What was drawn, in the plural.
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
    what: str = "responses"


def unlabelled(asking: Asking, units: Units) -> list[tuple[str, ...]]:
    """(item, system) of all that nobody labelled; of pairs (item, system, system).

    What some candidate may not judge is left out.
    """
    keys: Iterable[tuple[str, ...]] = asking.responses
    if "other" in units.keys.columns:
        systems: dict[str, list[str]] = {}
        for item, system in asking.responses:
            systems.setdefault(item, []).append(system)
        keys = (
            (item, *pair)
            for item, own in systems.items()
            for pair in combinations(sorted(own), 2)
            if asking.compares(pair)
        )
    known, barred = asking.labelled, set(asking.barred)
    return [key for key in keys if key not in known and not barred & set(key[1:])]


def stock(asking: Asking, units: Units) -> Units:
    """All that nobody labelled, on each attribute; of people there is no score.

    Raises
    ------
    InputError
        There is none.
    """
    attributes = units.keys["attribute"].unique(maintain_order=True).to_list()
    more = [name for name in units.keys.columns if name == "other"]
    rows = [
        (item, system, attribute, *other)
        for item, system, *other in unlabelled(asking, units)
        for attribute in attributes
    ]
    if not rows:
        raise InputError(
            "--differ: people labelled all that the study holds: there is no stock to draw from"
        )
    keys = pl.DataFrame(rows, schema=[*KEYS, *more], orient="row")
    empty = np.full((len(rows), 1), np.nan)
    return Units(keys, empty, keys["item"].to_numpy().astype(str), ())


@dataclass(frozen=True, slots=True, eq=False)
class OldAndNew:
    """The judge as it was and the chosen one, on some units.

    What they say is put between 0 and 1: a verdict at a gate; of pairs 1 for the first, 0 for the
    second and 0.5 for neither; else a score. For *worth* it is what a line through the labels that
    chose foretells of people's score by it, since the level and spread of scores do not count.
    """

    old: Scored
    new: Scored
    use: str
    marks: Marks
    lines: tuple[Foretold, Foretold] | None = None

    @property
    def measure(self) -> str:
        """What a gain is in: what adds up over units."""
        return _MEASURES[self.use]

    @property
    def away(self) -> Floats:
        """(n,) how far they are apart; one that gave no score is farther than any."""
        apart = np.abs(self._said(0) - self._said(1))
        return np.asarray(np.round(np.minimum(apart, 1.0), 9))

    @property
    def most(self) -> float:
        """The largest gain of a unit over how far the two are apart."""
        return 1.0 if self.lines is None else 2 / self.lines[0].variance

    def to_show(self, gain: float, humans: Floats, stock: int) -> int:
        """Labels of units that differ with which a gain shows four times in five.

        `humans` are those of labelled units, and `stock` the unlabelled units that differ.
        """
        size, gained = self.most * self.away, self.gains(humans)
        apart = size > 0
        spread = 1.0
        if apart.sum() >= FEW_DIFFER:
            spread = float((gained[apart] ** 2 / size[apart]).sum() / size.sum())
        return labels_to_show(gain, float(size.mean()), stock, spread=spread)

    def gains(self, humans: Floats) -> Floats:
        """(n,) agreement with people, the new judge's less the old one's."""
        old, new = (self._agreement(place, humans) for place in (0, 1))
        return np.asarray(np.round(new - old, 9))

    def _said(self, place: int) -> Floats:
        """(n,) the mean of its runs; 2 where it gave no score, which nobody says."""
        one = (self.old, self.new)[place]
        if self.lines is not None:
            return self.lines[place].of(mean_run(one.runs))
        marks = self.marks
        runs: Floats = (one.runs - marks.low) / marks.width
        if self.use in _YES_NO:
            runs = np.where(np.isnan(one.runs), np.nan, (one.runs >= marks.gate) * 1.0)
        if self.use == "pick":
            runs = (np.sign(one.runs) + 1) / 2
        return np.asarray(np.nan_to_num(mean_run(runs), nan=2.0))

    def _agreement(self, place: int, humans: Floats) -> Floats:
        """(n,) 0 to 1; a judge that gave no score agrees with nobody."""
        said, marks = self._said(place), self.marks
        if self.lines is not None:
            people = (mean_run(humans.T) - marks.low) / marks.width
            return np.asarray(1 - (said - people) ** 2 / self.lines[place].variance)
        people = (humans - marks.low) / marks.width
        if self.use in _YES_NO:
            people = np.where(np.isnan(humans), np.nan, (humans >= marks.gate) * 1.0)
        if self.use == "pick":  # people who are in two minds take no side, and nobody gains
            side = np.sign(mean_run(humans.T))[:, None]
            people = np.where(side == 0, np.nan, (side + 1) / 2)
        close = mean_run(1 - np.abs(said[:, None] - people).T)
        return np.asarray(np.where((said > 1) | np.isnan(close), 0.0, close))


@dataclass(frozen=True, slots=True)
class Foretold:
    """What a judge's score foretells of people's, 0 to 1, and the variance of people's scores."""

    level: float
    slope: float
    mean: float
    variance: float

    @classmethod
    def through(cls, scores: Floats, humans: Floats, marks: Marks) -> Foretold:
        """The least-squares line through labelled units; level where the judge says one thing."""
        read = ~np.isnan(scores)
        everyone = (mean_run(humans.T) - marks.low) / marks.width
        people, said = everyone[read], scores[read]
        if not read.any():
            return cls(0.0, 0.0, float(everyone.mean()), float(np.var(everyone)))
        spread = float(np.var(said))
        both = float(np.mean((said - said.mean()) * people))
        slope = both / spread if spread > 1e-12 else 0.0
        mean = float(people.mean())
        return cls(mean - slope * float(said.mean()), slope, mean, float(np.var(everyone)))

    def of(self, scores: Floats) -> Floats:
        """(n,) what is foretold; the mean where there is no score."""
        said = np.where(np.isnan(scores), self.mean, self.level + self.slope * scores)
        return np.asarray(np.clip(said, 0.0, 1.0))


def _by_unit(units: Units, values: Floats) -> tuple[list[tuple[str, ...]], Floats]:
    """(item, system), or of pairs both systems, and the mean over what is asked of each."""
    place: dict[tuple[str, ...], int] = {}
    codes = np.array([place.setdefault(key, len(place)) for key in units.systems])
    mean = np.bincount(codes, weights=values) / np.bincount(codes)
    return list(place), np.asarray(np.round(mean, 9))


def draw(
    pair: OldAndNew, units: Units, number: int, seed: int, out: Path, *, as_pairs: bool = False
) -> Drawn:
    """Draw units on which two judges differ, and write the list for people.

    Pairs are listed as such where people compare (`as_pairs`), else by both of their responses.

    Raises
    ------
    InputError
        They differ nowhere.
    """
    old, new = pair.old, pair.new
    named, away = _by_unit(units, pair.away)
    what = what_in(units)
    found = np.unique(away[away > 0])
    if not len(found):
        raise InputError(
            f"{new.name} and {old.name} say the same of all {len(named)} {what}: there is "
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
    columns = ["item", "system", *(["system_b"] if "other" in units.keys.columns else [])]
    placed = pl.DataFrame(named, schema=columns, orient="row").with_columns(
        stratum=pl.Series(
            [names[list(strata).index(one)] if one >= 0 else "they agree" for one in place]
        ),
        labelled=pl.lit(value=False),
    )
    drawn = draw_labels(
        placed,
        dict(zip(names, wanted.tolist(), strict=True)),
        seed=seed,
    )
    rows = drawn.units.filter(pl.col("decision") == "human")
    queue = out / QUEUE
    write_csv(queue, _listed(rows, as_pairs=as_pairs), again=True)
    kept = {
        "schema_version": 1, "old": old.name, "new": new.name, "use": pair.use,
        "units": len(named),
        "sizes": sizes, "ends": [pair.most * end for end in ends], "names": names,
        "strata": [[*row, int(one)] for row, one in zip(named, place, strict=True)
                   if one >= 0],
        "attributes": units.keys["attribute"].unique(maintain_order=True).to_list(),
        "drawn": rows.select(columns).rows(),
    }  # fmt: skip
    write_text(out / DRAW, json.dumps(kept))
    told = tuple(
        (name, size, int(n), None) for name, size, n in zip(names, sizes, wanted, strict=True)
    )
    return Drawn(
        len(named), sum(sizes), rows.height, told, str(queue), pair.measure, what=what_in(units)
    )


def what_in(units: Units) -> str:
    """What is judged, in the plural."""
    if "other" in units.keys.columns:
        return "pairs"
    return "responses" if any(units.keys["system"]) else "items"


def _listed(rows: pl.DataFrame, *, as_pairs: bool) -> pl.DataFrame:
    """The list for people: pairs, or single responses; of each only once."""
    if "system_b" not in rows.columns:
        return rows
    if as_pairs:
        return rows.rename({"system": "system_a"})
    second = rows.with_columns(system="system_b")
    both = pl.concat([rows, second]).drop("system_b")
    return both.unique(["item", "system"], keep="first", maintain_order=True).sort("item")


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
    wanted = {tuple(row) for row in kept["drawn"]}
    # An older draw names the one attribute in each row.
    wide = 2 if "attributes" not in kept else len(next(iter(wanted)))
    places = {tuple(row[:wide]): row[-1] for row in kept["strata"]}
    asked = set(kept.get("attributes", [row[2] for row in kept["strata"]]))
    rows = list(zip(units.systems, units.keys["attribute"].to_list(), strict=True))
    said = Counter(named for named, attribute in rows if attribute in asked)
    mine = np.array(
        [
            attribute in asked and named in wanted and said[named] == len(asked)
            for named, attribute in rows
        ],
        bool,
    )
    if not mine.any():
        raise InputError(
            f"--measure: none of the {len(wanted)} that were drawn is labelled in these "
            "files" + (f" on all of {listed(sorted(asked))}" if len(asked) > 1 else "")
        )
    units = units.taken(mine)
    pair = both(units)
    if [pair.old.name, pair.new.name, pair.use] != [kept[key] for key in ("old", "new", "use")]:
        raise InputError(
            f"--measure: the draw in {out} is of {kept['new']} beside {kept['old']} for "
            f"{kept['use']}, and not of {pair.new.name} beside {pair.old.name} for {pair.use}"
        )
    named, gains = _by_unit(units, pair.gains(units.humans))
    place = [places[row] for row in named]
    gain = differing_gain(
        gains,
        kept["sizes"],
        kept["units"],
        strata=place,
        ends=kept["ends"],
        level=level,
    )
    labelled = np.bincount(place, minlength=len(kept["sizes"])).tolist()
    told = tuple(
        (name, size, None, n)
        for name, size, n in zip(kept["names"], kept["sizes"], labelled, strict=True)
    )
    return Drawn(
        kept["units"],
        sum(kept["sizes"]),
        len(wanted),
        told,
        str(out / QUEUE),
        pair.measure,
        gain,
        what=what_in(units),
    )
