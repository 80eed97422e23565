#!/usr/bin/python3
"""Tests daemons that share an etcd. One of them leads; each one may die, be
stopped or lose its connection to etcd while a job runs."""

import os
import signal
import sys

sys.path[:0] = [os.path.dirname(os.path.realpath(__file__))]

import processes
import xml_main

_LEADS = r'rendezvousd: leads in etcd://'
_LISTENS = r'rendezvousd: listening on '
_STANDS_BY = r'rendezvousd: stands by in etcd://\S+; \S+, process \d+ leads'
_CONTINUES = r'rendezvousd: goes on with 1 job of etcd://'


class Takeover(processes.EtcdCase):

  def start_pair(self):
    """Starts an etcd, a leader, a standby, and two nodes, and waits until their
    workers run."""
    self.etcd = self.start_etcd()
    self.leader = self.start_daemon(self.etcd)
    self.leader.wait_for(_LISTENS)
    self.standby = self.start_daemon(self.etcd)
    self.standby.wait_for(_STANDS_BY)
    self.endpoints = [self.leader.endpoint, self.standby.endpoint]

  def start_job(self, *options):
    self.nodes = self.start_nodes(self.endpoints, *options)
    for rank, node in enumerate(self.nodes):
      node.wait_for('rank %d starts 0' % rank)

  def assert_job_ends_undisturbed(self):
    for rank in range(2):
      self.end_worker(rank, 0)
    for rank, node in enumerate(self.nodes):
      self.assertEqual(node.exit_code(), 0, node.output)
      self.assertEqual(node.output.count('rank %d starts' % rank), 1,
                       node.output)
      self.assertIn('SUCCEEDED', node.output)
      self.assertIn('(1 round)', node.output)

  def test_the_death_of_the_leader_costs_nothing(self):
    self.start_pair()
    self.start_job()
    self.leader.send(signal.SIGKILL)
    self.standby.wait_for(_CONTINUES)
    self.standby.wait_for(_LISTENS)
    self.assert_job_ends_undisturbed()

  def test_commands_wait_for_the_next_leader(self):
    self.start_pair()
    self.start_job()
    endpoint = '--endpoint=' + ','.join(self.endpoints)
    watch = self.start('watch', [processes.LAUNCH, 'watch', endpoint])
    watch.wait_for('running')
    self.leader.send(signal.SIGKILL)
    self.leader.exit_code()
    status = self.start('status', [processes.LAUNCH, 'status', endpoint])
    self.assertEqual(status.exit_code(), 0, status.output)
    self.assertIn('shared', status.output)
    self.assert_job_ends_undisturbed()
    self.assertEqual(watch.exit_code(), 0, watch.output)

  def test_each_daemon_may_lead_in_turn(self):
    self.start_pair()
    self.start_job()
    daemons = [self.leader, self.standby]
    for turn in range(4):
      daemons[0].send(signal.SIGKILL if turn % 2 == 0 else signal.SIGTERM)
      daemons[0].exit_code()
      daemons[1].wait_for(_LISTENS)
      again = self.start_daemon(
          self.etcd, port=int(daemons[0].endpoint.rpartition(':')[2]))
      again.wait_for(_STANDS_BY)
      daemons = [daemons[1], again]
    self.assert_job_ends_undisturbed()

  def test_a_leader_that_stood_still_stands_by(self):
    self.start_pair()
    self.start_job()
    self.leader.send(signal.SIGSTOP)
    self.standby.wait_for(_LISTENS)
    self.leader.send(signal.SIGCONT)
    self.leader.wait_for('rendezvousd: no longer leads')
    self.leader.wait_for(_STANDS_BY)
    self.standby.send(signal.SIGKILL)
    self.leader.wait_for(_LISTENS, times=2)
    self.assert_job_ends_undisturbed()

  def test_nobody_leads_without_etcd(self):
    self.start_pair()
    self.start_job()
    self.etcd.send(signal.SIGSTOP)
    self.leader.wait_for('rendezvousd: no longer leads')
    self.assertNotRegex(self.standby.output, _LEADS)
    self.etcd.send(signal.SIGCONT)
    self.assert_job_ends_undisturbed()

  def test_the_used_restarts_are_remembered(self):
    self.start_pair()
    self.start_job('--max-restarts=1')
    self.end_worker(1, 5)
    for rank, node in enumerate(self.nodes):
      node.wait_for('rank %d starts 1' % rank)
    self.leader.send(signal.SIGKILL)
    self.standby.wait_for(_LISTENS)
    self.end_worker(1, 6)
    for node in self.nodes:
      self.assertEqual(node.exit_code(), 6, node.output)
      self.assertIn('1 of 1 restart used', node.output)

  def test_a_compacted_etcd_costs_nothing(self):
    self.start_pair()
    self.start_job('--max-restarts=1')
    self.compact(self.etcd)
    # The used restart is recorded after the first compaction.
    self.end_worker(1, 5)
    for rank, node in enumerate(self.nodes):
      node.wait_for('rank %d starts 1' % rank)
    self.compact(self.etcd)
    self.leader.send(signal.SIGKILL)
    self.standby.wait_for(_CONTINUES)
    self.standby.wait_for(_LISTENS)
    self.end_worker(1, 6)
    for rank, node in enumerate(self.nodes):
      self.assertEqual(node.exit_code(), 6, node.output)
      self.assertIn('1 of 1 restart used', node.output)
      self.assertEqual(node.output.count('rank %d starts' % rank), 2,
                       node.output)

  def test_a_verdict_is_remembered(self):
    self.start_pair()
    self.start_job()
    self.assert_job_ends_undisturbed()
    self.leader.send(signal.SIGKILL)
    self.standby.wait_for(_CONTINUES)
    for late in self.start_nodes(self.endpoints):
      late.wait_for(r'job shared is over \(')
      self.assertNotEqual(late.exit_code(), 0)


if __name__ == '__main__':
  xml_main.main()
