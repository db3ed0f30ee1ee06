"""Annotators of levels I and II, with or without examples, and the generator of level III."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voirdire import InputError
from voirdire.errors import check_allowed
from voirdire.schema import Sampling
from voirdire_judges.chat import ChatGenerator
from voirdire_judges.choice import ChoiceJudge, FixedExamples
from voirdire_judges.choice import make as make_choice
from voirdire_plugins.cbt_bench.data import read_examples, read_seeds
from voirdire_plugins.cbt_bench.labels import DEFINITIONS, TASKS, LabelTask, plain
from voirdire_plugins.resources import resource, with_definitions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.protocols import Embedder, ExampleSelector

_PROMPTS = resource("cbt_bench", "prompts")
_HOW = ("fixed", "nearest")


def make_qa(
    *,
    letters: int = 5,
    several: bool = False,
    examples: Sequence[Mapping[str, Any]] = (),
    sampling: Sampling = Sampling(temperature=0.0),
) -> ChoiceJudge:
    """Level I (`use = "cbt-qa"`): the item's text is the question, `extra["choices"]` its options.

    Parameters
    ----------
    letters : int
        The most options that a question has; ratings are keyed by the letters A, B, ...
    several : bool
        Whether some questions have several right choices (`extra["several"]` says which).
    examples : sequence of mapping
        Questions with ``text``, ``choices`` and ``answer`` that are shown, with their answers,
        before every question; the paper shows none.
    sampling : Sampling
        Sent with every request; the paper asks at temperature 0.
    """
    return make_choice(
        prompt=_PROMPTS["qa"],
        several_prompt=_PROMPTS["qa_several"] if several else "",
        letters=letters,
        several=several,
        examples=examples,
        sampling=sampling,
    )


def make_task(
    task: LabelTask,
    *,
    data: str = "",
    k: int = 0,
    examples: Literal["fixed", "nearest"] = "fixed",
    embedder: str | Embedder = "all-mpnet-base-v2",
    definitions: bool = False,
    sampling: Sampling = Sampling(temperature=0.0),
) -> ChoiceJudge:
    """The annotator of one task of level II.

    Parameters
    ----------
    task : LabelTask
    data : str
        The folder of the published files; needed where k > 0.
    k : int
        Seed examples shown before the question; 0 is zero-shot, as in the paper.
    examples : {"fixed", "nearest"}
        The first k for every item, or the k nearest to it through retrieval.
    embedder : str
        For ``"nearest"``; see `voirdire_retrieval.open_embedder`.
    definitions : bool
        Put the definitions of Tables 9 and 10 before the question, which the paper does not.
    sampling : Sampling
        Sent with every request; the paper asks at temperature 0.

    Raises
    ------
    InputError
        Definitions of a task that has none (CBT-FC); k > 0 without `data`, or beyond the number
        of seeds; another way to choose; a seed that stands in the test set.
    """
    return ChoiceJudge(
        prompt=_prompt(task, definitions=definitions),
        options=task.labels,
        shown={label: plain(label) for label in task.labels},
        several=True,
        at_most=task.at_most,
        examples=_selector(task, data, k, examples, embedder) if k else None,
        k=k,
        sampling=sampling,
    )


#: CBT-CD: up to three of ten distortions; CBT-PC: the primary core beliefs; CBT-FC: up to nine of
#: 19 fine-grained ones. Options are those of `make_task`.
make_cd, make_pc, make_fc = (partial(make_task, task) for task in TASKS.values())


def make_dp(*, sampling: Sampling = Sampling(temperature=0.7)) -> ChatGenerator:
    """A generator of level III (`use = "cbt-dp"`); the paper's temperature is 0.7.

    It answers a client's statement in about as many words as the reference has, which stand in the
    prompt by their number alone (Table 22).
    """
    return ChatGenerator(_PROMPTS["dp"], sampling, length_of="reference", trimmed=True)


def _prompt(task: LabelTask, *, definitions: bool) -> str:
    if not definitions:
        return str(_PROMPTS[task.key])
    lacking = [label for label in task.labels if label not in DEFINITIONS]
    if lacking:
        raise InputError(f"{task.name}: the paper defines no label such as {lacking[0]!r}")
    defined = {label: DEFINITIONS[label] for label in task.labels}
    return with_definitions(_PROMPTS[task.key], defined, before="Question:")


def _selector(
    task: LabelTask, data: str, k: int, how: str, embedder: str | Embedder
) -> ExampleSelector:
    if not data:
        raise InputError(f"{task.name}: option 'data' must name the folder of the seed examples")
    check_allowed("examples", [how], _HOW, task.name)
    seeds = read_seeds(Path(data), task, k)
    if how == "fixed":
        return FixedExamples(tuple(seed.shot for seed in seeds))
    from voirdire_retrieval import nearest_examples  # noqa: PLC0415 - an extra

    selector: ExampleSelector = nearest_examples(seeds, embedder, read_examples(Path(data), task))
    return selector
