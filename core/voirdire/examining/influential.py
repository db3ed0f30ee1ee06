"""The disagreements of judge and humans that move the verdicts most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.examining.verdict.beside import influences_in, use_key, verdicts_beside
from voirdire.examining.verdict.gathering import gather_cases, item_names
from voirdire.examining.verdict.influence import deciding, weakest
from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.examination import Examination
    from voirdire.examining.spec.scores.case import Case

INFLUENTIAL = pl.Schema(
    {
        "judge": pl.String(),
        "attribute": pl.String(),
        "reference_at": pl.Int64(),
        "item": pl.String(),
        "system": pl.String(),
        "human": pl.Float64(),
        "score": pl.Float64(),
        "use": pl.String(),
        "component": pl.String(),
        "influence": pl.Float64(),
        "times": pl.Float64(),
        "row": pl.Int64(),
    }
)


def influential(examination: Examination, most: int = 200) -> pl.DataFrame:
    """The responses on which judge and humans differ that move a verdict most.

    Of each judge and attribute the weakest verdict counts, and of it the component that decided.
    They are looked for when they are asked for: most examinations end in numbers alone.

    Parameters
    ----------
    examination : Examination
    most : int
        How many are kept.

    Returns
    -------
    DataFrame
        ``judge, attribute, reference_at`` (which of several references in turn, from 0), ``item,
        system`` (empty without systems), ``human`` and ``score`` (points, means of the humans and
        of the runs), ``use`` (with + for systems to come),
        ``component``, ``influence`` (the estimate with the response less that
        without it; null where the component is no sum of responses), ``times`` (its size in
        multiples of the root mean square of that component's, so that components compare) and
        ``row`` (the response's number among those of the judge). The largest `times` first, then
        the widest differences. Empty without a reference, and of a stream, which keeps no single
        responses.

    Examples
    --------
    >>> from voirdire.examining import examine
    >>> rows = [(f"i{k}", who, float(k % 5)) for k in range(60) for who in ("human", "judge")]
    >>> rows[7] = ("i3", "judge", 0.0)
    >>> table = pl.DataFrame(rows, schema=["item", "rater", "score"], orient="row")
    >>> influential(examine(table, reference=["human"], resamples=0))["item"].to_list()
    ['i3']
    """
    inputs, study = examination.inputs, examination.study
    panel, ratings = inputs.panel, inputs.ratings
    if not panel.references or ratings.is_empty():
        return INFLUENTIAL.to_frame()
    cube = inputs.cube
    items = item_names(cube)
    frames = [INFLUENTIAL.to_frame()]
    for at, case in enumerate(gather_cases(cube, panel, study, ratings)):
        # The verdict that stands in the way is the one whose responses are worth reading.
        verdict = weakest(verdicts_beside(inputs, case, examination.verdicts))
        part = None if verdict is None else deciding(verdict)
        if verdict is not None and part is not None:
            moved = influences_in(inputs, case, part)
            frame = _differing(case, items[case.items], moved).with_columns(
                judge=pl.lit(case.judge),
                attribute=pl.lit(case.attribute),
                reference_at=pl.lit(at % len(panel.references), pl.Int64),
                use=pl.lit(use_key(verdict)),
                component=pl.lit(part.name),
            )
            frames.append(_largest(frame.select(INFLUENTIAL.names()), most))
    return _largest(pl.concat(frames), most)


def _differing(case: Case, names: NDArray[np.str_], moved: NDArray[np.float64]) -> pl.DataFrame:
    """The responses on which both differ, and what each does to the component."""
    human, score = mean_present(case.humans), mean_present(case.scores)
    at = np.flatnonzero(case.paired & (human != score))
    finite = moved[np.isfinite(moved)]
    # By the root mean square of its own component: a correlation and points of a scale would not
    # compare.
    typical = float(np.sqrt(np.mean(finite**2))) if len(finite) else 0.0
    times = np.abs(moved[at]) / typical if typical > 0 else np.full(len(at), np.nan)
    systems = np.full(len(at), "") if case.systems is None else case.systems[at].astype(str)
    return pl.DataFrame(
        {
            "item": names[at].astype(str),
            "system": systems,
            "human": human[at],
            "score": score[at],
            "influence": moved[at],
            "times": times,
            "row": at.astype(np.int64),
        }
    ).with_columns(pl.col("influence", "times").fill_nan(None))


def _largest(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    gap = (pl.col("score") - pl.col("human")).abs()
    keys = ["judge", "attribute", "reference_at", "row"]
    return rows.sort(
        pl.col("times"),
        gap,
        *keys,
        descending=[True, True, *(False for _ in keys)],
        nulls_last=True,
    ).head(most)
