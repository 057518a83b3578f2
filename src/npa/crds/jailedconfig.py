"""JailedConfig: files of a ConfigMap within the jail."""

from __future__ import annotations

from typing import Annotated, Literal

from npa.crds import resource
from npa.crds.base import Int32, Items, Part, says
from npa.crds.parts import Status
from npa.crds.resource import Object, Resource

UpdateAction = Literal["Reconfigure"]


class ConfigMapRef(Part):
    """A ConfigMap of the same namespace."""

    name: Annotated[str, says("its name")]


class Item(Part):
    """One file."""

    key: Annotated[str, says("key in the ConfigMap")]
    path: Annotated[str, says("where the file is in the jail, from its root")]
    mode: Annotated[Int32 | None, says("mode of the file")] = None


class JailedConfigSpec(Part):
    """Which files there are, and what follows when they change."""

    config_map: Annotated[ConfigMapRef, says("where the files' texts are")]
    items: Annotated[Items[Item], says("the files; a key's name is no path, so each has to be named")] = ()
    default_mode: Annotated[Int32 | None, says("mode of files that name none; without it 0644")] = None
    update_actions: Annotated[Items[UpdateAction], says("what follows when the files change")] = ()


class JailedConfigStatus(Status):
    """What became of it."""


class JailedConfig(Resource):
    """Files of a ConfigMap that are kept in the jail of a Slurm cluster."""

    spec: JailedConfigSpec


def parse(obj: Object) -> JailedConfig:
    """Return an object as a JailedConfig; SpecError with everything that is wrong with it."""
    return resource.parse(JailedConfig, obj)
