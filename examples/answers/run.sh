#!/bin/sh
# Two people and three judges labelled 175 answers: what may each judge be used for?
set -eu
cd "$(dirname "$0")"
voirdire examine study.toml --out "${OUT:-out}"
