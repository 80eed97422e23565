#!/usr/bin/python3
"""Real nodes of a job whose coordinator is inside one of them: its `launch` is
killed, and another node goes on with the job."""

import os
import shutil
import signal
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import free_port
import process
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_COORDINATES = 'launch: this node coordinates the job now'
# Reads words from the node's FIFO: "step", or the exit code.
_WORKER = '''
exec 3<>"%s/$NODE"
echo "$NODE starts in round $TORCHELASTIC_RESTART_COUNT of $WORLD_SIZE"
steps=0
while read word <&3; do
  if [ "$word" != step ]; then exit $word; fi
  steps=$((steps + 1))
  echo "$NODE did step $steps"
done
'''


def _children(pid):
  """The processes that descend from `pid`."""
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


class Takeover(unittest.TestCase):

  def setUp(self):
    # Not under TEST_TMPDIR, whose path may be too long for a FIFO's users.
    self.folder = tempfile.mkdtemp(prefix='takeover_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.endpoint = '127.0.0.1:%d' % free_port.free_port()
    self.nodes = {}

  def start_node(self, name, *options):
    """Starts the node with the address 127.0.0.N, for the N-th letter.

    Node a is at the job's endpoint, and hosts the coordinator.
    """
    address = '127.0.0.%d' % (ord(name) - ord('a') + 1)
    fifo = os.path.join(self.folder, name)
    if not os.path.exists(fifo):
      os.mkfifo(fifo)
    node = process.Process(
        'node ' + name,
        [_LAUNCH, '--rdzv-endpoint=' + self.endpoint, '--rdzv-id=job',
         '--rdzv-conf=is_host=%d,last_call_timeout=60' % (name == 'a'),
         '--local-addr=' + address, '--nproc-per-node=1', *options,
         '--no-python', 'sh', '-c', _WORKER % self.folder],
        {'NODE': name})
    self.addCleanup(node.end)
    self.nodes[name] = node
    return node

  def start_job(self, names, *options):
    for name in names:
      self.start_node(name, *options)
    for name in names:
      self.nodes[name].wait_for(name + ' starts in round 0 of %d' % len(names))
    self.steps = dict.fromkeys(names, 0)

  def say(self, name, word):
    with open(os.path.join(self.folder, name), 'w', encoding='ascii') as fifo:
      fifo.write('%s\n' % word)

  def do_step(self, name):
    """Shows that the node's worker runs."""
    self.say(name, 'step')
    self.steps[name] += 1
    self.nodes[name].wait_for('%s did step %d\n' % (name, self.steps[name]))

  def kill_node(self, name):
    """Ends all processes of the node, as the loss of its machine does."""
    node = self.nodes.pop(name)
    for pid in [node.pid, *_children(node.pid)]:
      try:
        os.kill(pid, signal.SIGKILL)
      except ProcessLookupError:
        pass
    node.exit_code()

  def wait_for_successor(self, names):
    """Returns the name of the node that takes over."""
    return process.wait_for_first(
        {name: self.nodes[name] for name in names}, _COORDINATES)

  def assert_job_succeeds(self):
    for name in self.nodes:
      self.say(name, 0)
    for name, node in self.nodes.items():
      self.assertEqual(node.exit_code(), 0, node.output)
      self.assertIn('SUCCEEDED', node.output)
      self.assertNotRegex(node.output, r'[1-9]\d* of \d+ restarts? used')

  def test_the_other_nodes_go_on(self):
    self.start_job('abc', '--nnodes=2:3', '--max-restarts=1')
    self.kill_node('a')
    self.wait_for_successor('bc')
    for name in 'bc':
      self.nodes[name].wait_for(name + r' starts in round \d of 2')
      self.steps[name] = 0
      self.do_step(name)
    self.assert_job_succeeds()


if __name__ == '__main__':
  xml_main.main()
