{{/* The Secret with the certificate of the pods of launch or agent; empty: no
TLS. */}}
{{- define "muster.tlsSecret" -}}
{{- $tls := default dict .Values.tls -}}
{{- if get $tls "enabled" -}}
{{ get $tls "secretName" | default (printf "%s-tls" .Release.Name) }}
{{- end -}}
{{- end -}}

{{/* The Secret with the certificate of rendezvousd; empty: no TLS. */}}
{{- define "muster.tlsCoordinatorSecret" -}}
{{- $tls := default dict .Values.tls -}}
{{- if get $tls "enabled" -}}
{{ get $tls "secretName" | default (printf "%s-rendezvousd-tls" .Release.Name) }}
{{- end -}}
{{- end -}}

{{/* The variables that name the files of the mounted Secret. */}}
{{- define "muster.tlsVariables" -}}
{{- include "muster.value" (dict "said" .said "name" "MUSTER_TLS_CERT" "value" "/etc/muster/tls/tls.crt") }}
{{- include "muster.value" (dict "said" .said "name" "MUSTER_TLS_KEY" "value" "/etc/muster/tls/tls.key") }}
{{- include "muster.value" (dict "said" .said "name" "MUSTER_TLS_CA" "value" "/etc/muster/tls/ca.crt") }}
{{- end -}}

{{/* No subPath: the kubelet renews only the files of a whole volume. */}}
{{- define "muster.tlsMount" -}}
- {name: tls, mountPath: /etc/muster/tls, readOnly: true}
{{- end -}}

{{/* The files' owner is root, their group the pod's fsGroup. */}}
{{- define "muster.tlsVolume" -}}
- name: tls
  secret: {secretName: {{ quote . }}, defaultMode: 0440}
{{- end -}}

{{- define "muster.tlsKey" -}}
{algorithm: ECDSA, size: 256, rotationPolicy: Always}
{{- end -}}

{{/* The issuer of the job's certificates: the user's, or the chart's own. */}}
{{- define "muster.tlsIssuer" -}}
{{- $issuer := default dict (get (default dict .Values.tls) "issuerRef") -}}
{{- $own := dict "name" (printf "%s-ca" .Release.Name) "kind" "Issuer" "group" "cert-manager.io" -}}
{{ ternary (pick $issuer "name" "kind" "group") $own (not (empty (get $issuer "name"))) | toJson }}
{{- end -}}
