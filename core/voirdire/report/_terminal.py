"""The terminal: what each judge may be used for, what is wrong with the data, then why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from voirdire.examining.verdict.facts import THESE
from voirdire.report._grid import grid_of
from voirdire.report.answers import (
    answers,
    best_text,
    expected_text,
    leads,
    points,
    scope_text,
    without_verdict,
)
from voirdire.report.choices import choices_of, notes_of
from voirdire.report.printing import print_fitted, print_section
from voirdire.report.words import (
    CLASSES,
    SEVERITIES,
    STATES,
    brief,
    class_of,
    for_display,
    legible,
    plural,
)
from voirdire.schema import SEVERITIES as WORST_FIRST
from voirdire.shown import terminal, visible
from voirdire.tabular import Table, count, interval, number, share, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from voirdire.examining.examination import Examination
    from voirdire.report.answers import JudgeAnswer, Point
    from voirdire.schema import Finding

#: How the numbers beside each use are read.
WHY = (
    "Why, and what next. Brackets hold intervals: a yes needs the whole interval inside what is "
    "needed or allowed."
)
_TOP_FINDINGS = 3
#: Longer names and findings are cut in the terminal; the report and the files hold them whole.
_NAME = 40
_NARROWEST = 8
#: Units that a coefficient needs to be shown.
_FEWEST = 3
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


def print_first(examination: Examination, console: Console) -> None:
    """Print what `print_examination` begins with: the title, a sentence a judge, and the grid."""
    with console.capture() as captured:
        examination = for_display(examination)
        _print_title(examination, console)
        print_answers(examination, answers(examination), console)
    console.file.write(legible(captured.get(), console.encoding))


def _print_title(examination: Examination, console: Console) -> None:
    title = examination.study.title or examination.study.name
    console.print(Text(visible(title), style="bold"))


def _print_all(
    examination: Examination, folder: Path | None, console: Console, *, table: bool
) -> None:
    _print_title(examination, console)
    shown = answers(examination)
    if shown:
        print_answers(examination, shown, console)
    elif not examination.sections:
        console.print(Text(visible(without_verdict(examination))))
    if examination.results:
        print_findings(examination.findings, console)
    several = len({verdict.attribute for verdict in examination.verdicts}) > 1
    if any(points(answer) for answer in shown):
        console.print(Text(f"\n{WHY}", style="dim"))
        for answer in shown:
            _print_points(answer, console, several=several)
        console.print()
    if examination.results:
        _print_evidence(examination, console, table=table)
    else:
        _print_rest(examination, console)
        print_findings(examination.findings, console)
    # Last, where it is still on the screen after a long report.
    if folder is not None:
        _print_place(folder, console)


def _print_evidence(examination: Examination, console: Console, *, table: bool) -> None:
    for section in examination.sections:
        if section.leading:
            print_section(section, console)
    if table:
        _print_rates(examination, console)
        print_results(examination, console)
    _print_measures(examination, console)
    for choice in choices_of(examination):
        console.print(Text(visible(choice), style="dim"))
    others = [section.title for section in examination.sections if not section.leading]
    if others:
        console.print(Text(visible(f"Also in the report: {'; '.join(others)}."), style="dim"))


def _print_rates(examination: Examination, console: Console) -> None:
    """The main rates at the gate, where one is declared."""
    if any(seen.responses is not None for seen in examination.evidence):
        from voirdire.report._responses import rates_table  # noqa: PLC0415 - with a gate alone

        console.print(Text("Response by response, at the gate", style="bold"))
        print_fitted(console, rates_table(examination))


def _print_measures(examination: Examination, console: Console) -> None:
    if examination.rated.measures:
        from voirdire.report._tables import measures_section  # noqa: PLC0415 - where asked for

        print_fitted(console, measures_section(examination).table)


def _print_rest(examination: Examination, console: Console) -> None:
    """The tables and notes of an examination without results, long tables cut."""
    # The main numbers first, as where there are results.
    for section in examination.sections:
        if section.leading:
            print_section(section, console, with_text=False)
            console.print()
    _print_measures(examination, console)
    for choice in choices_of(examination):
        console.print(Text(visible(choice), style="dim"))
    for section in examination.sections:
        if not section.leading:
            console.print()
            print_section(section, console, with_text=False)
    for note in notes_of(examination):
        console.print(Text(visible(f"\n{note}")))


def print_answers(
    examination: Examination, answers: Sequence[JudgeAnswer], console: Console
) -> None:
    """A sentence a judge, and the grid: judges by uses, or by attributes with one sign a use."""
    for sentence in leads(answers):
        console.print(Text(brief(visible(sentence), _SENTENCE)))
    grid = grid_of(examination, answers)
    cells = {
        (row, column): " ".join(STATES[state].sign for _, state in cell)
        for row, marks in grid.rows
        for column, cell in zip(grid.heads, marks, strict=True)
    }
    console.print()
    _print_grid([name for name, _ in grid.rows], grid.heads, cells, console, whole=grid.by_use)
    legend = ", ".join(f"{word.sign} {name}" for name, word in STATES.items())
    order = "" if grid.by_use else f"In each cell: {', '.join(grid.titles)}. "
    told = expected_text(examination), best_text(examination)
    for line in (f"{order}{legend}. {grid.untested}", *told):
        if line:
            console.print(Text(visible(line.strip()), style="dim"))
    console.print(Text(scope_text(examination), style="dim"))
    console.print()


def _print_grid(
    down: Sequence[str],
    across: Sequence[str],
    cells: Mapping[tuple[str, str], str],
    console: Console,
    *,
    whole: bool,
) -> None:
    """The grid; a list where the window is too narrow for it.

    Names are cut where need be. Heads that are to be read `whole` are broken between words.
    """
    # Signs are never cut: where a column has no room for them, the grid becomes a list.
    least = max(map(len, cells.values()), default=1)
    if whole:
        least = max([least, *(len(word) for name in across for word in name.split())])
    names = min(_NAME, max(map(len, down)))
    room = (console.width - names) // len(across) - 2
    if room < least:
        _print_list(down, across, cells, console)
        return
    grid = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("", no_wrap=True)
    for name in across:
        # As wide as its longest word, so that heads break between words alone.
        wide = max(map(len, name.split()), default=1) if whole else None
        grid.add_column(
            _named(name, _NAME if whole else room), no_wrap=not whole, width=wide, vertical="bottom"
        )
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


def _cell(signs: str) -> Text:
    """Signs, each in the colour of its state."""
    styles = {word.sign: word.style for word in STATES.values()}
    cell = Text()
    for sign in signs:
        cell.append(sign, style=styles.get(sign, ""))
    return cell


def _print_points(answer: JudgeAnswer, console: Console, *, several: bool) -> None:
    """What was found of each use, with the cheapest next step; systems to come in one line."""
    shown = points(answer)
    if not shown:
        return
    console.print(_named(answer.name, console.width, style="bold"))
    for point in shown:
        if point.target == THESE:
            word = STATES[point.state]
            many = len(point.attributes)
            where = point.attributes[0] if many == 1 else f"{many} attributes"
            on = f" on {where}" if several else ""
            sentence = f"{point.label}{on}: {point.why} {point.next}".rstrip()
            line = Text(f"{word.sign} ", style=word.style)
            line.append(brief(visible(sentence), _SENTENCE), style="none")
            console.print(line)
    later = [point for point in shown if point.target != THESE]
    if later:
        summary = "; ".join(
            f"{point.titles}: {point.state}{_on(point) if several else ''}" for point in later
        )
        console.print(Text(f"For systems to come: {summary}.", style="dim"))


def _on(point: Point) -> str:
    return f" on {plural(len(point.attributes), 'attribute')}"


def print_results(examination: Examination, console: Console) -> None:
    """The coefficients, one row a judge and attribute; a narrow window gets fewer columns.

    Coefficients over two systems say nothing and are left to the files.
    """
    all_results = (*examination.results, *examination.rated.composites)
    results = [result for result in all_results if result.n_units >= _FEWEST]
    if not results:
        return
    wide, narrow = console.width >= _WIDE, console.width < _NARROW
    published = bool(examination.study.analysis.published_class) and not narrow
    name = min(_NAME, console.width // 2)
    columns = (
        text("Judge"),
        text("Attribute"),
        count("n"),
        number("ICC(C,1)"),
        interval("F interval"),
        *((interval("bootstrap"), number("ICC(A,1)")) if wide else ()),
        *((text("Class"),) if published else ()),
        *(() if narrow else (number("Bias", signed=True),)),
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
            *((class_of(result),) if published else ()),
            *(() if narrow else (result.bias,)),
            *((result.bias_normalised,) if wide else ()),
        )
        for result in results
    )
    unit = "systems" if examination.units == "systems" else "responses"
    console.print(Text(f"Agreement over {unit} (decides nothing)", style="bold"))
    print_fitted(console, Table(columns, rows))
    if published:
        console.print(CLASSES, style="dim")
        if any(result.class_borderline for result in results):
            console.print("* the seed of the bootstrap decides this class", style="dim")


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """What is blocking or serious, at most three in full; notes are folded into one line."""
    if not findings:
        console.print("The audit found nothing odd in the data.")
        return
    grave = sorted(
        (finding for finding in findings if finding.severity != "note"),
        key=lambda finding: WORST_FIRST.index(finding.severity),
    )
    for finding in grave[:_TOP_FINDINGS]:
        sign, style, _ = SEVERITIES[finding.severity]
        line = Text(f"{sign} {finding.severity}: ", style=style)
        place = f"{finding.table}: " if finding.table else ""
        sentence = visible(f"{place}{finding.message} {finding.consequence}".strip())
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
