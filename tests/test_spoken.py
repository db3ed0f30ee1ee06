"""Errors name options at a shell and arguments in Python; commands that are quoted stay as typed."""

import polars as pl
import pytest
from command_line import invoke

import voirdire
from voirdire import InputError, QuestionError, ReadOptions
from voirdire.errors import at_shell
from voirdire.examining.spoken import in_python, speaks_python

UNKNOWN = "id,judge,human\n" + "".join(f"i{n},{n % 5},{n % 4}\n" for n in range(30))


@pytest.mark.parametrize(
    ("shell", "python"),
    [
        ("name it by --reference NAME", "name it by reference=[NAME]"),
        ("given by --human FILE", "given by read=ReadOptions(human=[FILE])"),
        ("say --human labels.csv in place", "say read=ReadOptions(human=['labels.csv']) in place"),
        (
            "--item 'post'; --assume accepts",
            "read=ReadOptions(item='post'); read=ReadOptions(assume=True) accepts",
        ),
        ("--reference 'a' --reference 'b, c'", "reference=['a', 'b, c']"),
        (
            "--words 'poor=1, no answer=missing'",
            "read=ReadOptions(words={'poor': 1, 'no answer': 'missing'})",
        ),
        ("name it by --key LABELS=ITEMS", "name it by read=ReadOptions(key='LABELS=ITEMS')"),
        ("say by --judge OLD=NEW which", "say by judges={'OLD': 'NEW'} which"),
        ("say --family prod-7=MAKER", "say read=ReadOptions(families={'prod-7': 'MAKER'})"),
        ("--layout raters-by-items, or", "read=ReadOptions(layout='raters-by-items'), or"),
        ("--power must lie between 0 and 1", "`power` must lie between 0 and 1"),
        ("--item names columns of a file", "`item` of ReadOptions names columns of a file"),
        ("run voirdire import FILE --out x.parquet", "run voirdire import FILE --out x.parquet"),
        ("nothing -- that is an option", "nothing -- that is an option"),
    ],
)
def test_an_option_becomes_an_argument(shell, python):
    assert in_python(shell) == python


def test_what_python_is_told_to_write_can_be_written():
    told = in_python("--words 'poor=1, unsure=missing'").removeprefix("read=")
    assert eval(told, {"ReadOptions": ReadOptions}).words == {"poor": 1, "unsure": "missing"}


def test_a_python_caller_is_not_told_of_options(tmp_path):
    frame = pl.DataFrame({"item": [1, 2, 3], "a": [1, 2, 3], "b": [2, 3, 1]})
    with pytest.raises(InputError, match=r"Say reference=\['a', 'b'\] or") as caught:
        voirdire.examine(frame)
    assert "--" not in str(caught.value)
    with pytest.raises(InputError, match="`key` of ReadOptions joins labels of people"):
        voirdire.examine(frame, read=ReadOptions(key="id"))
    words = pl.DataFrame(
        {
            "item": list("abcdefgh"),
            "human": ["good", "poor", "fair", "excellent"] * 2,
            "judge": ["poor", "good", "fair", "excellent"] * 2,
        }
    )
    with pytest.raises(QuestionError, match=r"Say read=ReadOptions\(words=\{'poor': 1"):
        voirdire.examine(words, reference=["human"])


def test_a_shell_is_told_of_options(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,a,b\n1,2,3\n2,3,4\n3,1,1\n")
    error = invoke(["examine", path]).exception
    assert "Say --reference 'a' --reference 'b' or" in str(error)


def test_within_a_shell_nothing_is_rewritten_and_the_error_is_the_same_object():
    error = InputError("say --item 'nr'")

    @speaks_python
    def raises():
        raise error

    with at_shell(), pytest.raises(InputError, match="say --item 'nr'"):
        raises()
    with pytest.raises(InputError, match=r"say read=ReadOptions\(item='nr'\)") as caught:
        raises()
    assert caught.value is error
