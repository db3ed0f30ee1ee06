"""The reading of a table: a role for each column with the reason, from numbers first, names second.

What nobody named is looked for in this order: who is the reference (a header, a value of a column,
or the files themselves), which columns tell rows apart, and who else judged. What stays unsure and
would change a number is a question.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.kinds import Cells, labels_in
from voirdire.late import dataclass, pattern
from voirdire.study import Source
from voirdire.tables._guess import ask_of_whom
from voirdire.tables._keys import identifies, is_counter, keys_of, says_system
from voirdire.tables._names import (
    find,
    is_id,
    is_person,
    is_usual,
    kind_of,
    measures,
    names_rater,
    plain_word,
    sums_up,
)
from voirdire.tables._numbers import are_texts, folded, order_of, to_scores
from voirdire.tables._scale import infer_scale
from voirdire.tables._tables import plural
from voirdire.tables._values import beside, holds_replies, is_score, is_small, replies_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Scale
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

Role = Literal[
    "item", "system", "cluster", "turn", "rater", "score", "label", "label set", "winner",
    "order shown", "probability", "status", "run", "attribute", "text", "reason", "about an item",
    "about a rater", "subgroup", "label_probability", "weight", "not used",
]  # fmt: skip
#: How sure a role is: somebody named it, numbers say it, a name says it, or nothing else is left.
Sure = Literal["named", "numbers", "name", "only"]
#: Headers over labels.
_LABEL_WORDS = ("label", "class", "category", "annotation", "intent", "choice", "verdict", "code")
#: Headers over what of an answer was judged.
_ATTRIBUTES = pattern(
    r"attribut|criteri|dimension|aspect|metric|trait|(?:^|[_ ])what(?:$|[_ ])|kriteri|merkmal"
    r"|crit[eè]re|facet|rubric|(?:^|[_ ])measure(?:$|[_ ])",
    re.IGNORECASE,
)
#: Headers that speak of an evaluation: which of several candidates are proposed, and no more.
_EVALUATES = pattern(
    r"eval|scor|rating|grade|quality|relev|correct|helpful|faithful|accura|judg|verdict|assess"
    r"|bewert|urteil|note|évalu|puntu|voto|betyg|ocen|cijfer|评|評",
    re.IGNORECASE,
)
#: Headers over scores that say nothing of what was scored: beside one of them is no attribute.
_SCORE_WORDS = frozenset(
    ("mark", "marks", "stars", "points", "pts", "rate", "overall", "bewertung", "punkte", "nota",
     "sterne", "wertung", "stufe", "note", "étoiles", "évaluation", "puntos", "puntuación", "voto",
     "cijfer", "ocena", "betyg", "punktzahl")
)  # fmt: skip
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
#: What stands between the labels of a set.
_BETWEEN = pattern(r"[|;,/]")
#: More raters than this are hardly named in a column.
_MOST_RATERS = 2_000


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column of a file holds.

    Attributes
    ----------
    column : str
    role : str
        See `Role`.
    reason : str
        Ends a sentence that begins with the column's name.
    sure : {"named", "numbers", "name", "only"}
    """

    column: str
    role: Role
    reason: str
    sure: Sure = "numbers"


@dataclass(frozen=True, slots=True)
class Roles:
    """What was found out about a table: its source with it, and the role of each column.

    `raters` are columns of judgements, `judges` those of them that are no people.
    """

    source: Source
    columns: tuple[ColumnRole, ...] = ()
    raters: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedRaters:
    """Who is named: the reference, and the judges."""

    reference: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


def speaks_of_models(header: str) -> bool:
    """Whether a header speaks of a model or of what judges, in several languages.

    >>> speaks_of_models("juez"), speaks_of_models("página")
    (True, False)
    """
    return _SPEAKS_OF_MODELS.search(header) is not None


