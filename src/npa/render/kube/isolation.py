"""What one user may take of a login node: a control group of each, which its sessions count towards.

The script is run by PAM as each session opens, before it enters the jail. It needs nothing of the image but
what is there, so whoever switches this on needs no other image.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from npa.render.kube import quantity
from npa.render.kube.context import Context
from npa.render.kube.volumes import Volumes
from npa.render.objects import CONFIG_MAP

AT = "/mnt/user-isolation"
# as images/customize.sh writes it, with the script before the jail
PAM = f"""\
auth     required pam_deny.so
account  required pam_unix.so
session  required pam_unix.so
session  required pam_env.so
session  required pam_exec.so quiet {AT}/isolate
session  required /usr/lib/npa/pam_jail.so /mnt/jail
"""
SCRIPT = """\
#!/bin/sh
# isolate: has a session that opens count towards its user; run by pam_exec as root, PPID is the session.
# Whoever is no user of the jail (uid below 1000) is let in as ever; a user that cannot be bounded is not.
set -eu
[ "${PAM_TYPE-}" = open_session ] || exit 0
uid=$(id -u "$PAM_USER")
[ "$uid" -ge 1000 ] || exit 0
why=${NPA_WHY:-/proc/1/fd/2} # the container's log; pam_exec leaves no other
trap '[ $? = 0 ] || echo "user isolation: $PAM_USER is not let in: no control group" >>"$why"' EXIT
exec 2>>"$why"
. "${0%/*}/limits"
groups=${NPA_CGROUPS:-/sys/fs/cgroup}

# own CONTROLLER: the path of the container's own group in a hierarchy; of version 2's without a controller
own() {
	of="\\([^:]*,\\)\\{0,1\\}$1\\(,[^:]*\\)\\{0,1\\}"
	sed -n "s|^[0-9]*:$of:||p" "${NPA_CGROUP_OF_INIT:-/proc/1/cgroup}" | head -n 1
}

# group FOLDER: make a group; what the kernel does not know as one is only a folder
group() {
	mkdir -p "$1"
	[ -e "$1/cgroup.procs" ]
}

# hand_down FOLDER: have the groups below a folder know controllers; its own processes step aside (cgroups(7))
hand_down() {
	mkdir -p "$1/init" "$1/users"
	for _ in 1 2 3 4 5 6 7 8 9; do
		left=$(cat "$1/cgroup.procs")
		[ -n "$left" ] || break
		for pid in $left; do echo "$pid" >"$1/init/cgroup.procs" 2>/dev/null || :; done
	done
	for folder in "$1" "$1/users"; do
		for each in memory cpu; do echo "+$each" >"$folder/cgroup.subtree_control"; done
	done
}

exec 9>"${NPA_LOCK:-/run/npa/user-isolation.lock}"
flock -w 20 9
if [ -e "$groups/cgroup.controllers" ]; then
	base=$groups$(own '')
	base=${base%/}
	base=${base%/init}
	[ "$(cat "$base/users/cgroup.subtree_control" 2>/dev/null)" ] || hand_down "$base"
	mine=$base/users/user-$uid
	group "$mine"
	echo "${HIGH:-max}" >"$mine/memory.high"
	echo "${MAX:-max}" >"$mine/memory.max"
	echo "$WEIGHT" >"$mine/cpu.weight"
	echo "$PPID" >"$mine/cgroup.procs"
	exit 0
fi
for each in memory cpu; do
	base=$groups/$each
	within=$(own "$each")
	[ ! -d "$base$within" ] || base=$base$within
	mine=${base%/}/users/user-$uid
	group "$mine"
	[ "$each" = cpu ] || echo "${MAX:--1}" >"$mine/memory.limit_in_bytes"
	[ "$each" = memory ] || echo "$((WEIGHT * 1024 / 100))" >"$mine/cpu.shares"
	echo "$PPID" >"$mine/cgroup.procs"
done
"""


def name(context: Context) -> str:
    """Name of the ConfigMap, as users of the existing operator know it."""
    return f"{context.name}-login-user-isolation"


def enabled(context: Context) -> bool:
    """Say whether users are kept apart."""
    return context.spec.slurm_nodes.login.user_isolation.enabled


def config_map(context: Context) -> dict[str, Any]:
    """Return the script, its bounds, and PAM's file that has it run."""
    asked = context.spec.slurm_nodes.login
    high, most = asked.user_isolation.memory_high, asked.user_isolation.memory_max
    whole = asked.sshd.resources.get("memory")
    ends = _bytes(most) if most is not None else _share(whole, "0.9")
    slows = _bytes(high) if high is not None else _share(whole, "0.8")
    bounds = {
        "HIGH": min(slows, ends, key=int) if slows and ends else slows,  # whoever ends first is never slowed
        "MAX": ends,
        "WEIGHT": str(asked.user_isolation.cpu_weight),
    }
    limits = "".join(f"{key}={value}\n" for key, value in bounds.items())
    data = {"isolate": SCRIPT, "limits": limits, "pam": PAM}
    return context.object(CONFIG_MAP, name(context), "login", data=data)


def mounts(context: Context) -> Volumes:
    """Return where sshd's container has them."""
    volume = {"name": "user-isolation", "configMap": {"name": name(context), "defaultMode": 0o755}}
    listed = (
        {"name": "user-isolation", "mountPath": AT, "readOnly": True},
        {"name": "user-isolation", "mountPath": "/etc/pam.d/sshd", "subPath": "pam", "readOnly": True},
    )
    return Volumes(volumes=(volume,), mounts=listed)


def _bytes(size: object) -> str:
    try:
        return str(quantity.whole(size))
    except ValueError:
        return ""  # told elsewhere


def _share(whole: object, part: str) -> str:
    """Return a part of what the container has; nothing where nobody says how much that is."""
    if whole is None:
        return ""
    try:
        return str(int(quantity.amount(whole) * Decimal(part)))
    except ValueError:
        return ""
