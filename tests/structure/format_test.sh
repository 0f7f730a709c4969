#!/usr/bin/env bash
# Every C++ file is formatted as .clang-format says.
set -euo pipefail
cd "$(dirname "$(readlink -f WORKSPACE)")"
mapfile -d '' files < <(find . \( -name '.?*' -o -name 'bazel-*' -o -name out \) -prune -o \
  \( -name '*.h' -o -name '*.cc' \) -print0)
[ ${#files[@]} -gt 0 ]
unformatted=$(printf '%s\0' "${files[@]}" |
  xargs -0 clang-format-14 --dry-run -Werror 2>&1 | sed -n 's/:[0-9]*:[0-9]*: error: .*//p' |
  sort -u || true)
if [ -n "$unformatted" ]; then
  echo "clang-format-14 -i" $unformatted >&2
  exit 1
fi
