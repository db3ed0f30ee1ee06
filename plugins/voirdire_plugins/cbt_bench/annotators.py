"""Annotators of levels I and II: the paper's prompts, zero-shot or with seed examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from voirdire import InputError
from voirdire.errors import not_one_of
from voirdire.schema import Sampling
from voirdire_judges.choice import ChoiceJudge, FixedExamples
from voirdire_plugins.cbt_bench.data import read_examples
from voirdire_plugins.cbt_bench.labels import DEFINITIONS, TASKS, LabelTask, plain
from voirdire_plugins.cbt_bench.seeds import as_shot, nearest_examples, read_seeds
from voirdire_plugins.resources import resource

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
    return ChoiceJudge(
        prompt=_PROMPTS["qa"],
        several_prompt=_PROMPTS["qa_several"] if several else "",
        letters=letters,
        several=several,
        examples=FixedExamples(tuple(examples)) if examples else None,
        k=len(examples),
        sampling=sampling,
    )


def make_cd(**options: Any) -> ChoiceJudge:
    """CBT-CD (`use = "cbt-cd"`): up to three of ten distortions; options as of `make_task`."""
    return make_task(TASKS["cd"], **options)


def make_pc(**options: Any) -> ChoiceJudge:
    """CBT-PC (`use = "cbt-pc"`): the primary core beliefs; options as of `make_task`."""
    return make_task(TASKS["pc"], **options)


def make_fc(**options: Any) -> ChoiceJudge:
    """CBT-FC (`use = "cbt-fc"`): up to nine of 19 fine-grained beliefs; as `make_task`."""
    return make_task(TASKS["fc"], **options)


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
        prompt=_defined(task) if definitions else _PROMPTS[task.key],
        options=task.labels,
        shown={label: plain(label) for label in task.labels},
        several=True,
        at_most=task.at_most,
        examples=_selector(task, data, k, examples, embedder) if k else None,
        k=k,
        sampling=sampling,
    )


def _defined(task: LabelTask) -> str:
    """The prompt of a task with the definitions of its labels before the question."""
    lacking = [label for label in task.labels if label not in DEFINITIONS]
    if lacking:
        raise InputError(f"{task.name}: the paper defines no label such as {lacking[0]!r}")
    lines = "\n".join(f"{label}: {DEFINITIONS[label]}" for label in task.labels)
    return str(_PROMPTS[task.key]).replace("Question:", f"Definitions:\n{lines}\nQuestion:", 1)


def _selector(
    task: LabelTask, data: str, k: int, how: str, embedder: str | Embedder
) -> ExampleSelector:
    if not data:
        raise InputError(f"{task.name}: option 'data' must name the folder of the seed examples")
    if how not in _HOW:
        raise not_one_of("examples", how, ("fixed", "nearest"), task.name)
    seeds = read_seeds(Path(data), task)
    if not 0 < k <= len(seeds):
        raise InputError(
            f"{task.name}: option 'k' is {k}, and there are {len(seeds)} seed examples"
        )
    if how == "fixed":
        return FixedExamples(tuple(map(as_shot, seeds)))
    return nearest_examples(seeds, embedder, read_examples(Path(data), task))
