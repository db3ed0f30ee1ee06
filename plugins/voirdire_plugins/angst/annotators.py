"""`angst`: the zero- and few-shot prompts of Hengle et al. (2024), Table 9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire import InputError
from voirdire.schema import Sampling
from voirdire_judges.yes_no import Wording, YesNoAnnotator
from voirdire_judges.yes_no import make as make_yes_no
from voirdire_plugins.angst.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire._registry import Plugins
    from voirdire.study import Study

#: Task -> the labels it asks for. Comorbidity is asked as two labels at once.
TASKS = {"depression": ("depression",), "anxiety": ("anxiety",), "comorbidity": LABELS}

#: A.3: top-p decoding with p = 0.95, three runs.
TOP_P, RUNS = 0.95, 3

_CLOSING = "Based on the above, assess the content of the following post:"
_ONE_ZERO = (
    "Assess whether the content of the post delimited by triple backticks aligns with the criteria "
    "for clinical {label} as defined in DSM-5. Format your response as a JSON object "
    "{{'{label}': ''}} with values strictly either 'yes' or 'no'.\n\n"
    "Do not return anything else apart from the json object."
)
_ONE_FEW = (
    "Below are posts and their respective assessments based on the criteria for clinical {label} "
    "as defined in the DSM-5.\n\n"
    "Format your response as a JSON object {{'{label}': ''}} with values either 'yes' or 'no'."
)
_BOTH_ZERO = (
    "This person wrote this paragraph on social media. As a psychologist, read the post on social "
    "media and answer the following questions.\n\n"
    "1. Does the poster of this post have anxiety?\n"
    "2. Does the poster of this post have depression?\n\n"
    "Format your response as a JSON object {'depression': '', 'anxiety': ''} with values strictly "
    "either 'yes' or 'no'. Do not return anything else apart from the json object."
)
_BOTH_FEW = (
    "Below are posts and their respective assessments based on the criteria for clinical "
    "depression and clinical anxiety as defined in the DSM-5.\n\n"
    "Format your response as a JSON object {'depression': '', 'anxiety': ''} with values either "
    "'yes' or 'no'."
)


def wording(task: str) -> Wording:
    """The prompts of one task.

    >>> "clinical anxiety" in wording("anxiety").few
    True
    """
    if task == "comorbidity":
        return Wording(_BOTH_ZERO, _BOTH_FEW, _CLOSING, fenced=True)
    return Wording(_ONE_ZERO.format(label=task), _ONE_FEW.format(label=task), _CLOSING, fenced=True)


def examples_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Examples as a study asks for them; all tasks share one pool with both labels."""
    return {"labels": list(LABELS), **spec}


def make(
    *,
    task: str,
    examples: Mapping[str, Any] | None = None,
    sampling: Sampling = Sampling(top_p=TOP_P),
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> YesNoAnnotator:
    """An annotator of posts (`use = "angst"`).

    Parameters
    ----------
    task : {"depression", "anxiety", "comorbidity"}
    examples : mapping, optional
        Few-shot: ``{selector = "nearest", pool = "silver.jsonl", k = 2, embedder = ...}``, as in
        the `yes-no` annotator. Zero-shot without it.
    sampling : Sampling
        Sent with every request; top-p is the paper's 0.95.
    study, plugins
        Handed over by the runner.

    Raises
    ------
    InputError
        Another task.

    Examples
    --------
    >>> from voirdire.schema import Item, Reply
    >>> annotator = make(task="comorbidity")
    >>> annotator.parse([Reply('{"depression": "no", "anxiety": "Yes"}')]).scores
    {'depression': 0.0, 'anxiety': 1.0}
    >>> annotator.requests(Item("1", "I slept well."))[0].top_p
    0.95
    """
    if task not in TASKS:
        raise InputError(f"angst annotator: task must be one of {', '.join(TASKS)}, got {task!r}")
    return make_yes_no(
        labels=TASKS[task],
        wording=wording(task),
        examples=None if examples is None else examples_of(examples),
        sampling=sampling,
        study=study,
        plugins=plugins,
    )
