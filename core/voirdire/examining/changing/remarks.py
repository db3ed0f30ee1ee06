"""What of a lock is not as it was: missing scores, changed texts, another model or prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import listed
from voirdire.examining.changing.anchored import labelled
from voirdire.examining.changing.lock import (
    FORMAT,
    locked_judges,
    rubric_hash,
    text_hashes,
)
from voirdire.schema import RULE, RULE_BEFORE, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.changing.lock import Lock, LockedJudge
    from voirdire.examining.changing.measured import Measured

    Floats = NDArray[np.float64]


#: Kinds of findings that say that a judge is declared otherwise than in the lock.
DIFFERS = frozenset({"lock_model", "lock_prompt", "lock_rubric", "lock_schema", "lock_temperature"})


def other_rule(lock: Lock, anew: Lock) -> Iterator[Finding]:
    """That the lock's verdicts are those of an earlier rule; `anew` has them by today's."""
    if lock is anew:
        return
    changed = [
        f"{old.name} on {attribute}: {use} was {state}, is {now}"
        for old, new in zip(lock.judges, anew.judges, strict=True)
        for attribute, uses in old.verdicts.items()
        for use, state in uses.items()
        if (now := new.verdicts.get(attribute, {}).get(use, "not tested")) != state
    ]
    told = f"{len(changed)} verdicts change by it alone" if changed else "no verdict changes by it"
    yield _finding(
        "lock_rule",
        "note",
        max(len(changed), 1),
        changed,
        f"The lock was frozen under the verdict's rule of {lock.rule or RULE_BEFORE}; here it is "
        f"{RULE}: {told}.",
        "The frozen scores were judged anew by today's rule, so that no use is lost by it alone. "
        "Freeze a new lock to keep it.",
    )


def unsealed(lock: Lock) -> Iterator[Finding]:
    """That a lock is of the first format, which nothing guards against changes by hand."""
    if lock.format >= FORMAT:
        return
    yield _finding(
        "lock_unsealed",
        "serious",
        1,
        (),
        "The lock is of the first format and has no seal: what was changed in it by hand since it "
        "was frozen is not noticed.",
        "Freeze a new lock.",
    )


def void_certificate(
    lock: Lock, moved: Sequence[str], findings: Sequence[Finding]
) -> Iterator[Finding]:
    """That what was certified of a cascade no longer holds: a judge of it is not as it was.

    `moved` are judges that changed or are no longer good; `findings` those of this look.
    """
    if lock.cascade is None:
        return
    # A rubric that differs is every judge's.
    declared = {
        place
        for one in findings
        if one.kind in DIFFERS | {"judge_missing"}
        for place in (one.places or lock.cascade.judges)
    }
    changed = [name for name in lock.cascade.judges if name in declared or name in moved]
    if not changed:
        return
    yield _finding(
        "cascade_void",
        "serious",
        len(changed),
        changed,
        f"The certificate of the cascade {lock.cascade.steps}, then a person, no longer holds: "
        f"{listed(changed)} {'is' if len(changed) == 1 else 'are'} not as frozen.",
        "Let no verdict of it go out unseen. Label anew, certify anew (voirdire cascade), freeze "
        "anew.",
    )


def missing_scores(lock: Lock, measured: Measured, at: NDArray[np.intp]) -> Iterator[Finding]:
    """Canaries, judges and attributes of the lock that are not there today."""
    gone = [one.item for one, place in zip(lock.canary, at, strict=True) if place < 0]
    if gone:
        yield _finding(
            "canary_missing",
            "serious",
            len(gone),
            dict.fromkeys(gone),
            f"{len(gone)} of {len(at)} canary responses are not in {measured.name} "
            f"(items {listed(list(dict.fromkeys(gone)), 5)}).",
            "The check rests on the others.",
        )
    names = [judge.name for judge in lock.judges if judge.name not in measured.judges]
    names += [name for name in lock.attributes if name not in measured.cube.attributes]
    if names:
        yield _finding(
            "judge_missing",
            "serious",
            len(names),
            names,
            f"The lock names {listed(names)}, which {measured.name} does not have.",
            "Nothing is said of what is not there.",
        )


def changed_texts(lock: Lock, measured: Measured) -> Iterator[Finding]:
    """Labelled responses whose text is another today."""
    now, with_label = text_hashes(measured), labelled(lock)
    other = [
        one.item
        for one, human in zip(lock.canary, with_label, strict=True)
        if human and one.text and now.get((one.item, one.system), one.text) != one.text
    ]
    if other:
        yield _finding(
            "anchor_changed",
            "note",
            len(other),
            dict.fromkeys(other),
            f"{len(other)} labelled responses have another text than in the lock.",
            "Their labels belong to the old text, so they are no anchors today.",
        )


def changed_declarations(
    lock: Lock, measured: Measured, judges: Sequence[LockedJudge]
) -> Iterator[Finding]:
    """Models, prompts, rubric and temperatures that are others than in the lock."""
    now = {judge.name: judge for judge in locked_judges(measured)}
    for old in judges:
        new = now[old.name]
        for kind, what, before, after in (
            ("lock_model", "model", old.model, new.model),
            ("lock_model", "answering model", ", ".join(old.answered_by),
             ", ".join(new.answered_by)),
            ("lock_prompt", "prompt (hash)", old.prompt, new.prompt),
            ("lock_temperature", "temperature", old.temperature, new.temperature),
            ("lock_schema", "server's word on whether it enforces a JSON schema",
             old.schema_enforced, new.schema_enforced),
        ):  # fmt: skip
            # What one of the two does not know is no change.
            if before != after and before not in ("", None) and after not in ("", None):
                yield _finding(
                    kind,
                    "serious",
                    1,
                    (old.name,),
                    f"{old.name}: the {what} is {after}, and {before} in the lock.",
                    "It is another judge, even where its scores are equal: freeze it anew once it "
                    "has been reviewed.",
                )
    rubric = rubric_hash(measured.study)
    # The rubric of a file without a study was drafted from its numbers, and says nothing.
    if lock.study and lock.rubric and rubric != lock.rubric:
        yield _finding(
            "lock_rubric",
            "serious",
            1,
            (),
            f"The rubric (hash) is {rubric}, and {lock.rubric} in the lock.",
            "Judges are asked for something else than at the freeze.",
        )


def silent_judges(
    lock: Lock,
    judges: Sequence[LockedJudge],
    today: Mapping[tuple[str, str], Floats],
    at: NDArray[np.intp],
) -> Iterator[Finding]:
    """Judges that answer nothing today, or much less than the study's margin of COVER allows."""
    for judge in judges:
        there = at >= 0
        scored = {name: lock.scores(judge.name, name) for name in lock.attributes}
        asked = sum(
            int((~np.isnan(scored[key[1]]) & there).sum()) for key in today if key[0] == judge.name
        )
        answered = sum(
            int((~np.isnan(scored[key[1]]) & ~np.isnan(scores)).sum())
            for key, scores in today.items()
            if key[0] == judge.name
        )
        if asked and not answered:
            yield _finding(
                "judge_silent",
                "blocking",
                asked,
                (judge.name,),
                f"{judge.name} answers nothing today: none of {asked} scores of the lock is there.",
                "Whether it has changed cannot be said: look at its replies by voirdire session "
                "status.",
            )
        elif answered < lock.margins.cover * asked:
            yield _finding(
                "canary_unanswered",
                "serious",
                asked - answered,
                (judge.name,),
                f"{judge.name} gives {answered} of the {asked} scores that the lock has.",
                "What it says holds where it answered.",
            )


def _finding(
    kind: str,
    severity: Literal["blocking", "serious", "note"],
    count: int,
    places: Sequence[str] | Mapping[str, None],
    message: str,
    consequence: str,
) -> Finding:
    return Finding(kind, severity, "", count, tuple(places)[:20], message, consequence)


def rater_findings(a: Measured, b: Measured, judges: Mapping[str, str]) -> Iterator[Finding]:
    """Judges whose model, prompt or temperature is another in B."""
    facts = ("model", "prompt_hash", "temperature")
    words = {"model": "model", "prompt_hash": "prompt", "temperature": "temperature"}
    raters = [{row["rater"]: row for row in one.raters.iter_rows(named=True)} for one in (a, b)]
    for judge, other in judges.items():
        old, new = raters[0].get(judge, {}), raters[1].get(other, {})
        for fact in facts:
            before, after = old.get(fact), new.get(fact)
            if before != after and before is not None and after is not None:
                yield Finding(
                    f"other_{words[fact]}",
                    "note",
                    other,
                    1,
                    (),
                    f"{other}: its {words[fact]} was {before} and is {after}.",
                    "A difference of scores may come from that.",
                )