def roles_of(
    raw: RawTable, source: Source, asked: NamedRaters, *, judges: bool = True, alone: bool = True
) -> Roles:
    """The roles of a table's columns, as far as its numbers and those who named some say them.

    A table whose layout is declared, or where nothing is known of the reference, is left to the
    rules by names. Without `judges` nobody looks for these. Of several files (not `alone`) each
    may hold what one rater judged, who is called as it is.

    Raises
    ------
    QuestionError
        Several columns may be the item, the score or a judge.
    TableError
        A named judge is not there.
    """
    declared = source.layout != "auto" or source.prefix or source.columns
    columns = raw.frame.columns
    if declared:
        return Roles(source)
    if not asked.reference:
        # Nobody is named: headers that are people's stand for the reference until it is chosen.
        people = tuple(c for c in columns if is_person(c) and _is_persons(raw, c))
        if not people or find("rater", columns, None, raw.name) or not judges:
            return Roles(source)  # by names alone it is told, or asked, who people are
        asked = NamedRaters(people, asked.judges)
    named = (*asked.reference, *asked.judges)
    if any(replies_in(raw, c) for c in asked.reference if c in columns):
        return Roles(source)
    if set(asked.reference) & set(columns):
        return _Wide(raw, source, asked).roles(judges=judges)
    rater = rater_column(raw, source, named)
    grid = _grid(raw, source, asked) if rater is None else Roles(source)
    if grid.columns or (rater is None and alone):
        return grid
    return _long(raw, source, rater, asked)


def _is_persons(raw: RawTable, column: str) -> bool:
    """Whether a header is a person's, over what can be judgements."""
    if is_usual(column) or measures(column) or sums_up(column):
        return False
    return (is_person(column) or kind_of(column) == "human") and _may_judge(raw, column)


def _rated(raw: RawTable, column: str) -> bool:
    return _may_judge(raw, column) or bool(_labels_of(raw, [column]))


def _grid(raw: RawTable, source: Source, asked: NamedRaters) -> Roles:
    """A column for each rater and attribute, where the reference stands in the headers of some."""
    columns = [c for c in raw.frame.columns if c not in source.ignore]
    rest = {c: (name, beside(c, name)) for name in asked.reference for c in columns}
    own = {c: pair for c, pair in rest.items() if pair[1] and _rated(raw, c)}
    attributes = {attribute for _, attribute in own.values()}
    others: dict[str, set[str]] = {}
    for column in columns:
        for attribute in attributes:
            rater = beside(column, attribute) if column not in own else ""
            if rater and _rated(raw, column):
                others.setdefault(rater, set()).add(attribute)
    # A whole grid only: two names that happen to share an end are no raters of attributes.
    judges = tuple(rater for rater, held in others.items() if held == attributes)
    judges = tuple(j for j in judges if not asked.judges or j in asked.judges)
    if not judges and len(attributes) > 1:
        others = _with_other_names(raw, [c for c in columns if c not in own], len(attributes))
        judges = tuple(others)
        attributes |= {attribute for held in others.values() for attribute in held}
    elif len(attributes) == 1 and not asked.judges:
        # Of one attribute the ends of two headers may meet by chance: a name has to speak.
        judges = tuple(j for j in judges if names_rater(j) or speaks_of_models(j)) or (
            judges if len(judges) == 1 and not measures(judges[0]) else ()
        )
    raters = (*asked.reference, *judges)
    values = [c for c in columns if c in own or any(beside(c, a) in judges for a in attributes)]
    rest_of = [c for c in columns if c not in values]
    keys = keys_of(raw, source, rest_of, [], attributes=len(attributes) > 1)
    if not judges or keys is None:
        return Roles(source)
    item, system = keys
    found = [ColumnRole(item, "item", "tells the rows apart")]
    found += [ColumnRole(system, "system", f"tells the rows of one {item} apart")] if system else []
    found += [ColumnRole(c, "score", "is called by a rater and an attribute") for c in values]
    changed = {
        k: v for k, v in (("item", item), ("system", system)) if v and not getattr(source, k)
    }
    rest_roles = _unused(raw, [one.column for one in found])
    return Roles(source.model_copy(update=changed), (*found, *rest_roles), raters, judges)


