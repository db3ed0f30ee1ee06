"""Corrected means: coverage on public sets, width beside labels alone and ppi_py, plans, speed.

    python benchmarks/correct.py                     # all, about 15 minutes of one core
    python benchmarks/correct.py summeval clusters   # some parts; the others of the file stay

Prints the tables and writes results/correct.md. Parts: the names of the sets, simulated, clusters,
ceiling, differences, plans, escalation, speed. What is held to simulated truth is in promises.py.

Needs the published data (VOIRDIRE_SHARED or ../shared) and, for the peer, ppi-python. Items are
drawn with replacement from a set whose mean is known; a part is labelled, all are judged.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _help import help_asked
from _timing import machine, median_seconds, table, versions

import voirdire
from voirdire.stats import (
    automated_share,
    labels_needed,
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_means,
)

RESULTS = Path(__file__).resolve().parent / "results" / "correct.md"
SHARED = Path(os.environ.get("VOIRDIRE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
SETS = ("summeval", "10k_prompts", "lgbteen", "framing")
JUDGES = ("gpt-4o", "gemini_pro", "mistral-v03")
WORDS = {"yes": 1.0, "no": 0.0, "partially": 0.5}
REPS, JUDGED = 2000, 1000


def value(label):
    return float(label) if isinstance(label, int | float) else WORDS.get(str(label).lower())


def load(name, judge):
    """Mean human label and the judge's score of each item that has both."""
    folder = SHARED / "data" / "alttest" / name
    humans = json.loads((folder / "human_annotations.json").read_text())
    judged = json.loads((folder / "llm_annotations.json").read_text())[judge]
    pairs = []
    for item, score in judged.items():
        labels = [value(own[item]) for own in humans.values() if item in own]
        labels = [label for label in labels if label is not None]
        if labels and value(score) is not None:
            pairs.append((np.mean(labels), value(score)))
    return np.array(pairs).T


def bounds(interval):
    return interval.low, interval.high


def peer(labels, f):
    """The interval of ppi_py (PPI++ at its own weight); undefined where it is not installed."""
    try:
        from ppi_py import ppi_mean_ci
    except ImportError:
        return np.nan, np.nan
    known = ~np.isnan(labels)
    # Labels that all agree, or a judge that does not vary, divide by 0 there.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = ppi_mean_ci(labels[known], f[known], f[~known], alpha=0.05)
    return float(np.ravel(low)[0]), float(np.ravel(high)[0])


class Tally:
    """How often each of some intervals holds the truth, and how wide they are."""

    def __init__(self, names):
        self.names, self.runs = names, 0
        self.hits, self.widths = np.zeros(len(names)), np.zeros(len(names))

    def add(self, truth, *intervals):
        self.runs += 1
        self.hits += [low <= truth <= high for low, high in intervals]
        self.widths += [high - low for low, high in intervals]

    def shares(self):
        return [f"{x:.3f}" for x in self.hits / self.runs]

    def ratios(self, beside):
        """Mean widths over that of one of them, which is left out."""
        at = self.names.index(beside)
        ratios = self.widths / self.widths[at]
        return [f"{x:.3f}" for place, x in enumerate(ratios) if place != at]


def coverage(y, f, n, reps=REPS):
    """A tally of 95 % intervals for the mean of a set; pass and fail are corrected by strata."""
    chance, truth = np.random.default_rng(n), y.mean()
    ends = min(y.min(), f.min()), max(y.max(), f.max())
    method = "strata" if set(np.unique(np.r_[y, f])) <= set(ends) else "t"
    tally, alone = Tally(("corrected", "ppi_py", "labels alone")), 0
    for _ in range(reps):
        rows = chance.integers(0, len(y), JUDGED)
        labels = np.where(np.arange(JUDGED) < n, y[rows], np.nan)
        corrected = prediction_powered_mean(labels, f[rows], scale=ends, method=method)
        tally.add(
            truth,
            bounds(corrected.interval),
            peer(labels, f[rows]),
            bounds(corrected.human.interval()),
        )
        judge = corrected.judge.interval()
        alone += judge.low <= truth <= judge.high
    return method, tally, alone / reps


HEADS = ("runs", "corrected", "ppi_py", "labels alone", "width / labels alone", "of ppi_py")


def set_table(name):
    rows = []
    for judge in JUDGES:
        y, f = load(name, judge)
        for n in (20, 50, 100, 200):
            method, tally, alone = coverage(y, f, n)
            rows.append(
                (
                    judge,
                    method,
                    n,
                    f"{alone:.3f}",
                    REPS,
                    *tally.shares(),
                    *tally.ratios("labels alone"),
                )
            )
            print(name, rows[-1], flush=True)
    return table(("judge", "by", "labels", "judge alone", *HEADS), rows)


