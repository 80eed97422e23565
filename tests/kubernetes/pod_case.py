"""The base of tests with pods, which run as the manifests describe them."""

import os
import shutil
import stat
import sys
import tempfile
import unittest

import certificate_secrets
import chart
import documents
import kubelet
import manifests
import overlays
import pods

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, '..', 'python'))
import process  # noqa: E402

KUSTOMIZE = os.path.join(HERE, '..', '..', 'deploy', 'kubernetes', 'kustomize')
BINARIES = ['launcher/launch', 'launcher/agent', 'rendezvous/daemon/rendezvousd']


def container_of(path):
  """Returns the first container of a manifest's last object."""
  with open(os.path.join(KUSTOMIZE, path)) as file:
    thing = documents.load_all(file.read())[-1]
  if thing['kind'] == 'JobSet':
    thing = thing['spec']['replicatedJobs'][0]['template']
  return thing['spec']['template']['spec']['containers'][0]


def environment_of(container, fields):
  """Returns the environment variables that the manifest gives to a pod whose
  fields are `fields`."""
  environment = {}
  for variable in container.get('env', []):
    if 'value' in variable:
      environment[variable['name']] = variable['value']
    else:
      path = variable['valueFrom']['fieldRef']['fieldPath']
      environment[variable['name']] = fields.get(path, '')
  return environment


class TlsPods:
  """Provides the Secrets of an overlay with TLS to its pods: writes the files
  of its Certificates to folders that take the place of the pods' volumes."""

  def __init__(self, cluster, folder, overlay):
    things = manifests.things_of(manifests.read(
        os.path.join(overlays.BUILT, overlay + '.yaml')))
    self._secrets = certificate_secrets.CertificateSecrets(folder, things)
    self._volumes = {}
    self.variables = {}  # variables for TLS, by the kind of the pods' owner
    for thing in things:
      if manifests.pod_of(thing):
        self._mount(cluster, thing['kind'], manifests.pod_of(thing))
    self.issue()

  def _mount(self, cluster, kind, pod):
    container = pod['containers'][0]
    mount = next(m for m in container['volumeMounts'] if m['name'] == 'tls')
    volume = next(v['secret'] for v in pod['volumes'] if v['name'] == 'tls')
    secret = volume['secretName']
    self._volumes[secret] = kubelet.SecretVolume(
        os.path.join(cluster.folder, 'secrets', secret), volume,
        pod['securityContext']['fsGroup'])
    self.variables[kind] = {
        variable['name']: variable['value'].replace(
            mount['mountPath'], '/srv/secrets/' + secret)
        for variable in container['env']
        if variable['name'].startswith('MUSTER_TLS_')}

  def issue(self):
    """Issues all certificates, with new keys, and writes them to the pods'
    volumes."""
    for secret, volume in self._volumes.items():
      volume.write(self._secrets.issue(secret))


class StatePods:
  """Pods of rendezvousd from the overlay elastic-state. A folder of the cluster
  takes the place of their volume."""

  def __init__(self, case):
    self._case = case
    deployment, = [thing for thing in manifests.things_of(manifests.read(
        os.path.join(overlays.BUILT, 'elastic-state.yaml')))
                   if thing['kind'] == 'Deployment']
    self._pod = manifests.pod_of(deployment)
    self._volume = kubelet.PersistentVolume(
        os.path.join(case.cluster.folder, 'volume'))

  def start(self, **security):
    """Starts a pod. `security`: other values of its securityContext."""
    self._volume.mount({**self._pod['securityContext'], **security})
    container = self._pod['containers'][0]
    mount, = container['volumeMounts']
    return self._case.coordinator_pod({
        **container, 'args': [arg.replace(mount['mountPath'], '/srv/volume')
                              for arg in container['args']]})

  def modes(self):
    """Returns the modes of the state's folder and of the files in it."""
    folder = os.path.join(self._case.cluster.folder, 'volume', 'state')
    paths = [folder] + [os.path.join(folder, file)
                        for file in os.listdir(folder)]
    return {stat.S_IMODE(os.stat(path).st_mode) for path in paths}


