#!/usr/bin/python3
"""Tests `launch logs` and `launch stacks`: output and stacks of the ranks of a
job with two nodes, read from elsewhere."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import free_port
import process
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_PATIENCE_S = 60
# The worker prints lines, and then obeys lines of its FIFO: "say TEXT",
# "hang" or "exit CODE".
_WORKER = '''
import os, sys, time
rank = os.environ['RANK']
fifo = os.fdopen(os.open('%s/' + rank, os.O_RDWR))
for i in range(20):
  print('rank', rank, 'line', i, flush=True)
print('rank', rank, 'is \\x1b]0;evil\\x07up', file=sys.stderr, flush=True)
for line in fifo:
  word, _, rest = line.strip().partition(' ')
  if word == 'exit':
    os._exit(int(rest))
  print(rest, flush=True)
'''
# A fake py-spy. It shows rank 2 at another place in the code than the other
# ranks. Its last argument is the id of the process to show.
_PY_SPY = '''#!/bin/sh
for last; do :; done
echo "Process $last: python3"
echo "Thread $last (idle): \\"MainThread\\""
if tr '\\0' '\\n' < /proc/$last/environ | grep -q '^RANK=2$'
then echo '    load_batch (data.py:7)'
else echo '    all_reduce (train.py:3)'
fi
'''


class Inquiries(unittest.TestCase):

  def setUp(self):
    self.folder = tempfile.mkdtemp(prefix='inquiries_test')
    self.addCleanup(shutil.rmtree, self.folder)
    tools = os.path.join(self.folder, 'tools')
    os.mkdir(tools)
    spy = os.path.join(tools, 'py-spy')
    with open(spy, 'w', encoding='ascii') as script:
      script.write(_PY_SPY)
    os.chmod(spy, stat.S_IRWXU)
    self.path = tools + ':' + os.environ.get('PATH', '')
    self.endpoint = '127.0.0.1:%d' % free_port.free_port()
    for rank in range(4):
      os.mkfifo(os.path.join(self.folder, str(rank)))

  def start(self, name, argv, env=None):
    started = process.Process(name, argv, env)
    self.addCleanup(started.end)
    return started

  def start_node(self, name, *flags):
    return self.start(name, [
        _LAUNCH, '--nnodes=2', '--nproc-per-node=2', *flags,
        '--rdzv-endpoint=' + self.endpoint, '--rdzv-id=job',
        '--node-rank=' + name, '--local-addr=127.0.0.1',
        '--no-python', sys.executable, '-c', _WORKER % self.folder],
                      {'PATH': self.path})

  def start_hosted_job(self, *flags):
    """Starts a job whose first node hosts the coordinator."""
    nodes = [self.start_node('0', *flags)]
    nodes.append(self.start_node('1', *flags))
    for i, node in enumerate(nodes):
      for rank in (2 * i, 2 * i + 1):
        node.wait_for('rank %d is ' % rank)
    return nodes

  def write(self, rank, line):
    path = os.path.join(self.folder, str(rank))
    with open(path, 'w', encoding='ascii') as fifo:
      fifo.write(line + '\n')

  def ask(self, *words, code=0):
    done = subprocess.run(
        [_LAUNCH, words[0], '--endpoint=' + self.endpoint, *words[1:]],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_S,
        check=False)
    self.assertEqual(done.returncode, code, done)
    return (done.stdout if code == 0 else done.stderr).decode()

  def test_logs_of_each_rank_are_read_from_anywhere(self):
    self.start_hosted_job()
    for rank in range(4):
      lines = self.ask('logs', '--rank=%d' % rank, '-n', '2').splitlines()
      self.assertEqual([line.partition('] ')[2] for line in lines],
                       ['rank %d line 19' % rank, 'rank %d is up' % rank])
      self.assertRegex(lines[0], r'^\[.+:%d\] ' % rank)
    everything = self.ask('logs', 'job', '--lines=all').splitlines()
    self.assertEqual(len(everything), 84)
    found = self.ask('logs', '--rank=0,3', '--grep', 'line 1[01]$')
    self.assertEqual(len(found.splitlines()), 4, found)
    self.assertEqual(self.ask('logs', '--since=1h', '--rank=1').count('\n'), 21)

  def test_errors_name_what_does_not_exist(self):
    self.start_hosted_job()
    self.assertIn('the job has no rank 7; its ranks are 0 to 3',
                  self.ask('logs', '--rank=7', code=1))
    self.assertIn('no node "nowhere"',
                  self.ask('stacks', '--node=nowhere', code=1))

  def test_follower_gets_all_until_the_job_ends(self):
    nodes = self.start_hosted_job('--max-restarts=1')
    follower = self.start('logs', [_LAUNCH, 'logs', '-f', '-n1', '--endpoint=' +
                                   self.endpoint])
    for rank in range(4):
      follower.wait_for(':%d] rank %d is up' % (rank, rank))
    self.write(3, 'say hello of 3')
    follower.wait_for(':3] hello of 3')
    self.write(0, 'exit 3')  # the next round begins
    for rank in range(4):
      follower.wait_for(':%d] --- round 2 ---' % rank)
      follower.wait_for(':%d] rank %d is up' % (rank, rank), 2)
    self.write(1, 'say last words of 1')
    follower.wait_for(':1] last words of 1')
    for rank in range(4):
      self.write(rank, 'say goodbye of %d' % rank)
      self.write(rank, 'exit 0')
    self.assertEqual(follower.exit_code(), 0)
    for rank in range(4):
      follower.wait_for(':%d] goodbye of %d' % (rank, rank))
    self.assertEqual([node.exit_code() for node in nodes], [0, 0])

  def test_stacks_show_the_odd_rank_first(self):
    self.start_hosted_job()
    text = self.ask('stacks')
    self.assertRegex(
        text, r'^rank 2 \(1 of 4\) on .+:\n'
        r'  Python, main thread:\n    load_batch \(data.py:7\)\n'
        r'ranks 0-1,3 \(3 of 4\) on .+:\n'
        r'  Python, main thread:\n    all_reduce \(train.py:3\)\n$')
    self.assertTrue(self.ask('stacks', '--rank=1').startswith('rank 1 (1 of 1)'))

  def test_daemon_passes_on_what_its_nodes_answer(self):
    daemon = self.start('daemon', [_DAEMON, '--listen=' + self.endpoint])
    daemon.wait_for('listening on')
    self.start_hosted_job('--rdzv-conf=is_host=0')
    self.assertEqual(self.ask('logs', '-n1').count(' is up\n'), 4)
    self.assertEqual(self.ask('stacks').count('main thread'), 2)


if __name__ == '__main__':
  xml_main.main()
