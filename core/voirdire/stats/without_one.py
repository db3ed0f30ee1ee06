"""Sums of centred scores without each response, the centres being computed anew.

Scores are held against the means of systems and items, which one response moves. That change has a
closed form: only the cells of the response move, and the sums of all others are quadratic in it.
The few responses whose absence leaves a cell too small for a mean are left out by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats import within
from voirdire.stats.response_panel import CROSSED
from voirdire.stats.sums import summed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.response_panel import ResponsePanel

    Bits = NDArray[np.bool_]

#: Scores in a cell of a system below which `item_columns`, and `reading_columns`, have no mean.
_FEWEST, _TWO = 5, 2


def without_response(panel: ResponsePanel, at: int) -> ResponsePanel:
    """The panel as it would be, had this response not been there."""
    humans = np.delete(panel.humans, at, axis=1)
    systems, system = np.unique(np.delete(panel.system, at), return_inverse=True)
    clusters, cluster = np.unique(np.delete(panel.cluster, at), return_inverse=True)
    return replace(
        panel,
        judge=np.delete(panel.judge, at, axis=1),
        humans=humans,
        system=system,
        item=np.unique(np.delete(panel.item, at), return_inverse=True)[1],
        cluster=cluster,
        systems=panel.systems[systems],
        clusters=panel.clusters[clusters],
        categories=None if panel.categories is None else np.unique(humans[~np.isnan(humans)]),
    )


def item_total(panel: ResponsePanel) -> Floats:
    """(8,) sums of `item_columns` over the clusters in which judge and humans meet."""
    return within.item_table(panel, beside=True).total


def reading_total(panel: ResponsePanel) -> Floats:
    """(3,) sums of `reading_columns`."""
    columns, kept = within.reading_columns(panel)
    return np.asarray(columns[kept].sum(axis=0))


def item_totals(panel: ResponsePanel) -> Floats:
    """(N, 8): `item_total` without each response in turn."""
    columns = within.item_columns(panel)
    met = summed(columns[:, 6:7], panel.cluster, len(panel.clusters))[panel.cluster, 0]
    counted = met > 0
    whole = columns[counted].sum(axis=0)
    found = np.empty((panel.n, 8))
    # A cluster in which only this response has both sides goes with it.
    last = (columns[:, 6] > 0) & (met == 1) & (np.bincount(panel.cluster)[panel.cluster] > 1)
    by_hand = _only_uses(panel) | last
    for system in range(len(panel.systems)):
        own = np.flatnonzero(panel.system == system)
        rest = whole - columns[own][counted[own]].sum(axis=0)
        sums, hard = _system_totals(panel, own, counted[own])
        found[own], by_hand[own] = rest + sums, by_hand[own] | hard
    return _by_hand(panel, found, by_hand, item_total)


def reading_totals(panel: ResponsePanel) -> Floats:
    """(N, 3): `reading_total` without each response in turn."""
    alone = np.bincount(panel.item)[panel.item] == 1
    items = panel.item.max() + 1 - alone
    crossed = (len(panel.systems) > 1) & ((panel.n - 1) / np.maximum(items, 1) >= CROSSED)
    found, by_hand = np.zeros((panel.n, 3)), _only_uses(panel)
    for effects in np.unique(crossed):
        chosen = crossed == effects
        sums, hard = _reading(panel, crossed=bool(effects))
        found[chosen], by_hand[chosen] = sums[chosen], (by_hand | hard)[chosen]
    return _by_hand(panel, found, by_hand, reading_total)


def _reading(panel: ResponsePanel, *, crossed: bool) -> tuple[Floats, Bits]:
    sides = [within.mean_vectors(panel), *(panel.vectors(run) for run in panel.judge)]
    found, hard = np.zeros((panel.n, 3)), np.zeros(panel.n, dtype=bool)
    for place in range(sides[0].shape[1]):
        fits = [_Fit.of(panel, side[:, place], crossed=crossed) for side in sides]
        found += _products(panel, fits, crossed=crossed)
        hard |= np.any([fit.by_hand for fit in fits], axis=0)
    return found, hard


def _by_hand(
    panel: ResponsePanel, found: Floats, hard: Bits, total: Callable[[ResponsePanel], Floats]
) -> Floats:
    for at in np.flatnonzero(hard):
        found[at] = total(without_response(panel, int(at)))
    return found


def _only_uses(panel: ResponsePanel) -> Bits:
    """(N,) whether a label of a human stands here alone: without it vectors are shorter."""
    if panel.categories is None:
        return np.zeros(panel.n, dtype=bool)
    given = [(panel.humans == code).any(axis=0) for code in panel.categories]
    return np.asarray(np.any([used & (used.sum() == 1) for used in given], axis=0))


@dataclass(frozen=True, slots=True)
class _Cell:
    """Raters in one system: centred vectors (n, R, D), who is present (n, R), and how many (R,).

    `shift` and `factor` (n, R) say how the centre and the factor of an unbiased square change
    without each response; `alive` (n, R) whether the rater keeps enough scores for a mean.
    """

    values: Floats
    present: Floats
    shift: Floats
    factor: Floats
    alive: Floats

    @classmethod
    def of(cls, vectors: Floats) -> _Cell:
        """From raw vectors (R, n, D)."""
        raw = np.moveaxis(vectors, 0, 1)
        present = ~np.isnan(raw[..., 0])
        present &= present.sum(axis=0) >= _FEWEST
        n = present.sum(axis=0)
        zeroed = np.where(present[..., None], raw, 0.0)
        values = zeroed - np.where(
            present[..., None], zeroed.sum(axis=0) / np.maximum(n, 1)[:, None], 0.0
        )
        left = n - present
        return cls(
            values, present * 1.0, 1 / np.maximum(left, 1) * present,
            np.sqrt(left / np.maximum(left - 1, 1)), (left >= _FEWEST) * 1.0,
        )  # fmt: skip

    @property
    def drops(self) -> Bits:
        """(n,) whether some rater has too few scores without this response."""
        return np.asarray(((self.present > 0) & (self.alive == 0)).any(axis=1))


def _system_totals(
    panel: ResponsePanel, own: NDArray[np.intp], counted: Bits
) -> tuple[Floats, Bits]:
    """(n, 8) sums of one system's columns without each of its responses; (n,) what is by hand."""
    humans = _Cell.of(panel.vectors(panel.humans[:, own]))
    runs = _Cell.of(panel.vectors(panel.judge[:, own]))
    n = humans.present.sum(axis=1)
    hard = runs.drops
    for at in np.flatnonzero(humans.drops):
        left = humans.present @ humans.alive[at]
        hard[at] |= bool(((left == 0) & (n > 0)).any())
    share = 1 / np.maximum(runs.present.sum(axis=1), 1)
    there: Floats = (runs.present.sum(axis=1) > 0).astype(np.float64)
    weight: Floats = counted.astype(np.float64)
    beside: Floats = there * (n > 0)
    pairs = _form(humans, humans, weight)
    squares, own_n = _diagonal(humans, weight), _count(humans, weight)
    both_n = _pairs(humans, weight)
    judged = _count(humans, there)
    return np.stack(
        [
            (both_n - own_n) / 2,
            (pairs - squares) / 2,
            own_n,
            squares,
            judged,
            _form(runs, humans, share),
            beside.sum() - beside,
            _diagonal(runs, share * beside),
        ],
        axis=1,
    ), hard  # fmt: skip


