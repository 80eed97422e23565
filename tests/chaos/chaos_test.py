#!/usr/bin/python3
"""Tests that the checker finds each kind of violation, and that some jobs
survive a few seconds of faults.

The seed is fixed; if the file with today's date is given, the date determines
the seed.
"""

import dataclasses
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import chaos
import checker
import faults
import xml_main

_DAY = 'tests/simulation/day.txt'
_NODES = {faults.NONE: 2, faults.FOLDER: 2, faults.SHARED: 2, faults.HOSTED: 3,
          faults.HOSTED_FOLDER: 3}
_FAULTS = 8
_LONGEST_STOP_S = 3.0


def _seed():
  if not os.path.exists(_DAY):
    return 1
  with open(_DAY, encoding='ascii') as file:
    return int(file.read())


def _event(kind, node, reason, unix, number=1):
  return {'kind': kind, 'node': node, 'reason': reason, 'unix': unix,
          'round': number}


def _printed(**changes):
  """Returns the verdict of the job of `_story`."""
  return dataclasses.replace(
      checker.Verdict('SUCCEEDED', 0, rounds=2, restarts=1, interruptions=1),
      **changes)


def _story():
  """Returns the story of a job that survives a killed worker and a killed
  daemon."""
  before = {0: (1, 100), 1: (1, 101)}
  after = {0: (2, 200), 1: (2, 201)}
  killed = checker.Group(
      [faults.Fault(faults.KILL, faults.WORKER, node=1)], begin=10.0,
      before=before, after=after, killed_ranks=[1],
      told=[('worker', 'rank 1 on h: killed by SIGKILL (9)')],
      steps=[5, 4, 5, 6], used_after=1, silence_s=1.0,
      waits={'the reaction': 5.0, 'the faults': 1.0}, recovered=True)
  coordinator = checker.Group(
      [faults.Fault(faults.KILL, faults.DAEMON, lasts_s=1.0)], begin=20.0,
      before=after, after=after, steps=[6, 7], used_before=1,
      used_after=1, silence_s=0.1, waits={'the reaction': 5.0},
      recovered=True)
  losses = {step: f'{1 / step}' for step in range(1, 9)}
  return checker.Story(
      began=9.0, groups=[killed, coordinator], expected=losses,
      losses=[(step, losses[step]) for step in (1, 2, 3, 4, 5, 4, 5, 6, 7, 8)],
      exit_codes={'node0': 0, 'node1': 0},
      printed={'node0': _printed(), 'node1': _printed()}, verdict=_printed(),
      left=[],
      events=[
          _event('failure', 'node1', 'rank 1 on h: killed by SIGKILL', 10.1),
          _event('break', None, 'round 1 is broken: rank 1 on h: killed by '
                 'SIGKILL (9)', 10.1)])


