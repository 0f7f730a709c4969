#!/usr/bin/env bash
# Every test of concurrent code under ThreadSanitizer.
set -euo pipefail
exec tools/test.sh --config=tsan --test_tag_filters=threads,-no_sanitizer
