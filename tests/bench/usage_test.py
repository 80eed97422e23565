#!/usr/bin/python3
"""Checks that each benchmark's script prints its usage before it does anything.
"""

import glob
import os
import subprocess
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_SCRIPTS = sorted(glob.glob(_HERE + '/run') + glob.glob(_HERE + '/*/run'))


class Usage(unittest.TestCase):

  def call(self, script, argument):
    """Calls a script in an environment in which every step of a measurement
    fails."""
    with tempfile.TemporaryDirectory() as programs:
      for name in ('bazel', 'apt-get', 'dpkg-query', 'realpath', 'python3'):
        path = os.path.join(programs, name)
        with open(path, 'w') as file:
          file.write('#!/bin/sh\nexit 77\n')
        os.chmod(path, 0o755)
      return subprocess.run(
          [script, argument], cwd='/', capture_output=True, text=True,
          timeout=60, env={'PATH': programs + ':/usr/bin:/bin'}, check=False)

  def test_help_is_the_comment_at_the_beginning(self):
    self.assertGreater(len(_SCRIPTS), 7)
    for script in _SCRIPTS:
      with self.subTest(script):
        done = self.call(script, '--help')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        with open(script) as file:
          lines = file.read().splitlines()
        self.assertEqual('# ' + done.stdout.splitlines()[0], lines[1])
        self.assertIn(os.path.relpath(script, _HERE + '/../..'), done.stdout)
        self.assertNotIn('set -', done.stdout)

  def test_no_option_is_taken_for_an_argument(self):
    for script in _SCRIPTS:
      with self.subTest(script):
        done = self.call(script, '--nothing')
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown option '--nothing'", done.stderr)


if __name__ == '__main__':
  unittest.main()
