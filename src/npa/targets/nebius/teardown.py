"""The end of an installation: by persisted ids, proven by the provider, within one deadline, again and again.

Each part is looked up before it is touched, so that a destroy that was interrupted goes on where it stopped.
Only the provider's NotFound of an id proves that it is gone. Whatever stays in doubt makes the result
incomplete, and everything that is needed to go on is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from npa.errors import (
    DestroyIncompleteError,
    NpaError,
    OwnershipError,
    ProviderDeniedError,
    RefusedError,
)
from npa.render.nebius import held as states
from npa.render.nebius import tfguard
from npa.render.nebius.held import Identity
from npa.render.nebius.sidecar import Auxiliary, Sidecar
from npa.render.nebius.sidecar import Kind as AuxiliaryKind
from npa.render.objects import CLAIM, VOLUME, dig, name_of
from npa.slurm.lookup import Absent, Found, Lookup, Unknown
from npa.targets.nebius import binding
from npa.targets.nebius.ports import Clock, Deadline, KubeApi, Provider, Terraform
from npa.tools.kube import Access, Kube
from npa.tools.terraform import Saved

SCHEMA_VERSION = "npa.soperator.destroy/v1"
# Where the recipe's charts make volumes. Volumes elsewhere are somebody else's, and are left to the provider.
NAMESPACES = ("logs-system", "monitoring-system", "soperator")
POLL = 2.0
VOLUMES = 60.0  # seconds for the volumes to go while their cluster still runs

Tell = Callable[[str], None]
Deletable = Literal["cluster", "filesystem", "allocation"]


@dataclass(frozen=True, slots=True)
class DestroyResult:
    """What became of an installation."""

    name: str
    status: Literal["destroyed", "destroy-incomplete"]
    errors: tuple[str, ...] = ()  # what is left, or could not be proven gone
    unknown: tuple[str, ...] = ()  # what nobody can know any more
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Say whether everything is proven gone."""
        return self.status == "destroyed"

    def public(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "name": self.name,
            "status": self.status,
            "errors": list(self.errors),
            "unknown": list(self.unknown),
            "notes": list(self.notes),
        }


def require(result: DestroyResult) -> None:
    """Raise DestroyIncompleteError where a destroy did not end."""
    if not result.ok:
        raise DestroyIncompleteError(
            f"{result.name} is not destroyed: {'; '.join((*result.errors, *result.unknown))}",
            result.public(),
            hint="run the same destroy again: it goes on from what is left",
        )


