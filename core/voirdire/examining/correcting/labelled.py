"""Judge scores and human labels of the same responses, side by side, and how labels were chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from voirdire.errors import InputError, listed, not_there
from voirdire.examining.as_ratings import inputs_of_labels, inputs_of_wins, one_of_labels
from voirdire.examining.correcting.fresh import judged_in, used_before, without_examples
from voirdire.examining.ratings.cube import build_cube
from voirdire.examining.source import inputs_of, open_source
from voirdire.examining.verdict.gathering import by_response, clusters_of, names_by_response
from voirdire.schema import Finding, Scale
from voirdire.stats import adjust_p, drawn_at_random
from voirdire.stats.response_panel import mean_present
from voirdire.study import ReadOptions
from voirdire.tables import read_queue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.ratings.cube import Cube
    from voirdire.examining.sources import AnySource, Opened

    Floats = NDArray[np.float64]

#: Holm-adjusted p of a difference between labelled and other responses: refused, and reported.
_REFUSED, _REPORTED = 0.001, 0.05


@dataclass(frozen=True, slots=True)
class LabelledResponses:
    """One row a response, one column an attribute.

    Attributes
    ----------
    attributes, judges, systems : tuple of str
        `systems` holds one empty name where responses have none.
    human : (A, N) float64
        Mean of the reference raters that answered; NaN where none did.
    judge : (J, A, N) float64
        NaN where the judge gave no score; the mean of its runs.
    item, system : (N,) int
        Positions; items are counted from 0.
    group : (N,) of str
        What numbers are given by: the system, or the value of another column.
    cluster : (N,) int or None
        Declared clusters.
    probability : (N,) float64 or None
        With which a response was chosen to be labelled, where known and not all equal.
    findings : tuple of Finding
        What must be known of how the labels were chosen.
    wins : bool
        Whether these are comparisons: a score is then the share that prefers the system, or the
        first of the pair that `systems` name as "A over B".
    gate : float or None
        Where scores are passes: those at or above it are 1, the others 0.
    shares : bool
        Whether each attribute is a label, or the probability of one: its mean is a share.
    question : str
        Where each attribute is one label of a question: what is asked; empty otherwise.
    """

    inputs: Inputs
    attributes: tuple[str, ...]
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    human: Floats
    judge: Floats
    item: NDArray[np.intp]
    system: NDArray[np.intp]
    group: NDArray[np.str_]
    cluster: NDArray[np.intp] | None
    probability: Floats | None
    findings: tuple[Finding, ...]
    wins: bool = False
    gate: float | None = None
    shares: bool = False
    question: str = ""

    def as_codes(self) -> LabelledResponses:
        """One attribute in place of one a label: codes of the label that most people give.

        Where people are divided evenly there is no label.
        """

        def coded(indicators: Floats) -> Floats:
            filled = np.nan_to_num(indicators, nan=-1.0)
            most = filled.max(axis=-2)
            sure = (filled >= most[..., None, :] - 1e-9).sum(axis=-2) == 1
            return np.where(sure & (most > 0), filled.argmax(axis=-2), np.nan)[..., None, :]

        labels = Scale(0.0, float(max(len(self.attributes) - 1, 1)), 1.0)
        panel = replace(self.inputs.panel, scale=labels)
        return replace(
            self, inputs=replace(self.inputs, panel=panel), attributes=(self.question,),
            human=coded(self.human), judge=coded(self.judge),
        )  # fmt: skip

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the scale; of passes 0 and 1."""
        scale = self.inputs.panel.scale
        return (scale.low, scale.high) if self.gate is None else (0.0, 1.0)

    @property
    def method(self) -> Literal["t", "strata"]:
        """How means are corrected: rates of two values rest on few failures, others do not.

        People may pass and fail what a judge gives a probability of passing.
        """
        scale = self.inputs.panel.scale
        two = not scale.continuous and scale.count == 2
        if (scale.low, scale.high) == (0.0, 1.0):
            two = two or bool((np.isnan(self.human) | np.isin(self.human, (0.0, 1.0))).all())
        return "strata" if (two and not self.wins) or self.gate is not None else "t"

    def at_gate(self, gate: float) -> LabelledResponses:
        """Passes in place of scores, of people and judges alike.

        A mean of several people (or runs) counts as it stands: below the gate it fails.

        Raises
        ------
        InputError
            The gate lies where every score passes, or none does.
        """
        scale = self.inputs.panel.scale
        if not scale.low < gate <= scale.high:
            raise InputError(
                f"--gate {gate:g}: scores lie on {scale.low:g} to {scale.high:g}, and a gate lies "
                f"above {scale.low:g} and at {scale.high:g} or below"
            )

        def passes(scores: Floats) -> Floats:
            return np.where(np.isnan(scores), np.nan, (scores >= gate).astype(float))

        return replace(self, human=passes(self.human), judge=passes(self.judge), gate=gate)

    @property
    def overall_cluster(self) -> NDArray[np.intp] | None:
        """Clusters where all groups are taken together: the item, where several answer it."""
        if self.cluster is not None:
            return self.cluster
        return self.item if len(np.unique(self.item)) < len(self.item) else None


