"""The judge whose question another judge asks, as options `judge` and `options` name it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire import Plugins
    from voirdire.protocols import Judge
    from voirdire.schema import Rubric, Sampling
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
    made: Judge = factory(rubric, **(options or {}), **handed)
    return made
