{{/* The secrets of values.secrets: which field of the configuration refers to each, and the roles that read it. */}}
{{- define "ocpctl.secrets" -}}
- {name: databaseURL, field: database_url_ref, roles: [hooks, api, worker, migrate]}
- {name: githubPrivateKey, field: github.private_key_ref, roles: [worker]}
- {name: githubWebhookSecret, field: github.webhook_secret_ref, roles: [hooks]}
- {name: githubWebhookSecretNext, field: github.webhook_secret_next_ref, roles: [hooks]}
- {name: githubClientSecret, field: github.client_secret_ref, roles: [api]}
- {name: slackSigningSecret, field: slack.signing_secret_ref, roles: [hooks]}
- {name: slackAppToken, field: slack.app_token_ref, roles: [hooks]}
- {name: slackBotToken, field: slack.bot_token_ref, roles: [worker]}
- {name: statusKey, field: runner.status_key_ref, roles: [api, worker]}
- {name: sessionKey, field: session.key_ref, roles: [api]}
- {name: samlKey, field: saml.key_ref, roles: [api]}
- {name: metricsToken, field: metrics.token_ref, roles: [api]}
{{- end -}}

{{/* Those that are mounted: also the Secret and the key of each, as a list below "mounted". */}}
{{- define "ocpctl.mountedSecrets" -}}
{{- $mounted := list -}}
{{- range include "ocpctl.secrets" . | fromYamlArray -}}
{{- $value := index $.Values.secrets .name -}}
{{- $secret := $value.existingSecret -}}
{{- if and (not $secret) $.Values.embedded.enabled (has .name (list "databaseURL" "statusKey" "sessionKey")) -}}
{{- $secret = printf "%s-embedded" (include "ocpctl.fullname" $) -}}
{{- end -}}
{{- if $secret -}}
{{- $mounted = append $mounted (merge (dict "secret" $secret "key" $value.key "path" (kebabcase .name)) .) -}}
{{- end -}}
{{- end -}}
{{- dict "mounted" $mounted | toYaml -}}
{{- end -}}

{{/* The secrets of values.runner.secrets: which field of the configuration refers to each, and the Secret and the key, as a list below
     "secrets". */}}
{{- define "ocpctl.runnerSecrets" -}}
{{- $found := list -}}
{{- range $name, $field := dict "pullSecret" "runner.pull_secret_ref" "cloudCredentials" "runner.cloud_credentials_ref" "ibmcloudCredentials" "clouds.ibmcloud.credentials_ref" "sshKey" "runner.ssh_key_ref" -}}
{{- $value := index $.Values.runner.secrets $name -}}
{{- with $value.existingSecret -}}
{{- $found = append $found (dict "field" $field "secret" . "key" $value.key "path" (printf "/run/secrets/ocpctl/%s" (kebabcase $name))) -}}
{{- end -}}
{{- end -}}
{{- dict "secrets" $found | toYaml -}}
{{- end -}}

{{/* What the chart mounts into runners' pods, as a list below "mounts". */}}
{{- define "ocpctl.runnerMounts" -}}
{{- $mounts := list -}}
{{- range (include "ocpctl.runnerSecrets" . | fromYaml).secrets -}}
{{- $mounts = append $mounts (dict "secret" .secret "path" .path) -}}
{{- end -}}
{{- if .Values.embedded.enabled -}}
{{- $mounts = append $mounts (dict "secret" (printf "%s-embedded" (include "ocpctl.fullname" .)) "path" "/run/secrets/ocpctl/embedded") -}}
{{- end -}}
{{- dict "mounts" $mounts | toYaml -}}
{{- end -}}

{{- define "ocpctl.runnersHost" -}}
{{- printf "%s-runners.%s.svc" (include "ocpctl.fullname" .) .Release.Namespace -}}
{{- end -}}

{{/* The Secret with the certificate of the Service for runners: ca.crt, tls.crt and tls.key. */}}
{{- define "ocpctl.runnersTLS" -}}
{{- .Values.runnersTLS.existingSecret | default (printf "%s-runners-tls" (include "ocpctl.fullname" .)) -}}
{{- end -}}

