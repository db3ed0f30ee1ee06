"""`choice`: questions with lettered options, one or several of which are right."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.parsing import parse_choice, read_options
from voirdire.schema import Flag, Message, Parsed, Reply, Request, Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.protocols import ExampleSelector
    from voirdire.schema import Item

#: Prompts are those of Zhang et al. (2025), Table 18, in words that fit any subject.
ONE = (
    "You are answering multiple-choice questions. Each question has only one right choice.\n"
    "{text}\n{choices}\nAnswer:\nPlease only output the letter corresponding to the choice."
)
SEVERAL = (
    "You are answering multiple-choice questions. Each question may have more than one right "
    "choice.\n{text}\n{choices}\nAnswer:\nPlease only output the letters corresponding to the "
    "choices. Multiple choices should be separated by a comma."
)
# A field of a prompt, such as {text}; braces around anything else are the prompt's own.
_FIELD = re.compile(r"\{(\w+)\}")
# Everything but letters and digits: names are compared without marks, blanks and dashes.
_PLAIN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ChoiceJudge:
    """Asks an item's question with lettered options and reads the letters. Pure.

    Attributes
    ----------
    prompt, several_prompt : str
        `{text}` is the item's text, `{choices}` the lettered options, and any other name in braces
        a key of `Item.extra`. The second is used for items whose `extra["several"]` is true.
    options : tuple of str
        The labels chosen among, the same for every item: scores are keyed by them. Empty: each
        item brings its own in `extra["choices"]`, and scores are keyed by letters (A, B, ...).
    shown : mapping of str to str
        How an option is printed where not by its own name.
    letters : int
        How many letters are scored where items bring their own options.
    several : bool
        Whether several options may be right. More than `at_most` are flagged, none is dropped.
    examples, k : ExampleSelector, int
        Few-shot examples, shown as turns before the question; each holds the fields of the prompt
        and `answer`, the options that are right.
    """

    prompt: str = ONE
    several_prompt: str = ""
    options: tuple[str, ...] = ()
    shown: Mapping[str, str] | None = None
    letters: int = 8
    several: bool = False
    at_most: int | None = None
    examples: ExampleSelector | None = None
    k: int = 0
    sampling: Sampling = Sampling(temperature=0.0)
    named: bool = False
    task: str = "item"

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text.

        Raises
        ------
        InputError
            The item lacks a field of the prompt, or its options; the message names it.
        """
        if not task.text.strip():
            return []
        shots = self.examples.select(task, self.k) if self.examples and self.k else []
        messages = [part for shot in shots for part in self._shot(shot, task.id)]
        messages.append(Message("user", self._asked({**task.extra, "text": task.text}, task.id)))
        return [
            self.sampling.request(
                tuple(messages), options=self._answers(task) if self.named else ()
            )
        ]

    def _answers(self, task: Item) -> tuple[str, ...]:
        """The letters of the options of an item."""
        own = self.options or _own_options(task.extra.get("choices"), self.letters, task.id)
        return tuple(ascii_lowercase[: len(own)])

    @property
    def options_named(self) -> dict[str, str]:
        """Letter -> the option that it stands for; empty where items bring their own."""
        named = self.options if self.named else ()
        return dict(zip(ascii_lowercase, named, strict=False))

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """1 or 0 for each option; all missing where the reply chooses none."""
        reply = replies[-1] if replies else Reply("", "empty")
        letters = self._letters()
        parsed = parse_choice(
            reply.text,
            dict(zip(letters, self._printed(), strict=True)) if self.options else letters,
            several=self.several,
            at_most=self.at_most,
            finish_reason=reply.finish_reason,
        )
        if not self.options:
            return parsed
        # Only where no letter was found, and where several may be right: one name alone the
        # parser reads.
        named = self._named(reply) if parsed.status == "unparsable" and self.several else ()
        if named:
            parsed = self._said(named, parsed)
        return _renamed(parsed, dict(zip(map(str.upper, letters), self.options, strict=True)))

    def _letters(self) -> tuple[str, ...]:
        return tuple(ascii_lowercase[: len(self.options) or self.letters])

    def _printed(self) -> tuple[str, ...]:
        shown = self.shown or {}
        return tuple(shown.get(option, option) for option in self.options)

    def _asked(self, fields: Mapping[str, Any], item: str) -> str:
        options = self._printed() or _own_options(fields.get("choices"), self.letters, item)
        lines = (f"{a}: {text}" for a, text in zip(ascii_lowercase, options, strict=False))
        filled = {**fields, "choices": "\n".join(lines)}
        several = self.several_prompt and _is_true(fields.get("several"))
        return _filled(self.several_prompt if several else self.prompt, filled, item)

    def _shot(self, shot: Mapping[str, Any], item: str) -> tuple[Message, Message]:
        """One example as a question and its answer."""
        options = self.options or _own_options(shot.get("choices"), self.letters, item)
        right = [a for a, one in zip(ascii_lowercase, options, strict=False) if one in _right(shot)]
        if not right:
            raise InputError(
                f"choice: an example's 'answer' must name options, got {shot.get('answer')!r} "
                f"(options: {', '.join(options)})"
            )
        asked = self._asked(shot, str(shot.get("id", "of an example")))
        return Message("user", asked), Message("assistant", ", ".join(right))

    def _named(self, reply: Reply) -> tuple[int, ...]:
        """Places of the options where the reply is nothing but their names."""
        rest = _PLAIN.sub("", reply.text[:2_000].casefold())
        forms = {_PLAIN.sub("", text.casefold()): n for n, text in enumerate(self._printed())}
        places: list[int] = []
        while rest:
            # The longest first, else "fear of failure" would be read as "fear" and a
            # rest.
            form = next((f for f in sorted(forms, key=len, reverse=True) if rest.startswith(f)), "")
            if not form:
                return ()
            places.append(forms[form])
            rest = rest.removeprefix(form)
            rest = rest.removeprefix("and") if rest.startswith("and") else rest
        return tuple(dict.fromkeys(places))

    def _said(self, named: Sequence[int], parsed: Parsed) -> Parsed:
        """What a reply of names says, in letters."""
        letters = tuple(map(str.upper, self._letters()))
        chosen = tuple(letters[place] for place in named)
        excess = self.at_most is not None and len(chosen) > self.at_most
        return Parsed(
            {letter: float(letter in chosen) for letter in letters},
            "ok",
            dict.fromkeys(letters, "ok"),
            (
                *parsed.flags,
                Flag("names_not_letters"),
                *((Flag("too_many", count=len(chosen)),) if excess else ()),
            ),
            {letter: rank for rank, letter in enumerate(chosen, 1)},
            {"choice": chosen[0] if len(chosen) == 1 else None, "choices": chosen},
        )