def read_labelled(  # noqa: PLR0913 - what may be said of labels
    source: AnySource,
    *,
    reference: Sequence[str] = (),
    judges: Sequence[str] = (),
    by: str = "system",
    read: ReadOptions | None = None,
    leave_out: bool = False,
    drawn: str | Path | None = None,
    examples: str | Path | None = None,
    within: bool = False,
) -> LabelledResponses:
    """Read a source, and check that its labels may stand for all responses.

    Parameters
    ----------
    source, reference, read
        As in `voirdire.examine`.
    judges : sequence of str
        Leave out all judges but these.
    by : str
        ``"system"``, or a column of the file.
    leave_out : bool
        Whether labels of origin ``chosen`` are left out, in place of an error.
    drawn : path, optional
        The list that labels were drawn by (`voirdire.examining.planning.LabelDraw`), which states
        the probability of labels where the data do not.
    examples : path, optional
        A file whose columns `item` and (where there are any) `system` name what a judge was shown
        as examples; in a session these are found in its prompts.
    within : bool
        Whether labels were drawn within each group of `by`, and not from all responses: whether the
        judge sees them otherwise than the rest is then looked at within groups.

    Raises
    ------
    InputError
        No human, no judge, no such column; labels that were chosen and not drawn, without
        probabilities; labelled responses whose judge scores differ from those of the others.
    """
    return read_parts(
        source, reference=reference, judges=judges, by=by, read=read, leave_out=leave_out,
        drawn=drawn, examples=examples, within=within,
    )[0]  # fmt: skip


def read_parts(  # noqa: PLR0913 - as read_labelled
    source: AnySource,
    *,
    reference: Sequence[str] = (),
    judges: Sequence[str] = (),
    by: str = "system",
    read: ReadOptions | None = None,
    leave_out: bool = False,
    drawn: str | Path | None = None,
    examples: str | Path | None = None,
    within: bool = False,
) -> tuple[LabelledResponses, ...]:
    """The ratings of a source, then its comparisons by pair and by system, as `read_labelled`.

    Raises
    ------
    InputError
        As `read_labelled`; a column to group or cluster comparisons by.
    """
    # A column to group by is read as the subgroup: one name a response, which readers know how to
    # check.
    read = read or ReadOptions()
    if by != "system":
        read = read.with_(subgroup=by)
    opened = open_source(
        source,
        reference=reference,
        changes={"data": {"reference": tuple(reference) or None}},
        read=read,
    )
    parts = []
    scored = opened.tables is not None
    if scored and (opened.preferences is None or _rates(opened, reference)):
        rated = [inputs_of(opened)]
    else:
        rated = list(inputs_of_labels(opened, reference))
    asked_in = judged_in(opened.session, opened.study)
    for inputs in rated:
        own = inputs if drawn is None else _with_probabilities(inputs, drawn)
        own, shown = without_examples(own, _judges(own, judges), examples, asked_in)
        part = _labelled(own, judges, by, leave_out=leave_out, within=within)
        asked = one_of_labels(opened, part.attributes)
        found = (*shown, *part.findings)
        part = replace(part, shares=not scored, question=asked, findings=found)
        parts.append(replace(part, findings=(*part.findings, *used_before(part))))
    if not parts and (by != "system" or read.cluster):
        raise InputError(
            "comparisons are given by pair and by system, and items are their clusters: --by and "
            "--cluster are for ratings (a column called cluster is taken)"
        )
    if opened.preferences is not None and (not parts or _compares(opened, reference)):
        parts += [
            replace(_labelled(part, judges, "system", leave_out=leave_out), wins=True)
            for part in inputs_of_wins(opened, reference)
        ]
    if not parts:
        raise InputError("the source holds neither ratings nor labels nor comparisons")
    return tuple(
        replace(part, findings=(*part.findings, *used_before(part)))
        for part in (_of_files(part, opened) for part in parts)
    )


