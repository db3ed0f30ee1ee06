"""Which formats there are, and the one function that writes them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import InputError, check_allowed
from voirdire.progress import stage
from voirdire.report.words import for_display

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.examining.examination import Examination

FORMATS = ("json", "csv", "parquet", "md", "tex", "html")
#: What each of these writes that ratings might be called as well.
_TABLES = {"csv": ("icc.csv", "tests.csv"), "parquet": ("icc.parquet", "ratings.parquet")}


def write_outputs(
    examination: Examination,
    folder: str | Path,
    formats: Iterable[str] = FORMATS,
    *,
    figures: bool = True,
    with_text: bool = False,
) -> tuple[Path, ...]:
    """Write the report into a folder, which is made where there is none.

    Parameters
    ----------
    examination : Examination
    folder : path
    formats : iterable of {"html", "json", "csv", "parquet", "md", "tex"}
    figures : bool
        Draw figures, as files under `figures/` and inside the HTML report.
    with_text : bool
        Show texts of items and explanations in the HTML report, escaped and cut. Ratings often
        come with texts that must not be passed on, so the default is no.

    Returns
    -------
    tuple of Path
        The files written, the HTML report first where it is among them and figures last. Figures
        of an earlier examination in that folder are removed, so that none is mixed with these.

    Raises
    ------
    InputError
        An unknown format, a folder that cannot be made, or one whose tables were examined and
        would be written over.
    """
    from voirdire.report.figures import draw_figures, save_figures  # noqa: PLC0415 - where asked for

    asked = tuple(dict.fromkeys(formats))
    folder = ready_folder(folder, asked)
    _spare_inputs(examination, folder, asked)
    shown = for_display(examination)
    stage("drawing figures")
    drawings = draw_figures(shown) if figures and asked else ()
    stage("writing the report")
    written = [
        path
        for form in asked
        if form != "html"
        for path in _write(form, examination, shown, folder)
    ]
    if "html" in asked:
        from voirdire.report._html import write_html  # noqa: PLC0415 - loads jinja2

        written = [*write_html(shown, folder, drawings, with_text=with_text), *written]
    if asked:
        written += save_figures(drawings, folder / "figures")
    return tuple(written)


def _write(form: str, examination: Examination, shown: Examination, folder: Path) -> Sequence[Path]:
    """Write the files of one format: for programs as examined, for people as displayed."""
    from voirdire.report import records, sections  # noqa: PLC0415 - where asked for
    from voirdire.report._tables import evidence  # noqa: PLC0415

    match form:
        case "json":
            return records.write_json(examination, folder)
        case "csv":
            return records.write_tables(examination, folder)
        case "parquet":
            return records.write_parquet(examination, folder)
        case "md":
            title = shown.study.title or shown.study.name
            text = sections.markdown_text(title, tuple(evidence(shown).values()))
        case _:
            text = sections.latex_text(evidence(shown))
    path = folder / f"tables.{form}"
    path.write_text(text + "\n", encoding="utf-8")
    return [path]


def _spare_inputs(examination: Examination, folder: Path, formats: Iterable[str]) -> None:
    """Refuse to write over a table that was examined: its further columns would be lost."""
    study = examination.study
    read = {Path(study.folder, source.path).resolve() for source in study.data.sources}
    for name in (name for form in formats for name in _TABLES.get(form, ())):
        if (folder / name).resolve() in read:
            raise InputError(
                f"--out {folder}: {name} there was examined, and the report would write over it; "
                "give another folder"
            )


@contextmanager
def awaiting_folder(folder: str | Path, formats: Iterable[str]) -> Iterator[Path]:
    """`ready_folder` for a run: folders made for it go again if it fails and they are empty."""
    # Noted before they are made, innermost first, so that only our own and only empty ones go.
    made = [place for place in (Path(folder), *Path(folder).parents) if not place.exists()]
    try:
        yield ready_folder(folder, formats)
    except BaseException:  # Ctrl-C leaves no empty folders either
        for place in made:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()
        raise


def ready_folder(folder: str | Path, formats: Iterable[str]) -> Path:
    """The folder, made where there is none: what can be wrong with it is said before a long run.

    Raises
    ------
    InputError
        An unknown format, or a folder that cannot be made.
    """
    check_allowed("format", formats, FORMATS)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"--out {folder}: a file is in the way of that folder") from None
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise InputError(f"--out {folder}: the folder cannot be made ({cause})") from None
    return folder
