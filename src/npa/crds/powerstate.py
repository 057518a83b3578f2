"""NodeSetPowerState: which ephemeral workers Slurm wants to run."""

from __future__ import annotations

from typing import Annotated

from npa.crds import resource
from npa.crds.base import NOTHING, Int32, Items, Moment, Part, says
from npa.crds.parts import Status
from npa.crds.resource import Object, Resource


class PowerStateSpec(Part):
    """The workers that are to run."""

    node_set_ref: Annotated[str, says("name of the NodeSet, of the same namespace", min_length=1)]
    active_nodes: Annotated[Items[Int32], says("ordinals of the workers that are to run", set_of=True)] = ()


class PoweredNode(Part):
    """One worker."""

    phase: Annotated[str, says("in one word", written=False)] = ""
    pod_name: Annotated[str, says("name of its pod", written=False)] = ""
    slurm_state: Annotated[str, says("what Slurm says of it", written=False)] = ""
    last_transition_time: Annotated[Moment | None, says("when this last changed")] = None
    message: Annotated[str, says("why, in a sentence", written=False)] = ""


class PowerStateStatus(Status):
    """What became of them."""

    active_count: Annotated[Int32 | None, says("workers that are to run")] = None
    node_states: Annotated[dict[str, PoweredNode], says("the workers, by ordinal", written=False)] = NOTHING


class NodeSetPowerState(Resource):
    """Which ephemeral workers of a NodeSet Slurm wants to run; Slurm's power saving writes it."""

    spec: PowerStateSpec


def parse(obj: Object) -> NodeSetPowerState:
    """Return an object as a NodeSetPowerState; SpecError with everything that is wrong with it."""
    return resource.parse(NodeSetPowerState, obj)
