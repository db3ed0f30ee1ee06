"""The benchmark: the published files as tables, or a session that was run on them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.examining import session_as_study
from voirdire.store import is_session, read_session
from voirdire.store.subjects import iterate_items
from voirdire.study import Study, build_study
from voirdire_plugins.cbt_bench.comparison_review import review_comparisons
from voirdire_plugins.cbt_bench.data import path_of
from voirdire_plugins.cbt_bench.data_sections import baseline_notes, data_findings, data_sections
from voirdire_plugins.cbt_bench.label_review import review_labels, review_questions
from voirdire_plugins.cbt_bench.labels import TASKS

if TYPE_CHECKING:
    from voirdire.examining import Examination
    from voirdire.schema import Item


@dataclass(frozen=True, slots=True)
class CBTBench:
    """The benchmark `cbt_bench`."""

    def study(self, data: Path | None) -> Study:
        """The study of a session, or one without ratings over the published files in a folder.

        Raises
        ------
        InputError
            No folder, or one that is neither.
        """
        if data is not None and is_session(data):
            return session_as_study(data, "cbt_bench needs a session")
        if data is None or not any(path_of(data, task).is_file() for task in TASKS.values()):
            files = ", ".join(path_of(Path(), task).name for task in TASKS.values())
            raise InputError(
                f"cbt_bench needs --data FOLDER, one with the published files ({files}) or a "
                "session that was run on them" + ("" if data is None else f", got {data}")
            )
        title = "CBT-Bench: what the published files hold"
        return build_study({"name": "cbt_bench", "title": title}, "cbt_bench", str(data))

    def review(self, examination: Examination) -> Examination:
        """Tables of the files; or of a session, by what its panel was asked."""
        session = examination.session
        if session is None:
            folder = Path(examination.study.folder)
            return examination.replace(
                sections=(*data_sections(folder), *examination.sections),
                notes=(*examination.notes, *baseline_notes(folder)),
                findings=(*examination.findings, *data_findings(folder)),
            )
        items = _items(session)
        uses = {rater.use for rater in examination.study.panel}
        for key, task in TASKS.items():
            if f"cbt-{key}" in uses:
                examination = review_labels(examination, session, task, items)
        if "cbt-qa" in uses:
            examination = review_questions(examination, session, items)
        if "cbt-dp" in uses:
            examination = review_comparisons(examination, session, items)
        return examination


def _items(folder: Path) -> tuple[Item, ...]:
    with closing(read_session(folder)) as connection:
        return tuple(iterate_items(connection))


BENCHMARK = CBTBench()
