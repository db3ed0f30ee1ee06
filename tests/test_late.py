"""Dataclasses of `voirdire.late` are those of Python; patterns are `re`'s, compiled when used."""

import copy
import dataclasses
import inspect
import pickle
import re
from dataclasses import field, replace

import pytest

from voirdire.late import dataclass, pattern


def declared(decorator, frozen=True, **how):
    @decorator(frozen=frozen, slots=True, **how)
    class Point:
        """Two numbers, a list and what follows from them."""

        x: float
        y: float = 2.0
        seen: list[int] = field(default_factory=list, compare=False)
        name: str = field(default="p", kw_only=True, repr=False)
        both: tuple[float, ...] = field(init=False, default=())

        def __post_init__(self):
            object.__setattr__(self, "both", (self.x, self.y))

    return Point


@dataclass(frozen=True, slots=True)
class Kept:
    """At the top of a module, so that it can be pickled."""

    a: int
    b: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Longer(Kept):
    """Python's own, which inherits the fields."""

    c: int = 3


@pytest.mark.parametrize("eq", [True, False])
def test_it_is_what_pythons_own_is(eq):
    late, own = declared(dataclass, eq=eq), declared(dataclasses.dataclass, eq=eq)
    assert str(inspect.signature(late)) == str(inspect.signature(own))
    assert late.__match_args__ == own.__match_args__
    assert [one.name for one in dataclasses.fields(late)] == ["x", "y", "seen", "name", "both"]
    assert repr(late(1.0)) == repr(own(1.0))
    for make in (late, own):
        one = make(1.0, seen=[1])
        assert (one == make(1.0, seen=[2])) is eq
        assert (hash(one) == hash(make(1.0))) is eq
        assert one != make(1.5)
        assert one != (1.0, 2.0)
        assert replace(one, y=3.0, name="q").both == (1.0, 3.0)
        assert make(1.0).seen is not make(1.0).seen
        assert dataclasses.asdict(one)["both"] == (1.0, 2.0)
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
            make()
        with pytest.raises(TypeError, match="unexpected keyword argument 'both'"):
            make(1.0, both=())
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
            one.x = 2.0
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
            del one.x


def test_the_first_objects_are_made_as_the_later_ones_are():
    """The first few without a written `__init__`: the same fields, defaults and errors."""

    def plain(decorator):
        @decorator(frozen=True, slots=True)
        class Plain:
            """No field that nobody may give."""

            x: float
            seen: list[int] = field(default_factory=list)
            name: str = field(default="p", kw_only=True)

            def __post_init__(self):
                assert self.name

        return Plain

    late, own = plain(dataclass), plain(dataclasses.dataclass)
    for _ in range(40):
        assert repr(late(1.0, name="q")) == repr(own(1.0, name="q"))
        assert repr(late(x=2.0)) == repr(own(x=2.0))
        assert late(1.0).seen is not late(1.0).seen
    for values, named in (((), {}), ((1, [], "p"), {}), ((1,), {"x": 2}), ((1,), {"y": 2})):
        said = []
        for make in (plain(dataclass), own):
            with pytest.raises(TypeError) as caught:
                make(*values, **named)
            said.append(str(caught.value).partition(" ")[2])
        assert said[0] == said[1]


def test_it_is_pickled_copied_and_inherited():
    for made in (Kept(1, (2,)), Longer(1, c=4)):
        assert pickle.loads(pickle.dumps(made)) == made == copy.copy(made) == copy.deepcopy(made)
    assert repr(Longer(1)) == "Longer(a=1, b=(), c=3)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Longer(1).c = 2

    class Named(Kept):
        """Not a dataclass itself: it may have attributes of its own."""

    one = Named(1)
    one.note = "kept"
    assert one.note == "kept"
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.a = 2


def test_what_a_class_defines_itself_is_kept():
    @dataclass(frozen=True, slots=True)
    class Own:  # noqa: PLW1641 - which Python adds to a frozen dataclass
        """With a comparison of its own."""

        a: int

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "mine"

    assert Own(1) == Own(2)
    assert repr(Own(1)) == "mine"
    assert hash(Own(1)) != hash(Own(2))


def test_a_pattern_is_compiled_when_something_is_asked_of_it():
    late = pattern("(?P<a>b+)", re.IGNORECASE)
    assert vars(late) == {"text": "(?P<a>b+)", "flags": re.IGNORECASE}
    assert late.fullmatch("BB")["a"] == "BB"
    assert late.sub("-", "abba") == "a-a"
    with pytest.raises(re.error):
        pattern("(").match("x")
