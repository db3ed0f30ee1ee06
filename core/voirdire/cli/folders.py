"""The folders that a server may read and write, and what leads out of them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: No path is longer; a longer text is one.
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders whose files tools may read and write; relative paths begin at the first.

    Examples
    --------
    >>> Folders((Path("/srv/data"),)).inside("../keys.csv")
    Traceback (most recent call last):
    voirdire.errors.InputError: ../keys.csv lies in none of the folders of this server: /srv/data
    """

    paths: tuple[Path, ...]

    def inside(self, name: str, start: Path | None = None) -> Path:
        """The path of a name, links followed.

        Raises
        ------
        InputError
            It lies in none of the folders.
        """
        found = ((start or self.paths[0]) / Path(name).expanduser()).resolve()
        if any(found.is_relative_to(one.resolve()) for one in self.paths):
            return found
        where = ", ".join(map(str, self.paths))
        raise InputError(f"{name} lies in none of the folders of this server: {where}")

    def source(self, name: str) -> None:
        """Check what is examined or run: it is there, and a study in it names nothing outside.

        Raises
        ------
        InputError
            It is no file or folder of these, or a study names one that lies elsewhere.
        """
        found = self.inside(name)
        pattern = any(sign in name for sign in "*?[")
        there = list(found.parent.glob(found.name)) if pattern else [found]
        if not any(one.exists() for one in there):
            raise InputError(f"{name}: there is no such file or folder in {self.paths[0]}")
        for one in there:
            self.inside(str(one))
            for study in one.glob("*.toml") if one.is_dir() else [one]:
                self._study(study)

    def value(self, text: str, start: Path | None = None) -> None:
        """Check a value, or what stands behind its ``=``: a file that it names is one of these.

        Raises
        ------
        InputError
            It leads out of the folders.
        """
        for part in (text, text.partition("=")[2]):
            if 0 < len(part) < _LONGEST and self._leads(part, start or self.paths[0]):
                self.inside(part, start)

    @staticmethod
    def _leads(text: str, start: Path) -> bool:
        """Whether a text leads somewhere as a path: up, from the root, or to what is there."""
        path = Path(text)
        if path.is_absolute() or ".." in path.parts or text.startswith("~"):
            return True
        # What is to be written is not there yet; a link above it may lead away.
        try:
            return any((start / one).exists() for one in (path, *path.parents[:-1]))
        except (OSError, ValueError):
            return False

    def _study(self, path: Path) -> None:
        """What a study or a lock names. One that cannot be read is for the command to refuse."""
        if path.suffix not in {".toml", ".lock"}:
            return
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            return
        for text in _texts(content):
            try:
                self.value(text, path.parent)
            except InputError as error:
                raise InputError(f"{path.name}: {error}") from None


def _texts(content: Any) -> Iterator[str]:
    """Every text of a table, however deep."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for value in content.values() if isinstance(content, dict) else content:
            yield from _texts(value)
