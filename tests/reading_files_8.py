"""Thirty further made files of the seven kinds, in other shapes, written when those of the seventh
set were read: times beside people's scores, records keyed by item and system, remarks above and
below, raters in rows and attributes in columns, indexes of pandas, tables of experiment trackers.
"""

# ruff: noqa: PERF401 - rows are added one by one, as the files that are made
from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from reading_files_7 import (
    Made,
    Panel,
    book,
    delimited,
    names,
    parquet,
    sentence,
    sheet,
    stamp,
    text,
    texts,
)

if TYPE_CHECKING:
    import openpyxl


def engineer() -> list[Made]:
    """A row an answer, as programs write it."""
    made = []

    p = Panel(8001)
    items, systems = names("kb/how-to-", 34), ["control", "treatment"]
    t = p.scores(items, systems, {"human_overall": 0.5, "llm_overall": 0.7})
    rows: list[list[Any]] = [
        [
            "slug",
            "arm",
            "answer",
            "human_overall",
            "human_overall_secs",
            "llm_overall",
            "llm_overall_tokens",
        ]
    ]
    for i in items:
        for s in systems:
            rows.append(
                [
                    i,
                    s,
                    sentence(p.draw) + "\n" + sentence(p.draw),
                    int(t[i, s, "human_overall", ""]),
                    p.draw.randint(4, 90),
                    int(t[i, s, "llm_overall", ""]),
                    p.draw.randint(50, 400),
                ]
            )
    made.append(
        Made("arms-csv", "engineer", text("arms.csv", delimited(rows)), "human_overall", "score", t)
    )

    p = Panel(8002)
    items, systems = names("case", 40), ["v1", "v2"]
    t = p.scores(items, systems, {"human": 0.5, "llm": 0.7})
    record = {
        i: {s: {r: int(t[i, s, r, ""]) for r in ("human", "llm")} for s in systems} for i in items
    }
    made.append(
        Made("keyed-json", "engineer", text("keyed.json", json.dumps(record)), "human", "score", t)
    )

    p = Panel(8003)
    items = [f"{p.draw.getrandbits(64):016x}" for _ in range(30)]
    t = p.scores(
        items, ["alpha", "beta"], {"mia": 0.6, "tom": 0.7, "claude-sonnet": 0.8}, scale=(0, 4)
    )
    start = datetime(2026, 5, 4, 9, tzinfo=UTC)
    columns: dict[str, list[Any]] = {
        c: [] for c in ("task", "candidate", "sampled_at", "reviewer", "verdict_score", "is_golden")
    }
    for n, ((i, s, r, _), v) in enumerate(t.items()):
        row = (i, s, start + timedelta(seconds=41 * n), r, int(v), p.draw.random() < 0.2)
        for c, cell in zip(columns, row, strict=True):
            columns[c].append(cell)
    made.append(
        Made(
            "reviewers-parquet",
            "engineer",
            parquet("reviews.parquet", columns),
            "mia,tom",
            "score",
            t,
        )
    )

    p = Panel(8004)
    items, systems = [str(k) for k in range(2001, 2041)], ["dev", "main"]
    t = p.scores(items, systems, {"score_h": 0.5, "score_m": 0.7}, scale=(1, 7))
    rows = [["id", "git_branch", "score_h", "score_m", "page"]]
    rows += [
        [i, s, int(t[i, s, "score_h", ""]), int(t[i, s, "score_m", ""]), int(i) % 9 + 1]
        for i in items
        for s in systems
    ]
    made.append(
        Made(
            "remarks-tsv",
            "engineer",
            text("dump.tsv", "# exported by dumper 2.1\n# do not edit\n" + delimited(rows, "\t")),
            "score_h",
            "score",
            t,
        )
    )

    p = Panel(8005)
    items = names("req", 36)
    t = p.scores(items, [""], {"human": 0.5, "grade": 0.7})
    judged = [
        json.dumps(
            {
                "request": i,
                "text": sentence(p.draw),
                "grade": int(t[i, "", "grade", ""]),
                "ms": p.draw.randint(100, 900),
            }
        )
        for i in items
    ]
    people = [["ticket", "human", "minutes"]]
    people += [[i, int(t[i, "", "human", ""]), p.draw.randint(1, 20)] for i in items]  # type: ignore[list-item]
    made.append(
        Made(
            "joined-jsonl",
            "engineer",
            texts(
                {"judged.jsonl": "\n".join(judged), "people.csv": delimited(people)},
                ["judged.jsonl"],
            ),
            "",
            "score",
            t,
            options=["--human", "people.csv", "--key", "ticket=request"],
            own_names=True,
        )
    )
    return made


