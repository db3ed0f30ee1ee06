"""Every question that a file can raise: what it proposes works when it is copied, at a shell and in
Python, and no question is without a file here that raises it.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from command_line import typed

import voirdire
from voirdire import QuestionError, ReadOptions
from voirdire.cli.columns import read_options
from voirdire.examining import audit_source
from voirdire.tables import write_xlsx

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = Path(voirdire.__file__).parent / "tables"
FOREIGN = Path(__file__).parent / "foreign"
OWN = random.Random(11)
TRUTH = [OWN.uniform(1, 5) for _ in range(40)]


def _levels(noise: float = 0.6) -> list[int]:
    return [min(5, max(1, round(t + OWN.gauss(0, noise)))) for t in TRUTH]


IDS = [f"q{at}" for at in range(40)]
HUMAN, JUDGE = _levels(), _levels()
WORDS = ["billing", "refund", "login", "other"] * 10
SHIFTED = [WORDS[at - (at % 5 == 0)] for at in range(40)]
SETS = ["calm; tense", "calm", "tense", "calm;flat", "flat"] * 7 + ["calm", "", "flat", "tense", ""]


def _wide(folder: Path, **columns: list[Any]) -> Path:
    path = folder / "r.csv"
    pl.DataFrame({"item": IDS, **columns}, strict=False).write_csv(path)
    return path


def _long(folder: Path, header: str, rows: list[tuple[Any, ...]]) -> Path:
    path = folder / "r.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def _both(*more: str) -> list[tuple[Any, ...]]:
    return [
        (item, rater, score, *more)
        for rater, scores in (("human", HUMAN), ("judge", JUDGE))
        for item, score in zip(IDS, scores, strict=True)
    ]


def _reversed(folder: Path) -> list[object]:
    return [_wide(folder, human=HUMAN, judge=[6 - j for j in JUDGE]), "human"]


def _several_scores(folder: Path) -> list[object]:
    rows = [(*row, OWN.randint(0, 10)) for row in _both()]
    return [_long(folder, "ticket,who,strength,force", rows), "human"]


def _measured_or_judged(folder: Path) -> list[object]:
    rows = [(i, r, s, 6 - s) for i, r, s in _both()]
    return [_long(folder, "ticket,who,tone,length", rows), "human"]


def _attribute_or_system(folder: Path) -> list[object]:
    rows = [
        (f"t{at // 4}", ["plain", "sweet"][at % 2], ["dark", "light"][at // 2 % 2], who, s[at])
        for who, s in (("human", HUMAN), ("judge", JUDGE))
        for at in range(40)
    ]
    return [_long(folder, "ticket,flavour,shade,who,strength", rows), "human"]


def _what_it_is(folder: Path) -> list[object]:
    flavours = ["plain", "sweet"] * 20
    items = [f"t{at // 2}" for at in range(40)]
    path = folder / "r.csv"
    pl.DataFrame(
        {"ticket": items, "flavour": flavours, "human": HUMAN, "gpt_judge": JUDGE}
    ).write_csv(path)
    return [path, "human"]


def _pairs(folder: Path) -> list[object]:
    path = folder / "r.csv"
    rows = [
        (f"t{at // 4}", f"r{at % 4}", f"v{(at + at // 4) % 4}", h, j)
        for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))
    ]
    names = ["ticket", "deploy", "branch", "human", "gpt_judge"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    return [path, "human"]


def _judges(folder: Path) -> list[object]:
    return [_wide(folder, human=HUMAN, warm=JUDGE, exact=_levels(1.5)), "human"]


def _order(folder: Path) -> list[object]:
    words = ["very poor", "poor", "fair", "good", "excellent"]
    return [_wide(folder, human=[words[h - 1] for h in HUMAN], judge=[words[j - 1] for j in JUDGE])]


def _text_among_numbers(folder: Path) -> list[object]:
    return [
        _wide(
            folder,
            human=["maybe later" if at == 3 else h for at, h in enumerate(HUMAN)],
            judge=JUDGE,
        )
    ]


def _unknown_words(folder: Path) -> list[object]:
    words = ["meh", "fab", "okay", "super", "ugh"]
    return [_wide(folder, human=HUMAN, gpt_judge=[words[j - 1] for j in JUDGE])]


def _odd_level(folder: Path) -> list[object]:
    both = [[0 if at == 3 else s for at, s in enumerate(scores)] for scores in (HUMAN, JUDGE)]
    return [_wide(folder, human=both[0], judge=both[1])]


def _two_stated(folder: Path) -> list[object]:
    return [_wide(folder, **{"human (1-5)": HUMAN, "judge (1-5)": JUDGE, "gpt (1-7)": _levels()})]


def _low_is_good(folder: Path) -> list[object]:
    return [_wide(folder, **{"human (1 = best)": HUMAN, "judge (1 = best)": JUDGE})]


def _unlike(folder: Path) -> list[object]:
    labels = folder / "labels.csv"
    labels.write_text("ticket,label\nt-001,1\nt-002,2\nt-003,5\nt-004,4\n")
    return [FOREIGN / "langfuse" / "scores_v2.json"]


def _winner_words(folder: Path) -> list[object]:
    winners = [*["alpha", "beta"] * 18, "hmm", "hmm", "alpha", "beta"]
    path = folder / "r.csv"
    rows = [
        (item, "alpha", "beta", rater, winner)
        for rater in ("human", "gpt_judge")
        for item, winner in zip(IDS, winners, strict=True)
    ]
    names = ["item", "system_a", "system_b", "rater", "winner"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    return [path]


def _who_is_a_person(folder: Path) -> list[object]:
    return [_wide(folder, anna=WORDS, ben=SHIFTED, carl=WORDS)]


def _two_label_columns(folder: Path) -> list[object]:
    rows = [
        (item, rater, word, word)
        for rater, words in (("human_1", WORDS), ("gpt_judge", SHIFTED))
        for item, word in zip(IDS, words, strict=True)
    ]
    return [_long(folder, "item,rater,label,category", rows)]


def _empty_sets(folder: Path) -> list[object]:
    return [_wide(folder, human_1=SETS, gpt=SETS)]


def _no_label(folder: Path) -> list[object]:
    people = [one if at % 4 else "n/a" for at, one in enumerate(SETS)]
    return [_wide(folder, human_1=people, gpt=SETS)]


def _sure(folder: Path) -> list[object]:
    words = ["up", "down", "up", "flat"] * 10
    return [
        _wide(folder, human_1=words, gpt=words[::-1], gpt_confidence=[at / 40 for at in range(40)])
    ]


def _both_sure(folder: Path) -> list[object]:
    words = ["up", "down", "up", "flat"] * 10
    return [
        _wide(
            folder,
            human_1=words,
            gpt=words[::-1],
            claude=words[1:] + words[:1],
            gpt_confidence=[at / 40 for at in range(40)],
            claude_confidence=[1 - at / 40 for at in range(40)],
        )
    ]


def _answer_or_score(folder: Path) -> list[object]:
    return [_wide(folder, answer=_levels(2), human=HUMAN, judge=JUDGE)]


def _of_whom(folder: Path) -> list[object]:
    return [_wide(folder, human=HUMAN, human_speed=_levels(2), judge=JUDGE)]


def _agreed(folder: Path) -> list[object]:
    second = _levels()
    gold = [max(pair) for pair in zip(HUMAN, second, strict=True)]
    gold[0] = 3
    return [_wide(folder, human_1=HUMAN, human_2=second, human_gold=gold, gpt_judge=JUDGE)]


def _either(folder: Path) -> list[object]:
    return [_wide(folder, human=HUMAN, rater_a=_levels(), gpt_judge=JUDGE)]


def _which_keys(folder: Path) -> list[object]:
    _wide(folder, gpt=JUDGE).rename(folder / "judged.csv")
    labels = folder / "labels.csv"
    pl.DataFrame({"nr": IDS, "ann": HUMAN}).write_csv(labels)
    return [folder / "judged.csv", "", "--human", labels]


def _which_attribute(folder: Path) -> list[object]:
    rows = [
        (i, "gpt_judge", a, s) for a in ("warm", "clear") for i, s in zip(IDS, JUDGE, strict=True)
    ]
    _long(folder, "item,rater,attribute,score", rows).rename(folder / "judged.csv")
    labels = folder / "labels.csv"
    pl.DataFrame({"item": IDS, "label": HUMAN}).write_csv(labels)
    return [folder / "judged.csv", "", "--human", labels, "--key", "item"]


def _status(folder: Path) -> list[object]:
    rows = [(*row, "rejected" if at % 9 == 0 else "accepted") for at, row in enumerate(_both())]
    return [_long(folder, "item,rater,score,decision", rows)]


def _counts(folder: Path) -> list[object]:
    rows = [(*row, "no" if at % 9 == 0 else "yes") for at, row in enumerate(_both())]
    return [_long(folder, "item,rater,score,valid", rows)]


def _sheets(folder: Path) -> list[object]:
    path = folder / "r.xlsx"
    frame = pl.DataFrame({"item": IDS, "human": HUMAN, "judge": JUDGE})
    write_xlsx(path, {"May": frame, "June": frame.reverse()})
    return [path]


def _book(folder: Path, change: Callable[[Any], None]) -> list[object]:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["item", "human", "human_2", "judge"])
    for row in zip(IDS, HUMAN, _levels(), JUDGE, strict=True):
        sheet.append(row)
    change(sheet)
    book.save(folder / "r.xlsx")
    return [folder / "r.xlsx"]


def _hidden(folder: Path) -> list[object]:
    def hide(sheet: Any) -> None:
        sheet.row_dimensions[4].hidden = True

    return _book(folder, hide)


def _formulas(folder: Path) -> list[object]:
    def fill(sheet: Any) -> None:
        for row in range(2, 42):
            sheet.cell(row, 2).value = f"=D{row}"

    return _book(folder, fill)


def _qualtrics(folder: Path) -> list[object]:
    items = [f"Q{at}" for at in range(1, 13)]
    head = ["ResponseId", "Finished", *items]
    lines = [
        head,
        ["Response ID", "Finished", *(f"Answer {at}" for at in range(1, 13))],
        [f'{{""ImportId"":""{name}""}}' for name in head],
    ]
    text = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)
    for rater in range(6):
        scores = [min(5, max(1, round(TRUTH[at] + OWN.gauss(0, 0.4)))) for at in range(12)]
        text += f"\nR_{rater},True," + ",".join(map(str, scores))
    (folder / "survey.csv").write_text(text + "\n")
    judged = folder / "gpt_judge.csv"
    pl.DataFrame({"item": items, "gpt_judge": JUDGE[:12]}).write_csv(judged)
    return [folder / "survey.csv", "", judged]


def _attribute_or_not(folder: Path) -> list[object]:
    rows = [(i, "human", "warm", h) for i, h in zip(IDS, HUMAN, strict=True)]
    rows += [(i, "judge", "toxic", j) for i, j in zip(IDS, JUDGE, strict=True)]
    return [_long(folder, "item,rater,category,score", rows)]


def _versions(folder: Path) -> list[object]:
    rows = [(*row, v) for row in _both() for v in ("v1", "v2")]
    return [_long(folder, "item,rater,score,revision", rows)]


def _which_item(folder: Path) -> list[object]:
    path = folder / "r.csv"
    codes = [f"k{at * 7 % 40}" for at in range(40)]
    pl.DataFrame({"case": IDS, "dossier": codes, "human": HUMAN, "judge": JUDGE}).write_csv(path)
    return [path]


def _no_answer(folder: Path) -> list[object]:
    people = ["up", "down", "n/a", "up"] * 10
    return [_wide(folder, human_1=people, gpt=["up", "down", "down", "up"] * 10), "human_1"]


def _codes(folder: Path) -> list[object]:
    rows = [
        (i, who, (at + (at % 7 == 0) * (who == "gpt")) % 3)
        for at, i in enumerate(IDS)
        for who in ("human_1", "gpt")
    ]
    return [_long(folder, "item,rater,label", rows)]


def _grades(folder: Path) -> list[object]:
    path = folder / "r.csv"
    rows = [
        (i, *(("x", "y") if at % 2 else ("y", "x")), who, (at * 3 + (who == "gpt")) % 5 + 1)
        for at, i in enumerate(IDS)
        for who in ("human_1", "gpt")
    ]
    names = ["item", "model_a", "model_b", "judge", "preference"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
    return [path]


def _probability_of(folder: Path) -> list[object]:
    return [
        _wide(
            folder,
            human_1=["yes", "no"] * 20,
            human_2=["no", "yes"] * 20,
            gpt_probability=[at / 40 for at in range(40)],
        )
    ]


def _settled_later(folder: Path) -> list[object]:
    said = [("calm", "calm", "sad", "calm"), ("sad", "calm", "sad", "sad")] * 20
    people = {f"human_{k + 1}": [one[k] for one in said] for k in range(3)}
    return [
        _wide(
            folder,
            **people,
            gold=[*(one[3] for one in said[:-1]), "calm"],
            gpt=["calm", "sad"] * 20,
        )
    ]


def _probability_of_a_word(folder: Path) -> list[object]:
    return [
        _wide(
            folder, label=["spam", "ham"] * 20, gpt_probability=[at // 2 / 20 for at in range(40)]
        )
    ]


def _probability_or_score(folder: Path) -> list[object]:
    return [_wide(folder, human=["yes", "no"] * 20, gpt=[at / 40 for at in range(40)])]


def _probability_of_a_side(folder: Path) -> list[object]:
    sides = [("x", "y") if at % 3 else ("y", "x") for at in range(40)]
    return [
        _wide(
            folder,
            model_a=[a for a, _ in sides],
            model_b=[b for _, b in sides],
            human_1=["model_a", "model_b"] * 20,
            human_2=["model_b", "model_a"] * 20,
            gpt_probability=[at / 40 for at in range(40)],
        ),
        "",
        "--first",
        "a",
    ]


def _labels_or_questions(folder: Path) -> list[object]:
    return [
        _wide(
            folder,
            **{
                f"{who}_{label}": [int((at + k) % 5 < 2 + (who == "gpt")) for at in range(40)]
                for who in ("human_1", "human_2", "gpt")
                for k, label in enumerate(("rude", "toxic", "threat"))
            },
        )
    ]


def _two_languages(folder: Path) -> list[object]:
    for name, warm, clear, scores in (
        ("anna", "Ton", "Kürze", HUMAN),
        ("ki", "Ton juste", "Brièveté", JUDGE),
    ):
        frame = pl.DataFrame({"item": IDS, warm: scores, clear: scores[::-1]})
        frame.write_csv(folder / f"{name}.csv")
    return [folder / "anna.csv", "anna", folder / "ki.csv"]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _no_ids(folder: Path) -> list[object]:
    """Tickets that each had two of six releases: too few of all pairs to be sure what they are."""
    rows = "".join(
        f"t{at},r{(at + k * (1 + at % 5)) % 6},{(at + k) % 5 + 1},{(at * 3 + k) % 5 + 1}\n"
        for at in range(30)
        for k in (0, 1)
    )
    return [_written(folder / "r.csv", "ticket,wave,human,llm\n" + rows), "human"]


def _no_names(folder: Path) -> list[object]:
    """Neither ids nor raters are called as usual, and nobody names a reference."""
    rows = "".join(
        f"t{at},{build},{(at + k) % 5 + 1},{(at * 3 + k) % 5 + 1}\n"
        for at in range(30)
        for k, build in enumerate(("1.4", "1.5"))
    )
    return [_written(folder / "r.csv", "pratica,rilascio,valutatore,giudice\n" + rows)]


def _form(folder: Path) -> list[object]:
    """A row a person, who is named in no usual column, and a column a thing that was rated: fewer
    of these than rows, so that they may be attributes as well.
    """
    rows = "".join(
        f"{who},{','.join(str((at * 7 + k) % 5 + 1) for k in range(12))}\n"
        for at, who in enumerate(("ada", "ben", "gpt-4o", *(f"p{n}" for n in range(12))))
    )
    head = ",".join(f"Q{k}" for k in range(12))
    return [_written(folder / "r.csv", f"respondent,{head}\n{rows}"), "ada"]


def _numbered_heads(folder: Path) -> list[object]:
    marks = [(at % 5 + 1, at % 4 + 1, at % 3 + 1, at % 5 + 1) for at in range(20)]
    rows = "".join(f"q{at},{','.join(map(str, row))}\n" for at, row in enumerate(marks))
    return [_written(folder / "r.csv", "q,human_A,llm_A,human_B,llm_B\n" + rows), "human"]


def _two_strangers(folder: Path) -> list[object]:
    """Two columns of the reference's labels, by nobody's name."""
    words = ("red", "green", "blue")
    said = [(words[at % 3], words[at % 2], words[(at + 1) % 3]) for at in range(30)]
    rows = "".join(f"q{at},{','.join(row)}\n" for at, row in enumerate(said))
    return [_written(folder / "r.csv", "q,human,blick,morgen\n" + rows), "human"]


def _field_of_items(folder: Path) -> list[object]:
    """A person's field of each item beside two scores of a tool."""
    events = [
        {"id": f"e{at}", "span_id": f"s{at}", "root_span_id": f"s{at}", "is_root": True,
         "input": f"Ask {at}", "output": "yes", "metadata": {"human": at % 2},
         "scores": {"Help": at % 3 / 2, "Tone": 1.0}, "created": "2026-01-01T00:00:00Z"}
        for at in range(20)
    ]  # fmt: skip
    return [_written(folder / "run.jsonl", "\n".join(map(json.dumps, events))), "human"]


