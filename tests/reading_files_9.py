"""Sixty further made files of the seven kinds, written before the code that reads them was opened.

Records with a list of graders, columns as lists, merged cells, a sheet for each attribute, raters by
number, files for each system, verdicts in sentences, ranks: shapes that sets 7 and 8 leave out.
"""

# ruff: noqa: PERF401, PLR0915 - rows are added one by one, as the files that are made
from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from reading_files_7 import (
    Made,
    Panel,
    book,
    delimited,
    names,
    pairs_drawn,
    parquet,
    sentence,
    sheet,
    stamp,
    text,
    texts,
    winner_of,
    worded,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import openpyxl

Cell = "Callable[[random.Random, int], Any]"


def _wide(  # noqa: PLR0917 - a shape has so many parts
    name: str,
    family: str,
    seed: int,
    file: str,
    head: str,
    items: Sequence[str],
    systems: Sequence[str],
    raters: dict[str, float],
    reference: str,
    scale: tuple[int, int] = (1, 5),
    sep: str = ",",
    kind: str = "score",
    encoding: str = "utf-8",
    **more: Callable[[random.Random, int], Any],
) -> Made:
    """A row an answer; `head` orders the columns: item, then system, raters and others by name."""
    p = Panel(seed)
    t = p.scores(items, systems, raters, scale=scale)
    columns = head.split("|")
    first = columns[0] if columns[0] not in more else next(c for c in columns if c not in more)
    rows: list[list[Any]] = [columns]
    for n, (i, s) in enumerate((i, s) for i in items for s in systems):
        cell = {first: i, **{r: int(t[i, s, r, ""]) for r in raters}}
        cell |= {c: f(p.draw, n) for c, f in more.items()}
        rows.append([cell.get(c, s) for c in columns])
    return Made(name, family, text(file, delimited(rows, sep), encoding), reference, kind, t)


def engineer() -> list[Made]:
    made = [
        _wide("nodeid-csv", "engineer", 9001, "eval.csv", "nodeid|commit|exit_code|wall_s|grader|reviewer",
              names("tests/test_a.py::test_", 36), ["4e1ba90", "c20d7f3"],
              {"grader": 0.7, "reviewer": 0.5}, "reviewer",
              exit_code=lambda d, k: d.choice([0, 0, 1]), wall_s=lambda d, k: round(d.uniform(.2, 9), 2)),
        _wide("solved-csv", "engineer", 9002, "agents.csv",
              "task|agent|steps|n_tools|solved_human|solved_judge", names("swe-", 60),
              ["agentless", "react"], {"solved_human": 0.3, "solved_judge": 0.4}, "solved_human",
              scale=(0, 1), steps=lambda d, k: d.randint(3, 40), n_tools=lambda d, k: d.randint(1, 5)),
        _wide("quoted-scsv", "engineer", 9003, "dump.csv", "pk|qid|arm|judge|gold_score|priority",
              names("Q", 40), ["A-old", "B-new"], {"judge": 0.8, "gold_score": 0.5}, "gold_score",
              sep=";", pk=lambda d, k: 9000 + k, priority=lambda d, k: d.randint(1, 5)),
    ]  # fmt: skip

    p = Panel(9004)
    items, systems = names("smp/", 40), ["llama-3.1-8b", "qwen2.5-7b"]
    t = p.scores(items, systems, {"human": 0.5, "gpt-4.1": 0.7})
    lines = [
        json.dumps({"sample": {"id": i, "lang": "en"}, "model": s, "output": sentence(p.draw),
                    "grades": [{"grader": r, "score": int(t[i, s, r, ""]), "note": sentence(p.draw, 3)}
                               for r in ("human", "gpt-4.1")]})
        for i in items for s in systems
    ]  # fmt: skip
    made.append(
        Made("grades-list", "engineer", text("graded.jsonl", "\n".join(lines)), "human", "score", t)
    )

    p = Panel(9005)
    items = names("ex", 50)
    t = p.scores(items, [""], {"human": 0.5, "llm": 0.7}, scale=(1, 7))
    content = json.dumps(
        {
            "ids": items,
            **{r: [int(t[i, "", r, ""]) for i in items] for r in ("human", "llm")},
            "tokens": [p.draw.randint(20, 90) for _ in items],
        }
    )
    made.append(Made("columns-json", "engineer", text("cols.json", content), "human", "score", t))

    p = Panel(9006)
    items, systems = names("u-", 40), ["r1", "r2"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.7})
    columns: dict[str, list[Any]] = {"uid": [], "release": [], "scores": [], "usage": []}
    for i in items:
        for s in systems:
            columns["uid"].append(i)
            columns["release"].append(s)
            columns["scores"].append({r: int(t[i, s, r, ""]) for r in ("human", "llm")})
            columns["usage"].append(
                {"prompt": p.draw.randint(1, 5), "completion": p.draw.randint(9, 90)}
            )
    made.append(
        Made("struct-parquet", "engineer", parquet("scores.parquet", columns), "human", "score", t)
    )

    p = Panel(9007)
    items, systems = names("k", 38), ["v1", "v2"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.7})
    lines = [
        json.dumps(
            {
                "id": i,
                "question": sentence(p.draw),
                "outputs": {
                    s: {
                        "text": sentence(p.draw),
                        **{r: int(t[i, s, r, ""]) for r in ("human", "llm")},
                    }
                    for s in systems
                },
            }
        )
        for i in items
    ]
    made.append(
        Made(
            "outputs-jsonl",
            "engineer",
            text("outputs.jsonl", "\n".join(lines)),
            "human",
            "score",
            t,
        )
    )

    p = Panel(9008)
    items, systems = names("hash", 40), ["exp-a", "exp-b"]
    t = p.scores(items, systems, {"expert": 0.5, "o3": 0.6})
    rows: list[list[Any]] = [["prompt_hash", "experiment", "expert", "o3", "retry", "cost"]]
    for i in items:
        for s in systems:
            rows.append(
                [
                    i,
                    s,
                    int(t[i, s, "expert", ""]),
                    int(t[i, s, "o3", ""]),
                    p.draw.choice([0, 0, 1, 2]),
                    round(p.draw.uniform(0.001, 0.1), 4),
                ]
            )
    packed = gzip.compress(delimited(rows).encode(), mtime=0)

    def zipped(folder: Path, packed: bytes = packed) -> list[str]:
        (folder / "run.csv.gz").write_bytes(packed)
        return ["run.csv.gz"]

    made.append(Made("gz-csv", "engineer", zipped, "expert", "score", t))

    p = Panel(9009)
    items, systems = names("p_", 30), ["ckpt-100", "ckpt-200"]
    t = p.scores(items, systems, {"human": 0.5, "judge": 0.7}, ("helpfulness", "safety"))
    rows = [["run_uuid", "prompt", "model_id", "metric", "value", "source", "logged_at"]]
    for n, ((i, s, r, a), v) in enumerate(t.items()):
        rows.append([f"{p.draw.getrandbits(48):012x}", i, s, a, int(v), r, stamp(n)])
    made.append(
        Made("metrics-long", "engineer", text("metrics.csv", delimited(rows)), "human", "score", t)
    )

    p = Panel(9010)
    items = names("img_", 60)
    t = p.scores(items, [""], {"rater_a": 0.5, "rater_b": 0.5, "vlm": 0.7}, scale=(2, 10))
    t = {k: v / 2 for k, v in t.items()}
    rows = [["", "image", "rater_a", "rater_b", "vlm", "width", "seed"]]
    for n, i in enumerate(items):
        rows.append(
            [
                n,
                i,
                *(t[i, "", r, ""] for r in ("rater_a", "rater_b", "vlm")),
                p.draw.choice([256, 512]),
                7,
            ]
        )
    made.append(
        Made(
            "halves-csv",
            "engineer",
            text("images.csv", delimited(rows)),
            "rater_a,rater_b",
            "score",
            t,
        )
    )
    return made


