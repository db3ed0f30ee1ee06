"""What was collected of another tool's file, row by row, as the tables of its reading."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._tables import RATERS, REASONS, RESPONSES, finding, plural

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from voirdire.schema import Finding


def table_of_items(items: Mapping[str, Mapping[str, str | None]]) -> pl.DataFrame:
    """``item``, ``text`` and every further fact of an item, the commonest first."""
    counts = Counter(key for facts in items.values() for key in facts)
    keys = ["text", *(key for key in counts if key != "text")]
    columns = {key: [facts.get(key) for facts in items.values()] for key in keys}
    schema = dict.fromkeys(("item", *keys), pl.String())
    return pl.DataFrame({"item": list(items), **columns}, schema=schema)


def table_of_responses(answers: Mapping[tuple[str, str | None, str], int]) -> pl.DataFrame:
    """Each text of a response once, with the first run in which it stands."""
    rows = [(item, system, run, text) for (item, system, text), run in answers.items()]
    return pl.DataFrame(rows, schema=dict(RESPONSES), orient="row")


def table_of_reasons(said: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    """What raters said beside their scores, once."""
    table = pl.DataFrame(list(said), schema=dict(REASONS), orient="row")
    return table.unique(maintain_order=True)


def table_of_raters(
    raters: Mapping[str, tuple[str, str | None]], present: Collection[str]
) -> pl.DataFrame:
    """The raters that rated, with their kind and model."""
    rows = [
        {"rater": name, "kind": kind, "model": model}
        for name, (kind, model) in raters.items()
        if name in present
    ]
    return pl.DataFrame(rows, schema=dict(RATERS))


def read_as(
    kind: str,
    file: str,
    ratings: pl.DataFrame,
    raters: Mapping[str, tuple[str, str | None]],
    unused: Mapping[str, Sequence[str]],
) -> Finding:
    """The card of such a file: what was read of it, and by whom."""
    people = [name for name, (what, _) in raters.items() if what == "human"]
    who = f" ({plural(len(people), 'person', 'people')})" if people else ""
    lost = sum(map(len, unused.values()))
    return finding(
        "file_read_as",
        "note",
        file,
        [],
        f"Read as {kind}: {plural(ratings.height, 'rating')} of "
        f"{plural(ratings['item'].n_unique(), 'item')} by "
        f"{plural(ratings['rater'].n_unique(), 'rater')}{who}, "
        f"{plural(ratings['attribute'].n_unique(), 'attribute')}; "
        f"{plural(lost, 'row')} not used.",
        "If that is wrong, write ratings as a table with a row a rating.",
        count=1,
    )


def left_out(file: str, unused: Mapping[str, Sequence[str]]) -> list[Finding]:
    """A note on each reason for which rows are in no number."""
    return [
        finding(
            "rows_unused",
            "note",
            file,
            places,
            f"{plural(len(places), 'row')} not used: {reason}.",
            "They are in no number.",
        )
        for reason, places in unused.items()
    ]
