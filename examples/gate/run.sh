#!/bin/sh
# A judge is frozen today and asked again later: has it changed, and is it still good?
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire run study.toml --out "$out/first"
voirdire gate freeze "$out/first" --as "$out/judge.lock"
voirdire run study.toml --out "$out/second"
voirdire gate check "$out/second" --lock "$out/judge.lock" --junit "$out/gate.xml" --markdown "$out/gate.md"
cat "$out/gate.md"
