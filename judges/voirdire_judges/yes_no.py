"""`yes-no`: labels an item by yes or no for each label, with or without examples."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.parsing import parse_yes_no, said_yes
from voirdire.schema import Item, Message, Parsed, Reply, Request, Sampling
from voirdire_judges._parsed import missing_reply
from voirdire_judges.few_shot import Example, FewShot, few_shot
from voirdire_judges.prompts import MARKS_NOTE, delimited, object_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire import Plugins
    from voirdire.schema import Finding
    from voirdire.study import Study


@dataclass(frozen=True, slots=True)
class Wording:
    """What is asked: `zero` without examples, `few` before them, `closing` after them.

    With `fenced` the text stands between backticks and examples as "Post: ... Assessment: ...",
    as published prompts have it; else between marks that the text cannot forge.
    """

    zero: str
    few: str = ""
    closing: str = "Based on the above, assess the following text."
    fenced: bool = False


@dataclass(frozen=True)
class YesNoAnnotator:
    """Answers yes or no for each label; anything else is missing. Pure but for its examples.

    Attributes
    ----------
    labels : tuple of str
        Keys of the JSON object asked for.
    wording : Wording
    examples : FewShot or None
        Where few-shot examples come from; None: zero-shot.
    """

    labels: tuple[str, ...]
    wording: Wording
    examples: FewShot | None = None
    sampling: Sampling = Sampling()

    @property
    def shots(self) -> str:
        """``"zero-shot"`` or ``"few-shot"``."""
        return "few-shot" if self.examples else "zero-shot"

    def requests(self, task: Item) -> list[Request]:
        """One request; none for an item without text."""
        if not task.text.strip():
            return []
        return [
            self.sampling.request(
                (Message("user", self._prompt(task)),),
                schema=object_schema(
                    {label: {"type": "string", "enum": ["yes", "no"]} for label in self.labels}
                ),
            )
        ]

    def parse(self, replies: Sequence[Reply]) -> Parsed:
        """1, 0 or None with a reason for each label; never raises."""
        reply = replies[-1] if replies else missing_reply(replies)
        return parse_yes_no(reply.text, self.labels, finish_reason=reply.finish_reason)

    def findings(self) -> tuple[Finding, ...] | None:
        """What its examples were chosen from leaked, or would have; None where there are none."""
        return None if self.examples is None else self.examples.findings()

    def _prompt(self, task: Item) -> str:
        wording, shots = self.wording, self.examples.examples(task) if self.examples else ()
        if not shots:
            return "\n\n".join([self._head(wording.zero), f"{self._lead}{self._shown(task.text)}"])
        shown = [self._example(example) for example in shots]
        last = f"{self._lead}{self._shown(task.text)}\nAssessment:"
        return "\n\n".join([self._head(wording.few), *shown, wording.closing, last])

    @property
    def _lead(self) -> str:
        return "Post: " if self.wording.fenced else ""

    def _head(self, instructions: str) -> str:
        if self.wording.fenced:
            return instructions
        form = json.dumps(dict.fromkeys(self.labels, "yes or no"))
        return f"{instructions}\n\n{MARKS_NOTE}\n\nAnswer with nothing but this JSON object: {form}"

    def _shown(self, text: str) -> str:
        return fenced(text) if self.wording.fenced else delimited(text, "TEXT")

    def _example(self, example: Example) -> str:
        # An example with an unknown label would teach the model to leave it open.
        answers = {label: said_yes(example.get(label)) for label in self.labels}
        unknown = [label for label, answer in answers.items() if answer is None]
        if unknown:
            raise InputError(
                f"example {example.get('id')!r} of the pool has no yes or no for {unknown[0]!r} "
                f"(it holds {example.get(unknown[0])!r}); name the pool's columns by `labels`"
            )
        answer = json.dumps({label: "yes" if one else "no" for label, one in answers.items()})
        return f"{self._lead}{self._shown(str(example['text']))}\nAssessment: {answer}"


def fenced(text: str) -> str:
    """A text between backticks, one more than any run of them in it, so that it cannot close them.

    >>> fenced("see ```this```").split()
    ['````', 'see', '```this```', '````']
    """
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def make(
    *,
    labels: Sequence[str],
    question: str = "",
    wording: Wording | None = None,
    examples: Mapping[str, Any] | None = None,
    sampling: Sampling = Sampling(),
    study: Study | None = None,
    plugins: Plugins | None = None,
) -> YesNoAnnotator:
    """An annotator that answers yes or no (`use = "yes-no"`).

    Parameters
    ----------
    labels : sequence of str
        What is asked about; each is a column of the ratings, scored 1 (yes), 0 (no) or missing.
    question : str
        What the model is told; by default whether the text shows each label.
    wording : Wording, optional
        From Python: all parts of the prompt, in place of `question`.
    examples : mapping, optional
        ``{selector = "nearest", pool = "silver.jsonl", k = 2, embedder = "all-mpnet-base-v2"}``:
        few-shot examples. The pool's label columns are those of `labels` unless it says others.
    sampling : Sampling
        Sent with every request; what is None is left to the model.
    study, plugins
        Handed over by the runner: the study's items are the test split of the examples.

    Raises
    ------
    InputError
        No label, or examples that cannot be read.

    Examples
    --------
    >>> annotator = make(labels=["hopeful"])
    >>> annotator.parse([Reply('{"hopeful": "No."}')]).scores
    {'hopeful': 0.0}
    """
    names = tuple(labels)
    if not names or len(set(names)) < len(names):
        raise InputError(f"yes-no annotator: labels must be distinct and not empty, got {names}")
    asked = question or f"Does the text below show {' / '.join(names)}? Judge each by itself."
    shots = None
    if examples is not None:
        shots = few_shot({"labels": list(names), **examples}, study, plugins)
    return YesNoAnnotator(
        names,
        wording or Wording(asked, f"{asked} Here are texts that have been assessed already."),
        shots,
        sampling,
    )
