"""A fifth set of sixty made files, of seven kinds, with the truth beside.

Written before the code was opened, with other trades, names, tools and languages than the first
four, and with what those leave out: titles above the heads of sheets, rows of means below, decimal
commas, words for what is missing, scores of another number of levels, records within records, codes
for classes, comparisons of a person and a judge side by side.
"""

from __future__ import annotations

import json
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import openpyxl
import polars as pl
from reading_files import Case, Truth
from reading_files_3 import World, _book, _csv, _lines, ids_of, table, truth_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Unit = tuple[str, str | None]
_SAID = [
    "we",
    "paid",
    "for",
    "the",
    "ferry",
    "but",
    "it",
    "never",
    "left",
    "so",
    "please",
    "send",
    "us",
    "a",
    "new",
    "booking",
    "or",
    "the",
    "money",
]
BESIDE: dict[str, Callable[[random.Random], Any]] = {
    "digit": lambda own: own.randint(1, 5),
    "seven": lambda own: own.randint(1, 7),
    "count": lambda own: own.randint(3, 2500),
    "real": lambda own: round(own.uniform(0.05, 60), 2),
    "share": lambda own: round(own.random(), 4),
    "bool": lambda own: own.choice([True, False]),
    "clock": lambda own: f"{own.randint(1, 28):02d}.{own.randint(1, 9):02d}.2026 {own.randint(8, 17):02d}:{own.randint(10, 59)}",
    "city": lambda own: own.choice(["Brno", "Ghent", "Turin", "Malmö"]),
    "text": lambda own: " ".join(own.choice(_SAID) for _ in range(own.randint(7, 15))),
}  # fmt: skip


def _beside(world: World, kinds: Mapping[str, str]) -> dict[str, dict[Unit, Any]]:
    return {name: world.noise(BESIDE[kind]) for name, kind in kinds.items()}


def _file(
    rows: Sequence[Mapping[str, Any]], name: str, sep: str = ","
) -> Callable[[Path], Sequence[Path]]:
    if name.endswith(("jsonl", "json")):
        return partial(_lines, rows, name)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if name.endswith("parquet"):

        def make(folder: Path) -> Sequence[Path]:
            frame.write_parquet(folder / name)
            return [folder / name]

        return make
    return partial(_csv, frame, name, sep)


def _text(text: str, name: str) -> Callable[[Path], Sequence[Path]]:
    def make(folder: Path) -> Sequence[Path]:
        (folder / name).write_text(text, encoding="utf-8")
        return [folder / name]

    return make


# --- an engineer's files


