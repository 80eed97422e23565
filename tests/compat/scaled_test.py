#!/usr/bin/python3
"""A loss scale, skipped steps and clipping are as PyTorch's GradScaler's."""

import itertools
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import xml_main

_CASES = [' '.join(map(str, case)) for case in itertools.product(
    (1e-3, 0.1), (65536, 4), (1, 3, 2000), (0, 1, 1000))]


class LossScale(unittest.TestCase):

  # PyTorch 1.13 knows a scale on a GPU only.
  def test_as_pytorch_2_x(self):
    for case, mine, oracle in oracles.numbers(
        self, interpreters.NEW, 'scaled_steps', 'scaled_oracle.py', _CASES):
      self.assertEqual(mine[-2], oracle[-2], case)
      for a, b in zip(mine, oracle):
        self.assertLessEqual(abs(a - b), 2e-6 * max(1, abs(b)), case)


if __name__ == '__main__':
  xml_main.main()
