"""Sixty further made files of the seven kinds, written before the code that reads them was opened.

Totals below, notes above, codes that look like numbers, scores as "4/5", sliders, survey platforms'
three header rows, sheets by month or rater, a judge out of 100 beside stars, letters of 1251.
"""

# ruff: noqa: PLR0915, PLR0917 - rows are added one by one, as the files that are made
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
from reading_files_7 import (
    Made,
    Panel,
    book,
    delimited,
    names,
    pairs_drawn,
    sentence,
    sheet,
    stamp,
    text,
    texts,
    winner_of,
    worded,
)
from reading_files_9 import _wide

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import openpyxl

Rows = list[list[Any]]


def engineer() -> list[Made]:
    made = []

    def add(
        name: str, file: str, content: str, reference: str, t: dict[Any, Any], **more: Any
    ) -> None:
        made.append(
            Made(
                name,
                "engineer",
                text(file, content, more.pop("encoding", "utf-8")),
                reference,
                more.pop("kind", "score"),
                t,
                **more,
            )
        )

    p = Panel(10001)
    items, systems = names("Ref-", 40), ["cand-07", "cand-11"]
    t = p.scores(items, systems, {"SME": 0.5, "AutoEval": 0.7}, scale=(1, 4))
    rows: Rows = [["Ref", "Candidate", "Tokens In", "Tokens Out", "SME", "AutoEval"]]
    rows += [
        [
            i,
            s,
            p.draw.randint(1, 4),
            p.draw.randint(30, 900),
            int(t[i, s, "SME", ""]),
            int(t[i, s, "AutoEval", ""]),
        ]
        for i in items
        for s in systems
    ]
    add(
        "crlf-tsv",
        "export.tsv",
        delimited(rows, "\t").replace("\n", "\r\n"),
        "SME",
        t,
        encoding="utf-8-sig",
    )

    p = Panel(10002)
    items, systems = [f"{p.draw.getrandbits(96):024x}" for _ in range(40)], ["blue", "green"]
    t = p.scores(items, systems, {"csr_stars": 0.5})
    rows = [["turn_uuid", "deploy", "judge_pct", "csr_stars", "escalations"]]
    for i in items:
        for s in systems:
            g = round(min(100, max(0, 25 * (p.quality[i, s, ""] - 1) + p.draw.gauss(0, 12))))
            t[i, s, "judge_pct", ""] = float(g)
            rows.append([i, s, g, int(t[i, s, "csr_stars", ""]), p.draw.choice([0, 0, 0, 1, 2])])
    add("percent-judge", "turns.csv", delimited(rows), "csr_stars", t, rescaled=("judge_pct",))

    p = Panel(10003)
    items, systems = names("smp", 38), ["ppo", "dpo"]
    t = p.scores(items, systems, {"expert": 0.5, "opus": 0.7})
    rows = [["sample", "policy", "grades", "latency"]]
    rows += [
        [
            i,
            s,
            json.dumps({r: int(t[i, s, r, ""]) for r in ("expert", "opus")}),
            round(p.draw.uniform(0.2, 5), 2),
        ]
        for i in items
        for s in systems
    ]
    add("json-cell", "grades.csv", delimited(rows), "expert", t)

    p = Panel(10004)
    items, systems = names("d", 35), ["rel-a", "rel-b"]
    t = p.scores(items, systems, {"vera": 0.5, "sonnet-4": 0.7})
    lines = [json.dumps({"ts": stamp(n), "event": "rating", "subject": {"doc": i, "release": s},
                         "actor": {"kind": "model" if r == "sonnet-4" else "human", "name": r},
                         "payload": {"stars": int(v), "note": sentence(p.draw, 4)}})
             for n, ((i, s, r, _), v) in enumerate(t.items())]  # fmt: skip
    add("events-jsonl", "events.ndjson", "\n".join(lines), "vera", t)

    p = Panel(10005)
    items, systems = names("T-", 36), ["old", "new"]
    t = p.scores(items, systems, {"lead": 0.5, "bot": 0.7})
    rows = [["id", "release", "lead", "bot", "seconds"]]
    rows += [
        [i, s, int(t[i, s, "lead", ""]), int(t[i, s, "bot", ""]), p.draw.randint(2, 90)]
        for i in items
        for s in systems
    ]
    rows.append(
        [
            "TOTAL",
            "",
            *(round(sum(r[k] for r in rows[1:]) / 72, 2) for k in (2, 3)),
            sum(r[4] for r in rows[1:]),
        ]
    )
    add("totals-scsv", "release.csv", delimited(rows, ";", comma=True), "lead", t)

    made.append(
        _wide(
            "arm-numbers",
            "engineer",
            10006,
            "arms.csv",
            "stimulus_id|arm_no|llama_70b|mixtral|sme|prompt_len",
            names("st", 40),
            ["1", "2"],
            {"llama_70b": 0.7, "mixtral": 0.9, "sme": 0.5},
            "sme",
            prompt_len=lambda d, k: d.randint(20, 400),
        )
    )

    p = Panel(10007)
    items, systems = [str(k) for k in range(1, 41)], ["rag", "plain"]
    t = p.scores(items, systems, {"ed": 0.5, "ann": 0.5, "phi-4": 0.7}, scale=(1, 7))
    for k in p.draw.sample(list(t), 12):
        del t[k]
    columns: dict[str, list[Any]] = {
        c: [] for c in ("doc_key", "pipeline", "who", "grade", "doc_len")
    }
    for i in items:
        for s in systems:
            for r in ("ed", "ann", "phi-4"):
                v = t.get((i, s, r, ""))
                for c, cell in zip(
                    columns,
                    (int(i), s, r, None if v is None else int(v), int(i) * 7 % 90 + 10),
                    strict=True,
                ):
                    columns[c].append(cell)

    def categorical(folder: Path, columns: dict[str, list[Any]] = columns) -> list[str]:
        frame = pl.DataFrame(columns).cast(
            {"pipeline": pl.Categorical, "who": pl.Categorical, "grade": pl.Int8}
        )
        frame.write_parquet(folder / "panel.parquet")
        return ["panel.parquet"]

    made.append(Made("categorical-parquet", "engineer", categorical, "ed,ann", "score", t))

    p = Panel(10008)
    items, systems = [str(k) for k in range(500, 540)], ["cfg/a.yaml", "cfg/b.yaml"]
    t = p.scores(items, systems, {"manual": 0.5, "auto": 0.7}, scale=(0, 3))
    rows = [["n", "q_id", "config", "temperature", "seed", "auto", "manual"]]
    for n, (i, s) in enumerate((i, s) for s in systems for i in items):
        rows.append([n + 1, i, s, 0.7, 13, int(t[i, s, "auto", ""]), int(t[i, s, "manual", ""])])
    add("auto-manual", "sweep.csv", delimited(rows), "manual", t)

    p = Panel(10009)
    items, systems = names("CX", 40), ["stack1", "stack2"]
    t = p.scores(items, systems, {"human_rating": 0.5, "llm_rating": 0.7})
    rows = [["ticket_ref", "stack", "human_rating", "llm_rating", "n_msgs"]]
    for i in items:
        for s in systems:
            if p.draw.random() < 0.12:
                t.pop((i, s, "human_rating", ""))
            shown = t.get((i, s, "human_rating", ""))
            rows.append(
                [
                    i,
                    s,
                    p.draw.choice(["N/A", "-", ""]) if shown is None else int(shown),
                    int(t[i, s, "llm_rating", ""]),
                    p.draw.randint(1, 5),
                ]
            )
    add("pipes-na", "dump.txt", delimited(rows, "|"), "human_rating", t)

    p = Panel(10010)
    items, systems = names("q", 40), ["sysA", "sysB"]
    t = p.scores(items, systems, {"human": 0.5, "gpt-4o": 0.7})
    content = json.dumps(
        {
            r: {i: {s: int(t[i, s, r, ""]) for s in systems} for i in items}
            for r in ("human", "gpt-4o")
        }
    )
    add("keyed-by-rater", "all.json", content, "human", t)
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

    p = Panel(10101)
    items, systems = [f"2026/{k}" for k in range(301, 335)], ["P1", "P2"]
    human, judge = "Fachprüfung (Punkte)", "KI-Prüfung (Punkte)"
    t = p.scores(items, systems, {human: 0.6, judge: 0.9}, scale=(0, 10))
    table: Rows = [["Lfd. Nr.", "Schadenfall", "Prompt-Stand", human, judge, "Bearbeitungszeit"]]
    for n, (i, s) in enumerate((i, s) for i in items for s in systems):
        table.append(
            [n + 1, i, s, int(t[i, s, human, ""]), int(t[i, s, judge, ""]), p.draw.randint(1, 40)]
        )
    add("de-points", "schaeden.xlsx", lambda w, c=table: sheet(w, "Schäden", c), human, t)

    p = Panel(10102)
    items, systems = names("VG", 36), ["kurz", "lang"]
    t = p.scores(items, systems, {"Referentin": 0.5, "Assistenz": 0.7}, scale=(1, 6))

    def months(w: openpyxl.Workbook, t: Any = t, items: Any = items) -> None:
        for k, month in enumerate(("Januar", "Februar", "März")):
            sheet(
                w,
                month,
                [
                    ["Vorgangsnummer", "Variante", "Referentin", "Assistenz"],
                    *(
                        [i, s, int(t[i, s, "Referentin", ""]), int(t[i, s, "Assistenz", ""])]
                        for i in items[12 * k : 12 * k + 12]
                        for s in ("kurz", "lang")
                    ),
                ],
            )

    add("de-months", "quartal.xlsx", months, "Referentin", t)

    p = Panel(10103)
    items = names("Aufsatz ", 55, width=1)
    t = p.scores(items, [""], {"Lehrkraft": 0.9, "Sprachmodell": 1.1}, scale=(2, 12))
    t = {k: v / 2 for k, v in t.items()}
    table = [["Aufsatz", "Lehrkraft", "Sprachmodell", "Klasse"]]
    for i in items:
        if p.draw.random() < 0.1:
            t.pop((i, "", "Lehrkraft", ""))
        table.append(
            [
                i,
                *(
                    str(t[k]).replace(".", ",") if (k := (i, "", r, "")) in t else "k.A."
                    for r in ("Lehrkraft", "Sprachmodell")
                ),
                p.draw.choice(["8a", "8b"]),
            ]
        )
    add("de-commas-ka", "aufsatz.xlsx", lambda w, c=table: sheet(w, "Tabelle1", c), "Lehrkraft", t)

    p = Panel(10104)
    items, systems = names("Chat ", 30, width=1), ["Mai", "Juni"]
    t = p.scores(items, systems, {"QS": 0.5, "GPT": 0.7})
    table = [["Chat", "Modellstand", "QS", "GPT"]]
    table += [
        [i, s, int(t[i, s, "QS", ""]), int(t[i, s, "GPT", ""])] for i in items for s in systems
    ]
    table += [[], ["Legende:"], ["1 = sehr schlecht"], ["5 = sehr gut"]]
    add("de-legend", "chats.xlsx", lambda w, c=table: sheet(w, "Chats", c), "QS", t)

    p = Panel(10105)
    items, systems = names("Antwort ", 34, width=1), ["A", "B"]
    raters = ("Fr. Amsel", "Hr. Dohle", "ChatGPT")
    t = p.scores(items, systems, dict.fromkeys(raters, 0.6))
    table = [
        ["Antwort", "System", "Bewertung durch", None, None, "Länge"],
        [None, None, *raters, None],
    ]
    table += [
        [i, s, *(int(t[i, s, r, ""]) for r in raters), p.draw.randint(40, 300)]
        for i in items
        for s in systems
    ]

    def over(w: openpyxl.Workbook, c: Any = table) -> None:
        page = sheet(w, "Bewertung", c)
        for cells in ("C1:E1", "A1:A2", "B1:B2", "F1:F2"):
            page.merge_cells(cells)

    add("de-rated-by", "antworten.xlsx", over, "Fr. Amsel,Hr. Dohle", t)

    p = Panel(10106)
    items = names("Q", 40)
    t = p.scores(items, [""], {"Ute": 0.5, "Jan": 0.5, "KI": 0.7})

    def by_rater(w: openpyxl.Workbook, t: Any = t, p: Any = p, items: Any = items) -> None:
        sheet(
            w,
            "Ute",
            [
                ["Frage", "Punkte", "Bemerkung"],
                *([i, int(t[i, "", "Ute", ""]), None] for i in items),
            ],
        )
        sheet(
            w,
            "Jan",
            [
                ["Punkte", "Frage", "Datum"],
                *([int(t[i, "", "Jan", ""]), i, f"{p.draw.randint(1, 28)}.5.2026"] for i in items),
            ],
        )
        sheet(
            w,
            "KI",
            [
                ["Frage", "Begründung", "Punkte", "Tokens"],
                *(
                    [i, sentence(p.draw, 4), int(t[i, "", "KI", ""]), p.draw.randint(9, 99)]
                    for i in items
                ),
            ],
        )

    add("de-sheets-unlike", "fragen.xlsx", by_rater, "Ute,Jan", t)

    p = Panel(10107)
    items = names("Copie ", 50, width=1)
    t = p.scores(items, [""], {"Expert (sur 20)": 2.0, "IA (sur 20)": 2.4}, scale=(0, 40))
    t = {k: v / 2 for k, v in t.items()}
    table = [
        ["Campagne d'évaluation – mai 2026"],
        ["Responsable : Mme Aubry"],
        [],
        ["Copie", "Lot", "Expert (sur 20)", "IA (sur 20)", "Commentaire"],
    ]
    table += [
        [
            i,
            p.draw.randint(1, 4),
            t[i, "", "Expert (sur 20)", ""],
            t[i, "", "IA (sur 20)", ""],
            p.draw.choice([None, "à relire"]),
        ]
        for i in items
    ]
    add(
        "fr-over-twenty",
        "copies.xlsx",
        lambda w, c=table: sheet(w, "Copies", c),
        "Expert (sur 20)",
        t,
    )

    p = Panel(10108)
    items, systems = names("Sinistre ", 32, width=1), ["mars", "avril"]
    t = p.scores(items, systems, {"Gestionnaire": 0.5, "Robot": 0.7})
    table = [["Sinistre", "Édition", "Gestionnaire", "Robot", "Pièces jointes"]]
    table += [
        [i, s, int(t[i, s, "Gestionnaire", ""]), int(t[i, s, "Robot", ""]), p.draw.randint(0, 4)]
        for i in items
        for s in systems
    ]
    means = [round(sum(r[k] for r in table[1:]) / 64, 2) for k in (2, 3, 4)]
    table += [["Moyenne", None, *means], ["Écart-type", None, 1.12, 1.2, 0.9]]
    add(
        "fr-mean-and-spread",
        "sinistres.xlsx",
        lambda w, c=table: sheet(w, "Feuil1", c),
        "Gestionnaire",
        t,
    )

    p = Panel(10109)
    items, raters = names("DOS-", 28), ("Aline", "Karim", "LLM")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6), ("Clarté", "Exactitude"))
    table = [["Date", "Dossier", "Correcteur", "Critère", "Appréciation"]]
    table += [
        [f"{n % 28 + 1:02d}/05/2026", i, r, a, int(v)]
        for n, ((i, _, r, a), v) in enumerate(t.items())
    ]
    add(
        "fr-long-dates",
        "corrections.xlsx",
        lambda w, c=table: sheet(w, "Corrections", c),
        "Aline,Karim",
        t,
    )

    p = Panel(10110)
    items, systems = names("Question ", 36, width=1), ["GPT", "Mistral"]
    t = p.scores(items, systems, {"Expert": 0.5, "IA": 0.7})
    table = [["Question", *(f"{r} – {s}" for r in ("Expert", "IA") for s in systems), "Thème"]]
    table += [
        [
            i,
            *(int(t[i, s, r, ""]) for r in ("Expert", "IA") for s in systems),
            p.draw.choice(["droit", "fisc"]),
        ]
        for i in items
    ]
    add(
        "fr-dashes-wide", "questions.xlsx", lambda w, c=table: sheet(w, "Questions", c), "Expert", t
    )

    p = Panel(10111)
    items = names("avis ", 50, width=1)
    t = p.scores(items, [""], {"Relecteur": 0.9, "Modèle IA": 1.1}, scale=(2, 10))
    t = {k: v / 2 for k, v in t.items()}
    rows: Rows = [["Avis", "Relecteur", "Modèle IA", "Nb mots"]]
    for i in items:
        if p.draw.random() < 0.1:
            t.pop((i, "", "Relecteur", ""))
        rows.append(
            [
                i,
                *(t.get((i, "", r, ""), "NR") for r in ("Relecteur", "Modèle IA")),
                p.draw.randint(20, 200),
            ]
        )
    made.append(
        Made(
            "fr-nr",
            "workbook",
            text("avis.csv", delimited(rows, ";", comma=True), "cp1252"),
            "Relecteur",
            "score",
            t,
        )
    )

    p = Panel(10112)
    words = [
        "pas du tout d'accord",
        "plutôt pas d'accord",
        "neutre",
        "plutôt d'accord",
        "tout à fait d'accord",
    ]
    items = names("Énoncé ", 60, width=1)
    numbers = p.scores(items, [""], {"Panel": 0.5, "Assistant": 0.7})
    t = {k: words[int(v) - 1] for k, v in numbers.items()}
    table = [["Énoncé", "Panel", "Assistant", "Vague"]]
    table += [
        [i, t[i, "", "Panel", ""], t[i, "", "Assistant", ""], p.draw.randint(1, 3)] for i in items
    ]
    add(
        "fr-agreement", "accord.xlsx", lambda w, c=table: sheet(w, "Accord", c), "Panel", t, "words"
    )
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

    p = Panel(10201)
    items, raters, attributes = names("reply", 40), ("Ann", "GPT"), ("Clarity", "Tone", "Depth")
    t = p.scores(items, [""], {"Ann": 0.5, "GPT": 0.7}, attributes)
    rows: Rows = [["reply", *(f"{a} ({r})" for a in attributes for r in raters)]]
    rows += [[i, *(int(t[i, "", r, a]) for a in attributes for r in raters)] for i in items]
    add("brackets", "replies.csv", rows, "Ann", t)

    p = Panel(10202)
    items, systems = names("x", 24), ["m0", "m1"]
    t = p.scores(items, systems, {"liz": 0.5, "haiku": 0.7}, ("fluency", "coverage"))
    rows = [["row", "probe", "engine", "metric", "grader", "unit", "raw_value"]]
    rows += [[n, i, s, a, r, "points", int(v)] for n, ((i, s, r, a), v) in enumerate(t.items())]
    add("long-unit", "values.csv", rows, "liz", t)

    p = Panel(10203)
    items, people = [f"Q{k}_1" for k in range(3, 33)], ["R_1aB2c", "R_3dE4f", "gpt-4o"]
    t = p.scores(items, [""], dict.fromkeys(people, 0.6), scale=(1, 7))
    rows = [["StartDate", "EndDate", "Finished", "ResponseId", *items],
            ["Start Date", "End Date", "Finished", "Response ID", *(f"How good is answer {k}?" for k in items)],
            [json.dumps({"ImportId": c}) for c in ("startDate", "endDate", "finished", "_recordId", *items)]]  # fmt: skip
    rows += [
        ["2026-05-04 09:12:00", "2026-05-04 09:31:00", 1, r, *(int(t[i, "", r, ""]) for i in items)]
        for r in people
    ]
    add("qualtrics", "survey.csv", rows, "R_1aB2c,R_3dE4f", t)

    p = Panel(10204)
    items, people = names("v", 60), ["human_1", "human_2", "human_3", "human_4"]
    t = p.scores(items, [""], {**dict.fromkeys(people, 0.6), "llm_raw": 0.8})
    for i in items:
        del t[i, "", p.draw.choice(people), ""]
    mean = sum(t[i, "", "llm_raw", ""] for i in items) / 60
    spread = (sum((t[i, "", "llm_raw", ""] - mean) ** 2 for i in items) / 59) ** 0.5
    rows = [["vignette", *people, "human_mean", "llm_raw", "llm_z"]]
    for i in items:
        said = [t.get((i, "", r, "")) for r in people]
        kept = [v for v in said if v is not None]
        rows.append(
            [
                i,
                *("" if v is None else int(v) for v in said),
                round(sum(kept) / len(kept), 4),
                int(t[i, "", "llm_raw", ""]),
                round((t[i, "", "llm_raw", ""] - mean) / spread, 6),
            ]
        )
    add("z-scores", "vignettes.csv", rows, ",".join(people), t)

    p = Panel(10205)
    items = names("essay-", 26)
    t = p.scores(items, [""], {"bea": 0.5, "cyd": 0.5, "judge-llm": 0.7}, scale=(1, 6))
    rows = [["text_ref", "evaluator", "score", "score_normalised", "flag"]]
    rows += [
        [i, r, int(v), round((v - 1) / 5, 3), p.draw.choice(["", "", "late"])]
        for (i, _, r, _), v in t.items()
    ]
    add("normalised-too", "both.csv", rows, "bea,cyd", t)

    p = Panel(10206)
    items = [f"s{k} {n}" for k in range(1, 16) for n in (2, 4, 6)]
    t = p.scores(items, [""], {"coder_A": 0.5, "coder_B": 0.5, "gpt": 0.7})
    rows = [["session", "turn_no", "role", "text", "coder_A", "coder_B", "gpt"]]
    for k in range(1, 16):
        for n in range(1, 7):
            rows.append(
                [
                    f"s{k}",
                    n,
                    "assistant" if n % 2 == 0 else "user",
                    sentence(p.draw),
                    *(
                        int(t[f"s{k} {n}", "", r, ""]) if n % 2 == 0 else ""
                        for r in ("coder_A", "coder_B", "gpt")
                    ),
                ]
            )
    add("turns-half", "sessions.csv", rows, "coder_A,coder_B", t)

    p = Panel(10207)
    items = names("k", 45)
    raters = ("Rater A", "Rater B", "GPT-4o", "Claude 3.5")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6), scale=(1, 10))
    rows = [["Key ", "Rater A", " Rater B", "GPT-4o ", " Claude 3.5", "Word Count"]]
    rows += [[i, *(int(t[i, "", r, ""]) for r in raters), p.draw.randint(1, 10)] for i in items]
    add("spaces", "ratings.csv", rows, "Rater A,Rater B", t)

    p = Panel(10208)
    items, systems = names("c", 34), ["base", "tuned"]
    t = p.scores(items, systems, {"human": 0.5, "prometheus": 0.7})
    files = {
        f"{s}.jsonl": "\n".join(
            json.dumps(
                {
                    "input_id": i,
                    "generated": sentence(p.draw),
                    "human": int(t[i, s, "human", ""]),
                    "prometheus": int(t[i, s, "prometheus", ""]),
                    "n_tok": p.draw.randint(1, 5),
                }
            )
            for i in items
        )
        for s in systems
    }
    made.append(
        Made(
            "jsonl-a-system",
            "shapes",
            texts(files, ["base.jsonl", "tuned.jsonl"]),
            "human",
            "score",
            t,
        )
    )

    p = Panel(10209)
    items, systems = names("rv", 36), ["x1", "x2"]
    t = p.scores(items, systems, {"editor": 0.5, "grader": 0.7})
    rows = [["review", "build_tag", "editor", "grader"]]
    rows += [
        [i, s, *(f"{int(t[i, s, r, ''])}/5" for r in ("editor", "grader"))]
        for i in items
        for s in systems
    ]
    add("of-five", "fives.csv", rows, "editor", t)
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
        encoding: str = "utf-8",
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
            encoding=encoding,
            **{other: small},
        )

    made = [
        one("ja", 10301, "案件|モデル版|査読者|自動採点|添付数", ("査読者", "自動採点"), "添付数", ["旧", "新"], "案", encoding="utf-8-sig"),
        one("ar", 10302, "المستند|النسخة|المراجع|الآلة|المرفقات", ("المراجع", "الآلة"), "المرفقات", ["قديم", "جديد"], "م"),
        one("ru", 10303, "обращение|сборка|эксперт|нейросеть|вложения", ("эксперт", "нейросеть"), "вложения",
            ["5.1", "5.2"], "О", ";", "cp1251"),
        one("hi", 10304, "प्रश्न|संस्करण|विशेषज्ञ|मशीन|पृष्ठ", ("विशेषज्ञ", "मशीन"), "पृष्ठ", ["पुराना", "नया"], "प्र"),
        one("th", 10305, "คำถาม|รุ่น|ผู้เชี่ยวชาญ|เอไอ|หน้า", ("ผู้เชี่ยวชาญ", "เอไอ"), "หน้า", ["v1", "v2"], "ค"),
        one("pt", 10306, "chamado|fluxo|analista|robô|anexos", ("analista", "robô"), "anexos", ["padrão", "expresso"], "CH-"),
    ]  # fmt: skip

    p = Panel(10307)
    items, raters = names("文書", 30), ("田中", "佐藤", "GPT-4o")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6), ("正確さ", "丁寧さ"))
    rows: Rows = [["文書", "評価者", "観点", "点数", "所要秒"]]
    rows += [[i, r, a, int(v), p.draw.randint(1, 60)] for (i, _, r, a), v in t.items()]
    made.append(
        Made("ja-long", "heads", text("hyoka.csv", delimited(rows)), "田中,佐藤", "score", t)
    )

    p = Panel(10308)
    items, systems = names("wniosek ", 40, width=1), ["stary", "nowy"]
    t = p.scores(items, systems, {"recenzentka": 0.8, "automat": 1.0}, scale=(2, 10))
    t = {k: v / 2 for k, v in t.items()}
    rows = [["wniosek", "wariant", "recenzentka", "automat", "załączniki"]]
    rows += [
        [i, s, t[i, s, "recenzentka", ""], t[i, s, "automat", ""], p.draw.randint(0, 3)]
        for i in items
        for s in systems
    ]
    made.append(
        Made(
            "pl-commas",
            "heads",
            text("wnioski.csv", delimited(rows, ";", comma=True)),
            "recenzentka",
            "score",
            t,
        )
    )
    return made


