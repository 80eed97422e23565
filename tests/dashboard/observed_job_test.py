#!/usr/bin/python3
"""The dashboard of a job with failures, a slow rank, a quarantined machine and
an unhealthy node: time, causes, rounds, ranks and nodes are those of `launch
status --json`."""

import math
import os
import subprocess
import sys
import unittest

from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, 'python'))

import xml_main
from dashboard_case import LAUNCH, TIMEOUT_S, DashboardCase
from until import until

_JOB = 'a-job'
_SLOW_RANK = 2
# Runs a program under the host name $0.
_NAMED = ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"']

# A worker that makes a step every 50 ms and reports how it spends its time.
# After a restart it begins at step 1 again. On host b, local rank 0 and local
# rank 1 in turn die of SIGBUS, in round N once the file failN exists. The worker
# succeeds once the file `end` exists.
_WORKER = r'''
import os, signal, socket, sys, threading
slow = int(os.environ['RANK']) == %d
restarts = int(os.environ['TORCHELASTIC_RESTART_COUNT'])
fails = (socket.gethostname() == 'b' and
         int(os.environ['LOCAL_RANK']) == restarts %% 2)
report = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
report.connect(os.environ['MUSTER_PROGRESS_SOCKET'])
step = 0
while not os.path.exists(sys.argv[1] + '/end'):
  if fails and step > 10 and os.path.exists(
      sys.argv[1] + '/fail%%d' %% (restarts + 1)):
    os.kill(os.getpid(), signal.SIGBUS)
  step += 1
  own, data = (45, 30) if slow else (25, 5)
  report.send(b'STEP=%%d\nOWN_NS=%%d\nBLOCKED_NS=%%d\nDATA_NS=%%d\n'
              %% (step, *(step * ms * 1_000_000 for ms in (own, 50 - own, data))))
  threading.Event().wait(0.05)
''' % _SLOW_RANK


def _duration_text(seconds):
  """The text of a duration on the page, for less than an hour."""
  if seconds < 1:
    return f'{math.floor(seconds * 100) / 100:.2f}s'
  if seconds < 60:
    return f'{math.floor(seconds * 10) / 10:.1f}s'
  return f'{int(seconds // 60)}m {int(seconds % 60):02}s'


def _may_name_hosts():
  tried = subprocess.run([*_NAMED, 'b', 'true'], check=False,
                         stderr=subprocess.DEVNULL)
  return tried.returncode == 0


