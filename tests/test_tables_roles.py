"""The roles of columns: sixty made files with the truth beside, and what is asked, one by one."""

from __future__ import annotations

import json
import random
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from command_line import typed
from reading_check import outcome
from reading_files import Case, cases
from reading_files_2 import cases as second_cases
from reading_files_3 import cases as third_cases

import voirdire
from voirdire import tables
from voirdire.errors import InputError, QuestionError, TableError
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

MADE = cases()
SECOND = second_cases()
#: A third of the third set, and what was read wrongly in it at the first look.
THIRD = [
    case
    for at, case in enumerate(third_cases())
    if at % 4 == 0
    or case.name.startswith(("engineer request", "engineer row_key"))
    or "Note" in case.name
    or "Fassung" in case.name
]
#: What is not read at the first command is asked; everything else is read rightly.
ASKED = {
    "engineer N° variant human_score auto_eval",
    "engineer trace commit human quality",
    "engineer thread Build qa llm_judge",
    "export ragas table",
    "export trulens records",
    "export braintrust",
    "export promptfoo-like",
}


@pytest.mark.parametrize("case", MADE, ids=lambda case: case.name)
def test_a_made_file_is_read_rightly_or_asked_about(case: Case, tmp_path: Path):
    found, why = outcome(case, tmp_path)
    assert found == ("asked" if case.name in ASKED else "right"), why


@pytest.mark.parametrize("case", THIRD, ids=lambda case: case.name)
def test_a_file_of_the_third_set_is_never_read_wrongly(case: Case, tmp_path: Path):
    found, why = outcome(case, tmp_path)
    assert found in ("right", "asked"), why


def test_a_column_is_not_the_only_one_left_where_a_name_alone_speaks_against_another(tmp_path):
    """`judge_votes` is named as a measure and lies on the reference's scale: `tier` may be no judge."""
    path = _wide(tmp_path / "r.csv", tier=_levels)
    frame = pl.read_csv(path).rename({"gpt_judge": "judge_votes"})
    frame.write_csv(path)
    with pytest.raises(QuestionError, match="2 columns may be a judge's") as caught:
        tables.read_file(path, reference=["human"])
    assert caught.value.choices == ("judge_votes", "judge_votes, tier")


def test_of_sixty_files_most_are_read_at_the_first_command():
    assert Counter(case.kind for case in MADE).total() == 60
    assert len(MADE) - len(ASKED) >= 45


