"""What stands on each page, as plain values for its template."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.influential import influential
from voirdire.examining.spec import COMPONENTS, USES
from voirdire.examining.texts import scores_of
from voirdire.looking.material import BY_SIZE
from voirdire.looking.view import OF, View
from voirdire.report.answers import answers, leads
from voirdire.report.page import Templates
from voirdire.report.sentences import reason_text
from voirdire.report.words import STATES, brief
from voirdire.tabular import MISSING, number_text
from voirdire.units import parted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.verdict.facts import Verdict
    from voirdire.looking.material import JudgeOnAttribute, Material
    from voirdire.looking.view import Sort

#: Rows on a page of the list, and characters of a text that are shown.
ROWS, LONGEST = 50, 50_000
#: So many letters of each part are shown where a conversation is shown part by part.
_PART = 600
#: Points of a scatter plot, and its width and height.
MOST_POINTS, SIDE = 1_000, 400
_NAME = 300
#: Responses that the first page names.
DECIDE = 10
#: Humans up to which each has a column, and letters of their names above it.
_MOST_HUMANS, _SHORT = 8, 24
_HEADS: tuple[tuple[Sort, str], ...] = (
    ("item", "Item"), ("system", "System"), ("human", "Humans"), ("score", "Judge"),
    ("difference", "Difference"), ("influence", "Influence"), ("change", "Change"),
    ("subgroup", "Subgroup"), ("status", "Status"),
)  # fmt: skip
_TEXTS = ("system", "subgroup", "status")
#: The files of the pages.
TEMPLATES = Templates("voirdire.looking", "page")


def plain(value: float | None, digits: int = 2, *, signed: bool = False) -> str:
    """A number for a cell; a dash where there is none."""
    if value is None or math.isnan(value):
        return MISSING
    if not signed and float(value).is_integer():
        return f"{value:,.0f}"
    return number_text(float(value), digits, signed=signed)


def name_of(text: str) -> str:
    """A name, its end cut off where it is as long as a text."""
    return text if len(text) <= _NAME else f"{text[:_NAME]}…"


def view_of(pair: JudgeOnAttribute, **changes: Any) -> View:
    """The plain view of a judge and attribute."""
    return View(judge=pair.judge, attribute=pair.attribute, turn=pair.turn, **changes)


def heading(pair: JudgeOnAttribute) -> dict[str, str]:
    """Judge and attribute as they are shown."""
    beside = f" (beside {', '.join(pair.reference)})" if pair.turn else ""
    return {"judge": name_of(pair.judge + beside), "attribute": name_of(pair.attribute)}


def grid(material: Material) -> dict[str, Any]:
    """Judges by attributes, the uses in each cell, and where the two are widest apart."""
    by_judge: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for pair in material.pairs:
        by_judge.setdefault((heading(pair)["judge"], pair.turn), []).append(_cell(material, pair))
    cells = [cell for row in by_judge.values() for cell in row]
    apart = (cell for cell in cells if cell["gap"] is not None)
    worst = max(apart, key=lambda cell: cell["gap"], default=None)
    labels = material.labels().height
    # On a phone a use is its sign alone: what they are is then said once.
    orders = {tuple(use["name"] for use in cell["uses"]) for cell in cells}
    return {
        "lead": leads(answers(material.examination)),
        "units": units(material),
        "attributes": [
            name_of(name) for name in dict.fromkeys(p.attribute for p in material.pairs)
        ],
        "grid": [{"judge": judge, "cells": row} for (judge, _), row in by_judge.items()],
        "worst": worst,
        "kept": f"{labels:,} label{'' if labels == 1 else 's'}" if labels else "",
        "labels_file": ""
        if material.labels_path is None
        else "/".join(material.labels_path.parts[-2:]),
        "order": ", ".join(*orders) if len(orders) == 1 else "",
        "states": [{"state": state, **words._asdict()} for state, words in STATES.items()],
    }


def units(material: Material) -> list[dict[str, str]]:
    """The responses that decide most: those that move the number behind the weakest verdicts."""
    # Names of places that are too long to be shown are cut; the address holds them whole.
    pairs = {(one.judge, one.attribute, one.turn): one for one in material.pairs}
    shown = []
    for row in influential(material.examination, DECIDE).iter_rows(named=True):
        pair = pairs.get((row["judge"], row["attribute"], row["reference_at"]))
        if pair is not None:
            of = f", {row['system']}" if row["system"] else ""
            shown.append(
                {
                    "address": view_of(pair, use=row["use"], row=row["row"]).address("/response"),
                    "unit": name_of(f"{row['item']}{of}"),
                    **heading(pair),
                    "human": plain(row["human"]),
                    "score": plain(row["score"]),
                    "use": _title(row["use"]),
                }
            )
    return shown


def _title(use: str) -> str:
    """A use as it is headed: ``"order+"`` is of systems to come, ``"catch:sad"`` of a label."""
    key, _, label = use.partition(":")
    to_come = ", to come" if key.endswith("+") else ""
    return USES[key.removesuffix("+")].title + to_come + (f": {name_of(label)}" if label else "")


def _cell(material: Material, pair: JudgeOnAttribute) -> dict[str, Any]:
    means = material.means.get((pair.judge, pair.attribute, pair.turn), {})
    gap = means.get("gap")
    uses = [
        {
            "name": _title(use),
            "state": verdict.state,
            "sign": STATES[verdict.state].sign,
            "tone": STATES[verdict.state].tone,
            "address": view_of(pair, use=use).address("/matrix"),
        }
        for use, verdict in material.verdicts(pair).items()
    ]
    return {
        **heading(pair),
        "uses": uses,
        "gap": gap,
        "mean": "" if gap is None else plain(gap),
        "count": f"{means.get('len', 0):,}",
        "address": view_of(pair).address("/matrix"),
    }


def matrix(material: Material, view: View) -> dict[str, Any]:
    """Levels of the humans by levels of the judge, each cell a link to its responses."""
    pair, counted = material.pair(view), material.matrix(view)
    most = max(int(counted.counts.max()), 1)
    base = view_of(pair, use=view.use, against=view.against)
    rows = [
        {
            "name": name,
            "cells": [
                {
                    "name": counted.names[score],
                    "count": f"{count:,}" if count else "",
                    # Five shades; the root tells small counts apart beside a large one.
                    "shade": math.ceil(5 * math.sqrt(count / most)),
                    "same": human == score,
                    "address": base.address("/list", human=human, score=score),
                }
                for score, count in enumerate(counted.counts[human].tolist())
            ],
        }
        for human, name in enumerate(counted.names)
    ]
    return {
        "pair": heading(pair),
        "matrix": rows,
        "names": counted.names,
        "fine": material.fine,
        "total": f"{int(counted.counts.sum()):,}",
        "all": base.address("/list"),
        "changed": _changed(material, base),
        "every": f"{material.rows(pair.place, view.against).height:,}",
        "humans": name_of(_humans(pair, view)),
        "rounded": len(pair.reference) > 1,
        "verdict": _said(view, material),
        "scatter": _scatter(material, view, base) if material.fine else None,
    }


def _changed(material: Material, base: View) -> dict[str, str] | None:
    """How many responses are scored otherwise than in the source beside, and their list."""
    if material.beside is None:
        return None
    view = replace(base, changed=True, sort="change")
    return {"count": f"{material.select(view).height:,}", "address": view.address("/list")}


def _scatter(material: Material, view: View, base: View) -> dict[str, Any]:
    """Humans across, the judge upwards; each point is a link to its response."""
    scale = material.scale
    rows = material.rows(material.pair(view).place, view.against).drop_nulls(["human", "score"])
    drawn = rows.gather_every(max(math.ceil(rows.height / MOST_POINTS), 1))

    def at(value: float) -> float:
        return round((value - scale.low) / scale.width * SIDE, 1)

    return {
        "side": SIDE,
        "all": rows.height == drawn.height,
        "drawn": f"{drawn.height:,}",
        "points": [
            {
                "x": at(row["human"]),
                "y": SIDE - at(row["score"]),
                "address": base.address("/response", row=row["row"]),
                "label": f"{name_of(row['item'])} {name_of(row['system'])}: humans "
                f"{plain(row['human'])}, judge {plain(row['score'])}",
            }
            for row in drawn.to_dicts()
        ],
        "ticks": [
            (at(value), f"{value:g}")
            for value in (scale.low, (scale.low + scale.high) / 2, scale.high)
        ],
    }


def _humans(pair: JudgeOnAttribute, view: View) -> str:
    if view.against or len(pair.reference) == 1:
        return view.against or pair.reference[0]
    return f"mean of {len(pair.reference)} humans"


def _said(view: View, material: Material) -> dict[str, str] | None:
    verdict = material.verdict(view)
    if verdict is None:
        return None
    words = STATES[verdict.state]
    return {
        "use": _use(verdict),
        "state": verdict.state,
        "sign": words.sign,
        "tone": words.tone,
        "why": reason_text(verdict),
    }


def _use(verdict: Verdict) -> str:
    title = USES[verdict.use].title
    return title if verdict.target == "these systems" else f"{title}, {verdict.target}"


def listing(material: Material, view: View) -> dict[str, Any]:
    """The responses of a view, a page of them, with what filters and sorts them."""
    pair, rows = material.pair(view), material.select(view.chosen)
    pages = max(math.ceil(rows.height / ROWS), 1)
    page = min(view.page, pages)
    shown = rows.slice((page - 1) * ROWS, ROWS)
    heads = _heads(pair, rows)
    part, verdict = material.component(view), material.verdict(view)
    view = replace(view, page=page)  # filters may have left fewer pages than the address asks for
    return {
        "pair": heading(pair),
        "view": view,
        "count": f"{rows.height:,}",
        "pages": pages,
        "up": view_of(pair, use=view.use, against=view.against).address("/matrix"),
        "rows": [_listed(row, view, heads) for row in shown.to_dicts()],
        "heads": [_head(view, *head) for head in heads],
        "choices": _choices(material, view, pair),
        "fixed": [
            (key, value)
            for key, value in (
                ("judge", pair.judge),
                ("attribute", pair.attribute),
                ("turn", pair.turn or ""),
                ("sort", view.sort),
                ("up", "1" if view.up else ""),
            )
            if value
        ],
        "beside": material.beside is not None,
        "cleared": view_of(pair, use=view.use).address("/list"),
        "export": view.address("/export.csv"),
        "queue": view.address("/queue.csv"),
        "before": view.address("/list", page=page - 1) if page > 1 else "",
        "after": view.address("/list", page=page + 1) if page < pages else "",
        "influence": "" if part is None else _part(part),
        "use": "" if verdict is None else _use(verdict),
    }


def _part(part: Any) -> str:
    return COMPONENTS[part.name].title + (f" ({', '.join(part.at)})" if part.at else "")


def _heads(pair: JudgeOnAttribute, rows: pl.DataFrame) -> list[tuple[str, str]]:
    """The columns of the list; beside the mean of several humans each of them."""
    heads: list[tuple[str, str]] = [head for head in _HEADS if _told(rows, head[0])]
    own = [(OF + name, brief(name, _SHORT)) for name in pair.reference]
    after = 1 + next(at for at, (key, _) in enumerate(heads) if key == "human")
    return heads[:after] + (own if 1 < len(own) <= _MOST_HUMANS else []) + heads[after:]


def _told(rows: pl.DataFrame, column: str) -> bool:
    """Whether a column says anything: there are no systems, say, or no subgroups."""
    if column in ("influence", "change"):
        return rows[column].null_count() < rows.height
    if column == "status":
        return bool((rows[column] != "ok").any())
    return column not in ("system", "subgroup") or bool((rows[column] != "").any())


def _listed(row: Mapping[str, Any], view: View, heads: list[tuple[str, str]]) -> dict[str, Any]:
    cells = [
        {
            "kind": "text" if key in _TEXTS else "number",
            "text": name_of(row[key] or "") if key in _TEXTS else _number(key, row[key]),
        }
        for key, _ in heads
        if key != "item"
    ]
    return {
        "item": name_of(row["item"]),
        "by_hand": row["by_hand"],
        "cells": cells,
        "address": view.address("/response", row=row["row"]),
    }


def _number(key: str, value: float | None) -> str:
    if key == "influence":
        return plain(value, 5, signed=True)
    return plain(value, signed=key in BY_SIZE)


def _head(view: View, key: str, title: str) -> dict[str, str]:
    falls = (key in BY_SIZE) != view.up
    here = view.sort == key
    order = ("descending" if falls else "ascending") if here else ""
    address = view.address("/list", sort=key, up=here and not view.up, page=1)
    return {"title": title, "order": order, "address": address}


def _choices(material: Material, view: View, pair: JudgeOnAttribute) -> list[dict[str, Any]]:
    """The filters that choose among what there is."""
    rows = material.rows(pair.place, view.against)
    levels = [("", "any"), *((str(at), name) for at, name in enumerate(material.bin_names))]
    made = [
        (
            "use",
            "Influence on",
            view.use,
            [("", "the weakest use"), *((use, _title(use)) for use in material.verdicts(pair))],
        ),
        ("human", "Humans", view.human, levels),
        ("score", "Judge", view.score, levels),
        *(
            (
                key,
                key.capitalize(),
                getattr(view, key),
                [("", "any"), *((name, name_of(name)) for name in _values(rows, key))],
            )
            for key in _TEXTS
        ),
    ]
    if len(pair.reference) > 1:
        humans = [("", "mean of the humans"), *((name, name_of(name)) for name in pair.reference)]
        made.insert(1, ("against", "Beside", view.against, humans))
    return [
        {"key": key, "title": title, "value": "" if value is None else str(value), "options": given}
        for key, title, value, given in made
        if len(given) > 2
    ]


def _values(rows: pl.DataFrame, column: str) -> list[str]:
    return sorted(value for value in rows[column].unique() if value)


def response(material: Material, view: View, who: str) -> dict[str, Any]:
    """One response: texts, every rater's scores, replies, and the label that can be set."""
    pair, row = material.pair(view), material.response(view)
    order = material.select(view.chosen)["row"].to_numpy()
    at = int(np.flatnonzero(order == view.row)[0]) if (order == view.row).any() else None
    page = 1 if at is None else at // ROWS + 1
    component = material.component(view)
    influence = (
        None if component is None else material.influence(pair.place, component)[view.row or 0]
    )
    return {
        "pair": heading(pair),
        "row": {**row, "item": name_of(row["item"]), "system": name_of(row["system"])},
        "place": f"{len(order):,} responses" if at is None else f"{at + 1:,} of {len(order):,}",
        "up": view.address("/list", row=None, page=page),
        "matrix": view_of(pair, use=view.use).address("/matrix"),
        "before": _beside(view, order, at, -1),
        "after": _beside(view, order, at, 1),
        "facts": _facts(row, pair, view, influence, component),
        **_scores(material, row),
        **_parts(material, pair, row),
        **_texts(material, pair, row),
        **_label(material, pair, view, row, who),
    }


