#!/usr/bin/python3
"""deploy/kubernetes: valid in several versions, consistent, in step with us."""

import glob
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import chart  # noqa: E402
import manifest_schemas  # noqa: E402
import overlays  # noqa: E402
import yaml  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..')
KUSTOMIZE = os.path.join(ROOT, 'deploy', 'kubernetes', 'kustomize')
SCHEMAS = manifest_schemas.Schemas()


def read(path):
  with open(path) as file:
    return file.read()


def things_of(text):
  return [thing for thing in yaml.safe_load_all(text) if thing]


def manifests():
  """(name, objects) of each folder of plain YAML and each rendered chart."""
  for folder in ['indexed-job', 'jobset', 'elastic']:
    things = []
    for path in sorted(glob.glob(os.path.join(KUSTOMIZE, folder, '*.yaml'))):
      if os.path.basename(path) != 'kustomization.yaml':
        things += things_of(read(path))
    yield folder, things
  for path in sorted(glob.glob(os.path.join(chart.RENDERED, '*.yaml'))):
    yield os.path.basename(path), things_of(read(path))


def built_overlays():
  """Paths of the overlays as kustomize makes them."""
  return sorted(glob.glob(os.path.join(overlays.BUILT, '*.yaml')))


def job_spec(thing):
  """The Job's part of a Job or a JobSet; None for what is neither."""
  if thing['kind'] == 'JobSet':
    return thing['spec']['replicatedJobs'][0]['template']['spec']
  return thing['spec'] if thing['kind'] == 'Job' else None


def pod_of(thing):
  owner = job_spec(thing) or thing['spec']
  return owner.get('template', {}).get('spec')


def pods():
  for name, things in manifests():
    for thing in things:
      if pod_of(thing):
        yield '%s %s' % (name, thing['metadata']['name']), thing, pod_of(thing)


def flag_values(text):
  """The flags' defaults, from the page that is written from their table."""
  return dict(re.findall(r'^\| `(?:-\w, )?--([\w-]+)[^`]*` \| ([^|]*?) \|',
                         text, re.M))


class Schema(unittest.TestCase):

  def test_every_object_is_valid_in_every_version(self):
    count = 0
    for name, things in manifests():
      for thing in things:
        for version in SCHEMAS.versions:
          with self.subTest(name=name, version=version):
            self.assertEqual(SCHEMAS.errors(version, thing), [])
            count += 1
    self.assertGreater(count, 40)
    self.assertGreaterEqual(len(SCHEMAS.versions), 4)

  def test_every_misspelt_field_is_found(self):
    count = 0
    for name, things in manifests():
      if name.endswith('-everything.yaml') or '.' not in name:
        for thing in things:
          for path, wrong in manifest_schemas.misspelt(thing):
            with self.subTest(name=name, path=path):
              self.assertNotEqual(SCHEMAS.errors(SCHEMAS.versions[-1], wrong),
                                  [])
              count += 1
    self.assertGreater(count, 300)

  def test_a_wrong_type_is_found(self):
    _, (job, _) = next(manifests())
    self.assertEqual(job['kind'], 'Job')
    job['spec']['completions'] = '4'
    for version in SCHEMAS.versions:
      self.assertIn('spec.completions', ' '.join(SCHEMAS.errors(version, job)))


class Safety(unittest.TestCase):

  def test_pods_need_no_rights(self):
    for name, _, pod in pods():
      with self.subTest(name):
        self.assertIs(pod['automountServiceAccountToken'], False)
        self.assertNotIn('serviceAccountName', pod)
        self.assertIs(pod['securityContext']['runAsNonRoot'], True)
        self.assertGreater(pod['securityContext']['runAsUser'], 0)
        for container in pod['containers']:
          security = container['securityContext']
          self.assertIs(security['readOnlyRootFilesystem'], True)
          self.assertIs(security['allowPrivilegeEscalation'], False)
          self.assertEqual(security['capabilities'], {'drop': ['ALL']})

  def test_nothing_of_rbac(self):
    kinds = {thing['kind'] for _, things in manifests() for thing in things}
    self.assertEqual(kinds, {'Job', 'JobSet', 'Service', 'StatefulSet',
                             'Deployment'})


