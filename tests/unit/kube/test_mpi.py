"""mpi.conf of a cluster: what PMIx's processes find in their environment."""

from __future__ import annotations

import pytest
from tests.golden.kube.worlds import load, settled
from tests.unit.kube.test_slurmcluster import changed, condition, config_of, decide


def test_the_environment_is_delivered() -> None:
    world = settled(load("minimal"))
    other = changed(world, lambda spec: spec.update(mpiConfig={"pmixEnv": "A=1;B=two"}))

    assert config_of(decide(other))["mpi.conf"].splitlines()[1:] == ["PMIxEnv=A=1;B=two"]


@pytest.mark.parametrize("text", ["A=1\nPMIxDebug=1", "A=1 # no", 'A="1"', "A=1\\"])
def test_it_is_one_value_and_nothing_else(text: str) -> None:
    world = settled(load("minimal"))
    other = changed(world, lambda spec: spec.update(mpiConfig={"pmixEnv": text}))
    decision = decide(other)

    assert decision.apply == ()
    assert "spec.mpiConfig.pmixEnv" in condition(other, decision, "ConfigurationValid")[2]


def test_two_words_stay_one_value() -> None:
    world = settled(load("minimal"))
    other = changed(world, lambda spec: spec.update(mpiConfig={"pmixEnv": "A=1 PMIxDebug=1"}))

    assert config_of(decide(other))["mpi.conf"].splitlines()[1:] == ['PMIxEnv="A=1 PMIxDebug=1"']
