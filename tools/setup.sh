#!/usr/bin/env bash
# Installs the Debian 12 packages that building and testing need. Does nothing when all are there;
# without root, prints the one line to run and exits with 2.
#
# Usage: tools/setup.sh [--with-oracles]
#   --with-oracles   also PyTorch and venv, to regenerate goldens and to run the peers of benchmarks
set -euo pipefail

packages=(
  # Bazel, and the rule sets that it would otherwise download.
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib
  # Compilers: of this code, of protocol buffers, and the one that the runtime calls.
  g++ protobuf-compiler llvm-19-dev
  # Libraries.
  libabsl-dev libprotobuf-dev libdnnl-dev libsentencepiece-dev nlohmann-json3-dev libicu-dev
  libcpp-httplib-dev libssl-dev libsqlite3-dev
  # Tests.
  libgtest-dev libgmock-dev libbenchmark-dev clang-format-14
)
for argument in "$@"; do
  case "$argument" in
    --with-oracles) packages+=(python3-torch python3-venv) ;;
    *)
      echo "tools/setup.sh: unknown argument '$argument'; usage: tools/setup.sh [--with-oracles]" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "tools/setup.sh: this is not Debian; install the equivalents of: ${packages[*]}" >&2
  exit 2
fi

installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
  awk '$2 == "installed" { print $1 }' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "Packages are missing. Run this once, then try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install --no-install-recommends -y ${missing[*]}" >&2
  exit 2
fi
echo "Installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >&2
apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
