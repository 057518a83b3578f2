"""plugstack.conf: the SPANK plugin that moves a job's root into the jail."""

from __future__ import annotations

from npa.cluster.model import Cluster
from npa.slurm import conf
from npa.slurm.runtime import Runtime


def render(cluster: Cluster, runtime: Runtime) -> str:  # noqa: ARG001  # one signature for every file
    """Return plugstack.conf.

    The plugin is required: a job that could not enter the jail would run among the daemons. Others come after
    it, so they see what the job sees.
    """
    plugin, jail = conf.word("jail_plugin", runtime.jail_plugin), conf.word("jail", runtime.jail)
    more = "".join(f"{line}\n" for line in runtime.site.plugins)
    return f"{conf.comment(conf.HEADER)}\nrequired {plugin} {jail}\n{more}"
