#!/usr/bin/python3
"""The metrics of a real job, as Prometheus' own programs read them."""

import glob
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, 'python'))

import free_port
import xml_main
from until import until

_LAUNCH = os.path.realpath('launcher/launch')
_FAKE_NVML = os.path.realpath('agent/gpus/libfake_nvml.so')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_TIMEOUT_S = 60

_DEPLOY = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir,
                       os.pardir, 'deploy')
_ALERTS = os.path.realpath(os.path.join(_DEPLOY, 'prometheus', 'alerts.yml'))
_DASHBOARD = os.path.join(_DEPLOY, 'grafana', 'muster.json')
# The panels that have no series while nothing is wrong.
_PANELS_OF_TROUBLE = {
    'Output that is missing', 'GPU clocks held down',
    'GPU errors (XID) by kind', 'GPU memory errors and replaced rows',
    'NVLink errors'}

# A worker that prints a line of 100 bytes, reports step 7, and ends with the
# code in the file `end`.
_WORKER = r'''
import os, socket, sys, threading
print('x' * 99, flush=True)
report = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
report.connect(os.environ['MUSTER_PROGRESS_SOCKET'])
while not os.path.exists(sys.argv[1]):
  report.send(b'STEP=7\nLOSS=2.5\nTOKENS_PER_S=100\n')
  threading.Event().wait(0.05)
sys.exit(int(open(sys.argv[1]).read()))
'''


def fetch(url):
  with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
    return answer.headers['Content-Type'], answer.read().decode()


