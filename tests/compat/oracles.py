"""A program of ours beside a script that does the same with PyTorch.

Both read cases, a line each, and answer each with a line.
"""

import os
import subprocess

import interpreters

_HERE = os.path.dirname(os.path.realpath(__file__))
_LIMIT_S = 120


def answers(test, version, ours, oracle, cases):
  """[(case, our line, PyTorch's line)]; skips `test` without that PyTorch.

  `ours` is a program of this folder, `oracle` a script beside this file.
  """
  if interpreters.why_not(version):
    test.skipTest(interpreters.why_not(version))
  mine = _lines(cases, os.path.realpath(os.path.join('tests/compat', ours)))
  theirs = _lines(cases, interpreters.PATHS[version],
                  os.path.join(_HERE, oracle))
  test.assertEqual(len(mine), len(cases))
  test.assertEqual(len(theirs), len(cases))
  return list(zip(cases, mine, theirs))


def numbers(test, version, ours, oracle, cases):
  """The same, with the lines' numbers, which are as many, and some."""
  found = [(case, [float(word) for word in mine.split()],
            [float(word) for word in theirs.split()])
           for case, mine, theirs in answers(test, version, ours, oracle,
                                             cases)]
  for case, mine, theirs in found:
    test.assertEqual(len(mine), len(theirs), case)
    test.assertTrue(mine, case)
  return found


def _lines(cases, *command):
  done = subprocess.run(command, input='\n'.join(cases) + '\n',
                        timeout=_LIMIT_S, check=True, stdout=subprocess.PIPE,
                        text=True, env=interpreters.environment())
  return done.stdout.splitlines()
