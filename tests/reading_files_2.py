"""Thirty further made files, written after the rules were settled and read once: what rules made
for the first sixty do with files that they were not made for.
"""

from __future__ import annotations

import json
import random
import uuid
from typing import TYPE_CHECKING, Any

from reading_files import Case, Truth, _csv, _jsonl, _level, _one, _World, _xlsx

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


def _rows(
    world: _World,
    key: str,
    truth: Truth,
    more: Callable[[random.Random], Mapping[str, Any]],
    system: str | None = None,
) -> list[dict[str, Any]]:
    rows = []
    for unit in world.units:
        row: dict[str, Any] = {key: unit[0]} | ({system: unit[1]} if system else {})
        row |= dict(more(world.own))
        row |= {f"{n}_{a}" if a else n: scores.get(unit, "") for (n, a), scores in truth.items()}
        rows.append(row)
    return rows


def _table(
    name: str,
    kind: str,
    *,
    key: str,
    people: Sequence[str],
    judges: Sequence[str],
    more: Callable[[random.Random], Mapping[str, Any]] = lambda _: {},
    system: str | None = None,
    names: Sequence[str] = ("red", "blue", "green"),
    share: float = 1.0,
    suffix: str = "csv",
    high: int = 5,
    low: int = 1,
    attributes: Sequence[str] = ("",),
    ids: str = "",
) -> Case:
    world = _World(name, systems=names if system else (None,))
    if ids == "uuid":
        fresh = {i: str(uuid.UUID(int=random.Random(i).getrandbits(128))) for i in world.items}
        world.units = [(fresh[i], s) for i, s in world.units]
        world.quality = {(fresh[i], s): q for (i, s), q in world.quality.items()}

    def shape(value: float) -> int:
        return _level(low + (value - 1) / 4 * (high - low), low, high)

    truth: Truth = {(n, a): world.scores(0.4, shape, share) for n in people for a in attributes}
    truth |= {(n, a): world.scores(0.5, shape) for n in judges for a in attributes}
    rows = _rows(world, key, truth, more, system)
    if suffix == "jsonl":
        rows = [{k: (None if v == "" else v) for k, v in row.items()} for row in rows]
    return Case(name, kind, _one(rows, suffix), tuple(people), truth, tuple(judges))


def _logged(own: random.Random) -> dict[str, Any]:
    return {
        "created_at": f"2025-03-{own.randint(1, 28):02}T10:{own.randint(10, 59)}:00",
        "prompt_tokens": own.randint(30, 800), "total_cost": round(own.uniform(0, 0.02), 5),
        "temperature": own.choice([0, 0.7]), "retries": own.randint(0, 2),
    }  # fmt: skip


def _people_summed(own: random.Random) -> dict[str, Any]:
    return {"spread": own.randint(0, 3), "count": own.randint(1, 4), "comment": "fine answer here"}


def _engineer() -> list[Case]:
    return [
        _table("chat_ref", "engineer", key="chat_ref", people=["qa_human"], judges=["gpt-4.1-mini"],
               more=_logged, system="prompt_version"),
        _table("uuid", "engineer", key="trace_uuid", people=["human"], judges=["evaluator_llm"],
               more=_logged, ids="uuid"),
        _table("incident", "engineer", key="incident", people=["gold"], judges=["sonnet"],
               more=_people_summed, system="branch", share=0.5),
        _table("row", "engineer", key="sample", people=["expert"], judges=["mistral-large", "qwen3"],
               more=lambda own: {"bucket": own.randint(1, 5), "seed": 7}, suffix="xlsx"),
        _table("call", "engineer", key="call", people=["reviewer_ann"], judges=["autorater"],
               more=lambda own: {"stage": own.randint(1, 3)}, suffix="jsonl"),
        _table("of three", "engineer", key="reply_key", people=["human"], judges=["judge"],
               low=0, high=3, more=_logged, system="agent"),
    ]  # fmt: skip