def _of_files(data: LabelledResponses, opened: Opened) -> LabelledResponses:
    """The same with the files that the source is: what numbers were made of names none."""
    study, given = data.inputs.study, opened.study
    named = study.data.model_copy(update={"sources": given.data.sources})
    study = study.model_copy(update={"data": named, "folder": given.folder})
    return replace(data, inputs=replace(data.inputs, study=study))


def _rates(opened: Opened, reference: Sequence[str]) -> bool:
    """Whether a human has ratings, and not comparisons alone."""
    names = tuple(reference) or opened.study.data.reference
    rated = () if opened.tables is None else opened.tables.ratings["rater"].cast(pl.String)
    return not names or bool(set(names) & set(rated))


def _compares(opened: Opened, reference: Sequence[str]) -> bool:
    names = tuple(reference) or opened.study.data.reference
    compared = () if opened.preferences is None else opened.preferences.table["rater"]
    return bool(names) and set(names) <= set(compared)


def _labelled(
    inputs: Inputs, judges: Sequence[str], by: str, *, leave_out: bool, within: bool = False
) -> LabelledResponses:
    """One row a response; its labels checked."""
    inputs, left = _without_chosen(inputs) if leave_out else (inputs, ())
    panel = inputs.panel
    names = _judges(inputs, judges)
    cube = build_cube(inputs.ratings, panel.names, panel.attributes, panel.systems)
    at = [cube.raters.index(name) for name in panel.reference]
    human = mean_present(cube.scores[at])
    judge = cube.scores[[cube.raters.index(name) for name in names]]
    groups = np.array(cube.systems)[cube.system]
    if by != "system":
        named = names_by_response(inputs.ratings, cube, "subgroup")
        groups = np.full(len(groups), "") if named is None else named
    clusters = clusters_of(inputs.ratings, cube)
    weights, odd = _chosen(inputs, cube, np.asarray(~np.isnan(human).all(0)))
    data = LabelledResponses(
        inputs, cube.attributes, names, cube.systems, cube.items, human, judge, cube.item,
        cube.system, groups.astype(str),
        None if clusters is None else np.unique(clusters, return_inverse=True)[1],
        weights, (*left, *inputs.findings, *odd),
    )  # fmt: skip
    if weights is not None:
        return data
    return _checked(_without_labels(_without_second_labels(data)), within=within)


def _without_chosen(inputs: Inputs) -> tuple[Inputs, tuple[Finding, ...]]:
    """The same without human labels of responses that somebody picked, and how many these are."""
    ratings = inputs.ratings
    if "origin" not in ratings.columns:
        return inputs, ()
    human = pl.col("rater").cast(pl.String).is_in(list(inputs.panel.reference))
    chosen = human & (pl.col("origin").cast(pl.String) == "chosen").fill_null(value=False)
    count = ratings.filter(chosen).height
    if not count:
        return inputs, ()
    finding = Finding(
        "chosen_left_out", "note", "", count, (),
        f"{count} human {'label' if count == 1 else 'labels'} of responses that somebody picked "
        f"{'is' if count == 1 else 'are'} left out.",
        "The corrected numbers rest on the other labels.",
    )  # fmt: skip
    return replace(inputs, ratings=ratings.filter(~chosen)), (finding,)


