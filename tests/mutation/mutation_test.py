#!/usr/bin/python3
"""Tests some of the mutants, one case for each; every day others.

`run` tests all mutants. This test builds the programs itself, which takes
minutes.
"""

import datetime
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import build
import mutants
import slaughter
import xml_main

# The mutants are divided into this number of parts, and each day one part is
# tested.
_DAYS = 21
_DAY = datetime.datetime.now(datetime.timezone.utc).toordinal() % _DAYS


def todays(all_mutants):
  """Returns the mutants to test today. They are neighbours in the list of all,
  so they need few programs."""
  return all_mutants[len(all_mutants) * _DAY // _DAYS:
                     len(all_mutants) * (_DAY + 1) // _DAYS]


# Two maps whose keys are the names of today's mutants. _CHANGES: the code that
# the mutant changes. _KILLERS: the programs whose tests noticed the change.
_CHANGES = {}
_KILLERS = {}


def setUpModule():  # pylint: disable=invalid-name
  changes, _ = slaughter.changes(
      todays(mutants.ALL),
      slaughter.read_sources(build.programs(slaughter.ROOT)))
  _CHANGES.update({change.mutant.name: change for change in changes})
  with slaughter.House(os.cpu_count()) as house:
    print('part %d of %d: %d of %d mutants' % (
        _DAY + 1, _DAYS, len(changes), len(mutants.ALL)), flush=True)
    for change, killers in house.kill(changes, everybody=False):
      _KILLERS[change.mutant.name] = killers


class Mutation(unittest.TestCase):
  """One case for each of today's mutants, added below."""


def _add_one_case_per_mutant():
  for mutant in todays(mutants.ALL):
    def case(self, mutant=mutant):
      self.assertIn(mutant.name, _CHANGES,
                    'its statement is not found: see tests/mutation/run')
      self.assertTrue(_KILLERS[mutant.name], 'no test noticed that %s:\n%s' % (
          mutant.name, slaughter.difference(_CHANGES[mutant.name])))
    setattr(Mutation, 'test_' + mutant.name.replace(' ', '_'), case)


_add_one_case_per_mutant()

if __name__ == '__main__':
  xml_main.main()
