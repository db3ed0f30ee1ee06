"""Judges that nobody built the rule against: six kinds that fail somewhere, and peers of people.

    python benchmarks/verdict_others.py [--panels 150] [--jobs 2]

It writes results/verdict_others.md. A generator of its own, seeds from 14,000,000: responses have
lengths, items lie in a file in an order and belong to one of three people, systems had a last
release. What a judge must not have is what the rule itself says *no* to over `ENDLESS` items of the
same systems; *open* there counts for neither error. Then BIAS1 of exchangeable humans where people
differ in leniency.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from _spread import counted, jobs_of, option
from verdict_hidden import MARGINS, USES, case_of, share

from voirdire.examining.spec import COMPONENTS, ground_of
from voirdire.examining.verdict.decide import AskedUse, decide

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_others.md"
FIRST, ENDLESS, PEOPLE = 14_000_000, 1500, 3
SIZES = ((10, 200), (5, 150))
LENIENT = ((10, 200), (5, 150), (1, 200))


def drawn(systems: int, items: int, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Scores of people (3, S, I) and of judges (S, I); the first so many items are the panel's."""
    rng = np.random.default_rng([seed, systems, 91])
    many = (systems, items + ENDLESS)
    system, old = rng.normal(0, 0.5, (systems, 1)), rng.normal(0, 0.3, (systems, 1))
    views = rng.normal(0, 0.12, (PEOPLE + 1, systems, 1))
    # A heavier tail than the normal's, and humans of unequal noise.
    apart = 0.4 * rng.standard_t(6, many) / np.sqrt(1.5)
    quality = 3 + system + rng.normal(0, 0.5, (1, many[1])) + apart
    noise = np.array([0.5, 0.65, 0.8])[:, None, None]
    people = quality + views[:PEOPLE] + noise * rng.normal(0, 1, (PEOPLE, *many))
    peer = quality + views[-1] + rng.normal(0, 0.65, many)
    sharp = quality + rng.normal(0, 0.3, many)
    others = quality + rng.normal(0, 0.65, (PEOPLE, *many))
    level = 3 + system
    long = rng.random(many) < 0.5
    # The panel's items are a file of their own; those without end lie anywhere in it.
    place = np.concatenate([np.arange(items) / items, rng.random(ENDLESS)])
    owner = rng.integers(0, PEOPLE, many[1])
    top = quality > np.quantile(quality, 2 / 3)
    made = {
        "exchangeable": peer,
        "reads long texts alone": np.where(long, sharp, level + rng.normal(0, 0.5, many)),
        "drifts in the second half": peer + 2.4 * np.maximum(place - 0.5, 0),
        "constant in the top third": np.where(top, 4.0, sharp),
        "last release's means": level + old + rng.normal(0, 0.5, many),
        "median of the item": np.median(others, axis=(0, 1)) + 0 * quality,
        "inverted for one person's items": np.where(owner == 0, 2 * level - sharp, sharp),
    }
    return _rounded(people), {name: _rounded(scores) for name, scores in made.items()}


def _rounded(scores: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(scores), 1, 5)


def examined(systems: int, items: int, seed: int) -> Counter:
    """(judge, use, state without end, state) of one panel."""
    people, judges = drawn(systems, items, seed)
    counts = Counter()
    for name, scores in judges.items():
        here = _states(people[:, :, :items], scores[:, :items])
        truth = _states(people[:, :, items:], scores[:, items:])
        counts.update((name, use, truth[use], here[use]) for use in USES)
    return counts


def _states(people, judge) -> dict[str, str]:
    ground = ground_of(case_of(people, judge), MARGINS)
    return {use: decide(ground, AskedUse(use, "these systems")).state for use in USES}


def lenient(systems: int, items: int, spread: float, seed: int) -> Counter:
    """States of BIAS1 of one exchangeable human where people differ by so many points."""
    rng = np.random.default_rng([seed, systems, 92])
    quality = 3 + rng.normal(0, 0.6, (systems, items))
    severity = rng.normal(0, spread, (PEOPLE + 1, 1, 1))
    seen = _rounded(quality + severity + rng.normal(0, 0.6, (PEOPLE + 1, systems, items)))
    (part,) = COMPONENTS["BIAS1"].found(ground_of(case_of(seen[:-1], seen[-1]), MARGINS))
    return Counter([part.state])


def main(panels: int, jobs: int = 1) -> str:
    """The report as Markdown."""
    lines = [
        "# Judges that nobody built the rule against",
        "",
        f"Yes of those to which the rule says no over {ENDLESS:,} items, with the upper 95 %",
        f"bound; {panels} panels, three people, seeds from {FIRST:,}. In brackets: yes of all.",
        "",
        "| systems x items | judge of another generator | " + " | ".join(USES) + " |",
        "|---|---|" + "---:|" * len(USES),
    ]
    for size in SIZES:
        counts, n = counted(partial(examined, *size), range(FIRST, FIRST + panels), jobs)
        for name in dict.fromkeys(key[0] for key in sorted(counts)):
            cells = []
            for use in USES:
                own = Counter()
                for key, times in counts.items():
                    if key[:2] == (name, use):
                        own[key[2:]] += times
                must_not = sum(t for (truth, _), t in own.items() if truth == "no")
                every = sum(t for (_, state), t in own.items() if state == "yes")
                told = share(own["no", "yes"], must_not)
                cells.append(f"{told or 'none'} ({every / n:.2f})")
            lines.append(f"| {size[0]} x {size[1]} | {name} | {' | '.join(cells)} |")
        print(*lines[-7:], sep="\n", file=sys.stderr, flush=True)
    lines += [
        "",
        "BIAS1 of an exchangeable human where people's leniency differs, 400 panels a row:",
        "",
        "| systems x items | points between people | yes | open | no |",
        "|---|---:|---:|---:|---:|",
    ]
    for systems, items in LENIENT:
        for spread in (0.1, 0.2, 0.35):
            work = partial(lenient, systems, items, spread)
            states, n = counted(work, range(FIRST, FIRST + 400), jobs)
            lines.append(
                f"| {systems} x {items} | {spread} | {states['yes'] / n:.3f} "
                f"| {states['open'] / n:.3f} | {share(states['no'], n)} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = main(option(sys.argv, "--panels", 150), jobs_of(sys.argv))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
