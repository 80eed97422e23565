#!/usr/bin/python3
"""Tests of launch --hostfile when a host, its connection or its agent is lost.
"""

import os
import re
import signal
import sys
import time

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(os.path.dirname(_HERE), 'python')]

import kernel_events
import over_ssh
import ssh_hosts
import xml_main


class Loss(over_ssh.OverSsh):

  def test_a_lost_connection_ends_a_job_that_needs_the_host(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'],
                        ['--rdzv-conf=rejoin_timeout=0.5'], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    self.cut('127.0.0.2')
    self.assertEqual(front.end(), 1, front.text())
    self.assertTrue(front.lines('127.0.0.2: the connection to it broke'),
                    front.text())
    self.check_verdict_of_loss(front)

  def check_verdict_of_loss(self, front):
    """Checks that exactly one verdict is printed, and that it names the loss as
    the cause, not a signal that Muster sent."""
    self.assertEqual(len(front.lines('TIMED OUT after ')), 1, front.text())
    self.assertTrue(front.lines('only 1 of at least 2 nodes is left'),
                    front.text())
    self.assertTrue(front.lines('(node 127.0.0.2, left: the connection to'),
                    front.text())
    self.assertEqual(front.lines('SIGTERM') + front.lines('SIGPWR'), [],
                     front.text())

  def test_a_host_whose_connection_broke_is_connected_to_again(self):
    go = self.gate()
    hosts = ['127.0.0.1', '127.0.0.2']
    front = self.launch(hosts, [], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    for number, victim in enumerate(hosts, start=2):
      os.kill(self.node_process(victim)[1], signal.SIGKILL)
      self.assertTrue(front.printed('ready rank=', 2 * number), front.text())
      self.assertTrue(front.lines(victim + ': is connected again'),
                      front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_a_host_that_has_not_noticed_the_loss_leaves_before_the_next(self):
    go = self.gate()
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    # Suspend the host's sshd, so that the node's process on this host does not
    # learn that the ssh connection has ended.
    node, sshd = self.node_process('127.0.0.2')
    os.kill(sshd, signal.SIGSTOP)
    self.addCleanup(os.kill, sshd, signal.SIGKILL)
    os.kill(self.client_of(front, '127.0.0.2'), signal.SIGKILL)
    self.assertTrue(front.printed('ready rank=', 4), front.text())
    self.assertTrue(kernel_events.wait_for_end(
        node, time.monotonic() + ssh_hosts.PATIENCE_S), front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_the_first_host_comes_back_as_a_node_of_another_coordinator(self):
    go = self.gate()
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--nnodes=2:3'], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 3), front.text())
    self.kill_host('127.0.0.1')
    self.assertTrue(front.printed('ready rank=', 5), front.text())
    self.hosts.plug('127.0.0.1')
    self.assertTrue(front.printed('ready rank=', 8), front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())
    self.assertTrue(front.lines('127.0.0.1: is connected again'), front.text())
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_a_killed_agent_is_started_again_and_the_job_succeeds(self):
    hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    for victim in hosts[:2]:
      go = self.gate()
      front = self.launch(hosts, [], ['until-open', go.path])
      self.assertTrue(front.printed('ready rank=', 3), front.text())
      os.kill(self.agent_of(victim), signal.SIGKILL)
      self.assertTrue(front.printed('ready rank=', 6), front.text())
      go.open()
      self.assertEqual(front.end(), 0, front.text())
      self.assertTrue(front.lines(victim + ': its agent was killed by SIGKILL; '
                                  'it is started again'), front.text())
      self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_a_killed_guardian_is_a_killed_agent(self):
    go = self.gate()
    hosts = ['127.0.0.1', '127.0.0.2']
    front = self.launch(hosts, [], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    for number, victim in enumerate(hosts, start=2):
      os.kill(self.guardian_of(victim), signal.SIGKILL)
      self.assertTrue(front.printed('ready rank=', 2 * number), front.text())
      self.assertTrue(front.lines(victim + ': the process that starts its '
                                  'workers was killed; it is started again'),
                      front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())

  def test_both_agents_of_two_hosts_may_be_killed(self):
    go = self.gate()
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    for number, victim in enumerate(['127.0.0.1', '127.0.0.2'], start=2):
      os.kill(self.agent_of(victim), signal.SIGKILL)
      self.assertTrue(front.printed('ready rank=', 2 * number), front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())

  def test_another_host_takes_over_from_the_lost_first_host(self):
    go = self.gate()
    front = self.launch(['127.0.0.%d' % i for i in range(1, 5)],
                        ['--nnodes=2:4'], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 4), front.text())
    self.kill_host('127.0.0.1')
    self.assertTrue(front.printed('ready rank=', 7), front.text())
    self.assertTrue(front.lines('127.0.0.1: the connection to it broke'),
                    front.text())
    # Kill an agent. The agent that is started in its place must find the new
    # coordinator.
    os.kill(self.agent_of('127.0.0.3'), signal.SIGKILL)
    self.assertTrue(front.printed('ready rank=', 10), front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())

  def test_after_a_loss_a_killed_coordinator_costs_no_last_call(self):
    go = self.gate()
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--nnodes=2:3'], ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 3), front.text())
    self.kill_host('127.0.0.3')
    self.assertTrue(front.printed('ready rank=', 5), front.text())
    calls = len(front.lines('last call'))
    os.kill(self.agent_of('127.0.0.1'), signal.SIGKILL)
    self.assertTrue(front.printed('ready rank=', 7), front.text())
    self.assertEqual(len(front.lines('last call')), calls, front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())

  def test_a_successor_gives_the_verdict_on_the_loss_of_the_first_host(self):
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--rdzv-conf=rejoin_timeout=0.5'], ['forever'])
    self.assertTrue(front.printed('ready rank=', 3), front.text())
    self.kill_host('127.0.0.1')
    self.assertEqual(front.end(), 1, front.text())
    self.assertTrue(front.lines('only 2 of at least 3 nodes'), front.text())
    # The verdict must name the lost host, 127.0.0.1. The coordinator that gives
    # the verdict took over after the loss, and never had a connection from this
    # host.
    self.assertTrue(front.lines('127.0.0.1 ('), front.text())
    self.assertEqual(len(front.lines('TIMED OUT after ')), 1, front.text())

  def test_without_a_takeover_the_loss_of_the_first_host_has_a_verdict_too(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    self.kill_host('127.0.0.1')
    self.assertEqual(front.end(), 1, front.text())
    self.assertEqual(len(front.lines('FAILED')), 1, front.text())
    self.assertTrue(front.lines('it hosted the coordinator'), front.text())

  def test_an_elastic_job_goes_on_without_a_lost_host(self):
    go = self.gate()
    front = self.launch(['127.0.0.1', '127.0.0.2'], ['--nnodes=1:2'],
                        ['until-alone', go.path])
    self.assertTrue(front.printed('world=2', 2), front.text())
    self.cut('127.0.0.2')
    self.assertTrue(front.printed('the job goes on without it'), front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())
    self.assertEqual(len(front.lines('SUCCEEDED')), 1, front.text())
    self.assertEqual(
        [re.sub(r'\(.*\)', '(...)', line.split(' round ', 1)[1])
         for line in front.lines('launch: 127.0.0.') if ' round ' in line and
         ' waiting: ' not in line],
        ['1: 2 nodes, 2 workers', '1 is broken (...); stopping the workers',
         '2: 1 node, 1 worker'], front.text())

  def test_a_job_whose_hosts_are_all_lost_is_not_begun_anew(self):
    front = self.launch(['127.0.0.1', '127.0.0.2'], [], ['forever'])
    self.assertTrue(front.printed('ready rank=', 2), front.text())
    pids = [self.node_process(host)[1] for host in ('127.0.0.1', '127.0.0.2')]
    front.signal(signal.SIGSTOP)
    for pid in pids:
      os.kill(pid, signal.SIGKILL)
    front.signal(signal.SIGCONT)
    self.assertEqual(front.end(), 1, front.text())
    self.assertEqual(len(front.lines('ready rank=')), 2, front.text())
    self.assertEqual(len(front.lines('FAILED')), 1, front.text())

  def test_a_quiet_success_does_not_wait_for_a_lost_host(self):
    go = self.gate()
    go.open()
    front = self.launch(['127.0.0.1', '127.0.0.2'], ['--nnodes=1:2', '--quiet'],
                        ['until-alone', go.path])
    self.assertTrue(front.printed('world=2', 2), front.text())
    self.cut('127.0.0.2')
    self.assertEqual(front.end(), 0, front.text())
    self.assertEqual(front.lines('SUCCEEDED') + front.lines('FAILED'), [],
                     front.text())

  def test_a_killed_node_process_is_a_lost_host(self):
    go = self.gate()
    go.open()
    front = self.launch(['127.0.0.1', '127.0.0.2'], ['--nnodes=1:2'],
                        ['until-alone', go.path])
    self.assertTrue(front.printed('world=2', 2), front.text())
    self.hosts.unplug('127.0.0.2')
    self.addCleanup(self.hosts.plug, '127.0.0.2')
    os.kill(self.node_process('127.0.0.2')[0], signal.SIGKILL)
    self.assertEqual(front.end(), 0, front.text())

  def test_hosts_behind_a_lost_host_are_connected_to_directly(self):
    go = self.gate()
    front = self.launch(['127.0.0.1', '127.0.0.2', '127.0.0.3'],
                        ['--ssh-fan-out=1', '--nnodes=2:3'],
                        ['until-open', go.path])
    self.assertTrue(front.printed('ready rank=', 3), front.text())
    self.cut('127.0.0.2')
    self.assertTrue(front.printed('127.0.0.3: is connected again'),
                    front.text())
    self.assertTrue(front.printed('ready rank=', 5), front.text())
    go.open()
    self.assertEqual(front.end(), 0, front.text())
    self.assertEqual(len(front.lines('launch connects again')), 2,
                     front.text())


if __name__ == '__main__':
  xml_main.main()