def judged_normal(r):
    """Normal labels, and a judge that correlates with them by r."""

    def draw(chance, n):
        y = chance.normal(size=n)
        return y, r * y + np.sqrt(1 - r * r) * chance.normal(size=n)

    return draw, 0.0, None


#: Judges whose truth is known: what draws them, the mean of the labels, and the ends of the scale.
WORLDS = {f"normal, r = {r:g}": judged_normal(r) for r in (0, 0.1, 0.2, 0.5, 0.8, 0.95)}


def simulated_table():
    """Coverage and width with the weight held back by its noise, and with the published one."""
    rows = []
    for name, (draw, truth, ends) in WORLDS.items():
        for n in (20, 50):
            chance, hits, widths = np.random.default_rng(n), np.zeros(3), np.zeros(3)
            for _ in range(REPS):
                y, f = draw(chance, JUDGED)
                labels = np.where(np.arange(JUDGED) < n, y, np.nan)
                held, plain = (
                    prediction_powered_mean(labels, f, scale=ends, shrink=shrink)
                    for shrink in (True, False)
                )
                own = held.interval, plain.interval, held.human.interval()
                hits += [one.low <= truth <= one.high for one in own]
                widths += [one.width for one in own]
            shares = (f"{x:.3f}" for x in (*hits / REPS, *widths[:2] / widths[2]))
            rows.append((name, n, REPS, *shares))
            print(rows[-1], flush=True)
    heads = (
        "labels and judge",
        "labels",
        "runs",
        "corrected",
        "published weight",
        "labels alone",
        "width / labels alone",
        "with the published weight",
    )
    return table(heads, rows)


def clusters_table():
    rows = []
    for clusters, right in ((12, 0.0), (12, 0.2), (12, 0.8), (40, 0.8)):
        chance, hits, widths = np.random.default_rng(clusters), np.zeros(2), np.zeros(2)
        for _ in range(REPS):
            group = np.repeat(np.arange(clusters * 6), 5)
            truth = chance.normal(0, 1, clusters * 6)[group] + chance.normal(0, 0.5, len(group))
            other = chance.normal(0, 1, clusters * 6)[group] + chance.normal(0, 0.5, len(group))
            judge = right * truth + np.sqrt(1 - right**2) * other
            labels = np.where(group < clusters, truth, np.nan)
            estimates = [
                prediction_powered_mean(labels, judge, clusters=own) for own in (group, None)
            ]
            hits += [one.interval.low <= 0 <= one.interval.high for one in estimates]
            widths += [estimates[0].interval.width, estimates[0].human.interval().width]
        shares = (f"{x:.3f}" for x in (*hits / REPS, widths[0] / widths[1]))
        rows.append((clusters, right, REPS, *shares))
        print(rows[-1], flush=True)
    heads = ("labelled clusters", "r", "runs", "with clusters", "without", "width / labels alone")
    return table(heads, rows)


def mentalalign():
    """Judge -> (systems, items) of both, for one attribute after another."""
    data = SHARED / "data" / "mentalalign70k"
    examination = voirdire.examine("mentalalign", data=data, resamples=0)
    from voirdire.examining.ratings.cube import build_cube

    names = examination.ratings["rater"].cast(str).unique(maintain_order=True).to_list()
    attributes = examination.ratings["attribute"].cast(str).unique(maintain_order=True).to_list()
    return build_cube(examination.ratings, names, attributes)


def ceiling_table(cube, reps=500, n=50):
    rows = []
    items = len(cube.items)
    place = np.full((len(cube.systems), items), -1)
    place[cube.system, cube.item] = np.arange(len(cube.item))
    human = cube.of("Human", "Safety")[place]
    truth = np.nanmean(human, 1)
    for judge in cube.raters[1:] if cube.raters[0] == "Human" else cube.raters:
        if judge == "Human":
            continue
        scores = cube.of(judge, "Safety")[place]
        chance, hits, total, widths = np.random.default_rng(1), np.zeros(2), 0, np.zeros(2)
        group = np.repeat(np.arange(len(truth)), items)
        for _ in range(reps):
            drawn = chance.integers(0, items, items)
            labels = np.where(np.arange(items) < n, human[:, drawn], np.nan)
            by_system = prediction_powered_means(
                labels.ravel(), scores[:, drawn].ravel(), group, scale=(1, 5)
            )
            for system, one in by_system.items():
                own = one.interval, one.human.interval()
                hits += [part.low <= truth[system] <= part.high for part in own]
                widths += [part.width for part in own]
                total += 1
        rows.append(
            (judge, total, *(f"{x:.3f}" for x in hits / total), f"{widths[0] / widths[1]:.3f}")
        )
        print(rows[-1], flush=True)
    return table(("judge, Safety", "intervals", "corrected", "labels alone", "width ratio"), rows)


