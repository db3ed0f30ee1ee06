#!/bin/sh
# Two judges beside three people: what is odd in the files, then what each judge may be used for.
set -eu
cd "$(dirname "$0")"
voirdire audit study.toml
voirdire examine study.toml --out "${OUT:-out}"
