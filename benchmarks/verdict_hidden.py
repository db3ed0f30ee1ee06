"""What averages hide: kinds of judges with one fault each that a mean over all responses hides.

    python benchmarks/verdict_hidden.py [--panels 150] [--rare 3000] [--often 150] [--jobs 2]

It writes results/verdict_hidden.md. `--rare` is how many panels are drawn at most to find 150 in
which a fair judge must not have a use, `--often` how many for judges of which that is more common.

Three humans, judges by `voirdire.examining.simulate`; no family or subgroup is declared. Seeds from
3,000,000. The truth of each is by construction; of the deserving that of the panel's true means
over 3,000 more items, a close call counting for neither error. The table of labels is of one
column of pass and fail at 90 %.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from _help import help_asked
from _spread import counted, jobs_of, option
from verdict import upper

from voirdire.examining import simulate
from voirdire.examining.simulate import Kind, deserved, simulate_panel
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.stats.bias_by_system import HumanSpread
from voirdire.study import Margins

RESULTS = Path(__file__).resolve().parent / "results" / "verdict_hidden.md"
FIRST, ENDLESS = 3_000_000, 3000
USES = ("order", "score", "single", "gate")
SIZES = ((10, 100), (10, 200), (3, 200))
MARGINS = Margins()
#: Below so many systems pairs are compared. Who turns one round which people hold apart by a
#: twentieth of the scale must not order them; who turns round a closer one is a close call.
FEWEST, HELD_APART = 5, 0.2


def _first(world, count, other):
    """The peer's scores, but in the first so many systems."""
    scores = world.peer.copy()
    scores[:count] = (other + 0 * world.quality)[:count]
    return scores


def _third(world) -> int:
    return max(1, round(0.3 * len(world.system)))


def _blind(world):
    return _first(world, _third(world), simulate.CENTRE + world.system + world.view + world.noise)