def workbooks() -> list[Made]:
    """German and French sheets with more than a table in them."""
    made = []

    p = Panel(8101)
    items, systems = names("Vorgang ", 30, width=1), ["Altsystem", "Neusystem"]
    t = p.scores(items, systems, {"Prüferin": 0.5, "Automatische Note": 0.7}, scale=(1, 6))
    cells: list[list[Any]] = [["Vorgang", "Variante", "Prüferin", "Automatische Note", "Seite"]]
    for i in items:
        for s in systems:
            cells.append(
                [
                    i,
                    s,
                    int(t[i, s, "Prüferin", ""]),
                    int(t[i, s, "Automatische Note", ""]),
                    p.draw.randint(1, 9),
                ]
            )
    means = [sum(row[k] for row in cells[1:]) / (len(cells) - 1) for k in (2, 3)]
    below = [[None] * 5, ["Mittelwert", None, round(means[0], 2), round(means[1], 2), None]]
    made.append(
        Made(
            "de-means-below",
            "workbook",
            book("noten.xlsx", lambda w, c=cells + below: sheet(w, "Noten", c)),  # type: ignore[misc]
            "Prüferin",
            "score",
            t,
        )
    )

    p = Panel(8102)
    items = names("Dossier ", 28, width=1)
    t = p.scores(items, [""], {"Claire": 0.5, "Hugo": 0.6, "Mistral": 0.7}, scale=(0, 10))
    for i in p.draw.sample(items, 6):
        del t[i, "", "Hugo", ""]

    def of_raters(w: openpyxl.Workbook, t: Any = t, p: Any = p, items: Any = items) -> None:
        for r in ("Claire", "Hugo", "Mistral"):
            own = [i for i in items if (i, "", r, "") in t]
            p.draw.shuffle(own)
            page: list[list[Any]] = [["Dossier", "Note", "Remarque"]]
            page += [[i, int(t[i, "", r, ""]), None] for i in own]
            sheet(w, r, page)

    made.append(
        Made(
            "fr-sheets-shuffled",
            "workbook",
            book("trois.xlsx", of_raters),
            "Claire,Hugo",
            "score",
            t,
        )
    )

    p = Panel(8103)
    items, raters = [str(k) for k in range(501, 536)], ("Prüfer 1", "Prüfer 2", "KI")
    attributes = ("Verständlichkeit", "Höflichkeit")
    t = p.scores(items, [""], dict.fromkeys(raters, 0.6), attributes)

    def two_rows(w: openpyxl.Workbook, t: Any = t, items: Any = items) -> None:
        page: list[list[Any]] = [
            ["Brief-Nr.", attributes[0], None, None, attributes[1], None, None],
            [None, *raters, *raters],
        ]
        page += [
            [int(i), *(int(t[i, "", r, a]) for a in attributes for r in raters)] for i in items
        ]
        made_page = sheet(w, "Briefe", page)
        made_page.merge_cells("B1:D1")
        made_page.merge_cells("E1:G1")

    made.append(
        Made(
            "de-attributes-above",
            "workbook",
            book("briefe.xlsx", two_rows),
            "Prüfer 1,Prüfer 2",
            "score",
            t,
        )
    )

    p = Panel(8104)
    words = ["Mauvais", "Moyen", "Bon", "Excellent"]
    items = names("texte", 32)
    numbers = p.scores(items, [""], {"Sophie": 0.4, "Assistant IA": 0.6}, scale=(1, 4))
    t = {k: words[int(v) - 1] for k, v in numbers.items()}  # type: ignore[misc]
    cells = [["Texte", "Évaluateur", "Avis", "Durée"]]
    cells += [[i, r, v, p.draw.randint(10, 90)] for (i, _, r, _), v in t.items()]
    made.append(
        Made(
            "fr-long-words",
            "workbook",
            book("avis.xlsx", lambda w, c=cells: sheet(w, "Avis", c)),  # type: ignore[misc]
            "Sophie",
            "words",
            t,
        )
    )

    p = Panel(8105)
    items, systems = names("A", 33), ["2025.4", "2026.1"]
    halves = p.scores(items, systems, {"Gutachter": 0.8, "Modell": 1.0}, scale=(2, 10))
    t = {k: v / 2 for k, v in halves.items() if p.draw.random() > 0.08 or k[2] == "Gutachter"}
    cells = [["Antwort", "Release", "Gutachter", "Modell", "Zeichen"]]
    for i in items:
        for s in systems:
            shown = [
                f"{t[k]:.1f}".replace(".", ",") if (k := (i, s, r, "")) in t else "k. A."
                for r in ("Gutachter", "Modell")
            ]
            cells.append([i, s, *shown, p.draw.randint(100, 900)])
    made.append(
        Made(
            "de-no-answer",
            "workbook",
            book("gutachten.xlsx", lambda w, c=cells: sheet(w, "Tabelle1", c)),  # type: ignore[misc]
            "Gutachter",
            "score",
            t,
        )
    )
    return made


