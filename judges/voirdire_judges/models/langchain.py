"""`langchain:`: any `Runnable` that answers a message, given as an object or as an import path.

A chat model is asked as it is. A bound model, a model with fallbacks, a chain or a graph is a
`Runnable` too: what it takes is read from its input schema, what it says between question and
answer is kept as the reply's inner messages, and its tokens are those of every model inside it.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from voirdire.errors import InputError, ModelError
from voirdire.lazy import attribute_at, require
from voirdire.schema import Message, Note, Reply, ToolCall, Usage
from voirdire_judges.models._body import (
    arguments_of,
    given_to,
    items,
    mapping,
    text,
    texts_in,
    usage_of,
)
from voirdire_judges.models._endpoint import Options
from voirdire_judges.models._langchain_chat import (
    LangchainModel,
    listener,
    message_for,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Request
    from voirdire_judges.models._endpoint import OnRefused


def make(
    model_name: str | Any,
    *,
    timeout: float = 120.0,
    params: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    input_key: str = "",
    output_key: str = "",
    on_refused_parameter: OnRefused = "error",
) -> LangchainModel:
    """A LangChain model, chain or graph (`langchain:my_models:judge`).

    An import path is imported, and so its module is run: name only code that you trust.

    Parameters
    ----------
    model_name : str or Runnable
        ``"module:attribute"`` of a `Runnable` (a chat model, a bound model, a chain, a graph), or
        of a callable that makes one; or the runnable itself.
    timeout : float
        Seconds for one call in all.
    params : mapping, optional
        Passed to every call.
    arguments : mapping, optional
        Passed to the callable that makes the model.
    input_key, output_key : str, optional
        Where a chain takes the prompt and gives its answer, if it has several keys. Without them
        ``messages`` is taken, or the only key.
    on_refused_parameter : {"error", "drop"}
        What to do about a temperature, a seed or the like that the study gives to a chain. A chain
        hands it to its first step alone, where it is lost. Temperature 0, which judges ask for by
        themselves, is dropped in any case, and that is said.

    Raises
    ------
    InputError
        The path cannot be imported, what lies there is no runnable, or it takes several keys.
    MissingExtraError
        The extra `langchain` is not installed.
    """
    runnables = require("langchain_core.runnables", "langchain:", "langchain")
    models = require("langchain_core.language_models", "langchain:", "langchain")
    # Checks what the study says, as for every other model; LangChain takes neither.
    Options(timeout=timeout, on_refused_parameter=on_refused_parameter)
    runnable = (
        attribute_at(model_name, "langchain: ") if isinstance(model_name, str) else model_name
    )
    if not isinstance(runnable, runnables.Runnable) and callable(runnable):
        runnable = runnable(**(arguments or {}))
    label = model_name if isinstance(model_name, str) else type(runnable).__name__
    if not isinstance(runnable, runnables.Runnable):
        raise InputError(
            f"langchain:{label}: expected a Runnable of LangChain (a model, a chain, a graph), got "
            f"{type(runnable).__name__}"
        )
    name = f"langchain:{label}"
    if isinstance(runnable, models.BaseChatModel):
        return LangchainModel(name, runnable, timeout, params or {})
    keys = (input_key, output_key)
    return RunnableModel(
        name, runnable, timeout, params or {}, keys=keys, on_refused=on_refused_parameter
    )


class RunnableModel(LangchainModel):
    """A bound model, a chain or a graph: whatever else LangChain can invoke with a message.

    Parameters
    ----------
    keys : (str, str)
        Where the prompt goes in, and where the answer comes out; empty: as the schema says.
    on_refused : {"error", "drop"}
        What to do about a parameter that does not reach a model: a chain hands what it is given to
        its first step alone.
    """

    def __init__(
        self,
        name: str,
        model: Any,
        timeout: float,
        params: Mapping[str, Any],
        *,
        keys: tuple[str, str] = ("", ""),
        on_refused: OnRefused = "error",
    ) -> None:
        super().__init__(name, model, timeout, params)
        self._wrap = input_of(name, model, keys[0])
        self._key, self._on_refused, self._samples = keys[1], on_refused, _samples(model)

    async def _ask(self, request: Request) -> Reply:
        from langchain_core.messages import convert_to_messages  # noqa: PLC0415 - an extra

        messages = convert_to_messages(list(map(message_for, request.messages)))
        sent, notes = self._sendable(request)
        heard = listener()()
        started = time.perf_counter()
        answer = await self.model.ainvoke(self._wrap(messages), {"callbacks": [heard]}, **sent)
        seconds = time.perf_counter() - started
        message, inner = self._answer(answer, messages, heard.messages)
        reply = read(message, sent, (*self._notes, *notes), seconds, request)
        used = _total([usage_of(mapping(m.usage_metadata)) for m in heard.messages])
        return replace(reply, usage=used or reply.usage, inner=tuple(map(as_ours, inner)))

    def _sendable(self, request: Request) -> tuple[dict[str, Any], tuple[Note, ...]]:
        """The parameters for the call, and a note for each that does not reach a model."""
        asked = self._parameters(request)
        if self._samples or not asked:
            return asked, ()
        kind = type(self.model).__name__
        # A judge asks for temperature 0 by itself: a chain is not refused for what nobody has set,
        # and that it follows its own is said.
        refused = sorted(asked if self._on_refused == "error" else ())
        refused = [name for name in refused if (name, asked[name]) != ("temperature", 0)]
        if not refused:
            return {}, tuple(
                Note("dropped", name, f"a {kind} sets its own") for name in sorted(asked)
            )
        name = refused[0]
        raise ModelError(
            f"{self.name} is a {kind}, which hands the parameter {name!r} to no model: leave it "
            'out of the study, or set on_refused_parameter = "drop"',
            "refused_parameter",
            parameter=name,
        )

    def _answer(
        self, answer: Any, sent: Sequence[Any], heard: Sequence[Any]
    ) -> tuple[Any, Sequence[Any]]:
        """The message that answers, and those between it and the question."""
        from langchain_core.messages import AIMessage, BaseMessage  # noqa: PLC0415 - an extra

        last = heard[-1] if heard else None
        if (structured := self._structured(answer, last)) is not None:
            meta = {} if last is None else last.response_metadata
            return AIMessage(structured, response_metadata=meta), heard[:-1]
        answer = self._chosen(answer)
        if isinstance(answer, list | tuple) and answer and isinstance(answer[-1], BaseMessage):
            own = _after(answer, sent)
            return answer[-1], own[:-1]
        if isinstance(answer, BaseMessage):
            same = last is not None and last.content == answer.content
            return answer, heard[:-1] if same else heard
        if not isinstance(answer, str):
            raise ModelError(
                f"{self.name} answered with a {type(answer).__name__}: a message, a text or a list "
                "of messages is read",
                "malformed",
                retryable=False,
            )
        # What parses a message to a text loses how it ended; the message itself knows.
        if last is not None and last.text == answer:
            return last.model_copy(update={"tool_calls": [], "content": answer}), heard[:-1]
        meta = {} if last is None else last.response_metadata
        return AIMessage(answer, response_metadata=meta), heard

    def _structured(self, answer: Any, last: Any) -> str | None:
        """What `with_structured_output` gives, as the JSON that it was read from; else None."""
        if isinstance(answer, dict) and set(answer) == {"raw", "parsed", "parsing_error"}:
            # What could not be parsed there may be read here: the raw text is what was paid for.
            raw = answer["raw"]
            return given_to([call["args"] for call in raw.tool_calls]) or texts_in(raw.content)
        if callable(getattr(answer, "model_dump_json", None)) and not hasattr(answer, "content"):
            return str(answer.model_dump_json())
        if not isinstance(answer, dict) or self._key or self._key in answer:
            return None
        called = [] if last is None else [call["args"] for call in last.tool_calls]
        said = None if last is None else _json_in(texts_in(last.content))
        if answer in (*called, said):
            return json.dumps(answer, ensure_ascii=False, default=str)
        return None

    def _chosen(self, answer: Any) -> Any:
        """What an answer of several keys holds under the one that counts."""
        if not isinstance(answer, dict):
            return answer
        key = self._key or ("messages" if "messages" in answer else "")
        if not key and len(answer) == 1:
            key = next(iter(answer))
        if key in answer:
            return answer[key]
        raise ModelError(
            f"{self.name} answered with the keys {', '.join(map(str, answer))}: name the one that "
            "holds the answer by output_key",
            "malformed",
            retryable=False,
        )


def _json_in(text_of: str) -> Any:
    try:
        return json.loads(text_of)
    except ValueError:
        return None


def _after(state: Sequence[Any], sent: Sequence[Any]) -> Sequence[Any]:
    """The messages of a graph's state behind those that it was given."""
    given = 0
    # A graph may change or add to what it was given, so only the like beginning is cut off; the
    # last message is the answer in any case.
    while given < min(len(state) - 1, len(sent)) and (
        (state[given].type, state[given].content) == (sent[given].type, sent[given].content)
    ):
        given += 1
    return state[given:]


