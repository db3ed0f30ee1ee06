"""Replies made of named lines, such as ``Mental Health Disorder: Yes``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.parsing._keys import plain_key
from voirdire.parsing._reasoning import drop_reasoning
from voirdire.parsing._statements import Statement, settled
from voirdire.parsing._words import DRAFT_MARKS, FINAL_MARKS, STRUCK, rank_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAD = "|".join((*FINAL_MARKS, *DRAFT_MARKS))
_MOST = 500  # the last so many: no honest reply states more
_WORD = re.compile(r"[^\W_]+")


def parse_fields(text: str | None, names: Sequence[str]) -> dict[str, str | None]:
    r"""The text behind each name, up to the next one; None where it is absent or empty.

    Names stand at the start of a line, in any case, bold or numbered, before a colon. A name that
    comes twice follows the rule of all statements: drafts never count, a final one does, and two
    texts that differ leave None.

    >>> parse_fields("**Cue**: Yes\n2. Name of cue: low mood", ["Cue", "Name of cue"])
    {'Cue': 'Yes', 'Name of cue': 'low mood'}
    """
    spelled = [r"[\s_-]{1,3}".join(map(re.escape, _WORD.findall(name))) for name in names]
    if not all(spelled):
        raise InputError(f"a field needs a name with letters or digits, got {list(names)}")
    one = "|".join(sorted(spelled, key=len, reverse=True))
    # "2. **Name of cue**: low mood": a field's name at the start of a line, its marks, a colon.
    marker = re.compile(
        rf"^[ \t*_`>#-]{{0,6}}(?:\d{{1,2}}[.)][ \t]{{0,3}})?[*_`]{{0,3}}"
        rf"(?:(?:{_LEAD})[ \t]+)?(?P<name>{one})"
        r"[*_`\s]{0,4}[:：][*_`]{0,3}",
        re.IGNORECASE | re.MULTILINE,
    )
    said: dict[str, list[Statement]] = {name: [] for name in names}
    own = {plain_key(name): name for name in names}
    body = STRUCK.sub("", drop_reasoning(text or "").text)
    starts = list(marker.finditer(body))[-_MOST:]
    for here, end in zip(starts, [*(m.start() for m in starts[1:]), len(body)], strict=False):
        name, stated = own[plain_key(here["name"])], body[here.end() : end].strip()
        rank = rank_of(body, here.start("name"), here.end())
        said[name].append(Statement(name, stated, here.start("name"), end, rank, closed=True))
    settles = {name: settled(here, body, _text, cut=False) for name, here in said.items()}
    return {name: each.value if each else None for name, each in settles.items()}


def _text(stated: str) -> str | None:
    return stated or None
