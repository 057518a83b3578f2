"""The page of a cluster: what it shows, read, and the page itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npa.cluster.model import TargetName
    from npa.health.assess import Report
    from npa.page.facts import Facts
    from npa.targets.nebius.options import NebiusOptions

DAYS = 7


def html(
    name: str, *, target: TargetName | None = None, nebius: NebiusOptions | None = None, days: int = DAYS
) -> str:
    """Return the page of a cluster, complete; raises NotFoundError where there is none of that name."""
    from npa.page import page

    return page.cluster(facts(name, target=target, nebius=nebius, days=days))


def facts(
    name: str, *, target: TargetName | None = None, nebius: NebiusOptions | None = None, days: int = DAYS
) -> Facts:
    """Return what the page of a cluster shows; raises NotFoundError where there is none of that name.

    Of a cluster on Kubernetes that is what `status` knows, and the rest is said to be unknown.
    """
    from npa import api

    place = api.where(name, target, nebius.terraform_dir if nebius else None)
    if place == "nebius":
        from npa.api import nebius as nebius_api
        from npa.targets.nebius.options import NebiusOptions

        return nebius_api.target().page(name, nebius or NebiusOptions(), days)
    if place == "kubernetes":
        return _of_report(api.status(name, place))
    from npa.targets.local import page
    from npa.targets.local.paths import Paths

    report = api.status(name)
    return page.facts(Paths.here().layout(name), report, days)


def _of_report(report: Report) -> Facts:
    from datetime import UTC, datetime

    from npa.page.facts import Facts
    from npa.slurm.lookup import Unknown

    unread = Unknown(f"it is not read on target {report.target}; `npa soperator status` says what is known")
    return Facts(
        report.name, report.target, datetime.now(UTC), report, nodes=unread, jobs=unread, past=unread
    )
