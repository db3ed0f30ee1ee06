"""What a reading decides: sheets of raters, names of attributes, what is kept, and what is gone."""

from __future__ import annotations

import json
import random
import shlex
from typing import TYPE_CHECKING, Any

import openpyxl
import polars as pl
import pytest
from command_line import typed
from reading_check import outcome
from reading_files_4 import cases
from simulated_sessions import session_of

import voirdire
from voirdire import tables
from voirdire.errors import QuestionError, TableError
from voirdire.examining.changing.lock import read_lock
from voirdire.examining.session import study_of_session
from voirdire.store.readings import kept_readings
from voirdire.study import ReadOptions
from voirdire.tables import write_xlsx
from voirdire.tables.judged import read_judged

if TYPE_CHECKING:
    from pathlib import Path

    from reading_files import Case

MADE = cases()
#: What is not read at the first command is asked; everything else is read rightly.
ASKED = {
    "engineer trace_id autograder",
    "shape reversed judge",
    "export deepeval",
    "export trulens",
    "export ten steps",
}


@pytest.mark.parametrize("case", MADE, ids=lambda case: case.name)
def test_a_file_of_the_fourth_set_is_read_rightly_or_asked_about(case: Case, tmp_path: Path):
    found, why = outcome(case, tmp_path)
    assert found == ("asked" if case.name in ASKED else "right"), why


@pytest.mark.parametrize("name", sorted(ASKED))
def test_the_command_that_ends_a_question_of_the_fourth_set_works(name: str, tmp_path: Path):
    (case,) = [one for one in MADE if one.name == name]
    (path,) = case.make(tmp_path)
    asked = typed("examine", path.name, "--reference", *case.reference, cwd=tmp_path)
    assert asked.returncode == 1
    command = asked.stderr.rpartition("To take the first answers: ")[2].strip()
    done = typed(*shlex.split(command)[1:], "--resamples", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {one["judge"] for one in json.loads(done.stdout)["results"]} == set(case.judges)


def _scores(seed: str, count: int = 40) -> list[int]:
    own = random.Random(seed)
    return [own.randint(1, 5) for _ in range(count)]


def _near(scores: list[int], seed: str) -> list[int]:
    own = random.Random(seed)
    return [min(5, max(1, s + own.choice((-1, 0, 0, 0, 1)))) for s in scores]


IDS = [f"F-{at}" for at in range(40)]


# --- whose a column is


@pytest.mark.parametrize(
    "form", ["{r}_{a}", "{a} ({r})", "{r}: {a}", "{a} – {r}", "{r} [{a}]", "{a}/{r}"]
)
def test_a_header_is_taken_apart_by_the_name_of_the_reference(tmp_path, form):
    said = {(r, a): _scores(f"{r}{a}") for r in ("Anna", "KI") for a in ("Ton", "Kürze")}
    frame = pl.DataFrame({"Fall": IDS, **{form.format(r=r, a=a): s for (r, a), s in said.items()}})
    frame.write_csv(tmp_path / "g.csv", separator=";")
    _, rated = tables.read_file(tmp_path / "g.csv", reference=["Anna"])
    pairs = rated.ratings.select("rater", pl.col("attribute").cast(pl.String)).unique().rows()
    assert set(pairs) == set(said)


def test_a_scale_in_brackets_is_no_attribute(tmp_path):
    frame = pl.DataFrame({"item": IDS, "human (1-5)": _scores("h"), "judge (1-5)": _scores("j")})
    frame.write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv")
    assert rated.ratings["attribute"].cast(pl.String).unique().to_list() == ["score"]


def test_one_attribute_over_two_raters_needs_a_name_that_speaks_of_a_judge(tmp_path):
    people, machine = _scores("h"), _scores("j")
    frame = pl.DataFrame(
        {"item": IDS, "human_score": people, "llm_score": machine, "credit_score": _scores("c")}
    )
    frame.write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    assert set(rated.ratings["rater"]) == {"human", "llm"}


@pytest.mark.parametrize(
    "name", ["n_raters", "num_judges", "Seiten", "durée", "wachttijd", "ページ"]
)
def test_a_count_a_page_or_a_duration_is_no_judge_in_any_language(tmp_path, name):
    frame = pl.DataFrame(
        {"item": IDS, "human": _scores("h"), "scorer": _scores("j"), name: _scores("n")}
    )
    frame.write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    assert set(rated.ratings["rater"]) == {"human", "scorer"}


def test_who_filled_in_the_rows_is_no_judge_beside_columns_of_judgements(tmp_path):
    frame = pl.DataFrame(
        {"item": IDS, "annotator": [7] * 40, "rating": _scores("h"), "model_rating": _scores("j")}
    )
    frame.write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["rating"])
    assert set(rated.ratings["rater"]) == {"rating", "model_rating"}


# --- sheets


def _sheets(path: Path, **columns: Any) -> dict[str, list[int]]:
    people = _scores("Gruber")
    said = {"Gruber": people, "Claude": _near(people, "Claude")}
    write_xlsx(path, {n: pl.DataFrame({"Fall": IDS, "Ton": s, **columns}) for n, s in said.items()})
    return said


