"""DeepEval: test runs, as `deepeval test run` and `evaluate` keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.schema import Scale
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import json_of, listed, objects, part

if TYPE_CHECKING:
    from pathlib import Path

NAME = "deepeval"


def read(path: Path) -> Reading:
    """Metrics (attributes) of test cases (items)."""
    run = json_of(path)
    # .latest_test_run.json holds the run one level down.
    if part(run, "testRunData") is not None:
        run = run["testRunData"]
    if not isinstance(part(run, "testCases"), list):
        raise voirdire.TableError(
            f"{path.name}: is no test run of DeepEval with test cases; set "
            f"DEEPEVAL_RESULTS_FOLDER and run the tests, or take "
            f".deepeval/.latest_test_run.json"
        )
    rows = ReadingBuilder(NAME, path.name)
    system = part(run, "hyperparameters", "model")
    talks = run.get("conversationalTestCases")
    cases = [*run["testCases"], *(talks if isinstance(talks, list) else [])]
    names = [case.get("name") for case in objects(cases)]
    # Names are set by whoever wrote the tests: where they repeat, the order tells cases apart.
    unique = len(set(names)) == len(names) and None not in names
    for at, (_, case) in enumerate(rows.each(listed(cases, "test case")), 1):
        item = rows.item(case["name"] if unique else _order(case, at), _text(case))
        named = system if isinstance(system, str) else None
        rows.respond(item, case.get("actualOutput"), named)
        _metrics(rows, case, item, named, at)
    return rows.reading(Scale(0, 1, 0))


def _order(case: dict[str, Any], at: int) -> Any:
    order = case.get("order")
    return at - 1 if order is None else order


def _text(case: dict[str, Any]) -> str | None:
    """The input, or what a conversation is about."""
    text = case.get("input") or case.get("scenario")
    return text if isinstance(text, str) else None


def _metrics(
    rows: ReadingBuilder, case: dict[str, Any], item: str, system: str | None, at: int
) -> None:
    metrics = objects(case.get("metricsData"))
    if not metrics:
        rows.leave_out("the test case has no metrics", f"test case {at}")
    for metric in metrics:
        model = metric.get("evaluationModel")
        rater = str(model) if model else NAME
        rows.rater(rater, model=str(model) if model else None)
        name, failed = str(metric.get("name") or "metric"), metric.get("error") is not None
        rows.rate(
            item,
            rater,
            name,
            None if failed else metric.get("score"),
            system=system,
            status="failed" if failed else "blank",
        )
        rows.explain(item, rater, name, metric.get("reason"), system=system)
