import csv
from pathlib import Path

from autorubric.metrics.distribution import systematic_bias

with Path("scores.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
people = [(int(row["ann"]) + int(row["ben"]) + int(row["cat"])) / 3 for row in rows]
for judge in ("careful", "lenient", "blind"):
    found = systematic_bias([int(row[judge]) for row in rows], people)
    print(f"{judge}: {found.direction}, bias {found.mean_bias:+.2f}")
