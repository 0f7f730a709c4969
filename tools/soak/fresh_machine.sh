#!/usr/bin/env bash
# The quickstart and every test in a new minimal Debian 12 that has none of the packages.
#
# Needs root and debootstrap. Takes this machine's package sources, certificates and proxies along.
# Usage: tools/soak/fresh_machine.sh [COMMAND]   (default: the quickstart, then the tests)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

command=${1:-tools/quickstart.sh && tools/test.sh}
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo "needs root, and once: apt-get install debootstrap"
  exit 2
fi

scratch=$(mktemp -d)
root=$scratch/root
trap 'rm -rf --one-file-system "$scratch"' EXIT

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' |
  sort -u | head -n 1)
if [ -z "$mirror" ]; then
  echo "no package source for bookworm here; run apt-get update first"
  exit 2
fi
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$scratch/debootstrap.log" 2>&1 ||
  { cat "$scratch/debootstrap.log"; exit 1; }

# The sources that apt reads here, and how it reaches them.
rm -f "$root/etc/apt/sources.list"
for path in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
  /etc/apt/trusted.gpg.d /etc/apt/keyrings /etc/ssl/certs/ca-certificates.crt /etc/resolv.conf \
  /etc/hosts; do
  [ -e "$path" ] || continue
  mkdir -p "$root$(dirname "$path")"
  cp -rL "$path" "$root$(dirname "$path")/"
done
apt-config dump | grep -E '^Acquire::[^"]+ "[^"]+";' >"$root/etc/apt/apt.conf.d/90host" || true
proxies=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
  [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
done

git clone --quiet --no-hardlinks . "$root/root/trencadis"

# The name spaces take every mount and process along when the command ends, Bazel's server included.
unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
  root=$1; command=$2; shift 2
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  chroot "$root" /usr/bin/env -i "$@" HOME=/root USER=root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    bash -c "cd /root/trencadis && $command"
' fresh_machine "$root" "$command" "${proxies[@]}"
