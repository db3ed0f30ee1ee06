"""The contract of executors: one sum, whatever the order in which its parts are ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.testing.checks import Checks, name_of

if TYPE_CHECKING:
    from voirdire.protocols import Executor

_ORDER = "Add results in the order of the parts: a sum of floats must not depend on who was faster."


def check_executor(make: Any, address: str = "") -> None:
    """Check an executor's factory, as `voirdire_register_executors` names it. It computes.

    Parameters
    ----------
    make : callable
        ``make(address, *, insecure=False) -> Executor``.
    address : str
        What would stand behind ``--workers``.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> from voirdire.executors import here
    >>> check_executor(here)
    """
    checks = Checks(f"the executor {name_of(make)}")
    executor: Executor = checks.made(make, address, insecure=False)
    try:
        _check_sums(checks, executor)
    finally:
        with checks.safely("close raises", "It is called at the end, also of a run that failed."):
            executor.close()
    checks.done()


def _check_sums(checks: Checks, executor: Executor) -> None:
    with checks.safely(
        "map_reduce raises on a sum of 20 parts", "See voirdire.protocols.Executor."
    ):
        total = executor.map_reduce(abs, iter(range(-20, 0)))
        checks.hold(total == 210, f"the sum of 1 to 20 is {total}", "Every part once, none twice.")
        # Joining texts shows the order, which a sum of numbers hides.
        words = executor.map_reduce(str, range(12))
        checks.hold(words == "01234567891011", f"parts are added as {words}", _ORDER)
    # Caught here and not by `safely`: that it raises is what is wanted.
    raised: Exception | None = None
    try:
        executor.map_reduce(int, ["1", "no number"])
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        raised = error
    checks.hold(
        isinstance(raised, ValueError) and "no number" in str(raised),
        f"a part whose computing raises ends in {raised!r}",
        "What `partial` raises is raised again: it is no fault of the workers.",
    )
