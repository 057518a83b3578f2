"""Deploy, destroy and status of a fleet, over its backends and its inventory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Lock

from npa.errors import NotFoundError, NpaError, StoppedError
from npa.fleet import glance, network, ownership, plan, select
from npa.fleet.backends import Condition, Heard, Options
from npa.fleet.crew import failed
from npa.fleet.member import Claim, Member
from npa.fleet.outside import Outside
from npa.fleet.plan import FleetPlan
from npa.fleet.record import Record
from npa.fleet.result import Network, Outcome, Result
from npa.fleet.run import Run
from npa.fleet.select import Selection
from npa.fleet.store import Store
from npa.slurm.lookup import Absent, Found, Unknown


def deploy(
    shown: FleetPlan,
    options: Options,
    outside: Outside,
    *,
    concurrency: int = 1,
    fail_fast: bool = False,
) -> Run:
    """Do what a plan of `plan.deploy` shows; raises FleetRefusedError where something stands against it."""
    shown.require()
    store = outside.store(shown.fleet)
    members = {each.claim: each for each in shown.members}
    planned = {each.claim: each.planned for each in shown.items}
    networks = Lock()

    def work(claim: Claim, heard: Heard) -> Outcome:
        member, backend = members[claim], outside.backend(claim.backend)
        record = _claimed(member, store, outside)
        try:
            member = _with_subnet(member, store, outside, networks)
            found = backend.deploy(member, planned[claim], options, heard)
        except Exception as error:
            why = "stopped on request" if isinstance(error, StoppedError) else str(error)
            store.save(record.moved("failed", outside.now(), identity=_identity(claim, outside), message=why))
            raise
        identity = _identity(claim, outside)
        store.save(record.moved("deployed", outside.now(), identity=identity, status=found.status))
        return _outcome(claim, found)

    return Run(
        shown.fleet,
        "deploy",
        shown.claims,
        work,
        lock=store.locked,
        concurrency=concurrency,
        fail_fast=fail_fast,
        next_command=f"npa fleet status {shown.fleet}",
    )


def destroy(
    shown: FleetPlan, options: Options, outside: Outside, *, concurrency: int = 1, fail_fast: bool = False
) -> Run:
    """Do what a plan of `plan.destroy` shows; raises FleetRefusedError where something stands against it."""
    shown.require()
    store = outside.store(shown.fleet)
    planned = {each.claim: each.planned for each in shown.items}

    def work(claim: Claim, heard: Heard) -> Outcome:
        record = store.record(claim.cluster)
        there = outside.there(claim)
        if isinstance(there, Absent) or record is None:
            store.forget(claim.cluster)
            return Outcome(claim, "absent", True, plan.GONE)
        if isinstance(there, Found) and plan.another(record, there.value.value):
            store.forget(claim.cluster)
            return Outcome(claim, "absent", True, plan.NOT_OURS)
        ownership.require(claim, record, there)
        store.save(record.moved("destroying", outside.now()))
        found = outside.backend(claim.backend).destroy(claim, planned[claim], options, heard)
        if found.ok:
            store.forget(claim.cluster)
        return _outcome(claim, found)

    def finish(_: Sequence[Outcome]) -> tuple[Network, ...]:
        try:
            return tuple(_clean(store, outside))
        finally:
            store.tidy()

    return Run(
        shown.fleet,
        "destroy",
        shown.claims,
        work,
        lock=store.locked,
        concurrency=concurrency,
        fail_fast=fail_fast,
        finish=finish,
        next_command="npa fleet list",
    )


def status(
    name: str, selection: Selection, outside: Outside, members: Sequence[Member] | None = None
) -> Result:
    """Return how each recorded cluster is, and each of the file that is not recorded; changes nothing."""
    store = outside.store(name)
    records, wrong = store.records()
    busy = store.busy
    if not records and not wrong and members is None:
        raise NotFoundError(f"no fleet {name!r} on this machine", hint="see `npa fleet list`")
    known = {each.claim.cluster: each for each in records}
    claims = [*(each.claim for each in records), *_unrecorded(members or (), known)]
    chosen = select.chosen(claims, selection)
    looked = glance.each(chosen, lambda each: _seen(each, known.get(each.cluster), outside, busy), outside)
    outcomes = tuple(future.result() for _, future in looked)
    return Result(name, "status", outcomes, unreadable=wrong, next_command=_look(outcomes))


def _claimed(member: Member, store: Store, outside: Outside) -> Record:
    """Write down that a cluster is ours, before anything of it is there, and that it is being changed."""
    claim = member.claim
    record = store.record(claim.cluster)
    there = outside.there(claim)
    ownership.require(claim, record, there, outside.owner(claim))
    now = outside.now()
    if record is None or isinstance(there, Absent):
        record = Record(
            claim,
            "changing",
            now,
            now,
            project_id=member.project.project_id,
            region=member.project.region,
        )
    else:
        found = there.value.value if isinstance(there, Found) else ""
        record = record.moved("changing", now, identity=found)
    store.save(record)
    return record


def _with_subnet(member: Member, store: Store, outside: Outside, lock: Lock) -> Member:
    """Return a cluster of the provider's with the subnet that its project shares; one at a time makes it."""
    project = member.project
    if member.claim.target != "nebius" or project.subnet_id or not project.project_id:
        return member
    with lock, outside.networks() as provider:
        found = network.subnet(
            project.key,
            project.project_id,
            store.name,
            store.network(project.key),
            provider,
            store.save_network,
        )
    return replace(
        member,
        project=replace(project, subnet_id=found),
        spec=member.spec.model_copy(update={"subnet_id": found}),
    )


