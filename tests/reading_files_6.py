"""Thirty further made files of the seven kinds, written after the faults of the fifth set were mended
and read once: other trades, names and languages.
"""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
from reading_files import Case, Truth
from reading_files_3 import World, _book, _csv, ids_of, table, truth_of
from reading_files_5 import BESIDE, _beside, _file, _sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Unit = tuple[str, str | None]


def _case(
    kind: str, name: str, make: Any, said: Mapping[str, Mapping[Unit, Any]], people: int = 1
) -> Case:
    who = tuple(said)
    return Case(f"{kind} {name}", kind, make, who[:people], truth_of(**said), who[people:])


def _truth(scored: Mapping[tuple[str, str], Mapping[Unit, Any]]) -> Truth:
    return {key: {u: float(v) for u, v in said.items()} for key, said in scored.items()}


def engineer() -> list[Case]:
    """A row an answer: ids of other forms, times as times, a counter beside the id."""
    made = []
    own = random.Random("6 uuid")
    world = World(
        "6 uuid", [str(uuid.UUID(int=own.getrandbits(128))) for _ in range(50)], ("sonar", "flash")
    )
    said = {"adjudicator": world.seen(0.5), "rubric_judge": world.seen(0.7)}
    frame = table(
        world,
        "session_uuid",
        "model_version",
        {**_beside(world, {"ttfb": "real", "iteration_no": "digit"}), **said},
    )
    made.append(_case("engineer", "uuid", _file(frame.to_dicts(), "s.csv"), said))

    world = World("6 within", ids_of("N", 50))
    said = {"sme": world.seen(0.5), "auto": world.seen(0.7)}
    rows = [
        {
            "ref": u[0],
            "params": {"top_k": 5, "temp": BESIDE["share"](world.own)},
            "labels": {n: s[u] for n, s in said.items()},
            "doc": BESIDE["text"](world.own),
        }
        for u in world.units
    ]
    made.append(_case("engineer", "marks within", _file(rows, "eval.jsonl"), said))

    world = World("6 counter", ids_of("utt", 50))
    said = {"phonetician": world.seen(0.5, 0, 10), "whisper_judge": world.seen(0.7, 0, 10)}
    rows = [
        {
            "row": at,
            "utt": u[0],
            "dur_s": BESIDE["real"](world.own),
            **{n: s[u] for n, s in said.items()},
        }
        for at, u in enumerate(world.units, 1)
    ]
    made.append(_case("engineer", "counter", _file(rows, "utt.tsv", "\t"), said))

    world = World("6 moment", ids_of("hex", 40), ("ckpt-100", "ckpt-200", "ckpt-300"))
    said = {"lead": world.seen(0.5, share=0.7), "eval_llm": world.seen(0.7)}
    start = datetime(2026, 3, 1, 9, tzinfo=UTC)
    frame = table(world, "prompt_sha", "ckpt", {
        "logged": world.noise(lambda own: start + timedelta(seconds=own.randrange(10**7))),
        "cached": world.noise(BESIDE["bool"]), "grad_norm": world.noise(BESIDE["real"]), **said})  # fmt: skip
    made.append(_case("engineer", "checkpoints", _file(frame.to_dicts(), "c.parquet"), said))

    world = World("6 halves", ids_of("TK", 50))
    said = {
        n: {
            u: v - 0.5 if v > 1 and world.own.random() < 0.4 else v
            for u, v in world.seen(e).items()
        }
        for n, e in (("support_lead", 0.5), ("bot_grader", 0.7))
    }
    rows = [
        {
            "ticket_no": u[0],
            "opened": BESIDE["clock"](world.own),
            **{n: f"{s[u]:g}".replace(".", ",") for n, s in said.items()},
        }
        for u in world.units
    ]
    made.append(_case("engineer", "halves", _file(rows, "t.csv", ";"), said))
    return made


