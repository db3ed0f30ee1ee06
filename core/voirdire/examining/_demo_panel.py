"""The demo's panel: one judge that is fit to serve, one that is generous, one that guesses."""

from __future__ import annotations

from voirdire.examining.simulate import Character, Design, SimulatedJudge

DEMO = Design(
    judges=(
        SimulatedJudge(
            "Steady",
            {
                "Guidance": Character(icc=0.95),
                "Empathy": Character(icc=0.95),
                "Safety": Character(icc=0.95),
            },
        ),
        SimulatedJudge(
            "Generous",
            {
                "Guidance": Character(icc=0.95, bias=0.6, missing=0.02),
                "Empathy": Character(icc=0.78, bias=0.6, missing=0.02),
                "Safety": Character(icc=0.95, bias=0.6, missing=0.02),
            },
        ),
        SimulatedJudge(
            "Erratic",
            {
                "Guidance": Character(icc=0.10, missing=0.02),
                "Empathy": Character(icc=0.10, bias=-0.3, missing=0.02),
                "Safety": Character(icc=0.60, missing=0.20),
            },
            flips=0.5,
        ),
    )
)

#: The verdict each judge was built for. Generous on Empathy lies so near the threshold that no
#: panel of this size can tell; Erratic leaves a fifth of Safety unrated.
BUILT_FOR = {
    ("Steady", "Guidance"): "may replace one rater",
    ("Steady", "Empathy"): "may replace one rater",
    ("Steady", "Safety"): "assists",
    ("Generous", "Guidance"): "ranks, does not score",
    ("Generous", "Empathy"): "undecided",
    ("Generous", "Safety"): "ranks, does not score",
    ("Erratic", "Guidance"): "not trusted",
    ("Erratic", "Empathy"): "not trusted",
    ("Erratic", "Safety"): "no verdict",
}
