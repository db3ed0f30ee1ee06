"""The tuned judge as a study and as a lock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.examining import changing
from voirdire.examining.changing.freezing import freeze_each
from voirdire.files import file_stems, write_text
from voirdire.schema import Finding
from voirdire.study import Criterion, Data, Humans, study_in, study_to_toml
from voirdire_plugins.tune.curves import CHANGE, CURVE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.changing import Lock
    from voirdire.study import Rater, Study
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.results import Tuned

STUDY, LOCK, PEOPLE = "study.toml", "judge.lock", "people.toml"
#: The folder of the locks of all that were asked.
LOCKS = "locks"
#: What an annotator's labels have beside them, where nothing applies.
NOTHING = "none of these"


def write_people(
    study: Study,
    asking: Asking,
    people: Sequence[str],
    attributes: Sequence[str],
    labels: Sequence[str],
) -> str:
    """Write a study by which `voirdire humans export` asks people about what was drawn.

    What the study itself says under [humans] goes before.
    """
    asked = study.humans
    if asked is None and labels:
        none = NOTHING if NOTHING not in labels else ""
        asked = Humans(task="labels", raters=tuple(people), labels=tuple(labels), none=none)
    elif asked is None and asking.subject.name == "pairs":
        told = {one.name: one.description for one in study.rubric.attributes}
        criteria = tuple(Criterion(name=one, description=told.get(one, "")) for one in attributes)
        asked = Humans(task="pairwise", raters=tuple(people), criteria=criteria, overall=False)
    elif asked is None:
        asked = Humans(task="pointwise", raters=tuple(people), attributes=tuple(attributes))
    made = study.model_copy(
        update={"humans": asked, "panel": (), "generators": (), "data": Data(), "gate": None}
    )
    path = asking.out / PEOPLE
    write_text(path, study_to_toml(study_in(made, asking.out)))
    return str(path)


def write_judge(
    tuned: Tuned,
    study: Study,
    asking: Asking,
    about: Collection[tuple[str, str]],
    asked: Sequence[Rater] = (),
) -> Tuned:
    """Write the study with the chosen judge in place of the old one, and the locks of all.

    A lock freezes what a candidate said of the labelled responses; people's labels are its anchors.
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
    tuned = replace(tuned, findings=(*tuned.findings, *_made_after(tuned)))
    named = [spec.name, *(one.name for one in asked if not one.is_jury)]
    locks, why = _locks(dict.fromkeys(named), asking, tuned.people)
    if spec.name in locks:
        changing.write_lock(out / LOCK, locks[spec.name])
        files["lock"] = str(out / LOCK)
    else:
        finding = Finding(
            "not_frozen",
            "note",
            spec.name,
            1,
            (spec.name,),
            f"There is no lock: {why}",
            "A gate has nothing to hold this judge to.",
        )
        tuned = replace(tuned, findings=(*tuned.findings, finding))
    return replace(tuned, files=files | _write_each(named[1:], locks, out / LOCKS))


def _made_after(tuned: Tuned) -> tuple[Finding, ...]:
    """That a study asks a judge, and what is made of its scores is not said in it."""
    after, spec = tuned.after, tuned.spec
    if not tuned.chosen or spec.is_jury or after.name == spec.name:
        return ()
    curve = f" {CURVE} says what each becomes." if after.change == CHANGE else ""
    return (
        Finding(
            "made_of_scores",
            "note",
            spec.name,
            1,
            (spec.name,),
            f"The gain is that of {after.name}: {after.change}.",
            f"{STUDY} and {LOCK} hold {spec.name} as it is asked; whoever uses its scores makes "
            f"this of them.{curve}",
        ),
    )


def _locks(
    names: Collection[str], asking: Asking, people: Sequence[str]
) -> tuple[dict[str, Lock], str]:
    """The locks of those that gave a score, by one reading of the session; why there is none."""
    try:
        return freeze_each(str(asking.session), names, reference=people), "it gave no score."
    except InputError as error:
        return {}, str(error)


def _write_each(names: Sequence[str], locks: Mapping[str, Lock], folder: Path) -> dict[str, str]:
    """A file for each that was asked, the judge as it was among them, where they are several."""
    if len(names) < 2:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, stem in file_stems(names, "candidate").items():
        if name in locks:
            changing.write_lock(folder / f"{stem}.lock", locks[name])
    return {"locks": str(folder)}