def _with_other_names(raw: RawTable, columns: Sequence[str], count: int) -> dict[str, set[str]]:
    """The judges in whose headers stand as many attributes under other names: `KI_clarity` beside
    `Mensch_Klarheit`.
    """
    found: dict[str, set[str]] = {}
    for column in columns:
        judge = re.split(r"\s*[_:.–—-]\s*|\s+", column, maxsplit=1)[0]
        speaks = names_rater(judge) or speaks_of_models(judge)
        attribute = beside(column, judge)
        if speaks and attribute and not measures(column) and _rated(raw, column):
            found.setdefault(judge, set()).add(attribute)
    return {judge: held for judge, held in found.items() if len(held) == count}


def rater_column(raw: RawTable, source: Source, named: Sequence[str]) -> str | None:
    """The column that holds the names of the reference, and of others beside them."""
    if source.rater is not None:
        return source.rater if source.rater in raw.frame.columns else None
    called = find("rater", raw.frame.columns, None, raw.name)
    for column in sorted(raw.frame.columns, key=lambda name: name != called):
        cells = raw.frame[column]
        if cells.dtype != pl.String:
            continue
        names = cells.str.strip_chars().unique()
        if len(names) <= min(_MOST_RATERS, raw.frame.height / 2) and set(named) <= set(names):
            return column
    return None


def _long(raw: RawTable, source: Source, rater: str | None, asked: NamedRaters) -> Roles:
    """A row a judgement: the columns of item, system, attribute and score beside that of raters,
    if there is one.
    """
    frame = raw.frame
    found = [ColumnRole(rater, "rater", f"holds {listed(asked.reference)}")] if rater else []
    update: dict[str, object] = {"rater": rater}
    attribute = source.attribute or _attribute_by_name(
        raw, [c for c in frame.columns if c != rater]
    )
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
        own = tuple(c for c in scores if not _follows(frame, c, unit))
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
    labels = _labels_of(raw, [score]) if score else ()
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
    return Roles(read, (*found, *_unused(raw, [one.column for one in found])))


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
        if column in (source.item, source.system) or not _few_words(raw.frame[column]):
            continue
        rest = [c for c in free if c != column]
        keys = keys_of(raw, source, rest, [*beside, column], attributes=True)
        if keys is not None:
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
            "attribute", (*found,), f"attribute = {json.dumps(next(iter(found)))}", likely=False,
        )  # fmt: skip
    return next(iter(found.items()), (None, None))


def _attribute_by_name(raw: RawTable, columns: Sequence[str]) -> str | None:
    """The column called as attributes are, over a few names of them."""
    called = find("attribute", columns, None, raw.name)
    names = [called, *columns] if called is not None else columns
    fits = [c for c in names if _ATTRIBUTES.search(c) or c == called]
    return next((c for c in fits if _few_words(raw.frame[c])), None)


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
    if called is not None and (is_score(raw, called) or _few_words(raw.frame[called])):
        return (called,)
    free = [c for c in columns if c not in (source.item, source.system, source.run)]
    by_rater = [rater] if rater else []
    able = [
        c for c in free
        if _may_judge(raw, c) and not (rater and _follows(raw.frame, c, by_rater))
    ]  # fmt: skip
    numbers = [c for c in able if not _why_not(raw, c)]
    if len(numbers) > 1:
        numbers = [c for c in numbers if _within_usual(raw, c)] or numbers
    _ask_what_is_judged(raw, source, numbers, [c for c in able if measures(c)])
    said = [c for c in numbers if plain_word(c) in _SCORE_WORDS]
    if len(said) == 1 and len(numbers) > 1 and not source.assume:
        if attribute is None:
            _ask_what_is_judged(raw, source, said, [c for c in numbers if c not in said])
        numbers = said
    # What tells the rows of a rater apart is an item, though each stands there several times.
    words = [
        c for c in free
        if _few_words(raw.frame[c]) and not is_usual(c) and not identifies(raw.frame, c, by_rater)
    ]  # fmt: skip
    words = [c for c in words if not says_system(c) and not _ATTRIBUTES.search(c)] or words
    called_so = [c for c in words if plain_word(c) in _LABEL_WORDS]
    if called_so and (not numbers or set(called_so) & set(numbers)):
        return (called_so[0],)
    candidates = tuple(numbers or words)
    spans = {(s.low, s.high) for s in (_scale_of(raw, [c]) for c in numbers) if s is not None}
    if len(candidates) < 2 or (numbers and len(spans) == 1) or source.assume:
        return candidates if numbers else candidates[:1]
    raise QuestionError(
        f"{raw.name}: which column holds the judgements{f' of {rater!r}' if rater else ''}?",
        "score", candidates[:8], f"score = {json.dumps(candidates[0])}",
    )  # fmt: skip


