#!/usr/bin/python3
"""The project's store client works with PyTorch's own servers."""

import os
import re
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_CLIENT = os.path.realpath('tests/compat/foreign_store_client')
_SERVER = os.path.join(_HERE, 'foreign_store_server.py')
_LIMIT_S = 120


class ForeignStore(unittest.TestCase):

  def run_client(self, version, *options):
    """Returns the client's exit code and output, and the server's last output.
    """
    if interpreters.why_not(version):
      self.skipTest(interpreters.why_not(version))
    with subprocess.Popen(
        [interpreters.PATHS[version], _SERVER] + list(options),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=interpreters.environment()) as server:
      self.addCleanup(server.kill)
      port = server.stdout.readline().strip()
      environment = interpreters.environment(MUSTER_FOREIGN_STORE_PORT=port)
      # XML_OUTPUT_FILE names the report of this test. The client is a
      # GoogleTest program, which would write its own report to this file.
      environment.pop('XML_OUTPUT_FILE', None)
      done = subprocess.run([_CLIENT], env=environment, timeout=_LIMIT_S,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
      server.stdin.close()
      return done.returncode, done.stdout, server.stdout.read().strip()

  def check_all(self, version, *options):
    code, output, heard = self.run_client(version, *options)
    self.assertEqual(code, 0, output)
    # The client must have run more than 10 tests. A lower number shows that its
    # test filter no longer matches the store's contract tests.
    self.assertGreater(int(re.search(r'PASSED  \] (\d+)', output)[1]), 10)
    self.assertEqual(heard, 'hello back')

  def test_with_the_libuv_server_of_2_x(self):
    self.check_all(interpreters.NEW, 'libuv')

  def test_with_the_older_server_of_2_x(self):
    self.check_all(interpreters.NEW, 'plain')

  def test_the_server_of_1_13_is_refused_with_the_reason(self):
    code, output, _ = self.run_client(interpreters.OLD)
    self.assertEqual(code, 3, output)
    self.assertIn('no store of PyTorch 2.1 or newer', output)


if __name__ == '__main__':
  xml_main.main()
