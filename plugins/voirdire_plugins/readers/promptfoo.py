"""promptfoo: `promptfoo eval -o results.json` (or .csv), `promptfoo export eval ID`."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.schema import Scale
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import csv_of, facts_of, has, json_of, longest, objects, part

if TYPE_CHECKING:
    from pathlib import Path

NAME, VERSIONS = "promptfoo", (3,)
#: The type that promptfoo's page gives to a rating by hand, which overrides all others.
BY_HAND = "human"
#: Types of assertions that a model grades, unless one is named.
_BY_MODEL = ("llm-rubric", "model-graded", "g-eval", "factuality", "answer-relevance", "context-")
#: Whether it passed, and its score: what promptfoo makes of all assertions of an output.
_PASS, _SCORE = "pass", "score"


class Reader:
    """Results of promptfoo, as JSON or CSV."""

    name = NAME
    about = "promptfoo: promptfoo eval -o results.json (or .csv)"

    def sniff(self, path: Path, head: bytes) -> float:
        """By the keys around results, or the columns of a CSV."""
        if path.suffix == ".csv":
            first = head.split(b"\n", 1)[0]
            return 0.9 * has(first, ",Status,Score,Named Scores,", ",Grader Reason,Comment")
        return 0.95 * (has(head, '"evalId"', '"results"') or has(head, '"gradingResult"', '"vars"'))

    def read(self, path: Path) -> Reading:
        """Outputs by test (item) and provider (system)."""
        rows = ReadingBuilder(NAME, path.name)
        if path.suffix == ".csv":
            _read_csv(csv_of(path), rows)
        else:
            _read_json(json_of(path), rows)
        return rows.reading(Scale(0, 1, 0))


def _read_json(found: Any, rows: ReadingBuilder) -> None:
    whole = part(found, "results")
    rows.version(part(whole, "version"), VERSIONS)
    results = objects(part(whole, "results"))
    if not results:
        raise voirdire.TableError(
            f"{rows.file}: promptfoo's results hold no outputs (version "
            f"{part(whole, 'version')}); export them by promptfoo eval -o results.json"
        )
    labels = {str(part(one, "prompt", "label")) for one in results}
    several = len(labels) > 1
    seen: Counter[tuple[str, str]] = Counter()
    for at, one in enumerate(results, 1):
        system = _system(one, several=several)
        item = rows.item(
            one.get("testIdx", at), longest(one.get("vars")), facts_of(one.get("vars"))
        )
        seen[item, system] += 1
        rows.respond(item, _said(part(one, "response", "output")), system, seen[item, system])
        _output(rows, one, item, system, seen[item, system], f"result {at}")


def _output(
    rows: ReadingBuilder, one: dict[str, Any], item: str, system: str, run: int, place: str
) -> None:
    """The grades of one output: by promptfoo, by graders that are named, and by hand."""
    grading = one.get("gradingResult")
    if not isinstance(grading, dict):
        error = str(one.get("error") or "it was not graded").splitlines()[0]
        rows.leave_out(f"the output has no grades ({error[:60]})", place)
        return
    parts = objects(grading.get("componentResults"))
    by_hand = [p for p in parts if part(p, "assertion", "type") == BY_HAND]
    graded = [p for p in parts if part(p, "assertion", "type") != BY_HAND]
    for number, grade in enumerate(graded, 1):
        attribute = _attribute(grade, number)
        rater, reason = _rater(rows, grade), grade.get("reason")
        rows.rate(item, rater, attribute, grade.get("score"), system=system, run=run)
        rows.explain(item, rater, attribute, reason, system=system, run=run)
    for grade in by_hand:
        rows.rater("by hand", "human")
        rows.explain(item, "by hand", None, grade.get("comment"), system=system, run=run)
        for name in (_PASS, _SCORE):
            rows.rate(item, "by hand", name, grade.get(name), system=system, run=run)
    if not by_hand:
        for name in (_PASS, _SCORE):
            rows.rate(item, NAME, name, grading.get(name), system=system, run=run)
    elif graded:  # by hand replaced what the assertions gave together
        passed, score = _together(graded)
        rows.rate(item, NAME, _PASS, passed, system=system, run=run)
        rows.rate(item, NAME, _SCORE, score, system=system, run=run)


def _said(output: object) -> str | None:
    """An output as a text; one that is an object as JSON."""
    return output if output is None or isinstance(output, str) else json.dumps(output, indent=1)


def _together(graded: list[dict[str, Any]]) -> tuple[bool, float | None]:
    """Whether all assertions pass, and the mean of their scores by their weights."""
    passed = all(one.get("pass") for one in graded)
    weights = [part(one, "assertion", "weight") for one in graded]
    weights = [1 if weight is None else weight for weight in weights]
    scores: list[Any] = [one.get("score") for one in graded]
    if not all(isinstance(one, int | float) for one in (*scores, *weights)) or not sum(weights):
        return passed, None
    total = sum(score * weight for score, weight in zip(scores, weights, strict=True))
    return passed, total / sum(weights)


def _attribute(grade: dict[str, Any], number: int) -> str:
    """The metric that an assertion names, else its type, numbered where a test has several."""
    made = part(grade, "assertion", "metric") or part(grade, "assertion", "type")
    return str(made or f"assertion {number}")


def _rater(rows: ReadingBuilder, grade: dict[str, Any]) -> str:
    """The model that grades, else promptfoo itself."""
    provider = part(grade, "assertion", "provider")
    named = part(provider, "id") or (provider if isinstance(provider, str) else None)
    if named is None:
        kind = str(part(grade, "assertion", "type") or "")
        return f"{NAME} grader" if kind.startswith(_BY_MODEL) else NAME
    rows.rater(named, model=named)
    return str(named)


def _system(one: dict[str, Any], *, several: bool) -> str:
    provider = one.get("provider")
    label = part(provider, "label") or part(provider, "id")
    name = str(label or (provider if isinstance(provider, str) else None) or "output")
    return f"{name} / {str(part(one, 'prompt', 'label'))[:60]}" if several else name


def _read_csv(cells: list[list[str]], rows: ReadingBuilder) -> None:
    """A CSV has one row a test, and for each provider its output, Status, Score and metrics."""
    header, lines = cells[0], cells[1:]
    starts = [at for at, name in enumerate(header) if name == "Status" and at > 0]
    if not starts:
        raise voirdire.TableError(f"{rows.file}: no column is called Status: no CSV of promptfoo")
    variables = header[: starts[0] - 1]
    by_hand = sum("Manual result" in cell for line in lines for cell in line)
    if by_hand:
        rows.note(
            "rated_by_hand_lost",
            f"{by_hand} outputs were rated by hand, and promptfoo's CSV does not say what its "
            f"assertions gave.",
            "They are left out here; export JSON (promptfoo export eval ID -o results.json).",
        )
    for at, line in enumerate(lines, 2):
        values = dict(zip(variables, line, strict=False))
        item = rows.item(at - 2, longest(values), facts_of(values))
        for start in starts:
            _csv_output(rows, header, line, start, item, f"row {at}")


def _csv_output(
    rows: ReadingBuilder, header: list[str], line: list[str], start: int, item: str, place: str
) -> None:
    end = next((at for at in range(start, len(header)) if header[at] == "Comment"), len(header))
    block = dict(zip(header[start:end], line[start:end], strict=False))
    system = header[start - 1].removeprefix("[").split("]", 1)[0]
    if block.get("Status") not in ("PASS", "FAIL"):
        rows.leave_out(f"the output's status is {block.get('Status') or 'blank'}", place)
        return
    if "Manual result" in block.get("Grader Reason", ""):
        rows.leave_out("it was rated by hand, and a CSV does not keep the other grades", place)
        return
    rows.respond(item, line[start - 1], system)
    rows.rate(item, NAME, _PASS, block["Status"] == "PASS", system=system)
    rows.explain(item, NAME, None, block.get("Grader Reason"), system=system)
    rows.rate(item, NAME, _SCORE, block.get("Score"), system=system)
    for name, cell in block.items():
        if name.startswith("Metric: "):
            rows.rate(item, NAME, name.removeprefix("Metric: "), cell or None, system=system)
