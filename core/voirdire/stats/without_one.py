"""Sums of centred scores without each response, the centres being computed anew.

Scores are held against the means of systems and items, which one response moves. That change has a
closed form: only the cells of the response move, and the sums of all others are quadratic in it.
The few responses whose absence leaves a cell too small for a mean are left out by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass
from voirdire.stats import within
from voirdire.stats._arrays import occurring
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
#: Numbers in an array of what is worked out in one go: so many stay in the processor's cache.
_AT_ONCE = 16_384


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
        categories=None if panel.categories is None else occurring(humans),
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
    values = np.empty((panel.n, 8))
    # A cluster in which only this response has both sides goes with it.
    last = (columns[:, 6] > 0) & (met == 1) & (np.bincount(panel.cluster)[panel.cluster] > 1)
    by_hand = _only_uses(panel) | last
    for system in range(len(panel.systems)):
        own = np.flatnonzero(panel.system == system)
        rest = whole - columns[own][counted[own]].sum(axis=0)
        sums, hard = _system_totals(panel, own, counted[own])
        values[own], by_hand[own] = rest + sums, by_hand[own] | hard
    return _by_hand(panel, values, by_hand, item_total)


def reading_totals(panel: ResponsePanel) -> Floats:
    """(N, 3): `reading_total` without each response in turn."""
    alone = np.bincount(panel.item)[panel.item] == 1
    items = panel.item.max() + 1 - alone
    # Leaving one response out can turn the effects of items on or off for all.
    crossed = (len(panel.systems) > 1) & ((panel.n - 1) / np.maximum(items, 1) >= CROSSED)
    totals, by_hand = np.zeros((panel.n, 3)), _only_uses(panel)
    for effects in np.unique(crossed):
        chosen = np.flatnonzero(crossed == effects)
        sums, hard = _reading(panel, chosen, crossed=bool(effects))
        totals[chosen], by_hand[chosen] = sums, by_hand[chosen] | hard
    return _by_hand(panel, totals, by_hand, reading_total)


def _reading(panel: ResponsePanel, rows: NDArray[np.intp], *, crossed: bool) -> tuple[Floats, Bits]:
    sides = [within.mean_vectors(panel), *(panel.vectors(run) for run in panel.judge)]
    totals, hard = np.zeros((len(rows), 3)), np.zeros(len(rows), dtype=bool)
    neighbours = _Neighbours.of(panel, crossed=crossed)
    block = max(_AT_ONCE // len(panel.systems), 1)
    for place in range(sides[0].shape[1]):
        fits = [_SideFit.of(panel, side[:, place], crossed=crossed) for side in sides]
        products = _Products.of(panel, fits)
        for start in range(0, len(rows), block):
            some = slice(start, start + block)
            moved = [fit.without(panel, rows[some]) for fit in fits]
            totals[some] += products.without(panel, rows[some], moved, neighbours)
            hard[some] |= np.any([one.by_hand for one in moved], axis=0)
    return totals, hard


def _by_hand(
    panel: ResponsePanel, totals: Floats, hard: Bits, total: Callable[[ResponsePanel], Floats]
) -> Floats:
    for at in np.flatnonzero(hard):
        totals[at] = total(without_response(panel, int(at)))
    return totals


def _only_uses(panel: ResponsePanel) -> Bits:
    """(N,) whether a label of a human stands here alone: without it vectors are shorter."""
    if panel.categories is None:
        return np.zeros(panel.n, dtype=bool)
    given = [(panel.humans == code).any(axis=0) for code in panel.categories]
    return np.asarray(np.any([used & (used.sum() == 1) for used in given], axis=0))


@dataclass(frozen=True, slots=True)
class _Moving:
    """Sums that lose one response: columns of rows, and what each column counts for without each.

    Attributes
    ----------
    rows, without : (n, parts x R)
        Parts of R raters side by side. Of a response the raters' values are `rows` times the
        `without` of whichever response is left out, summed over the parts.
    raters : int
        R.
    """

    rows: Floats
    without: Floats
    raters: int

    def products(self, other: _Moving, weight: Floats) -> Floats:
        """(n,) sums over other responses of weight x values x the other's values."""
        here = (self.rows * self.without).sum(axis=1) * (other.rows * other.without).sum(axis=1)
        sums = (self.rows * weight[:, None]).T @ other.rows
        return _quadratic(self.without, sums, other.without) - weight * here

    def squares(self, weight: Floats) -> Floats:
        """(n,) the same of each rater with itself."""
        n, columns = self.rows.shape
        own = (self.rows * self.without).reshape(n, -1, self.raters).sum(axis=1)
        parts = columns // self.raters
        sums = (self.rows * weight[:, None]).T @ self.rows
        sums *= np.tile(np.eye(self.raters), (parts, parts))
        return _quadratic(self.without, sums, self.without) - weight * (own**2).sum(axis=1)