def _beside(view: View, order: Any, at: int | None, step: int) -> str:
    if at is None or not 0 <= at + step < len(order):
        return ""
    return view.address("/response", row=int(order[at + step]))


def _facts(
    row: Mapping[str, Any],
    pair: JudgeOnAttribute,
    view: View,
    influence: float | None,
    component: Any,
) -> list[tuple[str, str]]:
    facts = [
        (f"Judge, {name_of(pair.judge)}", plain(row["score"])),
        (f"Humans: {name_of(_humans(pair, view))}", plain(row["human"])),
        ("Difference", plain(row["difference"], signed=True)),
    ]
    if row["before"] is not None:
        facts.append(("Judge in the source beside", plain(row["before"])))
    if influence is not None:
        facts.append((f"Influence on “{_part(component)}”", plain(influence, 5, signed=True)))
    status = "" if row["status"] == "ok" else row["status"] or ""
    named = (("Subgroup", row["subgroup"]), ("Status", status))
    return facts + [(title, name_of(value)) for title, value in named if value]


def _scores(material: Material, row: Mapping[str, Any]) -> dict[str, Any]:
    """Every rater by every attribute; several runs by commas, a missing one by its status."""
    rows = scores_of(material.examination.ratings, row["item"], row["system"])
    cells: dict[tuple[str, str], list[str]] = {}
    named = rows.with_columns(pl.col("rater", "attribute", "status").cast(pl.String)).sort("run")
    for one in named.to_dicts():
        value = plain(one["score"]) if one["status"] in ("ok", "repaired") else one["status"]
        cells.setdefault((one["rater"], one["attribute"]), []).append(value)
    raters = list(dict.fromkeys(rater for rater, _ in cells))
    attributes = list(dict.fromkeys(pair.attribute for pair in material.pairs))
    return {
        "attributes": [name_of(name) for name in attributes],
        "scores": [
            {
                "name": name_of(rater),
                "cells": [", ".join(cells.get((rater, name), [MISSING])) for name in attributes],
            }
            for rater in raters
        ],
    }


