#!/usr/bin/env bash
# The long checks. Each script tools/soak/NAME.sh is one section; its second line says what it checks,
# its last line of output is the result, its exit status says whether it passed. The results of the
# sections that ran replace theirs in the table of docs/quality.md.
#
# Usage: tools/soak.sh [SECTION...]      (default: all)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

report=docs/quality.md
sections=("$@")
if [ ${#sections[@]} -eq 0 ]; then
  for script in tools/soak/*.sh; do sections+=("$(basename "$script" .sh)"); done
fi
for section in "${sections[@]}"; do
  if [ ! -f "tools/soak/$section.sh" ]; then
    echo "tools/soak.sh: there is no section '$section'; there are:" \
      "$(cd tools/soak && ls ./*.sh | sed 's|^\./||; s|\.sh$||' | tr '\n' ' ')" >&2
    exit 2
  fi
done
tools/setup.sh || exit

# Replaces the section's row of the table, or adds it, in the order of the names.
record() {  # SECTION ROW
  local head rows
  head=$(sed '/^|---/q' "$report")
  rows=$(sed '1,/^|---/d' "$report" | grep -v "^| $1 |")
  printf '%s\n%s\n' "$head" "$(printf '%s\n%s\n' "$rows" "$2" | sed '/^$/d' | sort)" >"$report.new"
  mv "$report.new" "$report"
}

machine="$(nproc) × $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)"
commit=$(git rev-parse --short HEAD)$(git diff --quiet HEAD || echo " + changes")
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for section in "${sections[@]}"; do
  echo "=== $section"
  started=$SECONDS
  verdict=passed
  if ! bash "tools/soak/$section.sh" 2>&1 | tee "$log"; then
    verdict=FAILED
    failed=$((failed + 1))
  fi
  what=$(sed -n '2s/^# *//p' "tools/soak/$section.sh")
  minutes=$(((SECONDS - started + 59) / 60))
  record "$section" \
    "| $section | $what | $verdict | $(tail -n 1 "$log") | $minutes min | $(date +%F) | $commit | $machine |"
done
echo "$((${#sections[@]} - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
