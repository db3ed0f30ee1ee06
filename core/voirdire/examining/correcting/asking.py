"""A certified cascade on responses to come: who is asked about what, one judge after another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError
from voirdire.examining.correcting.escalating import Confidence, certainty_by_response, features_of
from voirdire.examining.correcting.labelled import LabelledResponses
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.source import inputs_of, open_source
from voirdire.tables import read_responses

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.certificate import CascadeCertificate
    from voirdire.study import Study

    Floats = NDArray[np.float64]
    Pair = tuple[str, str]


@dataclass(slots=True)
class CascadeAsking:
    """Which responses are still open, stage by stage; each stage is a session of its own.

    A stage is an ordinary study of one judge about the responses that the judges before it left
    open. What it said is read from its session, so that a run that was broken off goes on where it
    was, and no reply is paid twice.

    Attributes
    ----------
    certificate : CascadeCertificate
    study : Study
        Asks the judges of the certificate, about responses of a file.
    open : tuple of (str, str)
        Item and system of what no judge was sure of yet, in the order of the file.
    stage : int
        How many judges were asked.

    Raises
    ------
    InputError
        The certificate cannot be run, or is of other judges than the study.
    """

    certificate: CascadeCertificate
    study: Study
    open: tuple[Pair, ...] = ()
    stage: int = 0
    _scores: list[dict[Pair, float]] = field(default_factory=list)
    _gone: list[tuple[str, str, str, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        asked = {rater.name for rater in self.study.panel}
        missing = [name for name in self.certificate.judges if name not in asked]
        if missing:
            raise InputError(
                f"the cascade was certified of {self.certificate.steps}, and the study has no "
                f"{missing[0]!r} (its panel: {', '.join(sorted(asked)) or 'nobody'})"
            )
        if len(self.certificate.stages) != len(self.certificate.judges):
            raise InputError(
                "the certificate does not say how sure one can be of a verdict: an earlier "
                "voirdire wrote it. Make it anew by voirdire cascade"
            )
        if self.study.responses is None or self.study.generators:
            raise InputError(
                "a cascade asks about responses that are there: give the study [responses], and "
                "no [[generators]] (voirdire run --only generate makes them first)"
            )
        for rater in self.study.panel:
            unit = rater.unit or self.study.conversations.unit or "whole"
            if rater.name in self.certificate.judges and unit != "whole":
                raise InputError(
                    f"a cascade asks about whole responses, and {rater.name!r} judges by "
                    f"unit = {unit!r}: run the study itself, all judges on all units"
                )
        given = read_responses(self.study, self.study.responses)
        self.open = tuple((one.item, one.system) for one in given)

    @property
    def judge(self) -> str:
        """Who is asked next; empty at the end."""
        over = self.stage == len(self.certificate.judges) or not self.open
        return "" if over else self.certificate.judges[self.stage]

    def next_study(self) -> Study:
        """The study of the next judge about what is open."""
        (rater,) = (one for one in self.study.panel if one.name == self.judge)
        items, responses = self.study.items, self.study.responses
        if self.stage and items is not None and responses is not None:
            named = tuple(dict.fromkeys(item for item, _ in self.open))
            items = items.model_copy(update={"only": named})
            responses = responses.model_copy(update={"only": self.open})
        return self.study.model_copy(
            update={"panel": (rater,), "items": items, "responses": responses}
        )

    def take(self, session: Path) -> None:
        """What the judge said in its session: its verdicts go out where they are sure enough.

        A response that it did not score stays open.

        Raises
        ------
        InputError
            The judge rated parts of conversations, or gave no probabilities of its levels where
            they are needed.
        """
        certificate, judge = self.certificate, self.judge
        data = self._judged(session, judge)
        stage = certificate.stages[self.stage]
        if stage.certain and certainty_by_response(data, 0, self.stage) is None:
            raise InputError(
                f"how sure one can be of {judge!r} was learned from probabilities of its levels, "
                f"and {session} holds none: ask the same model in the same way"
            )
        features = features_of(
            data,
            0,
            self.stage,
            certificate.tolerance,
            certificate.gate,
            stage.levels,
            certain=stage.certain,
        )
        sure = Confidence(stage.weights, stage.intercept, stage.logistic).of(features)
        scores = data.judge[self.stage, 0]
        pairs = _pairs(data)
        goes = ~np.isnan(scores) & (sure >= certificate.threshold)
        self._scores.append(dict(zip(pairs, scores.tolist(), strict=True)))
        self._gone += [
            (*pairs[n], judge, float(scores[n]), float(sure[n])) for n in np.flatnonzero(goes)
        ]
        decided = {pairs[n] for n in np.flatnonzero(goes)}
        self.open = tuple(pair for pair in self.open if pair not in decided)
        self.stage += 1

    def _judged(self, session: Path, judge: str) -> LabelledResponses:
        """What this judge and those before it said of the responses that it was asked about."""
        inputs = inputs_of(open_source(session))
        attribute = self.certificate.attribute
        cube = build_cube(inputs.ratings, [judge], [attribute])
        n = len(cube.item)
        data = LabelledResponses(
            inputs,
            (attribute,),
            self.certificate.judges[: self.stage + 1],
            cube.systems,
            cube.items,
            np.full((1, n), np.nan),
            cube.scores,
            cube.item,
            cube.system,
            np.full(n, ""),
            None,
            None,
            (),
        )
        pairs = _pairs(data)
        known = set(self.open)
        odd = next((pair for pair in pairs if pair not in known), None)
        if odd is not None:
            raise InputError(
                f"{session}: {judge!r} rated {odd[0]!r}, which is no response of the study: a "
                "cascade asks about whole responses, and not about their turns"
            )
        before = [
            np.array([said.get(pair, np.nan) for pair in pairs])[None] for said in self._scores
        ]
        return replace(data, judge=np.concatenate([*(one[None] for one in before), cube.scores]))

    def queue(self) -> pl.DataFrame:
        """``item, system, judge, score, confidence, decision``: ``automatic``, or ``human``.

        Of a response that no judge has come to yet the decision is ``open``.
        """
        schema = {
            "item": pl.String, "system": pl.String, "judge": pl.String, "score": pl.Float64,
            "confidence": pl.Float64,
        }  # fmt: skip
        gone = pl.DataFrame(self._gone, schema, orient="row").with_columns(
            decision=pl.lit("automatic")
        )
        left = pl.DataFrame(
            {"item": [item for item, _ in self.open], "system": [name for _, name in self.open]},
            {"item": pl.String, "system": pl.String},
        ).with_columns(decision=pl.lit("open" if self.judge else "human"))
        return pl.concat([gone, left], how="diagonal")


def _pairs(data: LabelledResponses) -> list[Pair]:
    return [
        (data.items[item], data.systems[system])
        for item, system in zip(data.item.tolist(), data.system.tolist(), strict=True)
    ]
