"""A fourth set of sixty made files, of seven kinds, with the truth beside.

Written before the code was looked at, with other trades, names and layouts than the first three:
heads of two rows, attributes in German and French, sheets of raters, the columns that people keep
beside their scores.
"""

from __future__ import annotations

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
NOISE: dict[str, Callable[[random.Random], Any]] = {
    "small": lambda own: own.randint(1, 5),
    "four": lambda own: own.randint(1, 4),
    "count": lambda own: own.randint(20, 4000),
    "real": lambda own: round(own.uniform(0.2, 90), 2),
    "share": lambda own: round(own.random(), 4),
    "flag": lambda own: own.choice(["true", "false"]),
    "when": lambda own: f"2026-{own.randint(1, 9):02d}-{own.randint(1, 28):02d}T08:{own.randint(10, 59)}:00Z",
    "place": lambda own: own.choice(["Bern", "Metz", "Linz", "Nice"]),
    "said": lambda own: " ".join(own.choice(_SAID) for _ in range(own.randint(8, 16))),
}  # fmt: skip
_SAID = [
    "our",
    "boiler",
    "broke",
    "twice",
    "this",
    "winter",
    "and",
    "nobody",
    "came",
    "before",
    "the",
    "third",
    "call",
    "to",
    "repair",
    "it",
]


def engineer() -> list[Case]:
    """What a script of a service writes: keys of its own, builds, counters, two or three measures."""
    plans: list[tuple[str, str, str | None, tuple[str, ...], str, str, dict[str, str], str]] = [
        ("order_ref", "O-", "image_tag", ("v7", "v8"), "agent_lead", "llm_grader", {"trial_index": "small", "rtt": "real"}, "csv"),
        ("interaction", "I", None, (), "annotator", "sonnet_judge", {"page": "small", "block": "four"}, "csv"),
        ("incident", "INC", "prompt_version", ("p3", "p4"), "sre", "gpt_5_mini", {"fold": "small"}, "jsonl"),
        ("chunk_id", "hex", None, (), "human_score", "reranker_judge", {"upvotes": "small", "offset": "count"}, "csv"),
        ("call", "C", None, (), "coach", "eval_model", {"wave": "four", "education": "small"}, "tsv"),
        ("pr_number", "plain", "agent", ("junie", "codex"), "maintainer", "judge", {"files_changed": "small"}, "csv"),
        ("trace_id", "hex", "revision", ("a1b2", "c3d4"), "gold", "autograder", {"cost_usd": "share", "steps": "small"}, "jsonl"),
        ("email_no", "E", None, (), "supervisor", "ai_grade", {"thread_len": "small", "ts": "when"}, "csv"),
        ("answer_key", "A-", "experiment", ("base", "tuned"), "owner_rating", "llm_rating", {"gpu_s": "real", "priority": "four"}, "csv"),
    ]  # fmt: skip
    made = []
    for item, ids, system, systems, human, judge, extras, suffix in plans:
        world = World(f"4 {item}", ids_of(ids, 52), systems or (None,))
        people, machine = world.seen(0.5, share=0.85), world.seen(0.7)
        frame = table(world, item, system, {
            **{name: world.noise(NOISE[kind]) for name, kind in extras.items()},
            judge: machine, human: people, "comment": world.noise(NOISE["said"])})  # fmt: skip
        make = (
            partial(_lines, frame.to_dicts(), "out.jsonl")
            if suffix == "jsonl"
            else partial(_csv, frame, f"out.{suffix}", "\t" if suffix == "tsv" else ",")
        )
        made.append(
            Case(
                f"engineer {item} {judge}",
                "engineer",
                make,
                (human,),
                truth_of(**{human: people, judge: machine}),
                (judge,),
            )
        )
    return made


def _scored(
    world: World, raters: Sequence[str], attributes: Sequence[str]
) -> dict[tuple[str, str], dict[Unit, int]]:
    return {(r, a): world.seen(0.5 + 0.1 * at) for at, r in enumerate(raters) for a in attributes}


def _truth(scored: Mapping[tuple[str, str], Mapping[Unit, Any]]) -> Truth:
    return {key: {u: float(v) for u, v in said.items()} for key, said in scored.items()}


