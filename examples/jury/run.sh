#!/bin/sh
# Four judges as one: is the jury worth more than its best member?
set -eu
cd "$(dirname "$0")"
voirdire jury ratings.csv --members north,south,west,east --reference human
voirdire jury ratings.csv --members north,south,west,east --combine fitted --reference human --out "${OUT:-out}"
