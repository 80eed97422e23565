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
import rounding
import xml_main

_CASES = [' '.join(map(str, ('adamw',) + case)) for case in itertools.product(
    (1e-3, 0.1), (0.9, 0), (0.999, 0.95), (1e-8, 1e-3), (0, 0.01, 0.5))]
_CASES += [' '.join(map(str, ('sgd',) + case)) for case in itertools.product(
    (1e-3, 0.1), (0.9, 0.5), (0, 1), (0, 0.1))]
_CASES += ['sgd 0.1 0 0 0', 'sgd 0.1 0 0 0.1']


# Number of successive roundings in a step of AdamW, on the way from a gradient
# to the weight. The roundings occur in the second moment, the root, the
# denominator and the update.
_OPERATIONS = 16


class Optimizers(unittest.TestCase):

  def compare(self, version):
    found = oracles.compared(self, version, 'optimizer_steps',
                             'optimizer_oracle.py', _CASES)
    # Run Muster's optimizer again with a deliberate defect, a learning rate
    # that is 10 % too large. The comparison with PyTorch must find the defect.
    wrong = [case.split() for case in _CASES]
    for words in wrong:
      words[1] = str(1.1 * float(words[1]))
    planted = oracles.our_lines('optimizer_steps', map(' '.join, wrong))
    for each, line in zip(found, planted):
      limit = rounding.bound(_OPERATIONS, each.condition())
      rounding.check(self, each.case, each.ours, each.theirs, limit)
      rounding.check_planted(self, each.case, oracles.numbers_of(line),
                             each.theirs, limit)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW)


if __name__ == '__main__':
  xml_main.main()