def workbooks() -> list[Case]:
    """German and French sheets: a title and means, three attributes above raters, files of two heads."""
    made = []
    world = World("6 Akt", ids_of("A", 40))
    said = {"Referentin": world.seen(0.5), "Textautomat": world.seen(0.6)}
    mean = [round(sum(s.values()) / len(s), 2) for s in said.values()]
    rows = [["Prüfbericht 2. Quartal"], ["Akt", "Bezirk", *said],
            *([u[0], BESIDE["city"](world.own), *(s[u] for s in said.values())] for u in world.units),
            ["Mittelwert", None, *mean]]  # fmt: skip
    made.append(_case("workbook", "title and mean", _sheet(rows, "Akten.xlsx"), said))

    world = World("6 fiche", ids_of("F", 40))
    raters, about = ("Formatrice", "Outil IA"), ("Justesse", "Style", "Longueur")
    scored = {(r, a): world.seen(0.5) for r in raters for a in about}
    rows = [
        ["Fiche", "Justesse", None, "Style", None, "Longueur", None],
        [None, *raters * 3],
        *([u[0], *(scored[r, a][u] for a in about for r in raters)] for u in world.units),
    ]
    made.append(
        Case(
            "workbook three attributes",
            "workbook",
            _sheet(rows, "fiches.xlsx", "Notes"),
            raters[:1],
            _truth(scored),
            raters[1:],
        )
    )

    world = World("6 Kennung", ids_of("K", 40))
    both = {"dr_huber": world.seen(0.5), "gpt": world.seen(0.6)}
    units, notes = list(world.units), world.noise(BESIDE["text"])

    def files(folder: Path) -> Sequence[Path]:
        for at, (rater, scores) in enumerate(both.items()):
            order = random.Random(rater).sample(units, len(units))
            rows = [
                {
                    "Kennung": u[0],
                    ("Notiz", "Hinweis")[at]: notes[u],
                    "Stufe": scores[u],
                    "Minuten": 3 + scores[u],
                }
                for u in order
            ]
            _book({"Blatt1": pl.DataFrame(rows)}, f"{rater}.xlsx", folder)
        return [folder / f"{rater}.xlsx" for rater in both]

    made.append(_case("workbook", "two files", files, both))

    world = World("6 feuilles", ids_of("D", 40))
    raters, about = ("Mercier", "Mistral"), ("Clarté", "Ton")
    scored = {(r, a): world.seen(0.5) for r in raters for a in about}
    sheets = {
        r: pl.DataFrame(
            [
                {
                    "Demande": u[0],
                    **{a: scored[r, a][u] for a in about},
                    "Remarque": BESIDE["text"](world.own),
                }
                for u in world.units
            ]
        )
        for r in raters
    }
    made.append(
        Case(
            "workbook sheets",
            "workbook",
            partial(_book, sheets, "demandes.xlsx"),
            raters[:1],
            _truth(scored),
            raters[1:],
        )
    )

    world = World("6 Wörter", ids_of("W", 40))
    said = {"Jury": world.seen(0.5), "Modell": world.seen(0.6)}
    words = {
        1: "trifft nicht zu",
        2: "trifft eher nicht zu",
        3: "teils/teils",
        4: "trifft eher zu",
        5: "trifft zu",
    }
    rows = [["Werk", *said], *([u[0], *(words[s[u]] for s in said.values())] for u in world.units)]
    made.append(_case("workbook", "words", _sheet(rows, "Werke.xlsx"), said))
    return made


def shapes() -> list[Case]:
    """Long, wide, a grid, lists within records, a file a rater."""
    made = []
    world = World("6 long", ids_of("z", 44), ("guitar", "piano"))
    raters, about = ("maestro", "audio-judge"), ("rhythm", "pitch")
    scored = {(r, a): world.seen(0.5) for r in raters for a in about}
    both = _truth(scored)
    rows = [
        {
            "piece": u[0],
            "agent": u[1],
            "listener": r,
            "criterion": a,
            "mark": scored[r, a][u],
            "seat": BESIDE["digit"](world.own),
        }
        for r, a in scored
        for u in world.units
    ]
    world.own.shuffle(rows)
    made.append(Case("shape long", "shape", _file(rows, "l.csv"), raters[:1], both, raters[1:]))
    frame = table(world, "piece", "agent", {f"{r}/{a}": s for (r, a), s in scored.items()})
    made.append(
        Case("shape grid", "shape", _file(frame.to_dicts(), "g.csv"), raters[:1], both, raters[1:])
    )

    world = World("6 several", ids_of("v", 60))
    said = {
        "owner": world.seen(0.5),
        "gpt-4o": world.seen(0.6),
        "gemini-pro": world.seen(0.6),
        "qwen-72b": world.seen(0.9),
    }
    frame = table(
        world,
        "listing",
        None,
        {"bedrooms": world.noise(BESIDE["digit"]), "price": world.noise(BESIDE["count"]), **said},
    )
    made.append(_case("shape", "three judges", _file(frame.to_dicts(), "w.csv"), said))

    world = World("6 votes", ids_of("y", 44))
    said = {"paula": world.seen(0.5), "quentin": world.seen(0.5), "judge-1b": world.seen(0.6)}
    rows = [
        {
            "clause": u[0],
            "votes": [
                {"voter": n, "points": s[u], "secs": BESIDE["real"](world.own)}
                for n, s in said.items()
            ],
        }
        for u in world.units
    ]
    made.append(_case("shape", "votes within", _file(rows, "v.json"), said, 2))

    world = World("6 files", ids_of("x", 44), ("tutor_bot", "plain_bot"))
    said = {"teacher": world.seen(0.5), "olmo": world.seen(0.6)}

    def files(folder: Path) -> Sequence[Path]:
        for rater, scores in said.items():
            order = random.Random(rater).sample(world.units, len(world.units))
            _file(
                [{"exercise": u[0], "bot": u[1], "stars": scores[u]} for u in order],
                f"{rater}.jsonl",
            )(folder)
        return [folder / f"{rater}.jsonl" for rater in said]

    made.append(_case("shape", "a file a rater", files, said))
    return made


