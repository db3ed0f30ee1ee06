"""Sixty files of seven kinds, as people make them, with what is right beside each.

Written before the code that reads them was opened. Each case holds the bytes of its files, how it
is asked about, and the ratings that a careful person would find in it. Nothing here knows how
voirdire reads. Values come from one made panel a case, so that whoever reads a wrong column gets
other numbers.
"""

# Each family is one list of cases: rows are added one by one, as the files that are made.
# ruff: noqa: PERF401, PLR0912, PLR0915, PLR0917, RUF005
from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import openpyxl
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

Value = float | str
Key = tuple[str, str, str, str]  # item, system, rater, attribute


@dataclass
class Made:
    """One case: its files, how it is asked about, and the truth."""

    name: str
    family: str
    write: Callable[[Path], list[str]]  # writes into a folder; the names to be examined
    reference: str
    kind: str  # score, label, label set, preference
    truth: dict[Key, Any]
    options: list[str] = field(default_factory=list)  # further options that a person would give
    rescaled: tuple[str, ...] = ()  # raters on a scale of their own: only their order is checked
    own_names: bool = False  # raters of files are called as these: their names are not checked


class Panel:
    """Made judgements: truth plus noise, a rater at a time."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.quality: dict[tuple[str, str, str], float] = {}

    def score(self, unit: tuple[str, str, str], low: int, high: int, noise: float) -> int:
        middle, spread = (low + high) / 2, (high - low) / 3.2
        quality = self.quality.setdefault(unit, self.draw.gauss(middle, spread))
        return max(low, min(high, round(quality + self.draw.gauss(0, noise))))

    def scores(
        self,
        items: Sequence[str],
        systems: Sequence[str],
        raters: dict[str, float],
        attributes: Sequence[str] = ("",),
        scale: tuple[int, int] = (1, 5),
    ) -> dict[Key, float]:
        return {
            (i, s, r, a): float(self.score((i, s, a), *scale, noise))
            for i in items
            for s in systems
            for a in attributes
            for r, noise in raters.items()
        }

    def labels(
        self, items: Sequence[str], raters: dict[str, float], labels: Sequence[str]
    ) -> dict[Key, str]:
        """Noise is here the share of labels that a rater draws at random."""
        true = {i: self.draw.choice(labels) for i in items}
        return {
            (i, "", r, ""): self.draw.choice(labels) if self.draw.random() < noise else true[i]
            for i in items
            for r, noise in raters.items()
        }


def delimited(rows: Iterable[Sequence[Any]], sep: str = ",", comma: bool = False) -> str:
    """Rows as text; with `comma` numbers have decimal commas."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sep, lineterminator="\n")
    for row in rows:
        cells = ["" if c is None else c for c in row]
        if comma:
            cells = [str(c).replace(".", ",") if isinstance(c, float) else c for c in cells]
        writer.writerow(cells)
    return out.getvalue()


def text(name: str, content: str, encoding: str = "utf-8") -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        (folder / name).write_bytes(content.encode(encoding))
        return [name]

    return write


def texts(files: dict[str, str], shown: Sequence[str]) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        for name, content in files.items():
            (folder / name).write_bytes(content.encode())
        return list(shown)

    return write


def book(name: str, fill: Callable[[openpyxl.Workbook], None]) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        made = openpyxl.Workbook()
        made.remove(made.active)
        fill(made)
        made.save(folder / name)
        return [name]

    return write


def sheet(made: openpyxl.Workbook, title: str, rows: Iterable[Sequence[Any]]) -> Any:
    page = made.create_sheet(title)
    for row in rows:
        page.append(list(row))
    return page


def parquet(name: str, columns: dict[str, list[Any]]) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        pl.DataFrame(columns).write_parquet(folder / name)
        return [name]

    return write


def ints(truth: dict[Key, float]) -> dict[Key, int]:
    return {k: int(v) for k, v in truth.items()}


def names(prefix: str, n: int, start: int = 1, width: int = 3) -> list[str]:
    return [f"{prefix}{k:0{width}d}" for k in range(start, start + n)]


WORDS = [
    "the",
    "answer",
    "is",
    "mostly",
    "fine",
    "but",
    "forgets",
    "one",
    "step",
    "about",
    "the",
    "refund",
    "and",
    "the",
    "date",
]


def sentence(draw: random.Random, n: int = 9) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(n)).capitalize() + "."


def stamp(k: int) -> str:
    day = datetime(2026, 3, 2, 8, 0, tzinfo=UTC) + timedelta(minutes=37 * k)
    return day.strftime("%Y-%m-%dT%H:%M:%SZ")


# --- engineers ---------------------------------------------------------------------------------


