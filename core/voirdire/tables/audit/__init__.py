"""The audit: everything odd in the data, before any number."""

from voirdire.tables.audit._audit import audit

__all__ = ["audit"]