def _compared(folder: Path, *said: str, **more: tuple[str, str]) -> list[object]:
    """Forty comparisons of two systems by a person and a judge, who say one of these words."""
    head = ",".join(("item", "model_a", "model_b", "human", "gpt_judge", *more))
    rows = "".join(
        f"q{at},m,n,{said[at % len(said)]},{said[at * 3 % 5 % len(said)]}"
        + "".join(f",{cells[at % 2]}" for cells in more.values())
        + "\n"
        for at in range(40)
    )
    return [_written(folder / "r.csv", f"{head}\n{rows}"), "human"]


def _strange_order(folder: Path) -> list[object]:
    return _compared(folder, "A", "B", "tie", shown_first=("yes", "no"))


def _maybe_order(folder: Path) -> list[object]:
    return _compared(folder, "A", "B", "tie", upper=("m", "n"))


def _signs(folder: Path) -> list[object]:
    return _compared(folder, ">", "<", "=")


def _places(folder: Path) -> list[object]:
    return _compared(folder, "1", "2", "0")


def _files_of_labels(folder: Path) -> list[object]:
    for name, words in (("ann", WORDS), ("bot", SHIFTED)):
        lines = [json.dumps({"key": i, "label": [w]}) for i, w in zip(IDS, words, strict=True)]
        _written(folder / f"{name}.jsonl", "\n".join(lines))
    return [folder / "ann.jsonl", "", folder / "bot.jsonl"]


