#!/usr/bin/python3
"""Tests that the sweep's checks find what Muster tells wrongly, and that Muster
tells the truth about some faults in real jobs."""

import copy
import os
import shutil
import sys
import tempfile
import unittest
from concurrent import futures

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import sweep
import xml_main

_ACTIVITIES = ('waiting', 'starting', 'initialising', 'productive', 'stalled',
               'recomputing', 'stopping', 'recovering')
_NETWORK = None
_WHY_NOT = ''


def _status(asked, silent=0.5, slow_ranks=(), **spent):
  """The status of two nodes that were started at 100; the rest of the time was
  productive."""
  seconds = dict.fromkeys(_ACTIVITIES, 0.0)
  seconds.update(spent)
  seconds['productive'] += asked - silent - 100 - sum(spent.values())
  nodes = [{'node_id': f'node{i}', 'connected': True, 'group_rank': i,
            'silent_seconds': silent, 'seconds': dict(seconds)}
           for i in range(2)]
  total = {name: 2 * value for name, value in seconds.items()}
  return sweep.Status(asked, asked, {
      'nodes': nodes, 'slow_ranks': list(slow_ranks),
      'time': {'node_seconds': total}})


def _event(kind, node, reason, unix):
  return {'kind': kind, 'node': node, 'reason': reason, 'unix': unix}


def _story(fault):
  """The story of a job in which Muster has told the truth about a fault on
  rank 1, the only worker of node1."""
  plan = sweep.Plan(seed=1, fault=fault, nodes=2, workers=1, node=1,
                    local_rank=0, after_s=3, lasts_s=3, quota=0.05)
  story = sweep.Story(
      plan, agents=[sweep.Agent('node0', 100), sweep.Agent('node1', 100)],
      rank=1, began=110, recovered=112, before=_status(110),
      after=_status(120),
      end={'verdict': {
          'outcome': 'succeeded', 'reason': '', 'restarts_used': 0, 'rounds': 1,
          'time': {'newest_interruptions': []}}},
      events=[_event('join', f'node{i}', '', 100.1) for i in range(2)],
      exit_codes={'node0': 0, 'node1': 0},
      outputs={'node0': '90 % productive', 'node1': '90 % productive'})
  if fault == sweep.WORKER:
    story.after = _status(120, recovering=0.5, recomputing=1.0)
    story.end['verdict'].update(restarts_used=1, rounds=2, time={
        'newest_interruptions': [
            {'cause': 'worker', 'host': 'node1', 'lost_seconds': 1.5,
             'lost_node_seconds': 3.0,
             'reason': 'rank 1 on node1: killed by SIGKILL (9)'}]})
    line = '90.0 % productive; 1.5s lost to 1 failure: worker on node1 1.5s'
    story.outputs = {'node0': line, 'node1': line}
  elif fault == sweep.PAUSE:
    story.after = _status(120, stalled=2.9)
  elif fault == sweep.DATA:
    story.after = _status(120, slow_ranks=[
        {'rank': 1, 'host': 'node1', 'local_rank': 0, 'phase': 'data',
         'persistent': True}])
    story.events.append(_event('straggler', 'node1', 'rank 1 (node1, local '
                               'rank 0) waits for its data', 129))
  return story