def workbooks() -> list[Made]:
    made = []

    def add(
        name: str,
        file: str,
        fill: Callable[[openpyxl.Workbook], Any],
        reference: str,
        t: dict[Any, Any],
        kind: str = "score",
        **more: Any,
    ) -> None:
        made.append(Made(name, "workbook", book(file, fill), reference, kind, t, **more))

    p = Panel(9101)
    items, systems = names("Anfrage ", 34, width=1), ["Bot 3", "Bot 4"]
    t = p.scores(items, systems, {"Sachbearbeiterin": 0.5, "Sprachmodell": 0.7}, scale=(1, 6))
    table: list[list[Any]] = [
        ["Anfrage", "Fassung", "Sachbearbeiterin", "Sprachmodell", "Dauer (min)"]
    ]
    table += [
        [
            i,
            s,
            int(t[i, s, "Sachbearbeiterin", ""]),
            int(t[i, s, "Sprachmodell", ""]),
            p.draw.randint(1, 6),
        ]
        for i in items
        for s in systems
    ]
    over = [["Kennzahl", "Wert"], ["Anfragen", len(items)], ["Mittel", 3.4], ["Stand", "12.5.2026"]]
    add(
        "de-overview-first",
        "auswertung.xlsx",
        lambda w, a=over, b=table: (sheet(w, "Übersicht", a), sheet(w, "Daten", b)),
        "Sachbearbeiterin",
        t,
    )

    p = Panel(9102)
    items = names("B-", 45)
    t = p.scores(items, [""], {"Prüfer": 0.5, "KI-Note": 0.7})
    table = [
        ["Qualitätsprüfung Briefe 2026"],
        ["Stand: 3. Mai"],
        [],
        ["Brief", "Abteilung", "Prüfer", "KI-Note", "Seiten"],
    ]
    table += [
        [
            i,
            p.draw.choice(["Nord", "Süd"]),
            int(t[i, "", "Prüfer", ""]),
            int(t[i, "", "KI-Note", ""]),
            p.draw.randint(1, 4),
        ]
        for i in items
    ]
    table += [[], ["Erstellt von: A. Meier"]]
    add("de-title", "briefe.xlsx", lambda w, c=table: sheet(w, "Tabelle1", c), "Prüfer", t)

    p = Panel(9103)
    items, systems = names("Fall ", 30, width=1), ["alt", "neu"]
    t = p.scores(items, systems, {"Gutachter": 0.5, "KI": 0.7})

    def merged(w: openpyxl.Workbook, t: Any = t, items: Any = items) -> None:
        page = sheet(w, "Fälle", [["Fall", "Stand", "Gutachter", "KI"]])
        for i in items:
            for s in ("alt", "neu"):
                page.append(
                    [
                        i if s == "alt" else None,
                        s,
                        int(t[i, s, "Gutachter", ""]),
                        int(t[i, s, "KI", ""]),
                    ]
                )
            page.merge_cells(
                start_row=page.max_row - 1, end_row=page.max_row, start_column=1, end_column=1
            )

    add("de-merged-items", "faelle.xlsx", merged, "Gutachter", t)

    p = Panel(9104)
    items = names("Mail ", 60, width=1)
    t = p.scores(items, [""], {"Teamleitung": 0.5, "Assistent": 0.7})
    marks = {
        1.0: "mangelhaft",
        2.0: "ausreichend",
        3.0: "befriedigend",
        4.0: "gut",
        5.0: "sehr gut",
    }
    table = [["Mail", "Teamleitung", "Assistent", "Anlagen"]]
    table += [
        [
            i,
            marks[t[i, "", "Teamleitung", ""]],
            marks[t[i, "", "Assistent", ""]],
            p.draw.randint(0, 3),
        ]
        for i in items
    ]
    add(
        "de-marks",
        "mails.xlsx",
        lambda w, c=table: sheet(w, "Noten", c),
        "Teamleitung",
        {k: marks[v] for k, v in t.items()},
        "words",
    )

    p = Panel(9105)
    items = names("T", 36)
    raters, attributes = ("Lang", "Weber", "GPT"), ("Ton", "Inhalt", "Kürze")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6), attributes)
    top: list[Any] = [None]
    for r in raters:
        top += [r, None, None]
    table = [top, ["Text", *attributes * 3]]
    table += [[i, *(int(t[i, "", r, a]) for r in raters for a in attributes)] for i in items]
    add("de-raters-above", "texte.xlsx", lambda w, c=table: sheet(w, "Texte", c), "Lang,Weber", t)

    p = Panel(9106)
    items, raters = names("A", 40), ("Frau Lang", "Herr Voss", "KI")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6))
    table = [["Bewertende", *items]]
    table += [[r, *(int(t[i, "", r, ""]) for i in items)] for r in raters]
    add(
        "de-turned",
        "matrix.xlsx",
        lambda w, c=table: sheet(w, "Matrix", c),
        "Frau Lang,Herr Voss",
        t,
    )

    p = Panel(9107)
    items, systems = names("D", 30), ["V1", "V2"]
    t = p.scores(items, systems, {"Relectrice": 0.5, "IA": 0.7}, ("Clarté", "Ton"))

    def criteria(w: openpyxl.Workbook, t: Any = t, items: Any = items) -> None:
        for a in ("Clarté", "Ton"):
            sheet(
                w,
                a,
                [
                    ["Dossier", "Version", "Relectrice", "IA"],
                    *(
                        [i, s, int(t[i, s, "Relectrice", a]), int(t[i, s, "IA", a])]
                        for i in items
                        for s in ("V1", "V2")
                    ),
                ],
            )

    add("fr-sheet-a-criterion", "criteres.xlsx", criteria, "Relectrice", t)

    p = Panel(9108)
    items = names("courrier-", 50)
    t = p.scores(items, [""], {"Agent": 0.5, "Modèle": 0.7}, scale=(2, 10))
    t = {k: v / 2 for k, v in t.items()}
    rows: list[list[Any]] = [["Courrier", "Agent", "Modèle", "Délai"]]
    rows += [
        [i, t[i, "", "Agent", ""], t[i, "", "Modèle", ""], p.draw.randint(1, 30)] for i in items
    ]
    made.append(
        Made(
            "fr-latin-commas",
            "workbook",
            text("courriers.csv", delimited(rows, ";", comma=True), "latin-1"),
            "Agent",
            "score",
            t,
        )
    )

    p = Panel(9109)
    items = names("lot ", 70, width=1)
    t = p.labels(items, {"Contrôleur": 0.1, "Assistant IA": 0.2}, ["conforme", "non conforme"])
    table = [["Lot", "Contrôleur", "Assistant IA", "Site"]]
    table += [
        [
            i,
            t[i, "", "Contrôleur", ""],
            t[i, "", "Assistant IA", ""],
            p.draw.choice(["Lyon", "Brest"]),
        ]
        for i in items
    ]
    add(
        "fr-conformity",
        "lots.xlsx",
        lambda w, c=table: sheet(w, "Lots", c),
        "Contrôleur",
        t,
        "label",
    )

    p = Panel(9110)
    items, raters = names("Réponse ", 26, width=1), ("Inès", "Marc", "assistant")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6), ("Exactitude", "Politesse"))
    table = [["Réponse", "Évaluateur", "Critère", "Note", "Commentaire"]]
    table += [
        [i, r, a, int(v), p.draw.choice([None, None, "à revoir"])] for (i, _, r, a), v in t.items()
    ]
    add("fr-long", "notes.xlsx", lambda w, c=table: sheet(w, "Feuil1", c), "Inès,Marc", t)

    p = Panel(9111)
    items, systems = names("Ticket ", 32, width=1), ["avant", "après"]
    t = p.scores(items, systems, {"Note humaine (1 à 5)": 0.5, "Note IA (1 à 5)": 0.7})
    table = [["N° ticket", "Période", "Note humaine\n(1 à 5)", "Note IA\n(1 à 5)", "Relances"]]
    table += [
        [
            i,
            s,
            int(t[i, s, "Note humaine (1 à 5)", ""]),
            int(t[i, s, "Note IA (1 à 5)", ""]),
            p.draw.randint(0, 3),
        ]
        for i in items
        for s in systems
    ]
    add(
        "fr-broken-heads",
        "tickets.xlsx",
        lambda w, c=table: sheet(w, "Tickets", c),
        "Note humaine (1 à 5)",
        t,
    )

    p = Panel(9112)
    items = names("Fiche ", 60, width=1)
    t = p.scores(items, [""], {"Chef": 0.5})
    table = [["Fiche", "Chef", "Score IA", "Visites"]]
    for i in items:
        g = round(min(1, max(0, (p.quality[i, "", ""] - 1) / 4 + p.draw.gauss(0, 0.12))), 2)
        t[i, "", "Score IA", ""] = g
        table.append([i, int(t[i, "", "Chef", ""]), g, p.draw.randint(1, 400)])

    def percent(w: openpyxl.Workbook, c: Any = table) -> None:
        page = sheet(w, "Fiches", c)
        for row in page.iter_rows(min_row=2, min_col=3, max_col=3):
            row[0].number_format = "0%"

    add("fr-percent", "fiches.xlsx", percent, "Chef", t, rescaled=("Score IA",))
    return made


