"""Who made a model: maker, family and version, whichever road it is reached by.

What is known stands in one dated table, `makers.toml`; a study and plugins add to it. A name that
the table does not know is unknown: whoever needs its maker asks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from voirdire.errors import InputError, PluginError
from voirdire.late import dataclass

#: What is answered of a model that none of the others shares a maker with.
NONE = "none"
#: Words before a name that say where a model is served, and nothing of who made it.
_PLACES = frozenset(
    {
        "apac",
        "au",
        "azure",
        "bedrock",
        "eu",
        "fireworks",
        "ft",
        "global",
        "groq",
        "jp",
        "ollama",
        "openrouter",
        "together",
        "us",
        "vertex",
    }
)
#: A later word of a name makes its maker doubtful only if it is long enough to mean something.
_TELLING = 3

_WORD = re.compile(r"[^\W\d_]+|\d+")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known of a model.

    Attributes
    ----------
    model : str
        Its name without the road: `gpt-4o` of `compatible:gpt-4o`.
    maker : str
        As the table names it, such as `openai`; `none` where nobody made it; empty where unknown.
    family, version : str
        `gpt` and `4o-mini`; empty where the name does not say it.
    possible : tuple of str
        Makers that the name speaks of where these are several: of a model that one made out of
        another's. Its maker is then unknown.
    """

    model: str
    maker: str = ""
    family: str = ""
    version: str = ""
    possible: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for two names of one model; of an unknown model its own name."""
        if self.maker and self.family:
            return (self.maker, self.family, *_words(self.version))
        return ("", self.model.casefold())


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes models.

    Attributes
    ----------
    name : str
    aliases, owners : tuple of str
        Other names of it; its accounts at hubs and routers.
    families : mapping
        Family -> the beginnings of its models' names.
    """

    name: str
    aliases: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Match:
    maker: str
    family: str
    words: Words


class Identities:
    """A table of makers, by which names of models and words for makers are recognised.

    Parameters
    ----------
    makers : iterable of Maker
        Of two with one name the later adds to the earlier.
    roads : mapping
        Prefix of a model -> the maker of all that it serves.
    date : str
        As of when the table holds.
    """

    def __init__(
        self, makers: Iterable[Maker], roads: Mapping[str, str] | None = None, date: str = ""
    ) -> None:
        self.date, self._roads = date, dict(roads or {})
        self.makers: dict[str, Maker] = {}
        for maker in makers:
            before = self.makers.get(maker.name)
            self.makers[maker.name] = maker if before is None else _joined(before, maker)
        self._called: dict[Words, str] = {}
        self._begins: dict[Words, _Match] = {}
        for maker in self.makers.values():
            for word in (maker.name, *maker.aliases, *maker.owners):
                self._called[_words(word)] = maker.name
            for family, beginnings in maker.families.items():
                for beginning in beginnings:
                    words = _words(beginning)
                    self._begins[words] = _Match(maker.name, family, words)
        self._longest = max((len(words) for words in (*self._begins, *self._called)), default=0)

    def with_makers(self, makers: Iterable[Maker]) -> Identities:
        """The same with further makers, or with more of those that are there."""
        return Identities([*self.makers.values(), *makers], self._roads, self.date)

    def identify(self, model: str, *, elsewhere: bool = False) -> Identity:
        """Who made a model, by its name, else by the road on which it is asked.

        Parameters
        ----------
        model : str
            ``prefix:name`` as a study writes it, or a name alone as a reply holds it.
        elsewhere : bool
            Whether the road leads to another address than its own provider's, and so says nothing.

        Examples
        --------
        >>> table = built_in()
        >>> table.identify("compatible:gpt-4o-mini")
        Identity(model='gpt-4o-mini', maker='openai', family='gpt', version='4o-mini', possible=())
        >>> table.identify("hf:meta-llama/Llama-3.1-8B-Instruct").maker
        'meta'
        >>> table.identify("compatible:prod-7").maker
        ''
        >>> table.identify("compatible:deepseek-r1-distill-llama-8b").possible
        ('deepseek', 'meta')
        """
        road, colon, rest = model.partition(":")
        # Other words before a colon are part of the name, as in `llama3.1:8b`.
        name = rest if colon and road in self._roads else model
        found, owners, version = self._matches(name)
        makers = tuple(dict.fromkeys([match.maker for match in found] + owners))
        if len(makers) > 1:
            return Identity(name, possible=makers)
        if found:
            return Identity(name, makers[0], found[0].family, version)
        if makers:
            return Identity(name, makers[0])
        by_road = "" if elsewhere or not colon else self._roads.get(road, "")
        return Identity(name, by_road)

    def maker(self, word: str) -> str:
        """The maker that a word of people means: its name, another of its names, or a family.

        Empty where the table knows none, and where several are meant.

        >>> built_in().maker("OpenAI"), built_in().maker("Claude"), built_in().maker("house")
        ('openai', 'anthropic', '')
        """
        words = _words(word)
        if words in self._called:
            return self._called[words]
        of_family = {m.name for m in self.makers.values() if _family_named(m, words)}
        return of_family.pop() if len(of_family) == 1 else self.identify(word).maker

    def same(self, one: str, other: str) -> bool:
        """Whether two words for a family mean the same one: equal words, or one maker.

        >>> built_in().same("GPT", "openai"), built_in().same("House", "house")
        (True, True)
        """
        if not one or not other:
            return False
        if _words(one) == _words(other):
            return True
        maker = self.maker(one)
        return bool(maker) and maker == self.maker(other)

    def _matches(self, name: str) -> tuple[list[_Match], list[str], str]:
        """Families and owners that a name speaks of, and what stands behind the first family."""
        parts = [part for part in re.split(r"[/:@\\]", name) if part]
        local = name.startswith(("/", "./", "../", "~"))
        # Of a path on this machine the folder alone names the model.
        parts = parts[-1:] if local else parts
        found: list[_Match] = []
        owners: list[str] = []
        version = ""
        for part in parts:
            words = _words(part)
            if words in self._called and len(parts) > 1 and part is not parts[-1]:
                owners.append(self._called[words])
                continue
            start, makers = self._prefixes(words)
            owners += makers
            match = self._beginning(words[start:])
            if match is None:
                continue
            if not found:
                ends = [one.end() for one in _WORD.finditer(part)]
                _, _, after = name.partition(part[: ends[start]])
                version = after.lstrip("-_ .")
            found.append(match)
            later = words[start + len(match.words) :]
            found += [more for at in range(len(later)) if (more := self._telling(later[at:]))]
        return found, owners, version

    def _prefixes(self, words: Words) -> tuple[int, list[str]]:
        """How many words say where a model is served or who made it, and who that is."""
        at, makers = 0, []
        while at < len(words) - 1:
            if words[at] in _PLACES:
                at += 1
                continue
            lengths = range(min(self._longest, len(words) - at - 1), 0, -1)
            taken = next((n for n in lengths if words[at : at + n] in self._called), 0)
            # A maker's word that begins the name of a model itself is no prefix of one.
            whole = self._beginning(words[at:])
            named = self._beginning(words[at + taken :])
            if not taken or named is None or (whole is not None and len(whole.words) > taken):
                break
            makers.append(self._called[words[at : at + taken]])
            at += taken
        return at, makers

    def _beginning(self, words: Words) -> _Match | None:
        """The longest beginning of names that these words begin with."""
        lengths = range(min(self._longest, len(words)), 0, -1)
        return next((self._begins[words[:n]] for n in lengths if words[:n] in self._begins), None)

    def _telling(self, words: Words) -> _Match | None:
        match = self._beginning(words)
        return match if match is not None and len(match.words[0]) >= _TELLING else None