def _quadratic(left: Floats, form: Floats, right: Floats) -> Floats:
    return np.asarray(((left @ form) * right).sum(axis=1))


@dataclass(frozen=True, slots=True)
class _SystemRaters:
    """Raters in one system, with centres that move as a response is left out.

    Attributes
    ----------
    scores : list of _Moving
        Centred scores, one a dimension of the vectors.
    there : _Moving
        Who scored.
    present, drops : (n, R), (n,) bool
        Who has a mean; whether some rater has too few scores for one without this response.
    """

    scores: list[_Moving]
    there: _Moving
    present: Bits
    drops: Bits

    @classmethod
    def of(cls, vectors: Floats) -> _SystemRaters:
        """From raw vectors (R, n, D)."""
        raw = np.moveaxis(vectors, 0, 1)
        present = ~np.isnan(raw[..., 0])
        present &= present.sum(axis=0) >= _FEWEST  # fewer have no mean: see `centred`
        n, raters = present.sum(axis=0), present.shape[1]
        left = n - present
        alive: Floats = (left >= _FEWEST) * 1.0
        factor = alive * np.sqrt(left / np.maximum(left - 1, 1))  # of an unbiased square
        there, scores = present * 1.0, []
        for place in range(raw.shape[2]):
            x = np.where(present, raw[..., place], 0.0)
            x -= present * (x.sum(axis=0) / np.maximum(n, 1))
            # Without a score the centre is lower by that score's share.
            moved = factor * x / np.maximum(left, 1)
            scores.append(_Moving(np.hstack([x, there]), np.hstack([factor, moved]), raters))
        drops = np.asarray((present & (alive == 0)).any(axis=1))
        return cls(scores, _Moving(there, alive, raters), present, drops)


def _system_totals(
    panel: ResponsePanel, own: NDArray[np.intp], counted: Bits
) -> tuple[Floats, Bits]:
    """(n, 8) sums of one system's columns without each of its responses; (n,) what is by hand."""
    humans = _SystemRaters.of(panel.vectors(panel.humans[:, own]))
    runs = _SystemRaters.of(panel.vectors(panel.judge[:, own]))
    n = humans.present.sum(axis=1)
    # A run that falls below its least changes what counts for every response of the system.
    hard = runs.drops
    for at in np.flatnonzero(humans.drops):
        left = humans.there.rows @ humans.there.without[at]
        hard[at] |= bool(((left == 0) & (n > 0)).any())
    share = 1 / np.maximum(runs.present.sum(axis=1), 1)
    there: Floats = (runs.present.sum(axis=1) > 0).astype(np.float64)
    weight: Floats = counted.astype(np.float64)
    beside: Floats = there * (n > 0)
    pairs = sum(x.products(x, weight) for x in humans.scores)
    squares = sum(x.squares(weight) for x in humans.scores)
    both = zip(runs.scores, humans.scores, strict=True)
    own_n = humans.there.squares(weight)
    return np.stack(
        [
            (humans.there.products(humans.there, weight) - own_n) / 2,
            (pairs - squares) / 2,
            own_n,
            squares,
            humans.there.squares(there),
            sum(x.products(y, share) for x, y in both),
            beside.sum() - beside,
            sum(x.squares(share * beside) for x in runs.scores),
        ],
        axis=1,
    ), hard  # fmt: skip