def _files_of_systems(folder: Path) -> list[object]:
    for name, off in (("old", 0), ("new", 1)):
        rows = "".join(
            f"q{at},{min(5, h + off)},{j}\n"
            for at, (h, j) in enumerate(zip(HUMAN, JUDGE, strict=True))
        )
        _written(folder / f"{name}.csv", f"item,human,gpt_judge\n{rows}")
    return [folder / "old.csv", "human", folder / "new.csv"]


def _two_ids(folder: Path) -> list[object]:
    """Each of two raters saw the stimuli at other seats."""
    rows = "".join(
        f"s{at},seat-{(at * step) % 41},{who},{scores[at]}\n"
        for who, step, scores in (("ann", 7, HUMAN), ("bot", 11, JUDGE))
        for at in range(40)
    )
    return [_written(folder / "r.csv", f"stim,seat,who,score\n{rows}"), "ann"]


def _outcomes(folder: Path) -> list[object]:
    names = ("m", "n", "k")
    rows = "".join(
        f"q{at},{names[at % 3]},{names[(at + 1 + at // 3 % 2) % 3]},{said[at % 3]},{said[at % 5 % 3]}\n"
        for said in (("win", "loss", "draw"),)
        for at in range(40)
    )
    return [_written(folder / "r.csv", f"task,candidate,baseline,human,gpt\n{rows}"), "human"]


