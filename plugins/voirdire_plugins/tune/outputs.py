"""The tuned judge as a study and as a lock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.examining import changing
from voirdire.files import write_text
from voirdire.schema import Finding
from voirdire.study import Data, Humans, study_in, study_to_toml

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from voirdire.study import Study
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.results import Tuned

STUDY, LOCK, PEOPLE = "study.toml", "judge.lock", "people.toml"
#: What an annotator's labels have beside them, where nothing applies.
NOTHING = "none of these"


def write_people(
    study: Study, asking: Asking, people: Sequence[str], attribute: str, labels: Sequence[str]
) -> str:
    """Write a study by which `voirdire humans export` asks people about what was drawn.

    What the study itself says under [humans] goes before.
    """
    asked = study.humans
    if asked is None and labels:
        none = NOTHING if NOTHING not in labels else ""
        asked = Humans(task="labels", raters=tuple(people), labels=tuple(labels), none=none)
    elif asked is None:
        asked = Humans(task="pointwise", raters=tuple(people), attributes=(attribute,))
    made = study.model_copy(
        update={"humans": asked, "panel": (), "generators": (), "data": Data(), "gate": None}
    )
    path = asking.out / PEOPLE
    write_text(path, study_to_toml(study_in(made, asking.out)))
    return str(path)


def write_judge(
    tuned: Tuned, study: Study, asking: Asking, about: Collection[tuple[str, str]]
) -> Tuned:
    """Write the study with the chosen judge in place of the old one, and its lock.

    The lock freezes what it said of the labelled responses; people's labels are its anchors.
    """
    spec, out = tuned.spec, asking.out
    panel = tuple(
        spec if one.name == tuned.judge else one
        for one in study.panel
        # A member that is better alone stands in its jury's place.
        if one.name == tuned.judge or one.name != spec.name
    )
    if spec.is_jury:  # the session names it beside its members, so that it is frozen
        members = [one for one in study.panel if one.name in spec.members]
        asking.ask((*members, spec), about)
    made = study_in(study.model_copy(update={"panel": panel}), out)
    write_text(out / STUDY, study_to_toml(made))
    files = {"study": str(out / STUDY), "session": str(asking.session)}
    try:
        lock = changing.freeze(str(asking.session), judges=(spec.name,), reference=tuned.people)
    except InputError as error:
        finding = Finding(
            "not_frozen", "note", spec.name, 1, (spec.name,), f"There is no lock: {error}",
            "A gate has nothing to hold this judge to.",
        )  # fmt: skip
        return replace(tuned, files=files, findings=(*tuned.findings, finding))
    changing.write_lock(out / LOCK, lock)
    return replace(tuned, files={**files, "lock": str(out / LOCK)})