def _parts(material: Material, pair: JudgeOnAttribute, row: Mapping[str, Any]) -> dict[str, Any]:
    """The conversation or run part by part, with what every rater says of each."""
    item, system = row["item"], row["system"]
    parts = material.parts(item, system)
    if not parts:
        return {"parts": [], "part_raters": []}
    said = {at: scores_of(material.examination.ratings, one, system) for at, one in parts.items()}
    every = pl.concat(said.values()).select(pl.col("rater", "attribute").cast(pl.String))
    several = every["attribute"].n_unique() > 1
    raters = sorted(every["rater"].unique(maintain_order=True), key=lambda name: name != pair.judge)
    turns = material.texts.turns(item, system)
    texts = {
        at: (f"{turn.role} {turn.name}".strip(), turn.content) for at, turn in enumerate(turns, 1)
    }
    if not turns:
        kind = parted(next(iter(parts.values())))[1].kind
        texts = {
            at: (kind, material.texts.response(one, system) or "") for at, one in parts.items()
        }
    return {
        "part_raters": [name_of(name) for name in raters],
        "parts": [
            {
                "at": at,
                "role": name_of(role),
                "own": parts.get(at) == item,
                **cut(text, _PART),
                "cells": [_of_part(said.get(at), rater, several=several) for rater in raters],
            }
            for at, (role, text) in texts.items()
        ],
    }


