#!/bin/sh
# A judge that looks a fact up before it scores. The model is simulated: it asks once, then answers.
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire run study.toml --out "$out"
voirdire session show "$out" --sent --most 2
