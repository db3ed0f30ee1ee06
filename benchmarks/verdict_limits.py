"""What no test of the verdict tells for sure: judges at a limit, and who is too noisy.

    python benchmarks/verdict_limits.py [--panels 150] [--jobs 2]

It writes results/verdict_limits.md. First, as `verdict_hidden.py`, who answers by the question with
a human's noise, and beside it what the best test there is would pass. Then SYS with narrower
margins: what they pass of exchangeable humans, and of judges at the limit and beyond it. Last SYS
beside the best test that there is of a system favoured just beyond the limit.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from _help import help_asked
from _spread import jobs_of, option
from verdict_hidden import FIRST, MARGINS, UNSURE, USES, case_of, run, share

from voirdire.examining import simulate
from voirdire.examining.simulate import simulate_panel
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.spec.scores.systems import favour
from voirdire.stats.bias_by_system import HumanSpread, specific
from voirdire.stats.reading_by_system import beside_items
from voirdire.stats.sums import Jackknifed

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_limits.md"
SIZES = ((10, 100), (10, 200), (5, 200), (3, 200))
#: Points that a system may be off, parts of what is allowed, and how far off judges are in it.
SYSTEM, MARGINS_TRIED, TIMES, DRAWS = 0.4, (1.0, 0.9, 0.8, 0.75), (1.0, 1.25, 1.5), 8000
NAMES = tuple("abcdefghij")
#: Panels for the best test of systems, and draws of what each may be.
BEST = (400, 3000)


def limits(sizes, panels: int, jobs: int = 1) -> list[str]:
    """Yes of who answers two systems of ten (one of fewer) by the question, as noisy as a human.

    Beside it what the best test would pass that there is: who knows how much a reader's slope in a
    system is in units of its error, and that so many systems are answered by the question, and who
    may hold back 5 in 100 readers, compares likelihoods. Both slopes are normal there.
    """
    lines = [
        "| systems x items | a human's slope, in errors | "
        + " | ".join(USES)
        + " | the best test there is |",
        "|---|---:|" + "---:|" * (len(USES) + 1),
    ]
    for systems, items in sizes:
        counts, _ = run(systems, items, panels, jobs, kinds=(UNSURE,))
        cells = [_cell(counts, use) for use in USES]
        shown = " | ".join(share(cell["yes"] + cell["yes of some"], cell.total()) for cell in cells)
        clear = clarity(systems, items, 20)
        lines.append(
            f"| {systems} x {items} | {clear:.1f} | {shown} "
            f"| {best_test(systems, max(1, systems // 5), clear):.2f} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def _cell(counts: Counter, use: str) -> Counter:
    return Counter({key[3]: n for key, n in counts.items() if key[:3] == (UNSURE, use, False)})


def clarity(systems: int, items: int, panels: int) -> float:
    """A human's mean slope on single responses in a system, in units of its standard deviation."""
    slopes = []
    for seed in range(FIRST, FIRST + panels):
        panel = simulate_panel(systems, items, seed, kinds=("good",))
        ground = ScoreGround(case_of(panel.humans, panel.judges["good"]), MARGINS)
        each = beside_items(ground.panel, ground.humans).values()
        slopes += [float(one.slope.at) for one in each]
    return float(np.mean(slopes) / np.std(slopes))


def best_test(systems: int, unread: int, clear: float, held: float = 0.05) -> float:
    """The share of judges it passes that read nothing in so many systems."""
    rng = np.random.default_rng(FIRST)
    readers = rng.normal(clear, 1, (40_000, systems))
    judges = readers - clear * (np.arange(systems) < unread)

    def odds(slopes):
        # Which of the systems are unread is not known: the mean over all choices of so many.
        ratio = np.exp(clear**2 / 2 - clear * slopes)
        chosen = combinations(range(systems), unread)
        return np.mean([ratio[:, list(one)].prod(axis=1) for one in chosen], axis=0)

    return float(np.mean(odds(judges) <= np.quantile(odds(readers), 1 - held)))


@dataclass(frozen=True)
class Drawn:
    """Means of systems of which one jackknife is known: how far each system is off."""

    off: Jackknifed

    def jackknife(self, _):
        return self.off


def narrower(items: int, draws: int, seed: int = FIRST) -> list[str]:
    """SYS of ten systems and three humans, a row a margin: what is passed by whom.

    Means of systems are drawn, as `simulate` has their parts; what is allowed is estimated from
    the drawn humans. A judge is at the limit whose true deviation in one system is what is allowed
    by the true spread of people.
    """
    rng, systems, people = np.random.default_rng([seed, items]), 10, 3
    factor, df = systems / (systems - 1), (people - 1) * (systems - 1)
    noise = (simulate.NOISE**2 + 1 / 12) / items
    se = np.full(systems, math.sqrt(noise * (1 + 1 / people) * factor))
    known = HumanSpread(simulate.OWN**2, simulate.OWN, df, people)
    beyond, inside = (known.allow(SYSTEM, factor, systems, once) for once in (0.01, 0.05))
    yes = Counter()
    for _ in range(draws):
        views = rng.normal(0, simulate.OWN, (people + 1, systems))
        own = specific(views[-1] - views[:-1].mean(axis=0))
        spread = _spread_of(views[:-1] + rng.normal(0, math.sqrt(noise), (people, systems)), noise)
        error = rng.normal(0, se)
        judges = {"exchangeable": own} if np.abs(own).max() <= inside else {}
        for times in TIMES:
            at = own.copy()
            at[0] = times * beyond
            judges[times] = at
        for name, true in judges.items():
            yes[name] += 1
            for part in MARGINS_TRIED:
                scaled = replace(
                    spread, variance=spread.variance * part**2, leniency=spread.leniency * part
                )
                off = Drawn(Jackknifed(true + error, se, items - 1))
                found = favour("SYS", off, scaled, part * SYSTEM, NAMES)
                yes[name, part] += found.state == "yes"
    return [
        f"| 10 x {items} | {part:.2f} | "
        + " | ".join(f"{yes[name, part] / yes[name]:.3f}" for name in ("exchangeable", *TIMES))
        + " |"
        for part in MARGINS_TRIED
    ]


