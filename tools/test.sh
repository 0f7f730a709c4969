#!/usr/bin/env bash
# Builds everything and runs the tests. The last line is "N passed, N failed", counted in test
# targets; a target that does not build has failed. Exits with 0 only if none failed.
#
# Usage: tools/test.sh [BAZEL_FLAG...] [TARGET...]      (default target: //...)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flags=()
targets=()
for argument in "$@"; do
  case "$argument" in
    --* | -[a-z]) flags+=("$argument") ;;
    *) targets+=("$argument") ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || targets=(//...)

finish() {  # PASSED FAILED
  echo "$1 passed, $2 failed"
  [ "$2" -eq 0 ]
  exit
}

tools/setup.sh || finish 0 1

events=$(mktemp)
trap 'rm -f "$events"' EXIT
bazel test --keep_going --build_event_json_file="$events" "${flags[@]}" -- "${targets[@]}"
status=$?

# One event a line. A target that did not build has a completion event without success.
summaries=$(grep '^{"id":{"testSummary":' "$events" || true)
passed=$(grep -cE '"overallStatus":"(PASSED|FLAKY)"' <<<"$summaries")
failed=$(grep '"overallStatus":' <<<"$summaries" | grep -cvE '"overallStatus":"(PASSED|FLAKY)"')
unbuilt=$(grep '^{"id":{"targetCompleted":' "$events" | grep -cv '"completed":{"success":true')
failed=$((failed + unbuilt))
# A mistake in a BUILD file leaves no event of its target.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
[ $((passed + failed)) -gt 0 ] || failed=1

skipped=$(grep '^{"id":{"testResult":' "$events" | grep -o 'file://[^"]*/test\.xml' | sort -u |
  sed 's|^file://||' | xargs -r grep -ho '<testcase name="[^"]*"[^>]*result="skipped"[^>]*>' |
  sed 's|.*name="\([^"]*\)".*classname="\([^"]*\)".*|  \2.\1|' | sort || true)
if [ -n "$skipped" ]; then
  echo "Skipped test cases (their reasons are in the logs under bazel-testlogs):"
  echo "$skipped"
fi
finish "$passed" "$failed"