def engineer() -> list[Made]:
    made = []

    p = Panel(7001)
    items, systems = [str(k) for k in range(40)], ["2026.1", "2026.2"]
    t = p.scores(items, systems, {"human_score": 0.5, "judge_score": 0.8})
    head = "sample_idx build prompt completion prompt_tokens completion_tokens latency_s cost_usd"
    rows = [[*head.split(), "judge_score", "human_score", "annotator_id", "ts"]]
    for n, (i, s) in enumerate((i, s) for i in items for s in systems):
        d = p.draw
        rows.append(
            [i, s, f"How do I do thing {i}?", sentence(d), 20 + int(i), d.randint(40, 400)]
            + [round(d.uniform(0.4, 9), 2), round(d.uniform(0.001, 0.02), 5)]
            + [int(t[i, s, "judge_score", ""]), int(t[i, s, "human_score", ""])]
            + [f"ann-{d.randint(1, 5)}", stamp(n)]
        )
    made.append(
        Made(
            "build-csv", "engineer", text("nightly.csv", delimited(rows)), "human_score", "score", t
        )
    )

    p = Panel(7002)
    items, systems = names("r-", 45), ["stable", "canary"]
    t = p.scores(items, systems, {"stars": 0.5, "eval.grader": 0.7})
    lines = []
    for i in items:
        for s in systems:
            lines.append(
                json.dumps(
                    {
                        "request_id": i,
                        "variant": s,
                        "prompt": f"Question {i}",
                        "answer": sentence(p.draw),
                        "eval": {
                            "grader": int(t[i, s, "eval.grader", ""]),
                            "rationale": sentence(p.draw, 5),
                        },
                        "review": {"stars": int(t[i, s, "stars", ""]), "by": p.draw.choice("KLM")},
                        "usage": {"in": p.draw.randint(10, 90), "out": p.draw.randint(10, 90)},
                    }
                )
            )
    made.append(
        Made("nested-jsonl", "engineer", text("evals.jsonl", "\n".join(lines)), "stars", "score", t)
    )

    p = Panel(7003)
    items, systems = names("tr_", 50, width=5), ["9fe31c2", "b07d4aa"]
    t = p.scores(items, systems, {"qa_team": 0.5})
    columns: dict[str, list[Any]] = {
        c: [] for c in ("trace_id", "git_sha", "span_ms", "retries", "llm_grade", "qa_team")
    }
    for i in items:
        for s in systems:
            q = p.quality[i, s, ""]
            g = round(min(1, max(0, (q - 1) / 4 + p.draw.gauss(0, 0.15))), 2)
            t[i, s, "llm_grade", ""] = g
            for c, v in zip(
                columns,
                (
                    i,
                    s,
                    p.draw.randint(90, 9000),
                    p.draw.choice([0, 0, 0, 1, 2]),
                    g,
                    int(t[i, s, "qa_team", ""]),
                ),
                strict=True,
            ):
                columns[c].append(v)
    made.append(
        Made(
            "shares-parquet",
            "engineer",
            parquet("spans.parquet", columns),
            "qa_team",
            "score",
            t,
            rescaled=("llm_grade",),
        )
    )

    p = Panel(7004)
    items, systems = [str(k) for k in range(101, 141)], ["main", "feature/retry"]
    t = p.scores(
        items, systems, {"support_lead": 0.4, "judge_v3": 1.2, "judge_v4": 0.6}, scale=(0, 10)
    )
    rows = [["case_no", "branch", "judge_v3", "judge_v4", "support_lead", "diff", "flag_disagree"]]
    for i in items:
        for s in systems:
            a, b, h = (int(t[i, s, r, ""]) for r in ("judge_v3", "judge_v4", "support_lead"))
            rows.append([i, s, a, b, h, b - h, "TRUE" if abs(b - h) > 1 else "FALSE"])
    made.append(
        Made(
            "derived-tsv",
            "engineer",
            text("cases.tsv", delimited(rows, "\t")),
            "support_lead",
            "score",
            t,
        )
    )

    p = Panel(7005)
    items, systems = names("test_refund_", 36), ["gpt-4o", "mistral-large"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.7}, ("rubric_clarity", "rubric_tone"))
    rows = [
        [
            "suite",
            "test_name",
            "model",
            "rubric_clarity_llm",
            "rubric_clarity_human",
            "rubric_tone_llm",
            "rubric_tone_human",
            "duration_ms",
            "flaky",
        ]
    ]
    for n, i in enumerate(items):
        for s in systems:
            rows.append(
                ["refunds" if n < 18 else "billing", i, s]
                + [
                    int(t[i, s, r, a])
                    for a in ("rubric_clarity", "rubric_tone")
                    for r in ("llm", "human")
                ]
                + [p.draw.randint(20, 900), p.draw.choice([0, 0, 1])]
            )
    made.append(
        Made("rubric-wide", "engineer", text("ci.csv", delimited(rows)), "human", "score", t)
    )

    p = Panel(7006)
    items, systems = names("conv-", 44), ["prod", "shadow"]
    t = p.scores(items, systems, {"agentGrade": 0.4, "autoGrade": 0.7})
    results = []
    for n, i in enumerate(items):
        for s in systems:
            results.append(
                {
                    "conversationId": i,
                    "modelName": s,
                    "messages": p.draw.randint(2, 14),
                    "autoGrade": int(t[i, s, "autoGrade", ""]),
                    "agentGrade": int(t[i, s, "agentGrade", ""]),
                    "csatSurvey": p.draw.choice([None, None, None, 1, 4, 5]),
                    "createdAt": stamp(n),
                }
            )
    content = json.dumps({"meta": {"generated": stamp(0), "by": "evalkit 4.1"}, "results": results})
    made.append(
        Made("camel-json", "engineer", text("run-88.json", content), "agentGrade", "score", t)
    )

    p = Panel(7007)
    items, systems = names("chat", 30), ["assistant-s", "assistant-l"]
    t = p.scores(items, systems, {"dana": 0.8, "omar": 0.9, "gpt-4.1": 1.0}, scale=(0, 10))
    rows = [["chat_id", "assistant", "scorer", "points", "max_points", "seconds_spent", "at"]]
    for n, ((i, s, r, _), v) in enumerate(t.items()):
        rows.append([i, s, r, int(v), 10, p.draw.randint(4, 200), stamp(n)])
    p.draw.shuffle(body := rows[1:])
    made.append(
        Made(
            "long-points",
            "engineer",
            text("points.csv", delimited([rows[0], *body])),
            "dana,omar",
            "score",
            t,
        )
    )

    p = Panel(7008)
    items, systems = names("q", 42), ["r14", "r15"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.8})
    files = {}
    for r, note in (("human", "comment"), ("llm", "explanation")):
        rows = [["qid", "release", "rating", note, "elapsed"]]
        for i in items:
            for s in systems:
                rows.append([i, s, int(t[i, s, r, ""]), sentence(p.draw, 4), p.draw.randint(3, 90)])
        files[f"{r}.csv"] = delimited(rows)
    made.append(
        Made("two-files", "engineer", texts(files, ["llm.csv", "human.csv"]), "human", "score", t)
    )

    p = Panel(7009)
    items, systems = [f"https://help.example/{k}" for k in range(35)], ["bm25", "hybrid"]
    t = p.scores(items, systems, {"relevance_human": 0.4, "relevance_llm": 0.6}, scale=(0, 3))
    rows = [
        ["rank", "url", "retriever", "similarity", "relevance_human", "relevance_llm", "clicks"]
    ]
    for s in systems:
        for n, i in enumerate(items):
            rows.append(
                [
                    n + 1,
                    i,
                    s,
                    round(p.draw.uniform(0.2, 0.97), 3),
                    int(t[i, s, "relevance_human", ""]),
                    int(t[i, s, "relevance_llm", ""]),
                    p.draw.choice([0, 0, 1, 2, 3]),
                ]
            )
    made.append(
        Made(
            "search-clicks",
            "engineer",
            text("serp.csv", delimited(rows)),
            "relevance_human",
            "score",
            t,
        )
    )
    return made


# --- workbooks ---------------------------------------------------------------------------------


