#!/usr/bin/python3
"""The alert rules and the dashboard: they are those of their source, their
expressions use metrics that exist, and each alert fires when it must."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

_TREE = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir,
                     os.pardir)
sys.path[:0] = [os.path.join(_TREE, 'tests', 'python'),
                os.path.join(_TREE, 'deploy', 'prometheus')]

import generate
import xml_main

_RUNS = ('muster_job_phase{job="a",phase="running"}', '1x120')

# Each case: alert; series (name, and values in promtool's notation, one a
# minute); the minute at which the alert is checked; whether it fires then.
_CASES = (
    ('MusterJobFailed', [('muster_job_exit_code{job="a"}', '1x10')], 1, True),
    ('MusterJobFailed', [('muster_job_exit_code{job="a"}', '0x10')], 1, False),
    ('MusterJobFailed', [('muster_job_exit_code{job="a"}', '75x10')], 1, False),
    ('MusterJobWaits',
     [('muster_job_phase{job="a",phase="gathering"}', '1x20')], 11, True),
    ('MusterJobWaits',
     [('muster_job_phase{job="a",phase="gathering"}', '1x20')], 9, False),
    ('MusterNodeMissing',
     [('muster_job_nodes{job="a",state="disconnected"}', '2x20')], 6, True),
    ('MusterNodeMissing',
     [('muster_job_nodes{job="a",state="disconnected"}', '2x3 0x20')], 6,
     False),
    ('MusterSlowRank', [('muster_job_stragglers{job="a"}', '1x20')], 6, True),
    ('MusterSlowRank', [('muster_job_stragglers{job="a"}', '1x3 0x20')], 6,
     False),
    ('MusterNodeUnhealthy',
     [('muster_job_nodes{job="a",state="unhealthy"}', '1x20')], 6, True),
    ('MusterNodeUnhealthy',
     [('muster_job_nodes{job="a",state="running"}', '1x20')], 6, False),
    ('MusterNodeQuarantined',
     [('muster_job_nodes{job="a",state="quarantined"}', '1x20')], 1, True),
    ('MusterNodeQuarantined',
     [('muster_job_nodes{job="a",state="quarantined"}', '0x20')], 6, False),
    ('MusterRestartsNearlyUsed',
     [_RUNS, ('muster_job_max_restarts{job="a"}', '3x9'),
      ('muster_job_restarts_total{job="a"}', '2x9')], 1, True),
    ('MusterRestartsNearlyUsed',
     [_RUNS, ('muster_job_max_restarts{job="a"}', '0x9'),
      ('muster_job_restarts_total{job="a"}', '0x9')], 1, False),
    ('MusterRestartsNearlyUsed',
     [('muster_job_phase{job="a",phase="running"}', '0x9'),
      ('muster_job_max_restarts{job="a"}', '3x9'),
      ('muster_job_restarts_total{job="a"}', '3x9')], 1, False),
    ('MusterLowProductivity',
     [_RUNS,
      ('muster_job_time_seconds_total{job="a",activity="productive"}',
       '0+30x120'),
      ('muster_job_time_seconds_total{job="a",activity="stalled"}',
       '0+30x120')], 100, True),
    ('MusterLowProductivity',
     [_RUNS,
      ('muster_job_time_seconds_total{job="a",activity="productive"}',
       '0+30x120'),
      ('muster_job_time_seconds_total{job="a",activity="running"}',
       '0+28x120'),
      ('muster_job_time_seconds_total{job="a",activity="stalled"}',
       '0+2x120')], 100, False),
    ('MusterWorkerSilent',
     [('muster_node_worker_silence_seconds', '301x9')], 1, True),
    ('MusterWorkerSilent',
     [('muster_node_worker_silence_seconds', '5x9')], 1, False),
    ('MusterNotDurable',
     [('muster_job_not_durable_seconds{job="a"}', '90x9')], 1, True),
    ('MusterNotDurable',
     [('muster_job_not_durable_seconds{job="a"}', '0x9')], 1, False),
    ('MusterNoLeader',
     [('muster_coordinator_leads{instance="x"}', '0x9'),
      ('muster_coordinator_leads{instance="y"}', '0x9')], 2, True),
    ('MusterNoLeader',
     [('muster_coordinator_leads{instance="x"}', '0x9'),
      ('muster_coordinator_leads{instance="y"}', '1x9')], 2, False),
    ('MusterOutputLost',
     [('muster_node_log_bytes_lost_total', '0x4 500x20')], 8, True),
    ('MusterOutputLost',
     [('muster_node_log_bytes_lost_total', '500x20')], 8, False),
    ('MusterGpuXid',
     [('muster_gpu_xids_total{gpu="1",kind="hardware"}', '0x2 1x9')], 4, True),
    ('MusterGpuXid',
     [('muster_gpu_xids_total{gpu="1",kind="hardware"}', '0x9'),
      ('muster_gpu_xids_total{gpu="1",kind="application"}', '7x9')], 4, False),
    ('MusterGpuLost', [('muster_gpu_up{gpu="1"}', '1x2 0x9')], 5, True),
    ('MusterGpuLost', [('muster_gpu_up{gpu="1"}', '1x9')], 5, False),
    ('MusterGpuDriverHangs',
     [('muster_gpu_reading_age_seconds', '4 4 4 64 124 184 244 304')], 6, True),
    ('MusterGpuDriverHangs',
     [('muster_gpu_reading_age_seconds', '4x9')], 6, False),
    ('MusterGpuMemoryErrors',
     [('muster_gpu_ecc_volatile_errors_total{gpu="1",type="uncorrected"}',
       '2x4 3x9')], 8, True),
    ('MusterGpuMemoryErrors',
     [('muster_gpu_ecc_volatile_errors_total{gpu="1",type="uncorrected"}',
       '2x9'),
      ('muster_gpu_ecc_volatile_errors_total{gpu="1",type="corrected"}',
       '0+5x9')], 8, False),
    ('MusterGpuRowRemapFailed',
     [('muster_gpu_row_remap_failed{gpu="1"}', '1x9')], 1, True),
    ('MusterGpuRowRemapFailed',
     [('muster_gpu_row_remap_failed{gpu="1"}', '0x9')], 1, False),
    ('MusterGpuRowRemapPending',
     [('muster_gpu_row_remap_pending{gpu="1"}', '1x9')], 1, True),
    ('MusterGpuRowRemapPending',
     [('muster_gpu_row_remap_pending{gpu="1"}', '0x9')], 1, False),
    ('MusterGpuThrottled',
     [('muster_gpu_clock_limited{gpu="1",reason="hardware_thermal"}', '1x9'),
      ('muster_gpu_clock_limited{gpu="1",reason="power_brake"}', '0x9')], 6,
     True),
    ('MusterGpuThrottled',
     [('muster_gpu_clock_limited{gpu="1",reason="power_cap"}', '1x9'),
      ('muster_gpu_clock_limited{gpu="1",reason="power_brake"}', '0x9')], 6,
     False),
    ('MusterGpuHot',
     [('muster_gpu_temperature_celsius{gpu="1"}', '86x9')], 6, True),
    ('MusterGpuHot',
     [('muster_gpu_memory_temperature_celsius{gpu="1"}', '96x9')], 6, True),
    ('MusterGpuHot',
     [('muster_gpu_temperature_celsius{gpu="1"}', '80x9'),
      ('muster_gpu_memory_temperature_celsius{gpu="1"}', '90x9')], 6, False),
)


def promtool(*arguments):
  ran = subprocess.run(['promtool', *arguments], capture_output=True, text=True)
  return ran.returncode, ran.stdout + ran.stderr


class Rules(unittest.TestCase):

  def test_files_are_those_of_their_source(self):
    for path, text in ((generate.ALERTS_FILE, generate.alerts_text()),
                       (generate.DASHBOARD_FILE, generate.dashboard_text())):
      with open(path) as file:
        self.assertEqual(file.read(), text,
                         'run deploy/prometheus/generate.py')

  def test_rules_are_valid(self):
    code, said = promtool('check', 'rules', generate.ALERTS_FILE)
    self.assertEqual(code, 0, said)

  def test_every_alert_fires_when_it_must_and_only_then(self):
    self.assertEqual({case[0] for case in _CASES},
                     {alert[0] for alert in generate.ALERTS})
    for alert, series, minute, fires in _CASES:
      with self.subTest(alert=alert, series=series):
        # With an empty list of expected alerts (exp_alerts), promtool succeeds
        # only if the alert does not fire. If the alert fires, promtool prints
        # the labels of the alert.
        code, said = self._run({
            'rule_files': [os.path.realpath(generate.ALERTS_FILE)],
            'evaluation_interval': '1m',
            'tests': [{
                'interval': '1m',
                'input_series': [{'series': name, 'values': values}
                                 for name, values in series],
                'alert_rule_test': [{'eval_time': f'{minute}m',
                                     'alertname': alert, 'exp_alerts': []}],
            }]})
        self.assertEqual(code != 0, fires, said)
        if fires:
          self.assertIn(f'alertname="{alert}"', said)

  def test_expressions_of_the_dashboard_are_valid(self):
    expressions = [query for panel in generate.PANELS for query, _ in panel[3]]
    rules = {'groups': [{'name': 'panels', 'rules': [
        {'record': f'panel:{i}',
         'expr': expression.replace('$__rate_interval', '1m')}
        for i, expression in enumerate(expressions)]}]}
    with tempfile.NamedTemporaryFile('w', suffix='.yml') as file:
      json.dump(rules, file)
      file.flush()
      code, said = promtool('check', 'rules', file.name)
    self.assertEqual(code, 0, said)

  def test_every_metric_is_documented(self):
    with open(os.path.join(_TREE, 'docs', 'METRICS.md')) as file:
      documented = set(re.findall(r'`(muster_\w+)`', file.read()))
    used = set()
    for text in (generate.alerts_text(), generate.dashboard_text()):
      used |= {name.removesuffix('_bucket')
               for name in re.findall(r'muster_\w+', text)}
    self.assertEqual(used - documented, set())

  def _run(self, tests):
    with tempfile.NamedTemporaryFile('w', suffix='.yml') as file:
      json.dump(tests, file)
      file.flush()
      return promtool('test', 'rules', file.name)


if __name__ == '__main__':
  xml_main.main()
