#!/usr/bin/python3
"""The transformer has the same loss and gradients as PyTorch's."""

import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import rounding
import xml_main

_OURS = os.path.realpath('tests/compat/gpt_gradients')
_ORACLE = os.path.join(_HERE, 'gpt_oracle.py')
_LIMIT_S = 120
# Number of successive roundings in the longest operation. There is one for each
# term of the longest product (four times the model's width of 32), and there
# are some for elementwise operations.
_OPERATIONS = 128 + 16
_LOSS = 'the loss'
# The kernels to compare. Kernels that this processor does not support are
# omitted.
_PROCESSORS = ('baseline', 'avx2', 'avx512')


class Gpt(unittest.TestCase):

  def outputs(self, *command, **variables):
    """Parses the output of each run. Returns for each one the loss and the
    gradients, as lists of numbers by name."""
    done = subprocess.run(command, timeout=_LIMIT_S, check=True,
                          stdout=subprocess.PIPE, text=True,
                          env=interpreters.environment(**variables))
    found = []
    for run in done.stdout.split('\n\n'):
      loss, *tensors = run.splitlines()
      found.append({_LOSS: [float(loss)]})
      for line in tensors:
        name, *numbers = line.split()
        found[-1][name] = [float(number) for number in numbers]
    return found

  def compare(self, version, biases, tensors):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    theirs, wrong, exact, *disturbed = self.outputs(
        interpreters.PATHS[version], _ORACLE, biases, 'float32', 'erf',
        'float64', *oracles.DISTURBED)
    self.assertEqual(len(theirs), 1 + tensors)
    ours = {processor: self.outputs(_OURS, biases,
                                    MUSTER_PROCESSOR=processor)[0]
            for processor in _PROCESSORS}
    for name, numbers in theirs.items():
      limit = rounding.bound(_OPERATIONS, rounding.condition(
          exact[name], [each[name] for each in disturbed],
          oracles.DISTURBANCE))
      # The largest gradient must be far above the permitted error `limit`.
      # Otherwise the comparisons below would always pass.
      self.assertGreater(max(map(abs, numbers)), 20 * limit, name)
      for processor, found in ours.items():
        self.assertEqual(list(found), list(theirs), processor)
        rounding.check(self, '%s, %s' % (processor, name), found[name],
                       numbers, limit)
      if name != _LOSS:
        rounding.check_planted(self, name, wrong[name], numbers, limit)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD, 'biases', 2 + 3 * 12 + 2)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW, 'biases', 2 + 3 * 12 + 2)

  def test_without_biases(self):
    self.compare(interpreters.OLD, 'none', 2 + 3 * 6 + 1)


if __name__ == '__main__':
  xml_main.main()
