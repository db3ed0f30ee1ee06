"""Finding a rubric's keys in whatever shape a model wrapped them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.parsing._json import Cut, pairs_of, read_json
from voirdire.parsing._spelling import MARKS
from voirdire.parsing._vocabulary import of_heads, rule
from voirdire.parsing._words import FINAL_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# "Overall score", "overall_score" and "overall-score" are one key.
_SEPARATORS = re.compile(rf"(?:[^\w{MARKS}]|_)+")
_SCORE_KEYS = rule("score_keys")
# Beside a score these hold its last version, or a flag; "updated" may be a day.
_LAST_KEYS = ("final", "revised", "corrected")
#: What stands under these explains an answer and is none, whatever it names.
ASIDES = frozenset(rule("asides"))
_TOP_KEYS = frozenset({"max", "maxscore", "maximum", "outof", "of"})
_NAME_KEYS = frozenset(rule("name_keys"))
#: Of several wrappers at one level these hold the answer (a *draft* or *weights* does not).
_ANSWER_KEYS = frozenset(rule("answer_keys"))
#: "finalscore", "calmfinal", "answerafterreview": a key in its plain form, marked as final.
MARKED_FINAL = re.compile(
    rf"(?:{'|'.join(FINAL_MARKS)})(?P<behind>.+)"
    rf"|(?P<before>.+)(?:{'|'.join(FINAL_MARKS)}|after(?:the)?(?:review|reflection|revision|discussion))"
)
# "1. Empathy (1-5)", "- Empathy": a key with its number, mark and scale.
_DECORATED = re.compile(r"\W{0,3}(?:\d{1,2}[.):]?\s)?(?P<bare>[^()\[\]]+)(?:[(\[].*)?", re.DOTALL)
_LONGEST_KEY = 120
_MAX_NODES = 20_000
_MAX_DEPTH = 8


class RawValue(NamedTuple):
    """The raw value of a key, or why there is none.

    Reasons: duplicate_key, ambiguous, empty, cut, no_score. `top` is a maximum that comes beside
    the score; `conflict`: another object states another value; `left_open`: nothing closes it, and
    the text ends behind it.
    """

    value: Any = None
    reason: str = ""
    top: Any = None
    conflict: bool = False
    left_open: bool = False


def plain_key(key: str) -> str:
    """A key without case, spaces, underscores and signs.

    >>> plain_key("  Self_Harm risk*")
    'selfharmrisk'
    """
    if key.isascii() and key.isalpha():
        return key.lower()
    return _SEPARATORS.sub("", key.casefold())


def exact_key(key: str, forms: Mapping[str, str]) -> str | None:
    """The declared key that this is but for case, spaces and signs."""
    return forms.get(plain_key(key)) or forms.get(key)


def match_key(key: str, forms: Mapping[str, str]) -> str | None:
    """The declared key that a model's key stands for, if any.

    >>> match_key("1. Empathy (1-5)", key_forms(["Empathy"]))
    'Empathy'
    """
    if (exact := exact_key(key, forms)) is not None:
        return exact
    if len(key) > _LONGEST_KEY or not (decorated := _DECORATED.fullmatch(key)):
        return None
    bare = plain_key(decorated["bare"])
    return forms.get(bare) or forms.get(bare.removesuffix("score").removesuffix("rating"))


def key_forms(keys: Iterable[str]) -> Mapping[str, str]:
    """Plain form -> declared key; where two keys share a form, only the exact key matches."""
    return _key_forms(tuple(keys))


@lru_cache(maxsize=256)
def _key_forms(names: tuple[str, ...]) -> Mapping[str, str]:
    forms = [plain_key(name) for name in names]
    pairs = {
        (form if form and forms.count(form) == 1 else name): name
        for form, name in zip(forms, names, strict=True)
    }
    return MappingProxyType(pairs)


def find_keys(tree: Any, forms: Mapping[str, str]) -> dict[str, list[Any]]:
    """Declared key -> its values at the outermost level that holds it.

    At one level a key that is marked as final (``Safety_final``) goes before the key itself, that
    before ``Safety (reason)``, and a wrapper that names an answer (*final*, *scores*) before
    others. An object under *final* or *revised* goes before all beside it.
    """
    tree = _final_part(tree, forms)
    by_key: dict[str, list[Any]] = {}
    level, nodes = [(False, tree)], 0
    # Level by level: an outer key answers, and one further in is about a part.
    for _ in range(_MAX_DEPTH):
        ranked: dict[str, list[tuple[tuple[bool, bool, bool], Any]]] = {}
        below: list[tuple[bool, Any]] = []
        for answers, node in level:
            for key, value in _members(node):
                nodes += 1
                name = match_key(key, forms) if key else None
                final = key and name is None and (name := _finally(key, forms)) is not None
                # What an outer level says is not replaced by a detail of it.
                if name is not None and name not in by_key:
                    rank = (bool(final), exact_key(key, forms) is not None, answers)
                    ranked.setdefault(name, []).append((rank, value))
                # A node that names what it scores comes as its own value: opened
                # again it would never end.
                if value is not node and (inner := _opened(value)) is not None:
                    below.append((answers or plain_key(key) in _ANSWER_KEYS, inner))
        for name, values in ranked.items():
            best = max(rank for rank, _ in values)
            by_key[name] = [value for rank, value in values if rank == best]
        if len(by_key) == len(forms) or nodes > _MAX_NODES:
            break
        level = below
    return by_key


def possible_forms(tree: Any) -> set[str]:
    """The plain forms of keys that `find_keys` may find in a tree, and some that it may not.

    To ask for a form that is not among them is in vain, and asking costs a walk through the tree.
    """
    forms, level, nodes = set[str](), [tree], 0
    for _ in range(_MAX_DEPTH):
        below = list[Any]()
        for node in level:
            for key, value in _members(node):
                nodes += 1
                forms |= _forms_of(key)
                if value is not node and (inner := _opened(value)) is not None:
                    below.append(inner)
        if nodes > _MAX_NODES or not below:
            break
        level = below
    return forms


@lru_cache(maxsize=1024)
def _forms_of(key: str) -> frozenset[str]:
    plain = plain_key(key)
    forms = {plain, key}
    if len(key) <= _LONGEST_KEY and (decorated := _DECORATED.fullmatch(key)):
        bare = plain_key(decorated["bare"])
        forms |= {bare, bare.removesuffix("score").removesuffix("rating")}
    if final := MARKED_FINAL.fullmatch(plain_key(key[:_LONGEST_KEY])):
        forms.add(final["behind"] or final["before"])
    return frozenset(forms)


def _finally(key: str, forms: Mapping[str, str]) -> str | None:
    """The declared key that a key says in its last version: *final_calm*, *calm_after_review*."""
    match = MARKED_FINAL.fullmatch(plain_key(key[:_LONGEST_KEY]))
    return forms.get(match["behind"] or match["before"]) if match else None


def may_be_final(key: str) -> bool:
    """Whether a key may hold the last version of another: *final*, *calm_after_review*."""
    plain = plain_key(key[:_LONGEST_KEY])
    return plain.startswith(FINAL_MARKS) or MARKED_FINAL.fullmatch(plain) is not None


def marks_final(tree: Any) -> bool:
    """Whether a key of an object says that it holds the last version: ``{"final_answer": "B"}``."""
    pairs = pairs_of(tree) if isinstance(tree, dict) else ()
    return any(plain_key(key[:_LONGEST_KEY]).startswith(FINAL_MARKS) for key, _ in pairs)


def _final_part(tree: Any, forms: Mapping[str, str]) -> Any:
    """The part of an object that a key marks as final, where all keys stand in it."""
    pairs = pairs_of(tree) if isinstance(tree, dict) else ()
    for key, value in pairs:
        inner = _opened(value) if plain_key(key).startswith(FINAL_MARKS) else None
        if isinstance(inner, dict) and any(match_key(k, forms) for k, _ in pairs_of(inner)):
            return inner
    return tree


def names_its_score(keys: Iterable[str]) -> bool:
    """Whether an object may say in one field what it scores and in another how: see `_members`."""
    plain = {plain_key(key) for key in keys}
    return not plain.isdisjoint(_SCORE_KEYS) and not plain.isdisjoint(_NAME_KEYS)


def _members(node: Any) -> Iterator[tuple[str, Any]]:
    """Key and value pairs of an object; items of a list under an empty key."""
    if isinstance(node, list):
        yield from (("", item) for item in node)
        return
    pairs = pairs_of(node)
    yield from pairs
    plain = {plain_key(key): value for key, value in pairs}
    if not plain.keys().isdisjoint(_SCORE_KEYS):  # {"name": "Empathy", "score": 4}
        names = [plain[key] for key in _NAME_KEYS & plain.keys()]
        yield from ((name, node) for name in names if isinstance(name, str))


def _opened(value: Any) -> dict[str, Any] | list[Any] | None:
    """The object or list that a value is, or holds as text."""
    if isinstance(value, Cut):
        value = value.value
    if isinstance(value, dict | list):
        return value
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        inner = read_json(value).values
        return inner[-1] if inner else None
    return None


def scalars(values: list[Any], *, keep_cut: bool, name: str = "") -> list[RawValue]:
    """One raw scalar for each value of a key: unwrapped, or missing with a reason.

    A value at which the text was cut counts only with `keep_cut`, and only if it is complete.
    Inside an object the key itself, `name`, may come again: ``{"calm": {"why": "", "calm": 4}}``.
    """
    own_form = plain_key(name)
    return [_scalar(value, 0, keep_cut=keep_cut, own_form=own_form) for value in values]


def _scalar(value: Any, depth: int, *, keep_cut: bool, own_form: str) -> RawValue:
    if isinstance(value, Cut):
        if not keep_cut or value.value is None:
            return RawValue(reason="cut")
        inner = _scalar(value.value, depth, keep_cut=keep_cut, own_form=own_form)
        return inner._replace(left_open=True)
    opened = _opened(value)
    if opened is None:
        return RawValue(value)
    if depth < _MAX_DEPTH:
        if isinstance(opened, dict):
            return _scored(opened, depth + 1, keep_cut=keep_cut, own_form=own_form)
        # [4] is 4; of two numbers nobody can tell which is the score.
        if len(opened) == 1:
            return _scalar(opened[0], depth + 1, keep_cut=keep_cut, own_form=own_form)
    return RawValue(reason="ambiguous" if opened else "empty")


def _scored(value: dict[str, Any], depth: int, *, keep_cut: bool, own_form: str) -> RawValue:
    """The score of ``{"score": 4, "reason": "..."}``; never one of an inner part."""
    by_form: dict[str, list[Any]] = {}
    for key, inner in pairs_of(value):
        decorated = _DECORATED.fullmatch(key[:_LONGEST_KEY])
        by_form.setdefault(plain_key(decorated["bare"] if decorated else key), []).append(inner)
    # {"score": 4, "final": true}: a flag is no score.
    last = [key for key in _LAST_KEYS if not any(isinstance(v, bool) for v in by_form.get(key, ()))]
    keys = (*last, *_SCORE_KEYS, own_form, f"{own_form}score", f"{own_form}rating")
    # By the order of `keys`: what is revised goes before the score, and
    # that before the key itself.
    values = next((by_form[key] for key in keys if key and key in by_form), None)
    if values is None:  # {"Empatia": {"punteggio": 5}}
        told = [v for form, some in by_form.items() if form in _foreign_scores() for v in some]
        values = told or None
    if values is None:
        return RawValue(reason="no_score")
    readings = [_scalar(each, depth, keep_cut=keep_cut, own_form=own_form) for each in values]
    if any(not _same(each.value, readings[0].value) for each in readings[1:]):
        return RawValue(reason="duplicate_key")
    tops = [top for key in _TOP_KEYS for top in by_form.get(key, ())]
    return readings[0]._replace(top=tops[0] if tops else readings[0].top)


@cache
def _foreign_scores() -> frozenset[str]:
    """The nouns of a verdict in other languages than English, as keys."""
    return frozenset(map(plain_key, of_heads("verdict")))


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON values: true is not 1, and NaN equals itself."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - NaN
