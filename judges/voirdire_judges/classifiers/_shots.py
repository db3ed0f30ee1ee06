"""The prompt of an LLM classifier: what it is asked, and the examples it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire_judges.prompts._delimit import MARKS_NOTE, delimited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ONE = "Read the text and decide which one of these labels fits it best: {labels}."
_SEVERAL = "Read the text and decide which of these labels apply to it: {labels}."
_ANSWER_ONE = "Answer with nothing but that label."
_ANSWER_SEVERAL = "Answer with nothing but the labels that apply, as a comma-separated list."


def prompt_of(
    classes: Sequence[str], task: str, none: str = "", examples: Sequence[tuple[str, str]] = ()
) -> str:
    """The instructions, and examples as pairs of text and answer.

    >>> print(prompt_of(["calm", "loud"], "binary"))
    Read the text and decide which one of these labels fits it best: calm; loud.
    <BLANKLINE>
    Answer with nothing but that label.
    """
    several = task == "multi-label"
    asked = (_SEVERAL if several else _ONE).replace("{labels}", "; ".join(classes))
    answer = _ANSWER_SEVERAL if several else _ANSWER_ONE
    if several and none:
        answer += f" If no other label applies, answer {none}."
    blocks = [asked, answer]
    if examples:
        blocks.append(f"Examples, each with its answer. {MARKS_NOTE}")
    blocks += [f"{delimited(text, 'EXAMPLE')}\nAnswer: {said}" for text, said in examples]
    return "\n\n".join(blocks)


def choose_shots(
    texts: Sequence[str],
    labels: NDArray[np.int8],
    classes: Sequence[str],
    shots: int,
    seed: int,
) -> list[tuple[str, str]]:
    """Examples drawn from the training data, class by class in turn, so that rare ones are shown.

    Examples
    --------
    >>> labels = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.int8)
    >>> [said for _, said in choose_shots(["a", "b", "c"], labels, ["calm", "loud"], 2, 0)]
    ['calm', 'loud']
    """
    rng = np.random.default_rng(seed)
    queues = [rng.permutation(np.flatnonzero(column)).tolist() for column in labels.T]
    taken: list[int] = []
    while len(taken) < shots and any(queues):
        for queue in queues:
            fresh = [place for place in queue if place not in taken]
            queue[:] = fresh[1:]
            if fresh and len(taken) < shots:
                taken.append(fresh[0])
    names = np.asarray(classes)
    return [(texts[place], ", ".join(names[labels[place] == 1].tolist())) for place in taken]
