"""The terminal: the verdict grid, the most important findings, where the report lies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from voirdire.report._plain import number, share, signed, span
from voirdire.report._words import SEVERITIES, VERDICTS, plural, sign_for
from voirdire.schema import SEVERITIES as WORST_FIRST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.examine._examination import Examination, PairResult
    from voirdire.schema import Finding
    from voirdire.stats._results import Interval

_TOP_FINDINGS = 3


def print_examination(
    examination: Examination,
    folder: Path | None = None,
    console: Console | None = None,
    *,
    table: bool = True,
) -> None:
    """Print the verdict grid, the three most important findings and where the report lies.

    Parameters
    ----------
    examination : Examination
    folder : Path, optional
        Where the outputs were written.
    console : rich.console.Console, optional
        Standard output by default; it honours NO_COLOR, the window's width and pipes.
    table : bool
        Print the table of coefficients, one row a judge and attribute, as well.
    """
    console = console or Console(highlight=False)
    title = examination.study.title or examination.study.name
    console.print(Text(title, style="bold"))
    if table:
        print_results(examination, console)
    print_verdicts(examination, console)
    print_findings(examination.findings, console)
    if folder is not None:
        _print_place(folder, console)


def print_verdicts(examination: Examination, console: Console) -> None:
    """A grid of judges by attributes, or a list where the window is too narrow for it."""
    if not examination.verdicts:
        console.print("No verdict: there is no judge to compare with a reference.")
        return
    grid = _verdict_grid(examination, console)
    if console.measure(grid).minimum <= console.width:
        console.print(grid)
    else:
        _print_list(examination, console)
    counts = Counter(verdict.verdict for verdict in examination.verdicts)
    total = plural(len(examination.verdicts), "verdict")
    console.print(f"{total}: " + ", ".join(f"{n} {name}" for name, n in counts.most_common()))


def print_results(examination: Examination, console: Console) -> None:
    """The coefficients, one row a judge and attribute; narrower windows get fewer columns."""
    level = f"{examination.study.analysis.level:.0%}"
    table = Table(box=None, header_style="bold", pad_edge=False)
    roomy = console.width >= 110
    table.add_column("Judge", no_wrap=True)
    table.add_column("Attribute", no_wrap=True)
    for name in ("n", "ICC(C,1)", f"{level} F", *(["bootstrap", "ICC(A,1)"] if roomy else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("Class", "Bias", *(["Of scale"] if roomy else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for result in (*examination.results, *examination.composites):
        table.add_row(*_result_cells(result, roomy=roomy))
    console.print(table)


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
        line = Text(f"{sign_for(sign, console.encoding)} {found.severity}: ", style=style)
        place = f"{found.table}: " if found.table else ""
        line.append(f"{place}{found.message} {found.consequence}".strip(), style="none")
        console.print(line)
    more = len(findings) - _TOP_FINDINGS
    if more > 0:
        console.print(f"and {more} more: see the report or audit.json")


def _verdict_grid(examination: Examination, console: Console) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    attributes = dict.fromkeys(verdict.attribute for verdict in examination.verdicts)
    for attribute in attributes:
        table.add_column(Text(attribute), no_wrap=True)
    found = {(v.judge, v.attribute): v for v in examination.verdicts}
    for judge in dict.fromkeys(verdict.judge for verdict in examination.verdicts):
        cells = (
            _cell(found[judge, name].verdict, console) if (judge, name) in found else Text("")
            for name in attributes
        )
        table.add_row(Text(judge, style="bold"), *cells)
    return table


def _cell(verdict: str, console: Console) -> Text:
    word = VERDICTS[verdict]
    return Text(f"{sign_for(word.sign, console.encoding)} {word.short}", style=word.style)


def _print_list(examination: Examination, console: Console) -> None:
    for judge in dict.fromkeys(verdict.judge for verdict in examination.verdicts):
        console.print(Text(judge, style="bold"))
        for verdict in examination.verdicts:
            if verdict.judge == judge:
                line = Text(f"  {verdict.attribute}: ")
                console.print(line.append_text(_cell(verdict.verdict, console)))


def _result_cells(result: PairResult, *, roomy: bool) -> list[str]:
    consistency = [number(result.icc_c1), _span(result.interval("C,1", "f"))]
    more = [_span(result.interval("C,1", "percentile")), number(result.icc_a1)] if roomy else []
    of_scale = [share(result.bias_normalised)] if roomy else []
    mark = "*" if result.class_borderline else ""
    return [
        result.judge,
        result.attribute,
        str(result.n_systems),
        *consistency,
        *more,
        f"{result.reliability_class}{mark}",
        signed(result.bias),
        *of_scale,
    ]


def _span(interval: Interval | None) -> str:
    return "–" if interval is None else span(interval.low, interval.high)


def _print_place(folder: Path, console: Console) -> None:
    report = folder / "report.html"
    lies = report if report.exists() else folder
    console.print(Text("Report: ", style="bold").append(str(lies), style="none"), soft_wrap=True)
