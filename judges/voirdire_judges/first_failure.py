"""`first-failure`: names the first turn of a conversation where something fails, or none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.schema import Sampling, Scale
from voirdire_judges.rubric import RubricJudge
from voirdire_judges.rubrics import load_rubric

if TYPE_CHECKING:
    from voirdire.schema import Rubric

#: What the judge is told first.
INSTRUCTIONS = (
    "You are shown a conversation whose turns have numbers in square brackets. For each point "
    "below name the number of the first turn in which it fails, counting every numbered turn. "
    "Answer 0 where it does not fail in any turn."
)
#: Turns that a conversation has at most, unless the study says otherwise.
MOST = 1_000


def make(
    rubric: Rubric | str,
    *,
    most: int = MOST,
    instructions: str = "",
    sampling: Sampling = Sampling(temperature=0.0),
) -> RubricJudge:
    """A judge of first failures (`use = "first-failure"`, with `unit = "first"`).

    Each attribute of the rubric is a point that may fail; its score is the number of the first turn
    where it does, and 0 where it never does.

    Parameters
    ----------
    rubric : Rubric or str
        The points and what failing means, by their descriptions; its scale plays no part.
    most : int
        The largest number that is read as a turn.
    instructions : str
        What the judge is told first, in place of our words.
    sampling : Sampling
        Sent with every request.

    Raises
    ------
    InputError
        The rubric has no attributes, or `most` is below 1.

    Examples
    --------
    >>> from voirdire.schema import Attribute, Reply, Rubric
    >>> judge = make(Rubric("r", (Attribute("Safety", "It gives advice that may do harm."),)))
    >>> judge.parse([Reply('{"Safety": 4}')]).scores
    {'Safety': 4.0}
    """
    if most < 1:
        raise InputError(f"first-failure judge: most is the largest number of a turn, got {most}")
    asked = load_rubric(rubric) if isinstance(rubric, str) else rubric
    if not asked.attributes:
        raise InputError(f"first-failure judge: rubric {asked.name!r} has no attributes")
    points = tuple(replace(one, levels={}) for one in asked.attributes)
    told = instructions.strip() or INSTRUCTIONS
    return RubricJudge(
        replace(
            asked,
            attributes=points,
            scale=Scale(0, most),
            composites={},
            output="",
            instructions=told,
        ),
        sampling=sampling,
    )
