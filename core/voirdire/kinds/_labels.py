"""Which columns hold labels, by their distinct cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.kinds._column import says_nothing
from voirdire.parsing import spelled
from voirdire.parsing.numbers import read_numeral

if TYPE_CHECKING:
    from voirdire.kinds._column import Cells

#: More different words than this are texts, and no labels.
MOST_LABELS = 60
#: How often a label stands in a column on average, at the least: what never repeats is no label.
REPEATED = 2
#: A longer cell is a text.
LONGEST = 60


def labels_in(cells: Cells) -> tuple[str, ...]:
    """The labels of a column, one spelling each, by name; none where it holds none.

    They are few short words that repeat, none of them a number. A word for no answer is none of
    them: whether it is one is a question.

    >>> from voirdire.kinds import Cells
    >>> labels_in(Cells("label", ("good", "Good", "bad", "n/a"), (30, 2, 12, 3)))
    ('bad', 'good')
    >>> labels_in(Cells("stars", ("1", "2", "4.5"), (30, 12, 9)))
    ()
    """
    words = [text for text in cells.texts if not says_nothing(text)]
    # A sign has no spelling by which it could be told from another one.
    if any(len(w) > LONGEST or read_numeral(w) or not spelled(w) for w in words):
        return ()
    by_form: dict[str, str] = {}
    for word in words:  # the most frequent comes first
        by_form.setdefault(spelled(word), word)
    labels = tuple(sorted(by_form.values()))
    few = 2 <= len(labels) <= MOST_LABELS and cells.total >= REPEATED * len(labels)
    return labels if few else ()
