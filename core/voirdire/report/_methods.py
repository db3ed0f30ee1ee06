"""How the numbers were made, in words, with references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.study import study_hash
from voirdire.tabular import Section, Table, text

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination

REFERENCES = (
    (
        "Badawi, A. et al. (2025). When Can We Trust LLMs in Mental Health? Large-Scale "
        "Benchmarks for Reliable LLM Evaluation. arXiv:2510.19032."
    ),
    (
        "Bland, J. M. and Altman, D. G. (1986). Statistical methods for assessing agreement "
        "between two methods of clinical measurement. Lancet 327, 307-310."
    ),
    (
        "Calderon, N., Reichart, R. and Dror, R. (2025). The Alternative Annotator Test for "
        "LLM-as-a-Judge. ACL 2025."
    ),
    (
        "Holm, S. (1979). A simple sequentially rejective multiple test procedure. "
        "Scandinavian Journal of Statistics 6, 65-70."
    ),
    (
        "Koo, T. K. and Li, M. Y. (2016). A guideline of selecting and reporting intraclass "
        "correlation coefficients for reliability research. Journal of Chiropractic Medicine "
        "15, 155-163."
    ),
    (
        "Lin, L. I. (1989). A concordance correlation coefficient to evaluate "
        "reproducibility. Biometrics 45, 255-268."
    ),
    (
        "McGraw, K. O. and Wong, S. P. (1996). Forming inferences about some intraclass "
        "correlation coefficients. Psychological Methods 1, 30-46."
    ),
    (
        "Okabe, M. and Ito, K. (2008). Color universal design: how to make figures and "
        "presentations that are friendly to colorblind people."
    ),
    (
        "Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the "
        "power approach. Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680."
    ),
    (
        "Shrout, P. E. and Fleiss, J. L. (1979). Intraclass correlations: uses in assessing "
        "rater reliability. Psychological Bulletin 86, 420-428."
    ),
)


_SYSTEMS = """
    The unit of the coefficients is the system: each rater's scores are averaged over the items of
    a system, reference beside judge, and only pairs where both rated count. Response-level figures
    (MSE, kappa, alpha) say so. A missing score stays missing; it is never counted as zero and
    never filled in.
    """
_RESPONSES = """
    The data name no systems, or one, so the unit of the coefficients is the single response:
    reference beside judge, wherever both rated. How far such coefficients carry over to comparing
    systems is another question. A missing score stays missing; it is never counted as zero and
    never filled in.
    """
_PARAGRAPHS = (
    """
    Consistency is ICC(C,1) and agreement ICC(A,1), single measures of the two-way model (Shrout
    and Fleiss 1979; McGraw and Wong 1996). The leading {level} % interval is the one from the F
    distribution. Beside it stands the percentile bootstrap over {units} of the published study
    (Badawi et al. 2025), which covers too seldom where these are few; where there are at most
    ten, the exact bootstrap enumerates every resample.
    """,
    """
    Bias is judge minus reference, the mean over {units}. A use that asks for
    little bias gets a yes only if the whole interval lies within the margin, which is the test of
    equivalence by two one-sided tests (Schuirmann 1987): a difference that is merely not
    significant is no evidence of there being none. Limits of agreement are Bland and Altman's
    (1986).
    """,
    """
    Bands are those of Koo and Li (2016), read on the interval and not on the estimate: poor below
    0.50, moderate to 0.75, good to 0.90, excellent above. The published class (GR, MR, PR) goes by
    the width of the percentile interval alone: up to 0.355, up to 0.560, wider.
    """,
    """
    Each use of a judge (rank systems, quote averages, replace a human, pass/fail gate, extend
    labels, one run is enough) gets yes, no, open or not tested from the components it needs.
    The judge is a fixed rater; items, or clusters where they are declared, are what is
    resampled, by the jackknife over clusters. A yes needs the one-sided 95 % bound inside the
    margin, a no the 97.5 % bound beyond it. No use gets a yes unless single scores are shown to
    follow the responses. ICC, kappa, alpha and the alternative annotator test (Calderon et al.
    2025) decide nothing.
    """,
)


def methods(examination: Examination) -> tuple[str, ...]:
    """Paragraphs: units, coefficients, intervals, bias, verdict."""
    study = examination.study
    values = {"units": examination.units, "level": f"{100 * study.analysis.level:g}"}
    texts = (_SYSTEMS if examination.units == "systems" else _RESPONSES, *_PARAGRAPHS)
    return tuple(" ".join(text.split()).format(**values) for text in texts)


_MARGINS = {
    "cover": "share of responses scored, at least",
    "read": "correlation below which a judge does not follow the responses",
    "order": "correlation of system means, at least",
    "agree": "agreement of system means, at least",
    "bias": "mean bias, share of the scale's width, at most",
    "system": "bias of a system, share of the scale's width, at most",
    "slope": "points of the judge for one point of the humans",
    "times": "error variance beside one human's, times at most",
    "times_gate": "the same at the gate",
    "times_subgroup": "the same in a subgroup",
    "gate": "shortfall beside a human at the gate, at most",
    "gain": "worth of the labels, times at least",
    "run": "reliability of one run, at least",
    "clusters": "items or clusters, at least",
    "systems": "systems for uses on systems to come, at least",
}


def margins_section(examination: Examination) -> Section:
    """The margins that the study declares."""
    asked = examination.study.margins
    rows = tuple((label, _said(getattr(asked, name))) for name, label in _MARGINS.items())
    return Section(
        "Margins",
        "What a verdict asks for, as the study declares it before the data are read.",
        (Table((text("Asked of"), text("Margin")), rows),),
    )


def settings_section(examination: Examination) -> Section:
    """Options, seed, versions and inputs, so that the run can be repeated."""
    rows = [("study", f"{examination.study.name}, SHA-256 {study_hash(examination.study)[:16]}")]
    rows += [("seed", str(examination.study.analysis.seed))]
    rows += [(f"option {name}", _said(value)) for name, value in examination.inputs.options.items()]
    rows += [(f"version of {name}", value) for name, value in examination.versions.items()]
    rows += [
        (f"input {name}", f"SHA-256 {h[:16]}") for name, h in examination.inputs.hashes.items()
    ]
    return Section(
        "Settings",
        "What is needed to repeat this examination.",
        (Table((text("Setting"), text("Value")), tuple(rows)),),
    )


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value not in ("", None) else "none"
