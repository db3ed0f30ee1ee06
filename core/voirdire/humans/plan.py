"""Who judges what: the plan, the key that says what it hides, and texts checked on their return."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.files import write_json
from voirdire.humans.questions import Form, FormQuestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: How workbooks write characters that XML cannot hold.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
#: Texts at least so long may come back cut at the limit of a cell.
_LONG = 30_000


def skeleton(text: str) -> str:
    """What is left of a text by a trip through any spreadsheet: its printable characters."""
    meant = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    # Spreadsheets compose letters, change blanks and line ends, and drop what they cannot show.
    plain = unicodedata.normalize("NFC", meant)
    kept = (c for c in plain if not unicodedata.category(c).startswith(("C", "Z")))
    # An apostrophe before a text keeps it from being taken for a formula.
    return "".join(kept).lstrip("'")


def same_text(shown: str, sent: str) -> bool:
    """Whether a cell still shows the text that was sent, if need be cut at a cell's limit."""
    here, there = skeleton(shown), skeleton(sent)
    return here == there or (len(shown) >= _LONG and there.startswith(here))


def digest(parts: Iterable[str], length: int) -> str:
    """Base-32 letters of a hash; never a number to a spreadsheet, since a letter leads."""
    # Joined by what no text holds, so that no two lists of parts are the same text. JSON may hold
    # half a letter, which UTF-8 alone refuses.
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    raw = hashlib.blake2b(joined, digest_size=20).digest()
    return "j" + base64.b32encode(raw).decode().lower()[: length - 1]


PLAN, KEY, VERSION = "plan.json", "key.json", 2


@dataclass(frozen=True, slots=True)
class Judgement:
    """One thing that one rater is shown and asked about.

    Attributes
    ----------
    id : str
        Opaque, and different for each rater.
    shown : tuple of (title, text)
    form : tuple of FormQuestion
    """

    id: str
    shown: tuple[tuple[str, str], ...]
    form: Form

    @property
    def check(self) -> str:
        """A checksum over the id, the texts shown and the questions asked."""
        asked = (part for q in self.form for part in (q.name, q.asked, *q.choices))
        return digest((self.id, *(text for _, text in self.shown), *asked), 8)


@dataclass(frozen=True)
class Plan:
    """Who judges what.

    Attributes
    ----------
    raters : mapping of str to tuple of str
        Rater -> ids of judgements in the order in which they are shown.
    judgements : mapping of str to Judgement
    hash : str
        SHA-256 over everything else.
    """

    name: str
    title: str
    task: str
    instructions: str
    raters: Mapping[str, tuple[str, ...]]
    judgements: Mapping[str, Judgement]

    @cached_property
    def hash(self) -> str:
        """SHA-256 over everything that is shown and to whom."""
        return _hash(_packed(self))

    @cached_property
    def owners(self) -> dict[str, str]:
        """Judgement -> its rater."""
        return {ident: rater for rater, ids in self.raters.items() for ident in ids}

    @property
    def form(self) -> Form:
        """That of the first judgement: all have questions of the same names."""
        return next(iter(self.judgements.values())).form


@dataclass(frozen=True, slots=True)
class Origin:
    """What stands behind a judgement; `first` was shown first where two are compared.

    `system_a` and `system_b` are a pair as declared; `system_a` alone is a response's system.
    """

    item: str
    system_a: str = ""
    system_b: str = ""
    first: str = ""
    #: With which it was drawn to be judged, where that is known and differs from response to
    #: response.
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class PlanKey:
    """The key to a plan.

    Attributes
    ----------
    secret : str
        Drawn once a plan. Ids, orders and who gets what follow from it, so whoever has it can draw
        the plan again and see through it: it is written to the key alone.
    items : mapping
        The further columns of the items, which results are broken down by.
    labels : {"", "chosen", "random"}
        Where a queue says what is judged: whether its tasks were chosen for what a judge said of
        them, and are no random sample of all, or were drawn at random.
    """

    plan: str
    secret: str
    origins: Mapping[str, Origin]
    items: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    labels: str = ""