class Metrics(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = folder.name
    self.end = os.path.join(self.folder, 'end')
    self.worker = os.path.join(self.folder, 'worker.py')
    with open(self.worker, 'w') as file:
      file.write(_WORKER)

  def start(self, *argv, **variables):
    environment = dict(os.environ, NO_COLOR='1', **variables)
    environment.pop('MUSTER_TOKEN', None)
    program = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               env=environment, cwd=self.folder)

    def stop():
      program.kill()
      program.communicate()
    self.addCleanup(stop)
    return program

  def page_when(self, url, *lines):
    """Returns the page once it has all of `lines`, and checks its form."""
    def look():
      kind, text = fetch(url)
      self.assertEqual(kind, 'text/plain; version=0.0.4; charset=utf-8')
      missing = [line for line in lines if line + '\n' not in text]
      return '' if missing else text
    text = until(f'{url} lacks one of {lines}', look)
    checked = subprocess.run(['promtool', 'check', 'metrics'], input=text,
                             capture_output=True, text=True)
    self.assertEqual((checked.returncode, checked.stdout + checked.stderr),
                     (0, ''), text)
    return text

  def prometheus(self, *targets):
    """Starts a Prometheus with Muster's alert rules, which scrapes the targets
    each second. Returns a function that asks it: the result of a request of its
    API, None until it is ready."""
    config = os.path.join(self.folder, 'prometheus.yml')
    with open(config, 'w') as file:
      json.dump({'global': {'scrape_interval': '1s',
                            'evaluation_interval': '1s'},
                 'rule_files': [_ALERTS],
                 'scrape_configs': [{
                     'job_name': 'muster', 'honor_labels': True,
                     'static_configs': [{'targets': list(targets)}]}]}, file)
    address = f'127.0.0.1:{free_port.free_port()}'
    self.start('prometheus', f'--config.file={config}',
               f'--web.listen-address={address}',
               '--storage.tsdb.path=' + os.path.join(self.folder, 'data'))

    def ask(request, **parameters):
      url = f'http://{address}/api/v1/{request}'
      try:
        _, text = fetch(f'{url}?{urllib.parse.urlencode(parameters)}')
      except urllib.error.HTTPError as error:
        if error.code == 503:  # Prometheus listens but is not ready yet.
          return None
        raise AssertionError(f'{parameters}: {error.read().decode()}') from error
      except OSError:
        return None
      answer = json.loads(text)
      self.assertEqual((answer['status'], answer.get('warnings')),
                       ('success', None), parameters)
      return answer['data']
    return ask

  def start_daemon(self):
    """Starts a rendezvousd. Returns its endpoint and the address of its
    metrics."""
    daemon = self.start(_DAEMON, '--listen=127.0.0.1:0',
                        '--metrics-listen=127.0.0.1:0')
    said = ''
    while 'listening on' not in said:
      line = daemon.stdout.readline()
      self.assertNotEqual(line, '', said)
      said += line
    return (re.search(r'listening on ([^ ,]+)', said).group(1),
            re.search(r'metrics on http://(\S+)/metrics', said).group(1))

  def end_job(self, nodes, code):
    """Lets the workers end with `code`, and waits for the nodes."""
    with open(self.end + '.new', 'w') as file:
      file.write(str(code))
    os.rename(self.end + '.new', self.end)
    for node in nodes:
      said, _ = node.communicate(timeout=_TIMEOUT_S)
      self.assertEqual(node.returncode, code, said)

  def test_a_real_prometheus_scrapes_a_job_of_two_nodes(self):
    endpoint, metrics = self.start_daemon()
    coordinator = f'http://{metrics}/metrics'
    self.assertIn('muster_jobs{phase="running"} 0\n',
                  self.page_when(coordinator, 'muster_coordinator_leads 1',
                                 'muster_coordinator_events_omitted_total 0'))
    ports = [free_port.free_port() for _ in range(2)]
    nodes = [
        self.start(_LAUNCH, '--nnodes=2', '--nproc-per-node=2',
                   '--rdzv-id=a-job', f'--rdzv-endpoint={endpoint}',
                   f'--node-rank={rank}', '--no-python', *more,
                   f'--metrics-listen=127.0.0.1:{port}',
                   sys.executable, self.worker, self.end,
                   MUSTER_NVML_LIBRARY=_FAKE_NVML, FAKE_NVML_GPUS='1')
        for rank, port, more in zip(range(2), ports, ([], ['--metrics-ranks']))]
    job = 'job="a-job"'
    self.page_when(coordinator,
                   f'muster_job_phase{{{job},phase="running"}} 1',
                   f'muster_job_nodes{{{job},state="running"}} 2',
                   f'muster_job_workers{{{job}}} 4',
                   f'muster_job_step{{{job}}} 7',
                   f'muster_job_tokens_per_second{{{job}}} 400')
    pages = [self.page_when(f'http://127.0.0.1:{port}/metrics',
                            'muster_node_phase{phase="running"} 1',
                            'muster_node_step 7', 'muster_node_loss 2.5',
                            'muster_node_tokens_per_second 200',
                            'muster_node_output_bytes_total 200',
                            'muster_gpu_up{gpu="0",UUID="GPU-0"} 1', *more)
             for port, more in zip(ports, (
                 [], ['muster_worker_step{local_rank="0"} 7',
                      'muster_worker_loss{local_rank="1"} 2.5']))]
    for port, page in zip(ports, pages):
      self.assertIn(f'muster_node_info{{{job},', page)
      # The metrics port also answers Kubernetes' health probes, such as
      # /readyz.
      self.assertEqual(fetch(f'http://127.0.0.1:{port}/readyz')[1], 'ok\n')
    self.assertNotIn('local_rank', pages[0])
    # The node of rank 0 serves the workers' store.
    self.assertEqual(['muster_store_requests_total' in page for page in pages],
                     [True, False])
    ask = self.prometheus(metrics, *[f'127.0.0.1:{port}' for port in ports])

    def query(expression):
      answer = ask('query', query=expression)
      return [float(one['value'][1]) for one in (answer or {}).get('result', [])]
    until('all targets are up', lambda: query('sum(up)') == [3])
    self.assertEqual(query('sum(muster_job_nodes{job="a-job"})'), [2])
    self.assertEqual(query('sum(muster_node_step)'), [14])
    self.assertEqual(query('sum(muster_worker_step)'), [14])
    self._check_dashboard(ask, query)
    states = self._alert_states(ask)
    self.assertNotIn('firing', states.values(), states)
    self.end_job(nodes, 3)
    self.page_when(coordinator, f'muster_job_exit_code{{{job}}} 3',
                   'muster_jobs{phase="finished"} 1')
    until('the alert of a failed job',
          lambda: self._alert_states(ask)['MusterJobFailed'] == 'firing')

  def _check_dashboard(self, ask, query):
    """Asks for each expression of the dashboard, for the job `a-job`."""
    with open(_DASHBOARD) as file:
      dashboard = json.load(file)
    # The dashboard lists the jobs by label_values(muster_job_phase, job).
    self.assertEqual(
        ask('label/job/values', **{'match[]': 'muster_job_phase'}), ['a-job'])
    panels = {panel['title']: [
        target['expr'].replace('$job', 'a-job').replace('$__rate_interval', '1m')
        for target in panel['targets']] for panel in dashboard['panels']}
    self.assertLess(_PANELS_OF_TROUBLE, set(panels))
    for title, expressions in panels.items():
      for expression in expressions:
        with self.subTest(panel=title, expression=expression):
          if title in _PANELS_OF_TROUBLE:
            self.assertEqual(query(expression), [])
          else:
            # A rate needs two scrapes.
            until('the panel is empty', lambda: query(expression))

  def _alert_states(self, ask):
    """Waits until each alert has been evaluated without an error. Returns the
    state of each alert."""
    with open(_ALERTS) as file:
      names = re.findall(r'^  - alert: (\w+)$', file.read(), re.MULTILINE)

    def look():
      groups = ask('rules')['groups']
      rules = {rule['name']: rule for group in groups
               for rule in group['rules']}
      self.assertEqual(set(rules), set(names))
      health = {rule['health'] for rule in rules.values()}
      self.assertNotIn('err', health, rules)
      return rules if health == {'ok'} else None
    rules = until('a rule has not been evaluated', look)
    return {name: rule['state'] for name, rule in rules.items()}

  def test_a_launch_that_hosts_its_job_shows_it(self):
    port = free_port.free_port()
    node = self.start(_LAUNCH, '--standalone', '--no-python',
                      f'--metrics-listen=127.0.0.1:{port}',
                      f'--probe-listen=127.0.0.1:{port}',
                      sys.executable, self.worker, self.end)
    url = f'http://127.0.0.1:{port}/metrics'
    until('the page is served', lambda: _is_served(url))
    page = self.page_when(url, 'muster_jobs{phase="running"} 1',
                          'muster_node_step 7',
                          'muster_coordinator_watch_events_missed_total 0')
    job = re.search(r'muster_node_info\{(job="[^"]+")', page).group(1)
    self.page_when(url, f'muster_job_phase{{{job},phase="running"}} 1',
                   f'muster_job_step{{{job}}} 7')
    self.end_job([node], 0)


  def test_output_that_nobody_reads_is_counted(self):
    # The console's queue has 4 MiB, and its pipe much less.
    with open(self.worker, 'w') as file:
      file.write("print(('y' * 99 + '\\n') * 100000, end='')\n" + _WORKER)
    port = free_port.free_port()
    # No one reads this program's stdout until `end_job`.
    node = self.start(_LAUNCH, '--standalone', '--no-python', '--console=drop',
                      f'--metrics-listen=127.0.0.1:{port}',
                      sys.executable, self.worker, self.end)
    url = f'http://127.0.0.1:{port}/metrics'
    until('the page is served', lambda: _is_served(url))
    page = self.page_when(url, 'muster_node_output_bytes_total 10000100')
    missing = re.search(r'^muster_node_console_bytes_missing_total (\d+)$', page,
                        re.MULTILINE).group(1)
    self.assertGreater(int(missing), 1000000)
    self.assertIn('muster_node_log_bytes_lost_total 0\n', page)
    self.assertIn('muster_node_follower_bytes_skipped_total 0\n', page)
    self.end_job([node], 0)

  def test_a_port_in_use_is_named_with_its_flag(self):
    with socket.create_server(('127.0.0.1', 0)) as taken:
      address = '127.0.0.1:%d' % taken.getsockname()[1]
      for flag in ('--metrics-listen', '--probe-listen'):
        for argv in ([_LAUNCH, '--standalone', f'{flag}={address}', '--no-python',
                      'true'],
                     [_DAEMON, '--listen=127.0.0.1:0', f'{flag}={address}']):
          said, _ = self.start(*argv).communicate(timeout=_TIMEOUT_S)
          self.assertIn(f'{flag}: cannot serve HTTP at {address}', said)


  def start_with_gpus(self, *flags, **variables):
    """Starts a job on a node with two GPUs of the fake library. Returns the
    program and the URL of its metrics."""
    port = free_port.free_port()
    job = self.start(_LAUNCH, '--standalone', '--no-python',
                     f'--metrics-listen=127.0.0.1:{port}', *flags,
                     sys.executable, self.worker, self.end,
                     MUSTER_NVML_LIBRARY=_FAKE_NVML, FAKE_NVML_GPUS='2',
                     **variables)
    url = f'http://127.0.0.1:{port}/metrics'
    until('the page is served', lambda: _is_served(url))
    return job, url

  def finish(self, job):
    with open(self.end + '.new', 'w') as file:
      file.write('0')
    os.rename(self.end + '.new', self.end)
    said, _ = job.communicate(timeout=_TIMEOUT_S)
    self.assertEqual(job.returncode, 0, said)
    return said

  def test_the_gpus_of_a_node_and_their_xids_are_shown(self):
    logs = os.path.join(self.folder, 'logs')
    job, url = self.start_with_gpus(
        '--log-dir=' + logs,
        FAKE_NVML_SET='1.ecc=3,1.xid=79,1.throttle=64,0.unsupported=1')
    gpu = 'gpu="1",UUID="GPU-1"'
    page = self.page_when(
        url, f'muster_gpu_power_watts{{{gpu}}} 412.5',
        f'muster_gpu_ecc_volatile_errors_total{{{gpu},type="uncorrected"}} 3',
        f'muster_gpu_last_xid{{{gpu}}} 79',
        f'muster_gpu_xids_total{{{gpu},kind="hardware"}} 1',
        f'muster_gpu_clock_limited{{{gpu},reason="hardware_thermal"}} 1',
        'muster_gpu_up{gpu="0",UUID="GPU-0"} 1')
    # The page must not contain metrics that GPU 0 does not report.
    self.assertNotIn('muster_gpu_power_watts{gpu="0"', page)
    self.assertNotIn('muster_gpu_last_xid{gpu="0"', page)
    xid = 'GPU 1 (GPU-1): XID 79, hardware: the GPU has fallen off the bus'
    self.assertIn(xid, self.finish(job))
    # The coordinator must have counted the XID as a fault of the machine. The
    # pattern finds the event log twice, because `latest` is a link to the only
    # log folder. So resolve links.
    events, = set(map(os.path.realpath,
                      glob.glob(os.path.join(logs, '*', 'events.jsonl'))))
    with open(events, encoding='utf-8') as file:
      reasons = [event['reason'] for event in map(json.loads, file)
                 if event['kind'] == 'fault']
    self.assertEqual([xid in reason for reason in reasons], [True], reasons)

  def test_a_driver_that_hangs_delays_neither_page_nor_job(self):
    for where in ('1', '2'):
      job, url = self.start_with_gpus(FAKE_NVML_HANG=where)
      begin = time.monotonic()
      page = self.page_when(url, 'muster_node_step 7')
      self.assertIn('\nmuster_gpu_reading_age_seconds ', page)
      self.assertNotIn('muster_gpu_up', page)
      self.finish(job)
      self.assertLess(time.monotonic() - begin, 30)
      os.unlink(self.end)

  def test_files_tell_the_job_of_each_gpu_while_it_runs(self):
    jobs = os.path.join(self.folder, 'jobs')
    os.mkdir(jobs)
    for name in ('1', '5'):
      with open(os.path.join(jobs, name), 'w') as file:
        file.write('killed\n')
    for kill in (False, True):
      job, url = self.start_with_gpus(f'--dcgm-job-mapping-dir={jobs}',
                                      CUDA_VISIBLE_DEVICES='1')
      run = re.search(r'muster_node_info\{job="([^"]+)"',
                      self.page_when(url)).group(1)
      mapped = os.path.join(jobs, '1')
      until('no file of the GPU', lambda: _text_of(mapped) == run + '\n')
      # In the folder of --dcgm-job-mapping-dir, a file for each GPU names the
      # GPU's job. There is no file 0, because GPU 0 is not visible to this job.
      # The old file 5 stays, because this node has no GPU 5.
      self.assertEqual(sorted(os.listdir(jobs)), ['1', '5'])
      if kill:
        job.kill()
        job.communicate(timeout=_TIMEOUT_S)
        until('the guardian leaves the file',
              lambda: not os.path.exists(mapped))
      else:
        self.finish(job)
        os.unlink(self.end)
      self.assertEqual(os.listdir(jobs), ['5'])

  def test_a_folder_for_jobs_that_is_missing_is_named_and_the_job_runs(self):
    job, url = self.start_with_gpus('--dcgm-job-mapping-dir=missing')
    self.page_when(url, 'muster_node_step 7')
    self.assertIn('--dcgm-job-mapping-dir: the job of the GPUs cannot be told: '
                  'missing: No such file or directory', self.finish(job))

  def test_a_node_that_has_left_shows_the_job_that_it_coordinates(self):
    port = free_port.free_port()
    endpoint = f'127.0.0.1:{free_port.free_port()}'
    url = f'http://127.0.0.1:{port}/metrics'
    nodes = []
    for node, flags in (('n0', [f'--metrics-listen=127.0.0.1:{port}']),
                        ('n1', [])):
      nodes.append(self.start(
          _LAUNCH, '--nnodes=1:2', '--rdzv-id=a-job', f'--node-id={node}',
          f'--rdzv-endpoint={endpoint}', '--rdzv-conf=last_call_timeout=60',
          '--no-python', *flags, sys.executable, self.worker, self.end))
      until('n0 does not listen', lambda: self._answers(url))
    job = 'job="a-job"'
    self.page_when(url, f'muster_job_workers{{{job}}} 2',
                   f'muster_job_phase{{{job},phase="running"}} 1')
    subprocess.run([_LAUNCH, 'drain', 'n0', f'--endpoint={endpoint}'],
                   check=True, stdout=subprocess.DEVNULL)
    self.page_when(url, f'muster_job_workers{{{job}}} 1',
                   f'muster_job_phase{{{job},phase="running"}} 1')
    said = ''
    while 'it hosts the coordinator' not in said:
      line = nodes[0].stdout.readline()
      self.assertNotEqual(line, '', said)
      said += line
    self.page_when(url, f'muster_job_phase{{{job},phase="running"}} 1')
    with open(self.end, 'w') as file:
      file.write('0')
    for node in nodes:
      node.communicate(timeout=_TIMEOUT_S)

  def _answers(self, url):
    try:
      return fetch(url)
    except OSError:
      return None

  def test_the_textfile_is_there_while_the_job_runs(self):
    path = os.path.join(self.folder, 'muster.prom')
    job = self.start(_LAUNCH, '--standalone',
                     f'--metrics-textfile={path}', '--no-python',
                     sys.executable, self.worker,
                     self.end)
    until('no textfile', lambda: os.path.exists(path))
    with open(path) as file:
      text = file.read()
    checked = subprocess.run(['promtool', 'check', 'metrics'], input=text,
                             capture_output=True, text=True)
    self.assertEqual((checked.returncode, checked.stdout + checked.stderr),
                     (0, ''), text)
    self.assertIn('\nmuster_node_info{job="', text)
    with open(self.end, 'w') as file:
      file.write('0')
    self.assertEqual(job.wait(_TIMEOUT_S), 0)
    self.assertFalse(os.path.exists(path))


def _is_served(url):
  try:
    fetch(url)
  except OSError:
    return False
  return True


def _text_of(path):
  try:
    with open(path) as file:
      return file.read()
  except OSError:
    return None


if __name__ == '__main__':
  xml_main.main()
