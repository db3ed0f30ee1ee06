"""All checks in one list, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.schema import SEVERITIES
from voirdire.tables.auditing._cells import divided
from voirdire.tables.auditing._contexts import context_findings
from voirdire.tables.auditing._coverage import (
    counted_division,
    counted_responses,
    coverage_findings,
    response_findings,
)
from voirdire.tables.auditing._names import alike_findings, id_findings, unmatched
from voirdire.tables.auditing._replies import reply_findings
from voirdire.tables.auditing._scores import missing_findings, score_findings, variation_findings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding
    from voirdire.study import Study
    from voirdire.tables._tables import Tables
    from voirdire.tables.auditing._coverage import Answered
    from voirdire.tables.auditing._names import Matched


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
      ``rater_missing``, ``rater_silent``, ``excludes_unknown``: what a table or the files
      lack, or the study does not declare
    - ``responses_unrated``: responses that others rated and this rater did not
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
    - ``words_missing``: texts in score columns that stand for no number, and count as missing
    - ``reading_assumed``: a file that can be read in two ways, and which one was taken
    - ``file_read_as``, ``rows_unused``, ``format_version``, ``labels_inferred``: what a
      reader made of another tool's file: its ratings, its rows that are none and why, a
      version it was not written for, sets of labels
    - ``attribute_left_out``: attributes of such a file that nobody asked for (`only`)
    - ``labels_matched``: labels of people joined to what was rated, and those that were not
    - ``attributes_apart``: people and judges scored no attribute in common
    - ``columns_of_raters``: columns that speak about a rater (its time, its confidence)
    - ``study_drafted``, ``scale_inferred``, ``columns_inferred``, ``sheet_chosen``: what was
      taken for granted
    - ``columns_unread``: columns of numbers that play no part and may be ratings
    - ``rater_unread``: columns named like a rater that hold no numbers
    - ``attribute_undeclared``: scores on an attribute that the rubric does not name
    - ``reply_flags``: what is odd in replies that were read
    - ``headers_mended``, ``header_joined``, ``unnamed_columns``, ``rows_above_header``,
      ``rows_of_questions``, ``encoding``, ``cells_merged``, ``control_characters``,
      ``cells_cut``: how a file was written
    - ``short_rows``, ``bad_lines``, ``null_ids``, ``ids_rounded``, ``date_ids``,
      ``duplicate_rows``, ``summary_rows``, ``rows_withdrawn``: rows that are cut, changed,
      left out or counted once

    Parameters
    ----------
    tables : Tables
        As `read_tables` gives them: before `apply_off_scale`.
    study : Study
        Scale, reference and thresholds.
    """
    shared = divided(tables, study)
    found = (
        *tables.findings,
        *score_findings(tables, study),
        *reply_findings(tables),
        *missing_findings(tables),
        *variation_findings(tables, study, shared),
        *alike_findings(tables, study),
        *coverage_findings(tables, study),
        *response_findings(tables, study, shared),
        *id_findings(tables, study),
        *context_findings(tables, study),
    )
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))


def audit_counts(
    tables: Tables,
    study: Study,
    answered: Sequence[Answered],
    matched: Mapping[str, Matched],
    reference: Sequence[str],
) -> tuple[Finding, ...]:
    """The part of `audit` that counts can tell, with some of the places; worst first.

    Parameters
    ----------
    tables : Tables
        Its ratings without an item; each row is so many ratings as its column ``n`` says, and
        ``first`` holds some of their places. `rated` holds rater and system alone.
    answered : sequence of Answered
        Responses by who rated them.
    matched : mapping
        Rater -> items that it and the reference rated, and each alone.
    reference : sequence of str
        Whose items these are.
    """
    shared = counted_division(answered, study)
    found = (
        *tables.findings,
        *score_findings(tables, study),
        *missing_findings(tables),
        *variation_findings(tables, study, shared),
        *alike_findings(tables, study),
        *coverage_findings(tables, study),
        *counted_responses(answered, tables, study, shared),
        *(
            unmatched(name, " and ".join(reference), one)
            for name, one in matched.items()
            if one.left or one.right
        ),
    )
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))