def designs(n, items=600):
    """Name -> which items A and B answered, and which labels of each there are."""
    at = np.arange(items)
    return {
        "same items, same labels": (at >= 0, at >= 0, at < n, at < n),
        "same items, other labels": (at >= 0, at >= 0, at < n, (at >= n) & (at < 2 * n)),
        "a third shared": (at < 400, at >= 200, at < n, (at >= 200) & (at < 200 + n)),
        "other items": (at < 300, at >= 300, at < n, (at >= 300) & (at < 300 + n)),
    }


def differences_table(cube, reps=REPS, judge="GPT-4o"):
    """Coverage of the difference of two systems, averaged over pairs of MentalAlign's systems."""
    items, rows = len(cube.items), []
    place = np.full((len(cube.systems), items), -1)
    place[cube.system, cube.item] = np.arange(len(cube.item))
    whole = [
        (cube.of("Human", name)[place], cube.of(judge, name)[place])
        for name in ("Empathy", "Safety")
        if name in cube.attributes
    ]
    for n in (20, 50):
        for name, (of_a, of_b, known_a, known_b) in designs(n).items():
            chance, hits, widths = np.random.default_rng(n), np.zeros(2), np.zeros(2)
            for _ in range(reps):
                human, scores = whole[chance.integers(0, len(whole))]
                a, b = chance.choice(len(human), 2, replace=False)
                drawn = chance.integers(0, items, 600)
                truth = np.nanmean(human[a]) - np.nanmean(human[b])
                sides = [
                    (
                        np.where(known, human[s, drawn], np.nan),
                        np.where(own, scores[s, drawn], np.nan),
                    )
                    for s, own, known in ((a, of_a, known_a), (b, of_b, known_b))
                ]
                difference = prediction_powered_difference(*sides[0], *sides[1], scale=(1, 5))
                own = difference.interval, difference.human.interval()
                hits += [one.low <= truth <= one.high for one in own]
                widths += [one.width for one in own]
            share = (f"{x:.3f}" for x in hits / reps)
            rows.append((name, n, reps, *share, f"{widths[0] / widths[1]:.3f}"))
            print(rows[-1], flush=True)
    heads = ("A and B have", "labels each", "runs", "corrected", "labels alone", "width ratio")
    return table(heads, rows)


def speed_row(cube):
    labels = cube.of("Human", "Safety").copy()
    labels[cube.item >= 50] = np.nan
    judges = [name for name in cube.raters if name != "Human"]

    def ours():
        for judge in judges:
            for attribute in cube.attributes:
                prediction_powered_means(
                    labels, cube.of(judge, attribute), cube.system, scale=(1, 5)
                )

    clock, start = median_seconds(ours, 5), time.process_time()
    for _ in range(5):
        ours()
    busy = (time.process_time() - start) / 5
    systems = len(cube.systems)
    return f"28 pairs x {systems} systems: {clock:.3f} s, of the processor {busy:.3f} s"


def peer_row():
    try:
        from ppi_py import ppi_mean_ci
    except ImportError:
        return "ppi_py is not installed: not compared."
    chance, worst = np.random.default_rng(0), 0.0
    for _ in range(200):
        y = chance.normal(size=40)
        f, u = y + chance.normal(size=40), chance.normal(size=400)
        one = prediction_powered_mean(np.r_[y, np.full(400, np.nan)], np.r_[f, u], method="normal")
        low, high = ppi_mean_ci(y, f, u, alpha=0.05, lam=one.weight)
        worst = max(
            worst,
            abs(one.interval.low - float(np.ravel(low)[0])),
            abs(one.interval.high - float(np.ravel(high)[0])),
        )
    return f"Largest difference from ppi_py with our weight, 200 samples: {worst:.1e}."


def planned(draw, half_width, reps, **how):
    """Pilots of 50: shares of plans within a fifth, of bounds that suffice, of widths foretold.

    `draw` gives labels and judge scores of so many rows; `how` is how they will be corrected.
    """
    chance, total = np.random.default_rng(3), 3000
    within = holds = foretold = 0
    for _ in range(reps):
        y, f = draw(chance, total)
        pilot = np.where(np.arange(total) < 50, y, np.nan)
        plan = labels_needed(pilot, f, half_width, **how)[0]
        y, f = draw(chance, total)
        halves = []
        for n in (plan.with_judge, plan.upper):
            labels = np.where(np.arange(total) < min(n, total - 10), y, np.nan)
            halves.append(prediction_powered_mean(labels, f, **how).interval.width / 2)
        within += abs(halves[0] / half_width - 1) <= 0.2
        holds += halves[1] <= half_width
        foretold += plan.width[0] <= halves[0] <= plan.width[1]
    return (f"{part / reps:.3f}" for part in (within, holds, foretold))


