"""The benchmark: the published files as tables, or a session that was run on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire import InputError
from voirdire.examining import session_as_study
from voirdire.examining.labels import (
    excess_findings,
    keyed_choices,
    keyed_labels,
    read_keyed,
    with_session_texts,
)
from voirdire.examining.reviews import with_comparisons
from voirdire.store import is_session, responses_frame
from voirdire.store.frames import session_items
from voirdire.study import Study, build_study
from voirdire_plugins.cbt_bench.comparison import CRITERIA, DIFFICULTIES
from voirdire_plugins.cbt_bench.data import (
    HUMAN,
    PRINTED,
    baseline_notes,
    data_findings,
    data_sections,
    path_of,
    printed_scores,
)
from voirdire_plugins.cbt_bench.labels import TASKS, LabelTask

if TYPE_CHECKING:
    from voirdire.examining import Examination

#: The rater under whose name the published labels and right answers stand.
KEY = "Experts"
#: The system whose responses the others are compared with (level III).
REFERENCE = "reference"
#: Exercises and difficulties: the items' columns, and their values in the paper's order.
_PARTS = {"exercise": ("category", CRITERIA), "difficulty": ("difficulty", DIFFICULTIES)}


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
        items = session_items(session)
        uses = {rater.use for rater in examination.study.panel}
        for key, task in TASKS.items():
            if f"cbt-{key}" in uses:
                examination = _labels(examination, session, task)
        if "cbt-qa" in uses:
            letters = [attribute.name for attribute in examination.study.rubric.attributes]
            types = {item.id: str(item.extra.get("type") or "") for item in items}
            keyed = read_keyed(examination, KEY, letters, "cbt-qa")
            examination = keyed_choices(examination, keyed, "Questions", types)
        if uses & {"cbt-qa", *(f"cbt-{key}" for key in TASKS)}:
            shown = {"situation": "Situation", "text": "Thoughts"}
            examination = with_session_texts(examination, session, items, shown)
        if "cbt-dp" in uses:
            responses = responses_frame(session)
            return with_comparisons(examination, items, responses, _PARTS, REFERENCE)
        return examination


def _labels(examination: Examination, session: Path, task: LabelTask) -> Examination:
    """Scores against the experts, beside the printed human where all items were asked."""
    use = f"cbt-{task.key}"
    keyed = read_keyed(examination, KEY, task.labels, use)
    # The printed human rated all items: beside a part of them the figure would be of another
    # test.
    whole = len(keyed.truth.items) == PRINTED["table_3"][task.key][0]
    human = printed_scores(task.key)[HUMAN]
    raters = [rater.name for rater in examination.study.panel if rater.use == use]
    excess = excess_findings(session, raters, task.at_most, task.name)
    return keyed_labels(
        examination.replace(findings=(*excess, *examination.findings)),
        keyed,
        task.name,
        HUMAN,
        {HUMAN: human} if whole else {},
    )


BENCHMARK = CBTBench()
