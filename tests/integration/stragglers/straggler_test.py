#!/usr/bin/python3
"""Tests that a rank that is slower than the others is named, with its phase,
and that it is not named any more once it is as quick as they are."""

import json
import os
import re
import shutil
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
_WORKER = os.path.realpath('tests/integration/stragglers/slow_worker')
_PLUGIN = os.path.realpath(
    'trainer_sdk/nccl_profiler/libmuster_nccl_profiler.so')
_FAKE_NVML = os.path.realpath('agent/gpus/libfake_nvml.so')
# Maximum time in seconds that a test waits for an event. It is long because
# Muster finds a slow rank much later on a busy machine than on a quiet one.
process.LONGEST_S = 240


class Stragglers(unittest.TestCase):

  def setUp(self):
    self.folder = tempfile.mkdtemp(prefix='straggler_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.endpoint = '127.0.0.1:%d' % free_port.free_port()
    self.events = os.path.join(self.folder, 'events.jsonl')
    daemon = self.start('daemon', [_DAEMON, '--listen=' + self.endpoint,
                                   '--event-log=' + self.events])
    daemon.wait_for('listening on')

  def start(self, name, argv, env=None):
    started = process.Process(name, argv, env)
    self.addCleanup(started.end)
    return started

  def start_node(self, name, *flags, more=()):
    """Starts a node. `more`: further arguments of the worker."""
    # The fake library shows two GPUs.
    return self.start(name, [
        _LAUNCH, *flags, '--nnodes=2', '--nproc-per-node=gpu',
        '--rdzv-endpoint=' + self.endpoint, '--rdzv-id=job',
        '--rdzv-conf=is_host=0,keep_alive_interval=1', '--node-id=' + name,
        '--local-addr=127.0.0.1', '--no-python', _WORKER,
        os.path.join(self.folder, 'word'), *more], {
            'MUSTER_NVML_LIBRARY': _FAKE_NVML, 'FAKE_NVML_GPUS': '2'})

  def say(self, word):
    path = os.path.join(self.folder, 'word')
    with open(path + '.new', 'w', encoding='ascii') as file:
      file.write(word + '\n')
    os.rename(path + '.new', path)

  def stragglers(self):
    """The reasons of the events so far that name slow ranks."""
    with open(self.events, encoding='utf-8') as file:
      events = [json.loads(line) for line in file if line.endswith('\n')]
    return [event['reason'] for event in events if event['kind'] == 'straggler']

  def status(self, *flags):
    return subprocess.run(
        [_LAUNCH, 'status', 'job', '--endpoint=' + self.endpoint, *flags],
        stdout=subprocess.PIPE, check=True, text=True).stdout

  def test_the_slow_rank_is_named_with_its_phase_until_it_recovers(self):
    self.say('compute')
    nodes = [self.start_node(name) for name in ('a', 'b')]
    for node in nodes:
      node.wait_for('trains\n', 2)
    watch = self.start('watch', [_LAUNCH, 'watch', 'job',
                                 '--endpoint=' + self.endpoint])
    watch.wait_for(r' straggler .*: rank 2 \(.*, local rank 0, GPU 0\) is '
                   r'slow: its own work takes \d.\d\d times the median of ')
    slow = json.loads(self.status('--json'))['slow_ranks']
    self.assertEqual([(one['rank'], one['node_id'], one['local_rank'],
                       one['gpu'], one['phase'], one['persistent'])
                      for one in slow],
                     [(2, 'b', 0, '0', 'compute', True)])
    self.assertRegex(
        self.status(),
        r'slow ranks +rank 2 \(.*, local rank 0, GPU 0\): compute, ')
    self.say('even')
    watch.wait_for(r'rank 2 \(.*\) is as quick as the others again')
    self.say('data')
    watch.wait_for(r'rank 2 \(.*\) waits for its data: its own time is ')
    self.say('end')
    for node in nodes:
      self.assertEqual(node.exit_code(), 0, node.output)
    self.assertGreaterEqual(len(self.stragglers()), 3)
    for reason in self.stragglers():
      self.assertIn('rank 2 (', reason)

  def test_a_spare_takes_the_place_of_a_straggler(self):
    self.say('compute')
    nodes = [self.start_node(name, '--evict-stragglers') for name in ('a', 'b')]
    for node in nodes:
      node.wait_for('trains\n', 2)
    spare = self.start_node('c', '--evict-stragglers')
    spare.wait_for('trains\n', 2)
    self.assertEqual(nodes[1].exit_code(), 0, nodes[1].output)
    nodes[0].wait_for('trains\n', 4)
    self.say('end')
    for node in (nodes[0], spare):
      self.assertEqual(node.exit_code(), 0, node.output)

  def test_an_eviction_loses_no_step_of_a_training_that_saves(self):
    self.say('compute')
    more = ('1', os.path.join(self.folder, 'checkpoint'), 'stop')
    nodes = [self.start_node(name, '--evict-stragglers', more=more)
             for name in ('a', 'b')]
    for node in nodes:
      node.wait_for('trains\n', 2)
    spare = self.start_node('c', '--evict-stragglers', more=more)
    spare.wait_for('trains\n', 2)
    nodes[0].wait_for('trains\n', 4)
    # All ranks have stopped after the same step, and this step is saved.
    self.assertEqual(nodes[1].exit_code(), 0, nodes[1].output)
    last = {int(step) for node in nodes
            for step in re.findall(r'stops after step (\d+)', node.output)}
    self.assertEqual(len(last), 1, last)
    # The next round begins there: it repeats no step.
    begun = re.findall(r'begins after step (\d+)',
                       nodes[0].output + spare.output)
    self.assertEqual([int(step) for step in begun], [0, 0] + 4 * list(last))
    self.assertGreater(min(last), 0)
    self.say('end')
    for node in (nodes[0], spare):
      self.assertEqual(node.exit_code(), 0, node.output)
    time = json.loads(self.status('--json'))['verdict']['time']
    self.assertEqual(time['node_seconds']['recomputing'], 0)

  def launch_showing_the_plugin(self, **variables):
    """Runs an installed `launch`: the plug-in is in the folder lib beside the
    program's."""
    for source, folder in ((_LAUNCH, 'bin'), (_PLUGIN, 'lib')):
      os.mkdir(os.path.join(self.folder, folder))
      shutil.copy(source, os.path.join(self.folder, folder))
    return self.start('launch', [
        'env', *('%s=%s' % each for each in variables.items()),
        os.path.join(self.folder, 'bin', 'launch'),
        '--standalone', '--profile-collectives', '--no-python', 'sh', '-c',
        'echo plugin=$NCCL_PROFILER_PLUGIN; test -r "$NCCL_PROFILER_PLUGIN"'])

  def test_nccl_is_offered_the_profiler_plugin(self):
    shows = self.launch_showing_the_plugin()
    self.assertEqual(shows.exit_code(), 0, shows.output)
    shows.wait_for('plugin=/.*/libmuster_nccl_profiler.so\n')

  def test_another_profiler_plugin_stays(self):
    shows = self.launch_showing_the_plugin(NCCL_PROFILER_PLUGIN='/dev/null')
    self.assertEqual(shows.exit_code(), 0, shows.output)
    shows.wait_for('plugin=/dev/null\n')
    shows.wait_for('names another plug-in')


if __name__ == '__main__':
  xml_main.main()
