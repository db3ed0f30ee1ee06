"""An Examination as records: one a judge and attribute, and the flat frame of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voirdire.examining.examination import SCHEMA_VERSION
from voirdire.examining.ratings.facts import RESULT_KINDS, PairResult, SystemTest
from voirdire.files import write_csv
from voirdire.report.choices import choices_of, notes_of
from voirdire.report.sentences import because, next_text, reason_text
from voirdire.report.words import without_coefficients
from voirdire.schema import Finding
from voirdire.shown import json_text
from voirdire.study import thresholds_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import polars as pl

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import Verdict
    from voirdire.stats._results import Interval

#: The keys every result has, in this order; further ones follow.
RESULT_KEYS = (
    "judge",
    "attribute",
    "level",
    "n_systems",
    "n_pairs",
    "icc_c1",
    "icc_a1",
    "ci",
    "reliability_class",
    "band",
    "bias",
    "bias_normalised",
    "human_mean",
    "judge_mean",
    "mse",
    "mse_system",
    "rmse",
    "ms_rows",
    "ms_raters",
    "ms_error",
    "ccc",
    "pearson_r",
    "loa_low",
    "loa_high",
    "qwk",
    "alpha_ordinal",
    "excluded_systems",
    "reason",
)

#: The fields of a result that hold one value, as a table's cell does.
_SCALARS = tuple(RESULT_KINDS)


#: What every verdict and component has, in this order; the facts behind `why` and `next` follow.
_VERDICT_KEYS = ("judge", "attribute", "use", "target", "state", "deciding")
_PART_KEYS = ("name", "estimate", "low", "high", "margin", "state")


def result_record(result: PairResult) -> dict[str, Any]:
    """One judge and attribute as plain types: `RESULT_KEYS` first, then what else is known."""
    names = [part.name for part in dataclasses.fields(result)]
    keys = (*RESULT_KEYS, *(name for name in names if name not in RESULT_KEYS))
    return {key: plain(getattr(result, key)) for key in keys}


def write_json(examination: Examination, folder: Path) -> list[Path]:
    """Write results.json and audit.json; a bare NaN is an error, so none is ever written."""
    return [
        _dump(folder / "results.json", examination_record(examination)),
        _dump(folder / "audit.json", finding_records(examination)),
    ]


def _dump(path: Path, content: Any) -> Path:
    path.write_text(json_text(content) + "\n", encoding="utf-8")
    return path


def write_tables(examination: Examination, folder: Path) -> list[Path]:
    """Write icc.csv, a row a judge and attribute, and tests.csv, a row a test.

    An undefined value is an empty cell.
    """
    path, tests = folder / "icc.csv", folder / "tests.csv"
    write_csv(path, icc_frame(examination))
    write_csv(tests, tests_frame(examination))
    return [path, tests]


def write_parquet(examination: Examination, folder: Path) -> list[Path]:
    """Write icc.parquet, and ratings.parquet: every rating that it rests on."""
    icc, ratings = folder / "icc.parquet", folder / "ratings.parquet"
    icc_frame(examination).write_parquet(icc)
    examination.ratings.write_parquet(ratings)
    return [icc, ratings]


def examination_record(examination: Examination) -> dict[str, Any]:
    """The whole examination but its ratings, as `results.json` holds it."""
    from voirdire.examining.verdict.best import best_worth  # noqa: PLC0415 - for files and programs

    return {
        "schema_version": SCHEMA_VERSION,
        "versions": plain(examination.versions),
        "seed": examination.study.analysis.seed,
        "options": plain(examination.inputs.options),
        "input_hashes": plain(examination.inputs.hashes),
        "results": _result_records(examination.results),
        "study": {"name": examination.study.name, "date": examination.date},
        "declared": declared_record(examination),
        "composites": _result_records(examination.rated.composites),
        "ceiling": _result_records(examination.rated.ceiling),
        "verdicts": [verdict_record(verdict) for verdict in examination.verdicts],
        "best": plain(best_worth(examination.verdicts)),
        "evidence": plain(examination.evidence),
        "system_means": plain(examination.rated.system_means),
        "tests": plain(examination.rated.tests),
        "measures": plain(examination.rated.measures),
        "sections": plain(examination.sections),
        "requirements": plain(examination.requirements),
        "choices": plain(choices_of(examination)),
        "notes": plain(notes_of(examination)),
    }


def _result_records(results: Iterable[PairResult]) -> list[dict[str, Any]]:
    """A record each, without a coefficient of the means of fewer than five systems."""
    return [result_record(without_coefficients(result)) for result in results]


def declared_record(examination: Examination) -> dict[str, Any]:
    """What the study asked for, and its SHA-256: the same before and after the data are read."""
    study = examination.study
    asked = study.model_dump(mode="json", include={"uses", "gate", "margins"})
    return {**asked, "sha256": thresholds_hash(study)}


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """One verdict as plain types, its reason and next step as sentences beside the facts."""
    parts = [
        {
            **{key: plain(getattr(part, key)) for key in _PART_KEYS},
            "note": because(part, verdict.kind),
            **{
                key: plain(getattr(part, key))
                for key in ("reason", "p", "at", "judge", "human", "count")
            },
        }
        for part in verdict.components
    ]
    return {
        **{key: plain(getattr(verdict, key)) for key in _VERDICT_KEYS},
        "why": reason_text(verdict),
        "next": next_text(verdict.next, verdict.state),
        "p": plain(verdict.p),
        "components": parts,
        "not_shown": plain(verdict.not_shown),
        "reason": verdict.reason,
        "step": plain(verdict.next),
        "p_holm": plain(verdict.p_holm),
        "reference": plain(verdict.reference),
        **({} if verdict.kind == "score" else {"kind": verdict.kind, "label": verdict.label}),
    }


def finding_records(examination: Examination) -> list[dict[str, Any]]:
    """The audit's findings as `audit.json` holds them, in the order given."""
    keys = tuple(field.name for field in dataclasses.fields(Finding))
    return [{key: plain(getattr(finding, key)) for key in keys} for finding in examination.findings]


