"""The judge whose question another judge asks, as options `judge` and `options` name it."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.lazy import check_options
from voirdire.protocols import SaysTask
from voirdire.schema import Message, Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire import Plugins
    from voirdire.protocols import Judge
    from voirdire.schema import Request, Rubric
    from voirdire.study import Study


def inner_judge(
    name: str,
    rubric: Rubric | str,
    options: Mapping[str, Any] | None,
    sampling: Sampling | None,
    plugins: Plugins,
    study: Study | None = None,
) -> Judge:
    """The judge of that name; a factory that takes `study` or `plugins` is handed them."""
    return _made("judge", name, (rubric,), options, sampling, plugins, study)


def inner_annotator(
    name: str,
    options: Mapping[str, Any] | None,
    sampling: Sampling | None,
    plugins: Plugins,
    study: Study | None = None,
) -> Judge:
    """The annotator of that name, as `inner_judge`."""
    return _made("annotator", name, (), options, sampling, plugins, study)


def _made(
    kind: str,
    name: str,
    given: tuple[Any, ...],
    options: Mapping[str, Any] | None,
    sampling: Sampling | None,
    plugins: Plugins,
    study: Study | None,
) -> Judge:
    factory = plugins.resolve(kind, name)
    takes = inspect.signature(factory).parameters
    around = {"study": study, "plugins": plugins, "sampling": sampling}
    handed = {key: one for key, one in around.items() if one is not None and key in takes}
    if sampling is not None:  # one that takes none says so
        own = takes["sampling"].default if "sampling" in takes else None
        said = {f.name: getattr(sampling, f.name) for f in fields(sampling)}
        said = {key: value for key, value in said.items() if value is not None}
        # What nobody said stays as that one has it: some default to temperature 0.
        handed["sampling"] = replace(own, **said) if isinstance(own, Sampling) else sampling
    where = f"{kind} {name!r}, key 'options'"
    check_options(factory, options or {}, where, [*list(takes)[: len(given)], *around])
    made: Judge = factory(*given, **(options or {}), **handed)
    return made


def task_of(judge: Judge) -> str:
    """What a judge is asked about: ratings, where it does not say."""
    return judge.task if isinstance(judge, SaysTask) else "rating"


def only_question(judge: Judge, task: Any, whose: str) -> list[Request]:
    """The one request that a judge makes of a task; none where the task has nothing to judge.

    Raises
    ------
    InputError
        It asks several: what is said between question and answer would belong to none of them.
    """
    asked = judge.requests(task)
    if len(asked) > 1:
        raise InputError(f"{whose}: its judge must ask one question a task, all attributes in one")
    return asked


def told_more(request: Request, text: str) -> Request:
    """The request with a further paragraph in its system message, or in one of its own.

    Not every judge has a system message, and many chat formats take one alone.
    """
    messages = list(request.messages)
    at = next((place for place, one in enumerate(messages) if one.role == "system"), None)
    if at is None:
        messages.insert(0, Message("system", text))
    else:
        messages[at] = replace(messages[at], content=f"{messages[at].content}\n\n{text}")
    return replace(request, messages=tuple(messages))
