"""Which columns hold labels: few words that repeat, one spelling each."""

import polars as pl
import pytest

from voirdire.kinds import Cells, labels_in


def cells(*texts):
    return Cells.of("judge", [pl.Series(list(texts))])


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (["1", "2", "5", "4", "2"], ()),
        (["yes", "no", "yes", "no", "No"], ("no", "yes")),
        (["positive", "neutral"] * 4 + ["n/a"], ("neutral", "positive")),
        (["a text that nobody has written twice", "another one of these"], ()),
        (["gpt", "claude", "llama", "qwen"], ()),  # nothing repeats
        (["7", "7", "7", "7"], ()),  # one value says nothing
        (["+", "++", "+", "++"], ()),  # signs have no spelling
        (["x" * 61, "y"] * 4, ()),  # a text
        ([None, "", " "], ()),
    ],
)
def test_a_column_of_labels_is_told_by_its_distinct_cells(column, labels):
    assert labels_in(cells(*column)) == labels


def test_the_commonest_spelling_is_the_label():
    assert labels_in(cells("Good", "good", "good", "BAD", "bad", "bad")) == ("bad", "good")


def test_cells_are_counted_whatever_their_type():
    of_numbers = Cells.of("x", [pl.Series([4.0, 4.0, None]), pl.Series([" 4", "", "n/a"])])
    assert (of_numbers.texts, of_numbers.counts, of_numbers.empty) == (("4", "n/a"), (3, 1), 2)
    assert of_numbers.total == 4
