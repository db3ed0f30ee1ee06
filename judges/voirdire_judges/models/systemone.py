"""`systemone:`: decision models, which answer with a choice and the probability of each option.

Built from documentation, and tried on this repository's wire server alone: one `choice` question of
`POST /v1/systemone`, whose answer is ``{"type": "choice", "choice": ..., "confidence": ...,
"probabilities": {...}}``. Its other two questions (`score`, a level on a scale, and `noul`, yes or
no) are asked as a choice among the options that a request names, so that one form serves all.
`confidence` says how peaked the probabilities are, and is not read.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError
from voirdire.schema import Reply
from voirdire_judges.models import compatible
from voirdire_judges.models._body import mapping, text, usage_of
from voirdire_judges.models._endpoint import (
    OnRefused,
    Options,
)
from voirdire_judges.models._faults import MalformedBodyError
from voirdire_judges.models._remote import Dialect, RemoteModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Request, Usage

#: The name of the only question of a call, under which its answer comes back.
_QUESTION = "answer"
#: What no such model knows: it writes nothing, so that there is nothing to draw or to cut.
_LACKING = frozenset({"top_p", "seed"})


def params(model: str, request: Request, options: Options) -> dict[str, Any]:
    """The body of a call: what is judged as `state`, instructions and options as its question.

    Raises
    ------
    ModelError
        The request names no options, without which such a model has nothing to answer, or a
        temperature above 0.
    """
    if not request.options:
        raise ModelError(
            f"{model} chooses among options, and this question names none: a rubric names them "
            'with score = "levels", and the annotator `choice` with named = true',
            "refused_parameter",
            retryable=False,
            parameter="options",
        )
    # At 0, as judges are by default, nothing is drawn: that is what such a model does anyway.
    if request.temperature:
        raise ModelError(
            f"{model} draws nothing, and temperature {request.temperature:g} is asked for",
            "refused_parameter",
            retryable=False,
            parameter="temperature",
        )
    told, state = (
        "\n\n".join(m.content for m in request.messages if (m.role == "system") is first)
        for first in (True, False)
    )
    question: dict[str, Any] = {
        "type": "choice",
        # An option stands for itself: what it means is said in the instructions.
        "criteria": {option: option for option in request.options},
    }
    if told:
        question["instructions"] = told
    sent = {"model": model, "state": state, "questions": {_QUESTION: question}}
    return {**sent, **options.params, **(request.params or {})}


def read(body: dict[str, Any], request: Request) -> Reply:
    """The choice as the text of a reply, and the probabilities as those of its options.

    >>> from voirdire.schema import Message, Request
    >>> request = Request((Message("user", "Charged twice!"),), options=("yes", "no"))
    >>> answer = {"choice": "yes", "probabilities": {"yes": 0.75, "no": 0.25}}
    >>> reply = read({"model": "m-1", "answers": {"answer": answer}}, request)
    >>> reply.text, round(reply.option_logprobs["no"], 3)
    ('yes', -1.386)
    """
    answer = mapping(mapping(body.get("answers")).get(_QUESTION))
    choice = text(answer.get("choice"))
    claimed = mapping(answer.get("probabilities"))
    if choice not in request.options:
        raise MalformedBodyError(f"the choice {choice!r} is none of {list(request.options)}", body)
    logprobs: dict[str, float] = {}
    for option, value in claimed.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise MalformedBodyError(f"the probability {value!r} of {option!r}", body)
        # An option of probability 0 is left out, as one below the reported ones is elsewhere.
        if option in request.options and value > 0:
            logprobs[option] = math.log(value)
    return Reply(
        text=choice,
        usage=billed(body),
        model=text(body.get("model")),
        option_logprobs=logprobs,
        # Such an answer is whole or none at all.
        ended_by="choice",
    )


def billed(body: dict[str, Any]) -> Usage:
    """The tokens of an answer: such a model writes none."""
    return usage_of(mapping(body.get("usage")))


SYSTEMONE = Dialect(
    "systemone",
    partial(compatible.open_client, path="systemone"),
    compatible.close_client,
    params,
    partial(compatible.send, holds="answers"),
    read,
    billed,
    lacking=_LACKING,
)


def make(
    model_name: str,
    *,
    base_url: str = "",
    api_key_env: str = "",
    timeout: float = 120.0,
    on_refused_parameter: OnRefused = "error",
    params: Mapping[str, Any] | None = None,
) -> RemoteModel:
    """A decision model behind an endpoint of the System One format (`systemone:jev-latest`).

    Parameters
    ----------
    model_name : str
        The endpoint's name of the model.
    base_url : str
        The address up to and without `/systemone`; required.
    api_key_env : str
        The environment variable that holds the key; empty where the endpoint takes none.
    timeout, on_refused_parameter, params
        See `Options`. Such a model knows no temperature above 0, no top_p and no seed.

    Raises
    ------
    InputError
        No `base_url`.
    ModelError
        The environment variable is not set.
    MissingExtraError
        The extra `compatible` is not installed.
    """
    name = f"systemone:{model_name}"
    endpoint = compatible.own_server(name, base_url, api_key_env)
    options = Options(
        timeout, on_refused_parameter, structured=False, params=params or {}, native_tools=False
    )
    return RemoteModel(name, model_name, SYSTEMONE, endpoint, options)
