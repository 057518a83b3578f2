"""Decisions with a bug planted in each: every one breaks a property, so the property can fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.transitions.operator import control_plane
from tests.transitions.operator.process import CONFIG, Decide
from tests.transitions.operator.schedule import CONTROLLERS

from npa.reconcile import nodeset, nodeset_ordinals, powerstate
from npa.reconcile.decision import Decision, Deletion, Drain, PowerDown, Reconfigure, Resume
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.kube import worker
from npa.render.objects import CONFIG_MAP, POD, dig, name_of
from npa.slurm import hostlist
from npa.slurm.lookup import Found
from npa.slurm.replies import Rows
from npa.slurm.states import JobState, NodeState


def removes_what_it_drains(world: World, name: str, settings: Settings) -> Decision:
    decision = nodeset.decide(world, name, settings)
    drained = [each.node for each in decision.slurm if isinstance(each, Drain)]
    pods = [(node, world.find("Pod", node)) for node in drained]
    gone = tuple(
        Deletion(POD, "", node, str(dig(pod, "metadata", "uid"))) for node, pod in pods if pod is not None
    )
    return replace(decision, delete=(*decision.delete, *gone))


def asks_only_once(world: World, name: str, settings: Settings) -> Decision:
    """Neither looks at how old an answer is, nor again before it deletes."""
    decision = nodeset.decide(world, name, replace(settings, slurm_fresh=1e9))
    return replace(decision, delete=tuple(replace(each, worker="") for each in decision.delete))


def takes_no_answer_for_idle(world: World, name: str, settings: Settings) -> Decision:
    if isinstance(world.slurm.jobs, Found) and isinstance(world.slurm.nodes, Found):
        nodes = tuple(
            replace(each, state=NodeState("IDLE", each.state.flags | {"DRAIN"}), reason="npa: x")
            for each in world.slurm.nodes.value
        )
        view = replace(world.slurm, nodes=Found(Rows(nodes)), jobs=Found(Rows(())))
        world = replace(world, slurm=view)
    decision = nodeset.decide(world, name, settings)
    return replace(decision, delete=tuple(replace(each, worker="") for each in decision.delete))


def resumes_any_drain(world: World, name: str, settings: Settings) -> Decision:
    decision = nodeset.decide(world, name, settings)
    nodes = world.slurm.nodes.value if isinstance(world.slurm.nodes, Found) else ()
    drained = tuple(Resume(each.name, each.reason) for each in nodes if "DRAIN" in each.state.flags)
    return replace(decision, slurm=(*decision.slurm, *drained))


def never_waits_to_retry(world: World, name: str, settings: Settings) -> Decision:
    return nodeset.decide(world, name, replace(settings, retry_first=0.0, retry_most=0.0))


def replaces_what_still_goes(world: World, name: str, settings: Settings) -> Decision:
    """Starts a pod of another name while the old one is being deleted."""
    decision = nodeset.decide(world, name, settings)
    twins = [
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": f"{name_of(pod)}-x", "labels": labels},
            "spec": {},
        }
        for pod in world.pods(name)
        if dig(pod, "metadata", "deletionTimestamp") and (labels := dig(pod, "metadata", "labels"))
    ]
    return replace(decision, create=(*decision.create, *twins))


def tells_the_time(world: World, name: str, settings: Settings) -> Decision:
    """Writes a status that is another one each time."""
    decision = nodeset.decide(world, name, settings)
    found = next((each for each in world.nodesets if name_of(each) == name), None)
    status = decision.status or dict(dig(found, "status") or {})
    return replace(decision, status={**status, "phase": f"looked at {world.now}"})


def never_resumes(world: World, name: str, settings: Settings) -> Decision:
    decision = nodeset.decide(world, name, settings)
    return replace(decision, slurm=tuple(each for each in decision.slurm if not isinstance(each, Resume)))


def never_drains(world: World, name: str, settings: Settings) -> Decision:
    decision = nodeset.decide(world, name, settings)
    return replace(decision, slurm=tuple(each for each in decision.slurm if isinstance(each, Resume)))


def keeps_claims(world: World, name: str, settings: Settings) -> Decision:
    decision = nodeset.decide(world, name, settings)
    return replace(decision, delete=tuple(each for each in decision.delete if each.kind == POD))


def names_only_what_is_asked(world: World, _: str, __: Settings) -> Decision:
    """Lets names leave the files before their pods and jobs."""
    lines = [
        f"NodeName={hostlist.compress([worker.name_of(name_of(each), at) for at in ordinals])}"
        for each in world.nodesets
        if (ordinals := nodeset_ordinals.of_spec(each))
    ]
    text = "\n".join(lines)
    held = world.find("ConfigMap", CONFIG)
    config = CONFIG_MAP.object(CONFIG, data={"slurm.conf": text, "digest": worker.digest(text)})
    if dig(held, "data") != config["data"]:
        return Decision(apply=(config,))
    running = world.slurm.digest
    digest = str(dig(held, "data", "digest"))
    behind = isinstance(running, Found) and running.value != digest
    return Decision(slurm=(Reconfigure(digest),) if behind else ())


def checks_nothing(world: World, name: str, settings: Settings) -> Decision:
    decision = control_plane.decide(world, name, settings)
    unchecked = tuple({**each, "data": {**each["data"], "unchecked": "yes"}} for each in decision.apply)
    return replace(decision, apply=unchecked)


def returns_only_who_failed(world: World, name: str, settings: Settings) -> Decision:
    """Leaves those that started for the same job where they are."""
    decision = powerstate.decide(world, name, settings)
    kept = (
        each for each in decision.slurm if not (isinstance(each, PowerDown) and "same job" in each.reason)
    )
    return replace(decision, slurm=tuple(kept))


def starts_who_waits_for_others(world: World, name: str, settings: Settings) -> Decision:
    """Starts those of a job whose other workers may not start yet."""
    if isinstance(world.slurm.jobs, Found):
        begun = tuple(replace(each, state=JobState("RUNNING")) for each in world.slurm.jobs.value)
        world = replace(world, slurm=replace(world.slurm, jobs=Found(Rows(begun))))
    return nodeset.decide(world, name, settings)


def _with(controller: str, decide: Decide) -> Mapping[str, Decide]:
    return {**CONTROLLERS, controller: decide}


# a planted bug, and how the property that it breaks says so
MUTANTS: list[tuple[Callable[[World, str, Settings], Decision], str, str]] = [
    (removes_what_it_drains, "nodeset", "a busy worker was removed"),
    (takes_no_answer_for_idle, "nodeset", "a busy worker was removed"),
    (resumes_any_drain, "nodeset", "another's drain was touched"),
    (never_waits_to_retry, "nodeset", "was started"),
    (replaces_what_still_goes, "nodeset", "two pods of"),
    (tells_the_time, "nodeset", "it never settles"),
    (never_resumes, "nodeset", "takes no jobs"),
    (never_drains, "nodeset", "there are"),
    (keeps_claims, "nodeset", "the claim"),
    (names_only_what_is_asked, "slurmcluster", "a node left the files with its jobs"),
    (checks_nothing, "slurmcluster", "files that no checker has read"),
]
