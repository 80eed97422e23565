#!/usr/bin/python3
"""A Job's life: its pods under the controller's back-off, order and DNS."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import job_pods  # noqa: E402
import pod_case  # noqa: E402
import pods  # noqa: E402
from manifests import job_spec, manifests  # noqa: E402


def spec_of(nodes, version):
  """The manifest's Job with so many pods, for that version of Kubernetes."""
  plain = dict(manifests())
  spec = dict(next(job_spec(t) for t in plain['indexed-job'] if job_spec(t)),
              completions=nodes, parallelism=nodes)
  if version == '1.27':
    del spec['backoffLimitPerIndex'], spec['maxFailedIndexes']
    spec['backoffLimit'] = 8
  return spec


class JobLife(pod_case.PodCase):

  def job(self, nodes=3, version='1.34', **more):
    return job_pods.JobPods(
        self.cluster, spec_of(nodes, version),
        lambda index: self.job_pod(index, nodes, **more), version)

  def test_a_killed_pod_0_costs_one_failure_after_a_disruption(self):
    for version in ('1.34', '1.27'):
      with self.subTest(version):
        job = self.job(version=version)
        job.await_work('of 3 works')
        job.evict(2)
        self.assertEqual(job.await_end(0, 1, 2), [75, 75, 75])
        made, waited = job.make_what_is_due()
        self.assertEqual(len(made), 3)
        # Old versions count the three ends together.
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
    self.assertIn('Fit to train', pod.log())
    self.assertNotIn('[disk-', pod.log())
    self.succeeded = True


if __name__ == '__main__':
  why = pods.enter_namespaces()
  if why:
    print('SKIPPED: pods need namespaces: ' + why)
    sys.exit(0)
  unittest.main()
