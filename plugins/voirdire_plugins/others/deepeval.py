"""A metric of DeepEval that asks the panel of a study, and keeps every reply in a session."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from voirdire.running.growing import GrowingSession, Handed, score_of

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.study import Study


def judge_metric(
    study: str | Path | Study,
    judge: str,
    *,
    folder: str | Path,
    at_least: float,
    attribute: str = "",
    system: str = "output",
    max_cost: float | None = None,
) -> Any:
    """A metric for ``assert_test`` and ``evaluate``; it is the judge's own score, on its own scale.

    Parameters
    ----------
    study, judge, folder, attribute, max_cost
        As `voirdire_plugins.others.inspect_ai.judge_scorer` takes them.
    at_least : float
        A score at or above this one is a success.
    system : str
        What produced the outputs.

    Returns
    -------
    BaseMetric
        A test case of which no score could be read has none, is no success, and says why.

    Raises
    ------
    ModuleNotFoundError
        deepeval is not installed.
    """
    base: Any = importlib.import_module("deepeval.metrics").BaseMetric
    session = GrowingSession(study, folder, max_cost)

    class JudgeMetric(base):  # type: ignore[misc]
        """The score of one judge."""

        def __init__(self) -> None:
            self.threshold = at_least
            self.score: float | None = None
            self.success = False
            self.reason: str | None = None
            self.error: str | None = None
            self.async_mode = True
            self.include_reason = True

        @property
        def __name__(self) -> str:
            return f"voirdire, {judge}"

        def measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
            return self._take(session.judged_now(_handed(test_case, system)))

        async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
            return self._take(await session.judged(_handed(test_case, system)))

        def is_successful(self) -> bool:
            return self.success

        def _take(self, scores: dict[str, dict[str, float | None]]) -> float | None:
            self.score = score_of(scores, judge, attribute) if scores else None
            self.success = self.score is not None and self.score >= at_least
            read = "no score could be read" if self.score is None else f"{self.score:g}"
            self.reason = f"{judge}: {read}, wanted {at_least:g}"
            return self.score

    return JudgeMetric()


def _handed(case: Any, system: str) -> Handed:
    return Handed(str(case.actual_output), str(case.input), str(case.name or ""), system)