def _with_probabilities(inputs: Inputs, drawn: str | Path) -> Inputs:
    """The same with the probabilities that a list states, where the ratings state none."""
    queue = read_queue(drawn)
    if queue.origin == "chosen":
        raise InputError(
            f"{drawn}: its origin is 'chosen': some responses could not be drawn, so that these "
            "labels cannot stand for them"
        )
    if queue.pairs:
        raise InputError(f"{drawn}: it names pairs, and these labels are of single responses")
    ratings = inputs.ratings
    facts = pl.DataFrame(
        [(*named, chance) for named, chance in queue.probability.items()],
        schema={"item": pl.String, "system": pl.String, "of_list": pl.Float64}, orient="row",
    )  # fmt: skip
    own = pl.lit(None, pl.Float64)
    if "label_probability" in ratings.columns:
        own = pl.col("label_probability").cast(pl.Float64)
    keys = ratings.select(
        pl.col("item").cast(pl.String), pl.col("system").cast(pl.String).fill_null("")
    )
    found = keys.join(facts, on=["item", "system"], how="left", maintain_order="left")["of_list"]
    return replace(inputs, ratings=ratings.with_columns(label_probability=pl.coalesce(own, found)))


def _judges(inputs: Inputs, wanted: Sequence[str]) -> tuple[str, ...]:
    panel = inputs.panel
    if not panel.reference:
        raise InputError(
            "no human labels: say by --reference NAME which rater is human "
            f"(raters: {', '.join(panel.names) or 'none'})"
        )
    names = tuple(member.name for member in panel.judges)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise not_there("judge", unknown[0], names)
    if not names:
        raise InputError(f"there is no judge beside {', '.join(panel.reference)}")
    return tuple(name for name in names if name in wanted) if wanted else names


def _chosen(
    inputs: Inputs, cube: Cube, labelled: NDArray[np.bool_]
) -> tuple[Floats | None, tuple[Finding, ...]]:
    """Probabilities of the labels where they are known, and what is not known of them."""
    probability = by_response(inputs.ratings, cube, "label_probability")
    if probability is not None:
        chances = probability.cast(pl.Float64).to_numpy()
        if np.isnan(chances[labelled]).any():
            missing = int(np.isnan(chances[labelled]).sum())
            raise InputError(
                f"label_probability is missing for {missing} of {int(labelled.sum())} labelled "
                "responses: give it for each or for none, or name by --drawn the list that they "
                "were drawn by"
            )
        # Equal probabilities weigh nothing: the plain formulas are exact then, and checks of the
        # draw apply.
        same = np.ptp(chances[labelled]) == 0 if labelled.any() else True
        return (None if same else chances), ()
    origins = names_by_response(inputs.ratings, cube, "origin")
    names = [] if origins is None else [name for name in origins[labelled].tolist() if name]
    if "chosen" in names:
        count = names.count("chosen")
        raise InputError(
            f"{count} labels are of origin 'chosen': somebody picked these responses, so they "
            "cannot stand for the others. Leave them out (--leave-out-chosen), label responses "
            "drawn at random, or give the probability of each in a column label_probability"
        )
    if set(names) == {"random"}:
        return None, ()
    return None, (
        Finding(
            "label_origin_unknown", "note", "", int(labelled.sum()), (),
            "The data do not say how the labelled responses were chosen.",
            "They are taken as a random part of all responses; a column origin says so.",
        ),
    )  # fmt: skip


def _without_labels(data: LabelledResponses) -> LabelledResponses:
    """The same with a finding where a system has no label, and others have."""
    # On any attribute: a system whose labels are of another attribute has been looked at.
    labelled = np.asarray((~np.isnan(data.human)).any(0))
    bare = tuple(
        name for s, name in enumerate(data.systems) if not labelled[data.system == s].any()
    )
    if not bare or len(bare) == len(data.systems):
        return data
    finding = Finding(
        "system_without_labels", "serious", "", len(bare), bare[:20],
        f"No response of {listed(bare)} has a label.",
        "Numbers over all systems take the labels of the others for these too: label some of each, "
        "or leave these systems out.",
    )  # fmt: skip
    return replace(data, findings=(finding, *data.findings))


