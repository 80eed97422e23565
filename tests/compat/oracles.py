"""Runs a program of Muster and a script that computes the same with PyTorch.

Both programs read one case per line, and print one line for each case.
"""

import dataclasses
import os
import subprocess

import interpreters
import rounding

_HERE = os.path.dirname(os.path.realpath(__file__))
_LIMIT_S = 120
# The size of a disturbance (a small deliberate change of a value), relative to
# the value. Must equal DISTURBANCE in precision.py, which only a Python with
# PyTorch can import.
DISTURBANCE = 2.0**-30
# The arguments that make precision.py compute in float64 with random
# disturbances: one run with the seed 1, and one with the seed 2.
DISTURBED = tuple('float64:%d' % seed for seed in (1, 2))


@dataclasses.dataclass
class Compared:
  """The results of a case: Muster's numbers and PyTorch's."""
  case: str
  ours: list
  theirs: list
  # PyTorch's results in float64. exact: without disturbances. disturbed: with
  # disturbances, one list of results for each argument in DISTURBED.
  exact: list
  disturbed: list

  def condition(self, part=slice(None)):
    """Returns the condition (see rounding.py) of some of the outputs."""
    return rounding.condition(self.exact[part],
                              [each[part] for each in self.disturbed],
                              DISTURBANCE)


def answers(test, version, ours, oracle, cases):
  """Returns [(case, Muster's line, PyTorch's line)]. Skips `test` if that
  version of PyTorch is not installed.

  `ours` is a program of this folder, `oracle` a script beside this file.
  """
  mine = our_lines(ours, cases)
  theirs = oracle_lines(test, version, oracle, cases)
  test.assertEqual(len(mine), len(cases))
  test.assertEqual(len(theirs), len(cases))
  return list(zip(cases, mine, theirs))


def compared(test, version, ours, oracle, cases):
  """Returns a Compared for each case.

  `oracle`: a script whose lines begin with an argument for precision.py.
  """
  words = ['float32', 'float64', *DISTURBED]
  theirs = oracle_lines(
      test, version, oracle,
      ['%s %s' % (word, case) for case in cases for word in words])
  mine = our_lines(ours, cases)
  test.assertEqual(len(mine), len(cases))
  test.assertEqual(len(theirs), len(cases) * len(words))
  found = []
  for i, case in enumerate(cases):
    single, exact, *disturbed = [
        numbers_of(line)
        for line in theirs[i * len(words):(i + 1) * len(words)]]
    found.append(
        Compared(case, numbers_of(mine[i]), single, exact, disturbed))
    test.assertTrue(found[-1].ours, case)
    test.assertEqual(len(found[-1].ours), len(single), case)
  return found


def numbers_of(line):
  return [float(word) for word in line.split()]


def our_lines(program, cases):
  return _lines(cases, os.path.realpath(os.path.join('tests/compat', program)))


def oracle_lines(test, version, oracle, cases, *arguments):
  if interpreters.why_not(version):
    test.skipTest(interpreters.why_not(version))
  return _lines(cases, interpreters.PATHS[version],
                os.path.join(_HERE, oracle), *arguments)


def _lines(cases, *command):
  done = subprocess.run(command, input='\n'.join(cases) + '\n',
                        timeout=_LIMIT_S, check=True, stdout=subprocess.PIPE,
                        text=True, env=interpreters.environment())
  return done.stdout.splitlines()
