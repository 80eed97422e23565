#!/usr/bin/python3
"""Checks that pods wait long enough for the time that Kubernetes takes to
create pods."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import job_controller  # noqa: E402
from manifests import job_spec, manifests, pod_timeout  # noqa: E402

NODES = 4


def specs():
  """Returns the Job's spec for new and for old versions of Kubernetes, with the
  version."""
  plain = dict(manifests())
  new = next(job_spec(t) for t in plain['indexed-job'] if job_spec(t))
  old = {key: value for key, value in new.items()
         if key not in ('backoffLimitPerIndex', 'maxFailedIndexes')}
  return [('1.34', new), ('1.27', dict(old, backoffLimit=8))]


class Life:
  """Simulates the pods of a Job, in the controller model's time, and how they
  wait for each other.

  If pod 0 is killed, the coordinator is lost: each other pod waits for the next
  coordinator for at most `timeout`, and exits with 1 if there is none. Pods
  wait in the same way for all other missing pods.
  """

  def __init__(self, spec, version, timeout):
    self.controller = job_controller.JobController(spec, version)
    self.timeout = timeout
    self.now = 0.0
    self.longest_wait = 0.0

  def kill(self, *indices):
    for index in indices:
      self.controller.ended(self.now, index, 137)
    self.wait_for_all(set(range(NODES)) - set(indices))

  def evict_all(self):
    """Simulates the eviction of one pod: all pods write a checkpoint and end
    with exit code 75."""
    self.controller.deleted(self.now, 0)
    self.now += 20.0
    for index in range(NODES):
      self.controller.ended(self.now, index, 75, disrupted=index == 0)
    self.wait_for_all(set())

  def wait_for_all(self, waiting):
    since = {index: self.now for index in waiting}
    while (due := self.controller.next_start()) is not None:
      when, index = due
      gives_up = [i for i, began in since.items()
                  if began + self.timeout < when]
      if gives_up:
        self.now = min(since[i] for i in gives_up) + self.timeout
        for i in gives_up:
          since.pop(i)
          self.controller.ended(self.now, i, 1)
        continue
      self.longest_wait = max([self.longest_wait] +
                              [when - began for began in since.values()])
      self.now = max(self.now, when)
      self.controller.started(index)
      since[index] = self.now
    self.now += 3600.0  # the job trains for an hour


class Backoff(unittest.TestCase):

  def test_it_doubles_up_to_ten_minutes(self):
    self.assertEqual([job_controller.backoff(n) for n in range(9)],
                     [0, 10, 20, 40, 80, 160, 320, 600, 600])

  def test_shared_back_off_counts_evicted_pods(self):
    spec = dict(specs())['1.27']
    controller = job_controller.JobController(spec, '1.27')
    for index in range(NODES):
      controller.ended(100.0, index, 75, disrupted=True)
    self.assertEqual(controller.counted, 0)
    self.assertEqual(controller.next_start(), (180.0, 0))

  def test_by_index_an_eviction_delays_its_own_pod_alone(self):
    spec = dict(specs())['1.34']
    controller = job_controller.JobController(spec, '1.34')
    for index in range(NODES):
      controller.ended(100.0, index, 75, disrupted=True)
    for index in range(NODES):
      self.assertEqual(controller.next_start(), (110.0, index))
      controller.started(index)
    self.assertIsNone(controller.next_start())

  def test_a_pod_is_made_again_after_its_end_or_before(self):
    for version, spec in specs():
      controller = job_controller.JobController(spec, version)
      controller.deleted(50.0, 2)
      self.assertEqual(controller.next_start(),
                       (50.0, 2) if version == '1.27' else None)

  def test_status_2_ends_the_job(self):
    for version, spec in specs():
      controller = job_controller.JobController(spec, version)
      controller.ended(1.0, 3, 2)
      self.assertEqual(controller.failed_because, 'PodFailurePolicy')
      self.assertIsNone(controller.next_start())


class Timeout(unittest.TestCase):

  def test_a_killed_pod_costs_one_failure_however_many_disruptions_before(self):
    for version, spec in specs():
      for evictions in range(6):
        for victim in (0, NODES - 1):
          life = Life(spec, version, pod_timeout())
          for _ in range(evictions):
            life.evict_all()
          life.kill(victim)
          with self.subTest(version=version, evictions=evictions):
            self.assertEqual(life.controller.counted, 1)
            self.assertIsNone(life.controller.failed_because)

  def test_less_patience_makes_one_kill_cost_three_failures(self):
    # Let each pod exit if the other pods do not come within 300 s. After an
    # eviction and a kill, the Job controller waits longer than that before it
    # replaces the next killed pod. So the waiting pods exit too, and the second
    # kill costs several failures.
    spec = dict(specs())['1.27']
    life = Life(spec, '1.27', 300.0)
    life.evict_all()
    life.kill(0)
    life.kill(0)
    self.assertGreaterEqual(life.controller.counted, 3)

  def test_the_longest_wait_leaves_room_for_a_machine_to_come(self):
    for version, spec in specs():
      life = Life(spec, version, pod_timeout())
      for _ in range(10):
        life.evict_all()
      life.kill(1)
      self.assertEqual(life.longest_wait, job_controller.MAX_BACKOFF)
      self.assertGreaterEqual(pod_timeout() - life.longest_wait, 1000.0)


if __name__ == '__main__':
  unittest.main()
