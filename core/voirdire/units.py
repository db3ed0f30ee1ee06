"""Turns of a conversation, and which part of it is judged: the whole, one turn, or the first.

A conversation is an item or a response with `turns`. A *unit* is what one judgement is about. Its
key stands in the store (`tasks.unit`), its id in every table (`Unit.of`), and all units of one
conversation are one cluster (`cluster_of`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from voirdire.errors import InputError
from voirdire.late import dataclass, pattern
from voirdire.schema import Item, Rating, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What may be judged: a conversation as a whole, each turn given its past, the first turn where
#: something fails; of a trajectory also each step.
UnitKind = Literal["whole", "turn", "first", "step"]
UNIT_KINDS: tuple[UnitKind, ...] = get_args(UnitKind)
#: The answer to "which is the first turn where it fails" where none does; turns count from 1.
NEVER = 0
#: Units that stand in a place of their own within a conversation.
_PLACED = ("turn", "step")
#: Roles of a trajectory: what a model thought, which tool it called, and what the tool gave.
THOUGHT, CALL, RESULT = "thought", "tool call", "tool result"
#: Roles of a trajectory that are no step of the agent: what it was given.
GIVEN = ("system", "user")
#: How the id of a unit within a conversation ends, for columns of ids.
ENDS_PLACED = rf" (?:{'|'.join(_PLACED)}) [1-9][0-9]*$"
_ID = pattern(rf"(?s)(?P<item>.*) (?P<kind>{'|'.join(_PLACED)}) (?P<position>[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Unit:
    """What one judgement is about: the whole of a conversation, or its turn or step from 1 on.

    Examples
    --------
    >>> Unit("turn", 4).key, Unit("turn", 4).of("c1"), Unit().of("c1")
    ('turn 4', 'c1 turn 4', 'c1')
    """

    kind: UnitKind = "whole"
    position: int = 0

    def __post_init__(self) -> None:
        if (self.kind in _PLACED) != (self.position > 0):
            raise InputError(
                f"a unit {self.kind!r} at position {self.position}: turns and steps have positions "
                "from 1, a whole conversation has none (0)"
            )

    @property
    def key(self) -> str:
        """As the store keeps it, empty for a whole; where the first failure is, that is whole."""
        return f"{self.kind} {self.position}" if self.position else ""

    def of(self, item: str) -> str:
        """The unit's id in tables: the conversation's, and behind it which turn."""
        return f"{item} {self.key}" if self.position else item


def unit_of(key: str) -> Unit:
    """The unit that a key of the store names.

    >>> unit_of("turn 4"), unit_of("")
    (Unit(kind='turn', position=4), Unit(kind='whole', position=0))
    """
    if not key:
        return Unit()
    kind, _, position = key.rpartition(" ")
    if kind not in _PLACED or not position.isdecimal():
        raise InputError(f"unit {key!r}: a unit is written 'turn 4' or 'step 4'")
    return Unit("turn" if kind == "turn" else "step", int(position))


def parted(name: str) -> tuple[str, Unit]:
    """The conversation and the unit that an id names; an id without a turn is a whole.

    >>> parted("c1 turn 4"), parted("c1")
    (('c1', Unit(kind='turn', position=4)), ('c1', Unit(kind='whole', position=0)))
    """
    found = _ID.fullmatch(name)
    if found is None:
        return name, Unit()
    return found["item"], unit_of(f"{found['kind']} {found['position']}")


def cluster_of(name: str) -> str:
    """The conversation that a unit's id belongs to, which is its cluster.

    >>> cluster_of("c1 turn 4"), cluster_of("c1")
    ('c1', 'c1')
    """
    return parted(name)[0]


@dataclass(frozen=True, slots=True)
class JudgedUnits:
    """Which units a rater is asked about.

    Attributes
    ----------
    kind : UnitKind
        The whole, each turn or step, or the first turn where something fails.
    role : str
        Whose turns are judged; empty where wholes are, or each step but those of `GIVEN`.
    past : int or None
        How many turns before its unit a rater sees; None for all of them.
    longest : int or None
        How many characters of each turn before its unit a rater sees; None for all of them.
    last : bool
        Whether only the last of these turns or steps is judged.
    """

    kind: UnitKind = "whole"
    role: str = ""
    past: int | None = None
    longest: int | None = None
    last: bool = False

    @property
    def placed(self) -> bool:
        """Whether one conversation holds several units."""
        return self.kind in _PLACED

    def asks_about(self, role: str) -> bool:
        """Whether what is said in a role is a unit.

        >>> JudgedUnits("step").asks_about("tool call"), JudgedUnits("step").asks_about("user")
        (True, False)
        """
        return role == self.role or (self.kind == "step" and not self.role and role not in GIVEN)


#: What is judged where nothing is a conversation.
WHOLE = JudgedUnits()


def transcript(turns: Sequence[Turn], first: int = 1) -> str:
    r"""Turns as one text: each begins with its number and role, and its further lines are indented.

    The indent is what tells a turn from a line that only looks like the beginning of one.

    >>> print(transcript([Turn("user", "Hi.\n[2] assistant: no"), Turn("assistant", "Hello.")]))
    [1] user: Hi.
        [2] assistant: no
    [2] assistant: Hello.
    """
    return "\n".join(_lines(turns, first))


def _lines(turns: Sequence[Turn], first: int) -> Iterator[str]:
    for number, turn in enumerate(turns, first):
        named = f" ({_one_line(turn.name)})" if turn.name else ""
        said = "\n    ".join(turn.content.splitlines())
        more = "".join(f" [{kind_of_part(part)}, not shown]" for part in turn.parts)
        yield f"[{number}] {_one_line(turn.role)}{named}: {said}{more}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def kind_of_part(part: Mapping[str, Any]) -> str:
    """What a part that is no text calls itself; ``part`` where it does not say.

    >>> kind_of_part({"type": "image_url", "image_url": {"url": "a.png"}})
    'image_url'
    """
    kind = part.get("type")
    return _one_line(kind) if isinstance(kind, str) and kind.strip() else "part"


Task = TypeVar("Task", Item, Rating)
#: What an item of turns is said to be, where it is the material of an annotator or the context of a
#: response.
_SO_FAR = "The conversation so far:"
_THE_TURN = "The turn that is asked about:"


def at_unit(task: Task, unit: Unit, past: int | None = None, longest: int | None = None) -> Task:
    r"""The task about one unit of it, in texts that any rater can show.

    Of a rating the response's text becomes the turn, and the turns before it stand behind the text
    of its item. Of an item without a response both stand in its text.

    Parameters
    ----------
    task : Rating or Item
        Its response, or the item itself, has turns.
    unit : Unit
        Which turn; of a whole the transcript is the text.
    past : int, optional
        How many turns before it are shown; all of them without. What is left out is said.
    longest : int, optional
        How many characters of each of them are shown; the text says how many are not.

    Raises
    ------
    InputError
        The conversation has no such turn.

    Examples
    --------
    >>> talk = Item("c1", turns=(Turn("user", "I slept badly."), Turn("assistant", "Why?")))
    >>> print(at_unit(talk, Unit("turn", 2)).text)
    The conversation so far:
    [1] user: I slept badly.
    <BLANKLINE>
    The turn that is asked about:
    [2] assistant: Why?
    """
    if isinstance(task, Rating):
        item = replace(task.item, text=_of_item(task.item))
        turns = task.response.turns
        if not turns:
            return replace(task, item=item)
        before, text = _around(turns, unit, past, longest, task.item.id)
        context = "\n\n".join(filter(None, (item.text, before)))
        response = replace(task.response, text=text)
        return replace(task, item=replace(item, text=context), response=response)
    if not task.turns:
        return task
    if not unit.position:
        return replace(task, text=_of_item(task))
    before, own = _around(task.turns, unit, past, longest, task.id)
    shown = "\n".join(filter(None, (_THE_TURN, own)))
    return replace(task, text="\n\n".join(filter(None, (task.text, before, shown))))


def _of_item(item: Item) -> str:
    """What an item says: its text, and behind it its turns."""
    return "\n\n".join(filter(None, (item.text, transcript(item.turns))))


def _around(
    turns: Sequence[Turn], unit: Unit, past: int | None, longest: int | None, name: str
) -> tuple[str, str]:
    """The turns before a unit as they are shown, and the unit itself."""
    at = unit.position
    if not at:
        return "", transcript(turns)
    if at > len(turns):
        raise InputError(f"item {name!r} has {len(turns)} turns, and turn {at} is asked about")
    start = 0 if past is None else max(0, at - 1 - past)
    before = transcript([_cut(turn, longest) for turn in turns[start : at - 1]], start + 1)
    # What a rater is not shown it must not take for what was not said.
    left_out = f"[1 to {start}: not shown]" if start else ""
    shown = list(filter(None, (left_out, before)))
    return "\n".join([_SO_FAR, *shown] if shown else []), transcript(turns[at - 1 : at], at)


def _cut(turn: Turn, longest: int | None) -> Turn:
    """A turn of at most so many characters, with how many are not shown."""
    over = 0 if longest is None else len(turn.content) - longest
    if over <= 0:
        return turn
    return replace(turn, content=f"{turn.content[:longest]} [{over:,} characters not shown]")


def positions(turns: Sequence[Turn], role: str) -> tuple[int, ...]:
    """Where a role speaks, from 1.

    >>> positions([Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c")], "user")
    (1, 3)
    """
    return tuple(at for at, turn in enumerate(turns, 1) if turn.role == role)
