#!/bin/sh
# Blinded rating work for two people. Here a program fills in the sheets; on your desk people do.
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire humans export study.toml --out "$out/work" --format csv
python fill.py "$out/work"
voirdire humans import "$out/work" "$out"/work/sheets/*.csv --out "$out/answers"
voirdire examine "$out/answers" --measure alpha --raters humans
