#!/usr/bin/python3
"""Access to a job's pods: certificates, the token, NetworkPolicies."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import overlays  # noqa: E402
from manifests import (  # noqa: E402
    SCHEMAS, built_overlays, job_spec, manifests, pod_of, read, things_of)

COORDINATOR, PROBES, WORKERS = 29400, 8080, 40000  # port numbers


def everything():
  """Returns pairs (name, objects) of the plain YAML, the chart and the
  overlays."""
  yield from manifests()
  for path in built_overlays():
    yield os.path.basename(path), things_of(read(path))


def has_tls(name):
  return name.endswith(('-everything.yaml', '-tls.yaml'))


def has_token(name):
  return name.endswith(('-everything.yaml', '-token.yaml'))


def owners(things):
  return [thing for thing in things if pod_of(thing)]


def environment(thing):
  return {one['name']: one
          for one in pod_of(thing)['containers'][0].get('env', [])}


def owner_of_agents(things):
  return next(t for t in owners(things) if t['kind'] != 'Deployment')


def owner_of_coordinator(things):
  return next((t for t in owners(things) if t['kind'] == 'Deployment'),
              owner_of_agents(things))


def coordinators_host(owner):
  """Returns the host to which agents of `owner` connect."""
  name = owner['metadata']['name']
  if owner['kind'] == 'Job':
    return '%s-0.%s' % (name, environment(owner)['MUSTER_SERVICE']['value'])
  if owner['kind'] == 'JobSet':
    # Compose the host name of the JobSet's coordinator in the same way as the
    # JobSet controller, which writes it into the annotation
    # jobset.sigs.k8s.io/coordinator.
    first = owner['spec']['coordinator']
    return '%s-%s-%d-%d.%s' % (
        name, first['replicatedJob'], first['jobIndex'], first['podIndex'],
        owner['spec']['network'].get('subdomain', name))
  host, _, port = environment(owner)['MUSTER_COORDINATOR'][
      'value'].rpartition(':')
  assert int(port) == COORDINATOR
  return host


def run_id(owner):
  """Returns the run id of the pods of `owner`, with an example of a uid."""
  name = owner['metadata']['name']
  return {'Job': name + '-1234abcd', 'JobSet': name + '-1234abcd-0'}.get(
      owner['kind']) or environment(owner)['MUSTER_RUN_ID']['value']


def tls_volume(owner):
  return next(v['secret'] for v in pod_of(owner)['volumes']
              if v['name'] == 'tls')


class Certificates(unittest.TestCase):

  def cases(self):
    found = [(name, things) for name, things in everything() if has_tls(name)]
    self.assertEqual(len(found), 7)
    for name, things in found:
      yield name, things, {t['spec']['secretName']: t['spec'] for t in things
                           if t['kind'] == 'Certificate'}

  def test_certificates_name_what_pods_connect_to_and_claim(self):
    for name, things, made in self.cases():
      with self.subTest(name):
        agents = owner_of_agents(things)
        coordinators = made[tls_volume(owner_of_coordinator(things))
                            ['secretName']]
        nodes = made[tls_volume(agents)['secretName']]
        self.assertEqual(coordinators['dnsNames'], [coordinators_host(agents)])
        self.assertIn('server auth', coordinators['usages'])
        job = agents['metadata']['name']
        self.assertEqual(nodes['uris'], ['muster:job/%s-*' % job])
        self.assertTrue(run_id(agents).startswith(job + '-'))
        self.assertIn('client auth', nodes['usages'])
        for one in made.values():
          # In X.509 a common name has at most 64 characters.
          self.assertLessEqual(len(one['commonName']), 64)

  def test_agents_cannot_pass_for_rendezvousd(self):
    count = 0
    for name, things, made in self.cases():
      with self.subTest(name):
        agents = owner_of_agents(things)
        coordinator = owner_of_coordinator(things)
        if agents is coordinator:
          continue
        nodes = made[tls_volume(agents)['secretName']]
        self.assertNotIn('dnsNames', nodes)
        self.assertNotIn('server auth', nodes['usages'])
        count += 1
    self.assertEqual(count, 3)

  def test_secrets_are_mounted_whole_and_for_the_pods_group_alone(self):
    for name, things, made in self.cases():
      with self.subTest(name):
        for owner in owners(things):
          pod = pod_of(owner)
          mount, = [m for m in pod['containers'][0]['volumeMounts']
                    if m['name'] == 'tls']
          # The mount must not have a subPath. Kubernetes never updates such a
          # mount, so the pod would not see a renewed certificate.
          self.assertEqual(set(mount), {'name', 'mountPath', 'readOnly'})
          self.assertIs(mount['readOnly'], True)
          self.assertEqual(tls_volume(owner)['defaultMode'], 0o440)
          self.assertEqual(pod['securityContext']['fsGroup'],
                           pod['securityContext']['runAsGroup'])
          self.assertIn(tls_volume(owner)['secretName'], made)
          env = environment(owner)
          for variable, file in [('CERT', 'tls.crt'), ('KEY', 'tls.key'),
                                 ('CA', 'ca.crt')]:
            self.assertEqual(env['MUSTER_TLS_' + variable]['value'],
                             '%s/%s' % (mount['mountPath'], file))

  def test_authority_signs_all_and_its_key_is_in_no_pod(self):
    for name, things, made in self.cases():
      with self.subTest(name):
        issuers = {t['metadata']['name']: t['spec'] for t in things
                   if t['kind'] == 'Issuer'}
        authority, = [s for s, one in made.items() if one.get('isCA')]
        for secret, one in made.items():
          self.assertEqual(one['issuerRef']['kind'], 'Issuer')
          issuer = issuers[one['issuerRef']['name']]
          self.assertEqual(issuer, {'selfSigned': {}} if secret == authority
                           else {'ca': {'secretName': authority}})
          # A renewed certificate must get a new key.
          self.assertEqual(one['privateKey']['rotationPolicy'], 'Always')
        mounted = [v['secret']['secretName'] for owner in owners(things)
                   for v in pod_of(owner)['volumes']
                   if 'secret' in v and v['name'] != 'etcd']
        self.assertEqual(sorted(mounted), sorted(set(made) - {authority}))

  def test_without_tls_nothing_of_it_is_there(self):
    count = 0
    for name, things in everything():
      if has_tls(name):
        continue
      with self.subTest(name):
        self.assertEqual([t for t in things if t['apiVersion'].startswith(
            'cert-manager.io/')], [])
        for owner in owners(things):
          self.assertNotIn('MUSTER_TLS_', ''.join(environment(owner)))
          self.assertFalse([v for v in pod_of(owner).get('volumes', [])
                            if 'secret' in v and v['name'] != 'etcd'])
        count += 1
    self.assertGreater(count, 10)

  def test_chart_and_overlays_make_the_same_certificates(self):
    rendered = dict(everything())
    for case, overlay in [('job', 'indexed-job'), ('jobset', 'jobset'),
                          ('elastic', 'elastic')]:
      with self.subTest(case):
        objects = [sorted((t for t in rendered[name] if t['apiVersion'] ==
                           'cert-manager.io/v1' and 'rendezvousd' not in
                           t['metadata']['name']),
                          key=lambda t: (t['kind'], t['metadata']['name']))
                   for name in (case + '-everything.yaml',
                                overlay + '-tls.yaml')]
        self.assertEqual(len(objects[0]), 4)
        self.assertEqual(objects[0], objects[1])

  def test_overlays_are_valid(self):
    count = 0
    for name, things in everything():
      if name in os.listdir(overlays.BUILT) and '1.27' not in name:
        for thing in things:
          for version in SCHEMAS.new_versions:
            with self.subTest(name=name, version=version):
              self.assertEqual(SCHEMAS.errors(version, thing), [])
          count += 1
    self.assertGreater(count, 40)


class Token(unittest.TestCase):

  def test_every_pod_reads_the_token_from_the_secret(self):
    count = 0
    for name, things in everything():
      for owner in owners(things):
        with self.subTest(name=name, owner=owner['kind']):
          token = environment(owner).get('MUSTER_TOKEN')
          self.assertEqual(token, {
              'name': 'MUSTER_TOKEN', 'valueFrom': {'secretKeyRef': {
                  'name': 'trainer-token', 'key': 'token'}}}
                           if has_token(name) else None)
          count += has_token(name)
    self.assertEqual(count, 10)


class Pod:
  """The attributes of a pod that NetworkPolicies use: its labels, namespace and
  address."""

  def __init__(self, labels, namespace=None, address='192.168.7.7'):
    self.labels, self.address = labels, address
    self.namespace = {'kubernetes.io/metadata.name': namespace or 'training'}

  def is_selected(self, selector):
    assert set(selector) <= {'matchLabels'}
    return selector.get('matchLabels', {}).items() <= self.labels.items()

  def is_peer(self, peer):
    """Whether `peer`, in a policy of the namespace `training`, selects this
    pod."""
    if 'ipBlock' in peer:
      network = peer['ipBlock']['cidr'].split('.')[:2]
      return network == self.address.split('.')[:2]
    if 'namespaceSelector' in peer:
      wanted = peer['namespaceSelector'].get('matchLabels', {})
      if not wanted.items() <= self.namespace.items():
        return False
    elif self.namespace['kubernetes.io/metadata.name'] != 'training':
      return False
    return self.is_selected(peer.get('podSelector', {}))


def is_allowed(policies, source, target, port, direction='Ingress'):
  """Whether the policies let `source` connect to a port of `target`. Egress:
  whether `source` may send there."""
  mine, other, rules, peers = (
      (target, source, 'ingress', 'from') if direction == 'Ingress' else
      (source, target, 'egress', 'to'))
  applied = [p['spec'] for p in policies
             if mine.is_selected(p['spec']['podSelector']) and
             direction in p['spec']['policyTypes']]
  if not applied:
    return True
  return any(
      (not rule.get(peers) or any(other.is_peer(one) for one in rule[peers]))
      and (not rule.get('ports') or
           any(one['port'] == port and one['protocol'] == 'TCP'
               for one in rule['ports']))
      for policy in applied for rule in policy.get(rules, []))


class NetworkPolicies(unittest.TestCase):

  def cases(self):
    count = 0
    for name, things in everything():
      policies = [t for t in things if t['kind'] == 'NetworkPolicy']
      pods = [Pod((job_spec(owner) or owner['spec'])['template']['metadata']
                  ['labels']) for owner in (owner_of_agents(things),
                                            owner_of_coordinator(things))]
      yield name, policies, *pods
      count += 1
    self.assertGreater(count, 15)

  def test_pods_of_the_job_reach_each_other(self):
    for name, policies, agent, coordinator in self.cases():
      with self.subTest(name):
        for direction in ('Ingress', 'Egress'):
          for port in (COORDINATOR, WORKERS):
            self.assertTrue(is_allowed(policies, agent, agent, port, direction))
          self.assertTrue(is_allowed(policies, agent, coordinator, COORDINATOR,
                                     direction))

  def test_nobody_else_reaches_any_port(self):
    for name, policies, agent, coordinator in self.cases():
      with self.subTest(name):
        for stranger in (Pod({'app': 'web'}), Pod({}), Pod({}, 'kube-system'),
                         Pod(agent.labels, 'other')):
          for target in (agent, coordinator):
            for port in (COORDINATOR, PROBES, WORKERS):
              self.assertFalse(is_allowed(policies, stranger, target, port))

  def test_pods_of_another_job_reach_rendezvousd_of_the_namespace_alone(self):
    for name, policies, agent, coordinator in self.cases():
      with self.subTest(name):
        other = Pod({**agent.labels, 'app.kubernetes.io/instance': 'other'})
        self.assertFalse(is_allowed(policies, other, agent, WORKERS))
        self.assertFalse(is_allowed(policies, other, coordinator, PROBES))
        # The jobs of the plain manifests share one rendezvousd, which has no
        # label of a Helm release. The chart creates a rendezvousd for each
        # release, and gives it the release's label.
        is_shared = ('app.kubernetes.io/instance' not in coordinator.labels)
        self.assertEqual(is_shared, name in (
            'elastic', 'elastic-gpu.yaml', 'elastic-state.yaml',
            'elastic-tls.yaml', 'elastic-token.yaml'))
        self.assertEqual(
            is_allowed(policies, other, coordinator, COORDINATOR), is_shared)

  def test_operators_and_monitoring_reach_one_port_each(self):
    count = 0
    for name, policies, agent, coordinator in self.cases():
      with self.subTest(name):
        operator = Pod({}, 'other', '10.1.2.3')
        monitoring = Pod({'app': 'prometheus'}, 'monitoring')
        given = name.endswith('-everything.yaml')
        for source, port in [(operator, COORDINATOR), (monitoring, PROBES)]:
          self.assertEqual(is_allowed(policies, source, coordinator, port),
                           given)
          for other in {COORDINATOR, PROBES, WORKERS} - {port}:
            self.assertFalse(is_allowed(policies, source, coordinator, other))
        self.assertEqual(is_allowed(policies, monitoring, agent, PROBES), given)
        count += given
    self.assertEqual(count, 4)

  def test_rendezvousd_alone_reaches_etcd(self):
    count = 0
    for name, policies, agent, coordinator in self.cases():
      if not name.endswith('-everything.yaml'):
        continue
      with self.subTest(name):
        # The chart's example has etcd endpoints without a port (2379 is the
        # default), and one with port 2381.
        for port in (2379, 2381):
          for source in (agent, coordinator):
            is_given = source is coordinator and 'etcd' in name
            self.assertEqual(
                is_allowed(policies, source, Pod({}, 'etcd', '10.3.0.1'), port,
                           'Egress'), is_given)
            count += is_given
    self.assertEqual(count, 2)

  def test_egress_is_open_unless_a_value_limits_it(self):
    for name, policies, agent, coordinator in self.cases():
      with self.subTest(name):
        limited = name.endswith('-everything.yaml')
        for source in (agent, coordinator):
          reaches = lambda address, port: is_allowed(
              policies, source, Pod({}, 'other', address), port, 'Egress')
          self.assertEqual(reaches('8.8.8.8', 443), not limited)
          self.assertEqual(reaches('10.2.0.9', 443), not limited)
          self.assertTrue(reaches('10.2.0.9', 2049))
          self.assertTrue(reaches('10.96.0.10', 53))


if __name__ == '__main__':
  unittest.main()
