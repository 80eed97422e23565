#!/usr/bin/python3
"""Tests that the tutorial runs, has 40 lines, and equals docs/SDK.md's copy."""

import os
import re
import subprocess
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.join(_HERE, os.pardir, os.pardir)
sys.path[:0] = [os.path.join(_ROOT, 'tests', 'python')]

import xml_main

_TUTORIAL = os.path.realpath('examples/tutorial/tutorial')
_LAUNCH = os.path.realpath('launcher/launch')
_LIMIT_S = 60
_MOST_LINES = 40


def read(*path):
  with open(os.path.join(_ROOT, *path), encoding='utf-8') as file:
    return file.read()


def environment():
  """Returns this process's environment without variables of any launcher."""
  return {name: value for name, value in os.environ.items()
          if name in ('PATH', 'HOME', 'LANG', 'TEST_TMPDIR')
          or 'SAN_OPTIONS' in name}


class Tutorial(unittest.TestCase):

  def run_it(self, *command):
    done = subprocess.run(command, env=environment(), timeout=_LIMIT_S,
                          cwd=os.environ.get('TEST_TMPDIR'), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    self.assertEqual(done.returncode, 0, done.stdout)
    lines = re.findall(r'y = (\S+) x \+ (\S+)', done.stdout)
    self.assertEqual(len(lines), 1, done.stdout)
    slope, height = map(float, lines[0])
    self.assertAlmostEqual(slope, 3, places=3)
    self.assertAlmostEqual(height, 2, places=3)

  def test_alone(self):
    self.run_it(_TUTORIAL)

  def test_on_two_ranks(self):
    self.run_it(_LAUNCH, '--standalone', '--nproc-per-node', '2', _TUTORIAL)

  def test_on_ranks_that_do_not_divide_the_examples(self):
    self.run_it(_LAUNCH, '--standalone', '--nproc-per-node', '3', _TUTORIAL)

  def test_has_forty_lines(self):
    text = read('examples', 'tutorial', 'tutorial.cc')
    code = [line for line in text.splitlines()
            if line.strip() and not line.strip().startswith('//')]
    self.assertLessEqual(len(code), _MOST_LINES)

  def test_is_what_the_documentation_shows(self):
    text = read('examples', 'tutorial', 'tutorial.cc')
    blocks = re.findall(r'(?ms)^```c\+\+\n(.*?)^```$', read('docs', 'SDK.md'))
    self.assertIn(text, blocks,
                  'the tutorial in docs/SDK.md differs from tutorial.cc')


if __name__ == '__main__':
  xml_main.main()
