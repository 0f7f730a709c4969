#!/usr/bin/env bash
# Every test with each recipe loaded from its bytes.
set -euo pipefail
exec tools/test.sh --test_env=HPU_EXEC=serialised --test_tag_filters=-needs_compiler
