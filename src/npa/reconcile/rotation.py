"""A cluster's new keys: whoever has read the old one is ended first, so that no two daemons ever differ.

Daemons read their keys once, when they start. Who wants a new key writes a word of their own on the cluster;
the key's Secret bears the word that it was made for. Until the two are the same, the readers end; with none
left the key is replaced in one write, beside the old one; then they start again. All of it follows from what
is seen, so that an operator which ends anywhere goes on there. Where the cluster does not come up, the old
key is put back likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from npa.reconcile import conditions, maintenance
from npa.reconcile.conditions import Condition
from npa.reconcile.decision import KeyChange, NewKey
from npa.reconcile.nodeset_workers import moment
from npa.reconcile.workloads import State
from npa.reconcile.world import World
from npa.render.kube import keys, names
from npa.render.objects import DEPLOYMENT, SECRET, STATEFUL_SET, Object, dig, name_of

COMES_UP = 900.0  # seconds in which a cluster has to come up with its new key
ROTATING = "KeyRotation"  # condition of a cluster of which a new key was asked for
# on a SlurmCluster: the word for whose new key running jobs are ended
ENDS_JOBS = f"{names.PREFIX}rotation-ends-jobs"
# on a Secret of a key
WORD = f"{names.PREFIX}key-word"  # what it was made for; none: the first one
BEFORE = (
    f"{names.PREFIX}key-before"  # the word of the old key, which is kept until the new one is seen to work
)
WRITTEN = f"{names.PREFIX}key-written"
FAILED = f"{names.PREFIX}key-failed"  # the word whose key did not work
_WRITES = {"word": WORD, "before": BEFORE, "written": WRITTEN, "failed": FAILED}
STAMP = f"{names.PREFIX}key-word"  # on the pods of whoever reads a key that jobs do not

AUTH = "auth"
_COMPONENT = "app.kubernetes.io/component"
# whose start shows that a key works: an exporter that does not come is no reason to take one back
_PROOF: tuple[names.Component, ...] = ("controller", "accounting", "login", "rest")
_DAEMONS = frozenset({"controller", "accounting", "login", "rest", "worker"})


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a cluster, and who reads it."""

    name: str  # `auth` or `jwt`
    secret: str
    entry: str  # of the Secret's data
    asked: str  # annotation of the SlurmCluster
    readers: frozenset[str]  # components; empty: all of them, the steps of running jobs too


def of(cluster: str) -> tuple[Key, ...]:
    """Return the keys of a cluster."""
    return (
        Key(AUTH, names.auth_key(cluster), keys.AUTH, f"{names.PREFIX}rotate-auth-key", frozenset()),
        Key(
            "jwt",
            names.jwt_key(cluster),
            keys.JWT,
            f"{names.PREFIX}rotate-jwt-key",
            frozenset({"controller", "accounting", "exporter"}),
        ),
    )


@dataclass(frozen=True, slots=True)
class Stand:
    """How far one key is."""

    key: Key
    secret: Object
    word: str  # that the key there is was made for
    goal: str  # for which it should be

    @property
    def pending(self) -> bool:
        """Whether another key has to be written."""
        return self.word != self.goal

    @property
    def keeps_old(self) -> bool:
        """Whether the old key is still kept."""
        return BEFORE in _annotations(self.secret)


def unknown(world: World) -> bool:
    """Say whether nobody can tell how far a new key is: one was asked for, and Secrets could not be read.

    What reads a key must neither start nor restart then.
    """
    said = _annotations(world.cluster or {})
    return SECRET.kind in world.unread and any(key.asked in said for key in of(name_of(world.cluster or {})))


def stands(world: World) -> tuple[Stand, ...]:
    """Return how far each key is that is there; a Secret that could not be read stays as it is."""
    if world.cluster is None or SECRET.kind in world.unread:
        return ()
    found = []
    for key in of(name_of(world.cluster)):
        secret = world.find(SECRET.kind, key.secret)
        if secret is not None:
            word = _annotations(secret).get(WORD, "")
            found.append(Stand(key, secret, word, _goal(world.cluster, key, secret, word)))
    first = next((each for each in found if each.keeps_old), None)
    first = first or next((each for each in found if each.pending), None)
    # one after the other: what does not come up tells which of them is to blame
    return tuple(each if each is first else replace(each, goal=each.word) for each in found)


def _goal(cluster: Object, key: Key, secret: Object, word: str) -> str:
    said = _annotations(secret)
    asked = _annotations(cluster).get(key.asked, "")
    if asked and asked == said.get(FAILED):
        return said.get(BEFORE, word)
    return asked or word


def leaving(world: World) -> str:
    """Return why everything of a cluster goes down for now, or ""."""
    for stand in stands(world):
        if stand.pending and not stand.key.readers:
            return f"it gets {_which(stand)} {stand.key.name} key"
    return ""


def ends_jobs(world: World) -> bool:
    """Say whether somebody asked for just this new key that running jobs be ended."""
    allowed = _annotations(world.cluster or {}).get(ENDS_JOBS, "")
    asked = (
        _annotations(world.cluster or {}).get(each.key.asked, "") for each in stands(world) if each.pending
    )
    return bool(allowed) and allowed in asked


def goes_on(world: World) -> bool:
    """Say whether a new key is on its way."""
    return any(each.pending or each.keeps_old for each in stands(world))


