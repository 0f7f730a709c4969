#!/usr/bin/env bash
# Everything that runs compiled graphs, with each compiler pass disabled in turn.
#
# Tests whose subject is the compiler itself carry the tag needs_compiler and are left out.
set -uo pipefail

mapfile -t passes < <(sed -n 's/.*name() const override { return "\([a-z_]*\)"; }.*/\1/p' \
  runtime/compiler/passes/*.h | sort -u)
[ ${#passes[@]} -gt 0 ] || { echo "no passes found in runtime/compiler/passes"; exit 1; }

broken=()
for pass in "${passes[@]}"; do
  echo "--- without $pass"
  tools/test.sh --test_env="HPU_DISABLE_PASSES=$pass" --test_tag_filters=-needs_compiler \
    //runtime/lazy/... //runtime/autograd/... //models/... //training/... //tests/... ||
    broken+=("$pass")
done
echo "$((${#passes[@]} - ${#broken[@]})) of ${#passes[@]} passes can be disabled${broken:+, not: ${broken[*]}}"
[ ${#broken[@]} -eq 0 ]