def as_ours(message: Any) -> Message:
    role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
    calls = tuple(
        ToolCall(text(c.get("id")), text(c.get("name")), arguments_of(c.get("args")))
        for c in items(getattr(message, "tool_calls", None))
    )
    our_role = role if role in {"system", "user", "assistant", "tool"} else "assistant"
    call_id = text(getattr(message, "tool_call_id", ""))
    return Message(
        cast("Any", our_role), texts_in(message.content), calls, call_id, message.name or ""
    )


def _total(used: Sequence[Usage]) -> Usage | None:
    """The tokens of all models inside; a count that one of them does not give is unknown."""
    if not used:
        return None

    def total(name: str) -> int | None:
        counts = [getattr(one, name) for one in used]
        # Every model counts its input and output; a count of cached or thought tokens is
        # left out where it is 0, so there an absent one is none.
        if name in {"input", "output"}:
            return None if None in counts else sum(counts)
        return sum(count or 0 for count in counts) if any(c is not None for c in counts) else None

    return Usage(*map(total, ("input", "output", "cached", "reasoning")))


def input_of(name: str, model: Any, key: str) -> Any:
    """From messages to what a runnable takes, by its input schema.

    A runnable without a schema takes messages. A text (a prompt's variable, an annotated function)
    gets the messages as a transcript, or the text alone where there is one message.
    """
    schema = _schema(model)
    fields = mapping(schema.get("properties"))
    if not key and not fields:
        return _transcript if schema.get("type") == "string" else lambda messages: messages
    key = key or ("messages" if "messages" in fields else "")
    if not key and len(fields) > 1:
        raise InputError(
            f"{name} takes {', '.join(fields)}: name the one that holds the prompt by input_key"
        )
    key = key or next(iter(fields))
    if mapping(fields.get(key)).get("type") == "string":
        return lambda messages: {key: _transcript(messages)}
    return lambda messages: {key: messages}


