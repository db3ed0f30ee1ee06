"""What correct, plan, escalate, release and cascade promise, held to simulated truth.

    python benchmarks/promises.py                        # all: about an hour of one core
    python benchmarks/promises.py --jobs 16 --seed 3     # on so many processes; other seeds
    python benchmarks/promises.py rates plans --share .1 # some parts, with a tenth of the runs

Writes results/promises.md. Intervals are to cover .93 to .98 in every cell; a cell that does not
is marked by a star. Beside ours stand ppi_py (where it is installed) and the labels alone. Gates
and watching have benchmarks of their own, gate.py and watch.py.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import polars as pl
from _spread import spread
from _timing import machine, table, versions
from correct import Tally, bounds, designs, peer
from scipy.stats import norm

from voirdire.errors import InputError
from voirdire.examining.correcting import cascade, escalate
from voirdire.examining.correcting.labelled import read_labelled
from voirdire.examining.spec.probabilities.found import top
from voirdire.stats import (
    labels_needed,
    prediction_powered_difference,
    prediction_powered_mean,
)
from voirdire.stats.probability import ProbabilityPanel

RESULTS = Path(__file__).resolve().parent / "results" / "promises.md"
LEAST, MOST = 0.93, 0.98
JUDGED = 1000
THREE = ("corrected", "ppi_py", "labels alone")
HEADS = ("runs", *THREE, "width / labels alone", "of ppi_py")
#: Middles of a 1 to 5 scale about which labels lie, and how far a judge errs.
GRADES = {"about 3": 3.0, "about 4": 4.0, "mostly 5": 5.0}
#: Beside these, for plans: six in seven labels are a 5.
NEARLY = {"nearly all 5": 5.6}
#: Half widths that are planned for; 0.05 for pass rates, 0.12 for other grades.
PLANNED = {"nearly all 5": 0.06}
NOISES = {"close": 0.5, "rough": 1.0, "nothing": None}


def tallied(pieces):
    """One tally of several."""
    whole = Tally(pieces[0].names)
    for one in pieces:
        whole.runs += one.runs
        whole.hits, whole.widths = whole.hits + one.hits, whole.widths + one.widths
    return whole


def starred(share):
    return f"{share:.3f}{'' if LEAST <= round(share, 3) <= MOST else ' *'}"


def cell_of(tally):
    """Coverage of ours, starred where it is off, of the others, and widths beside labels alone."""
    ours, *others = tally.hits / tally.runs
    return (starred(ours), *(f"{x:.3f}" for x in others), *tally.ratios("labels alone"))


def corrected_in(tally, truth, labels, f, **how):
    one = prediction_powered_mean(labels, f, **how)
    both = (bounds(one.interval), peer(labels, f), bounds(one.human.interval()))
    tally.add(truth, *both)


# Cells: what draws one world, and holds the intervals to its truth.


def judged_pass(chance, n, rate, right):
    """Labels of which `rate` pass, and a judge that is `right` so often."""
    y = (chance.random(n) < rate).astype(float)
    return y, np.where(chance.random(n) < right, y, 1 - y)


def dialogues(chance, rate, right, clusters, size):
    """Turns that pass, dialogue by dialogue: half of what makes a turn fail is its dialogue's."""
    group = np.repeat(np.arange(clusters), size)

    def latent():
        own = chance.normal(size=clusters)[group] + chance.normal(size=len(group))
        return own / np.sqrt(2)

    y = (latent() < norm.ppf(rate)).astype(float)
    # The judge's slips belong to the dialogue as well.
    return group, y, np.where(latent() < norm.ppf(right), y, 1 - y)


def rates(chance, runs, rate, right, n):
    tally = Tally(THREE)
    for _ in range(runs):
        y, f = judged_pass(chance, JUDGED, rate, right)
        labels = np.where(np.arange(JUDGED) < n, y, np.nan)
        corrected_in(tally, rate, labels, f, scale=(0, 1), method="strata")
    return tally


