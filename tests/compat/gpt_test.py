#!/usr/bin/python3
"""The transformer has the loss and the gradients that PyTorch's has."""

import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_OURS = os.path.realpath('tests/compat/gpt_gradients')
_ORACLE = os.path.join(_HERE, 'gpt_oracle.py')
_LIMIT_S = 120
_TOLERANCE = 1e-5


class Gpt(unittest.TestCase):

  def output(self, *command):
    """The loss, and the gradients by name."""
    done = subprocess.run(command, timeout=_LIMIT_S, check=True,
                          stdout=subprocess.PIPE, text=True,
                          env=interpreters.environment())
    loss, *tensors = done.stdout.splitlines()
    gradients = {}
    for line in tensors:
      name, *numbers = line.split()
      gradients[name] = [float(number) for number in numbers]
    return float(loss), gradients

  def compare(self, version, biases, tensors):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    loss, ours = self.output(_OURS, biases)
    oracle, theirs = self.output(interpreters.PATHS[version], _ORACLE, biases)
    self.assertLess(abs(loss - oracle), _TOLERANCE)
    self.assertEqual(list(ours), list(theirs))
    self.assertEqual(len(ours), tensors)
    for name, gradient in theirs.items():
      self.assertEqual(len(ours[name]), len(gradient), name)
      # A gradient of zeros would be like any other small one.
      self.assertGreater(max(map(abs, gradient)), 100 * _TOLERANCE, name)
      worst = max(abs(a - b) for a, b in zip(ours[name], gradient))
      self.assertLess(worst, _TOLERANCE, name)

  def test_as_pytorch_1_13(self):
    self.compare(interpreters.OLD, 'biases', 2 + 3 * 12 + 2)

  def test_as_pytorch_2_x(self):
    self.compare(interpreters.NEW, 'biases', 2 + 3 * 12 + 2)

  def test_without_biases(self):
    self.compare(interpreters.OLD, 'none', 2 + 3 * 6 + 1)


if __name__ == '__main__':
  xml_main.main()
