"""Files to tidy Polars frames, and the audit of the data."""

from voirdire.tables._draft import draft_study, from_frame, read_file
from voirdire.tables._files import RawTable, read_raw
from voirdire.tables._ids import IdMatch, canonical_ids, match_ids
from voirdire.tables._inputs import read_items, read_responses
from voirdire.tables._load import read_tables
from voirdire.tables._off_scale import apply_off_scale
from voirdire.tables._scale import infer_scale
from voirdire.tables._tables import FACTS, RATERS, RATINGS, STATUS, Tables, plural
from voirdire.tables._xlsx import write_jsonl, write_xlsx
from voirdire.tables.audit import audit
from voirdire.tables.labelled import read_labelled, yes_no
from voirdire.tables.questions import (
    Question,
    QuestionColumns,
    cell_text,
    read_questions,
    read_rows,
)
from voirdire.tables.readers import (
    PREFERENCES,
    Reader,
    Reading,
    ReadingBuilder,
    checked_reading,
    read_foreign,
    reader_of,
)

__all__ = [
    "FACTS",
    "PREFERENCES",
    "RATERS",
    "RATINGS",
    "STATUS",
    "IdMatch",
    "Question",
    "QuestionColumns",
    "RawTable",
    "Reader",
    "Reading",
    "ReadingBuilder",
    "Tables",
    "apply_off_scale",
    "audit",
    "canonical_ids",
    "cell_text",
    "checked_reading",
    "draft_study",
    "from_frame",
    "infer_scale",
    "match_ids",
    "plural",
    "read_file",
    "read_foreign",
    "read_items",
    "read_labelled",
    "read_questions",
    "read_raw",
    "read_responses",
    "read_rows",
    "read_tables",
    "reader_of",
    "write_jsonl",
    "write_xlsx",
    "yes_no",
]
