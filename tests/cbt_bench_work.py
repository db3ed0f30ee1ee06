"""What the tests of CBT-Bench share: invented files, models at the test server, what is printed."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import polars as pl
from rich.console import Console

from voirdire.report import print_examination
from voirdire.running import run
from voirdire_plugins.cbt_bench.comparison import CRITERIA, DIFFICULTIES

LEVELS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
QUICK = {"run": {"reask": 0, "retries": 0}}


def run_at(server, study, out):
    """Run a study whose models are at the test server."""
    text = study.read_text("utf-8")
    served = f'\nmodel_options = {{base_url = "{server.openai}"}}'
    study.write_text(re.sub(r'model = "compatible:\w+"', lambda m: m[0] + served, text), "utf-8")
    assert run(study, out, quiet=True).complete
    return out


def terminal(examination, width=80):
    """What is printed of an examination, on one line."""
    stream = io.StringIO()
    print_examination(examination, console=Console(file=stream, width=width, highlight=False))
    return " ".join(stream.getvalue().split())


SHARE = {"helpless": 0.6, "unlovable": 0.5, "worthless": 0.4}


def belief_folder(tmp_path, n=300, seed=11):
    """Invented patients with labels drawn at declared shares."""
    rng = np.random.default_rng(seed)
    records = []
    for i in range(n):
        labels = [label for label, share in SHARE.items() if rng.random() < share]
        texts = {"situation": f"Day {i} at work.", "thoughts": f"Thought number {i:03d} of mine."}
        records.append({"id": f"p{i}", **texts, "core_belief_major": labels or ["helpless"]})
    seeds = [
        {
            "id": f"s{i}",
            "situation": f"Evening {i}.",
            "thoughts": f"Seed thought {i}.",
            "core_belief_major": [label],
        }
        for i, label in enumerate(SHARE)
    ]
    (tmp_path / "core_major_test.json").write_text(json.dumps(records))
    (tmp_path / "core_major_seed.json").write_text(json.dumps(seeds))
    return {record["thoughts"]: record["core_belief_major"] for record in records}


def question_file(tmp_path, n=40):
    rows = [
        {
            "question": f"Question {i}?",
            "choices": ["one", "two", "three", "four"][: 3 + i % 2],
            "answer": "ABC"[i % 3],
            "kind": ("basic", "case")[i % 2],
        }
        for i in range(n)
    ]
    rows.append(
        {
            "question": "Which hold (select all that apply)?",
            "choices": ["x", "y", "z"],
            "answer": ["A", "C"],
            "kind": "case",
        }
    )
    path = tmp_path / "exam.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def exercise_file(tmp_path, n=60, **changes):
    rows = [
        {
            "id": f"e{i}",
            "category": list(CRITERIA)[i % 10],
            "difficulty": DIFFICULTIES[i % 3],
            "statement": f"[Calm] Statement {i:03d}.",
            "reference": f"Reference words {'and more ' * 8}",
        }
        for i in range(n)
    ]
    rows[1].update(changes)
    path = tmp_path / "practice.csv"
    pl.DataFrame(rows).write_csv(path)
    return path
