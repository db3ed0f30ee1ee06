"""The terminal: what each judge may be used for, what is wrong with the data, then why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from voirdire._shown import terminal, visible
from voirdire.examining.verdict.facts import THESE
from voirdire.report._answers import (
    answers,
    attributes_of,
    multiplicity_text,
    points,
    scope_text,
    signs,
    uses_of,
)
from voirdire.report._display import for_display
from voirdire.report._fitted import print_fitted
from voirdire.report._tables import class_of, measures_section
from voirdire.report._words import CLASSES, SEVERITIES, STATES, brief, legible, plural
from voirdire.report.sections import print_section
from voirdire.schema import SEVERITIES as WORST_FIRST
from voirdire.tabular import Table, count, interval, number, share, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from voirdire.examining.examination import Examination
    from voirdire.report._answers import Answer
    from voirdire.schema import Finding

_TOP_FINDINGS = 3
#: Longer names and findings are cut in the terminal; the report and the files hold them whole.
_NAME = 40
_NARROWEST = 8
#: A window of that width shows the bootstrap and the agreement too.
_WIDE = 120
#: A narrower one shows neither the class nor the bias.
_NARROW = 60
_SENTENCE = 600


def print_examination(
    examination: Examination,
    folder: str | Path | None = None,
    console: Console | None = None,
    *,
    table: bool = True,
) -> None:
    """Print what each judge may be used for, serious findings, why, and where the report lies.

    Parameters
    ----------
    examination : Examination
    folder : str or Path, optional
        Where the outputs were written.
    console : rich.console.Console, optional
        Standard output by default; it honours NO_COLOR, the window's width and pipes.
    table : bool
        Print the table of coefficients, one row a judge and attribute, as well.
    """
    console = console or terminal()
    with console.capture() as captured:
        place = None if folder is None else Path(folder)
        _print_all(for_display(examination), place, console, table=table)
    console.file.write(legible(captured.get(), console.encoding))


def _print_all(
    examination: Examination, folder: Path | None, console: Console, *, table: bool
) -> None:
    title = examination.study.title or examination.study.name
    console.print(Text(visible(title), style="bold"))
    found = answers(examination)
    if found:
        print_answers(examination, found, console)
    elif not examination.sections:
        console.print("No verdict: there is no judge to compare with a reference.")
    if examination.results:
        print_findings(examination.findings, console)
    for answer in found:
        _print_points(answer, console)
    if examination.results:
        _print_evidence(examination, console, table=table)
    else:
        _print_rest(examination, console)
        print_findings(examination.findings, console)
    if folder is not None:
        _print_place(folder, console)


def _print_evidence(examination: Examination, console: Console, *, table: bool) -> None:
    for section in examination.sections:
        if section.leading:
            print_section(section, console)
    if table:
        print_results(examination, console)
    if examination.measures:
        print_fitted(console, measures_section(examination).table)
    for choice in examination.choices:
        console.print(Text(visible(choice), style="dim"))
    others = [section.title for section in examination.sections if not section.leading]
    if others:
        console.print(Text(visible(f"Also in the report: {'; '.join(others)}."), style="dim"))


def _print_rest(examination: Examination, console: Console) -> None:
    """The tables and notes of an examination without results, long tables cut."""
    if examination.measures:
        print_fitted(console, measures_section(examination).table)
    for choice in examination.choices:
        console.print(Text(visible(choice), style="dim"))
    for section in examination.sections:
        console.print()
        print_section(section, console, said=False)
    for note in examination.notes:
        console.print(Text(visible(f"\n{note}")))


def print_answers(examination: Examination, found: Sequence[Answer], console: Console) -> None:
    """A sentence a judge, and the grid: judges by attributes, one sign a use."""
    for answer in found:
        console.print(Text(brief(visible(answer.sentence), _SENTENCE)))
    uses, attributes = uses_of(examination), attributes_of(examination)
    cells = {
        (answer.name, name): signs(answer, name, uses) for answer in found for name in attributes
    }
    judges = tuple(answer.name for answer in found)
    if len(attributes) > len(judges):
        turned = {(name, judge): cell for (judge, name), cell in cells.items()}
        _print_grid(attributes, judges, turned, console)
    else:
        _print_grid(judges, attributes, cells, console)
    said = ", ".join(f"{word.sign} {name}" for name, word in STATES.items())
    console.print(Text(f"In each cell: {', '.join(uses)}. {said}.", style="dim"))
    if counted := multiplicity_text(examination):
        console.print(Text(counted, style="dim"))
    console.print(Text(scope_text(examination), style="dim"))


def _print_grid(
    down: Sequence[str],
    across: Sequence[str],
    cells: Mapping[tuple[str, str], str],
    console: Console,
) -> None:
    """The grid, names cut where need be; a list where the window is too narrow for it."""
    least = max(map(len, cells.values()), default=1)
    names = min(_NAME, max(map(len, down)))
    room = (console.width - names) // len(across) - 2
    if room < least:
        _print_list(down, across, cells, console)
        return
    grid = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("", no_wrap=True)
    for name in across:
        grid.add_column(_named(name, room), no_wrap=True)
    for row in down:
        grid.add_row(_named(row, style="bold"), *(_cell(cells[row, name]) for name in across))
    console.print(grid)


def _print_list(
    down: Sequence[str],
    across: Sequence[str],
    cells: Mapping[tuple[str, str], str],
    console: Console,
) -> None:
    for row in down:
        console.print(_named(row, console.width, style="bold"))
        for name in across:
            room = max(console.width - len(cells[row, name]) - 4, _NARROWEST)
            line = Text("  ").append_text(_named(name, room)).append(": ")
            console.print(line.append_text(_cell(cells[row, name])))


def _cell(said: str) -> Text:
    """Signs, each in the colour of its state."""
    styles = {word.sign: word.style for word in STATES.values()}
    cell = Text()
    for sign in said:
        cell.append(sign, style=styles.get(sign, ""))
    return cell


def _print_points(answer: Answer, console: Console) -> None:
    """What decided each no and open, and the cheapest next step; systems to come in one line."""
    found = points(answer)
    if not found:
        return
    console.print(_named(answer.name, console.width, style="bold"))
    for point in found:
        if point.target == THESE:
            word, many = STATES[point.state], len(point.attributes)
            where = point.attributes[0] if many == 1 else f"{many} attributes"
            said = f"{point.use}, {where}: {point.why}. {point.next}".rstrip()
            line = Text(f"{word.sign} ", style=word.style)
            console.print(line.append(brief(visible(said), _SENTENCE), style="none"))
    later = [point for point in found if point.target != THESE]
    if later:
        said = "; ".join(f"{p.use} {p.state} on {len(p.attributes)}" for p in later)
        console.print(Text(f"Systems to come: {said}.", style="dim"))


def print_results(examination: Examination, console: Console) -> None:
    """The coefficients, one row a judge and attribute; a narrow window gets fewer columns."""
    wide, narrow = console.width >= _WIDE, console.width < _NARROW
    name = min(_NAME, console.width // 2)
    columns = (
        text("Judge"),
        text("Attribute"),
        count("n"),
        number("ICC(C,1)"),
        interval("F interval"),
        *((interval("bootstrap"), number("ICC(A,1)")) if wide else ()),
        *(() if narrow else (text("Class"), number("Bias", signed=True))),
        *((share("Of scale"),) if wide else ()),
    )
    rows = tuple(
        (
            brief(result.judge, name),
            brief(result.attribute, name),
            result.n_units,
            result.icc_c1,
            result.interval("C,1", "f"),
            *((result.interval("C,1", "percentile"), result.icc_a1) if wide else ()),
            *(() if narrow else (class_of(result), result.bias)),
            *((result.bias_normalised,) if wide else ()),
        )
        for result in (*examination.results, *examination.composites)
    )
    print_fitted(console, Table(columns, rows))
    if narrow:
        return
    console.print(CLASSES, style="dim")
    if any(result.class_borderline for result in examination.results):
        console.print("* the seed of the bootstrap decides this class", style="dim")


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """What is blocking or serious, at most three in full; notes are folded into one line."""
    if not findings:
        console.print("The audit found nothing odd in the data.")
        return
    grave = sorted(
        (found for found in findings if found.severity != "note"),
        key=lambda found: WORST_FIRST.index(found.severity),
    )
    for found in grave[:_TOP_FINDINGS]:
        sign, style, _ = SEVERITIES[found.severity]
        line = Text(f"{sign} {found.severity}: ", style=style)
        place = f"{found.table}: " if found.table else ""
        sentence = visible(f"{place}{found.message} {found.consequence}".strip())
        line.append(brief(sentence, _SENTENCE), style="none")
        console.print(line)
    notes, more = len(findings) - len(grave), len(grave) - _TOP_FINDINGS
    rest = [f"{more} more serious"] * (more > 0) + [plural(notes, "note")] * (notes > 0)
    if rest:
        console.print(f"Audit: {' and '.join(rest)} in the report and audit.json.")


def _named(name: str, width: int = _NAME, *, style: str = "") -> Text:
    """A name, cut where it is longer than a table can show."""
    text = Text(visible(" ".join(name.split())), style=style)
    text.truncate(width, overflow="ellipsis")
    return text


def _print_place(folder: Path, console: Console) -> None:
    report = folder / "report.html"
    lies = report if report.exists() else folder
    console.print(
        Text("Report: ", style="bold").append(visible(lies), style="none"), soft_wrap=True
    )
