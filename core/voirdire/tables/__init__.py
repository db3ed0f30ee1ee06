"""Files to tidy Polars frames, and the audit of the data."""

from voirdire.tables._ids import IdMatch, canonical_ids, match_ids
from voirdire.tables._load import read_tables
from voirdire.tables._off_scale import apply_off_scale
from voirdire.tables._tables import RATERS, RATINGS, STATUS, Tables
from voirdire.tables.audit import audit

__all__ = [
    "RATERS",
    "RATINGS",
    "STATUS",
    "IdMatch",
    "Tables",
    "apply_off_scale",
    "audit",
    "canonical_ids",
    "match_ids",
    "read_tables",
]
