"""Our changes to the recipe's source, as data: what stands there, what shall, what older tools made of it.

A file is pristine, patched, legacy (patched by the tool before this one) or modified. Only the last is
refused: the others lead to the same bytes, however often and in whatever order they are visited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from npa.errors import SourceError

State = Literal["pristine", "patched", "legacy", "modified"]

PIN = "7046fb3c68314a940cdb47ff5c4fd23c01a6711e"


@dataclass(frozen=True, slots=True)
class Legacy:
    """A block of lines that an older tool put into a file, known by its first line and the SHA-256 of all."""

    marker: str
    lines: int
    sha256: str
    restores: str = ""  # what the block stood for in the pristine file

    def restored(self, text: str) -> str:
        """Return the text with the block undone, or as it is where there is not exactly that block."""
        lines = text.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if line.strip() == self.marker:
                block = "".join(lines[index : index + self.lines])
                if hashlib.sha256(block.encode()).hexdigest() == self.sha256:
                    return "".join((*lines[:index], self.restores, *lines[index + self.lines :]))
        return text


@dataclass(frozen=True, slots=True)
class Patch:
    """One place of one file: whole lines, found exactly once, and what replaces them."""

    path: str  # from the root of the repository
    why: str
    before: str
    after: str
    unconfined_only: bool = False  # wanted only while workers run without AppArmor's default profile
    legacy: tuple[Legacy, ...] = ()

    def applied(self, pristine: str) -> str:
        """Return the pristine file with the change made; raises SourceError where it has no place for it."""
        found = _at_line_start(pristine, self.before)
        if len(found) != 1:
            raise SourceError(
                f"{self.path}: expected once, found {len(found)} times: {self.before.strip()!r:.60}",
                hint="this recipe is not the verified one: use the pinned `--ref`",
            )
        start = found[0]
        return pristine[:start] + self.after + pristine[start + len(self.before) :]

    def state(self, pristine: str, current: str) -> State:
        """Say what a file is, compared with the recipe's own."""
        if current == pristine:
            return "pristine"
        if current == self.applied(pristine):
            return "patched"
        restored = current
        for each in self.legacy:
            restored = each.restored(restored)
        return "legacy" if restored == pristine else "modified"


def render(patch: Patch, pristine: str, current: str, *, wanted: bool) -> str:
    """Return what the file shall be; raises SourceError for one that somebody else has changed."""
    if patch.state(pristine, current) == "modified":
        raise SourceError(modified(patch.path), hint=MODIFIED_HINT)
    return patch.applied(pristine) if wanted else pristine


def wanted(patches: Sequence[Patch], *, default_apparmor: bool) -> tuple[Patch, ...]:
    """Return the patches that a cluster needs."""
    return tuple(patch for patch in patches if not (patch.unconfined_only and default_apparmor))


MODIFIED_HINT = "keep a copy of your change, then put the file back: `git checkout -- FILE`"


def modified(path: str) -> str:
    """Say that a tracked file of the recipe is not the recipe's."""
    return f"{path} has been modified: it is neither the recipe's own nor what npa makes of it"


def for_ref(ref: str) -> tuple[Patch, ...]:
    """Return the changes for one commit of the recipe; raises SourceError for one that is unknown."""
    found = _BY_REF.get(ref)
    if found is None:
        raise SourceError(
            f"no adapter for recipe {ref[:12]}; verified: {', '.join(known[:12] for known in _BY_REF)}",
            hint=f"leave out `--ref`, or use {PIN}",
        )
    return found


def _at_line_start(text: str, fragment: str) -> tuple[int, ...]:
    padded, wanted_text = "\n" + text, "\n" + fragment
    found: list[int] = []
    start = padded.find(wanted_text)
    while start != -1:
        found.append(start)
        start = padded.find(wanted_text, start + 1)
    return tuple(found)