def workbooks() -> list[Made]:
    made = []

    p = Panel(7101)
    items, systems = names("V-", 30), ["alt", "neu"]
    t = p.scores(items, systems, {"Mensch": 0.5, "KI": 0.7}, ("Klarheit", "Freundlichkeit"))

    def g1(w: openpyxl.Workbook, t: Any = t, items: Any = items, systems: Any = systems) -> None:
        rows: list[list[Any]] = [
            ["Vorgang", "Fassung", "Klarheit", None, "Freundlichkeit", None, "Anmerkung"],
            [None, None, "Mensch", "KI", "Mensch", "KI", None],
        ]
        for i in items:
            for s in systems:
                rows.append(
                    [
                        i,
                        s,
                        *(
                            int(t[i, s, r, a])
                            for a in ("Klarheit", "Freundlichkeit")
                            for r in ("Mensch", "KI")
                        ),
                        "ok" if i.endswith("7") else None,
                    ]
                )
        page = sheet(w, "Auswertung", rows)
        page.merge_cells("C1:D1")
        page.merge_cells("E1:F1")
        page.merge_cells("A1:A2")
        page.merge_cells("B1:B2")

    made.append(Made("de-two-heads", "workbook", book("auswertung.xlsx", g1), "Mensch", "score", t))

    p = Panel(7102)
    items, systems = [str(k) for k in range(1, 26)], ["Modell A", "Modell B"]
    t = p.scores(items, systems, {"Huber": 0.5, "Schmid": 0.6, "GPT-4o": 0.8}, scale=(1, 6))

    def g2(
        w: openpyxl.Workbook, t: Any = t, p: Any = p, items: Any = items, systems: Any = systems
    ) -> None:
        sheet(w, "Hinweise", [["Bitte jede Antwort einzeln lesen."], ["6 ist die beste Note."]])
        for r in ("Huber", "Schmid", "GPT-4o"):
            rows: list[list[Any]] = [["Anfrage-Nr.", "Modell", "Note", "Bemerkung"]]
            for i in items:
                for s in systems:
                    rows.append([int(i), s, int(t[i, s, r, ""]), sentence(p.draw, 3)])
            sheet(w, r, rows)

    made.append(
        Made("de-sheet-a-rater", "workbook", book("noten.xlsx", g2), "Huber,Schmid", "score", t)
    )

    p = Panel(7103)
    items = names("Gespräch ", 36, width=1)
    t = {}
    cells: list[list[Any]] = [
        ["Stand 3. März", None, None, None],
        [None] * 4,
        ["Gespräch", "Urteil Fachkraft", "Urteil KI", "Wortzahl"],
    ]
    for i in items:
        a, b = (p.score((i, "", ""), 2, 10, 0.8) / 2 for _ in range(2))
        t[i, "", "Urteil Fachkraft", ""], t[i, "", "Urteil KI", ""] = a, b
        # A German spreadsheet makes the 4th of May of a typed 4.5.
        day = datetime(2026, 5, int(a))  # noqa: DTZ001 - a cell has no zone
        cell = day if a % 1 else int(a)
        cells.append([i, cell, b, p.draw.randint(80, 700)])
    made.append(
        Made(
            "de-dates",
            "workbook",
            book("gespraeche.xlsx", lambda w, c=cells: sheet(w, "Tabelle1", c)),
            "Urteil Fachkraft",
            "score",
            t,
        )
    )

    p = Panel(7104)
    items, systems = names("Brief ", 32, width=2), ["Entwurf 1", "Entwurf 2"]
    t = p.scores(
        items, systems, {"Frau Keller": 0.5, "Herr Roth": 0.6, "Sprachmodell": 0.7}, scale=(1, 10)
    )
    people = ("Frau Keller", "Herr Roth")

    def g4(w: openpyxl.Workbook, t: Any = t, items: Any = items, systems: Any = systems) -> None:
        page = sheet(
            w, "Noten", [["Brief", "Entwurf", *people, "Mittel", "Sprachmodell", "Abstand"]]
        )
        for i in items:
            for s in systems:
                n = page.max_row + 1
                page.append(
                    [
                        i,
                        s,
                        *(int(t[i, s, r, ""]) for r in people),
                        f"=AVERAGE(C{n}:D{n})",
                        int(t[i, s, "Sprachmodell", ""]),
                        f"=F{n}-E{n}",
                    ]
                )

    made.append(
        Made(
            "de-formulas", "workbook", book("briefe.xlsx", g4), "Frau Keller,Herr Roth", "score", t
        )
    )

    p = Panel(7105)
    items, systems = names("F", 28), ["Version A", "Version B"]
    t = p.scores(items, systems, {"Bewertung Fachkraft": 0.5, "Bewertung KI": 0.7})

    def g5(
        w: openpyxl.Workbook, t: Any = t, p: Any = p, items: Any = items, systems: Any = systems
    ) -> None:
        for s in systems:
            rows: list[list[Any]] = [
                ["Fall", "Bewertung Fachkraft", "Bewertung KI", "Alter", "Bildung"]
            ]
            for i in items:
                rows.append(
                    [
                        i,
                        *(int(t[i, s, r, ""]) for r in ("Bewertung Fachkraft", "Bewertung KI")),
                        p.draw.randint(18, 80),
                        p.draw.randint(1, 5),
                    ]
                )
            sheet(w, s, rows)

    made.append(
        Made(
            "de-sheet-a-version",
            "workbook",
            book("versionen.xlsx", g5),
            "Bewertung Fachkraft",
            "score",
            t,
        )
    )

    p = Panel(7106)
    items = [str(k) for k in range(301, 341)]
    t = p.scores(
        items, [""], {"Évaluateur humain": 0.5, "IA": 0.7}, ("Clarté", "Politesse", "Exactitude")
    )

    def f1(w: openpyxl.Workbook, t: Any = t, items: Any = items) -> None:
        rows: list[list[Any]] = [
            ["N° dossier", "Évaluateur humain", None, None, "IA", None, None],
            [None, *("Clarté", "Politesse", "Exactitude") * 2],
        ]
        for i in items:
            rows.append(
                [
                    int(i),
                    *(
                        int(t[i, "", r, a])
                        for r in ("Évaluateur humain", "IA")
                        for a in ("Clarté", "Politesse", "Exactitude")
                    ),
                ]
            )
        page = sheet(w, "Feuil1", rows)
        page.merge_cells("B1:D1")
        page.merge_cells("E1:G1")

    made.append(
        Made("fr-two-heads", "workbook", book("dossiers.xlsx", f1), "Évaluateur humain", "score", t)
    )

    p = Panel(7107)
    items, systems = names("REF-", 33), ["v2.0", "v2.1"]
    t = p.scores(items, systems, {"Note humaine": 0.5, "Note juge": 0.7}, scale=(0, 20))

    def f2(
        w: openpyxl.Workbook, t: Any = t, p: Any = p, items: Any = items, systems: Any = systems
    ) -> None:
        sheet(w, "Lisez-moi", [["Notes sur 20."], ["Contact : Mme Girard"]])
        rows: list[list[Any]] = [
            ["Réf.", "Version", "Note juge", "Note humaine", "Durée (s)", "Observations"]
        ]
        for i in items:
            for s in systems:
                rows.append(
                    [
                        i,
                        s,
                        int(t[i, s, "Note juge", ""]),
                        int(t[i, s, "Note humaine", ""]),
                        p.draw.randint(30, 600),
                        None,
                    ]
                )
        sheet(w, "Données", rows)

    made.append(
        Made("fr-second-sheet", "workbook", book("notes.xlsx", f2), "Note humaine", "score", t)
    )

    p = Panel(7108)
    items, systems = names("Demande ", 30, width=1), ["A1", "A2"]
    t = {}
    cells = [["Demande", "Assistant", "Marie", "Paul", "Modèle", "Étiquette client"]]
    for i in items:
        for s in systems:
            v = {
                r: p.score((i, s, ""), 2, 10, e) / 2
                for r, e in (("Marie", 0.8), ("Paul", 0.9), ("Modèle", 1.1))
            }
            t.update({(i, s, r, ""): x for r, x in v.items()})
            cells.append(
                [
                    i,
                    s,
                    *(f"{x:.1f}".replace(".", ",") for x in v.values()),
                    p.draw.choice(["pro", "particulier"]),
                ]
            )
    made.append(
        Made(
            "fr-commas",
            "workbook",
            book("demandes.xlsx", lambda w, c=cells: sheet(w, "Feuil1", c)),
            "Marie,Paul",
            "score",
            t,
        )
    )

    p = Panel(7109)
    items, systems = names("L", 34), ["ancien", "nouveau"]
    t = p.scores(items, systems, {"Relecteur": 0.5, "Juge automatique": 0.7})

    def f4(
        w: openpyxl.Workbook, t: Any = t, p: Any = p, items: Any = items, systems: Any = systems
    ) -> None:
        rows: list[list[Any]] = [
            ["Lettre", "Système", "Brouillon", "Relecteur", "Juge automatique"]
        ]
        for i in items:
            for s in systems:
                rows.append(
                    [
                        i,
                        s,
                        p.draw.randint(1, 5),
                        int(t[i, s, "Relecteur", ""]),
                        int(t[i, s, "Juge automatique", ""]),
                    ]
                )
        sheet(w, "Lettres", rows).column_dimensions["C"].hidden = True

    made.append(Made("fr-hidden", "workbook", book("lettres.xlsx", f4), "Relecteur", "score", t))

    p = Panel(7110)
    words = ["insuffisant", "passable", "bien", "très bien"]
    items, systems = names("avis", 38), ["pilote", "témoin"]
    numbers = p.scores(items, systems, {"Avis humain": 0.4, "Avis IA": 0.6}, scale=(1, 4))
    t = {k: words[int(v) - 1] for k, v in numbers.items()}
    cells = [["Dossier", "Groupe", "Avis humain", "Avis IA", "Page"]]
    for n, i in enumerate(items):
        for s in systems:
            cells.append([i, s, t[i, s, "Avis humain", ""], t[i, s, "Avis IA", ""], n // 4 + 1])
    made.append(
        Made(
            "fr-words",
            "workbook",
            book("avis.xlsx", lambda w, c=cells: sheet(w, "Avis", c)),
            "Avis humain",
            "words",
            t,
        )
    )
    return made


# --- long and wide -----------------------------------------------------------------------------


def shapes() -> list[Made]:
    made = []

    p = Panel(7201)
    items, people = names("vig", 20), ["p01", "p02", "p03", "p04"]
    t = p.scores(
        items,
        [""],
        {**dict.fromkeys(people, 0.8), "gpt-4o-mini": 0.7},
        ("warmth", "competence"),
        (1, 7),
    )
    study = {r: (p.draw.randint(1, 6), p.draw.randint(19, 66)) for r in people}
    rows = [["unit", "coder", "dimension", "rating", "trial_index", "education", "age"]]
    for n, ((i, _, r, a), v) in enumerate(
        sorted(t.items(), key=lambda kv: (kv[0][2], p.draw.random()))
    ):
        rows.append([i, r, a, int(v), n % 40, *(study.get(r, (None, None)))])
    made.append(
        Made(
            "long-coders",
            "shapes",
            text("coders.csv", delimited(rows)),
            ",".join(people),
            "score",
            t,
        )
    )

    p = Panel(7202)
    items, people = names("stim", 60), ["R1", "R2", "R3"]
    t = p.scores(
        items, [""], {**dict.fromkeys(people, 0.8), "model_a": 0.7, "model_b": 1.4}, scale=(1, 7)
    )
    rows = [["stimulus", *people, "mean_R", "sd_R", "n_R", "model_a", "model_b"]]
    for i in items:
        v = [int(t[i, "", r, ""]) for r in people]
        m = sum(v) / 3
        rows.append(
            [
                i,
                *v,
                round(m, 3),
                round((sum((x - m) ** 2 for x in v) / 2) ** 0.5, 3),
                3,
                int(t[i, "", "model_a", ""]),
                int(t[i, "", "model_b", ""]),
            ]
        )
    made.append(
        Made(
            "wide-summaries", "shapes", text("stimuli.csv", delimited(rows)), "R1,R2,R3", "score", t
        )
    )

    p = Panel(7203)
    items = names("essay_", 50)
    t = p.scores(items, [""], {"h1": 0.6, "h2": 0.6, "llm": 0.8}, ("ideas", "style"), (1, 6))
    rows = [
        [
            "essay",
            *(f"{r}_{a}" for r in ("h1", "h2", "llm") for a in ("ideas", "style")),
            "word_count",
            "grade_level",
        ]
    ]
    for i in items:
        rows.append(
            [
                i,
                *(int(t[i, "", r, a]) for r in ("h1", "h2", "llm") for a in ("ideas", "style")),
                p.draw.randint(120, 800),
                p.draw.randint(6, 12),
            ]
        )
    made.append(
        Made("wide-essays", "shapes", text("essays.csv", delimited(rows, ";")), "h1,h2", "score", t)
    )

    p = Panel(7204)
    items, systems = names("it", 25), ["sysA", "sysB"]
    workers = ["w11", "w12", "w13"]
    t = p.scores(items, systems, {**dict.fromkeys(workers, 0.7), "llama-3": 0.8})
    rows = [["item_id", "system", "rater_type", "rater_id", "score"]]
    for (i, s, r, _), v in t.items():
        rows.append([i, s, "model" if r == "llama-3" else "human", r, int(v)])
    made.append(
        Made("long-types", "shapes", text("types.csv", delimited(rows)), "w11,w12,w13", "score", t)
    )

    p = Panel(7205)
    items, people = [f"Q{k}" for k in range(1, 31)], ["anna", "bert", "gpt"]
    t = p.scores(items, [""], dict.fromkeys(people, 0.7))
    rows = [["respondent", "age", *items]]
    for r in people:
        rows.append(
            [
                r,
                p.draw.randint(20, 60) if r != "gpt" else None,
                *(int(t[i, "", r, ""]) for i in items),
            ]
        )
    made.append(
        Made("survey", "shapes", text("survey.csv", delimited(rows)), "anna,bert", "score", t)
    )

    p = Panel(7206)
    items, systems = names("pr", 48), ["gpt-4o", "llama-3-70b"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.7})
    rows = [["prompt_id", "topic", *(f"{r}_{s}" for r in ("human", "llm") for s in systems)]]
    for i in items:
        rows.append(
            [
                i,
                p.draw.choice(["law", "health", "code"]),
                *(int(t[i, s, r, ""]) for r in ("human", "llm") for s in systems),
            ]
        )
    made.append(
        Made("wide-systems", "shapes", text("systems.csv", delimited(rows)), "human", "score", t)
    )

    p = Panel(7207)
    items = [f"d{k} {n}" for k in range(1, 13) for n in range(1, 6)]
    t = p.scores(items, [""], {"annot_1": 0.5, "annot_2": 0.5, "llm": 0.7})
    rows = [["dialog", "turn", "speaker", "utterance", "annot_1", "annot_2", "llm"]]
    for i in items:
        k, n = i.split()
        rows.append(
            [
                k,
                n,
                "bot",
                sentence(p.draw),
                *(int(t[i, "", r, ""]) for r in ("annot_1", "annot_2", "llm")),
            ]
        )
    made.append(
        Made("turns", "shapes", text("turns.csv", delimited(rows)), "annot_1,annot_2", "score", t)
    )

    p = Panel(7208)
    items, systems = names("x", 24), ["base", "tuned"]
    t = p.scores(items, systems, {"expert": 0.5, "judge-1": 0.7})
    rows = [["uid", "checkpoint", "who", "value", "state"]]
    for (i, s, r, a), v in list(t.items()):
        if r == "judge-1" and p.draw.random() < 0.1:
            del t[i, s, r, a]
            rows.append([i, s, r, None, "failed"])
        else:
            rows.append([i, s, r, int(v), "done"])
    made.append(
        Made("long-failed", "shapes", text("who.csv", delimited(rows)), "expert", "score", t)
    )

    p = Panel(7209)
    items = names("doc-", 60)
    t = p.scores(items, [""], {"human": 0.5, "llm": 0.7})
    rows = [["doc", "name", "value"]]
    for i in items:
        rows += [
            [i, "human", int(t[i, "", "human", ""])],
            [i, "llm", int(t[i, "", "llm", ""])],
            [i, "tokens", p.draw.randint(100, 4000)],
        ]
    made.append(Made("melted", "shapes", text("melted.csv", delimited(rows)), "human", "score", t))
    return made


# --- languages ---------------------------------------------------------------------------------

# item, system, human, judge, then further columns: a page or block, a number of seconds, a remark
HEADS = {
    "es": ("expediente", "versión", "nota_humana", "nota_ia", "página", "duración", "comentario"),
    "it": ("pratica", "rilascio", "valutatore", "giudice", "blocco", "secondi", "nota"),
    "pt": (
        "atendimento",
        "lançamento",
        "avaliador_humano",
        "avaliador_llm",
        "curtidas",
        "custo",
        "obs",
    ),
    "fi": ("tapaus", "julkaisu", "ihminen", "kielimalli", "sivu", "kesto", "huomautus"),
    "tr": ("vaka", "sürüm", "insan", "model", "sayfa", "süre", "açıklama"),
    "zh": ("工单", "版本", "人工", "模型", "页码", "用时", "备注"),
    "uk": ("звернення", "випуск", "людина", "модель", "сторінка", "тривалість", "примітка"),
    "hu": ("ügy", "kiadás", "ember", "nyelvi modell", "oldal", "idő", "megjegyzés"),
}


def languages() -> list[Made]:
    made = []
    for n, (language, heads) in enumerate(HEADS.items()):
        p = Panel(7300 + n)
        items, systems = (
            names(f"{language}-", 30 + n),
            ["1.4", "1.5"] if n % 2 else ["alfa", "beta"],
        )
        human, judge = heads[2], heads[3]
        t = p.scores(items, systems, {human: 0.5, judge: 0.7}, scale=(1, 5 + n % 3))
        rows: list[list[Any]] = [list(heads)]
        for k, i in enumerate(items):
            for s in systems:
                rows.append(
                    [
                        i,
                        s,
                        int(t[i, s, human, ""]),
                        int(t[i, s, judge, ""]),
                        k // 6 + 1,
                        p.draw.randint(20, 300),
                        sentence(p.draw, 4) if k % 3 else "",
                    ]
                )
        order = list(range(len(heads)))
        p.draw.shuffle(order)
        rows = [[row[k] for k in order] for row in rows]
        sep = ";" if n % 3 else ","
        encoding = "utf-8-sig" if n % 4 == 1 else "utf-8"
        made.append(
            Made(
                f"heads-{language}",
                "languages",
                text(f"{language}.csv", delimited(rows, sep), encoding),
                human,
                "score",
                t,
            )
        )
    return made


# --- exports -----------------------------------------------------------------------------------


def exports() -> list[Made]:
    made = []

    p = Panel(7401)
    items = [f"What is rule {k}?" for k in range(40)]
    t = p.scores(items, [""], {"expert": 0.5})
    rows = [["user_input", "retrieved_contexts", "response", "reference", "faithfulness", "expert"]]
    for i in items:
        f = round(min(1, max(0, (p.quality[i, "", ""] - 1) / 4 + p.draw.gauss(0, 0.12))), 4)
        t[i, "", "faithfulness", ""] = f
        rows.append(
            [i, "['a passage']", sentence(p.draw), sentence(p.draw), f, int(t[i, "", "expert", ""])]
        )
    made.append(
        Made(
            "ragas-expert",
            "exports",
            text("ragas.csv", delimited(rows)),
            "expert",
            "score",
            t,
            rescaled=("faithfulness",),
        )
    )

    p = Panel(7402)
    items = names("case-", 36)
    t = p.scores(items, [""], {"human": 0.5, "gpt-4o": 0.7}, scale=(0, 4))
    cases = [
        {
            "name": i,
            "input": f"Ask {i}",
            "actualOutput": sentence(p.draw),
            "success": True,
            "runDuration": 1.2,
            "metricsData": [
                {
                    "name": "Helpfulness",
                    "threshold": 0.5,
                    "success": True,
                    "score": t[i, "", "gpt-4o", ""] / 4,
                    "reason": sentence(p.draw, 4),
                    "strictMode": False,
                    "evaluationModel": "gpt-4o",
                    "evaluationCost": 0.001,
                }
            ],
        }
        for i in items
    ]
    labels = [["name", "score"], *([i, t[i, "", "human", ""] / 4] for i in items)]
    t = {k: v / 4 for k, v in t.items()}
    made.append(
        Made(
            "deepeval-human",
            "exports",
            texts(
                {
                    "run.json": json.dumps(
                        {
                            "testFile": "test_a.py",
                            "testCases": cases,
                            "metricsScores": [],
                            "testPassed": 36,
                            "testFailed": 0,
                        }
                    ),
                    "human.csv": delimited(labels),
                },
                ["run.json"],
            ),
            "",
            "score",
            t,
            options=["--human", "human.csv", "--key", "name"],
        )
    )

    p = Panel(7403)
    items = [f"e{k:04x}-11" for k in range(50)]
    t = p.scores(items, [""], {"human_correctness": 0.2, "correctness": 0.3}, scale=(0, 1))
    rows = [
        [
            "inputs.question",
            "outputs.answer",
            "reference.answer",
            "error",
            "execution_time",
            "example_id",
            "id",
            "feedback.correctness",
            "feedback.human_correctness",
        ]
    ]
    for k, i in enumerate(items):
        rows.append(
            [
                f"Question {k}?",
                sentence(p.draw),
                sentence(p.draw),
                "",
                round(p.draw.uniform(0.5, 4), 3),
                i,
                f"run-{k:05d}",
                t[i, "", "correctness", ""],
                t[i, "", "human_correctness", ""],
            ]
        )
    made.append(
        Made(
            "langsmith-csv",
            "exports",
            text("experiment.csv", delimited(rows)),
            "human_correctness",
            "score",
            t,
        )
    )

    p = Panel(7404)
    items = names("ev", 40)
    t = p.scores(items, [""], {"human": 0.6, "braintrust": 0.8}, scale=(0, 5))
    events = [
        json.dumps(
            {
                "id": i,
                "span_id": f"s{i}",
                "root_span_id": f"s{i}",
                "is_root": True,
                "input": f"Ask {i}",
                "output": sentence(p.draw),
                "expected": sentence(p.draw),
                "scores": {"Factuality": t[i, "", "braintrust", ""] / 5},
                "metadata": {"lang": "en"},
                "metrics": {"duration": 1.4, "tokens": 211},
                "created": stamp(n),
            }
        )
        for n, i in enumerate(items)
    ]
    labels = [["id", "score"], *([i, t[i, "", "human", ""] / 5] for i in items)]
    t = {k: v / 5 for k, v in t.items()}
    made.append(
        Made(
            "braintrust-human",
            "exports",
            texts({"exp.jsonl": "\n".join(events), "human.csv": delimited(labels)}, ["exp.jsonl"]),
            "",
            "score",
            t,
            options=["--human", "human.csv", "--key", "id"],
        )
    )

    p = Panel(7405)
    items = names("req", 44)
    t = p.scores(items, [""], {"human_quality": 0.5, "answer_quality/v1/score": 0.7})
    rows = [
        [
            "request_id",
            "inputs",
            "outputs",
            "answer_quality/v1/score",
            "answer_quality/v1/justification",
            "token_count",
            "latency",
            "human_quality",
        ]
    ]
    for i in items:
        rows.append(
            [
                i,
                f"Ask {i}",
                sentence(p.draw),
                int(t[i, "", "answer_quality/v1/score", ""]),
                sentence(p.draw, 5),
                p.draw.randint(50, 300),
                round(p.draw.uniform(0.2, 3), 3),
                int(t[i, "", "human_quality", ""]),
            ]
        )
    made.append(
        Made(
            "mlflow-table",
            "exports",
            text("eval_results_table.csv", delimited(rows)),
            "human_quality",
            "score",
            t,
        )
    )

    p = Panel(7406)
    items = names("record_hash_", 46)
    t = p.scores(items, [""], {"sme_rating": 0.5})
    rows = [
        [
            "app_name",
            "app_version",
            "record_id",
            "input",
            "output",
            "tags",
            "ts",
            "Groundedness",
            "latency",
            "total_tokens",
            "total_cost",
            "sme_rating",
        ]
    ]
    for n, i in enumerate(items):
        g = round(min(1, max(0, (p.quality[i, "", ""] - 1) / 4 + p.draw.gauss(0, 0.12))), 2)
        t[i, "", "Groundedness", ""] = g
        rows.append(
            [
                "helpdesk",
                "base",
                i,
                f"Ask {i}",
                sentence(p.draw),
                "-",
                stamp(n),
                g,
                p.draw.randint(1, 5),
                p.draw.randint(60, 900),
                round(p.draw.uniform(0, 0.02), 5),
                int(t[i, "", "sme_rating", ""]),
            ]
        )
    made.append(
        Made(
            "trulens-sme",
            "exports",
            text("records.csv", delimited(rows)),
            "sme_rating",
            "score",
            t,
            rescaled=("Groundedness",),
        )
    )

    p = Panel(7407)
    items = names("", 55, start=900)
    t = p.labels(items, {"sentiment": 0.15, "gpt_pred": 0.25}, ["Positive", "Negative", "Neutral"])
    rows = [
        [
            "text",
            "id",
            "gpt_pred",
            "sentiment",
            "annotator",
            "annotation_id",
            "created_at",
            "updated_at",
            "lead_time",
        ]
    ]
    for n, i in enumerate(items):
        rows.append(
            [
                sentence(p.draw),
                i,
                t[i, "", "gpt_pred", ""],
                t[i, "", "sentiment", ""],
                p.draw.choice([1, 2]),
                5000 + n,
                stamp(n),
                stamp(n + 1),
                round(p.draw.uniform(2, 60), 3),
            ]
        )
    made.append(
        Made(
            "labelstudio-csv",
            "exports",
            text("project-4.csv", delimited(rows)),
            "sentiment",
            "label",
            t,
        )
    )

    p = Panel(7408)
    items = names("k", 38)
    t = p.scores(items, [""], {"human": 0.4, "grader": 0.6}, scale=(1, 7))
    data = [
        {
            "object": "eval.run.output_item",
            "id": f"oi_{i}",
            "created_at": 1770000000 + n,
            "status": "pass",
            "datasource_item_id": n,
            "datasource_item": {
                "key": i,
                "question": f"Ask {i}",
                "human": int(t[i, "", "human", ""]),
            },
            "sample": {
                "model": "gpt-4o-mini",
                "output": [{"role": "assistant", "content": sentence(p.draw)}],
                "usage": {"total_tokens": 100},
            },
            "results": [
                {
                    "name": "grader",
                    "type": "score_model",
                    "score": t[i, "", "grader", ""],
                    "passed": True,
                }
            ],
        }
        for n, i in enumerate(items)
    ]
    made.append(
        Made(
            "openai-items",
            "exports",
            text("items.json", json.dumps({"object": "list", "data": data})),
            "human",
            "score",
            t,
        )
    )
    return made


# --- labels ------------------------------------------------------------------------------------


def labelled() -> list[Made]:
    made = []

    def plain(
        name: str,
        seed: int,
        item: str,
        raters: dict[str, float],
        labels: Sequence[str],
        reference: str,
        more: dict[str, Callable[[random.Random, int], Any]],
        n: int = 70,
        file: str = "",
        sep: str = ",",
    ) -> None:
        p = Panel(seed)
        items = names(f"{item[:2]}-", n)
        t = p.labels(items, raters, labels)
        columns = [item, *raters, *more]
        p.draw.shuffle(columns)
        rows = [columns]
        for k, i in enumerate(items):
            cell = {
                item: i,
                **{r: t[i, "", r, ""] for r in raters},
                **{c: f(p.draw, k) for c, f in more.items()},
            }
            rows.append([cell[c] for c in columns])
        made.append(
            Made(
                name,
                "labels",
                text(file or f"{name}.csv", delimited(rows, sep)),
                reference,
                "label",
                t,
            )
        )

    plain(
        "three-labels",
        7501,
        "tweet_id",
        {"annotator_a": 0.1, "annotator_b": 0.15, "gpt4": 0.25},
        ["positive", "negative", "neutral"],
        "annotator_a,annotator_b",
        {
            "text": lambda d, k: sentence(d),
            "len": lambda d, k: d.randint(20, 280),
            "likes": lambda d, k: d.choice([0, 0, 1, 2, 5, 40]),
        },
    )
    plain(
        "booleans",
        7502,
        "note_id",
        {"has_risk_nurse": 0.1, "has_risk_llm": 0.2},
        ["TRUE", "FALSE"],
        "has_risk_nurse",
        {
            "site": lambda d, k: d.choice(["north", "south"]),
            "ward": lambda d, k: k % 3 + 1,
            "is_weekend": lambda d, k: d.choice(["TRUE", "FALSE"]),
        },
    )
    plain(
        "intents",
        7503,
        "utterance_id",
        {"agent_label": 0.1, "clf_label": 0.3},
        ["refund", "cancel", "upgrade", "address", "login", "invoice", "other"],
        "agent_label",
        {
            "channel": lambda d, k: d.choice(["chat", "mail", "phone"]),
            "region": lambda d, k: d.choice(["EU", "US"]),
            "clf_version": lambda d, k: "3.2",
        },
        n=120,
    )
    plain(
        "severity",
        7504,
        "bug",
        {"priority_human": 0.15, "priority_bot": 0.25},
        ["low", "medium", "high", "critical"],
        "priority_human",
        {
            "component": lambda d, k: d.choice(["ui", "api", "db"]),
            "assignee": lambda d, k: d.choice(["lee", "ana", "raj"]),
        },
    )
    plain(
        "yesno-fr",
        7505,
        "courrier",
        {"juriste": 0.1, "modèle": 0.2},
        ["oui", "non"],
        "juriste",
        {"service": lambda d, k: d.choice(["nord", "sud"]), "pages": lambda d, k: d.randint(1, 9)},
        sep=";",
    )

    p = Panel(7506)
    items = names("doc", 60)
    t = p.labels(
        items, {"anna": 0.1, "li": 0.15, "llama3": 0.3}, ["news", "opinion", "ad", "satire"]
    )
    rows = [["doc", "coder", "category", "confidence", "seconds"]]
    for (i, _, r, _), v in t.items():
        rows.append([i, r, v, p.draw.randint(1, 5), p.draw.randint(3, 60)])
    made.append(
        Made(
            "long-categories", "labels", text("coding.csv", delimited(rows)), "anna,li", "label", t
        )
    )

    p = Panel(7507)
    items, feelings = names("post", 60), ["anger", "fear", "joy", "sadness"]
    t = {}
    rows = [["post", "coder1", "coder2", "model"]]
    for i in items:
        true = {f for f in feelings if p.draw.random() < 0.35} or {"joy"}
        row = []
        for r, e in (("coder1", 0.05), ("coder2", 0.08), ("model", 0.15)):
            got = sorted(f for f in feelings if (f in true) != (p.draw.random() < e))
            got = got or ["joy"]
            t[i, "", r, ""] = "|".join(got)
            row.append("|".join(got))
        rows.append([i, *row])
    made.append(
        Made(
            "sets", "labels", text("emotions.csv", delimited(rows)), "coder1,coder2", "label set", t
        )
    )

    p = Panel(7508)
    items = names("msg", 80)
    t = p.labels(items, {"nurse": 0.1, "triage_model": 0.2}, ["urgent", "routine"])
    rows = [["msg", "nurse", "triage_model", "p_urgent", "received"]]
    for n, i in enumerate(items):
        said = t[i, "", "triage_model", ""]
        share = p.draw.uniform(0.5, 1)
        rows.append(
            [
                i,
                t[i, "", "nurse", ""],
                said,
                round(share if said == "urgent" else 1 - share, 3),
                stamp(n),
            ]
        )
    made.append(
        Made("label-share", "labels", text("triage.csv", delimited(rows)), "nurse", "label", t)
    )
    return made


# --- preferences -------------------------------------------------------------------------------


def pairs_drawn(
    seed: int, n: int, raters: dict[str, float], systems: Sequence[str], prefix: str
) -> tuple[Panel, list[tuple[str, str, str]], dict[Key, str]]:
    p = Panel(seed)
    units, t = [], {}
    for i in names(prefix, n):
        a, b = p.draw.sample(list(systems), 2)
        units.append((i, a, b))
        true = p.draw.choice([a, b, a, b, "tie"])
        for r, e in raters.items():
            t[i, "|".join(sorted((a, b))), r, ""] = (
                p.draw.choice([a, b, "tie"]) if p.draw.random() < e else true
            )
    return p, units, t


def winner_of(t: dict[Key, str], i: str, a: str, b: str, r: str) -> str:
    return t[i, "|".join(sorted((a, b))), r, ""]


def worded(v: str, a: str, words: tuple[Any, Any, Any]) -> Any:
    """A winner in a file's words: for the first, for the second, for a tie."""
    return words[2] if v == "tie" else words[0] if v == a else words[1]


def compared() -> list[Made]:
    """The truth of a comparison is the winning system, or tie; the system of its key is the pair."""
    made = []

    raters = {"human": 0.2, "gpt-4": 0.3}
    p, units, t = pairs_drawn(7601, 60, raters, ["vicuna", "alpaca", "koala"], "q")
    rows = [["question_id", "model_a", "model_b", "winner", "judge", "tstamp"]]
    for n, (i, a, b) in enumerate(units):
        for r in raters:
            rows.append(
                [
                    i,
                    a,
                    b,
                    worded(winner_of(t, i, a, b, r), a, ("model_a", "model_b", "tie")),
                    r,
                    1690000000 + n,
                ]
            )
    made.append(
        Made("arena", "preferences", text("arena.csv", delimited(rows)), "human", "preference", t)
    )

    raters = {"human_choice": 0.2, "llm_choice": 0.3}
    p, units, t = pairs_drawn(7602, 60, raters, ["old", "new"], "pr")
    rows = [["prompt_id", "left", "right", "human_choice", "llm_choice", "seconds"]]
    for i, a, b in units:
        rows.append(
            [
                i,
                a,
                b,
                *(worded(winner_of(t, i, a, b, r), a, ("left", "right", "tie")) for r in raters),
                p.draw.randint(5, 90),
            ]
        )
    made.append(
        Made(
            "left-right",
            "preferences",
            text("ab.csv", delimited(rows)),
            "human_choice",
            "preference",
            t,
        )
    )

    raters = {"editor": 0.2, "gpt": 0.3}
    p, units, t = pairs_drawn(7603, 64, raters, ["summ-a", "summ-b", "summ-c"], "art")
    rows = [["article", "sys1", "sys2", "editor", "gpt", "words1", "words2"]]
    for i, a, b in units:
        rows.append(
            [
                i,
                a,
                b,
                *(worded(winner_of(t, i, a, b, r), a, (a, b, "both")) for r in raters),
                p.draw.randint(40, 120),
                p.draw.randint(40, 120),
            ]
        )
    made.append(
        Made(
            "named-winner",
            "preferences",
            text("pairs.csv", delimited(rows)),
            "editor",
            "preference",
            t,
        )
    )

    raters = {"Mensch": 0.2, "KI": 0.3}
    p, units, t = pairs_drawn(7604, 50, raters, ["Altsystem", "Neusystem"], "Frage ")
    cells: list[list[Any]] = [["Frage", "System 1", "System 2", "Mensch", "KI", "Kommentar"]]
    for i, a, b in units:
        cells.append(
            [
                i,
                a,
                b,
                *(worded(winner_of(t, i, a, b, r), a, ("1", "2", "gleich")) for r in raters),
                None,
            ]
        )
    made.append(
        Made(
            "de-pairs",
            "preferences",
            book("vergleich.xlsx", lambda w, c=cells: sheet(w, "Vergleich", c)),
            "Mensch",
            "preference",
            t,
        )
    )

    raters = {"human_pref": 0.2, "judge_pref": 0.3}
    p, units, t = pairs_drawn(7605, 60, raters, ["m1", "m2"], "c")
    rows = [["cmp_id", "system_a", "system_b", "human_pref", "judge_pref"]]
    strong = {"human_pref": 2, "judge_pref": 2}
    for i, a, b in units:
        rows.append(
            [
                i,
                a,
                b,
                *(
                    0
                    if winner_of(t, i, a, b, r) == "tie"
                    else (1 if winner_of(t, i, a, b, r) == a else -1) * p.draw.randint(1, strong[r])
                    for r in raters
                ),
            ]
        )
    made.append(
        Made(
            "graded",
            "preferences",
            text("graded.csv", delimited(rows)),
            "human_pref",
            "preference",
            t,
        )
    )

    raters = {"human": 0.2, "llm": 0.3}
    p, units, t = pairs_drawn(7606, 55, raters, ["x1", "x2", "x3"], "u")
    lines = [
        json.dumps(
            {
                "id": i,
                "model_a": a,
                "model_b": b,
                "prompt": f"Ask {i}",
                "votes": {
                    r: worded(winner_of(t, i, a, b, r), a, ("A", "B", "tie")) for r in raters
                },
            }
        )
        for i, a, b in units
    ]
    made.append(
        Made(
            "votes-jsonl",
            "preferences",
            text("votes.jsonl", "\n".join(lines)),
            "human",
            "preference",
            t,
        )
    )

    raters = {"annotator": 0.2, "judge_gpt4": 0.3}
    p, units, t = pairs_drawn(7607, 60, raters, ["base", "dpo"], "uid")
    rows = [["uid", "response_1_model", "response_2_model", "annotator", "judge_gpt4"]]
    for i, a, b in units:
        rows.append(
            [i, a, b, *(worded(winner_of(t, i, a, b, r), a, ("A>B", "B>A", "A=B")) for r in raters)]
        )
    made.append(
        Made(
            "arrows",
            "preferences",
            text("arrows.csv", delimited(rows)),
            "annotator",
            "preference",
            t,
        )
    )

    raters = {"evaluador": 0.2, "juez": 0.3}
    p, units, t = pairs_drawn(7608, 52, raters, ["prod", "cand"], "caso")
    rows = [["caso", "modelo_a", "modelo_b", "evaluador", "juez", "mostrado_primero"]]
    for i, a, b in units:
        rows.append(
            [
                i,
                a,
                b,
                *(worded(winner_of(t, i, a, b, r), a, ("A", "B", "empate")) for r in raters),
                p.draw.choice("AB"),
            ]
        )
    made.append(
        Made(
            "es-pairs",
            "preferences",
            text("pares.csv", delimited(rows, ";")),
            "evaluador",
            "preference",
            t,
        )
    )
    return made


def sixty() -> list[Made]:
    """All sixty, in a fixed order."""
    return [
        *engineer(),
        *workbooks(),
        *shapes(),
        *languages(),
        *exports(),
        *labelled(),
        *compared(),
    ]