def engineer() -> list[Case]:
    """Nine files that a script wrote, each with one thing that the first four sets do not have."""
    made = []

    def add(  # noqa: PLR0917 - the columns of a table
        name: str,
        item: str,
        ids: str,
        system: str | None,
        systems: tuple[str, ...],
        who: tuple[str, str],
        beside: Mapping[str, str],
        file: str,
        low: int = 1,
        high: int = 5,
        share: float = 1.0,
        sep: str = ",",
    ) -> None:
        world = World(f"5 {item}", ids_of(ids, 56), systems or (None,))
        human, judge = who
        people, machine = world.seen(0.5, low, high, share), world.seen(0.7, low, high)
        frame = table(
            world, item, system, {**_beside(world, beside), human: people, judge: machine}
        )
        made.append(
            Case(
                f"engineer {name}",
                "engineer",
                _file(frame.to_dicts(), file, sep),
                (human,),
                truth_of(**{human: people, judge: machine}),
                (judge,),
            )
        )

    add("question", "question", "Q", None, (), ("human", "judge"), {"hops": "digit"}, "qa.csv")
    add(
        "deploy",
        "req",
        "hex",
        "deploy_sha",
        ("9f1c", "e07b"),
        ("oncall", "nova_judge"),
        {"queue_ms": "real", "hour": "count", "shard_no": "digit"},
        "evals.csv",
        share=0.6,
    )
    add(
        "parquet",
        "doc_key",
        "D",
        "retriever",
        ("bm25", "dense", "hybrid"),
        ("curator", "gemma_score"),
        {"rank": "digit", "bytes": "count", "at": "clock"},
        "eval.parquet",
    )
    add(
        "seven levels",
        "dialog_ref",
        "plain",
        None,
        (),
        ("coach_rating", "llm_as_judge"),
        {"n_turns": "seven", "nps": "seven"},
        "d.tsv",
        high=7,
        sep="\t",
    )
    add(
        "hundred",
        "snippet",
        "S",
        "lang",
        ("go", "rust"),
        ("senior_dev", "codellama"),
        {"loc": "count", "complexity": "seven"},
        "code.csv",
        low=0,
        high=100,
    )
    add(
        "passes",
        "test_name",
        "test_",
        "build_no",
        ("812", "813"),
        ("tester", "checker_llm"),
        {"flaky": "bool", "secs": "real"},
        "suite.jsonl",
        low=0,
        high=1,
    )

    world = World("5 nested", ids_of("hex", 50))
    people, machine = world.seen(0.5), world.seen(0.6)
    rows = [{"meta": {"uid": u[0], "attempt": world.own.randint(1, 3)}, "input": BESIDE["text"](world.own),
             "usage": {"in": world.own.randint(50, 900), "out": world.own.randint(5, 90)},
             "grades": {"person": people[u], "haiku": machine[u]}} for u in world.units]  # fmt: skip
    made.append(
        Case(
            "engineer nested",
            "engineer",
            _file(rows, "log.jsonl"),
            ("grades.person",),
            truth_of(**{"grades.person": people, "grades.haiku": machine}),
            ("grades.haiku",),
        )
    )

    world = World("5 preamble", ids_of("K", 50))
    people, machine = world.seen(0.5, share=0.8), world.seen(0.6)
    body = "".join(f"{u[0]},{people.get(u, 'n/a')},{machine[u]}\n" for u in world.units)
    made.append(
        Case(
            "engineer preamble",
            "engineer",
            _text(
                f"# nightly eval\n# rubric v3\nsample_key,human_grade,model_grade\n{body}",
                "nightly.csv",
            ),
            ("human_grade",),
            truth_of(human_grade=people, model_grade=machine),
            ("model_grade",),
        )
    )

    world = World("5 two judges", ids_of("m", 50), ("stable", "next"))
    people, one, two = world.seen(0.5), world.seen(0.6), world.seen(0.9)
    frame = table(world, "message_no", "channel", {
        **_beside(world, {"latency_p50": "real", "retry": "digit"}),
        "crowd": people, "judge_big": one, "judge_small": two, "rationale": world.noise(BESIDE["text"])})  # fmt: skip
    made.append(
        Case(
            "engineer two judges",
            "engineer",
            _file(frame.to_dicts(), "m.csv"),
            ("crowd",),
            truth_of(crowd=people, judge_big=one, judge_small=two),
            ("judge_big", "judge_small"),
        )
    )
    return made


# --- workbooks


def _sheet(
    rows: Sequence[Sequence[Any]],
    name: str,
    title: str = "Tabelle1",
    more: Mapping[str, Sequence[Sequence[Any]]] | None = None,
) -> Callable[[Path], Sequence[Path]]:
    def make(folder: Path) -> Sequence[Path]:
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = title
        for row in rows:
            sheet.append(list(row))
        for name_, others in (more or {}).items():
            beside = book.create_sheet(name_)
            for row in others:
                beside.append(list(row))
        book.save(folder / name)
        return [folder / name]

    return make