class Consistency(unittest.TestCase):

  def test_numbers_and_names_agree(self):
    for name, things in manifests():
      services = {t['metadata']['name']: t for t in things
                  if t['kind'] == 'Service'}
      for thing in things:
        pod, job = pod_of(thing), job_spec(thing)
        if not pod:
          continue
        env = {e['name']: e.get('value')
               for e in pod['containers'][0].get('env', [])}
        with self.subTest(name=name, thing=thing['metadata']['name']):
          if job:
            self.assertEqual(job['completions'], job['parallelism'])
            self.assertEqual(env['MUSTER_NODES'], str(job['completions']))
          if thing['kind'] == 'Job':
            self.assertEqual(env['MUSTER_SERVICE'], pod['subdomain'])
            self.assertIs(services[pod['subdomain']]['spec']
                          ['publishNotReadyAddresses'], True)
          if thing['kind'] == 'StatefulSet':
            self.assertIn(env['MUSTER_COORDINATOR'].split(':')[0], services)
            self.assertIn(thing['spec']['serviceName'], services)

  def test_services_select_pods_and_their_ports(self):
    for name, things in manifests():
      for service in (t for t in things if t['kind'] == 'Service'):
        chosen = []
        for thing in things:
          pod = pod_of(thing)
          labels = pod and (job_spec(thing) or thing['spec'])['template'][
              'metadata']['labels']
          if pod and service['spec']['selector'].items() <= labels.items():
            chosen.append(pod)
        with self.subTest(name=name, service=service['metadata']['name']):
          self.assertEqual(len(chosen), 1)
          ports = {p['name'] for p in chosen[0]['containers'][0]['ports']}
          for port in service['spec']['ports']:
            self.assertIn(port['targetPort'], ports)

  def test_volumes_that_are_mounted_are_there(self):
    for name, _, pod in pods():
      volumes = {v['name']: v for v in pod.get('volumes', [])}
      for container in pod['containers']:
        for mount in container.get('volumeMounts', []):
          with self.subTest(name):
            self.assertIn(mount['name'], volumes)
            if mount['mountPath'] == '/dev/shm':
              self.assertEqual(volumes[mount['name']]['emptyDir']['medium'],
                               'Memory')

  def test_a_jobs_pods_that_were_preempted_are_no_failures(self):
    for name, thing, pod in pods():
      job = job_spec(thing)
      if not job:
        continue
      with self.subTest(name):
        rules = job['podFailurePolicy']['rules']
        self.assertEqual(pod['restartPolicy'], 'Never')
        self.assertIn([75], [r['onExitCodes']['values'] for r in rules
                             if 'onExitCodes' in r and r['action'] == 'Ignore'])
        for rule in rules:
          if 'onExitCodes' in rule:
            self.assertEqual(rule['onExitCodes']['containerName'],
                             pod['containers'][0]['name'])

  def test_the_chart_is_the_plain_yaml(self):
    plain = dict(manifests())
    for folder, case in [('indexed-job', 'job.yaml'), ('jobset', 'jobset.yaml'),
                         ('elastic', 'elastic.yaml')]:
      of_kind = {t['kind']: t for t in plain[case]}
      for thing in plain[folder]:
        if not pod_of(thing) or thing['kind'] == 'Deployment':
          continue
        with self.subTest(folder):
          other = of_kind[thing['kind']]
          for one in (thing, other):
            pod = pod_of(one)
            for key in ('nodeSelector', 'tolerations'):
              pod.pop(key, None)
            container = pod['containers'][0]
            for key in ('args', 'env', 'imagePullPolicy'):
              container.pop(key, None)
          self.assertEqual(thing, other)


class InStep(unittest.TestCase):
  """What the manifests say of flags and variables that we have."""

  def setUp(self):
    self.defaults = flag_values(read(os.path.join(ROOT, 'docs', 'CLI.md')))
    self.assertIn('shutdown-timeout', self.defaults)

  def given(self, container, flag):
    for arg in container['args']:
      if arg.startswith('--%s=' % flag):
        return float(arg.split('=')[1])
    return float(self.defaults[flag].strip('`'))

  def test_the_kubelet_waits_as_long_as_we_may_take(self):
    for name, thing, pod in pods():
      if thing['kind'] == 'Deployment':
        continue
      container = pod['containers'][0]
      ours = self.given(container, 'shutdown-timeout')
      if container['command'] == ['launch']:
        ours += self.given(container, 'preempt-grace')
      with self.subTest(name):
        self.assertGreaterEqual(pod['terminationGracePeriodSeconds'], ours + 10)
        self.assertLessEqual(pod['terminationGracePeriodSeconds'], ours + 60)

  def test_the_startup_probe_is_as_patient_as_we_are(self):
    source = read(os.path.join(
        ROOT, 'agent', 'cluster', 'kubernetes', 'kubernetes_defaults.cc'))
    patience = int(re.search(r'kStartSeconds\[\] = "(\d+)"', source).group(1))
    for name, thing, pod in pods():
      if thing['kind'] == 'Deployment':
        continue
      probe = pod['containers'][0]['startupProbe']
      with self.subTest(name):
        self.assertGreater(probe['periodSeconds'] * probe['failureThreshold'],
                           patience)

  def test_flags_exist(self):
    for name, thing, pod in pods():
      container = pod['containers'][0]
      if container['command'] == ['rendezvousd']:
        known = set(re.findall(r'"--([\w-]+)"', read(os.path.join(
            ROOT, 'rendezvous', 'daemon', 'daemon_options.cc'))))
      else:
        known = set(self.defaults)
      for arg in container['args']:
        if arg.startswith('--') and '=' in arg:
          with self.subTest(name=name, arg=arg):
            self.assertIn(arg[2:].split('=')[0], known)

  def test_variables_are_read(self):
    sources = ''.join(read(path) for path in glob.glob(
        os.path.join(ROOT, 'agent', 'cluster', 'kubernetes', '*.cc')))
    sources += read(os.path.join(ROOT, 'rendezvous', 'token', 'token.h'))
    known = set(re.findall(r'"(MUSTER_\w+)"', sources))
    for name, _, pod in pods():
      for variable in pod['containers'][0].get('env', []):
        if variable['name'].startswith('MUSTER_'):
          with self.subTest(name=name, variable=variable['name']):
            self.assertIn(variable['name'], known)


