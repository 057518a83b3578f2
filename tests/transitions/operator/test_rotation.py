"""New keys: no two daemons have different ones, no job ends unasked, and what does not work goes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.transitions.operator.process import CLUSTER, Decide
from tests.transitions.operator.test_schedules import BATCH, FIRST, MANY
from tests.transitions.operator.whole import REAL, Whole

from npa.reconcile import rotation, slurmcluster
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import dig

AUTH, JWT = rotation.of(CLUSTER)
BAD = "bad"  # words of keys with which slurmctld does not come up begin so
_RARE = {"maintain", "delete_set", "add_set", "switch", "change_template", "stop_slurm"}


class Keys(Whole):
    """A cluster that is given new keys in the middle of everything else."""

    def __init__(self, seed: int, controllers: Mapping[str, Decide] = REAL) -> None:
        super().__init__(seed, controllers)
        self.words: dict[str, str] = {}  # uid of a pod that runs -> the word of the key that it has read
        self.ends_jobs = self.rng.random() < 0.3  # now and then somebody lets jobs end for a new key

    def word(self, key: rotation.Key = AUTH) -> str:
        return str(dig(self.api.get("Secret", key.secret), "metadata", "annotations", rotation.WORD) or "")

    def events(self) -> list[tuple[Callable[[Any], None], int]]:
        usual = [(event, 1 if event.__name__ in _RARE else weight) for event, weight in super().events()]
        return [*usual, (Keys.rotate, 5)]

    def rotate(self, word: str = "") -> None:
        key = self.rng.choice([AUTH, AUTH, JWT])
        word = (
            word or f"{self.rng.choice(['good', BAD]) if key is AUTH else 'good'}-{self.rng.randrange(1000)}"
        )
        self.say({key.asked: word, **({rotation.ENDS_JOBS: word} if self.ends_jobs else {})})

    def say(self, said: Mapping[str, str]) -> None:
        def change(found: dict[str, Any]) -> None:
            found["metadata"]["annotations"] = {**(found["metadata"].get("annotations") or {}), **said}

        self.api.edit("SlurmCluster", CLUSTER, change)

    def come_up(self, pods: int) -> int:
        return 0 if self.word().startswith(BAD) else pods

    def _watch(self) -> None:
        super()._watch()
        running = set(self.machines.running)
        running |= {
            str(dig(pod, "metadata", "uid"))
            for pod in self.api.of("Pod")
            if dig(pod, "status", "phase") == "Running" and rotation.reads(pod)
        }
        self.words = {uid: self.words.get(uid, self.word()) for uid in running}
        if len(found := set(self.words.values())) > 1:
            self.broken.say(f"daemons have different keys: {sorted(found)}")

    def judge(self) -> None:
        for _ in range(70):  # for as long as two keys that do not work are waited for
            self.wait(rotation.COMES_UP / 30)
            self.round()
        super().judge()
        for key in (AUTH, JWT):
            asked = dig(self.api.get("SlurmCluster", CLUSTER), "metadata", "annotations", key.asked) or ""
            said = dig(self.api.get("Secret", key.secret), "metadata", "annotations") or {}
            word = self.word(key)
            if self.down:
                continue  # nothing comes up, so that nobody can tell
            if not asked.startswith(BAD) and word != asked:
                self.broken.say(f"the {key.name} key is {word!r}, not {asked!r}")
            if asked.startswith(BAD) and (said.get(rotation.FAILED) != asked or word.startswith(BAD)):
                self.broken.say(f"the {key.name} key that does not work is still there")
            if rotation.BEFORE in said:
                self.broken.say(f"the old {key.name} key is kept for good")


def broken(seed: int, controllers: Mapping[str, Decide] = REAL, *, checks: bool = True) -> list[str]:
    simulation = Keys(seed, controllers)
    simulation.operator.checks = checks
    simulation.run(100)
    ended = "a busy worker was removed" if simulation.ends_jobs else "-"
    return [f"schedule {seed}: {each}" for each in simulation.broken.found if not each.startswith(ended)]


def test_no_two_daemons_ever_have_different_keys() -> None:
    """C61: on some schedules."""
    assert [each for seed in range(2) for each in broken(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY // 20, BATCH // 20))
def test_no_two_daemons_ever_have_different_keys_on_many_schedules(first: int) -> None:
    assert [each for seed in range(first, first + BATCH // 20) for each in broken(seed)] == []


def writes_while_they_run(world: World, _: str, settings: Settings) -> Decision:
    decision = slurmcluster.decide(world, settings)
    others = {each: found for each, found in world.objects.items() if each[0] != "Pod"}
    return replace(decision, keys=slurmcluster.decide(replace(world, objects=others), settings).keys)


def never_goes_back(world: World, _: str, settings: Settings) -> Decision:
    decision = slurmcluster.decide(world, settings)
    return replace(decision, keys=tuple(each for each in decision.keys if each.how != "mark"))


def keeps_the_old_key(world: World, _: str, settings: Settings) -> Decision:
    decision = slurmcluster.decide(world, settings)
    return replace(decision, keys=tuple(each for each in decision.keys if each.how != "settle"))


@pytest.mark.parametrize(
    ("decide", "says"),
    [
        pytest.param(writes_while_they_run, "daemons have different keys", id="writes while they run"),
        pytest.param(
            *(never_goes_back, "the auth key that does not work is still there"),
            id="never goes back",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(keeps_the_old_key, "key is kept for good"), id="keeps the old key", marks=pytest.mark.slow
        ),
    ],
)
def test_a_bug_in_a_rotation_is_seen(decide: Decide, says: str) -> None:
    controllers = {**REAL, "slurmcluster": decide}
    found = (each for seed in range(40) for each in broken(seed, controllers, checks=False))

    assert any(says in each for each in found)
