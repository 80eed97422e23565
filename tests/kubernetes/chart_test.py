#!/usr/bin/python3
"""The Helm chart renders valid objects for all values that Helm accepts."""

import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import chart  # noqa: E402
from manifests import (  # noqa: E402
    ROOT, SCHEMAS, job_spec, pod_of, read, things_of)


def values_to_try(mode):
  """Yields values that Helm accepts: first one value changed at a time, then
  all at once."""
  yield {}
  yield chart.EVERYTHING[mode]
  optional = {
      'args': [['a'], [1, 2.5, True, 10 ** 7], ['--x=1', '']],
      'flags': [None, [], ['--max-restarts=3']],
      'env': [None, [], [{'name': 'HOME', 'value': ''}],
              [{'name': 'MUSTER_NODES', 'value': '1'}],
              [{'name': 'X', 'valueFrom': {'configMapKeyRef': {
                  'name': 'c', 'key': 'k', 'optional': True}}}]],
      'resources': [None, {}, {'requests': {}}, {'limits': {'cpu': 0.5}},
                    {'requests': {'memory': 2 ** 37, 'cpu': 3}}],
      'sharedMemory': [None, '', '3Gi', 2 ** 33],
      'topologyLabels': [None, {}, {'MUSTER_RACK': 'example.com/rack'}],
      'tokenSecret': [None, '', 'token'],
      'tls': [None, {}, {'enabled': True, 'secretName': 'mine'},
              {'enabled': True, 'issuerRef': {'name': 'lab'}},
              {'enabled': True}],
      'networkPolicy': [None, {}, {'enabled': False},
                        {'operators': [{'podSelector': {}}]},
                        {'monitoring': [{'namespaceSelector': {}}]},
                        {'egress': [{'to': [{'ipBlock': {
                            'cidr': '10.0.0.0/8'}}]}]}],
      'metrics': [None, {}, {'enabled': True},
                  {'enabled': True, 'podMonitor': {}, 'service': {}},
                  {'enabled': True, 'podMonitor': {'enabled': True},
                   'service': {'enabled': True}},
                  {'enabled': True, 'podMonitor': {
                      'enabled': True, 'labels': {}, 'interval': '1m30s'}}],
      'volumes': [None, [], [{'name': 'shm', 'emptyDir': {}}],
                  [{'name': 'd', 'hostPath': {'path': '/d'}}]],
      'volumeMounts': [None, [], [{'name': 'tmp', 'mountPath': '/dev/shm'}]],
      'nodeSelector': [None, {}, {'pool': 'a'}],
      'tolerations': [None, [], [{'operator': 'Exists'}],
                      [{'key': 'a', 'effect': 'NoExecute',
                        'tolerationSeconds': 30}]],
      'gpus': [0, 1, 16], 'workersPerNode': ['cpu', 8], 'nodes': [2, 3],
      'run': ['x', 7, 10 ** 8], 'imagePullPolicy': ['Always', 'Never'],
      'podTimeout': [1, 10 ** 7], 'preemptGrace': [0, 10 ** 7],
      'shutdownTimeout': [0, 10 ** 7], 'backoffLimit': [0, 10 ** 7],
      'backoffLimitPerIndex': [0, 10 ** 7], 'maxRestarts': [0, 10 ** 7],
      'runAsUser': [1, 10 ** 9], 'keepFinished': [0, 10 ** 8],
      'coordinator': [None, {}, {'state': {}}, {'etcd': {}}],
  }
  if mode == 'elastic':
    optional['coordinator'] += [
        {'state': dict(state, enabled=True)} for state in
        ({}, {'size': 2 ** 31}, {'existingClaim': 'mine'},
         {'storageClassName': 'fast', 'size': '500Mi'})]
    optional['coordinator'] += [
        {'etcd': dict(etcd, endpoints=['a:1', '[::1]:2', 'c'])} for etcd in
        ({}, {'prefix': 'lab', 'replicas': 1}, {'existingSecret': 'mine'},
         {'existingSecret': 'mine', 'secretKeys': ['user']})]
  for name, values in optional.items():
    for value in values:
      yield {name: value}
  for which in (0, -1):
    yield {name: values[which] for name, values in optional.items()}