def shapes() -> list[Made]:
    """Long and wide."""
    made = []

    p = Panel(8201)
    items = names("s", 24)
    t = p.scores(items, [""], {"ada": 0.5, "lin": 0.6, "qwen-72b": 0.7})
    rows: list[list[Any]] = [["snippet", "grader", "mark", "minutes", "wave"]]
    rows += [
        [i, r, int(v), p.draw.randint(1, 9), p.draw.randint(1, 3)] for (i, _, r, _), v in t.items()
    ]
    made.append(
        Made("long-marks", "shapes", text("marks.csv", delimited(rows)), "ada,lin", "score", t)
    )

    p = Panel(8202)
    items = names("dlg", 26)
    t = p.scores(
        items, [""], {"Psy1": 0.5, "Psy2": 0.5, "Bot": 0.7}, ("Empathie", "Struktur", "Ziel")
    )
    rows = [["gespraech", "aspekt", "Psy1", "Psy2", "Bot", "woche"]]
    rows += [
        [i, a, *(int(t[i, "", r, a]) for r in ("Psy1", "Psy2", "Bot")), int(i[3:]) % 4 + 1]
        for i in items
        for a in ("Empathie", "Struktur", "Ziel")
    ]
    made.append(
        Made(
            "aspects-in-rows",
            "shapes",
            text("aspekte.csv", delimited(rows, ";")),
            "Psy1,Psy2",
            "score",
            t,
        )
    )

    p = Panel(8203)
    items = names("rev", 45)
    t = p.scores(items, [""], {"rater1": 0.5, "rater2": 0.5, "gpt": 0.7}, scale=(1, 10))
    rows = [
        [
            "review",
            "rater1_score",
            "rater1_comment",
            "rater2_score",
            "rater2_comment",
            "gpt_score",
            "gpt_comment",
            "stars",
        ]
    ]
    rows += [
        [
            i,
            *(
                c
                for r in ("rater1", "rater2", "gpt")
                for c in (int(t[i, "", r, ""]), sentence(p.draw, 4))
            ),
            p.draw.randint(1, 5),
        ]
        for i in items
    ]
    made.append(
        Made(
            "scores-and-comments",
            "shapes",
            text("reviews.csv", delimited(rows)),
            "rater1,rater2",
            "score",
            t,
        )
    )

    p = Panel(8204)
    items = [str(k) for k in range(1, 41)]
    t = p.scores(items, [""], {"Ines": 0.5, "Raul": 0.6, "gemma2": 0.7}, ("fluency", "adequacy"))
    rows = [["text_no", "judge_name", "fluency", "adequacy", "minutes"]]
    rows += [
        [i, r, *(int(t[i, "", r, a]) for a in ("fluency", "adequacy")), p.draw.randint(1, 30)]
        for i in items
        for r in ("Ines", "Raul", "gemma2")
    ]
    made.append(
        Made(
            "raters-in-rows", "shapes", text("texts.csv", delimited(rows)), "Ines,Raul", "score", t
        )
    )

    p = Panel(8205)
    items, systems = names("prompt-", 31), ["temp0", "temp1"]
    t = p.scores(items, systems, {"gold": 0.4, "scorer_llm": 0.7})
    rows = [["", "Unnamed: 0", "prompt_key", "setting", "gold", "scorer_llm"]]
    for n, (i, s) in enumerate((i, s) for i in items for s in systems):
        rows.append([n, n, i, s, int(t[i, s, "gold", ""]), int(t[i, s, "scorer_llm", ""])])
    made.append(
        Made("pandas-index", "shapes", text("frame.csv", delimited(rows)), "gold", "score", t)
    )
    return made