def test_sheets_that_are_called_as_the_reference_are_one_table(tmp_path):
    said = _sheets(tmp_path / "all.xlsx")
    study, rated = tables.read_file(tmp_path / "all.xlsx", reference=["Gruber"])
    for name, scores in said.items():
        own = rated.ratings.filter(pl.col("rater") == name)
        assert dict(zip(own["item"], own["score"], strict=True)) == dict(
            zip(IDS, map(float, scores), strict=True)
        )
    (note,) = [one for one in rated.findings if one.kind == "sheets_together"]
    assert "'Gruber', 'Claude'" in note.message
    # The drafted study reads it in the same way.
    (source,) = study.data.sources
    assert source.sheet == "*"
    again = tables.read_tables(study.model_copy(update={"folder": str(tmp_path)}))
    assert again.ratings.height == rated.ratings.height == 80


def test_sheets_are_asked_about_where_nobody_names_one(tmp_path):
    _sheets(tmp_path / "all.xlsx", human=_scores("h"))
    with pytest.raises(
        QuestionError, match="hold the same columns; which of them is read"
    ) as caught:
        tables.read_file(tmp_path / "all.xlsx", reference=["human"])
    assert caught.value.choices == ("*", "Gruber", "Claude")
    assert tables.read_raw(tmp_path / "all.xlsx", sheet="*").frame.height == 80


def test_sheets_that_hide_rows_are_not_read_together(tmp_path):
    _sheets(tmp_path / "all.xlsx")
    book = openpyxl.load_workbook(tmp_path / "all.xlsx")
    book["Claude"].row_dimensions[5].hidden = True
    book.save(tmp_path / "all.xlsx")
    with pytest.raises(TableError, match="sheet 'Claude' hides rows or columns"):
        tables.read_file(tmp_path / "all.xlsx", reference=["Gruber"])


# --- attributes under two names


def _two_languages(folder: Path) -> None:
    tone, brief = _scores("t"), _scores("b")
    german = pl.DataFrame({"Fall": IDS, "Ton": tone, "Kürze": brief})
    french = pl.DataFrame(
        {"Cas": IDS, "Ton juste": _near(tone, "x"), "Brièveté": _near(brief, "y")}
    )
    write_xlsx(folder / "anna.xlsx", {"Tabelle1": german})
    write_xlsx(folder / "ki.xlsx", {"Feuille1": french})


