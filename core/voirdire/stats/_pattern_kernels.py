"""Kernels over the responses of a part: grid, keys, hashes, Poisson weights, squares of sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.stats._jit import njit

#: Scores are counted in this many steps a point: whole, half, quarter and tenth points are exact.
STEPS = 20
#: What stands for a missing score among whole steps; up to `LAST`, one that was not asked for, and
#: scores on no grid, below the gate and above it.
MISSING, LAST = -(2**31), -(2**31) + 3

#: Where the distribution function of Poisson(1) passes, in 65536ths, rounded.
_POISSON = np.array([24109, 48218, 60273, 64291, 65296, 65497, 65530, 65535], dtype=np.uint16)


@njit(nogil=True)
def whole_steps(scores: Any, out: Any) -> bool:
    """Scores as whole steps, MISSING where NaN; whether all lie on the grid."""
    for place in range(scores.size):
        value = scores[place]
        if np.isnan(value):
            out[place] = MISSING
            continue
        scaled = value * STEPS
        step = np.rint(scaled)
        # 0.35 times 20 is not quite 7. The bound on size leaves room in int32 for the codes of what
        # is missing.
        if abs(scaled - step) > 1e-9 or abs(step) > 1e8:
            return False
        out[place] = np.int64(step)
    return True


@njit(nogil=True)
def grid_of(steps: Any) -> Any:
    """The greatest common step, the least and the most of the scores among whole steps."""
    gcd: Any = 0
    low: Any = 2**31
    high: Any = -(2**31)
    for place in range(steps.size):
        step = np.int64(steps[place])
        if step > LAST:
            low, high = min(low, step), max(high, step)
    if high < low:
        return 1, 0, 0
    last = low
    for place in range(steps.size):
        step = np.int64(steps[place])
        # To divide takes long; most scores are the level before, or of the grid that is known.
        if step <= LAST or step == last or (gcd > 0 and (step - low) % gcd == 0):
            continue
        last, rest = step, step - low
        # Euclid's algorithm, on how far each step lies above the least.
        while rest != 0:
            gcd, rest = rest, gcd % rest
        if gcd == 1:
            break
    return max(gcd, 1), low, high


@njit(nogil=True)
def pattern_keys(steps: Any, system: Any, unit: int, low: int, base: int, out: Any) -> None:
    """One number a row (n, C) of steps and its system; digits 0 to 3 are no steps."""
    rows, columns = steps.shape
    for row in range(rows):
        # One digit a column, to the base of the levels there are: equal numbers are equal rows.
        key = np.int64(system[row])
        for column in range(columns):
            step = np.int64(steps[row, column])
            digit = step - MISSING if step <= LAST else (step - low) // unit + 4
            key = key * base + digit
        out[row] = key


@njit(nogil=True)
def scatter(changes: Any, column: Any, score: Any, out: Any, seen: Any) -> int:
    """Put scores into (N, C), a row a response; the first row whose cell is taken, else -1."""
    at = -1
    for row in range(changes.size):
        # 1 where a row begins another response than the one before.
        at += changes[row]
        to = column[row]
        if seen[at, to]:
            return row
        seen[at, to] = True
        out[at, to] = score[row]
    return -1


@njit(nogil=True)
def hashes(text: Any, ends: Any, out: Any) -> None:
    """FNV-1a of each text, mixed as by splitmix64: the same on any machine."""
    start = 0
    for place in range(ends.size):
        # Offset basis and prime of FNV-1a with 64 bits.
        digest = np.uint64(14695981039346656037)
        for at in range(start, ends[place]):
            digest = (digest ^ np.uint64(text[at])) * np.uint64(1099511628211)
        start = ends[place]
        out[place] = _mixed(digest)


@njit(nogil=True)
def _mixed(value: Any) -> Any:
    # Names that differ in their last letter have much the same FNV; the finaliser of splitmix64
    # (Steele, Lea and Flood 2014) spreads the difference over all bits.
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(nogil=True)
def poisson_weights(cluster: Any, seed: int, out: Any) -> None:
    """(B,) weights of one cluster: Poisson(1) by hash(cluster, replicate), to 2^-16."""
    for block in range((out.size + 3) // 4):
        # Each block of four replicates has a hash of its own, of which each takes 16 bits; the odd
        # factors keep blocks and seeds apart.
        step = np.uint64(block + 1) * np.uint64(0x9E3779B97F4A7C15)
        bits = _mixed(cluster + step + np.uint64(seed) * np.uint64(0xD1342543DE82EF95))
        for part in range(min(4, out.size - 4 * block)):
            draw = np.uint16(bits >> np.uint64(16 * part))
            weight = 0
            for limit in _POISSON:
                weight += draw >= limit
            out[4 * block + part] = weight


@njit(nogil=True)
def resampled_patterns(code: Any, cluster: Any, names: Any, seed: int, out: Any) -> None:
    """Add to (P, B) how often each replicate draws each pattern; rows of a cluster stand together.

    code : (N,) the pattern of each response; cluster : (N,) its place in `names`, the hashes.
    """
    weights = np.zeros(out.shape[1], np.int32)
    last = -1
    for row in range(code.size):
        # Weights are drawn once for the rows of a cluster, which lie side by side.
        if cluster[row] != last:
            last = cluster[row]
            poisson_weights(names[last], seed, weights)
        line = out[code[row]]
        for place in range(weights.size):
            line[place] += weights[place]


@njit(nogil=True)
def resampled_nodes(code: Any, shares: Any, cluster: Any, names: Any, seed: int, out: Any) -> None:
    """The same of (P * K, B) nodes: `shares` (N, K) is how much of each node a response is."""
    weights = np.zeros(out.shape[1], np.int32)
    last, each = -1, shares.shape[1]
    for row in range(code.size):
        if cluster[row] != last:
            last = cluster[row]
            poisson_weights(names[last], seed, weights)
        for node in range(each):
            share = shares[row, node]
            if share != 0.0:
                line = out[code[row] * each + node]
                for place in range(weights.size):
                    line[place] += share * weights[place]


@njit(nogil=True)
def squares(code: Any, cluster: Any, values: Any, high: Any, low: Any) -> int:
    """Sums of squares of cluster sums, exact: high * 2^32 + low for each column of whole `values`.

    Returns the largest cluster sum, whose square must stay below 2^62.
    """
    columns = values.shape[1]
    total = np.zeros(columns, np.int64)
    most = 0
    for row in range(code.size + 1):
        # One row beyond the end closes the last cluster.
        if row == code.size or (row > 0 and cluster[row] != cluster[row - 1]):
            for place in range(columns):
                here = total[place]
                most = max(most, abs(here))
                square = here * here
                # A few squares pass 2^63; their halves may be summed over two billion clusters.
                high[place] += square >> 32
                low[place] += square & 0xFFFFFFFF
                total[place] = 0
        if row < code.size:
            line = values[code[row]]
            for place in range(columns):
                total[place] += line[place]
    return most


@njit(nogil=True)
def cluster_moments(
    code: Any, cluster: Any, values: Any, present: Any, where: int, scale: Any, out: Any
) -> Any:
    """Sums of products of cluster sums, in whole numbers.

    code, cluster : (N,) pattern and cluster of each response, those of a cluster side by side.
    values : (P, F) whole numbers; present : (P,) rows that make a cluster count.
    where : a column whose sum must be above 0, or -1.
    scale : (3,) factors of the three products of two columns, or (0,): the columns themselves.
    out : total (F,), seen (F,), high (F, F), low (F, F) and fine (F, 2), totals of 2^20 times as
    many units as two halves, to be added to. Returns the clusters.
    """
    total, seen, high, low, fine = out
    own = np.zeros(values.shape[1], np.int64)
    made = np.zeros(total.size, np.int64)
    units, there = 0, False
    for row in range(code.size + 1):
        if row == code.size or (row > 0 and cluster[row] != cluster[row - 1]):
            if there and (where < 0 or own[where] > 0):
                units += 1
                if scale.size:
                    a, b = float(own[0]), float(own[1])
                    # Products become whole numbers too, so that parts add up to the same in any
                    # order.
                    made[0] = np.int64(np.rint(a * b * scale[0]))
                    made[1] = np.int64(np.rint(a * a * scale[1]))
                    made[2] = np.int64(np.rint(b * b * scale[2]))
                    add_fine(fine, 0, a * b * scale[0])
                    add_fine(fine, 1, a * a * scale[1])
                    add_fine(fine, 2, b * b * scale[2])
                else:
                    made[:] = own
                add_moments(made, total, seen, high, low)
            own[:] = 0
            there = False
        if row < code.size and present[code[row]]:
            there = True
            line = values[code[row]]
            for place in range(own.size):
                own[place] += line[place]
    return units


@njit(nogil=True)
def add_moments(made: Any, total: Any, seen: Any, high: Any, low: Any) -> None:
    """Add one cluster's sums and their products: high * 2^32 + low."""
    for i in range(made.size):
        total[i] += made[i]
        seen[i] += made[i] > 0
        for j in range(i + 1):
            product = made[i] * made[j]
            high[i, j] += product >> 32
            low[i, j] += product & 0xFFFFFFFF


