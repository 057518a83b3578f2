"""What is looked at right before a key is changed, and what is written then."""

from __future__ import annotations

from typing import Any

from npa.errors import UnknownError
from npa.operator import secret_data
from npa.reconcile import rotation
from npa.reconcile.decision import KeyChange
from npa.render.objects import POD, SECRET, name_of
from npa.slurm.lookup import Found
from npa.tools.kube_api import KubeApi


async def patch(api: KubeApi, change: KeyChange) -> dict[str, Any]:
    """Return the patch of the Secret's version that was seen; raises UnknownError where it has to wait.

    Where all daemons have to have ended, the API itself says that they have: a cache may be behind.
    """
    if change.cluster:
        pods = await api.list(POD, change.namespace, f"app.kubernetes.io/instance={change.cluster}")
        left = [name_of(pod) for pod in pods.items if rotation.reads(pod)]
        if left:
            raise UnknownError(f"the key stays as it is: {left[0]} is there")
    found = await api.get(SECRET, change.secret, change.namespace)
    if not isinstance(found, Found):
        raise UnknownError(f"Secret {change.secret} could not be read")
    data = secret_data.change(change, found.value.get("data") or {})
    metadata = {"resourceVersion": change.resource_version, "annotations": dict(change.annotations)}
    return {"metadata": metadata, "data": data}
