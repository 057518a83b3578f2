#!/usr/bin/env bash
# Installs the Debian packages that are missing, and does nothing where none is.
set -euo pipefail
source "$(dirname "$0")/python.sh"

missing=()
need() { # need COMMAND PACKAGE...: the packages are wanted where the command is not there
	command -v "$1" >/dev/null || missing+=("${@:2}")
}
need mmdebstrap mmdebstrap
need gcc gcc libc6-dev
need ssh openssh-client
compgen -G "/usr/lib/*/faketime/libfaketime.so.1" >/dev/null || missing+=(libfaketime) # tests move clocks
# tests on a real Kubernetes node, where there is a bed for them
if [ -x "${NPA_TEST_K8S:-../shared/k8s}/k8s-up" ]; then
	need zstd zstd
	need openssl openssl
	need curl curl
	need ip iproute2
	need containerd containerd
	need runc runc
	need conntrack conntrack
	need socat socat
	[ -e /usr/lib/cni/bridge ] || missing+=(containernetworking-plugins)
fi
[ -e /usr/include/stdio.h ] || missing+=(libc6-dev)
if [ ! -x .venv/bin/python ]; then
	python=$(find_python) || missing+=(python3 python3-venv)
	[ -z "$python" ] || "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
fi
[ ${#missing[@]} -gt 0 ] || exit 0

root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || {
		echo "error: missing packages: ${missing[*]}" >&2
		echo "hint: run as root: apt-get install -y --no-install-recommends ${missing[*]}" >&2
		exit 1
	}
	root=(sudo)
fi
command -v apt-get >/dev/null || {
	echo "error: missing programs, and no apt-get to install them: ${missing[*]}" >&2
	echo "hint: install them by hand, or use a Debian or Ubuntu machine" >&2
	exit 1
}
echo "installing ${missing[*]}" >&2
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
