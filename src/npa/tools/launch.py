"""Starts nodes: `python -m npa.tools.launch < request.json`, a JSON document on stdout.

A program of its own, because it forks and moves between namespaces: its caller may have threads and much
memory, this has neither. It needs nothing but the standard library and two modules of system calls.

Request
    rootfs      the daemons' root on this machine
    lab_root    an empty directory: the daemons' root with the lab's own /proc, in the lab's namespace
    mount_point an empty directory that every node uses for its root, each in its own namespace
    lab         {"pid"} of a running lab; or, to start one, {"title", "overlay": {"lower", "upper", "work",
                "target"}}; the title is what ps(1) shows, and by which the lab is found again
    cgroups     controller -> the lab's group
    nodes       render.local.model.Node as a mapping, plus "title", and "log", the folder of its logs
    daemons     {"pid" of the node's first process, "node", "log", "process"}: to start again
    links       {"pid" of the node's first process, "node", "address"}: to connect again

Answer: {"lab": PID, "nodes": {name: PID}, "errors": {name: text}}; PIDs are this machine's.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, NoReturn

from npa.tools import cgroup, fork, iproute, linux, setup

GATEWAY = "169.254.1.1"
GATEWAY_MAC = "02:00:00:00:00:01"
INIT = "/usr/bin/catatonit"  # reaps, and ends on SIGKILL alone
LAB_NAMESPACES = (
    linux.CLONE_NEWNS | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC | linux.CLONE_NEWPID | linux.CLONE_NEWNET
)
NODE_NAMESPACES = LAB_NAMESPACES | linux.CLONE_NEWCGROUP


def main() -> int:
    """Carry out the request on stdin."""
    request: dict[str, Any] = json.load(sys.stdin)
    answer: dict[str, Any] = {"nodes": {}, "errors": {}}
    lab = request["lab"]
    try:
        answer["lab"] = lab["pid"] if "pid" in lab else start_lab(request)
    except (fork.LaunchError, OSError) as error:
        answer["errors"][""] = str(error)
    else:
        join(answer["lab"], ("mnt", "uts", "ipc", "net", "pid"))
        start_nodes(request, answer)
        for each in request["links"]:
            reconnect(request, each, answer)
        for daemon in request["daemons"]:
            start_daemon(request, daemon)
    json.dump(answer, sys.stdout)
    return 0


def start_lab(request: dict[str, Any]) -> int:
    """Start the namespaces that hold a cluster; returns the PID of its first process."""
    child, pipe = fork.grandchild(LAB_NAMESPACES, [])
    if child:
        pid = child.pids().outer
        child.hear()
        fork.settle(pid, request["lab"]["title"])
        return pid
    try:
        fork.say(pipe, outer=fork.outer_pid())
        linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
        overlay = request["lab"]["overlay"]
        linux.mount(
            "npa-jail",
            overlay["target"],
            "overlay",
            options="lowerdir={lower},upperdir={upper},workdir={work}".format(**overlay),
        )
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="utf-8") as file:
            file.write("1")
        linux.bind(request["rootfs"], request["lab_root"], read_only=True)
        linux.mount("proc", request["lab_root"] + "/proc", "proc")
        iproute.batch(request["lab_root"], ["link set lo up", f"addr add {GATEWAY}/32 dev lo"])
        quiet()
        fork.say(pipe, ready=True)
        os.execve(request["rootfs"] + INIT, [request["lab"]["title"], "-P"], {})
    except Exception as error:
        fork.say(pipe, error=f"the lab: {error}")
    os._exit(1)


def join(pid: int, kinds: tuple[str, ...]) -> None:
    """Enter namespaces of a process; children are in its PID namespace, we are not (setns(2))."""
    opened = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds]
    for fd in opened:
        linux.setns(fd)
        os.close(fd)


def start_nodes(request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Start all nodes side by side: namespaces, then one batch of links, then the word to go on."""
    waiting: list[tuple[dict[str, Any], fork.Child, int]] = []
    links: list[str] = []
    for node in request["nodes"]:
        go_read, go_write = os.pipe()
        groups = cgroup.create_node(request["cgroups"], node["name"])
        child, pipe = fork.grandchild(NODE_NAMESPACES, groups)
        if child is None:
            os.close(go_write)
            first_process(request, node, pipe, go_read)
        os.close(go_read)
        try:
            pids = child.pids()
            links += link(node["address"], pids.in_lab)
            answer["nodes"][node["name"]] = pids.outer
            waiting.append((node, child, go_write))
        except fork.LaunchError as error:
            answer["errors"][node["name"]] = str(error)
    if links:
        iproute.batch(request["lab_root"], links)
    for _, _, go in waiting:
        os.write(go, b"!")
        os.close(go)
    for node, child, _ in waiting:
        try:
            child.hear()
            fork.settle(answer["nodes"][node["name"]], node["title"])
        except fork.LaunchError as error:
            answer["errors"][node["name"]] = str(error)


