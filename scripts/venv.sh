#!/usr/bin/env bash
# Makes .venv and installs npa with its development tools into it.
set -euo pipefail
source "$(dirname "$0")/python.sh"

python=$(find_python) || {
	echo "error: Python 3.11 or newer is not there" >&2
	echo "hint: install it: apt-get install -y python3 python3-venv (Debian 12 or newer)" >&2
	exit 1
}
# a half-made or moved one is made again
.venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
echo "installing npa into .venv" >&2
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
touch .venv/.installed
