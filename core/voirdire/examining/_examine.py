"""From a source to an Examination, downhill: opened once, each part examined, joined once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.examining.parts import examine_inputs
from voirdire.examining.source import audit_of, inputs_of, open_source
from voirdire.examining.spoken import speaks_python
from voirdire.examining.streaming.source import stream_of
from voirdire.study import Gate, ReadOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from voirdire.examining.examination import Examination
    from voirdire.schema import Finding
    from voirdire.study import Study


@speaks_python
def examine(  # noqa: PLR0913 - the options are those of the command
    source: str | Path | Study | pl.DataFrame | Sequence[str | Path],
    *,
    data: str | Path | None = None,
    reference: Sequence[str] | None = (),
    read: ReadOptions | None = None,
    off_scale: str | None = None,
    pairs: str | None = None,
    resamples: int | None = None,
    level: float | None = None,
    seed: int | None = None,
    measures: Sequence[str] = (),
    raters: Sequence[str] = (),
    compat: str | None = None,
    gate: float | Gate | None = None,
    streaming: bool = False,
    workers: str | int | None = None,
    insecure: bool = False,
) -> Examination:
    """Examine judges against a reference.

    Parameters
    ----------
    source : str, Path, Study, polars.DataFrame or sequence of paths
        Several files of ratings, each of one rater (who is called as the file) or of several; or a
        benchmark's name, a study.toml, a file of ratings, a session folder, a Study, or a frame
        with the columns item, rater, score and, where there are any, system, attribute, run.
    data : path, optional
        The folder of a benchmark's data.
    reference : sequence of str
        Raters that the others are held against; by default the study's, else all of kind human.
    read : ReadOptions, optional
        How files and frames without a study are read: names of columns, what words stand for, and
        files of people's labels that are joined to what the source rates; and, of any source, whose
        models judges and systems are. `ReadOptions` says more.
    off_scale : {"missing", "keep", "error"}, optional
        What to do with values off the declared scale.
    pairs : {"pairwise", "listwise"}, optional
        A pair counts where reference and judge rated, or where all raters did.
    resamples, level, seed
        Of the bootstrap; 0 resamples leave it out.
    measures : sequence of str
        Coefficients over all raters besides, such as ``"alpha"``, ``"fleiss"``, ``"ac1"``.
    raters : sequence of str
        Over whom: ``"humans"``, ``"judges"`` or names; by default the study's, else all.
    compat : {"badawi2025"}, optional
        Follow that study to the letter.
    gate : float or Gate, optional
        Scores at or above it pass; a `voirdire.study.Gate` also says which sensitivity and
        specificity a judge must reach against one column of labels. By default the study's.
    streaming : bool
        Examine Parquet files as sums, in constant memory, whatever their size. A folder of parts,
        a pattern such as ``"ratings/**/*.parquet"`` and more than 5 million rows are always.
    workers : str or int, optional
        Where the sums of a stream are computed: see `voirdire.executors.open_executor`.
    insecure : bool
        Whether a scheduler on another machine may be used without TLS.

    Returns
    -------
    Examination
        Findings of the audit, a result for each judge and attribute, and verdicts.

    Raises
    ------
    InputError
        Whatever is wrong with the input; the message names the place.

    Examples
    --------
    >>> import polars as pl, voirdire
    >>> frame = pl.DataFrame({
    ...     "item": ["1", "1", "2", "2", "3", "3"] * 2,
    ...     "system": ["a", "b"] * 6,
    ...     "rater": ["human"] * 6 + ["judge"] * 6,
    ...     "score": [1, 4, 2, 5, 1, 5, 2, 5, 2, 4, 3, 5],
    ... })
    >>> examination = voirdire.examine(frame, reference=["human"])
    >>> result = examination.results[0]
    >>> result.judge, result.n_pairs, round(result.bias, 3)
    ('judge', 6, 0.5)
    """
    reference = tuple(reference or ())
    # A study's own gate stays where none is given.
    asked = Gate(at=gate) if isinstance(gate, int | float) else gate
    changes: dict[str, dict[str, Any]] = {
        "data": {"off_scale": off_scale, "pairs": pairs, "reference": tuple(reference) or None},
        "analysis": {
            "resamples": resamples,
            "level": level,
            "seed": seed,
            "compat": compat,
            "measures": tuple(measures) or None,
            "raters": tuple(raters) or None,
        },
    }
    read = read or ReadOptions()
    if streaming and (read.human or data):
        raise InputError(
            "--streaming reads one stream of ratings, and no --human or --data beside it: give all "
            "files of ratings together, or leave out --streaming"
        )
    # Asked first: files that are streams must not be read whole to find out what they are.
    stream = None if read.human or data else stream_of(source, asked=streaming)
    if stream is not None and (read.judge or read.rescale):
        raise InputError(
            "--judge and --rescale are for files that are read whole: leave out --streaming, or "
            "write a study that declares the panel"
        )
    opened = None
    if stream is not None:
        from voirdire.examining.streaming.labelled import (  # noqa: PLC0415 - as below
            opened_labels,
        )

        opened = opened_labels(stream, reference, read, changes)
    if stream is not None and opened is None:
        from voirdire.examining.streaming.examine import (  # noqa: PLC0415 - most sources are small
            examine_stream,
        )

        streamed = examine_stream(
            stream,
            reference=reference,
            read=read,
            changes=changes,
            gate=asked,
            workers=workers,
            insecure=insecure,
        )
        if streamed is not None:
            return streamed
    opened = opened or open_source(
        source, data=data, reference=reference, read=read, changes=changes
    )
    inputs = inputs_of(opened)
    if asked is not None:
        inputs = replace(inputs, study=inputs.study.model_copy(update={"gate": asked}))
    examination = examine_inputs(inputs)
    return opened.benchmark.review(examination) if opened.benchmark else examination


@speaks_python
def audit_source(
    source: str | Path | Study | pl.DataFrame | Sequence[str | Path],
    *,
    data: str | Path | None = None,
    reference: Sequence[str] | None = (),
    read: ReadOptions | None = None,
) -> tuple[Finding, ...]:
    """What is odd in the data of a source, worst first; no number is computed.

    Raises
    ------
    InputError
        As `examine`.
    """
    reference = tuple(reference or ())
    changes = {"data": {"reference": reference or None}}
    opened = open_source(
        source,
        data=data,
        reference=reference,
        read=read,
        changes=changes,
    )
    return audit_of(opened)
