"""What a plan may do: the cases are those of the catalogue, by their numbers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.tfplans import BUILTIN, VOLUME, document, group, judge, resource, workers

from npa.errors import DestructiveError, RefusedError
from npa.render.nebius import tfguard
from npa.render.nebius.tfguard import Verdict

CONTEXT = "module.k8s.terraform_data.kubectl_cluster_context"
LOGIN = "module.login_script.local_file.this"
FORCED: dict[str, Any] = {
    "action_reason": "replace_because_cannot_update",
    "replace_paths": [["triggers_replace"]],
}


def refused(verdict: Verdict) -> list[str]:
    return [each.key for each in verdict.refused]


def refresh(address: str = CONTEXT, *actions: str, **more: Any) -> dict[str, Any]:
    given = {"kind": "terraform_data", "provider": BUILTIN, **FORCED, **more}
    return resource(address, *(actions or ("delete", "create")), **given)


@pytest.mark.parametrize("actions", [("delete", "create"), ("create", "delete")])
def test_c12_a_replacement_is_refused_in_both_orders(actions: tuple[str, ...]) -> None:
    verdict = judge(document(resource("module.k8s.x.y", *actions, **FORCED)))

    assert refused(verdict) == ["module.k8s.x.y"]
    assert verdict.refused[0].text == "module.k8s.x.y would be rebuilt: forced by triggers_replace"


def test_c12_a_tainted_object_is_refused() -> None:
    verdict = judge(document(resource("x.y", "delete", "create", action_reason="replace_because_tainted")))

    assert "tainted" in verdict.refused[0].text


def test_c12_a_data_source_may_be_read() -> None:
    read = resource("data.x.y", "read", kind="x", mode="data", action_reason="read_because_config_unknown")

    assert judge(document(read, applyable=True), code=2).ok


def test_c12_only_data_sources_are_read() -> None:
    assert judge(document(resource("x.y", "read"))).faults


def test_c12_audited_refreshes_pass() -> None:
    local = "registry.terraform.io/hashicorp/local"
    script = resource(
        LOGIN, "delete", "create", kind="local_file", provider=local,
        action_reason="replace_because_cannot_update", replace_paths=[["content"]],
    )  # fmt: skip
    verdict = judge(document(refresh(), script))

    assert (verdict.ok, verdict.refreshed) == (True, (CONTEXT, LOGIN))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(refresh(CONTEXT, "delete"), id="deleted"),
        pytest.param(refresh(f"module.other.{CONTEXT}"), id="another-module"),
        pytest.param(refresh(f"{CONTEXT}[0]"), id="an-instance"),
        pytest.param(refresh(kind="nebius_mk8s_v1_node_group"), id="another-type"),
        pytest.param(refresh(provider="registry.terraform.io/x/y"), id="another-provider"),
        pytest.param(refresh(action_reason="replace_because_tainted"), id="another-reason"),
        pytest.param(refresh(replace_paths=[["triggers_replace"], ["input"]]), id="another-path"),
        pytest.param(refresh(replace_paths=[]), id="no-path"),
        pytest.param(refresh(previous_address="x.y"), id="moved-here"),
        pytest.param(refresh(deposed="a1b2c3d4"), id="deposed"),
    ],
)
def test_c12_what_only_looks_like_a_refresh_is_refused(change: dict[str, Any]) -> None:
    assert refused(judge(document(change)))


def test_c12_a_refresh_is_exempt_once() -> None:
    assert judge(document(refresh(), refresh())).faults == (f"resource_changes[1]: {CONTEXT} is there twice",)


CREATE = resource("module.k8s.nebius_mk8s_v1_node_group.cpu", "create")


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        pytest.param(document(CREATE, errored=True, applyable=False, complete=False), 1, id="errored"),
        pytest.param(document(CREATE), 1, id="exit-1-with-a-plan"),
        pytest.param(document(CREATE, complete=False), 2, id="partial"),
        pytest.param(document(CREATE, format_version="2.0"), 2, id="format-2"),
        pytest.param(document(CREATE, format_version=None), 2, id="no-format"),
        pytest.param(document(CREATE, applyable=False), 2, id="not-applyable"),
        pytest.param(document(CREATE, errored="no"), 2, id="errored-is-a-word"),
        pytest.param(document(CREATE, action_invocations=[{"address": "action.x"}]), 2, id="unheard-of"),
        pytest.param(document(CREATE), 0, id="changes-that-the-exit-code-denies"),
        pytest.param(document(), 2, id="no-changes-that-the-exit-code-claims"),
        pytest.param([], 2, id="a-list"),
        pytest.param(None, 2, id="nothing"),
    ],
)
def test_c13_a_plan_that_is_not_whole_is_refused(plan: Any, code: int) -> None:
    verdict = judge(plan, code=code)

    assert verdict.faults
    with pytest.raises(RefusedError, match="cannot be trusted"):
        tfguard.check(verdict)


def test_c13_a_plan_with_our_own_target_is_never_complete() -> None:
    assert judge(document(CREATE, complete=False), targeted=True).ok


def test_c13_an_older_terraform_does_not_say_complete() -> None:
    plan = document(CREATE)
    del plan["complete"], plan["applyable"]

    assert judge(plan).ok


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("x", id="no-mapping"),
        pytest.param({"address": "a.b"}, id="no-change"),
        pytest.param({**CREATE, "change": {"actions": "create"}}, id="actions-is-a-word"),
        pytest.param({**CREATE, "change": {}}, id="no-actions"),
        pytest.param({**CREATE, "change": {"actions": []}}, id="empty-actions"),
        pytest.param({**CREATE, "change": {"actions": ["explode"]}}, id="unknown-action"),
        pytest.param({**CREATE, "type": None}, id="no-type"),
        pytest.param({**CREATE, "mode": "other"}, id="unknown-mode"),
        pytest.param({**CREATE, "action_reason": "because"}, id="unknown-reason"),
        pytest.param({**CREATE, "news": 1}, id="unknown-key"),
        pytest.param({**CREATE, "change": {"actions": ["create"], "news": 1}}, id="unknown-key-of-a-change"),
        pytest.param({**CREATE, "change": {"actions": ["delete"], "replace_paths": "x"}}, id="paths"),
    ],
)
def test_an_entry_that_is_not_understood_refuses_the_plan(entry: Any) -> None:
    assert judge(document(CREATE) | {"resource_changes": [CREATE, entry]}).faults


@pytest.mark.parametrize("actions", [("forget",), ("create", "forget")])
def test_what_would_be_forgotten_is_refused_for_good(actions: tuple[str, ...]) -> None:
    verdict = judge(document(resource("x.y", *actions)))

    assert [each.approvable for each in verdict.refused] == [False]


def test_c14_a_pure_move_passes_and_is_listed() -> None:
    verdict = judge(document(resource("g.new", "no-op", previous_address="g.old"), applyable=True))

    assert verdict.ok
    assert not verdict.nothing_to_do
    assert verdict.notes == ("g.old is moved to g.new",)


def test_c14_a_move_with_a_replacement_names_both_addresses() -> None:
    verdict = judge(document(resource("g.new", "delete", "create", previous_address="g.old", **FORCED)))

    assert verdict.refused[0].address == "g.new"
    assert "moved from g.old" in verdict.refused[0].text


@pytest.mark.parametrize("action", ["update", "no-op"])
def test_c14_an_import_needs_leave(action: str) -> None:
    verdict = judge(document(resource("g.imp", action, importing={"id": "abc"}), applyable=True))

    assert refused(verdict) == ["g.imp"]
    assert not verdict.nothing_to_do


def test_c14_data_stays_protected_after_a_move() -> None:
    moved = resource("module.b.fs.jail", "delete", kind=VOLUME, previous_address="module.a.fs.jail")

    assert not judge(document(moved)).refused[0].approvable


def test_c15_a_deferred_change_is_refused() -> None:
    deferred = {"reason": "x", "resource_change": workers(0, "delete", "create", old=group("gpu-0", 2))}
    verdict = judge(document(CREATE, complete=False, deferred_changes=[deferred]))

    assert any("second plan" in fault for fault in verdict.faults)
    assert [(each.approvable, "pool gpu" in each.text) for each in verdict.refused] == [(False, True)]


@pytest.mark.parametrize("unknown", [{"fixed_node_count": True}, True])
def test_c15_a_size_that_is_unknown_is_not_zero(unknown: Any) -> None:
    change = workers(
        0,
        "update",
        old=group("cpu-0", 4),
        new={"name": "cpu-0", "fixed_node_count": None},
        after_unknown=unknown,
    )

    assert "cannot be verified: 4 -> (known after apply)" in judge(document(change)).refused[0].text


def test_c15_a_machine_that_is_unknown_is_refused() -> None:
    old = group("gpu-0", 4, template={"resources": {"preset": "a"}, "status": "x"})
    change = workers(
        0, "update", old=old, new=group("gpu-0", 5, template={}),
        after_unknown={"template": {"resources": {"preset": True}, "status": True}},
    )  # fmt: skip

    assert "template.resources.preset a -> (known after apply)" in judge(document(change)).refused[0].text


def test_c15_what_the_provider_computes_is_no_replacement() -> None:
    old = group("gpu-0", 4, template={"resources": {"preset": "a"}, "status": "x"})
    new = group("gpu-0", 5, template={"resources": {"preset": "a"}})

    assert judge(
        document(workers(0, "update", old=old, new=new, after_unknown={"template": {"status": True}}))
    ).ok


def test_c17_drift_is_told_and_not_counted() -> None:
    drift = [workers(0, "delete", old=group("gpu-0", 2))]
    verdict = judge(document(workers(0, "create", new=group("gpu-0", 2)), resource_drift=drift))

    assert verdict.ok
    assert verdict.notes == ("pool gpu was deleted outside Terraform, and is created anew",)


def checked(status: str) -> dict[str, Any]:
    problems = [{"problems": [{"message": "quota low"}]}]
    return {"address": {"to_display": "check.quota"}, "status": status, "instances": problems}


def test_c17_a_failed_check_needs_leave() -> None:
    plan = document(CREATE, checks=[checked("fail")])
    verdict = judge(plan)

    assert verdict.refused[0].text == "check.quota failed: quota low"
    assert judge(plan, f"check.quota@{verdict.digest}").ok


def test_c17_an_unknown_check_is_no_failure() -> None:
    assert judge(document(CREATE, checks=[checked("unknown")])).ok


def test_c17_outputs_alone_do_not_trip() -> None:
    plan = document(output_changes={"ip": {"actions": ["create"]}}, applyable=True)
    del plan["resource_changes"]
    verdict = judge(plan, code=2)

    assert verdict.ok
    assert not verdict.nothing_to_do


def test_c18_a_plan_without_a_list_does_nothing() -> None:
    plan = {"format_version": "1.2", "terraform_version": "1.6.3", "planned_values": {}, "errored": False}

    assert judge(plan).nothing_to_do
    assert judge(document(resource("x.y", "no-op"))).nothing_to_do


def test_c18_a_list_that_is_missing_though_there_are_changes_is_a_fault() -> None:
    plan = document(applyable=True)
    del plan["resource_changes"]

    assert judge(plan, code=2).faults == ("resource_changes is missing",)


def test_c19_a_deposed_object_has_a_key_of_its_own() -> None:
    plan = document(
        workers(0, "no-op", old=group("gpu-0", 2), new=group("gpu-0", 2)),
        workers(0, "delete", old=group("gpu-0", 2), deposed="a1b2c3d4"),
    )
    verdict = judge(plan)
    key = "module.k8s.nebius_mk8s_v1_node_group.worker_v2[0]:deposed:a1b2c3d4"

    assert refused(verdict) == [key]
    assert judge(plan, f"{key}@{verdict.digest}").ok
    assert not judge(plan, f"{key.partition(':')[0]}@{verdict.digest}").ok


def test_c20_a_pool_that_is_gone_is_named() -> None:
    gone = resource(
        'module.k8s.ng.worker_v2["gpu"]', "delete", kind="nebius_mk8s_v1_node_group",
        before=group("gpu-0", 2), action_reason="delete_because_each_key",
    )  # fmt: skip

    assert judge(document(gone)).refused[0].text.startswith("pool gpu would be deleted")


def test_c20_pools_that_move_up_are_named() -> None:
    verdict = judge(
        document(
            workers(1, "delete", "create", old=group("gpu-0", 2), new=group("viz-0", 1), **FORCED),
            workers(2, "delete", old=group("viz-0", 1), action_reason="delete_because_count_index"),
        )
    )

    assert [each.text for each in verdict.refused] == [
        "pool gpu would be deleted and pool viz be built on its place, because pools are keyed by position: "
        "forced by triggers_replace",
        "pool viz would be rebuilt because pools are keyed by position: the recipe asks for fewer",
    ]


def bounds(low: int, high: int) -> dict[str, Any]:
    return group("gpu-0", None, autoscaling={"min_node_count": low, "max_node_count": high})


@pytest.mark.parametrize(
    ("old", "new", "ok"),
    [
        pytest.param(group("gpu-0", 4), group("gpu-0", 1), False, id="fewer"),
        pytest.param(group("gpu-0", 4), group("gpu-0", 5), True, id="more"),
        pytest.param(bounds(3, 24), bounds(3, 9), False, id="lower-maximum"),
        pytest.param(bounds(3, 9), bounds(3, 24), True, id="higher-maximum"),
        pytest.param(group("gpu-0", 4), bounds(0, 4), False, id="fixed-to-elastic"),
        pytest.param(group("gpu-0", 4), group("gpu-0", None), False, id="no-size"),
        pytest.param(group("gpu-0", 4), group("gpu-0", True), False, id="true-is-no-number"),
    ],
)
def test_a_node_group_does_not_shrink_without_leave(old: Any, new: Any, ok: bool) -> None:
    assert judge(document(workers(0, "update", old=old, new=new))).ok is ok


@pytest.mark.parametrize(
    ("old", "new", "ok"),
    [(2048, 2000, False), (2048, 4096, True), (2048, None, False), (2048, 2048.5, False)],
)
def test_c67_a_filesystem_never_shrinks(old: Any, new: Any, ok: bool) -> None:
    change = resource(
        "module.filestore.nebius_compute_v1_filesystem.jail[0]", "update", kind=VOLUME,
        before={"name": "soperator-x-jail", "size_gibibytes": old}, after={"size_gibibytes": new},
    )  # fmt: skip
    verdict = judge(document(change))

    assert verdict.ok is ok
    assert all(not each.approvable and str(old) in each.text for each in verdict.refused)


@pytest.mark.parametrize(
    ("unit", "old", "new", "said"),
    [
        ("size_bytes", 2 << 40, 2000 << 30, "from 2048 GiB to 2000 GiB"),
        ("size_bytes", 2_198_956_146_688, 2000 << 30, "from 2047 GiB and 1006632960 bytes to 2000 GiB"),
        ("size_bytes", (2 << 40) + 1, 2 << 40, "from 2048 GiB and 1 bytes to 2048 GiB"),
        ("size_kibibytes", 4 << 20, 2 << 20, "from 4 GiB to 2 GiB"),
    ],
)
def test_c67_a_shrink_names_both_sizes_whatever_their_unit(unit: str, old: int, new: int, said: str) -> None:
    change = resource(
        "module.filestore.nebius_compute_v1_filesystem.jail[0]", "update", kind=VOLUME,
        before={"name": "soperator-x-jail", unit: old}, after={unit: new},
    )  # fmt: skip

    assert [each.text for each in judge(document(change)).refused] == [
        f"filesystem soperator-x-jail would shrink {said}"
    ]


def reserved(strategy: Any) -> dict[str, Any]:
    policy = {"policy": "STRICT", "reservation_ids": ["cbg-secret"]}
    return group("gpu-0", 4, template={"reservation_policy": policy}, strategy=strategy)


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        pytest.param({"max_surge": {"percent": 0}}, "", id="percent"),
        pytest.param({"max_surge": {"count": 0, "percent": None}}, "", id="count"),
        pytest.param({"max_surge": {"count": 1}}, "more machines", id="one-more"),
        pytest.param({"max_surge": None}, "is not said", id="null"),
        pytest.param(None, "is not said", id="the-provider-s-default"),
    ],
)
def test_c05_a_reserved_pool_rolls_out_without_a_machine_more(strategy: Any, said: str) -> None:
    verdict = judge(document(workers(0, "create", new=reserved(strategy))))

    assert verdict.ok is not bool(said)
    assert all(said in each.text and "cbg-secret" not in each.text for each in verdict.refused)


def test_c05_a_pool_on_demand_may_roll_out_as_it_likes() -> None:
    new = group("gpu-0", 4, template={"reservation_policy": None}, strategy={"max_surge": {"count": 3}})

    assert judge(document(workers(0, "create", new=new))).ok


def test_c67_the_jail_is_never_deleted_by_a_deploy() -> None:
    jail = resource("module.filestore.nebius_compute_v1_filesystem.jail[0]", "delete", kind=VOLUME)
    plan = document(jail)
    verdict = judge(plan, f"{jail['address']}@{judge(plan).digest}")

    assert not verdict.ok
    with pytest.raises(DestructiveError):
        tfguard.check(judge(plan))


def test_a_destroy_deletes_and_does_nothing_else() -> None:
    gone, made = resource("x.y", "delete", kind=VOLUME), resource("x.z", "create")

    assert judge(document(gone), destroying=True).ok
    assert not judge(document(gone, made), destroying=True).ok


def test_a_refusal_names_each_address_and_its_approval() -> None:
    plan = document(*(resource(f"x.y{number}", "delete") for number in range(2)))
    verdict = judge(plan)
    with pytest.raises(DestructiveError) as caught:
        tfguard.check(verdict)

    assert caught.value.steps == ("x.y0", "x.y1")
    assert caught.value.hint == (
        f"allow exactly this: --approve x.y0@{verdict.digest} --approve x.y1@{verdict.digest}"
    )
