#!/usr/bin/python3
"""Kills every mutant, one case each. Builds by itself: takes minutes."""

import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import mutants
import slaughter
import xml_main

# Killers by mutant name, once all have been tried.
_KILLERS = {}


def setUpModule():  # pylint: disable=invalid-name
  with slaughter.House(os.cpu_count(), mutants.ALL) as house:
    for mutant, killers in house.kill(mutants.ALL, everybody=False):
      _KILLERS[mutant.name] = killers


class Mutation(unittest.TestCase):
  """One case per mutant, added below."""


def _add_one_case_per_mutant():
  for mutant in mutants.ALL:
    def case(self, mutant=mutant):
      self.assertTrue(
          _KILLERS.get(mutant.name),
          '%s: it survives that %s, i.e. instead of\n%s\nin it:\n%s' % (
              mutant.file, mutant.name, mutant.old, mutant.new))
    setattr(Mutation, 'test_' + mutant.name.replace(' ', '_'), case)


_add_one_case_per_mutant()

if __name__ == '__main__':
  xml_main.main()
