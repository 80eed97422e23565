#!/usr/bin/python3
"""Tests of rows of docs/MIGRATING.md, with the real torchrun and with Muster's.
"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import interpreters
import launched
import xml_main

_PYTHON = interpreters.PATHS[interpreters.NEW]
_REAL = [_PYTHON, '-m', 'torch.distributed.run']
_TIMER_WORKER = '''
import os, threading
import torch.distributed.elastic.timer as timer
timer.configure(timer.FileTimerClient(os.environ['TORCHELASTIC_TIMER_FILE']))
with timer.expires(after=60, scope='in time'):
  print('armed', flush=True)
with timer.expires(after=0.5, scope='too late'):
  threading.Event().wait()
print('not reached')
'''
# A worker that survives SIGUSR1, so that only the launcher's time-out ends it.
# SIGUSR1 ends the first `tail`; the second `tail` then keeps the worker
# running. Each `tail` also ends when the launcher ends.
_DEAF = ('trap "echo got USR1" USR1; echo up; '
         'tail -f /dev/null --pid=$PPID & wait; '
         'tail -f /dev/null --pid=$PPID & wait; wait')
# Maximum number of times that torchrun is started. If SIGUSR1 arrives before
# torchrun has stored the handle of its worker, torchrun exits and leaves the
# worker, and the test starts the job again.
_TRIES = 5


class TorchrunRows(unittest.TestCase):

  def setUp(self):
    if interpreters.why_not(interpreters.NEW):
      self.skipTest(interpreters.why_not(interpreters.NEW))
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = folder.name

  def launchers(self):
    return [_REAL, [launched.called(self, 'torchrun')]]

  def environment(self, **changes):
    return interpreters.environment(PYTHON_EXEC=_PYTHON, **changes)

  def test_virtual_ranks_macros_and_filters(self):
    told = []
    for number, launcher in enumerate(self.launchers()):
      logs = os.path.join(self.folder, str(number))
      ranks = launched.told(
          self, launcher + [
              '--standalone', '--nproc-per-node=2', '--virtual-local-rank',
              '--log-dir', logs, '-t', '3',
              '--duplicate-stdout-filters', 'no,,ne,out of rank 1',
              launched.ENVIRONMENT_WORKER, 'n=${local_rank}', '$other'],
          self.environment(CUDA_VISIBLE_DEVICES='3, 5'))
      filtered = []
      for folder, _, names in os.walk(logs):
        if 'filtered_stdout.log' in names:
          path = os.path.join(folder, 'filtered_stdout.log')
          with open(path, encoding='utf-8') as file:
            filtered += [line[line.index('out of'):].strip() for line in file]
      told.append((filtered, {
          rank: (found['arguments'], found['environment']['LOCAL_RANK'],
                 found['environment']['CUDA_VISIBLE_DEVICES'])
          for rank, found in ranks.items()}))
    self.assertEqual(told[0], told[1])
    self.assertEqual(told[1][0], ['out of rank 1'])
    self.assertEqual(told[1][1][1], (['n=1', '$other'], '0', '5'))

  def test_a_handled_signal_ends_the_job_after_torchs_timeout(self):
    for launcher in self.launchers():
      for _ in range(_TRIES if launcher is _REAL else 1):
        said, code = self.signalled(launcher)
        if 'got USR1' in said:
          break
      self.assertIn('got USR1', said)
      self.assertNotEqual(code, 0)

  def signalled(self, launcher):
    """Sends SIGUSR1 to a job of one deaf worker: its output, its exit code."""
    with subprocess.Popen(
        launcher + ['--standalone', '--signals-to-handle', 'SIGTERM,SIGUSR1',
                    '--no-python', '/bin/sh', '-c', _DEAF],
        env=self.environment(TORCH_ELASTIC_SHUTDOWN_TIMEOUT='1'), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL) as job:
      self.assertIn('up', job.stdout.readline())
      job.send_signal(signal.SIGUSR1)
      # A job of Muster that ends within 25 s has obeyed
      # TORCH_ELASTIC_SHUTDOWN_TIMEOUT=1, because Muster's default is 30 s.
      # torchrun gets more time, because the machine may be busy.
      job.wait(launched.LIMIT_S if launcher is _REAL else 25)
      # This read returns when no process has stdout's pipe open. If torchrun
      # has exited without stopping its worker, the worker and its child, the
      # program `tail`, still have the pipe open. Both end soon, because `tail`
      # (--pid) ends once job.wait has reaped torchrun.
      said = job.stdout.read()
    return said, job.returncode

  def test_an_expired_timer_ends_the_worker(self):
    script = os.path.join(self.folder, 'worker.py')
    with open(script, 'w', encoding='utf-8') as file:
      file.write(_TIMER_WORKER)
    for launcher in self.launchers():
      done = subprocess.run(
          launcher + ['--standalone', script], text=True, check=False,
          env=self.environment(TORCHELASTIC_ENABLE_FILE_TIMER='1',
                               TMPDIR=self.folder),
          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
          stderr=subprocess.STDOUT, timeout=launched.LIMIT_S)
      self.assertIn('armed', done.stdout)
      self.assertNotIn('not reached', done.stdout)
      self.assertNotEqual(done.returncode, 0)
    # In torchrun and in Muster an expired timer kills the worker with SIGKILL;
    # Muster also prints the reason.
    self.assertEqual(done.returncode, 128 + signal.SIGKILL)
    self.assertIn("its timer 'too late' expired", done.stdout)

  def test_values_without_a_counterpart_are_refused(self):
    link = launched.called(self, 'torchrun')
    for flag in ('--event-log-handler=nosuch', '--logs-specs=nosuch'):
      done = subprocess.run(
          [link, flag, '--no-python', '/bin/true'], env=self.environment(),
          text=True, check=False, stdin=subprocess.DEVNULL,
          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
      self.assertEqual(done.returncode, 2, done.stdout)
      self.assertTrue(done.stdout.startswith('torchrun: ' + flag), done.stdout)

  def test_every_message_begins_with_the_name_that_was_called(self):
    link = launched.called(self, 'torchrun')
    done = subprocess.run(
        [link, '--no-python', '/bin/sh', '-c', 'exit 3'],
        env=self.environment(), text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=60)
    self.assertEqual(done.returncode, 3, done.stdout)
    self.assertIn('torchrun: round 1', done.stdout)
    self.assertNotIn('launch: ', done.stdout)


if __name__ == '__main__':
  xml_main.main()