@pytest.mark.parametrize("name", sorted(ASKED))
def test_the_command_that_a_question_ends_in_works_as_it_stands(name: str, tmp_path: Path):
    """Copied from the terminal, unchanged."""
    (case,) = [one for one in MADE if one.name == name]
    (path,) = case.make(tmp_path)
    asked = typed("examine", path.name, "--reference", *case.reference, cwd=tmp_path)
    assert asked.returncode == 1
    command = asked.stderr.rpartition("To take the first answers: ")[2].strip()
    assert command.startswith(f"voirdire examine {path.name} --reference ")
    done = typed(*shlex.split(command)[1:], "--resamples", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {one["judge"] for one in json.loads(done.stdout)["results"]} == set(case.judges)


def _wide(path: Path, **columns: Any) -> Path:
    own = random.Random(7)
    truth = [own.uniform(1, 5) for _ in range(40)]
    made = {
        "human": [min(5, max(1, round(t + own.gauss(0, 0.5)))) for t in truth],
        "gpt_judge": [min(5, max(1, round(t + own.gauss(0, 0.6)))) for t in truth],
    }
    frame = pl.DataFrame({"item": [f"i{at}" for at in range(40)], **made})
    for name, column in columns.items():
        frame = frame.with_columns(pl.Series(name, column(own, frame)))
    frame.write_csv(path)
    return path


def _levels(own: random.Random, frame: pl.DataFrame) -> list[int]:
    return [own.randint(1, 5) for _ in range(frame.height)]


@pytest.mark.parametrize(
    "name",
    [
        "trial_index",
        "page",
        "block",
        "condition",
        "group",
        "round",
        "fold",
        "wave",
        "n_sentences",
        "list",
        "split",
        "week",
        "education",
        "priority",
        "upvotes",
        "Seite",
        "humeur",
    ],
)
def test_a_column_of_small_numbers_is_no_judge_beside_one_that_is_called_so(tmp_path, name):
    path = _wide(tmp_path / "r.csv", **{name: _levels})
    examination = voirdire.examine(path, reference=["human"], resamples=0)
    assert {result.judge for result in examination.results} == {"gpt_judge"}
    assert any(name in f.message for f in examination.findings if f.kind == "columns_unread")


def test_named_judges_are_taken_and_no_others(tmp_path):
    path = _wide(tmp_path / "r.csv", other_judge=_levels, page=_levels)
    study, rated = tables.read_file(
        path, reference=["human"], read=ReadOptions(judge=("page", "gpt_judge"))
    )
    assert set(rated.ratings["rater"]) == {"human", "gpt_judge", "page"}
    with pytest.raises(TableError, match="no column is called 'nobody', which --judge names"):
        tables.read_file(path, reference=["human"], read=ReadOptions(judge=("nobody",)))
    long = rated.ratings.select("item", "rater", "score")
    long.write_csv(tmp_path / "long.csv")
    _, rated = tables.read_file(
        tmp_path / "long.csv", reference=["human"], read=ReadOptions(judge=("gpt_judge",))
    )
    assert set(rated.ratings["rater"]) == {"human", "gpt_judge"}
    assert study.data.reference == ("human",)


@pytest.mark.parametrize("name", ["score", "quality", "v2", "bewertung", "overall"])
def test_the_only_column_left_on_the_references_scale_is_the_judge(tmp_path, name):
    frame = pl.read_csv(_wide(tmp_path / "r.csv"))
    frame = frame.rename({"gpt_judge": name}).with_columns(latency_ms=pl.lit(0.4))
    frame.write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    assert set(rated.ratings["rater"]) == {"human", name}


def test_a_derived_column_that_is_named_as_a_judge_is_examined(tmp_path):
    def mean(_: random.Random, frame: pl.DataFrame) -> pl.Series:
        return (frame["human"] + frame["human"].reverse()) / 2

    def second(_: random.Random, frame: pl.DataFrame) -> pl.Series:
        return frame["human"].reverse()

    path = _wide(tmp_path / "r.csv", human_2=second, human_mean=mean)
    named = ReadOptions(judge=("human_mean",))
    _, rated = tables.read_file(path, reference=["human", "human_2"], read=named)
    assert set(rated.ratings["rater"]) == {"human", "human_2", "human_mean"}


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        (lambda s: (s - 1) / 4.2 + pl.Series([0.0, 0.01] * 20), (0.0, 1.0)),
        (lambda s: 6 - s, (5.0, 1.0)),
        (lambda s: 24 * (s - 1) + pl.Series([0, 1] * 20), (0.0, 100.0)),
        (lambda s: 2 * s - 1, (1.0, 10.0)),
    ],
    ids=["shares", "turned round", "per cent", "of ten"],
)
def test_a_judge_on_another_scale_is_asked_about_and_put_on_it(tmp_path, change, ends):
    frame = pl.read_csv(_wide(tmp_path / "r.csv"))
    frame = frame.with_columns(change(frame["gpt_judge"]).alias("gpt_judge"))
    frame.write_csv(tmp_path / "r.csv")
    with pytest.raises(QuestionError, match="put on that scale") as caught:
        tables.read_file(tmp_path / "r.csv", reference=["human"])
    _, read = tables.with_answers(caught.value, ["human"], ReadOptions())
    assert read.rescale == {"gpt_judge": ends}
    study, rated = tables.read_file(tmp_path / "r.csv", reference=["human"], read=read)
    assert study.rubric.scale == (1, 5)
    assert rated.ratings["score"].is_between(1, 5).all()
    assert set(rated.ratings["status"].cast(pl.String)) == {"ok"}
    # Kept with the drafted study, and applied once.
    again = tables.read_tables(
        tables.draft_study(tmp_path / "r.csv", reference=["human"], read=read)
    )
    assert again.ratings.equals(rated.ratings)
    kept = ReadOptions(rescale={"gpt_judge": (1, 5)})
    tables.read_file(tmp_path / "r.csv", reference=["human"], read=kept)


