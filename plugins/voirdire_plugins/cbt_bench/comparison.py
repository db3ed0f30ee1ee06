"""`cbt-dp`: two responses compared on the four criteria of the exercise's category, and overall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire import InputError
from voirdire.schema import Attribute, Rubric, Sampling, Scale
from voirdire_judges.pairwise import PairwiseJudge
from voirdire_judges.pairwise import make as make_pairwise
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TABLE = resource("cbt_bench", "criteria")
#: What exercises are sorted by, beside the categories of Table 12.
DIFFICULTIES: tuple[str, ...] = tuple(_TABLE["difficulties"])
#: Attributes of every comparison, in order: four criteria, whose meaning is the category's.
ATTRIBUTES: tuple[str, ...] = tuple(_TABLE["attributes"])
#: Category -> what its responses are compared on (Table 13).
CRITERIA: dict[str, tuple[str, ...]] = {
    category: tuple(texts) for category, texts in _TABLE["criteria"].items()
}


def make(
    rubric: Rubric | str = "",  # noqa: ARG001 - judges are made with the study's rubric
    *,
    criteria: Mapping[str, Sequence[str]] | None = None,
    sampling: Sampling = Sampling(temperature=0.0),
) -> PairwiseJudge:
    """A judge of level III (`use = "cbt-dp"`): a pairwise judge on the category's criteria.

    Parameters
    ----------
    criteria : mapping of str to sequence of four str, optional
        In place of Table 13's.
    sampling : Sampling
        Sent with every request.

    Raises
    ------
    InputError
        A category has other than four criteria.
    """
    compared_on = CRITERIA if criteria is None else criteria
    for category, texts in compared_on.items():
        if len(texts) != len(ATTRIBUTES) - 1:
            raise InputError(f"cbt-dp: category {category!r} needs four criteria, got {texts!r}")
    asked = (
        *(Attribute(name) for name in ATTRIBUTES[:-1]),
        Attribute(ATTRIBUTES[-1], _TABLE["overall"]),
    )
    compared = Rubric("cbt-dp", asked, Scale(-2, 2))
    return make_pairwise(
        compared, criteria_by="category", criteria_of=compared_on, sampling=sampling
    )


def experts(names: Sequence[str], reason: str) -> dict[str, Any]:
    """The part of a study by which people compare too; `reason` is what they are asked to say."""
    asked = {**_TABLE["experts"], "raters": list(names), "criteria_of": _TABLE["criteria"]}
    return {**asked, "reason": reason} if reason else asked
