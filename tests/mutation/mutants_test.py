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
import syntax
import xml_main

_CODE = '''
#include <map>
namespace core {
namespace {
constexpr int kMax = 3;  // if (a) return;
int Twice(int a) { return a * 2; }
}  // namespace
Job::Job(Spec spec) : spec_{spec}, text_("if (x) {") { Begin(); }
bool Job::Admit(const std::map<int, int>& all,
                int least) const {
  const bool is_new = all.empty() && least > 0;
  if (auto found = all.find(least); found == all.end()) {
    return false;
  } else if (is_new) {
    for (const auto& [key, value] : all) Note(key);
  }
  std::sort(all, [](int a, int b) {
    if (a == b) return false;
    return a < b;
  });
  while (least > 0 || (is_new && least < kMax)) --least;
  return true;
}
struct Inner {
  bool Is() const { return true; }
  int port = 5;
};
}  // namespace core
'''


class Syntax(unittest.TestCase):

  def found(self, function, at):
    only = mutant.Mutant('', 'core', function, at, mutant.DROP).find(
        {'core/job.cc': mutant.Source(_CODE)})
    return [_CODE[slice(*statement.head)] for _, statement in only]

  def test_statements_are_found_by_function_keyword_and_words(self):
    for function, at, text in (
        ('', 'declare kMax', 'constexpr int kMax = 3;'),
        ('Twice', 'return', 'return a * 2;'),
        ('Job::Job', 'do', 'Begin();'),
        ('Job::Admit', 'if found',
         'if (auto found = all.find(least); found == all.end())'),
        ('Job::Admit', 'if is_new', 'if (is_new)'),
        ('Job::Admit', 'for', 'for (const auto& [key, value] : all)'),
        ('Job::Admit', 'do Note', 'Note(key);'),
        ('Job::Admit', 'if a', 'if (a == b) return false;'[:11]),
        ('Job::Admit', 'return true', 'return true;'),
        ('Job::Admit', 'return false #2', 'return false;'),
        ('Inner::Is', 'return', 'return true;'),
        ('Inner', 'declare port', 'int port = 5;')):
      self.assertEqual(self.found(function, at), [text], at)

  def test_an_anchor_that_fits_several_or_none_finds_as_many(self):
    self.assertEqual(len(self.found('Job::Admit', 'return false')), 2)
    self.assertEqual(self.found('Job::Admit', 'return nothing'), [])
    self.assertEqual(self.found('Job::Admit', 'return false #3'), [])
    self.assertEqual(self.found('Job::Refuse', 'return'), [])

  def changed(self, function, at, change):
    wanted = mutant.Mutant('', 'core', function, at, change)
    (_, statement), = wanted.find({'core/job.cc': mutant.Source(_CODE)})
    new = wanted.apply(_CODE, statement)
    old = statement.whole
    return new[old[0]:old[1] + len(new) - len(_CODE)]

  def test_changes_are_those_of_the_statement(self):
    for function, at, change, text in (
        ('Job::Admit', 'do Note', mutant.DROP, '{}'),
        ('Job::Admit', 'if a', mutant.TRUE, 'if (true) return false;'),
        ('Job::Admit', 'do is_new', mutant.FALSE, 'const bool is_new = false;'),
        ('Job::Admit', 'return a', mutant.TRUE, 'return true;'),
        ('Job::Admit', 'do is_new', mutant.without('least'),
         'const bool is_new = all.empty() ;'),
        ('Job::Admit', 'while', mutant.without('kMax'),
         'while (least > 0 || (is_new )) --least;'),
        ('Job::Admit', 'while', mutant.swap('least >  0', 'true'),
         'while (true || (is_new && least < kMax)) --least;')):
      self.assertEqual(self.changed(function, at, change), text)
    self.assertTrue(self.changed('Job::Admit', 'if found', mutant.FALSE)
                    .startswith('if (auto found = all.find(least); false)'))

  def test_a_change_that_does_not_fit_is_refused(self):
    for at, change in (('do Note', mutant.TRUE),
                       ('while', mutant.swap('most', 'least')),
                       # refused, because the statement contains `least` three
                       # times
                       ('while', mutant.swap('least', 'most')),
                       ('while', mutant.without('most')),
                       ('if is_new', mutant.without('is_new'))):
      with self.assertRaises(ValueError, msg=(at, change)):
        self.changed('Job::Admit', at, change)

  def test_brackets_that_do_not_match_end_the_reading(self):
    for text in ('int F() { if (a', 'int F() { return [', '}}}', 'F(', '{'):
      syntax.statements(text)


class Mutants(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.programs = build.programs(slaughter.ROOT)
    cls.changes, cls.complaints = slaughter.changes(
        mutants.ALL, slaughter.read_sources(cls.programs))

  def test_each_is_found_once(self):
    if self.complaints:
      self.fail('\n'.join(['mutants that fit no statement:'] +
                          self.complaints))

  def test_each_changes_what_no_other_does(self):
    def code(text):
      return ''.join(text.split())
    seen, same = {}, []
    for change in self.changes:
      name = change.mutant.name
      other = seen.setdefault((change.file, code(change.new)), name)
      if other != name:
        same.append('%s is the same change as %s' % (name, other))
      if code(change.new) == code(change.old):
        same.append('%s changes nothing' % name)
    self.assertEqual(same, [])

  def test_a_program_has_each_source_once(self):
    for program in self.programs:
      self.assertEqual(sorted(program.sources), sorted(set(program.sources)),
                       program.name)

  def test_names_are_unique(self):
    names = [each.name for each in mutants.ALL]
    self.assertEqual(sorted(names), sorted(set(names)))

  def test_every_core_has_some(self):
    functions = {each.function.split('::')[0] for each in mutants.ALL}
    for core in ('Job', 'Membership', 'Lifecycle', 'StoreCore', 'RelayCore',
                 'BackwardTracker', 'RequestParser', 'Analysis'):
      self.assertIn(core, functions)

  def test_the_programs_of_a_change_are_those_with_its_source(self):
    def names(function):
      return {program.name for change in self.changes
              if change.mutant.function.startswith(function)
              for program in slaughter.programs_of(change, self.programs)}
    self.assertEqual(names('RelayCore::'), {'tests of the relay'})
    self.assertEqual(names('Job::'), {'tests of jobs', 'simulation'})
    self.assertEqual(names(''), {program.name for program in self.programs})


if __name__ == '__main__':
  xml_main.main()
