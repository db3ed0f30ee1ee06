"""How the verdict was tested: twenty judges of known truth, and the reference's rates.

    python benchmarks/verdict.py [--panels 40] [--jobs 2] [10x200 ...]   # writes results/verdict.md
    python benchmarks/verdict.py --reference [PANELS] [600s]      # the reference's seeds and bands
    python benchmarks/verdict.py --fresh [PANELS]                 # its judges, seeds of ours

By default each size is drawn until 150 judges must not have each use, the least that an error of
8 % is seen with. Own seeds start at 700000.
Truth is computed panel by panel from 3,000 more items (`simulate.deserved`); a close call counts
for neither error. The reference is `reference/verdict` of the shared folder, found by
VOIRDIRE_SHARED or ../shared.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from _help import help_asked
from _spread import counted, jobs_of, option
from scipy.stats import beta

from voirdire.examining.simulate import KINDS, deserved, simulate_panel
from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.examining.verdict.judging import judge_cases
from voirdire.study import Margins

RESULTS = Path(__file__).resolve().parent / "results" / "verdict.md"
ROOT = Path(__file__).resolve().parent.parent
FIRST = 700_000
ENDLESS = 3000
#: Undeserving judges of each use and size, where neither panels nor seconds are given.
LEAST, MOST = 150, 500
USES = ("order", "score", "single", "gate")
SIZES = tuple((s, i) for s in (1, 3, 10, 30) for i in (50, 200, 1000))
MARGINS = Margins()


def case_of(panel, name) -> Case:
    """One simulated judge as a case, with its family, its subgroup and a gate at 4."""
    raters, systems, items = panel.humans.shape
    system, item = (part.ravel() for part in np.indices((systems, items)))
    family = {str(k): bool(own) for k, own in enumerate(panel.family)} if systems > 1 else {}
    return Case(
        name,
        "quality",
        tuple(map(str, range(raters))),
        panel.judges[name].reshape(1, -1),
        panel.humans.reshape(raters, -1),
        item,
        4.0,
        systems=system,
        subgroups=np.where(panel.special, "special", "common")[item],
        family=family,
        gate=GateRule(4.0),
    )


def run(
    systems: int, items: int, panels: float = math.inf, jobs: int = 1
) -> tuple[Counter, Counter, float, int]:
    """Errors by use, states by judge and use, seconds for one judge, and panels that were run.

    Stops after `panels`, else where there are enough that must not.
    """
    until = math.isinf(panels)
    seeds = range(FIRST, FIRST + (MOST if until else int(panels)))
    counts, done = counted(
        partial(draw, systems, items), seeds, jobs, _enough if until else lambda _: False
    )
    errors = Counter({key[1:]: n for key, n in counts.items() if key[0] == "error"})
    states = Counter({key[1:]: n for key, n in counts.items() if key[0] == "state"})
    return errors, states, counts["spent",] / (done * len(KINDS)), done


def draw(systems: int, items: int, seed: int) -> Counter:
    """Errors and states of all judges in one panel."""
    counts, errors = Counter(), Counter()
    panel = simulate_panel(systems, items, seed, endless=ENDLESS)
    for name in KINDS:
        truth, case = deserved(panel, name), case_of(panel, name)
        began = time.process_time()
        verdicts = judge_cases([case], MARGINS, uses=USES).verdicts
        counts["spent",] += time.process_time() - began
        for verdict in verdicts:
            if verdict.target == "these systems":
                counts["state", name, verdict.use, verdict.state] += 1
                count(errors, verdict.use, truth[verdict.use], verdict.state)
    counts.update({("error", *key): n for key, n in errors.items()})
    return counts


def _enough(counts: Counter) -> bool:
    """Whether each use that could be tested has as many undeserving judges as are asked for."""
    told = ("deserving", "undeserving")
    tested = [use for use in USES if any(counts["error", use, one] for one in told)]
    return min(counts["error", use, "undeserving"] for use in tested) >= LEAST


def count(errors: Counter, use: str, truth: bool | None, state: str) -> None:
    """Add one answer to the errors of a use."""
    if truth is None:
        errors[use, "close"] += 1
        return
    errors[use, "deserving" if truth else "undeserving"] += 1
    errors[use, "granted"] += truth and state == "yes"
    errors[use, "refused"] += truth and state == "no"
    errors[use, "licensed"] += not truth and state == "yes"


def table_of_errors(cells) -> list[str]:
    """One row a size and use."""
    lines = [
        "| systems x items | panels | use | deserve it | yes | no | must not | yes | < | ms each |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (systems, items), (errors, _, spent, panels) in cells.items():
        lines += [
            f"| {systems} x {items} | {panels} | {use} | {errors[use, 'deserving']} "
            f"| {errors[use, 'granted']} | {errors[use, 'refused']} | {errors[use, 'undeserving']} "
            f"| {errors[use, 'licensed']} "
            f"| {upper(errors[use, 'licensed'], errors[use, 'undeserving']):.3f} "
            f"| {1000 * spent:.0f} |"
            for use in USES
            if errors[use, "deserving"] + errors[use, "undeserving"]
        ]
    return lines


def upper(hits: int, n: int) -> float:
    """Clopper and Pearson's upper bound at 95 %."""
    return 1.0 if hits >= n else float(beta.ppf(0.95, hits + 1, n - hits))


def totals(cells) -> list[str]:
    """Both errors of each use over all cells."""
    lines = ["| use | must not | false yes | deserve it | false no |", "|---|---:|---:|---:|---:|"]
    for use in USES:
        told = ("undeserving", "licensed", "deserving", "refused")
        sums = (sum(errors[use, key] for errors, *_ in cells.values()) for key in told)
        lines.append(f"| {use} | " + " | ".join(map(str, sums)) + " |")
    return lines