def workbooks() -> list[Case]:  # noqa: PLR0915 - a file after the other
    """Nine German and French workbooks: titles, means below, keys to the scores, words as scores."""
    made = []

    def two(seed: str, ids: str, who: tuple[str, str], count: int = 42) -> tuple[World, Any, Any]:
        world = World(f"5 {seed}", ids_of(ids, count))
        return world, world.seen(0.5), world.seen(0.6)

    def add(name: str, make: Any, who: tuple[str, str], people: Any, machine: Any) -> None:
        made.append(
            Case(
                f"workbook {name}",
                "workbook",
                make,
                who[:1],
                truth_of(**{who[0]: people, who[1]: machine}),
                who[1:],
            )
        )

    who = ("Pflegekraft", "Sprach-KI")
    world, people, machine = two("title", "P", who)
    add(
        "title above",
        _sheet(
            [
                ["Auswertung Pflegeberichte, März 2026"],
                [],
                ["Bericht", *who, "Station"],
                *([u[0], people[u], machine[u], BESIDE["city"](world.own)] for u in world.units),
            ],
            "Bericht.xlsx",
        ),
        who,
        people,
        machine,
    )

    who = ("Notaire", "Assistant IA")
    world, people, machine = two("mean below", "A", who)
    mean = [round(sum(s.values()) / len(s), 2) for s in (people, machine)]
    add(
        "mean below",
        _sheet(
            [
                ["Acte", *who],
                *([u[0], people[u], machine[u]] for u in world.units),
                ["Moyenne", *mean],
            ],
            "actes.xlsx",
            "Feuil1",
        ),
        who,
        people,
        machine,
    )

    who = ("Lehrerin", "GPT-Korrektor")
    world, people, machine = two("key beside", "H", who)
    add(
        "key beside",
        _sheet(
            [
                ["Heft", *who, "Anmerkung"],
                *([u[0], people[u], machine[u], BESIDE["text"](world.own)] for u in world.units),
            ],
            "Hefte.xlsx",
            "Noten",
            {"Legende": [["Wert", "Bedeutung"], [1, "schwach"], [5, "stark"]]},
        ),
        who,
        people,
        machine,
    )

    who = ("Ingénieure", "Modèle")
    world, people, machine = two("words", "Z", who)
    words = {1: "1 - insuffisant", 2: "2 - faible", 3: "3 - moyen", 4: "4 - bon", 5: "5 - très bon"}
    add(
        "words beside numbers",
        _sheet(
            [
                ["Chantier", "Zone", *who],
                *(
                    [u[0], BESIDE["city"](world.own), words[people[u]], words[machine[u]]]
                    for u in world.units
                ),
            ],
            "chantiers.xlsx",
        ),
        who,
        people,
        machine,
    )

    who = ("Amtsärztin", "KI-Gutachten")
    world, people, machine = two("gap", "G", who)
    add(
        "empty column",
        _sheet(
            [
                ["lfd", "Antrag", None, *who],
                *([at, u[0], None, people[u], machine[u]] for at, u in enumerate(world.units, 1)),
            ],
            "Antraege.xlsx",
        ),
        who,
        people,
        machine,
    )

    who = ("Juriste", "Robot")
    world, people, machine = two("half", "J", who)
    people = {u: v - 0.5 if v > 1 and world.own.random() < 0.4 else v for u, v in people.items()}
    machine = {u: v - 0.5 if v > 1 and world.own.random() < 0.4 else v for u, v in machine.items()}
    add(
        "halves with commas",
        _sheet(
            [
                ["Requête", *who],
                *(
                    [u[0], *(str(float(s[u])).replace(".", ",") for s in (people, machine))]
                    for u in world.units
                ),
            ],
            "requetes.xlsx",
        ),
        who,
        people,
        machine,
    )

    names = ids_of("U", 40)
    world = World("5 attributes", names)
    raters, about = ("Kollegin", "Chatbot-Prüfer"), ("Ton", "Fachlichkeit", "Länge")
    scored = {(r, a): world.seen(0.5) for r in raters for a in about}
    truth: Truth = {key: {u: float(v) for u, v in said.items()} for key, said in scored.items()}
    rows = [
        {
            "Unterhaltung": u[0],
            "Prüfer": r,
            **{a: scored[r, a][u] for a in about},
            "Dauer (min)": BESIDE["real"](world.own),
        }
        for r in raters
        for u in world.units
    ]
    made.append(
        Case(
            "workbook rows of raters",
            "workbook",
            partial(_book, {"Daten": pl.DataFrame(rows)}, "u.xlsx"),
            raters[:1],
            truth,
            raters[1:],
        )
    )

    world = World("5 two files other heads", ids_of("L", 40))
    people, machine = world.seen(0.5), world.seen(0.6)

    letters = list(world.units)
    notes = world.noise(BESIDE["text"])

    def files(folder: Path) -> Sequence[Path]:
        shown = list(letters)
        for rater, said, key, head in (
            ("mme_petit", people, "Lettre", "Évaluation"),
            ("mistral", machine, "Lettre", "Note IA"),
        ):
            random.Random(rater).shuffle(shown)
            rows = [{key: u[0], "Observations": notes[u], head: said[u]} for u in shown]
            _book({"Feuil1": pl.DataFrame(rows)}, f"{rater}.xlsx", folder)
        return [folder / "mme_petit.xlsx", folder / "mistral.xlsx"]

    made.append(
        Case(
            "workbook two files other heads",
            "workbook",
            files,
            ("mme_petit",),
            truth_of(mme_petit=people, mistral=machine),
            ("mistral",),
        )
    )

    world = World("5 top of two", ids_of("B", 40))
    raters, about = ("Fachärztin", "Modell X"), ("Befund", "Therapie")
    scored = {(r, a): world.seen(0.5) for r in raters for a in about}
    truth = {key: {u: float(v) for u, v in said.items()} for key, said in scored.items()}
    rows_ = [
        ["Brief", "Fachärztin", None, "Modell X", None, "Datum"],
        [None, *about, *about, None],
        *(
            [u[0], *(scored[r, a][u] for r in raters for a in about), BESIDE["clock"](world.own)]
            for u in world.units
        ),
    ]
    made.append(
        Case(
            "workbook two rows and a date",
            "workbook",
            _sheet(rows_, "Briefe.xlsx"),
            raters[:1],
            truth,
            raters[1:],
        )
    )
    return made