class Checker(unittest.TestCase):

  def assert_found(self, change, *words):
    story = _story()
    change(story)
    found = list(checker.complaints(story))
    self.assertEqual(len(found), 1, found)
    for word in words:
      self.assertIn(word, found[0])

  def test_a_job_that_survives_is_right(self):
    self.assertEqual(list(checker.complaints(_story())), [])

  def test_changed_loss(self):
    def change(story):
      story.losses[6] = (5, '0.20000000000000001')
    self.assert_found(change, 'step 5', '0.20000000000000001')

  def test_missing_step(self):
    self.assert_found(lambda story: story.losses.pop(7), '[6]')

  def test_exit_code(self):
    self.assert_found(lambda story: story.exit_codes.update(node1=1), 'node1')

  def test_launch_that_did_not_end(self):
    self.assert_found(lambda story: story.exit_codes.update(node1=None), 'None')

  def test_each_part_of_the_printed_verdict(self):
    for changes in ({'outcome': 'FAILED'}, {'exit_code': 1}, {'rounds': 1},
                    {'restarts': 0}, {'interruptions': 2},
                    {'culprit': (0, 100)}):
      def change(story, changes=changes):
        story.printed['node1'] = _printed(**changes)
      with self.subTest(changes):
        self.assert_found(change, 'node1 printed', *changes)

  def test_launch_that_printed_no_verdict(self):
    self.assert_found(lambda story: story.printed.update(node0=None),
                      'node0 printed None')

  def test_verdict_is_read(self):
    self.assertIsNone(checker.verdict_in('launch: round 1: node 0 of 2\n'))
    self.assertEqual(
        checker.verdict_in('gpt FAILED after 1s    exit code 3\n1 round\n'
                           'gpt SUCCEEDED in 9.9s (2 rounds, 1 of 7 restarts '
                           'used)\n49.2 % productive; 3.1s lost to 1 failure: '
                           'worker on h 2.6s\n'), _printed())
    self.assertEqual(
        checker.verdict_in('[h:0] rank 0 (pid 100) died\n'
                           'gpt FAILED after 2m 3s       exit code 137\n'
                           '  worker       rank 1 (local rank 0), pid 201\n'
                           '1 round, 1 of 1 restart used\n'),
        checker.Verdict('FAILED', 137, rounds=1, restarts=1, interruptions=0,
                        culprit=(1, 201)))

  def test_cause_in_the_status_that_did_not_happen(self):
    def change(story):
      story.groups[0].told = [('node', 'h (group rank 1) was lost')]
    self.assert_found(change, 'the status names the cause "h (group rank 1)')

  def test_a_node_that_comes_late_to_a_new_coordinator(self):
    for lasts_s in (2.0, 9.99):
      story = _story()
      group = story.groups[1]
      group.faults.append(faults.Fault(faults.CUT, faults.NODE, node=1,
                                       lasts_s=lasts_s))
      group.told = [('node', '1 node of 4 did not come to the new coordinator '
                     'within the lease of 10 s')]
      found = [one for one in checker.complaints(story)
               if 'did not come' in one]
      self.assertEqual(found == [], lasts_s > 3, found)

  def test_new_round_without_a_cause_in_the_status(self):
    def change(story):
      story.groups[0].told = []
    self.assert_found(change, 'the status names no cause')

  def test_only_the_next_coordinator_may_not_know_the_cause(self):
    def change(story):
      story.groups[0].told = [('unknown', '')]
    self.assert_found(change, 'the status does not know the cause')
    story = _story()
    story.groups[1].told = [('unknown', '')]
    self.assertEqual(list(checker.complaints(story)), [])

  def test_full_disk_that_is_not_told(self):
    def change(story):
      story.groups[0].notices_full = False
    self.assert_found(change, 'did not tell the full disk')

  def test_orphan(self):
    self.assert_found(lambda story: story.left.append('77 (node1/1, gpt)'),
                      '77')

  def test_silence(self):
    def change(story):
      story.groups[0].silence_s = 6.1
    self.assert_found(change, '6.1 s', 'kill worker 0 of node1',
                      '6.0 s: the reaction 5.0 s, the faults 1.0 s')

  def test_no_recovery(self):
    def change(story):
      story.groups[1].recovered = False
    self.assert_found(change, 'did not recover')

  def test_one_round_too_many(self):
    def change(story):
      for group, number in zip(story.groups, (3, 3)):
        group.after = {0: (number, 200), 1: (number, 201)}
      story.groups[1].before = story.groups[0].after
    self.assert_found(change, 'explains 1 new rounds')

  def test_budget_that_is_granted_again(self):
    def change(story):
      story.groups[1].used_after = 0
    self.assert_found(change, '1 restarts were used before and 0 after')

  def test_worker_that_restarts_with_the_daemon(self):
    def change(story):
      story.groups[1].after = {0: (2, 200), 1: (2, 999)}
    self.assert_found(change, '999', 'ends no worker')

  def test_step_that_is_lost_with_the_daemon(self):
    def change(story):
      story.groups[1].steps = [6, 5, 6, 7]
    self.assert_found(change, 'step 5 came after step 6')

  def test_break_without_a_fault(self):
    def change(story):
      story.events.append(_event('break', None, 'round 2 is broken: hung', 21.0,
                                 2))
    self.assert_found(change, 'ends no round')

  def test_break_before_the_first_fault(self):
    def change(story):
      story.events.insert(0, _event('failure', 'node1', 'rank 1: exit code 1',
                                    9.0))
    self.assert_found(change, 'ends no round')

  def test_cause_that_did_not_happen(self):
    def change(story):
      story.events[1]['reason'] = 'round 1 is broken: h (group rank 1) was lost'
    self.assert_found(change, 'round 1 has the cause')

  def test_wrong_node(self):
    def change(story):
      story.events[0]['node'] = 'node0'
    self.assert_found(change, 'kills no worker there')

  def test_node_that_was_not_lost(self):
    def change(story):
      story.events.append(_event('lost', 'node1', 'h is lost: no report', 10.2))
    self.assert_found(change, 'harms no agent')


  def cut_off(self, **changes):
    """Returns the story of a job whose coordinator is cut off and loses another
    node."""
    story = _story()
    fault = faults.Fault(faults.CUT, faults.NODE, lasts_s=15.0, at_host=True)
    story.groups[1] = dataclasses.replace(
        story.groups[1], faults=[dataclasses.replace(fault, **changes)],
        after={0: (3, 300), 1: (3, 301)}, steps=[6, 5, 6],
        told=[('node', 'h (group rank 1) was lost')])
    story.events += [
        _event('lost', 'node1', 'h is lost: no report', 30.5, 2),
        _event('break', None, 'round 2 is broken: h (group rank 1) was lost',
               30.6, 2)]
    return list(checker.complaints(story))

  def test_coordinator_that_is_cut_off_loses_other_nodes(self):
    self.assertEqual(self.cut_off(), [])

  def test_other_node_is_lost_although_the_coordinator_was_not_cut_off(self):
    found = self.cut_off(at_host=False)
    self.assertEqual(len(found), 1, found)
    self.assertIn('harms no agent', found[0])

  def test_short_cut_ends_no_round(self):
    found = self.cut_off(lasts_s=1.0)
    self.assertIn('explains 0 new rounds', found[0])


