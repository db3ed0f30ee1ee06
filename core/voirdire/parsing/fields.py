"""Replies made of named lines, such as ``Mental Health Disorder: Yes``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.parsing._keys import plain_key
from voirdire.parsing._reasoning import drop_reasoning

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")


def parse_fields(text: str | None, names: Sequence[str]) -> dict[str, str | None]:
    r"""The text behind each name, up to the next one; None where it is absent or empty.

    Names stand at the start of a line, in any case, bold or numbered, before a colon. Of a name
    that comes twice the last counts.

    >>> parse_fields("**Cue**: Yes\n2. Name of cue: low mood", ["Cue", "Name of cue"])
    {'Cue': 'Yes', 'Name of cue': 'low mood'}
    """
    spelled = [r"[\s_-]{1,3}".join(map(re.escape, _WORD.findall(name))) for name in names]
    if not all(spelled):
        raise InputError(f"a field needs a name with letters or digits, got {list(names)}")
    one = "|".join(sorted(spelled, key=len, reverse=True))
    marker = re.compile(
        rf"^[ \t*_`>#-]{{0,6}}(?:\d{{1,2}}[.)][ \t]{{0,3}})?[*_`]{{0,3}}(?P<name>{one})"
        r"[*_`\s]{0,4}[:：][*_`]{0,3}",
        re.IGNORECASE | re.MULTILINE,
    )
    found: dict[str, str | None] = dict.fromkeys(names)
    own = {plain_key(name): name for name in names}
    body = drop_reasoning(text or "").text
    starts = list(marker.finditer(body))
    for here, end in zip(starts, [*(m.start() for m in starts[1:]), len(body)], strict=False):
        found[own[plain_key(here["name"])]] = body[here.end() : end].strip() or None
    return found
