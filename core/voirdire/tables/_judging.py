"""What the values of a column can be: judgements of a kind, on a scale, or something else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.kinds import Cells, labels_in
from voirdire.late import pattern
from voirdire.tables._keys import is_counter
from voirdire.tables._names import (
    find,
    is_id,
    is_person,
    is_usual,
    kind_of,
    measures,
    names_rater,
    sums_up,
)
from voirdire.tables._numbers import are_texts, folded, order_of, to_scores
from voirdire.tables._role import ColumnRole
from voirdire.tables._scale import infer_scale
from voirdire.tables._values import holds_replies, is_score, is_small, replies_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Scale
    from voirdire.tables._files import RawTable

#: Headers that speak of a model or of what judges, in several languages: whole words where short.
#: They only say which of several candidates is proposed.
_SPEAKS_OF_MODELS = pattern(
    r"mod[eèé]l|automat|algorit|maschine|machine|juge|juez|juiz|giudice|richter|rechter|jueza"
    r"|(?:^|[\W_])(?:ki|ia|ai|llm|slm|bot|robot)(?:$|[\W_])|^(?:AI|KI|IA)(?=\W|[^\x00-\x7f])"
    r"|yapay[_ ]zek[aâ]|teko[äa]ly|sztuczn\w+ intelig|kunstmatig|k[uü]nstlich|искусств|модел|судья"
    r"|(?:^|[\W_])(?:ші|ии)(?:$|[\W_])|штучн|μοντέλ|μοντελ|τεχνητ|κριτή"
    r"|نموذج|نموذجي|ذكاء|الذكاء|قاضي|מודל|שופט|मॉडल|एआई|निर्णायक|โมเดล|mô[ _]hình|trí[ _]tuệ"
    r"|hakim|penilai[ _]otomatis|umělá|umelá|mesters[eé]ges|vještačk"
    r"|tehisaru|mākslīg|dirbtin|kunstig|konstgjord"
    r"|人工智能|人工知能|인공지능|모델|モデル|模型|评委|裁判|评审|評審|심사",
    re.IGNORECASE,
)
#: Of fewer levels a scale is one of yes and no, or of low, middle and high.
_FEWEST_LEVELS = 4
#: What stands between the labels of a set.
_BETWEEN = pattern(r"[|;,/]")


def speaks_of_models(header: str) -> bool:
    """Whether a header speaks of a model or of what judges, in several languages.

    >>> speaks_of_models("juez"), speaks_of_models("página")
    (True, False)
    """
    return _SPEAKS_OF_MODELS.search(header) is not None


def is_persons(raw: RawTable, column: str) -> bool:
    """Whether a header is a person's, over what can be judgements."""
    if is_usual(column) or measures(column) or sums_up(column):
        return False
    return (is_person(column) or kind_of(column) == "human") and may_judge(raw, column)


def within_usual(raw: RawTable, column: str) -> bool:
    """Whether the values of a column are few steps of a usual scale."""
    scores = numbers_of_column(raw, column)
    scale = infer_scale(scores)
    return scale.high <= 10 and not scale.continuous


def joined_names(names: Sequence[str]) -> str:
    return ", ".join(f'"{n}"' if "," in n or '"' in n else n for n in names)


def span_of(raw: RawTable, column: str) -> str:
    if not is_score(raw, column):
        return listed(raw.frame[column].drop_nulls().cast(pl.String).unique().sort().to_list()[:4])
    scores = numbers_of_column(raw, column).to_list()
    return f"{min(scores):g} to {max(scores):g}" if scores else "blank"


def numbers_of_column(raw: RawTable, column: str) -> pl.Series:
    values = to_scores(raw.frame[column], decimal_comma=raw.decimal_comma).values
    return values.drop_nulls()


def judges_like(raw: RawTable, column: str, labels: Sequence[str]) -> bool:
    """Whether the values of a column can be judgements of the kind of the reference's."""
    return (
        says_these(raw, column, [*map(str.casefold, labels)]) if labels else may_judge(raw, column)
    )


def says_these(raw: RawTable, column: str, known: Sequence[str]) -> bool:
    """Whether most of the words of a column are among those that are known."""
    cells = raw.frame[column]
    if cells.dtype != pl.String or are_texts(cells):
        return False
    words = _parts_of(cells)
    return bool(words) and 2 * len(words & set(known)) >= len(words)


def words_in(raw: RawTable, columns: Sequence[str]) -> tuple[str, ...]:
    """The words of columns that hold no numbers, with which those of others are compared."""
    texts = [raw.frame[c] for c in columns if raw.frame[c].dtype == pl.String]
    texts = [cells for cells in texts if not (is_score(raw, cells.name) or are_texts(cells))]
    return tuple({word for cells in texts for word in _parts_of(cells)})


def _parts_of(cells: pl.Series) -> set[str]:
    """The different words of a column, those of sets apart."""
    distinct = folded(cells.unique()).drop_nulls()
    return {part.strip() for cell in distinct for part in _BETWEEN.split(cell)}


