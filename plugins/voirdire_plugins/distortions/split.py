"""A stratified split whose assignment is fixed: an item keeps its part in every data set."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PARTS = ("train", "dev", "test")
SHARES = (0.70, 0.15, 0.15)


def split_items(
    items: pl.DataFrame, *, shares: Sequence[float] = SHARES, seed: int = 0
) -> pl.DataFrame:
    """Assign every item to train, dev or test, stratified by its dominant label.

    Whole sizes are exact (2,530 items: 1771, 379, 380). Within a stratum items are ordered by a
    hash of seed and id, so neither the order of the file nor the label sets that follow matter.

    Parameters
    ----------
    items : polars.DataFrame
        ``item, dominant``; items without a label are a stratum of their own.
    shares : three numbers that add up to 1
    seed : int
        Another seed gives another assignment.

    Returns
    -------
    polars.DataFrame
        ``item, part`` in the order given.

    Raises
    ------
    InputError
        Shares that do not add up to 1, or an item that stands twice.

    Examples
    --------
    >>> items = pl.DataFrame({"item": [str(n) for n in range(20)], "dominant": ["a", "b"] * 10})
    >>> split_items(items)["part"].value_counts().sort("part").rows()
    [('train', 14), ('dev', 3), ('test', 3)]
    """
    if len(shares) != 3 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise InputError(f"shares must be three numbers that add up to 1, got {list(shares)}")
    if items["item"].is_duplicated().any():
        twice = items.filter(pl.col("item").is_duplicated())["item"][0]
        raise InputError(f"item {twice!r} stands twice: its part would not be fixed")
    strata = items.select(
        pl.int_range(pl.len()).alias("row"),
        pl.col("dominant").fill_null("").alias("stratum"),
        pl.Series("hash", [_hash(seed, name) for name in items["item"].to_list()]),
    ).sort("stratum", "hash")
    sizes = strata.group_by("stratum", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    quotas = _quotas(sizes, _whole_sizes(items.height, shares), np.asarray(shares))
    part = np.empty(items.height, np.int64)
    part[strata["row"].to_numpy()] = np.concatenate(
        [np.repeat(np.arange(3), row) for row in quotas] or [np.empty(0, np.int64)]
    )
    names = pl.Series(PARTS, dtype=pl.Enum(PARTS)).gather(part)
    return pl.DataFrame({"item": items["item"], "part": names})


def _hash(seed: int, item: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{item}".encode("utf-8", "surrogatepass")).digest()


def _whole_sizes(n: int, shares: Sequence[float]) -> list[int]:
    train = round(n * shares[0])
    dev = int((n - train) * shares[1] / (shares[1] + shares[2])) if n > train else 0
    return [train, dev, n - train - dev]


def _quotas(
    sizes: NDArray[np.int64], totals: Sequence[int], shares: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Items of each stratum (rows) in each part (columns), with both margins exact.

    Each cell is its exact share rounded down or up; parts are filled one after the other, the
    largest remainders first, and the last part takes what is left.
    """
    quotas = np.zeros((len(sizes), 3), np.int64)
    left = sizes.copy()
    for part in (0, 1):
        exact = sizes * shares[part]
        quotas[:, part] = np.minimum(np.floor(exact).astype(np.int64), left)
        while (lacking := int(totals[part] - quotas[:, part].sum())) > 0:
            order = np.argsort(-(exact - quotas[:, part]), kind="stable")
            quotas[order[left[order] > quotas[order, part]][:lacking], part] += 1
        left -= quotas[:, part]
    quotas[:, 2] = left
    return quotas
