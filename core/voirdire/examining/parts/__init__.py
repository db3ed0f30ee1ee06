"""The parts of an examination in the order in which they are examined, and their Examination."""

from __future__ import annotations

import datetime as dt
import platform
import sys
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

from voirdire import __version__
from voirdire.examining.examination import Examination
from voirdire.examining.inputs import TextTables
from voirdire.examining.parts.conversations import CONVERSATIONS_PART as CONVERSATIONS_PART
from voirdire.examining.parts.data import DATA_PART as DATA_PART
from voirdire.examining.parts.exams import EXAMS_PART as EXAMS_PART
from voirdire.examining.parts.juries import JURIES_PART as JURIES_PART
from voirdire.examining.parts.labels import LABELS_PART as LABELS_PART
from voirdire.examining.parts.preferences import PREFERENCES_PART as PREFERENCES_PART
from voirdire.examining.parts.probes import PROBES_PART as PROBES_PART
from voirdire.examining.parts.prompts import PROMPTS_PART as PROMPTS_PART
from voirdire.examining.parts.ratings import RATINGS_PART as RATINGS_PART
from voirdire.examining.parts.subgroups import SUBGROUPS_PART as SUBGROUPS_PART
from voirdire.examining.parts.traces import TRACES_PART as TRACES_PART
from voirdire.examining.parts.verdicts import VERDICTS_PART as VERDICTS_PART
from voirdire.examining.parts.wholes import WHOLES_PART as WHOLES_PART
from voirdire.identity import built_in
from voirdire.lazy import name_and_version
from voirdire.progress import stage
from voirdire.schema import RULE, by_severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.parts.part import ExaminationPart, Examined

#: A further part is a file beside these and its name here. Sections follow in this order; labels
#: stand before ratings, which ask whether anything can be said without a reference.
PARTS: tuple[ExaminationPart[Any], ...] = (
    DATA_PART, PREFERENCES_PART, EXAMS_PART, LABELS_PART, RATINGS_PART, VERDICTS_PART,
    SUBGROUPS_PART, WHOLES_PART, JURIES_PART, CONVERSATIONS_PART, TRACES_PART, PROMPTS_PART,
    PROBES_PART,
)  # fmt: skip
#: What the numbers depend on.
PACKAGES = ("numpy", "numba", "scipy", "polars")


def examine_inputs(inputs: Inputs) -> Examination:
    """The Examination of what was read; a benchmark has not reviewed it.

    Raises
    ------
    InputError
        There is no reference, or no judge, and nothing else to examine.
    """
    found: list[tuple[ExaminationPart[Any], Examined[Any]]] = []
    asked = [part for part in PARTS if part.needs(inputs)]
    for at, part in enumerate(asked, start=1):
        name = type(part).__name__.removesuffix("Part").lower()
        stage(f"examining {name}", at, len(asked))
        before = tuple(examined.facts for _, examined in found)
        found.append((part, part.examine(inputs, before)))
    return examination_of(inputs, found)


def examination_of(
    inputs: Inputs, found: Sequence[tuple[ExaminationPart[Any], Examined[Any]]]
) -> Examination:
    """One Examination of what each part found."""
    odd = (finding for _, examined in found for finding in examined.findings)
    return Examination(
        inputs=inputs,
        parts=tuple(examined.facts for _, examined in found),
        findings=by_severity((*inputs.findings, *odd)),
        sections=tuple(
            section for part, examined in found for section in part.sections(examined.facts)
        ),
        notes=tuple(note for _, examined in found for note in examined.notes),
        requirements=(),
        texts=TextTables.of(inputs.tables),
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    """Of ourselves, our rule, the table of makers (its date) and what the numbers depend on."""
    ours = {
        "voirdire": __version__, "the verdict's rule": RULE, "makers": built_in().date,
        "python": platform.python_version(),
    }  # fmt: skip
    return {**ours, **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str:
    """As its metadata says, else as the loaded module does: a zip or a closed folder has none."""
    try:
        return name_and_version(distribution(package))[1]
    except PackageNotFoundError:
        return str(getattr(sys.modules.get(package), "__version__", "unknown"))
