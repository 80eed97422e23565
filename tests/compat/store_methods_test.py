#!/usr/bin/python3
"""Every method of PyTorch's store works against the project's own store."""

import itertools
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


# The two servers to which the client connects: the store itself, or a node's
# relay.
_DOORS = ('server', 'relay')


class StoreMethods(unittest.TestCase):
  """One case for each method, version of PyTorch and endpoint. All methods run
  in parallel."""

  outcomes = {}

  def outcome(self, version, door, name):
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    if (version, door) not in self.outcomes:
      # run_all runs all cases at once and may raise. Store empty outcomes
      # first: otherwise, after a failed run, each further case would repeat the
      # run.
      self.outcomes[version, door] = {}
      self.outcomes[version, door] = self.run_all(version, door)
    kind, text = self.outcomes[version, door].get(
        name, ('failed', 'did not come that far'))
    if kind == 'skipped':
      self.skipTest(text)
    self.assertEqual(kind, 'passed', text)

  def run_all(self, version, door):
    with subprocess.Popen([_SERVER], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as server:
      ports = dict(zip(_DOORS, server.stdout.readline().split()))
      done = subprocess.run(
          [interpreters.PATHS[version], _METHODS, ports[door]],
          env=interpreters.environment(), timeout=_LIMIT_S, check=False,
          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
      self.assertIsNone(server.poll(), 'the server ended')
      server.stdin.close()
    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def _add_cases():
  for version, door, name in itertools.product(
      interpreters.PATHS, _DOORS, store_methods.NAMES):
    def case(self, version=version, door=door, name=name):
      self.outcome(version, door, name)
    setattr(StoreMethods, 'test_%s_at_the_%s_with_%s' % (
        name, door, version.replace('.', '_')), case)


_add_cases()

if __name__ == '__main__':
  xml_main.main()
