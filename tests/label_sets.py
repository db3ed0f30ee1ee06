"""Label sets that several tests of parsing use."""

from __future__ import annotations

from voirdire.parsing import LabelSet

KINDS = LabelSet(
    (
        "Emotional Reasoning",
        "Overgeneralization",
        "Mental Filter",
        "Should Statements",
        "All or Nothing Thinking",
        "Mind Reading",
        "Fortune Telling",
        "Magnification (Catastrophizing)",
        "Personalization",
        "Labeling",
        "No Distortion",
        "Others",
    ),
    none="No Distortion",
    other="Others",
)
