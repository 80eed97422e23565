#!/usr/bin/python3
"""Checks the text of the Containerfiles in deploy/kubernetes."""

import os
import re
import unittest

import yaml

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.join(HERE, '..', '..')
KUBERNETES = os.path.join(ROOT, 'deploy', 'kubernetes')
KNOWN = {'ARG', 'FROM', 'WORKDIR', 'COPY', 'RUN', 'USER', 'CMD'}
# Folders that contain no source of the programs in the image.
NOT_NEEDED = {'deploy', 'docs', 'examples', 'models', 'tests', 'shared'}


def read(*path):
  with open(os.path.join(ROOT, *path)) as file:
    return file.read()


def instructions(*path):
  text = re.sub(r'^#.*\n', '', read('deploy', 'kubernetes', *path), flags=re.M)
  for line in text.replace('\\\n', ' ').splitlines():
    if line.strip():
      yield tuple(line.split(None, 1))


class Containerfile(unittest.TestCase):

  def setUp(self):
    self.all = list(instructions('Containerfile'))
    self.trainer = list(instructions('trainer', 'Containerfile'))

  def of(self, name):
    return [rest for instruction, rest in self.all if instruction == name]

  def test_instructions_are_known_and_stages_named(self):
    for lines in (self.all, self.trainer):
      self.assertLessEqual({name for name, _ in lines}, KNOWN)
      stages = set()
      for name, rest in lines:
        if name == 'FROM' and ' AS ' in rest:
          stages.add(rest.split(' AS ')[1])
        source = re.match(r'--from=(\S+)', rest) if name == 'COPY' else None
        if source:
          self.assertIn(source.group(1), stages)
    self.assertEqual(len(self.of('FROM')), 2)

  def test_arguments_are_declared_before_they_are_used(self):
    for lines in (self.all, self.trainer):
      declared = set()
      for name, rest in lines:
        for used in re.findall(r'\$\{(\w+)\}', rest):
          self.assertIn(used, declared)
        if name == 'ARG':
          declared.add(rest.split('=')[0])

  def test_copied_files_exist_and_are_complete(self):
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

  def test_the_image_has_the_licences(self):
    self.assertTrue([rest for rest in self.of('COPY')
                     if {'LICENSE', 'NOTICE'} <= set(rest.split())])
    # tools/install puts LICENSE and NOTICE into share/doc/muster below its
    # prefix (/opt/muster). So the image must copy share.
    self.assertIn('--from=build /opt/muster/share /usr/local/share',
                  self.of('COPY'))

  def test_the_chart_has_the_licence(self):
    chart = ('deploy', 'kubernetes', 'helm', 'muster')
    self.assertEqual(read(*chart, 'LICENSE'), read('LICENSE'))
    annotations = yaml.safe_load(read(*chart, 'Chart.yaml'))['annotations']
    self.assertEqual(annotations['artifacthub.io/license'], 'Apache-2.0')

  def test_it_runs_as_the_manifests_user_and_without_another_init(self):
    job = yaml.safe_load(read('deploy', 'kubernetes', 'kustomize',
                              'indexed-job', 'job.yaml'))
    security = job['spec']['template']['spec']['securityContext']
    self.assertEqual(self.of('USER'), [
        '%d:%d' % (security['runAsUser'], security['runAsGroup'])])
    names = [name for name, _ in self.all]
    self.assertNotIn('RUN', names[names.index('USER'):])
    everything = ' '.join(rest for _, rest in self.all)
    self.assertNotRegex(everything, 'tini|dumb-init')

  def test_a_trainers_image_has_the_script_that_manifests_start(self):
    values = yaml.safe_load(read('deploy', 'kubernetes', 'helm', 'muster',
                                 'values.yaml'))
    job = yaml.safe_load(read('deploy', 'kubernetes', 'kustomize',
                              'indexed-job', 'job.yaml'))
    container = job['spec']['template']['spec']['containers'][0]
    self.assertEqual(values['args'], container['args'][-1:])
    # The manifest names the training script (train.py) by a path relative to
    # the image's working directory. So the manifest must not change the working
    # directory.
    self.assertNotIn('workingDir', container)
    self.assertEqual(self.trainer, [
        ('ARG', 'MUSTER=muster'), ('FROM', '${MUSTER}'),
        ('COPY', values['args'][0] + ' .')])

  def test_the_pages_build_both_and_start_the_second(self):
    for page in (('docs', 'KUBERNETES.md'), ('README.md',)):
      with self.subTest(page[-1]):
        built = re.findall(r'^podman build -f (\S+) -t (\S+)', read(*page),
                           re.M)
        self.assertEqual(built, [
            ('deploy/kubernetes/Containerfile', 'muster'),
            ('deploy/kubernetes/trainer/Containerfile',
             'REGISTRY/muster-trainer')])
        for path, _ in built:
          self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
        self.assertRegex(read(*page), r'podman push REGISTRY/muster-trainer\n'
                         r'helm install .*image=REGISTRY/muster-trainer\n')
        for name, rest in self.trainer:
          self.assertIn('\n%s %s\n' % (name, rest),
                        read('docs', 'KUBERNETES.md'))
        arguments = re.findall(r'--build-arg (\w+)=', read(*page))
        self.assertLessEqual(
            set(arguments), {rest.split('=')[0] for rest in self.of('ARG')})


if __name__ == '__main__':
  unittest.main()
