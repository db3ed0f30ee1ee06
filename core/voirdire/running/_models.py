"""Models made from their names, one a distinct name and options, and called in one way."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

from voirdire._errors import PluginError, StudyError, VoirdireError
from voirdire.running._stop import GRACE
from voirdire.store import scrub

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from voirdire._registry import Plugins
    from voirdire.schema import Reply, Request

Complete = "Callable[[Request], Awaitable[Reply]]"


def make_model(name: str, options: Mapping[str, Any], plugins: Plugins, timeout: float) -> Any:
    """The model behind `prefix:name`; one that takes a `timeout` gets the run's, if given none.

    Raises
    ------
    StudyError
        The name has no prefix.
    PluginError
        Nobody registered the prefix, or the model does not take an option, cannot be made or is
        none.
    """
    factory, rest = model_factory(name, plugins), name.partition(":")[2]
    own = {"timeout": timeout} if "timeout" in inspect.signature(factory).parameters else {}
    try:
        model = factory(rest, **{**own, **options})
    except VoirdireError:
        raise
    except TypeError as error:
        raise PluginError(f"model {name!r} does not take these options: {error}") from error
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"model {name!r} cannot be made: {what}") from error
    if not callable(getattr(model, "complete", None)):
        raise PluginError(f"model {name!r} is a {type(model).__name__}, which has no `complete`")
    return model


def model_factory(name: str, plugins: Plugins) -> Callable[..., Any]:
    """What makes the models of a prefix; errors as `make_model`."""
    prefix, colon, _ = name.partition(":")
    if not colon:
        raise StudyError(
            f"model {name!r}: a model is named prefix:name (prefixes: "
            f"{', '.join(plugins.names('model')) or 'none'})"
        )
    factory: Callable[..., Any] = plugins.resolve("model", prefix)
    return factory


def completer(model: Any) -> Callable[[Request], Awaitable[Reply]]:
    """The model's `complete`; one that blocks is called in a thread of its own.

    The thread is a daemon, so that a call that never returns cannot keep the process alive.
    """
    if inspect.iscoroutinefunction(model.complete):
        complete: Callable[[Request], Awaitable[Reply]] = model.complete
        return complete

    async def in_thread(request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()

        def deliver(reply: Reply | None, error: BaseException | None) -> None:
            if answer.done():
                return  # given up in the meantime
            if error is None and reply is not None:
                answer.set_result(reply)
            else:
                answer.set_exception(error or TypeError("the model returned None"))

        def work() -> None:
            try:
                outcome: tuple[Reply | None, BaseException | None] = (model.complete(request), None)
            except BaseException as error:  # noqa: BLE001 - handed over to the awaiting task
                outcome = (None, error)
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, *outcome)

        threading.Thread(target=work, name="voirdire-model", daemon=True).start()
        reply = await answer
        if inspect.isawaitable(reply):  # a coroutine function behind a wrapper
            return cast("Reply", await reply)
        return reply

    return in_thread


async def close_model(model: Any) -> None:
    """Close what the model holds open, if it says how; failing at that undoes no run."""
    close = getattr(model, "aclose", None)
    if close is None:
        return
    try:
        async with asyncio.timeout(GRACE):
            closing = close()
            if inspect.isawaitable(closing):
                await closing
    except Exception as error:  # noqa: BLE001 - a plugin's model may raise anything at all
        said = scrub(f"{type(error).__name__}: {error}")
        sys.stderr.write(f"voirdire: {model!r:.80} could not be closed: {said}\n")