@unittest.skipUnless(_may_name_hosts(), 'this user can make no UTS namespace')
class ObservedJob(DashboardCase):

  def setUp(self):
    super().setUp()
    self.worker = os.path.join(self.folder, 'worker.py')
    with open(self.worker, 'w') as file:
      file.write(_WORKER)

  def node(self, host, endpoint, *flags):
    return self.start(
        *_NAMED, host, LAUNCH, '--nnodes=2', '--nproc-per-node=2',
        f'--rdzv-id={_JOB}', f'--rdzv-endpoint={endpoint}', '--max-restarts=5',
        '--rdzv-conf=is_host=0,keep_alive_interval=1', f'--node-id={host}',
        '--local-addr=127.0.0.1', *flags, '--no-python', sys.executable,
        self.worker, self.folder)

  def make(self, name):
    with open(os.path.join(self.folder, name), 'w'):
      pass

  def job(self):
    return self.status(self.endpoint, _JOB)

  def progress(self):
    return [said for node in self.job()['nodes'] for said in node['progress']]

  def nodes_of(self, status):
    return {node['node_id']: node for node in status['nodes']}

  def start_job(self):
    """Starts the job. Host b fails in the rounds 1 and 2 and is quarantined. It
    fails again in round 3; in round 4 host c has its place. Node d never passes
    its health check. Returns the nodes' processes."""
    url, self.endpoint = self.daemon()
    a = self.node('a', self.endpoint)
    self.said(a, '(waiting for 1 more)')
    self.show(url)
    b = self.node('b', self.endpoint)
    # The dashboard looks at the job once a second, and would miss a round that
    # ends earlier.
    for number in (1, 2):
      self.await_round(number)
      self.make(f'fail{number}')
    self.await_round(3)
    c = self.node('c', self.endpoint)
    d = self.node('d', self.endpoint, '--health-command=echo no disk; exit 1')
    until('four nodes are there', lambda: len(self.job()['nodes']) == 4)
    self.make('fail3')
    self.await_round(4)
    self.assertIsNone(self.nodes_of(self.job())['b']['group_rank'])
    return a, b, c, d

  def check_ranks(self):
    """The slow rank, and how each rank spends its time."""
    browser = self.browser
    slow = until('the slow rank is told', lambda: self.job()['slow_ranks'])
    self.assertEqual([(one['rank'], one['host'], one['phase'])
                      for one in slow], [(_SLOW_RANK, 'c', 'data')])
    expected = (f"{slow[0]['rank']} ({slow[0]['host']}, local rank "
                f"{slow[0]['local_rank']}): {slow[0]['phase']}, ")
    until('the page tells it', lambda: (
        browser.field('facts', 'slow ranks') or '').startswith(expected))
    # Each worker reports times with constant shares. The page rounds them to
    # 0.1 %.
    browser.press(Keys.HOME)
    for said in self.progress():
      shares = [f'{100 * seconds / sum(said["seconds"].values()):.1f} %'
                for seconds in said['seconds'].values()]
      self.assertEqual(shares, ['30.0 %', '60.0 %', '10.0 %']
                       if said['rank'] == _SLOW_RANK
                       else ['40.0 %', '10.0 %', '50.0 %'])
      self.assertEqual(browser.field('rank', 'rank'), str(said['rank']))
      shown = [browser.field('rank', name) for name in
               ('own work', 'waits for data', 'in collectives')]
      self.assertEqual([text.split(',')[0] for text in shown], shares)
      shown += [browser.field('rank', name)
                for name in ('waits for ranks', 'transfers')]
      for text in shown:
        self.assertRegex(text, r'%, (\d+m )?[\d.]+s$')
      browser.press(Keys.ARROW_RIGHT)

  def check_nodes(self):
    status = self.job()
    expected = []
    for node in status['nodes']:
      notes = [] if node['group_rank'] is not None else ['spare']
      if node['unhealthy']:
        notes.append(node['unhealthy'])
      if node['judgement']:
        notes.append(f"{node['judgement']['state']}: "
                     f"{node['judgement']['reason']}")
      rank = node['group_rank']
      expected.append([
          '–' if rank is None else str(rank),
          '–' if rank is None else f'{2 * rank}–{2 * rank + 1}',
          node['node_id'], node['address'], node['phase'], node['health'],
          ', '.join(notes)])
    until('the page has the nodes', lambda: [
        row[:6] + row[7:] for row in self.browser.rows('node-rows')
    ] == expected)
    nodes = self.nodes_of(status)
    self.assertEqual(nodes['b']['judgement']['state'], 'quarantined')
    self.assertIn('SIGBUS', nodes['b']['judgement']['reason'])
    self.assertEqual(nodes['d']['health'], 'unhealthy')
    self.assertIn('no disk', nodes['d']['unhealthy'])

  def check_interruptions(self, time):
    newest = time['newest_interruptions']
    self.assertEqual([(one['round'], one['cause'], one['host'])
                      for one in newest],
                     [(round_, 'worker', 'b') for round_ in (1, 2, 3)])
    self.assertEqual(self.browser.rows('interruption-rows'), [
        [str(one['round']), one['cause'], one['host'], one['reason'],
         _duration_text(one['lost_seconds'])] for one in reversed(newest)])
    self.assertEqual(self.browser.text('causes'),
                     'Interruptions by cause: ' + ', '.join(
        f"{cause} {sums['count']} ({_duration_text(sums['lost_seconds'])})"
        for cause, sums in time['interruptions'].items() if sums['count'] > 0))

  def timeline(self):
    """The rounds that have a bar on the time line, and the number of marks of
    interruptions."""
    return self.browser.driver.execute_script(
        'const all = (what) => [...document.querySelectorAll(what)];'
        'return [all("#timeline rect.running").map((one) => '
        '+one.dataset.round), all("#timeline .cause").length]')

  def await_round(self, number):
    until(f'round {number} is on the time line',
          lambda: number in self.timeline()[0])

  def check_timeline(self, status):
    self.assertEqual(self.timeline(), [
        list(range(1, status['round'] + 1)),
        len(status['time']['newest_interruptions'])])

  def ledger(self):
    """The lines of the time ledger: activity, time, share."""
    return self.browser.driver.execute_script(
        'const list = [...document.querySelectorAll("#activities > *")]'
        '.map((one) => one.textContent);'
        'return list.filter((_, i) => i % 4 === 0).map('
        '(name, i) => [name, list[4 * i + 2], list[4 * i + 3]])')

  def expected_ledger(self, time):
    total = sum(time['node_seconds'].values())
    return [[name, _duration_text(seconds), f'{100 * seconds / total:.1f} %']
            for name, seconds in time['node_seconds'].items() if seconds > 0]

  def check_ratio(self, time):
    total = sum(time['node_seconds'].values())
    self.assertEqual(
        self.browser.text('ratio'),
        f"{100 * time['productive_ratio']:.1f} % of {_duration_text(total)} "
        'node time was progress.')

  def test_the_page_shows_what_happened(self):
    nodes = self.start_job()
    self.check_ranks()
    self.check_nodes()
    for name in ('productive', 'recomputing', 'recovering', 'idle'):
      self.assertIn(name, [line[0] for line in self.ledger()])
    self.check_timeline(self.job())
    self.make('end')
    for node in nodes:
      node.communicate(timeout=TIMEOUT_S)
    self.assertEqual(nodes[0].returncode, 0)
    # All nodes have left, so that the times do not change any more and can be
    # compared exactly.
    status = self.job()
    until('the page has the times of the ended job', lambda: (
        self.browser.is_shown('verdict')
        and self.ledger() == self.expected_ledger(status['time'])))
    self.assertEqual(self.browser.text('state'), '✓ succeeded')
    self.check_ratio(status['time'])
    self.check_interruptions(status['time'])
    self.check_timeline(status)
    self.assertEqual(self.browser.complaints(), [])


if __name__ == '__main__':
  xml_main.main()
