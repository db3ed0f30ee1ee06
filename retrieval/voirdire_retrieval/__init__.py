"""Retrieval of few-shot examples: embedders, FAISS index, example selectors.

>>> import polars as pl, voirdire_retrieval as vr
>>> table = pl.DataFrame({"id": ["a"], "text": ["One quiet evening."], "anxiety": [0]})
>>> vr.make_pool(table, labels=["anxiety"]).frame["id"].to_list()
['a']
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Card": "_card",
    "Embedded": "_embed",
    "Exclusion": "_selection",
    "Guard": "_guard",
    "Hits": "_index",
    "Index": "_index",
    "NearestExamples": "_examples",
    "Pool": "_pool",
    "Selection": "_selection",
    "Selector": "_selector",
    "VectorCache": "_cache",
    "as_langchain": "_langchain",
    "balanced": "_selectors",
    "build_index": "_index",
    "diverse": "_selectors",
    "embed_texts": "_embed",
    "fixed": "_selectors",
    "guard_against": "_guard",
    "leak_findings": "_leaks",
    "load_index": "_storage",
    "make_pool": "_pool",
    "nearest": "_selectors",
    "nearest_examples": "_examples",
    "open_embedder": "_open",
    "pool_lacks_class": "_leaks",
    "pool_overlap": "_leaks",
    "random_examples": "_selectors",
    "read_items": "_files",
    "read_pool": "_files",
    "refresh_index": "_storage",
    "save_index": "_storage",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - one table says it all


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'voirdire_retrieval' has no attribute {name!r}")
    module = importlib.import_module(f"voirdire_retrieval.{_HOME[name]}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return __all__
