#!/usr/bin/python3
"""Tests that a machine whose workers die of SIGBUS is quarantined, that a spare
takes its place, that operators see, free and ban it, that a daemon that was
killed remembers it, and that --quarantine=off leaves it its place. Each node has a host name of its own (a UTS namespace)."""

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
import process
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_DRAIN = os.path.realpath('deploy/slurm/drain_node.sh')
_TAINT = os.path.realpath('deploy/kubernetes/taint_node.sh')
_NAMED = ['sh', '-c', 'hostname "$0" && exec "$@"']
# In each round, one worker on host b dies of SIGBUS: local rank 0 and local
# rank 1 in turn. All other workers wait until the test writes to a FIFO, the
# argument $1.
_WORKER = '''
if [ "$(hostname)" = b ] &&
    [ "$LOCAL_RANK" = $((TORCHELASTIC_RESTART_COUNT % 2)) ]; then
  kill -BUS $$
fi
echo trains
read unused < "$1" || true
'''


def _namespace():
  """The command that gives a program a host name of its own; None: this user
  may not."""
  for unshare in (['unshare', '--uts'],
                  ['unshare', '--user', '--map-root-user', '--uts']):
    tried = subprocess.run([*unshare, *_NAMED, 'b', 'true'], check=False,
                           stderr=subprocess.DEVNULL)
    if tried.returncode == 0:
      return unshare
  return None


_UNSHARE = _namespace()


class Base(unittest.TestCase):

  def setUp(self):
    self.folder = tempfile.mkdtemp(prefix='quarantine_test')
    self.addCleanup(shutil.rmtree, self.folder)

  def path(self, name):
    return os.path.join(self.folder, name)

  def text_of(self, name):
    with open(self.path(name), encoding='utf-8') as file:
      return file.read()

  def start(self, name, argv):
    started = process.Process(name, argv)
    self.addCleanup(started.end)
    return started