def _without_second_labels(data: LabelledResponses) -> LabelledResponses:
    """The same without raters who scored little but what is labelled, such as a second human.

    Where a judge has no score, its mean stands in. That is fair where scores are missing by chance;
    of a rater who was only asked beside the labels it would make hundreds of scores out of none.

    Raises
    ------
    InputError
        No other judge is left.
    """
    labelled = ~np.isnan(data.human)
    scored = ~np.isnan(data.judge)
    inside = (scored & labelled).sum(2) / np.maximum(labelled.sum(1), 1)
    outside = (scored & ~labelled).sum(2) / np.maximum((~labelled).sum(1), 1)
    # Half as often outside as inside: a judge that fails on some responses fails on both alike.
    beside = (outside < inside / 2) & (~labelled).any(1)
    kept = [j for j in range(len(data.judges)) if not beside[j].any()]
    if len(kept) == len(data.judges):
        return data
    names = [name for j, name in enumerate(data.judges) if j not in kept]
    sentence = f"{listed(names)} scored the labelled responses, and hardly any of the others"
    if not kept:
        raise InputError(f"{sentence}: there is nothing that its scores could add to the labels")
    finding = Finding(
        "judge_beside_labels", "serious", "", len(names), tuple(names[:20]),
        f"{sentence}: left out as a judge.",
        "A second human is no judge of what nobody labelled: name it by --reference to use its "
        "labels too.",
    )  # fmt: skip
    judges = tuple(data.judges[j] for j in kept)
    return replace(data, judges=judges, judge=data.judge[kept], findings=(finding, *data.findings))


def _checked(data: LabelledResponses, *, within: bool = False) -> LabelledResponses:
    """The same with a finding where the judges see labelled responses otherwise than the rest.

    Raises
    ------
    InputError
        They differ beyond doubt.
    """
    tests = [
        (
            judge,
            attribute,
            *_difference(
                _centred(data.judge[j, a], data.group) if within else data.judge[j, a],
                ~np.isnan(data.human[a]),
                data.overall_cluster,
            ),
        )
        for j, judge in enumerate(data.judges)
        for a, attribute in enumerate(data.attributes)
    ]
    # Many judges and attributes are looked at: one of them differs by chance sooner or later.
    adjusted = adjust_p([test[3] for test in tests], "holm")
    worst = [
        (judge, attribute, apart, p)
        for (judge, attribute, apart, _), p in zip(tests, adjusted, strict=True)
        if p < _REPORTED
    ]
    if not worst:
        return data
    judge, attribute, apart, p = min(worst, key=lambda test: test[3])
    sentence = (
        f"{judge} scores the labelled responses {abs(apart):.2f} points "
        f"{'higher' if apart > 0 else 'lower'} than the others on {attribute} (p = {p:.2g} after "
        "Holm's correction): they were not drawn at random"
    )
    if p < _REFUSED:
        raise InputError(
            f"{sentence}. Label responses drawn at random, or give the probability of each in a "
            "column label_probability"
        )
    finding = Finding(
        "labels_differ", "serious", judge, len(worst),
        tuple(f"{one[0]}, {one[1]}" for one in worst[:20]), f"{sentence}, or by bad luck.",
        "The corrected numbers rest on the labels being a random part of the responses.",
    )  # fmt: skip
    return replace(data, findings=(finding, *data.findings))


def _centred(scores: Floats, group: NDArray[np.str_]) -> Floats:
    """Scores less the mean of their group."""
    places = np.unique(group, return_inverse=True)[1]
    scored = ~np.isnan(scores)
    counts = np.bincount(places[scored], minlength=places.max(initial=-1) + 1)
    sums = np.bincount(places[scored], weights=scores[scored], minlength=len(counts))
    return np.asarray(scores - (sums / np.maximum(counts, 1))[places])


def _difference(
    scores: Floats, labelled: NDArray[np.bool_], cluster: NDArray[np.intp] | None
) -> tuple[float, float]:
    """Mean of the labelled less that of the others, and how rarely a random draw differs as much.

    Labels drawn at random are a sample without replacement of what was scored. Welch's t takes the
    spread from each side by itself, and accuses where one side happens to hold no failure.
    """
    scored = ~np.isnan(scores)
    parts = []
    for side in (labelled, ~labelled):
        values = scores[side & scored]
        if cluster is not None and len(values):
            # Means by cluster, since responses of one cluster are alike and would make any
            # difference look sure.
            rows = np.unique(cluster[side & scored], return_inverse=True)[1]
            values = np.bincount(rows, weights=values) / np.bincount(rows)
        parts.append(values)
    # One value on a side has no spread to test by; all equal is no difference.
    if min(map(len, parts)) < 2 or np.ptp(np.concatenate(parts)) == 0:
        return 0.0, 1.0
    return float(parts[0].mean() - parts[1].mean()), drawn_at_random(*parts)
