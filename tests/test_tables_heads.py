"""What a header says of its scale is used, asked about or refused, and never passed over."""

from __future__ import annotations

import pytest

from voirdire import examine
from voirdire.errors import QuestionError, TableError
from voirdire.study import ReadOptions, build_study
from voirdire.tables import draft_study, read_file, read_tables
from voirdire.tables.batches import is_long

TRUTH = [1 + 7 * i % 5 for i in range(20)]


def long(folder, head, scores=TRUTH, others=None):
    """A file of one rating a row: people gave `scores`, and the judge at times one less."""
    judged = [score - (i % 3 == 0 and score > min(scores)) for i, score in enumerate(scores)]
    rows = zip(scores, others or judged, strict=True)
    lines = [f"q{i},{r},{v}" for i, row in enumerate(rows) for r, v in zip(("human", "gpt"), row)]  # noqa: B905
    path = folder / "r.csv"
    path.write_text("\n".join([f'item,rater,"{head}"', *lines]) + "\n", encoding="utf-8")
    return path


def wide(folder, *heads):
    lines = [",".join((f"q{i}", *[str(score)] * len(heads))) for i, score in enumerate(TRUTH)]
    path = folder / "r.csv"
    path.write_text("\n".join([",".join(("item", *heads)), *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("head", "scale"),
    [
        ("Rating [1-7]", (1, 7)),
        ("score (0-10)", (0, 10)),
        ("score (0 to 100)", (0, 100)),
        ("score (1..7)", (1, 7)),
        ("score (1 = worst, 5 = best)", (1, 5)),
        ("score (1 = strongly disagree, 7 = strongly agree)", (1, 7)),
        ("score (1: bad; 10: good)", (1, 10)),
        ("Score (out of 10)", (1, 10)),
        ("rating 1-10", (1, 10)),
        ("score\n(1-7)", (1, 7)),
        ("stars (1-5 ★)", (1, 5)),
        # No scale is stated.
        ("score (points)", (1, 5)),
        ("score (higher is better)", (1, 5)),
        ("score (2024)", (1, 5)),
        ("score (n=12)", (1, 5)),
    ],
)
def test_the_ends_that_a_header_states_are_those_of_the_scale(tmp_path, head, scale):
    study, tables = read_file(long(tmp_path, head))
    assert study.rubric.scale == scale
    assert tables.ratings["score"].to_list()[::2] == TRUTH
    (note,) = [each for each in tables.findings if each.kind == "scale_inferred"]
    assert ("is stated by" in note.message) == (scale != (1, 5) or head[-2] in "t★")


@pytest.mark.parametrize(
    "head",
    [
        *(
            "score (1=best)",
            "score (lower is better)",
            "score (1 = best, 5 = worst)",
            "rating (5=worst)",
        ),
        *("Bewertung (1 = sehr gut, 5 = mangelhaft)", "quality [1: excellent, 5: poor]"),
    ],
)
def test_scores_that_count_down_are_asked_about(tmp_path, head):
    path = long(tmp_path, head)
    with pytest.raises(QuestionError, match="low scores are good, by the header") as caught:
        examine(path, resamples=0)
    question = caught.value
    assert question.key == "words"
    assert question.choices == ("1=5,2=4,3=3,4=2,5=1", "1=1,2=2,3=3,4=4,5=5")
    # A Python caller is told Python.
    assert "read=ReadOptions(words={'1': 5, '2': 4, '3': 3, '4': 2, '5': 1})" in str(question)
    turned = {str(level): 6 - level for level in range(1, 6)}
    _, tables = read_file(path, read=ReadOptions(words=turned))
    assert tables.ratings["score"].to_list()[::2] == [6 - score for score in TRUTH]
    kept = {str(level): level for level in range(1, 6)}
    _, tables = read_file(path, read=ReadOptions(words=kept))
    assert tables.ratings["score"].to_list()[::2] == TRUTH


def test_a_study_is_told_which_line_settles_it_and_no_option(tmp_path):
    path = long(tmp_path, "score (1=best)")
    sources = [{"path": path.name, "layout": "long", "score": "score (1=best)"}]
    study = build_study({"name": "s", "data": {"sources": sources}}, folder=str(tmp_path))
    with pytest.raises(
        QuestionError, match=r"Write words = \{\"1\" = 5, .* of the study"
    ) as caught:
        examine(study, resamples=0)
    assert "--words" not in str(caught.value)
    sources[0]["words"] = {str(level): 6 - level for level in range(1, 6)}
    study = build_study({"name": "s", "data": {"sources": sources}}, folder=str(tmp_path))
    assert read_tables(study).ratings["score"].to_list()[::2] == [6 - score for score in TRUTH]


def test_headers_that_say_opposite_things_are_refused(tmp_path):
    with pytest.raises(TableError, match="turn one side over in the file, or leave it out"):
        read_file(wide(tmp_path, "human (1=best)", "judge (5=best)"))
    with pytest.raises(QuestionError, match="headers state different scales") as caught:
        read_file(wide(tmp_path, "human (1-5)", "gpt (1-10)"))
    assert (caught.value.key, caught.value.choices) == ("ignore", ("gpt (1-10)",))
    with pytest.raises(TableError, match="says that scores run from 1 to 5, and 40 of 40 do not"):
        read_file(long(tmp_path, "score (1-5)", [10 * score for score in TRUTH], TRUTH_HIGH))


TRUTH_HIGH = [10 * score for score in TRUTH]


def test_raters_and_roles_are_known_by_the_name_before_the_remark(tmp_path):
    study = draft_study(wide(tmp_path, "human (1-10)", "gpt (1-10)"))
    assert [(rater.name, rater.kind) for rater in study.panel] == [
        ("human (1-10)", "human"),
        ("gpt (1-10)", "judge"),
    ]
    lines = [
        f"q{i},{r},{a},{s}" for i, s in enumerate(TRUTH) for r in ("human", "gpt") for a in "xy"
    ]
    (tmp_path / "a.csv").write_text("\n".join(["item,rater,attribute,score [1-7]", *lines]))
    study = draft_study(tmp_path / "a.csv")
    assert [each.name for each in study.rubric.attributes] == ["x", "y"]
    assert study.rubric.scale == (1, 7)


def test_what_lies_beyond_a_stated_scale_is_off_it(tmp_path):
    scores = [9, *TRUTH[1:]]
    study, tables = read_file(long(tmp_path, "score (1-5)", scores, TRUTH))
    assert study.rubric.scale == (1, 5)
    assert (tables.ratings["status"] == "out_of_scale").sum() == 1


@pytest.mark.parametrize("head", ["revision", "version", "attempt"])
def test_versions_of_a_rating_are_asked_about(tmp_path, head):
    rows = [f"q{i},human,{s},{n}" for i, s in enumerate(TRUTH) for n in (1, 2)]
    rows += [f"q{i},gpt,{s},1" for i, s in enumerate(TRUTH)]
    (tmp_path / "r.csv").write_text("\n".join([f"item,rater,score,{head}", *rows]))
    with pytest.raises(QuestionError, match="several rows of one rating apart") as caught:
        read_file(tmp_path / "r.csv")
    _, tables = read_file(tmp_path / "r.csv", read=ReadOptions(**{caught.value.key: head}))
    assert tables.ratings["run"].max() == 2


def test_scores_that_count_down_are_asked_about_before_they_are_dealt_out(tmp_path):
    assert not is_long(long(tmp_path, "score (1=best)"), ReadOptions())
    assert is_long(long(tmp_path, "score (1-5)"), ReadOptions())