def _scores_of_items(folder: Path) -> list[object]:
    rows = "".join(
        f"{i},{who},{h},{j}\n"
        for i, h, j in zip(IDS, HUMAN, JUDGE, strict=True)
        for who in ("human_1", "human_2")
    )
    return [_written(folder / "r.csv", f"case,worker,rating,quality\n{rows}"), "human_1"]


#: Where a question is raised, by file and function -> files that raise it; the second word, where
#: there is one, is the reference.
CASES: dict[str, Callable[[Path], list[object]]] = {
    "_rescale.ask_about_scales": _reversed,
    "_same.ask_which_are_the_same": _two_languages,
    "_row_roles._scores_of_rows": _several_scores,
    "_keys._without_places": _two_ids,
    "winners.ask_about_outcomes": _outcomes,
    "_judges_beside._ask": _scores_of_items,
    "_keys._ask_what_it_is": _what_it_is,
    "_keys._first_pair": _pairs,
    "_roles._judges": _judges,
    "_row_roles._ask_what_is_judged": _measured_or_judged,
    "_row_roles._attribute_by_numbers": _attribute_or_system,
    "_words._which_numbers": _order,
    "_words._question": _text_among_numbers,
    "_words._ask_what_words_mean": _unknown_words,
    "_scale._score_or_not": _odd_level,
    "_scale.stated_scale": _two_stated,
    "_scale.ask_about_direction": _low_is_good,
    "_scale.unlike_scales": _unlike,
    "winners.declared_words": _winner_words,
    "people.people_of": _who_is_a_person,
    "people.made_of_others": _settled_later,
    "labels._the_one": _two_label_columns,
    "words._empty_sets": _empty_sets,
    "words._label_or_not": _no_answer,
    "words._ask_about_no_label": _no_label,
    "label_columns.ask_about_codes": _codes,
    "winners._ask_about_grades": _grades,
    "chances._of_yes": _probability_of,
    "chances._of_words": _probability_of_a_word,
    "chances._scores_or_probabilities": _probability_or_score,
    "chances.sure_or_probable": _sure,
    "chances._ask_about_sureness": _both_sure,
    "favoured._side": _probability_of_a_side,
    "indicators._ask_about_indicators": _labels_or_questions,
    "_guess.answers_or_scores": _answer_or_score,
    "_guess.ask_of_whom": _of_whom,
    "_drafted_raters.without_derived": _agreed,
    "_drafted_raters.assumed_judges": _either,
    "_linking._met": _which_keys,
    "_linking._attribute": _which_attribute,
    "_status.ask_about_status": _status,
    "_status.ask_about_status, a column of yes and no": _counts,
    "_questions.one_of_its_sheets": _sheets,
    "_questions._settled": _hidden,
    "_questions.as_it_is_seen": _formulas,
    "_questions.laid_out": _qualtrics,
    "_questions._attribute_or_not": _attribute_or_not,
    "_questions._repeated_or_replaced": _versions,
    "_questions.item_column": _which_item,
    "_questions.one_row_a_rating": lambda folder: [*_form(folder), "--layout", "raters-by-items"],
    "order.first_in": _strange_order,
    "order.ask_about_order": _maybe_order,
    "winners.ask_about_signs": _signs,
    "winners._ask_about_places": _places,
    "_several.ask_what_files_are": _files_of_systems,
    "_several.ask_whose_files": _files_of_labels,
    "_unnamed.ask_for_items": _no_ids,
    "_unnamed.ask_for_reference": _no_names,
    "_unnamed.ask_about_a_form": _form,
    "_heads.systems_as_rows": _numbered_heads,
    "raters.raters_among": _two_strangers,
    "_item_facts.with_people_of_items": _field_of_items,
}


