{{/* What the objects of a release are selected by. */}}
{{- define "muster.labels" -}}
{app.kubernetes.io/name: muster, app.kubernetes.io/instance: {{ .Release.Name | quote }}}
{{- end -}}

{{- define "muster.coordinatorLabels" -}}
{app.kubernetes.io/name: rendezvousd, app.kubernetes.io/instance: {{ .Release.Name | quote }}}
{{- end -}}

{{/* A value as text. Helm reads a whole number of a file as a floating-point
one, which prints as 1e+06 from a million on. */}}
{{- define "muster.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* A variable of `env`, where the user's list (`said`) has none of that name:
a list with a name twice is refused by server-side apply. */}}
{{- define "muster.variable" -}}
{{- if not (has .name .said) }}
- {name: {{ .name }}, {{ .is }}}
{{- end }}
{{- end -}}

{{/* A variable with what the pod's metadata or state says. */}}
{{- define "muster.field" -}}
{{- include "muster.variable" (dict "said" .said "name" .name "is" (printf "valueFrom: {fieldRef: {fieldPath: %s}}" (quote .path))) -}}
{{- end -}}

{{/* A variable with a text. */}}
{{- define "muster.value" -}}
{{- include "muster.variable" (dict "said" .said "name" .name "is" (printf "value: %s" (quote (include "muster.text" .value)))) -}}
{{- end -}}

{{/* The job's token as a variable. */}}
{{- define "muster.token" -}}
{{- include "muster.variable" (dict "said" .said "name" "MUSTER_TOKEN" "is" (printf "valueFrom: {secretKeyRef: {name: %s, key: token}}" (quote .secret))) -}}
{{- end -}}

{{- define "muster.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "muster.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ int64 .Values.runAsUser }}
runAsGroup: {{ int64 .Values.runAsUser }}
fsGroup: {{ int64 .Values.runAsUser }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* The probes of a container that is ready if the path `.` says so. */}}
{{- define "muster.probes" -}}
readinessProbe:
  httpGet: {path: {{ . }}, port: probes}
  periodSeconds: 5
livenessProbe:
  httpGet: {path: /livez, port: probes}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
  # A hung process does not react to SIGTERM, so SIGKILL follows after
  # 10 s. (The longer grace period of a trainer's pod is for checkpoints.)
  terminationGracePeriodSeconds: 10
{{- end -}}

{{- define "muster.environment" -}}
{{- $said := list }}
{{- range .Values.env }}{{ $said = append $said .name }}{{ end }}
{{- $fields := dict }}
{{- if eq .Values.mode "elastic" }}
{{- include "muster.value" (dict "said" $said "name" "MUSTER_NODES" "value" (printf "%v:%v" (int64 .Values.minNodes) (int64 .Values.maxNodes))) }}
{{- include "muster.value" (dict "said" $said "name" "MUSTER_COORDINATOR" "value" (printf "%s-rendezvousd:29400" .Release.Name)) }}
{{- include "muster.value" (dict "said" $said "name" "MUSTER_RUN_ID" "value" (printf "%s-%s" .Release.Name (include "muster.text" .Values.run))) }}
{{- $_ := set $fields "MUSTER_POD_NAME" "metadata.name" }}
{{- else }}
{{- include "muster.value" (dict "said" $said "name" "MUSTER_NODES" "value" .Values.nodes) }}
{{- $_ := set $fields "MUSTER_JOB_NAME" "metadata.labels['batch.kubernetes.io/job-name']" }}
{{- if eq .Values.mode "jobset" }}
{{- $_ := set $fields "MUSTER_JOBSET_NAME" "metadata.labels['jobset.sigs.k8s.io/jobset-name']" }}
{{- $_ := set $fields "MUSTER_JOBSET_UID" "metadata.labels['jobset.sigs.k8s.io/jobset-uid']" }}
{{- $_ := set $fields "MUSTER_JOBSET_ATTEMPT" "metadata.labels['jobset.sigs.k8s.io/restart-attempt']" }}
{{- $_ := set $fields "MUSTER_JOBSET_COORDINATOR" "metadata.annotations['jobset.sigs.k8s.io/coordinator']" }}
{{- else }}
{{- include "muster.value" (dict "said" $said "name" "MUSTER_SERVICE" "value" .Release.Name) }}
{{- $_ := set $fields "MUSTER_JOB_UID" "metadata.labels['batch.kubernetes.io/controller-uid']" }}
{{- end }}
{{- end }}
{{- include "muster.value" (dict "said" $said "name" "MUSTER_POD_TIMEOUT" "value" .Values.podTimeout) }}
{{- $_ := set $fields "MUSTER_POD_IP" "status.podIP" }}
{{- $_ := set $fields "MUSTER_NODE_NAME" "spec.nodeName" }}
{{- range $variable, $label := .Values.topologyLabels }}
{{- if $label }}{{ $_ := set $fields $variable (printf "metadata.labels['%s']" $label) }}{{ end }}
{{- end }}
{{- range $name, $path := $fields }}
{{- include "muster.field" (dict "said" $said "name" $name "path" $path) }}
{{- end }}
{{- include "muster.value" (dict "said" $said "name" "PET_NPROC_PER_NODE" "value" (ternary "gpu" .Values.workersPerNode (gt (int64 .Values.gpus) 0))) }}
{{- if .Values.tokenSecret }}
{{- include "muster.token" (dict "said" $said "secret" .Values.tokenSecret) }}
{{- end }}
{{- if include "muster.tlsSecret" . }}
{{- include "muster.tlsVariables" (dict "said" $said) }}
{{- end }}
{{- include "muster.value" (dict "said" $said "name" "HOME" "value" "/tmp") }}
{{- range .Values.env }}
- {{ toJson . }}
{{- end }}
{{- end -}}