def _renamed(parsed: Parsed, names: Mapping[str, str]) -> Parsed:
    """The same with letters exchanged for the options that they stand for."""
    chosen = tuple(names[letter] for letter in parsed.extra["choices"])
    extra = {**parsed.extra, "choices": chosen, "choice": chosen[0] if len(chosen) == 1 else None}
    return replace(
        parsed,
        scores={names[key]: value for key, value in parsed.scores.items()},
        statuses={names[key]: value for key, value in parsed.statuses.items()},
        ranks={names[key]: value for key, value in parsed.ranks.items()},
        reasons={names[key]: value for key, value in parsed.reasons.items()},
        extra=extra,
    )


def _filled(prompt: str, fields: Mapping[str, Any], item: str) -> str:
    """The prompt with its fields put in; braces inside a text stay as they are."""

    def put(match: re.Match[str]) -> str:
        value = fields.get(match[1])
        if value is None:
            raise InputError(f"choice: item {item!r} has no {match[1]!r}, which the prompt shows")
        return str(value)

    return _FIELD.sub(put, prompt)


def _own_options(given: Any, most: int, item: str) -> tuple[str, ...]:
    """The options that an item brings; see `read_options`."""
    options = tuple(read_options(given).values())
    if not 2 <= len(options) <= most:
        raise InputError(
            f"choice: item {item!r} needs 'choices', a list of 2 to {most} options, got {given!r}"
        )
    return options


def _right(shot: Mapping[str, Any]) -> tuple[str, ...]:
    answer = shot.get("answer", ())
    return (answer,) if isinstance(answer, str) else tuple(answer)


def _is_true(value: Any) -> bool:
    return value is True or str(value).casefold() in ("true", "1", "yes")


def make(  # noqa: PLR0913 - the options are those of a study's panel
    *,
    options: Sequence[str] = (),
    prompt: str | None = None,
    several_prompt: str = "",
    letters: int = 8,
    several: bool = False,
    at_most: int | None = None,
    examples: Sequence[Mapping[str, Any]] = (),
    named: bool = False,
    sampling: Sampling = Sampling(temperature=0.0),
) -> ChoiceJudge:
    """An annotator that answers multiple-choice questions (`kind = "annotator", use = "choice"`).

    Parameters
    ----------
    options : sequence of str
        The same options for every item (a label set); without them each item brings `choices`.
    prompt : str, optional
        See `ChoiceJudge`; by default the form of Zhang et al. (2025), Table 18.
    several_prompt : str
        The prompt of the items that say that several of their options are right.
    letters : int
        The most options that an item may bring.
    several, at_most
        Whether several may be right, and how many; more are flagged.
    examples : sequence of mapping
        The same examples for every item, each with the fields of the prompt and `answer`.
    named : bool
        Name the letters in the request (`systemone:` models answer among them alone); not where
        several options may be right.
    sampling : Sampling
        Sent with every request; what is None is left to the model.

    Raises
    ------
    InputError
        Options repeat, or are more than 26.

    Examples
    --------
    >>> from voirdire.schema import Item, Reply
    >>> judge = make(letters=3)
    >>> item = Item("1", "Which is a fruit?", {"choices": ["Oak", "Apple"]})
    >>> print(judge.requests(item)[0].messages[0].content)
    You are answering multiple-choice questions. Each question has only one right choice.
    Which is a fruit?
    a: Oak
    b: Apple
    Answer:
    Please only output the letter corresponding to the choice.
    >>> judge.parse([Reply("b")]).scores
    {'A': 0.0, 'B': 1.0, 'C': 0.0}
    """
    options = tuple(options)
    count = len(options) or letters
    if len(set(options)) < len(options) or not 2 <= count <= len(ascii_lowercase):
        raise InputError(f"choice: 2 to 26 options that differ are needed, got {list(options)!r}")
    if named and several:
        raise InputError("choice: named = true is for questions with one right option")
    return ChoiceJudge(
        prompt=prompt or (SEVERAL if several else ONE),
        several_prompt=several_prompt,
        options=options,
        letters=letters,
        several=several,
        at_most=at_most,
        examples=FixedExamples(tuple(examples)) if examples else None,
        k=len(examples),
        sampling=sampling,
        named=named,
    )


@dataclass(frozen=True, slots=True)
class FixedExamples:
    """The same examples for every item, in their order, but for one that is the item itself.

    An example holds the fields of the prompt, its `answer` and, where it has one, its `id`. It is
    the item itself where their ids are equal, or their texts and situations.
    """

    examples: tuple[Mapping[str, Any], ...]

    def select(self, item: Item, k: int) -> list[Mapping[str, Any]]:
        others = [x for x in self.examples if x.get("id") != item.id and x.get("text") != item.text]
        return others[:k]
