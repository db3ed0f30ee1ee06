import csv
from pathlib import Path

import numpy as np
from glide.estimators import PPIMeanEstimator

with Path("labels.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
human = np.array([float(row["human"] or "nan") for row in rows])
judge = np.array([float(row["judge"]) for row in rows])
print(PPIMeanEstimator().estimate(human, judge))
