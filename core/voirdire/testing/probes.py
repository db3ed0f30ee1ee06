"""The contract of probes: one pure change, and what a sound judge makes of it."""

from __future__ import annotations

from typing import Any, get_args

from voirdire.probes import Expectation, PairProbe, Probe, RequestProbe, ResponseProbe, StoredProbe
from voirdire.schema import Comparison, Item, Message, Request, Response
from voirdire.testing.checks import Checks, name_of, shown
from voirdire.testing.hostile import TEXTS

_ITEM = Item("1", "I keep putting things off.")
_MILD = "Pick one small task. Spend five minutes on it, then rest. You may find it easier."
_PURE = "A change reads no clock and no random number, and asks no model."


def check_probe(probe: Any) -> None:
    """Check a probe, as `voirdire_register_probes` names it.

    Raises
    ------
    ContractError
        All that does not hold, with a hint each.

    Examples
    --------
    >>> check_probe(
    ...     ResponseProbe(
    ...         "shout", lambda item, response: response.text.upper(), says="Capitals only."
    ...     )
    ... )
    """
    checks = Checks(f"the probe {getattr(probe, 'name', None) or name_of(probe)}")
    if not checks.hold(
        isinstance(probe, Probe),
        f"it is a {type(probe).__name__}",
        "Register a voirdire.probes.ResponseProbe, RequestProbe, PairProbe or StoredProbe.",
    ):
        checks.done()
    checks.hold(probe.name, "it has no name", "It is asked for by its name.")
    checks.hold(
        probe.says, "it does not say what it changes", "`says` is a sentence of the report."
    )
    checks.hold(
        probe.expects in get_args(Expectation),
        f"it expects {probe.expects!r}",
        f"A probe expects one of {', '.join(get_args(Expectation))}.",
    )
    # A stored probe changes no text: its pairs lie in the data.
    for text in (_MILD, *TEXTS):
        if isinstance(probe, PairProbe):
            _check_pair(checks, probe, text)
        elif not isinstance(probe, StoredProbe):
            _check_change(checks, probe, text)
    if isinstance(probe, StoredProbe):
        checks.hold(callable(probe.pairs), "its pairs cannot be called", "`pairs` is a function.")
    checks.done()


def _check_pair(checks: Checks, probe: PairProbe, text: str) -> None:
    with checks.safely(
        f"its change raises on {shown(text)}", "Return the pair as it is where it does not apply."
    ):
        pair = Comparison(_ITEM, Response("1", "a", text), Response("1", "b", _MILD))
        # Twice: what reads a clock or a random number shows itself.
        first, again = probe.change(pair), probe.change(pair)
        checks.hold(
            isinstance(first, Comparison),
            f"its change gives a {type(first).__name__}",
            "A voirdire.schema.Comparison.",
        )
        checks.hold(first == again, f"its change of {shown(text)} varies", _PURE)


def _check_change(checks: Checks, probe: ResponseProbe | RequestProbe, text: str) -> None:
    with checks.safely(
        f"its change raises on {shown(text)}", "Return None where it does not apply."
    ):
        if isinstance(probe, RequestProbe):
            request = Request((Message("system", "Rate it."), Message("user", text)), seed=3)
            first: Any = probe.change(request)
            again: Any = probe.change(request)
            checks.hold(
                # The seed stands for all that a change has no business with.
                isinstance(first, Request) and first.seed == 3,
                "its change gives no Request, or loses what else was asked",
                "Use dataclasses.replace(request, messages=...).",
            )
            checks.hold(first == again, f"its change of {shown(text)} varies", _PURE)
            return
        response = Response("1", "a", text)
        for change in probe.changes:
            first, again = change(_ITEM, response), change(_ITEM, response)
            checks.hold(
                first is None or isinstance(first, str),
                f"its change gives a {type(first).__name__}",
                "The changed text, or None where it does not apply.",
            )
            checks.hold(first == again, f"its change of {shown(text)} varies", _PURE)
