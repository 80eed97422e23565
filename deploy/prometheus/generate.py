#!/usr/bin/python3
"""Writes the alert rules for Prometheus and the dashboard for Grafana from the
lists below.

  deploy/prometheus/generate.py     writes alerts.yml and ../grafana/muster.json
"""

import json
import os

import yaml

_HERE = os.path.dirname(os.path.realpath(__file__))
ALERTS_FILE = os.path.join(_HERE, 'alerts.yml')
DASHBOARD_FILE = os.path.join(_HERE, os.pardir, 'grafana', 'muster.json')

_RUNNING = 'on(job) muster_job_phase{phase="running"} == 1'
_PRODUCTIVE = ('sum by (job) (rate(muster_job_time_seconds_total'
               '{activity=~"productive|running"}[%s])) / '
               'sum by (job) (rate(muster_job_time_seconds_total[%s]))')

_GPU = 'GPU {{ $labels.gpu }} ({{ $labels.UUID }}) at {{ $labels.instance }} '

# For each alert: name, expression, time for which the expression must be true,
# severity, summary, and what to do.
ALERTS = (
    ('MusterJobFailed',
     'muster_job_exit_code > 0 and muster_job_exit_code != 75', '0m',
     'critical',
     'Job {{ $labels.job }} has ended with exit code {{ $value }}.',
     'The verdict at the end of each node\'s output names the cause.'),
    ('MusterJobWaits',
     'muster_job_phase{phase="gathering"} == 1', '10m', 'warning',
     'Job {{ $labels.job }} has waited for nodes for 10 minutes.',
     '`launch status` names the absent and the unhealthy nodes.'),
    ('MusterNodeMissing',
     'muster_job_nodes{state="disconnected"} > 0', '5m', 'warning',
     '{{ $value }} nodes of job {{ $labels.job }} are disconnected.',
     '`launch status` names them; look at their machines and networks.'),
    ('MusterNodeUnhealthy',
     'muster_job_nodes{state="unhealthy"} > 0', '5m', 'warning',
     '{{ $value }} nodes of job {{ $labels.job }} are unhealthy.',
     '`launch status` has the reasons; run `launch doctor` on the nodes.'),
    ('MusterNodeQuarantined',
     'muster_job_nodes{state="quarantined"} > 0', '0m', 'warning',
     '{{ $value }} nodes of job {{ $labels.job }} are quarantined or banned.',
     '`launch nodes` has the reasons, and frees a repaired node (--free).'),
    ('MusterRestartsNearlyUsed',
     'muster_job_max_restarts > 0 and '
     'muster_job_max_restarts - muster_job_restarts_total <= 1 and '
     + _RUNNING, '0m', 'warning',
     'Job {{ $labels.job }} has at most one restart left.',
     '`launch status` shows what has spent the others.'),
    ('MusterLowProductivity',
     '(' + _PRODUCTIVE % ('1h', '1h') + ') < 0.9 and ' + _RUNNING, '15m',
     'warning',
     'Job {{ $labels.job }} has trained for less than 90 % of the last hour.',
     'muster_job_interruptions_total has the causes.'),
    ('MusterWorkerSilent',
     'muster_node_worker_silence_seconds > 300', '0m', 'warning',
     'A worker at {{ $labels.instance }} has reported no progress for '
     '5 minutes.',
     '`launch status` names it; --hang-timeout ends such rounds.'),
    ('MusterSlowRank',
     'muster_job_stragglers > 0', '5m', 'warning',
     '{{ $value }} ranks of job {{ $labels.job }} have made the others wait '
     'for 5 minutes.',
     '`launch status` names them; --evict-stragglers replaces their nodes.'),
    ('MusterNotDurable',
     'muster_job_not_durable_seconds > 60', '0m', 'warning',
     'The newest state of job {{ $labels.job }} has not been on disk for a '
     'minute.',
     'Look at the disk of --state-dir, or at etcd.'),
    ('MusterNoLeader',
     'sum(muster_coordinator_leads) == 0', '1m', 'critical',
     'No rendezvousd leads.',
     'Look at etcd and at the log of each rendezvousd.'),
    ('MusterOutputLost',
     'increase(muster_node_log_bytes_lost_total[10m]) > 0', '0m', 'warning',
     'Workers\' output at {{ $labels.instance }} was lost.',
     'Look at the disk of --log-dir.'),
    ('MusterGpuXid',
     'muster_gpu_xids_total{kind="hardware"} > 0', '0m', 'critical',
     _GPU + 'has reported a hardware error (XID).',
     'The agent\'s log has the XID; run `launch doctor` there, and replace the '
     'node.'),
    ('MusterGpuLost',
     'muster_gpu_up == 0', '1m', 'critical',
     'GPU {{ $labels.gpu }} at {{ $labels.instance }} does not answer.',
     'Reset the GPU or restart the machine.'),
    ('MusterGpuDriverHangs',
     'muster_gpu_reading_age_seconds > 60', '1m', 'critical',
     'NVIDIA\'s driver at {{ $labels.instance }} has not answered for a '
     'minute.',
     'The kernel\'s log has the reason; restart the machine.'),
    ('MusterGpuMemoryErrors',
     'increase(muster_gpu_ecc_volatile_errors_total{type="uncorrected"}[1h]) '
     '> 0', '0m', 'critical',
     _GPU + 'has memory errors that could not be corrected.',
     'Reset the GPU; if they come again, replace it.'),
    ('MusterGpuRowRemapFailed',
     'muster_gpu_row_remap_failed == 1', '0m', 'critical',
     _GPU + 'has no row left that could replace a bad one.',
     'Replace the GPU.'),
    ('MusterGpuRowRemapPending',
     'muster_gpu_row_remap_pending == 1', '0m', 'warning',
     _GPU + 'replaces a bad row of its memory with the next reset.',
     'Reset the GPU after the job.'),
    ('MusterGpuThrottled',
     'max without (reason) (muster_gpu_clock_limited{reason!="power_cap"}) '
     '== 1', '5m', 'warning',
     _GPU + 'has been held down for 5 minutes.',
     'muster_gpu_clock_limited has the reason: heat, or the power supply.'),
    ('MusterGpuHot',
     'muster_gpu_temperature_celsius > 85 or '
     'muster_gpu_memory_temperature_celsius > 95', '5m', 'warning',
     _GPU + 'or its memory has been at {{ $value }} C for 5 minutes.',
     'Look at the machine\'s fans and at the room.'),
)