# --- long and wide


def shapes() -> list[Case]:
    """Nine layouts: runs, records within records, people numbered, several judges, sparse people."""
    made = []
    world = World("5 runs", ids_of("r", 44), ("calm", "warm"))
    people, machine = world.seen(0.5), world.seen(0.6)
    # A judge of two runs that says the same twice: a truth by unit then needs no run.
    rows = [
        {
            "scenario": u[0],
            "persona": u[1],
            "scored_by": "moderator",
            "repeat": 1,
            "points": people[u],
        }
        for u in world.units
    ]
    rows += [
        {
            "scenario": u[0],
            "persona": u[1],
            "scored_by": "o5-mini",
            "repeat": k,
            "points": machine[u],
        }
        for k in (1, 2)
        for u in world.units
    ]
    made.append(
        Case(
            "shape repeats",
            "shape",
            _file(rows, "runs.csv"),
            ("moderator",),
            truth_of(moderator=people, **{"o5-mini": machine}),
            ("o5-mini",),
        )
    )

    world = World("5 within", ids_of("w", 44))
    people, other, machine = world.seen(0.5), world.seen(0.5), world.seen(0.6)
    said = {"ada": people, "bea": other, "gpt-judge": machine}
    rows = [
        {
            "id": u[0],
            "text": BESIDE["text"](world.own),
            "ratings": [{"rater": n, "score": s[u]} for n, s in said.items()],
        }
        for u in world.units
    ]
    made.append(
        Case(
            "shape lists within",
            "shape",
            _file(rows, "w.json"),
            ("ada", "bea"),
            truth_of(**said),
            ("gpt-judge",),
        )
    )

    keyed = {
        u[0]: {"human": people[u], "phi": machine[u], "n_chars": world.own.randint(20, 900)}
        for u in world.units
    }
    made.append(
        Case(
            "shape keyed by id",
            "shape",
            _text(json.dumps(keyed), "k.json"),
            ("human",),
            truth_of(human=people, phi=machine),
            ("phi",),
        )
    )

    world = World("5 numbered", ids_of("n", 60))
    crowd = {f"annotator {k}": world.seen(0.6, share=0.55) for k in range(1, 5)}
    machine = world.seen(0.5)
    frame = table(
        world, "excerpt", None, {**crowd, "yi-34b": machine, "words": world.noise(BESIDE["count"])}
    )
    made.append(
        Case(
            "shape sparse people",
            "shape",
            _file(frame.to_dicts(), "x.csv"),
            tuple(crowd),
            truth_of(**crowd, **{"yi-34b": machine}),
            ("yi-34b",),
        )
    )

    world = World("5 grid", ids_of("g", 44), ("north", "south"))
    raters, about = ("guide", "tour-llm"), ("facts", "charm")
    scored = {(r, a): world.seen(0.5) for r in raters for a in about}
    both: Truth = {key: {u: float(v) for u, v in s.items()} for key, s in scored.items()}
    for name, form in (("bars", "{a}|{r}"), ("doubled", "{r}__{a}"), ("scored", "{r}_{a}_score")):
        frame = table(
            world, "stop", "voice", {form.format(r=r, a=a): s for (r, a), s in scored.items()}
        )
        made.append(
            Case(
                f"shape grid {name}",
                "shape",
                _file(frame.to_dicts(), "g.csv"),
                raters[:1],
                both,
                raters[1:],
            )
        )
    long = [
        {
            "stop": u[0],
            "voice": u[1],
            "role": r,
            "measure": a,
            "result": scored[r, a][u],
            "ts": BESIDE["clock"](world.own),
        }
        for r, a in scored
        for u in world.units
    ]
    world.own.shuffle(long)
    made.append(
        Case(
            "shape long with times", "shape", _file(long, "l.parquet"), raters[:1], both, raters[1:]
        )
    )

    world = World("5 files", ids_of("f", 44), ("lite", "pro"))
    people, machine = world.seen(0.5), world.seen(0.6)

    def files(folder: Path) -> Sequence[Path]:
        paths = []
        for rater, said in (("chef", people), ("llama-guard", machine)):
            units = random.Random(rater).sample(world.units, len(world.units))
            paths += _csv(
                pl.DataFrame(
                    [
                        {
                            "recipe": u[0],
                            "app": u[1],
                            "grade": said[u],
                            "seconds": BESIDE["real"](world.own),
                        }
                        for u in units
                    ]
                ),
                f"{rater}.csv",
                ",",
                folder,
            )
        return paths

    made.append(
        Case(
            "shape a file a rater by system",
            "shape",
            files,
            ("chef",),
            truth_of(chef=people, **{"llama-guard": machine}),
            ("llama-guard",),
        )
    )
    return made


