"""Counts the results of a `bazel test` from its build events and test.xml
files.

usage: count_tests.py EVENTS_FILE BAZEL_EXIT_CODE

Prints failures and skips by name, then "N passed, N failed[, N skipped]". Exits
with 1 if anything failed: a case, a build, or Bazel itself.
"""

import collections
import json
import sys
import urllib.parse
import xml.etree.ElementTree

# Bazel's exit codes for success and for "no test matched".
_BAZEL_OK = 0
_BAZEL_NO_TESTS = 4

Case = collections.namedtuple('Case', 'name outcome detail')


def read_events(path):
  """Yields the build events. Ignores an incomplete last line, which is left if
  Bazel was killed."""
  with open(path, encoding='utf-8') as lines:
    for line in lines:
      try:
        yield json.loads(line)
      except ValueError:
        return


def cases_of_xml(label, path):
  """Returns the cases of one test.xml. Raises an error if it cannot be read."""
  cases = []
  for case in xml.etree.ElementTree.parse(path).getroot().iter('testcase'):
    name = '%s %s' % (label, case.get('name', '?'))
    if case.get('classname'):
      name = '%s %s.%s' % (label, case.get('classname'), case.get('name'))
    skipped = case.find('skipped')
    if case.find('failure') is not None or case.find('error') is not None:
      cases.append(Case(name, 'failed', ''))
    elif skipped is not None or case.get('result') == 'skipped':
      reason = '' if skipped is None else skipped.get('message') or ''
      cases.append(Case(name, 'skipped', one_line(reason)))
    elif case.get('status') != 'notrun':
      cases.append(Case(name, 'passed', ''))
  return cases


def one_line(reason):
  """Shortens a message of GoogleTest, "file:line\\ntext", to one line of its
  text."""
  lines = [line for line in reason.strip().splitlines() if line]
  return ' '.join(lines[1:] or lines)


def cases_of_target(label, status, xml_paths):
  """Returns the cases of one target. If the target's status is bad but no case
  failed, adds a failed case."""
  cases = []
  for path in xml_paths:
    try:
      cases += cases_of_xml(label, path)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
      cases.append(Case(label, 'failed', 'no readable test.xml: %s' % error))
  failed = any(case.outcome == 'failed' for case in cases)
  if status not in ('PASSED', 'FLAKY') and not failed:
    cases.append(Case(label, 'failed', status.lower().replace('_', ' ')))
  if not cases:
    cases.append(Case(label, 'failed', 'ran no case'))
  return cases


def collect(events):
  """Returns all cases of all targets, ordered by the targets' labels."""
  tests = set()
  built = set()
  unhealthy = set()
  status = {}
  xml_paths = collections.defaultdict(list)
  for event in events:
    event_id = event.get('id', {})
    if 'targetConfigured' in event_id:
      if event.get('configured', {}).get('targetKind', '').endswith('_test rule'):
        tests.add(event_id['targetConfigured']['label'])
    elif 'targetCompleted' in event_id:
      if event.get('completed', {}).get('success'):
        built.add(event_id['targetCompleted']['label'])
      elif event.get('aborted', {}).get('reason') == 'SKIPPED':
        unhealthy.add(event_id['targetCompleted']['label'])
    elif 'testSummary' in event_id and 'testSummary' in event:
      label = event_id['testSummary']['label']
      status[label] = event['testSummary']['overallStatus']
    elif 'testResult' in event_id and 'testResult' in event:
      for output in event['testResult'].get('testActionOutput', ()):
        if output['name'] == 'test.xml':
          path = urllib.parse.unquote(urllib.parse.urlparse(output['uri']).path)
          xml_paths[event_id['testResult']['label']].append(path)
  cases = []
  # Count the tests that were not built, and all tests that have a status. A
  # test that was built but has no status was excluded from the run by a tag
  # filter.
  for label in sorted((tests - built) | set(status)):
    if label in unhealthy:
      cases.append(Case(label, 'skipped', 'this machine lacks what it is for '
                        '(target_compatible_with in its BUILD file)'))
      continue
    cases += cases_of_target(
        label, status.get(label, 'FAILED_TO_BUILD'), xml_paths[label])
  return cases


def main(events_path, bazel_code):
  cases = collect(read_events(events_path))
  by_outcome = collections.defaultdict(list)
  for case in cases:
    by_outcome[case.outcome].append(case)
  # A broken BUILD file, or a compile error outside of tests, fails no test
  # case. So count it as a failure here.
  if bazel_code not in (_BAZEL_OK, _BAZEL_NO_TESTS) and not by_outcome['failed']:
    by_outcome['failed'].append(
        Case('bazel', 'failed', 'exit code %d' % bazel_code))

  for case in by_outcome['skipped']:
    print('SKIPPED %s: %s' % (case.name, case.detail or 'no reason given'))
  for case in by_outcome['failed']:
    print('FAILED %s%s' % (case.name, case.detail and ': ' + case.detail))
  line = '%d passed, %d failed' % (
      len(by_outcome['passed']), len(by_outcome['failed']))
  if by_outcome['skipped']:
    line += ', %d skipped' % len(by_outcome['skipped'])
  print(line)
  return 1 if by_outcome['failed'] else 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], int(sys.argv[2])))
