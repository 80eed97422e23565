{{/* What the objects of a release are selected by. */}}
{{- define "muster.labels" -}}
{app.kubernetes.io/name: muster, app.kubernetes.io/instance: {{ .Release.Name | quote }}}
{{- end -}}

{{- define "muster.coordinatorLabels" -}}
{app.kubernetes.io/name: rendezvousd, app.kubernetes.io/instance: {{ .Release.Name | quote }}}
{{- end -}}

{{/* A variable with what the pod's metadata or state says. */}}
{{- define "muster.field" -}}
- {name: {{ .name }}, valueFrom: {fieldRef: {fieldPath: {{ .path | quote }}}}}
{{- end -}}

{{- define "muster.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "muster.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.runAsUser }}
runAsGroup: {{ .Values.runAsUser }}
fsGroup: {{ .Values.runAsUser }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "muster.probes" -}}
readinessProbe:
  httpGet: {path: /readyz, port: probes}
  periodSeconds: 5
livenessProbe:
  httpGet: {path: /livez, port: probes}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- define "muster.environment" -}}
{{- if eq .Values.mode "elastic" }}
- {name: MUSTER_NODES, value: {{ printf "%v:%v" .Values.minNodes .Values.maxNodes | quote }}}
- {name: MUSTER_COORDINATOR, value: {{ printf "%s-rendezvousd:29400" .Release.Name | quote }}}
- {name: MUSTER_RUN_ID, value: {{ printf "%s-%v" .Release.Name .Values.run | quote }}}
{{ include "muster.field" (dict "name" "MUSTER_POD_NAME" "path" "metadata.name") }}
{{- else }}
- {name: MUSTER_NODES, value: {{ .Values.nodes | quote }}}
{{ include "muster.field" (dict "name" "MUSTER_JOB_NAME" "path" "metadata.labels['batch.kubernetes.io/job-name']") }}
{{- if eq .Values.mode "jobset" }}
{{ include "muster.field" (dict "name" "MUSTER_JOBSET_NAME" "path" "metadata.labels['jobset.sigs.k8s.io/jobset-name']") }}
{{ include "muster.field" (dict "name" "MUSTER_JOBSET_ATTEMPT" "path" "metadata.labels['jobset.sigs.k8s.io/restart-attempt']") }}
{{ include "muster.field" (dict "name" "MUSTER_JOBSET_COORDINATOR" "path" "metadata.annotations['jobset.sigs.k8s.io/coordinator']") }}
{{- else }}
- {name: MUSTER_SERVICE, value: {{ .Release.Name | quote }}}
{{ include "muster.field" (dict "name" "MUSTER_JOB_UID" "path" "metadata.labels['batch.kubernetes.io/controller-uid']") }}
{{- end }}
{{- end }}
{{ include "muster.field" (dict "name" "MUSTER_POD_IP" "path" "status.podIP") }}
{{ include "muster.field" (dict "name" "MUSTER_NODE_NAME" "path" "spec.nodeName") }}
{{- range $variable, $label := .Values.topologyLabels }}
{{ include "muster.field" (dict "name" $variable "path" (printf "metadata.labels['%s']" $label)) }}
{{- end }}
- {name: PET_NPROC_PER_NODE, value: {{ if .Values.gpus }}gpu{{ else }}{{ .Values.workersPerNode | quote }}{{ end }}}
{{- if .Values.tokenSecret }}
- {name: MUSTER_TOKEN, valueFrom: {secretKeyRef: {name: {{ .Values.tokenSecret | quote }}, key: token}}}
{{- end }}
- {name: HOME, value: /tmp}
{{- range .Values.env }}
- {{ toJson . }}
{{- end }}
{{- end -}}

{{/* What a pod gets between SIGTERM and SIGKILL. */}}
{{- define "muster.grace" -}}
{{- if eq .Values.mode "elastic" -}}
{{ add .Values.shutdownTimeout 30 }}
{{- else -}}
{{ add .Values.preemptGrace .Values.shutdownTimeout 30 }}
{{- end -}}
{{- end -}}

{{/* `a` times as much of `unit` as a pod has GPUs; `none` where it has none. */}}
{{- define "muster.perGpu" -}}
{{- if .gpus }}{{ mul .a .gpus }}{{ .unit }}{{ else }}{{ .none }}{{ end -}}
{{- end -}}

{{/* A container's memory: said, or by its GPUs. */}}
{{- define "muster.memory" -}}
{{- $requests := default dict .Values.resources.requests -}}
{{- $limits := default dict .Values.resources.limits -}}
{{- $usual := include "muster.perGpu" (dict "gpus" .Values.gpus "a" 32 "unit" "Gi" "none" "4Gi") -}}
{{ coalesce (get $limits "memory") (get $requests "memory") $usual }}
{{- end -}}

{{- define "muster.resources" -}}
{{- $requests := default dict .Values.resources.requests -}}
{{- $limits := default dict .Values.resources.limits -}}
{{- $memory := include "muster.memory" . -}}
{{- $usualCpu := include "muster.perGpu" (dict "gpus" .Values.gpus "a" 4 "unit" "" "none" "2") -}}
{{- $usual := dict "cpu" (coalesce (get $limits "cpu") $usualCpu) "memory" $memory -}}
requests:
  {{- range $name, $amount := merge dict $requests $usual }}
  {{ $name }}: {{ $amount | quote }}
  {{- end }}
  {{- if .Values.gpus }}
  nvidia.com/gpu: {{ .Values.gpus }}
  {{- end }}
limits:
  {{- range $name, $amount := merge dict $limits (dict "memory" $memory) }}
  {{ $name }}: {{ $amount | quote }}
  {{- end }}
  {{- if .Values.gpus }}
  nvidia.com/gpu: {{ .Values.gpus }}
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
nodeSelector: {{ toJson .Values.nodeSelector }}
tolerations:
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
  - --shutdown-timeout={{ .Values.shutdownTimeout }}
  {{- if ne .Values.mode "elastic" }}
  - --preempt-grace={{ .Values.preemptGrace }}
  {{- end }}
  {{- range .Values.flags }}
  - {{ . | quote }}
  {{- end }}
  {{- range .Values.args }}
  - {{ . | quote }}
  {{- end }}
  env:
  {{- include "muster.environment" . | nindent 2 }}
  ports:
  {{- if ne .Values.mode "elastic" }}
  - {name: coordinator, containerPort: 29400}
  {{- end }}
  - {name: probes, containerPort: 8080}
  # Until the coordinator is reached: as long as launch or agent itself tries.
  startupProbe:
    httpGet: {path: /startupz, port: probes}
    periodSeconds: 5
    failureThreshold: 130
  {{- include "muster.probes" . | nindent 2 }}
  resources:
    {{- include "muster.resources" . | nindent 4 }}
  securityContext:
    {{- include "muster.containerSecurity" . | nindent 4 }}
  volumeMounts:
  - {name: shm, mountPath: /dev/shm}
  - {name: tmp, mountPath: /tmp}
  {{- range .Values.volumeMounts }}
  - {{ toJson . }}
  {{- end }}
volumes:
- name: shm
  emptyDir: {medium: Memory, sizeLimit: {{ .Values.sharedMemory | default (include "muster.perGpu" (dict "gpus" .Values.gpus "a" 8 "unit" "Gi" "none" "1Gi")) }}}
- name: tmp
  emptyDir: {}
{{- range .Values.volumes }}
- {{ toJson . }}
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
