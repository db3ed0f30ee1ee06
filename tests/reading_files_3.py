"""A third set of sixty made files, of seven kinds, with the truth beside.

Written from a fresh seed, with other names, trades and languages than the first two sets, before
the lists of names in the code were looked at again.
"""

from __future__ import annotations

import json
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
from reading_files import Case, Truth

from voirdire.tables import write_xlsx

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Unit = tuple[str, str | None]


class World:
    """Units with a quality, and scores of whoever sees it with an error of their own."""

    def __init__(
        self, seed: str, ids: Sequence[str], systems: Sequence[str | None] = (None,)
    ) -> None:
        self.own = random.Random(f"third {seed}")
        self.units: list[Unit] = [(i, s) for i in ids for s in systems]
        self.quality = {unit: self.own.uniform(0.8, 5.2) for unit in self.units}

    def seen(
        self, error: float, low: int = 1, high: int = 5, share: float = 1.0
    ) -> dict[Unit, int]:
        span = (high - low) / 4
        return {
            unit: min(high, max(low, round(low + span * (q - 1 + self.own.gauss(0, error)))))
            for unit, q in self.quality.items()
            if self.own.random() < share
        }

    def noise(self, draw: Callable[[random.Random], Any]) -> dict[Unit, Any]:
        return {unit: draw(self.own) for unit in self.units}


def ids_of(kind: str, count: int = 48) -> list[str]:
    own = random.Random(f"ids {kind}")
    if kind == "hex":
        return [f"{own.randrange(16**8):08x}" for _ in range(count)]
    if kind == "year":
        return [f"2025/{at:04d}" for at in range(311, 311 + 3 * count, 3)]
    if kind == "plain":
        return [str(at) for at in own.sample(range(20_000, 90_000), count)]
    return [f"{kind}{at:03d}" for at in own.sample(range(100, 999), count)]


def table(
    world: World, item: str, system: str | None, columns: Mapping[str, Mapping[Unit, Any]]
) -> pl.DataFrame:
    rows = []
    for unit in world.units:
        row: dict[str, Any] = {item: unit[0]}
        if system is not None:
            row[system] = unit[1]
        rows.append(row | {name: cells.get(unit) for name, cells in columns.items()})
    return pl.DataFrame(rows, infer_schema_length=None)


def truth_of(**raters: Mapping[Unit, Any]) -> Truth:
    return {(name, ""): {u: float(v) for u, v in said.items()} for name, said in raters.items()}


def _csv(frame: pl.DataFrame, name: str, sep: str, folder: Path) -> Sequence[Path]:
    path = folder / name
    frame.write_csv(path, separator=sep)
    return [path]


def _book(frames: Mapping[str, pl.DataFrame], name: str, folder: Path) -> Sequence[Path]:
    write_xlsx(folder / name, dict(frames))
    return [folder / name]


def _lines(rows: Sequence[Mapping[str, Any]], name: str, folder: Path) -> Sequence[Path]:
    path = folder / name
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(text if name.endswith("l") else json.dumps(list(rows), ensure_ascii=False))
    return [path]


NOISE: dict[str, Callable[[random.Random], Any]] = {
    "ms": lambda own: round(own.uniform(200, 9000), 1),
    "tokens": lambda own: own.randint(40, 900),
    "small": lambda own: own.randint(1, 5),
    "share": lambda own: round(own.random(), 3),
    "flag": lambda own: own.choice(["yes", "no"]),
    "day": lambda own: f"2025-0{own.randint(1, 9)}-1{own.randint(0, 9)}",
    "city": lambda own: own.choice(["Lyon", "Graz", "Porto", "Gent"]),
    "text": lambda own: " ".join(own.choice(_WORDS) for _ in range(own.randint(9, 20))),
}
_WORDS = [
    "the",
    "train",
    "was",
    "late",
    "and",
    "nobody",
    "told",
    "us",
    "why",
    "we",
    "waited",
    "in",
    "the",
    "rain",
    "for",
    "two",
    "hours",
]