_J = '{job="$job"}'
_OF_NODE = ' * on(instance) group_left(node) muster_node_info' + _J
_EACH_GPU = '{{node}}:{{gpu}}'
_JC = '{job="$job",'

# For each panel: title, kind, unit, and the expressions with their legends.
PANELS = (
    ('Productive share of the last hour', 'stat', 'percentunit',
     [(_PRODUCTIVE.replace('total{', 'total' + _JC).replace(
         'total[', 'total' + _J + '[') % ('1h', '1h'), '')]),
    ('Round', 'stat', 'none', [('muster_job_rounds_total' + _J, '')]),
    ('Restarts used', 'stat', 'none', [('muster_job_restarts_total' + _J, '')]),
    ('Lowest step', 'stat', 'none', [('muster_job_step' + _J, '')]),
    ('Phase', 'state-timeline', 'none',
     [('muster_job_phase' + _J + ' == 1', '{{phase}}')]),
    ('Nodes by state', 'stack', 'none',
     [('muster_job_nodes' + _J + ' > 0', '{{state}}')]),
    ('Time by activity', 'stack', 'percentunit',
     [('sum by (activity) (rate(muster_job_time_seconds_total' + _J +
       '[$__rate_interval])) / ignoring(activity) group_left '
       'sum(rate(muster_job_time_seconds_total' + _J +
       '[$__rate_interval]))', '{{activity}}')]),
    ('Interruptions by cause', 'bars', 'none',
     [('increase(muster_job_interruptions_total' + _J + '[$__rate_interval])',
       '{{cause}}')]),
    ('Time without progress by cause', 'bars', 's',
     [('increase(muster_job_interrupted_seconds_total' + _J +
       '[$__rate_interval])', '{{cause}}')]),
    ('Time to recover from an interruption', 'line', 's',
     [('histogram_quantile(%s, sum by (le) (rate('
       'muster_job_recovery_seconds_bucket' % quantile + _J + '[1d])))', legend)
      for quantile, legend in ((0.5, 'median'), (0.95, '95 %'))]),
    ('Slow ranks', 'line', 'none', [('muster_job_stragglers' + _J, '')]),
    ('Tokens per second', 'line', 'none',
     [('muster_job_tokens_per_second' + _J, 'all workers')]),
    ('Loss of each node', 'line', 'none',
     [('muster_node_loss' + _OF_NODE, '{{node}}')]),
    ('Longest time since a worker\'s last report', 'line', 's',
     [('muster_node_worker_silence_seconds' + _OF_NODE, '{{node}}')]),
    ('Output of the workers', 'line', 'Bps',
     [('rate(muster_node_output_bytes_total[$__rate_interval])' + _OF_NODE,
       '{{node}}')]),
    ('Output that is missing', 'bars', 'bytes',
     [('increase(%s[$__rate_interval])' % name + _OF_NODE + ' > 0',
       '{{node}} ' + where)
      for name, where in (
          ('muster_node_log_bytes_lost_total', 'log files'),
          ('muster_node_console_bytes_missing_total', 'console'),
          ('muster_node_follower_bytes_skipped_total', 'followers'))]),
    ('Requests to the workers\' store', 'line', 'reqps',
     [('rate(muster_store_requests_total[$__rate_interval])' + _OF_NODE,
       '{{node}}')]),
    ('GPU utilisation', 'line', 'percentunit',
     [('muster_gpu_utilization_ratio' + _OF_NODE, _EACH_GPU)]),
    ('GPU memory in use', 'line', 'bytes',
     [('muster_gpu_memory_used_bytes' + _OF_NODE, _EACH_GPU)]),
    ('GPU power', 'line', 'watt',
     [('muster_gpu_power_watts' + _OF_NODE, _EACH_GPU)]),
    ('GPU temperature', 'line', 'celsius',
     [('muster_gpu_temperature_celsius' + _OF_NODE, _EACH_GPU),
      ('muster_gpu_memory_temperature_celsius' + _OF_NODE,
       _EACH_GPU + ' memory')]),
    ('GPU clocks held down', 'line', 'none',
     [('(muster_gpu_clock_limited == 1)' + _OF_NODE,
       _EACH_GPU + ' {{reason}}')]),
    ('GPU errors (XID) by kind', 'bars', 'none',
     [('increase(muster_gpu_xids_total[$__rate_interval])' + _OF_NODE + ' > 0',
       _EACH_GPU + ' {{kind}}')]),
    ('GPU memory errors and replaced rows', 'bars', 'none',
     [('increase(muster_gpu_ecc_volatile_errors_total[$__rate_interval])' +
       _OF_NODE + ' > 0', _EACH_GPU + ' {{type}}'),
      ('increase(muster_gpu_remapped_rows_total[$__rate_interval])' +
       _OF_NODE + ' > 0', _EACH_GPU + ' rows, {{cause}}')]),
    ('NVLink errors', 'bars', 'none',
     [('increase(muster_gpu_nvlink_errors_total[$__rate_interval])' +
       _OF_NODE + ' > 0', _EACH_GPU + ' {{type}}')]),
)


