#!/usr/bin/python3
"""Checks that tools/count_tests.py counts every kind of failure."""

import io
import json
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(_HERE, os.pardir, 'python'),
                os.path.join(_HERE, os.pardir, os.pardir, 'tools')]

import count_tests
import xml_main

_XML = '<testsuites><testsuite name="s">%s</testsuite></testsuites>'
_PASSED = '<testcase name="%s" classname="C" status="run"/>'
_FAILED = '<testcase name="f" classname="C"><failure message="no"/></testcase>'
_SKIPPED = ('<testcase name="s" classname="C" result="skipped">'
            '<skipped message="a.cc:3&#10;no GPU here"/></testcase>')
_DISABLED = '<testcase name="d" classname="C" status="notrun"/>'


class CountTests(unittest.TestCase):

  def setUp(self):
    super().setUp()
    folder = tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR'))
    self.addCleanup(folder.cleanup)
    self.folder = folder.name
    self.events = []

  def configured(self, label, kind='cc_test rule'):
    self.events.append({'id': {'targetConfigured': {'label': label}},
                        'configured': {'targetKind': kind}})

  def completed(self, label):
    self.events.append({'id': {'targetCompleted': {'label': label}},
                        'completed': {'success': True}})

  def ran(self, label, status, xml):
    self.configured(label)
    self.completed(label)
    path = os.path.join(self.folder, 'a b%d.xml' % len(self.events))
    if xml is not None:
      with open(path, 'w', encoding='utf-8') as file:
        file.write(xml)
    self.events.append({
        'id': {'testResult': {'label': label}},
        'testResult': {'testActionOutput': [
            {'name': 'test.log', 'uri': 'file:///nowhere'},
            {'name': 'test.xml', 'uri': 'file://' + path.replace(' ', '%20')},
        ]}})
    self.events.append({'id': {'testSummary': {'label': label}},
                        'testSummary': {'overallStatus': status}})

  def count(self, bazel_code, torn=''):
    path = os.path.join(self.folder, 'events.json')
    with open(path, 'w', encoding='utf-8') as file:
      file.writelines(json.dumps(event) + '\n' for event in self.events)
      file.write(torn)
    output = io.StringIO()
    with redirect_stdout(output):
      code = count_tests.main(path, bazel_code)
    lines = output.getvalue().splitlines()
    return lines[:-1], lines[-1], code

  def test_cases_of_all_targets_are_summed(self):
    self.ran('//a:a', 'PASSED', _XML % (_PASSED % 1 + _PASSED % 2))
    self.ran('//b:b', 'PASSED', _XML % (_PASSED % 3))
    self.assertEqual(self.count(0), ([], '3 passed, 0 failed', 0))

  def test_a_failure_and_a_skip_are_named(self):
    self.ran('//a:a', 'FAILED', _XML % (_PASSED % 1 + _FAILED + _SKIPPED))
    self.assertEqual(
        self.count(3),
        (['SKIPPED //a:a C.s: no GPU here', 'FAILED //a:a C.f'],
         '1 passed, 1 failed, 1 skipped', 1))

  def test_a_disabled_case_is_no_pass(self):
    self.ran('//a:a', 'PASSED', _XML % (_PASSED % 1 + _DISABLED))
    self.assertEqual(self.count(0)[1], '1 passed, 0 failed')

  def test_a_crash_after_the_last_case_fails(self):
    self.ran('//a:a', 'FAILED', _XML % (_PASSED % 1))
    self.assertEqual(self.count(3)[1:], ('1 passed, 1 failed', 1))

  def test_a_timeout_without_xml_fails(self):
    self.ran('//a:a', 'TIMEOUT', None)
    self.assertEqual(self.count(3)[1:], ('0 passed, 1 failed', 1))

  def test_a_torn_xml_fails(self):
    self.ran('//a:a', 'PASSED', '<testsuites><testsu')
    self.assertEqual(self.count(0)[1:], ('0 passed, 1 failed', 1))

  def test_a_target_that_runs_nothing_fails(self):
    self.ran('//a:a', 'PASSED', _XML % '')
    self.assertEqual(self.count(0)[1:], ('0 passed, 1 failed', 1))

  def test_a_target_that_does_not_build_fails(self):
    self.configured('//a:a')
    self.assertEqual(
        self.count(1),
        (['FAILED //a:a: failed to build'], '0 passed, 1 failed', 1))

  def test_a_target_left_out_by_its_tags_is_not_counted(self):
    self.configured('//a:bench')
    self.completed('//a:bench')
    self.configured('//a:library', 'cc_library rule')
    self.assertEqual(self.count(0)[1:], ('0 passed, 0 failed', 0))

  def test_a_target_not_for_this_machine_is_skipped_by_name(self):
    self.configured('//a:gpu')
    self.events.append({'id': {'targetCompleted': {'label': '//a:gpu'}},
                        'aborted': {'reason': 'SKIPPED'}})
    lines, last, code = self.count(0)
    self.assertIn('SKIPPED //a:gpu: this machine lacks', lines[0])
    self.assertEqual((last, code), ('0 passed, 0 failed, 1 skipped', 0))

  def test_a_build_that_fails_outside_of_tests_fails(self):
    self.ran('//a:a', 'PASSED', _XML % (_PASSED % 1))
    self.assertEqual(self.count(1)[1:], ('1 passed, 1 failed', 1))

  def test_events_cut_short_fail(self):
    self.assertEqual(self.count(8, torn='{"id": {"te')[1:],
                     ('0 passed, 1 failed', 1))


if __name__ == '__main__':
  xml_main.main()