def languages() -> list[Case]:
    """Five more languages, one with attributes."""
    plans: list[tuple[str, str, str, str, tuple[str, ...], str, str, str]] = [
        ("atendimento", "A", "supervisor", "juíza_ia", (), "duração", "real", ";"),
        (
            "predmet",
            "P",
            "stručnjakinja",
            "jezični_model",
            ("točnost", "ton"),
            "trajanje",
            "real",
            ";",
        ),
        ("กรณี", "T", "ผู้เชี่ยวชาญ", "โมเดล", (), "หน้า", "digit", ","),
        ("שאלה", "S", "מומחית", "מודל", (), "עמוד", "digit", ","),
        ("juhtum", "J", "ekspert", "keelemudel", (), "lehekülg", "digit", ";"),
    ]
    made = []
    for item, ids, human, judge, attributes, extra, kind, sep in plans:
        world = World(f"6 {item}", ids_of(ids, 46))
        scored = {(r, a): world.seen(0.5) for r in (human, judge) for a in attributes or ("",)}
        frame = table(
            world,
            item,
            None,
            {
                **_beside(world, {extra: kind}),
                **{f"{r}_{a}" if a else r: s for (r, a), s in scored.items()},
            },
        )
        made.append(
            Case(
                f"language {item}",
                "language",
                partial(_csv, frame, "d.csv", sep),
                (human,),
                _truth(scored),
                (judge,),
            )
        )
    return made


def exports() -> list[Case]:
    """Four tables in the manner of tools that the other sets leave out."""
    world = World("6 exports", ids_of("run_", 50))
    people, machine = world.seen(0.5), world.seen(0.6)
    text = world.noise(BESIDE["text"])
    passed = {
        n: {u: int(v > 2) for u, v in s.items()}
        for n, s in (("people", people), ("machine", machine))
    }
    plans: list[tuple[str, str, dict[str, Mapping[Unit, Any]], str, str, Mapping[Unit, Any], Mapping[Unit, Any]]] = [
        ("langwatch", "trace_id", {"started_at": world.noise(BESIDE["clock"]), "input": text, "total_cost": world.noise(BESIDE["share"]),
                                   "evaluations.llm_judge.score": machine, "annotations.rating": people},
         "annotations.rating", "evaluations.llm_judge.score", people, machine),
        ("vellum", "Test Case ID", {"Prompt Variables: question": text, "Completion Latency (ms)": world.noise(BESIDE["real"]),
                                    "Metric: LLM Grader": machine, "Metric: Manual Review": people},
         "Metric: Manual Review", "Metric: LLM Grader", people, machine),
        ("patronus", "log_id", {"evaluated_model_output": text, "evaluator_id": world.noise(lambda _: "lynx"),
                                "judge_pass": {u: bool(v) for u, v in passed["machine"].items()},
                                "reviewer_pass": {u: bool(v) for u, v in passed["people"].items()}},
         "reviewer_pass", "judge_pass", passed["people"], passed["machine"]),
        ("forms", "ID", {"Start time": world.noise(BESIDE["clock"]), "Email": world.noise(lambda _: "anonymous"),
                         "Rate the reply": people, "AI rating of the reply": machine},
         "Rate the reply", "AI rating of the reply", people, machine),
    ]  # fmt: skip
    return [
        Case(
            f"export {name}",
            "export",
            _file(table(world, item, None, columns).to_dicts(), "e.csv"),
            (human,),
            {
                (human, ""): {u: float(v) for u, v in said.items()},
                (judge, ""): {u: float(v) for u, v in other.items()},
            },
            (judge,),
        )
        for name, item, columns, human, judge, said, other in plans
    ]


