#!/bin/sh
# Makes the Python environment that writes the goldens: Debian 12's PyTorch 1.13.1 below, pinned
# packages above it. Usage: make_environment.sh DIR
# Needs once: apt-get install --no-install-recommends python3-torch python3-venv
set -eu
directory=${1:?usage: make_environment.sh DIR}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
/usr/bin/python3 -m venv --system-site-packages "$directory"
"$directory/bin/pip" install --quiet --no-deps --disable-pip-version-check -r "$here/requirements.txt"
"$directory/bin/python" -c 'import torch, transformers, peft, sentencepiece
print("torch", torch.__version__, "transformers", transformers.__version__, "peft", peft.__version__)'
