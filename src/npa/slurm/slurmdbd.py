"""slurmdbd.conf: the accounting daemon and its database on the same node."""

from __future__ import annotations

from npa.cluster.model import Cluster
from npa.slurm import conf
from npa.slurm.runtime import Runtime


def render(cluster: Cluster, runtime: Runtime) -> str:
    """Return slurmdbd.conf; "" for a cluster without accounting.

    There is no password: the database knows the slurm account by its socket.
    """
    if not cluster.accounting:
        return ""
    pairs = (
        ("AuthType", "auth/slurm"),
        ("AuthInfo", "use_client_ids"),
        ("AuthAltTypes", "auth/jwt"),
        ("AuthAltParameters", f"jwt_key={runtime.etc}/jwt_hs256.key"),
        ("DbdHost", cluster.accounting_node),
        ("SlurmUser", "slurm"),
        ("LogFile", f"{runtime.log}/slurmdbd.log"),
        ("PidFile", f"{runtime.run}/slurmdbd/slurmdbd.pid"),
        ("StorageType", "accounting_storage/mysql"),
        ("StorageHost", "localhost"),
        ("StorageUser", "slurm"),
        ("StorageLoc", "slurm_acct_db"),
    )
    said = runtime.site.dbd_settings
    replaced = {key.lower() for key, _ in said}
    ours = [pair for pair in pairs if pair[0].lower() not in replaced]
    return conf.text([conf.comment(conf.HEADER), *(conf.line(pair) for pair in (*ours, *said))])
