#!/usr/bin/python3
"""DistributedSampler gives index for index what PyTorch's own gives."""

import itertools
import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_OURS = os.path.realpath('tests/compat/sampler_indices')
_ORACLE = os.path.join(_HERE, 'sampler_oracle.py')
_LIMIT_S = 120

# PyTorch cannot divide nothing among ranks, or give a rank nothing of a few.
_LENGTHS = (1, 2, 5, 16, 17, 100, 1003)
_GRID = '\n'.join(
    ' '.join(map(str, case)) for case in itertools.product(
        _LENGTHS, (1, 2, 3, 8), (0, 7, 2**32 + 3, 2**63), (0, 1, 9),
        ('shuffled', 'sequential'), ('padded', 'dropped')))


class Sampler(unittest.TestCase):

  def output(self, *command):
    return subprocess.run(command, input=_GRID, timeout=_LIMIT_S, check=True,
                          stdout=subprocess.PIPE, text=True,
                          env=interpreters.environment()).stdout.splitlines()

  def compare(self, version):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    ours = self.output(_OURS)
    theirs = self.output(interpreters.PATHS[version], _ORACLE)
    cases = _GRID.splitlines()
    self.assertEqual(len(theirs), len(cases))
    self.assertEqual(len(ours), len(cases))
    for case, mine, oracle in zip(cases, ours, theirs):
      self.assertEqual(mine, oracle, case)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
