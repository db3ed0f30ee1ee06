"""A declared set of labels and the ways in which replies spell them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.errors import InputError, check_allowed
from voirdire.parsing._rivals import Bare
from voirdire.parsing._spelling import WORD, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

# "Magnification (Catastrophizing)": either part names the label.
_BRACKETS = re.compile(r"^(?P<outer>[^()]+)\((?P<inner>[^()]+)\)\s*$")


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels that an answer may name.

    Attributes
    ----------
    labels : tuple of str
        Declared labels; they may hold commas.
    synonyms : mapping of str to str
        Other spellings -> declared label. Case, hyphens, plurals, British spelling and the parts
        of ``"Magnification (Catastrophizing)"`` need none.
    none : str or None
        The label that says that no other applies; a label spelled *None* is taken for it.
    other : str or None
        The label for answers outside the set; it is never given with another label.

    Raises
    ------
    InputError
        If labels repeat, or `none`, `other` or a synonym's target is not declared.
    """

    labels: tuple[str, ...]
    synonyms: Mapping[str, str] = field(default_factory=dict)
    none: str | None = None
    other: str | None = None
    forms: Mapping[str, str] = field(init=False, repr=False, compare=False)
    longest: int = field(init=False, repr=False, compare=False)
    beginnings: frozenset[str] = field(init=False, repr=False, compare=False)
    offered: tuple[str, ...] = field(init=False, repr=False, compare=False)
    bare: Bare = field(init=False, repr=False, compare=False)
    eastern: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the declaration and collect every spelling."""
        distinct = set(self.labels)
        if len(distinct) != len(self.labels) or not distinct:
            raise InputError(f"labels must be given and differ, got {list(self.labels)}")
        targets = {*self.synonyms.values(), *filter(None, (self.none, self.other))}
        check_allowed("label", sorted(targets), self.labels, "synonyms, none and other")
        if self.none is None:
            none = next((label for label in self.labels if spelled(label) == "none"), None)
            object.__setattr__(self, "none", none)
        # The class is frozen, and these follow from its fields.
        object.__setattr__(self, "forms", _all_forms(self))
        starts = {form[:upto] for form in self.forms for upto in range(len(form) + 1)}
        object.__setattr__(self, "beginnings", frozenset(starts))
        object.__setattr__(self, "offered", _offered(self))
        object.__setattr__(self, "bare", _bare(self))
        words = (len(WORD.findall(text)) for text in (*self.labels, *self.synonyms))
        # Two more: a reply may part what is declared as one word, as in *over generalization*.
        object.__setattr__(self, "longest", max(words) + 2)


def _bare(labels: LabelSet) -> Bare:
    """A label in running text, as it is declared."""
    names = sorted((*labels.labels, *labels.synonyms), key=len, reverse=True)
    spelled_out = (r"[\s_-]{1,3}".join(map(re.escape, WORD.findall(name))) for name in names)
    either = "|".join(filter(None, spelled_out)) or r"(?!)"
    return Bare(
        re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE),
        heads=4,
        parts=lambda named: named.labels,
    )


def _offered(labels: LabelSet) -> tuple[str, ...]:
    return tuple(x for x in labels.labels if x not in (labels.none, labels.other))


def _all_forms(labels: LabelSet) -> dict[str, str]:
    """Spelling -> label; what is declared wins over what is derived."""
    forms = {spelled(label): label for label in labels.labels}
    if len(forms) != len(labels.labels):
        raise InputError(f"labels differ only in spelling: {list(labels.labels)}")
    for synonym, label in labels.synonyms.items():
        forms.setdefault(spelled(synonym), label)
    derived: dict[str, set[str]] = {}
    for text, label in [*((label, label) for label in labels.labels), *labels.synonyms.items()]:
        for form in _derived(text):
            derived.setdefault(form, set()).add(label)
    if labels.none is not None:
        derived.setdefault("none", set()).add(labels.none)
        forms.setdefault("none", labels.none)
    # A form that two labels share tells neither; one that is declared is never taken away.
    for form, meant in derived.items():
        if len(meant) == 1:
            forms.setdefault(form, next(iter(meant)))
    forms.pop("", None)
    return forms


def _derived(text: str) -> list[str]:
    """The parts around and inside brackets, and singular or plural."""
    parts = [text]
    if brackets := _BRACKETS.match(text):
        parts += [brackets["outer"], brackets["inner"]]
    if "," in text:  # "powerless, weak and vulnerable"
        parts.append(" and ".join(text.rsplit(",", 1)))
    spellings = [spelled(part) for part in parts]
    plurals = [s.removesuffix("s") if s.endswith("s") else f"{s}s" for s in spellings if len(s) > 3]
    return spellings[1:] + plurals
