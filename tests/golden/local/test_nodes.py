"""How each kind of node is put together, byte for byte. NPA_GOLDEN=rewrite writes it anew."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.transitions.simulator import cluster, pool

from npa.cluster.model import User
from npa.render.local import addresses, desired, files, nodes
from npa.render.local.layout import Layout
from npa.slurm.runtime import Runtime

HERE = Path(__file__).parent
LAYOUT = Layout("/state/quick")
ASKED = cluster(pool("gpu", 1, cpus=160, gpus=2), pool("cpu", 1))
GIVEN = addresses.assign({}, nodes.names(ASKED))


def compare(name: str, text: str) -> None:
    path = HERE / name
    if os.environ.get("NPA_GOLDEN") == "rewrite":
        path.write_text(text)

    assert text == path.read_text()


@pytest.mark.parametrize("name", nodes.names(ASKED))
def test_node(name: str) -> None:
    node = next(each for each in nodes.render(ASKED, LAYOUT, GIVEN, cgroups=True) if each.name == name)

    lines = [f"{node.name} {node.address} {node.shape}".rstrip()]
    for step in (*node.setup, *node.jail):
        told = {key: value for key, value in asdict(step).items() if value not in ("", False)}
        lines.append(" ".join([told.pop("op"), told.pop("path"), json.dumps(told)]))
    lines += [f"run {process.name} as {process.uid}: {' '.join(process.argv)}" for process in node.processes]
    compare(f"{name}.txt", "\n".join(lines) + "\n")


def test_files_beside_slurms() -> None:
    from dataclasses import replace

    asked = replace(
        ASKED, users=(User("alice", 2000, ("ssh-ed25519 AAAA alice",)),), root_keys=("ssh-ed25519 BBBB",)
    )
    rendered = files.render(asked, LAYOUT, Runtime("v1", twin=True), GIVEN)
    ours = [file for file in rendered if "/etc/ssh/" in file.path or "/etc/net/" in file.path]

    compare("files.txt", "".join(f"== {file.path} {file.mode:o} {file.uid}\n{file.text}" for file in ours))


def test_secrets_stay_with_the_daemons() -> None:
    rendered = files.render(ASKED, LAYOUT, Runtime("v1"), GIVEN)
    dbd = [file for file in rendered if file.path.endswith("/slurmdbd.conf")]

    assert [(file.path, file.mode) for file in dbd] == [("/state/quick/etc/daemons/slurmdbd.conf", 0o600)]
    jail = {file.path.rpartition("/")[2] for file in rendered if file.path.startswith(LAYOUT.jail_etc)}
    assert "slurm.conf" in jail


def test_without_cgroups_none_are_mounted() -> None:
    rendered = nodes.render(ASKED, LAYOUT, GIVEN, cgroups=False)

    assert not [step for node in rendered for step in (*node.setup, *node.jail) if step.op == "cgroups"]


def test_a_node_is_told_from_one_that_is_put_together_otherwise() -> None:
    def fingerprints(asked_gpus: int, image: str = "image") -> dict[str, str]:
        asked = cluster(pool("gpu", 1, gpus=asked_gpus), pool("cpu", 1))
        wanted = desired.render(asked, LAYOUT, Runtime("v1"), image, addresses.assign({}, nodes.names(asked)))
        return {node.name: wanted.fingerprint(node) for node in wanted.nodes}

    assert fingerprints(8) == fingerprints(8)
    assert {name for name, digest in fingerprints(8).items() if digest != fingerprints(4)[name]} == {"gpu-0"}
    assert fingerprints(8).keys() == {n for n, d in fingerprints(8).items() if d != fingerprints(8, "new")[n]}
