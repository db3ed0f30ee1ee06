"""Frozen dataclasses that cost little to declare, and patterns that are compiled when first used.

Python writes and compiles six methods for each frozen dataclass: half a millisecond, which was a
third of what loading our modules took. Here one is written, `__init__`, for a class of which more
than a few objects are made; the others are the same for all.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - what it is to type checkers

    pattern = re.compile
else:

    class pattern:  # noqa: N801 - stands for `re.compile`
        """`re.compile`, when something is first asked of the pattern."""

        def __init__(self, text: str, flags: int = 0) -> None:
            self.text, self.flags = text, flags

        def __getattr__(self, name: str) -> Any:
            """What the compiled pattern has."""
            found = getattr(re.compile(self.text, self.flags), name)
            setattr(self, name, found)
            return found

    def dataclass(cls: Any = None, /, **how: bool) -> Any:
        """`dataclasses.dataclass`; where it is frozen and has slots, made here."""
        if cls is None:
            return partial(dataclass, **how)
        frozen = how.get("frozen") and how.get("slots") and set(how) <= _KNOWN
        # What inherits fields, or has no doc and is given one by Python, is rare: as ever.
        inherits = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
        if not frozen or inherits or cls.__doc__ is None:
            return dataclasses.dataclass(cls, **how)
        return _frozen(cls, **how)


_KNOWN = {"frozen", "slots", "eq", "kw_only"}
#: So many objects of a class cost as much, made one by one, as having its `__init__` written.
_UNWRITTEN = 16


def _frozen(cls: Any, *, eq: bool = True, kw_only: bool = False, **_: bool) -> Any:
    own = set(vars(cls))
    if vars(cls).get("__hash__", own) is None:  # as Python says beside an `__eq__`
        own.discard("__hash__")
    made: Any = dataclasses.dataclass(
        cls, init=False, repr=False, eq=False, slots=True, kw_only=kw_only
    )
    # What a subclass, and whoever asks for them, is told.
    made.__dataclass_params__.frozen, made.__dataclass_params__.eq = True, eq
    fields = dataclasses.fields(made)
    set_, delete = _refusals(made)
    methods: dict[str, Any] = {"__repr__": _repr_of(fields), **_STATE}
    if eq:
        methods["__eq__"], methods["__hash__"] = _equality(fields)
    if "__init__" not in own:
        methods["__init__"] = _first_init(made)
        made.__signature__ = _Signature()
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    made.__setattr__, made.__delattr__ = set_, delete
    return made


def _first_init(made: Any) -> Callable[..., None]:
    """What makes the first few objects, then has the real one written."""
    left = _UNWRITTEN

    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        nonlocal left
        left -= 1
        if made.__init__ is __init__:
            if left >= 0 and _set_plainly(made, self, values, named):
                return
            made.__init__ = _init_of(made)
        made.__init__(self, *values, **named)

    return __init__


def _set_plainly(made: Any, self: Any, values: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Set the fields as `__init__` would; False, and nothing set, where it would have an error."""
    fields = dataclasses.fields(made)
    places = [one.name for one in fields if not one.kw_only]
    if len(values) > len(places) or not all(one.init for one in fields):
        return False
    given = dict(zip(places, values, strict=False))
    if given.keys() & named.keys():
        return False
    given |= named
    for one in fields:
        if one.name in given:
            continue
        if one.default is not dataclasses.MISSING:
            given[one.name] = one.default
        elif one.default_factory is not dataclasses.MISSING:
            given[one.name] = one.default_factory()
        else:
            return False
    if len(given) > len(fields):
        return False
    for name in given:
        object.__setattr__(self, name, given[name])
    if hasattr(made, "__post_init__"):
        self.__post_init__()
    return True


def _init_of(made: Any) -> Callable[..., None]:
    """`__init__`, which sets each field as Python's own does."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_lacking": _LACKING}
    taken: dict[bool, list[str]] = {False: [], True: []}
    body = []
    for one in dataclasses.fields(made):
        value = one.name
        if one.default is not dataclasses.MISSING:
            names[f"_default_{one.name}"] = one.default
            given = f"{one.name}=_default_{one.name}"
            value = one.name if one.init else f"_default_{one.name}"
        elif one.default_factory is not dataclasses.MISSING:
            names[f"_new_{one.name}"] = one.default_factory
            given = f"{one.name}=_lacking"
            fresh = f"_new_{one.name}()"
            value = f"{fresh} if {one.name} is _lacking else {one.name}" if one.init else fresh
        elif not one.init:
            continue
        else:
            given = one.name
        if one.init:
            taken[bool(one.kw_only)].append(given)
        body.append(f"_set(self, {one.name!r}, {value})")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    named = ["*", *taken[True]] if taken[True] else []
    text = f"def __init__({', '.join(['self', *taken[False], *named])}):\n " + "\n ".join(
        body or ["pass"]
    )
    exec(text, names)  # noqa: S102 - names of fields, which Python took for names
    init: Any = names["__init__"]
    init.__qualname__, init.__module__ = f"{made.__qualname__}.__init__", made.__module__
    init.__annotations__ = {one.name: one.type for one in dataclasses.fields(made) if one.init}
    init.__annotations__["return"] = None
    return init  # type: ignore[no-any-return]


class _Lacking:
    """A value that nobody gave, of a field that gets a new one each time."""

    def __repr__(self) -> str:
        """As `inspect.signature` shows it."""
        return "<factory>"


_LACKING = _Lacking()


class _Signature:
    """What `inspect.signature` says of a class whose `__init__` may be unwritten."""

    def __get__(self, _: Any, owner: Any) -> inspect.Signature:
        """The parameters of `owner`."""
        for base in owner.__mro__:
            if "__signature__" in vars(base):
                init = _init_of(base) if owner.__init__ is base.__init__ else owner.__init__
                break
        whole = inspect.signature(init)
        return whole.replace(parameters=list(whole.parameters.values())[1:])


def _repr_of(fields: tuple[dataclasses.Field[Any], ...]) -> Callable[[Any], str]:
    shown = [one.name for one in fields if one.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    return __repr__


def _equality(
    fields: tuple[dataclasses.Field[Any], ...],
) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    compared = [one.name for one in fields if one.compare]
    hashed = [one.name for one in fields if (one.compare if one.hash is None else one.hash)]
    values, keys = _values_of(compared), _values_of(hashed)

    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(keys(self))

    return __eq__, __hash__


def _values_of(names: list[str]) -> Callable[[Any], Any]:
    """Its values of these fields; a tuple, in which a NaN equals itself as in Python's own."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _refusals(made: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    def refuse(self: Any, name: str, verb: str) -> None:
        # A subclass may have attributes of its own.
        if type(self) is made or name in made.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        refuse(self, name, "assign to")
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        refuse(self, name, "delete")
        object.__delattr__(self, name)

    return __setattr__, __delattr__


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


#: For pickles and copies: without `__dict__`, by the fields.
_STATE = {"__getstate__": _state, "__setstate__": _restore}
