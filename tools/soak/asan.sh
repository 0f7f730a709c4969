#!/usr/bin/env bash
# Every test under AddressSanitizer and UndefinedBehaviorSanitizer.
set -euo pipefail
exec tools/test.sh --config=asan --test_tag_filters=-no_sanitizer
