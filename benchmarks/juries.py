"""What juries are worth on public sets, and what a jury item and an agent's step cost us.

    python benchmarks/juries.py      # writes results/juries.md

The sets are those of the alt-test (Calderon et al., 2025), found in VOIRDIRE_SHARED or ../shared;
without them only the overheads are measured. Labels that are words stand for numbers as `WORDS`
says; other labels count as missing.
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

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "juries.md"
SETS = ("10k_prompts", "cebab_stars", "framing", "lesion", "lgbteen", "mtbench", "summeval")
WORDS = {
    "yes": 1.0, "no": 0.0, "Yes": 2.0, "Partially": 1.0, "No": 0.0, "model_a": 1.0, "tie": 0.0,
    "model_b": -1.0,
}  # fmt: skip
#: Labels that weights are fitted on, and random orders of the items.
LABELS, ORDERS = 100, 20
#: What issue 17 states: votes, and what a fitted jury and the best single judge explain.
STATED = {"framing": (2.05, 0.45, 0.36), "cebab_stars": (None, 0.84, 0.80)}


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


def loaded(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """(N,) mean human scores and (k, N) judges' scores of the items that all judges rated."""
    humans = json.loads((folder / "human_annotations.json").read_text())
    judged = json.loads((folder / "llm_annotations.json").read_text())
    items = sorted(set.intersection(*map(set, judged.values())))
    said = [[value(h[i]) for h in humans.values() if i in h] for i in items]
    human = np.array(
        [np.nanmean(v) if np.isfinite(v).any() else np.nan for v in map(np.array, said)]
    )
    return human, np.array([[value(own[i]) for i in items] for own in judged.values()])


def measured(name: str, folder: Path) -> dict[str, float]:
    """Votes of the members, and the shares of the humans' variance explained."""
    from voirdire.stats import combine, jury_worth

    human, scores = loaded(folder)
    # A tied vote has no score: how often judges err together is measured on all items.
    votes = jury_worth(scores, combine(scores, "mean"), human, folds=2).votes
    vote = jury_worth(scores, combine(scores, "vote"), human, folds=2)
    fitted, single = [], []
    for seed in range(ORDERS):
        order = np.random.default_rng(seed).permutation(len(human))
        labels = np.full(len(human), np.nan)
        labels[order[:LABELS]] = human[order[:LABELS]]
        rest = order[LABELS:]
        if np.isfinite(human[rest]).sum() < 20:  # a small set: what is left says nothing
            return {"judges": len(scores), "n": len(human), "votes": votes,
                    "vote": vote.jury, "single": vote.single}  # fmt: skip
        jury = combine(scores, "fitted", reference=labels)
        found = jury_worth(scores[:, rest], jury[rest], human[rest], folds=2)
        fitted.append(found.jury)
        single.append(found.single)
    return {
        "judges": len(scores), "n": len(human), "votes": votes, "vote": vote.jury,
        "single": vote.single, "fitted": fitted[0], "fitted_single": single[0],
        "fitted_mean": float(np.mean(fitted)), "single_mean": float(np.mean(single)),
    }  # fmt: skip


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
    """The sets, one a row."""
    folder = shared()
    if folder is None:
        return ["The sets are not here: neither VOIRDIRE_SHARED nor ../shared holds them."]
    heads = ("set", "items", "judges", "votes", "vote of all", "single", "fitted on 100", "single")
    heads += ("mean of 20 orders: fitted", "single")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in SETS:
        found = measured(name, folder / name)
        cells = [f"{found[k]:.2f}" if k in found else "" for k in (
            "votes", "vote", "single", "fitted", "fitted_single", "fitted_mean", "single_mean",
        )]  # fmt: skip
        lines.append(f"| {name} | {found['n']} | {found['judges']} | " + " | ".join(cells) + " |")
        for stated, got in zip(STATED.get(name, ()), (
            found["votes"], found.get("fitted"), found.get("fitted_single"),
        ), strict=False):  # fmt: skip
            if stated is not None and abs(stated - got) > 0.03:
                raise SystemExit(f"{name}: {got:.3f}, and {stated} is stated")
    return lines


def main() -> None:
    """Measure all and write the page."""
    item, step = jury_item(), agent_step()
    said = (
        "Shares of the humans' variance explained (squared correlation). *Single* is the best "
        "judge, chosen on one half of the items and measured on the other; a vote is measured "
        "where it is not tied. Figures that issue 17 states are met within 0.03, or the script "
        "fails."
    )
    lines = ["# Juries and agents", "", said, "", *table(), "", "## Overheads", ""]
    lines += ["| what | processor, ms | clock, ms |", "|---|---|---|"]
    for what, taken in (
        ("a jury item (six members, fitted, measured)", item),
        ("an agent's further step, its tool and commit included", step),
    ):
        lines.append(f"| {what} | {taken[0]:.3f} | {taken[1]:.3f} |")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
