"""Which cluster it is that is there under a name, so that one that was made anew can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from npa.errors import NpaError, UsageError
from npa.slurm.lookup import Absent, Found, Lookup, Unknown


@dataclass(frozen=True, slots=True)
class Identity:
    """What a target knows a cluster by."""

    value: str = ""  # "" while it is only begun
    since: str = ""  # RFC 3339, UTC; "" where the target does not say


def identity(name: str, target: str) -> Lookup[Identity]:
    """Return what is there under a name, whoever made it; reads this machine's records alone."""
    try:
        if target == "local":
            return _local(name)
        if target == "nebius":
            return _nebius(name)
        if target == "kubernetes":
            return _kubernetes(name)
    except (NpaError, OSError) as error:
        return Unknown(str(error))
    raise UsageError(f"no target {target!r}", hint="choose one of local, kubernetes, nebius")


def _local(name: str) -> Lookup[Identity]:
    from npa.targets.local import record
    from npa.targets.local.paths import Paths

    layout = Paths.here().layout(name)
    found = record.load(Path(layout.record))
    if found:
        return Found(Identity(found.created, found.created))
    return Found(Identity()) if Path(layout.state).exists() else Absent()


def _nebius(name: str) -> Lookup[Identity]:
    from npa.targets.nebius import checkout, config, records

    folder = checkout.locate(config.work_root(), name)
    if folder is None:
        return Absent()
    record = records.load_sidecar(folder)
    return Found(Identity(record.cluster_id)) if record else Absent()


def _kubernetes(name: str) -> Lookup[Identity]:
    from npa.api import places

    found = next((each for each in places.kubernetes().list() if each.name == name), None)
    return Found(Identity(found.created, found.created)) if found else Absent()
