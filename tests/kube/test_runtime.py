"""The operator's runtime against a real API server, with a toy to look after."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.kube import bed as beds
from tests.kube import operating
from tests.kube.bed import Bed
from tests.kube.clusters import cluster
from tests.kube.operating import at_rest, eventually, look_again, settled, writes

from npa.errors import KubeError
from npa.operator.keys import Controller
from npa.operator.main import Options
from npa.reconcile.decision import Decision
from npa.reconcile.settings import Settings
from npa.reconcile.world import World
from npa.render.objects import CONFIG_MAP, NAMESPACE, SLURM_CLUSTER, dig
from npa.slurm.lookup import Absent, Found
from npa.tools import kube_api
from npa.tools.kube_api import KubeApi


@pytest.fixture(scope="module")
def bed(mini: Bed) -> Bed:
    operating.define(mini)
    return mini


def space(bed: Bed, name: str) -> str:
    bed.apply(NAMESPACE.object(name))
    return name


def apply(bed: Bed, *objects: dict[str, Any]) -> None:
    done = bed.apply(*objects)
    assert done.code == 0, str(done)


def says(bed: Bed, name: str, namespace: str) -> Any:
    return dig(bed.get("slurmcluster", name, namespace), "status", "phase")


def test_what_is_asked_for_comes_and_then_nothing_is_written(bed: Bed) -> None:
    ns = space(bed, "settles")

    async def body() -> None:
        async with operating.operating(bed.access, settings=Settings(namespaces=(ns,))) as operator:
            for name in ("one", "two"):
                apply(bed, cluster(name, ns, f"for {name}"))
            await eventually(lambda: says(bed, "two", ns) == "for two", "the status follows")
            await at_rest(operator)
            before = writes(operator)
            await look_again(operator)

            assert bed.get("configmap", "one", ns)["data"] == {"said": "for one"}
            assert before == {("ConfigMap", "apply"): 2, ("SlurmCluster", "status"): 2}
            assert writes(operator) == before

    operating.run(body())


def test_what_somebody_takes_away_comes_back(bed: Bed) -> None:
    ns = space(bed, "heals")

    async def body() -> None:
        async with operating.operating(bed.access, settings=Settings(namespaces=(ns,))) as operator:
            apply(bed, cluster("one", ns, "said"))
            await eventually(lambda: says(bed, "one", ns) == "said", "the status follows")
            await settled(operator)
            bed.kubectl("delete", "configmap", "one", "-n", ns)
            await eventually(lambda: writes(operator)["ConfigMap", "apply"] == 2, "it is written again")
            edit = '{"data":{"said":"other"}}'
            bed.kubectl("patch", "configmap", "one", "-n", ns, "--type=merge", "-p", edit)
            await eventually(lambda: writes(operator)["ConfigMap", "apply"] == 3, "and again")

        assert bed.get("configmap", "one", ns)["data"] == {"said": "said"}

    operating.run(body())


def test_one_that_fails_says_so_and_holds_up_no_other(bed: Bed) -> None:
    ns = space(bed, "fails")
    broken = {"bad"}

    def decide(world: World, name: str, settings: Settings) -> Decision:
        if name in broken:
            raise KubeError("it is broken")
        return operating.toy(world, name, settings)

    async def body() -> None:
        controllers = (Controller("toy", SLURM_CLUSTER, decide),)
        async with operating.operating(bed.access, controllers, Settings(namespaces=(ns,))) as operator:
            apply(bed, cluster("bad", ns, "said"), cluster("good", ns, "said"))
            await eventually(lambda: says(bed, "good", ns) == "said", "the other goes on")
            await eventually(lambda: dig(bed.get("slurmcluster", "bad", ns), "status"), "the failure is said")
            row = bed.get("slurmcluster", "bad", ns)["status"]["conditions"][0]
            events = bed.kubectl("get", "events", "-n", ns, "-o", "name").out.split()

            assert (row["type"], row["status"], row["message"]) == ("Reconciled", "False", "it is broken")
            assert len(events) == 1
            broken.clear()
            apply(bed, cluster("bad", ns, "mended"))
            await eventually(lambda: says(bed, "bad", ns) == "mended", "a change is looked at at once")
            await settled(operator)

        assert not bed.get("slurmcluster", "bad", ns)["status"].get("conditions")

    operating.run(body())


def test_the_client_knows_absent_from_unknown_and_deletes_only_what_was_seen(bed: Bed) -> None:
    ns = space(bed, "client")

    async def body() -> None:
        api = KubeApi(bed.access)
        try:
            wanted = CONFIG_MAP.object("a", ns, data={"k": "1"})
            made = await api.create(wanted)
            again = await api.create(wanted)
            assert made is not None
            assert again is None
            assert isinstance(await api.get(CONFIG_MAP, "a", ns), Found)
            assert isinstance(await api.get(CONFIG_MAP, "b", ns), Absent)
            assert not await api.delete(CONFIG_MAP, "a", ns, uid="another")
            assert not await api.delete(CONFIG_MAP, "a", ns, resource_version="1")
            assert await api.delete(CONFIG_MAP, "a", ns, uid=made["metadata"]["uid"])
            assert not await api.delete(CONFIG_MAP, "a", ns)
        finally:
            await api.close()

    operating.run(body())


def test_a_long_list_comes_in_pages_and_whole(bed: Bed) -> None:
    ns = space(bed, "pages")

    async def body() -> None:
        api = KubeApi(bed.access)
        try:
            for index in range(7):
                await api.create(CONFIG_MAP.object(f"a{index}", ns))
            first = await api.call("GET", kube_api.path(CONFIG_MAP, ns), query={"limit": "3"})
            whole = await api.list(CONFIG_MAP, ns, page=3)

            assert len(first["items"]) == 3
            assert sorted(each["metadata"]["name"] for each in whole.items) == [f"a{n}" for n in range(7)]
            assert whole.items[0]["kind"] == "ConfigMap"
        finally:
            await api.close()

    operating.run(body())


# the client leaves to the garbage collector what was half read when the server ended
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_watches_outlive_the_api_server() -> None:
    """It goes away and comes back without the history that the watches go on from."""
    with beds.started("mini") as own:
        operating.define(own)

        async def body() -> None:
            async with operating.operating(own.access) as operator:
                apply(own, cluster("one", "default", "before"))
                await eventually(lambda: says(own, "one", "default") == "before", "the status follows")
                await asyncio.to_thread(restart, own)
                await asyncio.to_thread(apply, own, cluster("one", "default", "after"))
                await eventually(lambda: says(own, "one", "default") == "after", "the status follows", 60)
                await eventually(lambda: not operator.ready(), "every kind is watched again", 60)
            await forgotten(own)

        operating.run(body())
    gc.collect()


async def forgotten(bed: Bed) -> None:
    """A server that has just started does not know what happened long ago, and says so."""
    api = KubeApi(bed.access)
    try:
        with pytest.raises(KubeError) as refused:
            await anext(api.watch(SLURM_CLUSTER, since="1"))

        assert kube_api.gone(refused.value)
    finally:
        await api.close()


def restart(bed: Bed) -> None:
    pid = int((bed.state / "run" / "kube-apiserver.pid").read_text())
    os.kill(pid, signal.SIGKILL)
    (bed.state / "run" / "kube-apiserver.pid").unlink()
    told = {**os.environ, "STATE": str(bed.state), "PORT": str(bed.port), "BIN": str(bed.state / "bin")}
    subprocess.run(
        [str(beds.HOME / "k8s-up"), "mini"], env=told, check=True, timeout=180, capture_output=True
    )


def holder(bed: Bed, namespace: str) -> str:
    done = bed.kubectl(
        "get", "lease", "npa-operator", "-n", namespace, "-o", "jsonpath={.spec.holderIdentity}"
    )
    return done.out if done.code == 0 else ""


def test_one_process_leads_and_another_takes_over(bed: Bed, tmp_path: Path) -> None:
    ns = space(bed, "leads")
    options = ("--leader-elect", "--own-namespace", ns, "--namespace", ns)
    with operating.process(bed.kubeconfig, tmp_path / "first", *options) as first:
        one = beds.until(lambda: holder(bed, ns) or False, "somebody leads", 60)
        with operating.process(bed.kubeconfig, tmp_path / "second", *options):
            first.send_signal(signal.SIGTERM)

            assert first.wait(60) == 0
            another = beds.until(lambda: holder(bed, ns) not in ("", one) and holder(bed, ns), "taken over")

    assert another != one
    assert holder(bed, ns) == ""


def test_a_leader_that_is_killed_is_replaced_once_its_lease_has_run_out(bed: Bed, tmp_path: Path) -> None:
    ns = space(bed, "dies")
    options = ("--leader-elect", "--own-namespace", ns, "--namespace", ns)
    with operating.process(bed.kubeconfig, tmp_path / "first", *options) as first:
        one = beds.until(lambda: holder(bed, ns) or False, "somebody leads", 60)
        with operating.process(bed.kubeconfig, tmp_path / "second", *options) as second:
            first.kill()
            first.wait(10)
            assert holder(bed, ns) == one
            another = beds.until(lambda: holder(bed, ns) != one and holder(bed, ns), "taken over", 60)
            assert second.poll() is None

    assert another not in ("", one)


def test_who_lost_the_lease_writes_nothing_more(bed: Bed) -> None:
    ns = space(bed, "loses")

    async def body() -> None:
        settings, options = Settings(namespaces=(ns,)), Options(leader_elect=True, namespace=ns)
        async with operating.operating(bed.access, settings=settings, options=options) as operator:
            apply(bed, cluster("one", ns, "before"))
            await eventually(lambda: says(bed, "one", ns) == "before", "it leads and works")
            stolen = '{"spec":{"holderIdentity":"somebody"}}'
            bed.kubectl("patch", "lease", "npa-operator", "-n", ns, "--type=merge", "-p", stolen)
            await eventually(lambda: not operator.leads(), "it notices")
            before = writes(operator)
            apply(bed, cluster("one", ns, "after"))
            assert operator.leader is not None
            await operator.leader.lost.wait()

            assert writes(operator) == before

        assert says(bed, "one", ns) == "before"

    operating.run(body())
