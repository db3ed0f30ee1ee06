"""Leaks between the pool of few-shot examples and the posts under test, counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from voirdire import VoirdireError
from voirdire_judges._few_shot import few_shot
from voirdire_plugins.angst.annotators import examples_of
from voirdire_retrieval import leak_findings, pool_overlap

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        try:
            found = list(shots.selections)
            index = shots.opened.index  # type: ignore[attr-defined]
        except (VoirdireError, AttributeError) as error:
            pool = shots.options.get("pool")
            notes.append(f"Leaks from {pool} could not be counted: {error}")
            continue
        findings += [*pool_overlap(index, shots.items.values()), *leak_findings(found)]
    return findings, notes


def few_shots(study: Study) -> Iterator[FewShot]:
    """The distinct ways in which a panel's examples are chosen."""
    seen: set[str] = set()
    for rater in study.panel:
        spec = rater.options.get("examples")
        if not isinstance(spec, dict):
            continue
        key = json.dumps(spec, sort_keys=True, default=str)
        if key not in seen:
            seen.add(key)
            yield few_shot(examples_of(spec), study)
