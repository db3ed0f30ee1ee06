"""The tuned judge as a study and as a lock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.examining import changing
from voirdire.files import write_text
from voirdire.study import study_in, study_to_toml

if TYPE_CHECKING:
    from voirdire.study import Study
    from voirdire_plugins.tune.asking import Asking
    from voirdire_plugins.tune.results import Tuned

STUDY, LOCK = "study.toml", "judge.lock"


def write_judge(tuned: Tuned, study: Study, asking: Asking) -> Tuned:
    """Write the study with the chosen judge in place of the old one, and its lock.

    The lock freezes what it said of the labelled responses; people's labels are its anchors.
    """
    spec, out = tuned.spec, asking.out
    panel = tuple(spec if one.name == tuned.judge else one for one in study.panel)
    made = study_in(study.model_copy(update={"panel": panel}), out)
    write_text(out / STUDY, study_to_toml(made))
    files = {"study": str(out / STUDY), "session": str(asking.session)}
    try:
        lock = changing.freeze(str(asking.session), judges=(spec.name,), reference=tuned.people)
    except InputError:
        # Without a response that it scored there is nothing to freeze.
        return replace(tuned, files=files)
    changing.write_lock(out / LOCK, lock)
    return replace(tuned, files={**files, "lock": str(out / LOCK)})
