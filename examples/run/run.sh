#!/bin/sh
# A whole panel: a generator, four simulated judges, and two people to hold them against.
set -eu
cd "$(dirname "$0")"
out="${OUT:-out}"
voirdire run study.toml --out "$out/session"
voirdire session status "$out/session"
voirdire examine "$out/session" --out "$out/report"