# --- heads of several languages


def languages() -> list[Case]:
    """Nine languages that the first four sets do not have, and three of them with decimal commas."""
    plans: list[tuple[str, str, str, str, tuple[str, ...], str, str, str]] = [
        ("případ", "P", "odbornice", "jazykový_model", (), "strana", "digit", ";"),
        ("beszélgetés", "B", "szakértő", "nyelvi_modell", (), "oldal", "digit", ";"),
        ("ερώτηση", "E", "ειδικός", "μοντέλο", (), "σελίδα", "digit", ";"),
        ("سؤال", "S", "خبير", "النموذج", (), "صفحة", "digit", ","),
        ("प्रश्न", "H", "विशेषज्ञ", "एआई", (), "पृष्ठ", "digit", ","),
        ("问题编号", "Z", "专家评分", "模型评分", (), "页码", "digit", ","),
        ("câu_hỏi", "V", "chuyên_gia", "mô_hình", ("rõ_ràng", "lịch_sự"), "trang", "digit", ","),
        ("запит", "U", "експерт", "ШІ", ("точність", "тон"), "тривалість", "real", ";"),
        ("pertanyaan", "I", "pakar", "model_ai", (), "halaman", "digit", ","),
    ]
    made = []
    for item, ids, human, judge, attributes, extra, kind, sep in plans:
        world = World(f"5 {item}", ids_of(ids, 46))
        scored = {(r, a): world.seen(0.5) for r in (human, judge) for a in attributes or ("",)}
        columns = {f"{r}_{a}" if a else r: said for (r, a), said in scored.items()}
        frame = table(world, item, None, {**_beside(world, {extra: kind}), **columns})
        truth: Truth = {key: {u: float(v) for u, v in said.items()} for key, said in scored.items()}
        made.append(
            Case(
                f"language {item}",
                "language",
                partial(_csv, frame, "d.csv", sep),
                (human,),
                truth,
                (judge,),
            )
        )
    return made


# --- in the manner of tools


