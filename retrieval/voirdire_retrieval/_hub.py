"""Whether the model hub can be reached, asked once: its own client tries for over a minute."""

from __future__ import annotations

import re
from pathlib import Path

_PATIENCE = 5.0
_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


def is_out_of_reach(model_name: str) -> str:
    """Why the hub cannot be asked for a model; empty where it can, or need not be.

    It goes by the hub's own client, so that its endpoint, proxies and certificates count.
    """
    from huggingface_hub import constants, get_session  # noqa: PLC0415 - comes with the extra

    local = Path(model_name).exists() or not _NAME.fullmatch(model_name)
    if local or constants.HF_HUB_OFFLINE:
        return ""
    try:
        get_session().head(constants.ENDPOINT, timeout=_PATIENCE)
    except Exception as error:  # noqa: BLE001 - what the client raises differs between its versions
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"{constants.ENDPOINT} cannot be reached ({why})"
    return ""
