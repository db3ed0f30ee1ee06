"""Readers of other tools' files: each turns an export into tidy ratings (docs/readers.md)."""

from __future__ import annotations

from typing import Any

import voirdire

#: Name -> module; each holds a class `Reader`.
READERS = (
    "alpaca_eval",
    "argilla",
    "deepeval",
    "doccano",
    "inspect_ai",
    "label_studio",
    "langfuse",
    "langsmith",
    "lm_eval",
    "mt_bench",
    "promptfoo",
)


@voirdire.hookimpl
def voirdire_register_readers(register: Any) -> None:
    """Register the readers."""
    for name in READERS:
        register(name, f"voirdire_plugins.readers.{name}:Reader")
