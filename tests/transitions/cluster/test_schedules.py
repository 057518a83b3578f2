"""A SlurmCluster through thousands of accidents, from which it comes to rest.

Edits, crashes between two writes, caches that cannot be read, reads that are behind, a slurmctld that does
not answer: on the way no key and no data are lost, and nothing reaches slurmctld that the checker refuses.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.golden.kube.worlds import SETTINGS, done, load

from npa.reconcile import slurmcluster
from npa.reconcile.decision import Decision, Reconfigure
from npa.reconcile.world import SlurmView, World
from npa.render.kube import names
from npa.render.objects import dig, name_of
from npa.slurm import lint
from npa.slurm.lookup import Found, Unknown

SEEDS = range(60)
STEPS = 25
KINDS = ("ConfigMap", "Secret", "Job", "StatefulSet", "Deployment", "Service", "Pod", "PersistentVolumeClaim")
Spec = dict[str, Any]


def _toggle(part: str) -> Callable[[Spec, random.Random], None]:
    def edit(spec: Spec, chance: random.Random) -> None:
        spec["slurmNodes"][part]["enabled"] = chance.random() < 0.5

    return edit


def _custom(spec: Spec, chance: random.Random) -> None:
    lines = ("KillOnBadExit=1", "PriorityType=priority/multifactor", "NoSuchKey=1", "NodeName=evil", "")
    spec["customSlurmConfig"] = chance.choice(lines)


def _logins(spec: Spec, chance: random.Random) -> None:
    spec["slurmNodes"]["login"]["size"] = chance.randrange(4)


def _maintenance(spec: Spec, chance: random.Random) -> None:
    modes = ("none", "none", "downscale", "skipPopulateJail", "downscaleAndOverwritePopulateJail")
    spec["maintenance"] = chance.choice(modes)


def _image(spec: Spec, chance: random.Random) -> None:
    image = f"registry.example/slurm:{chance.randrange(3)}"
    spec["slurmNodes"]["controller"]["slurmctld"]["image"] = image
    spec["slurmNodes"]["login"]["sshd"]["image"] = image


def _broken(spec: Spec, chance: random.Random) -> None:
    source = chance.choice(("jail", "no-such-volume"))
    spec["slurmNodes"]["login"]["volumes"]["jail"]["volumeSourceName"] = source


EDITS = (_toggle("rest"), _toggle("accounting"), _custom, _logins, _maintenance, _image, _broken)


@dataclass
class Cluster:
    """What really is, what was seen of it last, and what slurmctld was told."""

    chance: random.Random
    world: World
    seen: World
    told: list[str] = field(default_factory=list)

    def edit(self) -> None:
        cluster = copy.deepcopy(dict(self.world.cluster or {}))
        self.chance.choice(EDITS)(cluster["spec"], self.chance)
        cluster["metadata"]["generation"] += 1
        self.world = replace(self.world, cluster=cluster)

    def look(self) -> World:
        """Return what the operator sees: now and then what was before, or less than there is."""
        self.seen = self.seen if self.chance.random() < 0.2 else self.world
        seen = self.seen
        if self.chance.random() < 0.2:
            seen = replace(seen, unread=tuple(self.chance.sample(KINDS, self.chance.randrange(1, 4))))
        if self.chance.random() < 0.2:
            seen = replace(seen, slurm=SlurmView(digest=Unknown("no answer")))
        return seen

    def act(self, decision: Decision, *, whole: bool) -> None:
        """Do it in the operator's order; a crash leaves what comes later undone."""
        self.told += [each.digest for each in decision.slurm if isinstance(each, Reconfigure)]
        if not whole:
            decision = _begun(decision, self.chance)
        self.world = done(self.world, decision)


def _begun(decision: Decision, chance: random.Random) -> Decision:
    """Return what of a decision was done before a crash: whatever comes first, and not the status."""
    left = chance.randrange(12)
    begun = replace(decision, status=None, notices=())
    for key in ("secrets", "slurm", "create", "apply", "delete"):
        parts = getattr(decision, key)[:left]
        left -= len(parts)
        begun = replace(begun, **{key: parts})
    return begun