def graded(values):
    return np.clip(np.rint(values), 1, 5)


def grade_truth(middle):
    points = middle + norm.ppf((np.arange(200000) + 0.5) / 200000)
    return float(graded(points).mean())


def grades(chance, runs, middle, noise, n, size):
    """Labels of 1 to 5; half of what varies is the dialogue's, and dialogues are labelled whole."""
    tally, truth = Tally(THREE), grade_truth(GRADES[middle])
    for _ in range(runs):
        group = np.repeat(np.arange(JUDGED // size), size)

        def drawn(group=group):
            own = chance.normal(size=JUDGED)
            if size == 1:
                return own
            return (own + chance.normal(size=JUDGED // size)[group]) / np.sqrt(2)

        clear = GRADES[middle] + drawn()
        spoiled = NOISES[noise]
        f = graded(GRADES[middle] + drawn() if spoiled is None else clear + spoiled * drawn())
        labels = np.where(group < n, graded(clear), np.nan)
        how = {"clusters": group} if size > 1 else {}
        corrected_in(tally, truth, labels, f, scale=(1, 5), **how)
    return tally


def probabilities(chance, runs, rate, n):
    """People pass or fail, and the judge gives a probability that is too sure of itself."""
    tally = Tally(THREE)
    for _ in range(runs):
        y = (chance.random(JUDGED) < rate).astype(float)
        odds = 2.5 * (2 * y - 1) + 2 * chance.normal(size=JUDGED)
        labels = np.where(np.arange(JUDGED) < n, y, np.nan)
        corrected_in(tally, rate, labels, 1 / (1 + np.exp(-odds)), scale=(0, 1), method="strata")
    return tally


def hundreds(chance, runs, middle, n):
    """Scores of 0 to 100, some of them at the ends."""
    tally = Tally(THREE)
    points = middle + 20 * norm.ppf((np.arange(200000) + 0.5) / 200000)
    truth = float(np.clip(points, 0, 100).mean())
    for _ in range(runs):
        clear = middle + 20 * chance.normal(size=JUDGED)
        f = np.clip(clear + 5 + 15 * chance.normal(size=JUDGED), 0, 100)
        labels = np.where(np.arange(JUDGED) < n, np.clip(clear, 0, 100), np.nan)
        corrected_in(tally, truth, labels, f, scale=(0, 100))
    return tally


def rate_clusters(chance, runs, size, rate, clusters):
    tally = Tally(THREE)
    for _ in range(runs):
        group, y, f = dialogues(chance, rate, 0.9, 200, size)
        labels = np.where(group < clusters, y, np.nan)
        corrected_in(tally, rate, labels, f, clusters=group, scale=(0, 1), method="strata")
    return tally


def differences(chance, runs, kind, design, n):
    """Two systems, alike in what makes an item hard; pass rates of .90 and .85, or grades."""
    of_a, of_b, known_a, known_b = designs(n)[design]
    tally = Tally(("corrected", "labels alone"))
    middles = (norm.ppf(0.9), norm.ppf(0.85)) if kind == "pass" else (4.0, 3.7)
    truth = 0.05 if kind == "pass" else grade_truth(4.0) - grade_truth(3.7)
    how = {"scale": (0, 1), "method": "strata"} if kind == "pass" else {"scale": (1, 5)}
    for _ in range(runs):
        hard, sides = chance.normal(size=600), []
        for middle, own, known in zip(middles, (of_a, of_b), (known_a, known_b), strict=True):
            clear = middle + (hard + chance.normal(size=600)) / np.sqrt(2)
            if kind == "pass":
                y = (clear > 0).astype(float)
                f = np.where(chance.random(600) < 0.9, y, 1 - y)
            else:
                y, f = graded(clear), graded(clear + 0.7 * chance.normal(size=600))
            sides += [np.where(known & own, y, np.nan), np.where(own, f, np.nan)]
        one = prediction_powered_difference(*sides, **how)
        tally.add(truth, bounds(one.interval), bounds(one.human.interval()))
    return tally


def drawn_for(kind, chance, n, size):
    """Labels and a judge, in dialogues of `size` turns, and the dialogue of each."""
    group = np.repeat(np.arange(n // size), size)
    if isinstance(kind, float):
        if size == 1:
            return group, *judged_pass(chance, n, kind, 0.9)
        return dialogues(chance, kind, 0.9, n // size, size)

    def drawn():
        own = chance.normal(size=n)
        return own if size == 1 else (own + chance.normal(size=n // size)[group]) / np.sqrt(2)

    clear = {**GRADES, **NEARLY}[kind] + drawn()
    return group, graded(clear), graded(clear + 0.7 * drawn())


def plans(chance, runs, kind, size, pilot):
    """Pilots: within a fifth of the width planned; does the bound suffice, the width foretold hold?

    Each is tried on labels that its pilot did not see. Pilots that are too small to plan from are
    counted apart.
    """
    rate = isinstance(kind, float)
    half = (0.05 if rate else PLANNED.get(kind, 0.12)) * (1 if size == 1 else 1.5)
    how = {"scale": (0.0, 1.0), "method": "strata"} if rate else {"scale": (1.0, 5.0)}
    found, total = np.zeros(5), 3000
    for _ in range(runs):
        group, y, f = drawn_for(kind, chance, total, size)
        if size > 1:
            how["clusters"] = group
        plan = labels_needed(np.where(group < pilot, y, np.nan), f, half, **how)[0]
        if plan.few is not None:
            found[3] += 1
            continue
        group, y, f = drawn_for(kind, chance, total, size)
        halves = []
        for n in (plan.with_judge, plan.upper):
            labels = np.where(group < min(n, total // size - 10), y, np.nan)
            halves.append(prediction_powered_mean(labels, f, **how).interval.width / 2)
        low, high = plan.width
        close = abs(halves[0] / half - 1) <= 0.2
        found += (close, halves[1] <= half, low <= halves[0] <= high, 0, 1)
    return found


def dialogue_panel(chance, size, labels, noises, items=1500):
    """Judges of 1 to 5 with errors of their own and of the dialogue; one person's labels; truth."""
    group = np.repeat(np.arange(items // size), size)

    def drawn():
        own = chance.normal(size=items)
        if size == 1:
            return own
        return (own + chance.normal(size=items // size)[group]) / np.sqrt(2)

    clear = 3.2 + 1.2 * drawn()
    truth = graded(clear)
    said = {f"judge_{k}": graded(clear + noise * drawn()) for k, noise in enumerate(noises)}
    frame = pl.DataFrame(
        {
            "item": [f"i{n}" for n in range(items)], "cluster": [f"d{g}" for g in group], **said,
            "human": np.where(np.arange(items) < labels, truth, np.nan),
        }
    )  # fmt: skip
    return frame.with_columns(pl.col("human").fill_nan(None)), truth


#: Nothing went out and no target was missed, in one run that was refused.
REFUSED = np.array([0, 0, 0, 1, 1])


def unless_refused(job, frame, **how):
    """What a command finds; None where it holds labels that were drawn at random to be chosen."""
    try:
        return job(frame, **how)
    except InputError as problem:
        if "not drawn at random" not in str(problem):
            raise
        return None


def guards(chance, runs, kind, labels, size):
    """How often labels that were drawn at random are refused, and how often reported."""
    found, judged = np.zeros(3), 400
    for _ in range(runs):
        group = np.repeat(np.arange(judged // size), size)
        points = chance.normal(size=judged)
        if size > 1:
            points = (points + chance.normal(size=judged // size)[group]) / np.sqrt(2)
        if isinstance(kind, float):
            scores = (points < norm.ppf(kind)).astype(float)
        else:
            scores = graded(GRADES[kind] + points)
        known = np.isin(group, chance.choice(judged // size, labels // size, replace=False))
        frame = pl.DataFrame(
            {
                "item": [f"i{n}" for n in range(judged)], "cluster": [f"d{g}" for g in group],
                "judge": scores, "human": np.where(known, scores, np.nan),
            }
        ).with_columns(pl.col("human").fill_nan(None))  # fmt: skip
        data = unless_refused(read_labelled, frame, reference=["human"])
        reported = data is not None and any(one.kind == "labels_differ" for one in data.findings)
        found += (data is None, reported, 1)
    return found


def escalations(chance, runs, size, labels, agree):
    """How often anything goes out, that share, how often it misses its target, and how often
    labels that were drawn at random are refused.
    """
    found = np.zeros(5)
    for _ in range(runs):
        frame, truth = dialogue_panel(chance, size, labels, (1.2, 1.0))
        one = unless_refused(
            escalate,
            frame,
            agree=agree,
            risk=0.1,
            gate=4,
            reference=["human"],
            judge="judge_0",
            seed=int(chance.integers(1 << 30)),
        )
        if one is None:
            found += REFUSED
            continue
        share = one.share.share
        missed = False
        if share > 0:
            sure = one.queue.filter(pl.col("confidence") >= one.share.threshold)
            at = sure["item"].str.slice(1).cast(pl.Int64).to_numpy()
            missed = ((sure["score"].to_numpy() >= 4) == (truth[at] >= 4)).mean() < agree
        found += (share > 0, share, missed, 0, 1)
    return found


def erring(chance, kind, size, clusters, rate):
    """Dialogue of each turn, and whether it is right. What makes one err is half the dialogue's, or
    all of it; or else half of the errors are those of a few dialogues that err as wholes, whose
    others show nothing of it. Sizes are alike, or vary, or a few are very long.
    """
    sizes = np.full(clusters, size)
    if "uneven" in kind:
        sizes = chance.geometric(1 / size, clusters)
    if "long" in kind:
        sizes = np.maximum(np.rint(size * chance.lognormal(-0.5, 1, clusters)), 1).astype(int)
    group = np.repeat(np.arange(clusters), sizes)
    if "few" in kind:
        bad = (1 - rate) / 2
        wrong = chance.random(clusters) < bad
        return group, ~wrong[group] & (chance.random(len(group)) < rate / (1 - bad))
    part = 1.0 if "whole" in kind else 0.5
    latent = np.sqrt(part) * chance.normal(size=clusters)[group]
    latent = latent + np.sqrt(1 - part) * chance.normal(size=len(group))
    return group, latent < norm.ppf(rate)


def releases(chance, runs, kind, size, clusters):
    """How often a side is released whose agreement is exactly the target, and one that has .95."""
    found = np.zeros(3)
    for _ in range(runs):
        for at, rate in enumerate((0.85, 0.95)):
            group, right = erring(chance, kind, size, clusters, rate)
            sure = chance.random(len(group)) < 0.7
            other = chance.random(len(group)) < 0.7
            yes = np.where(sure, right, other).astype(float)
            panel = ProbabilityPanel.of(np.where(sure, 0.95, 0.6), yes[None], clusters=group)
            found[at] += top(panel, 0.9, 0.85, "yes").state == "yes"
        found[2] += 1
    return found


def cascades(chance, runs, size, labels, noises, agree):
    """How often one is certified, what it releases, how often it misses its target, and how often
    labels that were drawn at random are refused.
    """
    found = np.zeros(5)
    for _ in range(runs):
        frame, truth = dialogue_panel(chance, size, labels, noises)
        one = unless_refused(
            cascade,
            frame,
            agree=agree,
            prices={"judge_0": 0.01, "judge_1": 0.1},
            person=1.0,
            gate=4,
            reference=["human"],
            seed=int(chance.integers(1 << 30)),
        )
        if one is None:
            found += REFUSED
            continue
        missed = False
        if one.judges:
            goes = (one.queue["judge"] != "").to_numpy()
            same = (one.queue["score"].fill_null(0).to_numpy() >= 4) == (truth >= 4)
            missed = same[goes].mean() < agree
        found += (bool(one.judges), one.released, missed, 0, 1)
    return found


LABELS = (20, 50, 100, 200)
DESIGNS = tuple(designs(20))


def _covered(heads, rows):
    return lambda found: table(
        (*heads, *HEADS),
        [
            (*_names(cell), whole.runs, *cell_of(whole))
            for cell, whole in zip(rows, map(tallied, found), strict=True)
        ],
    )


def _names(cell):
    return (f"{one:.0%}" if isinstance(one, float) and one <= 1 else str(one) for one in cell)


def _differences(rows):
    heads = (
        "of",
        "A and B have",
        "labels each",
        "runs",
        "corrected",
        "labels alone",
        "width / labels alone",
    )
    return lambda found: table(
        heads,
        [
            (*cell, whole.runs, *cell_of(whole))
            for cell, whole in zip(rows, map(tallied, found), strict=True)
        ],
    )


def _shares(heads, rows, digits=3):
    def made(found):
        lines = []
        for cell, pieces in zip(rows, found, strict=True):
            *sums, runs = np.sum(pieces, 0)
            lines.append((*_names(cell), f"{runs:.0f}", *(f"{x / runs:.{digits}f}" for x in sums)))
        return table(heads, lines)

    return made


def _part(title, work, runs, rows, shown):
    return title, work, runs, rows, shown


RATES = [
    (rate, right, n) for rate in (0.5, 0.7, 0.9, 0.97) for right in (0.5, 0.8, 0.95) for n in LABELS
]
GRADED = [(middle, noise, n, 1) for middle in GRADES for noise in NOISES for n in LABELS]
GRADED_CLUSTERS = [
    (middle, noise, n, size)
    for size in (5, 10)
    for middle in GRADES
    for noise in ("close", "nothing")
    for n in (10, 20, 40)
]
CHANCES = [(rate, n) for rate in (0.5, 0.7, 0.9, 0.97) for n in LABELS]
HUNDREDS = [(middle, n) for middle in (50, 75, 90) for n in LABELS]
CLUSTERS = [
    (size, rate, n) for size in (5, 10) for rate in (0.5, 0.7, 0.9, 0.97) for n in (10, 20, 40)
]
DIFFERENCES = [
    (kind, design, n) for kind in ("pass", "grades") for n in (20, 50, 100) for design in DESIGNS
]
PLANS = [
    *(
        (kind, 1, pilot)
        for kind in (0.3, 0.5, 0.7, 0.9, 0.97, *GRADES, *NEARLY)
        for pilot in (50, 100, 200)
    ),
    *((kind, 5, pilot) for kind in (0.7, 0.9, *GRADES, *NEARLY) for pilot in (20, 40)),
]
ESCALATIONS = [
    (size, labels, agree)
    for size in (1, 5, 10)
    for labels, agree in ((200, 0.85), (400, 0.85), (400, 0.9), (1000, 0.85))
]
#: How errors come, in the words of `erring`.
ERRING = ("half", "whole", "few", "half uneven", "few uneven", "whole long")
RELEASES = [("half", 1, 60), ("half", 1, 200), *(
    (kind, size, clusters) for kind in ERRING for size in (5, 10, 20)
    for clusters in (20, 40, 80))]  # fmt: skip
GUARDS = [
    (kind, labels, size)
    for kind in (0.97, 0.9, "about 4", "mostly 5")
    for labels, size in ((20, 1), (100, 1), (100, 5), (100, 10))
]
CASCADES = [
    (size, labels, noises, 0.85)
    for size in (1, 5, 10)
    for labels, noises in ((400, (1.6, 1.2)), (400, (1.2, 0.8)), (1000, (1.2, 0.8)))
]

#: Name -> title, what one cell does, its runs, the cells, and the table of what they gave.
PARTS = {
    "rates": _part("Pass rates", rates, 2000, RATES,
                   _covered(("pass", "judge right", "labels"), RATES)),
    "probabilities": _part("Pass rates beside a judge's probabilities", probabilities, 2000,
                           CHANCES, _covered(("pass", "labels"), CHANCES)),
    "grades": _part("Grades of 1 to 5", grades, 2000, GRADED,
                    _covered(("labels lie", "judge", "labels", "turns"), GRADED)),
    "hundreds": _part("Scores of 0 to 100", hundreds, 2000, HUNDREDS,
                      _covered(("labels lie about", "labels"), HUNDREDS)),
    "rate_clusters": _part("Pass rates in dialogues", rate_clusters, 2000, CLUSTERS,
                           _covered(("dialogues of", "pass", "labelled dialogues"), CLUSTERS)),
    "grade_clusters": _part("Grades in dialogues", grades, 2000, GRADED_CLUSTERS,
                            _covered(("labels lie", "judge", "labelled dialogues", "dialogues of"),
                                     GRADED_CLUSTERS)),
    "differences": _part("Differences of two systems", differences, 2000, DIFFERENCES,
                         _differences(DIFFERENCES)),
    "plans": _part("Plans", plans, 400, PLANS,
                   _shares(("labels", "turns", "pilot", "pilots", "within 20 % of the plan",
                            "upper bound suffices (80 %)", "width foretold holds (90 %)",
                            "too small to plan from, for each that is not"), PLANS)),
    "escalation": _part("Escalation at a risk of .10", escalations, 400, ESCALATIONS,
                        _shares(("dialogues of", "labels", "agreement asked", "runs",
                                 "anything goes out", "share", "missed", "refused"), ESCALATIONS)),
    "release": _part("Release where sure, asked .85 at a risk of .05", releases, 4000, RELEASES,
                     _shares(("errors", "dialogues of", "dialogues", "runs",
                              "missed (truth .85)", "seen (truth .95)"), RELEASES)),
    "cascade": _part("Cascades at a risk of .10", cascades, 200, CASCADES,
                     _shares(("dialogues of", "labels", "errors of both judges", "agreement asked",
                              "runs", "certified", "released", "missed", "refused"),
                             CASCADES)),
    "guard": _part("Labels drawn at random that are refused (.001) or reported (.05)", guards,
                   2000, GUARDS, _shares(("labels", "of 400 judged", "in clusters of", "files",
                                          "refused", "reported"), GUARDS, 4)),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--jobs", type=int, default=0, help="processes; all cores by default")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--share", type=float, default=1.0, help="of the runs of each cell")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]!r}: {', '.join(PARTS)}")
    kept = {}
    if given.out.exists():
        text = given.out.read_text(encoding="utf-8")
        for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            title, body = part.split("\n", 1)
            kept[title] = body.strip()
    for name in given.parts or PARTS:
        title, work, runs, rows, shown = PARTS[name]
        runs = max(round(runs * given.share), 1)
        seed = given.seed + list(PARTS).index(name)
        kept[title] = shown(spread(work, rows, runs, seed=seed, jobs=given.jobs))
        parts = [f"## {part[0]}\n\n{kept[part[0]]}" for part in PARTS.values() if part[0] in kept]
        star = f"A star marks coverage outside of {LEAST} to {MOST}. Seed {given.seed}."
        head = ["# Promises held to simulated truth", machine(), versions("numpy", "scipy"), star]
        given.out.write_text("\n\n".join([*head, *parts]) + "\n", encoding="utf-8")
        print(f"## {title}\n\n{kept[title]}\n", flush=True)


if __name__ == "__main__":
    main()