def icc_frame(examination: Examination) -> pl.DataFrame:
    """One row a judge and attribute (composites last); an interval is two columns.

    A column has the same type whatever it holds; one that is all null as well.
    """
    import polars as pl  # noqa: PLC0415 - kept out of the terminal's way

    types = {str: pl.String, int: pl.Int64, bool: pl.Boolean, float: pl.Float64}
    rows = [_flat(result) for result in (*examination.results, *examination.rated.composites)]
    of_field = {name: types[kind] for name, kind in RESULT_KINDS.items()}
    of_field |= dict.fromkeys(("excluded_systems", "reference"), pl.String)
    schema = {name: of_field.get(name, pl.Float64) for name in _flat_columns(rows)}
    return pl.DataFrame(rows, schema=schema)


def tests_frame(examination: Examination) -> pl.DataFrame:
    """One row a rater and pair of systems, all that were tested."""
    import polars as pl  # noqa: PLC0415 - kept out of the terminal's way

    kinds = {"rater": pl.String, "system_a": pl.String, "system_b": pl.String, "n": pl.Int64}
    names = [part.name for part in dataclasses.fields(SystemTest)]
    schema = {name: kinds.get(name, pl.Float64) for name in names} | {"family_size": pl.Int64}
    rows = [[plain(getattr(test, name)) for name in names] for test in examination.rated.tests]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _flat_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of all rows; without any, those that hold one value."""
    return list(dict.fromkeys(name for row in rows or [dict.fromkeys(_SCALARS)] for name in row))


def _flat(result: PairResult) -> dict[str, Any]:
    result = without_coefficients(result)
    record = result_record(result)
    row = {key: value for key, value in record.items() if key in _SCALARS}
    row["excluded_systems"] = ";".join(result.excluded_systems)
    row["reference"] = ";".join(result.reference)
    intervals: list[tuple[str, Interval | None]] = [
        (f"icc_{one.form.replace(',', '').lower()}_{one.interval.method}", one.interval)
        for one in result.ci
    ]
    intervals += [("bias", result.bias_interval)]
    intervals += [("loa_low_ci", result.loa_low_ci), ("loa_high_ci", result.loa_high_ci)]
    for name, interval in intervals:
        row[f"{name}_low"] = None if interval is None else plain(interval.low)
        row[f"{name}_high"] = None if interval is None else plain(interval.high)
    return row


def plain(value: Any) -> Any:
    """Dicts, lists, numbers, text and None; what is undefined or infinite becomes None.

    >>> plain({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    # Asked first: a result with a way of its own knows better than its fields what to show.
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
