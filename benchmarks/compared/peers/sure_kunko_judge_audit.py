import csv
from pathlib import Path

from judge_audit import Judge, Judgment
from judge_audit.runner import run_audit

OPTIONS = ["refund", "delivery", "other"]
with Path("sure.csv").open(newline="") as file:
    said = {row["item"]: row for row in csv.DictReader(file)}


class Recorded(Judge):
    name = "recorded"

    def decide(self, state, questions):
        row = said[state]
        return [Judgment("label", row["judge"], float(row["confidence"]))]


question = {"name": "label", "type": "choice", "instructions": "Which?", "options": OPTIONS}
rows = [
    {"state": item, "questions": [question], "labels": {"label": row["human"]}}
    for item, row in said.items()
]
found = run_audit(Recorded(), rows)
low, high = found.ece_ci
print(f"accuracy {found.accuracy:.3f}, ece {found.ece:.3f} [{low:.3f}, {high:.3f}]")
print("alone without an error:", found.zero_error)