def _form(one: _Cell, two: _Cell, weight: Floats) -> Floats:
    """(n,) sum over other responses of weight x (sum of one's values) (sum of two's), moved."""
    found = np.zeros(len(weight))
    f, g = one.factor * one.alive, two.factor * two.alive
    for place in range(one.values.shape[2]):
        x, y = one.values[:, :, place], two.values[:, :, place]
        d, e = -x * one.shift, -y * two.shift  # without it, the centre is lower by its own excess
        wx, wp = x * weight[:, None], one.present * weight[:, None]
        moved = (
            _quadratic(f, wx.T @ y, g)
            - _quadratic(f * d, wp.T @ y, g)
            - _quadratic(f, wx.T @ two.present, g * e)
            + _quadratic(f * d, wp.T @ two.present, g * e)
        )
        here = (f * (x - d * one.present)).sum(axis=1) * (g * (y - e * two.present)).sum(axis=1)
        found += moved - weight * here
    return found


def _quadratic(left: Floats, form: Floats, right: Floats) -> Floats:
    return np.asarray(((left @ form) * right).sum(axis=1))


def _diagonal(cell: _Cell, weight: Floats) -> Floats:
    """(n,) sum over other responses of weight x squares, moved."""
    found = np.zeros(len(weight))
    f = (cell.factor * cell.alive) ** 2
    n = (cell.present * weight[:, None]).sum(axis=0)
    for place in range(cell.values.shape[2]):
        x = cell.values[:, :, place]
        d = -x * cell.shift
        square, plain = ((x**k * weight[:, None]).sum(axis=0) for k in (2, 1))
        moved = square - 2 * d * plain + d**2 * n
        found += (f * (moved - weight[:, None] * (x - d) ** 2 * cell.present)).sum(axis=1)
    return found


