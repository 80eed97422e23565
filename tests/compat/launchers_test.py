#!/usr/bin/python3
"""A Session joins its world under every supported launcher."""

import os
import re
import shutil
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import free_port
import interpreters
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
_WORKER = os.path.realpath('examples/progress/train')
_OLD_TORCHRUN = [interpreters.PATHS[interpreters.OLD],
                 os.path.join(_ROOT, 'tests', 'peers', 'torchrun.py'),
                 '--monitor_interval', '0.1']
_NEW_TORCHRUN = [interpreters.PATHS[interpreters.NEW], '-m',
                 'torch.distributed.run', '--monitor-interval', '0.1']
_STEPS = '20'
_LIMIT_S = 120


class Launchers(unittest.TestCase):

  def start(self, command, **changes):
    process = subprocess.Popen(
        command, env=interpreters.environment(**changes), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    self.addCleanup(process.stdout.close)
    self.addCleanup(process.wait)
    self.addCleanup(process.kill)
    return process

  def finish(self, processes):
    outputs = [process.communicate(timeout=_LIMIT_S)[0]
               for process in processes]
    codes = {process.returncode for process in processes}
    return ''.join(outputs), codes

  def check_world(self, processes, by, lines):
    """Checks that each rank of a world of two printed its place, and that it
    met the other rank."""
    output, codes = self.finish(processes)
    self.assertEqual(codes, {0}, output)
    for line in lines:
      self.assertRegex(output, re.escape('rank %s, by %s: loss ' % (line, by)) +
                       r'0\.\d+, 2 ranks met')

  def check_one_node(self, command, by):
    self.check_world(
        [self.start(command + [_WORKER, _STEPS])], by,
        ['%d of 2, local rank %d of 2, node 0 of 1' % (rank, rank)
         for rank in range(2)])

  def test_launch(self):
    self.check_one_node(
        [_LAUNCH, '--standalone', '--nproc-per-node', '2', '--no-python'],
        'launch')

  def test_launch_with_the_workers_store(self):
    self.check_one_node(
        [_LAUNCH, '--standalone', '--nproc-per-node', '2', '--no-python',
         '--worker-store'], 'launch')

  def check_two_nodes(self, *options):
    command = [_LAUNCH, '--nnodes', '2', '--rdzv-id', 'two', '--no-python',
               '--rdzv-endpoint', '127.0.0.1:%d' % free_port.free_port()]
    command += list(options) + [_WORKER, _STEPS]
    self.check_world(
        [self.start(command) for _ in range(2)], 'launch',
        ['%d of 2, local rank 0 of 1, node %d of 2' % (rank, rank)
         for rank in range(2)])

  def test_launch_on_two_nodes(self):
    self.check_two_nodes()

  def test_launch_on_two_nodes_with_relays(self):
    self.check_two_nodes('--local-store')

  def test_torchrun_1_13(self):
    if interpreters.why_not(interpreters.OLD):
      self.skipTest(interpreters.why_not(interpreters.OLD))
    self.check_one_node(_OLD_TORCHRUN + [
        '--standalone', '--nproc_per_node', '2', '--no_python'], 'torchrun')

  def test_torchrun_2_x(self):
    if interpreters.why_not(interpreters.NEW):
      self.skipTest(interpreters.why_not(interpreters.NEW))
    self.check_one_node(_NEW_TORCHRUN + [
        '--standalone', '--nproc-per-node', '2', '--no-python'], 'torchrun')

  def test_mpirun(self):
    if not shutil.which('mpirun'):
      self.skipTest('no mpirun (openmpi-bin; tools/setup installs it)')
    self.check_one_node(
        ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '2'],
        'mpirun')

  def test_the_variables_of_srun(self):
    # The variables that Slurm 22.05 sets for a job step with two tasks on two
    # nodes. Both node names resolve to this machine.
    step = {'SLURM_JOB_ID': '71', 'SLURM_STEP_ID': '0',
            'SLURM_STEP_NUM_TASKS': '2', 'SLURM_STEP_NUM_NODES': '2',
            'SLURM_STEP_TASKS_PER_NODE': '1(x2)', 'SLURM_LOCALID': '0',
            'SLURM_STEP_NODELIST': 'localhost,n2', 'SLURM_NTASKS': '2',
            'MASTER_PORT': str(free_port.free_port())}
    self.check_world(
        [self.start([_WORKER, _STEPS], SLURM_PROCID=rank, SLURM_NODEID=rank,
                    **step) for rank in '01'], 'srun',
        ['%d of 2, local rank 0 of 1, node %d of 2' % (rank, rank)
         for rank in range(2)])

  def test_variables_that_contradict_each_other(self):
    output, codes = self.finish([self.start([_WORKER], RANK='2',
                                            WORLD_SIZE='2')])
    self.assertEqual(codes, {1})
    self.assertEqual(output.count('\n'), 1, output)
    self.assertIn('MASTER_ADDR is not set', output)


if __name__ == '__main__':
  xml_main.main()
