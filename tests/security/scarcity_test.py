#!/usr/bin/python3
"""Tests on a machine without free threads or without 127.0.0.1: each program
must either run, or print the reason in one line and end. None may abort or wait
for ever."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, 'python')]

import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_AGENT = os.path.realpath('launcher/agent')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_PATIENCE_S = 60
# The user id under which the test starts its processes. No other process has
# it, and RLIMIT_NPROC limits the processes and threads of one user. So the
# limit counts only those of this test.
_USER = 64871


class FewThreads(unittest.TestCase):

  def setUp(self):
    if os.getuid() != 0:
      self.skipTest('the limit of processes holds for other users than root '
                    'only, and counts all of theirs')
    self.folder = tempfile.mkdtemp(prefix='muster_scarcity_', dir='/tmp')
    self.addCleanup(shutil.rmtree, self.folder)
    os.chmod(self.folder, 0o777)

  def start(self, limit, program, *arguments):
    copy = os.path.join(self.folder, os.path.basename(program))
    if not os.path.exists(copy):
      shutil.copy(program, copy)
      os.chmod(copy, 0o755)

    def become():
      os.setgroups([])
      os.setgid(_USER)
      resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
      os.setuid(_USER)

    environment = {**os.environ, 'HOME': self.folder, 'TMPDIR': self.folder}
    return subprocess.Popen(
        [copy, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, preexec_fn=become, cwd='/',
        env=environment, start_new_session=True)

  def output(self, process):
    try:
      output, _ = process.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
      process.kill()
      self.fail('still waits: ' + process.communicate()[0])
    self.assertNotIn('terminate called', output)
    return output

  def test_each_program_says_so(self):
    programs = (
        (_LAUNCH, '--standalone', '--no-python', 'true'),
        (_LAUNCH, 'status', '--endpoint=127.0.0.1:1'),
        (_LAUNCH, 'cancel', '--endpoint=127.0.0.1:1'),
        (_LAUNCH, 'doctor', '--endpoint=127.0.0.1:1'),
        (_AGENT, '--rdzv-endpoint=127.0.0.1:1', 'true'),
        (_DAEMON, '--listen=127.0.0.1:0'),
    )
    for limit in range(1, 7):
      for program, *arguments in programs:
        with self.subTest(limit=limit, arguments=arguments):
          process = self.start(limit, program, *arguments)
          output = self.output(process)
          self.assertIn(process.returncode, (1, 4), output)
          self.assertIn('ulimit -u', output)
          self.assertEqual(output.count('\n'), 1, output)

  def test_threads_that_run_out_while_a_job_runs_do_not_abort_it(self):
    limit = 40
    path = os.path.join(self.folder, 'go')
    os.mkfifo(path)
    os.chmod(path, 0o666)
    go = os.open(path, os.O_RDWR)
    self.addCleanup(os.close, go)
    job = self.start(
        limit, _LAUNCH, '--standalone', '--max-restarts=2', '--no-python', 'sh',
        '-c', 'echo up; read -r line <"$TMPDIR/go"; exit 3')
    for line in job.stdout:
      if 'up' in line:
        break
    hog = self.start(limit, '/usr/bin/python3', '-c', _HOG)
    try:
      self.assertEqual(hog.stdout.readline(), 'full\n')
      os.write(go, b'go\n' * 3)
      output = self.output(job)
    finally:
      os.killpg(hog.pid, 9)
      hog.communicate()
      job.kill()
      job.communicate()
    self.assertIn(job.returncode, (1, 3), output)


# This script starts as many processes as its user may have.
_HOG = '''
import os
import signal
try:
  while os.fork() > 0:
    pass
  signal.pause()
except OSError:
  print('full', flush=True)
  signal.pause()
'''


class Loopback(unittest.TestCase):
  """Tests in new network namespaces, in which the loopback interface can be
  down."""

  def run_in(self, *commands):
    script = '; '.join(
        (*commands, f'exec {_LAUNCH} --standalone --nproc-per-node=2 '
         "--no-python sh -c 'echo ran at $MASTER_ADDR'"))
    ended = subprocess.run(['unshare', '-n', 'sh', '-ec', script], text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=_PATIENCE_S,
                           check=False)
    self.assertEqual(ended.returncode, 0, ended.stdout)
    self.assertEqual(ended.stdout.count('ran at'), 2, ended.stdout)
    return ended.stdout

  def setUp(self):
    probe = subprocess.run(['unshare', '-n', 'ip', 'link', 'set', 'lo', 'up'],
                           stdin=subprocess.DEVNULL, capture_output=True,
                           check=False)
    if probe.returncode != 0:
      self.skipTest('no network namespace can be made here')

  def test_job_runs_without_127_0_0_1(self):
    self.assertIn('ran at ::1', self.run_in(
        'ip link set lo up', 'ip addr del 127.0.0.1/8 dev lo'))

  def test_job_runs_with_another_loopback_address_alone(self):
    self.assertIn('ran at 127.0.0.5', self.run_in(
        'ip link set lo up', 'ip addr flush dev lo',
        'ip addr add 127.0.0.5/32 dev lo'))

  def test_job_runs_on_an_interface_that_is_down(self):
    self.run_in('true')


if __name__ == '__main__':
  xml_main.main()