def exports() -> list[Case]:
    """Eight tables and records as tools write them, a person's judgement beside the machine's."""
    world = World("5 exports", ids_of("ex-", 50))
    people, machine = world.seen(0.5), world.seen(0.6)
    text = world.noise(BESIDE["text"])
    answer = world.noise(BESIDE["text"])
    share = {
        u: min(1.0, max(0.0, round((v - 1) / 4 + world.own.choice((0, 0.02, -0.02)), 2)))
        for u, v in machine.items()
    }
    on_five = {u: 1 + 4 * v for u, v in share.items()}
    plans: list[tuple[str, str, dict[str, Mapping[Unit, Any]], str, str, Mapping[Unit, Any]]] = [
        ("opik", "trace.id", {"input.question": text, "output.answer": answer, "duration": world.noise(BESIDE["real"]),
                              "feedback_scores.hallucination_judge": machine, "feedback_scores.reviewer": people},
         "feedback_scores.reviewer", "feedback_scores.hallucination_judge", machine),
        ("helicone", "request_id", {"request_created_at": world.noise(BESIDE["clock"]), "prompt_cache_read_tokens": world.noise(BESIDE["count"]),
                                    "delay_ms": world.noise(BESIDE["real"]), "scores/human": people, "scores/llm-judge": machine},
         "scores/human", "scores/llm-judge", machine),
        ("form", "Item ID", {"Timestamp": world.noise(BESIDE["clock"]), "How helpful was the answer? (1-5)": people, "LLM score (1-5)": machine},
         "How helpful was the answer? (1-5)", "LLM score (1-5)", machine),
        ("galileo", "Row Number", {"Question": text, "Completeness": share, "Tokens Used": world.noise(BESIDE["count"]), "SME rating": people},
         "SME rating", "Completeness", on_five),
        ("humanloop", "log_id", {"session_id": world.noise(lambda own: f"s{own.randrange(9999)}"), "output": answer,
                                 "evaluators.tone-judge": machine, "evaluators.human-rating": people, "provider_latency": world.noise(BESIDE["real"])},
         "evaluators.human-rating", "evaluators.tone-judge", machine),
    ]  # fmt: skip
    made = []
    for name, item, columns, human, judge, said in plans:
        frame = table(world, item, None, columns)
        truth: Truth = {
            (human, ""): {u: float(v) for u, v in people.items()},
            (judge, ""): {u: float(v) for u, v in said.items()},
        }
        made.append(
            Case(
                f"export {name}",
                "export",
                partial(_csv, frame, "e.csv", ","),
                (human,),
                truth,
                (judge,),
            )
        )
    rows = [
        {
            "doc_id": u[0],
            "doc": {"query": text[u], "gold": answer[u]},
            "resps": [[answer[u]]],
            "arguments": [[text[u], {"until": ["\n"]}]],
            "judge_score": machine[u],
            "human_score": people[u],
        }
        for u in world.units
    ]
    made.append(
        Case(
            "export harness samples",
            "export",
            _file(rows, "samples.jsonl"),
            ("human_score",),
            truth_of(human_score=people, judge_score=machine),
            ("judge_score",),
        )
    )
    rows = [{"id": u[0], "fields": {"prompt": text[u], "response": answer[u]}, "status": "completed",
             "responses": {"rating": [{"value": people[u], "user_id": "olga"}]},
             "suggestions": {"rating": {"value": machine[u], "agent": "gpt-judge"}}} for u in world.units]  # fmt: skip
    made.append(
        Case(
            "export argilla",
            "export",
            _file(rows, "records.json"),
            ("olga",),
            truth_of(olga=people, **{"gpt-judge": machine}),
            ("gpt-judge",),
        )
    )
    rows = [
        {
            "question_id": u[0],
            "model": "tulu",
            "judge": [j, "single-v1"],
            "user_prompt": text[u],
            "judgment": f"[[{s[u]}]]",
            "score": s[u],
            "turn": 1,
            "tstamp": 1700000000.5,
        }
        for j, s in (("gpt-4", machine), ("author", people))
        for u in world.units
    ]
    made.append(
        Case(
            "export mt-bench",
            "export",
            _file(rows, "judgment.jsonl"),
            ("author",),
            {
                (r, ""): {(f"{i} turn 1", "tulu"): float(v) for (i, _), v in s.items()}
                for r, s in (("author", people), ("gpt-4", machine))
            },
            ("gpt-4",),
        )
    )
    return made


# --- labels