def _two_rows(
    item: str,
    ids: Sequence[str],
    scored: Mapping[tuple[str, str], Mapping[Unit, int]],
    first: str,
    merged: bool,
    beside: Mapping[str, Mapping[Unit, Any]],
    folder: Path,
) -> Sequence[Path]:
    """A sheet whose head has two rows: the attribute above the rater, or the rater above."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    at_top = 1 if first == "attribute" else 0
    columns = sorted(
        scored, key=lambda key: [*dict.fromkeys(k[at_top] for k in scored)].index(key[at_top])
    )
    tops = [key[at_top] for key in columns]
    once = [top if at == 0 or tops[at - 1] != top else None for at, top in enumerate(tops)]
    sheet.append([item, *([None] * len(beside)), *once])
    sheet.append([None, *beside, *(key[1 - at_top] for key in columns)])
    if merged:
        start = 2 + len(beside)
        for top in dict.fromkeys(tops):
            sheet.merge_cells(
                start_row=1, end_row=1, start_column=start, end_column=start + tops.count(top) - 1
            )
            start += tops.count(top)
        sheet.merge_cells(start_row=1, end_row=2, start_column=1, end_column=1)
    for i in ids:
        sheet.append(
            [
                i,
                *(said[i, None] for said in beside.values()),
                *(scored[key].get((i, None)) for key in columns),
            ]
        )
    book.save(folder / "Auswertung.xlsx")
    return [folder / "Auswertung.xlsx"]


def workbooks() -> list[Case]:
    """German and French workbooks: two files, sheets of raters, heads of two rows, attributes."""
    made = []
    two: list[tuple[str, str, str, str, tuple[str, ...], str]] = [
        ("Vorgang", "V", "frau_keller", "sprachmodell", ("Verständlichkeit", "Höflichkeit"), "Bemerkung"),
        ("Dossier", "D", "mme_roux", "ia", ("Clarté", "Courtoisie"), "Remarque"),
        ("Fallnummer", "F", "pruefer", "ki", ("Note",), "Ort"),
        ("Référence", "R", "lecteur", "juge_llm", ("Appréciation",), "Commentaire"),
    ]  # fmt: skip
    for item, ids, human, judge, attributes, note in two:
        names = ids_of(ids, 44)
        world = World(f"4 two {item}", names)
        scored = _scored(world, (human, judge), attributes)
        texts = world.noise(NOISE["said"])

        def files(
            folder: Path,
            item: str = item,
            who: tuple[str, str] = (human, judge),
            attributes: tuple[str, ...] = attributes,
            note: str = note,
            texts: Mapping[Unit, Any] = texts,
            names: list[str] = names,
            scored: Any = scored,
        ) -> Sequence[Path]:
            for at, rater in enumerate(who):
                order = random.Random(rater).sample(names, len(names))
                rows = [
                    {
                        "Nr." if at == 0 else "N°": n,
                        item: i,
                        note: texts[i, None],
                        **{a: scored[rater, a][i, None] for a in attributes},
                    }
                    for n, i in enumerate(order, 1)
                ]
                _book({"Tabelle1": pl.DataFrame(rows)}, f"{rater}.xlsx", folder)
            return [folder / f"{rater}.xlsx" for rater in who]

        truth = _truth(scored)
        if len(attributes) == 1:
            truth = {(r, ""): said for (r, _), said in truth.items()}
        made.append(
            Case(f"workbook two files {item}", "workbook", files, (human,), truth, (judge,))
        )
    heads = [
        ("Fall", "Frau Weber", "KI-Modell", ("Klarheit", "Einfühlung"), "attribute", True, {}),
        ("Beratung", "Experte", "GPT-4", ("Richtigkeit", "Tonfall", "Kürze"), "rater", True, {}),
        ("Entretien", "Évaluatrice", "Modèle", ("Pertinence", "Empathie"), "attribute", False, {"Durée": "count"}),
        ("Copie", "Professeure", "Correcteur IA", ("Fond", "Forme"), "rater", False, {"Classe": "four"}),
        ("Anfrage", "Sachbearbeiter", "Assistent", ("Gesamtnote",), "attribute", True, {}),
    ]  # fmt: skip
    for item, human, judge, attributes, first, merged, extras in heads:
        names = ids_of(item[0], 44)
        world = World(f"4 head {item}", names)
        scored = _scored(world, (human, judge), attributes)
        beside = {name: world.noise(NOISE[kind]) for name, kind in extras.items()}
        truth = _truth(scored)
        if len(attributes) == 1:
            truth = {(r, ""): said for (r, _), said in truth.items()}
        make = partial(_two_rows, item, names, scored, first, merged, beside)
        made.append(
            Case(f"workbook head {item} {first}", "workbook", make, (human,), truth, (judge,))
        )
    names = ids_of("G", 44)
    world = World("4 sheets", names)
    scored = _scored(world, ("Gruber", "Claude"), ("Freundlichkeit", "Vollständigkeit"))
    sheets = {
        rater: pl.DataFrame(
            [
                {
                    "Gespräch": i,
                    **{a: scored[rater, a][i, None] for a in ("Freundlichkeit", "Vollständigkeit")},
                }
                for i in names
            ]
        )
        for rater in ("Gruber", "Claude")
    }
    made.append(
        Case(
            "workbook a sheet a rater",
            "workbook",
            partial(_book, sheets, "alle.xlsx"),
            ("Gruber",),
            _truth(scored),
            ("Claude",),
        )
    )
    return made


def shapes() -> list[Case]:
    """Long, wide, half and half: attributes in heads, raters in cells, sums and means beside."""
    made = []
    names = ids_of("w", 50)
    who, about = ("tutor", "kimi-judge"), ("accuracy", "brevity")
    world = World("4 shapes", names, ("s1", "s2"))
    scored = _scored(world, who, about)
    both = _truth(scored)
    rows = [
        {"essay": i, "engine": s, "grader": r, "rubric": a, "pts": scored[r, a][i, s]}
        for (r, a) in scored
        for i, s in world.units
    ]
    world.own.shuffle(rows)
    made.append(
        Case(
            "shape long rubric",
            "shape",
            partial(_csv, pl.DataFrame(rows), "l.csv", ","),
            who[:1],
            both,
            who[1:],
        )
    )
    made.append(
        Case("shape long json", "shape", partial(_lines, rows, "l.json"), who[:1], both, who[1:])
    )
    half = pl.DataFrame(rows).pivot("rubric", index=["essay", "engine", "grader"], values="pts")
    made.append(
        Case(
            "shape attributes wide",
            "shape",
            partial(_csv, half, "h.csv", ";"),
            who[:1],
            both,
            who[1:],
        )
    )
    raters_wide = pl.DataFrame(rows).pivot(
        "grader", index=["essay", "engine", "rubric"], values="pts"
    )
    made.append(
        Case(
            "shape raters wide",
            "shape",
            partial(_csv, raters_wide, "r.csv", ","),
            who[:1],
            both,
            who[1:],
        )
    )
    for name, form in (
        ("dotted", "{r}.{a}"),
        ("bracket", "{a} ({r})"),
        ("dash", "{r} - {a}"),
        ("colon", "{a}: {r}"),
    ):
        frame = table(
            world,
            "essay",
            "engine",
            {form.format(r=r, a=a): said for (r, a), said in scored.items()},
        )
        made.append(
            Case(
                f"shape grid {name}",
                "shape",
                partial(_csv, frame, "g.csv", ","),
                who[:1],
                both,
                who[1:],
            )
        )
    flat = World("4 flat", names)
    three = {n: flat.seen(0.5) for n in ("rater_kim", "rater_lou", "rater_mia")}
    machine = flat.seen(0.6)
    mean = {u: round(sum(t[u] for t in three.values()) / 3, 2) for u in flat.units}
    spread = {
        u: max(t[u] for t in three.values()) - min(t[u] for t in three.values()) for u in flat.units
    }
    summed = table(
        flat,
        "probe",
        None,
        {
            **three,
            "rater_mean": mean,
            "rater_range": spread,
            "n_raters": flat.noise(lambda _: 3),
            "deepseek": machine,
        },
    )
    made.append(
        Case(
            "shape summaries beside",
            "shape",
            partial(_csv, summed, "s.csv", ","),
            tuple(three),
            truth_of(**three, deepseek=machine),
            ("deepseek",),
        )
    )
    turned = table(
        flat,
        "probe",
        None,
        {"tutor": three["rater_kim"], "kimi-judge": {u: 6 - v for u, v in machine.items()}},
    )
    made.append(
        Case(
            "shape reversed judge",
            "shape",
            partial(_csv, turned, "t.csv", ","),
            ("tutor",),
            truth_of(tutor=three["rater_kim"], **{"kimi-judge": machine}),
            ("kimi-judge",),
        )
    )
    return made


def languages() -> list[Case]:
    """Heads in ten languages, with attributes where the trade has them."""
    plans: list[tuple[str, str, str, str, tuple[str, ...], str, str, str]] = [
        ("Anliegen", "A", "Fachkraft", "KI", ("Sachlichkeit", "Wärme"), "Wartezeit", "count", ";"),
        ("appel", "A", "superviseur", "modèle", ("écoute", "exactitude"), "durée", "real", ";"),
        ("llamada", "L", "supervisora", "juez_ia", (), "espera", "count", ";"),
        ("chiamata", "C", "esperta", "giudice_ia", (), "pagina", "small", ";"),
        ("gesprek", "G", "deskundige", "taalmodel", ("helderheid", "toon"), "duur", "real", ";"),
        ("samtale", "S", "fagperson", "språkmodell", (), "side", "small", ";"),
        ("puhelu", "P", "arvioija", "tekoäly", (), "kesto", "count", ";"),
        ("görüşme", "G", "uzman", "yapay_zeka", (), "sayfa", "small", ";"),
        ("대화", "D", "전문가", "AI심사", (), "쪽", "small", ","),
    ]
    made = []
    for item, ids, human, judge, attributes, extra, kind, sep in plans:
        world = World(f"4 {item}", ids_of(ids, 46))
        scored = _scored(world, (human, judge), attributes or ("",))
        columns = {f"{r}_{a}" if a else r: said for (r, a), said in scored.items()}
        frame = table(world, item, None, {extra: world.noise(NOISE[kind]), **columns})
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
    """Tables in the manner of tools, with what they log beside the measure and a person's column."""
    world = World("4 exports", ids_of("run", 50))
    people, machine = world.seen(0.5), world.seen(0.6)
    unit = {u: (v - 1) / 4 for u, v in machine.items()}
    ten = {u: round(1 + (v - 1) * 9 / 4, 2) for u, v in machine.items()}
    fine = {
        u: round(min(1.0, max(0.0, v + world.own.choice((0, 0.01, -0.01)))), 2)
        for u, v in unit.items()
    }
    plans: list[tuple[str, str, dict[str, Mapping[Unit, Any]], str, str, Mapping[Unit, Any]]] = [
        ("deepeval", "test_case", {"input": world.noise(NOISE["said"]), "actual_output": world.noise(NOISE["said"]),
                                   "answer_relevancy": fine, "evaluation_cost": world.noise(NOISE["share"]), "human": people},
         "human", "answer_relevancy", {u: 1 + 4 * v for u, v in fine.items()}),
        ("trulens", "record_id", {"app_id": world.noise(lambda _: "rag"), "Groundedness": fine, "latency": world.noise(NOISE["real"]),
                                  "total_cost": world.noise(NOISE["share"]), "expert": people},
         "expert", "Groundedness", {u: 1 + 4 * v for u, v in fine.items()}),
        ("label studio", "annotation_id", {"annotator": world.noise(lambda _: "7"), "lead_time": world.noise(NOISE["real"]),
                                           "created_at": world.noise(NOISE["when"]), "rating": people, "model_prediction": machine},
         "rating", "model_prediction", machine),
        ("langfuse", "traceId", {"name": world.noise(lambda _: "chat"), "observationCount": world.noise(NOISE["small"]),
                                 "usage.total": world.noise(NOISE["count"]), "scores.helpfulness": machine, "scores.human": people},
         "scores.human", "scores.helpfulness", machine),
        ("ten steps", "conversation_id", {"agent_name": world.noise(NOISE["place"]), "csat": people, "llm_csat": ten},
         "csat", "llm_csat", machine),
        ("index left", "sample_id", {"index": {u: at for at, u in enumerate(world.units)}, "level_0": {u: at for at, u in enumerate(world.units)},
                                     "human_eval": people, "qwen_eval": machine}, "human_eval", "qwen_eval", machine),
        ("app reviews", "review_id", {"thumbsUpCount": world.noise(NOISE["small"]), "appVersion": world.noise(lambda own: own.choice(["2.1", "2.2"])),
                                      "score": people, "llm_score": machine}, "score", "llm_score", machine),
    ]  # fmt: skip
    made = []
    for name, item, columns, human, judge, said in plans:
        frame = table(world, item, None, columns)
        truth = {
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
    return made


def labels() -> list[Case]:
    """Classes in words: of people and machines, in columns, in rows, by system, several at once."""
    made = []
    sets: list[tuple[str, str, str, tuple[str, ...], dict[str, str]]] = [
        ("claim_no", "adjuster", "llm_triage", ("approve", "deny", "refer"), {"page": "small"}),
        ("Beschwerde", "Sachbearbeiterin", "KI_Klasse", ("berechtigt", "unberechtigt", "unklar"), {"Ort": "place"}),
        ("réclamation", "agent", "modele_llm", ("remboursement", "échange", "refus"), {"durée": "real"}),
        ("clip", "moderator", "vision_model", ("safe", "violence", "nudity", "hate"), {"fold": "four"}),
        ("nota", "médica", "gpt", ("urgente", "diferible", "ninguno"), {"turno": "four"}),
    ]  # fmt: skip
    for item, human, judge, words, extras in sets:
        world = World(f"4 {item}", ids_of(item[0].upper(), 54))
        said = world.noise(lambda own, words=words: own.choice(words))
        other = {
            u: w if world.own.random() < 0.8 else world.own.choice(words) for u, w in said.items()
        }
        frame = table(
            world,
            item,
            None,
            {**{n: world.noise(NOISE[k]) for n, k in extras.items()}, human: said, judge: other},
        )
        made.append(
            Case(
                f"labels {item}",
                "labels",
                partial(_csv, frame, "l.csv", ","),
                (human,),
                {(human, ""): dict(said), (judge, ""): dict(other)},
                (judge,),
            )
        )
    world = World("4 long labels", ids_of("L", 40), ("old", "new"))
    said = world.noise(lambda own: own.choice(("hit", "miss", "partial")))
    other = world.noise(lambda own: own.choice(("hit", "miss", "partial")))
    rows = [
        {"query": i, "index_version": s, "assessor": r, "relevance": labels[i, s]}
        for r, labels in (("ines", said), ("gpt-judge", other))
        for i, s in world.units
    ]
    made.append(
        Case(
            "labels long by system",
            "labels",
            partial(_csv, pl.DataFrame(rows), "q.csv", ","),
            ("ines",),
            {("ines", ""): dict(said), ("gpt-judge", ""): dict(other)},
            ("gpt-judge",),
        )
    )
    flags = World("4 flags", ids_of("Z", 60))
    yes = flags.noise(lambda own: own.choice(("ja", "nein")))
    machine = {u: w if flags.own.random() < 0.85 else "ja" for u, w in yes.items()}
    frame = table(
        flags,
        "Zeugnis",
        None,
        {"Prüferin": yes, "Sprachmodell": machine, "Seite": flags.noise(NOISE["small"])},
    )
    # Two labels in words: a first draft of this truth had them as 1 and 0, which says the same.
    made.append(
        Case(
            "labels yes and no",
            "labels",
            partial(_csv, frame, "z.csv", ";"),
            ("Prüferin",),
            {("Prüferin", ""): dict(yes), ("Sprachmodell", ""): dict(machine)},
            ("Sprachmodell",),
        )
    )
    return made


def preferences() -> list[Case]:
    """Which of two is better: by name, by side, with ties, raters in rows."""
    made = []
    plans = [
        ("dialogue", ("bot_a", "bot_b"), ("nora", "judge-llm"), "winner", "name"),
        ("Anfrage", ("Antwort A", "Antwort B"), ("Redakteurin", "Sprachmodell"), "Sieger", "name"),
        ("question_id", ("model_a", "model_b"), ("human", "gpt-5"), "winner", "model"),
        ("invite", ("candidate_1", "candidate_2"), ("recruiter", "autorater"), "preference", "name"),
        ("requête", ("modèle A", "modèle B"), ("lectrice", "juge-ia"), "gagnant", "name"),
        ("clip", ("left", "right"), ("watcher", "vlm-judge"), "choice", "side"),
        ("task", ("agent_1", "agent_2"), ("dev", "opus"), "better", "name"),
        ("summary_id", ("system_a", "system_b"), ("editor", "llm"), "label", "name"),
    ]  # fmt: skip
    for item, sides, raters, winner, form in plans:
        own = random.Random(f"4 preferences {item}")
        names = ("basil", "thyme", "sage", "dill")
        rows, truth = [], {}
        for at in range(44):
            first, second = own.sample(names, 2)
            for rater in raters:
                won = own.choice([0, 0, 1, 1, 2])
                words = {
                    "name": (first, second, "tie"),
                    "model": ("model_a", "model_b", "tie"),
                    "side": ("left", "right", "equal"),
                }[form]
                rows.append(
                    {
                        item: f"i{at}",
                        sides[0]: first,
                        sides[1]: second,
                        "voter": rater,
                        winner: words[won],
                    }
                )
                truth.setdefault((rater, ""), {})[f"i{at}", f"{first}>{second}"] = (1.0, -1.0, 0.0)[
                    won
                ]
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
