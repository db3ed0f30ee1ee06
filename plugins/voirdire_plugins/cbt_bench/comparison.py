"""`cbt-dp`: two responses compared on the four criteria of the exercise's category, and overall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.schema import Attribute, Rubric, Sampling, Scale
from voirdire_judges.pairwise import PairwiseJudge
from voirdire_judges.pairwise import make as make_pairwise
from voirdire_plugins.cbt_bench.criteria import ATTRIBUTES, CRITERIA, OVERALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    found = CRITERIA if criteria is None else criteria
    for category, texts in found.items():
        if len(texts) != len(ATTRIBUTES) - 1:
            raise InputError(f"cbt-dp: category {category!r} needs four criteria, got {texts!r}")
    asked = (*(Attribute(name) for name in ATTRIBUTES[:-1]), Attribute(ATTRIBUTES[-1], OVERALL))
    compared = Rubric("cbt-dp", asked, Scale(-2, 2))
    return make_pairwise(compared, criteria_by="category", criteria_of=found, sampling=sampling)