{{/* What a pod gets between SIGTERM and SIGKILL. */}}
{{- define "muster.grace" -}}
{{- if eq .Values.mode "elastic" -}}
{{ add (int64 .Values.shutdownTimeout) 30 }}
{{- else -}}
{{ add (int64 .Values.preemptGrace) (int64 .Values.shutdownTimeout) 30 }}
{{- end -}}
{{- end -}}

{{/* `a` times as much of `unit` as a pod has GPUs; `none` where it has none. */}}
{{- define "muster.perGpu" -}}
{{- if .gpus }}{{ mul .a (int64 .gpus) }}{{ .unit }}{{ else }}{{ .none }}{{ end -}}
{{- end -}}

{{/* A container's memory: said, or by its GPUs. */}}
{{- define "muster.memory" -}}
{{- $requests := default dict (get (default dict .Values.resources) "requests") -}}
{{- $limits := default dict (get (default dict .Values.resources) "limits") -}}
{{- $usual := include "muster.perGpu" (dict "gpus" .Values.gpus "a" 32 "unit" "Gi" "none" "4Gi") -}}
{{ coalesce (get $limits "memory") (get $requests "memory") $usual }}
{{- end -}}

{{- define "muster.resources" -}}
{{- $requests := default dict (get (default dict .Values.resources) "requests") -}}
{{- $limits := default dict (get (default dict .Values.resources) "limits") -}}
{{- $memory := include "muster.memory" . -}}
{{- $usualCpu := include "muster.perGpu" (dict "gpus" .Values.gpus "a" 4 "unit" "" "none" "2") -}}
{{- $usual := dict "cpu" (coalesce (get $limits "cpu") $usualCpu) "memory" $memory -}}
requests:
  {{- range $name, $amount := merge dict $requests $usual }}
  {{ $name }}: {{ include "muster.text" $amount | quote }}
  {{- end }}
  {{- if .Values.gpus }}
  nvidia.com/gpu: {{ int64 .Values.gpus }}
  {{- end }}
limits:
  {{- range $name, $amount := merge dict $limits (dict "memory" $memory) }}
  {{ $name }}: {{ include "muster.text" $amount | quote }}
  {{- end }}
  {{- if .Values.gpus }}
  nvidia.com/gpu: {{ int64 .Values.gpus }}
  {{- end }}
{{- end -}}

{{- define "muster.podSpec" -}}
{{- if eq .Values.mode "job" }}
subdomain: {{ .Release.Name | quote }}
{{- end }}
{{- if ne .Values.mode "elastic" }}
restartPolicy: Never
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "muster.grace" . }}
securityContext:
  {{- include "muster.podSecurity" . | nindent 2 }}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{ include "muster.labels" . }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- if or .Values.gpus .Values.tolerations }}
