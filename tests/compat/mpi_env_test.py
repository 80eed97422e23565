#!/usr/bin/python3
"""`launch --framework-env mpi` sets the variables of a real mpirun."""

import os
import shutil
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import interpreters
import launched
import xml_main

_MPIRUN = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '3',
           sys.executable, launched.ENVIRONMENT_WORKER]
_LAUNCH = [launched.LAUNCH, '--standalone', '--nproc-per-node', '3',
           '--framework-env', 'mpi', launched.ENVIRONMENT_WORKER]
# Prefix of Open MPI's variables that hold the rank of a process and the size of
# its world. Open MPI's other variables tell its library how to reach mpirun;
# the test does not compare them.
_PLACE = 'OMPI_COMM_WORLD_'


def place(told):
  return {name: value for name, value in told['environment'].items()
          if name.startswith(_PLACE)}


class Mpi(unittest.TestCase):

  def test_open_mpis_variables(self):
    if not shutil.which('mpirun'):
      self.skipTest('no mpirun (openmpi-bin; tools/setup installs it)')
    environment = interpreters.environment()
    theirs = launched.told(self, _MPIRUN, environment)
    ours = launched.told(self, _LAUNCH, environment)
    self.assertEqual(sorted(theirs), [0, 1, 2])
    for rank in theirs:
      self.assertGreaterEqual(len(place(theirs[rank])), 5)
      self.assertEqual(place(theirs[rank]), place(ours[rank]))

  def test_hydras_variables(self):
    ours = launched.told(self, _LAUNCH, interpreters.environment())
    for rank in range(3):
      self.assertEqual(
          {name: ours[rank]['environment'][name] for name in
           ('PMI_RANK', 'PMI_SIZE', 'MPI_LOCALRANKID', 'MPI_LOCALNRANKS')},
          {'PMI_RANK': str(rank), 'PMI_SIZE': '3',
           'MPI_LOCALRANKID': str(rank), 'MPI_LOCALNRANKS': '3'})


if __name__ == '__main__':
  xml_main.main()
