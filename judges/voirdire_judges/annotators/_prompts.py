"""What an annotator is asked, where the study gives no prompt of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.errors import InputError

if TYPE_CHECKING:
    from voirdire.parsing import LabelSet

#: Stands in a prompt for the list of labels.
LIST = "{labels}"

MULTI = """\
Read the text and decide which of the labels in the list apply to it.

Labels: [{labels}]

Answer with nothing but the labels that apply, as a comma-separated list."""

RANKED = """\
Read the text and decide which of the labels in the list applies to it most. Add a second label \
only if one clearly applies as well.

Labels: [{labels}]

Answer with nothing but a comma-separated list: the dominant label first, then the second one, if \
any. Name at most {at_most} labels."""

_NONE = " If none applies, answer {none}."


def built_in(kind: str, labels: LabelSet, at_most: int | None) -> str:
    """The prompt of that kind, ``"multi"`` or ``"ranked"``.

    Raises
    ------
    InputError
        There is no prompt of that kind.
    """
    prompts = {"multi": MULTI, "ranked": RANKED}
    if kind not in prompts:
        raise InputError(f"labels annotator: kind must be one of {tuple(prompts)}, got {kind!r}")
    none = _NONE.replace("{none}", labels.none) if labels.none else ""
    return prompts[kind].replace("{at_most}", str(at_most)) + none


def filled(prompt: str, labels: LabelSet) -> str:
    """The prompt with the labels in place of ``{labels}``, those apart that are never offered.

    >>> from voirdire.parsing import LabelSet
    >>> kinds = LabelSet(("Anger", "Fear", "None", "Others"), none="None", other="Others")
    >>> filled("Choose from [{labels}].", kinds)
    'Choose from [Anger, Fear].'
    """
    offered = (label for label in labels.labels if label not in (labels.none, labels.other))
    return prompt.replace(LIST, ", ".join(offered))
