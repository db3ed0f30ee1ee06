"""`voirdire cascade`: which judges to ask about which responses, at which price."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.options import (
    AgreeOption,
    JsonOption,
    OnOption,
    OutFolder,
    ReferenceOption,
    RiskOption,
    SectionFormats,
    SideOption,
    SplitSeedOption,
    ToleranceOption,
)
from voirdire.cli.showing import show_sections

if TYPE_CHECKING:
    from voirdire.examining.correcting import Cascade

#: Files beside the queue.
CERTIFICATE, STUDY = "cascade.toml", "study.toml"

EPILOG = """
Examples:

  voirdire cascade judged.csv --reference human --agree 0.90 --price small=0.001 --price large=0.02
  --person 1.50

Every judge has scored the responses: a recorded panel. The labels are divided: one half teaches,
the other certifies. With --out, queue.csv says whose verdict goes out and what a person must judge,
cascade.toml keeps what was certified (gate freeze --cascade holds it in a lock), study.toml asks
these judges alone where a study asked them, and the ledger beside the labels keeps what they chose.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cascade", epilog=EPILOG)(cascade)


@takes_read_options()
def cascade(
    source: Annotated[
        Path, typer.Argument(help="Ratings of a panel and of people.", show_default=False)
    ],
    agree: AgreeOption,
    person: Annotated[
        float, typer.Option("--person", help="What a person's label costs.", show_default=False)
    ],
    price: Annotated[
        list[str],
        typer.Option(
            "--price",
            help="What a response costs by a judge, as JUDGE=PRICE. Once for each judge.",
            show_default=False,
        ),
    ],
    risk: RiskOption = 0.1,
    reference: ReferenceOption = None,
    read: Any = None,
    on: OnOption = "",
    tolerance: ToleranceOption = 0.0,
    gate: SideOption = None,
    seed: SplitSeedOption = 0,
    out: OutFolder = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Say which judges to ask, in which order, and which responses need a person."""
    from voirdire.examining import correcting

    prices = dict(_price(text) for text in price)
    found = answered(
        lambda asked, named: correcting.cascade(
            source,
            agree=agree,
            prices=prices,
            person=person,
            risk=risk,
            reference=named,
            read=asked,
            on=on,
            tolerance=tolerance,
            gate=gate,
            seed=seed,
            remember=out is not None,
        ),
        read,
        reference,
    )
    if out is not None:
        from voirdire.files import write_csv

        out.mkdir(parents=True, exist_ok=True)
        write_csv(out / "queue.csv", found.queue, again=True)
        _write_certified(found, out)
    sections = correcting.cascade_sections(found)
    show_sections("Cascade", "cascade", sections, found, out, formats, as_json=as_json)


def _write_certified(found: Cascade, out: Path) -> None:
    """The certificate, and the study that asks its judges; those of an earlier run go."""
    from voirdire.examining.certificate import write_certificate
    from voirdire.files import write_text
    from voirdire.study import study_in, study_to_toml

    for name in (CERTIFICATE, STUDY):
        (out / name).unlink(missing_ok=True)
    if found.certificate is not None:
        write_certificate(out / CERTIFICATE, found.certificate)
    if found.study is not None:
        write_text(out / STUDY, study_to_toml(study_in(found.study, out)))


def _price(text: str) -> tuple[str, float]:
    from voirdire.errors import InputError

    name, sign, number = (part.strip() for part in text.rpartition("="))
    refused = f"--price {text!r}: write JUDGE=PRICE, such as small=0.002"
    if not (sign and name):
        raise InputError(refused)
    try:
        return name, float(number)
    except ValueError:
        raise InputError(refused) from None
