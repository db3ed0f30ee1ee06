"""CBT-Bench, level II: labels of simulated models through the whole path."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cbt_bench_work import (
    QUICK,
    SHARE,
    belief_folder,
    run_at,
    terminal,
)
from wire_server import WireServer

from voirdire.examining import examine
from voirdire.report import write_outputs
from voirdire_plugins.cbt_bench.prepare import (
    write_label_study,
)

pytestmark = pytest.mark.usefixtures("invented_key")

RECALL = {"helpless": 0.9, "unlovable": 0.7, "worthless": 0.5}
ALARM = {"helpless": 0.3, "unlovable": 0.2, "worthless": 0.1}


def test_a_model_of_declared_recall_and_precision_through_the_whole_path(tmp_path):
    truth = belief_folder(tmp_path)
    rng = np.random.default_rng(5)
    says = {
        text: [a for a, x in zip("abc", SHARE, strict=True) if rng.random() < chances(labels)[x]]
        for text, labels in truth.items()
    }

    def answer(seen):
        asked = re.findall(r"Thoughts: (Thought number \d+ of mine\.)", seen.prompt)[-1]
        return ", ".join(says[asked]) or "Nothing here points to one of them."

    study = write_label_study(
        tmp_path / "study", "pc", tmp_path, ["compatible:sim"], k=2, more=QUICK
    )
    with WireServer(answer) as server:
        session = run_at(server, study, tmp_path / "session")
        prompts = [seen.prompt for seen in server.requests]
    assert all("Seed thought 0." in p and "Seed thought 1." in p for p in prompts)
    found = examine("cbt_bench", data=session)
    shown = terminal(found)
    assert "kappa_F1" in shown
    assert "Best constant predictor" in shown
    assert "for every item, without reading one, scores" in shown
    weighted, _, full, errors = found.sections[:4]
    row = weighted.table.records()[0]
    assert row["n"] + row["Missing"] == 300
    assert row["Missing"] > 0  # prose without a letter is no answer
    for cells in full.table.rows:
        values = dict(
            zip(("rater", "label", "true", "named", "p", "p_ci", "r", "r_ci"), cells, strict=False)
        )
        low, high = values["r_ci"].low, values["r_ci"].high
        answered = recall_among_answered(truth.values(), values["label"])
        assert low < answered < high
        low, high = values["p_ci"].low, values["p_ci"].high
        assert low < precision_declared(truth.values(), values["label"]) < high
    assert [row[0] for row in weighted.table.rows] == ["sim", "Best constant predictor", "Chance"]
    assert len(errors.table.rows) > 50
    assert any(note.startswith("CBT-PC: Naming helpless") for note in found.notes)
    closed = write_outputs(found, tmp_path / "closed", figures=False)
    assert all(
        b"Thought number" not in path.read_bytes() for path in closed if path.suffix != ".parquet"
    )
    write_outputs(found, tmp_path / "open", ["html"], figures=False, with_text=True)
    page = (tmp_path / "open" / "report.html").read_text("utf-8")
    assert "expected: " in page
    assert "Thought number" in page
    assert "Situation: Day" in page


def chances(labels):
    return {x: RECALL[x] if x in labels else ALARM[x] for x in SHARE}


def recall_among_answered(rows, label):
    """Declared recall where something was named: r / P(anything named), over the true items."""
    given = [chances(labels) for labels in rows if label in labels]
    some = sum(1 - np.prod([1 - c for c in chance.values()]) for chance in given)
    return sum(chance[label] for chance in given) / some


def precision_declared(rows, label):
    """Expected hits over expected namings."""
    rows = list(rows)
    hits = sum(chances(labels)[label] for labels in rows if label in labels)
    return hits / sum(chances(labels)[label] for labels in rows)
