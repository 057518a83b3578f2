from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from npa.errors import ToolError
from npa.render.local.layout import Layout
from npa.render.local.model import Bind, Mount, Node, Process
from npa.tools import container
from npa.tools.container import Containers, Restart, Started

NODE = Node(
    name="gpu-0",
    address="10.77.0.6",
    shape="",
    setup=(Mount("proc", "/proc"),),
    jail=(Bind("/a", "/b"),),
    processes=(Process("slurmd", ("slurmd",)),),
)
ENVIRONMENT = "LANG=C.UTF-8 HOME=/root USER=root"


class Launcher:
    """Answers as the launcher would, and keeps what it was asked."""

    def __init__(self, **answer: object) -> None:
        self.answer = {"lab": 100, "nodes": {}, "errors": {}, **answer}
        self.argv: Sequence[str] = ()
        self.request: dict[str, Any] = {}
        self.timeout = 0.0

    def __call__(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> str:
        del env, cwd
        self.argv, self.request, self.timeout = argv, json.loads(stdin), timeout
        return json.dumps(self.answer)


@pytest.mark.parametrize(
    ("jail", "network", "term", "argv"),
    [
        pytest.param(
            False, True, "",
            "nsenter -t 7 -m -u -i -p -C -n -r -w -- env -i -C / PATH=P E id -u",
            id="daemons",
        ),
        pytest.param(
            True, True, "",
            "nsenter -t 7 -m -u -i -p -C -n -r -w -- chroot /mnt/jail "
            "env -i -C /root PATH=P E id -u",
            id="jail",
        ),
        pytest.param(
            True, False, "xterm",
            "nsenter -t 7 -m -u -i -p -C -r -w -- chroot /mnt/jail "
            "env -i -C /root PATH=P E TERM=xterm id -u",
            id="with-the-machines-network",
        ),
    ],
)  # fmt: skip
def test_inside_names_every_namespace_and_a_clean_environment(
    jail: bool, network: bool, term: str, argv: str
) -> None:
    made = container.inside(7, ["id", "-u"], jail=jail, network=network, term=term)

    assert " ".join(made).replace(container.PATH, "P").replace(ENVIRONMENT, "E") == argv


def test_words_of_a_command_stay_words() -> None:
    assert container.inside(7, ["sh", "-c", "a; b  'c'"], jail=False)[-3:] == ["sh", "-c", "a; b  'c'"]


def test_a_lab_is_asked_for_by_its_title(tmp_path: Path) -> None:
    launcher = Launcher()
    started = Containers(Path("/image"), Layout(str(tmp_path)), launcher).launch(
        "npa-lab:x", {"memory": "/g"}
    )

    assert started == Started(100, {}, {})
    assert launcher.argv[1:] == ["-m", "npa.tools.launch"]
    assert launcher.request["lab"] == {
        "title": "npa-lab:x",
        "overlay": {
            "lower": "/image",
            "upper": f"{tmp_path}/jail/upper",
            "work": f"{tmp_path}/jail/work",
            "target": f"{tmp_path}/jail/root",
        },
    }


def test_nodes_and_daemons_go_into_a_running_lab() -> None:
    launcher = Launcher(nodes={"gpu-0": 200}, errors={"gpu-1": "no room"})
    again = Restart("gpu-1", 300, Process("slurmd", ("slurmd", "-D"), env=(("A", "b"),)))
    started = Containers(Path("/image"), Layout("/s"), launcher).launch(
        100, {}, [("npa-node:gpu-0:f", NODE)], [again], timeout=77
    )

    assert started == Started(100, {"gpu-0": 200}, {"gpu-1": "no room"})
    assert launcher.timeout == 77
    assert launcher.request["lab"] == {"pid": 100}
    (node,) = launcher.request["nodes"]
    assert (node["title"], node["log"], node["address"]) == ("npa-node:gpu-0:f", "/s/log/gpu-0", "10.77.0.6")
    assert [step["op"] for step in (*node["setup"], *node["jail"])] == ["mount", "bind"]
    (daemon,) = launcher.request["daemons"]
    assert (daemon["node"], daemon["pid"], daemon["process"]["env"]) == ("gpu-1", 300, [["A", "b"]])


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
def test_a_lab_whose_jail_cannot_be_mounted_says_why(tmp_path: Path) -> None:
    started = Containers(tmp_path / "nosuch", Layout(str(tmp_path))).launch("npa-lab:broken", {})

    assert started.lab == 0
    assert started.errors[""].startswith("the lab: ")
    assert "No such file or directory" in started.errors[""]


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
def test_a_lab_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    """The mounts are made, then the image has none of the programs that are needed."""
    for folder in ("image", "state/jail/upper", "state/jail/work", "state/jail/root", "state/lab"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "image/proc").mkdir()
    started = Containers(tmp_path / "image", Layout(str(tmp_path / "state"))).launch("npa-lab:broken", {})

    assert started.lab == 0
    assert started.errors[""] == "the lab: [Errno 0] `ip -batch` exited 127"
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    left = subprocess.run(["pgrep", "-f", "^npa-lab:broken"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
def test_a_lab_that_has_ended_cannot_be_joined(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(ToolError, match="No such file or directory"):
        Containers(tmp_path, Layout(str(tmp_path))).launch(child.pid, {})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may make namespaces")
def test_without_root_the_lab_says_so(tmp_path: Path) -> None:
    started = Containers(tmp_path, Layout(str(tmp_path))).launch("npa-lab:broken", {})

    assert "not permitted" in started.errors[""]


def test_ending_what_has_ended_is_done() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    container.end(child.pid)
    container.signal_process(child.pid, signal.SIGTERM)


def test_end_ends_at_once() -> None:
    child = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 60"])
    container.end(child.pid)

    assert child.wait(5) == -signal.SIGKILL
