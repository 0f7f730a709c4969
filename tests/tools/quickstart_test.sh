#!/usr/bin/env bash
# The quickstart in short form, without a terminal.
set -euo pipefail
output=$(tools/quickstart/run.sh tools "$TEST_TMPDIR/quickstart" --short)
echo "$output"
grep -q '^A: ' <<<"$output"
grep -q 'adapter/adapter_model.safetensors' <<<"$output"
