"""Writes what of the Helm charts is made of the same code as `npa operator manifests`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

import npa
from npa.render.kube import installation, rbac
from npa.render.kube.installation import NAME, Installation
from npa.render.objects import dig

CHARTS = Path(__file__).parents[1] / "charts"
HEAD = "# written by `make docs`\n"
# what the values decide; the text is put in once the object is YAML
SPACE = "NAMESPACE-OF-THE-RELEASE"
IMAGE = "IMAGE-OF-THE-VALUES"
EACH = "EACH-NAMESPACE-OF-THE-VALUES"
_RIGHTS = ("ServiceAccount", "ClusterRoleBinding", "Role", "RoleBinding")
RELEASE = "{{ .Release.Namespace }}"
_ARGUMENTS = """\
        args:
        - --leader-elect
        - --listen=0.0.0.0
        - --health-port={health}
        - --webhook-port={webhook}
        - --webhook-name={name}.{{{{ .Release.Namespace }}}}.svc
        - {image}
        {{{{- range .Values.namespaces }}}}
        - --namespace={{{{ . }}}}
        {{{{- end }}}}
        {{{{- range .Values.arguments }}}}
        - {{{{ . | quote }}}}
        {{{{- end }}}}
"""
_CHOSEN = "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
_PLACE = """\
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- with .Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations: {{- toYaml . | nindent 6 }}
      {{- end }}
"""
_EVERYWHERE = "{{- if not .Values.namespaces }}\n"
_OVER = "{{- range .Values.namespaces }}\n"
_SOME = "{{- if .Values.namespaces }}\n"
_END = "{{- end }}\n"


def render() -> dict[str, str]:
    """Return the files by their path below `charts`."""
    by_kind = {each["kind"]: each for each in _installed(())}
    return {
        **{
            f"npa-crds/templates/{dig(each, 'spec', 'names', 'plural')}.yaml": _kept(each) for each in _crds()
        },
        "npa-operator/templates/rbac.yaml": HEAD + _rbac(),
        "npa-operator/templates/service.yaml": HEAD + _text(by_kind["Service"]),
        "npa-operator/templates/deployment.yaml": HEAD + _deployment(by_kind["Deployment"]),
        "npa-operator/templates/webhook.yaml": HEAD + _webhook(by_kind["ValidatingWebhookConfiguration"]),
    }


def _crds() -> list[dict[str, Any]]:
    return installation.crds()


def _kept(crd: dict[str, Any]) -> str:
    """Keep a definition when the chart goes: with it would go every cluster."""
    metadata = {**crd["metadata"], "annotations": {"helm.sh/resource-policy": "keep"}}
    # Helm would take braces of a description for its own
    return HEAD + _yaml({**crd, "metadata": metadata}).replace("{{", '{{ "{{" }}')


def _rbac() -> str:
    parts = []
    for made in _installed(()):
        if made["kind"] == "ClusterRole":
            always = {**made, "rules": rbac.in_cluster(NAME)}
            parts.append(_text(always) + _EVERYWHERE + _yaml(rbac.in_namespace()) + _END)
        elif made["kind"] in _RIGHTS:
            parts.append(_text(made))
    spaced = [made for made in _installed((EACH,)) if dig(made, "metadata", "namespace") == EACH]
    each = (
        "---\n".join(map(_yaml, spaced)).replace(EACH, "{{ . }}").replace(SPACE, "{{ $.Release.Namespace }}")
    )
    return "---\n".join(parts) + _OVER + "---\n" + each + _END


def _installed(watched: tuple[str, ...]) -> list[dict[str, Any]]:
    return installation.render(Installation(IMAGE, SPACE, watched), crds=False)


def _deployment(made: dict[str, Any]) -> str:
    text = _text(made)
    start = text.index("        args:\n")
    end = text.index("        ports:\n")
    arguments = _ARGUMENTS.format(
        health=installation.HEALTH_PORT,
        webhook=installation.WEBHOOK_PORT,
        name=NAME,
        image=f'"--operator-image={_CHOSEN}"',
    )
    text = text[:start] + arguments + text[end:]
    text = text.replace(IMAGE, f'"{_CHOSEN}"')
    text = text.replace("imagePullPolicy: IfNotPresent", "imagePullPolicy: {{ .Values.image.pullPolicy }}")
    text = text.replace("replicas: 1", "replicas: {{ .Values.replicas }}")
    return text + _PLACE


def _webhook(made: dict[str, Any]) -> str:
    text = _text(made)
    chosen = (
        _SOME
        + "  namespaceSelector:\n    matchExpressions:\n    - key: kubernetes.io/metadata.name\n"
        + "      operator: In\n      values: {{- toYaml .Values.namespaces | nindent 6 }}\n"
        + "{{- else }}\n  namespaceSelector: {}\n"
        + _END
    )
    assert "  namespaceSelector: {}\n" in text
    return text.replace("  namespaceSelector: {}\n", chosen)


def _text(made: dict[str, Any]) -> str:
    return _yaml(made).replace(SPACE, RELEASE)


def _yaml(made: Any) -> str:
    return yaml.safe_dump(made, sort_keys=False, width=110)


def main() -> None:
    """Write the files."""
    for path, text in render().items():
        (CHARTS / path).write_text(text, encoding="utf-8")
    for chart in sorted(CHARTS.glob("*/Chart.yaml")):
        lines = chart.read_text(encoding="utf-8").splitlines()
        fresh = [
            f"{line.partition(':')[0]}: {npa.__version__}"
            if line.startswith(("version:", "appVersion:"))
            else line
            for line in lines
        ]
        chart.write_text("\n".join(fresh) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
