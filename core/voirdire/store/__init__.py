"""Replies kept as they came, and the tables derived from them, again and again."""

from voirdire.store._expected import Task, count_tasks, iterate_tasks, pairs_of
from voirdire.store._frames import (
    preferences_frame,
    raters_frame,
    ratings_frame,
    responses_frame,
    session_study,
)
from voirdire.store._raters import Asker, TaskKind, askers, model_identity, prompt_hash
from voirdire.store._records import (
    Attempt,
    Call,
    Finish,
    Revival,
    Seat,
    Slot,
    Stored,
    make_call,
)
from voirdire.store._replies import replies_frame
from voirdire.store._session import Session, is_session, open_session, read_session
from voirdire.store._subjects import lonely_responses, take_items, take_responses
from voirdire.store._tables import session_tables, write_tables
from voirdire.store._texts import scrub

__all__ = [
    "Asker",
    "Attempt",
    "Call",
    "Finish",
    "Revival",
    "Seat",
    "Session",
    "Slot",
    "Stored",
    "Task",
    "TaskKind",
    "askers",
    "count_tasks",
    "is_session",
    "iterate_tasks",
    "lonely_responses",
    "make_call",
    "model_identity",
    "open_session",
    "pairs_of",
    "preferences_frame",
    "prompt_hash",
    "raters_frame",
    "ratings_frame",
    "read_session",
    "replies_frame",
    "responses_frame",
    "scrub",
    "session_study",
    "session_tables",
    "take_items",
    "take_responses",
    "write_tables",
]
