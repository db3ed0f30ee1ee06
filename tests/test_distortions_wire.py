"""From prompts to Table 7: a panel of annotators over the wire, killed half way and resumed."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import polars as pl
import pytest

pytest.importorskip("openai")

from wire_server import Answer, WireServer

from voirdire.examining import examine
from voirdire.running import run
from voirdire.running.tasks import COMMITTING, WAITING
from voirdire.store import replies_frame
from voirdire.study import build_study, load_study, study_to_toml
from voirdire_plugins.distortions.labels import DISTORTIONS, NO_DISTORTION

ITEMS, RUNS = 200, 5
#: How often a run says what the item's fixed labels are, by model and temperature.
STEADY = {("gpt-4", 0.5): 0.97, ("gpt-4", 0.7): 0.93, ("gpt-4o", 0.5): 0.85, ("gpt-4o", 0.7): 0.75}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def fixed_labels(text: str) -> list[str]:
    """One or two distortions, or none, that hang on the text alone."""
    digest = hashlib.blake2b(text.encode()).digest()
    if digest[0] < 75:
        return [NO_DISTORTION]
    return list(dict.fromkeys(DISTORTIONS[byte % 10] for byte in digest[1 : 2 + digest[0] % 2]))


def spoken(labels: list[str], rng: random.Random) -> str:
    """Labels as models write them."""
    named = [name.replace("Magnification", "Magnification (Catastrophizing)") for name in labels]
    return rng.choice(["{}", "**{}**", "Final answer: {}"]).format(", ".join(named))


def annotate(seen) -> str | Answer:
    rng = random.Random(seen.number)
    steady = rng.random() < STEADY[seen.model, seen.body["temperature"]]
    labels = fixed_labels(seen.prompt) if steady else fixed_labels(str(rng.random()))
    return spoken(labels, rng)


def study_in(folder, url, *, items=ITEMS, runs=RUNS, limits=None, models=STEADY):
    rows = [(f"i{n:03}", f"Letter {n}: the choir met again, and I sang.") for n in range(items)]
    golden = [fixed_labels(text) for _, text in rows]
    pl.DataFrame(rows, schema=["id", "text"], orient="row").with_columns(
        dominant=pl.Series([labels[0] for labels in golden]),
        secondary=pl.Series([labels[1] if len(labels) > 1 else "" for labels in golden]),
    ).write_csv(folder / "items.csv")
    panel = [
        {
            "name": f"{model}-{heat}-{prompt}", "kind": "annotator", "use": "distortions",
            "model": f"openai:{model}", "model_options": {"base_url": url}, "temperature": heat,
            "runs": runs, "options": {"prompt": prompt},
        }
        for model, heat in models
        for prompt in ("ranked", "multi")
    ]  # fmt: skip
    raw = {
        "name": "letters", "panel": panel, "run": {"backoff": 0.02, "retries": 1, **(limits or {})},
        "items": {"path": "items.csv", "extra": ["dominant", "secondary"]},
    }  # fmt: skip
    study = build_study(raw, folder=str(folder))
    (folder / "study.toml").write_text(study_to_toml(study), encoding="utf-8")
    return study


def section(found, title):
    return next(part for part in found.sections if part.title.startswith(title))


def plain_fleiss(table: list[list[int]]) -> float:
    """Appendix F of Sharma et al., step by step, for one label: items by runs of 0 and 1."""
    m, n = len(table[0]), len(table)
    agreed = sum((s * (s - 1) + (m - s) * (m - s - 1)) / (m * (m - 1)) for s in map(sum, table)) / n
    share = sum(map(sum, table)) / (n * m)
    expected = share**2 + (1 - share) ** 2
    return (agreed - expected) / (1 - expected)


def plain_labels(reply: str) -> set[str]:
    """The labels of a reply as `spoken` writes them."""
    plain = reply.removeprefix("Final answer: ").strip("*").replace(" (Catastrophizing)", "")
    return set(plain.split(", "))


def test_from_prompts_to_table_7_killed_half_way_and_resumed(tmp_path):
    calls = ITEMS * RUNS * len(STEADY) * 2
    with WireServer(annotate, keep=False) as server:
        study_in(tmp_path, server.openai, limits={"concurrency": 32, "start_concurrency": 32})
        command = [sys.executable, "-m", "voirdire", "run", "study.toml", "--out", "a", "-q"]
        process = subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, env={**os.environ}
        )
        ends = time.monotonic() + 60
        while server.count < calls // 2 and time.monotonic() < ends and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
        assert process.returncode == -signal.SIGKILL, said
        before = replies_frame(tmp_path / "a").height
        assert calls // 4 < before < calls
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "a", resume=True, quiet=True)
        assert result.complete
        assert server.count - calls <= 8 * (
            32 + WAITING + COMMITTING
        )  # in flight, or not yet committed
    replies = replies_frame(tmp_path / "a")
    assert replies.height == calls
    assert replies.select("rater", "item", "run").is_unique().all()
    found = examine("distortions", data=tmp_path / "a")
    _check_table_7(section(found, "Fleiss' kappa by label (Table 7)"), replies)
    averages = dict(_columns(section(found, "Average Fleiss' kappa (Table 2)")))
    assert [*averages] == ["gpt-4-0.5", "gpt-4-0.7", "gpt-4o-0.5", "gpt-4o-0.7"]
    for prompt in (0, 1):  # steadier annotators have higher averages
        values = [values[prompt] for values in averages.values()]
        assert values == sorted(values, reverse=True)
    _check_sizes(section(found, "Data sets after filtering (Table 3)"))
    assert not found.results
    assert any("consistent" in note for note in found.notes)


def _columns(part):
    return ((row[0], row[1:]) for row in part.table.rows)


def _check_table_7(table, replies):
    """Every kappa against the paper's steps on the raw replies."""
    said = {
        (row["rater"], row["item"], row["run"]): plain_labels(row["text"])
        for row in replies.iter_rows(named=True)
    }
    items = sorted({item for _, item, _ in said})
    cells = dict(_columns(table))
    assert len(table.table.columns) == 1 + 8
    assert [*cells] == [*DISTORTIONS, NO_DISTORTION, "Average"]
    for place, head in enumerate(table.table.names[1:]):
        configuration, _, prompt = head.rpartition(" ")
        rater = f"{configuration}-{'ranked' if prompt == 'RLP' else 'multi'}"
        kappas = []
        for label in (*DISTORTIONS, NO_DISTORTION):
            rows = [[int(label in said[rater, item, k]) for k in range(1, 6)] for item in items]
            kappas.append(plain_fleiss(rows))
            assert cells[label][place] == pytest.approx(kappas[-1], abs=1e-12), (head, label)
        assert cells["Average"][place] == pytest.approx(sum(kappas) / 11, abs=1e-12)


