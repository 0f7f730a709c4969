#!/usr/bin/env bash
# Every test with the reference interpreter in place of the compiler (but those of the compiler itself).
set -euo pipefail
exec tools/test.sh --test_env=HPU_EXEC=reference --test_tag_filters=-needs_compiler
