"""The hands on a real API server: what is merged, and how a key is replaced, kept, put back and dropped."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.kube import operating
from tests.kube.bed import Bed

from npa.errors import KubeError, UnknownError
from npa.operator.act import Act, Target
from npa.operator.notices import Notices
from npa.operator.runtime.metrics import Metrics
from npa.operator.slurm_poll import Slurm
from npa.reconcile.decision import Decision, KeyChange, NewKey, NewSecret
from npa.reconcile.settings import Settings
from npa.render.kube import names
from npa.render.objects import NAMESPACE, POD, POWER_STATE, SECRET, SLURM_CLUSTER, dig
from npa.tools.kube_api import KubeApi

NS = "hands"
KEY = "slurm.key"


@pytest.fixture(scope="module")
def bed(mini: Bed) -> Bed:
    operating.define(mini)
    assert mini.apply(NAMESPACE.object(NS)).code == 0
    return mini


def do(bed: Bed, *decisions: Decision) -> None:
    """Do what was decided, one after the other."""

    async def body() -> None:
        api = KubeApi(bed.access)
        settings, metrics, notices = Settings(), Metrics(), Notices(api)
        slurm = cast(Slurm, None)  # none of it is about Slurm
        act = Act(api, slurm, settings, metrics, leads=lambda: True, keep=lambda _: None, notices=notices)
        try:
            for each in decisions:
                await act.do(Target(SLURM_CLUSTER, (NS, "c"), None), each)
        finally:
            await api.close()

    asyncio.run(body())


def seen(bed: Bed, kind: str, name: str) -> str:
    return str(bed.get(kind, name, NS)["metadata"]["resourceVersion"])


def power(active: list[int], version: str = "") -> dict[str, Any]:
    wanted = POWER_STATE.object("burst", NS, spec={"nodeSetRef": "burst", "activeNodes": active})
    wanted["metadata"] |= {"resourceVersion": version} if version else {}
    return wanted


@pytest.mark.parametrize("first", [pytest.param([], id="of none"), pytest.param([0, 1], id="of two")])
def test_a_list_that_was_created_is_emptied_again(bed: Bed, first: list[int]) -> None:
    bed.kubectl("delete", "nodesetpowerstate", "burst", "-n", NS)
    do(bed, Decision(create=(power(first),)))
    for active in ([3], []):
        do(bed, Decision(merge=(power(active, seen(bed, "nodesetpowerstate", "burst")),)))
        assert dig(bed.get("nodesetpowerstate", "burst", NS), "spec", "activeNodes") == active


def test_only_the_version_that_was_seen_is_merged(bed: Bed) -> None:
    do(bed, Decision(create=(power([0]),)))
    version = seen(bed, "nodesetpowerstate", "burst")
    do(bed, Decision(merge=(power([1], version),)))

    with pytest.raises(KubeError):
        do(bed, Decision(merge=(power([2], version),)))


def key(bed: Bed, how: NewKey, **annotations: str | None) -> KeyChange:
    version = seen(bed, "secret", "k")
    return KeyChange(how, NS, "k", KEY, 32, version, tuple(annotations.items()))


def held(bed: Bed) -> dict[str, bytes]:
    return {name: base64.b64decode(text) for name, text in bed.get("secret", "k", NS)["data"].items()}


def test_a_key_is_replaced_beside_the_old_one_which_goes_back_or_is_dropped(bed: Bed) -> None:
    bed.kubectl("delete", "secret", "k", "-n", NS)
    do(bed, Decision(secrets=(NewSecret(SECRET.object("k", NS, type="Opaque"), random=((KEY, 32),)),)))
    first = held(bed)[KEY]
    do(bed, Decision(keys=(key(bed, "replace", word="one"),)))
    second = held(bed)
    do(bed, Decision(keys=(key(bed, "restore", word=None),)))
    back = held(bed)
    do(bed, Decision(keys=(key(bed, "replace", word="two"),)), Decision(keys=()))
    do(bed, Decision(keys=(key(bed, "settle"),)))

    assert second == {KEY: second[KEY], f"{KEY}.before": first}
    assert second[KEY] != first
    assert len(second[KEY]) == 32
    assert back == {KEY: first}
    assert [*held(bed)] == [KEY]
    assert held(bed)[KEY] not in (first, second[KEY])
    assert dig(bed.get("secret", "k", NS), "metadata", "annotations") == {"word": "two"}


def test_no_key_is_replaced_that_somebody_has_read(bed: Bed) -> None:
    labels = names.labels("train", "worker")
    pod = POD.object("gpu-0", NS, spec={"containers": [{"name": "slurmd", "image": "i"}]})
    pod["metadata"]["labels"] = labels
    assert bed.apply(SECRET.object("k", NS, data={KEY: "AAAA"}), pod).code == 0
    change = replace(key(bed, "replace", word="x"), cluster="train")

    with pytest.raises(UnknownError, match="gpu-0 is there"):
        do(bed, Decision(keys=(change,)))
    assert held(bed)[KEY] == b"\0\0\0"

    bed.kubectl("delete", "pod", "gpu-0", "-n", NS, "--grace-period=0", "--force")
    do(bed, Decision(keys=(change,)))
    assert held(bed)[KEY] != b"\0\0\0"