def _check(seen: World, decision: Decision) -> None:
    lost = {each.name for each in decision.delete if each.kind.kind in ("Secret", "PersistentVolumeClaim")}
    assert lost <= {names.dbd_config(name_of(seen.cluster or {}))}
    written = [each["kind"] for each in (*decision.create, *decision.apply)]
    written += [each.kind.kind for each in decision.delete] + ["Secret"] * bool(decision.secrets)
    assert not set(written) & set(seen.unread)
    for each in decision.apply:
        if name_of(each) == names.config(name_of(seen.cluster or {})):
            found = lint.check(each["data"], version=SETTINGS.slurm_version, limited=True)
            assert lint.errors(found) == ()
    delivered = seen.find("ConfigMap", names.config(name_of(seen.cluster or {})))
    for action in decision.slurm:
        if isinstance(action, Reconfigure):
            assert action.digest == dig(delivered, "metadata", "annotations", names.CONFIG)


def run(seed: int, decide: Callable[[World], Decision]) -> None:
    """Let accidents happen, then leave the cluster in peace and expect it to come to rest."""
    chance = random.Random(seed)
    world = load(chance.choice(("minimal", "full")))
    cluster = Cluster(chance, world, world)
    for _ in range(STEPS):
        if chance.random() < 0.3:
            cluster.edit()
        seen = cluster.look()
        decision = decide(seen)
        _check(seen, decision)
        cluster.act(decision, whole=chance.random() < 0.6)

    cluster.told.clear()
    for _ in range(12):
        decision = decide(cluster.world)
        _check(cluster.world, decision)
        if decision.settled:
            break
        cluster.act(decision, whole=True)
    assert decision.settled, f"not at rest after 12 passes: {decision}"
    assert len(cluster.told) == len(set(cluster.told))
    if isinstance(cluster.world.slurm.digest, Found):
        held = cluster.world.find("ConfigMap", names.config(name_of(cluster.world.cluster or {})))
        assert cluster.world.slurm.digest.value == dig(held, "metadata", "annotations", names.CONFIG)


def sound(world: World) -> Decision:
    return slurmcluster.decide(world, SETTINGS)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_comes_to_rest_whatever_happens(seed: int) -> None:
    run(seed, sound)


def _forgets_unread(world: World) -> Decision:
    return sound(replace(world, unread=()))


def _always_writes(world: World) -> Decision:
    decision = sound(world)
    return replace(decision, status={"phase": "Available", "seen": world.now} if decision.settled else None)


def _tells_before_delivery(world: World) -> Decision:
    decision = sound(world)
    maps = [each for each in decision.apply if name_of(each).endswith("-slurm-configs")]
    return replace(decision, slurm=tuple(Reconfigure(each["data"]["digest"]) for each in maps))


def _delivers_anything(world: World) -> Decision:
    text = str(dig(world.cluster or {}, "spec", "customSlurmConfig") or "")
    decision = sound(replace(world, cluster=_with_custom(world, "")))
    spoilt = [
        {**each, "data": {**each["data"], "slurm.conf": each["data"]["slurm.conf"] + text}}
        if name_of(each).endswith("-slurm-configs")
        else each
        for each in decision.apply
    ]
    return replace(decision, apply=tuple(spoilt))


def _with_custom(world: World, text: str) -> dict[str, Any]:
    cluster = copy.deepcopy(dict(world.cluster or {}))
    cluster["spec"]["customSlurmConfig"] = text
    return cluster


@pytest.mark.parametrize(
    "bug",
    [_forgets_unread, _always_writes, _tells_before_delivery, _delivers_anything],
    ids=lambda bug: bug.__name__,
)
def test_a_planted_bug_is_found(bug: Callable[[World], Decision]) -> None:
    found = 0
    for seed in range(12):
        try:
            run(seed, bug)
        except AssertionError:
            found += 1

    assert found
