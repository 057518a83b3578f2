"""Whether a cluster of the wanted name is this fleet's to change. Pure."""

from __future__ import annotations

from npa.api.identity import Identity
from npa.fleet.errors import BackendOwnershipError
from npa.fleet.member import Claim
from npa.fleet.record import Record
from npa.slurm.lookup import Absent, Found, Lookup, Unknown

_OTHER_NAME = "choose another name, or destroy that cluster first"


def require(want: Claim, record: Record | None, there: Lookup[Identity], other: str = "") -> str:
    """Raise BackendOwnershipError unless the cluster is ours or nobody's; returns what is worth saying.

    `other` is another fleet that has a cluster of this name on the same target written down.
    """
    if isinstance(there, Unknown):
        raise _refusal(
            f"cannot tell whether a cluster {want.cluster!r} is there: {there.why}",
            "a readable answer",
            "none",
            "make it readable, then run the same command again; unknown is never taken for absent",
        )
    if record is None:
        if other:
            raise _refusal(f"fleet {other} has a cluster {want.cluster!r}", want.fleet, other, _OTHER_NAME)
        if isinstance(there, Found):
            what = f"there is a cluster {want.cluster!r} that this fleet did not make"
            raise _refusal(what, "none", there.value.value or "a cluster", _OTHER_NAME)
        return ""
    _require_same(want, record)
    if isinstance(there, Absent):
        return "it was removed by other hands, and is made anew" if record.identity else ""
    return _require_ours(want, record, there.value)


def _require_same(want: Claim, record: Record) -> None:
    for what in ("project", "backend", "target"):
        ours, asked = getattr(record.claim, what), getattr(want, what)
        if ours != asked:
            raise _refusal(
                f"{want.cluster} is recorded with {what} {ours!r}, and the file says {asked!r}",
                ours,
                asked,
                f"write {ours!r} again, or destroy it first: "
                f"npa fleet destroy {want.fleet} --cluster {want.cluster}",
            )


def _require_ours(want: Claim, record: Record, there: Identity) -> str:
    if record.identity and there.value and record.identity != there.value:
        raise _refusal(
            f"the cluster {want.cluster!r} that is there is not the one that this fleet made",
            record.identity,
            there.value,
            "somebody destroyed it and made another: choose another name, or destroy that one by hand",
        )
    # Nothing was there when it was claimed, so an older one was only hidden from us then.
    if not record.identity and there.since and there.since < record.claimed:
        raise _refusal(
            f"the cluster {want.cluster!r} is older than this fleet's claim to it",
            record.claimed,
            there.since,
            _OTHER_NAME,
        )
    return "" if record.phase == "deployed" else "a run before this one did not end; it goes on from there"


def _refusal(message: str, expected: str, found: str, hint: str) -> BackendOwnershipError:
    return BackendOwnershipError(message, expected=expected, found=found, hint=hint)
