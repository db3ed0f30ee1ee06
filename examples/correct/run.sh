#!/bin/sh
# 600 answers judged, 200 of them labelled by a person: what would people have said of all 600?
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire examine answers.csv --reference human --out "$out/examined"
voirdire correct answers.csv --reference human --compare new,old --out "$out/corrected"
voirdire plan answers.csv --reference human --half-width 0.05
voirdire escalate answers.csv --reference human --agree 0.85 --out "$out/queue.csv"
