"""How judges are named, and how states and severities are shown: never by colour alone."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, NamedTuple

from voirdire.examining.ratings.facts import PairResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.examination import Examination


class StateWords(NamedTuple):
    """A state's sign, its colour on a page and in a terminal, and what it means."""

    sign: str
    tone: str
    style: str
    meaning: str


STATES: Mapping[str, StateWords] = {
    "yes": StateWords("✓", "good", "bold green", "the data show that it may"),
    "no": StateWords("✕", "bad", "bold red", "the data show that it may not"),
    "open": StateWords("?", "open", "yellow", "these data cannot tell yet"),
    "not tested": StateWords("·", "none", "dim", "these data hold nothing that could tell"),
}

#: Severity -> sign, colour for terminals, what it means.
SEVERITIES: Mapping[str, tuple[str, str, str]] = {
    "blocking": ("■", "bold red", "forbids any verdict until it is corrected"),
    "serious": ("▲", "yellow", "may distort results"),
    "note": ("○", "cyan", "good to know"),
}

#: What the column of published classes says, and what it does not.
CLASSES = (
    "Class GR, MR, PR: width of the percentile interval of ICC(C,1) up to 0.355, up to 0.560, "
    "wider: precision relative to one published study, not reliability."
)

#: Our signs where a terminal has no Unicode; what is missing here would be printed as "?".
_ASCII = str.maketrans(
    {
        "●": "*",
        "✕": "x",
        "✓": "v",
        "·": ".",
        "–": "-",
        "─": "-",
        "├": "|",
        "┤": "|",
        "−": "-",
        "■": "!",
        "▲": "!",
        "○": "o",
        "…": ".",
        "≥": ">=",
        "≤": "<=",
        "±": "+/-",
        "×": "x",
        "→": "->",
        "“": '"',
        "”": '"',
        "’": "'",
    }
)


def legible(text: str, encoding: str) -> str:
    """The text as a terminal of that encoding can print it.

    >>> legible("✕ −0.1", "ascii"), legible("✕ −0.1", "utf-8")
    ('x -0.1', '✕ −0.1')
    """
    # Translated only where need be: a terminal in Latin-1 that gets no sign of ours keeps its
    # accents. A LookupError is an encoding that Python does not know.
    try:
        text.encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    return text


def plural(count: int, one: str, many: str = "") -> str:
    """A count and its noun.

    >>> plural(1, "finding"), plural(3, "finding")
    ('1 finding', '3 findings')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def brief(text: str, most: int = 80) -> str:
    """A name or sentence, cut where no page could hold it; files of numbers hold it whole.

    >>> brief("o4-mini"), brief("a name beyond all measure", 10)
    ('o4-mini', 'a name be…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def class_of(result: PairResult) -> str:
    """The published class by interval width; * where the bootstrap's seed decides it."""
    return result.reliability_class + ("*" if result.class_borderline else "")


#: Systems below which a coefficient of their means is shown to nobody: of two it is 1 or -1.
FEWEST_CORRELATED = 5


def for_display(examination: Examination) -> Examination:
    """The examination as people see it: distinct names, and no coefficient of a few means.

    Each judge and reference has a name of its own where there are several references. Where nothing
    is to be changed it is returned as it is.
    """
    results, rated = examination.results, examination.rated
    several = len({one.reference for one in results}) > 1
    rename = several and not _is_displayed(results[0])
    few = any(_of_few(one) for one in (*results, *rated.composites, *rated.ceiling))
    if not (rename or few):
        return examination

    def seen(result: PairResult) -> PairResult:
        return without_coefficients(_renamed(result) if rename else result)

    return examination.with_facts(
        dataclasses.replace(
            rated,
            results=tuple(map(seen, results)),
            composites=tuple(map(seen, rated.composites)),
            ceiling=tuple(map(without_coefficients, rated.ceiling)),
        )
    )


def _of_few(result: PairResult) -> bool:
    few = result.level == "system" and result.n_systems < FEWEST_CORRELATED
    return few and not math.isnan(result.icc_c1)


def without_coefficients(result: PairResult) -> PairResult:
    """The result without what correlates the means of fewer than five systems."""
    if not _of_few(result):
        return result
    return dataclasses.replace(
        result,
        icc_c1=math.nan,
        icc_a1=math.nan,
        ccc=math.nan,
        pearson_r=math.nan,
        ci=(),
        band="",
        reliability_class="",
        class_exact="",
        loo_c1={},
        loo_a1={},
        without_exclusion=None,
        family_rule=None,
    )


def rater_name(examination: Examination, judge: str, turn: int) -> str:
    """A judge as it is displayed; `turn` says against which of several references."""
    # Results come in the order of the references, so that the place of a name is its turn.
    names = dict.fromkeys(r.judge for r in examination.results if rater_of(r) == judge)
    return list(names)[turn] if len(names) > turn else judge


def rater_of(result: PairResult) -> str:
    """The rater in the tables of ratings, whatever its result is displayed as."""
    return str(getattr(result, "rater", result.judge))


def reference_of(examination: Examination, result: PairResult) -> tuple[str, ...]:
    """The raters with whose mean the judge is compared."""
    return result.reference or examination.inputs.reference


def name_against(judge: str, reference: Sequence[str]) -> str:
    """What a judge is called where each human is a reference in turn."""
    return f"{judge} vs {' and '.join(reference)}"


def _is_displayed(result: PairResult) -> bool:
    return hasattr(result, "rater")


def _renamed(result: PairResult) -> PairResult:
    # Only against several references in turn is any result of this class.
    from voirdire.report.displayed import Displayed  # noqa: PLC0415

    values = {part.name: getattr(result, part.name) for part in dataclasses.fields(PairResult)}
    return Displayed(
        **{**values, "judge": name_against(result.judge, result.reference)}, rater=result.judge
    )
