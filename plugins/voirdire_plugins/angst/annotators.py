"""`angst`: the zero- and few-shot prompts of Hengle et al. (2024), Table 9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import check_allowed
from voirdire.schema import Sampling
from voirdire_judges.yes_no import Wording, YesNoAnnotator
from voirdire_judges.yes_no import make as make_yes_no
from voirdire_plugins.angst.labels import LABELS
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire import Plugins
    from voirdire.study import Study

#: Task -> the labels it asks for. Comorbidity is asked as two labels at once.
TASKS = {"depression": ("depression",), "anxiety": ("anxiety",), "comorbidity": LABELS}

#: A.3: top-p decoding with p = 0.95, three runs.
TOP_P, RUNS = 0.95, 3

_PROMPTS = resource("angst", "prompts")


def wording(task: str) -> Wording:
    """The prompts of one task.

    >>> "clinical anxiety" in wording("anxiety").few
    True
    """
    asked = _PROMPTS["both" if task == "comorbidity" else "one"]
    zero, few = (asked[shots].replace("{label}", task) for shots in ("zero", "few"))
    return Wording(zero, few, _PROMPTS["closing"]["text"], fenced=True)


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
    check_allowed("task", [task], TASKS, "angst annotator")
    return make_yes_no(
        labels=TASKS[task],
        wording=wording(task),
        examples=None if examples is None else {"labels": list(LABELS), **examples},
        sampling=sampling,
        study=study,
        plugins=plugins,
    )
