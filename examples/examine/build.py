"""Build the example's workbooks: `python examples/examine/build.py` writes them beside this file.

Everything is invented: people, messages, systems and judges. The oddities are planted on purpose,
each of a kind that real rating files hold, so that the audit has something to say.
"""

# ruff: noqa: INP001 - a script, no part of a package
from __future__ import annotations

import datetime as dt
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xlsxwriter

SEED = 21
SYSTEMS = (
    "alder", "aspen", "beech", "birch", "cedar", "elm", "hazel", "larch", "maple", "oak", "pine",
    "rowan",
)  # fmt: skip
WORRIES = (
    "I keep putting off an essay and now I feel behind",
    "My new flatmate plays music late and I am tired at work",
    "I said something clumsy to a friend and have not written since",
    "I start a new job on Monday and my stomach is in knots",
    "Since moving here I spend most evenings alone",
    "I compare myself with my colleagues and always come off worse",
)
WISHES = (
    "What could I try this week?",
    "How do I bring it up without a quarrel?",
    "I would like to sleep better.",
    "Is it normal to feel like this?",
    "I want a small first step.",
    "How can I stop going over it in my head?",
)
if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Standard deviation of the systems' quality in the humans' eyes, on a scale of 1 to 5.
_SPREAD = 0.40
#: Share of the variance of the reference's system means that is quality and not error.
_REFERENCE_RELIABILITY = 0.97
#: Half-widths of the uniform effects of an item (all raters share it) and of a single response.
_ITEM, _RESPONSE = 0.25, 0.60
_CENTRE = 2.8


class Character(NamedTuple):
    """How a judge is on one attribute: true ICC(C,1), bias in points, share left unrated."""

    icc: float
    bias: float = 0.0
    missing: float = 0.0


class SimulatedJudge(NamedTuple):
    """A judge: its character by attribute, and how often a further run draws its score anew."""

    name: str
    characters: Mapping[str, Character]
    flips: float = 0.05
    runs: int = 3


class Design(NamedTuple):
    """A panel, and how much it rates."""

    judges: tuple[SimulatedJudge, ...]
    n_systems: int = 30
    n_items: int = 40
    humans: tuple[str, ...] = ("human-1", "human-2", "human-3")
    attributes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Attributes in order."""
        every = (name for judge in self.judges for name in judge.characters)
        return self.attributes or tuple(dict.fromkeys(every))

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(f"system-{i:02d}" for i in range(1, self.n_systems + 1))


def simulate_scores(design: Design, seed: int) -> dict[str, Floats]:
    """Scores by rater, each (runs, attributes, systems, items); NaN where a judge did not rate."""
    rng = np.random.default_rng(seed)
    shape = (len(design.names), design.n_systems)
    quality = rng.normal(0.0, _SPREAD, shape)
    items = rng.uniform(-_ITEM, _ITEM, (len(design.names), 1, design.n_items))
    scores = {}
    for name, deviation in zip(design.humans, _human_deviations(design, rng), strict=True):
        means = _CENTRE + quality + deviation
        scores[name] = _scores(means[:, :, None] + items, rng)[None]
    for judge in design.judges:
        means = _judge_means(design, judge, quality, rng)
        scores[judge.name] = _runs(judge, means[:, :, None] + items, rng)
        _drop(scores[judge.name], design, judge, rng)
    return scores


def _reference_variance() -> float:
    return _SPREAD**2 / _REFERENCE_RELIABILITY


def _response_variance() -> float:
    """Variance of one score around its expectation: the response's own effect, and rounding.

    Rounding up with probability p adds p (1 - p), which is 1/6 on average over p.
    """
    return _RESPONSE**2 / 3 + 1 / 6


def _human_deviations(design: Design, rng: np.random.Generator) -> Floats:
    """(humans, attributes, systems): what one human sees in a system and the others do not."""
    n_humans = len(design.humans)
    error = _reference_variance() - _SPREAD**2
    sampling = _response_variance() / (design.n_items * n_humans)
    deviation = math.sqrt(max(error - sampling, 0.0) * n_humans)
    return rng.normal(0.0, deviation, (n_humans, len(design.names), design.n_systems))


def _judge_means(
    design: Design, judge: SimulatedJudge, quality: Floats, rng: np.random.Generator
) -> Floats:
    """(attributes, systems): loyal to the quality as far as the ICC asks, the rest its own view."""
    V = _reference_variance()
    sampling = _response_variance() / design.n_items
    means = np.empty_like(quality)
    for at, name in enumerate(design.names):
        character = judge.characters[name]
        loyalty = character.icc * V / _SPREAD**2
        own = V - (loyalty * _SPREAD) ** 2 - sampling
        means[at] = loyalty * quality[at] + rng.normal(
            0.0, math.sqrt(max(own, 0.0)), quality[at].size
        )
        means[at] += _CENTRE + character.bias
    return means


def _runs(judge: SimulatedJudge, expected: Floats, rng: np.random.Generator) -> Floats:
    """(runs, ...): the first run's scores, some of them drawn anew in each further run."""
    first = _scores(expected, rng)
    runs = [first]
    for _ in range(judge.runs - 1):
        anew = rng.random(expected.shape) < judge.flips
        runs.append(np.where(anew, _scores(expected, rng), first))
    return np.stack(runs)


def _scores(expected: Floats, rng: np.random.Generator) -> Floats:
    """Whole scores of 1 to 5 whose mean is what is expected."""
    wanted = expected + rng.uniform(-_RESPONSE, _RESPONSE, expected.shape)
    rounded: Floats = np.clip(np.floor(wanted + rng.random(expected.shape)), 1.0, 5.0)
    return rounded


