cat > study.toml <<'TOML'
name = "compared"
rubric = {attributes = ["helpfulness"]}
items = {path = "items.csv"}
responses = {path = "answers.csv"}
[[panel]]
name = "north"
model = "simulated:north"
TOML
voirdire run study.toml --out session --quiet
voirdire examine session/ratings.parquet --human people.csv
