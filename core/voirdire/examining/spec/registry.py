"""A registry: frozen objects of one sort by their key, in the order in which they came."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from voirdire.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterator


class HasKey(Protocol):
    """What a registry holds: an object with a key for output and a plain name for code."""

    @property
    def key(self) -> str:
        """As JSON, gates and tables have it."""
        ...

    @property
    def name(self) -> str:
        """As code and docs have it: a Python name."""
        ...


Spec = TypeVar("Spec", bound=HasKey)


class Registry(Mapping[str, Spec], Generic[Spec]):
    """What is known of one sort, such as all components of the verdict.

    A mapping from key to object; everything that lists, checks, words or documents one of them
    loops over it.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._specs: dict[str, Spec] = {}

    def register(self, spec: Spec) -> Spec:
        """Add one; its key and its name must be new.

        Raises
        ------
        PluginError
            The key or the name is taken, or the name is no Python name.
        """
        if spec.key in self._specs or any(one.name == spec.name for one in self._specs.values()):
            raise PluginError(f"{self.what} {spec.key!r} ({spec.name}): the key or name is taken")
        if not spec.name.isidentifier():
            raise PluginError(f"{self.what} {spec.key!r}: {spec.name!r} is no Python name")
        self._specs[spec.key] = spec
        return spec

    @contextmanager
    def having(self, *specs: Spec) -> Iterator[None]:
        """These as well, for as long as the block lasts."""
        before = dict(self._specs)
        try:
            for spec in specs:
                self.register(spec)
            yield
        finally:
            self._specs = before

    def __getitem__(self, key: str) -> Spec:
        """The object of that key; KeyError where there is none."""
        return self._specs[key]

    def __iter__(self) -> Iterator[str]:
        """Keys, in the order of registration."""
        return iter(self._specs)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._specs)
