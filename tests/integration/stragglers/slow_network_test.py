#!/usr/bin/python3
"""Tests, with nodes in network namespaces, that a node whose network is slow is
named, and that a rank that computes slowly is not said to have a slow
network."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import hosts
import process
import xml_main
from until import until

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_WORKER = os.path.realpath('tests/integration/stragglers/slow_worker')
_NODES = ('a', 'b', 'c')
_SLOW_NODE = 1  # the index of the node with the slow network
# The number of float32 elements that the ranks reduce in each step: 3 MB.
_ELEMENTS = 3 << 18
# Maximum time in seconds that a test waits for an event. It is long because
# Muster finds a slow rank much later on a busy machine than on a quiet one.
process.LONGEST_S = 240
# Time of a worker in seconds over which its steps are counted.
_MEASURED_S = 5


class SlowNetwork(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    cls.bridge = hosts.Bridge('switch', '10.79.0.254')
    cls.hosts = [hosts.Host(cls.bridge, 'port-' + name, '10.79.0.%d' % (i + 1))
                 for i, name in enumerate(_NODES)]
    for host in cls.hosts:
      cls.addClassCleanup(host.close)

  def setUp(self):
    self.folder = tempfile.mkdtemp(prefix='slow_network_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.events = os.path.join(self.folder, 'events.jsonl')
    daemon = self.start('daemon', [
        _DAEMON, '--listen=%s:0' % self.bridge.address,
        '--event-log=' + self.events])
    self.endpoint = daemon.wait_for(r'listening on (\S+:\d+)').group(1)

  def start(self, name, argv):
    started = process.Process(name, argv)
    self.addCleanup(started.end)
    return started

  def start_nodes(self):
    nodes = [
        self.start(name, host.inside() + [
            _LAUNCH, '--nnodes=3', '--rdzv-endpoint=' + self.endpoint,
            '--rdzv-id=job', '--rdzv-conf=is_host=0,keep_alive_interval=1',
            '--node-id=' + name, '--node-rank=%d' % i,
            '--local-addr=' + host.address, '--no-python', _WORKER,
            os.path.join(self.folder, 'word'), str(_ELEMENTS),
            os.path.join(self.folder, 'step')])
        for i, (name, host) in enumerate(zip(_NODES, self.hosts))]
    for node in nodes:
      node.wait_for('trains\n')
    return nodes

  def say(self, word):
    path = os.path.join(self.folder, 'word')
    with open(path + '.new', 'w', encoding='ascii') as file:
      file.write(word + '\n')
    os.rename(path + '.new', path)

  def straggler_events(self):
    with open(self.events, encoding='utf-8') as file:
      events = [json.loads(line) for line in file if line.endswith('\n')]
    return [event for event in events if event['kind'] == 'straggler']

  def watch(self):
    return self.start('watch', [_LAUNCH, 'watch', 'job',
                                '--endpoint=' + self.endpoint])

  def status(self):
    return json.loads(subprocess.run(
        [_LAUNCH, 'status', 'job', '--endpoint=' + self.endpoint, '--json'],
        stdout=subprocess.PIPE, check=True, text=True).stdout)

  def step_time(self):
    """Seconds per step of rank 0, measured in the worker over some seconds."""
    def measured():
      said = next(said for node in self.status()['nodes']
                  for said in node['progress'] if said['rank'] == 0)
      return said['step'], sum(said['seconds'].values())
    first_step, first_s = measured()
    newest = []

    def has_advanced():
      newest[:] = measured()
      return newest[1] >= first_s + _MEASURED_S
    until('rank 0 has trained on', has_advanced, process.LONGEST_S)
    return (newest[1] - first_s) / (newest[0] - first_step)

  def end(self, nodes):
    self.say('end')
    for node in nodes:
      self.assertEqual(node.exit_code(), 0, node.output)

  def test_the_node_with_a_slow_network_is_named_until_it_recovers(self):
    slow = self.hosts[_SLOW_NODE]
    if not slow.limit_rate('200mbit'):
      self.skipTest('the kernel cannot limit a rate')
    self.addCleanup(slow.free_rate)
    self.say('even')
    nodes = self.start_nodes()
    watch = self.watch()
    watch.wait_for(r' straggler .*: rank 1 \(.*, local rank 0\) has a slow '
                   r'network: it limits the transfers from and to the node ')
    slow_step_s = self.step_time()
    status = self.status()
    named = status['slow_ranks']
    self.assertEqual([(one['rank'], one['node_id'], one['phase'],
                       one['persistent']) for one in named],
                     [(1, 'b', 'network', True)])
    for node in status['nodes']:
      for said in node['progress']:
        divided = said['collectives_seconds']
        self.assertGreater(divided['transfer'], divided['wait'], said)
        self.assertLessEqual(sum(divided.values()),
                             said['seconds']['collectives'], said)
    slow.free_rate()
    watch.wait_for(r'the network of rank 1 \(.*\) is as quick as the others '
                   r'again')
    # No transfer is hidden behind computation here, so the gain that is told is
    # not far from the real one.
    gain = 1 - self.step_time() / slow_step_s
    print('gain of a quicker network: real %.2f, told at most %.2f' % (
        gain, named[0]['max_gain']))
    self.assertLess(gain, named[0]['max_gain'] + 0.1)
    self.end(nodes)
    self.assertEqual([event['node'] for event in self.straggler_events()],
                     ['b', 'b'])

  def test_a_rank_that_computes_slowly_has_no_slow_network(self):
    self.say('compute')
    nodes = self.start_nodes()
    watch = self.watch()
    watch.wait_for(r' straggler .*: rank 2 \(.*\) is slow: its own work takes ')
    self.say('even')
    watch.wait_for(r'rank 2 \(.*\) is as quick as the others again')
    self.end(nodes)
    for event in self.straggler_events():
      self.assertEqual(event['node'], 'c')
      self.assertNotIn('network', event['reason'])


if __name__ == '__main__':
  why_not = hosts.enter_namespaces(['nsenter', 'tc'])
  if why_not:
    SlowNetwork = unittest.skip(why_not)(SlowNetwork)
  xml_main.main()
