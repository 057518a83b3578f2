"""Versions, sizes and container settings that go together or do not."""

from __future__ import annotations

import pytest

from npa.errors import RefusedError
from npa.render.nebius import containers, release, volumes
from npa.render.nebius.release import Release
from npa.slurm.lookup import Absent, Found, Unknown


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Release(operator="4.1.0"), "operator 4.1.0 is not one"),
        (Release(operator="4.1.7"), "needs use_default_apparmor_profile"),
        (Release(operator="4.1.6", chart="4.1.7"), "the operator is 4.1.6 and its chart 4.1.7"),
        (Release(operator="4.1.6", definitions="4.0"), "older than operator 4.1.6"),
        (Release(slurmdbd="24.11", slurmctld="25.05"), "slurmdbd 24.11 is older than slurmctld 25.05"),
        (Release(slurmctld="25.05.1", slurmd="25.11"), "slurmctld 25.05.1 is older than slurmd 25.11"),
    ],
)
def test_c68_what_does_not_go_together_is_said_before_a_plan(found: Release, said: str) -> None:
    (problem,) = release.problems(found)

    assert said in problem


@pytest.mark.parametrize(
    "found",
    [
        Release(operator="4.1.6", chart="4.1.6", definitions="4.1.6"),
        Release(operator="4.1.7", default_profile=True),
        Release(slurmdbd="25.11", slurmctld="25.11", slurmd="25.05"),
        Release(),
    ],
)
def test_c68_what_goes_together_has_no_problem(found: Release) -> None:
    assert not list(release.problems(found))


def test_c68_the_database_daemon_goes_first_and_nothing_goes_back() -> None:
    old = Release(operator="4.1.6", slurmdbd="24.11", slurmctld="24.11", slurmd="24.11")
    new = Release(operator="4.1.7", slurmdbd="25.11", slurmctld="25.11", slurmd="25.11")

    assert release.order(old, new) == ("operator", "slurmdbd", "slurmctld", "slurmd")
    assert not list(release.changes(old, new))
    assert [text.split()[0] for text in release.changes(new, old)] == [
        "operator",
        "slurmdbd",
        "slurmctld",
        "slurmd",
    ]


def test_c68_a_webhook_that_is_down_explains_missing_pods() -> None:
    down = {"metadata": {"name": "kruise-controller-manager"}, "status": {"replicas": 2}}
    up = {**down, "status": {"readyReplicas": 2}}

    assert release.root_cause(Found((down,))).startswith("kruise webhook not ready")
    assert release.root_cause(Found((up,))) == ""
    assert release.root_cause(Unknown("no answer")) == ""


def test_the_installed_chart_is_read_from_its_release() -> None:
    one = {"metadata": {"name": "x-soperator"}, "status": {"history": [{"chartVersion": "4.1.6+a"}]}}

    assert release.chart_version(Found((one,))) == Found("4.1.6")
    assert release.chart_version(Found(())) == Absent()
    assert isinstance(release.chart_version(Found(({"metadata": {"name": "x-soperator"}},))), Unknown)
    assert release.chart_version(Unknown("down")) == Unknown("down")


@pytest.mark.parametrize(
    ("size", "gib"),
    [(2_198_956_146_688, 2047), (2 << 40, 2048), ((2 << 40) + 1, 2048), ((2 << 40) - 1, 2047), (0, 0)],
)
def test_c67_a_real_size_is_whole_gib_and_never_more_than_is_there(size: int, gib: int) -> None:
    assert volumes.whole_gib(size) == gib


def test_c67_a_filesystem_grows_in_place_and_never_shrinks() -> None:
    assert volumes.grown("jail", 4096, 2 << 40) == 2048
    assert volumes.grown("jail", 2048, (2 << 40) + 1) == 0
    with pytest.raises(RefusedError, match=r"jail has 2048 GiB and cannot shrink to 2000 GiB"):
        volumes.grown("jail", 2000, 2 << 40)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("NPA_USERNS sysctl=0 unshare=ok", ""),
        ("NPA_USERNS sysctl=absent unshare=ok", ""),
        ("NPA_USERNS sysctl=1 unshare=denied", "kernel.apparmor_restrict_unprivileged_userns is 1"),
        ("NPA_USERNS sysctl=absent unshare=denied", "may not make user namespaces"),
        ("command terminated", "unknown"),
    ],
)
def test_c76_a_worker_lets_users_make_namespaces_or_says_why_not(output: str, said: str) -> None:
    found = containers.user_namespaces("gpu-0", output)

    assert said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("hello.sqsh", "write ./hello.sqsh"),
        ("./hello.sqsh", ""),
        ("/images/hello.sqsh", ""),
        ("10.0.0.5:5000#/team/img:1", ""),
        ("nvcr.io#nvidia/pytorch:24.05", ""),
        ("10.0.0.5:5000/team/img", "write 10.0.0.5:5000#/team/img"),
        ("ubuntu:24.04", ""),
    ],
)
def test_c76_an_image_means_what_it_looks_like(path: str, said: str) -> None:
    found = containers.image(path)

    assert said in found
    assert bool(found) is bool(said)


def test_c76_login_and_workers_have_the_same_plugins() -> None:
    line = "optional  /usr/lib/pyxis.so  # containers"

    assert containers.plugstack(line, "optional /usr/lib/pyxis.so") == ""
    assert "login node lacks" in containers.plugstack("", line)
    assert "workers lack" in containers.plugstack(line, "")
