"""Sessions of simulated judges, run for real, for tests of what is done with two of them."""

from __future__ import annotations

import polars as pl

from voirdire.running import run
from voirdire.study import build_study


def study_of(folder, *, items=40, human=True, answer="keep a fixed bedtime", **judge):
    """Two systems' answers to items, two humans on all of them, one simulated judge."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"i{number:03}" for number in range(items)]
    pl.DataFrame({"id": names, "text": [f"I slept badly, {n}." for n in names]}).write_csv(
        folder / "items.csv"
    )
    pl.DataFrame(
        [(n, s, f"{s}: {answer}, {n}.") for n in names for s in ("warm", "plain")],
        schema=["item", "system", "text"],
        orient="row",
    ).write_csv(folder / "responses.csv")
    panel = [{"name": "judge", "model": "simulated:a", "model_options": judge}]
    raw = {
        "name": "calm", "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
        "rubric": {"attributes": ["Empathy", "Guidance"]}, "analysis": {"resamples": 0},
        "panel": panel,
    }  # fmt: skip
    if human:
        rows = [
            (n, s, h, a, (7 * k + len(s) + len(a) + (h == "ben")) % 5 + 1)
            for k, n in enumerate(names)
            for s in ("warm", "plain")
            for h in ("ann", "ben")
            for a in ("Empathy", "Guidance")
        ]
        columns = ["item", "system", "rater", "attribute", "score"]
        pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "human.csv")
        raw["panel"] = [
            *panel, {"name": "ann", "kind": "human"}, {"name": "ben", "kind": "human"}
        ]  # fmt: skip
        raw["data"] = {
            "reference": ["ann", "ben"],
            "sources": [{"path": "human.csv", "layout": "long"}],
        }
    return build_study(raw, folder=str(folder))


def session_of(folder, name, **options):
    """A finished session; options as `study_of`."""
    made = folder / name
    run(study_of(folder / f"{name}-study", **options), made, quiet=True)
    return made
