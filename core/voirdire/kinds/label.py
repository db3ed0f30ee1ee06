"""Labels: one of K declared ones; its vector is 1 at its own place and 0 at the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from voirdire.kinds._column import says_nothing
from voirdire.kinds._kind import Checked, Recognised
from voirdire.parsing import LabelSet, spelled
from voirdire.parsing.numbers import read_numeral

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from voirdire.kinds._column import Cells
    from voirdire.schema import Status

#: More different words than this are texts, and no labels.
MOST_LABELS = 60
#: How often a label stands in a column on average, at the least: what never repeats is no label.
REPEATED = 2
#: A longer cell is a text.
LONGEST = 60


@dataclass(frozen=True, slots=True)
class LabelKind:
    """One of the labels of a `voirdire.parsing.LabelSet`."""

    name: str = "label"
    plural: str = "labels"

    def recognise(self, cells: Cells) -> Recognised[LabelSet] | None:
        """Few short words that repeat, none of them a number; one spelling each.

        Whether ``none`` is a label or no answer is a question, and it is no label meanwhile.
        """
        words = [text for text in cells.texts if not says_nothing(text)]
        # A sign has no spelling by which it could be told from another one.
        if any(len(w) > LONGEST or read_numeral(w) or not spelled(w) for w in words):
            return None
        labels = _one_spelling_each(words)
        if not 2 <= len(labels) <= MOST_LABELS or cells.total < REPEATED * len(labels):
            return None
        silent = [text for text in cells.texts if spelled(text) == "none"]
        question = f"is {silent[0]!r} a label, or is it no answer?" if silent else ""
        return Recognised(LabelSet(labels), f"holds {len(labels)} words that repeat", question)

    def check(self, cells: Cells, domain: LabelSet) -> Checked:
        """The declared label that each cell spells; a word off the list is missing, not a label."""
        values = tuple(domain.forms.get(spelled(text)) for text in cells.texts)
        return Checked(values, tuple(map(_status, cells.texts, values)))

    def vectors(self, values: Sequence[Hashable], domain: LabelSet) -> NDArray[np.float64]:
        """(V, K) one row a value: 1 in the column of its label."""
        places = [domain.labels.index(cast("str", value)) for value in values]
        return np.eye(len(domain.labels))[places]

    def decode(self, vector: NDArray[np.float64], domain: LabelSet) -> str:
        """The label with the largest share; of equal shares the one that is declared first."""
        return domain.labels[int(np.argmax(vector))]

    def worded(self, value: Hashable, domain: LabelSet) -> str:
        """The label as it is declared."""
        del domain
        return str(value)


def _status(text: str, value: str | None) -> Status:
    if value is not None:
        return "ok"
    return "blank" if says_nothing(text) else "out_of_scale"


def _one_spelling_each(words: Sequence[str]) -> tuple[str, ...]:
    """The most frequent spelling of each label, in the order of their names."""
    by_form: dict[str, str] = {}
    for word in words:  # the most frequent comes first
        by_form.setdefault(spelled(word), word)
    return tuple(sorted(by_form.values()))


#: The one label kind.
LABEL = LabelKind()