class Chart(unittest.TestCase):

  def test_what_was_rendered_is_of_this_chart(self):
    for case in chart.CASES:
      with self.subTest(case):
        kept = read(os.path.join(chart.RENDERED, case + '.yaml'))
        self.assertEqual(kept.split('\n')[0], '# chart ' + chart.chart_hash(),
                         'run tests/kubernetes/chart.py')

  def test_it_renders_to_that(self):
    with tempfile.TemporaryDirectory() as folder:
      renderer, why = chart.build_renderer(folder)
      if not renderer:
        self.skipTest('the chart is not rendered anew: ' + why)
      for case, values in chart.CASES.items():
        with self.subTest(case):
          done = chart.render(renderer, values)
          self.assertEqual(done.stderr, '')
          kept = read(os.path.join(chart.RENDERED, case + '.yaml'))
          self.assertEqual(done.stdout, kept.split('\n', 1)[1])
      wrong = chart.render(renderer, {'mode': 'jbo'})
      self.assertNotEqual(wrong.returncode, 0)
      self.assertIn('mode is jbo', wrong.stderr)


class Kustomize(unittest.TestCase):

  def test_what_was_built_is_of_these_sources(self):
    self.assertEqual(
        sorted(os.listdir(overlays.BUILT)),
        sorted(name + '.yaml' for name in os.listdir(overlays.SOURCES)))
    for path in built_overlays():
      with self.subTest(os.path.basename(path)):
        self.assertEqual(read(path).split('\n')[0],
                         '# kustomize ' + overlays.sources_hash(),
                         'run tests/kubernetes/overlays.py')

  def test_overlays_are_valid_and_ask_for_gpus(self):
    self.assertEqual(len(built_overlays()), 3)
    for path in built_overlays():
      overlay = os.path.basename(path)
      trainers = 0
      for thing in things_of(read(path)):
        for version in SCHEMAS.versions:
          with self.subTest(overlay=overlay, version=version):
            self.assertEqual(SCHEMAS.errors(version, thing), [])
        if not pod_of(thing) or thing['kind'] == 'Deployment':
          continue
        trainers += 1
        container = pod_of(thing)['containers'][0]
        self.assertEqual(container['resources']['limits']['nvidia.com/gpu'], 8)
        env = {e['name']: e.get('value') for e in container['env']}
        self.assertEqual(env['PET_NPROC_PER_NODE'], 'gpu')
        self.assertIn('MUSTER_NODES', env)
        volumes = {v['name']: v for v in pod_of(thing)['volumes']}
        self.assertEqual(volumes['shm']['emptyDir'],
                         {'medium': 'Memory', 'sizeLimit': '64Gi'})
      self.assertEqual(trainers, 1)

  def test_they_are_built_to_that(self):
    key = lambda thing: (thing['kind'], thing['metadata']['name'])
    kubectl, why = overlays.find_kubectl()
    if not kubectl:
      self.skipTest('the overlays are not built anew: ' + why)
    kept = [(os.path.join(overlays.SOURCES, os.path.basename(path)[:-5]),
             things_of(read(path))) for path in built_overlays()]
    bases = [(os.path.join(KUSTOMIZE, folder), things)
             for folder, things in list(manifests())[:3]]
    for folder, things in kept + bases:
      with self.subTest(folder):
        done = overlays.build(kubectl, folder)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(sorted(things_of(done.stdout), key=key),
                         sorted(things, key=key))


if __name__ == '__main__':
  unittest.main()
