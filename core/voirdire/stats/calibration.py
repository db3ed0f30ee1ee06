"""A judge's scores brought to the humans' scale, each by what other items teach."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, coded, numbers, row_names
from voirdire.stats._results import Result
from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from numpy.typing import NDArray

Method = Literal["level_and_spread", "isotonic"]
METHODS: tuple[Method, ...] = ("level_and_spread", "isotonic")
#: The spread is taught by system means: by so many systems, where they correlate at least so far.
_SYSTEMS, _CORRELATION = 4, 0.5
#: The least and the most by which a spread is stretched.
_STRETCH = (0.5, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration(Result):
    """Calibrated scores.

    Attributes
    ----------
    scores : (N,) or (K, N) float64
        In the shape given; NaN where the judge gave none, and where no other item teaches.
    method : str
    folds : int
    shift : float
        Mean of calibrated less raw scores.
    stretch : float
        Mean over folds of the factor of the spread; NaN with ``"isotonic"``.
    n : int
        Labelled items that taught.
    """

    scores: Floats
    method: str
    folds: int
    shift: float
    stretch: float
    n: int

    def __str__(self) -> str:
        """One line."""
        return (
            f"calibration ({self.method}, {self.folds} folds): shift {self.shift:+.3f}, "
            f"stretch {self.stretch:.3f}, n = {self.n}"
        )


def calibrate(
    judge: Any,
    reference: Any,
    *,
    systems: Any = None,
    clusters: Any = None,
    method: Method = "level_and_spread",
    folds: int = 5,
) -> Calibration:
    """Scores on the reference's scale, cross-fitted: no item's own label shapes its score.

    ``"level_and_spread"`` moves the judge's mean of system means to the reference's and, from four
    systems on that correlate above 0.5, stretches its spread by the ratio of their standard
    deviations, within [0.5, 2]. ``"isotonic"`` fits the closest rising step function.

    Folds of the first are dealt in the order of names, as the verdict's are. A curve has to be
    taught all levels, and items may come in turns, such as one of each of five kinds: its folds are
    dealt in the order of a hash of the names.

    Parameters
    ----------
    judge : array-like, shape (N,) or (K runs, N)
        NaN where there is no score. Runs are taught together and calibrated alike.
    reference : array-like, shape (N,)
        The mean human score; NaN where no human was asked.
    systems : array-like, shape (N,), optional
        One system by default.
    clusters : array-like, shape (N,), optional
        What is dealt to folds; by default each item by itself.
    method : {"level_and_spread", "isotonic"}
    folds : int
        At least 2.

    Returns
    -------
    Calibration
        Scores are NaN in a fold that nothing else teaches.

    Raises
    ------
    StatisticsError
        Shapes that do not fit, an unknown method, fewer than two folds.

    Examples
    --------
    >>> from voirdire.stats import calibrate
    >>> judge = [4, 5, 3, 4, 5, 3, 4, 5, 3, 4]
    >>> reference = [3, 4, 2, 3, 4, 2, 3, 4, 2, 3]
    >>> round(calibrate(judge, reference).shift, 2)
    -1.0

    References
    ----------
    VERDICT.md of this project for level and spread; Zadrozny and Elkan (2002), KDD, for isotonic.
    """
    scores, human = np.atleast_2d(numbers(judge, "judge")), numbers(reference, "reference")
    if human.ndim != 1 or scores.ndim != 2 or scores.shape[1] != len(human):
        raise StatisticsError(
            f"judge and reference must be equally long, got {scores.shape[1:]} and {human.shape}"
        )
    if method not in METHODS:
        raise not_one_of("method", method, METHODS, error=StatisticsError)
    if folds < 2:
        raise StatisticsError(f"cross-fitting needs at least two folds, got {folds}")
    size = len(human)
    system = np.zeros(size, int)
    if systems is not None:
        system = coded(row_names(systems, size, "systems"))[1]
    unit = np.arange(size) if clusters is None else row_names(clusters, size, "clusters")
    # Dealt and not drawn: no seed, and the same folds on any machine and in any stream.
    fold = (hashed(unit) if method == "isotonic" else in_order(unit)) % folds
    mean = mean_present(scores)
    paired = ~np.isnan(mean) & ~np.isnan(human)
    calibrated, stretch = np.full_like(scores, np.nan), float("nan")
    if method == "isotonic":
        for one in range(folds):
            taught, inside = paired & (fold != one), fold == one
            if taught.any() and inside.any():
                calibrated[:, inside] = rising(mean[taught], human[taught], scores[:, inside])
    else:
        width = int(system.max(initial=0)) + 1
        cells = (fold * width + system)[paired]
        sums: list[Floats] = [
            np.bincount(cells, part, folds * width).reshape(folds, width).astype(np.float64)
            for part in (None, mean[paired], human[paired])
        ]
        # From sums by fold and system, so that a stream of parts calibrates by the same code.
        lines = lines_of_folds(*sums)
        calibrated = lines.level[fold] + lines.stretch[fold] * (scores - lines.centre[fold])
        # With fewer items than folds some folds are empty.
        used = lines.stretch[coded(fold)[0]]
        stretch = float(np.mean(used[~np.isnan(used)])) if not np.isnan(used).all() else stretch
    moved = calibrated[~np.isnan(calibrated)] - scores[~np.isnan(calibrated)]
    return Calibration(
        calibrated.reshape(np.shape(numbers(judge, "judge"))),
        method,
        folds,
        float(moved.mean()) if len(moved) else float("nan"),
        stretch,
        int(paired.sum()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """What each fold's scores become: ``level + stretch * (score - centre)``.

    Attributes
    ----------
    level, stretch, centre : (folds,) float64
        NaN where no other fold teaches.
    """

    level: Floats
    stretch: Floats
    centre: Floats


def lines_of_folds(n: Floats, judge: Floats, human: Floats) -> Lines:
    """The lines of ``"level_and_spread"``, each fold being taught by all others.

    Parameters
    ----------
    n, judge, human : (folds, systems) float64
        Responses with both scores, and sums of the scores.
    """
    lines = [
        _taught(*(part.sum(axis=0) - part[fold] for part in (n, judge, human)))
        for fold in range(len(n))
    ]
    return Lines(*(np.array(part) for part in zip(*lines, strict=True)))


#: Digits of a name that is compared as a number.
_LONGEST_NUMBER = 18


def in_order(names: NDArray[Any]) -> NDArray[np.intp]:
    """Codes by the order of names; names that are all whole numbers go by their value."""
    different, codes = coded(names)
    if different.dtype.kind in "iu":
        return codes
    text = different.astype(str)
    # Longer names are no 64-bit numbers.
    if all(name.isdecimal() and len(name) <= _LONGEST_NUMBER for name in text.tolist()):
        return np.asarray(np.argsort(np.argsort(text.astype(np.int64), kind="stable"))[codes])
    return codes


def hashed(names: NDArray[Any]) -> NDArray[np.intp]:
    """Codes by the order of a hash of the names: as good as drawn, and the same everywhere.

    >>> hashed(np.array(["b", "a", "b", "c"])).tolist() == hashed(np.array([*"babc"])).tolist()
    True
    """
    different, codes = coded(names)
    marks = [hashlib.sha256(str(name).encode()).digest() for name in different.tolist()]
    place = np.empty(len(marks), np.intp)
    place[sorted(range(len(marks)), key=marks.__getitem__)] = np.arange(len(marks))
    return place[codes]


def _taught(n: Floats, judge: Floats, human: Floats) -> tuple[float, float, float]:
    """Mean of the humans' system means, stretch, and mean of the judge's system means."""
    there = n > 0  # the others may teach nothing about a system
    if not there.any():
        return math.nan, math.nan, math.nan
    j, h = judge[there] / n[there], human[there] / n[there]
    stretch = 1.0
    apart = len(j) >= _SYSTEMS and j.std() > 0 and h.std() > 0
    if apart and np.corrcoef(h, j)[0, 1] > _CORRELATION:
        # Of four or five systems a ratio of spreads is noise in good part: it is held within a
        # factor of two.
        stretch = float(np.clip(h.std() / j.std(), *_STRETCH))
    return float(h.mean()), stretch, float(j.mean())


def rising(judge: Floats, human: Floats, scores: Floats) -> Floats:
    """Scores on the closest rising step function of a judge's scores to people's.

    Parameters
    ----------
    judge, human : (N,) float64
        None missing.
    scores : float64 array
        NaN stays; beyond the judge's ends the curve is level.

    Examples
    --------
    >>> rising(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 5]), np.array([0.0, 2, 3, 3.5]))
    array([1.  , 2.5 , 2.5 , 3.75])

    References
    ----------
    Zadrozny and Elkan (2002), KDD.
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - slow to import

    fitted = IsotonicRegression(out_of_bounds="clip").fit(judge, human)
    values = np.full_like(scores, np.nan)
    present = ~np.isnan(scores)
    if present.any():
        values[present] = fitted.predict(scores[present])
    return values
