import pandas as pd
from evalica import alpha_bootstrap

data = pd.read_csv("scores.csv")
for judge in ("careful", "lenient", "blind"):
    found = alpha_bootstrap(
        data[["ann", "ben", "cat", judge]].T, distance="ordinal", n_resamples=1000, random_state=1
    )
    print(f"{judge}: alpha {found.alpha:.2f} [{found.low:.2f}, {found.high:.2f}]")
