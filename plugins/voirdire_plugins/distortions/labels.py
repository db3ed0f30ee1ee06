"""The ten distortions (Table 1 of Sharma et al.), No Distortion and Others."""

from __future__ import annotations

from voirdire.parsing import LabelSet

DISTORTIONS = (
    "All or Nothing Thinking",
    "Emotional Reasoning",
    "Fortune Telling",
    "Labeling",
    "Magnification",
    "Mental Filter",
    "Mind Reading",
    "Overgeneralization",
    "Personalization",
    "Should Statements",
)
NO_DISTORTION, OTHERS = "No Distortion", "Others"
#: Names of an item without a recurring label (appendix G).
UNSURE = ("not sure if distortion", "not sure which distortion")

#: Other spellings; case, hyphens, plurals and British spelling need none.
SYNONYMS = {
    "Magnification (Catastrophizing)": "Magnification",
    "All or Nothing": "All or Nothing Thinking",
    "Black and White Thinking": "All or Nothing Thinking",
    "Should Statement": "Should Statements",
    "Not Distorted": NO_DISTORTION,
}

LABELS = LabelSet((*DISTORTIONS, NO_DISTORTION, OTHERS), SYNONYMS, NO_DISTORTION, OTHERS)
