"""What each repair concludes from what was read."""

from __future__ import annotations

from typing import Any

import pytest

from npa.render.nebius import definitions, fixes, registration
from npa.render.nebius.fix_model import All, Apply, Context, Delete, One, Patch, Scontrol, Seen, Verdict
from npa.render.objects import CRD, Object
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.slurm.replies import Rows, SlurmNodeReply
from npa.slurm.states import NodeState

NOW = Context("1700000000", workers=("gpu-0", "gpu-1"))


def one(query: One, lookup: Lookup[Object]) -> Seen:
    return Seen(ones={query: lookup})


def listed(query: All, *objects: Object) -> Seen:
    return Seen(lists={query: Found(objects)})


def release(name: str, *, generation: int = 2, annotations: Any = None, **status: Any) -> Object:
    metadata = {"name": name, "generation": generation, "annotations": annotations or {}}
    return {"metadata": metadata, "status": status}


def true(kind: str, reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": "True", "reason": reason}


@pytest.mark.parametrize("fix", fixes.ALL, ids=lambda fix: fix.name)
def test_what_could_not_be_read_is_never_repaired(fix: Any) -> None:
    verdict = fix.decide(Seen(), NOW)

    assert (verdict.state, verdict.actions) == ("unknown", ())


def test_repairs_are_for_the_versions_they_were_checked_with() -> None:
    assert fixes.applicable(fixes.ALL, "4.1.6") == fixes.ALL
    assert fixes.applicable(fixes.ALL, "4.2.0") == ()


def test_a_missing_namespace_is_made_once() -> None:
    needed = fixes.monitoring_namespace(one(fixes.MONITORING, Absent()), NOW)

    assert needed.state == "needed"
    assert isinstance(needed.actions[0], Apply)
    assert fixes.monitoring_namespace(one(fixes.MONITORING, Found({})), NOW).state == "done"


def test_definitions_are_the_users_or_open_ones_of_ours() -> None:
    missing = Seen(ones={query: Absent() for query in fixes.MONITORING_CRDS})
    documents = [CRD.object(query.name, spec={}) for query in fixes.MONITORING_CRDS]
    given = fixes.given(iter([*documents, CRD.object("others.x"), None]))

    open_ones = fixes.monitoring_definitions(missing, NOW)
    users = fixes.monitoring_definitions(missing, Context("1", crds=given))

    assert [action.wanted for action in users.actions if isinstance(action, Apply)] == documents
    made = [action.wanted for action in open_ones.actions if isinstance(action, Apply)]
    assert made == list(definitions.OPEN.values())
    assert all(definitions.is_ours(each) for each in made)


def test_open_definitions_are_replaced_by_those_of_a_file_and_others_are_not() -> None:
    served: Object = {"status": {"conditions": [true("Established")]}}
    first, *rest = fixes.MONITORING_CRDS
    seen = Seen(ones={first: Found(definitions.OPEN[first.name]), **{each: Found(served) for each in rest}})
    given = fixes.given(CRD.object(query.name, spec={}) for query in fixes.MONITORING_CRDS)

    found = fixes.monitoring_definitions(seen, Context("1", crds=given))

    assert found.state == "needed"
    assert [action.wanted for action in found.actions if isinstance(action, Apply)] == [given[first.name]]


def test_definitions_count_once_they_are_served() -> None:
    served: Object = {"status": {"conditions": [true("Established")]}}
    made: Object = {}
    first, *rest = fixes.MONITORING_CRDS

    slow = fixes.monitoring_definitions(
        Seen(ones={first: Found(made), **{each: Found(served) for each in rest}}), NOW
    )
    done = fixes.monitoring_definitions(
        Seen(ones={each: Found(served) for each in fixes.MONITORING_CRDS}), NOW
    )

    assert (slow.state, done.state) == ("waiting", "done")


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (release("a-monitoring-dashboards", conditions=[true("Stalled")]), "needed"),
        (
            release(
                "a-monitoring-dashboards",
                conditions=[{"type": "Ready", "status": "False", "reason": "RetriesExceeded"}],
            ),
            "needed",
        ),
        (
            release("a-monitoring-dashboards", conditions=[{"type": "Ready", "status": "False"}]),
            "done",
        ),
        (release("a-monitoring-dashboards", conditions=[true("Ready")]), "done"),
        (release("another", conditions=[true("Stalled")]), "done"),
        (
            release(
                "a-monitoring-dashboards",
                annotations={"reconcile.fluxcd.io/requestedAt": "1"},
                conditions=[true("Stalled")],
            ),
            "waiting",
        ),
        (
            release(
                "a-monitoring-dashboards",
                annotations={"reconcile.fluxcd.io/requestedAt": "1"},
                lastHandledReconcileAt="1",
                conditions=[true("Stalled")],
            ),
            "needed",
        ),
    ],
)
def test_only_a_release_that_gave_up_is_started_anew(found: Object, state: str) -> None:
    verdict = fixes.dashboards_release(listed(fixes.RELEASES, found), NOW)

    assert verdict.state == state


