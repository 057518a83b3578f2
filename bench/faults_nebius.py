"""Kill a deploy and a destroy at Nebius at every step, run the next, and write faults-nebius.md.

Needs Terraform and git, no provider and no root: the stand-in recipe makes files, and a provider on loopback
has what they say.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fakes import mortal
from tests.fakes.mortal import Stage

from npa.errors import NpaError
from npa.targets.nebius import records

PAGE = Path(__file__).parents[1] / "docs/reference/faults-nebius.md"
MADE = ("made filesystems#1", "made clusters#1", "made allocations#1", "made charts#1")
GONE = tuple(each.replace("made", "gone") for each in reversed(MADE))
DELETIONS = tuple(
    f"{when} the provider deletes a{n} {kind}#1"
    for kind, n in (("cluster", ""), ("filesystem", ""), ("allocation", "n"))
    for when in ("before", "after")
)
ENDS = {"deploy": "ready", "destroy": "destroyed"}
HEAD = """\
<!-- written by `make faults-nebius` -->

# What happens when npa is killed on Nebius

Each row is a run of its own, on real Terraform and git, with a provider on loopback: npa is ended by
`kill -KILL` at that step, and the same command is run again. A step is whatever leaves a trace outside of the
process: a file put in place, a program started, a request that changes something; `made` and `gone` are in
Terraform's apply, when the provider has made or ended a thing and Terraform has not heard of it. {rows} of
{rows} times the next run ended as if there had been no kill: there is one cluster, and the installation's
record, Terraform's state and the provider name the same things; after a destroy there is nothing. Where the
state is lost, the destroy says `destroy-incomplete` to the end: what else the state held is not known.

An apply goes on without its npa: half-made things that no state knows would be worse. Until it ends, the next
command is refused: `Terraform still applies here`.
"""
TAIL = """
## What is refused

Some things cannot be gone on with, and are refused with guidance; nothing is made twice:
- an apply died with its machine before Terraform wrote its state: the project holds a cluster or a filesystem
  of this name that the state does not know. The refusal names each id.
- an apply could not write its state to its backend: Terraform left it in `errored.tfstate`, and the refusal
  says how to save it.
- the state is lost and the record names a cluster. Restore the state, or end the installation by its recorded
  ids: `destroy` does, also when it is killed before or after any of the provider's deletions, and says what
  it cannot know.
"""


@dataclass(frozen=True)
class Row:
    """One kill and what came after it."""

    step: str
    there: str
    after: str

    def __str__(self) -> str:
        return f"| `{self.step.removesuffix('#1')}` | {self.there} | {self.after} |"


def there(stage: Stage) -> str:
    """Say what a kill left."""
    clusters = len(stage.at("clusters"))
    try:
        record = records.load_sidecar(stage.installation)
    except NpaError:
        return "a record that cannot be read"
    known = "no record" if record is None else "recorded" if record.cluster_id else "a record without it"
    state = "in the state" if (stage.installation / "terraform.tfstate").exists() else "no state"
    jobs = ", a job of the GPU check" if stage.jobs() else ""
    if not clusters:
        folder = "an installation" if stage.installation.exists() else "no installation"
        return f"no cluster, {folder}, {known}"
    return f"the cluster, {known}, {state}{jobs}"


def kill(stage: Stage, verb: mortal.Verb, step: str, end: str = "") -> Row:
    """Kill at a step, run the same command again, and see that all agree."""
    ended = stage.run(verb, step)
    if not ended.killed:
        sys.exit(f"{verb}: there was no step {step!r}: {ended.status} {ended.message}")
    stage.settled()
    left = there(stage)
    ended = stage.run(verb)
    nothing = not any(stage.at(kind) for kind in (*mortal.KINDS, "charts"))
    wrong = stage.disagreements() if verb == "deploy" else [] if nothing else ["something is left"]
    if ended.status != (end or ENDS[verb]) or wrong:
        sys.exit(f"{verb} killed at {step!r}: {ended.status} {ended.message} {wrong}")
    return Row(step, left, ended.status)


def steps(labels: list[str], more: tuple[str, ...]) -> Iterator[str]:
    """Yield every step of a run, those inside Terraform's apply before what it says next."""
    yield from dict.fromkeys((*labels, *more))


def deploys(root: Path) -> Iterator[Row]:
    """Kill a deploy of a new cluster at each step."""
    with mortal.stage(root / "all") as stage:
        labels = stage.run("deploy").labels
    for index, step in enumerate(steps(labels, MADE)):
        with mortal.stage(root / str(index)) as stage:
            yield kill(stage, "deploy", step)
        shutil.rmtree(root / str(index))


def destroys(root: Path) -> Iterator[Row]:
    """Kill the destroy of a cluster at each step."""
    with mortal.stage(root / "stage") as stage:
        stage.run("deploy")
        shutil.copytree(stage.root, root / "kept", symlinks=True)
        labels = stage.run("destroy").labels
        for step in steps(labels, GONE):
            shutil.rmtree(stage.root)
            shutil.copytree(root / "kept", stage.root, symlinks=True)
            yield kill(stage, "destroy", step)


def deletions(root: Path) -> Iterator[Row]:
    """Kill a destroy that has no state of Terraform's at each of the provider's deletions."""
    with mortal.stage(root / "stage") as stage:
        stage.run("deploy")
        for left in stage.installation.glob("terraform.tfstate*"):
            left.unlink()
        shutil.copytree(stage.root, root / "kept", symlinks=True)
        for step in DELETIONS:
            shutil.rmtree(stage.root)
            shutil.copytree(root / "kept", stage.root, symlinks=True)
            # Nothing recorded is left; but what the lost state held besides is not known, and that is said.
            for chart in (stage.root / "provider/charts").iterdir():
                chart.unlink()  # nobody but the state knows of them
            yield kill(stage, "destroy", step, "destroy-incomplete")


def main() -> int:
    """Write the page."""
    text = []
    count = 0
    sections = (
        ("Deploy", deploys),
        ("Destroy", destroys),
        ("Destroy, where Terraform's state is lost", deletions),
    )
    for title, rows in sections:
        text.append(f"\n## {title}\n\n| killed at | what is there | the next run |\n|---|---|---|")
        with tempfile.TemporaryDirectory(prefix="npa-faults-") as folder:
            for row in rows(Path(folder)):
                print(row, flush=True)
                text.append(str(row))
                count += 1
    PAGE.write_text(HEAD.format(rows=count) + "\n".join(text) + "\n" + TAIL, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