def _ask_what_is_judged(
    raw: RawTable, source: Source, numbers: Sequence[str], others: Sequence[str]
) -> None:
    """Raise where columns have the levels of judgements, and a name speaks against them: `length`
    from 1 to 5 beside `tone` from 1 to 5, or `seat` beside `mark`.
    """
    levels = {frozenset(_numbers(raw, c).unique().to_list()) for c in numbers}
    alike = [c for c in others if frozenset(_numbers(raw, c).unique().to_list()) in levels]
    if not alike or source.assume:
        return
    both = [c for c in raw.frame.columns if c in numbers or c in alike]
    measured = all(map(measures, alike))
    choices = (both, numbers) if measured else (numbers, both)
    have, its = ("has", "its name") if len(alike) == 1 else ("have", "their names")
    raise QuestionError(
        f"{raw.name}: {listed(alike)} {have} the levels of {listed(numbers)} and may be no "
        f"judgement, by {its}; what was judged?",
        "only", (_joined(choices[0]), _joined(choices[1])), f"only = {json.dumps(choices[0])}",
        likely=False,
    )  # fmt: skip


def _within_usual(raw: RawTable, column: str) -> bool:
    """Whether the values of a column are few steps of a usual scale."""
    scores = _numbers(raw, column)
    scale = infer_scale(scores)
    return scale.high <= 10 and not scale.continuous