class EtcdPods:
  """Pods of rendezvousd from the rendered chart elastic-etcd, with a real etcd
  outside of the pods (the process `etcd`), which uses mutual TLS."""

  def __init__(self, case):
    self._case = case
    deployment, = [thing for thing in manifests.things_of(manifests.read(
        os.path.join(chart.RENDERED, 'elastic-etcd.yaml')))
                   if thing['kind'] == 'Deployment']
    pod = manifests.pod_of(deployment)
    self._container = pod['containers'][0]
    volume, = [v['secret'] for v in pod['volumes'] if v['name'] == 'etcd']
    mount, = [m for m in self._container['volumeMounts']
              if m['name'] == 'etcd']
    self._mounted = mount['mountPath']
    folder = tempfile.mkdtemp(prefix='etcd')
    case.addCleanup(shutil.rmtree, folder)
    secrets = certificate_secrets.CertificateSecrets(folder, self._authority())
    self._start_etcd(folder, secrets.issue('etcd'))
    given = secrets.issue(volume['secretName'])
    kubelet.SecretVolume(
        os.path.join(case.cluster.folder, 'etcd-secret'), volume,
        pod['securityContext']['fsGroup']).write(
            {item['path']: given[item['key']] for item in volume['items']})

  def _authority(self):
    def thing(kind, name, **spec):
      return {'kind': kind, 'metadata': {'name': name}, 'spec': spec}
    def certificate(name, issuer, **more):
      return thing('Certificate', name, commonName=name, secretName=name,
                   issuerRef={'name': issuer}, **more)
    return [
        thing('Issuer', 'self', selfSigned={}),
        thing('Issuer', 'ca', ca={'secretName': 'ca'}),
        certificate('ca', 'self'),
        certificate('etcd', 'ca', dnsNames=['etcd'],
                    usages=['digital signature', 'server auth',
                            'client auth']),
        certificate('etcd-client', 'ca', dnsNames=['rendezvousd'],
                    usages=['digital signature', 'client auth'])]

  def _start_etcd(self, folder, files):
    paths = {}
    for name, content in files.items():
      paths[name] = os.path.join(folder, 'etcd-' + name)
      with open(paths[name], 'wb') as file:
        file.write(content)
    url = 'https://%s:2379' % self._case.cluster.address
    self.etcd = process.Process('etcd', [
        'etcd', '--data-dir', os.path.join(folder, 'data'),
        '--listen-client-urls', url, '--advertise-client-urls', url,
        '--listen-peer-urls', 'http://127.0.0.1:0',
        '--cert-file', paths['tls.crt'], '--key-file', paths['tls.key'],
        '--client-cert-auth', '--trusted-ca-file', paths['ca.crt']])
    self._case.addCleanup(self.etcd.end)
    self.etcd.wait_for('client requests on ')
    self._case.cluster.set_name('etcd', self._case.cluster)

  def start(self, name):
    """Starts a pod. Its address belongs to the Service from now on, as if its
    readinessProbe had succeeded."""
    path = self._container['readinessProbe']['httpGet']['path']
    args = [arg.replace(self._mounted, '/srv/etcd-secret')
            for arg in self._container['args']]
    pod = self._case.cluster.start(
        name, environment_of(self._container, {}),
        self._container['command'] + args)
    pods.wait_until(name + ' is ready',
                    lambda: pod.probe(path) == (200, 'ok\n'))
    self._case.cluster.add_name('rendezvousd', pod)
    return pod


