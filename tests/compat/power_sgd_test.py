#!/usr/bin/python3
"""PowerSgdHook lets arrive what PyTorch's powerSGD_hook lets arrive."""

import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import xml_main

# Ranks, rank of the approximation, steps, rows and columns: each of another
# shape, for PyTorch batches those of one.
_CASES = ['1 1 8 12 20', '2 1 8 12 20 30 9', '2 2 8 12 40 33 17',
          '3 3 8 24 31 40 20']


class PowerSgd(unittest.TestCase):

  def compare(self, version):
    for case, mine, oracle in oracles.numbers(
        self, version, 'power_sgd_steps', 'power_sgd_oracle.py', _CASES):
      apart = max(abs(a - b) for a, b in zip(mine, oracle))
      self.assertLessEqual(apart, 1e-5, case)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
