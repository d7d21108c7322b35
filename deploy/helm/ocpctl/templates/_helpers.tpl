{{/* The prefix of the names of objects. */}}
{{- define "ocpctl.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "ocpctl.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ocpctl.labels" -}}
{{ include "ocpctl.selector" . }}
app.kubernetes.io/part-of: ocpctl
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* "openshift" or "kubernetes". */}}
{{- define "ocpctl.platform" -}}
{{- if ne .Values.platform "auto" -}}
{{- .Values.platform -}}
{{- else -}}
{{- ternary "openshift" "kubernetes" (.Capabilities.APIVersions.Has "route.openshift.io/v1") -}}
{{- end -}}
{{- end -}}

{{/* How an address is exposed: "ingress", "route" or "none". Takes the root and the address's values. */}}
{{- define "ocpctl.expose" -}}
{{- if or (not .address.host) (eq .address.expose "none") -}}
none
{{- else if ne .address.expose "auto" -}}
{{- .address.expose -}}
{{- else -}}
{{- ternary "route" "ingress" (eq (include "ocpctl.platform" .root) "openshift") -}}
{{- end -}}
{{- end -}}

{{/* An image's reference. Takes the root and the image's values. */}}
{{- define "ocpctl.image" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (default .root.Chart.AppVersion .image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The Deployments: the name of each, and its roles. */}}
{{- define "ocpctl.components" -}}
{{- if eq .Values.roles "together" -}}
- {name: server, roles: [hooks, api, worker]}
{{- else -}}
- {name: hooks, roles: [hooks]}
- {name: api, roles: [api]}
- {name: worker, roles: [worker]}
{{- end -}}
{{- end -}}

{{/* The component that has a role. Takes the root and the role. */}}
{{- define "ocpctl.componentOf" -}}
{{- ternary "server" .role (eq .root.Values.roles "together") -}}
{{- end -}}

{{/* The name of a component's service account. Takes the root and the component's name. */}}
{{- define "ocpctl.serviceAccount" -}}
{{- $account := (index .root.Values.components .component).serviceAccount -}}
{{- default (printf "%s-%s" (include "ocpctl.fullname" .root) .component) $account.name -}}
{{- end -}}

{{- define "ocpctl.runnerNamespace" -}}
{{- $name := default (printf "%s-runners" .Release.Name) .Values.runner.namespace.name -}}
{{- if eq $name .Release.Namespace -}}
{{- fail (printf "runner.namespace.name is %s, the namespace of the release; give runners a namespace of their own: its network policies close it for everything else" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* What every container may do. */}}
{{- define "ocpctl.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: {drop: [ALL]}
readOnlyRootFilesystem: true
runAsNonRoot: true
{{- end -}}

{{/* The pod's part. Takes the root and a user id, which only Kubernetes is given: OpenShift assigns one to each namespace. */}}
{{- define "ocpctl.podSecurity" -}}
runAsNonRoot: true
seccompProfile: {type: RuntimeDefault}
{{- if eq (include "ocpctl.platform" .root) "kubernetes" }}
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
{{- end -}}

{{/* What the role worker may do in the runners' namespace: all that internal/dispatch/kubernetes calls. Change both together. */}}
{{- define "ocpctl.runnerRules" -}}
# One Job for each attempt; "patch" stops one.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [create, get, list, watch, patch, delete]
# Why a runner does not start or how it ended; deleting its pod ends it.
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch, delete]
- apiGroups: [""]
  resources: [events]
  verbs: [list]
# The token of an attempt. No Secret is ever read, and Kubernetes deletes it with its Job. Its name depends on the attempt, and RBAC
# cannot restrict "create" to names, so the namespace holds nothing else that matters.
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end -}}