class PodCase(unittest.TestCase):
  """A test with its own cluster, which ends with the test."""

  def setUp(self):
    self.cluster = pods.Cluster(
        BINARIES + [os.path.join(HERE, 'pod_worker.py')])
    self.addCleanup(self.cluster.close)
    self.words = {}
    for word in ['finish', 'checkpoint'] + [
        'fail-%d' % rank for rank in range(4)]:
      path = os.path.join(self.cluster.share, word)
      os.mkfifo(path)
      os.chmod(path, 0o666)
      # Each word is a command to all workers. They see it as a byte in the
      # named pipe of the word. Open the pipe for both reading and writing, so
      # that the byte stays in the pipe when other processes open or close it.
      self.words[word] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
      self.addCleanup(os.close, self.words[word])
    self.succeeded = False
    self.addCleanup(lambda: self.succeeded or print(self.cluster.logs()))

  def job_pod(self, index, nodes=3, flags=(), **more):
    """A pod of the Indexed Job; its name does not resolve yet."""
    container = container_of('indexed-job/job.yaml')
    environment = environment_of(container, {
        "metadata.labels['batch.kubernetes.io/job-name']": 'trainer',
        "metadata.labels['batch.kubernetes.io/controller-uid']": '1234-5678',
        'status.podIP': 'POD_ADDRESS', 'spec.nodeName': 'node-%d' % index})
    environment.update({'JOB_COMPLETION_INDEX': str(index),
                        'MUSTER_NODES': str(nodes), **more})
    command = container['command'] + container['args'][:-1] + list(flags)
    return self.cluster.start('trainer-%d' % index, environment,
                              command + ['/srv/bin/pod_worker.py'])

  def tls_pods(self, overlay):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    return TlsPods(self.cluster, folder.name, overlay)

  def job_set_pod(self, index, **more):
    """A pod of the JobSet, as its controller labels it."""
    container = container_of('jobset/jobset.yaml')
    environment = environment_of(container, {
        "metadata.labels['batch.kubernetes.io/job-name']": 'trainer-worker-0',
        "metadata.labels['jobset.sigs.k8s.io/jobset-name']": 'trainer',
        "metadata.labels['jobset.sigs.k8s.io/jobset-uid']": '8765-4321',
        "metadata.labels['jobset.sigs.k8s.io/restart-attempt']": '0',
        "metadata.annotations['jobset.sigs.k8s.io/coordinator']":
            'trainer-worker-0-0.trainer',
        'status.podIP': 'POD_ADDRESS'})
    environment.update({'JOB_COMPLETION_INDEX': str(index),
                        'MUSTER_NODES': '2', **more})
    return self.cluster.start(
        'trainer-worker-0-%d' % index, environment, container['command'] +
        container['args'][:-1] + ['/srv/bin/pod_worker.py'])

  def start_job(self, nodes=3, **more):
    started = [self.job_pod(index, nodes, **more) for index in range(nodes)]
    self.cluster.set_name('trainer-0.trainer', started[0])
    return started

  def coordinator_pod(self, container=None, **more):
    container = container or container_of('elastic/rendezvousd.yaml')
    pod = self.cluster.start('rendezvousd-x',
                             {**environment_of(container, {}), **more},
                             container['command'] + container['args'])
    self.cluster.set_name('rendezvousd', pod)
    return pod

  def agent_pod(self, index, **more):
    container = container_of('elastic/agents.yaml')
    environment = environment_of(container, {
        'metadata.name': 'trainer-%d' % index, 'status.podIP': 'POD_ADDRESS'})
    environment.update({'MUSTER_NODES': '2:3', **more})
    quick = ['--rdzv-conf=last_call_timeout=1', '--scale-up-cooldown=0']
    command = container['command'] + container['args'][:-1] + quick
    return self.cluster.start('trainer-%d' % index, environment,
                              command + ['/srv/bin/pod_worker.py'])

  def say(self, word):
    """Sends `word` to all workers, also to those that start later."""
    os.write(self.words[word], b'.')

  def finish(self, running):
    self.say('finish')
    self.assertEqual([pod.exit_code() for pod in running],
                     [0] * len(running))
    self.succeeded = True
