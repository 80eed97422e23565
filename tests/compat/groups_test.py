#!/usr/bin/python3
"""PyTorch trains over the store that the agent of rank 0 serves."""

import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
_SUBJECTS = ('init_process_group', 'new_group', 'PrefixStore', 'DDP',
             'barrier', 'monitored_barrier')
_LIMIT_S = 120


class Groups(unittest.TestCase):

  def launch(self, version, workers, script, *options):
    """Runs a script of this folder, which must succeed. Returns its output."""
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    done = subprocess.run(
        [_LAUNCH, '--standalone', '--nproc-per-node', str(workers)] +
        list(options) + [os.path.join(_HERE, script)],
        env=interpreters.environment(PYTHON_EXEC=interpreters.PATHS[version]),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=_LIMIT_S, check=False)
    self.assertEqual(done.returncode, 0, done.stdout)
    return done.stdout

  def check_groups(self, version, workers, *options):
    output = self.launch(version, workers, 'group_worker.py', *options)
    for rank in range(workers):
      for subject in _SUBJECTS:
        self.assertIn('rank %d: %s\n' % (rank, subject), output)

  def check_restart(self, version, *options):
    output = self.launch(version, 2, 'restart_worker.py', '--max-restarts',
                         '1', *options)
    for rank in range(2):
      self.assertIn('rank %d: stale [], k0 of restart 1\n' % rank, output)

  def test_all_groups_work_with_1_13(self):
    self.check_groups(interpreters.OLD, 3)

  def test_all_groups_work_with_2_x(self):
    self.check_groups(interpreters.NEW, 3)

  def test_all_groups_work_through_the_nodes_relay(self):
    self.check_groups(interpreters.NEW, 2, '--local-store')

  def test_all_groups_work_over_the_workers_store(self):
    self.check_groups(interpreters.OLD, 2, '--worker-store')

  def test_a_restart_reads_no_stale_key_with_1_13(self):
    self.check_restart(interpreters.OLD)

  def test_a_restart_reads_no_stale_key_with_2_x(self):
    self.check_restart(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
