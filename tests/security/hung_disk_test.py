#!/usr/bin/python3
"""Tests with a log folder or an event log on a file system that hangs. Nothing
may be delayed: workers start and print, nodes keep their leases, signals end
`launch`, and the final message names the path."""

import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import free_port
import hung_file_system
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_PATIENCE_S = 60
# A worker that prints a line ten times per second, for ever.
_TICKS = '''exec python3 -uc "
import itertools
import select
for i in itertools.count(1):
  print('tick', i)
  select.select([], [], [], 0.1)
"'''


def let_go(fifo):
  """Releases a worker that waits for a line in `fifo`."""
  with open(fifo, 'w', encoding='ascii') as writer:
    writer.write('\n')


class Process:
  """A program whose output a thread reads line by line."""

  def __init__(self, test, *argv):
    self._test = test
    self._lines = []
    self._ended = False
    self._changed = threading.Condition()
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith('MUSTER_')}
    self.process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env=environment)
    self._thread = threading.Thread(target=self._read, daemon=True)
    self._thread.start()
    test.addCleanup(self._stop)

  def _read(self):
    for line in self.process.stdout:
      with self._changed:
        self._lines.append(line)
        self._changed.notify_all()
    with self._changed:
      self._ended = True
      self._changed.notify_all()

  def _stop(self):
    self.process.kill()
    self.process.wait(_PATIENCE_S)
    self._thread.join(_PATIENCE_S)
    self.process.stdout.close()

  def text(self):
    with self._changed:
      return ''.join(self._lines)

  def until(self, pattern):
    """Waits for a line that matches `pattern`. Returns the match."""
    deadline = time.monotonic() + _PATIENCE_S
    at = 0
    with self._changed:
      while True:
        while at < len(self._lines):
          match = re.search(pattern, self._lines[at])
          if match:
            return match
          at += 1
        left = deadline - time.monotonic()
        if self._ended or left <= 0:
          break
        self._changed.wait(left)
    self._test.fail(f'no {pattern} in:\n' + self.text())

  def end(self):
    """Waits for the end. Returns the exit code and the whole output."""
    try:
      code = self.process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
      self._test.fail('it does not end:\n' + self.text())
    self._thread.join(_PATIENCE_S)
    return code, self.text()

  def end_by_sigterm(self):
    self.process.send_signal(signal.SIGTERM)
    return self.end()


