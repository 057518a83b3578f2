"""What slurmctld makes of fabrics that a root joins, and of fabrics that are apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.e2e.lint.reality import Reality
from tests.golden.lint.cases import CGROUP_CONF, GRES_CONF, SLURM_CONF

from npa.cluster.model import Cluster
from npa.render.kube import topology_text

FABRICS = {"ib": ["gpu-0", "gpu-1"], "root": ["cpu-0", "cpu-1"]}
# nodes that are not there count as off: jobs may have them all the same
OFF = SLURM_CONF.replace("State=UNKNOWN", "State=CLOUD") + (
    "TopologyPlugin=topology/tree\n"
    "ResumeProgram=/bin/true\nSuspendProgram=/bin/true\nResumeTimeout=60\nSuspendTime=60\n"
)
JOB = ("sbatch", "--test-only", "-n2", "-N2", "-w", "gpu-0,cpu-0", "--wrap", "true")


@pytest.mark.parametrize("release", ["24.11", "26.05"])
@pytest.mark.parametrize(
    ("apart", "told"), [(False, "to start at"), (True, "is not available")], ids=["joined", "apart"]
)
def test_a_job_over_two_fabrics(
    release: str, apart: bool, told: str, reality: Callable[[str], Reality]
) -> None:
    cluster = Cluster("lab", "kubernetes", (), (), slurm_version=release)
    drawn = topology_text.draw(FABRICS, {}, block=False, apart=apart)
    page = "topology.yaml" if release == "26.05" else "topology.conf"
    files = {
        "slurm.conf": OFF,
        "gres.conf": GRES_CONF,
        "cgroup.conf": CGROUP_CONF,
        page: topology_text.render(drawn, cluster, block=False),
    }
    place = reality(release)

    outcome = place.start(files, lambda: place.run(*JOB))

    assert outcome.started, outcome.log
    assert told in outcome.answer
