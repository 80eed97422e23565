"""The pods of an Indexed Job: real processes, which are replaced when
Kubernetes would do so.

The processes run in real time. The back-off of Kubernetes between two of them,
up to ten minutes, passes only in the simulated time of job_controller's model.
"""

import job_controller
import kubelet


class JobPods:
  """The pods of one Job, and their names in the cluster's DNS."""

  def __init__(self, cluster, spec, start, version='1.34', late=()):
    """`start`(index) starts the pod of an index and returns it. The pods of the
    indices `late` are created only by make_late, as if their machine were slow.
    """
    self.controller = job_controller.JobController(spec, version)
    self.now = 0.0  # simulated time in seconds
    self.running = {}  # index -> the newest pod of that index
    self._cluster, self._start, self._late = cluster, start, late
    # (index, pod) of pods that were replaced before their end
    self._terminating = []
    self._disrupted = set()
    for index in set(range(self.controller.pods)) - set(late):
      self._make(index)

  def make_late(self):
    for index in self._late:
      self._make(index)

  def _name(self, index):
    return 'trainer-%d.trainer' % index

  def _make(self, index):
    if index in self.running:
      self._terminating.append((index, self.running[index]))
    pod = self._start(index)
    self.running[index] = pod
    # With publishNotReadyAddresses, a headless Service keeps the address of an
    # old pod until the pod has ended. So while the old pod and its replacement
    # both exist, their common name has two addresses.
    self._cluster.add_name(self._name(index), pod)
    return pod

  def evict(self, index):
    """Has the effect of the eviction API: the pod gets SIGTERM and is
    terminating."""
    pod = self.running[index]
    self._disrupted.add(pod)
    self.controller.deleted(self.now, index)
    pod.evict()

  def delete(self):
    """Has the effect of `kubectl delete`: every pod gets SIGTERM, and none is
    replaced."""
    for pod in self.running.values():
      pod.evict()

  def kill(self, index):
    self.running[index].kill()
    self._saw_end(index, self.running[index])

  def killed_as_silent(self, index, pod_spec):
    """Waits until the kubelet has ended a pod that does not answer its probes.
    Returns the seconds that this took in Kubernetes' time, or None if the pod
    answers."""
    pod = self.running[index]
    passed = kubelet.end_of_a_silent_container(pod, pod_spec)
    if passed is not None:
      self.now += passed
      self._saw_end(index, pod)
    return passed

  def await_end(self, *indices):
    """Waits until these pods have ended. Returns their exit codes."""
    codes = []
    for index in indices:
      pod = self.running[index]
      codes.append(pod.exit_code())
      self._saw_end(index, pod)
    return codes

  def await_terminating(self):
    """Waits until the replaced pods have ended. Returns their exit codes."""
    codes = []
    for index, pod in self._terminating:
      codes.append(pod.exit_code())
      self._cluster.remove_name(self._name(index), pod)
      self.controller.ended(self.now, index, codes[-1], pod in self._disrupted)
    self._terminating = []
    return codes

  def _saw_end(self, index, pod):
    self._cluster.remove_name(self._name(index), pod)
    del self.running[index]
    self.controller.ended(self.now, index, pod.exit_code(),
                          pod in self._disrupted)

  def make_what_is_due(self):
    """Advances Kubernetes' time until no pod is missing. Returns the new pods
    and the time until the last of them was created."""
    began, made = self.now, []
    while True:
      due = self.controller.next_start()
      if due is None:
        return made, self.now - began
      self.now = max(self.now, due[0])
      self.controller.started(due[1])
      made.append(self._make(due[1]))

  def await_work(self, text):
    """Waits until the worker of every running pod has printed `text`."""
    for pod in self.running.values():
      pod.wait_for(text)

  def rounds(self, index, text):
    return self.running[index].log().count(text)
