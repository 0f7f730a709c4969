#!/usr/bin/env bash
# From a fresh clone to a fine-tuned model: installs what is missing, builds the tools, and runs
# tools/quickstart (a small Llama and a small instruction set, both made on the spot).
#
# Usage: tools/quickstart.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
bazel build //tools/...
