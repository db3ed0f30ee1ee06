"""Replies kept as they came, and the tables derived from them, again and again.

What a plugin or a script needs of a session stands here; the rooms of voirdire import the rest
from the modules.
"""

from voirdire.store.frames import (
    preferences_frame,
    ratings_frame,
    responses_frame,
    session_study,
)
from voirdire.store.replies import replies_frame
from voirdire.store.session import is_session, read_session
from voirdire.store.tables import reparse, write_tables

__all__ = [
    "is_session",
    "preferences_frame",
    "ratings_frame",
    "read_session",
    "reparse",
    "replies_frame",
    "responses_frame",
    "session_study",
    "write_tables",
]
