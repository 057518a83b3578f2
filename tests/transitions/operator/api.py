"""An API server in memory: versions, preconditions, graceful deletion, and caches that lag behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from npa.errors import KubeError
from npa.reconcile.world import Key
from npa.render.objects import Object, dig, name_of

NAMESPACE = "soperator"


def moment(now: float) -> str:
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Api:
    """What the API server holds, and every state that it has been in, kind by kind."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self.objects: dict[Key, Object] = {}
        self.history: dict[str, list[dict[str, Object]]] = {}
        self.writes = 0  # by the operator
        self._version = 0

    def of(self, kind: str) -> list[Object]:
        return [found for (each, _), found in sorted(self.objects.items()) if each == kind]

    def get(self, kind: str, name: str) -> Object | None:
        return self.objects.get((kind, name))

    def put(self, obj: Object) -> Object:
        """Store an object as its next version."""
        self._version += 1
        kind = str(obj["kind"])
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        self.objects[kind, name_of(obj)] = stored
        self._remember(kind)
        return stored

    def remove(self, kind: str, name: str) -> None:
        """Remove an object, and what it owns, as the garbage collector does."""
        gone = self.objects.pop((kind, name), None)
        if gone is None:
            return
        self._version += 1
        self._remember(kind)
        for (owned, each), found in sorted(self.objects.items()):
            owners = dig(found, "metadata", "ownerReferences") or ()
            if any(owner["uid"] == dig(gone, "metadata", "uid") for owner in owners):
                self.delete(owned, each)

    def create(self, obj: Object) -> Object | None:
        if (obj["kind"], name_of(obj)) in self.objects:
            return None
        self._version += 1
        made = {
            "uid": f"uid-{self._version}",
            "generation": 1,
            "creationTimestamp": moment(self.now),
            "namespace": NAMESPACE,
        }
        return self.put({**obj, "metadata": {**obj["metadata"], **made}})

    def apply(self, obj: Object) -> Object:
        there = self.get(str(obj["kind"]), name_of(obj))
        if there is None:
            made = self.create(obj)
            assert made is not None
            return made
        merged = _merged(there, obj)
        if merged == there:
            return there
        if merged.get("spec") != there.get("spec"):
            merged = _generation(merged)
        return self.put(merged)

    def merge(self, obj: Object) -> None:
        """Change exactly the version that was seen."""
        there = self.get(str(obj["kind"]), name_of(obj))
        if there is None or dig(there, "metadata", "resourceVersion") != dig(
            obj, "metadata", "resourceVersion"
        ):
            raise KubeError(f"{obj['kind']} {name_of(obj)} is gone, or was changed", status=409)
        self.apply(obj)

    def edit(self, kind: str, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change an object's spec or metadata as a person does."""
        there = self.get(kind, name)
        if there is None:
            return
        changed = {**there, "metadata": dict(there["metadata"]), "spec": dict(there.get("spec") or {})}
        change(changed)
        self.put(_generation(changed) if changed["spec"] != there.get("spec") else changed)

    def status(self, kind: str, name: str, status: Mapping[str, Any]) -> None:
        there = self.get(kind, name)
        if there is not None and there.get("status") != status:
            self.put({**there, "status": dict(status)})

    def delete(self, kind: str, name: str, uid: str = "", version: str = "") -> None:
        """Delete an object: pods, and claims that a pod has, go later."""
        there = self.get(kind, name)
        if there is None:
            return
        if (uid and dig(there, "metadata", "uid") != uid) or (
            version and dig(there, "metadata", "resourceVersion") != version
        ):
            raise KubeError(f"{kind} {name} is another one, or was changed", status=409)
        graceful = kind == "Pod" or (kind == "PersistentVolumeClaim" and self._claimed(name))
        if not graceful:
            self.remove(kind, name)
        elif not dig(there, "metadata", "deletionTimestamp"):
            self.put({**there, "metadata": {**there["metadata"], "deletionTimestamp": moment(self.now)}})

    def _claimed(self, claim: str) -> bool:
        return any(
            dig(volume, "persistentVolumeClaim", "claimName") == claim
            for pod in self.of("Pod")
            for volume in dig(pod, "spec", "volumes") or ()
        )

    def settle_claims(self) -> None:
        """Let claims go that were deleted while a pod had them."""
        for claim in self.of("PersistentVolumeClaim"):
            if dig(claim, "metadata", "deletionTimestamp") and not self._claimed(name_of(claim)):
                self.remove("PersistentVolumeClaim", name_of(claim))

    def _remember(self, kind: str) -> None:
        now = {name: found for (each, name), found in self.objects.items() if each == kind}
        self.history.setdefault(kind, [{}]).append(now)


class Cache:
    """What an operator sees: of each kind some state that the API server was in, never an older one again."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._at: dict[str, int] = {}
        self.catch_up()

    def catch_up(self) -> None:
        self._at = {kind: len(states) - 1 for kind, states in self._api.history.items()}

    def lag(self, rng: random.Random) -> None:
        """Hear some of the news, of each kind as many as it happens."""
        for kind, states in self._api.history.items():
            seen = self._at.get(kind, 0)
            self._at[kind] = rng.choice((seen, rng.randint(seen, len(states) - 1), len(states) - 1))

    def objects(self) -> dict[Key, Object]:
        return {
            (kind, name): found
            for kind, states in self._api.history.items()
            for name, found in states[self._at.get(kind, 0)].items()
        }


def _generation(obj: Object) -> Object:
    count = int(dig(obj, "metadata", "generation") or 0) + 1
    return {**obj, "metadata": {**obj["metadata"], "generation": count}}


def _merged(there: Any, wanted: Any) -> Any:
    if isinstance(there, Mapping) and isinstance(wanted, Mapping):
        return {**there, **{key: _merged(there.get(key), value) for key, value in wanted.items()}}
    return wanted