tolerations:
{{- end }}
{{- if .Values.gpus }}
- {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
{{- end }}
{{- range .Values.tolerations }}
- {{ toJson . }}
{{- end }}
containers:
- name: trainer
  image: {{ .Values.image | quote }}
  imagePullPolicy: {{ .Values.imagePullPolicy }}
  command: [{{ if eq .Values.mode "elastic" }}agent{{ else }}launch{{ end }}]
  args:
  - --probe-listen=0.0.0.0:8080
  {{- if get (default dict .Values.metrics) "enabled" }}
  - --metrics-listen=0.0.0.0:8080
  {{- end }}
  - --shutdown-timeout={{ int64 .Values.shutdownTimeout }}
  {{- if ne .Values.mode "elastic" }}
  - --preempt-grace={{ int64 .Values.preemptGrace }}
  {{- end }}
  {{- range concat (default list .Values.flags) (default list .Values.args) }}
  - {{ include "muster.text" . | quote }}
  {{- end }}
  env:
  {{- include "muster.environment" . | trim | nindent 2 }}
  ports:
  {{- if ne .Values.mode "elastic" }}
  - {name: coordinator, containerPort: 29400}
  {{- end }}
  - {name: probes, containerPort: 8080}
  # Allows more time for the first connection to the coordinator than
  # launch or agent itself does (MUSTER_POD_TIMEOUT).
  startupProbe:
    httpGet: {path: /startupz, port: probes}
    periodSeconds: 10
    failureThreshold: {{ add (div (int64 .Values.podTimeout) 10) 10 }}
  {{- include "muster.probes" "/readyz" | nindent 2 }}
  resources:
    {{- include "muster.resources" . | nindent 4 }}
  securityContext:
    {{- include "muster.containerSecurity" . | nindent 4 }}
  volumeMounts:
  {{- $mounts := list }}
  {{- range .Values.volumeMounts }}{{ $mounts = append $mounts .mountPath }}{{ end }}
  {{- if not (has "/dev/shm" $mounts) }}
  - {name: shm, mountPath: /dev/shm}
  {{- end }}
  {{- if not (has "/tmp" $mounts) }}
  - {name: tmp, mountPath: /tmp}
  {{- end }}
  {{- if and (include "muster.tlsSecret" .) (not (has "/etc/muster/tls" $mounts)) }}
  {{- include "muster.tlsMount" . | nindent 2 }}
  {{- end }}
  {{- range .Values.volumeMounts }}
  - {{ toJson . }}
  {{- end }}
volumes:
{{- $volumes := list }}
{{- range .Values.volumes }}{{ $volumes = append $volumes .name }}{{ end }}
{{- if not (has "shm" $volumes) }}
- name: shm
  emptyDir: {medium: Memory, sizeLimit: {{ include "muster.text" (.Values.sharedMemory | default (include "muster.perGpu" (dict "gpus" .Values.gpus "a" 8 "unit" "Gi" "none" "1Gi"))) | quote }}}
{{- end }}
{{- if not (has "tmp" $volumes) }}
- name: tmp
  emptyDir: {}
{{- end }}
{{- if and (include "muster.tlsSecret" .) (not (has "tls" $volumes)) }}
{{- include "muster.tlsVolume" (include "muster.tlsSecret" .) | nindent 0 }}
{{- end }}
{{- range .Values.volumes }}
- {{ toJson . }}
{{- end }}
{{- end -}}

{{/* How often a Job makes a pod again. From Kubernetes 1.29 on each index has
a back-off and a limit of its own; before, one pod's failure or disruption delays
all. */}}
{{- define "muster.backoff" -}}
{{- $perIndex := semverCompare ">=1.29-0" .Capabilities.KubeVersion.Version -}}
{{- if and $perIndex (eq .Values.mode "jobset") -}}
backoffLimitPerIndex: 0
maxFailedIndexes: 0
{{- else if $perIndex -}}
backoffLimitPerIndex: {{ int64 .Values.backoffLimitPerIndex }}
maxFailedIndexes: 0
{{- else if eq .Values.mode "jobset" -}}
backoffLimit: 0
{{- else -}}
backoffLimit: {{ int64 .Values.backoffLimit }}
{{- end }}
{{- end -}}

{{/* When a Job's pod that ended is no failure, and when it is the Job's. */}}
{{- define "muster.podFailurePolicy" -}}
rules:
- action: Ignore
  onPodConditions:
  - {type: DisruptionTarget, status: "True"}
- action: Ignore
  onPodConditions: []
  onExitCodes: {containerName: trainer, operator: In, values: [75]}
- action: FailJob
  onPodConditions: []
  onExitCodes: {containerName: trainer, operator: In, values: [2]}
{{- end -}}