def engineer() -> list[Case]:
    """Files as an engineer's scripts write them: ids of requests, builds, a metric or two."""
    made = []
    plans = [
        (
            "request_uuid",
            "hex",
            "sha",
            ("9f3c", "b771"),
            "oncall_rating",
            "grader_v2",
            ("p95_ms", "ms"),
        ),
        (
            "session",
            "S",
            "rollout",
            ("canary", "stable"),
            "support_lead",
            "autorater",
            ("n_tokens", "tokens"),
        ),
        ("job_id", "plain", None, (), "reviewer", "gpt4o_grade", ("retries", "small")),
        (
            "chat_ref",
            "C-",
            "deployment",
            ("eu-1", "us-2"),
            "manual_check",
            "llm_eval",
            ("cost_eur", "share"),
        ),
        ("utterance", "U", None, (), "linguist", "scorer_b", ("duration_ms", "ms")),
        (
            "task",
            "T",
            "branch",
            ("main", "fix-31"),
            "qa_person",
            "claude_rating",
            ("shard", "small"),
        ),
        ("doc", "D", None, (), "editor", "quality_model", ("word_count", "tokens")),
        (
            "row_key",
            "hex",
            "model_name",
            ("alpha-7b", "beta-13b"),
            "expert",
            "judge_score",
            ("gpu", "small"),
        ),
        ("prompt_hash", "hex", None, (), "human_eval", "mistral_judge", ("temperature", "share")),
    ]
    for item, ids, system, systems, human, judge, (extra, noise) in plans:
        world = World(item, ids_of(ids), systems or (None,))
        people, machine = world.seen(0.5, share=0.9), world.seen(0.6)
        columns = {
            extra: world.noise(NOISE[noise]),
            human: people,
            judge: machine,
            "created": world.noise(NOISE["day"]),
        }
        frame = table(world, item, system, columns)
        truth = truth_of(**{human: people, judge: machine})
        name = f"engineer {item} {judge}"
        made.append(
            Case(name, "engineer", partial(_csv, frame, "run.csv", ","), (human,), truth, (judge,))
        )
    return made


def workbooks() -> list[Case]:
    """German and French workbooks of small offices, with decimal marks and notes as they are there."""
    made = []
    plans: list[tuple[str, str, str, str, str, str | None, tuple[str, ...], str]] = [
        (
            "Aktenzeichen",
            "year",
            "Sachbearbeiterin",
            "KI-Bewertung",
            "Bearbeitungszeit",
            None,
            (),
            "ms",
        ),
        ("Beleg", "B", "Prüfer", "Sprachmodell", "Seiten", None, (), "small"),
        (
            "Anruf",
            "A",
            "Supervisorin",
            "Modellnote",
            "Warteschleife",
            "Fassung",
            ("alt", "neu"),
            "small",
        ),
        ("Schüler", "S", "Lehrkraft", "GPT-Note", "Klasse", None, (), "small"),
        ("Vorgangsnummer", "plain", "Mensch", "Automat", "Dauer_s", "Variante", ("V1", "V2"), "ms"),
        ("Antwort-Nr", "R", "Gutachter", "LLM", "Wörter", None, (), "tokens"),
        ("Dossier", "D", "Évaluatrice", "IA", "Durée", None, (), "ms"),
        ("Numéro", "N", "Correcteur", "Note du modèle", "Pages", None, (), "small"),
        (
            "Réclamation",
            "R",
            "Conseiller",
            "Juge GPT",
            "Ancienneté",
            "Version",
            ("a", "b"),
            "small",
        ),
        ("Copie", "K", "Professeur", "Correction automatique", "Groupe", None, (), "small"),
        ("Entretien", "E", "Psychologue", "Modèle de langue", "Séance", None, (), "small"),
    ]
    for item, ids, human, judge, extra, system, systems, noise in plans:
        world = World(item, ids_of(ids), systems or (None,))
        people, machine = world.seen(0.5), world.seen(0.6)
        columns = {
            extra: world.noise(NOISE[noise]),
            human: people,
            judge: machine,
            "Ort" if "ß" not in item else "Lieu": world.noise(NOISE["city"]),
        }
        frame = table(world, item, system, columns)
        truth = truth_of(**{human: people, judge: machine})
        made.append(
            Case(
                f"workbook {item} {judge}",
                "workbook",
                partial(_book, {"Tabelle1": frame}, "daten.xlsx"),
                (human,),
                truth,
                (judge,),
            )
        )
    return made