def test_attributes_in_two_languages_are_asked_about_and_the_command_works(tmp_path):
    _two_languages(tmp_path)
    asked = typed("examine", "anna.xlsx", "ki.xlsx", "--reference", "anna", cwd=tmp_path)
    assert asked.returncode == 1
    command = asked.stderr.rpartition("To take the first answers: ")[2].strip()
    assert "--same 'Ton juste=Ton, Brièveté=Kürze'" in command
    done = typed(*shlex.split(command)[1:], "--resamples", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert {(one["judge"], one["attribute"]) for one in results} == {("ki", "Ton"), ("ki", "Kürze")}


def test_a_study_says_which_attributes_are_one_and_none_keeps_them_apart(tmp_path):
    _two_languages(tmp_path)
    files = [tmp_path / "anna.xlsx", tmp_path / "ki.xlsx"]
    same = {"Ton juste": "Ton", "Brièveté": "Kürze"}
    study, rated = tables.read_file(files, reference=["anna"], read=ReadOptions(same=same))
    again = tables.read_tables(study.model_copy(update={"folder": str(tmp_path)}))
    key = ["rater", "item", "attribute"]
    assert again.ratings.sort(key).equals(rated.ratings.sort(key))
    _, apart = tables.read_file(files, reference=["anna"], read=ReadOptions(same={"none": "none"}))
    assert apart.ratings["attribute"].n_unique() == 4
    assert any(one.kind == "attributes_apart" for one in apart.findings)


# --- what is kept


def test_a_lock_keeps_what_was_answered_and_a_check_asks_nothing(tmp_path):
    people = _scores("h")
    for name, seed in (("then.csv", "j"), ("now.csv", "k")):
        shares = [(s - 1) / 4 for s in _near(people, seed)]
        pl.DataFrame(
            {"Vorgang": IDS, "human": people, "quality": shares, "page": _scores("p")}
        ).write_csv(tmp_path / name)
    answers = ("--judge", "quality", "--rescale", "quality=0..1")
    done = typed(
        "gate",
        "freeze",
        "then.csv",
        "--reference",
        "human",
        *answers,
        "--as",
        "judge.lock",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    kept = read_lock(tmp_path / "judge.lock").read
    assert (kept["item"], tuple(kept["judge"]), kept["rescale"]) == (
        "Vorgang", ("quality",), {"quality": [0.0, 1.0]}
    )  # fmt: skip
    checked = typed(
        "gate", "check", "now.csv", "--lock", "judge.lock", "--reference", "human", cwd=tmp_path
    )
    assert checked.returncode in (0, 4), checked.stderr
    assert "Look 1 of 26 planned" in " ".join(checked.stdout.split())


# --- what is gone


LABELS = [("hit", "miss", "partial")[at % 3] for at in range(40)]


@pytest.mark.parametrize(
    ("change", "kind", "left"),
    [
        (lambda f: pl.concat([f, f.head(3)]), "duplicate_rows", 80),
        (
            lambda f: f.with_columns(item=pl.when(pl.col("item") != "F-3").then("item")),
            "null_ids",
            78,
        ),
        (lambda f: f, None, 80),
    ],
)
def test_rows_of_labels_are_counted_and_what_is_gone_is_named(tmp_path, change, kind, left):
    frame = pl.DataFrame({"item": IDS, "human": LABELS, "gpt_judge": LABELS[::-1]})
    change(frame).write_csv(tmp_path / "l.csv")
    found = read_judged(tmp_path / "l.csv", reference=["human"], read=ReadOptions())
    assert found is not None
    assert found[1].labels.height == left
    kinds = [one.kind for one in found[1].findings]
    assert kinds == (["reading", kind, "account"] if kind else ["reading"])


def test_comparisons_without_a_rater_are_named_and_votes_of_nobody_are_kept(tmp_path):
    rows = [
        (i, "x", "y", who, ("x", "y", "tie")[at % 3])
        for at, i in enumerate(IDS)
        for who in ("human", "gpt", None)
        if who or at < 2
    ]
    frame = pl.DataFrame(
        rows, schema=["item", "system_a", "system_b", "rater", "winner"], orient="row"
    )
    frame.write_csv(tmp_path / "p.csv")
    found = read_judged(tmp_path / "p.csv", reference=["human"], read=ReadOptions())
    assert found is not None
    assert found[1].preferences is not None
    assert found[1].preferences.height == 80
    kinds = [one.kind for one in found[1].findings]
    assert kinds == ["reading", "null_raters", "account"]
    votes = frame.drop_nulls().drop("rater")
    pl.concat([votes, votes.head(4)]).write_csv(tmp_path / "human.csv")
    found = read_judged(tmp_path / "human.csv", reference=(), read=ReadOptions())
    assert found is not None
    assert found[1].preferences is not None
    assert found[1].preferences.height == 84


def test_lines_that_are_one_row_are_told(tmp_path):
    rows = "".join(f'F{at},{at % 5 + 1},{at % 4 + 1},"a\nb"\n' for at in range(20))
    (tmp_path / "r.csv").write_text("item,human,judge,note\n" + rows)
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    (note,) = [one for one in rated.findings if one.kind == "lines_together"]
    assert note.message.startswith("40 lines of the file are 20 rows")
    assert rated.accounts[0].open == (0, 0)


def test_the_card_says_that_a_rater_who_is_left_out_plays_no_part(tmp_path):
    ann, ben = _scores("a"), _scores("b")
    gold = [max(a, b) for a, b in zip(ann, ben, strict=True)]
    pl.DataFrame(
        {"item": IDS, "human_1": ann, "human_2": ben, "human_gold": gold, "judge": _near(ann, "j")}
    ).write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human_1", "human_2"])
    (card,) = [one for one in rated.findings if one.kind == "reading"]
    assert card.consequence == "Not read: 'human_gold'."
    assert "human_gold: not used, its ratings are left out" in card.places


def test_nested_files_give_the_examination_their_names(tmp_path):
    for stem, rater in (("human_labels", "ann"), ("judge_labels", "gpt")):
        said = {rater: dict(zip(IDS, _scores(rater), strict=True))}
        (tmp_path / f"{stem}.json").write_text(json.dumps(said))
    files = [tmp_path / "human_labels.json", tmp_path / "judge_labels.json"]
    examination = voirdire.examine(files, resamples=0)
    assert examination.study.name == "human_labels and judge_labels"


def test_a_session_keeps_how_its_files_were_read(tmp_path):
    """A later voirdire reads the same file in the same way."""
    session = session_of(tmp_path, "s", items=12)
    labels = tmp_path / "s-study" / "human.csv"
    labels.write_text(labels.read_text().replace("item,", "convid,", 1))
    first = voirdire.examine(session, resamples=0)
    (note,) = [one for one in first.findings if one.kind == "reading_kept"]
    ((reading, _),) = kept_readings(session).values()
    assert note.table == reading.source
    assert reading.source.endswith("human.csv")
    assert reading.keys["item"] == "convid"
    assert len(reading.content) == 64
    again = voirdire.examine(session, resamples=0)
    assert [one for one in again.findings if one.kind == "reading_kept"] == [note]
    assert repr(again.results) == repr(first.results)  # some numbers are nan
    # It is read by what is kept, and a file that changed is looked at anew.
    assert study_of_session(session).data.sources[0].item == "convid"
    labels.write_text(labels.read_text() + "\n")
    assert study_of_session(session).data.sources[0].item is None
    voirdire.examine(session, resamples=0)
    assert len(kept_readings(session)) == 2