def write_plan(plan: Plan, path: Path, mode: int | None = None) -> None:
    """Write the plan with its hash, and with the permissions `mode`."""
    write_json(path, {**_packed(plan), "hash": plan.hash}, indent=None, mode=mode)


def write_key(key: PlanKey, path: Path) -> None:
    """Write the key, readable by its owner only."""
    origins = {ident: asdict(origin) for ident, origin in key.origins.items()}
    raw = {
        "plan": key.plan,
        "secret": key.secret,
        "labels": key.labels,
        "origins": origins,
        "items": key.items,
    }
    write_json(path, raw, indent=None, mode=0o600)


def read_plan(path: Path) -> Plan:
    """The plan in a file.

    Raises
    ------
    InputError
        No such file, no plan, or one that was changed after it was drawn.
    """
    raw = _read(path, "plan")
    try:
        stated = raw.pop("hash")
        plan = _unpacked(raw)
    except (KeyError, TypeError, IndexError, AttributeError):
        raise InputError(f"{path}: not a plan of voirdire (version {VERSION})") from None
    if plan.hash != stated:
        raise InputError(f"{path}: the plan was changed after it was drawn: its hash does not fit")
    return plan


def read_key(path: Path, plan: Plan) -> PlanKey:
    """The key to a plan.

    Raises
    ------
    InputError
        No such file, or the key to another plan.
    """
    raw = _read(path, "key")
    try:
        origins = {ident: Origin(**origin) for ident, origin in raw["origins"].items()}
        items = {item: dict(extra) for item, extra in raw.get("items", {}).items()}
        # Keys of version 0.1 hold a number as `seed`, from which their plans were drawn.
        secret = str(raw["secret"] if "secret" in raw else raw["seed"])
        # Keys of before 0.3 say by `chosen` whether there was a queue.
        labels = str(raw.get("labels", "chosen" if raw.get("chosen") else ""))
        key = PlanKey(raw["plan"], secret, origins, items, labels)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: not a key of voirdire") from None
    if key.plan != plan.hash or set(key.origins) != set(plan.judgements):
        raise InputError(f"{path}: the key to another plan")
    return key


def _packed(plan: Plan) -> dict[str, Any]:
    """Plain values, each text and form once."""
    # A text is shown to each rater, and an item to each comparison: once is enough in the file.
    texts: dict[str, int] = {}
    forms: dict[Form, int] = {}
    judgements = [
        {
            "id": judgement.id,
            "form": forms.setdefault(judgement.form, len(forms)),
            "shown": [[t, texts.setdefault(x, len(texts))] for t, x in judgement.shown],
        }
        for judgement in plan.judgements.values()
    ]
    return {
        "version": VERSION,
        "name": plan.name,
        "title": plan.title,
        "task": plan.task,
        "instructions": plan.instructions,
        "raters": {rater: list(ids) for rater, ids in plan.raters.items()},
        "forms": [[asdict(question) for question in form] for form in forms],
        "texts": list(texts),
        "judgements": judgements,
    }


def _unpacked(raw: dict[str, Any]) -> Plan:
    if raw["version"] != VERSION:
        raise KeyError(raw["version"])
    forms = [tuple(_question(one) for one in form) for form in raw["forms"]]
    texts = raw["texts"]
    judgements = {
        one["id"]: Judgement(
            one["id"], tuple((title, texts[at]) for title, at in one["shown"]), forms[one["form"]]
        )
        for one in raw["judgements"]
    }
    raters = {rater: tuple(ids) for rater, ids in raw["raters"].items()}
    head = {name: raw[name] for name in ("name", "title", "task", "instructions")}
    return Plan(**head, raters=raters, judgements=judgements)


def _question(raw: dict[str, Any]) -> FormQuestion:
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in raw.items()}
    return FormQuestion(**plain)


def _hash(packed: dict[str, Any]) -> str:
    text = json.dumps(packed, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path, what: str) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such {what} (voirdire humans export draws it)"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a {what} ({error})") from None
    if not isinstance(raw, dict):
        raise InputError(f"{path}: not a {what} of voirdire")
    return raw
