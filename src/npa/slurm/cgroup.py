"""cgroup.conf: what the kernel holds a job to."""

from __future__ import annotations

from npa.cluster.model import Cluster
from npa.slurm import conf
from npa.slurm.runtime import Runtime


def render(cluster: Cluster, runtime: Runtime) -> str:  # noqa: ARG001  # one signature for every file
    """Return cgroup.conf for the machine's cgroup version."""
    own = runtime.site.cgroup_conf
    replaced = conf.keys(own)
    lines = [conf.line(pair) for pair in _settings(runtime) if pair[0].lower() not in replaced]
    text = conf.text([conf.comment(conf.HEADER), *lines])
    return text + own.rstrip("\n") + "\n" if own.strip() else text


def _settings(runtime: Runtime) -> tuple[tuple[str, str], ...]:
    if runtime.cgroup == "none":
        return (("CgroupPlugin", "disabled"),)
    return (
        # Named: `autodetect` looks for systemd's hierarchy, which a container does not have.
        ("CgroupPlugin", f"cgroup/{runtime.cgroup}"),
        ("IgnoreSystemd", "yes"),
        ("EnableControllers", "yes"),
        # A twin's node may claim more cores than the machine has, and cannot be held to them.
        ("ConstrainCores", "no" if runtime.twin else "yes"),
        ("ConstrainRAMSpace", "yes"),
        ("ConstrainDevices", "yes"),
        *_swap(runtime),
    )


def _swap(runtime: Runtime) -> tuple[tuple[str, str], ...]:
    if runtime.limits_swap:
        # none on top of its memory: a job over its limit is ended, not slowed down
        return (("ConstrainSwapSpace", "yes"), ("AllowedSwapSpace", "0"))
    return (("ConstrainSwapSpace", "no"),)