class Schedule(unittest.TestCase):

  def test_only_what_is_possible_is_drawn(self):
    for state in faults.STATES:
      drawn = [fault for group in faults.schedule(
          1, 500, 3, 1, state, longest_stop_s=20.0,
          acts=(faults.KILL, faults.STOP)) for fault in group]
      self.assertEqual({fault.act for fault in drawn},
                       {faults.KILL, faults.STOP})
      self.assertEqual(any(fault.at_host for fault in drawn),
                       state in faults.IN_NODES)

  def test_seed_decides(self):
    def of(seed):
      return faults.schedule(seed, 50, 3, 2, faults.FOLDER, longest_stop_s=3.0)
    self.assertEqual(of(1), of(1))
    self.assertNotEqual(of(1), of(2))
    self.assertEqual(sum(len(group) for group in of(1)), 50)

  def test_coordinator_is_not_killed_while_its_disk_is_full(self):
    for state, full in ((faults.FOLDER, {faults.JOURNAL, faults.DISK}),
                        (faults.HOSTED_FOLDER, {faults.DISK})):
      filled = set()
      for seed in range(100):
        for group in faults.schedule(seed, 50, 3, 2, state, longest_stop_s=3.0):
          targets = {fault.target for fault in group}
          if not targets & full:
            continue
          filled |= targets & full
          self.assertNotIn(faults.DAEMON, targets)
          if state == faults.HOSTED_FOLDER:
            self.assertFalse(any(fault.ends_node for fault in group))
      self.assertEqual(filled, full)