def _of_part(rows: pl.DataFrame | None, rater: str, *, several: bool) -> str:
    """What a rater says of a part: its scores in all runs, with their attributes where several."""
    if rows is None:
        return ""
    own = rows.filter(pl.col("rater").cast(pl.String) == rater).sort("run")
    cells = [
        f"{name_of(one['attribute'])} {plain(one['score'])}" if several else plain(one["score"])
        for one in own.with_columns(pl.col("attribute").cast(pl.String)).to_dicts()
    ]
    return ", ".join(cells) or MISSING


def _texts(material: Material, pair: JudgeOnAttribute, row: Mapping[str, Any]) -> dict[str, Any]:
    item, system = row["item"], row["system"]
    texts = [("Item", material.texts.item(item)), *material.texts.answers(item, system)]
    replies = material.texts.said(item, system)
    if material.beside is not None:
        there = material.beside.texts
        answers = {text for _, text in texts}
        texts += [
            (f"{title} in the source beside", text)
            for title, text in there.answers(item, system)
            if text not in answers
        ]
        same = [_words_of(one) for one in replies if one["rater"] == pair.judge]
        before = there.said(item, system, pair.judge)
        replies += [{**one, "beside": True} for one in before if _words_of(one) not in same]
    return {
        "texts": [{"title": title, **cut(text)} for title, text in texts if text is not None],
        "replies": sorted(
            (_reply(one, pair) for one in replies), key=lambda reply: not reply["own"]
        ),
    }


