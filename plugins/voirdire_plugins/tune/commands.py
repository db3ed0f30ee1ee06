"""`voirdire tune`: make a judge better, and say by how much."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli.options import JsonOption, ReferenceOption, SectionFormats
from voirdire.errors import InputError, UnfinishedError

EPILOG = """
Examples:

  voirdire tune study.toml --judge north --labels labels.csv --for single --out tuned

  voirdire tune study.toml --judge north --for gate --candidates wordings --out tuned --max-cost 5

  voirdire tune study.toml --judge north --for single --optimizer gepa --out tuned --max-cost 5

  voirdire tune study.toml --judge north --for single --shots 4 --out tuned --max-cost 5

  voirdire tune study.toml --judge jury --for single --out tuned

  voirdire tune study.toml --judge north --for single --candidates c.toml --out tuned --differ 60

  voirdire tune study.toml --judge north --for single --candidates c.toml --out tuned \
    --measure answers/ratings.parquet

The same command goes on where it ended: no reply is paid twice. Candidates are tables
[[candidate]] of a TOML file with the keys of a [[panel]] (and instructions), or texts of
instructions, or a rubric in other words.
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("tune", epilog=EPILOG)(tune)


def tune(
    study: Annotated[
        Path, typer.Argument(help="A study with items and responses.", show_default=False)
    ],
    judge: Annotated[
        str, typer.Option("--judge", help="The judge of the panel to tune.", show_default=False)
    ],
    use: Annotated[
        str,
        typer.Option(
            "--for",
            help="What it is wanted for: single, gate, filter, pick or worth.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The folder of session and report.", show_default=False),
    ],
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            "--labels",
            help="A file of people's ratings, beside the study's. May be repeated.",
            show_default=False,
        ),
    ] = None,
    reference: ReferenceOption = None,
    candidates: Annotated[
        list[Path] | None,
        typer.Option(
            "--candidates",
            help="A file or folder of candidates. May be repeated.",
            show_default=False,
        ),
    ] = None,
    forms: Annotated[
        bool,
        typer.Option(
            "--forms",
            help="Also ask in other forms: one attribute at a time, by log-probabilities, by yes "
            "or no at the gate, by probability; an annotator by a list or by yes or no.",
        ),
    ] = False,
    ask_all: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Ask candidates also where what costs no call is shown to be better by itself.",
        ),
    ] = False,
    shots: Annotated[
        list[int] | None,
        typer.Option(
            "--shots",
            help="Show this many labelled responses as examples, which then measure nothing. May "
            "be repeated.",
            min=1,
            show_default=False,
        ),
    ] = None,
    shots_option: Annotated[
        list[str] | None,
        typer.Option(
            "--shots-option",
            help="KEY=VALUE for the retriever of examples, such as embedder=all-mpnet-base-v2.",
            show_default=False,
        ),
    ] = None,
    optimizer: Annotated[
        str,
        typer.Option(
            "--optimizer",
            help="Have a registered optimizer look for instructions, such as gepa.",
            show_default=False,
        ),
    ] = "",
    optimizer_option: Annotated[
        list[str] | None,
        typer.Option(
            "--optimizer-option",
            help="KEY=VALUE for the optimizer. May be repeated.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", min=1, help="Judgements that an optimizer may ask for.")
    ] = 400,
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=0,
            help="Run the optimizer (or the race) by all labels, and again without each of this "
            "many folds, which measure it. 0: an optimizer sees one half of the labels.",
        ),
    ] = 5,
    race: Annotated[
        bool,
        typer.Option("--race", help="Ask candidates that are shown to be worse no further."),
    ] = False,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            help="Tune on this attribute alone. May be repeated.",
            show_default=False,
        ),
    ] = None,
    differ: Annotated[
        int | None,
        typer.Option(
            "--differ",
            min=2,
            help="Have old and new judge all responses, and draw this many on which they differ.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        list[Path] | None,
        typer.Option(
            "--measure",
            help="People's ratings of what was drawn: what they say of the gain.",
            show_default=False,
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="The most that the session may cost.", show_default=False),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option("--max-calls", help="The most calls that it may make.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of folds and draws.")] = 0,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Make a judge better by people's labels, and say by how much it is, measured apart."""
    from voirdire.cli.machine import answer_of, collect
    from voirdire.cli.showing import show_sections
    from voirdire_plugins.tune.sections import drawn_section, sentences, tuned_sections
    from voirdire_plugins.tune.tuning import tune as tuned_by

    if differ is not None and measure:
        raise InputError("give --differ or --measure: labels come after the draw")
    try:
        tuned = tuned_by(
            study,
            judge,
            use=use,
            out=out,
            labels=labels or (),
            reference=tuple(reference or ()),
            candidates=candidates or (),
            ask_forms=forms,
            ask_all=ask_all,
            shots=shots or (),
            shots_options=_options(shots_option or [], "--shots-option"),
            optimizer=optimizer,
            optimizer_options=_options(optimizer_option or [], "--optimizer-option"),
            steps=steps,
            folds=folds,
            race=race,
            attributes=attribute or (),
            max_cost=max_cost,
            max_calls=max_calls,
            seed=seed,
            differ=differ or 0,
            measure=measure or (),
            say=lambda line: typer.echo(line, err=as_json),
        )
    except UnfinishedError as error:
        typer.echo(str(error), err=True)
        told = {"kind": type(error).__name__, "message": str(error)}
        collect(answer_of(str(error), "error"), {"error": told})
        raise typer.Exit(error.exit_code) from None
    sections = tuned_sections(tuned)
    if tuned.drawn is not None:
        sections = (drawn_section(tuned.drawn), *sections)
    show_sections(
        "Tuning",
        "tuned",
        sections,
        tuned,
        out / "report",
        formats,
        as_json=as_json,
        said=sentences(tuned),
    )
    for what, path in tuned.files.items():
        said = f"Look at what moved: voirdire look {path} --with-text" if what == "look" else ""
        typer.echo(said or f"The {what}: {path}", err=as_json)


_TEXT, _WHOLE = {"type": "string"}, {"type": "integer"}
#: What it gives a program, as `voirdire schema tune` publishes it.
tune.json_record = {  # type: ignore[attr-defined]
    "judge": _TEXT, "use": _TEXT, "measure": _TEXT, "labels": _WHOLE, "measured_on": _WHOLE,
    "chosen": _TEXT, "gain": {"type": "object"}, "decision": {"enum": ["adopt", "keep", "label"]},
    "ways": {"type": "array"}, "files": {"type": "object"}, "findings": {"type": "array"},
}  # fmt: skip


def _options(given: list[str], option: str) -> dict[str, Any]:
    """KEY=VALUE; a value that is no TOML is a text."""
    made: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key:
            raise InputError(f"{option} takes KEY=VALUE, got {one!r}")
        try:
            made[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            made[key] = value
    return made