def shapes() -> list[Made]:
    made = []

    def add(
        name: str,
        file: str,
        rows: Sequence[Sequence[Any]],
        reference: str,
        t: dict[Any, Any],
        **more: Any,
    ) -> None:
        made.append(
            Made(name, "shapes", text(file, delimited(rows)), reference, "score", t, **more)
        )

    p = Panel(9201)
    items, systems = names("it", 25), ["sysX", "sysY"]
    kinds = {"kim": "person", "lou": "person", "gemini": "model"}
    t = p.scores(items, systems, dict.fromkeys(kinds, 0.6))
    add(
        "long-kinds",
        "long.csv",
        [
            ["item", "system", "rater", "rater_type", "score"],
            *([i, s, r, kinds[r], int(v)] for (i, s, r, _), v in t.items()),
        ],
        "kim,lou",
        t,
    )

    p = Panel(9202)
    items = names("case-", 30)
    t = p.scores(items, [""], {"101": 0.5, "102": 0.5, "999": 0.7})
    rows: list[list[Any]] = [["case_id", "rater_id", "rating", "minutes"]]
    rows += [[i, r, int(v), p.draw.randint(1, 5)] for (i, _, r, _), v in t.items()]
    p.draw.shuffle(rows[1:])
    add("rater-numbers", "ratings.csv", rows, "101,102", t)

    p = Panel(9203)
    items, people = names("essay", 60), [f"R{k}" for k in range(1, 7)]
    t = p.scores(items, [""], {**dict.fromkeys(people, 0.5), "llm": 0.7}, scale=(1, 6))
    for i in items:
        for r in p.draw.sample(people, 4):
            del t[i, "", r, ""]
    rows = [["essay", *people, "llm", "word_count"]]
    rows += [
        [
            i,
            *(int(t[i, "", r, ""]) if (i, "", r, "") in t else "" for r in (*people, "llm")),
            p.draw.randint(100, 400),
        ]
        for i in items
    ]
    add("two-of-six", "essays.csv", rows, ",".join(people), t)

    p = Panel(9204)
    items, systems = names("s", 40), ["gpt4o", "claude", "llama"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.7})
    rows = [["stem", *(f"{s}.{r}" for s in systems for r in ("human", "llm"))]]
    rows += [[i, *(int(t[i, s, r, ""]) for s in systems for r in ("human", "llm"))] for i in items]
    add("dotted-wide", "wide.csv", rows, "human", t)

    p = Panel(9205)
    items, systems = names("dlg", 30), ["b1", "b2"]
    t = p.scores(items, systems, {"human": 0.5, "judge": 0.7}, ("fluency", "relevance", "empathy"))
    rows = [["dialogue", "bot", "dimension", "human", "judge", "seconds"]]
    rows += [
        [i, s, a, int(t[i, s, "human", a]), int(t[i, s, "judge", a]), p.draw.randint(2, 60)]
        for i in items
        for s in systems
        for a in ("fluency", "relevance", "empathy")
    ]
    add("dimension-rows", "dimensions.csv", rows, "human", t)

    p = Panel(9206)
    items = names("w", 50)
    t = p.scores(items, [""], {"teacher": 0.5, "ai_grader": 0.7})
    marks = {1.0: "1 - poor", 2.0: "2 - weak", 3.0: "3 - fair", 4.0: "4 - good", 5.0: "5 - great"}
    rows = [["worksheet", "teacher", "ai_grader", "class"]]
    rows += [
        [
            i,
            marks[t[i, "", "teacher", ""]],
            marks[t[i, "", "ai_grader", ""]],
            p.draw.choice(["7a", "7b"]),
        ]
        for i in items
    ]
    add("number-and-word", "sheets.csv", rows, "teacher", t)

    p = Panel(9207)
    items, systems = names("qq", 36), ["gpt", "claude"]
    t = p.scores(items, systems, {"human": 0.5, "judge": 0.7})
    files = {
        f"{s}.csv": delimited(
            [
                ["qid", "answer", "human", "judge"],
                *(
                    [i, sentence(p.draw), int(t[i, s, "human", ""]), int(t[i, s, "judge", ""])]
                    for i in items
                ),
            ]
        )
        for s in systems
    }
    made.append(
        Made(
            "file-a-system", "shapes", texts(files, ["gpt.csv", "claude.csv"]), "human", "score", t
        )
    )

    p = Panel(9208)
    items, systems = names("id-", 40), ["p1", "p2"]
    t = p.scores(items, systems, {"h1": 0.5, "h2": 0.5, "m1": 0.8})
    rows = [["id", "prompt_version", "h1", "h2", "h_mean", "m1", "m1_minus_h"]]
    for i in items:
        for s in systems:
            a, b, m = (int(t[i, s, r, ""]) for r in ("h1", "h2", "m1"))
            rows.append([i, s, a, b, (a + b) / 2, m, m - (a + b) / 2])
    add("means-wide", "means.csv", rows, "h1,h2", t)
    return made


