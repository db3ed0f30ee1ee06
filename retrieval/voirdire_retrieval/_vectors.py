"""Rows of unit length, checked: an inner product of two of them is their cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unit_rows(vectors: Any, count: int, model: str) -> NDArray[np.float32]:
    """L2-normalise what a model returned: ``v / |v|``, one float32 row a text.

    Raises
    ------
    ModelError
        Not `count` rows of one length, a value that is not finite, or a row of zeros.

    Examples
    --------
    >>> unit_rows([[3.0, 4.0]], 1, "m")
    array([[0.6, 0.8]], dtype=float32)
    """
    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"embedder {model!r}: the vectors are ragged or not numbers", "malformed"
        ) from error
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise ModelError(
            f"embedder {model!r}: {count} texts went in, an array of shape {rows.shape} came back",
            "malformed",
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    odd = np.flatnonzero(~np.isfinite(lengths[:, 0]) | (lengths[:, 0] == 0))
    if odd.size:
        raise ModelError(
            f"embedder {model!r}: the vector of text {odd[0]} of its batch has length "
            f"{lengths[odd[0], 0]}; a finite length above 0 is needed",
            "malformed",
        )
    return np.ascontiguousarray(rows / lengths, dtype=np.float32)