def test_both_annotations_bear_the_same_stamp() -> None:
    verdict = fixes.dashboards_release(
        listed(fixes.RELEASES, release("a-monitoring-dashboards", conditions=[true("Stalled")])), NOW
    )

    (patch,) = verdict.actions
    assert isinstance(patch, Patch)
    assert patch.body == {
        "metadata": {
            "annotations": {
                "reconcile.fluxcd.io/requestedAt": "1700000000",
                "reconcile.fluxcd.io/resetAt": "1700000000",
            }
        }
    }


def test_no_flux_is_nothing_to_do() -> None:
    seen = Seen(lists={fixes.RELEASES: Absent()})

    assert fixes.dashboards_release(seen, NOW).state == "done"
    assert fixes.superseded_checks(seen, NOW).state == "done"


def definition(*settings: Any) -> Object:
    def version(index: int, setting: Any) -> dict[str, Any]:
        spec = {"properties": {"plugStackConfig": setting} if setting is not None else {}}
        return {"name": f"v{index}", "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}

    return {"spec": {"versions": [version(index, each) for index, each in enumerate(settings)]}}


def test_every_version_that_drops_the_field_is_opened_and_no_other() -> None:
    known = {"properties": {"ncclInspectorPreConf": {"type": "string"}}}
    closed: dict[str, Any] = {"properties": {}}
    opened = {"x-kubernetes-preserve-unknown-fields": True}

    verdict = fixes.plugstack_schema(
        one(fixes.SLURM_CLUSTERS, Found(definition(known, closed, opened, closed))), NOW
    )

    (patch,) = verdict.actions
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, list)
    assert [(step["op"], step["path"].split("/")[3]) for step in patch.body] == [
        ("test", "1"),
        ("add", "1"),
        ("test", "3"),
        ("add", "3"),
    ]


@pytest.mark.parametrize(
    ("lookup", "state"),
    [
        (Absent(), "waiting"),
        (Found(definition({"x-kubernetes-preserve-unknown-fields": True})), "done"),
        (Found(definition(None)), "blocked"),
        (Found({}), "blocked"),
    ],
)
def test_c68_a_definition_is_done_missing_or_too_old(lookup: Lookup[Object], state: str) -> None:
    assert fixes.plugstack_schema(one(fixes.SLURM_CLUSTERS, lookup), NOW).state == state


def test_scripts_are_copied_whole_whatever_their_keys_are_called() -> None:
    source = {"metadata": {"uid": "1"}, "data": {"token-secret.sh": "echo"}, "binaryData": {}}
    seen = Seen(ones={fixes.PREFIXED_SCRIPTS: Absent(), fixes.SCRIPTS: Found(source)})

    (copy,) = fixes.prefixed_scripts(seen, NOW).actions

    assert isinstance(copy, Apply)
    assert copy.wanted["data"] == {"token-secret.sh": "echo"}
    assert copy.wanted["metadata"] == {"name": "soperator-slurm-scripts", "namespace": "soperator"}


@pytest.mark.parametrize(
    ("attempted", "generation", "state"),
    [(1, 2, "needed"), (2, 2, "done"), (0, 2, "done"), (None, 2, "done")],
)
def test_only_checks_of_an_older_generation_are_ended(attempted: Any, generation: int, state: str) -> None:
    found = release(
        "x-soperator-activechecks",
        generation=generation,
        conditions=[true("Reconciling", "Progressing")],
        lastAttemptedGeneration=attempted,
    )

    verdict = fixes.superseded_checks(listed(fixes.RELEASES, found), NOW)

    assert verdict.state == state
    assert [type(action) for action in verdict.actions] == ([Delete, Patch] if state == "needed" else [])


def slurm(*rows: SlurmNodeReply, problems: tuple[str, ...] = ()) -> Seen:
    return Seen(nodes=Found(Rows(rows, problems)))


def node(name: str, state: str, reason: str = "", address: str = "") -> SlurmNodeReply:
    return SlurmNodeReply(name, NodeState.parse(state), reason=reason, address=address)


def test_a_lost_worker_is_given_its_lasting_name_and_resumed() -> None:
    lasting = registration.address("gpu-1")

    verdict = registration.decide(
        slurm(node("gpu-0", "IDLE"), node("gpu-1", "DOWN*", "Not responding", lasting)), NOW
    )

    assert verdict.actions == (Scontrol(("scontrol", "update", "NodeName=gpu-1", "State=RESUME")),)


@pytest.mark.parametrize(
    ("row", "state"),
    [
        (node("gpu-1", "DOWN", "RMA 123"), "blocked"),
        (node("gpu-1", "DOWN+DRAIN", "Not responding"), "blocked"),
        (node("gpu-1", "IDLE*"), "needed"),
        (node("gpu-1", "IDLE*", address=registration.address("gpu-1")), "waiting"),
        (node("gpu-1", "IDLE"), "done"),
        (node("other", "DOWN"), "waiting"),
    ],
)
def test_what_somebody_took_down_stays_down(row: SlurmNodeReply, state: str) -> None:
    assert registration.decide(slurm(node("gpu-0", "IDLE"), row), NOW).state == state


def test_an_answer_that_is_half_readable_repairs_nothing() -> None:
    rows = slurm(node("gpu-0", "DOWN", "Not responding"), problems=("nodes[1]: odd",))

    assert registration.decide(rows, NOW) == Verdict("unknown", "nodes[1]: odd")
    assert registration.decide(Seen(nodes=Unknown("down")), NOW).state == "unknown"