def best_of_systems(systems: int, items: int, panels: int, draws: int, held: float = 0.05) -> str:
    """What SYS passes of exchangeable humans who deserve it, and what the best test there is.

    It knows how much people's views differ and the error of each mean, and lets 5 in 100 of those
    through who are up to a tenth beyond the limit: it compares how probable it is, the panel being
    what it is, that a judge is one of these and that it deserves the use.
    """
    rng, factor, people = np.random.default_rng([FIRST, systems, items]), systems / (systems - 1), 3
    known = HumanSpread(simulate.OWN**2, simulate.OWN, (people - 1) * (systems - 1), people)
    inside, beyond = (known.allow(SYSTEM, factor, systems, once) for once in (0.05, 0.01))
    noise = (simulate.NOISE**2 + 1 / 12) / items
    error, wide = noise * (1 + 1 / people), simulate.OWN**2 * (1 + 1 / people)

    def farthest(bias):
        return np.abs(specific(bias)).max(axis=-1)

    fair, unfair = [], []
    while min(len(fair), len(unfair)) < panels:
        views = rng.normal(0, simulate.OWN, (50_000, people + 1, systems))
        far = farthest(views[:, -1] - views[:, :-1].mean(axis=1))
        fair += list(views[far <= inside][:panels])
        unfair += list(views[(far > beyond) & (far <= 1.1 * beyond)])
    passed, odds = [], []
    for chosen in (fair[:panels], unfair[:panels]):
        own = []
        for view in chosen:
            judge = rng.normal(0, math.sqrt(noise), systems)
            humans = rng.normal(0, math.sqrt(noise), (people, systems))
            seen = view[-1] + judge - (view[:-1] + humans).mean(axis=0)
            # A posteriori views are normal about what is seen, shrunk.
            kept = wide / (wide + error)
            may_be = rng.normal(kept * seen, math.sqrt(kept * error), (draws, systems))
            at = farthest(may_be)
            wrong = ((at > beyond) & (at <= 1.1 * beyond)).mean()
            own.append(wrong / max((at <= inside).mean(), 1 / draws))
            if not odds:
                each = np.full(systems, math.sqrt(error * factor))
                off = Jackknifed(specific(seen), each, items - 1)
                spread = _spread_of(view[:-1] + humans, noise)
                found = favour("SYS", Drawn(off), spread, SYSTEM, NAMES[:systems])
                passed.append(found.state == "yes")
        odds.append(np.array(own))
    best = float(np.mean(odds[0] <= np.quantile(odds[1], held)))
    return f"| {systems} x {items} | {np.mean(passed):.2f} | {best:.2f} |"


def _spread_of(means, noise: float) -> HumanSpread:
    """The spread between people from their means (R, S), each with that variance of noise."""
    people, systems = means.shape
    rest = means - means.mean(axis=0)
    rest = rest - rest.mean(axis=1, keepdims=True)
    df = (people - 1) * (systems - 1)
    return HumanSpread(max(float((rest**2).sum() / df) - noise, 0.0), 0.0, df, people)


def main(panels: int, jobs: int = 1) -> str:
    """The report as Markdown."""
    lines = [
        "# Who answers by the question with a human's noise",
        "",
        f"In two systems of ten, one of fewer. Yes of {panels} panels and the upper 95 % bound.",
        "The last column is what the likelihood ratio passes that knows all but which systems they",
        "are and holds back 5 in 100 readers.",
        "",
        *limits(SIZES, panels, jobs),
        "",
        "SYS with a part of today's margin, and what it passes: exchangeable humans who deserve",
        "it, and judges with one system so many times as far off as is allowed.",
        "",
        "| systems x items | margin | exchangeable | " + " | ".join(map(str, TIMES)) + " |",
        "|---|---:|---:|" + "---:|" * len(TIMES),
        *(row for items in (100, 200) for row in narrower(items, DRAWS)),
        "",
        "SYS of exchangeable humans who deserve it, and the best test there is:",
        "",
        "| systems x items | SYS passes | the best test of systems passes |",
        "|---|---:|---:|",
        *(best_of_systems(*size, *BEST) for size in ((10, 100), (10, 200), (3, 200))),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    help_asked(__doc__)
    text = main(option(sys.argv, "--panels", 150), jobs_of(sys.argv))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