def _joined(before: Maker, more: Maker) -> Maker:
    families = {**before.families}
    for family, beginnings in more.families.items():
        families[family] = (*families.get(family, ()), *beginnings)
    return replace(
        before,
        aliases=(*before.aliases, *more.aliases),
        owners=(*before.owners, *more.owners),
        families=families,
    )


def _words(text: str) -> Words:
    """The words and numbers of a name in their order, in small letters."""
    return tuple(_WORD.findall(text.casefold()))


def _family_named(maker: Maker, words: Words) -> bool:
    # A single letter is as likely somebody's own name for a group.
    return any(len(family) > 1 and _words(family) == words for family in maker.families)


@cache
def built_in() -> Identities:
    """The table that comes with voirdire."""
    table = tomllib.loads((files("voirdire") / "makers.toml").read_text(encoding="utf-8"))
    return Identities(makers_in(table["makers"], "makers.toml"), table["roads"], table["date"])


def makers_in(table: Any, where: str) -> list[Maker]:
    """Makers from a table as `makers.toml` writes it: name -> ``aliases, owners, families``.

    Raises
    ------
    PluginError
        The table has another form.

    Examples
    --------
    >>> makers_in({"house": {"families": {"sage": ["sage"]}}}, "a plugin")
    [Maker(name='house', aliases=(), owners=(), families={'sage': ('sage',)})]
    """
    if not isinstance(table, Mapping):
        raise PluginError(f"{where}: makers are a mapping, got {type(table).__name__}")
    return [_maker(str(name), about, f"{where}, maker {name!r}") for name, about in table.items()]


def _maker(name: str, about: Any, where: str) -> Maker:
    allowed = ("aliases", "owners", "families")
    if not isinstance(about, Mapping) or set(about) - set(allowed):
        raise PluginError(f"{where}: it may say {', '.join(allowed)}, got {about!r:.200}")
    families = about.get("families", {})
    lists = [about.get("aliases", []), about.get("owners", [])]
    lists += list(families.values()) if isinstance(families, Mapping) else [None]
    if not all(isinstance(names, list | tuple) and all(map(_is_text, names)) for names in lists):
        raise PluginError(f"{where}: aliases, owners and each of families are lists of texts")
    spelled = {str(family): tuple(names) for family, names in families.items()}
    return Maker(name, tuple(lists[0]), tuple(lists[1]), spelled)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def answers(given: Iterable[str], option: str = "--family") -> dict[str, str]:
    """Families as an option is given them: ``NAME=MAKER``; MAKER may be *none*.

    Raises
    ------
    InputError
        No ``=``, no name or no maker, or a name with two makers.

    Examples
    --------
    >>> answers(["gpt-4o=openai", "house judge = none"])
    {'gpt-4o': 'openai', 'house judge': 'none'}
    """
    said: dict[str, str] = {}
    for text in given:
        name, equals, maker = (part.strip() for part in text.rpartition("="))
        # rpartition gives three parts in every case, so that a missing sign leaves the first empty.
        if not (name and equals and maker):
            raise InputError(f"{option} {text!r}: write NAME=MAKER, or NAME={NONE}")
        if said.get(name, maker) != maker:
            raise InputError(f"{option}: {name!r} is of {said[name]!r} and of {maker!r}")
        said[name] = maker
    return said