class _Wide:
    """A table whose headers name the reference: a row an answer, a column a rater."""

    def __init__(self, raw: RawTable, source: Source, asked: NamedRaters) -> None:
        self.raw, self.source, self.asked = raw, source, asked
        self.columns = [c for c in raw.frame.columns if c not in source.ignore]
        self.reference = [c for c in asked.reference if c in self.columns]

    def roles(self, *, judges: bool) -> Roles:
        """The role of each column; without `judges` those of judges are not looked for.

        Raises
        ------
        QuestionError
            Several may be judges, or the item.
        TableError
            A named judge is no column.
        """
        raw, source = self.raw, self.source
        if find("rater", self.columns, None, raw.name) and self._is_long():
            return Roles(source)
        people = [c for c in self.columns if self._is_person(c)]
        given = [c for c in (*self.asked.judges, *people) if c in self.columns]
        parts = self._parts()
        # What says the reference's words is no name of anything, whatever its header.
        words = _words_in(raw, self.reference)
        said = [c for c in self.columns if words and _says(raw, c, words)]
        free = [c for c in self.columns if c not in (*given, *parts, *said)]
        attribute = source.attribute or _attribute_by_name(raw, free)
        beside = [c for c in (source.run, attribute) if c]
        keys = keys_of(raw, source, [c for c in free if c != attribute], beside)
        if keys is None:
            return Roles(source)  # the rules by names find ids, or ask
        item, system = keys
        found = [ColumnRole(item, "item", "tells the rows apart")]
        if system is not None:
            found.append(ColumnRole(system, "system", f"tells the rows of one {item} apart"))
        if attribute is not None:
            found.append(ColumnRole(attribute, "attribute", "says what is judged"))
        labels = _labels_of(raw, self.reference)
        found_judges = self._judges(people, [item, system], labels) if judges else []
        kind: Role = "label" if labels else "score"
        for column in people:
            sure: Sure = "named" if column in self.reference else "name"
            found.append(ColumnRole(column, kind, "is a person's", sure))
        found += found_judges
        raters = (*people, *(one.column for one in found_judges))
        rest = _unused(raw, [one.column for one in found])
        changed: dict[str, object] = {"item": item, "system": system, "attribute": attribute}
        changed = {k: v for k, v in changed.items() if v and not getattr(source, k)}
        # Numbers that play no part are not looked at again by the rules by names.
        read = source.model_copy(update=changed)
        return Roles(read, (*found, *rest), raters, tuple(one.column for one in found_judges))

    def _is_long(self) -> bool:
        """Whether a row is one rating after all: names of raters, and a score beside them."""
        column = find("rater", self.columns, None, self.raw.name)
        cells = self.raw.frame[column] if column else None
        if cells is None or cells.dtype != pl.String or column in self.asked.judges:
            return False
        return bool(set(cells.unique()) & set(self.asked.reference))

    def _is_person(self, column: str) -> bool:
        if column in self.asked.reference:
            return True
        return column not in self.asked.judges and _is_persons(self.raw, column)

    def _parts(self) -> list[str]:
        """Columns that a source names, and those of texts and replies by their names."""
        named = (self.source.context, self.source.response, self.source.reason, self.source.status,
                 self.source.cluster, self.source.subgroup, self.source.run,
                 self.source.attribute)  # fmt: skip
        return [name for name in named if name]

    def _judges(
        self, people: Sequence[str], keys: Sequence[str | None], labels: Sequence[str]
    ) -> list[ColumnRole]:
        """The columns of judges: those named; else by their names; else the only one that is left
        and can be; else a question.
        """
        raw, named = self.raw, self.asked.judges
        kind: Role = "label" if labels else "score"
        if named:
            lost = [name for name in named if name not in self.columns]
            if lost:
                raise TableError(
                    f"{raw.name}: no column is called {lost[0]!r}, which --judge names (columns: "
                    f"{listed(self.columns)})"
                )
            return [ColumnRole(name, kind, "was named as a judge", "named") for name in named]
        words = () if labels else _words_in(raw, self.reference)
        left = [
            c for c in self.columns
            if c not in (*people, *keys, *self._parts())
            and (_judges_like(raw, c, labels) or _says(raw, c, words))
        ]  # fmt: skip
        scale = _scale_of(raw, self.reference)
        called = [
            c for c in left
            if not _speaks_of_else(c) and not self._is_one_persons(c)
            and (names_rater(c) or self._speaks_of_a_model(c, keys, scale))
        ]  # fmt: skip
        ask_of_whom(raw, [c for c in (*people, *called) if c not in self.asked.reference])
        if called:
            return [ColumnRole(c, kind, "is called as a judge is", "name") for c in called]
        # A name alone speaks against these: another column is not the only one that is left.
        doubtful = [c for c in left if names_rater(c) and _on_scale(raw, c, scale)]
        left = [c for c in left if not _why_not(raw, c, keys)]
        fits = [c for c in left if labels or _on_scale(raw, c, scale)]
        alone = not doubtful or self.source.assume
        if len(left) == 1 and alone and (fits or self.source.assume):
            reason = "is the only one left, with values of the reference's scale"
            return [ColumnRole(left[0], kind, reason, "only")]
        if not left:
            return []
        likely = fits or [c for c in left if _within_usual(raw, c) or _shares(raw, c)] or left
        likely = [c for c in likely if speaks_of_models(c)] or [
            c for c in likely if _EVALUATES.search(c)
        ] or likely  # fmt: skip
        likely = doubtful or likely
        left = [*dict.fromkeys((*doubtful, *left))]
        spans = ", ".join(f"{c!r} ({_span(raw, c)})" for c in left[:12])
        choices = tuple(dict.fromkeys((_joined(likely), _joined(left))))
        raise QuestionError(
            f"{raw.name}: who judged is not said, and {plural(len(left), 'column')} may be a "
            f"judge's: {spans}.",
            "judge", choices, f"judge = {json.dumps(list(likely))}",
        )  # fmt: skip

    def _is_one_persons(self, column: str) -> bool:
        """Whether a column called as people are holds one value: who filled in the rows."""
        one = self.raw.frame[column].drop_nulls().n_unique() < 2
        return one and kind_of(column) != "judge"

    def _speaks_of_a_model(
        self, column: str, keys: Sequence[str | None], scale: Scale | None
    ) -> bool:
        """Whether a header speaks of a model in any language, over levels of the reference's scale:
        `giudice_ia` does, and `Modelljahr` does not.
        """
        return (
            speaks_of_models(column)
            and _on_scale(self.raw, column, scale)
            and not _why_not(self.raw, column, keys)
        )


