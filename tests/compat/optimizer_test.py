#!/usr/bin/python3
"""AdamW and SGD take the same steps as PyTorch's."""

import itertools
import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_OURS = os.path.realpath('tests/compat/optimizer_steps')
_ORACLE = os.path.join(_HERE, 'optimizer_oracle.py')
_LIMIT_S = 120

_CASES = [' '.join(map(str, ('adamw',) + case)) for case in itertools.product(
    (1e-3, 0.1), (0.9, 0), (0.999, 0.95), (1e-8, 1e-3), (0, 0.01, 0.5))]
_CASES += [' '.join(map(str, ('sgd',) + case)) for case in itertools.product(
    (1e-3, 0.1), (0.9, 0.5), (0, 1), (0, 0.1))]
_CASES += ['sgd 0.1 0 0 0', 'sgd 0.1 0 0 0.1']


class Optimizers(unittest.TestCase):

  def weights(self, *command):
    done = subprocess.run(command, input='\n'.join(_CASES) + '\n',
                          timeout=_LIMIT_S, check=True, stdout=subprocess.PIPE,
                          text=True, env=interpreters.environment())
    return [[float(w) for w in line.split()]
            for line in done.stdout.splitlines()]

  def compare(self, version):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    ours = self.weights(_OURS)
    theirs = self.weights(interpreters.PATHS[version], _ORACLE)
    self.assertEqual(len(ours), len(_CASES))
    self.assertEqual(len(theirs), len(_CASES))
    for case, mine, oracle in zip(_CASES, ours, theirs):
      self.assertEqual(len(mine), len(oracle), case)
      for a, b in zip(mine, oracle):
        self.assertLessEqual(abs(a - b), 2e-6 * max(1, abs(b)), case)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