{{/* What the chart itself knows of the configuration. */}}
{{- define "ocpctl.chartConfig" -}}
{{- if .Values.private.host }}
ui_url: https://{{ .Values.private.host }}
{{- else if .Values.embedded.enabled }}
ui_url: http://localhost:8080
{{- end }}
{{- if or .Values.catalogue.files .Values.catalogue.volume }}
catalogue: {dir: /etc/ocpctl/catalogue}
{{- end }}
{{- if .Values.embedded.enabled }}
demo: true
artifacts: {bucket: ocpctl}
{{- end }}
{{- range (include "ocpctl.runnerSecrets" . | fromYaml).secrets }}
{{- if eq .field "clouds.ibmcloud.credentials_ref" }}
clouds: {ibmcloud: {credentials_ref: "file:{{ .path }}/{{ .key }}"}}
{{- end }}
{{- end }}
runner:
  dispatch: kubernetes
  status_url: https://{{ include "ocpctl.runnersHost" . }}
  status_ca_file: /etc/ocpctl/runners/ca.crt
  {{- range (include "ocpctl.runnerSecrets" . | fromYaml).secrets }}
  {{- if hasPrefix "runner." .field }}
  {{ trimPrefix "runner." .field }}: file:{{ .path }}/{{ .key }}
  {{- end }}
  {{- end }}
  {{- if .Values.embedded.enabled }}
  env:
    AWS_SHARED_CREDENTIALS_FILE: /run/secrets/ocpctl/embedded/credentials
    AWS_CONFIG_FILE: /run/secrets/ocpctl/embedded/config
  {{- end }}
  kubernetes:
    namespace: {{ include "ocpctl.runnerNamespace" . }}
    {{- if eq (include "ocpctl.platform" .) "openshift" }}
    openshift: true
    {{- end }}
    image: {{ include "ocpctl.image" (dict "root" . "image" .Values.runner.image) }}
    {{- with .Values.runner.imagePullSecrets }}
    image_pull_secrets: {{ toJson . }}
    {{- end }}
    service_accounts:
      create: {{ .Values.runner.serviceAccounts.create.name }}
      destroy: {{ .Values.runner.serviceAccounts.destroy.name }}
      scale: {{ .Values.runner.serviceAccounts.operate.name }}
      configure: {{ .Values.runner.serviceAccounts.operate.name }}
      access: {{ .Values.runner.serviceAccounts.operate.name }}
      scan: {{ .Values.runner.serviceAccounts.scan.name }}
{{- end -}}

{{/* The whole file: the chart's part, the references to mounted secrets, values.config over both, and the chart's listeners. */}}
{{- define "ocpctl.config" -}}
{{- $config := include "ocpctl.chartConfig" . | fromYaml -}}
{{- range (include "ocpctl.mountedSecrets" . | fromYaml).mounted -}}
{{- $ref := printf "file:/etc/ocpctl/secrets/%s" .path -}}
{{- $field := splitList "." .field -}}
{{- if eq (len $field) 1 -}}
{{- $_ := set $config (first $field) $ref -}}
{{- else -}}
{{- $config = mergeOverwrite $config (dict (first $field) (dict (last $field) $ref)) -}}
{{- end -}}
{{- end -}}
{{- $config = mergeOverwrite $config (deepCopy .Values.config) -}}
{{- with (include "ocpctl.runnerMounts" . | fromYaml).mounts -}}
{{- $kubernetes := $config.runner.kubernetes -}}
{{- $_ := set $kubernetes "mounts" (concat . ($kubernetes.mounts | default list)) -}}
{{- end -}}
{{- $listen := dict "public" ":8081" "private" ":8080" "probes" ":8082" "runners" ":8443" "runners_cert_file" "/etc/ocpctl/runners/tls.crt" "runners_key_file" "/etc/ocpctl/runners/tls.key" -}}
{{- $config = mergeOverwrite $config (dict "listen" $listen) -}}
{{- include "ocpctl.checkConfig" (dict "root" . "config" $config) -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Stops a release that could not work or would endanger another one. The server checks everything else when it starts. */}}
{{- define "ocpctl.checkConfig" -}}
{{- if not .config.installation -}}
{{- fail "config.installation is empty; give a short name that no other control plane in the same cloud account has, for example prod" -}}
{{- end -}}
{{- if not .config.database_url_ref -}}
{{- fail "the database is unknown; set secrets.databaseURL.existingSecret, or config.database_url_ref, or to try ocpctl embedded.enabled" -}}
{{- end -}}
{{- if and .root.Values.catalogue.files .root.Values.catalogue.volume -}}
{{- fail "catalogue.files and catalogue.volume are both set; set one of them" -}}
{{- end -}}
{{- end -}}