def _count(cell: _Cell, weight: Floats) -> Floats:
    n = (cell.present * weight[:, None]).sum(axis=0)
    return np.asarray((cell.alive * (n - weight[:, None] * cell.present)).sum(axis=1))


def _pairs(cell: _Cell, weight: Floats) -> Floats:
    form = (cell.present * weight[:, None]).T @ cell.present
    here = (cell.alive * cell.present).sum(axis=1)
    return _quadratic(cell.alive, form, cell.alive) - weight * here**2


@dataclass(frozen=True, slots=True)
class _Fit:
    """One side's scores, and the effects of systems and items without each response in turn.

    A residual is ``score + last[system] - mean of item - (counts of item @ before) / size``, by the
    rounds of `within`: `last` and `before` (N, S) are its last two means of systems, negated.
    """

    scores: Floats
    kept: Bits
    counts: Floats
    size: Floats
    mean: Floats
    before: Floats
    last: Floats
    by_hand: Bits

    @classmethod
    def of(cls, panel: ResponsePanel, scores: Floats, *, crossed: bool) -> _Fit:
        """Of scores (N,), NaN where missing."""
        systems, n_items = len(panel.systems), int(panel.item.max()) + 1
        first = ~np.isnan(scores)
        first &= np.bincount(panel.system[first], minlength=systems)[panel.system] >= _TWO
        size = np.bincount(panel.item[first], minlength=n_items)[panel.item]
        kept = first & (size >= _TWO) if crossed else first
        values = np.where(first, scores, 0.0)
        one_hot = np.eye(systems)[panel.system]
        own = one_hot * first[:, None]
        left = np.maximum(own.sum(axis=0) - own, 1)
        start = -((own * values[:, None]).sum(axis=0) - own * values[:, None]) / left
        small = np.bincount(panel.system[kept], minlength=systems) <= _TWO + 1
        if not crossed:
            zero = np.zeros((panel.n, systems))
            return cls(
                values, kept, zero, np.ones(panel.n), np.zeros(panel.n), zero, start,
                small[panel.system] & first,
            )  # fmt: skip
        return _crossed(panel, values, kept, start, small)


def _crossed(panel: ResponsePanel, values: Floats, kept: Bits, start: Floats, small: Bits) -> _Fit:
    """Three rounds of items and systems, without each response in turn."""
    systems, n_items = len(panel.systems), int(panel.item.max()) + 1
    one_hot = np.eye(systems)[panel.system] * kept[:, None]
    y = values * kept
    counts = summed(one_hot, panel.item, n_items)
    of_item = summed(one_hot * y[:, None], panel.item, n_items)
    size = counts.sum(axis=1)
    mean = of_item.sum(axis=1) / np.maximum(size, 1)
    form = counts.T @ (counts / np.maximum(size, 1)[:, None])
    own, n = counts[panel.item], size[panel.item]
    there, m = kept[:, None], mean[panel.item]
    less = np.where(there, own - one_hot, own)
    stays = (~kept | (n - 1 >= _TWO))[:, None]
    after, m_after = np.maximum(n - kept, 1), (n * m - y) / np.maximum(n - kept, 1)
    left = counts.sum(axis=0) - np.where(stays, one_hot, own)
    base = of_item.sum(axis=0) - np.where(stays, one_hot * y[:, None], of_item[panel.item])
    base = base - ((counts * mean[:, None]).sum(axis=0) - own * m[:, None]
                   + np.where(stays, less * m_after[:, None], 0.0))  # fmt: skip
    last = before = start
    for _ in range(within.ROUNDS):
        before = last
        inner = before @ form - own * ((own * before).sum(axis=1) / np.maximum(n, 1))[:, None]
        inner += np.where(stays, less * ((less * before).sum(axis=1) / after)[:, None], 0.0)
        last = -(base - inner) / np.maximum(left, 1)
    touched = (own[:, small] > 0).any(axis=1) | small[panel.system]
    return _Fit(values, kept, own, np.maximum(n, 1), m, before, last, touched)


