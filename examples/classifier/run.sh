#!/bin/sh
# Words that go with three labels: trained, tested, and examined like any other rater.
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire classify fit grid.toml --out "$out"
voirdire classify evaluate "$out"
voirdire examine "$out/ratings.parquet" --reference truth --out "$out/examined"
