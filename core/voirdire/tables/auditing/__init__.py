"""All checks in one list, worst first.

Here are those of names and scales that are probably one or two, and of items that one side alone
has rated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.late import dataclass
from voirdire.schema import SEVERITIES
from voirdire.tables._ids import match_ids
from voirdire.tables._tables import finding, plural
from voirdire.tables.auditing._cells import divided, n_ratings
from voirdire.tables.auditing._contexts import context_findings
from voirdire.tables.auditing._coverage import (
    counted_division,
    counted_responses,
    coverage_findings,
    response_findings,
)
from voirdire.tables.auditing._scores import (
    missing_findings,
    reply_findings,
    score_findings,
    variation_findings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding, Severity
    from voirdire.study import Study
    from voirdire.tables._ids import IdMatch
    from voirdire.tables._tables import Tables
    from voirdire.tables.auditing._coverage import RatedBy


#: Fewer scores say nothing of how far a rater's scale reaches.
_ENOUGH = 10
#: The highest score of one rater is at most this share of another's.
_SHARE = 0.5
#: Shares of items that both sides rated: a note from the first on; below the second their ids are
#: probably written in two ways.
_NOTE, _BLOCKING = 0.95, 0.50


def audit(tables: Tables, study: Study) -> tuple[Finding, ...]:
    """Everything odd in the data, with what follows from it; worst first.

    Kinds of finding; those from ``labels_by_hand`` on are made while reading
    (`Tables.findings`):

    - ``out_of_scale``: numbers off the declared scale, one finding a rater and value
    - ``between_levels``: numbers on the scale that are no declared level
    - ``blank_cells``: reply cells that are empty
    - ``null_scores``: attributes without a score inside a reply that has others
    - ``missing_scores``: blanks in columns of scores
    - ``refused``, ``filtered``, ``truncated``, ``unparsable``, ``failed``, ``repaired``: what
      became of replies
    - ``rated_the_word_nan``: replies that speak of "nan": a missing response sent as a word
    - ``constant_rater``: one value throughout
    - ``one_rater``: nothing to compare with
    - ``scales_differ``: a rater's highest score is at most half of the reference's, or twice
    - ``names_alike``: raters, systems or attributes that differ only by case or blanks
    - ``few_ratings``: fewer rated items than the study's threshold
    - ``system_missing``, ``system_undeclared``, ``system_blank``, ``attribute_missing``,
      ``rater_missing``, ``rater_silent``, ``excludes_unknown``,
      ``family_unmatched``, ``family_undeclared``, ``family_by_name``, ``family_of_nobody``:
      what a table or the files lack, or the study does not declare
    - ``reference_is_model``: whom judges are held against is a model, by its name or family
    - ``responses_unrated``: responses that others rated and this rater did not
    - ``votes_as_probabilities``, ``ties_claim_nothing``: what a judge's probabilities are, and of
      which answers they say nothing
    - ``unlabelled``: responses that no person was asked about
    - ``labour_divided``: people who rated a part of the responses each, as was planned
    - ``ids_unmatched``: items that only one side rated
    - ``context_mismatch``: tables show different texts beside one id
    - ``context_varies``: one table shows two texts beside one id
    - ``context_shift``: a block of rows whose texts are those of the rows before or after
    - ``duplicate_contexts``: one text under several ids
    - ``response_varies``: several texts of one system's response to an item
    - ``labels_by_hand``: labels that were set on the page that shows items
    - ``streamed``: ratings that were examined as sums, and what no sum tells
    - ``words_off_the_list``: labels that only a judge says, which count as missing
    - ``words_missing``: texts in score columns that stand for no number, and count as missing
    - ``reading_assumed``: a file that can be read in two ways, and which one was taken
    - ``file_read_as``, ``rows_unused``, ``format_version``, ``labels_inferred``,
      ``words_read``: what a reader made of another tool's file: its ratings, its rows that are
      none and why, a version it was not written for, sets of labels, and words as numbers
    - ``attribute_left_out``: attributes of such a file that nobody asked for (`only`)
    - ``labels_matched``: labels of people joined to what was rated, and those that were not
    - ``attributes_apart``: people and judges scored no attribute in common
    - ``columns_of_raters``: columns that speak about a rater (its time, its confidence)
    - ``reading``: what the rows of a file are, who judged, and the role of each column
    - ``study_drafted``, ``scale_inferred``, ``columns_inferred``, ``sheet_chosen``: what was
      taken for granted
    - ``reading_kept``: a file of a session that is read as it was read before
    - ``turns_not_declared``: a column that numbers turns, and nobody said that it does
    - ``columns_unread``: columns of numbers that play no part and may be ratings
    - ``account``: rows of a file that are in no number, by reason; ``account_open`` where what
      became of some is not known
    - ``hidden_rows``, ``hidden_cells``, ``formulas_without_values``: what a workbook holds and
      does not show
    - ``keys_unread``, ``pages_unread``: parts of a file, or of an export, that hold no rows
    - ``objects_opened``: records whose objects were made columns, and lists of ratings rows
    - ``labels_folded``: spellings of a label that were read as one
    - ``systems_in_headers``, ``people_of_items``: headers and fields of items that hold ratings;
      ``raters_in_rows``: a row a rater and a column an item
    - ``raters_measured``: a rater in cells whose name and values are those of a measure
    - ``raters_derived``: a mean, a majority or an agreed label that is no rater of its own
    - ``rater_unread``: columns named like a rater that hold no numbers
    - ``attribute_undeclared``: scores on an attribute that the rubric does not name
    - ``reply_flags``: what is odd in replies that were read
    - ``headers_trimmed``, ``header_joined``, ``sheets_together``, ``unnamed_columns``,
      ``rows_above_header``, ``rows_of_questions``, ``encoding``, ``cells_merged``,
      ``control_characters``, ``cells_cut``: how a file was written
    - ``lines_together``, ``short_rows``, ``bad_lines``, ``null_ids``, ``null_raters``,
      ``ids_rounded``, ``date_ids``, ``duplicate_rows``, ``summary_rows``, ``notes_below``,
      ``rows_withdrawn``, ``judge_beside_raters``, ``votes_apart``: rows that are cut, changed, left
      out, made or counted once

    Parameters
    ----------
    tables : Tables
        As `read_tables` gives them: before `apply_off_scale`.
    study : Study
        Scale, reference and thresholds.
    """
    shared = divided(tables, study)
    findings = (
        *tables.findings,
        *score_findings(tables, study),
        *reply_findings(tables),
        *missing_findings(tables),
        *variation_findings(tables, study, shared),
        *_alike_findings(tables, study),
        *coverage_findings(tables, study),
        *response_findings(tables, study, shared),
        *_id_findings(tables, study),
        *context_findings(tables, study),
    )
    return tuple(sorted(findings, key=lambda each: SEVERITIES.index(each.severity)))


def audit_counts(
    tables: Tables,
    study: Study,
    answered: Sequence[RatedBy],
    matched: Mapping[str, Matched],
    reference: Sequence[str],
) -> tuple[Finding, ...]:
    """The part of `audit` that counts can tell, with some of the places; worst first.

    Parameters
    ----------
    tables : Tables
        Its ratings without an item; each row is so many ratings as its column ``n`` says, and
        ``first`` holds some of their places. `rated` holds rater and system alone.
    answered : sequence of RatedBy
        Responses by who rated them.
    matched : mapping
        Rater -> items that it and the reference rated, and each alone.
    reference : sequence of str
        Whose items these are.
    """
    shared = counted_division(answered, study)
    findings = (
        *tables.findings,
        *score_findings(tables, study),
        *missing_findings(tables),
        *variation_findings(tables, study, shared),
        *_alike_findings(tables, study),
        *coverage_findings(tables, study),
        *counted_responses(answered, tables, study, shared),
        *(
            _unmatched(name, " and ".join(reference), one)
            for name, one in matched.items()
            if one.left or one.right
        ),
    )
    return tuple(sorted(findings, key=lambda each: SEVERITIES.index(each.severity)))


def _alike_findings(tables: Tables, study: Study) -> list[Finding]:
    """``names_alike`` and ``scales_differ``."""
    names = {
        "rater": tables.raters["rater"].to_list(),
        "system": tables.rated["system"].drop_nulls().unique(maintain_order=True).to_list(),
        "attribute": tables.ratings["attribute"].unique(maintain_order=True).to_list(),
    }
    alike = [note for part, spelt in names.items() for note in _alike(part, spelt)]
    return [*alike, *_scales(tables, study)]


def _alike(part: str, names: Sequence[str]) -> list[Finding]:
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault("".join(filter(str.isalnum, name.casefold())) or name, []).append(name)
    return [
        finding(
            "names_alike",
            "serious",
            "",
            writings,
            f"Names of {part}s that differ only by case, blanks or marks: {listed(writings)}.",
            f"They are read as different {part}s; if they are one, spell them alike.",
        )
        for writings in spelt.values()
        if len(writings) > 1
    ]


def _scales(tables: Tables, study: Study) -> list[Finding]:
    """Raters whose highest score is at most half of the reference's, or the other way round."""
    ok = pl.col("status").is_in(["ok", "repaired"])
    score = pl.col("score")
    # From 0 up only: below it, the width of a scale says more than its highest score.
    ranges = (
        tables.ratings.lazy()
        .filter(ok)
        .group_by("rater", maintain_order=True)
        .agg(low=score.min(), high=score.max(), n=n_ratings(tables.ratings))
        .filter(pl.col("n") >= _ENOUGH, pl.col("low") >= 0, pl.col("low") < pl.col("high"))
        .collect()
    )
    range_of = {row["rater"]: (row["low"], row["high"]) for row in ranges.iter_rows(named=True)}
    first = next((name for name in (*study.data.reference, *range_of) if name in range_of), None)
    if first is None:
        return []
    top = range_of[first][1]
    return [
        finding(
            "scales_differ",
            "serious",
            name,
            [f"{name}: {low:g} to {high:g}", f"{first}: {range_of[first][0]:g} to {top:g}"],
            f"The scores run from {low:g} to {high:g}, those of {first} from "
            f"{range_of[first][0]:g} to {top:g}.",
            "If these are two scales, bias and agreement say nothing: bring them to one.",
            count=1,
        )
        for name, (low, high) in range_of.items()
        if min(high, top) <= _SHARE * max(high, top)
    ]


