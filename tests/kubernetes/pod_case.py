"""The base of tests with pods, which run as the manifests describe them."""

import os
import unittest

import documents
import pods

HERE = os.path.dirname(os.path.realpath(__file__))
KUSTOMIZE = os.path.join(HERE, '..', '..', 'deploy', 'kubernetes', 'kustomize')
BINARIES = ['launcher/launch', 'launcher/agent', 'rendezvous/daemon/rendezvousd']


def container_of(path):
  """The first container of a manifest's last object."""
  with open(os.path.join(KUSTOMIZE, path)) as file:
    thing = documents.load_all(file.read())[-1]
  if thing['kind'] == 'JobSet':
    thing = thing['spec']['replicatedJobs'][0]['template']
  return thing['spec']['template']['spec']['containers'][0]


def environment_of(container, fields):
  """The manifest's variables in a pod whose fields are `fields`."""
  environment = {}
  for variable in container.get('env', []):
    if 'value' in variable:
      environment[variable['name']] = variable['value']
    else:
      path = variable['valueFrom']['fieldRef']['fieldPath']
      environment[variable['name']] = fields.get(path, '')
  return environment


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
      # Opened for reading and writing, so that a word stays in the pipe whoever
      # else opens or closes the pipe.
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

  def job_set_pod(self, index):
    """A pod of the JobSet, as its controller labels it."""
    container = container_of('jobset/jobset.yaml')
    environment = environment_of(container, {
        "metadata.labels['batch.kubernetes.io/job-name']": 'trainer-worker-0',
        "metadata.labels['jobset.sigs.k8s.io/jobset-name']": 'trainer',
        "metadata.labels['jobset.sigs.k8s.io/restart-attempt']": '0',
        "metadata.annotations['jobset.sigs.k8s.io/coordinator']":
            'trainer-worker-0-0.trainer',
        'status.podIP': 'POD_ADDRESS'})
    environment.update({'JOB_COMPLETION_INDEX': str(index),
                        'MUSTER_NODES': '2'})
    return self.cluster.start(
        'trainer-worker-0-%d' % index, environment, container['command'] +
        container['args'][:-1] + ['/srv/bin/pod_worker.py'])

  def start_job(self, nodes=3, **more):
    started = [self.job_pod(index, nodes, **more) for index in range(nodes)]
    self.cluster.set_name('trainer-0.trainer', started[0])
    return started

  def coordinator_pod(self):
    container = container_of('elastic/rendezvousd.yaml')
    pod = self.cluster.start('rendezvousd-x', environment_of(container, {}),
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