def _others() -> list[Case]:
    cases = [
        _table("Beleg", "languages", key="Beleg", people=["Prüferin"], judges=["Sprachmodell"]),
        _table("dossier", "languages", key="dossier", people=["évaluateur"], judges=["robot"],
               more=lambda own: {"durée": own.randint(1, 90)}),
        _table("caso", "languages", key="caso", people=["experta"], judges=["máquina"],
               attributes=("Tono", "Verdad")),
        _table("zaak", "languages", key="zaak", people=["mens"], judges=["taalmodel"], system="versie"),
        _table("poeng", "wide", key="sak", people=["kari", "ola"], judges=["gpt"],
               more=lambda own: {"uke": own.randint(1, 5)}),
        _table("three people", "wide", key="clip", people=["rater_1", "rater_2", "rater_3"],
               judges=["llama"], share=0.8),
    ]  # fmt: skip
    # Attribute first, rater last; and a file of each rater in CSV, one of which counts its rows.
    world = _World("attribute first")
    truth: Truth = {(n, a): world.scores(0.5) for n in ("human", "llm") for a in ("Tone", "Facts")}
    rows = [
        {"doc_key": u[0], **{f"{a}_{n}": s[u] for (n, a), s in truth.items()}} for u in world.units
    ]
    cases.append(Case("attribute first", "wide", _one(rows, "csv"), ("human",), truth, ("llm",)))
    return cases


def _files() -> list[Case]:
    cases = []
    for name, count, key, score, who in (
        ("drei Dateien", "lfd.", "Antwort", "Wertung", ("otto", "emma", "bot")),
        ("trois fichiers", "num", "réponse", "étoiles", ("luc", "zoé", "claude")),
        ("two files", "row", "snippet", "stars", ("maya", "gpt")),
    ):
        world = _World(name, items=30)
        truth: Truth = {(n, ""): world.scores(0.5) for n in who}

        def make(
            folder: Path,
            count: str = count,
            key: str = key,
            score: str = score,
            truth: Truth = truth,
        ) -> list[Path]:
            paths = []
            for (rater, _), scores in truth.items():
                units = list(scores)
                random.Random(rater).shuffle(units)
                rows = [{count: at, key: u[0], score: scores[u]} for at, u in enumerate(units, 1)]
                paths.append(folder / f"{rater}.xlsx")
                _xlsx(paths[-1], rows)
            return paths

        people = who[:-1]
        cases.append(Case(name, "workbooks", make, people, truth, who[-1:]))
    return cases


def _long() -> list[Case]:
    cases = []
    for name, key, rater, score, more, suffix in (
        ("long runs", "prompt_key", "scorer", "stars", {"run": True}, "csv"),
        ("long plain", "exhibit", "author", "mark", {}, "jsonl"),
        ("long system", "query_ref", "assessor", "points", {"system": "engine"}, "xlsx"),
        ("long attribute", "film", "critic", "verdict_score", {"attribute": "criterion"}, "csv"),
    ):
        world = _World(name, items=30, systems=("a1", "a2") if "system" in more else (None,))
        who = ("Rosa", "Juan", "deepseek-r1")
        about = ("Plot", "Sound") if "attribute" in more else ("",)
        truth: Truth = {(n, a): world.scores(0.4) for n in who for a in about}
        rows = []
        for (n, a), scores in truth.items():
            for unit, value in scores.items():
                row: dict[str, Any] = {key: unit[0], rater: n, score: value}
                row |= {"engine": unit[1]} if "system" in more else {}
                row |= {"criterion": a} if a else {}
                row |= {"run": 1, "elapsed": world.own.randint(1, 60)} if "run" in more else {}
                rows.append(row)
        world.own.shuffle(rows)
        cases.append(Case(name, "long", _one(rows, suffix), who[:2], truth, who[2:]))
    return cases


