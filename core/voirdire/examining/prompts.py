"""Several prompts of one judge as a facet: how much of its scores' variance is the wording's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.stats import variance_components
from voirdire.tabular import Section, Table, count, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats import VarianceComponents
    from voirdire.study import Rater, Study

    Floats = NDArray[np.float64]

#: The option of a rater that holds the wording.
WORDING = "instructions"


@dataclass(frozen=True, slots=True)
class Worded:
    """Members of a panel that are one judge asked in several words.

    `name` is that of the first; `prompts` maps each wording to the member that is asked in it.
    """

    name: str
    prompts: dict[str, str]


def worded_alike(study: Study) -> tuple[Worded, ...]:
    """Members that differ in their `instructions` alone, two or more of each.

    Examples
    --------
    >>> from voirdire.study import build_study
    >>> panel = [{"name": n, "use": "rubric", "model": "m:a", "options": {"instructions": n}}
    ...          for n in ("short", "long")]
    >>> worded_alike(build_study({"name": "s", "panel": panel}))
    (Worded(name='short', prompts={'short': 'short', 'long': 'long'}),)
    """
    groups: dict[str, dict[str, str]] = {}
    for rater in study.panel:
        if rater.model:
            # Everything but the wording as text: members with equal keys are one judge.
            key = json.dumps(_but_wording(rater), sort_keys=True, default=str)
            groups.setdefault(key, {})[str(rater.options.get(WORDING, ""))] = rater.name
    return tuple(Worded(next(iter(g.values())), g) for g in groups.values() if len(g) > 1)


def _but_wording(rater: Rater) -> dict[str, Any]:
    whole = rater.model_dump(exclude={"name"})
    return {**whole, "options": {k: v for k, v in rater.options.items() if k != WORDING}}


def prompt_sections(study: Study, ratings: pl.DataFrame) -> tuple[Section, ...]:
    """Variance of scores over responses, prompts and runs; also over judges that share prompts.

    Parameters
    ----------
    ratings : DataFrame
        ``item, system, rater, run, attribute, score``.

    Returns
    -------
    tuple of Section
        Empty where no judge is asked in several words.
    """
    there = set(ratings["rater"].cast(pl.String).unique())
    groups = [one for one in worded_alike(study) if set(one.prompts.values()) & there]
    if not groups:
        return ()
    named = [attribute.name for attribute in study.rubric.attributes]
    present = ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()
    attributes = [name for name in named if name in present] or present
    return sections_of_prompts(groups, ratings, attributes)


def sections_of_prompts(
    groups: Sequence[Worded], ratings: pl.DataFrame, attributes: Sequence[str]
) -> tuple[Section, ...]:
    """The same for groups of raters that are one judge in several words each."""
    if not groups:
        return ()
    within = [
        (one.name, attribute, *_row(variance_components(_scores(ratings, one, attribute))))
        for one in groups
        for attribute in attributes
    ]
    shared = [one for one in groups if list(one.prompts) == list(groups[0].prompts)]
    across = [
        (attribute, *_crossed(ratings, shared, attribute))
        for attribute in attributes
        if len(shared) > 1
    ]
    return tuple(part for part in (_within(within), _across(across)) if part.has_rows)


def _scores(ratings: pl.DataFrame, one: Worded, attribute: str) -> Floats:
    """(responses, prompts, runs) scores; NaN where one is missing."""
    own = ratings.filter(pl.col("attribute").cast(pl.String) == attribute)
    own = own.with_columns(pl.col("rater").cast(pl.String))
    raters = list(one.prompts.values())
    own = own.filter(pl.col("rater").is_in(raters))
    keys = own.select("item", "system").unique(maintain_order=True).with_row_index("at")
    runs = sorted(own["run"].unique().to_list())
    placed = own.join(keys, on=["item", "system"], nulls_equal=True)
    values = np.full((keys.height, len(raters), len(runs)), np.nan)
    at = placed["rater"].replace_strict(raters, range(len(raters)), return_dtype=pl.Int64)
    run = placed["run"].replace_strict(runs, range(len(runs)), return_dtype=pl.Int64)
    values[placed["at"].to_numpy(), at.to_numpy(), run.to_numpy()] = (
        placed["score"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    )
    return values


def _row(components: VarianceComponents) -> tuple[Any, ...]:
    """Sizes, then the components of responses by prompts with runs in them."""
    parts = (
        components.item,
        components.rater,
        components.item_rater,
        components.run,
        components.error,
    )
    return (components.n_raters, components.n_runs, components.n_items, components.left_out, *parts)


def _crossed(ratings: pl.DataFrame, judges: Sequence[Worded], attribute: str) -> tuple[Any, ...]:
    """Responses by judges by prompts, the mean over runs in each cell."""
    means = []
    for one in judges:
        scores = _scores(ratings, one, attribute)
        rated = ~np.isnan(scores)
        total, n = np.where(rated, scores, 0.0).sum(axis=2), rated.sum(axis=2)
        means.append(np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0))
    # Judges that rated other responses cannot be crossed with prompts: the row stays, its parts
    # empty.
    if len({len(part) for part in means}) > 1:
        return (len(judges), len(judges[0].prompts), 0, *(None,) * 7)
    components = variance_components(np.stack(means, axis=1), "crossed")
    parts = (
        components.item,
        components.rater,
        components.run,
        components.item_rater,
        components.item_run,
        components.rater_run,
    )
    return (components.n_raters, components.n_runs, components.n_items, *parts, components.error)


def _within(rows: list[tuple[Any, ...]]) -> Section:
    parts = ("Response", "Prompt", "Response x prompt", "Run", "Rest")
    columns = (
        *map(text, ("Judge", "Attribute")),
        *map(count, ("Prompts", "Runs", "Responses", "Incomplete")),
        *map(number, parts),
    )
    return Section(
        "Several prompts of one judge",
        "Variance of scores: of the responses, of the prompts (one is stricter than another), of "
        "responses that another wording would score otherwise, of runs within a prompt, and the "
        "rest. Estimates near zero may come out below it. With a single run nothing can be told "
        "apart from the rest, and the parts are missing.",
        (Table(columns, tuple(rows)),),
    )


def _across(rows: list[tuple[Any, ...]]) -> Section:
    parts = (
        "Response",
        "Judge",
        "Prompt",
        "Response x judge",
        "Response x prompt",
        "Judge x prompt",
        "Rest",
    )
    columns = (
        text("Attribute"),
        *map(count, ("Judges", "Prompts", "Responses")),
        *map(number, parts),
    )
    return Section(
        "Several judges with the same prompts",
        "Variance of the mean over runs, prompts crossed with judges. A large part of the prompt "
        "says that every judge follows the wording; one of judge x prompt, each its own way.",
        (Table(columns, tuple(rows)),),
    )
