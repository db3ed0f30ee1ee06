"""Write the tables of the registries into the pages: `python docs/tables.py`."""

from __future__ import annotations

from pathlib import Path

from voirdire.examining.spec.documented import with_tables

for page in Path(__file__).parent.rglob("*.md"):
    text = page.read_text("utf-8")
    if (written := with_tables(text)) != text:
        page.write_text(written, "utf-8")