def _check_sizes(table):
    rows = dict(_columns(table))
    assert rows["All items"][:4] == (140, 30, 30, 200)
    for name, cells in rows.items():
        assert sum(cells[:3]) == cells[3]
        if name != "All items":
            assert cells[3] + sum(cells[4:]) == ITEMS  # what is left out is counted
    assert rows["gpt-4-0.5"][3] > rows["gpt-4o-0.7"][3]


def test_no_reply_no_text_and_strange_labels_never_become_no_distortion(tmp_path):
    odd = {
        0: "",
        1: "Paranoia",
        2: "Paranoia, Labeling",
        3: f"{NO_DISTORTION}, Labeling",
        5: "I could not say.",
    }

    def answer(seen):
        number = int(seen.prompt.split()[1].rstrip(":"))
        return odd.get(number, "Labeling, Mind Reading, Personalization")

    with WireServer(answer) as server:
        server.fault("server", times=None, when=lambda seen: "Letter 4:" in seen.prompt)
        study = study_in(
            tmp_path,
            server.openai,
            items=7,
            models=[("gpt-4", 0.0)],
            limits={"retries": 0, "reask": 0, "breaker": 50},
        )
        assert run(study, tmp_path / "a", quiet=True).exit_code == 3
    found = examine("distortions", data=tmp_path / "a")
    states = section(found, "Labels: what became of the replies")
    ranked = states.table.records()[0]
    assert (ranked["Replies"], ranked["Read"], ranked["Missing"]) == (35, 15, 20)
    assert ranked["Why missing"] == "blank 5, unparsable 10, failed 5"
    assert ranked["Contradictions"] == 5
    assert (ranked["Too many labels"], ranked["With a label outside the set"]) == (5, 10)
    final = {row[0]: row[1] for row in section(found, "Final labels (Table 8)").table.written()}
    assert final["No Distortion"] == "0 (0.0 %)"
    assert (final["Others"], final["Labeling"]) == ("1 (14.3 %)", "2 (28.6 %)")
    assert final["incomplete"] == "4 (57.1 %)"
    outside = section(found, "Labels outside the set (Table 6)").table.rows
    assert outside[0] == ("gpt-4-0", "RLP", "Paranoia", 10)
    assert "no evidence of consistency" in " ".join(found.notes)
    counts = Counter(dict(_columns(section(found, "Data sets after filtering (Table 3)"))))
    assert counts["gpt-4-0"][3] == 3
