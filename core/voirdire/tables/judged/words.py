"""Which labels may be given, and which of them each cell names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, WordsDifferError, listed
from voirdire.kinds import says_nothing
from voirdire.parsing import spelled
from voirdire.tables._numbers import fold
from voirdire.tables._tables import STATUS, finding, plural
from voirdire.tables.judged.cells import members
from voirdire.tables.judged.frames import LABELS, LabelQuestion, ReadJudgements
from voirdire.tables.judged.people import made_of_others, people_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import TableKeys

#: Words that may be a label or the lack of one, beside those that a table writes for a blank.
ODD = frozenset(("unknown", "no response", "no answer", "no reply", "not applicable", "error"))
#: The share of people's cells from which it is asked which of both they are.
OFTEN = 0.01
#: A rater with more of its cells off the list than this speaks another language.
MOSTLY_OFF = 0.5


def judgements_of(
    cells: pl.DataFrame,
    sets: Mapping[str, bool],
    where: str,
    read: TableKeys,
    reference: Sequence[str],
    column: str | None,
    reason: str,
) -> ReadJudgements:
    """Cells of raters as labels.

    Parameters
    ----------
    cells : DataFrame
        ``item, system, run, cluster, subgroup, origin, rater, attribute, cell``.
    sets : mapping
        Attribute -> whether a cell may name several labels.
    column : str or None
        The column of raters, whose header may speak of people.

    Raises
    ------
    QuestionError
        Who is a person, or whether a word is a label, is not known.
    TableError
        A rater gives other words than people, or codes for them.
    """
    raters = cells["rater"].drop_nulls().unique(maintain_order=True).to_list()
    people = people_of(raters, reference, where, column)
    blocks, questions, notes = [], [], []
    for attribute in cells["attribute"].drop_nulls().unique(maintain_order=True):
        block = cells.filter(pl.col("attribute") == attribute)
        said = _said(block, sets=sets[attribute])
        question = _question(attribute, said, people, read, where, sets=sets[attribute])
        questions.append(question)
        notes += [*_folded(question, where), *_off_the_list(question, said, people, read, where)]
        blocks.append(_with_labels(block, question, people, read, where))
    rows = pl.concat(blocks).select(pl.col(name).cast(kind) for name, kind in LABELS.items())
    if not reference and len(questions) == 1 and not questions[0].sets:
        own, derived = made_of_others(rows, people, where)
        rows = rows.filter(pl.col("rater").is_in(own) | ~pl.col("rater").is_in(list(people)))
        people, notes = own, [*notes, *([derived] if derived else [])]
    return ReadJudgements(people, rows, tuple(questions), findings=tuple(notes), reason=reason)


def _said(block: pl.DataFrame, *, sets: bool) -> dict[str, Counter[str]]:
    """Rater -> how often it gives each word."""
    said: dict[str, Counter[str]] = {}
    counts = block.group_by("rater", "cell", maintain_order=True).len()
    for rater, cell, count in counts.drop_nulls().iter_rows():
        words = members(cell) if sets else [cell.strip()] if cell.strip() else []
        for word in words:
            said.setdefault(rater, Counter())[word] += count
    return said


def _question(
    attribute: str,
    said: Mapping[str, Counter[str]],
    people: Sequence[str],
    read: TableKeys,
    where: str,
    *,
    sets: bool,
) -> LabelQuestion:
    """The list of labels: the declared one, else the words of people, one spelling each."""
    every: Counter[str] = sum(said.values(), Counter())
    counts: Counter[str] = sum((said[name] for name in people if name in said), Counter())
    if read.labels:
        by_form = {form_of(word): word for word in read.labels}
    elif sets:
        by_form = _spellings(counts or every)
    else:
        judged = {word for name, words in said.items() if name not in people for word in words}
        by_form = labels_among(counts or every, attribute, where, judged)
    if sets and read.empty is None:
        _ask_about_no_label(counts or every, by_form, attribute, where)
    kept = {word: by_form[form_of(word)] for word in every if form_of(word) in by_form}
    folded = {word: label for word, label in kept.items() if word != label}
    return LabelQuestion(attribute, tuple(sorted(by_form.values())), sets, folded=folded)


def labels_among(
    counts: Counter[str], attribute: str, where: str, judged: Collection[str] = ()
) -> dict[str, str]:
    """Form -> its most frequent spelling, of words by how often they are said.

    Raises
    ------
    QuestionError
        A word that may say that there is no label is said often.
    """
    odd = {word: n for word, n in counts.items() if is_odd(word)}
    by_form = _spellings(counts)
    often = [word for word, n in odd.items() if n > OFTEN * counts.total()]
    if often:
        raise _label_or_not(where, attribute, sorted(by_form.values()), often, odd, judged)
    return by_form


def spellings(counts: Counter[str], question: LabelQuestion, where: str) -> dict[str, str]:
    """Form -> its most frequent spelling, of the words of a question by how often they are said.

    Raises
    ------
    QuestionError
        As `labels_among`; what stands in the place of a set is asked for where the cells are.
    """
    return _spellings(counts) if question.sets else labels_among(counts, question.attribute, where)


def _spellings(counts: Counter[str]) -> dict[str, str]:
    """Form -> its most frequent spelling, without words that may say that there is no label."""
    return {form_of(word): word for word, _ in reversed(counts.most_common()) if not is_odd(word)}


def _ask_about_no_label(
    counts: Counter[str], by_form: Mapping[str, str], attribute: str, where: str
) -> None:
    """Raise where people write a word in place of a set: that no label applies, or no answer?"""
    odd = {word: n for word, n in counts.items() if is_odd(word) and form_of(word) not in by_form}
    often = [word for word, n in odd.items() if n > OFTEN * counts.total()]
    if often:
        raise QuestionError(
            f"{where}: people say {_times(often, odd)} of {attribute}, whose cells are sets of "
            f"labels; does that say that no label applies, or is it missing? (Where it is a label "
            f"itself, name all by --labels.)",
            "empty",
            ("none", "missing"),
            'empty = "none"',
            likely=False,
        )


def is_odd(word: str) -> bool:
    """Whether a word may be a label, or say that there is none.

    >>> is_odd("N/A"), is_odd("Unknown"), is_odd("n/a: the problem is resolved"), is_odd("other")
    (True, True, False, False)
    """
    return says_nothing(word) or fold(word) in ODD


def _label_or_not(
    where: str,
    attribute: str,
    labels: Sequence[str],
    often: Sequence[str],
    odd: Mapping[str, int],
    judged: Collection[str],
) -> QuestionError:
    shown = _times(often, odd)
    lists = [_by_commas(labels), _by_commas([*labels, *often])]
    # What judges say too mostly is a label: *none* of the categories, *unknown* of an aspect.
    if set(often) <= set(judged):
        lists, labels = lists[::-1], [*labels, *often]
    line = ", ".join(f'"{label}"' for label in labels)
    return QuestionError(
        f"{where}: people say {shown} of {attribute}; is that a label, or no answer? Name the "
        f"labels; other words are missing.",
        "labels",
        tuple(lists),
        f"labels = [{line}]",
        likely=False,
    )


def _times(often: Sequence[str], odd: Mapping[str, int]) -> str:
    return ", ".join(f"{word!r} ({odd[word]:,} times)" for word in often)


def _by_commas(labels: Sequence[str]) -> str:
    return ", ".join(f'"{label}"' if "," in label else label for label in labels)


def form_of(word: str) -> str:
    """A label without case, signs and a plural's s; a sign or a number is itself.

    >>> form_of("All-or-Nothing"), form_of("bugs"), form_of("?")
    ('allornothing', 'bug', '?')
    >>> form_of("Billings") == form_of("billing")
    True
    """
    form = spelled(word) or word.strip()
    if len(form) > 3 and form.endswith("s") and not form.endswith("ss"):
        # Its end is spelled like that of the singular: *billing* is *biling*.
        return spelled(form[:-1])
    return form


def _folded(question: LabelQuestion, where: str) -> list[Finding]:
    """Words that differ only in case, signs or a plural, and are one label."""
    if not question.folded:
        return []
    pairs = [f"{word!r} as {label!r}" for word, label in question.folded.items()]
    return [
        finding(
            "labels_folded",
            "note",
            where,
            pairs,
            f"{plural(len(pairs), 'spelling')} of {question.attribute} "
            f"{'was' if len(pairs) == 1 else 'were'} read as another label: {listed(pairs, 5)}.",
            "If these are labels of their own, call them by words that differ.",
        )
    ]


def _off_the_list(
    question: LabelQuestion,
    said: Mapping[str, Counter[str]],
    people: Sequence[str],
    read: TableKeys,
    where: str,
) -> list[Finding]:
    """Words that are no label of the list: missing of a person, and wrong of a judge.

    Were they missing of a judge, it could leave out what it finds hard. A word for no answer is
    missing of everybody.
    """
    forms = {form_of(label) for label in question.labels}
    found = []
    for rater, words in said.items():
        off = Counter({word: n for word, n in words.items() if form_of(word) not in forms})
        if question.sets and read.empty == "none":  # these say that no label applies
            off = Counter({word: n for word, n in off.items() if not is_odd(word)})
        if off.total() > MOSTLY_OFF * words.total() and not read.labels:
            raise WordsDifferError(
                f"{where}: {rater!r} says {listed([w for w, _ in words.most_common()], 6)}, and "
                f"people say {listed(list(question.labels), 6)}: which of them mean the same is "
                f"not known. Write the same words for both, or name all labels by --labels"
            )
        if off:
            shown = [f"{word!r} ({n:,})" for word, n in off.most_common()]
            found.append(
                finding(
                    "words_off_the_list",
                    "serious",
                    where,
                    [f"{rater}: {one}" for one in shown],
                    f"{rater} says {listed([word for word, _ in off.most_common()], 5)} of "
                    f"{question.attribute}, {plural(off.total(), 'time')}: no label of the list.",
                    f"{_what_becomes_of(off, spared=question.sets or rater in people)} Name all "
                    "labels by --labels where they are labels.",
                    count=off.total(),
                )
            )
    return found


def _what_becomes_of(off: Iterable[str], *, spared: bool) -> str:
    if spared or all(map(is_odd, off)):
        return "They are missing."
    odd = " (words for no answer are missing)" if any(map(is_odd, off)) else ""
    return f"They are answers that nobody agrees with, and count against its coverage{odd}."


def _with_labels(
    block: pl.DataFrame,
    question: LabelQuestion,
    people: Sequence[str],
    read: TableKeys,
    where: str,
) -> pl.DataFrame:
    """`labels` and `status` of each cell, each distinct cell once.

    A judge's word off the list is an answer without a label: nobody agrees with it.
    """
    forms = {form_of(label): label for label in question.labels}
    distinct = block["cell"].unique()
    lists: list[list[str] | None] = []
    for text in distinct:
        clean = "" if text is None else str(text).strip()
        if not clean:
            lists.append(None)
        elif question.sets:
            named = [forms[form_of(part)] for part in members(clean) if form_of(part) in forms]
            lists.append(list(dict.fromkeys(named)) if named or _says_none(clean, read) else None)
        else:
            lists.append([forms[form_of(clean)]] if form_of(clean) in forms else None)
    if question.sets:
        lists = _empty_sets(block, distinct, lists, read, where)
    looked = pl.DataFrame(
        {"cell": distinct, "labels": lists}, schema={"cell": pl.String, "labels": LABELS["labels"]}
    )
    joined = block.join(looked, on="cell", how="left", nulls_equal=True, maintain_order="left")
    blank = pl.col("cell").is_null() | (pl.col("cell").str.strip_chars() == "")
    said = [text for text in distinct if text is not None and not is_odd(str(text))]
    wrong = ~blank & ~pl.col("rater").is_in(list(people)) & pl.col("cell").is_in(said)
    joined = joined.with_columns(
        pl.when(pl.col("labels").is_null() & wrong & (not question.sets))
        .then([])
        .otherwise("labels")
        .cast(LABELS["labels"])
        .alias("labels"),
        off=pl.col("labels").is_null(),
    )
    return joined.with_columns(
        pl.when(~pl.col("off"))
        .then(pl.lit("ok"))
        .when(blank)
        .then(pl.lit("blank"))
        .otherwise(pl.lit("out_of_scale"))
        .cast(STATUS)
        .alias("status"),
        pl.lit(None, pl.Float64).alias("probability"),
    )


def _says_none(cell: str, read: TableKeys) -> bool:
    """Whether a cell that names no label of the list says that none applies."""
    words = members(cell)
    return not words or (read.empty == "none" and all(map(is_odd, words)))


def _empty_sets(
    block: pl.DataFrame,
    distinct: pl.Series,
    lists: list[list[str] | None],
    read: TableKeys,
    where: str,
) -> list[list[str] | None]:
    """What an empty cell of a column of sets says: no label, or nothing.

    Raises
    ------
    QuestionError
        There are such cells beside others, and nobody said.
    """
    empty = int((block["cell"].is_null() | (block["cell"].str.strip_chars() == "")).sum())
    if not empty or read.empty == "missing":
        return lists
    if read.empty == "none" and any(
        text is not None and is_odd(str(text)) and given == []
        for text, given in zip(distinct, lists, strict=True)
    ):
        return lists  # a word says that no label applies, and what is blank does not
    if read.empty == "none":
        blanks = [text is None or not str(text).strip() for text in distinct]
        return [[] if blank else given for blank, given in zip(blanks, lists, strict=True)]
    raise QuestionError(
        f"{where}: {plural(empty, 'cell')} of label sets {'is' if empty == 1 else 'are'} empty; "
        f"does that say that no label applies, or is it missing?",
        "empty",
        ("none", "missing"),
        'empty = "none"',
        likely=False,
    )
