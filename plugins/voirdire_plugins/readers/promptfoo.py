"""promptfoo: `promptfoo eval -o results.json` (or .csv), `promptfoo export eval ID`."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import voirdire
from voirdire.schema import Scale
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import csv_of, facts_of, json_of, listed, longest, objects, part

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME, VERSIONS = "promptfoo", (2, 3)
#: The type that promptfoo's page gives to a rating by hand, which overrides all others.
BY_HAND = "human"
#: Types of assertions that a model grades, unless one is named.
_BY_MODEL = ("llm-rubric", "model-graded", "g-eval", "factuality", "answer-relevance", "context-")
#: Whether it passed, and its score: what promptfoo makes of all assertions of an output.
_PASS, _SCORE = "pass", "score"
#: The key of an output's text among the cells of its grades.
_OUTPUT = ""
#: What begins a cell of a CSV before 0.93: ``[FAIL] (0.63, Polite: 0.00, Brief: 1.00)``, an empty
#: line, and the output. Names may hold commas and colons, so each ends at its first two decimals,
#: once and for all (``?>`` and ``*+``): a text that only begins so would be tried in 2^n ways.
_OLD_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\] \((-?\d+\.\d\d)((?:(?>, [^\n]*?: -?\d+\.\d\d))*+)\)")
_OLD_METRIC = re.compile(r", ([^\n]*?): (-?\d+\.\d\d)(?=, |$)")


def read(path: Path) -> Reading:
    """Outputs by test (item) and provider (system)."""
    rows = ReadingBuilder(NAME, path.name)
    if path.suffix == ".csv":
        _read_csv(csv_of(path), rows)
    else:
        _read_json(json_of(path), rows)
    return rows.reading(Scale(0, 1, 0))


class _Tests:
    """Which tests are the same one: promptfoo gives each repetition (``--repeat``) a number."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}
        self.runs: Counter[tuple[str, str]] = Counter()

    def item(self, number: Any, *parts: Any) -> Any:
        """The number of the first test of these variables and assertions."""
        return self.items.setdefault(json.dumps(parts, sort_keys=True, default=str), number)

    def run(self, item: str, system: str) -> int:
        """The next repetition of a system's answer to an item."""
        self.runs[item, system] += 1
        return self.runs[item, system]


def _read_json(saved: Any, rows: ReadingBuilder) -> None:
    whole = part(saved, "results")
    rows.version(part(whole, "version"), VERSIONS)
    results = list(_of_table(whole)) or objects(part(whole, "results"))
    if not results:
        raise voirdire.TableError(
            f"{rows.file}: promptfoo's results hold no outputs (version "
            f"{part(whole, 'version')}); export them by promptfoo eval -o results.json"
        )
    labels = {str(part(one, "prompt", "label")) for one in results}
    several = len(labels) > 1
    tests = _Tests()
    for at, (_, one) in enumerate(rows.each(listed(results, "result")), 1):
        system = _system(one, several=several)
        # A test that is repeated has the same variables and assertions under another number.
        number = tests.item(one.get("testIdx", at), one.get("vars"), one.get("testCase"))
        item = rows.item(number, longest(one.get("vars")), facts_of(one.get("vars")))
        run = tests.run(item, system)
        rows.respond(item, _said(part(one, "response", "output")), system, run)
        _output(rows, one, item, system, run, f"result {at}")


def _of_table(whole: Any) -> Iterator[dict[str, Any]]:
    """The outputs of version 2 in the form of version 3.

    Its list of results names no test and lacks ratings by hand, which are in its table alone.
    """
    table = part(whole, "table")
    prompts = part(table, "head", "prompts")
    names = part(table, "head", "vars") or []
    for test, row in enumerate(objects(part(table, "body"))):
        values = row.get("vars") or []
        lists = isinstance(names, list) and isinstance(values, list)
        given = dict(zip(map(str, names), values, strict=False)) if lists else {}
        for at, output in enumerate(objects(row.get("outputs"))):
            yield {
                "testIdx": test,
                "testCase": row.get("test"),
                "vars": given,
                "provider": output.get("provider"),
                "prompt": {"label": part(prompts, at, "label")},
                "gradingResult": output.get("gradingResult"),
                "response": {"output": _alone(output.get("text"), output.get("gradingResult"))},
                "error": output.get("text"),
            }


