"""`distortions`: the annotator of Sharma et al., with the ranked or the multi-label prompt."""

from __future__ import annotations

from typing import Literal

from voirdire.errors import check_allowed
from voirdire.schema import Sampling
from voirdire_judges.labels import Contradiction, LabelAnnotator
from voirdire_judges.stepwise import StepwiseAnnotator
from voirdire_plugins.distortions.labels import AT_MOST, LABELS, PROMPTS, STEPS, UNSURE, prompt_of


def make(
    *,
    prompt: Literal["ranked", "multi"] = "ranked",
    contradiction: Contradiction = "missing",
    guard: bool = False,
    definitions: bool = False,
    steps: Literal["", "dot", "erd"] = "",
    sampling: Sampling = Sampling(),
) -> LabelAnnotator | StepwiseAnnotator:
    """An annotator of cognitive distortions (`use = "distortions"`).

    Parameters
    ----------
    prompt : {"ranked", "multi"}
        The paper's ranked-label prompt (a dominant and at most one secondary distortion) or its
        multi-label prompt.
    contradiction : {"missing", "labels"}
        A reply that names No Distortion beside a distortion is missing, or the distortion stands.
    guard : bool
        Put the text between marks, and say so in the prompt. The paper's prompts do not.
    definitions : bool
        Define the distortions in the prompt (Table 1), which the paper's prompts do not: an
        ablation.
    steps : {"", "dot", "erd"}
        What is asked first in the same conversation: the steps of Diagnosis of Thought (Chen et al.
        2023) or of ERD (Lim et al. 2024), which section 2 names. The words are ours.
    sampling : Sampling
        Sent with every request; what is None is left to the model.

    Raises
    ------
    InputError
        There is no prompt, or there are no steps, of that name.

    Examples
    --------
    >>> from voirdire.schema import Reply
    >>> make(prompt="multi").parse([Reply("Mind-reading; Magnification (Catastrophizing)")]).ranks
    {'Mind Reading': 1, 'Magnification': 2}
    """
    check_allowed("prompt", [prompt], PROMPTS, "distortions")
    annotator = LabelAnnotator(
        LABELS,
        prompt_of(prompt, definitions=definitions),
        AT_MOST[prompt],
        contradiction,
        guard,
        sampling,
        UNSURE,
    )
    if not steps:
        return annotator
    check_allowed("steps", [steps], STEPS, "distortions")
    return StepwiseAnnotator(annotator, STEPS[steps])