def _schema(model: Any) -> dict[str, Any]:
    """What a runnable says it takes; a function without annotations may not be able to."""
    try:
        return mapping(model.get_input_jsonschema())
    except Exception:  # noqa: BLE001 - pydantic raises what it likes about types that it cannot show
        # A graph's state as `typing.TypedDict`, which pydantic refuses before Python 3.12: its
        # keys, those of its bases too.
        state = getattr(getattr(model, "builder", None), "input_schema", None)
        return {"properties": {key: {} for key in getattr(state, "__annotations__", {})}}


def _transcript(messages: Sequence[Any]) -> str:
    from langchain_core.messages import get_buffer_string  # noqa: PLC0415 - an extra

    return text(messages[0].content) if len(messages) == 1 else get_buffer_string(messages)


def _samples(model: Any) -> bool:
    """Whether parameters of a call reach a model: a chain hands them to its first step alone."""
    from langchain_core.language_models import BaseLanguageModel  # noqa: PLC0415 - an extra
    from langchain_core.runnables import RunnableWithFallbacks  # noqa: PLC0415 - an extra
    from langchain_core.runnables.base import RunnableBindingBase  # noqa: PLC0415 - an extra

    if isinstance(model, RunnableWithFallbacks):
        return all(map(_samples, model.runnables))
    if isinstance(model, RunnableBindingBase):
        return _samples(model.bound)
    return isinstance(model, BaseLanguageModel)
