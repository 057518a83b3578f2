"""What several kinds are made of: containers, volumes, images, conditions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict

from npa.crds.base import NOTHING, Int32, Int64, Items, Moment, Part, Quantity, Raw, StringMap, says

PullPolicy = Literal["Always", "Never", "IfNotPresent"]
ProcMount = Literal["Default", "Unmasked"]
ConditionStatus = Literal["True", "False", "Unknown"]
Resources = dict[str, Quantity]
SssdLevel = Annotated[Int32, says("how much SSSD logs", ge=0)]
SssdConf = Annotated[str, says("name of the Secret whose `sssd.conf` is used", written=False)]
SssdCa = Annotated[
    str,
    says(
        "name of the ConfigMap with the certificates that LDAP servers are checked by",
        alias="sssdLdapCAConfigMapRefName",
        written=False,
    ),
]


class Condition(Part):
    """One thing that is so, is not so, or could not be found out."""

    type: Annotated[str, says("what it is about", min_length=1, max_length=316)]
    status: Annotated[ConditionStatus, says("whether it is so")]
    reason: Annotated[str, says("one word for why", min_length=1, max_length=1024)]
    message: Annotated[str, says("why, in a sentence", max_length=32768)]
    last_transition_time: Annotated[Moment, says("when the status last changed")]
    observed_generation: Annotated[
        Int64 | None, says("generation of the object that this was said of", ge=0)
    ] = None


class Status(Part):
    """What became of an object; it may hold more than is described."""

    model_config = ConfigDict(extra="allow")

    observed_generation: Annotated[Int64 | None, says("generation that this was said of")] = None
    conditions: Annotated[Items[Condition], says("what is so")] = ()


class Pulled(Part):
    """An image, and how it is pulled."""

    image: Annotated[str, says("image of the container")]
    image_pull_policy: Annotated[PullPolicy, says("when the image is pulled")] = "IfNotPresent"
    image_pull_secrets: Annotated[Items[Raw], says("secrets that allow the image to be pulled")] = ()
    app_armor_profile: Annotated[
        str, says("AppArmor profile: unconfined, runtime/default or localhost/NAME")
    ] = "unconfined"


class Container(Pulled):
    """A container of one of the cluster's components."""

    command: Annotated[Items[str], says("command instead of the component's own")] = ()
    args: Annotated[Items[str], says("arguments instead of the component's own")] = ()
    custom_env: Annotated[Items[Raw], says("more environment variables")] = ()
    port: Annotated[Int32 | None, says("port that the component listens at")] = None
    resources: Annotated[
        Resources,
        says("what the container asks for, and, CPU left out, what it may take at most", written=False),
    ] = NOTHING
    liveness_probe: Annotated[Raw | None, says("how Kubernetes sees that it has to be restarted")] = None
    readiness_probe: Annotated[Raw | None, says("how Kubernetes sees that it can be reached")] = None
    security_limits_config: Annotated[str, says("text of limits.conf in the container", written=False)] = ""
    proc_mount: Annotated[ProcMount | None, says("how /proc is mounted")] = None


class SlurmNode(Part):
    """Where and how the pods of a component run."""

    custom_init_containers: Annotated[
        Items[Raw], says("init containers and native sidecars that run before everything else")
    ] = ()
    k8s_node_filter_name: Annotated[
        str, says("name of the entry of `k8sNodeFilters` that says where the pods run", written=False)
    ] = ""
    priority_class: Annotated[str, says("name of the pods' PriorityClass", written=False)] = ""
    host_users: Annotated[bool | None, says("whether the pods share the host's user namespace")] = None


class SizedNode(SlurmNode):
    """A component of which there may be several pods."""

    size: Annotated[Int32 | None, says("how many pods there are")] = None


class NodeVolume(Part):
    """Where a volume comes from: exactly one of a named source and a claim of the pod's own."""

    volume_source_name: Annotated[
        str, says("name of the entry of `volumeSources` that it is", written=False)
    ] = ""
    volume_claim_template_spec: Annotated[Raw | None, says("claim that is made for each pod")] = None


class NodeVolumeMount(NodeVolume):
    """A volume, and where it is mounted."""

    name: Annotated[str, says("name of the volume in the pod")]
    mount_path: Annotated[str, says("where it is mounted")]
    sub_path: Annotated[str, says("path within the volume")] = ""
    read_only: Annotated[bool, says("whether it is mounted for reading only")] = False


class Image(Part):
    """An image by repository and tag."""

    repository: Annotated[str, says("where the image is, without its tag")]
    tag: Annotated[str, says("tag of the image; without one `latest`", written=False)] = ""
    pull_policy: Annotated[PullPolicy, says("when the image is pulled")] = "IfNotPresent"

    @property
    def reference(self) -> str:
        """The image as a container names it."""
        return f"{self.repository}:{self.tag}" if self.tag else self.repository


class Inline(Part):
    """A part that holds, besides its own fields, those of a part of the Kubernetes API."""

    model_config = ConfigDict(extra="allow")

    @property
    def source(self) -> dict[str, Any]:
        """The fields of the Kubernetes API."""
        return dict(self.model_extra or {})


class NamedVolume(Inline):
    """A volume of the Kubernetes API with a name."""

    name: Annotated[str, says("name by which the volume is mounted")]


class Scheduled(Part):
    """Where the pods run, said in place."""

    affinity: Annotated[Raw | None, says("affinity of the pods")] = None
    node_selector: Annotated[StringMap, says("labels that a node has to have", written=False)] = NOTHING
    tolerations: Annotated[Items[Raw], says("taints that the pods tolerate")] = ()
