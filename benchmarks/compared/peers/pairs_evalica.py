import pandas as pd
from evalica import Winner, bradley_terry

data = pd.read_csv("pairs.csv")
names = {"model_a": Winner.X, "model_b": Winner.Y, "tie": Winner.Draw}
for rater in ("people", "gpt"):
    found = bradley_terry(data["model_a"], data["model_b"], [names[one] for one in data[rater]])
    print(rater, found.scores.sort_values(ascending=False).round(2).to_dict())