def languages() -> list[Made]:
    small = lambda d, k: d.randint(1, 5)  # noqa: E731

    def one(
        name: str,
        seed: int,
        head: str,
        raters: tuple[str, str],
        other: str,
        systems: Sequence[str],
        prefix: str,
        sep: str = ",",
    ) -> Made:
        return _wide(
            f"heads-{name}",
            "heads",
            seed,
            f"{name}.csv",
            head,
            names(prefix, 40),
            systems,
            dict(zip(raters, (0.5, 0.7), strict=True)),
            raters[0],
            sep=sep,
            **{other: small},
        )

    return [
        one("es", 9301, "consulta|versión|revisora|juez automático|página", ("revisora", "juez automático"),
            "página", ["2.0", "2.1"], "C-"),
        one("it", 9302, "domanda|modello|valutatore umano|giudice|allegati", ("valutatore umano", "giudice"),
            "allegati", ["gpt-4o", "mistral-small"], "d", ";"),
        one("pl", 9303, "zgłoszenie|wydanie|ocena_człowieka|ocena_modelu|liczba_stron",
            ("ocena_człowieka", "ocena_modelu"), "liczba_stron", ["1.4", "1.5"], "Z"),
        one("zh", 9304, "问题编号|系统|人工评分|模型评分|页数", ("人工评分", "模型评分"), "页数", ["甲", "乙"], "问"),
        one("ko", 9305, "질문|버전|사람|심사모델|쪽수", ("사람", "심사모델"), "쪽수", ["v1", "v2"], "질문"),
        one("ar", 9306, "سؤال|إصدار|بشري|نموذج_حكم|صفحات", ("بشري", "نموذج_حكم"), "صفحات", ["v3", "v4"], "س"),
        one("fi", 9307, "kysymys|versio|arvioija|tekoäly|liitteet", ("arvioija", "tekoäly"), "liitteet",
            ["vanha", "uusi"], "K"),
        one("vi", 9308, "câu hỏi|phiên bản|chuyên gia|giám khảo AI|số trang", ("chuyên gia", "giám khảo AI"),
            "số trang", ["cũ", "mới"], "CH"),
    ]  # fmt: skip


