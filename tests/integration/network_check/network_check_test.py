#!/usr/bin/python3
"""Tests of the check by pairs (--network-check) with real nodes: a healthy job
begins after the check, and a bad node is named and becomes a spare."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import free_port
import hosts
import process
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
# An address of TEST-NET-1 (RFC 5737), which no host has.
_NOWHERE = '192.0.2.1'
# The exit code of `launch` on a node that was a spare until the job's end and
# never started a worker.
_NEVER_RAN = 69
process.LONGEST_S = 240


class _Job(unittest.TestCase):
  """A job whose coordinator is a daemon at `address`."""

  address = '127.0.0.1'

  def setUp(self):
    self.folder = tempfile.mkdtemp(prefix='network_check_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.endpoint = '%s:%d' % (self.address, free_port.free_port())
    self.pipe = os.path.join(self.folder, 'pipe')
    os.mkfifo(self.pipe)
    # Open the pipe for reading too. Otherwise open would block until a reader
    # opens it.
    self.writer = open(self.pipe, 'r+b', buffering=0)
    self.addCleanup(self.writer.close)
    self.event_log = os.path.join(self.folder, 'events.jsonl')
    self.daemon = self.start_daemon()

  def start_daemon(self):
    daemon = self.start('daemon', [_DAEMON, '--listen=' + self.endpoint,
                                   '--event-log=' + self.event_log])
    daemon.wait_for('listening on')
    return daemon

  def start(self, name, argv):
    started = process.Process(name, argv)
    self.addCleanup(started.end)
    return started

  def start_node(self, name, address, *flags, inside=(), when='start'):
    return self.start(name, [
        *inside, _LAUNCH, '--network-check=' + when, '--nproc-per-node=1',
        '--rdzv-endpoint=' + self.endpoint, '--rdzv-id=job',
        '--rdzv-conf=is_host=0,last_call_timeout=5', '--node-id=' + name,
        '--local-addr=' + address, *flags, '--no-python', 'sh', '-c',
        'exec 3< %s; echo "rank $RANK of $WORLD_SIZE trains"; cat <&3' %
        self.pipe])

  def events(self, kind):
    """The reasons of the events of this kind so far."""
    with open(self.event_log, encoding='utf-8') as file:
      events = [json.loads(line) for line in file if line.endswith('\n')]
    return [event['reason'] for event in events if event['kind'] == kind]

  def nodes(self):
    """The nodes of `launch status --json`, by id."""
    status = subprocess.run(
        [_LAUNCH, 'status', 'job', '--endpoint=' + self.endpoint, '--json'],
        stdout=subprocess.PIPE, check=True, text=True).stdout
    return {node['node_id']: node for node in json.loads(status)['nodes']}

  def end_workers(self):
    """Closes the pipe that the workers read until its end."""
    self.writer.close()

  def expect_spare(self, bad, good, exit_code=_NEVER_RAN):
    """Checks that node `bad` is a spare that ends with `exit_code`, and that the
    nodes `good` train."""
    for node in good:
      node.wait_for('rank . of %d trains' % len(good))
    shown = self.nodes()[bad.name]
    self.assertIsNone(shown['group_rank'])
    self.assertEqual(shown['health'], 'unhealthy')
    self.assertIn('in the check by pairs', shown['unhealthy'])
    [kept_out] = self.events('unhealthy')
    self.assertIn('is kept out: ', kept_out)
    bad.wait_for('this node is not let in: .* in the check by pairs')
    self.end_workers()
    for node in good:
      self.assertEqual(node.exit_code(), 0, node.output)
    self.assertEqual(bad.exit_code(), exit_code, bad.output)
    return shown['unhealthy']


class Loopback(_Job):

  def test_healthy_nodes_train_after_the_check(self):
    nodes = [self.start_node(name, '127.0.0.1', '--nnodes=2')
             for name in ('a', 'b')]
    for node in nodes:
      node.wait_for('rank . of 2 trains')
    self.assertRegex(self.events('check')[-1],
                     r'the check of 2 nodes by pairs took \d+\.\d\d s and 1 '
                     r'round: all are good')
    self.end_workers()
    for node in nodes:
      self.assertEqual(node.exit_code(), 0, node.output)

  def test_connections_may_be_encrypted(self):
    nodes = [self.start_node(name, '127.0.0.1', '--nnodes=2',
                             '--encrypt=workers') for name in ('a', 'b')]
    for node in nodes:
      node.wait_for('rank . of 2 trains')
    self.assertIn('all are good', self.events('check')[-1])
    self.end_workers()
    for node in nodes:
      self.assertEqual(node.exit_code(), 0, node.output)

  def test_a_spare_takes_the_place_of_a_node_that_cannot_be_reached(self):
    bad = self.start_node('b', _NOWHERE, '--nnodes=2:3')
    good = [self.start_node(name, '127.0.0.1', '--nnodes=2:3')
            for name in ('a', 'c')]
    why = self.expect_spare(bad, good)
    self.assertIn('unreachable', why)

  def test_a_bad_node_counts_as_a_fault_of_its_machine(self):
    bad = self.start_node('b', _NOWHERE, '--nnodes=2:3')
    good = [self.start_node(name, '127.0.0.1', '--nnodes=2:3')
            for name in ('a', 'c')]
    for node in good:
      node.wait_for('rank . of 2 trains')
    listed = subprocess.run(
        [_LAUNCH, 'nodes', '--endpoint=' + self.endpoint, '--json'],
        stdout=subprocess.PIPE, check=True, text=True).stdout
    [machine] = json.loads(listed)
    self.assertEqual(machine['faults'], 1)
    self.assertIn('unreachable in the check by pairs', machine['reason'])
    self.expect_spare(bad, good)

  def test_a_new_coordinator_repeats_a_check_that_was_cut_short(self):
    # No node can reach node b, so the check of the nodes' connections takes
    # some seconds. The daemon is killed before the check ends; the new daemon
    # must repeat it.
    events = self.start('events', ['tail', '-F', '-n', '+1', self.event_log])
    bad = self.start_node('b', _NOWHERE, '--nnodes=2:3')
    good = [self.start_node(name, '127.0.0.1', '--nnodes=2:3')
            for name in ('a', 'c')]
    events.wait_for('round 1 of the check by pairs')
    self.daemon.send(signal.SIGKILL)
    self.daemon.exit_code()
    self.assertNotIn('took', ''.join(self.events('check')))
    self.start_daemon()
    why = self.expect_spare(bad, good)
    self.assertIn('unreachable', why)

  def test_of_two_nodes_none_is_blamed(self):
    nodes = [self.start_node('a', '127.0.0.1', '--nnodes=2'),
             self.start_node('b', _NOWHERE, '--nnodes=2')]
    for node in nodes:
      node.wait_for('rank . of 2 trains')
    self.assertEqual(self.events('unhealthy'), [])
    self.assertIn('warning: some nodes take part', self.events('check')[-1])
    self.end_workers()
    for node in nodes:
      self.assertEqual(node.exit_code(), 0, node.output)


_WHY_NOT = None  # why no namespaces can be made


class Namespaces(_Job):
  """Each node has a network namespace of its own."""

  address = '10.79.0.254'

  @classmethod
  def setUpClass(cls):
    if _WHY_NOT is not None:
      raise unittest.SkipTest('no network namespaces: ' + _WHY_NOT)
    cls.bridge = hosts.Bridge('pairs', cls.address)
    cls.links = itertools.count()

  def setUp(self):
    # In each test, give the hosts' network links new names: the kernel removes
    # the links of the previous test with a delay.
    self.hosts = [hosts.Host(self.bridge, 'pair%d' % next(self.links),
                             '10.79.0.%d' % (i + 1)) for i in range(4)]
    for host in self.hosts:
      self.addCleanup(host.close)
    super().setUp()

  def slow_down(self, host):
    """Limits the rate at which `host` sends."""
    limited = subprocess.run(
        [*host.inside(), 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf',
         'rate', '40mbit', 'burst', '64kb', 'latency', '20ms'],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        text=True)
    if limited.returncode != 0:
      self.skipTest('this kernel has no tbf: ' + limited.stdout.strip())

  def test_a_node_that_becomes_slow_is_named_after_a_loss(self):
    nodes = [self.start_node(name, host.address, '--nnodes=2:4',
                             inside=host.inside(), when='suspicion')
             for name, host in zip('abcd', self.hosts)]
    for node in nodes:
      node.wait_for('rank . of 4 trains')
    self.assertIn('all are good', self.events('check')[-1])
    self.slow_down(self.hosts[1])
    nodes[3].send(signal.SIGKILL)
    # This spare ran in the first round, so its exit code is that of the
    # verdict, not _NEVER_RAN.
    why = self.expect_spare(nodes[1], [nodes[0], nodes[2]], exit_code=0)
    self.assertRegex(why, r'slow in the check by pairs: .* MB/s .* with ')
    self.assertRegex('; '.join(self.events('check')),
                     'the check of 3 nodes [^;]*: 1 bad node')

  def test_a_slow_node_is_named_and_its_place_goes_to_a_spare(self):
    self.slow_down(self.hosts[1])
    nodes = [self.start_node(name, host.address, '--nnodes=2:3',
                             inside=host.inside())
             for name, host in zip('abc', self.hosts)]
    why = self.expect_spare(nodes[1], [nodes[0], nodes[2]])
    self.assertRegex(why, r'slow in the check by pairs: .* MB/s .* with ')


if __name__ == '__main__':
  _WHY_NOT = hosts.enter_namespaces(['nsenter', 'tc'])
  if _WHY_NOT is None:
    # In a new network namespace the loopback interface is down.
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
  xml_main.main()
