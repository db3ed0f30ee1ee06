"""The registries as tables of the pages of docs, which a test holds against them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.examining.spec.coefficients import COEFFICIENTS
from voirdire.examining.spec.components import COMPONENTS
from voirdire.examining.spec.uses import TO_COME, USES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: A table in a page: ``<!-- table: components score -->``, its lines, ``<!-- end of table -->``.
MARKED = re.compile(
    r"(?P<head><!-- table: (?P<what>\w+) (?P<of>[\w ]+?) -->\n)(?P<table>.*?)"
    r"(?P<tail><!-- end of table -->)",
    re.DOTALL,
)


def _lines(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = tuple(head)
    lines = [columns, ("---",) * len(columns), *map(tuple, rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def uses_table(kind: str) -> str:
    """The uses of a kind of judgement: what is asked, and what a yes permits."""
    return _lines(
        ("use", "in reports", "the question", "what a *yes* permits"),
        (
            (use.key, use.title, use.question, use.permits)
            for use in USES.values()
            if kind in use.kinds
        ),
    )


def _needed_for(key: str, kind: str) -> str:
    """The uses of a kind that ask for a component; a plus is for systems to come alone."""
    needed = []
    for use in USES.values():
        asking = [
            target
            for target, asked in use.required.items()
            if any(one.key == key and (not one.kinds or kind in one.kinds) for one in asked)
        ]
        if kind in use.kinds and asking:
            needed.append(use.key + ("+" if asking == [TO_COME] else ""))
    return ", ".join(needed) or "all" if COMPONENTS[key].stops_all else ", ".join(needed)


def components_table(kind: str) -> str:
    """The components of a kind of judgement: what each means, and what is asked of it."""
    return _lines(
        ("component", "in plain words", "margin", "needed for"),
        (
            (one.key, one.plain, one.asked, _needed_for(one.key, kind))
            for one in COMPONENTS.values()
            if kind in one.kinds
        ),
    )


def coefficients_table(of: str) -> str:
    """The coefficients among all raters, or of each two."""
    return _lines(
        ("measure", "what it is", "from a stream"),
        (
            (f"`{one.key}`", one.title, "no" if one.summed is None else "yes")
            for one in COEFFICIENTS.values()
            if one.of == of
        ),
    )


TABLES: dict[str, Callable[[str], str]] = {
    "uses": uses_table,
    "components": components_table,
    "coefficients": coefficients_table,
}


def with_tables(page: str) -> str:
    """A page with each of its marked tables as the registries have it."""
    return MARKED.sub(lambda m: m["head"] + TABLES[m["what"]](m["of"]) + m["tail"], page)


def tables_of(page: str) -> Iterator[tuple[str, str, str]]:
    """What each marked table of a page is of, and its lines."""
    for found in MARKED.finditer(page):
        yield found["what"], found["of"], found["table"]