@dataclass(frozen=True, slots=True)
class _SideFit:
    """One side's scores, and what its effects of systems and items are made of.

    A residual is ``score + last[system] - mean of item - (counts of item @ before) / size``, by the
    rounds of `within`: `last` and `before` are its last two means of systems, negated.

    Attributes
    ----------
    scores : (N,)
        0 where missing.
    first, kept : (N,)
        Which are there, and which of them have an effect of the item taken out.
    counts, sums : (I, S)
        Scores kept, by item and system, and their sums.
    size, mean : (I,)
        Of each item; at least 1, and 0 for one that has none.
    small : (S,)
        Systems that may be left without a mean when one response goes.
    n, total : (S,)
        Scores that are there, and their sums.
    left, base, form : (S,), (S,), (S, S)
        Scores kept; what they sum to beyond the means of their items; the share of one system's
        mean in another's, by the items that both have.
    """

    scores: Floats
    first: Bits
    kept: Bits
    counts: Floats
    sums: Floats
    size: Floats
    mean: Floats
    small: Bits
    n: Floats
    total: Floats
    left: Floats
    base: Floats
    form: Floats
    crossed: bool

    @classmethod
    def of(cls, panel: ResponsePanel, scores: Floats, *, crossed: bool) -> _SideFit:
        """Of scores (N,), NaN where missing."""
        systems, n_items = len(panel.systems), int(panel.item.max()) + 1
        first = ~np.isnan(scores)
        first &= np.bincount(panel.system[first], minlength=systems)[panel.system] >= _TWO
        values = np.where(first, scores, 0.0)
        size = np.bincount(panel.item[first], minlength=n_items)[panel.item]
        kept = first & (size >= _TWO) if crossed else first
        small = np.bincount(panel.system[kept], minlength=systems) <= _TWO + 1
        cell, shape = panel.item * systems + panel.system, (n_items, systems)
        there = kept & crossed  # without effects of items these have no part
        cells = summed([there.astype(np.float64), values * there], cell, n_items * systems)
        counts, sums = (cells[:, place].reshape(shape) for place in (0, 1))
        size = np.maximum(counts.sum(axis=1), 1)
        mean = sums.sum(axis=1) / size
        n, total = summed([first.astype(np.float64), values], panel.system, systems).T
        base = sums.sum(axis=0) - (counts * mean[:, None]).sum(axis=0)
        return cls(
            values, first, kept, counts, sums, size, mean, small, n, total, counts.sum(axis=0),
            base, counts.T @ (counts / size[:, None]), crossed,
        )  # fmt: skip

    def without(self, panel: ResponsePanel, out: NDArray[np.intp]) -> _LeftOutEffects:
        """The effects without each of the responses `out`, one at a time."""
        own = np.eye(len(panel.systems))[panel.system[out]] * self.first[out, None]
        start = -(self.total - own * self.scores[out, None]) / np.maximum(self.n - own, 1)
        small = self.small[panel.system[out]]
        if self.crossed:
            return self._crossed(panel, out, start, small)
        return _LeftOutEffects(np.zeros_like(start), start, small & self.first[out])

    def _crossed(
        self, panel: ResponsePanel, out: NDArray[np.intp], start: Floats, small: Bits
    ) -> _LeftOutEffects:
        """Three rounds of items and systems."""
        item, kept = panel.item[out], self.kept[out]
        one_hot = np.eye(len(panel.systems))[panel.system[out]] * kept[:, None]
        y = self.scores[out] * kept
        own, n, m = self.counts[item], self.size[item], self.mean[item]
        less = own - one_hot
        # An item left with one response has no effect, and that response goes too.
        stays = (~kept | (n - 1 >= _TWO))[:, None]
        after = np.maximum(n - kept, 1)
        rest = np.where(stays, less, 0.0)
        left = np.maximum(self.left - np.where(stays, one_hot, own), 1)
        base = self.base - np.where(stays, one_hot * y[:, None], self.sums[item])
        # The item's share in every system's mean is that of its new mean and size.
        base += own * m[:, None] - rest * ((n * m - y) / after)[:, None]
        share, rest_share = own / n[:, None], rest / after[:, None]
        last = before = start
        for _ in range(within.ROUNDS):
            before = last
            # The round over all items, with this one's old share taken out and its new one put in.
            inner = before @ self.form - share * (own * before).sum(axis=1)[:, None]
            inner += rest_share * (less * before).sum(axis=1)[:, None]
            last = (inner - base) / left
        # A system at its least may lose its mean when an item's last two responses go.
        touched = (own[:, self.small] > 0).any(axis=1) | small
        return _LeftOutEffects(before, last, touched)


@dataclass(frozen=True, slots=True)
class _LeftOutEffects:
    """Effects of one side without each of some responses: (B, S) each, and what is by hand (B,)."""

    before: Floats
    last: Floats
    by_hand: Bits


