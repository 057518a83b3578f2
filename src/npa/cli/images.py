"""`npa operator images`: the images that the operator and its clusters run, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import npa
from npa.cli import screen
from npa.cli.operator_options import SlurmVersion
from npa.cli.options import OutputKind

VERSION = "npa.operator.images/v1"
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the archives go.")]
Repository = Annotated[
    str, typer.Option("--repository", metavar="NAME", help="What comes before the images' names.")
]
Tag = Annotated[str, typer.Option("--tag", metavar="TAG", help="What they are tagged as; npa's version.")]


def images(
    out: Out = Path("images"),
    repository: Repository = "localhost",
    tag: Tag = npa.__version__,
    slurm_version: SlurmVersion = "26.05",
    output: OutputKind = "text",
) -> None:
    """Make the images from Debian packages, as OCI archives with a bill of materials each; needs root.

    A registry is not needed: `ctr -n k8s.io images import slurm.tar` on each node, or `skopeo copy
    oci-archive:slurm.tar docker://...`. What was made before is not made again.

    \b
    npa operator images --out images --repository registry.example/team
    """
    from npa.targets.kubernetes import images as making

    made = making.make(out, repository, tag, slurm_version, screen.progress)
    if output == "json":
        told = [
            {"image": each.image, "digest": each.digest, "archive": str(each.archive), "sbom": str(each.sbom)}
            for each in made
        ]
        screen.document({"schema_version": VERSION, "ok": True, "images": told})
        return
    for each in made:
        screen.data(f"{each.archive}: {each.image} {each.digest}")
    screen.progress(f"next: npa operator install --image {made[-1].image}")
