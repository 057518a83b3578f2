"""Commands of a fleet that only look: validate, schema, status, list."""

from __future__ import annotations

from shlex import quote

from npa.cli import fleet_asked, fleet_text, screen
from npa.cli import fleet_options as given
from npa.cli.options import OutputKind

VALIDATION_VERSION = "npa.fleet.validation/v1"
LIST_VERSION = "npa.fleet.list/v1"


def validate(spec: given.SpecPath, output: OutputKind = "text") -> None:
    """Check a fleet's file without a network and name everything wrong, its clusters' parts too.

    \b
    npa fleet validate --spec fleet.yaml
    """
    fleet, _ = fleet_asked.load(spec)
    count, projects = len(fleet.members), len(fleet.projects)
    if output == "json":
        clusters = [
            {"project": each.claim.project, "cluster": each.claim.cluster, "target": each.claim.target}
            for each in fleet.members
        ]
        screen.document(
            {"schema_version": VALIDATION_VERSION, "ok": True, "fleet": fleet.name, "clusters": clusters}
        )
        return
    screen.data(
        f"{spec}: valid: fleet {fleet.name}, "
        f"{fleet_text.many(projects, 'project')}, {fleet_text.many(count, 'cluster')}"
    )
    screen.data(f"next: npa fleet plan --spec {quote(spec)}")


def schema() -> None:
    """Print the JSON Schema of a fleet's file, for editors.

    \b
    npa fleet schema > fleet.schema.json
    """
    from npa.fleet import schema

    screen.document(schema.json_schema())


def status(
    name: given.Name = None,
    spec: given.MaybeSpecPath = None,
    project: given.Projects = [],  # noqa: B006
    cluster: given.Clusters = [],  # noqa: B006
    output: OutputKind = "text",
) -> None:
    """Show how well each cluster of a fleet is. Exits 4 unless all are healthy.

    \b
    npa fleet status lab
    npa fleet status lab --output json | jq '.clusters[] | select(.ok | not)'
    """
    from npa.fleet import store, verbs
    from npa.fleet.outside import Outside

    fleet = fleet_asked.load(spec)[0] if spec else None
    chosen = fleet_asked.same(name, fleet) or store.chosen(None)
    members = fleet.members if fleet else None
    fleet_text.end(verbs.status(chosen, given.selection(project, cluster), Outside(), members), output)


def list_(output: OutputKind = "text") -> None:
    """List the fleets that this machine knows.

    \b
    npa fleet list
    """
    from npa.fleet import store

    found = [(each, store.Store(each).records()[0]) for each in store.fleets()]
    if output == "json":
        fleets = [
            {"name": name, "clusters": [each.claim.cluster for each in records]} for name, records in found
        ]
        screen.document({"schema_version": LIST_VERSION, "fleets": fleets})
    elif found:
        screen.data(
            "\n".join(f"{name}: {fleet_text.many(len(records), 'cluster')}" for name, records in found)
        )
    else:
        screen.progress("no fleet on this machine")
        screen.progress("next: npa fleet deploy --spec fleet.yaml")
