"""What a set of labelled examples holds: how many, how long, which labels, and what is shared."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from voirdire.errors import check_allowed
from voirdire.examining.labels.matrix import LabelMatrix, matrix_of_names
from voirdire.schema import Finding
from voirdire.tables import overlap
from voirdire.tabular import Marked, Section, Table, count, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.tables import Example


@dataclass(frozen=True, slots=True)
class Description:
    """Sizes of a set of examples.

    Attributes
    ----------
    examples, labels : int
        How many there are.
    lengths : mapping of str to float
        Text field -> its mean length in characters.
    mean_labels : float
        Labels an example.
    most_labels : int
    """

    examples: int
    labels: int
    lengths: Mapping[str, float]
    mean_labels: float
    most_labels: int


def described(examples: Sequence[Example], labels: Sequence[str]) -> Description:
    """The sizes of a set of examples, of which there is at least one."""
    carried = [len(example.labels) for example in examples]
    lengths = {
        field: fmean(len(example.texts[field]) for example in examples)
        for field in examples[0].texts
    }
    return Description(len(examples), len(labels), lengths, fmean(carried), max(carried))


def named_counts(examples: Iterable[Example], labels: Sequence[str]) -> dict[str, int]:
    """How many examples carry each label, the declared order kept."""
    given = [label for example in examples for label in example.labels]
    return {label: given.count(label) for label in labels}


def described_section(
    title: str,
    sizes: Mapping[str, Description],
    printed: Mapping[str, Sequence[float]],
    fields: Mapping[str, str],
) -> Section:
    """A row for each set, beside what is printed of it.

    Parameters
    ----------
    title : str
    sizes : mapping of str to Description
        Name of a set -> its sizes.
    printed : mapping of str to sequence of float
        Name -> what a paper prints: examples, labels, the lengths in order, labels an example.
    fields : mapping of str to str
        Text field -> the heading of its length.
    """
    rows = []
    for name, one in sizes.items():
        lengths = (one.lengths[field] for field in fields)
        values = (one.examples, one.labels, *lengths, one.mean_labels)
        cells = (Marked(v, f" ({p})") for v, p in zip(values, printed[name], strict=True))
        rows.append((name, *cells, one.most_labels))
    columns = (
        text("Task"), count("Examples"), count("Labels"),
        *(number(heading, 1) for heading in fields.values()),
        number("Labels an example", 1), count("Most labels"),
    )  # fmt: skip
    sentence = "From the files, the printed value in brackets; lengths in characters."
    return Section(title, sentence, (Table(columns, tuple(rows)),))


def counts_section(
    title: str,
    examples: Sequence[Example],
    labels: Sequence[str],
    groups: Mapping[str, str] | None = None,
    group: str = "Group",
) -> Section:
    """How many examples carry each label; with `groups` also what each label belongs to."""
    rows = [
        (*((groups[label],) if groups else ()), label, n, n / len(examples))
        for label, n in named_counts(examples, labels).items()
    ]
    heads = (*((group,) if groups else ()), "Label")
    columns = (*map(text, heads), count("Examples"), number("Share"))
    sentence = "How many examples carry each label, and their share."
    return Section(title, sentence, (Table(columns, tuple(rows)),))


def matrix_of_examples(
    examples: Sequence[Example], labels: Sequence[str], rater: str
) -> LabelMatrix:
    """The labels of examples as a matrix, items in the order of the file."""
    named = [[label for label in example.labels if label in labels] for example in examples]
    return matrix_of_names(named, labels, items=[one.id for one in examples], rater=rater)


def implied_differences(
    coarse: Iterable[Example], fine: Iterable[Example], parents: Mapping[str, str]
) -> tuple[int, tuple[tuple[str, str, str], ...]]:
    """Examples labelled twice, whose coarse labels are not what their fine labels imply.

    Parameters
    ----------
    coarse, fine : iterable of Example
        The examples with each set of labels; they are paired by id.
    parents : mapping of str to str
        Fine label -> the coarse label that it stands under.

    Returns
    -------
    tuple of int and tuple
        How many examples have both; and of those that differ the id, the coarse labels given and
        those implied, in the order of `parents`, joined by semicolons.

    Raises
    ------
    InputError
        A fine label stands under none.

    Examples
    --------
    >>> from voirdire.tables import Example
    >>> coarse = [Example("1", {"text": "Hm."}, ("mood",))]
    >>> fine = [Example("1", {"text": "Hm."}, ("panic",))]
    >>> implied_differences(coarse, fine, {"low": "mood", "panic": "anxiety"})
    (1, (('1', 'mood', 'anxiety'),))
    """
    given = {example.id: example.labels for example in coarse}
    both = [example for example in fine if example.id in given]
    rows = []
    for example in both:
        check_allowed("fine label", example.labels, parents, f"example {example.id!r}")
        implied = {parents[label] for label in example.labels}
        if set(given[example.id]) != implied:
            ordered = (one for one in dict.fromkeys(parents.values()) if one in implied)
            rows.append((example.id, "; ".join(given[example.id]), "; ".join(ordered)))
    return len(both), tuple(rows)


def overlap_section(
    title: str,
    sentence: str,
    pools: Mapping[str, Sequence[Example]],
    tests: Mapping[str, Sequence[Example]],
) -> Section:
    """How many examples of each pool stand in each test set, by id or text."""
    rows = tuple(
        (f"{name} seeds", len(pool), *(len(overlap(pool, test)) for test in tests.values()))
        for name, pool in pools.items()
    )
    columns = (text("Seeds"), count("Examples"), *(count(f"in {name}") for name in tests))
    return Section(title, sentence, (Table(columns, rows),))


def overlap_findings(
    pools: Mapping[str, Sequence[Example]], tests: Mapping[str, Sequence[Example]]
) -> tuple[Finding, ...]:
    """A note for each pool of which examples stand in the test set of another name."""
    findings = []
    for name, pool in pools.items():
        others = (test for other, test in tests.items() if other != name)
        twice = tuple(sorted({ident for test in others for ident in overlap(pool, test)}))
        if twice:
            message = f"{len(twice)} of {len(pool)} seeds stand in another task's test set."
            consequence = "They serve only their own task; a pool of several tasks is refused."
            kind, table = "seeds_are_test_items", f"{name} seeds"
            findings.append(Finding(kind, "note", table, len(twice), twice, message, consequence))
    return tuple(findings)
