#!/usr/bin/python3
"""Checks that the manifests in deploy/kubernetes are valid in several versions
of Kubernetes, consistent, and use existing flags."""

import glob
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import chart  # noqa: E402
import job_controller  # noqa: E402
import manifest_schemas  # noqa: E402
import overlays  # noqa: E402
from manifests import (  # noqa: E402
    KUSTOMIZE, ROOT, SCHEMAS, built_overlays, job_spec, manifests, pod_of,
    pod_timeout, pods, read, things_of)


def flag_values(text):
  """Returns the flags' defaults, read from the generated page docs/CLI.md."""
  return dict(re.findall(r'^\| `(?:-\w, )?--([\w-]+)[^`]*` \| ([^|]*?) \|',
                         text, re.M))


class Schema(unittest.TestCase):

  def test_every_object_is_valid_in_every_version(self):
    count = 0
    for name, things in manifests():
      for thing in things:
        for version in SCHEMAS.new_versions:
          with self.subTest(name=name, version=version):
            self.assertEqual(SCHEMAS.errors(version, thing), [])
            count += 1
    self.assertGreater(count, 40)
    self.assertGreaterEqual(len(SCHEMAS.new_versions), 4)

  def test_fields_unknown_to_old_versions_are_found(self):
    for name, things in manifests():
      for thing in (t for t in things if job_spec(t)):
        with self.subTest(name):
          found = ' '.join(SCHEMAS.errors('1.27', thing))
          self.assertIn('backoffLimitPerIndex', found)
          self.assertIn('maxFailedIndexes', found)

  def test_a_null_and_a_name_twice_are_found_as_server_side_apply_does(self):
    job = next(things[0] for _, things in manifests())
    spec = pod_of(job)
    env = spec['containers'][0]['env']
    for change, undo, error in [
        (lambda: spec.update(tolerations=None),
         lambda: spec.pop('tolerations'), 'tolerations: null'),
        (lambda: env.append(env[0]), env.pop, 'env: %s twice' % env[0]['name']),
        (lambda: spec.update(hostIPC='no'), lambda: spec.pop('hostIPC'),
         "'no' is not of type 'boolean'")]:
      self.assertEqual(SCHEMAS.errors('1.34', job), [])
      change()
      self.assertIn(error, ' '.join(SCHEMAS.errors('1.34', job)))
      undo()

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
    job = next(things[0] for _, things in manifests())
    self.assertEqual(job['kind'], 'Job')
    job['spec']['completions'] = '4'
    for version in SCHEMAS.new_versions:
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
                             'Deployment', 'NetworkPolicy', 'Certificate',
                             'Issuer', 'PersistentVolumeClaim',
                             'PodDisruptionBudget', 'PodMonitor'})


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
          # The Service for metrics selects all pods, including the
          # coordinator's.
          if service['metadata']['name'].endswith('-metrics'):
            self.assertEqual(len(chosen), sum(map(bool, map(pod_of, things))))
          else:
            self.assertEqual(len(chosen), 1)
          for pod in chosen:
            ports = {p['name'] for p in pod['containers'][0]['ports']}
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
          # Without FailJobSet, a Job with a wrong command line would be started
          # again, up to maxRestarts times.
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
    gpus = [path for path in built_overlays() if path.endswith('-gpu.yaml')]
    for path, case in zip(gpus, ['elastic', 'job', 'jobset']):
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


class State(unittest.TestCase):
  """Checks manifests in which rendezvousd keeps its state in a volume."""

  def cases(self):
    """Yields (name, objects, Deployment, folder of the state) of each
    rendezvousd with a state."""
    count = 0
    for name, things in list(manifests()) + [
        (os.path.basename(path), things_of(read(path)))
        for path in built_overlays()]:
      for thing in (t for t in things if t['kind'] == 'Deployment'):
        for arg in pod_of(thing)['containers'][0]['args']:
          if arg.startswith('--state-dir='):
            yield name, things, thing, arg.split('=')[1]
            count += 1
    self.assertEqual(count, 2)

  def test_one_pod_at_a_time_has_the_claim(self):
    for name, things, deployment, _ in self.cases():
      with self.subTest(name):
        volume, = [v for v in pod_of(deployment)['volumes']
                   if v['name'] == 'state']
        claim, = [t for t in things if t['kind'] == 'PersistentVolumeClaim']
        self.assertEqual(volume['persistentVolumeClaim'],
                         {'claimName': claim['metadata']['name']})
        self.assertEqual(claim['spec']['accessModes'], ['ReadWriteOnce'])
        self.assertEqual(deployment['spec']['replicas'], 1)
        self.assertEqual(deployment['spec']['strategy'], {'type': 'Recreate'})

  def test_rendezvousd_makes_its_folder_in_a_volume_that_it_may_write(self):
    # fsGroupChangePolicy must be set. Otherwise the kubelet would change the
    # modes of files, as pod_life_test shows.
    for name, _, deployment, folder in self.cases():
      with self.subTest(name):
        pod = pod_of(deployment)
        mount, = [m for m in pod['containers'][0]['volumeMounts']
                  if m['name'] == 'state']
        self.assertEqual(mount, {'name': 'state',
                                 'mountPath': os.path.dirname(folder)})
        security = pod['securityContext']
        self.assertEqual(security['fsGroup'], security['runAsGroup'])
        self.assertEqual(security['fsGroupChangePolicy'], 'OnRootMismatch')

  def test_the_kubelet_waits_as_long_as_the_journal_may_take(self):
    limits = {name: int(seconds) for name, seconds in re.findall(
        r'Duration (\w+) = std::chrono::seconds\((\d+)\);', read(os.path.join(
            ROOT, 'rendezvous', 'journal', 'journal.h')))}
    for name, _, deployment, _ in self.cases():
      with self.subTest(name):
        pod = pod_of(deployment)
        probe = pod['containers'][0]['startupProbe']
        # rendezvousd answers probes only after it has read its journal. So the
        # startup probe must allow enough time for reading the journal.
        self.assertGreaterEqual(
            probe['periodSeconds'] * probe['failureThreshold'],
            limits['open_within'] + 10)
        for grace in (pod['terminationGracePeriodSeconds'],
                      pod['containers'][0]['livenessProbe']
                      ['terminationGracePeriodSeconds']):
          self.assertGreaterEqual(grace, limits['close_within'] + 2)


