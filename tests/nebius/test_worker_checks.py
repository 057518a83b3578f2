"""Whether users can start containers is asked of every worker, in a real shell too."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest
from tests.nebius.after import FakeKube

from npa.errors import KubeError
from npa.render.nebius import containers
from npa.targets.nebius import worker_checks
from npa.tools.kube import Executed


def test_c76_every_worker_is_asked_and_the_cause_named() -> None:
    def answer(pod: str, _: Sequence[str]) -> Executed:
        if pod == "gpu-2":
            raise KubeError("exec in gpu-2: no answer within the deadline")
        return Executed(0, f"NPA_USERNS sysctl={pod[-1]} unshare={'ok' if pod == 'gpu-0' else 'denied'}\n")

    said = worker_checks.user_namespaces(FakeKube(answer), ("gpu-0", "gpu-1", "gpu-2"))

    assert said == (
        "gpu-1: kernel.apparmor_restrict_unprivileged_userns is 1: users cannot start containers; "
        "it has to be 0",
        "gpu-2: whether users may make user namespaces is unknown: "
        "exec in gpu-2: no answer within the deadline",
    )


def test_c76_a_plugin_that_the_login_node_lacks_is_named() -> None:
    plugins = {"login-0": "# none\n", "gpu-0": "optional /usr/lib/pyxis.so\n"}
    kube = FakeKube(lambda pod, _: Executed(0, plugins[pod]))

    (said,) = worker_checks.plugins(kube, ("gpu-0", "gpu-1"))
    assert "the login node lacks what workers have" in said
    plugins["login-0"] = plugins["gpu-0"]
    assert worker_checks.plugins(kube, ("gpu-0",)) == ()
    assert worker_checks.plugins(kube, ()) == ()


def test_c76_plugins_that_cannot_be_read_are_unknown() -> None:
    def answer(pod: str, _: Sequence[str]) -> Executed:
        raise KubeError(f"exec in {pod}: no answer within the deadline")

    (said,) = worker_checks.plugins(FakeKube(answer), ("gpu-0",))
    assert "is unknown" in said


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv, as on a worker"
)
def test_c76_the_probe_answers_here_too() -> None:
    done = subprocess.run(containers.probe(), capture_output=True, text=True, check=True)

    assert "is unknown" not in containers.user_namespaces("here", done.stdout)
