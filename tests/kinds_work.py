"""Cases of labels, preferences and probabilities: from the reference's generator, and made here."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from functools import cache

import numpy as np

from voirdire.examining.spec.scores.case import Case
from voirdire.stats.comparisons import Compared, ComparisonPanel

STATES = {"no": -1, "open": 0, "yes": 1, "not tested": 2}


@cache
def generator(shared):
    path = shared / "reference" / "verdict_kinds_generators.py"
    spec = importlib.util.spec_from_file_location("verdict_kinds_generators", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def reference(shared):
    return json.loads((shared / "reference" / "verdict_kinds.json").read_text())


def coded(vectors):
    """Vectors (..., D) as rows of a table of the distinct ones, NaN where missing."""
    flat = vectors.reshape(-1, vectors.shape[-1])
    there = ~np.isnan(flat[:, 0])
    table, rows = np.unique(flat[there], axis=0, return_inverse=True)
    codes = np.full(len(flat), np.nan)
    codes[there] = rows.ravel()
    return table, codes.reshape(vectors.shape[:-1])


def label_case(humans, judge, *, clusters=None, systems=None, subgroups=None, sets=False):
    """A case from vectors (R, N, D) of humans and (N, D), or (K, N, D), of a judge."""
    runs = judge if judge.ndim == 3 else judge[None]
    table, codes = coded(np.concatenate([humans, runs]))
    raters, n, labels = humans.shape
    return Case(
        "judge",
        "topic",
        tuple(f"human {k}" for k in range(raters)),
        codes[raters:],
        codes[:raters],
        np.arange(n),
        1.0,
        systems=systems,
        clusters=clusters,
        subgroups=subgroups,
        kind="label set" if sets else "label",
        labels=tuple(f"label {k}" for k in range(labels)),
        table=table,
    )


def comparison_panel(design, judge):
    """The panel of one of a reference design's judges."""
    names = np.array([f"s{k:02d}" for k in range(design["S"])])
    compared = Compared(
        names[design["a"]],
        names[design["b"]],
        width=design["w"],
        swapped=None if design["Y2"] is None else design["Y2"][judge],
        first=design["first"],
        length=design["ln"],
    )
    panel = ComparisonPanel.of(design["Y"][judge], design["H"], compared)
    return replace(panel, own=design["fam"])


def few_labels(seed, n=60, raters=3, labels=3, missing=0.1):
    """Humans (R, n, D) and a judge (n, D), a tenth missing, and clusters of two."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, n, p=np.array([0.5, 0.3, 0.2]))

    def person(right):
        said = np.where(rng.random(n) < right, truth, rng.integers(0, labels, n))
        vectors = (said[:, None] == np.arange(labels)).astype(float)
        vectors[rng.random(n) < missing] = np.nan
        return vectors

    humans = np.stack([person(0.7) for _ in range(raters)])
    return humans, person(0.75), np.arange(n) // 2
