"""A third party's plugin: registers one judge, and imports nothing heavy to do so."""

from __future__ import annotations

from typing import Any

import voirdire


@voirdire.hookimpl
def voirdire_register_judges(register: Any) -> None:
    """Register the judge; its module is imported only when a study uses it."""
    register("next-step", "voirdire_example.judge:make")
