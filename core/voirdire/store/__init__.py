"""Replies kept as they came, and the tables derived from them, again and again."""

from voirdire.store._counts import (
    Counts,
    Spent,
    blind_characters,
    count_finished,
    count_spent,
    spent_by_model,
)
from voirdire.store._expected import Task, iterate_tasks, pairs_of
from voirdire.store._findings import keep_findings, kept_findings, reply_findings_frame
from voirdire.store._frames import (
    ParsedTask,
    iterate_parsed,
    preferences_frame,
    raters_frame,
    ratings_frame,
    responses_frame,
    session_study,
)
from voirdire.store._generated import keep_generated
from voirdire.store._parsed import FLAGS, flags_series
from voirdire.store._raters import (
    Asker,
    TaskKind,
    askers,
    checked_requests,
    model_identity,
    read_replies,
    read_rubric,
    read_text,
)
from voirdire.store._records import (
    Attempt,
    Call,
    Finish,
    RaterId,
    Revival,
    Slot,
    Stored,
    for_run,
    make_call,
)
from voirdire.store._replies import replies_frame
from voirdire.store._session import (
    Session,
    is_session,
    memory_session,
    open_session,
    read_session,
    usable,
)
from voirdire.store._subjects import iterate_items, lonely_responses, take_items, take_responses
from voirdire.store._tables import session_tables, write_tables

__all__ = [
    "FLAGS",
    "Asker",
    "Attempt",
    "Call",
    "Counts",
    "Finish",
    "ParsedTask",
    "RaterId",
    "Revival",
    "Session",
    "Slot",
    "Spent",
    "Stored",
    "Task",
    "TaskKind",
    "askers",
    "blind_characters",
    "checked_requests",
    "count_finished",
    "count_spent",
    "flags_series",
    "for_run",
    "is_session",
    "iterate_items",
    "iterate_parsed",
    "iterate_tasks",
    "keep_findings",
    "keep_generated",
    "kept_findings",
    "lonely_responses",
    "make_call",
    "memory_session",
    "model_identity",
    "open_session",
    "pairs_of",
    "preferences_frame",
    "raters_frame",
    "ratings_frame",
    "read_replies",
    "read_rubric",
    "read_session",
    "read_text",
    "replies_frame",
    "reply_findings_frame",
    "responses_frame",
    "session_study",
    "session_tables",
    "spent_by_model",
    "take_items",
    "take_responses",
    "usable",
    "write_tables",
]
