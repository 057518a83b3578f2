"""What is in an image, as a CycloneDX bill of materials."""

from __future__ import annotations

import email
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from npa.errors import ToolMissingError


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """A package, as its own ecosystem names it."""

    kind: Literal["deb", "pypi"]
    name: str
    version: str
    architecture: str = ""
    supplier: str = ""


def debian(status: str) -> Iterator[Package]:
    """Yield the installed packages of a dpkg status file (deb-control(5))."""
    for paragraph in status.split("\n\n"):
        said = email.message_from_string(paragraph)
        if said.get("Status", "").endswith(" installed"):
            yield Package(
                "deb",
                said["Package"],
                said["Version"],
                said.get("Architecture", ""),
                said.get("Maintainer", ""),
            )


def python(folder: Path) -> Iterator[Package]:
    """Yield the packages that pip put into a folder."""
    for path in sorted(folder.glob("*.dist-info/METADATA")):
        said = email.message_from_string(path.read_text(encoding="utf-8"))
        yield Package("pypi", said["Name"].lower().replace("_", "-"), said["Version"])


def render(image: str, version: str, identity: str, packages: Iterable[Package]) -> str:
    """Return the document of an image, by the digest that engines and registries know it by."""
    try:
        from cyclonedx.model.bom import Bom
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.model.contact import OrganizationalEntity
        from cyclonedx.output import make_outputter
        from cyclonedx.schema import OutputFormat, SchemaVersion
        from packageurl import PackageURL
    except ImportError as error:
        raise ToolMissingError(
            "cyclonedx-python-lib", hint="install npa with it: pip install 'npa[images]'"
        ) from error
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, identity))
    bom.metadata.component = Component(
        type=ComponentType.CONTAINER, name=image, version=version, bom_ref=identity
    )
    for each in sorted(set(packages)):
        qualifiers = {"arch": each.architecture} if each.architecture else None
        space = "debian" if each.kind == "deb" else None
        url = PackageURL(each.kind, space, each.name, each.version, qualifiers)
        bom.components.add(
            Component(
                type=ComponentType.LIBRARY,
                name=each.name,
                version=each.version,
                bom_ref=str(url),
                purl=url,
                supplier=OrganizationalEntity(name=each.supplier) if each.supplier else None,
            )
        )
    bom.register_dependency(bom.metadata.component, bom.components)
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1) + "\n"
