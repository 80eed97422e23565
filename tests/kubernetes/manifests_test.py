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

  def test_a_command_line_that_makes_no_sense_ends_a_job_set(self):
    count = 0
    for name, things in manifests():
      for thing in (t for t in things if t['kind'] == 'JobSet'):
        with self.subTest(name):
          actions = {tuple(r['onExitCodes']['values']): r['action']
                     for r in job_spec(thing)['podFailurePolicy']['rules']
                     if 'onExitCodes' in r}
          self.assertEqual(actions[2,], 'FailJob')
          # Or maxRestarts would start it again.
          self.assertEqual(
              [(r['action'], r['onJobFailureReasons'])
               for r in thing['spec']['failurePolicy']['rules']],
              [('FailJobSet', ['PodFailurePolicy'])])
          count += 1
    self.assertEqual(count, 3)

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

  def test_the_chart_gives_eight_gpus_what_the_overlays_do(self):
    rendered = dict(manifests())
    for path, case in zip(built_overlays(), ['elastic', 'job', 'jobset']):
      with self.subTest(case):
        found = [(pod_of(thing)['containers'][0]['resources'],
                  pod_of(thing)['volumes'][0])
                 for things in (things_of(read(path)),
                                rendered[case + '-everything.yaml'])
                 for thing in things
                 if pod_of(thing) and thing['kind'] != 'Deployment']
        self.assertEqual(len(found), 2)
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0][0]['limits']['nvidia.com/gpu'], 8)


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

  @classmethod
  def setUpClass(cls):
    folder = tempfile.TemporaryDirectory()
    cls.addClassCleanup(folder.cleanup)
    cls.renderer, cls.why = chart.build_renderer(folder.name)

  def rendered(self, **values):
    """The pod of launch or agent, and what it is part of."""
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    done = chart.render(self.renderer, values)
    self.assertEqual(done.stderr, '')
    return next((pod_of(thing), thing) for thing in things_of(done.stdout)
                if pod_of(thing) and thing['kind'] != 'Deployment')

  def refusal(self, **values):
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    done = chart.render(self.renderer, values)
    self.assertNotEqual(done.returncode, 0)
    return done.stderr

  def test_what_was_rendered_is_of_this_chart(self):
    for case in chart.CASES:
      with self.subTest(case):
        kept = read(os.path.join(chart.RENDERED, case + '.yaml'))
        self.assertEqual(kept.split('\n')[0], '# chart ' + chart.chart_hash(),
                         'run tests/kubernetes/chart.py')

  def test_it_renders_to_that(self):
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    for case, values in chart.CASES.items():
      with self.subTest(case):
        done = chart.render(self.renderer, values)
        self.assertEqual(done.stderr, '')
        kept = read(os.path.join(chart.RENDERED, case + '.yaml'))
        self.assertEqual(done.stdout, kept.split('\n', 1)[1])
    self.assertIn('mode is jbo', self.refusal(mode='jbo'))

  def test_elastic_pods_are_as_many_as_the_job_may_have(self):
    for nodes in (1, 5, 8):
      self.assertIn('nodes is %d; the job runs with minNodes (2) to maxNodes '
                    '(4)' % nodes, self.refusal(mode='elastic', nodes=nodes))
    for nodes in (2, 4):
      _, agents = self.rendered(mode='elastic', nodes=nodes)
      self.assertEqual(agents['spec']['replicas'], nodes)
    # They say nothing of the other kinds.
    self.assertEqual(self.rendered(nodes=8)[1]['spec']['completions'], 8)

  def test_a_run_has_an_id_of_its_own_that_its_pods_keep(self):
    pods_of = [self.rendered(mode='elastic', **values)[0]
               for values in ({}, {'nodes': 3}, {'run': 2})]
    # Another number of pods replaces none.
    self.assertEqual(pods_of[0], pods_of[1])
    ids = [variable['value'] for pod in pods_of
           for variable in pod['containers'][0]['env']
           if variable['name'] == 'MUSTER_RUN_ID']
    self.assertEqual(ids, ['trainer-1', 'trainer-1', 'trainer-2'])

  def test_what_is_said_of_resources_wins(self):
    def asked(**values):
      pod, _ = self.rendered(**values)
      resources = pod['containers'][0]['resources']
      return (resources['requests'], resources['limits'],
              pod['volumes'][0]['emptyDir']['sizeLimit'])
    self.assertEqual(asked(gpus=2), (
        {'cpu': '8', 'memory': '64Gi', 'nvidia.com/gpu': 2},
        {'memory': '64Gi', 'nvidia.com/gpu': 2}, '16Gi'))
    self.assertEqual(
        asked(gpus=1, sharedMemory='3Gi', resources={
            'requests': {'cpu': 16, 'rdma/hca': 1},
            'limits': {'memory': '9Gi', 'rdma/hca': 1}}),
        ({'cpu': '16', 'memory': '9Gi', 'nvidia.com/gpu': 1, 'rdma/hca': '1'},
         {'memory': '9Gi', 'nvidia.com/gpu': 1, 'rdma/hca': '1'}, '3Gi'))
    # No request is above its limit, nor a limit below the request.
    self.assertEqual(
        asked(resources={'requests': {'memory': '7Gi'},
                         'limits': {'cpu': '1'}})[:2],
        ({'cpu': '1', 'memory': '7Gi'}, {'cpu': '1', 'memory': '7Gi'}))

  def test_the_page_says_which_version_it_needs(self):
    needed = re.search(r'kubeVersion: ">=(\d+\.\d+)', read(
        os.path.join(chart.CHART, 'Chart.yaml'))).group(1)
    self.assertIn('needs | Kubernetes %s |' % needed,
                  read(os.path.join(ROOT, 'docs', 'KUBERNETES.md')))


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
