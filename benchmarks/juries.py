"""What juries are worth on public sets, and what a jury item and an agent's step cost us.

    python benchmarks/juries.py      # writes results/juries.md

The sets are those of the alt-test (Calderon et al., 2025), found in VOIRDIRE_SHARED or ../shared;
without them only the overheads are measured. Words stand for numbers as `WORDS` says, other words
are missing. Of the nine sets those count whose labels have an order and that leave items beside
the hundred that weights are fitted on: mtbench has 120 items, and wax has relations for labels.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from _help import help_asked

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "juries.md"
SETS = (
    "10k_prompts",
    "cebab_aspects",
    "cebab_stars",
    "framing",
    "lgbteen",
    "summeval",  # six judges
    "lesion",  # four judges
)
WORDS = {
    "yes": 1.0, "no": 0.0, "Yes": 2.0, "Partially": 1.0, "No": 0.0, "Positive": 1.0,
    "unknown": 0.0, "Negative": -1.0,
}  # fmt: skip
#: Labels that weights are fitted on, random orders of the items, and halvings for the vote.
LABELS, ORDERS = 100, 100
#: What is stated: votes, and what a fitted jury and the best single judge explain.
STATED = {"framing": (2.05, 0.45, 0.36), "cebab_stars": (None, 0.84, 0.80)}
#: The same of all sets: fewest and most votes of six judges; the vote is worse in six of six sets,
#: the fitted jury better in seven of seven.
STATED_VOTES = (1.5, 3.1)

SAID = """*Votes* are the independent judges that all are worth, an error being another label than
the humans' commonest. *Agrees* is the share of items on which that label is given; a tied vote is
no answer and stays in the denominator, and *by lot* draws among its tied labels instead. *Single
agrees* is the best judge, chosen on one half of the items and measured on the other, over 100
halvings.

*Explains* is the share of the humans' variance (squared correlation with their mean), on the items
beside 100 labels, the mean of 100 draws. The judge that the fitted jury is held against is chosen
on the same 100 labels: both know the same.

The script fails unless all that is stated comes out: six judges are worth 1.5 to 3.1 votes,
the vote of six is worse than the single judge in six of six sets, the fitted jury better in seven
of seven, and the figures of framing and cebab_stars within 0.03."""


def shared() -> Path | None:
    """The folder of the sets; None where there is none."""
    for place in (os.environ.get("VOIRDIRE_SHARED"), ROOT.parent / "shared"):
        if place and (Path(place) / "data" / "alttest").is_dir():
            return Path(place) / "data" / "alttest"
    return None


def value(label: object) -> float:
    """The number that a label stands for; NaN where it stands for none."""
    try:
        return float(str(label))
    except ValueError:
        return WORDS.get(str(label), float("nan"))


def loaded(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,) humans' means, (N,) their commonest label (NaN where tied), (k, N) judges' scores."""
    from voirdire.stats import combine

    humans = json.loads((folder / "human_annotations.json").read_text())
    judged = json.loads((folder / "llm_annotations.json").read_text())
    items = sorted(set.intersection(*map(set, judged.values())))
    said = np.array([[value(h.get(i)) for i in items] for h in humans.values()])
    scores = np.array([[value(own[i]) for i in items] for own in judged.values()])
    return combine(said, "mean"), combine(said, "vote"), scores


def by_lot(scores: np.ndarray, label: np.ndarray) -> float:
    """Agreement of a vote that draws among its tied labels, each as likely as the others."""
    levels = np.unique(scores[~np.isnan(scores)])
    counts = np.stack([(scores == level).sum(0) for level in levels])
    top = counts == counts.max(0)
    right = (top * (levels[:, None] == label)).sum(0) / top.sum(0)
    return float(right[~np.isnan(label)].mean())


