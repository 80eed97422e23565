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

# A worker that reports step 7, and ends with the code in the file `end`.
_WORKER = r'''
import os, socket, sys, threading
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
    """Starts a Prometheus that scrapes the targets each second. Returns a
    function that queries it."""
    config = os.path.join(self.folder, 'prometheus.yml')
    with open(config, 'w') as file:
      json.dump({'global': {'scrape_interval': '1s'},
                 'scrape_configs': [{
                     'job_name': 'muster', 'honor_labels': True,
                     'static_configs': [{'targets': list(targets)}]}]}, file)
    address = f'127.0.0.1:{free_port.free_port()}'
    self.start('prometheus', f'--config.file={config}',
               f'--web.listen-address={address}',
               '--storage.tsdb.path=' + os.path.join(self.folder, 'data'))

    def query(expression):
      question = urllib.parse.urlencode({'query': expression})
      try:
        _, answer = fetch(f'http://{address}/api/v1/query?{question}')
      except OSError:  # it does not listen yet
        return []
      return [float(one['value'][1])
              for one in json.loads(answer)['data']['result']]
    return query

  def test_a_real_prometheus_scrapes_a_job_of_two_nodes(self):
    daemon = self.start(_DAEMON, '--listen=127.0.0.1:0',
                        '--metrics-listen=127.0.0.1:0')
    said = ''
    while 'listening on' not in said:
      line = daemon.stdout.readline()
      self.assertNotEqual(line, '', said)
      said += line
    metrics = re.search(r'metrics on (http://(\S+)/metrics)', said)
    endpoint = re.search(r'listening on ([^ ,]+)', said).group(1)
    self.assertIn('muster_jobs{phase="running"} 0\n',
                  self.page_when(metrics.group(1), 'muster_coordinator_leads 1'))
    ports = [free_port.free_port() for _ in range(2)]
    nodes = [
        self.start(_LAUNCH, '--nnodes=2', '--nproc-per-node=2',
                   '--rdzv-id=a-job', f'--rdzv-endpoint={endpoint}',
                   f'--node-rank={rank}', '--no-python',
                   f'--metrics-listen=127.0.0.1:{port}',
                   sys.executable, self.worker, self.end)
        for rank, port in enumerate(ports)]
    job = 'job="a-job"'
    self.page_when(metrics.group(1),
                   f'muster_job_phase{{{job},phase="running"}} 1',
                   f'muster_job_nodes{{{job},state="running"}} 2',
                   f'muster_job_workers{{{job}}} 4',
                   f'muster_job_step{{{job}}} 7',
                   f'muster_job_tokens_per_second{{{job}}} 400')
    for port in ports:
      page = self.page_when(f'http://127.0.0.1:{port}/metrics',
                            'muster_node_phase{phase="running"} 1',
                            'muster_worker_step{local_rank="0"} 7',
                            'muster_worker_loss{local_rank="1"} 2.5')
      self.assertIn(f'muster_node_info{{{job},', page)
      # The metrics port also answers Kubernetes' health probes, such as
      # /readyz.
      self.assertEqual(fetch(f'http://127.0.0.1:{port}/readyz')[1], 'ok\n')
    query = self.prometheus(metrics.group(2),
                            *[f'127.0.0.1:{port}' for port in ports])
    until('all targets are up', lambda: query('sum(up)') == [3])
    self.assertEqual(query('sum(muster_job_nodes{job="a-job"})'), [2])
    self.assertEqual(query('sum(muster_worker_step)'), [28])
    with open(self.end + '.new', 'w') as file:
      file.write('3')
    os.rename(self.end + '.new', self.end)
    for node in nodes:
      node.communicate(timeout=_TIMEOUT_S)
      self.assertEqual(node.returncode, 3)
    self.page_when(metrics.group(1), f'muster_job_exit_code{{{job}}} 3',
                   'muster_jobs{phase="finished"} 1')

  def test_a_launch_that_hosts_its_job_shows_it(self):
    port = free_port.free_port()
    node = self.start(_LAUNCH, '--standalone', '--no-python',
                      f'--metrics-listen=127.0.0.1:{port}',
                      f'--probe-listen=127.0.0.1:{port}',
                      sys.executable, self.worker, self.end)
    url = f'http://127.0.0.1:{port}/metrics'
    until('the page is served', lambda: _is_served(url))
    page = self.page_when(url, 'muster_jobs{phase="running"} 1',
                          'muster_worker_step{local_rank="0"} 7')
    job = re.search(r'muster_node_info\{(job="[^"]+")', page).group(1)
    self.page_when(url, f'muster_job_phase{{{job},phase="running"}} 1',
                   f'muster_job_step{{{job}}} 7')
    with open(self.end + '.new', 'w') as file:
      file.write('0')
    os.rename(self.end + '.new', self.end)
    node.communicate(timeout=_TIMEOUT_S)
    self.assertEqual(node.returncode, 0)


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
      page = self.page_when(url, 'muster_worker_step{local_rank="0"} 7')
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
    self.page_when(url, 'muster_worker_step{local_rank="0"} 7')
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
