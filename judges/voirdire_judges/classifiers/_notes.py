"""What a reader of results must know of the data: rows without labels, texts seen in training."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._tables import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from voirdire_judges.classifiers._targets import Labelled

#: Undeclared labels that are named.
_SHOWN = 5


def unlabelled(given: dict[str, Labelled]) -> list[str]:
    """Rows without labels and why, said once a label set."""
    found = []
    for name, labels in given.items():
        lost = Counter(labels.reasons[labels.reasons != ""].tolist())
        if lost:
            reasons = ", ".join(f"{why} {count}" for why, count in lost.most_common())
            found.append(
                f"label set {name!r}: {plural(lost.total(), 'row')} without labels "
                f"({reasons}){_strange(labels.unknown)}"
            )
    return found


def _strange(unknown: Mapping[str, int]) -> str:
    """What was read and is not declared."""
    if not unknown:
        return ""
    most = [f"{label!r} {count}x" for label, count in Counter(unknown).most_common(_SHOWN)]
    more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    return f": {', '.join(most)}{more}"


def incomplete(usable: NDArray[np.bool_]) -> list[str]:
    """Rows that one label set lacks and all leave out."""
    lost = int((~usable).sum())
    said = plural(lost, "row lacks", "rows lack")
    return [f"{said} labels in some label set and are left out of all"] if lost else []


def leaks(texts: pl.Series, split: NDArray[np.str_]) -> list[str]:
    """Texts of the test set that stand in train or dev as well."""
    known = pl.DataFrame({"text": texts, "split": split}).filter(pl.col("text") != "")
    tested = known.filter(pl.col("split") == "test")
    learnt = known.filter(pl.col("split").is_in(["train", "dev"]))
    count = tested.join(learnt.select("text").unique(), on="text", how="semi").height
    said = plural(count, "test text stands", "test texts stand")
    return [f"{said} in train or dev too: scores flatter"] if count else []
