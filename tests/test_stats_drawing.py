"""Whether labels can be a random draw: beside all draws of small sets, and its own error."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta, binom, ttest_ind_from_stats

from voirdire.errors import StatisticsError
from voirdire.stats import automated_share, drawn_at_random
from voirdire.stats.effective import lower_share_by_cluster, tails_by_cluster


def slow_p(drawn, rest):
    """Twice the smaller share of all draws whose mean is as low, or as high, as this one."""
    every = [*drawn, *rest]
    means = np.array([np.mean(one) for one in combinations(every, len(drawn))])
    seen = np.mean(drawn)
    return min(1.0, 2 * min(np.mean(means <= seen + 1e-12), np.mean(means >= seen - 1e-12)))


@pytest.mark.parametrize("failures", [(0, 3), (2, 1), (3, 0), (1, 1)])
def test_of_two_values_p_is_that_of_all_draws(failures):
    drawn = [0.0] * failures[0] + [1.0] * (6 - failures[0])
    rest = [0.0] * failures[1] + [1.0] * (10 - failures[1])
    assert drawn_at_random(drawn, rest) == pytest.approx(slow_p(drawn, rest))


@pytest.mark.parametrize("away", [0.3, 0.5, 0.8])
def test_of_many_values_p_is_that_of_shuffled_labels(away):
    """Skewed scores, of which a draw of 60 lies higher: 20,000 shuffles say how rarely."""
    chance = np.random.default_rng(1)
    scores = chance.choice(5, 240, p=[0.02, 0.03, 0.1, 0.25, 0.6]).astype(float)
    scores[:60] = np.minimum(scores[:60] + (chance.random(60) < away), 4)
    shuffled = chance.permuted(np.tile(scores, (20_000, 1)), axis=1)[:, :60].mean(1)
    slow = 2 * np.mean(shuffled >= scores[:60].mean() - 1e-12)
    assert drawn_at_random(scores[:60], scores[60:]) == pytest.approx(slow, rel=0.3, abs=0.002)


def test_random_labels_with_hardly_a_failure_are_not_accused():
    """Welch's t refused 6 of 238 such files at a promised .001."""
    chance, ours, welch = np.random.default_rng(2), 0, 0
    for _ in range(400):
        scores = (chance.random(600) < 0.97).astype(float)
        drawn, rest = scores[:50], scores[50:]
        ours += drawn_at_random(drawn, rest) < 0.001
        if np.ptp(drawn):
            continue
        moments = (1.0, 0.0, 50, rest.mean(), rest.std(ddof=1), len(rest))
        welch += ttest_ind_from_stats(*moments, equal_var=False).pvalue < 0.001
    assert ours <= 3
    assert welch > 20


def test_what_was_picked_is_seen():
    chance = np.random.default_rng(3)
    scores = np.sort(chance.integers(1, 6, 500).astype(float))
    assert drawn_at_random(scores[-60:], scores[:-60]) < 1e-6


def test_nothing_to_compare_is_no_difference_and_gaps_are_errors():
    assert drawn_at_random([1.0, 1.0], [1.0]) == 1
    assert drawn_at_random([], [1.0, 2.0]) == 1
    with pytest.raises(StatisticsError, match="rest must be one-dimensional and finite"):
        drawn_at_random([1.0], [np.nan, 2.0])


def dialogues(chance, size, count):
    """Verdicts whose agreement grows with confidence, and that err together within a dialogue."""
    group = np.repeat(np.arange(count), size)
    confidence = chance.uniform(size=len(group))
    away = chance.normal(0, 2, count)[group]
    right = chance.random(len(group)) < 1 / (1 + np.exp(-(1 + 3 * confidence + away)))
    return group, confidence, right.astype(float)


def test_dialogues_of_ten_miss_the_target_no_oftener_than_promised():
    """Without clusters more samples miss it than the stated risk of .10."""
    chance, runs = np.random.default_rng(4), 60
    _, confidence, right = dialogues(chance, 10, 4000)
    order = np.argsort(-confidence)
    truth = np.cumsum(right[order]) / np.arange(1, len(right) + 1)
    misses, went = np.zeros(2), 0
    for _ in range(runs):
        group, sure, agrees = dialogues(chance, 10, 60)
        for at, clusters in enumerate((group, None)):
            share = automated_share(
                agrees, sure, confidence, target=0.85, risk=0.1, clusters=clusters
            )
            went += at == 0 and share.share > 0
            if share.share:
                misses[at] += truth[int(share.share * len(truth)) - 1] < 0.85
    assert misses[0] <= 0.1 * runs
    assert misses[0] < misses[1]
    assert went > 0.1 * runs


def test_single_rows_as_clusters_change_little_and_one_cluster_shows_nothing():
    chance = np.random.default_rng(5)
    sure = chance.uniform(size=400)
    agrees = (chance.random(400) < 0.7 + 0.3 * sure).astype(float)
    plain = automated_share(agrees, sure, sure, target=0.85)
    single = automated_share(agrees, sure, sure, target=0.85, clusters=np.arange(400))
    assert single.share == pytest.approx(plain.share, abs=0.1)
    one = automated_share(agrees, sure, sure, target=0.85, clusters=["a"] * 400)
    assert one.share == 0


def test_single_labels_as_clusters_are_the_exact_binomial_test():
    for hits, n, share in ((19, 20, 0.85), (45, 60, 0.7), (1, 3, 0.5), (1700, 2000, 0.84)):
        right = np.arange(n) < hits
        good, bad = tails_by_cluster(right * 1.0, np.arange(n), share)
        assert good == pytest.approx(binom.sf(hits - 1, n, share), abs=1e-9)
        assert bad == pytest.approx(binom.cdf(hits, n, share), abs=1e-9)
    low = lower_share_by_cluster(np.r_[np.ones(50), np.zeros(10)], np.arange(60), 0.05)
    assert low == pytest.approx(beta.ppf(0.05, 50, 11), abs=1e-9)


def test_clusters_weigh_as_exponential_variables():
    chance = np.random.default_rng(5)
    group = np.repeat(np.arange(25), chance.integers(1, 9, 25))
    right = (chance.random(len(group)) < 0.9).astype(float)
    sizes, hits = np.bincount(group), np.bincount(group, weights=right)
    whole = float((sizes**2).sum() / sizes.sum())
    weights = chance.exponential(size=(200_000, 26))
    drawn = weights @ np.append(hits - 0.85 * sizes, -0.85 * whole) <= 0
    found = tails_by_cluster(right, group, 0.85)[0]
    assert found == pytest.approx(drawn.mean(), abs=4 * drawn.std() / np.sqrt(len(drawn)))


def test_right_dialogues_have_shown_nothing_of_dialogues_that_err_as_wholes():
    # With k right dialogues of one size the chance is 0.85^k, however many turns they have.
    for k, size in ((10, 20), (18, 5), (19, 5)):
        group = np.repeat(np.arange(k), size)
        good, _ = tails_by_cluster(np.ones(len(group)), group, 0.85)
        assert good == pytest.approx(0.85**k, rel=1e-8)
    # Turns that err singly in 20 dialogues look like 400 labels, of which 92 in 100 are right.
    group = np.repeat(np.arange(20), 20)
    right = (np.arange(400) % 25 > 1).astype(float)
    assert binom.sf(right.sum() - 1, 400, 0.85) < 1e-4
    assert tails_by_cluster(right, group, 0.85)[0] > 0.1
