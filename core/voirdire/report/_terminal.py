"""The terminal: the verdict grid (or tables), the most important findings, the report's place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from voirdire._shown import terminal, visible
from voirdire.report._display import for_display
from voirdire.report._fitted import print_fitted
from voirdire.report._tables import class_of, measures_section
from voirdire.report._words import CLASSES, SEVERITIES, VERDICTS, brief, legible, plural
from voirdire.report.sections import print_section
from voirdire.schema import SEVERITIES as WORST_FIRST
from voirdire.tabular import Table, count, interval, number, share, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from voirdire.examining.examination import Examination
    from voirdire.schema import Finding

_TOP_FINDINGS = 3
#: Longer names and findings are cut in the terminal; the report and the files hold them whole.
_NAME = 40
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
    """Print the verdict grid, the three most important findings and where the report lies.

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
    leading = [section for section in examination.sections if section.leading]
    if examination.results:
        for section in leading:
            print_section(section, console)
    if table and examination.results:
        print_results(examination, console)
    if examination.measures:
        print_measures(examination, console)
    for choice in examination.choices:
        console.print(Text(visible(choice), style="dim"))
    if examination.results or not examination.sections:
        print_verdicts(examination, console)
        others = [section.title for section in examination.sections if not section.leading]
        if others:
            titles = "; ".join(others)
            console.print(Text(visible(f"Also in the report: {titles}."), style="dim"))
    else:
        print_sections(examination, console)
    print_findings(examination.findings, console)
    if folder is not None:
        _print_place(folder, console)


def print_verdicts(examination: Examination, console: Console) -> None:
    """A grid of judges by attributes, or a list where the window is too narrow for it."""
    if not examination.verdicts:
        console.print("No verdict: there is no judge to compare with a reference.")
        return
    for by_judge in (True, False):
        grid = _verdict_grid(examination, by_judge=by_judge)
        if _width(grid, console) <= console.width:
            console.print(grid)
            break
    else:
        _print_list(examination, console)
    counts = Counter(verdict.verdict for verdict in examination.verdicts)
    total = plural(len(examination.verdicts), "verdict")
    console.print(f"{total}: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()))


def print_sections(examination: Examination, console: Console) -> None:
    """The tables and notes of an examination without verdicts, long tables cut."""
    for section in examination.sections:
        console.print()
        print_section(section, console, said=False)
    for note in examination.notes:
        console.print(Text(visible(f"\n{note}")))


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


def print_measures(examination: Examination, console: Console) -> None:
    """The further coefficients that were asked for."""
    print_fitted(console, measures_section(examination).table)


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """The three most important findings by severity, and how many more there are."""
    if not findings:
        console.print("The audit found nothing odd in the data.")
        return
    ordered = sorted(findings, key=lambda found: WORST_FIRST.index(found.severity))
    counts = Counter(found.severity for found in findings)
    said = ", ".join(f"{counts[name]} {name}" for name in WORST_FIRST if counts[name])
    console.print(Text(f"Audit: {plural(len(findings), 'finding')} ({said})", style="bold"))
    for found in ordered[:_TOP_FINDINGS]:
        sign, style, _ = SEVERITIES[found.severity]
        line = Text(f"{sign} {found.severity}: ", style=style)
        place = f"{found.table}: " if found.table else ""
        sentence = visible(f"{place}{found.message} {found.consequence}".strip())
        line.append(brief(sentence, _SENTENCE), style="none")
        console.print(line)
    more = len(findings) - _TOP_FINDINGS
    if more > 0:
        console.print(f"and {more} more: see the report or audit.json")


def _verdict_grid(examination: Examination, *, by_judge: bool) -> Grid:
    """Judges down and attributes across, or the other way round."""
    table = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    found = {
        (v.judge, v.attribute) if by_judge else (v.attribute, v.judge): v
        for v in examination.verdicts
    }
    across = tuple(dict.fromkeys(column for _, column in found))
    for name in ("", *across):
        table.add_column(_named(name), no_wrap=True)
    for row in dict.fromkeys(row for row, _ in found):
        cells = (
            _cell(found[row, name].verdict) if (row, name) in found else Text("") for name in across
        )
        table.add_row(_named(row, style="bold"), *cells)
    return table


def _width(grid: Grid, console: Console) -> int:
    """The width at which nothing is cut."""
    return Measurement.get(console, console.options.update(width=10_000), grid).maximum


def _cell(verdict: str) -> Text:
    word = VERDICTS[verdict]
    return Text(f"{word.sign} {word.short}", style=word.style)


def _named(name: str, width: int = _NAME, *, style: str = "") -> Text:
    """A name, cut where it is longer than a table can show."""
    text = Text(visible(" ".join(name.split())), style=style)
    text.truncate(width, overflow="ellipsis")
    return text


def _print_list(examination: Examination, console: Console) -> None:
    for judge in dict.fromkeys(verdict.judge for verdict in examination.verdicts):
        console.print(_named(judge, style="bold"))
        for verdict in examination.verdicts:
            if verdict.judge == judge:
                line = Text("  ").append_text(_named(verdict.attribute)).append(": ")
                console.print(line.append_text(_cell(verdict.verdict)))


def _print_place(folder: Path, console: Console) -> None:
    report = folder / "report.html"
    lies = report if report.exists() else folder
    console.print(
        Text("Report: ", style="bold").append(visible(lies), style="none"), soft_wrap=True
    )
