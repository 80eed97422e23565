#!/usr/bin/python3
"""deploy/kubernetes/Containerfile, as far as its text can be checked."""

import os
import re
import unittest

import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.join(HERE, '..', '..')
KUBERNETES = os.path.join(ROOT, 'deploy', 'kubernetes')
KNOWN = {'ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'USER', 'CMD'}
# Built into no program.
NOT_NEEDED = {'deploy', 'docs', 'examples', 'tests', 'shared'}


def instructions():
  with open(os.path.join(KUBERNETES, 'Containerfile')) as file:
    text = re.sub(r'^#.*\n', '', file.read(), flags=re.M)
  for line in text.replace('\\\n', ' ').splitlines():
    if line.strip():
      yield tuple(line.split(None, 1))


class Containerfile(unittest.TestCase):

  def setUp(self):
    self.all = list(instructions())

  def of(self, name):
    return [rest for instruction, rest in self.all if instruction == name]

  def test_instructions_are_known_and_stages_named(self):
    self.assertLessEqual({name for name, _ in self.all}, KNOWN)
    stages = set()
    for name, rest in self.all:
      if name == 'FROM' and ' AS ' in rest:
        stages.add(rest.split(' AS ')[1])
      source = re.match(r'--from=(\S+)', rest) if name == 'COPY' else None
      if source:
        self.assertIn(source.group(1), stages)
    self.assertEqual(len(self.of('FROM')), 2)

  def test_arguments_are_declared_before_they_are_used(self):
    declared = set()
    for name, rest in self.all:
      for used in re.findall(r'\$\{(\w+)\}', rest):
        self.assertIn(used, declared)
      if name == 'ARG':
        declared.add(rest.split('=')[0])

  def test_what_is_copied_is_there_and_all_of_it(self):
    copied = set()
    for rest in self.of('COPY'):
      if not rest.startswith('--from'):
        copied.update(rest.split()[:-1])
    for path in copied:
      self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
    for name in os.listdir(ROOT):
      built = not name.startswith(('.', 'bazel-')) and name not in NOT_NEEDED
      if built and os.path.isdir(os.path.join(ROOT, name)):
        self.assertIn(name, copied)

  def test_it_runs_as_the_manifests_user_and_without_another_init(self):
    with open(os.path.join(KUBERNETES, 'kustomize', 'indexed-job',
                           'job.yaml')) as file:
      security = yaml.safe_load(file)['spec']['template']['spec'][
          'securityContext']
    self.assertEqual(self.of('USER'), [
        '%d:%d' % (security['runAsUser'], security['runAsGroup'])])
    names = [name for name, _ in self.all]
    self.assertNotIn('RUN', names[names.index('USER'):])
    everything = ' '.join(rest for _, rest in self.all)
    self.assertNotRegex(everything, 'tini|dumb-init')


if __name__ == '__main__':
  unittest.main()
