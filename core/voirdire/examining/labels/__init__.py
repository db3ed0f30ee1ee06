"""Labels and predictions: the one path from what raters said to numbers.

A table, a panel's ratings, a classifier's predictions or replies over several runs become a
`LabelMatrix`; `label_scores` holds one against a key, over its runs; `LabelRuns` asks whether a
rater repeats itself. Public names stand in `__init__.pyi` and are resolved on first use.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
