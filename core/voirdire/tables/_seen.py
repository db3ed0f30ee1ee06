"""Records of other tools' files that remember which of their fields were looked at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: So many unread fields are named in an account.
_NAMED = 5


class Seen(dict[str, Any]):
    """A record whose fields are marked as they are looked at; whoever goes through all of them has
    looked at all.

    Examples
    --------
    >>> record = Seen({"stars": 4, "usage": {"tokens": 12}})
    >>> record["stars"], record.get("text"), record.unread()
    (4, None, {'usage': 14})
    """

    __slots__ = ("looked_at",)

    def __init__(self, record: Mapping[str, Any]) -> None:
        super().__init__(record)
        self.looked_at: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.looked_at.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.looked_at.add(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        self.looked_at.add(key)
        return super().pop(key, *default)

    def _all(self) -> None:
        self.looked_at.update(super().keys())

    def __iter__(self) -> Iterator[str]:
        self._all()
        return super().__iter__()

    def keys(self) -> Any:
        self._all()
        return super().keys()

    def values(self) -> Any:
        self._all()
        return super().values()

    def items(self) -> Any:
        self._all()
        return super().items()

    def unread(self) -> dict[str, int]:
        """The fields that nobody looked at, and their bytes as JSON writes their values."""
        left = [key for key in dict.__iter__(self) if key not in self.looked_at]
        return {key: size for key in left if (size := bytes_of(dict.__getitem__(self, key)))}


def bytes_of(value: Any) -> int:
    """Bytes of a value as JSON writes it; none of what is empty.

    >>> bytes_of("Größe"), bytes_of([1, 2]), bytes_of(None), bytes_of({})
    (9, 6, 0, 0)
    """
    if value is None or value in ("", [], {}):
        return 0
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass")) + 2
    return len(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


def most_of(fields: Mapping[str, int]) -> dict[str, int]:
    """The largest parts by name, and all others together.

    >>> most_of({"usage": 5, "trace": 900})
    {"the field 'trace'": 900, "the field 'usage'": 5}
    """
    sizes = sorted(fields.items(), key=lambda pair: -pair[1])
    named = {f"the field {name!r}": size for name, size in sizes[:_NAMED]}
    rest = sizes[_NAMED:]
    return named | ({f"{len(rest)} other fields": sum(n for _, n in rest)} if rest else {})
