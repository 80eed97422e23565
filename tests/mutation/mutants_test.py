#!/usr/bin/python3
"""Checks the list of mutants against the sources, without building any."""

import os
import sys
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import build
import mutant
import mutants
import slaughter
import xml_main


class Mutants(unittest.TestCase):

  def test_every_text_occurs_once(self):
    complaints = [complaint for each in mutants.ALL
                  for complaint in slaughter.mismatches(each)]
    if complaints:
      self.fail('\n'.join(['a guard has changed; change its mutant as well:'] +
                          complaints))

  def test_a_guard_is_found_by_its_tokens(self):
    guard = mutant.Mutant('a', 'b.cc', 'if (a->b <= c) return x;', '')
    self.assertEqual(
        guard.apply('int a;\n  if (a->b <=\n      c)\n    return  x;\n'),
        'int a;\n  \n')
    for other in ('if (a->b <= cc) return x;', 'if (a->b <= c) returnx;',
                  'xif (a->b <= c) return x;', 'if (a->b < c) return x;'):
      self.assertEqual(guard.places(other), [], other)
    self.assertEqual(len(guard.places(guard.old + guard.old)), 2)

  def test_names_are_unique(self):
    names = [each.name for each in mutants.ALL]
    self.assertEqual(sorted(names), sorted(set(names)))

  def test_every_core_has_some(self):
    files = {each.file for each in mutants.ALL}
    self.assertGreaterEqual(len(mutants.ALL), 20)
    for core in ('rendezvous/job/job.cc', 'rendezvous/job/job_phases.cc',
                 'rendezvous/job/job_blame.cc',
                 'agent/lifecycle/lifecycle.cc',
                 'trainer_sdk/ddp/backward_tracker.cc',
                 'store/core/store_core.cc', 'store/relay/relay_core.cc',
                 'store/wire/request_parser.cc',
                 'trainer_sdk/flight_recorder/flight_analysis.cc'):
      self.assertIn(core, files)

  def test_somebody_can_notice_each(self):
    tested = {path for program in build.programs(slaughter.ROOT)
              for path in program.sources}
    self.assertEqual(
        [], [each.name for each in mutants.ALL if each.file not in tested])

  def test_only_programs_with_a_chosen_source_are_built(self):
    def names(files):
      return [program.name for program in slaughter.programs_of(
          [mutant for mutant in mutants.ALL if mutant.file in files])]
    self.assertEqual(names(['store/relay/relay_core.cc']),
                     ['tests of the relay'])
    self.assertEqual(names(['rendezvous/job/job.cc']),
                     ['tests of jobs', 'simulation'])
    self.assertEqual(slaughter.programs_of(mutants.ALL),
                     build.programs(slaughter.ROOT))

  def test_every_mutant_changes_something(self):
    for each in mutants.ALL:
      self.assertNotEqual(each.old, each.new, each.name)


if __name__ == '__main__':
  xml_main.main()