class HungDisk(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory(prefix='muster_hung_', dir='/tmp')
    self.addCleanup(folder.cleanup)
    self.folder = folder.name
    try:
      self.disk = hung_file_system.HungFileSystem(self.folder + '/disk')
    except hung_file_system.Unavailable as why:
      self.skipTest(f'no file system of our own can be mounted: {why}')
    self.addCleanup(self.disk.close)
    self.logs = self.disk.folder + '/logs'

  def launch(self, *flags, script=_TICKS, logs=None):
    return Process(self, _LAUNCH, f'--log-dir={logs or self.logs}',
                   '--shutdown-timeout=5', *flags, '--no-python', 'sh', '-c',
                   script)

  def assert_named(self, text, folder):
    self.assertRegex(
        text, re.escape(folder) + r'\S* has not answered for \d+ s: its file '
        'system hangs')

  def test_workers_start_though_the_folder_never_answers(self):
    self.disk.hang()
    job = self.launch('--standalone', '--nproc-per-node=2')
    job.until(r'0\] tick 5$')
    job.until(r'1\] tick 5$')
    code, text = job.end_by_sigterm()
    self.assertEqual(code, 128 + signal.SIGTERM, text)
    self.assertIn('The workers start without error files', text)
    self.assertRegex(text, r'\d+ bytes are lost')
    self.assert_named(text, self.logs)

  def test_sigterm_ends_a_job_whose_folder_hangs_later(self):
    job = self.launch('--standalone')
    job.until('tick 3$')
    self.disk.hang()
    job.until('tick 20$')
    code, text = job.end_by_sigterm()
    self.assertEqual(code, 128 + signal.SIGTERM, text)
    self.assert_named(text, self.logs)
    self.assertIn('events.jsonl has not answered', text)

  def test_failure_of_a_worker_is_reported(self):
    go = self.folder + '/go'
    os.mkfifo(go)
    job = self.launch('--standalone',
                      script=f'echo up; read go < {go}; exit 7')
    job.until('up')
    self.disk.hang()
    let_go(go)
    code, text = job.end()
    self.assertEqual(code, 7, text)
    self.assertIn('exit code 7', text)
    self.assert_named(text, self.logs)

  def test_coordinator_on_that_node_loses_no_node(self):
    # The lease of a node is 2 s: five keep-alives at intervals of 0.4 s.
    lease = 'keep_alive_interval=0.4,keep_alive_max_attempt=5'
    flags = ('--nnodes=2', f'--rdzv-endpoint=localhost:{free_port.free_port()}',
             '--rdzv-id=hung')
    host = self.launch(*flags, f'--rdzv-conf=is_host=1,{lease}')
    other = self.launch(*flags, f'--rdzv-conf=is_host=0,{lease}',
                        logs=self.folder + '/plain')
    other.until('tick 3$')
    self.disk.hang()
    seen = int(re.findall(r'tick (\d+)\n', other.text())[-1])
    other.until(f'tick {seen + 60}$')  # 6 s later: three leases
    for node in (host, other):
      self.assertNotRegex(node.text(), 'round 2|lost')
    code, text = host.end_by_sigterm()
    self.assertEqual(code, 128 + signal.SIGTERM, text)
    self.assert_named(text, self.logs)
    code, text = other.end()
    self.assertEqual(code, 128 + signal.SIGTERM, text)

  def test_output_that_exceeds_the_backlog_is_noted_in_the_file(self):
    go = self.folder + '/go'
    os.mkfifo(go)
    job = self.launch(
        '--standalone', '--redirects=1',
        script=f'echo up >&2; read go < {go}; '
        'head -c 90000000 /dev/zero | tr "\\0" x; echo; echo all >&2; '
        f'read go < {go}; echo after; echo last >&2; exec sleep 600')
    job.until('up')
    self.disk.hang()
    let_go(go)
    # While the disk hangs, `launch` must print a warning. The worker must run
    # on, and its next line ("all") must appear on the console.
    job.until('has not answered for 10 s')
    job.until('all')
    self.disk.resume()
    job.until('can be written again; [0-9]+ bytes are missing')
    let_go(go)
    job.until('last')
    code, text = job.end_by_sigterm()
    self.assertEqual(code, 128 + signal.SIGTERM, text)
    log, = glob.glob(self.logs + '/*/attempt_0/0/stdout.log')
    with open(log, encoding='ascii') as file:
      lines = file.read().split('\n')
    self.assertEqual(lines[-2:], ['after', ''])
    notes = [line for line in lines if 'bytes are missing here' in line]
    self.assertEqual(len(notes), 1)
    self.assertRegex(notes[0], r'between 20\S+ \S+ and 20\S+ \S+ UTC\]$')

  def test_event_log_of_a_daemon_delays_no_job(self):
    ports = self.folder + '/port'
    log = self.disk.folder + '/events.jsonl'
    daemon = Process(self, _DAEMON, '--listen=127.0.0.1:0',
                     f'--event-log={log}', f'--port-file={ports}')
    port = daemon.until(r'listening on \S*:(\d+)').group(1)
    self.disk.hang()
    job = self.launch('--nnodes=1', f'--rdzv-endpoint=127.0.0.1:{port}',
                      '--rdzv-conf=is_host=0', script='echo done',
                      logs=self.folder + '/plain')
    code, text = job.end()
    self.assertEqual(code, 0, text)
    code, text = daemon.end_by_sigterm()
    self.assertEqual(code, 0, text)
    self.assert_named(text, log)


if __name__ == '__main__':
  xml_main.main()
