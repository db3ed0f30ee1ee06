"""The judge whose question another judge asks, as options `judge` and `options` name it."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.lazy import check_options
from voirdire.protocols import SaysTask
from voirdire.schema import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire import Plugins
    from voirdire.protocols import Judge
    from voirdire.schema import Request, Rubric, Sampling
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
    factory = plugins.resolve("judge", name)
    takes = inspect.signature(factory).parameters
    around = {"study": study, "plugins": plugins, "sampling": sampling}
    handed = {key: one for key, one in around.items() if one is not None and key in takes}
    if sampling is not None:  # a judge that takes none says so
        handed["sampling"] = sampling
    where = f"judge {name!r}, key 'options'"
    check_options(factory, options or {}, where, [next(iter(takes), ""), *around])
    made: Judge = factory(rubric, **(options or {}), **handed)
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
