#!/usr/bin/env bash
# The commands of README.md and docs/*.md (blocks after "<!-- run -->"), in a fresh clone.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git clone --quiet . "$scratch/clone"
cd "$scratch/clone"

# One script for each marked block, named after its place.
awk -v scratch="$scratch" '
  /^<!-- run -->$/ { marked = 1; next }
  marked && /^```bash$/ {
    place = FILENAME; gsub("/", "_", place)
    script = sprintf("%s/%s_%04d.sh", scratch, place, FNR)
    marked = 0; next
  }
  /^```$/ { script = "" }
  script { print > script }
  /./ { marked = 0 }
' README.md docs/*.md

passed=0
failed=0
for script in "$scratch"/*.sh; do
  [ -e "$script" ] || break
  echo "--- $(basename "$script" .sh)"
  if bash -euxo pipefail "$script" </dev/null; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
bazel shutdown
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
