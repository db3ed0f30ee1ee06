"""Candidates asked by the ordinary runner: one session, each reply kept and paid once."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from voirdire import running
from voirdire.errors import InputError, UnfinishedError, listed
from voirdire.files import whole
from voirdire.schema import Finding
from voirdire.store import is_session, read_session
from voirdire.store.counts import count_on_file
from voirdire.study import Data, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import polars as pl

    from voirdire.running import DryRater, RunResult
    from voirdire.study import Rater, Study
    from voirdire_plugins.tune.subjects import Subject
    from voirdire_plugins.tune.units import Units

#: The folder of the session, the file of the responses that are asked about, and that of labels.
SESSION, ASKED, LABELS = "session", "asked.parquet", "people.parquet"


@dataclass
class Asking:
    """Asks members of a panel about some of a study's responses, items or pairs.

    Attributes
    ----------
    study : Study
        What it is run by; its panel and data are left aside.
    subject : Subject
        What they judge.
    out : Path
        The folder; the session lies in it.
    responses : mapping
        (item, system) -> text, of all responses that have one; of items the system is empty.
    max_cost, max_calls : optional
        Of the whole session.
    used : mapping
        Member -> calls and the cost of a judgement, after the last time it was asked.
    unread, given_up : mapping
        Member -> judgements without a score; replies after which it was asked no further, since
        none could be read.
    said : DataFrame or None
        People's labels of items, 0 or 1: ``item, rater, attribute, score``.
    labelled : frozenset
        (item, system), or of pairs (item, system, system), of all that people labelled.
    barred : tuple of str
        Systems that some candidate may not judge.
    """

    study: Study
    subject: Subject
    out: Path
    responses: dict[tuple[str, str], str]
    max_cost: float | None = None
    max_calls: int | None = None
    quiet: bool = True
    used: dict[str, tuple[int, float | None]] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    given_up: dict[str, int] = field(default_factory=dict)
    said: pl.DataFrame | None = None
    labelled: frozenset[tuple[str, ...]] = frozenset()
    barred: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        path: Path,
        study: Study,
        subject: Subject,
        out: Path,
        max_cost: float | None,
        max_calls: int | None,
        *,
        quiet: bool,
    ) -> Asking:
        """Of a study's file; its texts are read once."""
        return cls(study, subject, out, subject.texts(path, study), max_cost, max_calls, quiet)

    def with_text(self, units: Units) -> tuple[Units, tuple[Finding, ...]]:
        """The units whose texts are there to be judged, in pairs that the study compares.

        Raises
        ------
        InputError
            None is.
        """
        kept = np.array(
            [
                all((row[0], system) in self.responses for system in row[1:])
                and self.compares(row[1:])
                for row in units.systems
            ]
        )
        lost = int((~kept).sum())
        if not kept.any():
            item, *systems = units.systems[0]
            raise InputError(
                f"none of {lost} labelled {self.subject.name} has a text in the study, such as "
                f"{listed([*systems, item] if any(systems) else [item])}: ids must be the same"
            )
        if not lost:
            return units, ()
        finding = Finding(
            "labels_without_text",
            "note",
            "",
            lost,
            (),
            f"{lost} labels are of {self.subject.name} that the study does not hold.",
            "They are left out.",
        )
        return units.taken(kept), (finding,)

    def compares(self, systems: Sequence[str]) -> bool:
        """Whether a judge of pairs is asked about these two; others are asked about each alone."""
        spec, both = self.study.comparisons, set(systems)
        if self.subject.name != "pairs":
            return True
        if spec.pairs:
            return any(both == set(pair) for pair in spec.pairs)
        return spec.against in both if spec.against else True

    @property
    def session(self) -> Path:
        """The folder of the session."""
        return self.out / SESSION

    def _study(self, panel: Sequence[Rater], about: Collection[tuple[str, str]]) -> Study:
        self.out.mkdir(parents=True, exist_ok=True)
        study = self.subject.narrowed(self.study, panel, self.responses, about, self.out / ASKED)
        # With people's labels, so that the session is examined and frozen beside them.
        return study.model_copy(update={"data": self._labels()})

    def _labels(self) -> Data:
        """What people said, as the session is examined beside it: labels in words as 0 or 1."""
        if self.said is None:
            return self.study.data
        path = self.out / LABELS
        if not path.is_file():
            with whole(path) as draft:
                self.said.write_parquet(draft)
        people = tuple(self.said["rater"].unique(maintain_order=True))
        return Data(sources=(Source(path=str(path.resolve())),), reference=people)

    def price(
        self, panel: Sequence[Rater], about: Collection[tuple[str, str]]
    ) -> tuple[DryRater, ...]:
        """What is still to be asked, and what it costs; no model is asked."""
        study = self._study(panel, about)
        return running.dry_run(study, self.session, only=self.subject.stage, max_cost=self.max_cost)

    def ask(self, panel: Sequence[Rater], about: Collection[tuple[str, str]]) -> pl.DataFrame:
        """The ratings of a panel: what is on file, and what is asked now.

        Raises
        ------
        UnfinishedError
            A limit was reached, the run was interrupted, or calls failed.
        """
        study = self._study(panel, about)
        there = is_session(self.session)
        result = running.run(
            study,
            self.session,
            resume=there,
            only=self.subject.stage,
            max_cost=self.max_cost,
            max_calls=self.max_calls,
            quiet=self.quiet,
        )
        self._check(result)
        done = self._done(result)
        for rater in result.raters:
            all_done = done[rater.name]
            each = None if rater.cost is None or not all_done else rater.cost / all_done
            self.used[rater.name] = (rater.calls, each)
            read = sum(rater.statuses.get(name, 0) for name in ("ok", "repaired"))
            self.unread[rater.name] = rater.tasks - read
            if rater.suspended and not read:
                self.given_up[rater.name] = rater.done
        return self.subject.rows(self.session)

    def _done(self, result: RunResult) -> dict[str, int]:
        """Judgements of each rater in the whole session, as its cost is of the whole session."""
        with closing(read_session(self.session)) as connection:
            return {
                rater.name: count_on_file(connection, rater.stage, rater.name)[0].statuses.total()
                for rater in result.raters
            }

    def _check(self, result: RunResult) -> None:
        # One of which nothing can be read is not asked to the end: it is wrong everywhere.
        asked = [rater for rater in result.raters if not (rater.suspended and rater.nothing_read)]
        lacking = [rater for rater in asked if rater.open + rater.failed]
        open_calls = sum(rater.open + rater.failed for rater in lacking)
        if result.stopped or open_calls:
            why = {
                "interrupted": "it was interrupted",
                "budget": "a limit was reached",
                "": "calls failed: "
                + "; ".join(
                    f"{rater.name}: {rater.suspended or ', '.join(rater.faults)}"
                    for rater in lacking
                ),
            }[result.stopped]
            raise UnfinishedError(
                f"{open_calls} judgements of {listed([rater.name for rater in lacking])} are not "
                f"there yet: {why}. Every reply is kept in "
                f"{self.session}, and nothing is paid twice: the same command goes on"
                + (" with a higher limit" if result.stopped == "budget" else ""),
                result.exit_code or 3,
            )