def shapes() -> list[Case]:
    """The same judgements long, wide, as a grid, in files of their own, in several runs."""
    made = []
    world = World("shapes", ids_of("x"))
    clear, kind = world.seen(0.4), world.seen(0.8)
    clear_m, kind_m = world.seen(0.6), world.seen(0.9)
    both: Truth = {
        ("panel", "clarity"): {u: float(v) for u, v in clear.items()},
        ("panel", "kindness"): {u: float(v) for u, v in kind.items()},
        ("bot-judge", "clarity"): {u: float(v) for u, v in clear_m.items()},
        ("bot-judge", "kindness"): {u: float(v) for u, v in kind_m.items()},
    }
    rows = [
        {"sample": u[0], "assessor": who, "criterion": about, "mark": said[u]}
        for (who, about), said in (
            (("panel", "clarity"), clear), (("panel", "kindness"), kind),
            (("bot-judge", "clarity"), clear_m), (("bot-judge", "kindness"), kind_m))
        for u in world.units
    ]  # fmt: skip
    long = pl.DataFrame(rows)
    made.append(
        Case(
            "shape long two criteria",
            "shape",
            partial(_csv, long, "long.csv", ","),
            ("panel",),
            both,
            ("bot-judge",),
        )
    )
    made.append(
        Case(
            "shape long jsonl",
            "shape",
            partial(_lines, rows, "long.jsonl"),
            ("panel",),
            both,
            ("bot-judge",),
        )
    )
    wide_long = long.pivot("criterion", index=["sample", "assessor"], values="mark")
    made.append(
        Case(
            "shape a column a criterion",
            "shape",
            partial(_csv, wide_long, "w.csv", ";"),
            ("panel",),
            both,
            ("bot-judge",),
        )
    )
    grid = table(
        world,
        "sample",
        None,
        {
            "panel_clarity": clear,
            "panel_kindness": kind,
            "bot-judge_clarity": clear_m,
            "bot-judge_kindness": kind_m,
        },
    )
    made.append(
        Case(
            "shape grid",
            "shape",
            partial(_csv, grid, "grid.csv", ","),
            ("panel",),
            both,
            ("bot-judge",),
        )
    )
    flipped = grid.rename({c: " ".join(reversed(c.split("_"))) for c in grid.columns if "_" in c})
    made.append(
        Case(
            "shape grid attribute first",
            "shape",
            partial(_csv, flipped, "g.tsv", "\t"),
            ("panel",),
            both,
            ("bot-judge",),
        )
    )
    one = truth_of(panel=clear, **{"bot-judge": clear_m})
    alone = [
        {"sample": u[0], "assessor": w, "mark": s[u]}
        for w, s in (("panel", clear), ("bot-judge", clear_m))
        for u in world.units
    ]
    world.own.shuffle(alone)
    made.append(
        Case(
            "shape long shuffled",
            "shape",
            partial(_csv, pl.DataFrame(alone), "l.csv", "\t"),
            ("panel",),
            one,
            ("bot-judge",),
        )
    )

    def files(folder: Path) -> Sequence[Path]:
        for who, said in (("panel", clear), ("bot-judge", clear_m)):
            frame = pl.DataFrame([{"sample": u[0], "mark": said[u]} for u in world.units])
            frame.write_csv(folder / f"{who}.csv")
        return [folder / "panel.csv", folder / "bot-judge.csv"]

    made.append(Case("shape a file a rater", "shape", files, ("panel",), one, ("bot-judge",)))
    three = {f"rater{n}": world.seen(0.5, share=0.8) for n in range(1, 4)}
    many = table(
        world, "sample", None, {**three, "llama": clear_m, "page": world.noise(NOISE["small"])}
    )
    made.append(
        Case(
            "shape three raters",
            "shape",
            partial(_csv, many, "m.csv", ","),
            tuple(three),
            truth_of(**three, llama=clear_m),
            ("llama",),
        )
    )
    noted = table(
        world,
        "sample",
        None,
        {
            "question": world.noise(NOISE["text"]),
            "panel": clear,
            "bot-judge": clear_m,
            "why": world.noise(NOISE["text"]),
        },
    )
    made.append(
        Case(
            "shape with texts",
            "shape",
            partial(_lines, noted.to_dicts(), "n.json"),
            ("panel",),
            one,
            ("bot-judge",),
        )
    )
    return made