class Agenda(unittest.TestCase):

  def setUp(self):
    super().setUp()
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = folder.name
    self.agenda = chaos.Agenda(self.folder)
    self.addCleanup(self.agenda.close)
    self.called = []
    self.late = time.monotonic() + 60

  def call(self, name):
    return lambda: self.called.append(name)

  def child(self):
    process = subprocess.Popen(['cat'], stdin=subprocess.PIPE)
    self.addCleanup(process.wait)
    self.addCleanup(process.stdin.close)
    return process

  def test_functions_are_called_in_the_order_of_their_times(self):
    now = time.monotonic()
    self.agenda.at(self.late, self.call('late'))
    self.agenda.at(now, self.call('second'))
    self.agenda.at(now - 1, self.call('first'))
    self.agenda.wait(self.late)
    self.agenda.do_due()
    self.assertEqual(self.called, ['first', 'second'])
    self.assertTrue(self.agenda)

  def test_end_of_a_process_is_earlier_than_the_deadline(self):
    child = self.child()
    self.agenda.at_end(child.pid, self.late, self.call('ended'))
    self.agenda.do_due()
    self.assertEqual(self.called, [])
    child.kill()
    self.agenda.wait(self.late)
    self.agenda.do_due()
    self.assertEqual(self.called, ['ended'])
    self.assertFalse(self.agenda)
    child.wait()
    self.agenda.at_end(child.pid, self.late, self.call('is gone'))
    self.agenda.do_due()
    self.assertEqual(self.called, ['ended', 'is gone'])

  def test_deadline_of_a_process_that_does_not_end(self):
    self.agenda.at_end(self.child().pid, time.monotonic(), self.call('late'))
    self.agenda.wait(self.late)
    self.agenda.do_due()
    self.assertEqual(self.called, ['late'])

  def test_a_file_that_changes_or_a_process_that_ends_ends_a_wait(self):
    child = self.child()
    self.agenda.wake_at_end(child.pid)
    child.kill()
    self.agenda.wait(self.late)
    with open(self.folder + '/log', 'w', encoding='ascii') as log:
      log.write('step 1')
    self.agenda.wait(self.late)
    self.assertLess(time.monotonic(), self.late)


class Cut(unittest.TestCase):

  def test_packets_of_a_host_are_dropped_until_it_is_healed(self):
    if _WHY_NOT:
      self.skipTest(_WHY_NOT)
    host = _NETWORK.hosts[0]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
      receiver.bind((_NETWORK.address, 0))
      receiver.settimeout(60)
      address = f'/dev/udp/{_NETWORK.address}/{receiver.getsockname()[1]}'

      def send(text):
        subprocess.run([*host.inside(), 'bash', '-c',
                        f'printf {text} > {address}'], check=True)

      send('before')  # so that ARP has resolved the address before the cut
      self.assertEqual(receiver.recv(10), b'before')
      host.cut()
      send('lost')
      host.heal()
      send('after')
      self.assertEqual(receiver.recv(10), b'after')


class _LostHost(chaos.Plan):
  """The node that coordinates the job is cut off for longer than its lease."""

  def schedule(self):
    return [[faults.Fault(faults.CUT, faults.NODE, lasts_s=12.0, at_host=True)]
            ] if self.faults else []


class _FullDisk(chaos.Plan):
  """A worker is killed while the disk of the coordinator's state is full."""

  def schedule(self):
    return [[faults.Fault(faults.USE_UP, faults.DISK, lasts_s=3.0),
             faults.Fault(faults.KILL, faults.WORKER, node=1, gap_s=0.1)]
            ] if self.faults else []


class _FailedJob(chaos.Plan):
  """The coordinator is killed, and later a worker of a job that has no
  restarts."""

  def schedule(self):
    return [[faults.Fault(faults.KILL, faults.DAEMON, lasts_s=0.5)]
            ] if self.faults else []


class Jobs(unittest.TestCase):

  def test_jobs_survive_their_faults(self):
    plans = [chaos.Plan(_seed() + i, _FAULTS, _NODES[state], state,
                        _LONGEST_STOP_S, _ACTS)
             for i, state in enumerate(faults.STATES)]
    plans.append(_FailedJob(0, 1, _NODES[faults.FOLDER], faults.FOLDER,
                            _LONGEST_STOP_S, fails=True))
    if faults.CUT in _ACTS:
      plans.append(_LostHost(0, 1, _NODES[faults.HOSTED], faults.HOSTED,
                             _LONGEST_STOP_S))
    if faults.USE_UP in _ACTS:
      plans += [_FullDisk(-1, 1, _NODES[state], state, _LONGEST_STOP_S)
                for state in (faults.FOLDER, faults.HOSTED_FOLDER)]
    with tempfile.TemporaryDirectory(prefix='muster_chaos_') as folder:
      for plan, complaints in chaos.run(plans, folder, _NETWORK):
        with self.subTest(plan=str(plan)):
          self.assertEqual(complaints, [], f'to repeat it: {plan.command()}')
    if _WHY_NOT:
      self.skipTest('all passed, but no network was cut and no disk was full: '
                    f'{_WHY_NOT}')


if __name__ == '__main__':
  _NETWORK, _ACTS, _WHY_NOT = chaos.enter_network()
  xml_main.main()