@pytest.mark.parametrize("change", [lambda s: s, lambda s: s.clip(2, 4), lambda s: (s + 4) // 2])
def test_a_judge_of_fewer_levels_is_on_the_same_scale(tmp_path, change):
    frame = pl.read_csv(_wide(tmp_path / "r.csv"))
    judged = change(frame["gpt_judge"])
    frame.with_columns(judged.alias("gpt_judge")).write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    scores = rated.ratings.filter(pl.col("rater") == "gpt_judge")["score"]
    assert sorted(scores) == sorted(float(score) for score in judged)


def test_half_stars_are_levels(tmp_path):
    own = random.Random(3)
    human = [own.choice([0.5 * k for k in range(1, 11)]) for _ in range(60)]
    frame = pl.DataFrame(
        {
            "item": [f"i{k}" for k in range(60)],
            "human": human,
            "judge": [max(1, round(h)) for h in human],
        }
    )
    frame.write_csv(tmp_path / "r.csv")
    study, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    assert rated.ratings.filter(pl.col("status") != "ok").is_empty()
    assert study.rubric.step == 0.5


def test_what_tells_rows_apart_but_is_not_called_a_system_is_asked_about(tmp_path):
    own = random.Random(1)
    rows = [
        (f"T{at}", flavour, own.randint(1, 5), own.randint(1, 5))
        for at in range(40)
        for flavour in ("sweet", "sour")
    ]
    frame = pl.DataFrame(rows, schema=["ticket", "flavour", "human", "llm"], orient="row")
    frame.write_csv(tmp_path / "r.csv")
    with pytest.raises(QuestionError, match=r"'flavour' .* tells the rows of one ticket apart"):
        tables.read_file(tmp_path / "r.csv", reference=["human"])


def test_all_questions_come_at_once(tmp_path):
    (case,) = [one for one in MADE if one.name == "export trulens records"]
    with pytest.raises(QuestionError) as caught:
        voirdire.examine(*case.make(tmp_path), reference=["human"])
    assert [one.key for one in (caught.value, *caught.value.more)] == ["judge", "rescale"]
    options = "--judge 'Answer Relevance' --rescale 'Answer Relevance=0..1'"
    assert caught.value.options == options


def test_reference_none_is_nobody(tmp_path):
    examination = voirdire.examine(_wide(tmp_path / "r.csv"), reference=None, resamples=0)
    assert examination.study.data.reference == ("human",)


def test_a_card_says_what_rows_are_and_who_judged(tmp_path):
    (case,) = [one for one in MADE if one.name == "engineer ticket release human scorer"]
    _, rated = tables.read_file(*case.make(tmp_path), reference=["human"])
    (note,) = [one for one in rated.findings if one.kind == "reading"]
    humans = len(case.truth["human", ""])
    assert note.message == (
        f"120 rows = 60 items (ticket) x 2 systems (release); judge: scorer (1 to 5); "
        f"human: human (1 to 5, on {humans})."
    )
    assert "latency_ms: not used, measures something, by its name" in note.places
    assert "Not read: 'latency_ms'" in note.consequence


def test_reading_costs_little_beside_a_plain_read_and_group(tmp_path):
    """By the time of this process: at most three times that of Polars' own reading and grouping."""
    import time

    height = 600_000
    frame = pl.DataFrame({"n": pl.int_range(height, eager=True)}).select(
        item=pl.format("item-{}", pl.col("n") // 15),
        system=pl.format("system-{}", pl.col("n") // 5 % 3),
        rater=pl.lit(pl.Series(["human_1", "human_2", "gpt", "claude", "llama"])).gather(
            pl.col("n") % 5
        ),
        score=(pl.col("n") * 7919 // 15 + pl.col("n") % 5 // 2) % 5 + 1,
    )
    frame.write_parquet(tmp_path / "r.parquet")
    tables.read_file(
        tmp_path / "r.parquet", reference=["human_1", "human_2"]
    )  # modules and threads

    def plain() -> None:
        whole = pl.read_parquet(tmp_path / "r.parquet")
        whole.group_by("item", "system", "rater").agg(pl.col("score").mean())

    def ours() -> None:
        tables.read_file(tmp_path / "r.parquet", reference=["human_1", "human_2"])

    def cost(work: Any) -> float:
        begun = time.process_time()
        work()
        return time.process_time() - begun

    # Measured at 3.5 million rows at 2.6; of fewer rows what is paid once weighs more.
    assert min(cost(ours) for _ in range(2)) < 8 * min(cost(plain) for _ in range(2)) + 0.5


@pytest.mark.parametrize("case", SECOND, ids=lambda case: case.name)
def test_a_file_of_the_second_set_is_never_read_wrongly_without_a_word(case: Case, tmp_path: Path):
    found, why = outcome(case, tmp_path)
    assert found in ("right", "asked"), why


def test_a_stream_takes_no_judges_and_no_scales_in_silence(tmp_path):
    frame = pl.DataFrame({"item": ["1", "2"], "rater": ["human", "llm"], "score": [1, 2]})
    frame.write_parquet(tmp_path / "r.parquet")
    with pytest.raises(InputError, match="are for files that are read whole"):
        voirdire.examine(
            tmp_path / "r.parquet",
            reference=["human"],
            streaming=True,
            read=ReadOptions(judge=("llm",)),
        )


def test_items_of_one_system_each_are_no_product(tmp_path):
    rows = [f"i{k},s{k % 4},{1 + k % 5},{1 + k % 4}" for k in range(80)]
    (tmp_path / "r.csv").write_text("\n".join(["item,system,human,judge", *rows]) + "\n")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    card = next(one.message for one in rated.findings if one.kind == "reading")
    assert card.startswith("80 rows = 80 items (item), 4 systems (system); judge: judge (1 to 4);")


@pytest.mark.parametrize("words", [(0, 1), ("falsch", "korrekt")])
def test_a_column_that_is_declared_as_items_is_not_found_as_runs(tmp_path, words):
    path = tmp_path / "steps.csv"
    rows = [
        f"r{run},{step},{who},{words[(run + step) % 5 > 0]}"
        for run in range(30)
        for step in (1, 2, 3)
        for who in ("ann", "gpt")
    ]
    path.write_text("\n".join(["run,step,rater,verdict", *rows]))
    options = ReadOptions(item="run", turn="step")
    found = voirdire.examine(path, reference=["ann"], read=options).inputs
    frame = found.ratings if found.judgements is None else found.judgements.labels
    assert set(frame["run"]) == {1}
    assert set(frame["cluster"]) == {f"r{run}" for run in range(30)}