def _labels() -> list[Case]:
    cases = []
    for name, key, who, labels in (
        ("moods", "clip_ref", ("annot_a", "phi-4"), ("calm", "tense", "glad")),
        ("Themen", "Artikel", ("Leserin", "Modell"), ("Sport", "Politik", "Kultur", "Wetter")),
        ("stance long", "post_ref", ("mia", "leo", "gemini"), ("pro", "contra", "none given")),
    ):
        world = _World(name)
        right = {unit: world.own.choice(labels) for unit in world.units}
        truth: Truth = {
            (n, ""): {
                u: w if world.own.random() < 0.8 else world.own.choice(labels)
                for u, w in right.items()
            }
            for n in who
        }
        rows: list[dict[str, Any]]
        if len(who) == 3:
            rows = [
                {key: u[0], "by": n, "stance": w}
                for (n, _), g in truth.items()
                for u, w in g.items()
            ]
        else:
            rows = [
                {key: u[0], "words": world.own.randint(5, 90), **{n: truth[n, ""][u] for n in who}}
                for u in world.units
            ]
        people = who[: len(who) - 1]
        cases.append(Case(name, "labels", _one(rows, "csv"), people, truth, who[-1:]))
    return cases


def _preferences() -> list[Case]:
    cases = []
    for name, key, sides, winner, who, words in (
        (
            "duel",
            "duel",
            ("challenger", "defender"),
            "won",
            "referee",
            ("challenger", "defender", "draw"),
        ),
        (
            "Vergleich",
            "Frage",
            ("System A", "System B"),
            "besser",
            "Gutachter",
            ("A", "B", "unentschieden"),
        ),
        ("arena", "match_ref", ("bot_x", "bot_y"), "outcome", "voter", ("NAME", "NAME", "tie")),
    ):
        world = _World(name, items=40)
        truth: Truth = {}
        rows = []
        for at, item in enumerate(world.items):
            first, second = (("owl", "fox"), ("fox", "elk"), ("elk", "owl"))[at % 3][:: (-1) ** at]
            better = world.own.choice((1.0, -1.0, 1.0, 0.0))
            for rater in ("ines", "gpt-5"):
                said = better if world.own.random() < 0.8 else world.own.choice((1.0, -1.0, 0.0))
                truth.setdefault((rater, ""), {})[item, f"{first}>{second}"] = said
                word = {1.0: words[0], -1.0: words[1], 0.0: words[2]}[said]
                word = (first if said > 0 else second) if word == "NAME" else word
                rows.append(
                    {key: item, sides[0]: first, sides[1]: second, who: rater, winner: word}
                )
        cases.append(Case(name, "preferences", _one(rows, "csv"), ("ines",), truth, ("gpt-5",)))
    return cases


def _exports() -> list[Case]:
    cases = [
        _table(
            "nested json",
            "exports",
            key="run.id",
            people=["feedback.human"],
            judges=["feedback.llm_judge"],
            more=_logged,
            suffix="jsonl",
        ),
        _table(
            "dotted",
            "exports",
            key="span_id",
            people=["human.label"],
            judges=["llm.relevance.score"],
            more=_logged,
        ),
    ]
    for name, judge in (("shares", "Faithfulness"), ("share beside", "answer_correctness")):
        world = _World(name)
        people = world.scores(0.4)
        shown = {
            u: round(min(1, max(0, (q - 1) / 4 + world.own.gauss(0, 0.05))), 3)
            for u, q in world.quality.items()
        }
        truth: Truth = {
            ("human", ""): people,
            (judge, ""): {u: 1 + 4 * v for u, v in shown.items()},
        }
        rows = [
            {"id": u[0], "input": world.note(), judge: shown[u], "human": people[u]}
            for u in world.units
        ]

        def make(folder: Path, rows: list[dict[str, Any]] = rows) -> list[Path]:
            path = folder / "results.json"
            path.write_text(json.dumps({"results": rows}), encoding="utf-8")
            return [path]

        cases.append(Case(name, "exports", make, ("human",), truth, (judge,)))
    return cases


def cases() -> list[Case]:
    """All of them, the same ones each time."""
    made = [*_engineer(), *_others(), *_files(), *_long(), *_labels(), *_preferences(), *_exports()]
    assert len(made) == 30, len(made)
    return made


__all__ = ["_csv", "_jsonl", "cases"]
