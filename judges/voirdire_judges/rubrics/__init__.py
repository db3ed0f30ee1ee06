"""Rubrics as TOML files: read one by the name of a built-in, or by path."""

from __future__ import annotations

from voirdire_judges.rubrics._load import built_in_rubrics, load_rubric

__all__ = ["built_in_rubrics", "load_rubric"]