class SharedState(unittest.TestCase):
  """Checks manifests in which several rendezvousd keep their state in etcd."""

  def cases(self):
    """Yields (name, objects by kind, Deployment, value of --state) of each such
    Deployment."""
    count = 0
    for name, things in manifests():
      for deployment in (t for t in things if t['kind'] == 'Deployment'):
        for arg in pod_of(deployment)['containers'][0]['args']:
          if arg.startswith('--state='):
            labels = deployment['spec']['template']['metadata']['labels']
            yield name, {
                kind: [t for t in things if t['kind'] == kind and
                       self.selector(t).items() <= labels.items()]
                for kind in ('Service', 'PodDisruptionBudget')
            }, deployment, arg.partition('=')[2]
            count += 1
    self.assertEqual(count, 2)

  def selector(self, thing):
    selector = thing['spec']['selector']
    return selector.get('matchLabels', selector)

  def test_names_of_keys_are_of_one_release(self):
    self.assertEqual({name: state for name, _, _, state in self.cases()}, {
        'elastic-etcd.yaml': 'etcd://etcd:2379/muster/default/trainer',
        'elastic-etcd-everything.yaml':
            'etcd://10.3.0.1,10.3.0.2:2379,etcd-2.etcd:2381/lab/trainer'})

  def test_agents_find_the_pod_that_leads_among_the_services_addresses(self):
    for name, chosen, deployment, _ in self.cases():
      with self.subTest(name):
        service, = [one for one in chosen['Service']
                    if not one['metadata']['name'].endswith('-metrics')]
        self.assertEqual(service['spec']['clusterIP'], 'None')
        # This Service has no virtual address (clusterIP: None), so it does not
        # translate ports. Its port must be the pod's port.
        port, = service['spec']['ports']
        listens, = [p['containerPort'] for p in
                    pod_of(deployment)['containers'][0]['ports']
                    if p['name'] == port['targetPort']]
        self.assertEqual(port['port'], listens)
        # The Service must not publish the address of a pod that is not ready,
        # for example because its machine is lost.
        self.assertNotIn('publishNotReadyAddresses', service['spec'])

  def test_an_update_and_an_eviction_leave_a_pod(self):
    for name, chosen, deployment, _ in self.cases():
      with self.subTest(name):
        spec = deployment['spec']
        self.assertGreaterEqual(spec['replicas'], 2)
        self.assertEqual(spec['strategy'], {
            'type': 'RollingUpdate',
            'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': 0}})
        budget, = chosen['PodDisruptionBudget']
        self.assertEqual(budget['spec']['maxUnavailable'], 1)
        # A PodDisruptionBudget counts ready pods. If standbys were not ready,
        # Kubernetes could never evict the leader, and an update would never
        # end.
        probe = pod_of(deployment)['containers'][0]['readinessProbe']
        self.assertEqual(probe['httpGet']['path'], '/livez')
        # rendezvousd exits if etcd refuses its first read, which takes at most
        # kFirstReadTimeout. So a pod must count as available (minReadySeconds)
        # only after this time.
        seconds = re.search(
            r'kFirstReadTimeout = std::chrono::seconds\((\d+)\)',
            read(os.path.join(ROOT, 'rendezvous', 'etcd',
                              'leader_election.cc'))).group(1)
        self.assertGreater(spec['minReadySeconds'], int(seconds))

  def test_pods_prefer_machines_of_their_own(self):
    for name, _, deployment, _ in self.cases():
      with self.subTest(name):
        affinity = pod_of(deployment)['affinity']['podAntiAffinity']
        term, = affinity['preferredDuringSchedulingIgnoredDuringExecution']
        self.assertEqual(term['podAffinityTerm'], {
            'topologyKey': 'kubernetes.io/hostname',
            'labelSelector': deployment['spec']['selector']})

  def test_files_for_etcd_are_keys_of_the_secret(self):
    for name, _, deployment, _ in self.cases():
      with self.subTest(name):
        pod = pod_of(deployment)
        container = pod['containers'][0]
        mount, = [m for m in container['volumeMounts'] if m['name'] == 'etcd']
        # The mount must not have a subPath. Kubernetes never updates such a
        # mount, so the pod would not see a renewed certificate.
        self.assertEqual(set(mount), {'name', 'mountPath', 'readOnly'})
        self.assertIs(mount['readOnly'], True)
        secret, = [v['secret'] for v in pod['volumes'] if v['name'] == 'etcd']
        self.assertEqual(secret['defaultMode'], 0o440)
        self.assertEqual(pod['securityContext']['fsGroup'],
                         pod['securityContext']['runAsGroup'])
        keys = [item['path'] for item in secret['items']]
        self.assertEqual(keys, [item['key'] for item in secret['items']])
        flags = {'ca.crt': 'ca', 'tls.crt': 'cert', 'tls.key': 'key',
                 'user': 'user-file'}
        self.assertEqual(
            [arg for arg in container['args'] if arg.startswith('--etcd-')],
            ['--etcd-%s=%s/%s' % (flags[key], mount['mountPath'], key)
             for key in keys])


