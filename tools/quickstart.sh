#!/usr/bin/env bash
# From a fresh clone to a fine-tuned model: installs what is missing, builds the tools and runs
# tools/quickstart/run.sh: a small Llama, trained on the spot, learns to answer in another voice.
#
# Usage: tools/quickstart.sh [DIRECTORY]      (default: quickstart_output)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
bazel build //tools:run_clm //tools:run_lora_clm //tools:run_generation //tools/quickstart/...
tools/quickstart/run.sh "$(bazel info bazel-bin)/tools" "${1:-quickstart_output}"
