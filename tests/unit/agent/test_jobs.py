from __future__ import annotations

import pytest
from tests.fakes.tools import PATIENCE, Gate, Named, failing

from npa.agent.errors import BusyError
from npa.agent.jobs import Job, Jobs
from npa.api import failure
from npa.errors import NotFoundError, RefusedError, UnhealthyError


def started(jobs: Jobs, gate: Gate, name: str = "a") -> Job:
    job = jobs.start(gate.tool(), Named(name=name))
    assert gate.reached.wait(PATIENCE)
    return job


def ended(job: Job) -> dict[str, object]:
    job.join(PATIENCE)
    return job.document()


def test_a_job_has_its_events_and_its_answer() -> None:
    gate = Gate()
    job = started(Jobs(), gate)
    gate.opened.set()

    document = ended(job)

    assert (document["state"], document["exit_code"], document["events"]) == ("done", 0, 2)
    assert document["result"] == {"schema_version": "npa.tool.fake/v1", "ok": True, "name": "a"}
    assert [each.event.step for each in job.since(0)[0]] == ["one", "two"]
    assert [each.event.step for each in job.since(1)[0]] == ["two"]


def test_nothing_else_changes_the_same_thing_and_it_says_who_does() -> None:
    running, gate = Jobs(), Gate()
    job = started(running, gate)

    with pytest.raises(BusyError) as caught:
        running.start(gate.tool(), Named(name="a"))

    other = running.start(gate.tool(), Named(name="b"))
    gate.opened.set()
    document, _ = failure.described(caught.value)
    assert document["error"]["holder"] == {"job": job.id, "tool": "infra.fake.change", "since": job.created}
    assert job.id in str(caught.value)
    assert {ended(job)["state"], ended(other)["state"]} == {"done"}
    assert ended(running.start(gate.tool(), Named(name="a")))["state"] == "done"


def test_a_stopped_job_ends_before_its_next_step() -> None:
    running, gate = Jobs(), Gate()
    job = started(running, gate)

    job.stop()
    before = job.document()
    gate.opened.set()

    assert (before["state"], before["stopping"]) == ("running", True)
    document = ended(job)
    assert (document["state"], document["exit_code"], document["events"]) == ("stopped", 130, 1)


@pytest.mark.parametrize(
    ("error", "code", "exit_code"),
    [
        pytest.param(RefusedError("no"), "refused", 3, id="refused"),
        pytest.param(UnhealthyError("ill", None), "degraded", 4, id="degraded"),
        pytest.param(ZeroDivisionError("surprise"), "unexpected", 1, id="unexpected"),
    ],
)
def test_a_failure_is_the_result(error: Exception, code: str, exit_code: int) -> None:
    job = Jobs().start(failing(error, claims=True), Named(name="a"))

    document = ended(job)

    assert (document["state"], document["exit_code"]) == ("failed", exit_code)
    assert job.result()[0]["error"]["code"] == code


def test_closing_takes_no_more_and_stops_what_runs() -> None:
    running, gate = Jobs(), Gate()
    job = started(running, gate)

    running.close()
    still = running.join(0)
    with pytest.raises(RefusedError, match="shutting down"):
        running.start(gate.tool(), Named(name="b"))
    gate.opened.set()

    assert still == [job]
    assert running.join(PATIENCE) == []
    assert job.state == "stopped"


def test_old_jobs_are_forgotten() -> None:
    running = Jobs(kept=2)
    done = []
    for _ in range(5):
        done.append(running.start(failing(RefusedError("no"), claims=True), Named(name="a")))
        ended(done[-1])

    with pytest.raises(NotFoundError):
        running.find(done[0].id)

    assert running.find(done[-1].id) is done[-1]


def test_too_many_at_once_are_refused() -> None:
    running, gate = Jobs(most=1), Gate()
    job = started(running, gate)

    with pytest.raises(RefusedError, match="1 jobs run already"):
        running.start(gate.tool(), Named(name="b"))

    gate.opened.set()
    assert ended(job)["state"] == "done"