def exports() -> list[Made]:
    made = []

    p = Panel(10401)
    items = [f"{p.draw.getrandbits(128):032x}" for _ in range(45)]
    t = p.scores(items, [""], {"ANNOTATION": 0.5, "EVAL": 0.7})
    rows: Rows = [
        [
            "id",
            "timestamp",
            "traceId",
            "observationId",
            "name",
            "value",
            "dataType",
            "source",
            "comment",
            "authorUserId",
            "configId",
        ]
    ]
    rows += [
        [
            f"s-{n}",
            stamp(n),
            i,
            "",
            "helpfulness",
            int(v),
            "NUMERIC",
            r,
            sentence(p.draw, 3),
            "user-77" if r == "ANNOTATION" else "",
            "",
        ]
        for n, ((i, _, r, _), v) in enumerate(t.items())
    ]
    made.append(
        Made(
            "langfuse-csv", "exports", text("scores.csv", delimited(rows)), "ANNOTATION", "score", t
        )
    )

    p = Panel(10402)
    items, workers = names("hit", 40), ["A1XK", "A2QP", "A3ZZ", "A9LM"]
    t = p.scores(items, [""], {**dict.fromkeys(workers, 0.6), "Input.gpt_score": 0.7})
    rows = [
        [
            "HITId",
            "AssignmentId",
            "WorkerId",
            "AssignmentStatus",
            "WorkTimeInSeconds",
            "Input.item_id",
            "Input.text",
            "Input.gpt_score",
            "Answer.rating",
        ]
    ]
    for i in items:
        off = p.draw.choice(workers)
        del t[i, "", off, ""]
        what = sentence(p.draw)
        for r in workers:
            if r != off:
                rows.append(
                    [
                        f"3{i}",
                        f"{p.draw.getrandbits(60):015X}",
                        r,
                        "Approved",
                        p.draw.randint(5, 300),
                        i,
                        what,
                        int(t[i, "", "Input.gpt_score", ""]),
                        int(t[i, "", r, ""]),
                    ]
                )
    made.append(
        Made(
            "mturk",
            "exports",
            text("Batch_5123_batch_results.csv", delimited(rows)),
            ",".join(workers),
            "score",
            t,
        )
    )

    p = Panel(10403)
    items, people = names("", 40, 1, 1), ["kim@x.org", "lee@x.org"]
    t = p.scores(items, [""], {**dict.fromkeys(people, 0.5), "gpt-4o": 0.7})

    def rated(v: float) -> list[Any]:
        return [
            {
                "from_name": "quality",
                "to_name": "text",
                "type": "rating",
                "value": {"rating": int(v)},
            }
        ]

    tasks = [
        {"id": int(i), "data": {"text": sentence(p.draw)},
         "annotations": [{"id": 9 * int(i) + n, "completed_by": {"id": n, "email": r}, "was_cancelled": False,
                          "lead_time": round(p.draw.uniform(2, 30), 2), "result": rated(t[i, "", r, ""])}
                         for n, r in enumerate(people)],
         "predictions": [{"model_version": "gpt-4o", "score": 0.9, "result": rated(t[i, "", "gpt-4o", ""])}]}
        for i in items
    ]  # fmt: skip
    made.append(
        Made(
            "labelstudio-stars",
            "exports",
            text("project-8.json", json.dumps(tasks)),
            ",".join(people),
            "score",
            t,
        )
    )

    p = Panel(10404)
    items = names("q-", 45)
    t = p.scores(items, [""], {"human_grade": 0.5, "helpfulness grader": 0.7})
    lines = [json.dumps({"object": "eval.run.output_item", "id": f"outputitem_{n}", "run_id": "evalrun_1",
                         "eval_id": "eval_1", "created_at": 1770000000 + n, "status": "pass", "datasource_item_id": n,
                         "datasource_item": {"key": i, "human_grade": int(t[i, "", "human_grade", ""])},
                         "results": [{"name": "helpfulness grader", "type": "score_model", "passed": True,
                                      "score": t[i, "", "helpfulness grader", ""]}],
                         "sample": {"model": "gpt-4o-mini", "output": [{"role": "assistant", "content": "x"}]}})
             for n, i in enumerate(items)]  # fmt: skip
    made.append(
        Made(
            "openai-human",
            "exports",
            text("items.jsonl", "\n".join(lines)),
            "human_grade",
            "score",
            t,
        )
    )

    p = Panel(10405)
    items = [f"How long does step {k} take?" for k in range(40)]
    t = p.scores(items, [""], {"Moderator": 0.5, "Copilot": 0.7})
    rows = [
        [
            "Timestamp",
            "Email Address",
            "Which reply did you read?",
            "How good is it? [Moderator]",
            "How good is it? [Copilot]",
            "Any other remarks?",
        ]
    ]
    rows += [
        [
            f"{n % 28 + 1}/05/2026 10:{n % 60:02d}:11",
            "jo@example.org",
            i,
            int(t[i, "", "Moderator", ""]),
            int(t[i, "", "Copilot", ""]),
            p.draw.choice(["", "none", "unclear"]),
        ]
        for n, i in enumerate(items)
    ]
    t = {(i, s, f"How good is it? [{r}]", a): v for (i, s, r, a), v in t.items()}
    made.append(
        Made(
            "google-form",
            "exports",
            text("Replies (Responses) - Form Responses 1.csv", delimited(rows)),
            "How good is it? [Moderator]",
            "score",
            t,
        )
    )

    p = Panel(10406)
    items, people = names("stim_", 24), ["8012345", "8012346", "gpt-4o"]
    t = p.scores(items, [""], dict.fromkeys(people, 0.6), scale=(1, 7))
    rows = [
        [
            "Event Index",
            "UTC Date",
            "Participant Private ID",
            "Participant Status",
            "Trial Number",
            "Screen Name",
            "Zone Type",
            "Response",
            "Reaction Time",
            "Spreadsheet: stimulus",
            "Spreadsheet: block",
        ]
    ]
    n = 0
    for r in people:
        order = list(items)
        p.draw.shuffle(order)
        for k, i in enumerate(order):
            n += 1
            rows.append(
                [
                    n,
                    stamp(n),
                    r,
                    "complete",
                    k + 1,
                    "rate",
                    "response_slider",
                    int(t[i, "", r, ""]),
                    round(p.draw.uniform(300, 9000), 1),
                    i,
                    k // 8 + 1,
                ]
            )
    made.append(
        Made(
            "gorilla",
            "exports",
            text("data_exp_77-v3_task-abc.csv", delimited(rows, ",")),
            "8012345,8012346",
            "score",
            t,
        )
    )

    p = Panel(10407)
    items = [f"What does clause {k} say?" for k in range(42)]
    t = p.scores(items, [""], {"expert_score": 0.25}, scale=(0, 4))
    rows = [
        [
            "user_input",
            "retrieved_contexts",
            "response",
            "reference",
            "faithfulness",
            "expert_score",
        ]
    ]
    for i in items:
        t[i, "", "expert_score", ""] /= 4
        f = round(min(1, max(0, t[i, "", "expert_score", ""] + p.draw.gauss(0, 0.15))), 4)
        t[i, "", "faithfulness", ""] = f
        rows.append(
            [
                i,
                "['a passage', 'another']",
                sentence(p.draw),
                sentence(p.draw),
                f,
                t[i, "", "expert_score", ""],
            ]
        )
    made.append(
        Made(
            "ragas-csv",
            "exports",
            text("ragas_results.csv", delimited(rows)),
            "expert_score",
            "score",
            t,
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
        labels: Sequence[Any],
        reference: str,
        n: int = 70,
        kind: str = "label",
        options: Sequence[str] = (),
        shown: Callable[[random.Random, Any], Any] = lambda d, v: v,
        **more: Callable[[random.Random, int], Any],
    ) -> None:
        p = Panel(seed)
        items = names(f"{item[:3]}-", n)
        t = p.labels(items, raters, labels)
        rows = [[item, *more, *raters]]
        for k, i in enumerate(items):
            rows.append(
                [
                    i,
                    *(f(p.draw, k) for f in more.values()),
                    *(shown(p.draw, t[i, "", r, ""]) for r in raters),
                ]
            )
        made.append(
            Made(
                name,
                "labels",
                text(f"{name}.csv", delimited(rows)),
                reference,
                kind,
                t,
                options=list(options),
            )
        )

    wide(
        "theme-numbers",
        10501,
        "interview",
        {"coder1": 0.1, "coder2": 0.1, "gpt": 0.2},
        ["1", "2", "3", "4", "9"],
        "coder1,coder2",
        options=["--kind", "label"],
        minutes=lambda d, k: d.randint(1, 9),
    )
    wide(
        "dotted-codes",
        10502,
        "excerpt",
        {"code_human": 0.1, "code_gpt": 0.2},
        ["1.1", "1.2", "2.1", "2.2", "3.1"],
        "code_human",
        page=lambda d, k: d.randint(1, 9),
    )
    wide(
        "untidy",
        10503,
        "post",
        {"mod": 0.1, "detector": 0.2},
        ["spam", "ham", "promo"],
        "mod",
        shown=lambda d, v: d.choice([v, v, v.capitalize(), f"{v} ", v.upper()]),
        upvotes=lambda d, k: d.randint(0, 9),
    )

    p = Panel(10504)
    items, tags = names("turn", 60), ["empathy", "advice", "question"]
    t, rows = {}, [["turn", "theme_coder", "theme_gpt", "minute"]]
    for i in items:
        true = {f for f in tags if p.draw.random() < 0.4} or {"advice"}
        for r, e in (("theme_coder", 0.06), ("theme_gpt", 0.12)):
            t[i, "", r, ""] = "|".join(
                sorted(f for f in tags if (f in true) != (p.draw.random() < e)) or ["advice"]
            )
        rows.append(
            [
                i,
                *("; ".join(t[i, "", r, ""].split("|")) for r in ("theme_coder", "theme_gpt")),
                p.draw.randint(1, 50),
            ]
        )
    made.append(
        Made(
            "sets-semicolons",
            "labels",
            text("themes.csv", delimited(rows)),
            "theme_coder",
            "label set",
            t,
        )
    )

    p = Panel(10505)
    items = names("com", 50)
    t = p.scores(
        items, [""], {"rita": 0.3, "sven": 0.3, "qwen": 0.4}, ("joy", "anger", "fear"), scale=(0, 1)
    )
    rows = [["comment_id", "coder", "joy", "anger", "fear", "secs"]]
    rows += [
        [i, r, *(int(t[i, "", r, a]) for a in ("joy", "anger", "fear")), p.draw.randint(2, 50)]
        for i in items
        for r in ("rita", "sven", "qwen")
    ]
    made.append(
        Made(
            "emotions-long",
            "labels",
            text("emotions.csv", delimited(rows)),
            "rita,sven",
            "score",
            t,
        )
    )

    p = Panel(10506)
    items = names("Antrag ", 65, width=1)
    t = p.labels(items, {"Sachbearbeiter": 0.1, "KI-Vorschlag": 0.2}, ["ja", "nein", "unklar"])
    table: Rows = [["Antrag", "Sachbearbeiter", "KI-Vorschlag", "Referat"]]
    table += [
        [
            i,
            t[i, "", "Sachbearbeiter", ""],
            t[i, "", "KI-Vorschlag", ""],
            p.draw.choice(["R1", "R2"]),
        ]
        for i in items
    ]
    made.append(
        Made(
            "de-yes-no",
            "labels",
            book("antraege.xlsx", lambda w, c=table: sheet(w, "Anträge", c)),
            "Sachbearbeiter",
            "label",
            t,
        )
    )

    p = Panel(10507)
    items = names("m", 50)
    t = p.labels(
        items, {"alba": 0.1, "finn": 0.1, "deepseek": 0.2}, ["support", "deny", "query", "comment"]
    )
    lines = [
        json.dumps(
            {
                "tweet": i,
                "annotator": r,
                "annotator_type": "llm" if r == "deepseek" else "human",
                "stance": v,
                "certainty": p.draw.randint(1, 5),
                "ms": p.draw.randint(500, 9000),
            }
        )
        for (i, _, r, _), v in t.items()
    ]
    made.append(
        Made(
            "stance-long", "labels", text("stance.jsonl", "\n".join(lines)), "alba,finn", "label", t
        )
    )
    return made


def compared() -> list[Made]:
    made = []

    def add(name: str, file: str, content: str, reference: str, t: Any) -> None:
        made.append(Made(name, "preferences", text(file, content), reference, "preference", t))

    raters = {"human_pref": 0.2, "llm_pref": 0.3}
    p, units, t = pairs_drawn(10601, 60, raters, ["nova", "vega", "lyra"], "pr")
    rows: Rows = [["prompt_no", "model_left", "model_right", "human_pref", "llm_pref"]]
    rows += [
        [
            i,
            a,
            b,
            *(
                worded(
                    winner_of(t, i, a, b, r), a, (-p.draw.randint(1, 2), p.draw.randint(1, 2), 0)
                )
                for r in raters
            ),
        ]
        for i, a, b in units
    ]
    add("slider", "sliders.csv", delimited(rows), "human_pref", t)

    raters = {"preferred_by_human": 0.2, "preferred_by_judge": 0.3}
    p, units, t = pairs_drawn(10602, 60, raters, ["GPT-4o", "Claude"], "w")
    rows = [["prompt", "preferred_by_human", "preferred_by_judge", "n_turns"]]
    rows += [
        [i, *(winner_of(t, i, a, b, r) for r in raters), p.draw.randint(1, 4)] for i, a, b in units
    ]
    add("fixed-pair", "winners.csv", delimited(rows), "preferred_by_human", t)

    raters = {"author_2": 0.2, "expert_7": 0.2, "gpt4_pair": 0.3}
    p, units, t = pairs_drawn(10603, 50, raters, ["alpaca-13b", "llama-13b", "vicuna-13b"], "")
    lines = [json.dumps({"question_id": int(i), "model_a": a, "model_b": b,
                         "winner": worded(winner_of(t, i, a, b, r), a, ("model_a", "model_b", "tie")), "judge": r,
                         "turn": 1, "tstamp": 1.77e9 + n, "conversation_a": [{"role": "user", "content": "hi"}]})
             for n, ((i, a, b), r) in enumerate((u, r) for u in units for r in raters)]  # fmt: skip
    t = {(str(int(i)), s, r, a): v for (i, s, r, a), v in t.items()}
    add("mt-bench", "human_judgments.jsonl", "\n".join(lines), "author_2,expert_7", t)

    raters = {"better_response_id": 0.2, "gpt_better_id": 0.3}
    p, units, t = pairs_drawn(10604, 60, raters, ["rlhf", "sft"], "prompt ")
    for key, v in list(t.items()):
        if v == "tie":
            t[key] = key[1].split("|")[0]
    lines = [json.dumps({"prompt": i, "response_0": sentence(p.draw), "response_1": sentence(p.draw),
                         "response_0_source": a, "response_1_source": b,
                         **{r: worded(winner_of(t, i, a, b, r), a, (0, 1, 2)) for r in raters}}) for i, a, b in units]  # fmt: skip
    add("safe-rlhf", "train.jsonl", "\n".join(lines), "better_response_id", t)

    raters = {"Choix experte": 0.2, "Choix IA": 0.3}
    p, units, t = pairs_drawn(10605, 50, raters, ["Maison", "Externe", "Libre"], "Phrase ")
    rows = [["Phrase", "Système 1", "Système 2", "Choix experte", "Choix IA"]]
    rows += [
        [i, a, b, *(worded(winner_of(t, i, a, b, r), a, ("1", "2", "=")) for r in raters)]
        for i, a, b in units
    ]
    add("fr-one-two-equal", "choix.csv", delimited(rows, ";"), "Choix experte", t)

    raters = {"human": 0.2, "referee": 0.3}
    p, units, t = pairs_drawn(10606, 60, raters, ["ours", "gpt", "gemini"], "i")
    rows = [["instr", "candidate", "baseline", "human", "referee", "tok_diff"]]
    rows += [
        [
            i,
            a,
            b,
            *(worded(winner_of(t, i, a, b, r), a, ("win", "loss", "draw")) for r in raters),
            p.draw.randint(-90, 90),
        ]
        for i, a, b in units
    ]
    add("win-loss", "duels.csv", delimited(rows), "human", t)

    raters = {"mona": 0.2, "autorater": 0.3}
    p, units, t = pairs_drawn(10607, 56, raters, ["u1", "u2", "u3"], "ex")
    rows = [["example", "rater", "shown_first", "shown_second", "verdict"]]
    for i, a, b in units:
        for r in raters:
            one, two = p.draw.sample([a, b], 2)
            rows.append(
                [
                    i,
                    r,
                    one,
                    two,
                    worded(winner_of(t, i, a, b, r), one, ("first", "second", "equal")),
                ]
            )
    add("shown-first", "shown.csv", delimited(rows), "mona", t)
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