def _joined(names: Sequence[str]) -> str:
    return ", ".join(f'"{n}"' if "," in n or '"' in n else n for n in names)


def _span(raw: RawTable, column: str) -> str:
    if not is_score(raw, column):
        return listed(raw.frame[column].drop_nulls().cast(pl.String).unique().sort().to_list()[:4])
    scores = _numbers(raw, column).to_list()
    return f"{min(scores):g} to {max(scores):g}" if scores else "blank"


def _numbers(raw: RawTable, column: str) -> pl.Series:
    values = to_scores(raw.frame[column], decimal_comma=raw.decimal_comma).values
    return values.drop_nulls()


def _judges_like(raw: RawTable, column: str, labels: Sequence[str]) -> bool:
    """Whether the values of a column can be judgements of the kind of the reference's."""
    return _says(raw, column, [*map(str.casefold, labels)]) if labels else _may_judge(raw, column)


def _says(raw: RawTable, column: str, known: Sequence[str]) -> bool:
    """Whether most of the words of a column are among those that are known."""
    cells = raw.frame[column]
    if cells.dtype != pl.String or are_texts(cells):
        return False
    words = _parts_of(cells)
    return bool(words) and 2 * len(words & set(known)) >= len(words)


def _words_in(raw: RawTable, columns: Sequence[str]) -> tuple[str, ...]:
    """The words of columns that hold no numbers, with which those of others are compared."""
    texts = [raw.frame[c] for c in columns if raw.frame[c].dtype == pl.String]
    texts = [cells for cells in texts if not (is_score(raw, cells.name) or are_texts(cells))]
    return tuple({word for cells in texts for word in _parts_of(cells)})


def _parts_of(cells: pl.Series) -> set[str]:
    """The different words of a column, those of sets apart."""
    distinct = folded(cells.unique()).drop_nulls()
    return {part.strip() for cell in distinct for part in _BETWEEN.split(cell)}


def _may_judge(raw: RawTable, column: str) -> bool:
    """Whether a column holds scores, or words that are: replies and long texts are none."""
    cells = raw.frame[column]
    if cells.dtype == pl.String and (are_texts(cells) or holds_replies(cells)):
        return replies_in(raw, column)
    if is_score(raw, column):
        return is_small(raw, column)
    return cells.dtype == pl.String and bool(order_of({column: folded(cells)}))


