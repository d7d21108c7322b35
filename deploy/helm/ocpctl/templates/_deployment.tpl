{{/* The Deployment of one component. Takes the root and the component. */}}
{{- define "ocpctl.deployment" -}}
{{- $root := .root -}}
{{- $name := .component.name -}}
{{- $values := index $root.Values.components $name -}}
{{- $pods := $root.Values.pods -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "ocpctl.fullname" $root }}-{{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "ocpctl.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $name }}
spec:
  replicas: {{ $values.replicas }}
  selector:
    matchLabels:
      {{- include "ocpctl.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ $name }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  template:
    metadata:
      labels:
        {{- with $pods.labels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- include "ocpctl.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $name }}
      annotations:
        # A changed configuration starts new pods. The catalogue is read again without.
        checksum/config: {{ include "ocpctl.config" $root | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "ocpctl.pod" . | nindent 6 }}
{{- end -}}