def changes(world: World, states: Mapping[str, State]) -> Iterator[KeyChange]:
    """Yield what is written of the keys now; `states` says how the components are."""
    for stand in stands(world):
        if stand.pending and (stand.key.readers or _ended(world)):
            yield _written(world, stand)
        elif stand.pending or not stand.keeps_old:
            continue
        elif _works(world, stand, states):
            yield _change(world, stand, "settle", before=None, written=None)
        elif _late(world, stand):
            yield _change(world, stand, "mark", failed=stand.word)


def _written(world: World, stand: Stand) -> KeyChange:
    said = _annotations(stand.secret)
    if said.get(FAILED) and BEFORE in said:
        return _change(world, stand, "restore", word=said[BEFORE] or None, before=None, written=None)
    before = said.get(BEFORE, stand.word)  # the last key that is known to work
    at = conditions.moment(world.now)
    return _change(world, stand, "replace", word=stand.goal, before=before, written=at, failed=None)


def _change(world: World, stand: Stand, how: NewKey, **annotations: str | None) -> KeyChange:
    metadata, cluster = stand.secret["metadata"], name_of(world.cluster or {})
    said = {_WRITES[key]: value for key, value in annotations.items()}
    return KeyChange(
        how,
        namespace=str(metadata.get("namespace") or ""),
        secret=name_of(stand.secret),
        entry=stand.key.entry,
        size=keys.BYTES[stand.key.entry],
        resource_version=str(metadata.get("resourceVersion") or ""),
        annotations=tuple(sorted(said.items())),
        cluster=cluster if not stand.key.readers and how in ("replace", "restore") else "",
    )


def _ended(world: World) -> bool:
    """Say whether nobody is left who has read a key."""
    return "Pod" not in world.unread and not any(
        reads(pod) for (kind, _), pod in world.objects.items() if kind == "Pod"
    )


def reads(pod: Object) -> bool:
    """Say whether a pod knows the key that all daemons share: it is one of theirs, or is given the Secret."""
    labels = dig(pod, "metadata", "labels") or {}
    secret = names.auth_key(str(labels.get("app.kubernetes.io/instance")))
    volumes = dig(pod, "spec", "volumes") or ()
    return labels.get(_COMPONENT) in _DAEMONS or any(
        dig(each, "secret", "secretName") == secret for each in volumes
    )


def _works(world: World, stand: Stand, states: Mapping[str, State]) -> bool:
    """Say whether whoever reads a key has started with it, and is ready."""
    return all(
        _updated(world, stand, component, states[component])
        for component in _PROOF
        if component in states and (not stand.key.readers or component in stand.key.readers)
    )


def _updated(world: World, stand: Stand, component: names.Component, state: State) -> bool:
    """Say whether all pods of a workload are there, none older than its template, with this key's word."""
    name = names.workload(name_of(world.cluster or {}), component)
    found = world.find(STATEFUL_SET.kind, name) or world.find(DEPLOYMENT.kind, name)
    replicas = dig(found, "spec", "replicas") or 0
    if not replicas:  # slurmctld goes down and comes back; there may be no logins at all
        return component in ("login", "rest")
    word = dig(found, "spec", "template", "metadata", "annotations", STAMP) or ""
    current = state.status == "True" and (dig(found, "status", "updatedReplicas") or 0) >= replicas
    return current and (not stand.key.readers or word == stand.word)


def _late(world: World, stand: Stand) -> bool:
    if maintenance.active(world.cluster or {}):
        return False
    since = moment(stand.secret, "metadata", "annotations", WRITTEN)
    return since is None or world.now - since.timestamp() > COMES_UP


def stamped(world: World, wanted: Object) -> Object:
    """Return a workload that starts anew where a key that it reads is another one."""
    component = dig(wanted, "metadata", "labels", _COMPONENT)
    words = [each.word for each in stands(world) if component in each.key.readers and each.word]
    if not words or dig(wanted, "spec", "template") is None:
        return wanted
    template = wanted["spec"]["template"]
    metadata = template["metadata"]
    annotations = {**(metadata.get("annotations") or {}), STAMP: words[0]}
    marked = {**template, "metadata": {**metadata, "annotations": annotations}}
    return {**wanted, "spec": {**wanted["spec"], "template": marked}}


def condition(world: World) -> tuple[Condition, ...]:
    """Say how far a new key is, of a cluster of which one was asked for."""
    asked = _annotations(world.cluster or {})
    told = [_told(each, asked[each.key.asked]) for each in stands(world) if asked.get(each.key.asked)]
    return tuple(sorted(told, key=_urgency)[:1])


def _told(stand: Stand, asked: str) -> Condition:
    said, name = _annotations(stand.secret), stand.key.name
    if stand.pending:
        return Condition(ROTATING, "True", "Ending", f"who has read the {name} key ends first")
    if stand.keeps_old:
        return Condition(ROTATING, "True", "Starting", f"with a new {name} key")
    if asked == said.get(FAILED):
        text = f"the cluster did not come up with a new {name} key: the old one is used"
        return Condition(ROTATING, "False", "Failed", text)
    if asked != stand.word:
        return Condition(ROTATING, "True", "Waiting", f"another key comes before the {name} key")
    return Condition(ROTATING, "False", "Done", f"the {name} key is the one that was asked for")


def _urgency(told: Condition) -> int:
    return ("Ending", "Starting", "Waiting", "Failed", "Done").index(told.reason)


def _which(stand: Stand) -> str:
    return "back its old" if _annotations(stand.secret).get(FAILED) else "a new"


def _annotations(found: Object) -> Mapping[str, str]:
    said = dig(found, "metadata", "annotations")
    return said if isinstance(said, Mapping) else {}