def voted(scores: np.ndarray, label: np.ndarray) -> dict[str, float]:
    """How often the vote of all, and a judge chosen on one half, agree on the other half."""
    from voirdire.stats import combine

    vote = combine(scores, "vote")
    right = np.where(np.isnan(label), np.nan, scores == label)
    agreed, single = [], []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(label))
        for half, other in ((order[::2], order[1::2]), (order[1::2], order[::2])):
            best = int(np.nanmean(right[:, half], axis=1).argmax())
            single.append(np.nanmean(right[best, other]))
            agreed.append(np.nanmean(np.where(np.isnan(label), np.nan, vote == label)[other]))
    return {
        "tied": float(np.isnan(vote).mean()), "vote": float(np.mean(agreed)),
        "lot": by_lot(scores, label), "single": float(np.mean(single)),
    }  # fmt: skip


def fitted(scores: np.ndarray, human: np.ndarray) -> dict[str, float]:
    """Variance that a jury explains whose weights, and a judge whose choice, rest on 100 labels.

    Both are measured on the other items, and both know the same labels.
    """
    from voirdire.stats import combine, explained_gain

    own, single = [], []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(human))
        labels = np.full(len(human), np.nan)
        labels[order[:LABELS]] = human[order[:LABELS]]
        rest = order[LABELS:]
        jury = combine(scores, "fitted", reference=labels)
        worth = [explained_gain(judge, judge, labels).first for judge in scores]
        best = scores[int(np.nanargmax(worth))]
        gain = explained_gain(jury[rest], best[rest], human[rest])
        own.append(gain.first)
        single.append(gain.second)
    return {"fitted": float(np.mean(own)), "fitted_single": float(np.mean(single))}


def measured(folder: Path) -> dict[str, float]:
    """All figures of one set."""
    from voirdire.stats import combine, jury_worth

    human, label, scores = loaded(folder)
    worth = jury_worth(scores, combine(scores, "mean"), label, folds=2)
    # As stated, where all members err alike.
    votes = worth.members / (1 + (worth.members - 1) * worth.error_correlation)
    about = {"judges": len(scores), "n": len(human), "votes": votes}
    return {**about, **voted(scores, label), **fitted(scores, human)}


def jury_item(items: int = 20_000, members: int = 6) -> tuple[float, float]:
    """Milliseconds of processor and clock an item, of all that a jury takes with its report."""
    from voirdire.examining.juries import examine_jury, jury_sections

    chance = np.random.default_rng(0)
    truth = chance.normal(3, 1, items)
    parts = [
        ("human", truth),
        *((f"m{k}", truth + chance.normal(0, 1, items)) for k in range(members)),
    ]
    frame = pl.concat(
        pl.DataFrame({"item": np.arange(items).astype(str), "rater": name, "score": scores})
        for name, scores in parts
    )
    names = [name for name, _ in parts[1:]]
    clock, processor = time.perf_counter(), time.process_time()
    jury_sections(examine_jury(frame, names, "fitted", reference=["human"]).results)
    return (
        (time.process_time() - processor) / items * 1e3,
        (time.perf_counter() - clock) / items * 1e3,
    )


class Instant:
    """A model that answers at once: with a call while there is no result, then with a score."""

    free = True

    def __init__(self, model_name: str) -> None:
        self.name = model_name

    async def complete(self, request):
        from voirdire.schema import Reply, ToolCall, Usage

        await asyncio.sleep(0)
        if request.tools and request.messages[-1].role != "tool":
            call = ToolCall("c1", "calculate", '{"expression": "6 * 7"}')
            return Reply("", usage=Usage(100, 10), tool_calls=(call,))
        return Reply('{"Calm": 4}', usage=Usage(100, 10))