def labels() -> list[Case]:
    """Three files of classes."""
    made = []

    def pair(world: World, words: Sequence[str]) -> tuple[dict[Unit, Any], dict[Unit, Any]]:
        said = world.noise(lambda own: own.choice(words))
        return said, {
            u: w if world.own.random() < 0.8 else world.own.choice(words) for u, w in said.items()
        }

    world = World("6 ja", ids_of("B", 60))
    said, other = pair(world, ("ja", "nee"))
    frame = table(
        world,
        "brief",
        None,
        {"ambtenaar": said, "taalmodel": other, "bladzijde": world.noise(BESIDE["digit"])},
    )
    made.append(
        Case(
            "labels ja en nee",
            "labels",
            partial(_csv, frame, "b.csv", ";"),
            ("ambtenaar",),
            {("ambtenaar", ""): dict(said), ("taalmodel", ""): dict(other)},
            ("taalmodel",),
        )
    )

    world = World("6 within", ids_of("Q", 50))
    said, other = pair(world, ("billing/refund", "billing/invoice", "account/login"))
    rows = [
        {
            "mail": u[0],
            "body": BESIDE["text"](world.own),
            "annotations": [
                {"annotator": n, "label": s[u]} for n, s in (("desk", said), ("router", other))
            ],
        }
        for u in world.units
    ]
    made.append(
        Case(
            "labels within",
            "labels",
            _file(rows, "m.json"),
            ("desk",),
            {("desk", ""): dict(said), ("router", ""): dict(other)},
            ("router",),
        )
    )

    world = World("6 triage", ids_of("E", 54), ("old flow", "new flow"))
    said, other = pair(world, ("red", "amber", "green"))
    frame = table(
        world,
        "visit",
        "workflow",
        {"nurse": said, "triage_llm": other, "wait": world.noise(BESIDE["count"])},
    )
    made.append(
        Case(
            "labels by workflow",
            "labels",
            _file(frame.to_dicts(), "t.csv"),
            ("nurse",),
            {("nurse", ""): dict(said), ("triage_llm", ""): dict(other)},
            ("triage_llm",),
        )
    )
    return made


def preferences() -> list[Case]:
    """Three files of comparisons."""
    made = []
    names = ("ash", "oak", "elm")
    for name, heads, who, words, long in (
        ("wide", ("case", "model_a", "model_b"), ("human_pref", "judge_pref"), ("A", "B", "tie"), False),
        ("Vergleich", ("Aufgabe", "Antwort 1", "Antwort 2"), ("Lektorin", "Sprachmodell"), ("Antwort 1", "Antwort 2", "gleich"), True),
        ("first", ("query_no", "reply_x", "reply_y"), ("kenji", "duel-judge"), ("first", "second", "tie"), True),
    ):  # fmt: skip
        own = random.Random(f"6 preferences {name}")
        rows: list[dict[str, Any]] = []
        truth: Truth = {}
        for at in range(44):
            first, second = own.sample(names, 2)
            said = {r: own.choice((0, 0, 1, 1, 2)) for r in who}
            for r, at_word in said.items():
                truth.setdefault((r, ""), {})[f"c{at}", f"{first}>{second}"] = (1.0, -1.0, 0.0)[
                    at_word
                ]
            base = {heads[0]: f"c{at}", heads[1]: first, heads[2]: second}
            if long:
                rows += [base | {"Wer": r, "Wahl": words[w]} for r, w in said.items()]
            else:
                rows.append(base | {r: words[w] for r, w in said.items()})
        made.append(
            Case(
                f"preferences {name}", "preferences", _file(rows, "p.csv"), who[:1], truth, who[1:]
            )
        )
    return made


def cases() -> list[Case]:
    """All thirty."""
    made = [
        *engineer(),
        *workbooks(),
        *shapes(),
        *languages(),
        *exports(),
        *labels(),
        *preferences(),
    ]
    assert len(made) == 30, len(made)
    return made
