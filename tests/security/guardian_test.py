#!/usr/bin/python3
"""Tests that an agent detects a stopped guardian within a time limit: the node
must fail and name the guardian, and no process may be left."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, 'python')]

import gate
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_PATIENCE_S = 60
# A worker that sleeps in the kernel until SIGTERM ends it.
_IDLE = ('sh', '-c', 'echo worker=$$ guardian=$PPID; exec sleep 600')


class Guardian(unittest.TestCase):

  @contextlib.contextmanager
  def job(self, *flags, worker=_IDLE):
    process = subprocess.Popen(
        [_LAUNCH, '--standalone', *flags, '--no-python', *worker],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
      for line in process.stdout:
        match = re.search(r'worker=(\d+) guardian=(\d+)', line)
        if match:
          break
      else:
        self.fail('no worker started')
      with self.watched(int(match.group(1))) as worker_end:
        with self.watched(int(match.group(2))) as guardian_end:
          yield process, worker_end, guardian_end
    finally:
      process.kill()
      process.communicate(timeout=_PATIENCE_S)

  @contextlib.contextmanager
  def watched(self, pid):
    """Returns a pidfd of the process, which stays valid after the process's
    end."""
    fd = os.pidfd_open(pid)
    try:
      yield fd
    finally:
      os.close(fd)

  def assert_ended(self, pidfd):
    with self.assertRaises(ProcessLookupError):
      signal.pidfd_send_signal(pidfd, 0)

  def assert_guardian_is_blamed(self, job):
    output, _ = job.communicate(timeout=_PATIENCE_S)
    self.assertNotEqual(job.returncode, 0, output)
    self.assertIn('guardian process', output)
    self.assertIn('gave no sign of life for 10 s', output)
    self.assertIn('stopped', output)

  def test_stopped_guardian_is_the_cause_of_the_nodes_end(self):
    with self.job('--max-restarts=3') as (job, worker, guardian):
      signal.pidfd_send_signal(guardian, signal.SIGSTOP)
      signal.pidfd_send_signal(worker, signal.SIGKILL)
      self.assert_guardian_is_blamed(job)
      self.assert_ended(guardian)

  def test_workers_of_a_stopped_guardian_end_with_it(self):
    with self.job() as (job, worker, guardian):
      signal.pidfd_send_signal(guardian, signal.SIGSTOP)
      self.assert_guardian_is_blamed(job)
      self.assert_ended(worker)
      self.assert_ended(guardian)

  def test_sigterm_ends_launch_whose_guardian_is_stopped(self):
    with self.job('--shutdown-timeout=2') as (job, worker, guardian):
      signal.pidfd_send_signal(guardian, signal.SIGSTOP)
      job.send_signal(signal.SIGTERM)
      job.communicate(timeout=_PATIENCE_S)
      self.assertNotEqual(job.returncode, 0)
      self.assert_ended(worker)
      self.assert_ended(guardian)

  def test_guardian_that_goes_on_is_no_failure(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    go = gate.Gate(os.path.join(folder.name, 'gate'))
    wait = f'echo worker=$$ guardian=$PPID; exec flock -s {go.path} true'
    with self.job(worker=('sh', '-c', wait)) as (job, worker, guardian):
      del worker
      signal.pidfd_send_signal(guardian, signal.SIGSTOP)
      signal.pidfd_send_signal(guardian, signal.SIGCONT)
      go.open()
      output, _ = job.communicate(timeout=_PATIENCE_S)
      self.assertEqual(job.returncode, 0, output)


if __name__ == '__main__':
  xml_main.main()