def agent_step(tasks: int = 1_000) -> tuple[float, float]:
    """Milliseconds of processor and clock that a further step takes of a run's, tool included.

    An agent of two replies a task, less the same judge without tools, over the steps that it has
    more: the model answers at once, so that all of it is ours.
    """
    import copy

    from voirdire._manager import plugins
    from voirdire.running import run
    from voirdire.study import build_study

    known = copy.deepcopy(plugins())
    known.add("model", "benchmark", "instant", "juries:Instant")
    sys.modules.setdefault("juries", sys.modules[__name__])
    taken = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        names = [f"i{n}" for n in range(tasks)]
        pl.DataFrame({"id": names, "text": names}).write_csv(folder / "items.csv")
        pl.DataFrame({"item": names, "system": "x", "text": names}).write_csv(
            folder / "responses.csv"
        )
        for use, options in (("rubric", {}), ("agent", {"tools": ["calculate"]})) * 2:
            raw = {
                "name": "speed", "items": {"path": "items.csv"},
                "responses": {"path": "responses.csv"}, "rubric": {"attributes": ["Calm"]},
                "panel": [{"name": "one", "use": use, "model": "instant:m", "options": options}],
            }  # fmt: skip
            study = build_study(raw, folder=place)
            out = folder / f"{use}{len(taken)}{time.monotonic_ns()}"
            clock, processor = time.perf_counter(), time.process_time()
            assert run(study, out, plugins=known, quiet=True).exit_code == 0
            taken[use] = time.process_time() - processor, time.perf_counter() - clock
    return tuple(
        (agent - plain) / tasks * 1e3
        for agent, plain in zip(taken["agent"], taken["rubric"], strict=True)
    )  # type: ignore[return-value]


def table() -> list[str]:
    """The sets, one a row; a figure that is stated and does not come out ends the script."""
    folder = shared()
    if folder is None:
        return ["The sets are not here: neither VOIRDIRE_SHARED nor ../shared holds them."]
    measures = {name: measured(folder / name) for name in SETS}
    check(measures)
    heads = ("set", "items", "judges", "votes", "tied", "vote agrees", "by lot", "single agrees")
    heads += ("fitted on 100 explains", "single chosen on 100 explains")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, one in measures.items():
        cells = [f"{one[k]:.2f}" for k in ("votes", "tied", "vote", "lot", "single")]
        cells += [f"{one[k]:.3f}" for k in ("fitted", "fitted_single")]
        lines.append(f"| {name} | {one['n']} | {one['judges']} | " + " | ".join(cells) + " |")
    return lines


def check(measures: dict[str, dict[str, float]]) -> None:
    """Raise where a stated figure does not come out."""
    for name, stated in STATED.items():
        one = measures[name]
        for want, got in zip(
            stated, (one["votes"], one["fitted"], one["fitted_single"]), strict=True
        ):
            if want is not None and abs(want - got) > 0.03:
                raise SystemExit(f"{name}: {got:.3f}, and {want} is stated")
    six = {name: one for name, one in measures.items() if one["judges"] == 6}
    votes = [one["votes"] for one in six.values()]
    if any(abs(a - b) > 0.05 for a, b in zip((min(votes), max(votes)), STATED_VOTES, strict=True)):
        raise SystemExit(f"six judges are worth {min(votes):.2f} to {max(votes):.2f} votes")
    wrong = [name for name, one in six.items() if max(one["vote"], one["lot"]) >= one["single"]]
    wrong += [name for name, one in measures.items() if one["fitted"] <= one["fitted_single"]]
    if wrong:
        raise SystemExit(f"the vote is not worse, or the fitted jury not better: {wrong}")


def main() -> None:
    """Measure all and write the page."""
    item, step = jury_item(), agent_step()
    lines = ["# Juries and agents", "", SAID, "", *table(), "", "## Overheads", ""]
    lines += ["| what | processor, ms | clock, ms |", "|---|---|---|"]
    for what, taken in (
        ("a jury item (six members, fitted, measured)", item),
        ("an agent's further step, its tool and commit included", step),
    ):
        lines.append(f"| {what} | {taken[0]:.3f} | {taken[1]:.3f} |")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    help_asked(__doc__)
    main()