_CONTEXT_BEFORE = """\
  triggers_replace = [
    nebius_mk8s_v1_cluster.this.id,
    timestamp(),
  ]
"""
_CONTEXT_AFTER = """\
  # npa: the cluster's id alone: a clock here replaces this resource on every plan
  triggers_replace = [
    nebius_mk8s_v1_cluster.this.id,
  ]
"""
_LOGIN_BEFORE = """\
  triggers_replace = [
    one(data.kubernetes_service_v1.slurm_login.metadata).resource_version
  ]
"""
_LOGIN_AFTER = """\
  # npa: the address alone: the version of a Service changes with every touch of it
  triggers_replace = [
    one(one(one(data.kubernetes_service_v1.slurm_login.status).load_balancer).ingress).ip
  ]
"""
_CHECKS_BEFORE = "    essential = {\n"
_CHECKS_AFTER = f"""{_CHECKS_BEFORE}\
      # npa: it waits for checks that this scope turns off, and the chart's hook waits for it
      ensure-healthy-nodes = {{
        runAfterCreation = false
      }}
"""
_USERNS_BEFORE = "resources:\n"
# Stands first in the list: what follows it in the template may be wrapped in directives that eat whitespace.
# `$${...}` is not needed: `${apparmor_enabled}` is a variable of the template itself.
_USERNS_AFTER = f"""{_USERNS_BEFORE}\
  # npa: the operator's chart reads this through valuesFrom; Enroot needs user namespaces on Ubuntu hosts
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: terraform-nodeconfigurator
      labels:
        reconcile.fluxcd.io/watch: Enabled
    data:
      values.yaml: |
        initContainers:
          - name: node-sysctl-params
            image: docker.io/library/busybox:stable
            securityContext:
              privileged: true
              runAsUser: 0
              runAsGroup: 0
              readOnlyRootFilesystem: false
              allowPrivilegeEscalation: true
            command:
              - /bin/sh
              - -c
              - |-
                set -eu
                gate=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
                sysctl -w kernel.unprivileged_userns_clone=1
                if [ -e "$gate" ] && [ "${{apparmor_enabled}}" = "false" ]; then
                  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
                fi
                sysctl -w net.core.rmem_max=536870912
                sysctl -w net.core.wmem_max=536870912
                sysctl -w net.ipv4.tcp_rmem="4096 131072 536870912"
                sysctl -w net.ipv4.tcp_wmem="4096 16384 536870912"
"""

_PINNED = (
    Patch(
        "soperator/modules/k8s/k8s_cluster.tf",
        "the kube context is written again only for another cluster",
        _CONTEXT_BEFORE,
        _CONTEXT_AFTER,
        legacy=(
            Legacy(
                "# npa: refresh credentials only when the cluster id changes",
                4,
                "879459da3971e6517416c18451eb4fb1465ecef5fab658d5d91207120f4dbaa2",
                _CONTEXT_BEFORE,
            ),
        ),
    ),
    Patch(
        "soperator/modules/login/main.tf",
        "the login script is written again only for another address",
        _LOGIN_BEFORE,
        _LOGIN_AFTER,
        legacy=(
            Legacy(
                "# npa: regenerate the login script only when its public IP changes",
                4,
                "6c247af7a7bb79a10ffd963a9484d4c6dd412516515b2c241a3fcdfb4bdfc0ce",
                _LOGIN_BEFORE,
            ),
        ),
    ),
    Patch(
        "soperator/modules/slurm/locals_active_checks.tf",
        "no check waits for one that its scope turns off",
        _CHECKS_BEFORE,
        _CHECKS_AFTER,
        legacy=(
            Legacy(
                "# npa: CPU-only clusters disable the GPU checks",
                7,
                "ae4f74ac484f6c82f1d0e2d075f531adfbf05b506cbbcb412aa74751e872b4da",
            ),
        ),
    ),
    Patch(
        "soperator/modules/slurm/templates/helm_values/terraform_fluxcd_values.yaml.tftpl",
        "jobs may make user namespaces, which Enroot and Pyxis need",
        _USERNS_BEFORE,
        _USERNS_AFTER,
        unconfined_only=True,
        legacy=(
            Legacy(
                "# npa: allow Enroot user namespaces on Ubuntu hosts",
                24,
                "4fab595ce7caca62475792462b8f4d737672cb6aaf93887e87509fdebadeadaa",
            ),
        ),
    ),
)
_BY_REF = {PIN: _PINNED}
