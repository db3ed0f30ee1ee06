"""`cbt-dp`: two responses compared on the four criteria of the exercise's category, and overall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.schema import Attribute, Parsed, Request, Rubric, Sampling, Scale
from voirdire_judges.pairwise import PairwiseJudge
from voirdire_plugins.cbt_bench.criteria import ATTRIBUTES, CRITERIA, OVERALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Comparison, Reply

_SCALE = Scale(-2, 2)


@dataclass(frozen=True, slots=True)
class ExerciseJudge:
    """A pairwise judge whose criteria are those of the exercise's category. Pure and blind."""

    criteria: Mapping[str, Sequence[str]] = field(default_factory=lambda: CRITERIA)
    sampling: Sampling = Sampling(temperature=0.0)
    task: str = "comparison"

    def requests(self, task: Comparison) -> list[Request]:
        """One request, the category's criteria in it.

        Raises
        ------
        InputError
            The item's `extra["category"]` has no criteria.
        """
        category = task.item.extra.get("category")
        if category not in self.criteria:
            raise InputError(
                f"cbt-dp: category {category!r} of exercise {task.item.id!r} has no criteria "
                f"(categories: {'; '.join(self.criteria)})"
            )
        return self._judge(self.criteria[str(category)]).requests(task)

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """One score a criterion in -2..2; > 0 prefers the response shown first."""
        return self._judge(ATTRIBUTES[:-1]).parse(replies)

    def _judge(self, criteria: Sequence[str]) -> PairwiseJudge:
        texts = (*criteria, OVERALL)
        attributes = tuple(Attribute(n, t) for n, t in zip(ATTRIBUTES, texts, strict=True))
        rubric = Rubric("cbt-dp", attributes, _SCALE)
        return PairwiseJudge(rubric, self.sampling)


def make(
    rubric: Rubric | str = "",  # noqa: ARG001 - judges are made with the study's rubric
    *,
    criteria: Mapping[str, Sequence[str]] | None = None,
    sampling: Sampling = Sampling(temperature=0.0),
) -> ExerciseJudge:
    """A judge of level III (`use = "cbt-dp"`).

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
    return ExerciseJudge(found, sampling)
