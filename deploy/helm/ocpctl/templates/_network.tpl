{{- define "ocpctl.dnsEgress" -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
    {{- if eq (include "ocpctl.platform" .) "openshift" }}
    - {protocol: UDP, port: 5353} # the pods of OpenShift's DNS
    - {protocol: TCP, port: 5353}
    {{- end }}
  to:
    {{- if .Values.networkPolicy.dnsTo }}
    {{- toYaml .Values.networkPolicy.dnsTo | nindent 4 }}
    {{- else }}
    - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ ternary "openshift-dns" "kube-system" (eq (include "ocpctl.platform" .) "openshift") }}}}
    {{- end }}
{{- end -}}

{{- define "ocpctl.ingressFrom" -}}
{{- if .Values.networkPolicy.ingressFrom -}}
{{- toYaml .Values.networkPolicy.ingressFrom -}}
{{- else if eq (include "ocpctl.platform" .) "openshift" -}}
- namespaceSelector: {matchLabels: {policy-group.network.openshift.io/ingress: ""}}
{{- else -}}
- namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}
{{- end -}}
{{- end -}}

{{- define "ocpctl.monitoringFrom" -}}
{{- if .Values.networkPolicy.monitoringFrom -}}
{{- toYaml .Values.networkPolicy.monitoringFrom -}}
{{- else -}}
- namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ ternary "openshift-user-workload-monitoring" "monitoring" (eq (include "ocpctl.platform" .) "openshift") }}}}
{{- end -}}
{{- end -}}
