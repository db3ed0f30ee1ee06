"""The reading of a table: a role for each column with the reason, from numbers first, names second.

What nobody named is looked for in this order: who is the reference (a header, a value of a column,
or the files themselves), which columns tell rows apart, and who else judged. What stays unsure and
would change a number is a question.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.late import pattern
from voirdire.study import Source
from voirdire.tables._derived import linear_in, made_of_others
from voirdire.tables._guess import ask_of_whom
from voirdire.tables._judging import (
    are_shares,
    few_words,
    is_persons,
    joined_names,
    judges_like,
    labels_of,
    may_judge,
    numbers_of_column,
    on_scale,
    says_these,
    scale_of,
    span_of,
    speaks_of_else,
    speaks_of_models,
    unused,
    why_not,
    within_usual,
    words_in,
)
from voirdire.tables._keys import keys_of
from voirdire.tables._names import (
    find,
    is_person,
    kind_of,
    measures,
    names_rater,
)
from voirdire.tables._role import ColumnRole, NamedRaters, Role, Roles, Sure
from voirdire.tables._row_roles import attribute_by_name, row_roles
from voirdire.tables._tables import plural
from voirdire.tables._values import beside, is_score, replies_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Scale
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Headers that speak of an evaluation: which of several candidates are proposed, and no more.
_EVALUATES = pattern(
    r"eval|scor|rating|grade|quality|relev|correct|helpful|faithful|accura|judg|verdict|assess"
    r"|bewert|urteil|note|évalu|puntu|voto|betyg|ocen|cijfer|评|評",
    re.IGNORECASE,
)
#: The column that says from which sheet a row is.
_SHEET = "sheet"
#: What stands between the parts of a header.
_BETWEEN_PARTS = pattern(r"\s*[_:.\u2013\u2014/-]\s*")
#: More raters than this are hardly named in a column.
_MOST_RATERS = 2_000


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
        people = tuple(c for c in columns if is_person(c) and is_persons(raw, c))
        people = people or people_spoken_of(raw)
        if not people or find("rater", columns, None, raw.name) or not judges:
            return Roles(source)  # by names alone it is told, or asked, who people are
        asked = NamedRaters(people, asked.judges)
    # A judge may stand in a column of its own beside that of the raters.
    named = (*asked.reference, *(j for j in asked.judges if j not in columns))
    if any(replies_in(raw, c) for c in asked.reference if c in columns):
        return Roles(source)
    if set(asked.reference) & set(columns):
        return _Wide(raw, source, asked).roles(judges=judges)
    rater = rater_column(raw, source, named)
    grid = _grid(raw, source, asked) if rater is None else Roles(source)
    if grid.columns or (rater is None and alone):
        return grid
    return row_roles(raw, source, rater, asked)


def people_spoken_of(raw: RawTable) -> tuple[str, ...]:
    """Names of people in the cells of a column of few words, or in the headers of several columns
    of scores: ``source`` with *human* and *judge*, or ``gpt4o.human`` beside ``gpt4o.llm``.
    """
    frame = raw.frame
    for column in frame.columns:
        if frame[column].dtype == pl.String and few_words(frame[column]):
            names = frame[column].drop_nulls().unique(maintain_order=True).to_list()
            people = tuple(name for name in names if is_person(name))
            if people and len(people) < len(names):
                return people
    parts: dict[str, int] = {}
    for column in frame.columns:
        if is_score(raw, column):
            for part in dict.fromkeys(_BETWEEN_PARTS.split(column)):
                parts[part] = parts.get(part, 0) + is_person(part)
    return tuple(part for part, count in parts.items() if count > 1)[:1]


def _rated(raw: RawTable, column: str) -> bool:
    return may_judge(raw, column) or bool(labels_of(raw, [column]))


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
    rest_roles = unused(raw, [one.column for one in found])
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


class _Wide:
    """A table whose headers name the reference: a row an answer, a column a rater."""

    def __init__(self, raw: RawTable, source: Source, asked: NamedRaters) -> None:
        self.raw, self.source, self.asked = raw, source, asked
        self.columns = [c for c in raw.frame.columns if c not in source.ignore]
        self.reference = [c for c in asked.reference if c in self.columns]
        #: What speaks against a column being a judge's, beside its own values.
        self.against: dict[str, str] = {}

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
        words = words_in(raw, self.reference)
        said = [c for c in self.columns if words and says_these(raw, c, words)]
        free = [c for c in self.columns if c not in (*given, *parts, *said)]
        attribute = source.attribute or attribute_by_name(raw, free)
        beside = [c for c in (source.run, attribute) if c]
        keys = keys_of(raw, source, [c for c in free if c != attribute], beside)
        if keys is None and attribute is None and _SHEET in free and raw.together:
            # Sheets with the same columns that are no system's: each is of an attribute.
            others = [c for c in free if c != _SHEET]
            keys = keys_of(raw, source, others, [*beside, _SHEET], attributes=True)
            attribute = None if keys is None else _SHEET
        called = source.item or find("item", free, None, raw.name)
        if keys is None and called is None:
            return Roles(source)  # the rules by names find ids, or ask
        # What is called an id and repeats is told of later; who judged is settled here.
        item, system = keys or (called, source.system)
        found = [ColumnRole(item, "item", "tells the rows apart")] if keys and item else []
        if system is not None:
            found.append(ColumnRole(system, "system", f"tells the rows of one {item} apart"))
        if attribute is not None:
            found.append(ColumnRole(attribute, "attribute", "says what is judged"))
        labels = labels_of(raw, self.reference)
        found_judges = self._judges(people, [item, system], labels) if judges else []
        kind: Role = "label" if labels else "score"
        for column in people:
            sure: Sure = "named" if column in self.reference else "name"
            found.append(ColumnRole(column, kind, "is a person's", sure))
        found += found_judges
        raters = (*people, *(one.column for one in found_judges))
        rest = [
            replace(one, reason=self.against.get(one.column, one.reason))
            for one in unused(raw, [one.column for one in found])
        ]
        changed: dict[str, object] = {"attribute": attribute}
        changed |= {"item": item, "system": system} if keys else {}
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
        return column not in self.asked.judges and is_persons(self.raw, column)

    def _parts(self) -> list[str]:
        """Columns that a source names, and those of texts and replies by their names."""
        named = (
            self.source.context,
            self.source.response,
            self.source.reason,
            self.source.status,
            self.source.cluster,
            self.source.subgroup,
            self.source.run,
            self.source.attribute,
        )
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
        words = () if labels else words_in(raw, self.reference)
        left = [
            c
            for c in self.columns
            if c not in (*people, *keys, *self._parts())
            and (judges_like(raw, c, labels) or says_these(raw, c, words))
        ]
        scale = scale_of(raw, self.reference)
        called = [
            c
            for c in left
            if not speaks_of_else(c)
            and not self._is_one_persons(c)
            and (names_rater(c) or self._speaks_of_a_model(c, keys, scale))
        ]
        ask_of_whom(raw, [c for c in (*people, *called) if c not in self.asked.reference])
        if called:
            called = self._without_rescaled(called, scale)
            return [ColumnRole(c, kind, "is called as a judge is", "name") for c in called]
        # A name alone speaks against these: another column is not the only one that is left.
        doubtful = [c for c in left if names_rater(c) and on_scale(raw, c, scale)]
        left = [c for c in left if not why_not(raw, c, keys)]
        made = made_of_others(raw, left, [*people, *left])
        left = [c for c in left if c not in made] or left
        left = self._without_rescaled(left, scale)
        # Beside words of the reference's numbers are no judgements of the same kind.
        left = [c for c in left if not words or says_these(raw, c, words)] or left
        # Numbers beyond a hundred are on no scale that people judge by, unless the reference is.
        left = [c for c in left if self._may_be_a_scale(c, scale)] or left
        fits = [c for c in left if labels or on_scale(raw, c, scale)]
        alone = not doubtful or self.source.assume
        if len(left) == 1 and alone and (fits or self.source.assume):
            reason = "is the only one left, with values of the reference's scale"
            return [ColumnRole(left[0], kind, reason, "only")]
        if not left:
            return []
        told = [c for c in left if words and says_these(raw, c, words)]
        usual = [c for c in left if within_usual(raw, c) or are_shares(raw, c)]
        likely = told or fits or usual or left
        likely = (
            [c for c in likely if speaks_of_models(c)]
            or [c for c in likely if _EVALUATES.search(c)]
            or self._beside(people, likely)
            or likely
        )
        likely = doubtful or likely
        left = [*dict.fromkeys((*doubtful, *left))]
        spans = ", ".join(f"{c!r} ({span_of(raw, c)})" for c in left[:12])
        choices = tuple(dict.fromkeys((joined_names(likely), joined_names(left))))
        raise QuestionError(
            f"{raw.name}: who judged is not said, and {plural(len(left), 'column')} may be a "
            f"judge's: {spans}.",
            "judge",
            choices,
            f"judge = {json.dumps(list(likely))}",
        )

    def _beside(self, people: Sequence[str], columns: Sequence[str]) -> list[str]:
        """Of two columns the only one that stands next to a person's: where nothing else speaks
        about either it is the likely one, and no more. Of more columns a place says nothing.
        """
        at = {self.columns.index(c) for c in people}
        near = [c for c in columns if {self.columns.index(c) - 1, self.columns.index(c) + 1} & at]
        return near if len(near) == 1 and len(columns) == 2 else []

    def _without_rescaled(self, columns: Sequence[str], scale: Scale | None) -> list[str]:
        """Columns without those off the reference's scale that are a linear function of one on it:
        `llm_z` beside `llm`.
        """
        on = [c for c in columns if on_scale(self.raw, c, scale)]
        if not 0 < len(on) < len(columns):
            return list(columns)
        of = linear_in(self.raw, columns)
        made = {c: one for c, one in of.items() if c not in on and one in on}
        self.against |= {c: f"is a linear function of {one!r}" for c, one in made.items()}
        return [c for c in columns if c not in made]

    def _may_be_a_scale(self, column: str, scale: Scale | None) -> bool:
        if not is_score(self.raw, column) or on_scale(self.raw, column, scale):
            return True
        numbers = numbers_of_column(self.raw, column)
        return not len(numbers) or float(numbers.abs().max() or 0) <= 100  # type: ignore[arg-type]

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
            and on_scale(self.raw, column, scale)
            and not why_not(self.raw, column, keys)
        )


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
