"""NodeConfigurator: one pod on each Kubernetes node that prepares or reboots it."""

from __future__ import annotations

from typing import Annotated, Literal

from npa.crds import resource
from npa.crds.base import NOTHING, Items, Part, Raw, says
from npa.crds.parts import Image, Scheduled, Status
from npa.crds.resource import Object, Resource

LogLevel = Literal["debug", "info", "warn", "error"]
EvictionMethod = Literal["evict"]


class NodeContainer(Scheduled):
    """A container that runs on each node."""

    enabled: Annotated[bool, says("whether it runs")]
    name: Annotated[str, says("name of the container", written=False)] = ""
    image: Annotated[Image | None, says("its image")] = None
    command: Annotated[Items[str], says("command instead of the image's own")] = ()
    env: Annotated[Items[Raw], says("environment variables")] = ()
    resources: Annotated[Raw, says("what it asks for and may take at most", written=True)] = NOTHING
    liveness_probe: Annotated[Raw | None, says("how Kubernetes sees that it has to be restarted")] = None
    readiness_probe: Annotated[Raw | None, says("how Kubernetes sees that it can be reached")] = None
    priority_class_name: Annotated[str, says("name of the pods' PriorityClass", written=False)] = ""
    service_account_name: Annotated[str, says("name of the pods' ServiceAccount", written=False)] = ""
    host_users: Annotated[bool | None, says("whether the pods share the host's user namespace")] = None


class Rebooter(NodeContainer):
    """The container that empties and reboots its node."""

    eviction_method: Annotated[EvictionMethod, says("how pods leave the node")] = "evict"
    log_level: Annotated[LogLevel, says("how much it logs")] = "info"
    log_format: Annotated[str, says("how it logs", written=False)] = ""


class NodeConfiguratorSpec(Part):
    """What runs on each node."""

    rebooter: Annotated[Rebooter, says("empties and reboots its node")] = Rebooter(enabled=True)
    custom_container: Annotated[
        NodeContainer | None, says("a container of your own, where the rebooter is off")
    ] = None
    init_containers: Annotated[Items[Raw], says("what runs before")] = ()
    host_network: Annotated[bool, says("whether the pods share the host's network")] = True
    host_ipc: Annotated[bool, says("whether the pods share the host's IPC", alias="hostIPC")] = False
    share_process_namespace: Annotated[
        bool, says("whether the pods' containers see one another's processes")
    ] = False


class NodeConfiguratorStatus(Status):
    """What became of it."""

    reason: Annotated[str, says("no longer used", written=False)] = ""
    update_status: Annotated[str, says("no longer used", written=False)] = ""


class NodeConfigurator(Resource):
    """A pod on each Kubernetes node that prepares or reboots it."""

    spec: NodeConfiguratorSpec


def parse(obj: Object) -> NodeConfigurator:
    """Return an object as a NodeConfigurator; SpecError with everything that is wrong with it."""
    return resource.parse(NodeConfigurator, obj)
