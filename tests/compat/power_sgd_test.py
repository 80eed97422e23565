#!/usr/bin/python3
"""PowerSgdHook gives the same averages as PyTorch's powerSGD_hook."""

import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import rounding
import xml_main

# Each case: number of ranks, rank of the approximation, number of steps, then
# rows and columns of each matrix. No two matrices of a case have the same
# shape. PyTorch would process such matrices as one batch, which is not tested
# here.
_CASES = ['1 1 8 12 20', '2 1 8 12 20 30 9', '2 2 8 12 40 33 17',
          '3 3 8 24 31 40 20']




def longest_chain(case):
  """Returns the largest number of successive roundings in one operation of a
  case.

  The products' inner dimensions are rows and columns; orthogonalizing takes a
  product of columns and a subtraction for each other column, and a norm.
  """
  ranks, rank, _, *lengths = map(int, case.split())
  return ranks + (rank + 1) * (max(lengths) + 2)


class PowerSgd(unittest.TestCase):

  def compare(self, version):
    found = oracles.compared(self, version, 'power_sgd_steps',
                             'power_sgd_oracle.py', _CASES)
    forgetful = oracles.oracle_lines(
        self, version, 'power_sgd_oracle.py',
        ['float32 ' + case for case in _CASES], 'no_error_feedback')
    for each, wrong in zip(found, forgetful):
      limit = rounding.bound(longest_chain(each.case), each.condition())
      rounding.check(self, each.case, each.ours, each.theirs, limit)
      rounding.check_planted(self, each.case, oracles.numbers_of(wrong),
                             each.theirs, limit)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