def _products(panel: ResponsePanel, fits: list[_Fit], *, crossed: bool) -> Floats:
    """(N, 3): products of one run and the mean human, and squares, without each response."""
    human, runs = fits[0], fits[1:]
    shared = np.sum([run.kept for run in runs], axis=0)
    weight = np.where(human.kept & (shared > 0), 1 / np.maximum(shared, 1), 0.0)
    once: Floats = (weight > 0).astype(np.float64)
    found = np.zeros((panel.n, 3))
    found[:, 1] = _whole(panel, human, human, once)
    for run in runs:
        found[:, 0] += _whole(panel, human, run, weight * run.kept)
        found[:, 2] += _whole(panel, run, run, weight * run.kept)
    return found + _of_same_item(panel, human, runs, weight, once, crossed=crossed)


def _whole(panel: ResponsePanel, one: _Fit, two: _Fit, weight: Floats) -> Floats:
    """(N,) sum over all responses of products of residuals, at the effects without each."""
    sides = [_design(panel, fit) for fit in (one, two)]
    form = (sides[0] * weight[:, None]).T @ sides[1]
    ones = np.ones((panel.n, 1))
    left, right = (np.hstack([ones, fit.last, fit.before]) for fit in (one, two))
    return _quadratic(left, form, right)


def _design(panel: ResponsePanel, fit: _Fit) -> Floats:
    """(N, 1 + 2S): what a residual is, as a linear form of 1, `last` and `before`."""
    one_hot = np.eye(len(panel.systems))[panel.system]
    return np.hstack([(fit.scores - fit.mean)[:, None], one_hot, -fit.counts / fit.size[:, None]])


def _of_same_item(
    panel: ResponsePanel, human: _Fit, runs: list[_Fit], weight: Floats, once: Floats, *,
    crossed: bool,
) -> Floats:  # fmt: skip
    """(N, 3): the responses to the same item, whose effect changes with its mean and size."""
    out, other = _same_item(panel) if crossed else (np.arange(panel.n),) * 2
    parts = np.zeros((len(out), 3))
    moved = [_residuals(panel, one, out, other, crossed=crossed) for one in (human, *runs)]
    old, new, stays = moved[0]
    olds, news, alive = zip(*moved[1:], strict=True)
    shared = np.sum(alive, axis=0)
    again = np.where(stays & (shared > 0), 1 / np.maximum(shared, 1), 0.0)
    parts[:, 1] = (again > 0) * new**2 - once[other] * old**2
    for before, after, there, run in zip(olds, news, alive, runs, strict=True):
        was = weight[other] * run.kept[other]
        parts[:, 0] += again * there * new * after - was * old * before
        parts[:, 2] += again * there * after**2 - was * before**2
    return summed(parts, out, panel.n)


def _residuals(
    panel: ResponsePanel,
    fit: _Fit,
    out: NDArray[np.intp],
    other: NDArray[np.intp],
    *,
    crossed: bool,
) -> tuple[Floats, Floats, Bits]:
    """Of pairs (left out, other): the other's residual, old and new, and whether it stays."""
    system = panel.system[other]
    own = (fit.counts * fit.before).sum(axis=1)[out]
    plain = fit.scores[other] + fit.last[out, system]
    old = plain - fit.mean[out] - own / fit.size[out]
    stays = fit.kept[other] & (other != out)
    if not crossed:
        return old, plain, stays
    gone = fit.kept[out]
    size = fit.size[out] - gone
    total = fit.size[out] * fit.mean[out] - gone * fit.scores[out]
    moved = own - gone * fit.before[out, panel.system[out]]
    new = plain - (total + moved) / np.maximum(size, 1)
    return old, new, stays & (size >= _TWO)


def _same_item(panel: ResponsePanel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of responses to one item, each with itself too."""
    order = np.argsort(panel.item, kind="stable")
    size = np.bincount(panel.item)
    start = np.cumsum(size) - size
    each = size[panel.item[order]]
    out = np.repeat(order, each)
    within_item = np.arange(len(out)) - np.repeat(np.cumsum(each) - each, each)
    return out, order[np.repeat(start[panel.item[order]], each) + within_item]
