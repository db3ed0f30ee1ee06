"""Who has seen the answers (LEAK): honest judges among people of many kinds, and judges that have.

    python benchmarks/verdict_leak.py [--panels 300] [--jobs 2] [PEOPLE ...]

It writes results/verdict_leak.md.

Five systems, 150 items and, but for what a kind of people says, three humans, each with lasting
views of single responses. Seeds from 5,000,000. An honest judge sees the response alone, or shares
views with people; nobody of them may be told to have seen the answers.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from _help import help_asked
from _spread import counted, jobs_of, option

from voirdire.examining.spec import ground_of
from voirdire.examining.spec.scores.case import Case
from voirdire.study import Margins

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_leak.md"
FIRST, SYSTEMS, ITEMS = 5_000_000, 5, 150
VIEW, NOISE = 0.35, 0.6


@dataclass(frozen=True)
class People:
    """What sets a kind of people apart: a scale, and for each human an error, spread and level."""

    low: float = 1
    high: float = 5
    centre: float = 3
    unit: float = 1
    noise: tuple[float, ...] = (NOISE, NOISE, NOISE)
    spread: tuple[float, ...] = (1, 1, 1)
    level: tuple[float, ...] = (0, 0, 0)
    #: What the first two share beside the response, and how often the second repeats the first.
    shared: float = 0
    repeats: float = 0

    def scored(self, quality):
        """Qualities about 0 as scores on the scale."""
        return np.clip(np.rint(self.centre + self.unit * quality), self.low, self.high)


PEOPLE = {
    "alike": People(),
    "one weak": People(noise=(0.9, NOISE, NOISE), spread=(0.5, 1, 1)),
    "one half as wide again": People(spread=(1, 1.5, 1)),
    "one half as wide": People(spread=(1, 0.5, 1)),
    "one milder": People(level=(0.6, 0, 0)),
    "two share errors": People(shared=0.5),
    "one copies another": People(repeats=1),
    "one copies four in five": People(repeats=0.8),
    "five": People(noise=(NOISE,) * 5, spread=(1,) * 5, level=(0,) * 5),
    "two": People(noise=(NOISE,) * 2, spread=(1,) * 2, level=(0,) * 2),
    "hardly any noise": People(noise=(0.1,) * 3),
    "scale 1 to 3": People(1, 3, 2, 0.6),
    "pass or fail": People(0, 1, 0.5, 0.5),
    "pass nine in ten": People(0, 1, 1, 0.5),
    "scale 0 to 100": People(0, 100, 50, 22),
    "most at the top": People(centre=4.6),
}


def drawn(seed: int, people: str):
    """Scores of humans (R, S, I), of honest judges and of those that have seen scores."""
    kind, rng = PEOPLE[people], np.random.default_rng([seed, 77])
    shape = (SYSTEMS, ITEMS)

    def noise(size):
        return rng.normal(0, size, shape)

    quality = rng.normal(0, 0.45, (SYSTEMS, 1)) + rng.normal(0, 0.45, (1, ITEMS)) + noise(0.35)
    views = [noise(VIEW) for _ in kind.noise]
    seen = [quality + view + noise(size) for view, size in zip(views, kind.noise, strict=True)]
    seen = [
        spread * one + level
        for one, spread, level in zip(seen, kind.spread, kind.level, strict=True)
    ]
    both = noise(kind.shared)
    seen[:2] = [one + both for one in seen[:2]]
    humans = np.stack([kind.scored(one) for one in seen])
    humans[1] = np.where(rng.random(shape) < kind.repeats, humans[0], humans[1])
    peers = [quality + noise(VIEW) + noise(NOISE) for _ in range(3)]
    view, last = noise(VIEW), views[-1]
    runs = np.stack([kind.scored(quality + view + noise(NOISE)) for _ in range(5)])
    honest = {
        "perfect": quality,
        "sharp": quality + noise(0.3),
        "lenient": quality + noise(0.3) + 0.6,
        "peer": peers[0],
        "three peers": np.mean(peers, axis=0),
        "same person": quality + last + noise(NOISE),
        "third of a view": quality + last / 3 + noise(0.2),
        "half of a view": quality + last / 2,
        "a third of everybody's view": quality + sum(views) / 3,
        "spreads half": 0.5 * (quality + noise(0.2)),
        "spreads twice": 2 * (quality + noise(0.2)),
    }
    honest = {name: kind.scored(scores) for name, scores in honest.items()}
    honest |= {
        "perfect, not rounded": kind.centre + kind.unit * quality,
        "median of its runs": np.median(runs, axis=0),
        "mean of its runs": runs.mean(axis=0),
    }
    return humans, honest, _leaked(humans, honest["peer"], kind, rng)


def _leaked(humans, peer, kind, rng):
    """Made of what the humans said, of all of them or of the last."""
    last, mean = humans[-1], humans.mean(axis=0)
    lots = rng.random(peer.shape)
    noise = rng.normal(0, 0.5 * kind.unit, peer.shape)
    return {
        "rounded mean": np.clip(np.rint(mean), kind.low, kind.high),
        "mean": mean,
        "median of people": np.median(humans, axis=0),
        "last human": last.copy(),
        "last human and noise": np.clip(np.rint(last + noise), kind.low, kind.high),
        "last human in 6 of 10": np.where(lots < 0.6, last, peer),
        "last human in 3 of 10": np.where(lots < 0.3, last, peer),
    }


def case_of(people: str, humans, judge) -> Case:
    """One judge beside these people."""
    kind = PEOPLE[people]
    system, item = (part.ravel() for part in np.indices(judge.shape))
    return Case(
        "judge",
        "tone",
        tuple("abcde"[: len(humans)]),
        judge.reshape(1, -1),
        humans.reshape(len(humans), -1),
        item,
        float(kind.high - kind.low),
        systems=system,
    )


def told(ground) -> str:
    """``seen`` (told to have seen the answers), ``follows`` (one human leaves), or nothing."""
    part = ground.leak()
    if part.state == "no":
        return "seen" if part.reason == "seen answers" else "held"
    return "follows" if ground.followed else ""


def run(people: str, panels: int, jobs: int = 1) -> Counter:
    """(group, judge, what is told) counted."""
    return counted(partial(examined, people), range(FIRST, FIRST + panels), jobs)[0]


def examined(people: str, seed: int) -> Counter:
    """What all judges are told in one panel."""
    counts = Counter()
    humans, *groups = drawn(seed, people)
    for group, judges in zip(("honest", "leaked"), groups, strict=True):
        for name, judge in judges.items():
            ground = ground_of(case_of(people, humans, judge), Margins())
            counts[group, name, told(ground)] += 1
    return counts


def main(chosen, panels: int, jobs: int = 1) -> str:
    """The report as Markdown."""
    cells = {}
    for people in chosen:
        cells[people] = run(people, panels, jobs)
        print(people, file=sys.stderr, flush=True)
    names = {key[1]: key[0] for counts in cells.values() for key in counts}
    lines = [
        "# Who has seen the answers, on simulated judges",
        "",
        f"{panels} panels of each kind of people, {SYSTEMS} x {ITEMS}, seeds from {FIRST:,}.",
        "*Seen*: told to have seen the answers; *held*: none or one is left whom it does not",
        "follow; *follows*: one human leaves its reference, with a finding.",
        "",
        "| people | honest judges | seen | held | follows | of these, share no view |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for people, counts in cells.items():
        own = {key: n for key, n in counts.items() if key[0] == "honest"}
        each = [
            sum(n for key, n in own.items() if key[2] == what)
            for what in ("seen", "held", "follows")
        ]
        strange = sum(n for key, n in own.items() if key[2] == "follows" and not _shares(key[1]))
        figures = " | ".join(f"{n:,}" for n in (sum(own.values()), *each, strange))
        lines.append(f"| {people} | {figures} |")
    leaked = [name for name, group in names.items() if group == "leaked"]
    lines += [
        "",
        "Share of judges that have seen scores and were told so, or whose human left:",
        "",
        "| people | " + " | ".join(leaked) + " |",
        "|---|" + "---:|" * len(leaked),
    ]
    for people, counts in cells.items():
        shares = (1 - counts["leaked", name, ""] / panels for name in leaked)
        lines.append(f"| {people} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")
    return "\n".join(lines) + "\n"


def _shares(judge: str) -> bool:
    return judge == "same person" or "view" in judge


if __name__ == "__main__":
    help_asked(__doc__)
    options = sys.argv[1:]
    named = [one for one in options if one in PEOPLE] or list(PEOPLE)
    text = main(named, option(options, "--panels", 300), jobs_of(options))
    if named == list(PEOPLE):
        RESULTS.write_text(text, encoding="utf-8")
    print(text)