def _id_findings(tables: Tables, study: Study) -> list[Finding]:
    """``ids_unmatched``, one finding a rater whose items are not those of the reference.

    Without a reference the first rater takes its place. A rater with under half of the ids
    matched blocks: ids are then probably written in two ways.
    """
    pairs = tables.rated
    names = tables.raters["rater"].to_list()
    reference = [name for name in names if name in study.data.reference] or names[:1]
    base = pairs.filter(pl.col("rater").is_in(reference))["item"]
    findings = []
    for name in names:
        if name in reference:
            continue
        match = match_ids(base, pairs.filter(pl.col("rater") == name)["item"])
        if match.left_only or match.right_only:
            findings.append(_finding(name, " and ".join(reference), match))
    return findings


@dataclass(frozen=True, slots=True)
class Matched:
    """Items that a rater and the reference rated, and that one of them rated alone.

    Attributes
    ----------
    both, left, right : int
        Rated by both, by the reference alone, and by the rater alone.
    left_items, right_items : sequence of str
        Some of those.
    """

    both: int
    left: int
    right: int
    left_items: Sequence[str] = ()
    right_items: Sequence[str] = ()


def _finding(name: str, reference: str, match: IdMatch) -> Finding:
    why = "".join(f" {text[0].upper()}{text[1:]}." for text in match.warnings)
    left, right = match.left_only, match.right_only
    return _unmatched(
        name, reference, Matched(match.matched, len(left), len(right), left, right), why
    )


def _unmatched(name: str, reference: str, items: Matched, why: str = "") -> Finding:
    """``ids_unmatched`` of a rater; ten items of either side are named."""
    # By the smaller of both rests: a judge that rated more items than people did matches them all.
    share = items.both / (items.both + min(items.left, items.right))
    low: Severity = "serious" if share >= _BLOCKING else "blocking"
    return finding(
        "ids_unmatched",
        "note" if share >= _NOTE else low,
        name,
        [
            *(f"only {reference}: {item}" for item in items.left_items[:10]),
            *(f"only {name}: {item}" for item in items.right_items[:10]),
        ],
        f"{plural(items.both, 'item')} rated by both {reference} and {name}; {items.left:,} only "
        f"by {reference}, {items.right:,} only by {name}.{why}",
        "Only items rated by both are compared.",
        count=items.left + items.right,
    )