@dataclass(frozen=True, slots=True)
class _Products:
    """Products of one run and the mean human, and squares of each, over all responses.

    `forms` holds for each column the pairs of sides whose residuals are multiplied, and the sums of
    the products as a form in 1, `last` and `before`; `weight` (N,) is what a run counts.
    """

    fits: list[_SideFit]
    weight: Floats
    forms: list[tuple[int, int, int, Floats]]

    @classmethod
    def of(cls, panel: ResponsePanel, fits: list[_SideFit]) -> _Products:
        """Of the mean human and the runs."""
        human, runs = fits[0], fits[1:]
        shared = np.sum([run.kept for run in runs], axis=0)
        weight: Floats = np.where(human.kept & (shared > 0), 1 / np.maximum(shared, 1), 0.0)
        once: Floats = (weight > 0).astype(np.float64)
        forms = [(1, 0, 0, _form_of(panel, human, human, once))]
        for at, run in enumerate(runs, 1):
            own = weight * run.kept
            forms.append((0, 0, at, _form_of(panel, human, run, own)))
            forms.append((2, at, at, _form_of(panel, run, run, own)))
        return cls(fits, weight, forms)

    def without(
        self,
        panel: ResponsePanel,
        out: NDArray[np.intp],
        moved: list[_LeftOutEffects],
        neighbours: _Neighbours,
    ) -> Floats:
        """(B, 3) without each of the responses `out`."""
        ones = np.ones((len(out), 1))
        sides = [np.hstack([ones, one.last, one.before]) for one in moved]
        sums = self._of_same_item(panel, out, moved, neighbours)
        for column, one, two, form in self.forms:
            sums[:, column] += _quadratic(sides[one], form, sides[two])
        return sums

    def _of_same_item(
        self,
        panel: ResponsePanel,
        out: NDArray[np.intp],
        moved: list[_LeftOutEffects],
        neighbours: _Neighbours,
    ) -> Floats:
        """(B, 3): the responses to the same item, whose effect changes with its mean and size."""
        at, other = neighbours.of_rows(panel, out)
        parts = np.zeros((3, len(at)))
        residuals = [
            _residuals(panel, fit, one, out, at, other)
            for fit, one in zip(self.fits, moved, strict=True)
        ]
        old, new, stays = residuals[0]
        weight = self.weight[other]
        shared = np.sum([alive for _, _, alive in residuals[1:]], axis=0)
        again = np.where(stays & (shared > 0), 1 / np.maximum(shared, 1), 0.0)
        parts[1] = (again > 0) * new**2 - (weight > 0) * old**2
        for run, (before, after, there) in zip(self.fits[1:], residuals[1:], strict=True):
            now, was = again * there * after, weight * run.kept[other] * before
            parts[0] += now * new - was * old
            parts[2] += now * after - was * before
        return summed(list(parts), at, len(out))


def _form_of(panel: ResponsePanel, one: _SideFit, two: _SideFit, weight: Floats) -> Floats:
    """(1 + 2S, 1 + 2S): sum of products of two residuals, each a form in 1, `last`, `before`."""
    systems, n_items = one.counts.shape[::-1]
    cell = panel.item * systems + panel.system
    counted = np.bincount(cell, weight, n_items * systems).reshape(n_items, systems)
    item_one, item_two = (-fit.counts / fit.size[:, None] for fit in (one, two))
    x, y = (fit.scores - fit.mean[panel.item] for fit in (one, two))
    wx, wy = weight * x, weight * y
    by_system = [np.bincount(panel.system, part, systems) for part in (wx, wy)]
    by_item = [np.bincount(panel.item, part, n_items) for part in (wx, wy)]
    s, i = slice(1, 1 + systems), slice(1 + systems, None)
    form = np.zeros((1 + 2 * systems,) * 2)
    form[0, 0], form[0, s], form[s, 0] = (wx * y).sum(), *by_system
    form[0, i], form[i, 0] = by_item[0] @ item_two, by_item[1] @ item_one
    form[s, s] = np.diag(counted.sum(axis=0))
    form[s, i], form[i, s] = counted.T @ item_two, item_one.T @ counted
    form[i, i] = item_one.T @ (item_two * counted.sum(axis=1)[:, None])
    return form


def _residuals(
    panel: ResponsePanel,
    fit: _SideFit,
    moved: _LeftOutEffects,
    out: NDArray[np.intp],
    at: NDArray[np.intp],
    other: NDArray[np.intp],
) -> tuple[Floats, Floats, Bits]:
    """Of pairs (left out: `at`, other): the other's residual, old and new, and whether it stays."""
    item = panel.item[out]
    size, mean = fit.size[item], fit.mean[item]
    own = (fit.counts[item] * moved.before).sum(axis=1)
    plain = fit.scores[other] + moved.last[at, panel.system[other]]
    old = plain - (mean + own / size)[at]
    stays = fit.kept[other] & (other != out[at])
    if not fit.crossed:
        return old, plain, stays
    gone = fit.kept[out]
    left = size - gone
    total = size * mean - gone * fit.scores[out]
    total += own - gone * moved.before[np.arange(len(out)), panel.system[out]]
    new = plain - (total / np.maximum(left, 1))[at]
    return old, new, stays & (left >= _TWO)[at]


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """The responses to each item: places in `order` from `start` (I,) on, `size` (I,) many."""

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    size: NDArray[np.intp]
    crossed: bool

    @classmethod
    def of(cls, panel: ResponsePanel, *, crossed: bool) -> _Neighbours:
        """Of a panel's items; without effects of items a response has itself alone."""
        size = np.bincount(panel.item)
        order = np.argsort(panel.item, kind="stable")
        return cls(order, np.cumsum(size) - size, size, crossed)

    def of_rows(
        self, panel: ResponsePanel, out: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """All pairs of a row of `out`, by its place there, and a response to the same item."""
        if not self.crossed:
            return np.arange(len(out)), out
        each = self.size[panel.item[out]]
        at = np.repeat(np.arange(len(out)), each)
        inside = np.arange(len(at)) - np.repeat(np.cumsum(each) - each, each)
        return at, self.order[np.repeat(self.start[panel.item[out]], each) + inside]
