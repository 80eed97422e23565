#!/usr/bin/python3
"""Hugging Face's libraries read Muster's safetensors files, and Muster reads
theirs."""

import os
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import oracles
import rounding
import xml_main

_OURS = os.path.realpath('tests/compat/safetensors_files')
_ORACLE = os.path.join(_HERE, 'safetensors_oracle.py')
_LIMIT_S = 240
# Number of successive roundings in the longest operation: one for each of the
# 128 terms of the longest product (four times the model's width of 32), and
# some for elementwise operations.
_OPERATIONS = 128 + 16


def _lacks(package):
  """Returns the reason why there is no library to compare with, or None."""
  why_not = interpreters.why_not(interpreters.NEW)
  if why_not:
    return why_not
  python = interpreters.PATHS[interpreters.NEW]
  # Only look for the packages with find_spec: importing them may take seconds.
  code = subprocess.run(
      [python, '-c', 'import importlib.util as u, sys;'
       'sys.exit(u.find_spec(sys.argv[1]) is None)', package],
      check=False, stderr=subprocess.DEVNULL).returncode
  return 'no %s at %s (tools/setup_torch2 installs it)' % (
      package, python) if code else None


class Safetensors(unittest.TestCase):

  def setUp(self):
    super().setUp()
    self.need('safetensors')
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    self.path = os.path.join(folder.name, 'file')

  def need(self, package):
    why_not = _lacks(package)
    if why_not:
      self.skipTest(why_not)

  def output(self, *command):
    return subprocess.run(
        command, timeout=_LIMIT_S, check=True, stdout=subprocess.PIPE,
        text=True, env=interpreters.environment(HF_HUB_OFFLINE='1')).stdout

  def oracle(self, *arguments):
    return self.output(interpreters.PATHS[interpreters.NEW], _ORACLE,
                       *arguments)

  def test_they_read_what_we_write(self):
    self.output(_OURS, 'write', self.path)
    ours = self.output(_OURS, 'print', self.path)
    theirs = self.oracle('read', self.path)
    self.assertEqual(sorted(ours.splitlines()), sorted(theirs.splitlines()))
    self.assertEqual(sum(' [2,4] ' in line for line in ours.splitlines()), 22)

  def test_we_read_what_they_write(self):
    theirs = self.oracle('write', self.path)
    ours = self.output(_OURS, 'print', self.path)
    self.assertEqual(sorted(ours.splitlines()), sorted(theirs.splitlines()))
    self.assertEqual(sum(' [3,5] ' in line for line in ours.splitlines()), 19)

  def test_a_model_has_the_same_loss_there_and_back(self):
    self.need('transformers')
    ours = float(self.output(_OURS, 'model', self.path))
    theirs, exact, *disturbed = map(float, self.oracle(
        'loss', self.path, 'float32', 'float64', *oracles.DISTURBED).split())
    limit = rounding.bound(_OPERATIONS, rounding.condition(
        [exact], [[each] for each in disturbed], oracles.DISTURBANCE))
    rounding.check(self, 'the loss', [ours], [theirs], limit)
    back = float(self.output(
        _OURS, 'loss', os.path.join(self.path, 'again', 'model.safetensors')))
    self.assertEqual(ours, back)
    # Also compare with a deliberate defect: the loss ln 31 = 3.434 of a model
    # that predicts 31 tokens with equal probability. The comparison must reject
    # it.
    rounding.check_planted(self, 'the loss', [3.434], [ours], 1000 * limit)


if __name__ == '__main__':
  xml_main.main()
