#!/usr/bin/python3
"""Loss scale, skipped steps and clipping are equal to PyTorch's GradScaler's.
"""

import itertools
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import rounding
import xml_main

_CASES = [' '.join(map(str, case)) for case in itertools.product(
    (1e-3, 0.1), (65536, 4), (1, 3, 2000), (0, 1, 1000))]


# _OPERATIONS: number of successive roundings in a step: those of AdamW
# (optimizer_test.py) plus those of clipping. _NORM_OPERATIONS: number of
# successive roundings in the norm, a sum of one square per weight.
_OPERATIONS = 16 + 4
_NORM_OPERATIONS = 50 + 4
# The positions of weights, loss scale and norm in an output line.
_WEIGHTS, _SCALE, _NORM = slice(0, -2), -2, slice(-1, None)


class LossScale(unittest.TestCase):

  # There is no test with PyTorch 1.13, which supports a loss scale on GPUs
  # only.
  def test_as_pytorch_2_x(self):
    found = oracles.compared(self, interpreters.NEW, 'scaled_steps',
                             'scaled_oracle.py', _CASES)
    # Run Muster's optimizer again with a deliberate defect, a learning rate
    # that is 10 % too large. The comparison with PyTorch must find the defect.
    wrong = [case.split() for case in _CASES]
    for words in wrong:
      words[0] = str(1.1 * float(words[0]))
    planted = oracles.our_lines('scaled_steps', map(' '.join, wrong))
    for each, line in zip(found, planted):
      # The loss scale is a power of two, which rounding does not change. So
      # Muster's and PyTorch's scales must be equal.
      self.assertEqual(each.ours[_SCALE], each.theirs[_SCALE], each.case)
      norm_limit = rounding.bound(_NORM_OPERATIONS, each.condition(_NORM))
      rounding.check(self, each.case, each.ours[_NORM], each.theirs[_NORM],
                     norm_limit)
      limit = rounding.bound(_OPERATIONS, each.condition(_WEIGHTS))
      rounding.check(self, each.case, each.ours[_WEIGHTS],
                     each.theirs[_WEIGHTS], limit)
      rounding.check_planted(self, each.case,
                             oracles.numbers_of(line)[_WEIGHTS],
                             each.theirs[_WEIGHTS], limit)


if __name__ == '__main__':
  xml_main.main()