def _inverts(world):
    level = simulate.CENTRE + world.system
    return _first(world, max(1, len(world.system) // 5), 2 * level - world.peer)


def _by_question(world):
    """What the item deserves, whatever the response to it says."""
    return _first(
        world,
        max(1, len(world.system) // 5),
        simulate.CENTRE + world.system + 1.2 * world.item + 0.5 * world.noise,
    )


def _question_and_system(world):
    return simulate.CENTRE + world.system + world.item + 0.3 * world.noise


def _swaps(world):
    """Scores of the first two systems under each other's name."""
    scores = world.peer.copy()
    scores[[0, 1]] = scores[[1, 0]]
    return scores


def _blind_in_one(world):
    return _first(world, 1, simulate.CENTRE + world.system + world.view + world.noise)


def _tail_of_one(world):
    """5 points to the worst two fifths of one system alone."""
    scores = world.quality + 0.3 * world.noise
    worst = world.quality[0] < np.quantile(world.quality[0], 0.4)
    scores[0] = np.where(worst, 5.0, scores[0])
    return scores


def _passes_half_of_worst(world):
    lucky = world.rng.random(world.quality.shape) < 0.5
    worst = world.quality < np.quantile(world.quality, 0.1)
    return np.where(worst & lucky, 5.0, world.quality + 0.3 * world.noise)


def _easy_alone(world):
    """Right where quality is plain, lots of 1 to 5 in the half between."""
    plain = np.abs(world.quality - simulate.CENTRE)
    lots = world.rng.integers(1, 6, world.quality.shape)
    return np.where(plain > np.median(plain), world.quality + 0.3 * world.noise, lots)


def _passes_worst(world):
    sharp = world.quality + 0.3 * world.noise
    return np.where(world.quality < np.quantile(world.quality, 0.04), 5.0, sharp)


#: Kinds beside those of `simulate`: what they do, and whether they read in every system.
HIDDEN = {
    kind.name: kind
    for kind in (
        Kind("blind in 3 of 10", _blind, "answers the mean in three of ten systems", reads=False),
        Kind("inverts 2 of 10", _inverts, "turns the scale round in two of ten", reads=False),
        Kind("passes the worst", _passes_worst, "5 points to the worst 4 %", single=None),
        Kind("favours one", lambda w: w.peer + 1.2 * (np.arange(len(w.system)) == 0)[:, None],
             "1.2 points more for one system"),
        Kind("blind in one", _blind_in_one, "answers the mean in one system", reads=False),
        Kind("question alone in 2 of 10", _by_question, "reads no response there", reads=False),
        Kind("question and system", _question_and_system, "reads no response", reads=False),
        Kind("swaps two systems", _swaps, "scores the other's response"),
        Kind("worst of one system", _tail_of_one, "5 points to the worst of one system",
             single=None),
        Kind("half of the worst tenth", _passes_half_of_worst, "5 points to half of them",
             single=None),
        Kind("right where it is easy", _easy_alone, "lots in the half between"),
    )
}  # fmt: skip


def _question_and_noise(world):
    """The same with a human's noise, which no test tells for sure: a table of its own."""
    return _first(
        world,
        max(1, len(world.system) // 5),
        simulate.CENTRE + world.system + world.item + world.noise,
    )


UNSURE = "question alone in 2 of 10, a human's noise"
LIMITS = {UNSURE: Kind(UNSURE, _question_and_noise, "reads no response there", reads=False)}
#: Made of what the humans said: nobody may be told anything of them.
SEEN = {
    "rounded panel mean": lambda humans, rng: np.rint(humans.mean(axis=0)),
    "panel mean, 0 to 5 by fifths": lambda humans, rng: np.rint(humans.mean(axis=0) * 5) / 5,
}
KINDS = (
    "good", "sharp", "lenient", "noisy", "blind", "blind with noise", "permuted", "prompt only",
    *HIDDEN,
)  # fmt: skip
DESERVING = ("good", "sharp")
#: Fair to all, or off by the same everywhere: what they deserve depends on the panel.
FAIR = ("good", "sharp", "lenient", "noisy")
#: What these deserve depends on the panel as well, and more often.
BY_PANEL = (
    "passes the worst",
    "favours one",
    "swaps two systems",
    "worst of one system",
    "half of the worst tenth",
    "right where it is easy",
)
RARE = (*FAIR, *BY_PANEL)
#: What the first table has, since it is so in every panel.
BUILT_IN = {
    ("lenient", "score"), ("lenient", "single"), ("lenient", "gate"), ("noisy", "single"),
    ("noisy", "gate"), ("passes the worst", "gate"), ("favours one", "score"),
    ("favours one", "single"), ("favours one", "gate"), ("swaps two systems", "single"),
    ("swaps two systems", "gate"), ("worst of one system", "score"),
    ("worst of one system", "single"), ("worst of one system", "gate"),
    ("half of the worst tenth", "gate"), ("right where it is easy", "single"),
}  # fmt: skip
#: So many undeserving panels a cell are drawn where there are so many: 5 % of them are below 8 %.
LEAST = 400
#: Fewer are no cell of the first table where panels make judges undeserving: the second has those.
FEWEST_SHOWN = 150
#: Panels that are looked through at first, and that are drawn at once; a use that fewer of them
#: make undeserved than one in so many is not waited for.
BLOCK, FEW, SELDOM = 4000, 500, 1 / 100
FAIR_CELLS = tuple((name, use) for name in FAIR for use in USES if (name, use) not in BUILT_IN)


def case_of(humans, judge, gate=4.0) -> Case:
    """One judge (S, I) beside humans (R, S, I), nothing declared but the gate."""
    raters, systems, items = humans.shape
    system, item = (part.ravel() for part in np.indices((systems, items)))
    return Case(
        "judge",
        "quality",
        tuple(map(str, range(raters))),
        judge.reshape(1, -1),
        humans.reshape(raters, -1),
        item,
        4.0,
        systems=system,
        gate=GateRule(gate),
    )


def truth_of(panel, name) -> dict[str, bool | None]:
    """What a judge deserves, by use."""
    if name in SEEN:
        return dict.fromkeys(USES, False)
    truth = dict(deserved(panel, name))
    if name in ("passes the worst", "worst of one system", "half of the worst tenth"):
        truth["gate"] = False
    if name == "right where it is easy" and panel.stops[name]:
        truth["gate"] = None
    human, judge = panel.means["humans"], panel.means[name]
    if len(human) < FEWEST and simulate.KINDS[name].reads and truth["order"] is False:
        # Of so few a correlation is no truth: what is claimed is the order of pairs.
        turned = np.abs(np.subtract.outer(human, human))[
            np.subtract.outer(human, human) * np.subtract.outer(judge, judge) < 0
        ]
        truth["order"] = False if turned.max(initial=0) > HELD_APART else None
    return truth


def run(systems: int, items: int, panels: int, jobs: int = 1, first: int = FIRST, kinds=KINDS):
    """(kind, use, truth, state) counted, `not_shown` beside it, and panels that were run."""
    work = partial(draw, systems, items, kinds)
    return counted(work, range(first, first + panels), jobs)


def draw(systems: int, items: int, kinds, seed: int) -> Counter:
    """The states of these kinds, and of those that have seen the answers, in one panel."""
    counts = Counter()
    with Known():
        rng = np.random.default_rng([seed, 5])
        panel = simulate_panel(systems, items, seed, kinds=kinds, endless=ENDLESS)
        panel = replace(panel, family=np.zeros(systems, bool))
        seen = {name: made(panel.humans, rng) for name, made in SEEN.items() if kinds == KINDS}
        for name, judge in {**panel.judges, **seen}.items():
            truth = truth_of(panel, name)
            ground = ScoreGround(case_of(panel.humans, judge), MARGINS)
            for use in USES:
                made = decide(ground, AskedUse(use, "these systems"))
                left = any(part.not_shown for part in made.parts)
                state = "yes of some" if made.state == "yes" and left else made.state
                counts[name, use, truth[use], state] += 1
    return counts


class Known:
    """The kinds of this page beside those of `simulate`, for as long as the block lasts."""

    def __enter__(self):
        self.before = simulate.KINDS
        simulate.KINDS = {**self.before, **HIDDEN, **LIMITS}

    def __exit__(self, *_):
        simulate.KINDS = self.before


def tables(cells) -> list[str]:
    """False yes by design, kind and use; then yes of the deserving."""
    lines = [
        "| systems x items | judge | " + " | ".join(USES) + " |",
        "|---|---|" + "---:|" * len(USES),
    ]
    for (systems, items), (counts, panels) in cells.items():
        pooled = Counter()
        for name in (*KINDS, *SEEN):
            shown = []
            for use in USES:
                wrong = {key[3]: n for key, n in counts.items() if key[:3] == (name, use, False)}
                n, hits = sum(wrong.values()), wrong.get("yes", 0) + wrong.get("yes of some", 0)
                pooled[use, "n"] += n
                pooled[use, "hits"] += hits
                shown.append(share(hits, n) if n >= FEWEST_SHOWN or panels < n + 1 else "")
            if any(shown):
                lines.append(f"| {systems} x {items} | {name} | {' | '.join(shown)} |")
        both = [(pooled[use, "hits"], pooled[use, "n"]) for use in USES]
        told = [f"{hits} of {n} (< {upper(hits, n):.4f})" if n else "" for hits, n in both]
        lines.append(f"| {systems} x {items} | **all that must not** | {' | '.join(told)} |")
    lines += [
        "",
        "| systems x items | panels | deserving judge | " + " | ".join(USES) + " |",
        "|---|---:|---|" + "---:|" * len(USES),
    ]
    for (systems, items), (counts, panels) in cells.items():
        for name in DESERVING:
            shown = []
            for use in USES:
                right = {key[3]: n for key, n in counts.items() if key[:3] == (name, use, True)}
                n = sum(right.values())
                yes = right.get("yes", 0) + right.get("yes of some", 0)
                shown.append(f"{yes / n:.2f} of {n}, no {right.get('no', 0)}" if n else "")
            lines.append(f"| {systems} x {items} | {panels} | {name} | {' | '.join(shown)} |")
    return lines


def rare(systems: int, items: int, panels: int, jobs: int = 1, least: int = LEAST):
    """(kind, use, state) of fair judges that are undeserving since some panels make them so.

    Panels are drawn until each cell has as many, or `panels` are drawn. Only those are examined
    whose qualities and views may make a judge undeserving of a use that has not yet enough.
    """
    counts, drawn = Counter(), 0
    while drawn < panels:
        wanted = {cell for cell in FAIR_CELLS if _cell(counts, *cell).total() < least}
        if not wanted:
            break
        # Ever more at once: those that are still wanted are the rarer ones.
        seeds = range(2 * FIRST + drawn, 2 * FIRST + min(drawn + max(BLOCK, drawn), panels))
        may_be, _ = counted(partial(_odd, systems, items, wanted), seeds, jobs, chunk=1000)
        counts.update(counted(partial(draw_rare, systems, items), sorted(may_be), jobs)[0])
        drawn += len(seeds)
    return counts, drawn


def draw_rare(systems: int, items: int, one: tuple[int, str]) -> Counter:
    """The states of one fair judge in one panel, of the uses that it must not have."""
    seed, name = one
    return undeserving(systems, items, seed, FAIR, [name])


def undeserving(systems: int, items: int, seed: int, kinds, looked_at) -> Counter:
    """(kind, use, state) of what judges must not have in one panel, though not by construction."""
    counts = Counter()
    with Known():
        panel = simulate_panel(systems, items, seed, kinds=kinds, endless=ENDLESS)
        panel = replace(panel, family=np.zeros(systems, bool))
        for name in looked_at:
            truth = truth_of(panel, name)
            # Faults by construction are in the first table.
            uses = [use for use in USES if truth[use] is False and (name, use) not in BUILT_IN]
            ground = ScoreGround(case_of(panel.humans, panel.judges[name]), MARGINS)
            for use in uses:
                counts[name, use, decide(ground, AskedUse(use, "these systems")).state] += 1
    return counts


def by_panel(systems: int, items: int, panels: int, jobs: int = 1, least: int = LEAST // 2):
    """The same of judges with a fault by which a panel makes them undeserving of more."""
    counts, drawn, wanted = Counter(), 0, list(BY_PANEL)
    while drawn < panels and wanted:
        seeds = range(3 * FIRST + drawn, 3 * FIRST + min(drawn + FEW, panels))
        work = partial(undeserving, systems, items, kinds=BY_PANEL, looked_at=tuple(wanted))
        counts.update(counted(work, seeds, jobs)[0])
        drawn += len(seeds)
        # What so few panels make is not waited for.
        wanted = [
            name
            for name in BY_PANEL
            if any(
                (name, use) not in BUILT_IN
                and SELDOM * drawn < _cell(counts, name, use).total() < least
                for use in USES
            )
        ]
    return counts, drawn


def _odd(systems: int, items: int, wanted: set[tuple[str, str]], seed: int) -> Counter:
    """(seed, judge) where the panel's qualities and views may make one undeserving of such a use.

    As `simulate_panel` draws them; rounding moves means by less than what is left here.
    """
    rng = np.random.default_rng([seed, systems, items, 3])
    quality = rng.normal(0, simulate.SYSTEMS, (systems, 1))[:, 0]
    views = rng.normal(0, simulate.OWN, (3 + len(FAIR), systems, 1))[..., 0]
    human = quality + views[:3].mean(axis=0)
    spread = HumanSpread(simulate.OWN**2, simulate.OWN, 2 * (systems - 1), 3)
    apart = 0.93 * spread.allow(0.4, systems / (systems - 1), systems, 0.01)
    odd = Counter()
    for name, view in zip(FAIR, views[3:], strict=True):
        judge = quality + view * (0.5 if name == "sharp" else 1.0)
        off = judge - human
        own = bool(np.abs(off - off.mean()).max() * systems / (systems - 1) > apart)
        level = bool(np.abs(off).max() / np.sqrt(1 - 1 / systems) > apart)
        close = bool(np.corrcoef(human, judge)[0, 1] < 0.84)
        may_be = {
            "order": close,
            "score": close or own or level or abs(off.mean()) > 0.17,
            "single": own,
            "gate": own,
        }
        if any(one and (name, use) in wanted for use, one in may_be.items()):
            odd[seed, name] = 1
    return odd


def _cell(counts: Counter, name: str, use: str) -> Counter:
    return Counter({key[2]: n for key, n in counts.items() if key[:2] == (name, use)})


def rare_table(sizes, panels: int, often: int, jobs: int = 1) -> list[str]:
    """False yes of judges in panels that make them undeserving."""
    lines = [
        "| systems x items | panels | judge | " + " | ".join(USES) + " |",
        "|---|---:|---|" + "---:|" * len(USES),
    ]
    for systems, items in sizes:
        size, pooled = f"{systems} x {items}", {use: Counter() for use in USES}
        for (counts, drawn), names, least in (
            (rare(systems, items, panels, jobs), FAIR, 0),
            (by_panel(systems, items, often, jobs), BY_PANEL, SELDOM),
        ):
            for name in names:
                each = [_cell(counts, name, use) for use in USES]
                for use, cell in zip(USES, each, strict=True):
                    pooled[use].update(cell)
                shown = " | ".join(
                    share(cell["yes"], cell.total()) if cell.total() > least * drawn else ""
                    for cell in each
                )
                lines.append(f"| {size} | {drawn} | {name} | {shown} |")
        shown = " | ".join(share(pooled[use]["yes"], pooled[use].total()) for use in USES)
        lines.append(f"| {size} | | **all** | {shown} |")
        print(*lines[-len(RARE) - 1 :], sep="\n", file=sys.stderr, flush=True)
    return lines


def share(hits: int, n: int) -> str:
    return f"{hits} of {n} (< {upper(hits, n):.3f})" if n else ""


def labels(files: int) -> list[str]:
    """Pass and fail at 90 %, one person's labels: states of the gate by how many are labelled."""
    lines = ["| labels | judge | yes | no | open | not tested |", "|---:|---|---:|---:|---:|---:|"]
    for n in (100, 200, 400, 800):
        states = Counter()
        for seed in range(files):
            rng = np.random.default_rng([FIRST + seed, n])
            quality = rng.normal(1.7, 1, n)
            human, peer = (quality + rng.normal(0, 0.8, (2, n)) > 0) * 1.0
            right = (rng.random(n) < np.where(human == 1, 0.97, 0.93)) == (human == 1)
            made = {
                "exchangeable": peer,
                ".97 and .93 of the labels": right * 1.0,
                "permuted": rng.permutation(peer),
                "passes all but one": _all_but_one(n),
            }
            for name, judge in made.items():
                rule = GateRule(1.0, 0.8, 0.8, by_default=True)
                case = Case(
                    "judge",
                    "pass",
                    ("human",),
                    judge[None],
                    human[None],
                    np.arange(n),
                    1.0,
                    gate=rule,
                )
                made_of = decide(ScoreGround(case, MARGINS), AskedUse("gate", "these systems"))
                states[name, made_of.state] += 1
        for name in dict.fromkeys(key[0] for key in states):
            shown = " | ".join(
                f"{states[name, s] / files:.2f}" for s in ("yes", "no", "open", "not tested")
            )
            lines.append(f"| {n} | {name} | {shown} |")
    return lines


def _all_but_one(n):
    judge = np.ones(n)
    judge[0] = 0
    return judge


def main(sizes, panels: int, rarely: int, often: int, jobs: int = 1) -> str:
    """The report as Markdown."""
    cells = {}
    for size in sizes:
        cells[size] = run(*size, panels, jobs)
        print(*tables({size: cells[size]}), sep="\n", file=sys.stderr, flush=True)
    lines = [
        "# What averages hide, on simulated judges",
        "",
        f"Yes of judges that must not have it and the upper 95 % bound; {panels} panels a size,",
        f"seeds from {FIRST:,}.",
        "",
        *tables(cells),
        "",
        f"Judges that some panels make undeserving, seeds from {2 * FIRST:,} and {3 * FIRST:,}:",
        "",
        *rare_table(sizes, rarely, often, jobs),
        "",
        "Pass and fail at 90 %, one column of labels, minima by default, share of 200 files:",
        "",
        *labels(200),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    help_asked(__doc__)
    options = sys.argv[1:]
    chosen = [tuple(map(int, o.split("x"))) for o in options if "x" in o] or SIZES
    panels, rarely = option(options, "--panels", 150), option(options, "--rare", 3000)
    text = main(chosen, panels, rarely, option(options, "--often", panels), jobs_of(options))
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