def plan_table(reps=1000):
    rows = []
    for name in SETS:
        y, f = load(name, "gpt-4o")

        def drawn(chance, n, y=y, f=f):
            at = chance.integers(0, len(y), n)
            return y[at], f[at]

        rows.append((name, reps, *planned(drawn, 0.03 * np.ptp(y), reps)))
        print(rows[-1], flush=True)
    heads = (
        "set",
        "pilots of 50",
        "within 20 % of the plan",
        "upper bound holds",
        "width foretold holds (90 %)",
    )
    return table(heads, rows)


def escalation_table(reps=1000, n=400):
    """Agreement with the humans' commonest label; confidence from the other judges' agreement."""
    from collections import Counter

    from sklearn.linear_model import LogisticRegression

    rows = []
    for name, target in (("lgbteen", 0.75), ("framing", 0.80), ("summeval", 0.50)):
        folder = SHARED / "data" / "alttest" / name
        humans = json.loads((folder / "human_annotations.json").read_text())
        judged = json.loads((folder / "llm_annotations.json").read_text())
        agree, features = [], []
        levels = sorted({str(x) for x in judged["gpt-4o"].values()})
        for item, score in judged["gpt-4o"].items():
            said = [str(own[item]) for own in humans.values() if item in own]
            said = [label for label in said if label != "No response"]
            if not said:
                continue
            same = [str(judged[o].get(item)) == str(score) for o in judged if o != "gpt-4o"]
            agree.append(
                float(
                    str(score) == min(Counter(said).most_common(), key=lambda x: (-x[1], x[0]))[0]
                )
            )
            features.append([np.mean(same), *same, *(str(score) == one for one in levels)])
        agree, features = np.array(agree), np.array(features, float)
        chance, missed, naive, shares = np.random.default_rng(5), 0, 0, []
        for _ in range(reps):
            drawn = chance.integers(0, len(agree), 2000)
            a, x = agree[drawn], features[drawn]
            model = LogisticRegression(C=0.3, max_iter=300).fit(x[: n // 2], a[: n // 2])
            sure, everywhere = model.predict_proba(x)[:, 1], model.predict_proba(features)[:, 1]
            automated = automated_share(a[n // 2 : n], sure[n // 2 : n], sure, target=target)
            shares.append(automated.share)
            missed += (
                automated.share > 0 and agree[everywhere >= automated.threshold].mean() < target
            )
            cuts = np.unique(sure[:n])
            fine = [cut for cut in cuts if a[:n][sure[:n] >= cut].mean() >= target]
            naive += bool(fine) and agree[everywhere >= min(fine)].mean() < target
        rows.append(
            (
                name,
                target,
                reps,
                f"{np.mean(shares):.3f}",
                f"{missed / reps:.3f}",
                f"{naive / reps:.3f}",
            )
        )
        print(rows[-1], flush=True)
    return table(
        ("set", "agreement asked", "runs", "share automated", "missed", "naive threshold missed"),
        rows,
    )


PARTS = {
    **{name: (f"Coverage of 95 % intervals: {name}", lambda name=name: set_table(name))
       for name in SETS},
    "simulated": ("Simulated labels and judges", simulated_table),
    "clusters": ("Clusters of five items", clusters_table),
    "ceiling": ("Ratings at the ceiling (MentalAlign-70k, Safety, 50 labels a system)",
                lambda: ceiling_table(mentalalign())),
    "differences": ("Differences of two systems (MentalAlign-70k, Empathy and Safety, GPT-4o)",
                    lambda: differences_table(mentalalign())),
    "plans": ("Plans", plan_table),
    "escalation": ("Escalation at risk 0.10, 400 labels", escalation_table),
    "speed": ("Speed and peer", lambda: f"{speed_row(mentalalign())}\n\n{peer_row()}"),
}  # fmt: skip


def main(names):
    """Make these parts anew, and keep the others of the file."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]!r}: {', '.join(PARTS)}")
    kept = {}
    if RESULTS.exists():
        for text in re.split(r"^## ", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, body = text.split("\n", 1)
            kept[title] = body.strip()
    for name in names or PARTS:
        title, make = PARTS[name]
        kept[title] = make()
        parts = [f"## {one}\n\n{kept[one]}" for one, _ in PARTS.values() if one in kept]
        head = ["# Corrected means, plans and escalation", machine(), versions("numpy", "scipy")]
        RESULTS.write_text("\n\n".join([*head, *parts]) + "\n", encoding="utf-8")
        print(f"## {title}\n\n{kept[title]}\n", flush=True)


if __name__ == "__main__":
    help_asked(__doc__)
    main(sys.argv[1:])