def labels() -> list[Case]:
    """Eight files of classes: codes, capitals, several at once, chances beside, few of a kind."""
    made = []

    def pair(
        world: World, words: Sequence[Any], off: float = 0.2
    ) -> tuple[dict[Unit, Any], dict[Unit, Any]]:
        said = world.noise(lambda own: own.choice(words))
        return said, {
            u: w if world.own.random() > off else world.own.choice(words) for u, w in said.items()
        }

    def add(
        name: str,
        frame: pl.DataFrame,
        who: tuple[str, str],
        said: Any,
        other: Any,
        file: str = "l.csv",
        sep: str = ",",
    ) -> None:
        made.append(
            Case(
                f"labels {name}",
                "labels",
                _file(frame.to_dicts(), file, sep),
                who[:1],
                {(who[0], ""): dict(said), (who[1], ""): dict(other)},
                who[1:],
            )
        )

    world = World("5 mixed capitals", ids_of("C", 54))
    said, other = pair(world, ("refund", "repair", "replace"))
    who = ("desk", "router_model")
    add(
        "plain",
        table(
            world,
            "parcel",
            None,
            {"depot": world.noise(BESIDE["digit"]), who[0]: said, who[1]: other},
        ),
        who,
        said,
        other,
    )

    world = World("5 rare", ids_of("R", 90))
    said = world.noise(lambda own: "fraud" if own.random() < 0.08 else "ok")
    other = {u: w if world.own.random() < 0.92 else "fraud" for u, w in said.items()}
    who = ("investigator", "screening_llm")
    add(
        "rare",
        table(
            world,
            "payment",
            None,
            {"amount": world.noise(BESIDE["real"]), who[0]: said, who[1]: other},
        ),
        who,
        said,
        other,
    )

    world = World("5 long", ids_of("V", 46))
    said, other = pair(world, ("wspiera", "odrzuca", "neutralny"))
    rows = [
        {"wpis": u[0], "kto": r, "postawa": s[u]}
        for r, s in (("Zofia", said), ("bielik", other))
        for u in world.units
    ]
    made.append(
        Case(
            "labels long Polish",
            "labels",
            _file(rows, "p.csv", ";"),
            ("Zofia",),
            {("Zofia", ""): dict(said), ("bielik", ""): dict(other)},
            ("bielik",),
        )
    )

    world = World("5 certain", ids_of("T", 54))
    said, other = pair(world, ("bug", "feature", "question", "docs"))
    who = ("triager", "gpt_label")
    add(
        "certainty beside",
        table(
            world,
            "issue_no",
            None,
            {who[0]: said, who[1]: other, "gpt_confidence": world.noise(BESIDE["share"])},
        ),
        who,
        said,
        other,
    )

    world = World("5 oui", ids_of("O", 60))
    said, other = pair(world, ("oui", "non"))
    who = ("infirmière", "IA_triage")
    add(
        "oui et non",
        table(
            world,
            "patient",
            None,
            {"lit": world.noise(BESIDE["digit"]), who[0]: said, who[1]: other},
        ),
        who,
        said,
        other,
        sep=";",
    )

    world = World("5 several", ids_of("M", 50))
    words = ("sci-fi", "drama", "comedy", "horror")
    many = [";".join(w for at, w in enumerate(words) if mask >> at & 1) for mask in range(1, 13)]
    said, other = pair(world, many)
    who = ("critic", "tagger_llm")
    add(
        "several at once",
        table(world, "movie", None, {who[0]: said, who[1]: other}),
        who,
        said,
        other,
        "m.jsonl",
    )

    world = World("5 systems", ids_of("Y", 40), ("apollo", "zeus"))
    said, other = pair(world, ("complete", "partial", "wrong"))
    who = ("grader", "sonar")
    add(
        "by system",
        table(
            world,
            "riddle",
            "solver",
            {who[0]: said, who[1]: other, "seconds": world.noise(BESIDE["real"])},
        ),
        who,
        said,
        other,
        "r.parquet",
    )

    world = World("5 three people", ids_of("A", 54))
    said, other = pair(world, ("sarcastic", "sincere", "unclear"))
    second = {u: w if world.own.random() < 0.85 else "unclear" for u, w in said.items()}
    frame = table(
        world,
        "post_key",
        None,
        {
            "coder_one": said,
            "coder_two": second,
            "deberta": other,
            "likes": world.noise(BESIDE["count"]),
        },
    )
    made.append(
        Case(
            "labels two coders",
            "labels",
            _file(frame.to_dicts(), "s.csv"),
            ("coder_one", "coder_two"),
            {
                ("coder_one", ""): dict(said),
                ("coder_two", ""): dict(second),
                ("deberta", ""): dict(other),
            },
            ("deberta",),
        )
    )
    return made


# --- preferences