def _alone(text: Any, grading: Any) -> Any:
    """An output without the reason of its failure, which version 2 puts before it."""
    reasons = [part(one, "reason") for one in objects(part(grading, "componentResults"))]
    for reason in (part(grading, "reason"), *reasons):
        if isinstance(text, str) and reason and text.startswith(f"{reason}\n---\n"):
            return text.removeprefix(f"{reason}\n---\n")
    return text if grading else None


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
    """A CSV has one row a test, and for each provider its output and grades."""
    header, lines = cells[0], cells[1:]
    starts = [at - 1 for at, name in enumerate(header) if name == "Status" and at > 0]
    old = not starts
    if old:
        starts = [
            at
            for at in range(len(header))
            if any(_OLD_CELL.match(cell) for line in lines for cell in line[at : at + 1])
        ]
    if not starts:
        raise voirdire.TableError(f"{rows.file}: no column is called Status: no CSV of promptfoo")
    by_hand = sum("Manual result" in cell for line in lines for cell in line)
    if by_hand:
        rows.note(
            "rated_by_hand_lost",
            f"{by_hand} outputs were rated by hand, and promptfoo's CSV does not say what its "
            f"assertions gave.",
            "They are left out here; export JSON (promptfoo export eval ID -o results.json).",
        )
    tests = _Tests()
    numbered = ((f"row {at}", {"cells": line}) for at, line in enumerate(lines, 2))
    for at, (_, one) in enumerate(rows.each(numbered), 2):
        line = one["cells"]
        values = dict(zip(header[: starts[0]], line, strict=False))
        item = rows.item(tests.item(at - 2, values), longest(values), facts_of(values))
        for start in starts:
            system = header[start].removeprefix("[").split("]", 1)[0]
            run = tests.run(item, system)
            block = _old_block(line, start) if old else _block(header, line, start)
            _csv_output(rows, block, item, system, run, f"row {at}")


def _block(header: list[str], line: list[str], start: int) -> dict[str, str]:
    """One output's columns: Status, Score, Metric: NAME ..., Grader Reason, Comment."""
    end = next((at for at in range(start, len(header)) if header[at] == "Comment"), len(header))
    block = dict(zip(header[start + 1 : end], line[start + 1 : end], strict=False))
    return {**block, _OUTPUT: line[start] if start < len(line) else ""}


def _old_block(line: list[str], start: int) -> dict[str, str]:
    """The same of a cell that holds all of it, as promptfoo wrote them before 0.93."""
    cell = line[start] if start < len(line) else ""
    match = _OLD_CELL.match(cell)
    if match is None:
        return {}
    metrics = {f"Metric: {name}": score for name, score in _OLD_METRIC.findall(match[3])}
    # Only what was graded ends with a reason, which stands before a failed output as well.
    ending = f"\n\n{match[1].capitalize()} Reason: "
    text, graded, reason = cell[match.end() :].strip().rpartition(ending)
    return {
        "Status": match[1] if graded else "ERROR",
        "Score": match[2],
        "Grader Reason": reason,
        _OUTPUT: text.removeprefix(f"{reason}\n---\n"),
        **metrics,
    }


def _csv_output(
    rows: ReadingBuilder, block: dict[str, str], item: str, system: str, run: int, place: str
) -> None:
    if block.get("Status") not in ("PASS", "FAIL"):
        rows.leave_out(f"the output's status is {block.get('Status') or 'blank'}", place)
        return
    if "Manual result" in block.get("Grader Reason", ""):
        rows.leave_out("it was rated by hand, and a CSV does not keep the other grades", place)
        return
    rows.respond(item, block[_OUTPUT], system, run)
    rows.rate(item, NAME, _PASS, block["Status"] == "PASS", system=system, run=run)
    rows.explain(item, NAME, None, block.get("Grader Reason"), system=system, run=run)
    rows.rate(item, NAME, _SCORE, block.get("Score"), system=system, run=run)
    for name, cell in block.items():
        if name.startswith("Metric: "):
            metric = name.removeprefix("Metric: ")
            rows.rate(item, NAME, metric, cell or None, system=system, run=run)
