"""`voirdire demo`: judges of known quality, examined as if they were real; then real ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from voirdire.cli.machine import COLLECTED, emit

if TYPE_CHECKING:
    from rich.console import Console

    from voirdire.examining import Examination
    from voirdire.examining.simulate import SimulatedPanel

EPILOG = """
Examples:

  voirdire demo

  voirdire demo --out demo --seed 7

  voirdire demo --kind label
"""
STUDY = """\
# Simulated by `voirdire demo`: no model and no human rated anything here.
name = "demo"
title = "Seven simulated judges against three simulated humans"
scope = "Simulated ratings of no text at all."
uses = ["order", "score", "single", "gate"]

[data]
reference = ["human-1", "human-2", "human-3"]
sources = [{ path = "ratings.csv", layout = "long", subgroup = "subgroup" }]

[gate]
at = 4

[rubric]
name = "demo"
scale = [1, 5]
attributes = ["Helpfulness"]
"""
#: The study of another kind, and what people (judges) are called in it.
OF_A_KIND = """\
# Simulated by `voirdire demo`: no model and no human judged anything here.
name = "demo"
title = "Simulated judges against three simulated humans"
scope = "Simulated judgements of no text at all."

[data]
reference = ["human 1", "human 2", "human 3"]
sources = [{{ path = "judgements.csv", kind = "{kind}"{more} }}]
"""
#: How the truth of a use is said.
TRUTH = {True: "deserves", False: "must not", None: "close call"}
#: So many items as a study has, and so many that a judge's true use is known without sampling.
SYSTEMS, ITEMS, ENDLESS = 10, 200, 4000


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog=EPILOG)(demo)


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the data, the study and the report.")
    ] = Path("voirdire-demo"),
    seed: Annotated[int, typer.Option("--seed", help="The seed of the simulation.", min=0)] = 1,
    kind: Annotated[
        Literal["score", "label", "label set", "preference", "probability"],
        typer.Option("--kind", help="What the judges give."),
    ] = "score",
    no_figures: Annotated[
        bool, typer.Option("--no-figures", help="Leave out the figures.")
    ] = False,
) -> None:
    """Simulate judges of known quality, examine them, and compare the verdicts with the truth."""
    from voirdire.examining import examine
    from voirdire.examining.simulate import DEMO, simulate_panel
    from voirdire.report import FORMATS, print_examination, ready_folder, write_outputs

    _spare_others(ready_folder(out, FORMATS))
    from voirdire.shown import terminal

    console = terminal()
    console.print(
        "Everything in the first part is simulated: no model and no human rated anything. "
        "Judges are drawn with a known fault, or none; then voirdire examines what they say as "
        "it would any others, without being told. The second part is real.\n"
    )
    if kind == "score":
        panel = simulate_panel(SYSTEMS, ITEMS, seed, kinds=DEMO, endless=ENDLESS)
        _write_data(out, panel)
    else:
        _write_judgements(out, kind, seed)
    examination = examine(out / "study.toml")
    write_outputs(examination, out, figures=not no_figures)
    print_examination(examination, out, console, table=False)
    console.print()
    told = _truths(examination, panel) if kind == "score" else _truths_of(examination, kind)
    _print_truth(told, console)
    real = _real_labels(out, console)
    if COLLECTED.get() is not None:
        from voirdire.cli.steps import with_commands
        from voirdire.report.records import examination_record, finding_records
        from voirdire.report.summary import examination_answer

        record = {**examination_record(examination), "findings": finding_records(examination)}
        truth = [
            {"judge": one.judge, "use": one.use, "deserved": one.deserved, "state": one.state}
            for one in told
        ]
        more = {"truth": truth, "real": examination_answer(real)}
        emit(with_commands(examination_answer(examination)), {**record, **more})


def _real_labels(folder: Path, console: Console) -> Examination:
    """Labels that people and judges really gave, copied beside the rest; the first answer alone."""
    from shutil import copytree

    from voirdire.cli.pages import shipped
    from voirdire.examining import examine
    from voirdire.report import print_first

    real = folder / "real"
    copytree(shipped("examples") / "answers", real, dirs_exist_ok=True)
    found = examine(real / "study.toml", resamples=0)
    console.print(
        "\nThe second part is real: labels that people and judges gave, published with Kamalloo "
        "et al. (2023) under the MIT licence. Nobody knows the truth here.\n"
    )
    print_first(found, console)
    console.print(f"Why: voirdire examine {real / 'study.toml'}", soft_wrap=True)
    return found


def _spare_others(folder: Path) -> None:
    """Refuse a folder whose study or ratings are not those of an earlier demo."""
    from voirdire.errors import InputError

    study = folder / "study.toml"
    ours = study.is_file() and study.read_bytes().startswith(b"# Simulated by `voirdire demo`")
    for path in (study, folder / "ratings.csv", folder / "judgements.csv"):
        if path.exists() and not ours:
            raise InputError(f"--out {folder}: {path.name} there is not the demo's; give another")


def _write_data(folder: Path, panel: SimulatedPanel) -> None:
    """Ratings and study as a user would have them on disk."""
    from voirdire.examining.simulate import DEMO, tidy_ratings

    tidy_ratings(panel, "Helpfulness").write_csv(folder / "ratings.csv")
    humans = [f'\n[[panel]]\nname = "human-{k + 1}"\nkind = "human"\n' for k in range(3)]
    # Each judge is of the house whose systems it also rates: nothing is excluded, so that a judge
    # that favours its family can be found out.
    judges = [f'\n[[panel]]\nname = "{name}"\nfamily = "house"\nexcludes = []\n' for name in DEMO]
    systems = [
        f'\n[[systems]]\nname = "system-{k + 1:02d}"\nfamily = "{"house" if own else "other"}"\n'
        for k, own in enumerate(panel.family)
    ]
    text = STUDY + "".join([*systems, *humans, *judges])
    (folder / "study.toml").write_text(text, encoding="utf-8")


def _write_judgements(folder: Path, kind: str, seed: int) -> None:
    """Labels, comparisons or probabilities, and the study that names them."""
    from voirdire.examining.simulate_kinds import demo_panel, tidy_judgements

    tidy_judgements(demo_panel(kind, seed)).write_csv(folder / "judgements.csv")
    more = "" if kind == "preference" else ', subgroup = "subgroup"'
    more += ', claims = "yes"' if kind == "probability" else ""
    (folder / "study.toml").write_text(OF_A_KIND.format(kind=kind, more=more), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _ToldUse:
    """A use of a judge: whether it deserves it (None: a close call), and what was found."""

    judge: str
    use: str
    deserved: bool | None
    state: str


def _truths(examination: Examination, panel: SimulatedPanel) -> list[_ToldUse]:
    """What each judge was built to deserve beside what was found."""
    from voirdire.examining.simulate import DEMO, TRUTHS, deserved

    found = {
        (one.judge, one.use): one.state
        for one in examination.verdicts
        if one.target == "these systems"
    }
    return [
        _ToldUse(name, use, truth[use], found[name, use])
        for name, truth in ((name, deserved(panel, name)) for name in DEMO)
        for use in TRUTHS
    ]


def _truths_of(examination: Examination, kind: str) -> list[_ToldUse]:
    """The same of another kind: the uses that are decided once a judge and deserved by some."""
    from voirdire.examining.simulate_kinds import CLOSE, deserved_uses

    deserved = deserved_uses(kind)
    uses = list(dict.fromkeys(use for own in deserved.values() for use in own))
    found = {(v.judge, v.use): v.state for v in examination.verdicts if not v.label}
    return [
        _ToldUse(judge, use, None if (judge, use) in CLOSE else use in own, found[judge, use])
        for judge, own in deserved.items()
        for use in uses
    ]


def _print_truth(told: list[_ToldUse], console: Console) -> None:
    from rich.text import Text

    from voirdire.examining.simulate import KINDS
    from voirdire.examining.spec import USES
    from voirdire.report import print_fitted
    from voirdire.tabular import Table, text

    cells = {(one.judge, one.use): f"{TRUTH[one.deserved]}: {one.state}" for one in told}
    uses = list(dict.fromkeys(one.use for one in told))
    # Judges of other kinds are called by what they do.
    faults = {name: (one.fault or "be as good as a human",) for name, one in KINDS.items()}
    built = ("Built to",) if all(one.judge in faults for one in told) else ()
    rows = [
        (name, *(faults[name] if built else ()), *(cells[name, use] for use in uses))
        for name in dict.fromkeys(one.judge for one in told)
    ]
    counted = [one for one in told if one.deserved is not None]
    # Open contradicts nothing, and a close call is counted as neither.
    wrong = [one for one in counted if one.state == ("no" if one.deserved else "yes")]
    console.print(Text("The truth beside what was found (all simulated)", style="bold"))
    columns = tuple(map(text, ("Judge", *built, *(USES[use].title for use in uses))))
    print_fitted(console, Table(columns, tuple(rows)))
    console.print(
        f"{len(wrong)} of {len(counted)} answers contradict the truth; an answer may also be open. "
        "A close call lies between the margins of yes and no."
    )