class InStep(unittest.TestCase):
  """Checks that the flags and variables in the manifests exist in the programs.
  """

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

  def test_the_startup_probe_is_more_patient_than_we_are(self):
    for name, thing, pod in pods():
      if thing['kind'] == 'Deployment':
        continue
      container = pod['containers'][0]
      timeout = float(dict(
          (e['name'], e.get('value')) for e in container['env']
      ).get('MUSTER_POD_TIMEOUT', pod_timeout()))
      probe = container['startupProbe']
      with self.subTest(name):
        self.assertGreater(probe['periodSeconds'] * probe['failureThreshold'],
                           timeout)

  def test_pods_wait_longer_than_a_replacement_may_take(self):
    self.assertGreaterEqual(pod_timeout(), 2 * job_controller.MAX_BACKOFF)
    self.assertEqual(chart.default_values()['podTimeout'], pod_timeout())

  def test_a_pod_that_hangs_is_killed_soon(self):
    for name, _, pod in pods():
      probe = pod['containers'][0]['livenessProbe']
      with self.subTest(name):
        self.assertLessEqual(
            probe['periodSeconds'] * probe['failureThreshold'] +
            probe['terminationGracePeriodSeconds'], 90)

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
        os.path.join(ROOT, 'launcher', 'cluster', 'kubernetes', '*.cc')))
    for path in (['rendezvous', 'token', 'token.h'],
                 ['launcher', 'options', 'cluster_flags.cc']):
      sources += read(os.path.join(ROOT, *path))
    known = set(re.findall(r'"(MUSTER_\w+)"', sources))
    for name, _, pod in pods():
      for variable in pod['containers'][0].get('env', []):
        if variable['name'].startswith('MUSTER_'):
          with self.subTest(name=name, variable=variable['name']):
            self.assertIn(variable['name'], known)


class Kustomize(unittest.TestCase):

  def test_built_files_are_of_these_sources(self):
    self.assertEqual(
        sorted(os.listdir(overlays.BUILT)),
        sorted(name + '.yaml' for name in os.listdir(overlays.SOURCES)))
    for path in built_overlays():
      with self.subTest(os.path.basename(path)):
        self.assertEqual(read(path).split('\n')[0],
                         overlays.header(),
                         'run tests/kubernetes/overlays.py')

  def test_overlays_are_valid_and_ask_for_gpus(self):
    gpus = [path for path in built_overlays() if path.endswith('-gpu.yaml')]
    self.assertEqual(len(gpus), 3)
    for path in gpus:
      overlay = os.path.basename(path)
      trainers = 0
      for thing in things_of(read(path)):
        for version in SCHEMAS.new_versions:
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

  def test_overlays_for_old_versions_are_the_same_with_another_back_off(self):
    plain = dict(manifests())
    for folder in ('indexed-job', 'jobset'):
      things = things_of(read(os.path.join(overlays.BUILT,
                                           folder + '-1.27.yaml')))
      for thing in things:
        for version in SCHEMAS.old_versions:
          with self.subTest(folder=folder, version=version):
            self.assertEqual(SCHEMAS.errors(version, thing), [])
      old, new = (next(job_spec(t) for t in some if job_spec(t))
                  for some in (things, plain[folder]))
      self.assertEqual(old.pop('backoffLimit'), 8 if folder[0] == 'i' else 0)
      for key in ('backoffLimitPerIndex', 'maxFailedIndexes'):
        new.pop(key)
      self.assertEqual(old, new)

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
