"""`tune`: choose a better judge by labels, and say by how much it is better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, not_there
from voirdire.schema import Finding
from voirdire.stats import chosen_gain
from voirdire.stats.tuning import outlook
from voirdire.study import load_study
from voirdire_plugins.tune.asking import Asking
from voirdire_plugins.tune.candidates import Scored, forms, mean_run, read_candidates
from voirdire_plugins.tune.climbing import climb_price, climbed
from voirdire_plugins.tune.curves import CHANGE, write_curve
from voirdire_plugins.tune.goals import check_gate, goal_of, rates
from voirdire_plugins.tune.juries import jury_specs, members_of
from voirdire_plugins.tune.looks import looked_before, remember
from voirdire_plugins.tune.measuring import (
    Drawn,
    Foretold,
    OldAndNew,
    draw,
    measure_drawn,
    stock,
    unlabelled,
    what_in,
)
from voirdire_plugins.tune.moved import write_look
from voirdire_plugins.tune.outputs import write_judge, write_people
from voirdire_plugins.tune.racing import raced
from voirdire_plugins.tune.results import Decision, Moved, Tuned, Way
from voirdire_plugins.tune.shots import set_aside, shown_by
from voirdire_plugins.tune.subjects import subject_of
from voirdire_plugins.tune.units import (
    barred,
    decided,
    of_known,
    of_others,
    people_agree,
    read_units,
    with_labels,
)
from voirdire_plugins.tune.work import Choice, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.schema import Scale
    from voirdire.stats import Estimate
    from voirdire.study import Rater, Study
    from voirdire_plugins.tune.subjects import Subject
    from voirdire_plugins.tune.units import Units

    Floats = NDArray[np.float64]

#: What labels of units that differ should show: three points in a hundred.
AIM = 0.03
#: Folds without each of which an optimizer or a race is run again.
FOLDS = 5


def tune(  # noqa: PLR0913 - each is a choice of the caller
    study: str | Path,
    judge: str,
    *,
    use: str,
    out: str | Path,
    labels: Sequence[str | Path] = (),
    reference: Sequence[str] = (),
    candidates: Sequence[str | Path] = (),
    ask_forms: bool = False,
    ask_all: bool = False,
    shots: Sequence[int] = (),
    shots_options: Mapping[str, Any] | None = None,
    optimizer: str = "",
    optimizer_options: Mapping[str, Any] | None = None,
    steps: int = 400,
    folds: int = FOLDS,
    race: bool = False,
    attributes: Sequence[str] = (),
    max_cost: float | None = None,
    max_calls: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    differ: int = 0,
    measure: Sequence[str | Path] = (),
    quiet: bool = True,
    say: Callable[[str], object] = lambda _: None,
) -> Tuned:
    """Make a judge better by people's labels, and measure by how much on labels that chose nothing.

    Parameters
    ----------
    study : path
        A study with items and responses.
    judge : str
        The member of its panel that is tuned.
    use : {"single", "gate", "filter", "pick", "worth"}
        What it is wanted for, which says what is measured (see `goals`).
    out : path
        The folder: the session lies in it. The same call goes on in it.
    labels : sequence of path
        Files of people's ratings, beside the study's own sources.
    reference : sequence of str
        Who of their raters is a person, where the study does not say it.
    candidates : sequence of path
        Files of candidates (`candidates.read_candidates`).
    ask_forms : bool
        Whether the question is also asked in other forms (`candidates.forms`).
    ask_all : bool
        Candidates are asked also where what costs no call is shown to be better by itself.
    shots, shots_options
        Numbers of examples: each makes a candidate that is shown so many labelled responses, chosen
        by the retriever out of a third of the labels, which measures nothing. The options are those
        of the retriever, such as `embedder`.
    optimizer, optimizer_options, steps
        A registered optimizer, its options, and how many judgements it may ask for each time that
        it is run.
    folds : int
        The optimizer (or the race) sees all labels, and is run again without each of so many folds,
        which measures what was found without it. 0: an optimizer sees one half of the labels, and
        the other half measures, at a sixth of the price.
    race : bool
        Candidates that are shown to be worse are asked no further.
    attributes : sequence of str
        Those that count; all by default.
    max_cost, max_calls : optional
        Limits on the whole session.
    differ : int
        Have old and new judge all responses, and draw so many of those on which they differ.
    measure : sequence of path
        People's ratings of what was drawn.
    say : callable
        Is told what will be asked, and what it costs, before it is.

    Raises
    ------
    InputError
        People do not agree, too few labels, a file or name that is not there: nobody was asked.
    UnfinishedError
        A limit or an interruption; what came is kept.
    """
    goal, folder = goal_of(use), Path(out)
    declared = load_study(study)
    member = declared.rater(judge)
    if member is None or not (member.model_names or member.is_jury):
        asked = [one.name for one in declared.panel if one.model_names or one.is_jury]
        raise not_there("judge", judge, asked, "judges of the study that ask a model")
    members = members_of(member, declared) if member.is_jury else (member,)
    if member.is_jury and (candidates or ask_forms or shots or optimizer):
        raise InputError(
            f"{judge} is a jury, which asks nobody: tune its members, each by its name"
        )
    subject, known = subject_of(members[0], declared)
    if use not in subject.uses:
        raise InputError(
            f"{judge} judges {subject.name}: it is tuned --for {' or '.join(subject.uses)}"
        )
    labelled = with_labels(declared, labels, reference)
    asking = Asking.of(Path(study), labelled, subject, folder, max_cost, max_calls, quiet=quiet)
    units, left = _labelled(asking, attributes, use, known, judge)
    at = None if declared.gate is None or known else declared.gate.at
    marks = check_gate(at, use, *_ends(declared, subject))
    other, unasked = forms(member, declared) if ask_forms else ((), ())
    more = read_candidates(member, candidates, declared.folder) + other
    # A jury's members are left out one by one.
    tried = () if member.is_jury else (member, *more)
    asking.barred = tuple(barred(tried, declared))
    units, kin = of_others(units, tried, declared)
    findings = (*left, *unasked, *kin, *people_agree(units, level), *looked_before(units, asking))
    if shots:
        pool, units = set_aside(units, seed)
        scale = _scale(declared) if subject.name == "responses" else None
        taught, aside = shown_by(member, shots, pool, asking, scale, shots_options or {})
        more, findings = more + taught, (*findings, aside)
    if race and (optimizer or not more):
        raise InputError("--race is for --candidates, --forms and --shots: none is given")
    if optimizer and more:
        raise InputError("give candidates or an optimizer: each is measured in its own way")
    work = Work(member, goal, units, marks, asking, findings, seed, level)
    if optimizer:
        say(climb_price(work, optimizer, steps, folds))
        choice = climbed(work, optimizer, optimizer_options or {}, steps, folds)
    else:
        say(_plan(asking, (*members, *more), units))
        choice = _cheapest(work, members, more, ask_all=ask_all, race=folds if race else 0)
    tuned = write_judge(_told(work, choice), labelled, asking, units.responses, choice.panel)
    tuned = _with_curve(tuned, work, choice)
    tuned = write_look(tuned, units, asking, choice.scored[0], choice.scored[choice.chosen])
    remember(units, asking, len(tuned.ways), tuned.after.name)
    if not differ and not measure:
        return tuned
    # By themselves: the labels that chose may be in other words, and are of other responses.
    alone = declared.model_copy(update={"data": declared.data.model_copy(update={"sources": ()})})
    files = with_labels(alone, measure, tuned.people) if measure else None
    return replace(tuned, drawn=_drawn(work, tuned, differ, files, say))


def _labelled(
    asking: Asking, attributes: Sequence[str], use: str, known: Sequence[str], judge: str
) -> tuple[Units, tuple[Finding, ...]]:
    """The units that people labelled and that can be judged; what they labelled is noted."""
    units, unknown = of_known(
        read_units(asking.study, attributes, use, asking.subject), known, judge
    )
    units, left = asking.with_text(units)
    asking.labelled = frozenset(units.systems)
    units = decided(units) if use == "pick" else units
    asking.said = units.said() if asking.subject.name == "items" else None
    return units, (*unknown, *left)


def _with_curve(tuned: Tuned, work: Work, choice: Choice) -> Tuned:
    """With the file of the curve, where one was chosen."""
    if choice.scored[choice.chosen].change != CHANGE:
        return tuned
    asked = next(one for one in choice.scored if one.name == tuned.spec.name)
    path = write_curve(asked, work.units, work.asking.out)
    return replace(tuned, files={**tuned.files, "curve": path})


def _ends(study: Study, subject: Subject) -> tuple[float, float]:
    """Of the scores: labels are 0 or 1, and a comparison goes from -2 to 2."""
    if subject.name != "responses":
        return (0.0, 1.0) if subject.name == "items" else (-2.0, 2.0)
    scale = _scale(study)
    return scale.low, scale.high


def _scale(study: Study) -> Scale:
    from voirdire import plugins  # noqa: PLC0415 - a named rubric may be a plugin's
    from voirdire.store.raters import read_rubric  # noqa: PLC0415 - loads the store

    return read_rubric(study, plugins()).scale


def _listed(work: Work, panel: Sequence[Rater]) -> Choice:
    """A fixed list is judged once on all labels, and folds are arithmetic."""
    units = work.units
    ratings = work.asking.ask(panel, units.responses)
    if work.member.is_jury:
        panel = jury_specs(work.member, panel)
    scored = work.scored(panel, units, ratings)
    goodness = work.goodness(scored)
    found = chosen_gain(goodness, clusters=units.cluster, level=work.level, seed=work.seed)
    return Choice(
        panel,
        scored,
        goodness,
        found.chosen,
        found.shares.tolist(),
        found.gain,
        found.claimed,
        len(units),
    )


def _cheapest(
    work: Work, members: Sequence[Rater], more: Sequence[Rater], *, ask_all: bool, race: int
) -> Choice:
    """What costs no call first; candidates where that is not shown to suffice.

    With `race` so many folds have a race of their own.
    """
    choice = _listed(work, members)
    if not more:
        return choice
    if choice.chosen and choice.gain.bounds[0] > 0 and not ask_all:
        return replace(choice, findings=(_not_asked(more, work),))
    if race:
        return raced(work, (*members, *more), race)
    return _listed(work, (*members, *more))


def _not_asked(more: Sequence[Rater], work: Work) -> Finding:
    """That candidates were not needed, and how they are asked all the same."""
    names = tuple(one.name for one in more)
    return Finding(
        "candidates_not_asked",
        "note",
        work.member.name,
        len(more),
        names,
        f"{len(more)} candidates were not asked: a gain that costs no call is shown.",
        "--all asks them.",
    )


def _plan(asking: Asking, panel: Sequence[Rater], units: Units) -> str:
    """What will be asked, and what it costs, before anybody is."""
    plan = asking.price(panel, units.responses)
    costs = [one.cost for one in plan]
    known = [cost for cost in costs if cost is not None]
    cost = f"{sum(known):.4f}" if len(known) == len(costs) else "unknown"
    what = "responses" if asking.subject.name == "pairs" else asking.subject.name
    return (
        f"{len(panel)} judges on {len(units.responses):,} {what}: "
        f"{sum(one.calls for one in plan):,} calls, {sum(one.on_file for one in plan):,} on file, "
        f"cost {cost}."
    )


def _drawn(
    work: Work, tuned: Tuned, differ: int, labels: Study | None, say: Callable[[str], object]
) -> Drawn:
    """Responses nobody has labelled on which old and chosen judge differ; or their labels."""
    member, asking = work.member, work.asking
    if not tuned.chosen:
        raise InputError(f"nothing is better than {member.name} on these labels: label others")
    panel: tuple[Rater, ...] = (member, tuned.spec)
    panel = panel[:1] if tuned.spec.name == member.name else panel
    if member.is_jury:
        panel = members_of(member, asking.study)
    attributes = work.units.keys["attribute"].unique(maintain_order=True).to_list()
    rest = stock(asking, work.units)
    say(_plan(asking, panel, rest))
    # With the labelled ones, which are on file: weights and curves are taught by these.
    ratings = asking.ask(panel, rest.responses | work.units.responses)

    def both(units: Units) -> OldAndNew:
        ways = jury_specs(member, panel) if member.is_jury else panel
        made = work.scored(ways, work.units.beside(units), ratings)
        new = next(one for one in made if one.name == tuned.chosen)
        return _pair(made[0], new, work, slice(len(work.units), None))

    if labels is None:
        as_pairs = asking.subject.name == "pairs"
        made = draw(both(rest), rest, differ, work.seed, asking.out, as_pairs=as_pairs)
        known = subject_of(panel[0], asking.study)[1]
        people = write_people(asking.study, asking, work.units.people, attributes, known)
        return replace(made, people=people)
    return measure_drawn(
        read_units(labels, (), tuned.use, asking.subject),
        both,
        asking.out,
        work.level,
    )


def _pair(old: Scored, new: Scored, work: Work, part: slice) -> OldAndNew:
    """Two judges whose scores begin with those of the labelled units, on some of their units."""
    labelled, lines = slice(len(work.units)), None
    if work.goal.use == "worth":
        first, second = (
            Foretold.through(mean_run(one.runs[:, labelled]), work.units.humans, work.marks)
            for one in (old, new)
        )
        lines = (first, second)
    old, new = (replace(one, runs=one.runs[:, part]) for one in (old, new))
    return OldAndNew(old, new, work.goal.use, work.marks, lines)


def _told(work: Work, choice: Choice) -> Tuned:
    member, scored, gain = work.member, choice.scored, choice.gain
    ways = tuple(
        Way(
            one.name,
            one.change,
            float(row.mean()),
            share,
            one.calls,
            _price(work.asking, one),
            work.asking.unread.get(one.rater, 0),
        )
        for one, row, share in zip(scored, choice.goodness, choice.shares, strict=True)
    )
    old, new = scored[0], scored[choice.chosen]
    pair = _pair(old, new, work, slice(None))
    differ: NDArray[np.bool_] = np.asarray(pair.away > 0)
    rest = len(unlabelled(work.asking, work.units))
    left = round(float(differ.mean()) * rest)
    better, worst = outlook(gain)
    decision = decided_by(gain, better) if choice.chosen else "keep"
    at_gate = {}
    if work.goal.use == "gate":
        humans = work.units.humans
        at_gate = {
            "before": rates(old.runs, humans, work.marks),
            "after": rates(new.runs, humans, work.marks),
        }
    spec = next(one for one in choice.panel if one.name == new.rater)
    return Tuned(
        member.name,
        work.goal.use,
        work.asking.subject.measure(work.goal),
        len(work.units),
        work.units.people,
        choice.measured_on,
        ways,
        new.name if choice.chosen else "",
        gain,
        choice.claimed,
        better,
        worst,
        float(differ.mean()),
        pair.to_show(AIM, work.units.humans, left),
        rest,
        what_in(work.units),
        decision,
        ways[0],
        ways[choice.chosen],
        at_gate,
        _moved(old, new, choice.goodness[choice.chosen] - choice.goodness[0], work.units, differ),
        _diff(member, spec),
        spec,
        (*work.findings, *choice.findings, *work.unread()),
    )


def decided_by(gain: Estimate, better: float) -> Decision:
    """Adopt what is shown to be better; keep the judge where that is less probable than not.

    Between the two it is for whoever pays: keep, adopt, or label where they differ.
    """
    if gain.bounds[0] > 0:
        return "adopt"
    return "keep" if better < 0.5 else "label"


def _price(asking: Asking, one: Scored) -> float | None:
    each = asking.used.get(one.rater, (0, None))[1]
    return None if each is None else 1000 * each * one.calls


def _moved(
    old: Scored, new: Scored, gains: Floats, units: Units, differ: NDArray[np.bool_]
) -> tuple[Moved, ...]:
    before, after = mean_run(old.runs), mean_run(new.runs)
    people = np.nanmean(units.humans, axis=1)
    rows = units.keys.rows(named=True)
    at = [int(one) for one in np.argsort(gains, kind="stable") if differ[one]]
    return tuple(
        Moved(
            rows[i]["item"],
            rows[i]["system"],
            rows[i]["attribute"],
            float(before[i]),
            float(after[i]),
            float(people[i]),
            float(gains[i]),
        )
        for i in at
    )


def _diff(old: Rater, new: Rater) -> str:
    """What a candidate's entry of the panel says otherwise."""
    import difflib  # noqa: PLC0415 - only here

    lines = difflib.unified_diff(_lines(old), _lines(new), old.name, new.name, lineterm="")
    return "\n".join(lines)


def _lines(rater: Rater) -> list[str]:
    given = rater.model_dump(exclude_unset=True)
    lines = []
    for key, value in given.items():
        if key == "name":
            continue
        if isinstance(value, dict):
            for name, own in value.items():
                lines += [f"{key}.{name}:", *(f"  {line}" for line in str(own).splitlines())]
        else:
            lines.append(f"{key}: {value}")
    return lines
