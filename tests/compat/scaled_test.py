#!/usr/bin/python3
"""A loss scale, skipped steps and clipping are as PyTorch's GradScaler's."""

import itertools
import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_OURS = os.path.realpath('tests/compat/scaled_steps')
_ORACLE = os.path.join(_HERE, 'scaled_oracle.py')
_LIMIT_S = 120

_CASES = [' '.join(map(str, case)) for case in itertools.product(
    (1e-3, 0.1), (65536, 4), (1, 3, 2000), (0, 1, 1000))]


class LossScale(unittest.TestCase):

  def numbers(self, *command):
    done = subprocess.run(command, input='\n'.join(_CASES) + '\n',
                          timeout=_LIMIT_S, check=True, stdout=subprocess.PIPE,
                          text=True, env=interpreters.environment())
    return [[float(x) for x in line.split()]
            for line in done.stdout.splitlines()]

  # PyTorch 1.13 knows a scale on a GPU only.
  def test_as_pytorch_2_x(self):
    if interpreters.why_not(interpreters.NEW):
      self.skipTest(interpreters.why_not(interpreters.NEW))
    ours = self.numbers(_OURS)
    theirs = self.numbers(interpreters.PATHS[interpreters.NEW], _ORACLE)
    self.assertEqual(len(ours), len(_CASES))
    self.assertEqual(len(theirs), len(_CASES))
    for case, mine, oracle in zip(_CASES, ours, theirs):
      self.assertEqual(len(mine), len(oracle), case)
      self.assertEqual(mine[-2], oracle[-2], case)
      for a, b in zip(mine, oracle):
        self.assertLessEqual(abs(a - b), 2e-6 * max(1, abs(b)), case)


if __name__ == '__main__':
  xml_main.main()