def table_of_states(states: Counter, panels: int) -> list[str]:
    """Share of yes / no by judge and use, in per cent; the rest is open or not tested."""
    lines = ["| judge | built to | " + " | ".join(USES) + " |", "|---|---|" + "---:|" * len(USES)]
    for name, kind in KINDS.items():
        cells = [
            f"{100 * states[name, use, 'yes'] / panels:.0f} / "
            f"{100 * states[name, use, 'no'] / panels:.0f}"
            for use in USES
        ]
        lines.append(f"| {name} | {kind.fault or 'be as good as a human'} | {' | '.join(cells)} |")
    return lines


def main(sizes, panels: float, jobs: int = 1) -> str:
    """The report as Markdown."""
    cells = {}
    for size in sizes:
        cells[size] = run(*size, panels, jobs)
        print(*table_of_errors({size: cells[size]})[2:], sep="\n", file=sys.stderr, flush=True)
    lines = [
        f"# The verdict on twenty simulated judges, seeds from {FIRST}",
        "",
        f"Three humans; as a rule until {LEAST} judges of a size must not have each use.",
        "",
        *table_of_errors(cells),
    ]
    lines += ["", *totals(cells)]
    for (systems, items), (_, shown, _, done) in cells.items():
        if (systems, items) in ((10, 200), (3, 200)):
            lines += ["", f"Yes / no in per cent, {systems} x {items}:", ""]
            lines += table_of_states(shown, done)
    return "\n".join(lines) + "\n"


def reference(panels: int, seconds: float = math.inf) -> str:
    """States on the reference's own seeds that lie outside its bands.

    Each design gets an equal part of the `seconds`; the table says how many panels were run.
    """
    sys.path.insert(0, str(ROOT / "tests"))
    from verdict_work import expected, outside_bands, reference_counts

    given = os.environ.get("VOIRDIRE_SHARED")
    shared = Path(given) if given else ROOT.parent / "shared"
    rates = expected(shared)["rates"]
    lines = ["| design | panels | rates | outside their band |", "|---|---:|---:|---|"]
    for design, figures in rates.items():
        counts, n, whole = reference_counts(shared, design, panels, seconds / len(rates))
        far = outside_bands(figures["states"], counts, n, whole)
        said = "; ".join(f"{k} {state} {s:.3f} [{a}, {b}]" for k, state, s, a, b in far)
        size = sum(map(len, figures["states"].values()))
        lines.append(f"| {design} | {n} of {whole} | {size} | {said or 'none'} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"


def fresh(panels: int, first: int = 920_000) -> str:
    """Errors on the reference's own judges, whose truth its generator tells, on seeds of ours."""
    sys.path.insert(0, str(ROOT / "tests"))
    from verdict_work import USE_NAMES, reference_module, simulated_case

    given = os.environ.get("VOIRDIRE_SHARED")
    shared = Path(given) if given else ROOT.parent / "shared"
    made = reference_module(shared, "generators")
    lines = [
        "| systems x items | panels | use | deserve it | yes | no | must not | yes |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for systems, items in ((10, 200), (3, 200)):
        errors = Counter()
        for seed in range(first, first + panels):
            humans, judges, truth = made.panel(systems, items, seed, 3)
            for name, scores in judges.items():
                case = simulated_case(humans, scores, truth)
                components = ScoreGround(case, MARGINS)
                for use, deserves in deserved_of(made, name, truth).items():
                    state = decide(components, AskedUse(*USE_NAMES[use.upper()])).state
                    count(errors, use, deserves, state)
        lines += [
            f"| {systems} x {items} | {panels} | {use} | {errors[use, 'deserving']} "
            f"| {errors[use, 'granted']} | {errors[use, 'refused']} | {errors[use, 'undeserving']} "
            f"| {errors[use, 'licensed']} |"
            for use in USES
        ]
    return "\n".join(lines) + "\n"


def deserved_of(made, name: str, truth) -> dict[str, bool | None]:
    """What a judge of the reference's generator deserves; None where it is a close call."""
    told = made.system_truth(truth["h"], truth["b"][name], truth["own"], 3, truth["family"])
    able = made.READS[name] and name != "abstains" and told["FAM"]
    order, score = able and told["ORDER"], able and told["BIAS"] and told["AGREE"]
    bad = not made.READS[name] or name in made.SINGLE_BAD
    single = False if bad else True if name in ("exchangeable", "better") else None
    # A peer with a view of its own of one system, beyond the margin, is none that deserves it.
    if single:
        single = told["SYS"] if told["FAM"] else False
    return {
        "order": told["REVERSE"] if order else False,
        "score": told["LEVEL"] if score else False,
        "single": single,
        "gate": single,
    }


if __name__ == "__main__":
    help_asked(__doc__)
    options = sys.argv[1:]
    if "--fresh" in options:
        print(fresh(next((int(o) for o in options if o.isdigit()), 14)))
    elif "--reference" in options:
        numbers = [int(option) for option in options if option.isdigit()]
        given = [float(option[:-1]) for option in options if option.endswith("s")]
        print(reference(numbers[0] if numbers else 10**6, given[0] if given else math.inf))
    else:
        chosen = [tuple(map(int, o.split("x"))) for o in options if "x" in o] or SIZES
        panels = option(options, "--panels", 0) or math.inf
        text = main(chosen, panels, jobs_of(options))
        RESULTS.write_text(text, encoding="utf-8")
        print(text)
