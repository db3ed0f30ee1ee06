"""Single responses in a report: the disagreements that move verdicts, and texts where asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from voirdire.examining.influential import influential
from voirdire.examining.labels import with_texts
from voirdire.examining.spec import COMPONENTS
from voirdire.examining.texts import Texts
from voirdire.report.words import rater_name
from voirdire.tabular import number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from voirdire.examining.examination import Examination
    from voirdire.study import Study
    from voirdire.tabular import Cell

_SHOWN = 12
_LONGEST = 600
_LONGEST_WORD = 80


@dataclass(frozen=True, slots=True)
class Text:
    """One response as it is shown; `said` names the reply, `beside` is shown to compare it with."""

    title: str
    scores: str
    item: str
    reply: str
    said: str = "The judge's reply"
    beside: str = ""
    beside_said: str = ""


def shown_texts(examination: Examination) -> tuple[Text, ...]:
    """Error cases of labels with one key, lost comparisons, or where judge and humans differ.

    At most a dozen, and none longer than the study allows.
    """
    if _compares(examination):
        texts = _lost_comparisons(examination)
    else:
        errors = _errors_of_labels(examination)
        texts = (
            _disagreements(examination) if errors is None else _label_errors(examination, errors)
        )
    return _allowed(texts, examination.study)


def texts_title(examination: Examination) -> str:
    """What the texts are."""
    if _compares(examination):
        return "Where a system loses most clearly"
    return "Where judge and humans differ most"


def cut(text: str | None) -> str:
    """The beginning of a text, very long words broken off; it is escaped where it is printed.

    >>> cut("x" * 10_000)[-1], len(cut("x" * 10_000)) < 100
    ('…', True)
    """
    words = (text or "").split(" ")
    short = " ".join(w if len(w) <= _LONGEST_WORD else f"{w[:_LONGEST_WORD]}…" for w in words)
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST].rstrip()}…"


def _compares(examination: Examination) -> bool:
    return examination.inputs.compared and not examination.results


def _errors_of_labels(examination: Examination) -> pl.DataFrame | None:
    """Items on which a judge and the key of labels differ; None without a single key."""
    if not examination.inputs.labelled:
        return None
    from voirdire.examining.labels import LabelFacts  # noqa: PLC0415 - loads all of labels

    facts = examination.facts(LabelFacts)
    return None if facts is None else facts.errors


def _allowed(texts: tuple[Text, ...], study: Study) -> tuple[Text, ...]:
    """The texts, no longer than the study's `data.excerpt` where it sets one; none at 0."""
    most = allowed_length(study)
    if most is None:
        return texts
    return tuple(
        replace(
            text,
            item=_shortened(text.item, most),
            reply=_shortened(text.reply, most),
            beside=_shortened(text.beside, most),
        )
        for text in texts
        if most
    )


def _shortened(text: str, most: int) -> str:
    if most <= 0:
        return ""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _disagreements(examination: Examination) -> tuple[Text, ...]:
    """The responses with the largest differences over attributes."""
    texts, worst = Texts.of(examination), examination.rated.disagreements.head(_SHOWN)
    return tuple(_disagreement(examination, row, texts) for row in worst.to_dicts())


def _disagreement(examination: Examination, row: Mapping[str, Any], texts: Texts) -> Text:
    item, system, judge = row["item"], row["system"], row["judge"]
    name = rater_name(examination, judge, row["reference_at"])
    scores = zip(row["attribute"], row["score"], row["reference"], strict=True)
    return Text(
        title=cut(f"{name} on {system} for item {item}" if system else f"{name} on item {item}"),
        scores="; ".join(f"{name}: judge {s:.3g}, humans {r:.3g}" for name, s, r in scores),
        item=cut(texts.item(item)),
        reply=cut(texts.reply(item, system or "", judge)),
        beside=cut(texts.response(item, system or "")),
        beside_said="The answer",
    )


def allowed_length(study: Study) -> int | None:
    """How long a text may be by the study's `data.excerpt`; None where it says nothing."""
    return study.data.excerpt if "excerpt" in study.data.model_fields_set else None


def allowed(text: str | None, study: Study) -> str:
    """The beginning of a text, no longer than the study allows."""
    most = allowed_length(study)
    short = cut(text)
    return short if most is None else _shortened(short, most)


def _label_errors(examination: Examination, errors: pl.DataFrame) -> tuple[Text, ...]:
    """Those with most wrong labels; what was not given at all comes last."""
    shown = with_texts(errors, examination.texts.items, examination.texts.replies)
    return tuple(map(_label_error, shown.head(_SHOWN).to_dicts()))


