#!/usr/bin/python3
"""Checks the project against the house rules, and the rules themselves."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(
    os.path.dirname(os.path.realpath(__file__)), os.pardir, 'python')]

import rules
import source_tree
import xml_main

_GUARDED = '#ifndef %s\n#define %s\n%s\n#endif  // %s\n'

# Each example: (rule, path, text that violates the rule, text that complies
# with it).
_EXAMPLES = (
    (rules.pure_code, 'rendezvous/job/a.cc',
     'auto t = std::chrono::steady_clock::now();', '// now() is an argument\n'),
    (rules.pure_code, 'rendezvous/job/a.cc', '#include <mutex>\n',
     '#include <map>\n'),
    (rules.pure_code, 'rendezvous/job/a.cc', 'std::thread t;',
     'const char* s = "thread";'),
    (rules.pure_code, 'agent/lifecycle/a.h', 'std::unordered_map<int, int> m;',
     'std::map<int, int> m;'),
    (rules.pure_code, 'agent/workers/a.cc', 'std::random_device d;',
     'int operand(int);'),
    (rules.pure_code, 'rendezvous/protocol/a.h',
     '#include "proto/coordinator.pb.h"\n', '#include "a/b.h"\n'),
    (rules.pure_code, 'rendezvous/protocol/a.h',
     '#include <grpcpp/grpcpp.h>\n', '#include <string>\n'),
    (rules.pure_code, 'agent/workers/a.cc', 'std::getenv("A");', 'Get("A");'),
    (rules.small_code, 'trainer_sdk/a.cc', '#include "rendezvous/a/b.h"\n',
     '#include "store/wire/a.h"\n'),
    (rules.small_code, 'store/core/a.h', '#include <grpcpp/grpcpp.h>\n',
     '#include "base/time.h"\n'),
    (rules.models_use_the_sdk, 'models/gpt/a.cc', '#include "store/a/b.h"\n',
     '#include "trainer_sdk/a/b.h"\n#include "base/a.h"\n'),
    (rules.models_use_the_sdk, 'examples/a/BUILD', 'deps = ["//store/wire:a"]',
     'deps = ["//trainer_sdk/store"]'),
    (rules.no_sleep_in_tests, 'agent/a_test.cc',
     'std::this_thread::sleep_for(1s);', 'Advance(1s);'),
    (rules.no_sleep_in_tests, 'tests/a.py', 'time.sleep(1)', 'wait(1)'),
    (rules.no_sleep_in_tests, 'tests/a.sh', 'x\n  sleep 3\n', 'asleep 3\n'),
    (rules.no_sleep_in_tests, 'tests/a.cc', 'usleep(3);', '"sleep 1000"'),
    (rules.no_sleep_in_tests, 'base/a_test.cc', 'PauseUntil(later);',
     'PollUntil(fd, POLLIN, later);'),
    (rules.no_sleep_in_tests, 'tests/a.cc', '"until [ -e a ]; do sleep 1; done"',
     '"read -r _ <a"'),
    (rules.nothing_unfinished, 'agent/a.cc', '// TO' 'DO: all', '// to do'),
    (rules.header_guard, 'agent/a.h', '#pragma once\n',
     _GUARDED % (('MUSTER_AGENT_A_H_',) * 2 + ('', 'MUSTER_AGENT_A_H_'))),
    (rules.header_guard, 'agent/a.h',
     _GUARDED % (('MUSTER_A_H_',) * 2 + ('', 'MUSTER_A_H_')),
     '// A comment first.\n' +
     _GUARDED % (('MUSTER_AGENT_A_H_',) * 2 + ('', 'MUSTER_AGENT_A_H_'))),
    (rules.own_namespace, 'agent/a.h', 'namespace muster {\nint F();\n}\n',
     'namespace muster::agent {\nint F();\n}\n'),
    (rules.own_namespace, 'store/a.cc', 'namespace muster::agent {\n}\n',
     'namespace muster::store::x {\n}\nnamespace grpc {\n}\n'),
    (rules.own_namespace, 'store/a.cc', 'namespace muster {\n}\n', None),
    (rules.no_private_path, 'tools/a', 'cd /ho' 'me/me', 'cd /usr/home/x'),
    (rules.no_private_path, 'README.md', '`/wo' 'rk/a`', 'https://a/work/b'),
    (rules.no_bool_parameter, 'agent/a.h', 'void F(int a, bool b);',
     'struct A {\n  bool b = false;\n};\nbool F(int a);'),
    (rules.no_bool_parameter, 'agent/a.h', 'std::function<void(bool)> f;',
     'bool F();'),
    (rules.name_says_it, 'agent/string_utils.cc', '', None),
    (rules.name_says_it, 'agent/helpers.h', '', None),
    (rules.nothing_only_for_tests, 'agent/a.h', 'void ResetForTest();',
     'void Reset();'),
    (rules.no_abseil_traps, 'agent/a.cc', 'absl::Mutex m;', 'std::mutex m;'),
    (rules.one_way_to_wait, 'agent/a.cc', '::poll(&fd, 1, -1);',
     'PollUntil(fds, kNoDeadline);  // like poll()'),
    (rules.one_way_to_wait, 'agent/a.cc', 'nanosleep(&pause, nullptr);',
     'PauseUntil(deadline);'),
    (rules.one_clock, 'agent/a.cc', 'using Clock = std::chrono::steady_clock;',
     'auto t = std::chrono::system_clock::now();'),
    (rules.one_way_to_wait, 'base/a.cc', 'ppoll(&fd, 1, &left, nullptr);',
     'queue.poll(1);'),
    (rules.one_way_to_start, 'agent/a.cc', 'const pid_t pid = fork();',
     'StartSubprocess(plan);'),
    (rules.one_way_to_start, 'launcher/a.cc', '::execvp(argv[0], argv);',
     'guardian.exec(argv);'),
    (rules.one_way_to_start, 'base/a.cc', 'posix_spawn(&pid, a, b, c, d, e);',
     'clock.system();'),
)


def run(rule, path, text):
  return list(rule(source_tree.source(path, text)))


class RulesFire(unittest.TestCase):
  """Tests that each rule rejects what it forbids and accepts what it allows."""

  def test_every_rule_has_an_example(self):
    self.assertEqual({rule for rule, *_ in _EXAMPLES}, set(rules.EACH))

  def test_on_what_they_forbid_and_on_nothing_else(self):
    for rule, path, bad, good in _EXAMPLES:
      with self.subTest(rule=rule.__name__, bad=bad[:60]):
        self.assertTrue(run(rule, path, bad))
        if good is not None:
          self.assertEqual(run(rule, path, good), [])

  def test_pure_bans_hold_in_pure_folders_only(self):
    text = 'std::thread t;'
    self.assertTrue(run(rules.pure_code, 'agent/lifecycle/a.cc', text))
    self.assertEqual(run(rules.pure_code, 'agent/agent.cc', text), [])

  def test_comments_are_not_code(self):
    text = '// std::thread\n/* std::mutex\n */ int a;  // ::now()\n'
    self.assertEqual(run(rules.pure_code, 'rendezvous/job/a.cc', text), [])

  def test_a_file_in_no_build_file(self):
    texts = {'agent/BUILD': 'cc_library(srcs = ["logs/a.cc"])',
             'agent/glob/BUILD': 'srcs = glob(["*.cc"])',
             'agent/list/BUILD': '[cc_test(srcs = [name + "_test.cc"])'
                                 ' for name in ["a"]]'}

    def complaints(path):
      return list(rules.built(source_tree.source(path, ''), texts))

    self.assertEqual(complaints('agent/logs/a.cc'), [])
    self.assertEqual(complaints('agent/glob/a.cc'), [])
    self.assertEqual(complaints('agent/list/a_test.cc'), [])
    self.assertTrue(complaints('agent/list/b_test.cc'))
    self.assertTrue(complaints('agent/logs/b.cc'))
    self.assertTrue(complaints('agent/a.cc'))
    self.assertTrue(complaints('elsewhere/a.cc'))

  def test_a_public_part_that_the_library_lacks(self):
    texts = {
        'trainer_sdk/library/BUILD':
            'deps = ["//trainer_sdk/a", "//trainer_sdk/a:hidden"]',
        'trainer_sdk/a/BUILD':
            'cc_library(\n    name = "a",\n'
            '    visibility = ["//visibility:public"],\n)\n'
            'cc_library(\n    name = "extra",\n'
            '    visibility = ["//visibility:public"],\n)\n'
            'cc_library(\n    name = "hidden",\n)\n'}
    self.assertEqual(
        list(rules.public_sdk(texts)),
        ['trainer_sdk/a:extra is public, and not in the library',
         'trainer_sdk/a:hidden is in the library, and not public'])

  def test_a_name_with_two_definitions(self):
    def complaints(first, second):
      return list(rules.one_definition(
          [source_tree.source('agent/a.h', first),
           source_tree.source('store/b.h', second)]))

    one = 'namespace muster {\nstruct A {\n  int b;\n};\n}\n'
    self.assertTrue(complaints(one, 'namespace muster {\nenum class A { k };}'))
    self.assertEqual(complaints(one, 'namespace muster {\nclass A;\n}\n'), [])
    self.assertEqual(complaints(one, 'namespace muster::b {\nclass A {};}'), [])
    self.assertEqual(
        complaints(one, 'namespace muster {\nclass B { struct A {}; };}'), [])

  def test_a_function_that_tests_alone_call(self):
    header = source_tree.source(
        'agent/a.h', 'class A {\n public:\n  int Used();\n  int Door();\n'
        ' private:\n  int Own();\n};\nint Free(int);\n')
    own = source_tree.source(
        'agent/a.cc', 'int A::Used() { return Own(); }\n'
        'int A::Door() {\n  return 1;\n}\nint Free(int) {\n  return 2;\n}\n')
    user = source_tree.source('agent/b.cc', 'int B() {\n  return a.Used();\n}')
    test = source_tree.source('agent/a_test.cc', '  a.Door();\n  Free(1);\n')
    complaints = list(rules.only_for_tests(
        [header, own, user, test],
        rules.test_support({'agent/a_test.cc': '', 'agent/a.h': ''}),
        {'Door'}))
    self.assertEqual(complaints, ['agent/a.h:4: Door is called by tests alone',
                                  'agent/a.h:8: Free is called by tests alone'])

  def test_a_variable_with_the_name_of_an_accessor_is_no_call(self):
    header = source_tree.source(
        'agent/a.h', 'struct A {\n  int door() const;\n  int free() const;\n};')
    user = source_tree.source('agent/b.cc', 'int B() {\n  int door = a.free();\n}')
    self.assertEqual(list(rules.only_for_tests([header, user], set(), set())),
                     ['agent/a.h:2: door is called by tests alone'])

  def test_a_documented_function_of_the_sdk_has_callers(self):
    header = source_tree.source('trainer_sdk/a.h', 'int Door();\nint Free();\n')
    self.assertEqual(list(rules.only_for_tests([header], set(), {'Door'})),
                     ['trainer_sdk/a.h:2: Free is called by tests alone'])

  def test_a_variable_that_no_document_names(self):
    sources = [
        source_tree.source('agent/a.cc', 'getenv("MUSTER_A");'),
        source_tree.source('agent/b.cc', 'getenv("MUSTER_B");'),
        source_tree.source('agent/b_test.cc', 'getenv("MUSTER_C");')]
    self.assertEqual(
        list(rules.documented_variables(
            sources, {'agent/b_test.cc'}, 'Set `MUSTER_B` or MUSTER_AB.')),
        ['agent/a.cc: MUSTER_A is in no document'])

  def test_files_of_testonly_rules_are_test_support(self):
    texts = {'agent/BUILD': 'cc_library(\n    name = "a",\n'
                            '    testonly = True,\n    hdrs = ["a.h"],\n)\n'
                            'cc_library(\n    name = "b",\n'
                            '    hdrs = ["b.h"],\n)\n'}
    self.assertEqual(rules.test_support(texts), {'agent/a.h'})

  def test_clang_format_sees_a_difference(self):
    with tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR')) as tmp:
      path = os.path.join(tmp, 'a.cc')
      with open(path, 'w', encoding='utf-8') as file:
        file.write('int   a ;\n')
      self.assertNotEqual(clang_format([path]).returncode, 0)


def clang_format(paths):
  style = '--style=file:' + os.path.join(source_tree.root(), '.clang-format')
  return subprocess.run(
      ['clang-format', style, '--dry-run', '-Werror', '--'] + paths,
      cwd=source_tree.root(), stdout=subprocess.DEVNULL,
      stderr=subprocess.PIPE, text=True, check=False)


class Project(unittest.TestCase):
  """The rules on every file of the project."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.sources = source_tree.all_sources()

  def assert_none(self, complaints):
    if complaints:
      self.fail('\n' + '\n'.join(complaints))

  def test_finds_the_sources(self):
    paths = {source.path for source in self.sources}
    self.assertEqual(
        {'README.md', 'tools/test', 'tests/house/rules.py',
         'rendezvous/protocol/report.h', 'proto/BUILD'} - paths, set())

  def test_every_file_is_built(self):
    texts = {source.path: source.text for source in self.sources}
    self.assert_none(
        [c for s in self.sources for c in rules.built(s, texts)])

  def test_the_sdk_is_its_library(self):
    texts = {source.path: source.text for source in self.sources}
    self.assert_none(list(rules.public_sdk(texts)))

  def test_definitions_are_unique(self):
    self.assert_none(list(rules.one_definition(self.sources)))

  def test_only_for_tests(self):
    texts = {source.path: source.text for source in self.sources}
    self.assert_none(list(
        rules.only_for_tests(self.sources, rules.test_support(texts),
                             set(re.findall(r'\w+', texts['docs/SDK.md'])))))

  def test_documented_variables(self):
    texts = {source.path: source.text for source in self.sources}
    self.assert_none(list(rules.documented_variables(
        self.sources, rules.test_support(texts),
        ''.join(text for path, text in texts.items()
                if path.endswith('.md')))))

  def test_clang_format(self):
    result = clang_format(
        [s.path for s in self.sources if s.path.endswith(('.h', '.cc', '.cu'))])
    self.assert_none(result.stderr.splitlines()[:30])
    self.assertEqual(result.returncode, 0)


def _add_one_case_per_rule():
  for rule in rules.EACH:
    def case(self, rule=rule):
      self.assert_none([c for source in self.sources for c in rule(source)])
    setattr(Project, 'test_' + rule.__name__, case)


_add_one_case_per_rule()

if __name__ == '__main__':
  xml_main.main()
