from __future__ import annotations

from typing import Any

from npa.operator.runtime.store import Store
from npa.render.objects import POD, dig


def pod(name: str, version: int, label: str = "x", uid: str = "u") -> dict[str, Any]:
    made = POD.object(name, "ns")
    made["metadata"] |= {"resourceVersion": str(version), "labels": {"app": label}, "uid": uid}
    return made


def store() -> Store:
    return Store(lambda found: [dig(found, "metadata", "labels", "app")])


def test_the_newest_that_was_seen_is_kept_whatever_comes_late() -> None:
    kept = store()
    new, late = pod("a", 9), pod("a", 8, "y")
    kept.put(new)

    assert kept.put(late) is late
    assert kept.get("ns", "a") == new
    assert kept.by("x") == (new,)
    assert kept.by("y") == ()


def test_the_index_follows_what_changes() -> None:
    kept = store()
    kept.put(pod("a", 1))
    moved = pod("a", 2, "y")
    kept.put(moved)

    assert kept.by("x") == ()
    assert kept.by("y") == (moved,)


def test_what_is_gone_is_gone_from_the_index() -> None:
    kept = store()
    kept.put(pod("a", 1))

    assert kept.remove(pod("a", 2)) == pod("a", 1)
    assert (len(kept), kept.by("x")) == (0, ())
    assert kept.remove(pod("a", 2)) is None


def test_a_successor_of_the_same_name_outlives_a_late_deletion() -> None:
    kept = store()
    successor = pod("a", 5, uid="new")
    kept.put(successor)

    assert kept.remove(pod("a", 4, uid="old")) is None
    assert kept.get("ns", "a") == successor
