"""What the components of one judge's labels on one question rest on."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.labels import found as labels
from voirdire.examining.spec.preferences.found import reads_everywhere
from voirdire.examining.spec.scores import seen
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.stats import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component, Ground
    from voirdire.examining.spec.labels.found import OfLabels
    from voirdire.examining.spec.scores.case import Case, Floats


#: What is asked of the share of each label, on the engine for scores.
OF_SHARES = ("order", "score", "estimate")
#: What all words that are no label of the list are counted as, of a judge that says some.
OFF_THE_LIST = "another word"


def of_labels(case: Case, labels: tuple[str, ...], table: Floats) -> Case:
    """The case whose codes are rows of a table of these labels.

    A judge that says words off the list has one label more: a row of zeros is nearer to what people
    say than a wrong label is, and would spare it.
    """
    off = ~table.any(axis=1)
    if case.kind == "label" and np.isin(case.scores, np.flatnonzero(off)).any():
        labels, table = (*labels, OFF_THE_LIST), np.column_stack([table, off])
    return replace(case, labels=labels, table=table)


class LabelGround(ScoreGround):
    """Labels, or sets of labels, of one judge and of humans: codes that stand for vectors."""

    @property
    def answered(self) -> tuple[int, int]:
        """Responses that the judge was asked about, and those to which it gave a label."""
        case = self.case
        if case.table is None or OFF_THE_LIST not in case.labels:
            return super().answered
        off = np.flatnonzero(case.table[:, case.labels.index(OFF_THE_LIST)])
        given = (~np.isnan(case.scores) & ~np.isin(case.scores, off)).any(axis=0)
        return self.n_labelled, case.size(case.labelled & given)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that some human gives: each may be pulled out by itself."""
        used = self.of_labels.shares.given > 0 if not self.few else ()
        return tuple(label for label, one in zip(self.case.labels, used, strict=False) if one)

    def as_others(self, uses: Sequence[str]) -> Iterator[tuple[str, Ground, Sequence[str]]]:
        """The share of each label, on the engine for scores."""
        wanted = [use for use in OF_SHARES if not uses or use in uses]
        for label in self.labels if wanted else ():
            shares = ScoreGround(of_one_label(self.case, label), self.margins)
            of_one = [use for use in wanted if use == "estimate"]
            asked = wanted if shares.systems > 1 else of_one
            if asked:  # none named would ask for all
                yield label, shares, asked

    @cached_property
    def of_labels(self) -> OfLabels:
        """Every component of every label."""
        return labels.of_labels(self.case, self.panel, self.humans, self.margins)

    @cached_property
    def times(self) -> float:
        """The error variance allowed beside one human's."""
        return labels.item_times(self.case, self.panel, self.margins)

    @property
    def groups(self) -> NDArray[np.str_] | None:
        """(N,) the declared subgroup of each response of both."""
        if self.case.subgroups is None:
            return None
        return np.asarray(self.case.subgroups[self.case.paired].astype(str))

    def may_refuse(self) -> tuple[Component, ...]:
        """LABEL of each label."""
        return labels.may_refuse(self.of_labels)

    def vouched_for(self) -> Component:
        """VOUCHED."""
        return labels.vouched_for(self.of_labels)

    def differing(self) -> Component:
        """DIV."""
        return labels.differing(self.case, self.panel, self.humans)

    def silent_sets(self) -> Component:
        """EMPTY."""
        return labels.silent_sets(self.panel, self.humans)

    @cached_property
    def followed(self) -> tuple[str, ...]:
        """Of labels nobody leaves: LEAK holds the use back."""
        return ()

    def leak(self) -> Component:
        """LEAK: not tested where it has seen what one human says, open where it looks so."""
        part = seen.one_followed(self.leaks)
        if part.reason == "seen":
            return part
        looks = seen.looks_seen(self.panel, self.humans, self.leaks, self.case.reference)
        return looks or part

    def by_system(self) -> Component | None:
        """READ_s: reading among the responses of each system."""
        read = within.reading_sums(self.panel).jackknife(within.ratio, "fisher")
        each = [
            (str(name), *found)
            for name, found in zip(
                self.panel.systems, within.reading_by_system(self.panel), strict=True
            )
            if found is not None
        ]
        made = reads_everywhere("READ_s", each, read, len(self.panel.systems))
        return made[0] if made else None

    def share_shift(self, key: str) -> tuple[Component, ...]:
        """SUBSHARE or SYSSHARE."""
        groups = self.groups
        if key == "SYSSHARE":
            groups = self.panel.systems[self.panel.system].astype(str)
        if groups is None:
            return ()
        made = labels.subgroup_shares(
            self.case, self.panel, self.humans, self.of_labels, groups, self.margins, key
        )
        return tuple(made)


def of_one_label(case: Case, label: str) -> Case:
    """The 0/1 attribute of one label, on the engine for scores; w = 2 sqrt(p (1 - p))."""
    place = case.labels.index(label)
    table = np.zeros((1, 1)) if case.table is None else case.table

    def bits(codes: NDArray[np.float64]) -> NDArray[np.float64]:
        missing = np.isnan(codes)
        column = table[np.where(missing, 0, codes).astype(np.intp), place]
        return np.where(missing, np.nan, column)

    humans = bits(case.humans)
    there = ~np.isnan(humans)
    times = np.ones(humans.shape[1]) if case.counted is None else case.counted.count
    weight = np.broadcast_to(times, humans.shape)[there]
    share = float(humans[there] @ weight / weight.sum()) if there.any() else 0.0
    width = max(2 * float(np.sqrt(share * (1 - share))), 1e-6)
    return replace(
        case,
        scores=bits(case.scores),
        humans=humans,
        width=width,
        kind="score",
        labels=(),
        table=None,
        gate=None,
    )