def link(address: str, pid: int) -> list[str]:
    """`ip` lines, in the lab, that route to a node.

    Routed, not bridged: a /32 route and a permanent neighbour each, so that no number of nodes overflows the
    kernel's one neighbour table (gc_thresh3).
    """
    name = link_name(address)
    return [
        f"link add {name} address {GATEWAY_MAC} type veth peer name eth0 address {mac(address)} netns {pid}",
        f"link set {name} up",
        f"neigh replace {address} lladdr {mac(address)} dev {name} nud permanent",
        f"route replace {address}/32 dev {name}",
    ]


def link_name(address: str) -> str:
    """What the lab calls its end of the link to a node."""
    return "v" + "".join(f"{int(part):02x}" for part in address.split(".")[1:])


def reconnect(request: dict[str, Any], each: dict[str, Any], answer: dict[str, Any]) -> None:
    """Give a running node a new link in place of whatever is left of its own."""
    pid, node, address = each["pid"], each["node"], each["address"]
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        numbers = next(line.split()[1:] for line in file if line.startswith("NSpid:"))
    with contextlib.suppress(OSError):  # there may be none any more
        iproute.batch(request["lab_root"], [f"link del {link_name(address)}"])
    iproute.batch(request["lab_root"], link(address, int(numbers[1])))
    child = os.fork()
    if child == 0:
        try:
            join(pid, ("uts", "net", "mnt"))
            setup.network(node, address, GATEWAY, GATEWAY_MAC)
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        answer["errors"][node] = "its link could not be set up"


def mac(address: str) -> str:
    """A locally administered MAC address made of an IPv4 address."""
    return "02:01:" + ":".join(f"{int(part):02x}" for part in address.split("."))


def first_process(request: dict[str, Any], node: dict[str, Any], pipe: int, go: int) -> NoReturn:
    """Become the first process of a node; never returns."""
    try:
        fork.say(pipe, outer=fork.outer_pid())
        root = request["mount_point"]
        setup.assemble(root, request["rootfs"], node["setup"])
        logs = {process["name"]: open_log(node["log"], process["name"]) for process in node["processes"]}
        os.read(go, 1)
        setup.finish_cgroups(root)
        linux.pivot_root(root)
        setup.assemble_jail(node["jail"])
        setup.network(node["name"], node["address"], GATEWAY, GATEWAY_MAC)
        quiet()
        for process in node["processes"]:
            spawn(process, node["name"], logs[process["name"]])
        fork.say(pipe, ready=True)
        os.execve(INIT, [node["title"], "-P"], {})
    except Exception as error:
        fork.say(pipe, error=f"{type(error).__name__}: {error}")
    os._exit(1)


def quiet() -> None:
    """Let go of the caller's terminal and pipes."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)


def open_log(folder: str, name: str) -> int:
    """Open what takes a daemon's output; its log proper is a file that the daemon names itself."""
    return os.open(f"{folder}/{name}.out", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)


def spawn(process: dict[str, Any], node: str, log: int) -> None:
    """Fork a daemon from a process that is in the node already."""
    if os.fork():
        return
    try:
        os.setsid()
        os.dup2(log, 1)
        os.dup2(log, 2)
        if process["uid"]:
            os.setgroups([process["gid"]])
            os.setgid(process["gid"])
            os.setuid(process["uid"])
        env = {"PATH": iproute.PATH, "LANG": "C.UTF-8", "HOME": "/", "NODE": node, **dict(process["env"])}
        os.execvpe(process["argv"][0], process["argv"], env)
    except OSError as error:
        os.write(2, f"{process['argv'][0]}: {error}\n".encode())
    os._exit(127)


def start_daemon(request: dict[str, Any], daemon: dict[str, Any]) -> None:
    """Start one daemon again in a running node, whose first process adopts it."""
    log = open_log(daemon["log"], daemon["process"]["name"])
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os.close(log)
        return
    cgroup.enter(cgroup.joinable(request["cgroups"], daemon["node"]))
    join(daemon["pid"], ("cgroup", "uts", "ipc", "net", "pid", "mnt"))
    if os.fork() == 0:
        quiet()
        spawn(daemon["process"], daemon["node"], log)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
