"""The ten distortions of Sharma et al., No Distortion and Others; the two prompts of appendix D."""

from __future__ import annotations

from voirdire.parsing import LabelSet
from voirdire_plugins.resources import resource, with_definitions

_SETS = resource("distortions", "labels")
DISTORTIONS: tuple[str, ...] = tuple(_SETS["distortions"])
NO_DISTORTION: str = _SETS["none"]
OTHERS: str = _SETS["other"]
#: Names of an item without a recurring label (appendix G).
UNSURE: tuple[str, str] = (_SETS["unsure"][0], _SETS["unsure"][1])
#: What Table 1 says of each distortion.
DEFINITIONS: dict[str, str] = _SETS["definitions"]
LABELS = LabelSet((*DISTORTIONS, NO_DISTORTION, OTHERS), _SETS["synonyms"], NO_DISTORTION, OTHERS)

_PROMPTS = resource("distortions", "prompts")
#: Prompt by name, the labels that it allows, and what the paper calls it (RLP and MLP).
PROMPTS: dict[str, str] = {name: one["text"] for name, one in _PROMPTS.items()}
AT_MOST: dict[str, int | None] = {name: one.get("at_most") for name, one in _PROMPTS.items()}
SHORT: dict[str, str] = {name: one["short"] for name, one in _PROMPTS.items()}
#: Framework -> what it asks before one of the prompts.
STEPS: dict[str, tuple[str, ...]] = {
    name: tuple(one["steps"]) for name, one in resource("distortions", "steps").items()
}


def prompt_of(name: str, *, definitions: bool = False) -> str:
    """A prompt, word for word; with the definitions of Table 1 after the list where asked for.

    >>> "Predicting negative outcomes" in prompt_of("multi", definitions=True)
    True
    """
    text = PROMPTS[name]
    if not definitions:
        return text
    return with_definitions(text, DEFINITIONS, before="Output Format:", bullet="- ", gap="\n\n")