def languages() -> list[Case]:
    """Headers of other languages, and separators and decimal marks that go with them."""
    made = []
    plans = [
        ("expediente", "E", "revisora", "modelo_juez", "duracion", "ms", ";"),
        ("conversación", "C", "experto", "puntuación_llm", "turnos", "small", ","),
        ("pratica", "P", "valutatore", "voto_ia", "minuti", "small", ";"),
        ("domanda", "D", "umano", "giudice_gpt", "lunghezza", "tokens", ","),
        ("zaaknummer", "Z", "beoordelaar", "taalmodel", "pagina", "small", ";"),
        ("vraag", "V", "mens", "ai_score", "wachttijd", "ms", ","),
        ("processo", "P", "avaliadora", "nota_modelo", "paginas", "small", ";"),
        ("sprawa", "S", "recenzent", "ocena_ai", "czas", "ms", ";"),
        ("ärende", "Ä", "granskare", "modellbetyg", "sidor", "small", ";"),
        ("案件", "K", "人間", "AI評価", "ページ", "small", ","),
    ]
    for item, ids, human, judge, extra, noise, sep in plans:
        world = World(item, ids_of(ids))
        people, machine = world.seen(0.5), world.seen(0.6)
        frame = table(
            world, item, None, {human: people, extra: world.noise(NOISE[noise]), judge: machine}
        )
        truth = truth_of(**{human: people, judge: machine})
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


def exports() -> list[Case]:
    """Tables that other programs give, with labels by a person put beside."""
    made = []
    world = World("exports", ids_of("ex"))
    people, machine = world.seen(0.5), world.seen(0.6)
    shares = {u: (v - 1) / 4 for u, v in machine.items()}
    shared = {u: 1 + 4 * v for u, v in shares.items()}
    plans: list[tuple[str, dict[str, Mapping[Unit, Any]], str, str, Mapping[Unit, Any]]] = [
        ("sheet of a notebook", {"Unnamed: 0": {u: at for at, u in enumerate(world.units)},
                                 "human": people, "llm_judge": machine}, "human", "llm_judge", machine),
        ("shares", {"latency": world.noise(NOISE["ms"]), "faithfulness": {u: v + 0.001 if v < 1 else v
                                                                          for u, v in shares.items()},
                    "annotator": people}, "annotator", "faithfulness",
         {u: v + 0.004 if v < 5 else v for u, v in shared.items()}),
        ("observability", {"span.kind": world.noise(lambda own: own.choice(["LLM", "TOOL"])),
                           "metrics.total_tokens": world.noise(NOISE["tokens"]),
                           "eval.correctness": machine, "ann.stars": people}, "ann.stars",
         "eval.correctness", machine),
        ("survey", {"Start": world.noise(NOISE["day"]), "Progress": world.noise(lambda own: 100),
                    "human_rating": people, "model_rating": machine}, "human_rating", "model_rating",
         machine),
        ("crowd", {"HITId": world.noise(lambda own: f"3{own.randrange(10**9)}"),
                   "WorkTimeInSeconds": world.noise(NOISE["tokens"]), "worker_score": people,
                   "auto_score": machine}, "worker_score", "auto_score", machine),
        ("store", {"stars": people, "helpful_votes": world.noise(NOISE["small"]),
                   "verified": world.noise(NOISE["flag"]), "predicted_stars": machine}, "stars",
         "predicted_stars", machine),
    ]  # fmt: skip
    for name, columns, human, judge, said in plans:
        frame = table(world, "record_key", None, columns)
        made.append(
            Case(
                f"export {name}",
                "export",
                partial(_csv, frame, "e.csv", ","),
                (human,),
                truth_of(**{human: people, judge: said}),
                (judge,),
            )
        )
    return made