def _words_of(one: Mapping[str, Any]) -> tuple[Any, ...]:
    """The run and the texts of a reply, by which the same one is known in another source."""
    return (one["run"], *(step["text"] for step in one["steps"]), *one["reasons"])


def _reply(one: Mapping[str, Any], pair: JudgeOnAttribute) -> dict[str, Any]:
    several = len(one["steps"]) > 1
    run = f", run {one['run']}" if one["run"] and one["run"] > 1 else ""
    where = " in the source beside" if one.get("beside") else ""
    who = name_of(one["rater"])
    title = f"Reply of {who}" if one["steps"] else f"What {who} said"
    return {
        "title": f"{title}{run}{where}",
        "own": one["rater"] == pair.judge,
        "status": one["status"] or "ok",
        "read": "",
        "flags": ", ".join(one["flags"]),
        "steps": [
            {
                "title": f"Step {at}" if several else "",
                "notes": step["notes"] or "",
                **cut(step["text"] or ""),
            }
            for at, step in enumerate(one["steps"], start=1)
        ],
        "shown": [{"title": title, **cut(text)} for title, text in one["shown"]],
        "reasons": [{"title": name_of(title), **cut(text)} for title, text in one["reasons"]],
    }


def cut(text: str, most: int = LONGEST) -> dict[str, str]:
    """The beginning of a text, and how much more there is."""
    more = len(text) - most
    return {"text": text[:most], "more": f"{more:,}" if more > 0 else ""}


def _moment(at: str) -> str:
    """To the minute; labels are kept in UTC."""
    return f"{at[:16].replace('T', ' ')} UTC" if at.endswith("+00:00") else at


def _label(
    material: Material, pair: JudgeOnAttribute, view: View, row: Mapping[str, Any], who: str
) -> dict[str, Any]:
    """The form, and what was set by hand here."""
    own = material.labels().filter(
        pl.col("item") == row["item"], pl.col("system").fill_null("") == row["system"]
    )
    humans = [(name, name_of(name)) for name in pair.reference]
    scale = material.scale
    return {
        "labels": [
            {
                "attribute": one["attribute"],
                "score": plain(one["score"]),
                "rater": one["rater"],
                "by": one["labelled_by"],
                "at": _moment(one["labelled_at"]),
                "note": one["note"],
            }
            for one in own.to_dicts()
        ],
        "can_label": material.labels_path is not None,
        "hidden": [("back", view.address("/response"))],
        "levels": [] if material.fine else material.bin_names,
        "low": f"{scale.low:g}",
        "high": f"{scale.high:g}",
        "chosen": "",
        "by": who,
        "humans": [*humans, ("", "a human of my name")],
        "as_rater": pair.reference[0] if len(pair.reference) == 1 else "",
    }
