"""The rules of the smaller kinds: files in the jail, pods on nodes, workers that are to run."""

from __future__ import annotations

from collections.abc import Iterator

from npa.crds.jailedconfig import JailedConfig
from npa.crds.nodeconfigurator import NodeConfigurator, NodeContainer
from npa.crds.powerstate import NodeSetPowerState
from npa.crds.rules.found import problem
from npa.errors import Problem

LAST_MODE = 0o7777


def files_have_places(config: JailedConfig) -> Iterator[Problem]:
    """Each file is named, and lies at a place of its own within the jail."""
    items, seen = config.spec.items, set()
    if not items:
        yield problem("spec.items", "names no file", "give each key of the ConfigMap a path")
    for index, item in enumerate(items):
        at = f"spec.items[{index}]"
        parts = item.path.split("/")
        if parts[0] or len(parts) < 2 or not all(parts[1:]) or {".", ".."} & set(parts):
            text = f"{item.path[:60]!r} is no file in the jail"
            yield problem(f"{at}.path", text, "write its whole path, without `.` and `..`")
        elif not item.path.isprintable():
            yield problem(f"{at}.path", "holds a control character", "remove it")
        if item.path in seen:
            yield problem(f"{at}.path", f"{item.path[:60]!r} is written twice", "keep one of them")
        seen.add(item.path)
        if item.mode is not None and not 0 <= item.mode <= LAST_MODE:
            yield problem(f"{at}.mode", f"{item.mode} is no mode", "write 0 to 0o7777, as in 0o644")
    mode = config.spec.default_mode
    if mode is not None and not 0 <= mode <= LAST_MODE:
        yield problem("spec.defaultMode", f"{mode} is no mode", "write 0 to 0o7777, as in 0o644")


def what_runs_has_an_image(configurator: NodeConfigurator) -> Iterator[Problem]:
    """A container that runs on nodes says which image it is of."""
    rebooter, custom = configurator.spec.rebooter, configurator.spec.custom_container
    running: dict[str, NodeContainer] = {"rebooter": rebooter} if rebooter.enabled else {}
    if custom is not None and custom.enabled and not rebooter.enabled:
        running = {"customContainer": custom}
    for key, container in running.items():
        if container.image is None:
            yield problem(f"spec.{key}.image", "is required where it is enabled", "give it an image")


def ordinals_are_counts(state: NodeSetPowerState) -> Iterator[Problem]:
    """A worker is named by its number, once."""
    seen: set[int] = set()
    for index, ordinal in enumerate(state.spec.active_nodes):
        if ordinal < 0:
            yield problem(f"spec.activeNodes[{index}]", f"{ordinal} is no worker", "write 0 or more")
        if ordinal in seen:
            yield problem(f"spec.activeNodes[{index}]", f"{ordinal} is there twice", "keep one of them")
        seen.add(ordinal)
