#!/usr/bin/python3
"""launch doctor --nodes in batch jobs of a real Slurm."""

import os
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_TESTS = os.path.dirname(_HERE)
sys.path[:0] = [os.path.join(_TESTS, name) for name in ('slurm', 'python')]

import slurm_cluster
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))

_no_slurm = ''  # reason why Slurm cannot run on this machine


class UnderSlurm(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    if _no_slurm:
      raise unittest.SkipTest(_no_slurm)
    folder = tempfile.TemporaryDirectory(dir='/tmp')
    cls.addClassCleanup(folder.cleanup)
    cls.slurm = slurm_cluster.SlurmCluster(folder.name, gpus=(0, 0, 0, 0))
    cls.addClassCleanup(cls.slurm.stop)

  def test_with_srun_and_without(self):
    for command in (
        f'srun --ntasks-per-node=1 --kill-on-bad-exit=0 {_LAUNCH} doctor '
        '--nodes', f'{_LAUNCH} doctor --nodes --slurm'):
      with self.subTest(command=command):
        job = self.slurm.sbatch(
            f'{command} --quiet\ncode=$?\n'
            '[[ $code == [034] ]] && echo sound || echo "unsound: $code"\n',
            '--nodes=3')
        self.assertEqual(job.wait(), ('COMPLETED', 0), job.output())
        output = job.output()
        self.assertEqual(output.count('launch doctor on 3 nodes'), 1, output)
        self.assertIn('\nsound', output)

  def test_a_node_that_does_not_come_is_named(self):
    job = self.slurm.sbatch(
        'srun --ntasks-per-node=1 --kill-on-bad-exit=0 bash -c \''
        '[[ $SLURM_PROCID == 1 ]] && echo absent: $SLURMD_NODENAME || '
        f'exec {_LAUNCH} doctor --nodes --quiet '
        '--rdzv-conf=last_call_timeout=5\'\necho "code $?"\n',
        '--nodes=3')
    self.assertEqual(job.wait(), ('COMPLETED', 0), job.output())
    output = job.output()
    self.assertIn('\ncode 4', output)
    absent = output.split('absent: ')[1].split()[0]
    self.assertIn('launch doctor on 2 of 3 nodes', output)
    self.assertIn(f'error    {absent}: it did not come', output)


if __name__ == '__main__':
  try:
    slurm_cluster.enter_namespaces()
  except slurm_cluster.CannotStart as reason:
    _no_slurm = str(reason)
    print('SKIPPED:', reason)
  xml_main.main()
