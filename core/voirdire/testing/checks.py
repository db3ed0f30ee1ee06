"""What all contract tests share: a list of what does not hold, each with a hint."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from voirdire.errors import BROKEN_PLUGIN, ContractError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters of an input that is shown beside what it did.
_SHOWN = 60


@dataclass
class Checks:
    """What does not hold of one thing; `whose` names it in the error."""

    whose: str
    problems: list[str] = field(default_factory=list)

    def hold(self, condition: object, what: str, hint: str) -> bool:
        """Note `what` unless the condition holds; said once, however often it fails."""
        problem = f"{what}\n    {hint}"
        # Hostile texts break the same thing in many ways; one line of it is enough.
        if not condition and problem not in self.problems:
            self.problems.append(problem)
        return bool(condition)

    def has_methods(self, thing: object, names: tuple[str, ...], hint: str) -> bool:
        """Note which of these methods it lacks."""
        lacking = [name for name in names if not callable(getattr(thing, name, None))]
        return self.hold(not lacking, f"it lacks {lacking}", hint)

    @contextmanager
    def safely(
        self, what: str, hint: str, *, lawful: tuple[type[Exception], ...] = ()
    ) -> Iterator[None]:
        """Note what is raised inside; an error in `lawful` is none."""
        try:
            yield
        except lawful:
            return
        except BROKEN_PLUGIN as error:
            self.hold(condition=False, what=f"{what}: {type(error).__name__}: {error}", hint=hint)

    def made(self, make: Any, *given: Any, **options: Any) -> Any:
        """What the factory makes.

        Raises
        ------
        InputError
            It refuses these options, in its own words.
        ContractError
            It breaks, and so nothing else can be checked.
        """
        try:
            return make(*given, **options)
        except InputError:
            raise
        except BROKEN_PLUGIN as error:
            problem = f"it cannot be made: {type(error).__name__}: {error}"
            hint = (
                "The study's options arrive as keywords; see the table of hooks in docs/plugins.md."
            )
            raise ContractError(self.whose, [f"{problem}\n    {hint}"]) from error

    def done(self) -> None:
        """Raise what does not hold.

        Raises
        ------
        ContractError
            Anything at all does not.
        """
        if self.problems:
            raise ContractError(self.whose, self.problems)


def name_of(make: Any) -> str:
    """What a factory or object is called in an error."""
    module = getattr(make, "__module__", "")
    name = getattr(make, "__qualname__", type(make).__qualname__)
    return f"{module}:{name}" if module else str(name)


def shown(text: Any) -> str:
    """An input, short enough to read.

    >>> shown("a" * 100)[:8], len(shown("a" * 100))
    ("'aaaaaaa", 60)
    """
    return repr(text)[:_SHOWN]