def may_judge(raw: RawTable, column: str) -> bool:
    """Whether a column holds scores, or words that are: replies and long texts are none."""
    cells = raw.frame[column]
    if cells.dtype == pl.String and (are_texts(cells) or holds_replies(cells)):
        return replies_in(raw, column)
    if is_score(raw, column):
        return is_small(raw, column)
    return cells.dtype == pl.String and bool(order_of({column: folded(cells)}))


def why_not(raw: RawTable, column: str, keys: Sequence[str | None] = ()) -> str:
    """The positive reason why a column of numbers is no judge's; empty where there is none."""
    frame = raw.frame
    cells = frame[column]
    by_name = speaks_of_else(column)
    item, system = (*keys, None, None)[:2]
    repeated = item is not None and frame[item].n_unique() < frame.height
    same = [key for key in (item, system) if repeated and key and follows(frame, column, [key])]
    reasons = (
        (bool(by_name), by_name),
        (cells.dtype.is_temporal(), "holds dates"),
        (is_counter(cells), "counts the rows"),
        (cells.drop_nulls().n_unique() < 2, "holds one value throughout"),
        (bool(same), f"is the same in all rows of one {next(iter(same), '')}"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def follows(frame: pl.DataFrame, column: str, key: Sequence[str]) -> bool:
    """Whether a column says the same in all rows of a key."""
    return frame.select(*key, column).n_unique() == frame.select(key).n_unique()


def speaks_of_else(column: str) -> str:
    """Why a column is no judge's by its name; empty where its name does not speak against it."""
    if measures(column):
        return "measures something, by its name"
    usual = is_usual(column) and find("score", [column], None, "") is None
    if is_id(column) or (usual and not names_rater(column)):
        return "is called by a usual word for another part"
    return "sums others up, by its name" if sums_up(column) else ""


def scale_of(raw: RawTable, columns: Sequence[str]) -> Scale | None:
    numbers = [numbers_of_column(raw, c) for c in columns if is_score(raw, c)]
    return infer_scale(pl.concat(numbers)) if numbers else None


def on_scale(raw: RawTable, column: str, scale: Scale | None) -> bool:
    """Whether the values of a column are levels of the reference's scale, or lie between them."""
    if scale is None or not is_score(raw, column):
        return scale is None
    scores = numbers_of_column(raw, column)
    inside = scores.is_between(scale.low, scale.high).all()
    if not inside or scale.continuous:
        return bool(inside)
    steps = (scores - scale.low) / scale.step
    whole = ((steps - steps.round()).abs() < 1e-6).mean() or 0
    return float(whole) >= 0.5 or _is_finer(scores, scale)  # type: ignore[arg-type]


def _is_finer(scores: pl.Series, scale: Scale) -> bool:
    """Whether numbers are spread over a scale of several levels, on more steps than it has: a
    share from 0 to 1 beside 0, .25, .5, .75 and 1. Beside yes and no it may be how sure one was.
    """
    levels = round((scale.high - scale.low) / scale.step) + 1
    spread = float(scores.max() or 0) - float(scores.min() or 0)  # type: ignore[arg-type]
    most = 0.5 * (scale.high - scale.low)
    return levels >= _FEWEST_LEVELS and scores.n_unique() > levels and spread > most


def are_shares(raw: RawTable, column: str) -> bool:
    """Whether the values of a column are shares from 0 to 1."""
    return is_score(raw, column) and bool(numbers_of_column(raw, column).is_between(0, 1).all())


def few_words(cells: pl.Series) -> bool:
    """Whether a column holds few short words that repeat."""
    return (
        cells.dtype == pl.String
        and not are_texts(cells)
        and bool(labels_in(Cells.of(cells.name, [cells])))
    )


def labels_of(raw: RawTable, columns: Sequence[str]) -> tuple[str, ...]:
    """The labels that columns of words hold; none where they are scores in words."""
    texts = [raw.frame[c] for c in columns if raw.frame[c].dtype == pl.String]
    if len(texts) < len(columns) or any(
        is_score(raw, c) or are_texts(raw.frame[c]) for c in columns
    ):
        return ()
    if order_of({c: folded(raw.frame[c]) for c in columns}) or any(map(holds_replies, texts)):
        return ()
    return labels_in(Cells.of(", ".join(columns), texts))


def unused(raw: RawTable, taken: Sequence[str]) -> list[ColumnRole]:
    """The columns that play no part, each with what speaks against it."""
    rest = []
    for column in raw.frame.columns:
        if column in taken:
            continue
        cells = raw.frame[column]
        if cells.dtype == pl.String and are_texts(cells):
            rest.append(ColumnRole(column, "text", "holds texts"))
            continue
        why = why_not(raw, column) or "nobody named it, and nothing says that it is a judge's"
        rest.append(ColumnRole(column, "not used", why))
    return rest
