from __future__ import annotations

from tests.kube.bed import Bed, until

from npa.render.objects import CONFIG_MAP, NAMESPACE
from npa.slurm.lookup import Absent, Found


def test_what_is_applied_is_there(mini: Bed) -> None:
    done = mini.apply(CONFIG_MAP.object("bed", "default", data={"key": "value"}))

    assert done.code == 0, str(done)
    assert mini.get("configmap", "bed")["data"] == {"key": "value"}


def test_the_client_reaches_the_same_server(mini: Bed) -> None:
    kube = mini.kube()
    try:
        kube.apply(CONFIG_MAP.object("ours", "default", data={"key": "value"}))
        found, absent = kube.get(CONFIG_MAP, "ours", "default"), kube.get(CONFIG_MAP, "no", "default")
    finally:
        kube.close()

    assert isinstance(found, Found)
    assert isinstance(absent, Absent)


def test_controllers_run(controlled: Bed) -> None:
    def look() -> bool:
        return controlled.kubectl("get", "serviceaccount", "default", "-n", "bed").code == 0

    controlled.apply(NAMESPACE.object("bed"))

    assert until(look, "the controllers give a namespace its service account")


def test_beds_run_side_by_side(mini: Bed, strict: Bed) -> None:
    mini.apply(NAMESPACE.object("here"))
    strict.apply(NAMESPACE.object("there"))

    assert mini.kubectl("get", "namespace", "there").code == 1
    assert strict.kubectl("get", "namespace", "there").code == 0