def preferences() -> list[Case]:
    """Eight files of comparisons: side by side, graded, by signs, by number, in records."""
    made = []
    names = ("rook", "bishop", "knight", "queen")

    def drawn(
        seed: str, who: tuple[str, str]
    ) -> tuple[list[tuple[str, str, str, dict[str, int]]], Truth]:
        own = random.Random(f"5 preferences {seed}")
        pairs, truth = [], {}
        for at in range(44):
            first, second = own.sample(names, 2)
            better = own.choice((1, 1, -1, -1, 0))
            said = {r: better if own.random() < 0.8 else own.choice((1, -1, 0)) for r in who}
            pairs.append((f"i{at}", first, second, said))
            for r, s in said.items():
                truth.setdefault((r, ""), {})[f"i{at}", f"{first}>{second}"] = float(s)
        return pairs, truth

    def add(
        name: str,
        who: tuple[str, str],
        truth: Truth,
        rows: list[dict[str, Any]],
        file: str = "p.csv",
    ) -> None:
        made.append(
            Case(f"preferences {name}", "preferences", _file(rows, file), who[:1], truth, who[1:])
        )

    who = ("winner", "judge")
    pairs, truth = drawn("beside", who)
    word = {1: "model_a", -1: "model_b", 0: "tie"}
    add(
        "winner beside judge",
        who,
        truth,
        [
            {
                "question_id": i,
                "model_a": a,
                "model_b": b,
                "winner": word[s["winner"]],
                "judge": word[s["judge"]],
            }
            for i, a, b, s in pairs
        ],
    )
    who = ("human_winner", "llm_winner")
    pairs, truth = drawn("two winners", who)
    add(
        "two winners",
        who,
        truth,
        [
            {"prompt_no": i, "model_a": a, "model_b": b, **{r: word[s[r]] for r in who}}
            for i, a, b, s in pairs
        ],
    )
    who = ("piet", "gpt-oss")
    pairs, truth = drawn("signs", who)
    sign = {1: "A>B", -1: "B>A", 0: "A=B"}
    add(
        "signs",
        who,
        truth,
        [
            {"vraag": i, "model_a": a, "model_b": b, "beoordelaar": r, "keuze": sign[s[r]]}
            for i, a, b, s in pairs
            for r in who
        ],
    )
    who = ("marta", "judge-pl")
    pairs, truth = drawn("sides", who)
    side = {1: "left", -1: "right", 0: "tie"}
    add(
        "sides in records",
        who,
        truth,
        [
            {"pair_id": i, "left": a, "right": b, "rater": r, "preference": side[s[r]]}
            for i, a, b, s in pairs
            for r in who
        ],
        "p.jsonl",
    )
    who = ("taster", "aroma-llm")
    pairs, truth = drawn("numbers", who)
    add(
        "numbers",
        who,
        truth,
        [
            {
                "flight": i,
                "wine_1": a,
                "wine_2": b,
                "taster_id": r,
                "winner": {1: a, -1: b, 0: "tie"}[s[r]],
            }
            for i, a, b, s in pairs
            for r in who
        ],
    )
    who = ("Kurator", "Bild-KI")
    pairs, truth = drawn("Bild", who)
    add(
        "German",
        who,
        truth,
        [
            {
                "Motiv": i,
                "Bild A": a,
                "Bild B": b,
                "Juror": r,
                "Favorit": {1: "Bild A", -1: "Bild B", 0: "unentschieden"}[s[r]],
            }
            for i, a, b, s in pairs
            for r in who
        ],
    )
    who = ("redactora", "juez-llm")
    pairs, truth = drawn("titular", who)
    add(
        "Spanish",
        who,
        truth,
        [
            {
                "titular": i,
                "versión_a": a,
                "versión_b": b,
                "evaluador": r,
                "preferida": {1: a, -1: b, 0: "empate"}[s[r]],
            }
            for i, a, b, s in pairs
            for r in who
        ],
    )
    who = ("qa_lead", "arena-judge")
    pairs, truth = drawn("graded", who)
    add(
        "graded",
        who,
        truth,
        [
            {
                "case_id": i,
                "response_a_model": a,
                "response_b_model": b,
                "evaluator": r,
                "score": 2 * s[r],
            }
            for i, a, b, s in pairs
            for r in who
        ],
    )
    return made


def cases() -> list[Case]:
    """All sixty."""
    made = [
        *engineer(),
        *workbooks(),
        *shapes(),
        *languages(),
        *exports(),
        *labels(),
        *preferences(),
    ]
    assert len(made) == 60, len(made)
    return made
