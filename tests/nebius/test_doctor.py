"""What the doctor says of a machine that has everything, and of one that lacks a little."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes import cloud as clouds
from tests.fakes.cloud import Cloud
from tests.fakes.standin import needs_terraform

from npa.api import nebius as api
from npa.targets.nebius import doctor

pytestmark = needs_terraform

SAYS = {
    "nebius": "0.12.200",
    "kubectl": "Client Version: v1.34.1",
    "helm": "v3.19.0+g1",
    "jq": "jq-1.7",
    "yq": "yq (https://github.com/mikefarah/yq/) version v4.44.1",
}


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    with clouds.serve(tmp_path) as serving:
        programs = tmp_path / "bin"
        programs.mkdir()
        for name, said in SAYS.items():
            write(programs / name, said)
        serving.environ["PATH"] = f"{programs}:{serving.outside.environ['PATH']}"
        yield serving


def write(path: Path, said: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)


def examined(cloud: Cloud) -> dict[str, doctor.Check]:
    with api.wired(cloud.outside):
        return {each.name: each for each in api.doctor()}


def test_a_machine_that_has_everything_is_well(cloud: Cloud) -> None:
    found = examined(cloud)

    assert doctor.ok(tuple(found.values())), found
    assert "v4.44.1" in found["yq"].found
    assert found["credentials"].state == "ok"


def test_another_program_of_the_same_name_is_not_the_one(cloud: Cloud, tmp_path: Path) -> None:
    write(tmp_path / "bin/yq", "yq 3.4.3")
    write(tmp_path / "bin/helm", "v2.17.0")
    (tmp_path / "bin/jq").write_text("#!/bin/sh\nexit 3\n")
    found = examined(cloud)

    assert [found[name].state for name in ("yq", "helm", "jq")] == ["missing", "missing", "warning"]
    assert "mikefarah" in found["yq"].hint


def test_an_old_terraform_is_told(cloud: Cloud) -> None:
    cloud.minimum = (99, 0)

    assert examined(cloud)["terraform"].state == "missing"
