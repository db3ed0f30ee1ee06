"""Which contract is whose, and all of them on what is installed."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import ContractError, InputError, MissingExtraError, VoirdireError
from voirdire.testing.benchmarks import check_benchmark
from voirdire.testing.classifiers import check_classifier
from voirdire.testing.executors import check_executor
from voirdire.testing.makers import check_maker
from voirdire.testing.models import check_model
from voirdire.testing.optimizers import check_optimizer
from voirdire.testing.probes import check_probe
from voirdire.testing.raters import check_annotator, check_generator, check_judge
from voirdire.testing.readers import check_reader
from voirdire.testing.selectors import check_selector
from voirdire.testing.tools import check_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voirdire._registry import Plugins, Registered

#: Kind of what is registered -> its contract test.
CONTRACTS: Mapping[str, Callable[..., None]] = {
    "model": check_model,
    "judge": check_judge,
    "annotator": check_annotator,
    "generator": check_generator,
    "classifier": check_classifier,
    "selector": check_selector,
    "tool": check_tool,
    "probe": check_probe,
    "reader": check_reader,
    "benchmark": check_benchmark,
    "executor": check_executor,
    "maker": check_maker,
    "optimizer": check_optimizer,
}
#: What a contract test hands to a factory.
_HANDED = {
    "model": {"model_name"}, "judge": {"rubric", "sampling"}, "classifier": {"classes", "task"},
    "selector": {"test"},
}  # fmt: skip
_NO_FACTORY = {"probe", "reader", "benchmark", "maker"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one contract test.

    Attributes
    ----------
    kind, name : str
        As it is registered.
    state : {"holds", "broken", "not checked"}
    problems : tuple of str
        What does not hold; of what was not checked why.
    """

    kind: str
    name: str
    state: Literal["holds", "broken", "not checked"]
    problems: tuple[str, ...] = ()


def check_registered(registered: Registered, plugins: Plugins, *, ask: bool = False) -> Outcome:
    """The contract test of one registered name, without options.

    Not checked, with the reason: what needs options or an extra, and, unless `ask`, models (asking
    one may cost money or draw weights; it is asked under the name ``test``).

    Examples
    --------
    >>> from voirdire import plugins
    >>> known = plugins()
    >>> check_registered(known.get("judge", "rubric"), known).state
    'holds'
    """
    try:
        thing = plugins.resolve(registered.kind, registered.name)
        # Asked before anything is called: a model may cost money, and an executor needs a cluster.
        why = _unready(registered.kind, thing, ask=ask)
        if why:
            return Outcome(registered.kind, registered.name, "not checked", (why,))
        CONTRACTS[registered.kind](thing)
    except ContractError as error:
        return Outcome(registered.kind, registered.name, "broken", error.problems)
    except (InputError, MissingExtraError) as error:  # what it is in want of, in its own words
        return Outcome(registered.kind, registered.name, "not checked", (str(error),))
    except VoirdireError as error:
        return Outcome(registered.kind, registered.name, "broken", (str(error),))
    return Outcome(registered.kind, registered.name, "holds")


def _unready(kind: str, thing: Any, *, ask: bool) -> str:
    """Why it cannot be checked as it is; empty where it can."""
    if kind == "model" and not ask:
        return "it would be asked; --ask does that, or check_model in a test of yours"
    if kind == "executor":
        return "it needs an address; check it in a test of yours by check_executor"
    if kind in _NO_FACTORY:
        return ""
    needed = [
        name
        for name, one in inspect.signature(thing).parameters.items()
        if one.default is inspect.Parameter.empty
        and one.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        and name not in _HANDED.get(kind, {"sampling"})
    ]
    if needed:
        hint = f"check it in a test of yours by voirdire.testing.check_{kind}"
        return f"it needs {', '.join(needed)}; {hint}"
    return ""