def _why_not(raw: RawTable, column: str, keys: Sequence[str | None] = ()) -> str:
    """The positive reason why a column of numbers is no judge's; empty where there is none."""
    frame = raw.frame
    cells = frame[column]
    by_name = _speaks_of_else(column)
    item, system = (*keys, None, None)[:2]
    repeated = item is not None and frame[item].n_unique() < frame.height
    same = [key for key in (item, system) if repeated and key and _follows(frame, column, [key])]
    reasons = (
        (bool(by_name), by_name),
        (cells.dtype.is_temporal(), "holds dates"),
        (is_counter(cells), "counts the rows"),
        (cells.drop_nulls().n_unique() < 2, "holds one value throughout"),
        (bool(same), f"is the same in all rows of one {next(iter(same), '')}"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _follows(frame: pl.DataFrame, column: str, key: Sequence[str]) -> bool:
    """Whether a column says the same in all rows of a key."""
    return frame.select(*key, column).n_unique() == frame.select(key).n_unique()


def _speaks_of_else(column: str) -> str:
    """Why a column is no judge's by its name; empty where its name does not speak against it."""
    if measures(column):
        return "measures something, by its name"
    usual = is_usual(column) and find("score", [column], None, "") is None
    if is_id(column) or (usual and not names_rater(column)):
        return "is called by a usual word for another part"
    return "sums others up, by its name" if sums_up(column) else ""


def _scale_of(raw: RawTable, columns: Sequence[str]) -> Scale | None:
    numbers = [_numbers(raw, c) for c in columns if is_score(raw, c)]
    return infer_scale(pl.concat(numbers)) if numbers else None


def _on_scale(raw: RawTable, column: str, scale: Scale | None) -> bool:
    """Whether the values of a column are levels of the reference's scale."""
    if scale is None or not is_score(raw, column):
        return scale is None
    scores = _numbers(raw, column)
    inside = scores.is_between(scale.low, scale.high).all()
    if not inside or scale.continuous:
        return bool(inside)
    steps = (scores - scale.low) / scale.step
    return bool(((steps - steps.round()).abs() < 1e-6).mean() or 0) and bool(
        ((steps - steps.round()).abs() < 1e-6).mean() >= 0.5  # type: ignore[operator]
    )


def _shares(raw: RawTable, column: str) -> bool:
    """Whether the values of a column are shares from 0 to 1."""
    return is_score(raw, column) and bool(_numbers(raw, column).is_between(0, 1).all())


def _few_words(cells: pl.Series) -> bool:
    """Whether a column holds few short words that repeat."""
    return (
        cells.dtype == pl.String
        and not are_texts(cells)
        and bool(labels_in(Cells.of(cells.name, [cells])))
    )


def _labels_of(raw: RawTable, columns: Sequence[str]) -> tuple[str, ...]:
    """The labels that columns of words hold; none where they are scores in words."""
    texts = [raw.frame[c] for c in columns if raw.frame[c].dtype == pl.String]
    if len(texts) < len(columns) or any(
        is_score(raw, c) or are_texts(raw.frame[c]) for c in columns
    ):
        return ()
    if order_of({c: folded(raw.frame[c]) for c in columns}) or any(map(holds_replies, texts)):
        return ()
    return labels_in(Cells.of(", ".join(columns), texts))


def _unused(raw: RawTable, taken: Sequence[str]) -> list[ColumnRole]:
    """The columns that play no part, each with what speaks against it."""
    rest = []
    for column in raw.frame.columns:
        if column in taken:
            continue
        cells = raw.frame[column]
        if cells.dtype == pl.String and are_texts(cells):
            rest.append(ColumnRole(column, "text", "holds texts"))
            continue
        why = _why_not(raw, column) or "nobody named it, and nothing says that it is a judge's"
        rest.append(ColumnRole(column, "not used", why))
    return rest


def parts_of(raw: RawTable, read: TableKeys, asked: NamedRaters) -> dict[str, str]:
    """The columns of item, system, rater, attribute and judgement of a table of any kind.

    Those that are named already are not among them, and none is where nobody named a reference.

    Raises
    ------
    QuestionError
        As `roles_of`.
    """
    if not asked.reference or read.layout != "auto":
        return {}
    source = Source(path=raw.name, **read.keys_set())
    found = roles_of(raw, source, asked, judges=False).source
    names = ("item", "system", "rater", "attribute", "score")
    return {
        name: column
        for name in names
        if (column := getattr(found, name)) is not None and getattr(read, name) is None
    }
