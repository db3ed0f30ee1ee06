"""Values of the kinds' own components before or after a change, with those without each cluster.

What a jackknife left out one at a time is kept with its estimate (`Jackknifed.out`), so that
components of labels, preferences and probabilities need no sums of their own here. With every
response as a cluster of its own, the same says what each response does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Estimated
from voirdire.examining.spec.margins import FEWEST_SHARED
from voirdire.examining.spec.reasons import FEWEST_SUCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component
    from voirdire.examining.spec.labels.ground import LabelGround
    from voirdire.examining.spec.preferences.ground import ComparedGround
    from voirdire.examining.spec.probabilities.ground import ProbabilityGround
    from voirdire.stats.sums import Jackknifed


def _of(found: Jackknifed | None, at: str = "") -> Iterator[Estimated]:
    if found is not None and found.out is not None:
        yield Estimated(float(found.full), np.asarray(found.out, dtype=np.float64), at)


def shares(ground: LabelGround) -> Iterator[Estimated]:
    """SHARE of each label."""
    from voirdire.stats import label_responses  # noqa: PLC0415 - scores need none of these

    found = label_responses.shares(ground.panel, ground.humans).difference
    for place, label in enumerate(ground.case.labels):
        yield from _of(found[place], label)


def rate_of_labels(*, recall: bool) -> Callable[[LabelGround], Iterator[Estimated]]:
    """RECALL (PRECISION) of each label beside a held-out human, where enough is said."""

    def estimates(ground: LabelGround) -> Iterator[Estimated]:
        from voirdire.stats import label_responses  # noqa: PLC0415 - as above

        if len(ground.humans) < 2:
            return
        for place, label in enumerate(ground.case.labels):
            rates = label_responses.LabelRates.of(ground.panel.label(place), ground.humans)
            if (rates.given if recall else min(rates.given, rates.said)) >= FEWEST_SUCH:
                found, _ = rates.recall() if recall else rates.precision()
                yield from _of(found, label)

    return estimates


def label_items(times: float) -> Callable[[LabelGround], Iterator[Estimated]]:
    """LABEL, or ITEM_k, of each label, where two humans share enough of it."""

    def estimates(ground: LabelGround) -> Iterator[Estimated]:
        from voirdire.stats import within  # noqa: PLC0415 - as above

        if len(ground.humans) < 2:
            return
        for place, label in enumerate(ground.case.labels):
            bits = ground.panel.label(place).only_humans(ground.humans)
            table = within.item_table(bits, beside=True)
            if table.total[0] >= FEWEST_SHARED:
                yield from _of(table.jackknife(partial(within.beyond, times=times)), label)

    return estimates


def of_claims(statistic: str) -> Callable[[ProbabilityGround], Iterator[Estimated]]:
    """A statistic of `voirdire.stats.probability`."""

    def estimates(ground: ProbabilityGround) -> Iterator[Estimated]:
        from voirdire.stats import probability  # noqa: PLC0415 - as above

        yield from _of(getattr(probability, statistic)(ground.claims))

    return estimates


def of_choices(statistic: str) -> Callable[[ComparedGround], Iterator[Estimated]]:
    """A statistic of `voirdire.stats.comparisons`."""

    def estimates(ground: ComparedGround) -> Iterator[Estimated]:
        from voirdire.stats import comparisons  # noqa: PLC0415 - as above

        yield from _of(getattr(comparisons, statistic)(ground.panel))

    return estimates


def reading(ground: ComparedGround) -> Iterator[Estimated]:
    """READ within pairs."""
    from voirdire.stats import comparisons  # noqa: PLC0415 - as above

    yield from _of(comparisons.reading(ground.panel).correlation)


def item(ground: ComparedGround) -> Iterator[Estimated]:
    """ITEM within pairs."""
    from voirdire.stats import comparisons  # noqa: PLC0415 - as above

    if not ground.labels_alone:
        yield from _of(comparisons.shared_within(ground.panel, comparisons.TIMES).beyond)


def level(ground: ComparedGround) -> Iterator[Estimated]:
    """LEVEL of each system."""
    from voirdire.stats import comparisons  # noqa: PLC0415 - as above

    found = comparisons.favour_by_system(ground.panel)
    for place, name in enumerate(ground.panel.systems):
        yield from _of(found[place], str(name))


def picks(ground: ComparedGround) -> Iterator[Estimated]:
    """PICK."""
    from voirdire.stats import comparisons  # noqa: PLC0415 - as above

    found = comparisons.picks(ground.panel)
    yield from _of(None if found is None else found.difference)


large = of_claims("calibration_in_the_large")
slope = of_claims("calibration_slope")
skill = of_claims("skill")
position = of_choices("position")
length = of_choices("length_effect")


def moved_by_each(
    estimates: Callable[[Any], Iterable[Estimated]],
) -> Callable[[Any, Component], NDArray[np.float64] | None]:
    """What each response does to the value that a component is about, where each is a cluster."""

    def influence(ground: Any, part: Component) -> NDArray[np.float64] | None:
        about = (one for one in estimates(ground) if not one.at or one.at in part.at)
        found = next(about, None)
        return None if found is None else found.value - found.out

    return influence


def nothing(_: object) -> Iterator[Estimated]:
    """No value of which a cluster could be left out."""
    yield from ()