HEADS = {
    "ro": ("dosar", "versiune", "evaluator uman", "model de limbă", "pagina"),
    "cs": ("případ", "vydání", "člověk", "jazykový model", "strana"),
    "ja": ("問い合わせ", "リリース", "担当者", "言語モデル", "ページ"),
    "id": ("kasus", "rilis", "manusia", "model bahasa", "halaman"),
}


def languages() -> list[Made]:
    """Headers of other languages, wide and long."""
    made = []
    for n, (language, heads) in enumerate(HEADS.items()):
        p = Panel(8300 + n)
        items, systems = (
            names(f"{language.upper()}/", 32),
            ["3.0", "3.1"] if n < 2 else ["biru", "hijau"],
        )
        human, judge = heads[2], heads[3]
        t = p.scores(items, systems, {human: 0.5, judge: 0.7}, scale=(0, 3 + n))
        rows: list[list[Any]] = [[heads[4], heads[3], heads[2], heads[0], heads[1]]]
        for k, i in enumerate(items):
            rows += [
                [k // 5 + 1, int(t[i, s, judge, ""]), int(t[i, s, human, ""]), i, s]
                for s in systems
            ]
        encoding = "utf-16" if language == "ja" else "utf-8"
        made.append(
            Made(
                f"heads-{language}",
                "languages",
                text(f"{language}.csv", delimited(rows, "\t" if n == 2 else ","), encoding),
                human,
                "score",
                t,
            )
        )
    return made


def exports() -> list[Made]:
    """Tables of other tools, with a person's column."""
    made = []

    p = Panel(8401)
    items = names("", 40, start=100)
    t = p.scores(items, [""], {"human": 0.5, "judge": 0.7}, ("helpfulness", "safety"))
    rows: list[list[Any]] = [
        [
            "_step",
            "_timestamp",
            "example",
            "prompt",
            "completion",
            "judge/helpfulness",
            "judge/safety",
            "human/helpfulness",
            "human/safety",
            "loss",
        ]
    ]
    rows += [
        [
            n,
            1.77e9 + n * 3.5,
            i,
            sentence(p.draw),
            sentence(p.draw),
            *(int(t[i, "", r, a]) for r in ("judge", "human") for a in ("helpfulness", "safety")),
            round(p.draw.random(), 4),
        ]
        for n, i in enumerate(items)
    ]
    made.append(
        Made(
            "tracker-table",
            "exports",
            text("wandb_export.csv", delimited(rows)),
            "human",
            "score",
            t,
        )
    )

    p = Panel(8402)
    items = names("Row ", 42, width=1)
    t = p.scores(items, [""], {"Human score": 0.5, "AI score": 0.7})
    rows = [
        ["Name", "Assignee", "Status", "AI score", "Human score", "Last modified", "Attachments"]
    ]
    rows += [
        [
            i,
            p.draw.choice(["Kim", "Lou"]),
            "Done",
            int(t[i, "", "AI score", ""]),
            int(t[i, "", "Human score", ""]),
            stamp(n),
            "",
        ]
        for n, i in enumerate(items)
    ]
    made.append(
        Made(
            "airtable",
            "exports",
            text("Grid view.csv", delimited(rows), "utf-8-sig"),
            "Human score",
            "score",
            t,
        )
    )

    p = Panel(8403)
    items = [f"When is {k} due?" for k in range(38)]
    t = p.scores(items, [""], {"human_score": 0.5}, scale=(0, 4))
    lines = []
    for i in items:
        t[i, "", "human_score", ""] /= 4
        f = round(min(1, max(0, t[i, "", "human_score", ""] + p.draw.gauss(0, 0.1))), 4)
        t[i, "", "answer_relevancy", ""] = f
        lines.append(
            json.dumps(
                {
                    "user_input": i,
                    "retrieved_contexts": ["a passage"],
                    "response": sentence(p.draw),
                    "answer_relevancy": f,
                    "human_score": t[i, "", "human_score", ""],
                }
            )
        )
    made.append(
        Made(
            "ragas-lines",
            "exports",
            text("ragas.jsonl", "\n".join(lines)),
            "human_score",
            "score",
            t,
        )
    )

    p = Panel(8404)
    items = [f"Text number {k} about a refund." for k in range(50)]
    t = p.labels(items, {"jo": 0.1, "sam": 0.15, "gpt-4o": 0.25}, ["BILLING", "SHIPPING", "OTHER"])
    lines = [
        json.dumps({"text": i, "_input_hash": 7000 + items.index(i), "_task_hash": n, "accept": [v], "answer": "accept",
                    "options": [{"id": x, "text": x} for x in ("BILLING", "SHIPPING", "OTHER")],
                    "_view_id": "choice", "_annotator_id": f"tickets-{r}", "_session_id": f"tickets-{r}"})
        for n, ((i, _, r, _), v) in enumerate(t.items())
    ]  # fmt: skip
    t = {(i, s, f"tickets-{r}", a): v for (i, s, r, a), v in t.items()}
    made.append(
        Made(
            "prodigy-sessions",
            "exports",
            text("tickets.jsonl", "\n".join(lines)),
            "tickets-jo,tickets-sam",
            "label",
            t,
        )
    )
    return made


def labelled() -> list[Made]:
    """Labels."""
    made = []

    p = Panel(8501)
    items = names("Fall-", 64)
    t = p.labels(
        items,
        {"Kern": 0.1, "Vogt": 0.15, "Sprachmodell": 0.25},
        ["dringend", "normal", "kann warten"],
    )
    rows: list[list[Any]] = [["Fall", "Bearbeiter", "Stufe", "Dauer"]]
    rows += [[i, r, v, p.draw.randint(1, 60)] for (i, _, r, _), v in t.items()]
    made.append(
        Made(
            "de-long-labels",
            "labels",
            text("stufen.csv", delimited(rows, ";")),
            "Kern,Vogt",
            "label",
            t,
        )
    )

    p = Panel(8502)
    items = names("h", 75)
    t = p.labels(items, {"md1": 0.1, "md2": 0.1, "bert": 0.2}, ["P", "N", "U"])
    rows = [["hadm", "md1", "md2", "bert", "unit", "sex"]]
    rows += [
        [
            i,
            *(t[i, "", r, ""] for r in ("md1", "md2", "bert")),
            p.draw.choice(["ICU", "ER"]),
            p.draw.choice("FM"),
        ]
        for i in items
    ]
    made.append(
        Made("letters", "labels", text("notes.csv", delimited(rows)), "md1,md2", "label", t)
    )

    p = Panel(8503)
    items, topics = names("n", 60), ["sport", "politics", "culture", "money"]
    t, lines = {}, []
    for i in items:
        true = {x for x in topics if p.draw.random() < 0.4} or {"sport"}
        row: dict[str, Any] = {"id": i}
        for r, e in (("editor", 0.05), ("tagger", 0.15)):
            got = sorted(x for x in topics if (x in true) != (p.draw.random() < e)) or ["sport"]
            t[i, "", r, ""] = "|".join(got)
            row[r] = got
        row["words"] = p.draw.randint(90, 900)
        lines.append(json.dumps(row))
    made.append(
        Made(
            "sets-jsonl", "labels", text("topics.jsonl", "\n".join(lines)), "editor", "label set", t
        )
    )

    p = Panel(8504)
    items = names("call", 66)
    t = p.labels(items, {"supervisor": 0.1, "asr_model": 0.2}, ["resolved", "not resolved"])
    rows = [["call", "supervisor", "asr_model", "queue", "hold_secs", "repeat_caller"]]
    rows += [
        [
            i,
            t[i, "", "supervisor", ""].capitalize(),
            t[i, "", "asr_model", ""],
            p.draw.choice(["a1", "b2"]),
            p.draw.randint(0, 300),
            p.draw.choice(["yes", "no"]),
        ]
        for i in items
    ]
    made.append(
        Made(
            "cases-of-letters",
            "labels",
            text("calls.csv", delimited(rows)),
            "supervisor",
            "label",
            t,
        )
    )
    return made


def compared() -> list[Made]:
    """Comparisons."""
    made = []

    def pairs(seed: int, n: int, raters: dict[str, float], systems: list[str], prefix: str) -> Any:
        p, units, t = Panel(seed), [], {}
        for i in names(prefix, n):
            a, b = p.draw.sample(systems, 2)
            units.append((i, a, b))
            true = p.draw.choice([a, b, a, b, "tie"])
            for r, e in raters.items():
                said = p.draw.choice([a, b, "tie"]) if p.draw.random() < e else true
                t[i, "|".join(sorted((a, b))), r, ""] = said
        return p, units, t

    p, units, t = pairs(8601, 55, {"u1": 0.2, "gpt-4-turbo": 0.3}, ["kiwi", "plum", "fig"], "m")
    rows: list[list[Any]] = [["match", "first_model", "second_model", "voter", "preferred"]]
    for i, a, b in units:
        rows += [[i, a, b, r, t[i, "|".join(sorted((a, b))), r, ""]] for r in ("u1", "gpt-4-turbo")]  # type: ignore[list-item]
    made.append(
        Made("voters", "preferences", text("votes.csv", delimited(rows)), "u1", "preference", t)
    )

    p, units, t = pairs(8602, 60, {"reader": 0.2, "llm": 0.3}, ["A0", "B0"], "x")
    rows = [["pair_no", "sys_left", "sys_right", "reader", "llm", "minutes", "topic"]]
    for i, a, b in units:
        said = [t[i, "|".join(sorted((a, b))), r, ""] for r in ("reader", "llm")]
        rows.append(
            [
                i,
                a,
                b,
                *("=" if v == "tie" else ">" if v == a else "<" for v in said),
                p.draw.randint(1, 9),
                p.draw.choice(["x", "y"]),
            ]
        )
    made.append(
        Made("signs", "preferences", text("signs.csv", delimited(rows)), "reader", "preference", t)
    )

    p, units, t = pairs(
        8603, 48, {"Traductrice": 0.2, "Juge IA": 0.3}, ["DeepL", "Interne"], "Phrase "
    )
    cells: list[list[Any]] = [
        ["Phrase", "Système gauche", "Système droite", "Traductrice", "Juge IA"]
    ]
    for i, a, b in units:
        said = [t[i, "|".join(sorted((a, b))), r, ""] for r in ("Traductrice", "Juge IA")]
        cells.append(
            [
                i,
                a,
                b,
                *("égalité" if v == "tie" else "gauche" if v == a else "droite" for v in said),
            ]
        )
    made.append(
        Made(
            "fr-pairs",
            "preferences",
            book("phrases.xlsx", lambda w, c=cells: sheet(w, "Comparaisons", c)),  # type: ignore[misc]
            "Traductrice",
            "preference",
            t,
        )
    )
    return made


def cases() -> list[Made]:
    """All thirty, in a fixed order."""
    return [
        *engineer(),
        *workbooks(),
        *shapes(),
        *languages(),
        *exports(),
        *labelled(),
        *compared(),
    ]
