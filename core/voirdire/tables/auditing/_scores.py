"""Numbers off the scale, between its levels, missing ones; raters that say little; lost replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.tables._scale import is_code
from voirdire.tables._tables import finding, plural
from voirdire.tables.auditing._cells import CELL, cells, in_cells, n_ratings, places, ratings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Finding, Severity
    from voirdire.study import Study
    from voirdire.tables._tables import Tables

#: Beyond this share of a rater's scores the declared scale itself is in doubt.
_WRONG_SCALE = 0.05
#: Findings a rater: values beyond so many different ones are put together.
_DISTINCT = 5
#: Fewer equal scores than this are no pattern.
_PATTERN = 5
_POLICY = {
    "missing": "They count as missing; as scores they would pull means and agreement.",
    "keep": "They are kept as scores, as the study asks, and pull means and agreement.",
    "error": "The study asks to stop at such numbers.",
}


def score_findings(tables: Tables, study: Study) -> list[Finding]:
    """``out_of_scale`` and ``between_levels``."""
    return [*_off_scale(tables, study), *_between_levels(tables, study)]


def _off_scale(tables: Tables, study: Study) -> list[Finding]:
    off = tables.ratings.filter(pl.col("status") == "out_of_scale")
    if off.height == 0:
        return []
    scored = tables.ratings.filter(pl.col("score").is_not_null())
    counts = scored.group_by("rater", pl.col("attribute").cast(pl.String)).agg(n_ratings(scored))
    totals = {(rater, attribute): n for rater, attribute, n in counts.iter_rows()}
    # A scale that was inferred is not declared wrongly: numbers off it are said, and nobody's
    # fault.
    inferred = any(each.kind == "scale_inferred" for each in tables.findings)
    findings = []
    for (rater,), of_rater in off.group_by("rater", maintain_order=True):
        odd = [] if inferred else _in_doubt(of_rater, totals, study)
        doubtful = pl.col("attribute").cast(pl.String).is_in(odd)
        for wrong, part in ((True, of_rater.filter(doubtful)), (False, of_rater.filter(~doubtful))):
            for values, block in _by_value(part):
                findings.append(_off_scale_finding(str(rater), values, block, study, wrong=wrong))
    return findings


def _in_doubt(off: pl.DataFrame, totals: Mapping[tuple[str, str], int], study: Study) -> list[str]:
    """Attributes on which one rater leaves the scale so often that the scale itself is in doubt.

    `totals` counts the scores by rater and attribute.
    """
    names = []
    for (rater, attribute), block in off.group_by("rater", "attribute", maintain_order=True):
        values = block["score"].drop_nulls().unique()
        coded = [value for value in values if is_code(value, *study.rubric.scale)]
        wrong = block.filter(pl.col("score").is_not_null(), ~pl.col("score").is_in(coded))
        if ratings(wrong) > _WRONG_SCALE * totals.get((rater, attribute), 0):
            names.append(str(attribute))
    return names


def _by_value(off: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """One block a value, most frequent first; the rarest together where there are many."""
    blank = off.filter(pl.col("score").is_null())
    off = off.filter(pl.col("score").is_not_null())
    counts = off.group_by("score").agg(len=n_ratings(off))
    order = counts.sort("len", "score", descending=[True, False])["score"]
    many = len(order) > _DISTINCT
    single = order.head(_DISTINCT - 1 if many else _DISTINCT)
    blocks = [(f"{value:g}", off.filter(pl.col("score") == value)) for value in single]
    if many:
        rest = off.filter(~pl.col("score").is_in(single.implode()))
        low, high = rest.select(pl.col("score").min(), high=pl.col("score").max()).row(0)
        blocks.append((f"other values from {low:g} to {high:g}", rest))
    # A file may say that a number was off the scale, and not keep the number.
    return [*blocks, ("a value that is not given", blank)] if blank.height else blocks


def _off_scale_finding(
    rater: str, values: str, block: pl.DataFrame, study: Study, *, wrong: bool
) -> Finding:
    where = cells(block)
    low, high = study.rubric.scale
    value = block["score"][0]
    coded = block["score"].n_unique() == 1 and value is not None and is_code(value, low, high)
    wrong = wrong and not coded
    doubt = " So many suggest that the declared scale is wrong." if wrong else ""
    doubt += f" {values} is a usual code for a missing score." if coded else ""
    return finding(
        "out_of_scale",
        "blocking" if wrong else "serious",
        rater,
        places(where),
        f"{plural(ratings(block), 'score')} of {values}{in_cells(block, 'cell')}; the "
        f"declared scale is {low:g} to {high:g}.",
        _POLICY[study.data.off_scale] + doubt,
        count=ratings(block),
        attributes=block["attribute"].cast(pl.String).unique(maintain_order=True).to_list(),
    )


def _between_levels(tables: Tables, study: Study) -> list[Finding]:
    (low, _), step = study.rubric.scale, study.rubric.step
    if step == 0:
        return []
    steps = (pl.col("score") - low) / step
    # Steps such as 0.1 are no exact fractions of two: what is off by round-off is on a level.
    between = (steps - steps.round()).abs() > 1e-9
    ok = pl.col("status").is_in(["ok", "repaired"])
    counted = n_ratings(tables.ratings)
    odd = tables.ratings.lazy().filter(ok & between).group_by("rater").agg(counted).collect()
    return [
        finding(
            "between_levels",
            "note",
            rater,
            [],
            f"{plural(count, 'score')} on the scale but between its levels (step {step:g}).",
            "They count as they stand; coefficients over declared levels leave them out.",
            count=count,
        )
        for rater, count in odd.sort("rater").iter_rows()
    ]


def missing_findings(tables: Tables) -> list[Finding]:
    """``missing_scores`` where scores were read, ``null_scores`` where replies were."""
    blank = tables.ratings.filter(pl.col("status") == "blank")
    if blank.height == 0:
        return []
    # An empty reply is counted as one blank cell, and not once for each of its attributes.
    empty = tables.replies.filter(is_empty(pl.col("reply"))).select(CELL)
    if empty.height:
        blank = blank.join(empty, on=CELL, how="anti", nulls_equal=True)
    speakers = set(tables.replies["rater"].unique())
    return [
        _missing(str(rater), block, in_reply=rater in speakers)
        for (rater,), block in blank.group_by("rater", maintain_order=True)
    ]


def is_empty(reply: pl.Expr) -> pl.Expr:
    """Whether a reply cell holds nothing."""
    return reply.is_null() | (reply.str.strip_chars() == "")


def _missing(rater: str, block: pl.DataFrame, *, in_reply: bool) -> Finding:
    where = cells(block)
    scores = plural(ratings(block), "score")
    if in_reply:
        kind = "null_scores"
        message = f"{scores} null or absent{in_cells(block, 'reply', 'replies')}."
    else:
        kind = "missing_scores"
        message = f"{scores} missing{in_cells(block, 'response')}."
    consequence = "They stay missing; each costs its own attribute only."
    return finding(kind, "note", rater, places(where), message, consequence, count=ratings(block))


def variation_findings(tables: Tables, study: Study, shared: int) -> list[Finding]:
    """``constant_rater``, ``few_ratings`` and ``one_rater``.

    `shared` is how many responses people rated who divided the work, 0 where they did not.
    """
    score = pl.col("score")
    summary = (
        tables.ratings.lazy()
        .group_by("rater", "attribute")
        .agg(low=score.min(), high=score.max(), n=n_ratings(tables.ratings, score.is_not_null()))
        .sort("rater", "attribute")
        .collect()
    )
    labelling = {"annotator", "classifier"}
    labellers = set(tables.raters.filter(pl.col("kind").is_in(labelling))["rater"])
    return [
        *_one(tables, labellers),
        *_constant(summary, labellers),
        *_few(summary, study, shared),
    ]


def _one(tables: Tables, labellers: set[str]) -> list[Finding]:
    """An annotator can be held against its own runs; anyone else needs another rater."""
    name = tables.raters["rater"][0]
    if tables.raters.height > 1 or name in labellers:
        return []
    return [
        finding(
            "one_rater",
            "blocking",
            name,
            [],
            f"{name!r} is the only rater.",
            "Nothing can be compared: a judge needs a reference.",
            count=1,
        )
    ]


def _constant(summary: pl.DataFrame, labellers: set[str]) -> list[Finding]:
    """One score throughout; for a label that is rare, not odd."""
    same = summary.filter((pl.col("low") == pl.col("high")) & (pl.col("n") >= _PATTERN))
    findings = []
    for (rater,), block in same.group_by("rater", maintain_order=True):
        where = [f"{name}: always {value:g}" for name, value in block["attribute", "low"].rows()]
        findings.append(
            finding(
                "constant_rater",
                "note" if rater in labellers else "serious",
                str(rater),
                where,
                f"The same score throughout on {listed(block['attribute'].to_list())}.",
                "Without variation correlation, kappa and ICC are undefined or say nothing there.",
            )
        )
    return findings


def _few(summary: pl.DataFrame, study: Study, shared: int) -> list[Finding]:
    """Raters with few scores; of people who divided the work the scores of all of them count."""
    least = study.thresholds.min_shared_items
    few = summary.filter(pl.col("n") < least, pl.col("n").max().over("rater") > 0)
    if shared >= least:
        few = few.filter(~pl.col("rater").is_in(study.data.reference))
    findings = []
    for (rater,), block in few.group_by("rater", maintain_order=True):
        where = [f"{name}: {n}" for name, n in block["attribute", "n"].rows()]
        findings.append(
            finding(
                "few_ratings",
                "serious",
                str(rater),
                where,
                f"Fewer than {least} scores on {plural(block.height, 'attribute')}.",
                "Intervals will be wide and replaceability is not tested there.",
            )
        )
    return findings


#: Status -> (severity, what it is called, consequence).
_FATES: dict[str, tuple[Severity, str, str]] = {
    "refused": ("serious", "refused", "The model declined; its scores there are missing."),
    "filtered": ("serious", "withheld by the provider", "Their scores are missing."),
    "truncated": ("serious", "cut short", "A number at the cut is dropped; it may be half of one."),
    "unparsable": ("serious", "without a readable answer", "Nothing unreadable becomes a number."),
    "failed": ("serious", "that never came", "Their scores are missing; run again to fill them."),
}
#: The word as programs write it; `Nan` is a name.
_NAN = r"\b(?:nan|NaN)\b"


def reply_findings(tables: Tables) -> list[Finding]:
    """Blank, refused, filtered, cut, unreadable, failed and repaired replies, rater by rater.

    Where the files hold scores and no replies, the scores' own statuses tell.
    """
    findings = []
    for (rater,), block in tables.replies.group_by("rater", maintain_order=True):
        findings += _blank(str(rater), block)
        findings += _fates(str(rater), block)
    for (rater,), block in _unseen(tables).group_by("rater", maintain_order=True):
        findings += _fates(str(rater), block)
    return [*findings, *_repaired(tables), *_nan(tables)]


def _unseen(tables: Tables) -> pl.DataFrame:
    """Cells and fates of raters whose replies the files do not hold, but some scores of theirs."""
    fate = pl.col("status").cast(pl.String).is_in(list(_FATES))
    speakers = tables.replies["rater"].unique().implode()
    scored = pl.col("score").is_not_null().any().over("rater")
    bad = tables.ratings.filter(fate & scored & ~pl.col("rater").is_in(speakers))
    return bad.select(*CELL, "status").unique(maintain_order=True)


def _blank(rater: str, block: pl.DataFrame) -> list[Finding]:
    blank = block.filter(is_empty(pl.col("reply")))
    if blank.height == 0:
        return []
    return [
        finding(
            "blank_cells",
            "serious" if blank.height > 0.05 * block.height else "note",
            rater,
            places(blank),
            f"{blank.height:,} of {plural(block.height, 'reply cell')} are blank.",
            "All their scores are missing.",
            count=blank.height,
        )
    ]


def _fates(rater: str, block: pl.DataFrame) -> list[Finding]:
    findings = []
    for status, (severity, words, consequence) in _FATES.items():
        rows = block.filter(pl.col("status") == status)
        if rows.height:
            message = f"{plural(rows.height, 'reply', 'replies')} {words}."
            findings.append(
                finding(
                    status, severity, rater, places(rows), message, consequence, count=rows.height
                )
            )
    return findings


def _repaired(tables: Tables) -> list[Finding]:
    repaired = cells(tables.ratings.filter(pl.col("status") == "repaired"))
    return [
        finding(
            "repaired",
            "note",
            str(rater),
            places(block),
            f"{plural(block.height, 'reply', 'replies')} read after a repair of the syntax.",
            "The scores are used; look at the replies if they matter.",
            count=block.height,
        )
        for (rater,), block in repaired.group_by("rater", maintain_order=True)
    ]


def _nan(tables: Tables) -> list[Finding]:
    """Judges that were shown the word "nan" in place of a missing response, and rated it."""
    # A person may well write that a response was "nan"; a judge says so of what it was shown.
    judges = tables.raters.filter(pl.col("kind") != "human")["rater"]
    replies = tables.replies.filter(
        pl.col("rater").is_in(judges.implode()) & pl.col("reply").str.contains(_NAN)
    )
    return [
        finding(
            "rated_the_word_nan",
            "serious",
            str(rater),
            places(block),
            f"{plural(block.height, 'reply speaks', 'replies speak')} of 'nan'.",
            "A missing response was probably shown to the judge as that word and rated; the "
            "scores are valid numbers and are kept.",
            count=block.height,
        )
        for (rater,), block in replies.group_by("rater", maintain_order=True)
    ]
