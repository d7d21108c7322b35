{{/* The pod of one component. Takes the root, the component, and whether the pod examines what the component needs instead of serving. */}}
{{- define "ocpctl.pod" -}}
{{- $root := .root -}}
{{- $name := .component.name -}}
{{- $roles := .component.roles -}}
{{- $values := index $root.Values.components $name -}}
{{- $pods := $root.Values.pods -}}
{{- $runnersTLS := list -}}
{{- if has "worker" $roles -}}{{- $runnersTLS = append $runnersTLS (dict "key" "ca.crt" "path" "ca.crt") -}}{{- end -}}
{{- if has "api" $roles -}}{{- $runnersTLS = concat $runnersTLS (list (dict "key" "tls.crt" "path" "tls.crt") (dict "key" "tls.key" "path" "tls.key")) -}}{{- end -}}
{{- $secrets := (include "ocpctl.secretSources" . | fromYaml).sources -}}
serviceAccountName: {{ include "ocpctl.serviceAccount" (dict "root" $root "component" $name) }}
# Only the role worker calls the Kubernetes API.
automountServiceAccountToken: {{ has "worker" $roles }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $pods.terminationGracePeriodSeconds }}
{{- with $pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "ocpctl.podSecurity" (dict "root" $root "user" $pods.runAsUser) | nindent 2 }}
containers:
  - name: ocpctl-server
    image: {{ include "ocpctl.image" (dict "root" $root "image" $root.Values.image) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args:
      {{- if .doctor }}
      - doctor
      {{- end }}
      - -config=/etc/ocpctl/config/ocpctl.yaml
      - -roles={{ join "," $roles }}
      {{- if not .doctor }}
      - -migrate={{ or $root.Values.embedded.enabled (not $root.Values.migrations.enabled) }}
      - -log-level={{ $pods.logLevel }}
      {{- end }}
    {{- include "ocpctl.serverEnv" $root | nindent 4 }}
    {{- if not .doctor }}
    ports:
      {{- if has "hooks" $roles }}
      - {name: public, containerPort: 8081}
      {{- end }}
      {{- if has "api" $roles }}
      - {name: private, containerPort: 8080}
      - {name: runners, containerPort: 8443}
      {{- end }}
      - {name: probes, containerPort: 8082}
    # A start waits for the database's migrations.
    startupProbe: {httpGet: {path: /healthz, port: probes}, periodSeconds: 2, failureThreshold: 150}
    livenessProbe: {httpGet: {path: /healthz, port: probes}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
    readinessProbe: {httpGet: {path: /readyz, port: probes}, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2}
    {{- end }}
    {{- with $values.resources }}
    resources: {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext:
      {{- include "ocpctl.containerSecurity" $root | nindent 6 }}
    volumeMounts:
      - {name: config, mountPath: /etc/ocpctl/config, readOnly: true}
      {{- if $secrets }}
      - {name: secrets, mountPath: /etc/ocpctl/secrets, readOnly: true}
      {{- end }}
      {{- if or $root.Values.catalogue.files $root.Values.catalogue.volume }}
      - {name: catalogue, mountPath: /etc/ocpctl/catalogue, readOnly: true}
      {{- end }}
      {{- if $runnersTLS }}
      - {name: runners-tls, mountPath: /etc/ocpctl/runners, readOnly: true}
      {{- end }}
      - {name: tmp, mountPath: /tmp}
      {{- with concat ($pods.extraVolumeMounts | default list) ($values.extraVolumeMounts | default list) }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: config
    configMap: {name: {{ include "ocpctl.fullname" $root }}-config}
  {{- with $secrets }}
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- toYaml . | nindent 8 }}
  {{- end }}
  {{- with $runnersTLS }}
  - name: runners-tls
    secret: {secretName: {{ include "ocpctl.runnersTLS" $root }}, defaultMode: 0440, items: {{ toJson . }}}
  {{- end }}
  {{- if $root.Values.catalogue.files }}
  - name: catalogue
    configMap:
      name: {{ include "ocpctl.fullname" $root }}-catalogue
      items:
        {{- range $path, $_ := $root.Values.catalogue.files }}
        - {key: {{ $path | replace "/" "__" }}, path: {{ $path }}}
        {{- end }}
  {{- else if $root.Values.catalogue.volume }}
  - name: catalogue
    {{- toYaml $root.Values.catalogue.volume | nindent 4 }}
  {{- end }}
  - name: tmp
    emptyDir: {sizeLimit: 256Mi}
  {{- with concat ($pods.extraVolumes | default list) ($values.extraVolumes | default list) }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $pods.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pods.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if $pods.topologySpreadConstraints }}
  {{- toYaml $pods.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- include "ocpctl.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $name }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* The sources of a projected volume with the secrets that a component's roles read, as a list below "sources". */}}
{{- define "ocpctl.secretSources" -}}
{{- $roles := .component.roles -}}
{{- $sources := list -}}
{{- range (include "ocpctl.mountedSecrets" .root | fromYaml).mounted -}}
{{- $needed := false -}}
{{- range .roles }}{{ if has . $roles }}{{ $needed = true }}{{ end }}{{ end -}}
{{- if $needed -}}
{{- $sources = append $sources (dict "secret" (dict "name" .secret "items" (list (dict "key" .key "path" .path)))) -}}
{{- end -}}
{{- end -}}
{{- dict "sources" $sources | toYaml -}}
{{- end -}}

{{- define "ocpctl.serverEnv" -}}
{{- if or .Values.embedded.enabled .Values.pods.env -}}
env:
  {{- if .Values.embedded.enabled }}
  - {name: AWS_ENDPOINT_URL_S3, value: "http://{{ include "ocpctl.fullname" . }}-embedded-s3.{{ .Release.Namespace }}.svc:7070"}
  - {name: AWS_REGION, value: us-east-1}
  - name: AWS_ACCESS_KEY_ID
    valueFrom: {secretKeyRef: {name: {{ include "ocpctl.fullname" . }}-embedded, key: s3-access-key}}
  - name: AWS_SECRET_ACCESS_KEY
    valueFrom: {secretKeyRef: {name: {{ include "ocpctl.fullname" . }}-embedded, key: s3-secret-key}}
  {{- end }}
  {{- with .Values.pods.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
{{- end -}}
