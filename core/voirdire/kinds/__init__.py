"""What a judgement can be, one file a kind: recognised, checked, encoded, decoded and worded there.

A kind turns the distinct cells of a column into values, and each value into one vector. What is
computed from judgements is computed from codes, counts of patterns and dot products of those few
vectors, so that it means the same for every kind.
"""

from voirdire.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