def _raised_in() -> set[str]:
    """Every function of the room that makes a question, by its file."""
    found = set()
    for path in TABLES.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for part in ast.walk(tree):
            if isinstance(part, ast.FunctionDef) and any(
                isinstance(one, ast.Call) and getattr(one.func, "id", "") == "QuestionError"
                for one in ast.walk(part)
            ):
                found.add(f"{path.stem}.{part.name}")
    return found


def test_every_question_has_a_file_here_that_raises_it():
    assert {name.partition(",")[0] for name in CASES} == _raised_in()


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where questions were made, by file and function."""
    found: list[str] = []
    made = QuestionError.__init__

    def told(self: QuestionError, *given: Any, **named: Any) -> None:
        code = sys._getframe(1).f_code
        found.append(f"{Path(code.co_filename).stem}.{code.co_name}")
        made(self, *given, **named)

    monkeypatch.setattr(QuestionError, "__init__", told)
    return found


def _arguments(given: list[object]) -> tuple[list[Path], tuple[str, ...], dict[str, Any]]:
    first, reference, *rest = [*given, ""][: max(len(given), 2)]
    files, read = [first], {}
    while rest and not str(rest[0]).startswith("--"):
        files.append(rest.pop(0))
    for option, value in zip(rest[::2], rest[1::2], strict=True):
        read[str(option)[2:]] = [value] if option == "--human" else str(value)
    return files, (str(reference),) if reference else (), read


def _filled(text: str) -> str:
    """Numbers in the place of those that are left to whoever is asked."""
    for number in (2, 4, 3, 5, 1, 2, 3):
        text = text.replace("NUMBER", str(number), 1)
    return text


@pytest.mark.parametrize("name", CASES)
def test_what_a_question_proposes_at_a_shell_works_as_it_stands(name: str, tmp_path: Path):
    files, reference, read = _arguments(CASES[name](tmp_path))
    options = [word for one in reference for word in ("--reference", one)]
    for key, value in read.items():
        options += [f"--{key}", *(value if isinstance(value, list) else [value])]
    asked = typed("audit", *files, *options, cwd=tmp_path)
    assert asked.returncode == 1, asked.stdout
    told, _, command = asked.stderr.strip().rpartition("\n")
    assert re.match("To take the first answers: |To answer, each NUMBER filled in: ", command)
    words = shlex.split(_filled(command.partition(": ")[2]))
    done = typed(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, (asked.stderr, done.stderr)
    # Whatever else is proposed is an option written as it must be.
    for option, value in re.findall(r"""--([a-z]+) ('[^']*'(?:"'"'[^']*')*)""", told):
        if option != "reference":
            several = option in ("judge", "ignore", "only", "rescale", "labels", "same")
            (text,) = shlex.split(_filled(value))
            assert read_options(**{option: [text] if several else text})


@pytest.mark.parametrize("name", CASES)
def test_what_a_question_proposes_in_python_works_as_it_stands(
    name: str, tmp_path: Path, places: list[str]
):
    files, reference, read = _arguments(CASES[name](tmp_path))
    with pytest.raises(QuestionError) as caught:
        audit_source(files, reference=reference, read=ReadOptions(**read))
    error = caught.value
    assert name.partition(",")[0] == places[0]
    told = _filled(str(error))
    assert "--" not in told.replace("voirdire ", "")
    scope = {"ReadOptions": ReadOptions}
    proposed = re.findall(r"(?:read=ReadOptions|reference=)(?:\(.*?\)(?=[ ;,.]|$)|\[.*?\])", told)
    assert proposed, told
    for text in proposed:
        eval(f"dict({text})", scope)
    _, found, last = told.rpartition("To take the first answers: ")
    call = last if found else proposed[0]
    arguments = {"reference": reference, "read": ReadOptions(**read)}
    arguments |= eval(f"dict({call})", scope)
    if not found and "read=" in call and read:
        arguments["read"] = ReadOptions(**read).with_(**arguments["read"].keys_set())
    # Neither asked again nor refused.
    audit_source(files, **arguments)
