#!/bin/sh
# What the action does, also on a machine of your own: hold judges to a lock, hold verdicts to
# requirements, say what changed since another branch, and sum it up in at most 40 lines.
#
#   SOURCE=session LOCK=judge.lock LOOK=3 BASE=origin/main OUT=ci sh check.sh
#
# SOURCE     a session, a file of ratings, or a study; REFERENCE: the people in it (ann,ben)
# LOCK       a lock of `voirdire gate freeze`; LOOK: which look it is; MAX_COST: for a study
# REQUIRE    conditions, one a line: verdict.order@Guidance=yes
# BASE       a branch or commit with which SOURCE is compared
# OUT        the folder for summary.md, gate.xml and the JSON of each command
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-ci}
mkdir -p "$out"
rm -f "$out"/*.json "$out/summary.md" "$out/gate.xml"
worst=0

# note NAME COMMAND...: keep what a command prints, and the worst exit code.
note() {
    name=$1
    shift
    "$@" --json > "$out/$name.json" 2> "$out/$name.log"
    code=$?
    if [ "$code" -gt "$worst" ]; then worst=$code; fi
}

set -- "$SOURCE"
if [ -n "${REFERENCE:-}" ]; then set -- "$@" --reference "$REFERENCE"; fi

if [ -n "${LOCK:-}" ]; then
    note gate voirdire gate check "$@" --lock "$LOCK" --junit "$out/gate.xml" \
        ${LOOK:+--look "$LOOK"} ${MAX_COST:+--max-cost "$MAX_COST"}
fi

if [ -n "${REQUIRE:-}" ]; then
    wanted="$out/require.args"
    printf '%s\n' "$REQUIRE" | sed '/^[[:space:]]*$/d' > "$wanted"
    # The conditions become arguments behind those that are there.
    while IFS= read -r line; do set -- "$@" --require "$line"; done < "$wanted"
    note examine voirdire examine "$@" --resamples 0
    set -- "$SOURCE"
    if [ -n "${REFERENCE:-}" ]; then set -- "$@" --reference "$REFERENCE"; fi
fi

if [ -n "${BASE:-}" ]; then
    shift
    if git worktree add --quiet --detach "$out/base" "$BASE" 2> "$out/base.log"; then
        if [ -e "$out/base/$SOURCE" ]; then
            note compare voirdire compare "$out/base/$SOURCE" "$SOURCE" "$@"
        else
            echo "$BASE has no $SOURCE: nothing to compare with" > "$out/base.note"
        fi
        git worktree remove --force "$out/base"
    else
        worst=1
    fi
fi

python "$here/summary.py" "$out" > "$out/summary.md" || worst=1
cat "$out/summary.md"
exit "$worst"