def _label_error(row: Mapping[str, Any]) -> Text:
    parts = {
        "expected": row["expected"],
        "given": row["given"],
        "missed": row["missed"],
        "wrongly named": row["wrong"],
    }
    scores = "; ".join(
        f"{name}: {', '.join(labels) or 'none'}"
        for name, labels in parts.items()
        if labels is not None
    )
    run = f" in run {row['run']}" if row["run"] > 1 else ""
    return Text(
        title=cut(f"{row['rater']} on item {row['item']}{run}"),
        scores=scores if row["given"] is not None else f"{scores}; nothing given ({row['status']})",
        item=cut(row["text"]),
        reply=cut(row["reply"]),
    )


def _lost_comparisons(examination: Examination) -> tuple[Text, ...]:
    """Lost comparisons, both responses side by side, where their texts are at hand."""
    from voirdire.examining.preferences import Preferences  # noqa: PLC0415 - where any are

    preferences = examination.facts(Preferences)
    if preferences is None or examination.texts.responses.is_empty():
        return ()
    rows = examination.texts.responses.select("item", "system", "text").rows()
    texts = {(item, name): text for item, name, text in rows}
    items = _item_texts(examination)
    lost = preferences.lost(_SHOWN)
    return tuple(_lost_comparison(row, texts, items) for row in lost.to_dicts())


def _lost_comparison(
    row: Mapping[str, Any], texts: Mapping[tuple[str, str], str], items: Mapping[str, str]
) -> Text:
    item, a, b = row["item"], row["system_a"], row["system_b"]
    scores = zip(row["attribute"], row["score"], strict=True)
    return Text(
        title=cut(f"{a} against {b} on item {item}"),
        scores="; ".join(f"{name}: {score:+.3g}" for name, score in scores),
        item=cut(items.get(item)),
        reply=cut(texts.get((item, a))),
        said=cut(a),
        beside=cut(texts.get((item, b))),
        beside_said=cut(b),
    )


def _item_texts(examination: Examination) -> dict[str, str]:
    return dict(examination.texts.items.select("item", "text").drop_nulls().iter_rows())


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row of the list: `cells` stand in `COLUMNS`, `address` is for `voirdire look --open`."""

    item: str
    cells: tuple[Cell, ...]
    address: str
    texts: tuple[tuple[str, str], ...]


#: What stands in the list of disagreements; the item comes before these.
COLUMNS = (
    text("System"), text("Judge"), text("Attribute"), number("Humans", 2), number("Judge's", 2),
    number("Difference", 2, signed=True), number("Influence", 5, signed=True),
    number("Times typical", 1), text("On"),
)  # fmt: skip
#: A longer address is cut by some terminals and shells; names may be as long as texts.
_LONGEST_ADDRESS = 2_000


def disagreements(examination: Examination, *, with_text: bool) -> tuple[Disagreement, ...]:
    """The 200 most influential ones, with their texts where these may be shown."""
    texts = Texts.of(examination) if with_text else Texts.none()
    rows = influential(examination).to_dicts()
    return tuple(_influential(row, examination, texts) for row in rows)


def _influential(row: Mapping[str, Any], examination: Examination, texts: Texts) -> Disagreement:
    item, system, judge = row["item"], row["system"], row["judge"]
    passages = {
        "Item": texts.item(item),
        "Answer": texts.response(item, system),
        "The judge's reply": texts.reply(item, system, judge),
    }
    shown = ((title, allowed(own, examination.study)) for title, own in passages.items())
    address = _address(row)
    return Disagreement(
        item,
        (
            system or None,
            rater_name(examination, judge, row["reference_at"]),
            row["attribute"],
            _level(row["human"]),
            _level(row["score"]),
            row["score"] - row["human"],
            row["influence"],
            row["times"],
            f"{row['use']}: {COMPONENTS[row['component']].title}",
        ),
        address if len(address) <= _LONGEST_ADDRESS else "",
        tuple((title, own) for title, own in shown if own),
    )


def _address(row: Mapping[str, Any]) -> str:
    """The page of `voirdire look` that shows the response; what is empty is left out."""
    asked = {
        "judge": row["judge"],
        "attribute": row["attribute"],
        "turn": row["reference_at"] or None,
        "use": row["use"],
        "row": row["row"],
    }
    given = {key: value for key, value in asked.items() if value is not None}
    return f"/response?{urlencode(given, errors='replace')}"


def _level(score: float) -> float:
    """A score as it was given: a whole one is printed without decimals."""
    return int(score) if float(score).is_integer() else score