def exports() -> list[Made]:
    made = []

    p = Panel(9401)
    items = names("", 60, 1001, 4)
    t = p.labels(items, {"3": 0.1, "4": 0.12, "llm": 0.2}, ["bug", "feature", "question"])
    rows: list[list[Any]] = [
        [
            "annotation_id",
            "annotator",
            "choice",
            "created_at",
            "id",
            "lead_time",
            "text",
            "updated_at",
        ]
    ]
    for n, ((i, _, r, _), v) in enumerate(t.items()):
        rows.append(
            [5000 + n, r, v, stamp(n), i, round(p.draw.uniform(2, 40), 3), f"Text {i}", stamp(n)]
        )
    made.append(
        Made(
            "labelstudio-csv",
            "exports",
            text("project-3-at-2026-05-04.csv", delimited(rows)),
            "3,4",
            "label",
            {(i, s, f"annotator {r}" if r in "34" else r, a): v for (i, s, r, a), v in t.items()},
        )
    )

    p = Panel(9402)
    items = [f"{p.draw.getrandbits(64):016x}" for _ in range(50)]
    t = p.scores(items, [""], {"human_correctness": 0.3, "llm_correctness": 0.4}, scale=(0, 1))
    rows = [
        [
            "id",
            "inputs.question",
            "outputs.answer",
            "reference_outputs.answer",
            "feedback.human_correctness",
            "feedback.llm_correctness",
            "error",
            "latency",
            "status",
            "tokens",
        ]
    ]
    for i in items:
        rows.append([i, sentence(p.draw), sentence(p.draw), sentence(p.draw), int(t[i, "", "human_correctness", ""]),
                     int(t[i, "", "llm_correctness", ""]), "", round(p.draw.uniform(.3, 5), 2), "success",
                     p.draw.randint(50, 400)])  # fmt: skip
    t = {(i, s, f"feedback.{r}", a): v for (i, s, r, a), v in t.items()}
    made.append(
        Made(
            "langsmith-csv",
            "exports",
            text("experiment.csv", delimited(rows)),
            "feedback.human_correctness",
            "score",
            t,
        )
    )

    p = Panel(9403)
    items = names("t", 50)
    t = p.labels(items, {"ann1": 0.1, "llm": 0.2}, ["spam", "ham", "promo"])
    files = {
        f"{r}.jsonl": "\n".join(
            json.dumps({"id": n, "text": f"message {i}", "label": [t[i, "", r, ""]]})
            for n, i in enumerate(items)
        )
        for r in ("ann1", "llm")
    }
    t = {(str(int(i[1:]) - 1), s, r, a): v for (i, s, r, a), v in t.items()}
    made.append(
        Made(
            "doccano-files",
            "exports",
            texts(files, ["ann1.jsonl", "llm.jsonl"]),
            "ann1",
            "label",
            t,
        )
    )

    p = Panel(9404)
    items, systems = names("row", 40), ["base", "tuned"]
    t = p.scores(items, systems, {"human_eval": 0.5, "llm_eval": 0.7})
    table = {
        "columns": ["example", "run_name", "output", "human_eval", "llm_eval", "tokens"],
        "data": [
            [
                i,
                s,
                sentence(p.draw),
                int(t[i, s, "human_eval", ""]),
                int(t[i, s, "llm_eval", ""]),
                p.draw.randint(1, 500),
            ]
            for i in items
            for s in systems
        ],
    }
    made.append(
        Made(
            "wandb-table",
            "exports",
            text("media.table.json", json.dumps(table)),
            "human_eval",
            "score",
            t,
        )
    )

    p = Panel(9405)
    items = names("Antwort ", 40, width=1)
    t = p.scores(items, [""], {"Reviewer": 0.5, "AI score": 0.7})
    rows = [["Name", "AI score", "Assignee", "Created", "Reviewer", "Status", "URL"]]
    for n, i in enumerate(items):
        rows.append(
            [
                i,
                int(t[i, "", "AI score", ""]),
                p.draw.choice(["Kim", "Lee"]),
                "May 4, 2026 9:12 AM",
                int(t[i, "", "Reviewer", ""]),
                "Done",
                f"https://notion.so/{n:08x}",
            ]
        )
    made.append(
        Made(
            "notion",
            "exports",
            text("Answers 0a1b2c.csv", delimited(rows), "utf-8-sig"),
            "Reviewer",
            "score",
            t,
        )
    )

    p = Panel(9406)
    items, systems = names("", 40, 0, 1), ["openai:gpt-4o", "anthropic:claude"]
    t = p.scores(items, systems, {"human": 0.3, "llm-rubric": 0.4}, scale=(0, 1))
    results = [
        {"testIdx": int(i), "promptIdx": k, "provider": {"id": s}, "vars": {"q": f"question {i}"},
         "response": {"output": sentence(p.draw)}, "success": True, "score": 1, "latencyMs": p.draw.randint(99, 999),
         "gradingResult": {"pass": True, "score": 1, "componentResults": [
             {"pass": bool(t[i, s, r, ""]), "score": int(t[i, s, r, ""]), "reason": "r", "assertion": {"type": r}}
             for r in ("human", "llm-rubric")]}}
        for i in items for k, s in enumerate(systems)
    ]  # fmt: skip
    # promptfoo's own names: a person's grade is the pass and the score of an answer, and what it
    # would have said without that grade stands next to it.
    own: dict[Any, Any] = {}
    for (i, s, r, _), v in t.items():
        who = "by hand" if r == "human" else "promptfoo"
        own |= {(i, s, who, what): v for what in ("pass", "score")}
        own |= {} if r == "human" else {(i, s, "promptfoo grader", "llm-rubric"): v}
    t = own
    content = json.dumps(
        {"evalId": "eval-x", "results": {"version": 3, "results": results}, "config": {}}
    )
    made.append(
        Made("promptfoo-human", "exports", text("output.json", content), "human", "score", t)
    )

    p = Panel(9407)
    items = names("rec-", 45)
    t = p.scores(items, [""], {"maria": 0.5, "jo": 0.5, "gpt": 0.7})
    records = [
        {"id": i, "fields": {"text": sentence(p.draw)}, "metadata": {"split": "dev"},
         "suggestions": {"quality": {"value": int(t[i, "", "gpt", ""]), "agent": "gpt"}},
         "responses": {"quality": [{"user_id": r, "value": int(t[i, "", r, ""])} for r in ("maria", "jo")]}}
        for i in items
    ]  # fmt: skip
    made.append(
        Made(
            "argilla", "exports", text("records.json", json.dumps(records)), "maria,jo", "score", t
        )
    )
    return made