class Checks(unittest.TestCase):

  def assert_found(self, fault, change, words):
    story = copy.deepcopy(_story(fault))
    change(story)
    found = list(sweep.complaints(story))
    self.assertEqual(len(found), 1, found)
    self.assertIn(words, found[0])

  def test_the_truth_is_right(self):
    for fault in (sweep.NONE, sweep.WORKER, sweep.PAUSE, sweep.DATA):
      with self.subTest(fault):
        self.assertEqual(list(sweep.complaints(_story(fault))), [])

  def test_second_that_no_activity_has(self):
    def change(story):
      story.after.job['nodes'][0]['seconds']['productive'] -= 1
      story.after.job['time']['node_seconds']['productive'] -= 1
    self.assert_found(sweep.NONE, change, 'of node0 add up to')

  def test_second_that_the_job_has_not(self):
    def change(story):
      story.after.job['time']['node_seconds']['productive'] -= 1
    self.assert_found(sweep.NONE, change, 'of the job add up to')

  def test_wrong_host(self):
    def change(story):
      story.end['verdict']['time']['newest_interruptions'][0]['host'] = 'node0'
    self.assert_found(sweep.WORKER, change, 'the interruptions are')

  def test_wrong_rank(self):
    def change(story):
      story.rank = 0
    self.assert_found(sweep.WORKER, change, 'not rank 0')

  def test_verdict_without_the_culprit(self):
    def change(story):
      story.outputs['node0'] = '90.0 % productive; 1.5s lost to 1 failure'
    self.assert_found(sweep.WORKER, change, 'the verdict of node0')

  def test_lost_time_that_the_ledgers_have_not(self):
    def change(story):
      for node in story.after.job['nodes']:
        node['seconds']['recomputing'] -= 0.5
        node['seconds']['productive'] += 0.5
    self.assert_found(sweep.WORKER, change, 'the ledgers have')

  def test_restart_without_a_fault(self):
    def change(story):
      story.end['verdict']['restarts_used'] = 1
    self.assert_found(sweep.NONE, change, '1 restarts were used')

  def test_stall_of_one_node_only(self):
    def change(story):
      story.after.job['nodes'][1]['seconds'].update(stalled=0, productive=19.5)
    self.assert_found(sweep.PAUSE, change, 'node1 has stalled for 0.00 s')

  def test_slow_rank_without_a_fault(self):
    def change(story):
      story.events.append(_event('straggler', 'node0', 'rank 0 (node0, local '
                                 'rank 0) is slow', 119))
    self.assert_found(sweep.NONE, change, 'rank 0 is named')

  def test_wrong_phase(self):
    def change(story):
      story.after.job['slow_ranks'][0]['phase'] = 'compute'
    self.assert_found(sweep.DATA, change, 'the slow ranks are')

  def test_slow_rank_that_is_named_too_late(self):
    def change(story):
      story.events[-1]['unix'] = story.began + sweep.NAMED_WITHIN_S + 1
    self.assert_found(sweep.DATA, change, 'was named after')

  def test_suspect_without_a_fault(self):
    def change(story):
      story.events.append(_event('suspect', 'node0', 'is suspected', 119))
    self.assert_found(sweep.NONE, change, 'suspected are')

  def test_quarantine_without_a_fault(self):
    def change(story):
      story.machines['node0'] = 'quarantined'
    self.assert_found(sweep.NONE, change, 'quarantined are')


class Plans(unittest.TestCase):

  def test_a_seed_has_one_plan_and_the_seeds_have_all_faults(self):
    plans = [sweep.plan_of(seed) for seed in range(100)]
    self.assertEqual(plans, [sweep.plan_of(seed) for seed in range(100)])
    self.assertEqual({plan.fault for plan in plans}, set(sweep.FAULTS))


class Jobs(unittest.TestCase):
  """Several jobs run at a time, since they mostly wait."""

  @classmethod
  def setUpClass(cls):
    if _WHY_NOT:
      raise unittest.SkipTest(_WHY_NOT)
    folder = tempfile.mkdtemp(prefix='sweep_test')
    cls.addClassCleanup(shutil.rmtree, folder)
    faults = [sweep.NONE, sweep.DATA, sweep.WORKER, sweep.AGENT, sweep.PAUSE]
    cls.no_quota = sweep.why_no_quota()
    if not cls.no_quota:
      faults.append(sweep.PROCESSOR)
    with futures.ThreadPoolExecutor(2) as executor:
      cls.runs = {
          fault: executor.submit(sweep.run, sweep.plan_of(seed, fault),
                                 f'{folder}/{fault}', _NETWORK)
          for seed, fault in enumerate(faults)}

  def check(self, fault):
    story, wrong = self.runs[fault].result()
    self.assertEqual(wrong, [], story.events)

  def test_no_fault(self):
    self.check(sweep.NONE)

  def test_slow_data(self):
    self.check(sweep.DATA)

  def test_slow_processor(self):
    if self.no_quota:
      self.skipTest(self.no_quota)
    self.check(sweep.PROCESSOR)

  def test_killed_worker(self):
    self.check(sweep.WORKER)

  def test_killed_agent(self):
    self.check(sweep.AGENT)

  def test_paused_worker(self):
    self.check(sweep.PAUSE)


if __name__ == '__main__':
  _NETWORK, _WHY_NOT = sweep.enter_network()
  xml_main.main()
