"""How far corpora of texts differ: divergence of words, discrepancy of embeddings, validation.

Lower divergence or discrepancy between two classes makes them harder to tell apart; a classifier
that tells two corpora apart shows that they differ, and not which is the better.
"""

from __future__ import annotations

from voirdire.examining.labels.corpora.adversarial import (
    AdversarialValidation,
    adversarial_validation,
)
from voirdire.examining.labels.corpora.discrepancy import median_gamma, mmd, mmd_pairings
from voirdire.examining.labels.corpora.divergence import (
    class_divergences,
    class_pairs,
    jensen_shannon,
    ngram_counts,
)

__all__ = [
    "AdversarialValidation",
    "adversarial_validation",
    "class_divergences",
    "class_pairs",
    "jensen_shannon",
    "median_gamma",
    "mmd",
    "mmd_pairings",
    "ngram_counts",
]