def labelled() -> list[Made]:
    made = []

    def wide(
        name: str,
        seed: int,
        item: str,
        raters: dict[str, float],
        labels: Sequence[str],
        reference: str,
        n: int = 70,
        kind: str = "label",
        **more: Callable[[random.Random, int], Any],
    ) -> None:
        p = Panel(seed)
        items = names(f"{item[:3]}-", n)
        t = p.labels(items, raters, labels)
        rows = [[item, *more, *raters]]
        for k, i in enumerate(items):
            rows.append(
                [i, *(f(p.draw, k) for f in more.values()), *(t[i, "", r, ""] for r in raters)]
            )
        made.append(Made(name, "labels", text(f"{name}.csv", delimited(rows)), reference, kind, t))

    wide(
        "coders",
        9501,
        "headline",
        {"coder_1": 0.1, "coder_2": 0.1, "coder_3": 0.15, "gpt": 0.2},
        ["economy", "health", "sport", "war"],
        "coder_1,coder_2,coder_3",
        outlet=lambda d, k: d.choice(["A", "B"]),
    )
    wide(
        "letters-yn",
        9502,
        "claim",
        {"checker": 0.1, "verifier_llm": 0.2},
        ["Y", "N"],
        "checker",
        urgent=lambda d, k: d.choice(["Y", "N"]),
    )
    wide(
        "agreement",
        9503,
        "statement",
        {"expert": 0.1, "llm": 0.2},
        ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
        "expert",
        kind="words",
    )
    wide(
        "reasons",
        9504,
        "email",
        {"analyst": 0.1, "classifier": 0.25},
        ["phish", "spam", "legit"],
        "analyst",
        sender=lambda d, k: f"{d.choice('abcd')}@x.org",
        confidence=lambda d, k: round(d.uniform(0.4, 1), 2),
        rationale=lambda d, k: sentence(d),
    )

    p = Panel(9505)
    items = names("unit", 50)
    t = p.labels(items, {"JB": 0.1, "KS": 0.1, "gpt-4o-mini": 0.2}, ["claim", "premise", "none"])
    rows: list[list[Any]] = [["unit", "coder", "code", "batch"]]
    rows += [[i, r, v, n % 4 + 1] for n, ((i, _, r, _), v) in enumerate(t.items())]
    made.append(
        Made("codes-long", "labels", text("codes.csv", delimited(rows)), "JB,KS", "label", t)
    )

    p = Panel(9506)
    items, tags = names("pic", 60), ["cat", "dog", "car", "tree"]
    t = {}
    lines = []
    for i in items:
        true = {f for f in tags if p.draw.random() < 0.4} or {"cat"}
        for r, e in (("tagger", 0.06), ("vision-model", 0.12)):
            t[i, "", r, ""] = "|".join(
                sorted(f for f in tags if (f in true) != (p.draw.random() < e)) or ["cat"]
            )
        lines.append(
            json.dumps(
                {"pic": i, **{r: t[i, "", r, ""].split("|") for r in ("tagger", "vision-model")}}
            )
        )
    made.append(
        Made(
            "lists-jsonl", "labels", text("tags.jsonl", "\n".join(lines)), "tagger", "label set", t
        )
    )

    p = Panel(9507)
    items = names("rev", 60)
    t = p.labels(items, {"alice": 0.1, "bob": 0.1, "gpt-5": 0.2}, ["pos", "neg", "mixed"])
    lines = [
        json.dumps(
            {
                "review": i,
                "text": sentence(p.draw),
                "labels": {r: t[i, "", r, ""] for r in ("alice", "bob", "gpt-5")},
            }
        )
        for i in items
    ]
    made.append(
        Made(
            "labels-object",
            "labels",
            text("reviews.jsonl", "\n".join(lines)),
            "alice,bob",
            "label",
            t,
        )
    )

    p = Panel(9508)
    items = names("cmt", 70)
    t = p.scores(items, [""], {"human": 0.3, "llm": 0.4}, ("toxic", "threat"), scale=(0, 1))
    rows = [["comment", "human_toxic", "human_threat", "llm_toxic", "llm_threat", "upvotes"]]
    rows += [
        [
            i,
            *(int(t[i, "", r, a]) for r in ("human", "llm") for a in ("toxic", "threat")),
            p.draw.randint(0, 9),
        ]
        for i in items
    ]
    made.append(Made("flags", "labels", text("comments.csv", delimited(rows)), "human", "score", t))
    return made


