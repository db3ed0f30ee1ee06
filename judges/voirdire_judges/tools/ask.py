"""`ask`: another judge as a tool; its reply is kept and paid for as any other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire import plugins as loaded_plugins
from voirdire.errors import InputError
from voirdire.schema import Item, Rating, Response, Sampling
from voirdire.store.raters import read_rubric
from voirdire.tools import AgentTool
from voirdire_judges._inner import inner_judge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire import Plugins
    from voirdire.schema import Reply, Request, Rubric
    from voirdire.study import Study


def make(  # noqa: PLR0913 - each is an option of the study
    *,
    name: str = "ask",
    description: str = "",
    judge: str = "rubric",
    rubric: str | None = None,
    options: Mapping[str, Any] | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> AgentTool:
    """The tool (`tools = [{use = "ask", name = "second_opinion"}]`).

    Parameters
    ----------
    name : str
        What the model calls the tool, and the role in which it asks: with
        `models = {second_opinion = "..."}` it has a model of its own, else the agent's.
    description : str
        What the model reads of the tool.
    judge, options
        The judge that answers, and its options. It must ask one question about one response.
    rubric : str, optional
        The name of a rubric or a TOML file, in place of the study's.
    temperature, max_tokens
        Sent with its request.

    Raises
    ------
    InputError, PluginError
        There is no rubric, or no such judge.
    """
    plugins = plugins or loaded_plugins()
    if rubric is None and study is None:
        raise InputError(f"tool {name!r}: it needs a rubric, or the study's")
    asked: Rubric | str = read_rubric(study, plugins) if rubric is None and study else rubric or ""
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    other = inner_judge(judge, asked, options, sampling, plugins, study)

    def question(text: str, context: str = "") -> Request:
        task = Rating(Item("asked", context), Response("asked", name, text))
        requests = other.requests(task)
        # A ValueError: what went wrong is told to the agent's model, which may ask
        # otherwise.
        if len(requests) != 1:
            raise ValueError("there is nothing to judge" if not requests else "it asks several")
        request: Request = requests[0]
        return replace(request, role=name)

    def answer(reply: Reply) -> dict[str, Any]:
        parsed = other.parse([reply])
        missing = {key: parsed.status for key, score in parsed.scores.items() if score is None}
        return {"scores": dict(parsed.scores), **({"missing": missing} if missing else {})}

    purpose = description or "Another judge's scores of a text, such as a part of the response."
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "what is to be judged"},
            "context": {"type": "string", "description": "what it answers"},
        },
        "required": ["text"],
    }
    return AgentTool(name, purpose, schema, question, answer=answer)