@njit(nogil=True)
def add_fine(fine: Any, place: int, value: float) -> None:
    """Add a value, in 2^-20 units, to its two halves."""
    whole = np.int64(np.rint(value * 1048576.0))
    fine[place, 0] += whole >> 32
    fine[place, 1] += whole & 0xFFFFFFFF


@njit(nogil=True)
def item_effects(  # noqa: C901 - loops that numba wants in one place
    code: Any, item: Any, system: Any, values: Any, shift: Any, share: Any
) -> None:
    """What alternate centring by item and system needs, for items with two responses or more.

    values : (P, V) whole numbers, MISSING where there is none; system : (P,).
    shift : (V, K, S) sums of k times a value less its item's sum, by items of k responses.
    share : (V, K, S, S) how often two systems meet in an item of k responses.
    """
    start = 0
    for row in range(1, code.size + 1):
        if row < code.size and item[row] == item[start]:
            continue
        for v in range(values.shape[1]):
            k, total = 0, 0
            for at in range(start, row):
                if values[code[at], v] != MISSING:
                    k += 1
                    total += values[code[at], v]
            if k > 1:
                for at in range(start, row):
                    if values[code[at], v] == MISSING:
                        continue
                    s = system[code[at]]
                    # Times k, since the item's mean itself is no whole number.
                    shift[v, k, s] += k * values[code[at], v] - total
                    for other in range(start, row):
                        if values[code[other], v] != MISSING:
                            share[v, k, s, system[code[other]]] += 1
        start = row