def _drop(scores: Floats, design: Design, judge: SimulatedJudge, rng: np.random.Generator) -> None:
    """Leave out the same responses in every run, as a judge that declines does."""
    for at, name in enumerate(design.names):
        lost = rng.random(scores.shape[2:]) < judge.characters[name].missing
        scores[:, at, lost] = np.nan


DESIGN = Design(
    judges=(
        SimulatedJudge(
            "judge-north",
            {"Guidance": Character(0.98), "Empathy": Character(0.9, 0.5), "Safety": Character(0.6)},
            runs=1,
        ),
        SimulatedJudge(
            "judge-south",
            {"Guidance": Character(0.85), "Empathy": Character(0.5), "Safety": Character(0.2, 0.4)},
            runs=1,
        ),
    ),
    n_systems=len(SYSTEMS),
    n_items=len(WORRIES) * len(WISHES),
)


def build(folder: Path) -> None:
    """Write the three workbooks."""
    scores = {name: runs[0] for name, runs in simulate_scores(DESIGN, SEED).items()}
    contexts = [f"{worry}. {wish}" for worry in WORRIES for wish in WISHES]
    _write_humans(folder / "humans.xlsx", contexts, scores)
    _write_judge(folder / "judge_north.xlsx", contexts, north_replies(scores["judge-north"]), " ")
    _write_judge(folder / "judge_south.xlsx", contexts, south_replies(scores["judge-south"]), "")


def reply(scores: dict[str, int], explanation: str = "Clear and kind.") -> str:
    """A judge's reply as it was asked for."""
    overall = round(sum(scores.values()) / len(scores))
    return json.dumps({**scores, "Overall": overall, "Explanation": explanation})


def north_replies(scores: np.ndarray) -> list[list[str]]:
    """Bare JSON, but for a refusal, a quote inside a quote, a missing brace and a fraction."""
    cells = _cells(scores)
    cells[2][3] = "I'm sorry, but I can't rate this response."
    cells[5][0] = cells[5][0].replace("Clear and kind.", 'It says "take your time" twice.')
    cells[9][7] = cells[9][7].removesuffix("}")
    cells[14][10] = (
        cells[14][10].replace('"Empathy": ', '"Empathy": "').replace(', "Safety"', '/5", "Safety"')
    )
    cells[20][1] = ""
    return cells


def south_replies(scores: np.ndarray) -> list[list[str]]:
    """Every third reply in a fence; one with a preamble, one cut short, one with a null."""
    cells = _cells(scores)
    for i, row in enumerate(cells):
        row[:] = [
            f"```json\n{cell}\n```" if (i + j) % 3 == 0 else cell for j, cell in enumerate(row)
        ]
    cells[4][2] = f"Here is my rating:\n{cells[4][2]}"
    cells[11][6] = cells[11][6][:24]
    cells[17][8] = '{"Guidance": 3, "Empathy": null, "Safety": 4, "Overall": 3, "Explanation": ""}'
    return cells


def _cells(scores: np.ndarray) -> list[list[str]]:
    _, n_systems, n_items = scores.shape
    return [
        [
            reply({name: int(scores[a, s, i]) for a, name in enumerate(DESIGN.names)})
            for s in range(n_systems)
        ]
        for i in range(n_items)
    ]


def _write_judge(path: Path, contexts: list[str], replies: list[list[str]], blank: str) -> None:
    """One row an item, one column a system; `blank` stands before one header, as typed by hand."""
    shown = list(contexts)
    if blank:
        shown[30] = contexts[31]  # this judge was shown another message
    with xlsxwriter.Workbook(path) as book:
        _fix_date(book)
        sheet = book.add_worksheet("ratings")
        heads = [
            (blank if system == "cedar" else "") + f"judge_response_{system}" for system in SYSTEMS
        ]
        sheet.write_row(0, 0, ["item", "context", *heads])
        for i, row in enumerate(replies):
            sheet.write_row(i + 1, 0, [f"{i + 1}", shown[i], *row])


def _write_humans(path: Path, contexts: list[str], scores: dict[str, np.ndarray]) -> None:
    """One sheet a person, one row a response; ids are numbers here and text at the judges."""
    with xlsxwriter.Workbook(path) as book:
        _fix_date(book)
        for human in DESIGN.humans:
            sheet = book.add_worksheet(human)
            heads = [
                "Empathy " if human == "human-2" and n == "Empathy" else n for n in DESIGN.names
            ]
            sheet.write_row(0, 0, ["item", "context", "system", *heads])
            for row, (i, s) in enumerate(np.ndindex(len(contexts), len(SYSTEMS)), start=1):
                given = _human_scores(human, i, s, scores[human][:, s, i])
                sheet.write_row(row, 0, [i + 1, contexts[i], SYSTEMS[s], *given])


def _human_scores(human: str, item: int, system: int, scores: np.ndarray) -> list[int | str]:
    """The scores as given, but for zeros that meant "not rated", a six and an empty cell."""
    given: list[int | str] = [int(score) for score in scores]
    if (human, item, system) in {("human-1", 7, 4), ("human-1", 23, 9)}:
        return [0] * len(given)
    if (human, item, system) == ("human-3", 12, 0):
        given[0] = 6
    if (human, item, system) == ("human-2", 28, 5):
        given[1] = ""
    return given


def _fix_date(book: xlsxwriter.Workbook) -> None:
    """One date for all builds, so that equal content is an equal file."""
    book.set_properties({"created": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)})


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