def labels() -> list[Case]:
    made = []
    sets: list[tuple[str, str, str, tuple[str, ...]]] = [
        ("mail", "clerk", "router-llm", ("invoice", "complaint", "praise", "spam")),
        ("Meldung", "Redakteur", "Klassifikator", ("Politik", "Sport", "Kultur")),
        ("tweet_id", "coder", "gpt-label", ("support", "deny", "query", "comment")),
        ("avis", "annotatrice", "modele", ("positif", "négatif", "mixte")),
        ("xray", "radiologist", "cnn", ("normal", "fracture", "unclear")),
        ("turn", "therapist", "claude", ("open", "closed", "reflection", "advice", "other")),
        ("incidente", "analista", "clasificador", ("red", "disco", "memoria")),
    ]
    for item, human, judge, words in sets:
        own = random.Random(f"labels {item}")
        ids = ids_of(item[0].upper())
        said = {i: own.choice(words) for i in ids}
        other = {i: said[i] if own.random() < 0.8 else own.choice(words) for i in ids}
        frame = pl.DataFrame(
            {
                item: ids,
                human: [*said.values()],
                judge: [*other.values()],
                "batch": [own.randint(1, 4) for _ in ids],
            }
        )
        truth: Truth = {
            (human, ""): {(i, None): w for i, w in said.items()},
            (judge, ""): {(i, None): w for i, w in other.items()},
        }
        made.append(
            Case(
                f"labels {item}",
                "labels",
                partial(_csv, frame, "l.csv", ","),
                (human,),
                truth,
                (judge,),
            )
        )
    return made


def preferences() -> list[Case]:
    made = []
    plans = [
        ("prompt_id", ("left_system", "right_system"), ("moderator", "arbiter-llm"), "better"),
        ("Frage", ("System A", "System B"), ("Anna", "Richter-KI"), "Gewinner"),
        ("case", ("model_1", "model_2"), ("person", "gpt-judge"), "winner"),
        ("topic", ("first", "second"), ("jane", "qwen"), "preferred"),
        ("scene", ("option_x", "option_y"), ("viewer", "vlm"), "pick"),
        ("ticket", ("old", "new"), ("lead", "judge-m"), "choice"),
        ("q", ("agent_a", "agent_b"), ("pat", "sonnet"), "vote"),
        ("pregunta", ("sistema_1", "sistema_2"), ("persona", "juez"), "ganador"),
    ]
    for item, sides, raters, winner in plans:
        own = random.Random(f"preferences {item}")
        names = ("oriole", "heron", "swift")
        rows, truth = [], {}
        for at in range(40):
            first, second = own.sample(names, 2)
            for rater in raters:
                won = own.choice([first, second, "tie"])
                rows.append(
                    {item: f"p{at}", sides[0]: first, sides[1]: second, "who": rater, winner: won}
                )
                score = 0.0 if won == "tie" else 1.0 if won == first else -1.0
                truth.setdefault((rater, ""), {})[f"p{at}", f"{first}>{second}"] = score
        made.append(
            Case(
                f"preferences {item}",
                "preferences",
                partial(_csv, pl.DataFrame(rows), "p.csv", ","),
                raters[:1],
                truth,
                raters[1:],
            )
        )
    return made


def cases() -> list[Case]:
    """All sixty."""
    return [
        *engineer(),
        *workbooks(),
        *shapes(),
        *languages(),
        *exports(),
        *labels(),
        *preferences(),
    ]
