"""Leaks between the pool of few-shot examples and the posts under test, counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from voirdire import VoirdireError
from voirdire.store import kept_findings
from voirdire_judges._few_shot import few_shot
from voirdire_plugins.angst.annotators import examples_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire_judges._few_shot import FewShot


def leaks_of(study: Study) -> tuple[list[Finding], list[str]]:
    """What of a study's items lies in its pools, what was kept out of prompts, what is unknown.

    Examples are chosen as in the run: the same pool, embedder and items give the same ones. Raters
    that share their examples are counted once.

    Returns
    -------
    tuple of list of Finding and list of str
        The findings, and a note for each pool that cannot be looked at any more.
    """
    findings: list[Finding] = []
    notes: list[str] = []
    for shots in few_shots(study):
        why = f"selector {shots.selector!r} does not tell"
        try:
            found = shots.findings() if shots.selections else None
        except VoirdireError as error:
            found, why = None, str(error)
        if found is None:
            notes.append(f"Leaks from {shots.options.get('pool')} could not be counted: {why}")
        findings += found or ()
    return findings, notes


def session_leaks(session: Path, study: Study) -> tuple[Sequence[Finding], list[str]]:
    """What the run found of leaks; chosen anew where a session does not hold it."""
    kept = kept_findings(session)
    return leaks_of(study) if kept is None else (kept, [])


def few_shots(study: Study) -> Iterator[FewShot]:
    """The distinct ways in which a panel's examples are chosen."""
    seen: set[str] = set()
    for rater in study.panel:
        spec = rater.options.get("examples")
        if not isinstance(spec, dict):
            continue
        own = {} if rater.use == "angst" else {"labels": rater.options.get("labels", [])}
        asked = examples_of({**own, **spec})
        key = json.dumps(asked, sort_keys=True, default=str)
        if key not in seen:
            seen.add(key)
            yield few_shot(asked, study)
