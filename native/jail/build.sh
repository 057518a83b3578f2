#!/bin/sh
# build.sh ROOT: compile the two plugins against ROOT's Slurm and PAM, and put them into ROOT/usr/lib/npa.
# Runs outside ROOT (the image needs no compiler); the headers come from ROOT's own package sources.
set -eu
root=$1
here=$(cd "$(dirname "$0")" && pwd)
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
# apt drops privileges for downloads, so the folder is its user's to write
mkdir -m 777 "$root/tmp/headers"
chroot "$root" sh -c 'cd /tmp/headers && apt-get -qq download libslurm-dev libpam0g-dev'
for deb in "$root"/tmp/headers/*.deb; do dpkg-deb -x "$deb" "$headers"; done
rm -r "$root/tmp/headers"
mkdir -p "$root/usr/lib/npa"
for name in spank_jail pam_jail; do
	# symbols of slurmstepd and sshd are found at load time, so nothing is linked
	gcc -std=c11 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=default -Wl,-z,relro,-z,now \
		-I"$headers/usr/include" -o "$root/usr/lib/npa/$name.so" "$here/$name.c" "$here/enter.c"
done
