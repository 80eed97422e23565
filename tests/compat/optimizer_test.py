#!/usr/bin/python3
"""AdamW and SGD take the same steps as PyTorch's."""

import itertools
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import xml_main

_CASES = [' '.join(map(str, ('adamw',) + case)) for case in itertools.product(
    (1e-3, 0.1), (0.9, 0), (0.999, 0.95), (1e-8, 1e-3), (0, 0.01, 0.5))]
_CASES += [' '.join(map(str, ('sgd',) + case)) for case in itertools.product(
    (1e-3, 0.1), (0.9, 0.5), (0, 1), (0, 0.1))]
_CASES += ['sgd 0.1 0 0 0', 'sgd 0.1 0 0 0.1']


class Optimizers(unittest.TestCase):

  def compare(self, version):
    for case, mine, oracle in oracles.numbers(
        self, version, 'optimizer_steps', 'optimizer_oracle.py', _CASES):
      for a, b in zip(mine, oracle):
        self.assertLessEqual(abs(a - b), 2e-6 * max(1, abs(b)), case)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
