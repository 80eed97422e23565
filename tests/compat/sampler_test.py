#!/usr/bin/python3
"""DistributedSampler gives the same indices as PyTorch's."""

import itertools
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import xml_main

# Sizes of data sets. There is no size 0, because PyTorch supports neither an
# empty data set nor a rank without indices.
_LENGTHS = (1, 2, 5, 16, 17, 100, 1003)
_CASES = [
    ' '.join(map(str, case)) for case in itertools.product(
        _LENGTHS, (1, 2, 3, 8), (0, 7, 2**32 + 3, 2**63), (0, 1, 9),
        ('shuffled', 'sequential'), ('padded', 'dropped'))]


class Sampler(unittest.TestCase):

  def compare(self, version):
    for case, mine, oracle in oracles.answers(
        self, version, 'sampler_indices', 'sampler_oracle.py', _CASES):
      self.assertEqual(mine, oracle, case)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
