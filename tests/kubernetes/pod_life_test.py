#!/usr/bin/python3
"""Tests of pods that start in any order, get their DNS names late, are evicted,
or get new addresses, and of process 1 in a pod."""

import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import pod_case  # noqa: E402
import pods  # noqa: E402


class PodLife(pod_case.PodCase):

  def test_any_order_and_names_that_come_late(self):
    started = [self.job_pod(index) for index in (2, 1, 0)]
    for pod in started[:2]:
      pod.wait_for('does not resolve')
    self.cluster.set_name('trainer-0.trainer', started[2])
    for pod in started:
      pod.wait_for('of 3 works')
    self.finish(started)

  def test_a_job_set_meets_at_the_pod_that_its_controller_names(self):
    started = [self.job_set_pod(index) for index in range(2)]
    self.cluster.set_name('trainer-worker-0-0.trainer', started[0])
    for pod in started:
      pod.wait_for('of 2 works')
    self.finish(started)

  def test_a_job_with_the_certificate_of_its_overlay_meets(self):
    tls = self.tls_pods('indexed-job-tls').variables['Job']
    started = self.start_job(2, **tls)
    for pod in started:
      pod.wait_for('of 2 works')
    self.finish(started)

  def test_a_job_set_with_the_certificate_of_its_overlay_meets(self):
    tls = self.tls_pods('jobset-tls').variables['JobSet']
    started = [self.job_set_pod(index, **tls) for index in range(2)]
    self.cluster.set_name('trainer-worker-0-0.trainer', started[0])
    for pod in started:
      pod.wait_for('of 2 works')
    self.finish(started)

  def test_elastic_pods_use_renewed_certificates(self):
    tls = self.tls_pods('elastic-tls')
    agents_tls = tls.variables['StatefulSet']
    daemon = self.coordinator_pod(**tls.variables['Deployment'])
    daemon.wait_for('mutual TLS')
    agents = [self.agent_pod(index, **agents_tls) for index in range(2)]
    for agent in agents:
      agent.wait_for('of 2 works')
    tls.issue()
    agents.append(self.agent_pod(2, **agents_tls))
    for agent in agents:
      agent.wait_for('of 3 works')
    for agent in agents:
      self.assertNotIn('lost the coordinator', agent.log())
    self.finish(agents)

  def test_a_pod_without_a_certificate_is_refused(self):
    tls = self.tls_pods('indexed-job-tls').variables['Job']
    first = self.job_pod(0, nodes=2, **tls)
    self.cluster.set_name('trainer-0.trainer', first)
    self.job_pod(1, nodes=2).wait_for('asks for TLS with a certificate')
    second = self.job_pod(1, nodes=2, **tls)
    for pod in (first, second):
      pod.wait_for('of 2 works')
    self.finish([first, second])

  def test_agents_wait_for_the_daemons_name(self):
    agents = [self.agent_pod(index) for index in range(2)]
    for agent in agents:
      agent.wait_for('rendezvousd does not resolve')
    self.coordinator_pod()
    for agent in agents:
      agent.wait_for('of 2 works')
    self.finish(agents)

  def test_pods_of_a_rack_are_neighbours(self):
    started = [self.job_pod(index, nodes=4, MUSTER_RACK='r%d' % (index % 2))
               for index in range(4)]
    self.cluster.set_name('trainer-0.trainer', started[0])
    for pod in started:
      pod.wait_for('of 4 works')
    ranks = [int(pod.log().split('] rank ')[1].split()[0]) for pod in started]
    self.assertEqual(sorted(ranks), [0, 1, 2, 3])
    # Pods 0 and 2 are in rack 0, pods 1 and 3 in rack 1. Each rack must get two
    # adjacent ranks.
    self.assertEqual({ranks[0] // 2, ranks[2] // 2}, {ranks[0] // 2})
    self.finish(started)

  def test_probes_tell_the_truth(self):
    late = self.job_pod(1, nodes=2)
    # Let the coordinator's name resolve to an address on which nothing listens.
    self.cluster.set_name('trainer-0.trainer', self.cluster)
    pods.wait_until('it answers', lambda: late.probe('/livez'))
    self.assertEqual(late.probe('/livez'), (200, 'ok\n'))
    self.assertEqual(late.probe('/startupz'),
                     (503, 'the coordinator has not answered yet\n'))
    self.assertEqual(late.probe('/readyz')[0], 503)
    first = self.job_pod(0, nodes=2)
    self.cluster.set_name('trainer-0.trainer', first)
    for pod in (first, late):
      pod.wait_for('of 2 works')
      for path in ('/livez', '/startupz', '/readyz'):
        pods.wait_until('%s of %s' % (path, pod.host_name),
                        lambda: pod.probe(path) == (200, 'ok\n'))
    self.finish([first, late])

  def test_a_members_pod_is_replaced_with_a_new_address(self):
    started = self.start_job()
    for pod in started:
      pod.wait_for('of 3 works')
    started[1].kill()
    replaced = self.job_pod(1)
    self.assertNotEqual(replaced.address, started[1].address)
    replaced.wait_for('rank 1 of 3 works')
    # Pods 0 and 2, which were not replaced, must begin a second round.
    for pod in (started[0], started[2]):
      pods.wait_until('a second round',
                      lambda: pod.log().count('of 3 works') >= 2)
    self.finish([started[0], replaced, started[2]])

  def test_the_coordinators_pod_is_replaced_with_a_new_address(self):
    started = self.start_job()
    for pod in started:
      pod.wait_for('of 3 works')
    started[0].kill()
    replaced = self.job_pod(0)
    # Until now the name has resolved to the old pod's address. Let it resolve
    # to the new one.
    self.cluster.set_name('trainer-0.trainer', replaced)
    replaced.wait_for('of 3 works')
    self.finish([replaced, started[1], started[2]])

  def test_the_daemons_pod_is_replaced_with_a_new_address(self):
    daemon = self.coordinator_pod()
    agents = [self.agent_pod(index) for index in range(3)]
    for agent in agents:
      agent.wait_for('of 3 works')
    daemon.kill()
    for agent in agents:
      agent.wait_for('the workers run on')
    # Each agent logs 'of 3 works' once per round. Count these lines for each
    # agent: the counts may differ, because two agents may have started a round
    # without the third.
    before = [agent.log().count('of 3 works') for agent in agents]
    daemon = self.coordinator_pod()
    pods.wait_until('the next one is ready',
                    lambda: daemon.probe('/readyz') == (200, 'ok\n'))
    # Once all agents are connected, the new coordinator must continue the round
    # that they report, so no further round may have begun.
    pods.wait_until('all agents are connected again', lambda:
                    all(agent.host_name in self.status(daemon)
                        for agent in agents))
    self.assertEqual([agent.log().count('of 3 works') for agent in agents],
                     before)
    self.finish(agents)

  def status(self, daemon):
    """Returns the output of launch status; '' if the daemon knows no job yet.
    """
    done = subprocess.run(
        ['launcher/launch', 'status', '--run-id=trainer-1',
         '--endpoint=%s:29400' % daemon.address], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=pods.PATIENCE)
    return done.stdout if done.returncode == 0 else ''

  def connected(self, daemon):
    shown = self.status(daemon)
    return shown and 'disconnected' not in shown

  def test_no_worker_restarts_if_the_daemons_state_is_in_a_volume(self):
    daemons = pod_case.StatePods(self)
    daemon = daemons.start()
    agents = [self.agent_pod(index) for index in range(3)]
    for agent in agents:
      agent.wait_for('of 3 works')
    for end in (pods.Pod.kill, pods.Pod.evict):
      end(daemon)
      daemon.exit_code()
      daemon = daemons.start()
      daemon.wait_for('listening on')
      self.assertIn('goes on with 1 job of', daemon.log())
      pods.wait_until('all agents are connected again', lambda:
                      self.connected(daemon))
    # The state's folder is open to the daemon's user only (0700). The folder
    # also has the set-group-ID bit (02000), which it inherits from its parent
    # folder. The files in it have the mode 0600.
    self.assertEqual(daemons.modes(), {0o2700, 0o600})
    self.finish(agents)
    for agent in agents:
      self.assertEqual(agent.log().count('works, restart'), 1)
    # Kill rendezvousd and start it again, as Kubernetes does if the container
    # of rendezvousd in a StatefulSet has ended.
    daemon.kill()
    daemons.start()
    again = self.agent_pod(0)
    self.assertEqual(again.exit_code(), 1)
    self.assertIn('job trainer-1 is over', again.log())

  @unittest.skipUnless(shutil.which('etcd'), 'no etcd (Debian: etcd-server)')
  def test_no_worker_restarts_if_the_pods_of_the_daemon_share_an_etcd(self):
    daemons = pod_case.EtcdPods(self)
    leader = daemons.start('rendezvousd-0')
    leader.wait_for('listening on')
    standby = daemons.start('rendezvousd-1')
    standby.wait_for('stands by in etcd://')
    self.assertEqual(standby.probe('/readyz'), (
        503, 'stands by; rendezvousd-0, process 1 leads\n'))
    agents = [self.agent_pod(index) for index in range(3)]
    for agent in agents:
      agent.wait_for('of 3 works')
    for turn, end in enumerate([pods.Pod.kill, pods.Pod.evict]):
      end(leader)
      leader.exit_code()
      # The standby must take over although the name "rendezvousd" still
      # resolves to the lost pod. (The test removes this address later, with
      # remove_name.)
      standby.wait_for('listening on')
      self.assertIn('goes on with 1 job of etcd://etcd:2379/muster/default/',
                    standby.log())
      self.cluster.remove_name('rendezvousd', leader)
      leader = standby
      pods.wait_until('all agents are connected again', lambda:
                      self.connected(leader))
      standby = daemons.start('rendezvousd-%d' % (2 + turn))
      standby.wait_for('stands by in etcd://')
    self.finish(agents)
    for agent in agents:
      self.assertEqual(agent.log().count('works, restart'), 1)

  def test_a_daemon_fails_while_another_one_has_its_state(self):
    daemons = pod_case.StatePods(self)
    first = daemons.start()
    first.wait_for('listening')
    second = daemons.start()
    self.assertEqual(second.exit_code(), 1)
    self.assertIn('it is in use by another process; end that coordinator',
                  second.log())
    first.evict()
    self.assertEqual(first.exit_code(), 0)
    # The kubelet starts a failed container again.
    daemons.start().wait_for('listening')
    self.succeeded = True

  def test_a_daemon_says_what_is_wrong_with_its_volume(self):
    daemons = pod_case.StatePods(self)
    stranger = daemons.start(fsGroup=None)
    self.assertEqual(stranger.exit_code(), 1)
    self.assertIn('cannot create folder /srv/volume/state: Permission denied',
                  stranger.log())
    first = daemons.start()
    first.wait_for('listening')
    first.evict()
    self.assertEqual(first.exit_code(), 0)
    # With "Always", Kubernetes' default, the group may write to each file.
    # rendezvousd refuses such a state folder.
    second = daemons.start(fsGroupChangePolicy='Always')
    self.assertEqual(second.exit_code(), 1)
    self.assertIn('cannot use /srv/volume/state: other users can write to it '
                  '(mode 02770)', second.log())
    self.succeeded = True

  def test_an_evicted_agent_leaves_and_another_comes(self):
    self.coordinator_pod()
    agents = [self.agent_pod(index) for index in range(3)]
    for agent in agents:
      agent.wait_for('of 3 works')
    agents[2].evict()
    self.assertEqual(agents[2].exit_code(), 0)
    self.assertIn('wrote a checkpoint', agents[2].log())
    for agent in agents[:2]:
      agent.wait_for('of 2 works')
    back = self.agent_pod(2)
    back.wait_for('of 3 works')
    self.finish(agents[:2] + [back])

  def test_a_job_that_is_over_starts_again_under_another_id(self):
    daemon = self.coordinator_pod()
    agents = [self.agent_pod(index) for index in range(2)]
    for agent in agents:
      agent.wait_for('of 2 works')
    self.say('finish')
    self.assertEqual([agent.exit_code() for agent in agents], [0, 0])
    # The StatefulSet starts an ended container again. The new agent must learn
    # that the job is over.
    again = self.agent_pod(0)
    self.assertEqual(again.exit_code(), 1)
    self.assertIn('job trainer-1 is over', again.log())
    self.assertNotIn('works', again.log())
    agents = [self.agent_pod(index, MUSTER_RUN_ID='trainer-2')
              for index in range(2)]
    for agent in agents:
      agent.wait_for('of 2 works')
    self.finish(agents)
    self.assertEqual(daemon.probe('/livez'), (200, 'ok\n'))

  def test_an_evicted_pod_of_a_fixed_job_preempts_it(self):
    started = self.start_job()
    for pod in started:
      pod.wait_for('of 3 works')
    started[2].evict()
    self.assertEqual([pod.exit_code() for pod in started], [75, 75, 75])
    for pod in started:
      self.assertIn('wrote a checkpoint', pod.log())
    # Create the pods again, as the Job's controller does.
    again = self.start_job()
    for pod in again:
      pod.wait_for('of 3 works')
    self.finish(again)

  def test_process_1_reaps_forwards_and_returns_the_exit_code(self):
    signals = '--signals-to-forward=SIGUSR1'
    pod = self.job_pod(0, nodes=1, flags=[signals], ORPHAN='1')
    pod.wait_for('of 1 works')
    # With ORPHAN=1 the worker leaves an orphan: a process whose parent has
    # exited. When the orphan ends, process 1 of the pod must reap it. Then
    # three processes are left: the agent, the guardian (the worker's parent)
    # and the worker.
    pods.wait_until('no zombie is left', lambda: pod.states() and
                    'Z' not in pod.states() and len(pod.states()) == 3)
    pod.signal(signal.SIGUSR1)
    pod.wait_for('got SIGUSR1')
    self.say('fail-0')
    self.assertEqual(pod.exit_code(), 7)
    self.succeeded = True

  def test_single_node_runs_on_any_loopback_address(self):
    # A job with one node must run on any address of lo, without a look-up of
    # the node's name. The kernel gives lo the addresses 127.0.0.1 and ::1; each
    # case's shell commands remove some of them.
    for addresses, master in [
        ('', '127.0.0.1'), ('ip addr del 127.0.0.1/8 dev lo;', '::1'),
        ('ip addr flush dev lo; ip addr add 10.1.2.3/32 dev lo;', '10.1.2.3')]:
      with self.subTest(addresses):
        done = subprocess.run(
            ['unshare', '--net', 'sh', '-c',
             'ip link set lo up; %s exec launcher/launch --standalone '
             '--nproc-per-node=2 sh -c "echo at \\$MASTER_ADDR"' % addresses],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=pods.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count('at %s\n' % master), 2, done.stdout)
    self.succeeded = True


if __name__ == '__main__':
  why = pods.enter_namespaces()
  if why:
    print('SKIPPED: pods need namespaces: ' + why)
    sys.exit(0)
  unittest.main()