def compared() -> list[Made]:
    made = []

    def add(name: str, file: str, content: str, reference: str, t: Any) -> None:
        made.append(Made(name, "preferences", text(file, content), reference, "preference", t))

    raters = {"expert": 0.2, "gpt-4o": 0.3}
    p, units, t = pairs_drawn(9601, 60, raters, ["m-small", "m-large", "m-tiny"], "prompt")
    rows: list[list[Any]] = [["prompt", "first_model", "second_model", "annotator", "preferred"]]
    rows += [
        [i, a, b, r, worded(winner_of(t, i, a, b, r), a, (a, b, "tie"))]
        for i, a, b in units
        for r in raters
    ]
    add("preferred-long", "prefs.csv", delimited(rows), "expert", t)

    raters = {"human_winner": 0.2, "judge_winner": 0.3}
    p, units, t = pairs_drawn(9602, 60, raters, ["ref", "new"], "x")
    rows = [["prompt_id", "model_1", "model_2", "human_winner", "judge_winner", "turns"]]
    rows += [
        [
            i,
            a,
            b,
            *(worded(winner_of(t, i, a, b, r), a, (1, 2, 0)) for r in raters),
            p.draw.randint(1, 3),
        ]
        for i, a, b in units
    ]
    add("ones-twos", "wins.csv", delimited(rows), "human_winner", t)

    raters = {"human": 0.2, "gpt": 0.3}
    p, units, t = pairs_drawn(9603, 56, raters, ["m1", "m2", "m3"], "n")
    lines = [
        json.dumps(
            {"qid": i, "pair": [a, b], "verdicts": {r: winner_of(t, i, a, b, r) for r in raters}}
        )
        for i, a, b in units
    ]
    add("pair-list", "pairs.jsonl", "\n".join(lines), "human", t)

    p, units, t = pairs_drawn(
        9604, 60, {"ed": 0.2, "claude": 0.3}, ["lead-a", "lead-b", "lead-c"], "story"
    )
    rows = [["story", "who", "chosen", "rejected"]]
    for (i, pair, r, _), v in list(t.items()):
        a, b = pair.split("|")
        if v == "tie":
            t[i, pair, r, ""] = a
        best = a if v in (a, "tie") else b
        rows.append([i, r, best, b if best == a else a])
    add("chosen-rejected", "chosen.csv", delimited(rows), "ed", t)

    raters = {"reader": 0.2, "llm": 0.3}
    p, units, t = pairs_drawn(9605, 60, raters, ["plain", "styled"], "txt")
    rows = [["text_id", "left_system", "right_system", "reader", "llm"]]
    said = ("left is better", "right is better", "about the same")
    rows += [
        [i, a, b, *(worded(winner_of(t, i, a, b, r), a, said) for r in raters)] for i, a, b in units
    ]
    add("sentences", "sides.csv", delimited(rows), "reader", t)

    raters = {"Gutachterin": 0.2, "KI": 0.3}
    p, units, t = pairs_drawn(9606, 50, raters, ["Entwurf 1", "Entwurf 2"], "Aufgabe ")
    cells: list[list[Any]] = [["Aufgabe", "links", "rechts", "Gutachterin", "KI"]]
    cells += [
        [
            i,
            a,
            b,
            *(
                worded(winner_of(t, i, a, b, r), a, ("links", "rechts", "unentschieden"))
                for r in raters
            ),
        ]
        for i, a, b in units
    ]
    made.append(
        Made(
            "de-sides",
            "preferences",
            book("paare.xlsx", lambda w, c=cells: sheet(w, "Paare", c)),
            "Gutachterin",
            "preference",
            t,
        )
    )

    raters = {"human": 0.2, "judge": 0.3}
    p, units, t = pairs_drawn(9607, 60, raters, ["one", "two", "three"], "k")
    rows = [["key", "option_a", "option_b", "shown_first", "human", "judge"]]
    rows += [
        [
            i,
            a,
            b,
            p.draw.choice(["option_a", "option_b"]),
            *(worded(winner_of(t, i, a, b, r), a, ("A", "B", "C")) for r in raters),
        ]
        for i, a, b in units
    ]
    add("abc", "abc.csv", delimited(rows), "human", t)
    return made


def cases() -> list[Made]:
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
