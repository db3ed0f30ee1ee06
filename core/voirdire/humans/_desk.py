"""What the page asks for, and what it is told: a rater's work, one judgement, an answer to keep."""

from __future__ import annotations

import hmac
import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from voirdire._errors import InputError
from voirdire.humans._answers import MOST_WORDS, asked_alone, check_answer, open_questions
from voirdire.humans._sheets import write_csv

if TYPE_CHECKING:
    from voirdire.humans._answers import Answered
    from voirdire.humans._database import AnswerBook
    from voirdire.humans._plan import Judgement, Plan


class Desk:
    """A plan and its answers, as one rater at a time may see them. It does not know the key."""

    def __init__(self, plan: Plan, book: AnswerBook) -> None:
        self.plan, self._book = plan, book
        self.tokens = book.tokens(plan.raters)

    def rater_of(self, token: str) -> str | None:
        """Whose token it is."""
        found = None
        for rater, known in self.tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()) and rater in self.plan.raters:
                found = rater
        return found

    def work(self, rater: str) -> dict[str, Any]:
        """Everything but the texts: ids in order, questions, how much is open, where one was."""
        ids = self.plan.raters[rater]
        judgements = [self.plan.judgements[ident] for ident in ids]
        forms = list(dict.fromkeys(judgement.form for judgement in judgements))
        number = {form: at for at, form in enumerate(forms)}
        answers, last = self._book.answers(), self._book.last(set(ids))
        return {
            "rater": rater,
            "title": self.plan.title,
            "task": self.plan.task,
            "instructions": self.plan.instructions,
            "most_words": MOST_WORDS,
            "ids": ids,
            "forms": [[asdict(question) for question in form] for form in forms],
            "form_of": [number[judgement.form] for judgement in judgements],
            "open": [len(open_questions(j.form, answers.get(j.id, {}))) for j in judgements],
            "at": ids.index(last) if last else 0,
        }

    def show(self, rater: str, ident: str) -> dict[str, Any]:
        """One judgement with its texts and what was answered.

        Raises
        ------
        InputError
            It is not this rater's.
        """
        judgement = self._own(rater, ident)
        return {"id": ident, "shown": judgement.shown, "answers": self._book.answered(ident)}

    def keep(self, rater: str, ident: str, said: Any) -> dict[str, int]:
        """Keep one answer (null takes it back), and say how many questions are open.

        Raises
        ------
        InputError
            Not this rater's judgement, no such question, or an answer that it does not take.
        """
        form = self._own(rater, ident).form
        if not isinstance(said, dict) or set(said) != {"question", "answer"}:
            raise InputError("a question and an answer are needed")
        question = next((q for q in form if q.name == said["question"]), None)
        if question is None:
            raise InputError(f"there is no question {said['question']!r}")
        self._book.keep(ident, question.name, check_answer(question, said["answer"]))
        return {"open": len(open_questions(form, self._book.answered(ident)))}

    def sheet(self, rater: str) -> str:
        """The rater's sheet as CSV, with the answers so far."""
        answers = self._book.answers()
        asked: dict[str, Answered] = {
            ident: asked_alone(self.plan.judgements[ident].form, answers[ident])
            for ident in self.plan.raters[rater]
            if ident in answers
        }
        file = io.StringIO(newline="")
        write_csv(self.plan, rater, file, asked)
        return file.getvalue()

    def _own(self, rater: str, ident: str) -> Judgement:
        if self.plan.owners.get(ident) != rater:
            raise InputError(f"there is no judgement {ident!r} among yours")
        return self.plan.judgements[ident]