def _identity(claim: Claim, outside: Outside) -> str:
    there = outside.there(claim)
    return there.value.value if isinstance(there, Found) else ""


def _clean(store: Store, outside: Outside) -> Iterator[Network]:
    """Delete the networks that this fleet made and that no recorded cluster is in any more."""
    records, wrong = store.records()
    used = {each.claim.project for each in records}
    for each in store.networks():
        if each.project in used or wrong:
            continue
        try:
            with outside.networks() as provider:
                network.delete(each, provider, store.save_network, store.forget_network)
        except NpaError as error:
            yield Network(each.project, False, f"network {each.network_id or each.name} is left: {error}")
        else:
            yield Network(each.project, True, f"network {each.network_id or each.name} is gone")


def _seen(claim: Claim, record: Record | None, outside: Outside, busy: bool) -> Outcome:
    if record is None:
        return Outcome(claim, "absent", False, "not deployed yet")
    there = outside.there(claim)
    if isinstance(there, Unknown):
        return Outcome(claim, "unknown", False, there.why)
    if isinstance(there, Absent):
        return Outcome(claim, "absent", False, _told(record, "recorded, and not there", busy))
    if plan.another(record, there.value.value):
        return Outcome(
            claim, "foreign", False, "the cluster of this name is not the one that this fleet made"
        )
    try:
        found = outside.backend(claim.backend).status(claim)
    except NotFoundError:
        return Outcome(claim, "absent", False, _told(record, "only begun", busy))
    except NpaError as error:
        return replace(failed(claim, error), status="unknown")
    return replace(_outcome(claim, found), message=_told(record, found.message, busy))


def _told(record: Record, message: str, busy: bool) -> str:
    """Say what the record knows beside what was seen; `busy` is whether a run may be at it right now."""
    if busy and record.phase in ("changing", "destroying"):
        return "; ".join(each for each in (message, "being changed right now") if each)
    known = {
        "changing": "a deploy did not end",
        "destroying": "a destroy did not end",
        "failed": f"the last deploy failed: {record.message}",
        "deployed": "",
    }[record.phase]
    return "; ".join(each for each in (message, known) if each)


def _outcome(claim: Claim, found: Condition) -> Outcome:
    return Outcome(claim, found.status, found.ok, found.message, document=found.document)


def _unrecorded(members: Sequence[Member], known: dict[str, Record]) -> Iterator[Claim]:
    yield from (each.claim for each in members if each.claim.cluster not in known)


def _look(outcomes: Sequence[Outcome]) -> str:
    bad = next((each.claim for each in outcomes if not each.ok and each.status != "absent"), None)
    return f"npa soperator status {bad.cluster}" if bad else ""