@dataclass
class Teardown:
    """One run of a destroy, under the installation's lock."""

    name: str
    sidecar: Sidecar
    provider: Provider
    terraform: Terraform | None  # None: the installation is gone, and its state with it
    clock: Clock
    told: Tell
    timeout: float
    private: bool = False  # reach the cluster by its private endpoint
    accept_unknown: bool = False  # take it for destroyed though a lost state held nobody knows what
    to: Callable[[Access], KubeApi] = Kube
    _errors: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def destroy(self) -> DestroyResult:
        """Destroy it. Raises RefusedError, with nothing touched, where it is not surely ours."""
        deadline = Deadline(self.clock, self.timeout)
        identity = self._identity()
        present = self._present(identity)
        if isinstance(present, Unknown):
            self._errors.append(f"cluster {identity.cluster_id}: {present.why}; nothing was touched")
            return self._result(identity)
        with contextlib.ExitStack() as stack:
            planned = self._planned(stack, identity, deadline)
            if isinstance(present, Found):
                self._volumes(identity, deadline)
            if planned and self.terraform:
                self._apply(self.terraform, planned, deadline)
        if self._cluster_gone(identity, deadline):
            # Only now: while the cluster lives, it makes its address anew.
            for kind, id_ in identity.auxiliaries:
                self._auxiliary_gone(kind, id_, deadline)
            for each in self.sidecar.auxiliaries:
                self._twin_gone(each, identity, deadline)
        return self._result(identity)

    def _identity(self) -> Identity:
        if self.terraform is None:
            return states.identify(self.sidecar, states.read({}))
        try:
            self.terraform.init()
            state = self.terraform.state_pull()
        except NpaError as error:
            raise RefusedError(
                f"Terraform's state cannot be read: {error}",
                hint="make it readable, or restore it; nothing was touched",
            ) from error
        return states.identify(self.sidecar, states.read(state))

    def _present(self, identity: Identity) -> Lookup[Any]:
        if not identity.cluster_id:
            return Absent()
        found = binding.look_up(identity.cluster_id, lambda: self.provider.cluster(identity.cluster_id))
        if isinstance(found, Found):
            binding.verified(found.value, identity.cluster_id, identity.cluster_name, identity.project_id)
        return found

    def _planned(self, stack: contextlib.ExitStack, identity: Identity, deadline: Deadline) -> Saved | None:
        """Return a saved plan that ends exactly what is ours; raises where it would end more."""
        if identity.state_lost or self.terraform is None:
            return None
        try:
            saved = stack.enter_context(self.terraform.planned(destroy=True, timeout=max(1.0, deadline.left)))
            shown = self.terraform.show(saved)
        except NpaError as error:
            self._errors.append(f"terraform plan: {error}")
            return None
        if wrong := list(states.foreign(shown, identity, empty=saved.exit_code == tfguard.NO_CHANGES)):
            raise OwnershipError(
                f"the destroy plan is not only this installation's end: {'; '.join(wrong)}",
                expected="what is recorded",
                found=wrong[0],
                hint="nothing was touched; see what the state holds",
            )
        return saved

    def _volumes(self, identity: Identity, deadline: Deadline) -> None:
        """Free the disks of the cluster's volumes while its storage driver still runs."""
        try:
            kube = binding.connect(
                self.provider,
                identity.cluster_id,
                identity.cluster_name,
                identity.project_id,
                private=self.private,
                to=self.to,
            )
            if not isinstance(kube, Found):
                why = kube.why if isinstance(kube, Unknown) else "the cluster is gone"
                self._notes.append(f"volumes were left to the provider: {why}")
                return
            for namespace in NAMESPACES:
                self._delete_claims(kube.value, namespace)
            self._wait_for_volumes(kube.value, Deadline(self.clock, deadline.cap(VOLUMES)))
        except OwnershipError:
            raise
        except NpaError as error:
            self._notes.append(f"volumes may be left as disks: {error}")

    def _delete_claims(self, kube: KubeApi, namespace: str) -> None:
        claims = kube.list(CLAIM, namespace)
        if isinstance(claims, Unknown):
            self._notes.append(f"volumes of {namespace} may be left as disks: {claims.why}")
        for claim in claims.value if isinstance(claims, Found) else ():
            self.told(f"volume {namespace}/{name_of(claim)}: deleted")
            kube.delete(CLAIM, name_of(claim), namespace)

    def _wait_for_volumes(self, kube: KubeApi, deadline: Deadline) -> None:
        while True:
            listed = kube.list(VOLUME)
            left = [
                name_of(each)
                for each in (listed.value if isinstance(listed, Found) else ())
                if dig(each, "spec", "claimRef", "namespace") in NAMESPACES
            ]
            if isinstance(listed, Found) and not left:
                return
            if deadline.left <= 0:
                why = listed.why if isinstance(listed, Unknown) else f"{len(left)} volumes are still there"
                self._notes.append(f"volumes may be left as disks: {why}")
                return
            self.clock.sleep(POLL)

    def _cluster_gone(self, identity: Identity, deadline: Deadline) -> bool:
        if not identity.cluster_id:
            return True
        return self._gone("cluster", identity.cluster_id, lambda: self._present(identity), deadline)

    def _auxiliary_gone(self, kind: AuxiliaryKind, id_: str, deadline: Deadline) -> bool:
        def look() -> Lookup[Any]:
            return binding.look_up(id_, lambda: self.provider.owned(kind, id_))

        return self._gone(kind, id_, look, deadline)

    def _twin_gone(self, recorded: Auxiliary, identity: Identity, deadline: Deadline) -> None:
        """End what the dying cluster made anew in the place of something recorded: one of just its name."""
        known = {id_ for _, id_ in identity.auxiliaries}
        if self.name not in recorded.name:
            return
        try:
            listed = self.provider.all_owned(recorded.kind, identity.project_id)
        except NpaError as error:
            self._errors.append(
                f"{recorded.kind} {recorded.name}: whether it was made anew is unknown: {error}"
            )
            return
        twins = [each.id for each in listed if each.name == recorded.name and each.id not in known]
        if len(twins) > 1:
            several = ", ".join(twins)
            self._errors.append(f"{recorded.kind} {recorded.name}: several bear its name: {several}")
        elif twins:
            self._auxiliary_gone(recorded.kind, twins[0], deadline)

    def _gone(self, kind: Deletable, id_: str, look: Callable[[], Lookup[Any]], deadline: Deadline) -> bool:
        """Have one thing deleted, and wait until the provider does not know its id any more."""
        asked, why = False, "no time left"
        while deadline.left > 0:
            try:
                found = look()
                if isinstance(found, Absent):
                    self.told(f"{kind} {id_}: gone")
                    return True
                why = found.why if isinstance(found, Unknown) else "still there at the deadline"
                if isinstance(found, Found) and not asked:
                    self.provider.delete(kind, id_)
                    asked = True
            except (ProviderDeniedError, OwnershipError) as error:
                why = str(error)
                break
            except NpaError as error:
                why = str(error)
            self.clock.sleep(min(POLL, deadline.left))
        self._errors.append(f"{kind} {id_}: {why}")
        return False

    def _apply(self, terraform: Terraform, saved: Saved, deadline: Deadline) -> None:
        if deadline.left <= 0:
            self._errors.append("terraform destroy: no time left")
            return
        try:
            terraform.apply(saved, timeout=deadline.left)
        except NpaError as error:
            self._errors.append(f"terraform destroy: {error}")

    def _result(self, identity: Identity) -> DestroyResult:
        lost = "what the lost Terraform state held besides the recorded ids: GPU clusters, buckets, machines"
        unknown = (lost,) if identity.state_lost else ()
        complete = not self._errors and (not unknown or self.accept_unknown)
        status: Literal["destroyed", "destroy-incomplete"] = "destroyed" if complete else "destroy-incomplete"
        return DestroyResult(self.name, status, tuple(self._errors), unknown, tuple(self._notes))
