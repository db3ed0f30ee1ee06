#!/bin/sh
# A repository with a judge's ratings, a branch that changes them, and the check of a pull request.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out="${OUT:-$here/out}"
rm -rf "$out" && mkdir -p "$out/repository" && cd "$out/repository"
rate() {
    python -c "
import random
draw = random.Random(1)
print('item,system,human,judge')
for at in range(240):
    true = draw.gauss(3, 1)
    human, judge = (min(5, max(1, round(true + draw.gauss(0, 0.5)))) for _ in range(2))
    print(f'q{at // 2},v{at % 2},{human},{min(5, judge + $1)}')
" > ratings.csv
}
git init -q -b main .
git config user.name you && git config user.email you@example.org
rate 0
voirdire gate freeze ratings.csv --reference human --as judge.lock
git add . && git commit -qm "A judge and its lock"
git checkout -qb kinder
rate 1
git commit -qam "The judge is asked in another way"
echo "--- as it was"
git checkout -q main
SOURCE=ratings.csv REFERENCE=human LOCK=judge.lock LOOK=1 OUT="$out/main" sh "$here/check.sh"
echo "--- the pull request"
git checkout -q kinder
SOURCE=ratings.csv REFERENCE=human LOCK=judge.lock LOOK=2 BASE=main OUT="$out/kinder" \
    REQUIRE="verdict.single=yes" sh "$here/check.sh" || echo "The check fails with exit code $?."
