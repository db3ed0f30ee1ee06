"""A session of the annotators as a study, and the paper's tables beside the general ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.store import is_session, session_study
from voirdire.study import Source
from voirdire_plugins.distortions.session import read_annotations, read_datasets
from voirdire_plugins.distortions.tables import consistency_tables, dataset_table

if TYPE_CHECKING:
    from voirdire.examining import Examination
    from voirdire.study import Study
    from voirdire.tabular import Section
    from voirdire_plugins.distortions.session import Annotations

CONSISTENT = (
    "Labels that recur are consistent, which is a condition of being right and no proof of it: the "
    "same model read the same text with the same prompt each time."
)
NO_DATASETS = "Data sets were not built: {why}."
_RATINGS = "ratings.parquet"


@dataclass(frozen=True, slots=True)
class Distortions:
    """The benchmark `distortions`."""

    def study(self, data: Path | None) -> Study:
        """The study over a session of annotators with `use = "distortions"`."""
        if data is None or not is_session(data) or not (data / _RATINGS).is_file():
            raise InputError(
                "distortions needs --data FOLDER with a session of its annotators: run a study "
                'whose panel has kind = "annotator", use = "distortions" (see docs/distortions.md)'
            )
        study = session_study(data)
        source = Source(path=str((data / _RATINGS).resolve()), layout="long")
        sources = study.data.model_copy(update={"sources": (*study.data.sources, source)})
        return study.model_copy(update={"data": sources})

    def review(self, examination: Examination) -> Examination:
        """Tables 2, 3, 6, 7, 8 and the data of figure 2."""
        known = read_annotations(session_of(examination))
        tables = consistency_tables(known.runs, known.final, known.found)
        data, notes = _datasets(known)
        sections = (*examination.sections, *(t for t in (*tables, *data) if t.has_rows))
        return examination.replace(
            sections=sections, notes=(*examination.notes, CONSISTENT, *notes)
        )


def session_of(examination: Examination) -> Path:
    """The session that an examination of this benchmark read."""
    return Path(examination.study.data.sources[-1].path).parent


def _datasets(known: Annotations) -> tuple[tuple[Section, ...], tuple[str, ...]]:
    """Table 3, or a note that says why there is none."""
    try:
        data, parts = read_datasets(known)
    except InputError as error:
        return (), (NO_DATASETS.format(why=error),)
    counts = dict(parts.group_by("part").len().iter_rows())
    whole = {part: counts.get(part, 0) for part in ("train", "dev", "test")}
    return (dataset_table(data, whole),), ()


BENCHMARK = Distortions()
