"""Questionnaires as TOML files: read by name or path, and scored.

No result of them licenses clinical use: a text is no interview.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, check_allowed
from voirdire.schema import Scale
from voirdire.study import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

_HERE = files("voirdire_judges.questionnaires")
_KEYS = (
    "anchors", "bands", "construct", "descriptions", "instructions", "items", "name",
    "not_ratable", "note", "range", "source", "variants", "yes_no",
)  # fmt: skip
_VARIANT_KEYS = (
    "anchors", "bands", "instructions", "not_ratable", "note", "range", "source", "yes_no",
)  # fmt: skip
#: Which items may be answered *not ratable*: all of them, or those that need an observer.
_NOT_RATABLE = ("all", "observed")
STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class QuestionnaireItem:
    """One item: its name, what it covers, and whether it needs someone who sees the person."""

    name: str
    text: str = ""
    observed: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """A named range of totals, from `low` up to the next band."""

    name: str
    low: float


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """An instrument in one variant.

    Attributes
    ----------
    name, construct, source : str
        What it is, what it is about (the label that a threshold decides), where it is published.
    scale : Scale
        Of every item.
    yes_no : bool
        Items are asked by yes and no, and scored 1 and 0.
    questions : tuple of QuestionnaireItem
    bands : tuple of Band
        Severity by total, the lowest first; none where the variant has none.
    variant, note : str
        Which variant, and what is odd about it.
    descriptions : str
        Whose words the items' names and texts are.
    not_ratable : {"all", "observed"}
        Which items may be answered *not ratable*. A text that does not mention a symptom does not
        say that it is absent, so all may, unless a variant keeps to a published prompt.
    """

    name: str
    construct: str
    scale: Scale
    questions: tuple[QuestionnaireItem, ...]
    instructions: str = ""
    anchors: tuple[tuple[float, str], ...] = ()
    bands: tuple[Band, ...] = ()
    yes_no: bool = False
    source: str = ""
    variant: str = STANDARD
    note: str = ""
    descriptions: str = ""
    not_ratable: str = "all"

    @property
    def total(self) -> Scale:
        """The range that a total can have."""
        size = len(self.questions)
        return Scale(size * self.scale.low, size * self.scale.high, self.scale.step)

    @property
    def observed(self) -> tuple[int, ...]:
        """Serial numbers of items that need someone who sees the person."""
        return tuple(n for n, one in enumerate(self.questions, 1) if one.observed)

    @property
    def may_lack(self) -> tuple[int, ...]:
        """Serial numbers of items that may be answered *not ratable*."""
        every = tuple(range(1, len(self.questions) + 1))
        return every if self.not_ratable == "all" else self.observed

    def band(self, total: float | None) -> str:
        """The name of the band a total falls in; empty where there is none."""
        below = [band.name for band in self.bands if total is not None and total >= band.low]
        return below[-1] if below else ""


def built_in_questionnaires() -> list[str]:
    """Names of the questionnaires that come with this package.

    >>> built_in_questionnaires()
    ['bai', 'hamilton', 'madrs', 'phq9']
    """
    return sorted(
        one.name.removesuffix(".toml") for one in _HERE.iterdir() if one.name.endswith(".toml")
    )


def load_questionnaire(
    name: str | Path, variant: str = STANDARD, folder: str | Path = "."
) -> Questionnaire:
    """The questionnaire of that name, or in that TOML file, in one of its variants.

    A file in `folder` (a study's) goes before a built-in of the same name.

    A file holds `name`, `construct` (the label it is about), `range` (two ends of every item),
    `[[items]]` with `name`, optionally `text` and `observed`, and optionally `yes_no`, `anchors`
    (level to words), `instructions`, `source`, `note`, `descriptions` (whose words the items are),
    `not_ratable` (``"all"`` items or those ``"observed"``), `[[bands]]` (`name`, `low`), and
    `[variants.NAME]` with those keys that differ.

    Raises
    ------
    InputError
        No such questionnaire, file, variant, or a key that cannot be read.

    Examples
    --------
    >>> standard, published = load_questionnaire("phq9"), load_questionnaire("phq9", "hengle2024")
    >>> standard.total.high, published.total.high, published.yes_no
    (27, 9, True)
    """
    built_in = built_in_questionnaires()
    own = [_HERE / f"{name}.toml"] if str(name) in built_in else []
    places: list[Path | Traversable] = [Path(folder) / name, *own, Path(name)]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError(
            f"questionnaire {str(name)!r} is neither a TOML file nor built in (built in: "
            f"{', '.join(built_in)})"
        )
    raw = read_toml(path, "questionnaire")
    return _questionnaire(_chosen(raw, variant, path), variant, path)


def _chosen(raw: dict[str, Any], variant: str, path: Path | Traversable) -> dict[str, Any]:
    """The file's keys with those of the variant over them."""
    check_allowed("key", raw, _KEYS, f"questionnaire {path.name}")
    variants = raw.pop("variants", {})
    if variant == STANDARD:
        return raw
    check_allowed("variant", [variant], [STANDARD, *variants], f"questionnaire {path.name}")
    where = f"questionnaire {path.name}, variants.{variant}"
    check_allowed("key", variants[variant], _VARIANT_KEYS, where)
    merged: dict[str, Any] = raw | variants[variant]
    return merged


def _questionnaire(raw: dict[str, Any], variant: str, path: Path | Traversable) -> Questionnaire:
    lacking = [key for key in ("name", "construct", "range", "items") if not raw.get(key)]
    if lacking:
        raise InputError(f"questionnaire {path.name}: key {lacking[0]!r} is required")
    try:
        return Questionnaire(
            name=str(raw["name"]),
            construct=str(raw["construct"]),
            scale=Scale(*raw["range"]),
            questions=tuple(QuestionnaireItem(**one) for one in raw["items"]),
            instructions=" ".join(str(raw.get("instructions", "")).split()),
            anchors=tuple((float(k), str(v)) for k, v in raw.get("anchors", {}).items()),
            bands=tuple(Band(**one) for one in raw.get("bands", ())),
            yes_no=bool(raw.get("yes_no", False)),
            source=str(raw.get("source", "")),
            variant=variant,
            note=" ".join(str(raw.get("note", "")).split()),
            descriptions=" ".join(str(raw.get("descriptions", "")).split()),
            not_ratable=_who_may_lack(str(raw.get("not_ratable", "all"))),
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"questionnaire {path.name}: {error}") from error


def _who_may_lack(value: str) -> str:
    check_allowed("not_ratable", [value], _NOT_RATABLE)
    return value


@dataclass(frozen=True, slots=True)
class QuestionnaireScores:
    """What the answers to a questionnaire come to.

    Attributes
    ----------
    total : float or None
        The sum, only where every item is answered.
    partial : float
        The sum of what is answered; no total, and it looks low where answers lack.
    low, high : float
        The least and the most that the total can be, whatever the missing answers are.
    answered, missing : int, tuple of int
    band : str
        Severity, only of a complete total.
    positive : bool or None
        Whether the total reaches the threshold; None without one, or while missing answers could
        decide it either way.
    """

    total: float | None
    partial: float
    low: float
    high: float
    answered: int
    missing: tuple[int, ...]
    band: str
    positive: bool | None


def score_answers(
    questionnaire: Questionnaire,
    answers: Mapping[int, float | None],
    threshold: float | None = None,
) -> QuestionnaireScores:
    """Score answers by serial number; a missing one is never 0.

    Examples
    --------
    >>> from voirdire_judges.questionnaires import load_questionnaire
    >>> phq9 = load_questionnaire("phq9")
    >>> answers = {1: 3, 2: 3, 3: 0, 4: 3, 5: 1, 6: 2, 7: 0, 8: 0}
    >>> scored = score_answers(phq9, answers, threshold=10)
    >>> scored.total, scored.partial, scored.low, scored.high, scored.missing, scored.positive
    (None, 12.0, 12.0, 15.0, (9,), True)
    """
    serials = range(1, len(questionnaire.questions) + 1)
    given = {n: answers.get(n) for n in serials}
    scores = [float(value) for value in given.values() if value is not None]
    missing = tuple(n for n, value in given.items() if value is None)
    partial = sum(scores, 0.0)
    low = partial + len(missing) * questionnaire.scale.low
    high = partial + len(missing) * questionnaire.scale.high
    total = None if missing else partial
    positive = None
    # Where the bounds agree the missing answers cannot change it; else it stays open, and is no
    # 0.
    if threshold is not None and (low >= threshold or high < threshold):
        positive = low >= threshold
    return QuestionnaireScores(
        total, partial, low, high, len(scores), missing, questionnaire.band(total), positive
    )
