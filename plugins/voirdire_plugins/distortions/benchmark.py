"""A session of the annotators as a study, and the paper's tables beside the general ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.examining import session_as_study
from voirdire_plugins.distortions.datasets import read_annotations, read_datasets
from voirdire_plugins.distortions.tables import consistency_tables, dataset_table

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining import Examination
    from voirdire.study import Study
    from voirdire.tabular import Section
    from voirdire_plugins.distortions.datasets import Annotations

CONSISTENT = (
    "Labels that recur are consistent, which is a condition of being right and no proof of it: the "
    "same model read the same text with the same prompt each time."
)
NO_DATASETS = "Data sets were not built: {why}."
NEEDS = (
    "distortions needs --data FOLDER with a session of its annotators: write a study by "
    "`voirdire paper distortions study`, run it by `voirdire run STUDY --out SESSION`"
)


@dataclass(frozen=True, slots=True)
class Distortions:
    """The benchmark `distortions`."""

    def study(self, data: Path | None) -> Study:
        """The study over a session of annotators with `use = "distortions"`."""
        return session_as_study(data, NEEDS)

    def review(self, examination: Examination) -> Examination:
        """Tables 2, 3, 6, 7, 8 and the data of figure 2."""
        if examination.session is None:
            raise InputError(NEEDS)
        annotations = read_annotations(examination.session)
        tables = consistency_tables(
            annotations.runs, annotations.final, annotations.by_configuration
        )
        data, notes = _datasets(annotations)
        sections = (*examination.sections, *(t for t in (*tables, *data) if t.has_rows))
        return examination.replace(
            sections=sections, notes=(*examination.notes, CONSISTENT, *notes)
        )


def _datasets(annotations: Annotations) -> tuple[tuple[Section, ...], tuple[str, ...]]:
    """Table 3, or a note that says why there is none."""
    try:
        data, parts = read_datasets(annotations)
    except InputError as error:
        return (), (NO_DATASETS.format(why=error),)
    counts = dict(parts.group_by("part").len().iter_rows())
    whole = {part: counts.get(part, 0) for part in ("train", "dev", "test")}
    return (dataset_table(data, whole),), ()


BENCHMARK = Distortions()
