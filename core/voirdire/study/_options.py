"""How files of ratings are read where no study says it: one typed record for every function."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads it
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from voirdire.errors import StudyError
from voirdire.study._load import first_complaint
from voirdire.study._model import TableKeys


class ReadOptions(TableKeys):
    """How a source is read; nothing that is set here is guessed.

    All but `families` is for files and frames without a study: a study says the rest itself.

    Parameters
    ----------
    human : paths, optional
        Files of labels by people, which are joined to the items of the others: by the column that
        `key` names (``"ticket"``, or ``"ticket=ticket_id"`` where the two files use different
        names), else by the texts of the items. `about` is the attribute that such labels speak of.
    judge : sequence of str, optional
        The judges beside the reference; whoever else rated is left out.
    families : mapping, optional
        Rater, model or system -> who made it, or ``"none"``: a judge leaves out the systems of its
        own family. Added to what a study says, and wins over it.
    item, system, rater, score, attribute, run, ... : str, optional
        Names of columns; every key of ``[[data.sources]]`` but `path` means the same here.

    Raises
    ------
    StudyError
        An unknown key, or a value of the wrong kind.

    Examples
    --------
    >>> ReadOptions(item="post", score="stars").keys_set()
    {'item': 'post', 'score': 'stars'}
    >>> ReadOptions(itm="post")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    voirdire.errors.StudyError: ReadOptions: unknown key 'itm' (did you mean 'item'? ...
    """

    human: tuple[Path, ...] = ()
    judge: tuple[str, ...] = ()
    families: dict[str, str] = Field(default_factory=dict)

    # For a type checker the constructor has one parameter a field.
    if not TYPE_CHECKING:

        def __init__(self, **keys: Any) -> None:
            try:
                super().__init__(**keys)
            except ValidationError as error:
                raise StudyError(f"ReadOptions: {first_complaint(error, type(self))}") from None

    def __bool__(self) -> bool:
        """Whether anything is set."""
        return bool(self.families) or self.of_files

    @property
    def of_files(self) -> bool:
        """Whether anything is set that a study says itself."""
        return bool(self.human or self.judge or self.keys_set())

    def with_(self, **keys: Any) -> ReadOptions:
        """With further keys set; words are added to those that are known.

        >>> ReadOptions(words={"poor": 1}).with_(words={"dunno": "missing"}, item="id").keys_set()
        {'item': 'id', 'words': {'poor': 1.0, 'dunno': 'missing'}}
        """
        words = {**self.words, **keys.get("words", {})}
        return ReadOptions(**{**self._own(), **self.keys_set(), **keys, "words": words})

    def without(self, *names: str) -> ReadOptions:
        """With these keys as if nobody had set them."""
        kept = {key: value for key, value in self._own().items() if key not in names}
        return ReadOptions(**{**kept, **self.keys_set(*names)})

    def _own(self) -> dict[str, Any]:
        return {"human": self.human, "judge": self.judge, "families": self.families}
