"""unittest.main() for Bazel: reports each case to $XML_OUTPUT_FILE.

Without this file a Python test would count as one case, and skipped cases would
not be visible.
"""

import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class _Result(unittest.TextTestResult):
  """Records the outcome of each case, in the order of the run."""

  def __init__(self, *args, **kwargs):
    super().__init__(*args, **kwargs)
    self.outcomes = {}

  def _set(self, test, kind, message=''):
    # A success must not replace the failure of a subtest or a tear-down.
    if self.outcomes.get(test.id(), ('passed', ''))[0] == 'passed':
      self.outcomes[test.id()] = (kind, message)

  def addSuccess(self, test):
    super().addSuccess(test)
    self._set(test, 'passed')

  def addFailure(self, test, err):
    super().addFailure(test, err)
    self._set(test, 'failure', str(err[1]))

  def addError(self, test, err):
    super().addError(test, err)
    self._set(test, 'failure', str(err[1]))

  def addSubTest(self, test, subtest, err):
    super().addSubTest(test, subtest, err)
    if err is not None:
      self._set(test, 'failure', str(err[1]))

  def addSkip(self, test, reason):
    super().addSkip(test, reason)
    self._set(test, 'skipped', reason)


def _write(path, outcomes):
  suite = ElementTree.Element('testsuite', name='python')
  for name, (kind, message) in outcomes.items():
    classname, _, method = name.rpartition('.')
    case = ElementTree.SubElement(
        suite, 'testcase', name=method, classname=classname)
    if kind != 'passed':
      # XML cannot contain most control characters.
      clean = ''.join(c if c.isprintable() else ' ' for c in message)
      ElementTree.SubElement(case, kind, message=clean)
  ElementTree.ElementTree(suite).write(path, encoding='utf-8')


def main():
  runner = unittest.TextTestRunner(verbosity=2, resultclass=_Result)
  program = unittest.main(module='__main__', testRunner=runner, exit=False)
  if 'XML_OUTPUT_FILE' in os.environ:
    _write(os.environ['XML_OUTPUT_FILE'], program.result.outcomes)
  sys.exit(not program.result.wasSuccessful())
