#!/usr/bin/python3
"""Schedules with several stages on each rank are equal to PyTorch's."""

import itertools
import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_OURS = os.path.realpath('tests/compat/pipeline_schedule')
_ORACLE = os.path.join(_HERE, 'pipeline_schedule_oracle.py')
_LIMIT_S = 120

# Each case: (ranks, stages for each rank, micro-batches). The last cases have
# the sizes of PyTorch's own tests, except the largest, which would take a
# minute. 1F1B with one stage for each rank is not compared: PyTorch 2.15 omits
# the last rank's first forward.
_SIZES = [(p, v, m) for p, v, m in itertools.product(
    (1, 2, 3, 4), (1, 2, 3), (1, 2, 3, 4, 6, 8, 12))
          if m % max(1, m // p) == 0] + [(4, 2, 8), (4, 3, 12),
                                         (5, 4, 10)]


class PipelineSchedule(unittest.TestCase):

  def output(self, asked, *command):
    text = subprocess.run(command, input=asked, timeout=_LIMIT_S, check=True,
                          stdout=subprocess.PIPE, text=True,
                          env=interpreters.environment()).stdout
    return text.strip().split('\n\n')

  def compare(self, name):
    if interpreters.why_not(interpreters.NEW):
      self.skipTest(interpreters.why_not(interpreters.NEW))
    cases = ['%s %d %d %d' % (name, *sizes) for sizes in _SIZES]
    asked = '\n'.join(cases) + '\n'
    ours = self.output(asked, _OURS)
    theirs = self.output(asked, interpreters.PATHS[interpreters.NEW], _ORACLE)
    self.assertEqual(len(theirs), len(cases))
    self.assertEqual(len(ours), len(cases))
    for case, mine, oracle in zip(cases, ours, theirs):
      self.assertEqual(mine, oracle, case)

  def test_interleaved_1f1b(self):
    self.compare('interleaved_1f1b')

  def test_zero_bubble(self):
    self.compare('zb1p')


if __name__ == '__main__':
  xml_main.main()
