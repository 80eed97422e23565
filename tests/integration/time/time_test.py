#!/usr/bin/python3
"""Tests the time ledger of a job with two nodes, a failure and a new
coordinator: every second must have exactly one activity, and every lost second
its cause."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import free_port
import process
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
# The worker reads lines from the node's FIFO. It sends each line to its agent's
# socket, except "exit CODE", which ends the worker.
_WORKER = '''
import os, socket
agent = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
agent.connect(os.environ['MUSTER_PROGRESS_SOCKET'])
node = os.environ['NODE']
fifo = os.fdopen(os.open('%s/' + node, os.O_RDWR))
print(node, 'starts', flush=True)
for line in fifo:
  if line.startswith('exit'):
    os._exit(int(line.split()[1]))
  agent.send(line.encode())
  print(node, 'said', line, end='', flush=True)
'''


class Time(unittest.TestCase):

  def setUp(self):
    # Use the system's temporary folder, because the path of TEST_TMPDIR may be
    # very long.
    self.folder = tempfile.mkdtemp(prefix='time_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.endpoint = '127.0.0.1:%d' % free_port.free_port()
    self.nodes = {}

  def start(self, name, argv, env=None):
    started = process.Process(name, argv, env)
    self.addCleanup(started.end)
    return started

  def start_daemon(self):
    daemon = self.start('daemon', [
        _DAEMON, '--listen=' + self.endpoint,
        '--state-dir=' + os.path.join(self.folder, 'state')])
    daemon.wait_for('listening on')
    return daemon

  def start_node(self, name):
    os.mkfifo(os.path.join(self.folder, name))
    self.nodes[name] = self.start(name, [
        _LAUNCH, '--nnodes=2', '--nproc-per-node=1', '--max-restarts=2',
        '--rdzv-endpoint=' + self.endpoint, '--rdzv-id=job',
        '--rdzv-conf=is_host=0,keep_alive_interval=1', '--node-id=' + name, '--local-addr=127.0.0.1',
        '--no-python', sys.executable, '-c', _WORKER % self.folder],
                                  {'NODE': name})

  def say(self, line, times=1):
    """Makes each node's worker send `line` to its agent, and waits until it has
    done so `times` times in all."""
    for name, node in self.nodes.items():
      self.write(name, line)
      node.wait_for('%s said %s\n' % (name, line), times)

  def write(self, name, line):
    with open(os.path.join(self.folder, name), 'w', encoding='ascii') as fifo:
      fifo.write(line + '\n')

  def wait_for_starts(self, times):
    for name, node in self.nodes.items():
      node.wait_for(name + ' starts\n', times)

  def status(self):
    text = subprocess.run(
        [_LAUNCH, 'status', 'job', '--endpoint=' + self.endpoint, '--json'],
        stdout=subprocess.PIPE, check=True).stdout
    return json.loads(text)

  def wait_for_time(self, activity, seconds):
    """Waits until the nodes have spent at least `seconds` on the activity."""
    deadline = time.monotonic() + process.LONGEST_S
    while True:
      spent = self.status()['time']['node_seconds']
      if spent[activity] >= seconds:
        return
      self.assertLess(time.monotonic(), deadline, spent)

  def read_clocks(self):
    """Reads the time of each node, in seconds: how much its ledger contains,
    and the earliest and latest instant at which the node can have reported
    that. Waits until the coordinator has a report of each node."""
    deadline = time.monotonic() + process.LONGEST_S
    while True:
      earliest = time.monotonic()
      job = self.status()
      latest = time.monotonic()
      clocks = {node['node_id']: (sum(node['seconds'].values()),
                                  earliest - node['silent_seconds'],
                                  latest - node['silent_seconds'])
                for node in job['nodes'] if node['connected']}
      if len(clocks) == 2 and all(clock[0] > 0 for clock in clocks.values()):
        break
      self.assertLess(latest, deadline, job['nodes'])
    # The job's ledger is the sum of those of its nodes.
    self.assertAlmostEqual(sum(job['time']['node_seconds'].values()),
                           sum(clock[0] for clock in clocks.values()), places=2)
    return clocks

  def assert_no_time_is_missing(self, before, after):
    """Asserts that the ledger of each node has grown as its clock has."""
    for name, (spent, earliest, latest) in after.items():
      spent_before, earliest_before, latest_before = before[name]
      grown = spent - spent_before
      slack = 0.1 + 0.01 * grown
      self.assertGreater(grown, earliest - latest_before - slack, name)
      self.assertLess(grown, latest - earliest_before + slack, name)

  def test_a_failure_and_a_new_coordinator(self):
    daemon = self.start_daemon()
    began = time.monotonic()
    for name in ('a', 'b'):
      self.start_node(name)
    self.wait_for_starts(1)
    # Until a worker reports progress, the worker's time counts as running.
    self.wait_for_time('running', 1)
    clocks = self.read_clocks()
    self.say('STEP=1')
    self.say('STEP=2')
    self.wait_for_time('productive', 1)
    self.say('CHECKPOINT=1')
    self.wait_for_time('checkpointing', 1)
    self.say('CHECKPOINT=0')
    self.write('b', 'exit 3')
    self.wait_for_starts(2)
    daemon.send(signal.SIGKILL)
    daemon.exit_code()
    self.start_daemon()
    self.say('STEP=1', times=2)
    self.wait_for_time('recomputing', 1)
    self.say('STEP=2', times=2)
    self.say('STEP=3')
    self.assert_no_time_is_missing(clocks, self.read_clocks())
    for name in self.nodes:
      self.write(name, 'exit 0')
    for node in self.nodes.values():
      self.assertEqual(node.exit_code(), 0, node.output)
      node.wait_for(r'\d % productive; \S+ lost to 1 failure: worker on ')
    lasted = time.monotonic() - began

    verdict = self.status()['verdict']
    spent = verdict['time']['node_seconds']
    self.assertGreaterEqual(spent['initialising'], 1, spent)
    self.assertEqual(spent['running'], 0, spent)
    self.assertLess(sum(spent.values()), 2 * lasted)
    # `spent` has the times of both nodes. So their sum exceeds the job's
    # duration, although the second node joined later than the first one.
    self.assertGreater(sum(spent.values()), verdict['seconds'], spent)
    interruption, = verdict['time']['newest_interruptions']
    self.assertEqual(interruption['round'], 1)
    self.assertEqual(interruption['cause'], 'worker')
    self.assertIn('exit code 3', interruption['reason'])
    # The node-seconds that the interruption has cost (`lost_node_seconds`)
    # include the time that the nodes spend on repeating steps (`recomputing`).
    self.assertGreaterEqual(interruption['lost_node_seconds'],
                            spent['recomputing'])
    self.assertEqual(verdict['time']['interruptions']['worker']['count'], 1)
    # The new coordinator knows from the record whose worker failed.
    host, = verdict['time']['by_node']
    self.assertEqual(host['host'], interruption['host'])
    self.assertEqual(host['causes'], {'worker': {
        'count': 1, 'lost_seconds': interruption['lost_seconds']}})
    self.assertEqual(verdict['time']['other_nodes'],
                     {'count': 0, 'lost_seconds': 0})


if __name__ == '__main__':
  xml_main.main()
