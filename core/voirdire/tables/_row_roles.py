"""The roles of a table with a judgement a row: what was judged, by whom, of what, and how."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from voirdire.errors import QuestionError, listed
from voirdire.late import pattern
from voirdire.tables._judging import (
    few_words,
    follows,
    joined_names,
    labels_of,
    may_judge,
    numbers_of_column,
    scale_of,
    unused,
    why_not,
    within_usual,
)
from voirdire.tables._keys import identifies, is_counter, keys_of, says_system
from voirdire.tables._names import (
    find,
    is_usual,
    measures,
    names_rater,
    plain_word,
)
from voirdire.tables._role import ColumnRole, NamedRaters, Role, Roles
from voirdire.tables._values import is_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: Headers over labels.
_LABEL_WORDS = ("label", "class", "category", "annotation", "intent", "choice", "verdict", "code")
#: Headers over what of an answer was judged.
_ATTRIBUTES = pattern(
    r"attribut|crit[eéè]r|kriter|dimens|aspe[ck]t|aspetto|metric|trait|(?:^|[_ ])what(?:$|[_ ])"
    r"|merkmal|facet|rubric|(?:^|[_ ])measure(?:$|[_ ])",
    re.IGNORECASE,
)
#: Headers over scores that say nothing of what was scored: beside one of them is no attribute.
_SCORE_WORDS = frozenset(
    ("mark", "marks", "stars", "points", "pts", "rate", "overall", "bewertung", "punkte", "nota",
     "sterne", "wertung", "stufe", "note", "étoiles", "évaluation", "puntos", "puntuación", "voto",
     "cijfer", "ocena", "betyg", "punktzahl")
)  # fmt: skip


def attribute_by_name(raw: RawTable, columns: Sequence[str]) -> str | None:
    """The column called as attributes are, over a few names of them."""
    called = find("attribute", columns, None, raw.name)
    names = [called, *columns] if called is not None else columns
    fits = [c for c in names if _ATTRIBUTES.search(c) or c == called]
    return next((c for c in fits if few_words(raw.frame[c])), None)


def row_roles(raw: RawTable, source: Source, rater: str | None, asked: NamedRaters) -> Roles:
    """A row a judgement: the columns of item, system, attribute and score beside that of raters,
    if there is one.
    """
    frame = raw.frame
    found = [ColumnRole(rater, "rater", f"holds {listed(asked.reference)}")] if rater else []
    update: dict[str, object] = {"rater": rater}
    attribute = source.attribute or attribute_by_name(raw, [c for c in frame.columns if c != rater])
    scores = (source.score,) if source.score else _scores_of_rows(raw, source, rater, attribute)
    if rater is None and any(map(names_rater, scores)):
        return Roles(source)  # a column says whose judgements it holds
    score = scores[0] if len(scores) == 1 else None
    others = [c for c in frame.columns if c not in scores]
    free = [c for c in others if c not in (rater, attribute)]
    # A column that is declared as one part is no other, whatever it is called.
    run = source.run or find(
        "run", [c for c in free if c not in (source.item, source.system)], None, raw.name
    )
    beside = [name for name in (rater, attribute, run) if name is not None]
    free = [c for c in free if c not in beside]
    keys = keys_of(raw, source, free, beside, attributes=attribute is not None)
    if keys is None and attribute is None:
        attribute, keys = _attribute_by_numbers(raw, source, free, beside)
    if not scores or keys is None:
        return Roles(source)
    item, system = keys
    if rater is None and not source.item and is_counter(frame[item]):
        return Roles(source)  # that numbers mean the same in all files is asked
    if len(scores) > 1:
        # What all raters of an item say alike is about the item.
        unit = [name for name in (item, system) if name]
        own = tuple(c for c in scores if not follows(frame, c, unit))
        scores = own if own and not source.only else scores
        score = scores[0] if len(scores) == 1 else None
    update |= {"item": item, "system": system, "score": score, "attribute": attribute, "run": run}
    found.append(
        ColumnRole(
            item, "item", "tells the rows of a rater apart" if rater else "tells the rows apart"
        )
    )
    if system is not None:
        found.append(ColumnRole(system, "system", f"tells the rows of one {item} apart"))
    if attribute is not None:
        found.append(ColumnRole(attribute, "attribute", "says what is judged"))
    labels = labels_of(raw, [score]) if score else ()
    layout = "long"
    if not labels and attribute is None and not (score and find("score", [score], None, "")):
        # Each column of scores is an attribute, called as it is.
        update |= {"columns": {c: c.removeprefix("Answer.") for c in scores}, "score": None}
        layout = "scores"
    kind: Role = "label" if labels else "score"
    found += [ColumnRole(c, kind, "holds judgements") for c in scores]
    # A plan that names a column of each part is read by it, and guesses nothing.
    changed = {k: v for k, v in update.items() if v and not getattr(source, k)}
    read = source.model_copy(update=changed | {"layout": layout})
    return Roles(read, (*found, *unused(raw, [one.column for one in found])))


def _attribute_by_numbers(
    raw: RawTable, source: Source, free: Sequence[str], beside: Sequence[str]
) -> tuple[str | None, tuple[str, str | None] | None]:
    """A further column of few words with which an item and a system tell the rows apart.

    Raises
    ------
    QuestionError
        Two columns may say what was judged.
    """
    found: dict[str, tuple[str, str | None]] = {}
    for column in free:
        if column in (source.item, source.system) or not few_words(raw.frame[column]):
            continue
        rest = [c for c in free if c != column]
        keys = keys_of(raw, source, rest, [*beside, column], attributes=True)
        # More things are judged than attributes of them.
        if keys is not None and raw.frame[column].n_unique() < raw.frame[keys[0]].n_unique():
            found[column] = keys
    if len(found) > 1:
        found = {c: keys for c, keys in found.items() if keys[1] and says_system(keys[1])} or found
    if len(found) > 1 and not source.assume:
        spans = [
            f"{c!r} ({listed(raw.frame[c].unique(maintain_order=True).to_list(), 3)})"
            for c in found
        ]
        raise QuestionError(
            f"{raw.name}: the rows of a rater differ by {' and '.join(spans)}; which of them says "
            f"what was judged, and which only what answered?",
            "attribute",
            (*found,),
            f"attribute = {json.dumps(next(iter(found)))}",
            likely=False,
        )
    return next(iter(found.items()), (None, None))


def _scores_of_rows(
    raw: RawTable, source: Source, rater: str | None, attribute: str | None
) -> tuple[str, ...]:
    """The columns of judgements of a file with a judgement a row: that of a usual name,
    or all on one scale that nothing speaks against.

    Raises
    ------
    QuestionError
        Several may be, on unlike scales.
    """
    columns = [c for c in raw.frame.columns if c not in (rater, attribute)]
    if source.only and set(source.only) <= set(columns):
        return source.only
    called = find("score", columns, None, raw.name)
    if called is not None and (is_score(raw, called) or few_words(raw.frame[called])):
        return (called,)
    free = [c for c in columns if c not in (source.item, source.system, source.run)]
    by_rater = [rater] if rater else []
    able = [
        c for c in free if may_judge(raw, c) and not (rater and follows(raw.frame, c, by_rater))
    ]
    numbers = [c for c in able if not why_not(raw, c)]
    if len(numbers) > 1:
        numbers = [c for c in numbers if within_usual(raw, c)] or numbers
    _ask_what_is_judged(raw, source, numbers, [c for c in able if measures(c)])
    said = [c for c in numbers if plain_word(c) in _SCORE_WORDS]
    if len(said) == 1 and len(numbers) > 1 and not source.assume:
        if attribute is None:
            _ask_what_is_judged(raw, source, said, [c for c in numbers if c not in said])
        numbers = said
    # What tells the rows of a rater apart is an item, though each stands there several times.
    words = [
        c
        for c in free
        if few_words(raw.frame[c])
        and not is_usual(c)
        and not identifies(raw.frame, c, by_rater)
        and not (rater and follows(raw.frame, c, by_rater))
    ]
    words = [c for c in words if not says_system(c) and not _ATTRIBUTES.search(c)] or words
    called_so = [c for c in words if plain_word(c) in _LABEL_WORDS]
    if called_so and (not numbers or set(called_so) & set(numbers)):
        return (called_so[0],)
    candidates = tuple(numbers or words)
    spans = {(s.low, s.high) for s in (scale_of(raw, [c]) for c in numbers) if s is not None}
    if len(candidates) < 2 or (numbers and len(spans) == 1) or source.assume:
        return candidates if numbers else candidates[:1]
    raise QuestionError(
        f"{raw.name}: which column holds the judgements{f' of {rater!r}' if rater else ''}?",
        "score",
        candidates[:8],
        f"score = {json.dumps(candidates[0])}",
    )


def _ask_what_is_judged(
    raw: RawTable, source: Source, numbers: Sequence[str], others: Sequence[str]
) -> None:
    """Raise where columns have the levels of judgements, and a name speaks against them: `length`
    from 1 to 5 beside `tone` from 1 to 5, or `seat` beside `mark`.
    """
    levels = {frozenset(numbers_of_column(raw, c).unique().to_list()) for c in numbers}
    alike = [c for c in others if frozenset(numbers_of_column(raw, c).unique().to_list()) in levels]
    if not alike or source.assume:
        return
    both = [c for c in raw.frame.columns if c in numbers or c in alike]
    measured = all(map(measures, alike))
    choices = (both, numbers) if measured else (numbers, both)
    have, its = ("has", "its name") if len(alike) == 1 else ("have", "their names")
    raise QuestionError(
        f"{raw.name}: {listed(alike)} {have} the levels of {listed(numbers)} and may be no "
        f"judgement, by {its}; what was judged?",
        "only",
        (joined_names(choices[0]), joined_names(choices[1])),
        f"only = {json.dumps(choices[0])}",
        likely=False,
    )
