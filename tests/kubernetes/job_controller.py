"""A model of Kubernetes' Job controller, which computes when it replaces pods.

Behaves like pkg/controller/job of Kubernetes 1.27 to 1.37 for an Indexed Job
whose pods have `restartPolicy: Never` and the manifests' podFailurePolicy. The
model never sleeps: the caller passes the time.

Surprising facts that the model contains:

* The back-off is 10 s x 2^(n-1), at most 600 s, from the last failure on. n
  counts every pod that failed, also those that the podFailurePolicy ignores.
* With `backoffLimit`, n is the Job's: one pod's end delays all. A pod that
  succeeds sets it to zero. With `backoffLimitPerIndex`, n is the index's, and
  nothing sets it to zero.
* From 1.29 on a pod is made again once the one before has ended (a
  podFailurePolicy makes `podReplacementPolicy: Failed` the default); before,
  as soon as it is being deleted.
"""

DEFAULT_BACKOFF = 10.0  # seconds
MAX_BACKOFF = 600.0


def backoff(failures):
  """Returns the seconds between the last of a number of failures and the next
  pod."""
  if failures == 0:
    return 0.0
  return min(DEFAULT_BACKOFF * 2.0 ** (failures - 1), MAX_BACKOFF)


class JobController:
  """A model of one Job. `spec` is the Job's spec in the manifest."""

  def __init__(self, spec, version='1.34'):
    self.spec = spec
    self.pods = spec['completions']
    self._per_index = 'backoffLimitPerIndex' in spec
    self._waits_for_end = tuple(map(int, version.split('.'))) >= (1, 29)
    self._failures = {}  # index, or None for the whole Job -> (number, last)
    self._counted = {}
    self._missing = {}  # index -> time since which its pod is missing
    self._terminating = set()
    self.succeeded = set()
    self.failed_because = None

  def _key(self, index):
    return index if self._per_index else None

  def _action(self, exit_code, disrupted):
    """Returns the action of the first matching rule of the podFailurePolicy."""
    for rule in self.spec['podFailurePolicy']['rules']:
      codes = rule.get('onExitCodes')
      if codes and exit_code in codes['values']:
        return rule['action']
      for condition in rule.get('onPodConditions') or []:
        if disrupted and condition['type'] == 'DisruptionTarget':
          return rule['action']
    return 'Count'

  def deleted(self, now, index, disrupted=True):
    """Called when a pod gets SIGTERM because it is evicted or deleted."""
    del disrupted
    if not self._waits_for_end:
      self._missing[index] = now
      self._terminating.add(index)

  def ended(self, now, index, exit_code, disrupted=False):
    """Called when a pod's last container has ended."""
    if exit_code == 0:
      self.succeeded.add(index)
      if not self._per_index:
        self._failures = {}
      return
    key = self._key(index)
    number, _ = self._failures.get(key, (0, 0.0))
    self._failures[key] = (number + 1, now)
    action = self._action(exit_code, disrupted)
    if action == 'FailJob':
      self.failed_because = 'PodFailurePolicy'
    elif action == 'Count':
      self._counted[key] = self._counted.get(key, 0) + 1
      limit = self.spec['backoffLimitPerIndex' if self._per_index
                        else 'backoffLimit']
      if self._counted[key] > limit:
        self.failed_because = ('MaxFailedIndexesExceeded' if self._per_index
                               else 'BackoffLimitExceeded')
    if index in self._terminating:
      self._terminating.discard(index)  # its successor exists already
    else:
      self._missing[index] = now

  @property
  def counted(self):
    """Returns the number of pods that counted as failures."""
    return sum(self._counted.values())

  def next_start(self):
    """Returns (time, index) of the next pod to create; None: none is due."""
    if self.failed_because or not self._missing:
      return None
    def due(index):
      number, last = self._failures.get(self._key(index), (0, 0.0))
      return max(self._missing[index], last + backoff(number))
    index = min(self._missing, key=lambda i: (due(i), i))
    return due(index), index

  def started(self, index):
    self._missing.pop(index)
