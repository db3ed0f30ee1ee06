"""Fill in the sheets as two people might: `python fill.py work`. For the example only."""

# ruff: noqa: INP001 - a script, no part of a package
import csv
import sys
from pathlib import Path

for number, sheet in enumerate(sorted((Path(sys.argv[1]) / "sheets").glob("*.csv"))):
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        concrete = len(row["Response"].split()) > 3
        row["helpfulness"] = str((4 if concrete else 2) + (number and len(row["Response"]) % 2))
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