@unittest.skipIf(_UNSHARE is None, 'this user can make no UTS namespace')
class Quarantine(Base):

  def setUp(self):
    super().setUp()
    self.endpoint = '127.0.0.1:%d' % free_port.free_port()
    os.mkfifo(self.path('end'))

  def start_daemon(self, *options):
    daemon = self.start('daemon', [
        _DAEMON, '--listen=' + self.endpoint,
        '--state-dir=' + self.path('state'),
        '--event-log=' + self.path('events.jsonl'),
        '--on-quarantine=printf "%s|%s\\n" "$MUSTER_NODE" "$MUSTER_REASON" >> '
        + self.path('hook'), *options])
    daemon.wait_for('listening on')
    return daemon

  def start_node(self, host, max_restarts=20):
    return self.start(host, [
        *_UNSHARE, *_NAMED, host, _LAUNCH, '--nnodes=2', '--nproc-per-node=2',
        f'--max-restarts={max_restarts}', '--rdzv-endpoint=' + self.endpoint,
        '--rdzv-id=job', '--rdzv-conf=is_host=0,keep_alive_interval=1',
        '--node-id=' + host, '--local-addr=127.0.0.1', '--no-python', 'sh',
        '-c', _WORKER, 'worker', self.path('end')])

  def ask(self, *args, check=True):
    return subprocess.run(
        [_LAUNCH, *args, '--endpoint=' + self.endpoint], check=check,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

  def nodes(self):
    return {each['node']: each for each in
            json.loads(self.ask('nodes', '--json'))}

  def test_a_spare_takes_the_place_of_a_quarantined_machine(self):
    daemon = self.start_daemon()
    nodes = {'a': self.start_node('a')}
    nodes['a'].wait_for('waiting for 1 more')
    watch = self.start('watch', [_LAUNCH, 'watch', 'job',
                                 '--endpoint=' + self.endpoint])
    watch.wait_for('gathering')
    nodes['b'] = self.start_node('b')
    watch.wait_for(r' suspect .* b is suspected: rank \d: killed by SIGBUS')
    watch.wait_for(r' quarantine .* b is quarantined: .*; score ')
    watch.wait_for(r'b takes part although it is quarantined')
    listed = self.nodes()
    self.assertEqual(list(listed), ['b'])
    self.assertEqual(listed['b']['state'], 'quarantined')
    self.assertEqual(listed['b']['address'], '127.0.0.1')
    self.assertEqual(listed['b']['run_id'], 'job')
    self.assertGreater(listed['b']['score'], 2.4)

    nodes['c'] = self.start_node('c')
    nodes['c'].wait_for('trains\n', 2)
    status = json.loads(self.ask('status', 'job', '--json'))
    places = {node['node_id']: node['group_rank'] for node in status['nodes']}
    self.assertEqual(places, {'a': 0, 'b': None, 'c': 1})
    judgement = {node['node_id']: node['judgement'] for node in status['nodes']}
    self.assertEqual(judgement['b']['state'], 'quarantined')
    self.assertIn('SIGBUS', judgement['b']['reason'])
    self.assertRegex(self.ask('status', 'job'), r'quarantined: rank \d: killed')
    self.assertRegex(self.ask('nodes'), r'b +127.0.0.1 +quarantined +[\d.]+ ')
    self.assertRegex(self.text_of('hook'),
                     r'\Ab\|rank \d: killed by SIGBUS.*\n\Z')

    daemon.send(signal.SIGKILL)
    daemon.exit_code()
    self.start_daemon()
    self.assertEqual(self.nodes()['b']['state'], 'quarantined')

    self.assertIn('node b is freed', self.ask('nodes', '--free', 'b'))
    self.assertEqual(self.nodes()['b']['state'], 'freed')
    self.assertIn('no fault of a host x',
                  self.ask('nodes', '--free', 'x', check=False))
    self.ask('nodes', '--ban', 'b', '--reason', 'broken fan')
    self.assertRegex(self.ask('nodes'), 'b +- +banned .* broken fan, banned by')

    with open(self.path('end'), 'w', encoding='ascii') as file:
      file.write('\n' * 10)
    for host in 'ac':
      self.assertEqual(nodes[host].exit_code(), 0, nodes[host].output)

  # Host b fails again and again, and must keep its place because of
  # --quarantine=off. By default it would be quarantined after its second
  # failure.
  def test_without_quarantine_a_machine_keeps_its_place(self):
    self.start_daemon('--quarantine=off')
    nodes = {'a': self.start_node('a', max_restarts=3)}
    nodes['a'].wait_for('waiting for 1 more')
    nodes['b'] = self.start_node('b', max_restarts=3)
    nodes['a'].wait_for('trains\n', 2)
    nodes['c'] = self.start_node('c', max_restarts=3)
    for host, node in nodes.items():
      self.assertEqual(node.exit_code(), 128 + signal.SIGBUS, host)
    self.assertNotIn('trains', nodes['c'].output)
    with open(self.path('events.jsonl'), encoding='utf-8') as file:
      kinds = [json.loads(line)['kind'] for line in file]
    self.assertEqual(kinds.count('failure'), 4)
    self.assertFalse({'suspect', 'quarantine'} & set(kinds))
    self.assertFalse(os.path.exists(self.path('hook')))
    listed = self.nodes()['b']
    self.assertEqual(listed['state'], 'healthy')
    self.assertGreater(listed['score'], 2.5)


class Hooks(Base):

  def setUp(self):
    super().setUp()
    for program in ('scontrol', 'kubectl'):
      with open(self.path(program), 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\nprintf "<%s>" "${0##*/}" "$@" >> "$CALLS"\n'
                   'echo >> "$CALLS"\n'
                   'case "$*" in "get pod "*) echo machine7 ;; esac\n')
      os.chmod(self.path(program), 0o755)

  def run_hook(self, script, node):
    environment = {
        'PATH': self.folder + ':' + os.environ['PATH'],
        'CALLS': self.path('calls'), 'MUSTER_NODE': node,
        'MUSTER_REASON': 'rank 3: "SIGBUS"; $(id) --x', 'MUSTER_SCORE': '3.0'}
    return subprocess.run([script], env=environment, check=False,
                          stderr=subprocess.PIPE, text=True)

  def test_slurm_drains_the_node(self):
    self.assertEqual(self.run_hook(_DRAIN, 'n3.cluster').returncode, 0)
    self.assertEqual(
        self.text_of('calls'),
        '<scontrol><update><NodeName=n3><State=DRAIN>'
        '<Reason=muster: rank 3: "SIGBUS"; $(id) --x (score 3.0)>\n')

  def test_kubernetes_taints_the_machine_of_the_pod(self):
    self.assertEqual(self.run_hook(_TAINT, 'trainer-3').returncode, 0)
    calls = self.text_of('calls').splitlines()
    self.assertRegex(calls[0], '^<kubectl><get><pod><trainer-3>')
    self.assertEqual(
        calls[1],
        '<kubectl><annotate><--overwrite><node><machine7>'
        '<muster.dev/quarantine-reason=rank 3: "SIGBUS"; $(id) --x (score 3.0)>')
    self.assertEqual(
        calls[2], '<kubectl><taint><--overwrite><nodes><machine7>'
        '<muster.dev/quarantined=true:NoSchedule>')

  def test_names_that_are_no_host_names_are_refused(self):
    for script in (_DRAIN, _TAINT):
      for node in ('', '-x', 'a b', 'a;id', '$(id)', 'a,b', 'a[1-9]'):
        ran = self.run_hook(script, node)
        self.assertEqual(ran.returncode, 2, (script, node))
        self.assertIn("'%s' is no name of a " % node, ran.stderr)
    self.assertFalse(os.path.exists(self.path('calls')))


if __name__ == '__main__':
  xml_main.main()
