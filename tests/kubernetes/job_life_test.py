#!/usr/bin/python3
"""Runs a Job's pods with the controller's back-off, order and DNS."""

import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import job_pods  # noqa: E402
import pod_case  # noqa: E402
import pods  # noqa: E402
from manifests import job_spec, manifests, pod_of  # noqa: E402


def spec_of(nodes, version):
  """Returns the spec of the manifest's Job for a version of Kubernetes, with
  that number of pods."""
  plain = dict(manifests())
  spec = dict(next(job_spec(t) for t in plain['indexed-job'] if job_spec(t)),
              completions=nodes, parallelism=nodes)
  if version == '1.27':
    del spec['backoffLimitPerIndex'], spec['maxFailedIndexes']
    spec['backoffLimit'] = 8
  return spec


class JobLife(pod_case.PodCase):

  def job(self, nodes=3, version='1.34', late=(), **more):
    return job_pods.JobPods(
        self.cluster, spec_of(nodes, version),
        lambda index: self.job_pod(index, nodes, **more), version, late)

  def test_a_killed_pod_0_costs_one_failure_after_a_disruption(self):
    for version in ('1.34', '1.27'):
      with self.subTest(version):
        self.succeeded = False
        job = self.job(version=version)
        job.await_work('of 3 works')
        job.evict(2)
        self.assertEqual(job.await_end(0, 1, 2), [75, 75, 75])
        made, waited = job.make_what_is_due()
        self.assertEqual(len(made), 3)
        # The Job controller replaces a pod 10 s after one failure, and doubles
        # this time with each further failure. Kubernetes 1.27 counts the
        # failures of all three pods together.
        self.assertEqual(waited, 40.0 if version == '1.27' else 10.0)
        job.await_work('of 3 works')
        before = job.rounds(1, 'of 3 works')
        job.kill(0)
        _, waited = job.make_what_is_due()
        self.assertEqual(waited, 80.0 if version == '1.27' else 20.0)
        for index in (1, 2):
          pods.wait_until('the next round',
                          lambda index=index:
                          job.rounds(index, 'of 3 works') > before)
        job.running[0].wait_for('of 3 works')
        self.assertEqual(job.controller.counted, 1)
        for pod in job.running.values():
          pod.kill()
        self.succeeded = True

  def test_a_new_job_waits_for_the_end_of_the_old_ones_pod_0(self):
    # The Job is deleted and created again, as by kubectl delete and apply. The
    # name of pod 0 still resolves to the old pod 0, so the new pod 1 must wait
    # until the name resolves to the new one.
    old = self.job(nodes=2, SLOW_CHECKPOINT='1')
    old.await_work('of 2 works')
    old.delete()
    for pod in old.running.values():
      pod.wait_for('writes a checkpoint')
    new = self.job(nodes=2, late=[0], MUSTER_JOB_UID='9999-0000')
    new.running[1].wait_for('asking again for 1800 s')
    text = ' '.join(new.running[1].log().split())
    self.assertIn("the coordinator at trainer-0.trainer:29400 is not this job's "
                  '(this coordinator belongs to job "trainer-1234-567"', text)
    new.make_late()
    self.say('checkpoint')
    self.assertEqual(old.await_end(0, 1), [75, 75])
    new.await_work('of 2 works')
    self.finish(list(new.running.values()))

  def test_a_replacement_waits_for_the_end_of_the_pod_that_it_replaces(self):
    # Kubernetes 1.27 and 1.28 create a replacement while the old pod is
    # terminating.
    job = self.job(nodes=2, version='1.27', SLOW_CHECKPOINT='1')
    job.await_work('of 2 works')
    job.evict(1)
    job.running[0].wait_for('writes a checkpoint')
    made, waited = job.make_what_is_due()
    self.assertEqual((made, waited), ([job.running[1]], 0.0))
    job.running[1].wait_for('this node takes its place when that has ended')
    self.say('checkpoint')
    self.assertEqual(job.await_terminating(), [75])
    # The replacement of pod 1 learns that the job was preempted. So the
    # replacement and pod 0 must both end with exit code 75 (preempted).
    self.assertEqual(job.await_end(0, 1), [75, 75])
    job.make_what_is_due()
    job.await_work('of 2 works')
    self.assertEqual(job.controller.counted, 0)
    self.finish(list(job.running.values()))

  def test_a_replacement_of_pod_0_does_not_wait_for_the_old_one(self):
    job = self.job(nodes=2, version='1.27', SLOW_CHECKPOINT='1')
    job.await_work('of 2 works')
    job.evict(0)
    job.running[1].wait_for('writes a checkpoint')
    made, _ = job.make_what_is_due()
    made[0].wait_for('1 of 2 nodes here, waiting for 1 more')
    self.say('checkpoint')
    self.assertEqual(job.await_terminating(), [75])
    self.assertEqual(job.await_end(1), [75])
    job.make_what_is_due()
    job.await_work('of 2 works')
    self.assertEqual(job.controller.counted, 0)
    self.finish(list(job.running.values()))

  def test_a_stopped_agent_is_replaced_soon(self):
    plain = dict(manifests())
    pod_spec = next(pod_of(t) for t in plain['indexed-job'] if job_spec(t))
    for victim in (1, 0):
      with self.subTest(victim):
        job = self.job()
        job.await_work('of 3 works')
        before = {index: job.rounds(index, 'of 3 works') for index in range(3)}
        stopped = job.running[victim]
        self.assertEqual(stopped.probe('/livez'), (200, 'ok\n'))
        stopped.stop_agent()
        passed = job.killed_as_silent(victim, pod_spec)
        self.assertIsNotNone(passed)
        # The kubelet must kill the silent pod within 90 s. This needs a grace
        # period of the liveness probe itself: with the pod's
        # terminationGracePeriodSeconds, the kill would take four minutes.
        self.assertLessEqual(passed, 90.0)
        self.assertEqual(stopped.exit_code(), 128 + signal.SIGKILL)
        made, _ = job.make_what_is_due()
        self.assertEqual(made, [job.running[victim]])
        made[0].wait_for('of 3 works')
        for index in {0, 1, 2} - {victim}:
          pods.wait_until('the next round',
                          lambda index=index:
                          job.rounds(index, 'of 3 works') > before[index])
        self.assertEqual(job.controller.counted, 1)
        for pod in job.running.values():
          pod.kill()
        self.succeeded = True

  def test_sigterm_before_the_coordinator_has_a_name_is_a_preemption(self):
    pod = self.job_pod(1)
    pod.wait_for('does not resolve')
    pod.evict()
    self.assertEqual(pod.exit_code(), 75)
    self.assertIn('caught SIGTERM before the job was met', pod.log())
    self.succeeded = True

  def test_sigterm_before_the_coordinator_listens_is_a_preemption(self):
    pod = self.job_pod(1)
    self.cluster.set_name('trainer-0.trainer', self.cluster)
    pod.wait_for('no coordinator at')
    pod.evict()
    self.assertEqual(pod.exit_code(), 75)
    self.succeeded = True

  def test_a_workers_own_status_75_counts_as_a_failure(self):
    job = self.job(nodes=2, FAIL_WITH='75')
    job.await_work('of 2 works')
    self.say('fail-1')
    self.assertEqual(job.await_end(0, 1), [1, 1])
    self.assertEqual(job.controller.counted, 2)
    self.succeeded = True

  def test_a_pod_that_stays_pending_is_named_with_what_shows_why(self):
    started = [self.job_pod(index, MUSTER_POD_TIMEOUT='5')
               for index in (0, 2)]
    self.cluster.set_name('trainer-0.trainer', started[0])
    started[1].wait_for('2 of 3 nodes here, waiting for 1 more')
    for pod in started:
      self.assertEqual(pod.exit_code(), 1)
      text = ' '.join(pod.log().split())
      self.assertIn('only 2 of at least 3 nodes came within 5 s; absent: index '
                    '1', text)
      self.assertIn('kubectl get pods -l batch.kubernetes.io/job-name=trainer '
                    'shows which pods are missing, kubectl describe pod why one '
                    'is Pending', text)
    self.succeeded = True

  def test_a_healthy_pods_read_only_root_is_no_trouble(self):
    pod = self.cluster.start('trainer-0', {'HOME': '/tmp'}, [
        'sh', '-c', 'cd /; launch doctor; echo ended with $?'])
    pod.wait_for('ended with')
    self.assertIn('. (working folder) is mounted read-only', pod.log())
    self.assertIn('Healthy', pod.log())
    self.assertNotIn('[disk-', pod.log())
    self.succeeded = True


if __name__ == '__main__':
  why = pods.enter_namespaces()
  if why:
    print('SKIPPED: pods need namespaces: ' + why)
    sys.exit(0)
  unittest.main()
