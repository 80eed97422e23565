#!/usr/bin/python3
"""Every method of PyTorch's store works against the project's own server."""

import json
import os
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import store_methods
import xml_main

_SERVER = os.path.realpath('tests/compat/store_server')
_METHODS = os.path.join(_HERE, 'store_methods.py')
_LIMIT_S = 120


class StoreMethods(unittest.TestCase):
  """One case for each method and version; a version's all run at once."""

  outcomes = {}

  def outcome(self, version, name):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    if version not in self.outcomes:
      self.outcomes[version] = self.run_all(version)
    kind, text = self.outcomes[version].get(
        name, ('failed', 'did not come that far'))
    if kind == 'skipped':
      self.skipTest(text)
    self.assertEqual(kind, 'passed', text)

  def run_all(self, version):
    # Set first: should it fail, it is not tried again for each case.
    self.outcomes[version] = {}
    with subprocess.Popen([_SERVER], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as server:
      done = subprocess.run(
          [interpreters.PATHS[version], _METHODS, server.stdout.readline()],
          env=interpreters.environment(), timeout=_LIMIT_S, check=False,
          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
      self.assertIsNone(server.poll(), 'the server ended')
      server.stdin.close()
    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def _add_cases():
  for version in interpreters.PATHS:
    for name in store_methods.NAMES:
      def case(self, version=version, name=name):
        self.outcome(version, name)
      setattr(StoreMethods,
              'test_%s_with_%s' % (name, version.replace('.', '_')), case)


_add_cases()

if __name__ == '__main__':
  xml_main.main()