@njit(nogil=True)
def crossed_moments(  # noqa: C901 - loops that numba wants in one place
    code: Any, item: Any, cluster: Any, rest: Any, less: Any, scale: Any, out: Any
) -> Any:
    """`cluster_moments` of the reading columns where items are crossed with systems.

    rest, less : (P, 1 + K) scores of the mean human and each run, less the effects of systems that
    count for the response, and for the mean of its item; NaN where missing.
    scale : (4,) factors of the product, the two squares and the number of usable responses.
    """
    total, seen, high, low, fine = out
    width = rest.shape[1]
    means, k = np.zeros(width), np.zeros(width, np.int64)
    own, made = np.zeros(4, np.int64), np.zeros(4, np.int64)
    units, start = 0, 0
    for row in range(1, code.size + 1):
        if row < code.size and item[row] == item[start]:
            continue
        means[:] = 0
        k[:] = 0
        for at in range(start, row):
            for v in range(width):
                if not np.isnan(less[code[at], v]):
                    means[v] += less[code[at], v]
                    k[v] += 1
        for at in range(start, row):
            # A response alone in its item is its item's mean, and says nothing.
            if k[0] < 2 or np.isnan(rest[code[at], 0]):
                continue
            human = rest[code[at], 0] - means[0] / k[0]
            n, run, square = 0, 0.0, 0.0
            for v in range(1, width):
                if k[v] > 1 and not np.isnan(rest[code[at], v]):
                    one = rest[code[at], v] - means[v] / k[v]
                    n, run, square = n + 1, run + one, square + one * one
            if n > 0:
                made[0] = np.int64(np.rint(human * run / n * scale[0]))
                made[1] = np.int64(np.rint(human * human * scale[1]))
                made[2] = np.int64(np.rint(square / n * scale[2]))
                made[3] = np.int64(scale[3])
                own += made
                add_fine(fine, 0, human * run / n * scale[0])
                add_fine(fine, 1, human * human * scale[1])
                add_fine(fine, 2, square / n * scale[2])
                add_fine(fine, 3, scale[3])
        if row == code.size or cluster[row] != cluster[start]:
            if own[3] > 0:
                units += 1
                add_moments(own, total, seen, high, low)
            own[:] = 0
        start = row
    return units
