"""One statement of a reply, whatever its dress: a line, a cell, a box, a tag or an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from voirdire.parsing._words import Rank

#: Text of a statement whose value has been read already: no reply holds it.
READ = "\0"


class Statement(NamedTuple):
    """A key, the text behind it to the end of its line or field, and how far it goes.

    `at` and `end` are its places in the text. `section` is all that stands before the next key:
    ``Empathy: warm`` may have its ``Score: 4`` below. `before` is the word that leads to the key
    in its line: *confidence* score. `closed`: a bracket or tag ends the value, so that no further
    text could lengthen it. `begins` is the place of the value, where it is not that of the key.
    `value` is what it states, where that has been read already, as of an object; `form` is the
    sign that joins key and value, where it matters.
    """

    key: str
    text: str
    at: int = 0
    end: int = 0
    rank: Rank = "said"
    section: str = ""
    before: str = ""
    closed: bool = False
    begins: int | None = None
    value: Any = None
    form: str = ""

    @property
    def value_at(self) -> int:
        """Where second thoughts about the value may begin."""
        if self.closed:
            return self.end
        return self.at if self.begins is None else self.begins

    @property
    def final(self) -> bool:
        """Whether it says that it is final."""
        return self.rank == "final"
