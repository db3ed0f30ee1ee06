import csv
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

with Path("labels.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
labelled = [row for row in rows if row["human"]]
human = np.array([float(row["human"]) for row in labelled])
judge = np.array([float(row["judge"]) for row in labelled])
others = np.array([float(row["judge"]) for row in rows if not row["human"]])
mean = ppi_mean_pointestimate(human, judge, others)
low, high = ppi_mean_ci(human, judge, others, alpha=0.05)
print(f"{float(mean[0]):.4f} [{float(low[0]):.4f}, {float(high[0]):.4f}]")