def alert_rules():
  return {'groups': [{'name': 'muster', 'rules': [
      {'alert': name, 'expr': expression, 'for': span,
       'labels': {'severity': severity},
       'annotations': {'summary': summary, 'description': remedy}}
      for name, expression, span, severity, summary, remedy in ALERTS]}]}


def _panel(number, title, kind, unit, queries):
  custom = {}
  if kind in ('stack', 'bars'):
    custom = {'fillOpacity': 60, 'stacking': {'mode': 'normal'},
              'drawStyle': 'bars' if kind == 'bars' else 'line'}
  width, height = (6, 4) if kind == 'stat' else (12, 8)
  per_row = 24 // width
  stats = sum(panel[1] == 'stat' for panel in PANELS)
  index = number if kind == 'stat' else number - stats
  row = index // per_row
  return {
      'id': number + 1,
      'title': title,
      'type': kind if kind in ('stat', 'state-timeline') else 'timeseries',
      'datasource': {'type': 'prometheus', 'uid': '${source}'},
      'gridPos': {'w': width, 'h': height, 'x': index % per_row * width,
                  'y': row * height + (0 if kind == 'stat' else 4)},
      'fieldConfig': {'defaults': {'unit': unit, 'custom': custom},
                      'overrides': []},
      'targets': [{'refId': chr(ord('A') + i), 'expr': expression,
                   'legendFormat': legend,
                   'datasource': {'type': 'prometheus', 'uid': '${source}'}}
                  for i, (expression, legend) in enumerate(queries)],
  }


def dashboard():
  return {
      'title': 'Muster job',
      'uid': 'muster-job',
      'tags': ['muster'],
      'schemaVersion': 36,
      'version': 1,
      'refresh': '10s',
      'time': {'from': 'now-6h', 'to': 'now'},
      'templating': {'list': [
          {'name': 'source', 'label': 'Source', 'type': 'datasource',
           'query': 'prometheus'},
          {'name': 'job', 'label': 'Job', 'type': 'query', 'refresh': 2,
           'datasource': {'type': 'prometheus', 'uid': '${source}'},
           'query': 'label_values(muster_job_phase, job)'}]},
      'panels': [_panel(i, *panel) for i, panel in enumerate(PANELS)],
  }


def alerts_text():
  return ('# Made by deploy/prometheus/generate.py. Do not edit.\n' +
          yaml.safe_dump(alert_rules(), sort_keys=False, width=88))


def dashboard_text():
  return json.dumps(dashboard(), indent=2) + '\n'


def main():
  with open(ALERTS_FILE, 'w') as file:
    file.write(alerts_text())
  with open(DASHBOARD_FILE, 'w') as file:
    file.write(dashboard_text())


if __name__ == '__main__':
  main()
