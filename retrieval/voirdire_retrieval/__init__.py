"""Retrieval of few-shot examples: embedders, FAISS index, example selectors.

Public names stand in `__init__.pyi` and are resolved on first use.

>>> import polars as pl, voirdire_retrieval as vr
>>> table = pl.DataFrame({"id": ["a"], "text": ["One quiet evening."], "anxiety": [0]})
>>> vr.make_pool(table, labels=["anxiety"]).frame["id"].to_list()
['a']
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
