#!/bin/sh
# Few-shot examples: an index over a pool, and the nearest ones shown to an annotator. MODEL is a
# sentence-transformers model, by name or folder.
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire index build pool.csv --label sleep --model "${MODEL:-all-MiniLM-L6-v2}" --out "$out/index"
sed "s#@MODEL@#${MODEL:-all-MiniLM-L6-v2}#" study.toml > "$out/study.toml"
cp posts.csv pool.csv "$out"
voirdire run "$out/study.toml" --out "$out/session"
voirdire session show "$out/session" --sent --most 1