class Chart(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    folder = tempfile.TemporaryDirectory()
    cls.addClassCleanup(folder.cleanup)
    cls.renderer, cls.why = chart.build_renderer(folder.name)
    if cls.renderer:
      cls.addClassCleanup(cls.renderer.close)

  def rendered(self, **values):
    """Returns the pod of `launch` or of an agent, and the object that contains
    it."""
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    done = self.renderer.render(values)
    self.assertEqual(done.error, '')
    return next((pod_of(thing), thing) for thing in things_of(done.text)
                if pod_of(thing) and thing['kind'] != 'Deployment')

  def objects(self, values, version=chart.NEW):
    done = self.renderer.render(values, version)
    self.assertEqual(done.error, '')
    return things_of(done.text)

  def test_no_value_makes_what_server_side_apply_refuses(self):
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    count, sound = 0, []
    for mode in chart.MODES:
      for version, known in [(chart.NEW, SCHEMAS.new_versions),
                             (chart.OLD, SCHEMAS.old_versions)]:
        for changed in values_to_try(mode):
          values = dict(changed, mode=mode)
          with self.subTest(mode=mode, version=version, changed=changed):
            self.assertEqual(chart.values_errors(values), [])
            for thing in self.objects(values, version):
              if (version, thing) not in sound:
                for one in {known[0], known[-1]}:
                  self.assertEqual(SCHEMAS.errors(one, thing), [])
                sound.append((version, thing))
            count += 1
    self.assertGreater(count, 200)

  def test_a_value_of_a_wrong_type_is_refused_by_the_values_schema(self):
    for values, error in [
        ({'nodes': '4'}, "'4' is not of type 'integer'"),
        ({'nodes': None}, "'nodes' is a required property"),
        ({'imagePullPolicy': None}, 'required'), ({'runAsUser': None}, 'required'),
        ({'args': []}, 'args'), ({'gpu': 8}, "'gpu' was unexpected"),
        ({'env': [{'name': 'A', 'value': 3}]}, "3 is not of type 'string'"),
        ({'env': [{'name': 'A', 'value': None}]}, 'None is not of type'),
        ({'tolerations': [{'key': None}]}, 'None is not of type'),
        ({'volumes': [{'name': 'a', 'csi': {'driver': None}}]}, 'None is not'),
        ({'resources': {'limits': {'cpu': None}}}, 'None is not of type'),
        ({'tls': {'enabled': 'yes'}}, "'yes' is not of type 'boolean'"),
        ({'tls': {'secret': 'mine'}}, "'secret' was unexpected"),
        ({'networkPolicy': {'operators': [{}]}}, 'networkPolicy.operators'),
        ({'networkPolicy': {'egress': 'none'}}, "'none' is not of type"),
        ({'metrics': {'enabled': 'yes'}}, "'yes' is not of type 'boolean'"),
        ({'metrics': {'monitor': {}}}, "'monitor' was unexpected"),
        ({'metrics': {'podMonitor': {'interval': '15'}}}, "'15' does not match"),
        ({'metrics': {'podMonitor': {'labels': {'a': 1}}}}, '1 is not of type'),
        ({'coordinator': {'state': {'enabled': 'yes'}}}, "'yes' is not of"),
        ({'coordinator': {'state': {'claim': 'a'}}}, "'claim' was unexpected"),
        ({'coordinator': {'enabled': True}}, "'enabled' was unexpected"),
        ({'coordinator': {'etcd': {'endpoints': 'a:1'}}}, "'a:1' is not of"),
        ({'coordinator': {'etcd': {'endpoints': ['http://a:1']}}},
         "'http://a:1' does not match"),
        ({'coordinator': {'etcd': {'prefix': '/a'}}}, "'/a' does not match"),
        ({'coordinator': {'etcd': {'replicas': 0}}}, 'less than the minimum'),
        ({'coordinator': {'etcd': {'secretKeys': ['tls.pem']}}},
         "'tls.pem' is not one of")]:
      with self.subTest(values):
        self.assertIn(error, ' '.join(chart.values_errors(values)))
    for values in chart.CASES.values():
      self.assertEqual(chart.values_errors(values), [])

  def test_given_name_overrides_the_chart(self):
    pod, _ = self.rendered(
        env=[{'name': 'HOME', 'value': '/data'}],
        volumes=[{'name': 'tmp', 'persistentVolumeClaim': {'claimName': 'd'}}],
        volumeMounts=[{'name': 'tmp', 'mountPath': '/tmp'}])
    self.assertEqual([e['value'] for e in pod['containers'][0]['env']
                      if e['name'] == 'HOME'], ['/data'])
    self.assertEqual([v for v in pod['volumes'] if v['name'] == 'tmp'],
                     [{'name': 'tmp',
                       'persistentVolumeClaim': {'claimName': 'd'}}])
    self.assertIn('env has name A twice', self.refusal(
        env=[{'name': 'A', 'value': '1'}, {'name': 'A', 'value': '2'}]))

  def test_certificates_come_from_the_issuer_that_is_given(self):
    issuer = {'name': 'lab', 'kind': 'ClusterIssuer'}
    for mode in chart.MODES:
      made = [t for t in self.objects(
          {'mode': mode, 'tls': {'enabled': True, 'issuerRef': issuer}})
              if t['apiVersion'] == 'cert-manager.io/v1']
      self.assertEqual([(t['kind'], t['metadata']['name'],
                         t['spec']['issuerRef']) for t in made],
                       [('Certificate', name,
                         dict(issuer, group='cert-manager.io'))
                        for name in ['trainer', 'trainer-rendezvousd']
                        [:2 if mode == 'elastic' else 1]])

  def test_a_secret_of_the_users_takes_the_place_of_certificates(self):
    for mode in chart.MODES:
      things = self.objects(
          {'mode': mode, 'tls': {'enabled': True, 'secretName': 'mine'}})
      self.assertEqual([t['kind'] for t in things if t['apiVersion'].startswith(
          'cert-manager.io/')], [])
      for pod in filter(None, map(pod_of, things)):
        self.assertIn({'name': 'tls', 'secret': {
            'secretName': 'mine', 'defaultMode': 0o440}}, pod['volumes'])
    self.assertIn('give one of them', self.refusal(
        tls={'enabled': True, 'secretName': 'a', 'issuerRef': {'name': 'b'}}))
    # These values do not enable TLS, but set another TLS value. The chart must
    # refuse them. Otherwise the job would silently run without TLS.
    for value in ({'secretName': 'a'}, {'issuerRef': {'name': 'b'}}):
      self.assertIn('tls.enabled is false', self.refusal(tls=value))

  def test_files_of_tls_may_be_mounted_in_another_way(self):
    pod, _ = self.rendered(
        tls={'enabled': True},
        env=[{'name': 'MUSTER_TLS_CA', 'value': '/lab/ca.pem'}],
        volumes=[{'name': 'tls', 'csi': {'driver': 'csi.cert-manager.io'}}])
    self.assertEqual([v for v in pod['volumes'] if v['name'] == 'tls'],
                     [{'name': 'tls', 'csi': {'driver': 'csi.cert-manager.io'}}])
    self.assertEqual([e['value'] for e in pod['containers'][0]['env']
                      if e['name'] == 'MUSTER_TLS_CA'], ['/lab/ca.pem'])

  def state_of(self, **state):
    """Renders an elastic job with these values of coordinator.state. Returns
    its claims, the claim that rendezvousd mounts, and whether rendezvousd keeps
    its state there."""
    things = self.objects({'mode': 'elastic', 'coordinator': {'state': state}})
    pod, = [pod_of(thing) for thing in things if thing['kind'] == 'Deployment']
    mounted = [volume['persistentVolumeClaim']['claimName']
               for volume in pod.get('volumes', [])]
    flags = [arg for arg in pod['containers'][0]['args'] if 'state-dir' in arg]
    return ([(thing['metadata']['name'], thing['spec']) for thing in things
             if thing['kind'] == 'PersistentVolumeClaim'], mounted, bool(flags))

  def test_state_is_in_a_claim_if_it_is_kept(self):
    self.assertEqual(self.state_of(), ([], [], False))
    def claim(**more):
      return ('trainer-rendezvousd', {
          'accessModes': ['ReadWriteOnce'],
          'resources': {'requests': {'storage': '1Gi'}}, **more})
    mounted = ['trainer-rendezvousd']
    # The PersistentVolumeClaim must have no storageClassName, so that
    # Kubernetes uses the default class of the cluster. An empty
    # storageClassName would mean no class.
    self.assertEqual(self.state_of(enabled=True), ([claim()], mounted, True))
    self.assertEqual(
        self.state_of(enabled=True, storageClassName='fast', size='2Gi'),
        ([claim(storageClassName='fast',
                resources={'requests': {'storage': '2Gi'}})], mounted, True))
    self.assertEqual(self.state_of(enabled=True, existingClaim='mine'),
                     ([], ['mine'], True))

  def test_values_that_would_lose_the_state_are_refused(self):
    def refusal(mode, **state):
      return self.refusal(mode=mode, coordinator={'state': state})
    for mode in ('job', 'jobset'):
      self.assertIn('mode is %s' % mode, refusal(mode, enabled=True))
    for value in ('existingClaim', 'storageClassName'):
      self.assertIn('coordinator.state names mine, but coordinator.state.enabled '
                    'is false', refusal('elastic', **{value: 'mine'}))
    self.assertIn('give one of them', refusal(
        'elastic', enabled=True, existingClaim='a', storageClassName='b'))

  def etcd_of(self, **etcd):
    """Renders with these values of coordinator.etcd. Returns the number of
    replicas of rendezvousd, its flags for etcd, its volumes, and the kinds of
    the objects that they need."""
    things = self.objects({'mode': 'elastic', 'coordinator': {'etcd': etcd}})
    deployment, = [t for t in things if t['kind'] == 'Deployment']
    pod = pod_of(deployment)
    flags = [arg for arg in pod['containers'][0]['args']
             if arg.startswith(('--state=', '--etcd-'))]
    return (deployment['spec']['replicas'], flags,
            [v['name'] for v in pod.get('volumes') or []],
            [t['kind'] for t in things if t['kind'] == 'PodDisruptionBudget'])

  def test_state_is_in_etcd_if_it_has_members(self):
    budget = ['PodDisruptionBudget']
    self.assertEqual(self.etcd_of(), (1, [], [], []))
    self.assertEqual(self.etcd_of(endpoints=['a:1', 'b']), (
        2, ['--state=etcd://a:1,b/muster/default/trainer'], [], budget))
    self.assertEqual(
        self.etcd_of(endpoints=['[::1]:2379'], prefix='lab', replicas=3,
                     existingSecret='mine', secretKeys=['user', 'ca.crt']),
        (3, ['--state=etcd://[::1]:2379/lab',
             '--etcd-ca=/etc/muster/etcd/ca.crt',
             '--etcd-user-file=/etc/muster/etcd/user'], ['etcd'], budget))

  def test_values_of_etcd_that_would_have_no_effect_are_refused(self):
    def refusal(mode='elastic', state=False, **etcd):
      return self.refusal(mode=mode, coordinator={
          'etcd': etcd, 'state': {'enabled': state}})
    members = ['a:1']
    for mode in ('job', 'jobset'):
      self.assertIn('mode is %s' % mode, refusal(mode, endpoints=members))
    self.assertIn('keeps its state in one place',
                  refusal(state=True, endpoints=members))
    for value in ('existingSecret', 'prefix'):
      self.assertIn('coordinator.etcd names mine, but coordinator.etcd.'
                    'endpoints is empty', refusal(**{value: 'mine'}))
    for keys in (['tls.crt', 'ca.crt'], ['tls.key', 'ca.crt'],
                 ['tls.crt', 'tls.key']):
      self.assertIn('tls.crt and tls.key need each other, and ca.crt', refusal(
          endpoints=members, existingSecret='mine', secretKeys=keys))

  def test_notes_say_where_the_state_is(self):
    def notes(**values):
      if not self.renderer:
        self.skipTest('the chart is not rendered anew: ' + self.why)
      done = self.renderer.render(values, only='NOTES.txt')
      self.assertEqual(done.error, '')
      return done.text
    self.assertNotIn('state', notes())
    self.assertIn('keeps no state', notes(mode='elastic'))
    for state, name in [({}, 'trainer-rendezvousd'),
                        ({'existingClaim': 'mine'}, 'mine')]:
      shown = notes(mode='elastic',
                    coordinator={'state': dict(state, enabled=True)})
      self.assertIn('kubectl describe pvc %s\n' % name, shown)
      self.assertNotIn('keeps no state', shown)
    shown = notes(mode='elastic', coordinator={'etcd': {'endpoints': ['a']}})
    self.assertIn('keeps its state in etcd://a/muster/default/trainer,', shown)
    # `kubectl port-forward` could select a standby's pod. So the chart's notes
    # for the user must show a command that runs inside a pod instead.
    self.assertIn('-- launch status', shown)
    self.assertNotIn('port-forward', shown)

  def test_network_policies_can_be_left_out(self):
    def policies(**values):
      return [t['metadata']['name'] for t in self.objects(values)
              if t['kind'] == 'NetworkPolicy']
    self.assertEqual(policies(), ['trainer'])
    self.assertEqual(policies(mode='elastic'),
                     ['trainer', 'trainer-rendezvousd'])
    for mode in chart.MODES:
      self.assertEqual(
          policies(mode=mode, networkPolicy={'enabled': False}), [])

  def metrics_of(self, mode, **metrics):
    """Renders with these values of metrics. Returns the PodMonitors, the
    Services for metrics, and the number of containers that serve metrics."""
    things = self.objects({'mode': mode, 'metrics': metrics})
    pods = [pod for pod in map(pod_of, things) if pod]
    return ([t for t in things if t['kind'] == 'PodMonitor'],
            [t for t in things if t['kind'] == 'Service'
             and t['metadata']['name'] == 'trainer-metrics'],
            sum('--metrics-listen=0.0.0.0:8080' in pod['containers'][0]['args']
                for pod in pods))

  def test_metrics_are_served_and_found_if_they_are_wanted(self):
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    selected = {'app.kubernetes.io/instance': 'trainer'}
    for mode in chart.MODES:
      pods = 2 if mode == 'elastic' else 1
      self.assertEqual(self.metrics_of(mode), ([], [], 0))
      self.assertEqual(self.metrics_of(mode, enabled=True), ([], [], pods))
      monitors, services, served = self.metrics_of(
          mode, enabled=True, service={'enabled': True},
          podMonitor={'enabled': True, 'labels': {'release': 'p'}})
      self.assertEqual(served, pods)
      self.assertEqual(monitors[0]['metadata']['labels']['release'], 'p')
      self.assertEqual(monitors[0]['spec']['selector'],
                       {'matchLabels': selected})
      self.assertEqual(services[0]['spec']['selector'], selected)
      # Every pod must have the port `probes`, whether metrics are enabled or
      # not.
      for thing in self.objects({'mode': mode}):
        pod = pod_of(thing)
        if pod:
          self.assertIn('probes', [
              port['name'] for port in pod['containers'][0]['ports']])
    for what in ('podMonitor', 'service'):
      self.assertIn('metrics.%s.enabled is true, but metrics.enabled is false' %
                    what, self.refusal(metrics={what: {'enabled': True}}))

  def test_whole_numbers_stay_whole(self):
    pod, job = self.rendered(runAsUser=1000650000, nodes=1000000,
                             args=['train.py', 2000000, 0.5, True])
    self.assertEqual(pod['securityContext']['runAsUser'], 1000650000)
    self.assertEqual(job['spec']['completions'], 1000000)
    self.assertEqual(pod['containers'][0]['args'][-3:],
                     ['2000000', '0.5', 'true'])
    pod, _ = self.rendered(mode='elastic', run=20260101)
    self.assertIn({'name': 'MUSTER_RUN_ID', 'value': 'trainer-20260101'},
                  pod['containers'][0]['env'])

  def test_each_index_has_its_own_back_off_where_kubernetes_can(self):
    def limits(version, **values):
      if not self.renderer:
        self.skipTest('the chart is not rendered anew: ' + self.why)
      job = next(job_spec(t) for t in self.objects(values, version)
                 if job_spec(t))
      return {key: value for key, value in job.items()
              if key.startswith('backoff') or key == 'maxFailedIndexes'}
    self.assertEqual(limits('v1.28.9'), {'backoffLimit': 8})
    self.assertEqual(limits('v1.28.9', mode='jobset'), {'backoffLimit': 0})
    for version in ('v1.29.0', 'v1.30.0-eks-1234', 'v1.34.2+k3s1'):
      self.assertEqual(limits(version, backoffLimitPerIndex=5),
                       {'backoffLimitPerIndex': 5, 'maxFailedIndexes': 0})
      self.assertEqual(limits(version, mode='jobset'),
                       {'backoffLimitPerIndex': 0, 'maxFailedIndexes': 0})

  def test_notes_say_what_works(self):
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    for mode in chart.MODES:
      def notes(**values):
        done = self.renderer.render(dict(values, mode=mode), only='NOTES.txt')
        self.assertEqual(done.error, '')
        return done.text
      with self.subTest(mode):
        # kubectl needs a request for each pod's log, even of ended pods. So the
        # limit must exceed the number of running pods.
        self.assertIn('--max-log-requests=1000', notes())
        self.assertIn('MUSTER_COORDINATOR=localhost:29400 launch status',
                      notes())
        self.assertNotIn('MUSTER_TOKEN', notes())
        self.assertIn('MUSTER_TOKEN=$(kubectl get secret tk ',
                      notes(tokenSecret='tk'))
        # With TLS, the command that the notes show must not connect to
        # localhost, because the certificate names the coordinator's pod
        # instead.
        shown = notes(tls={'enabled': True}, tokenSecret='tk')
        self.assertIn('-- launch status', shown)
        self.assertNotIn('localhost', shown)

  def refusal(self, **values):
    if not self.renderer:
      self.skipTest('the chart is not rendered anew: ' + self.why)
    done = self.renderer.render(values)
    self.assertNotEqual(done.error, '')
    return done.error

  def test_rendered_files_are_of_this_chart(self):
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
        done = self.renderer.render(values)
        self.assertEqual(done.error, '')
        kept = read(os.path.join(chart.RENDERED, case + '.yaml'))
        self.assertEqual(done.text, kept.split('\n', 1)[1])
    self.assertIn('mode is jbo', self.refusal(mode='jbo'))

  def test_elastic_pods_are_as_many_as_the_job_may_have(self):
    for nodes in (1, 5, 8):
      self.assertIn('nodes is %d; the job runs with minNodes (2) to maxNodes '
                    '(4)' % nodes, self.refusal(mode='elastic', nodes=nodes))
    for nodes in (2, 4):
      _, agents = self.rendered(mode='elastic', nodes=nodes)
      self.assertEqual(agents['spec']['replicas'], nodes)
    # In jobs that are not elastic, minNodes and maxNodes do not limit `nodes`.
    self.assertEqual(self.rendered(nodes=8)[1]['spec']['completions'], 8)

  def test_a_run_has_an_id_of_its_own_that_its_pods_keep(self):
    pods_of = [self.rendered(mode='elastic', **values)[0]
               for values in ({}, {'nodes': 3}, {'run': 2})]
    # The first two jobs differ only in their number of pods. Their pod
    # templates must be equal: otherwise Kubernetes would replace all running
    # pods when the user changes this number.
    self.assertEqual(pods_of[0], pods_of[1])
    ids = [variable['value'] for pod in pods_of
           for variable in pod['containers'][0]['env']
           if variable['name'] == 'MUSTER_RUN_ID']
    self.assertEqual(ids, ['trainer-1', 'trainer-1', 'trainer-2'])

  def test_given_resources_override_the_chart(self):
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
    # If the user gives only a request or only a limit of a resource, the chart
    # sets both the request and the limit to this value.
    self.assertEqual(
        asked(resources={'requests': {'memory': '7Gi'},
                         'limits': {'cpu': '1'}})[:2],
        ({'cpu': '1', 'memory': '7Gi'}, {'cpu': '1', 'memory': '7Gi'}))

  def test_the_page_says_which_version_it_needs(self):
    needed = re.search(r'kubeVersion: ">=(\d+\.\d+)', read(
        os.path.join(chart.CHART, 'Chart.yaml'))).group(1)
    self.assertIn('needs | Kubernetes %s |' % needed,
                  read(os.path.join(ROOT, 'docs', 'KUBERNETES.md')))


if __name__ == '__main__':
  unittest.main()
