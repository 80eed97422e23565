#!/usr/bin/python3
"""Tests with real nodes, one of whose `launch` processes contains the
coordinator: this process is killed, and another node must take over the job."""

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
_COORDINATES = 'launch: this node coordinates the job now'
_MOVED = r'launch: the job is coordinated at (127\.0\.0\.(\d)):\d+ now'
# The worker reads words from its node's FIFO: "step" makes the worker do a
# step; after "stay" only SIGKILL ends it; any other word is its exit code.
_WORKER = '''
exec 3<>"%s/$NODE"
echo "$NODE starts, one of $WORLD_SIZE"
steps=0
while read word <&3; do
  if [ "$word" = stay ]; then trap "" TERM; echo "$NODE stays"; continue; fi
  if [ "$word" != step ]; then exit $word; fi
  steps=$((steps + 1))
  echo "$NODE did step $steps"
done
'''


def _children(pid):
  """Returns the pids of all processes that descend from `pid`."""
  parents = {}
  for name in os.listdir('/proc'):
    if not name.isdigit():
      continue
    try:
      with open('/proc/%s/stat' % name, encoding='utf-8') as stat:
        parents[int(name)] = int(stat.read().rpartition(')')[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
      pass  # The process has ended.
  found = [pid]
  for one in found:
    found += [child for child, parent in parents.items() if parent == one]
  return found[1:]


def _number(name):
  """Returns the N in a node's address 127.0.0.N."""
  return ord(name) - ord('a') + 1


class Takeover(unittest.TestCase):

  def setUp(self):
    # Use the system's temporary folder, because the path of TEST_TMPDIR may be
    # very long.
    self.folder = tempfile.mkdtemp(prefix='takeover_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.port = free_port.free_port()
    # the value of --rdzv-endpoint
    self.endpoint = '127.0.0.1:%d' % self.port
    self.nodes = {}
    # by node: number of steps that the node's worker has done in the current
    # round
    self.steps = {}
    # How many rounds of a given size wait_for_round has seen in the output of a
    # node's process. Key: the process and the number of nodes in the round.
    self.rounds = {}
    self.token = None

  def start_node(self, name, *options):
    """Starts node `name`, a letter; the node with the N-th letter has the
    address 127.0.0.N.

    Node a listens on the first of the job's endpoints, and hosts the
    coordinator.
    """
    address = '127.0.0.%d' % _number(name)
    fifo = os.path.join(self.folder, name)
    if not os.path.exists(fifo):
      os.mkfifo(fifo)
    node = process.Process(
        'node ' + name,
        [_LAUNCH, '--rdzv-endpoint=' + self.endpoint, '--rdzv-id=job',
         '--rdzv-conf=is_host=%d,last_call_timeout=60' % (name == 'a'),
         '--local-addr=' + address, '--node-id=' + name,
         '--nproc-per-node=1', *options,
         '--no-python', 'sh', '-c', _WORKER % self.folder],
        {'NODE': name, **({'MUSTER_TOKEN': self.token} if self.token else {})})
    self.addCleanup(node.end)
    self.nodes[name] = node
    return node

  def start_job(self, names, *options):
    for name in names:
      self.start_node(name, *options)
    self.wait_for_round()

  def say(self, name, word):
    with open(os.path.join(self.folder, name), 'w', encoding='ascii') as fifo:
      fifo.write('%s\n' % word)

  def do_step(self, name):
    """Lets the node's worker do a step, which shows that it runs."""
    self.say(name, 'step')
    self.steps[name] += 1
    self.nodes[name].wait_for('%s did step %d\n' % (name, self.steps[name]))

  def kill_node(self, name):
    """Kills all processes of the node, as the loss of its machine would."""
    node = self.nodes.pop(name)
    for pid in [node.pid, *_children(node.pid)]:
      try:
        os.kill(pid, signal.SIGKILL)
      except ProcessLookupError:
        pass
    node.exit_code()

  def wait_for_successor(self, times=1):
    """Returns the name of the node that has taken over."""
    found = [node.wait_for(_MOVED, times).group(2)
             for node in self.nodes.values()]
    self.assertEqual(len(set(found)), 1, found)
    name = chr(ord('a') + int(found[0]) - 1)
    self.assertIn(_COORDINATES, self.nodes[name].output)
    return name

  def wait_for_round(self):
    """Waits until each node has begun another round of these nodes."""
    for name, node in self.nodes.items():
      times = self.rounds.get((node, len(self.nodes)), 0) + 1
      self.rounds[node, len(self.nodes)] = times
      node.wait_for('%s starts, one of %d\n' % (name, len(self.nodes)), times)
      self.steps[name] = 0

  def stop_host_until_it_is_replaced(self):
    """Stops node a until another node coordinates the job, and waits until node
    a has joined a round of that one."""
    host = self.nodes.pop('a')
    host.send(signal.SIGSTOP)
    self.wait_for_successor()
    self.wait_for_round()
    host.send(signal.SIGCONT)
    self.nodes['a'] = host
    host.wait_for(_MOVED)
    self.wait_for_round()

  def command(self, subcommand, name, *options):
    """Runs `launch SUBCOMMAND` with the endpoint of a node. Returns its output.
    """
    command = process.Process(
        subcommand,
        [_LAUNCH, subcommand,
         '--endpoint=127.0.0.%d:%d' % (_number(name), self.port), *options])
    self.addCleanup(command.end)
    self.assertEqual(command.exit_code(), 0, command.output)
    return command.output

  def assert_job_succeeds(self):
    for name in self.nodes:
      self.say(name, 0)
    for node in self.nodes.values():
      self.assertEqual(node.exit_code(), 0, node.output)
      self.assertIn('SUCCEEDED', node.output)
      self.assertNotRegex(node.output, r'[1-9]\d* of \d+ restarts? used')

  def test_the_other_nodes_go_on(self):
    self.start_job('abc', '--nnodes=2:3', '--max-restarts=1')
    self.kill_node('a')
    self.wait_for_successor()
    self.wait_for_round()
    for name in self.nodes:
      self.do_step(name)
    self.assert_job_succeeds()

  def test_before_the_first_round_the_other_nodes_go_on(self):
    # A job needs five nodes, and a to d have joined. Node a, which hosts the
    # coordinator, is killed. The others may elect a new coordinator, because e
    # and a alone are too few for a round. Nodes e and a (started again) find
    # the new coordinator through the endpoint of node a.
    for name in 'abcd':
      self.start_node(name, '--nnodes=5')
      self.nodes[name].wait_for('waiting: %d of 5 nodes' % _number(name))
    self.kill_node('a')
    self.wait_for_successor()
    for name in 'ae':
      self.start_node(name, '--nnodes=5')
    self.wait_for_round()
    self.assert_job_succeeds()

  def test_nodes_that_start_later_find_the_successor(self):
    # The endpoints of --rdzv-endpoint are those of nodes a, b and c. Node a is
    # killed and never started again. Node e, which is new, and node c, which is
    # started again, find the new coordinator nevertheless.
    self.endpoint = ','.join(
        '127.0.0.%d:%d' % (n, self.port) for n in range(1, 4))
    job = ('--nnodes=2:4', '--takeover=auto')
    self.start_job('dcba', *job)
    self.kill_node('a')
    self.wait_for_successor()
    self.wait_for_round()
    self.start_node('e', *job)
    self.wait_for_round()
    self.kill_node('c')
    self.wait_for_round()
    self.start_node('c', *job)
    self.wait_for_round()
    for name in self.nodes:
      self.do_step(name)
      self.assertIn('job job: running', self.command('status', name))
    self.command('drain', 'b', 'e')
    self.assertEqual(self.nodes.pop('e').exit_code(), 0)
    self.wait_for_round()
    self.assert_job_succeeds()

  def test_a_host_that_stood_still_joins_its_successor(self):
    self.start_job('abc', '--nnodes=2:3')
    self.stop_host_until_it_is_replaced()
    for name in 'abc':
      self.do_step(name)
    self.assert_job_succeeds()

  def test_a_host_that_is_started_again_finds_its_successor(self):
    self.token = 'a-secret-of-the-job'
    self.start_job('abc', '--nnodes=2:3')
    self.kill_node('a')
    successor = self.wait_for_successor()
    self.wait_for_round()
    self.start_node('a', '--nnodes=2:3')
    # The restarted node prints _MOVED only if it reports before the new
    # coordinator has announced itself. Otherwise the node connects to the new
    # coordinator at once, without this message.
    again = self.nodes['a'].wait_for(_MOVED + '|waiting: round 2 runs').group(2)
    self.assertIn(again, (None, str(_number(successor))))
    self.wait_for_round()
    for name in 'abc':
      self.do_step(name)
    self.assert_job_succeeds()

  def test_with_certificates(self):
    names = 'subjectAltName=URI:muster:job/job,' + ','.join(
        'IP:127.0.0.%d' % n for n in range(1, 4))
    subprocess.run(
        ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
         'ec_paramgen_curve:P-256', '-nodes', '-days', '30', '-subj', '/CN=job',
         '-addext', names, '-keyout', 'key', '-out', 'cert'],
        cwd=self.folder, check=True, capture_output=True)
    os.chmod(os.path.join(self.folder, 'key'), 0o600)
    tls = ['--tls-%s=%s/%s' % (flag, self.folder, file) for flag, file in [
        ('cert', 'cert'), ('key', 'key'), ('ca', 'cert')]]
    self.start_job('abc', '--nnodes=2:3', *tls)
    self.kill_node('a')
    self.wait_for_successor()
    self.wait_for_round()
    self.start_node('a', '--nnodes=2:3', *tls)
    self.wait_for_round()
    self.assertIn('job job: running', self.command('status', 'a', *tls))
    self.assert_job_succeeds()

  def test_each_node_answers_commands(self):
    self.start_job('abc', '--nnodes=2:3')
    for name in 'abc':
      self.assertIn('job job: running', self.command('status', name))
    self.kill_node('a')
    successor = self.wait_for_successor()
    self.wait_for_round()
    for name in 'bc':
      self.assertIn('job job: running', self.command('status', name))
    other = 'b' if successor == 'c' else 'c'
    self.command('cancel', other, 'job')
    for node in self.nodes.values():
      self.assertNotEqual(node.exit_code(), 0)
      self.assertIn('CANCELLED', node.output)

  def follow(self, subcommand, name, *options):
    """Starts a `launch SUBCOMMAND` that goes on until the job's end."""
    follower = process.Process(
        subcommand,
        [_LAUNCH, subcommand,
         '--endpoint=127.0.0.%d:%d' % (_number(name), self.port), *options])
    self.addCleanup(follower.end)
    return follower

  def test_watch_and_logs_go_on_at_the_next_coordinator(self):
    self.start_job('abc', '--nnodes=2:3')
    watch = self.follow('watch', 'a')
    watch.wait_for('job job: running')
    logs = self.follow('logs', 'a', '-f', '-n', 'all')
    logs.wait_for(r':\d\] c starts, one of 3\n')
    self.do_step('c')
    logs.wait_for(r':\d\] c did step 1\n')
    self.kill_node('a')
    successor = self.wait_for_successor()
    for follower in (watch, logs):
      found = follower.wait_for(
          r'coordinator lost; connected to 127\.0\.0\.(\d):\d+ after \d')
      self.assertEqual(int(found.group(1)), _number(successor))
    self.wait_for_round()
    # `launch watch` must print the decisions to continue round 1 and to begin
    # round 2, even if it connects to the new coordinator after these decisions.
    watch.wait_for(r'round 1 goes on: 2 of its 3 nodes')
    watch.wait_for(r'round 2 begins')
    for name in self.nodes:
      self.do_step(name)
      logs.wait_for(r':\d\] %s did step 1\n' % name,
                    times=2 if name == 'c' else 1)
    self.assert_job_succeeds()
    for follower in (watch, logs):
      self.assertEqual(follower.exit_code(), 0, follower.output)
    self.assertEqual(watch.output.count('coordinator lost'), 1, watch.output)
    self.assertEqual(logs.output.count('c starts, one of 3'), 1, logs.output)
    self.assertEqual(logs.output.count('c did step 1\n'), 2, logs.output)

  def test_of_two_nodes_the_host_comes_back(self):
    self.start_job('ab', '--nnodes=2')
    first = time.monotonic()
    watch = self.follow('watch', 'a')
    watch.wait_for('job job: running')
    self.kill_node('a')
    self.nodes['b'].wait_for('the workers run on')
    self.do_step('b')
    self.start_node('a', '--nnodes=2')
    begun = time.monotonic()
    self.wait_for_round()
    # The next round must begin before node a's lease ends. A lease lasts 10 s.
    self.assertLess(time.monotonic() - begun, 8)
    watch.wait_for(r'coordinator lost; connected to 127\.0\.0\.1:\d+ after')
    age = json.loads(self.command('status', 'a', '--json'))[0][
        'age_seconds']
    self.assertGreater(age, time.monotonic() - first - 1)
    for name in 'ab':
      self.do_step(name)
    self.assert_job_succeeds()
    self.assertEqual(watch.exit_code(), 0, watch.output)

  def test_two_coordinators_are_lost_in_turn(self):
    self.start_job('abcd', '--nnodes=2:4')
    self.kill_node('a')
    first = self.wait_for_successor()
    self.wait_for_round()
    self.kill_node(first)
    self.wait_for_successor(times=2)
    self.wait_for_round()
    for name in self.nodes:
      self.do_step(name)
    self.assert_job_succeeds()

  def test_if_all_known_standbys_are_lost_the_others_wait_for_one(self):
    # The nodes know three standbys, on b, c and d.
    self.start_job('abcdefghi', '--nnodes=9')
    for name in 'abcd':
      self.nodes[name].send(signal.SIGSTOP)
    for name in 'abcd':
      self.kill_node(name)
    others = dict(self.nodes)
    for name, node in others.items():
      node.wait_for('lost the coordinator at')
      self.do_step(name)
    self.start_node('b', '--nnodes=9')
    for node in others.values():
      self.assertEqual(node.wait_for(_MOVED).group(1), '127.0.0.2')
    for name in 'acd':
      self.start_node(name, '--nnodes=9')
    self.wait_for_round()
    for name in self.nodes:
      self.do_step(name)
    self.assert_job_succeeds()

  def test_a_host_that_is_drained_leaves_the_job_to_the_others(self):
    self.start_job('abc', '--nnodes=2:3')
    self.command('drain', 'b', 'a')
    drained = self.nodes.pop('a')
    self.assertEqual(drained.exit_code(), 0, drained.output)
    self.wait_for_successor()
    self.wait_for_round()
    for name in self.nodes:
      self.do_step(name)
    self.assert_job_succeeds()

  def test_the_successor_knows_a_drain(self):
    self.start_job('abcd', '--nnodes=2:4', '--shutdown-timeout=5')
    # Node d still stops its worker when the coordinator is lost.
    self.say('d', 'stay')
    self.nodes['d'].wait_for('d stays\n')
    self.command('drain', 'a', 'd')
    for name in 'bc':
      self.nodes[name].wait_for(r'round 1 is broken \(.* drained by')
    self.kill_node('a')
    self.wait_for_successor()
    drained = self.nodes.pop('d')
    self.assertEqual(drained.exit_code(), 0, drained.output)
    self.assertIn('drained before this coordinator took over', drained.output)
    self.wait_for_round()
    for name in self.nodes:
      self.do_step(name)
    self.assert_job_succeeds()

  def test_the_successor_knows_the_banned_machines(self):
    self.start_job('abc', '--nnodes=2:3')
    self.command('nodes', 'a', '--ban', 'n7', '--reason', 'broken fan')
    self.assertIn('broken fan', self.command('nodes', 'a'))
    self.kill_node('a')
    successor = self.wait_for_successor()
    self.assertRegex(self.command('nodes', successor), 'n7.* broken fan')
    self.wait_for_round()
    self.assert_job_succeeds()

  def test_all_coordinators_write_one_event_log(self):
    logs = os.path.join(self.folder, 'logs')
    self.start_job('abc', '--nnodes=2:3', '--log-dir=' + logs)
    self.kill_node('a')
    self.wait_for_successor()
    self.wait_for_round()
    self.assert_job_succeeds()
    with open(os.path.join(logs, 'latest', 'events.jsonl'),
              encoding='utf-8') as file:
      events = [json.loads(line) for line in file]
    worlds = [one['round'] for one in events if one['kind'] == 'assign']
    self.assertEqual(worlds, [1, 2], events)

  def test_the_other_nodes_go_on_beside_a_journal(self):
    options = ('--nnodes=2:3', '--state-dir=%s/state' % self.folder)
    self.start_job('abc', *options)
    self.kill_node('a')
    self.wait_for_successor()
    self.wait_for_round()
    self.start_node('a', *options)
    self.wait_for_round()
    self.assertRegex(self.command('status', 'a'), 'round +3')
    self.assert_job_succeeds()

  def test_a_job_whose_nodes_are_all_lost_is_continued(self):
    options = ('--nnodes=3', '--max-restarts=2',
               '--state-dir=%s/state' % self.folder)
    self.start_job('abc', *options)
    self.say('b', 7)
    self.wait_for_round()
    for name in 'abc':
      self.kill_node(name)
    self.start_job('abc', *options)
    self.assertIn('goes on with job job of %s/state: round 2, 1 of 2 restarts '
                  'used' % self.folder, self.nodes['a'].output)
    self.assertRegex(self.command('status', 'a'), 'round +3')
    for name in 'abc':
      self.say(name, 0)
    for node in self.nodes.values():
      self.assertEqual(node.exit_code(), 0, node.output)
    self.assertRegex(self.nodes['a'].output, '1 of 2 restarts used')
    # The job of nodes a, b and c has ended. So nodes that start with the same
    # command must begin a new job and not continue the old one.
    self.nodes.clear()
    self.start_job('abc', *options)
    self.assertNotIn('goes on', self.nodes['a'].output)
    self.assert_job_succeeds()

  def test_the_record_knows_what_a_successor_has_done(self):
    options = ('--nnodes=2:3', '--max-restarts=2',
               '--state-dir=%s/state' % self.folder)
    self.start_job('abc', *options)
    self.kill_node('a')
    self.wait_for_successor()
    self.wait_for_round()
    self.start_node('a', *options)
    self.wait_for_round()
    self.say('b', 7)
    self.wait_for_round()
    for name in 'abc':
      self.kill_node(name)
    self.start_job('abc', *options)
    self.assertIn('goes on with job job of %s/state: round 4, 1 of 2 restarts '
                  'used' % self.folder, self.nodes['a'].output)
    self.assertRegex(self.command('status', 'a'), 'round +5')
    for name in 'abc':
      self.say(name, 0)
    for node in self.nodes.values():
      self.assertEqual(node.exit_code(), 0, node.output)

  def test_a_job_that_ended_elsewhere_leaves_no_record(self):
    options = ('--nnodes=2:3', '--state-dir=%s/state' % self.folder)
    self.start_job('abc', *options)
    self.stop_host_until_it_is_replaced()
    self.assert_job_succeeds()
    self.nodes.clear()
    self.start_job('abc', *options)
    self.assertNotIn('goes on', self.nodes['a'].output)
    self.assert_job_succeeds()

  def test_nobody_takes_over_where_that_is_not_wanted(self):
    options = ('--nnodes=2:3', '--takeover=never')
    self.start_job('abc', *options)
    self.kill_node('a')
    self.start_node('a', *options)
    for name in 'bc':
      self.nodes[name].wait_for(r'the coordinator at \S+ is back')
    for node in self.nodes.values():
      self.assertNotIn(_COORDINATES, node.output)


if __name__ == '__main__':
  xml_main.main()
