#!/usr/bin/python3
"""`launch report` about real jobs: the report of a job of two nodes, in which a
worker is killed, names the culprit and has the times of the verdict; a run
that was cut off by SIGKILL has a report, too; and a browser shows both."""

import glob
import html.parser
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, os.pardir, 'python')]

import free_port
import xml_main

try:
  from selenium import webdriver
  from selenium.webdriver.chrome.service import Service
except ImportError:
  webdriver = None

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_CHROMIUM = '/usr/bin/chromium'
_DRIVER = '/usr/bin/chromedriver'
_TIMEOUT_S = 60
_PAUSE = threading.Event()  # never set

# A worker that writes hostile output and then reports a step every 50 ms. Rank
# 0 saves the number of every 20th step, and a restarted worker continues after
# the saved step. Every worker ends once the file `end` exists.
_WORKER = r'''
import os, socket, sys, threading
folder = sys.argv[1]
rank = int(os.environ['RANK'])
report = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
report.connect(os.environ['MUSTER_PROGRESS_SOCKET'])
sys.stderr.buffer.write(
    b'x' * 3000000 + b'\n<script>document.title=1</script>\n'
    b'\xff\x00\x1b[31mred\x1b[0m\n' + b'y' * 100000 + b'\n')
sys.stderr.flush()
os.write(2, b'rank %d has last words\n' % rank)
pid = open(f'{folder}/pid{rank}.new', 'w')
pid.write(str(os.getpid()))
pid.close()
os.rename(f'{folder}/pid{rank}.new', f'{folder}/pid{rank}')
step = 0
if os.path.exists(f'{folder}/checkpoint'):
  step = int(open(f'{folder}/checkpoint').read())
while True:
  step += 1
  report.send(b'STEP=%d\nLOSS=%f\nTOKENS_PER_S=100\n' % (step, 5 / (step + 1)))
  threading.Event().wait(0.05)
  if rank == 0 and step % 20 == 0:
    with open(f'{folder}/checkpoint.new', 'w') as file:
      file.write(str(step))
    os.rename(f'{folder}/checkpoint.new', f'{folder}/checkpoint')
  if os.path.exists(f'{folder}/end'):
    sys.exit(int(open(f'{folder}/end').read()) if rank == 1 else 0)
'''


def until(what, look):
  """Returns the first result of `look` that is true. Fails after a minute."""
  deadline = time.monotonic() + _TIMEOUT_S
  while True:
    seen = look()
    if seen:
      return seen
    if time.monotonic() > deadline:
      raise AssertionError(f'{what}: {seen!r}')
    _PAUSE.wait(0.05)


class Document(html.parser.HTMLParser):
  """A parsed report: fails where an element is not closed in order."""

  _VOID = ('meta', 'link', 'br')

  def __init__(self, text):
    super().__init__()
    self.open = []
    self.tags = set()
    self.attributes = set()
    self.facts = {}
    self.tables = {}
    self.text = ''
    self._row = None
    self._table = None
    self._term = ''
    self.feed(text)
    self.close()
    assert not self.open, self.open

  def handle_starttag(self, tag, attrs):
    self.tags.add(tag)
    self.attributes.update(name for name, _ in attrs)
    if tag in self._VOID:
      return
    self.open.append(tag)
    label = dict(attrs).get('aria-label')
    if tag == 'div' and label:
      self._table = self.tables.setdefault(label, [])
    if tag == 'tr':
      self._row = []
    if tag in ('td', 'dd', 'dt'):
      self.text = ''

  def handle_startendtag(self, tag, attrs):
    self.tags.add(tag)
    self.attributes.update(name for name, _ in attrs)

  def handle_endtag(self, tag):
    assert self.open and self.open.pop() == tag, (tag, self.open)
    if tag == 'td':
      self._row.append(self.text)
    if tag == 'tr' and self._row:
      self._table.append(self._row)
    if tag == 'dt':
      self._term = self.text
    if tag == 'dd':
      self.facts[self._term] = self.text

  def handle_data(self, data):
    self.text += data


class Report(unittest.TestCase):

  def setUp(self):
    self.folder = tempfile.mkdtemp(prefix='report_test')
    self.addCleanup(shutil.rmtree, self.folder)
    self.worker = os.path.join(self.folder, 'worker.py')
    with open(self.worker, 'w', encoding='ascii') as file:
      file.write(_WORKER)
    self.logs = os.path.join(self.folder, 'logs')
    self.endpoint = f'127.0.0.1:{free_port.free_port()}'
    self.environment = dict(os.environ, NO_COLOR='1')
    self.environment.pop('MUSTER_TOKEN', None)

  def start(self, *argv):
    program = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True,
                               errors='replace', env=self.environment,
                               cwd=self.folder)

    def stop():
      if program.poll() is None:
        program.kill()
        program.communicate()
    self.addCleanup(stop)
    return program

  def node(self, rank, *flags, logs=None):
    return self.start(
        _LAUNCH, '--nnodes=2', '--nproc-per-node=1', '--max-restarts=1',
        '--rdzv-id=a-job', f'--rdzv-endpoint={self.endpoint}',
        f'--node-rank={rank}', f'--node-id=n{rank}',
        '--rdzv-conf=keep_alive_interval=1',
        f'--log-dir={logs or self.logs}', '--redirects=3', '--no-python',
        *flags, sys.executable, self.worker, self.folder, '--api-key=k3y')

  def pid(self, rank):
    path = os.path.join(self.folder, f'pid{rank}')
    until(f'rank {rank} runs', lambda: os.path.exists(path))
    with open(path, encoding='ascii') as file:
      return int(file.read())

  def events(self, path):
    with open(path, encoding='ascii') as file:
      return [json.loads(line) for line in file if line.endswith('\n')]

  def wait_for_step(self, log, round_number, step):
    """Waits until the event log shows that all ranks have made the step."""
    def look():
      if not os.path.exists(log):
        return None
      return [event for event in self.events(log)
              if event['kind'] == 'state' and event['round'] == round_number
              and event['state']['progress']
              and event['state']['progress']['ranks'] == 2
              and (event['state']['progress']['least_step'] or 0) >= step]
    until(f'step {step} of round {round_number}', look)

  def end(self, code):
    with open(os.path.join(self.folder, 'end.new'), 'w') as file:
      file.write(str(code))
    os.rename(os.path.join(self.folder, 'end.new'),
              os.path.join(self.folder, 'end'))

  def report(self, *argv, code=0):
    made = subprocess.run([_LAUNCH, 'report', *argv], env=self.environment,
                          cwd=self.folder, capture_output=True, text=True,
                          timeout=_TIMEOUT_S)
    self.assertEqual(made.returncode, code, made.stderr)
    return made

  def read(self, path):
    with open(os.path.join(self.folder, path), encoding='utf-8') as file:
      return file.read()

  def check_is_harmless(self, text):
    document = Document(text)
    self.assertFalse(document.tags & {'script', 'img', 'iframe', 'object',
                                      'form', 'base'})
    self.assertNotIn('style', document.attributes)
    self.assertFalse([name for name in document.attributes
                      if name.startswith('on')])
    self.assertNotIn('k3y', text)
    self.assertLess(len(text), 2_000_000)
    return document

  def show(self, path):
    """Opens the report in Chromium; returns what the console says."""
    if webdriver is None or not os.path.exists(_CHROMIUM):
      self.skipTest('SKIPPED: there is no Chromium')
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM
    # Chromium's sandbox refuses to run as root. It is not needed, because the
    # browser loads only Muster's own page.
    for flag in ('--headless=new', '--no-sandbox', '--disable-dev-shm-usage',
                 '--disable-gpu', '--window-size=1280,1000'):
      options.add_argument(flag)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(service=Service(_DRIVER), options=options)
    self.addCleanup(driver.quit)
    driver.get('file://' + os.path.join(self.folder, path))
    for width in (390, 1280):
      driver.set_window_size(width, 900)
      # Chromium's window cannot be as narrow as a phone, so set the width of
      # the page instead.
      driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
          'width': width, 'height': 900, 'deviceScaleFactor': 1,
          'mobile': False})
      self.assertLessEqual(driver.execute_script(
          'return document.documentElement.scrollWidth'), width)
    # The page's Content-Security-Policy must permit the page's own style.
    self.assertNotEqual(driver.execute_script(
        'return getComputedStyle(document.querySelector("section"))'
        '.borderRadius'), '0px')
    self.assertIn('a-job', driver.title)
    return [line['message'] for line in driver.get_log('browser')]

  def test_killed_worker_is_the_culprit(self):
    nodes = [self.node(rank) for rank in range(2)]
    log = os.path.join(self.logs, 'latest', 'events.jsonl')
    self.wait_for_step(log, 1, 25)
    pid = self.pid(1)
    os.unlink(os.path.join(self.folder, 'pid1'))
    os.kill(pid, signal.SIGKILL)
    self.wait_for_step(log, 2, 45)
    self.end(3)
    for node in nodes:
      node.communicate(timeout=_TIMEOUT_S)
      self.assertEqual(node.returncode, 3)
    made = self.report(os.path.join(self.logs, 'latest'))
    self.assertEqual(made.stdout, 'report-a-job.html\n')
    text = self.read('report-a-job.html')
    document = self.check_is_harmless(text)
    events = self.events(log)
    finish = [event['state']['verdict'] for event in events
              if event['kind'] == 'state' and event['state']['verdict']][-1]
    self.assertEqual(document.facts['exit code'], str(finish['exit_code']))
    killed = [event for event in events if event['kind'] == 'break'][0]
    self.assertEqual(killed['failure']['rank'], 1)
    self.assertEqual(killed['failure']['pid'], pid)
    row = document.tables['Interruptions'][0]
    self.assertEqual(
        row[0], killed['time'][:19].replace('T', ' ') + ' UTC')
    self.assertEqual(row[1], '1')
    self.assertIn(f'rank 1 (local rank 0), pid {pid} on ', row[2])
    self.assertIn('(node n1)', row[2])
    self.assertTrue(
        row[3].startswith('worker: killed by SIGKILL (signal 9)'), row[3])
    lost = [one for one in finish['time']['newest_interruptions']
            if one['round'] == 1][0]
    self.assertAlmostEqual(self.seconds(row[5]), lost['lost_seconds'],
                           delta=0.11)
    assigned = [event for event in events if event['kind'] == 'assign'][1]
    self.assertAlmostEqual(
        self.seconds(row[4]),
        self.clock(assigned['time']) - self.clock(killed['time']), delta=0.11)
    self.assertRegex(row[6], r'^(≥ )?\d+$')
    ratio = finish['time']['productive_ratio']
    self.assertEqual(document.facts['productive (ETTR)'],
                     f'{100 * ratio:.1f} %')
    self.assertEqual(document.facts['nodes and workers'], '2 nodes, 2 workers')
    self.assertEqual(document.facts['rounds'], '2')
    self.assertIn('--api-key=[left out]', text)
    self.assertIn('rank 1 has last words', text)
    self.assertIn('&lt;script&gt;document.title=1', text)
    self.assertIn('[line of ', text)
    self.assertIn('id="chart-loss"', text)
    self.assertIn('id="chart-step-time"', text)
    self.assertEqual(self.show('report-a-job.html'), [])

  @staticmethod
  def seconds(text):
    """The number of seconds of "7.5s" or "2m 03s"."""
    parts = re.fullmatch(r'(?:(\d+)m )?([\d.]+)s', text)
    return 60 * int(parts.group(1) or 0) + float(parts.group(2))

  @staticmethod
  def clock(text):
    whole, part = text.rstrip('Z').split('.')
    return time.mktime(time.strptime(whole, '%Y-%m-%dT%H:%M:%S')) + float(
        '0.' + part)

  def test_run_cut_off_by_sigkill_has_a_report(self):
    other_logs = os.path.join(self.folder, 'other')
    nodes = [self.node(0)]
    log = os.path.join(self.logs, 'latest', 'events.jsonl')
    # The first node hosts the coordinator, which creates the event log.
    until('the coordinator runs', lambda: os.path.exists(log))
    nodes.append(self.node(1, logs=other_logs))
    self.wait_for_step(log, 1, 5)
    nodes[0].kill()
    nodes[0].communicate()
    run = os.path.realpath(os.path.join(self.logs, 'latest'))
    with open(log, 'a', encoding='ascii') as file:
      file.write('{"time":"2026-')  # a line that was not written whole
    made = self.report('a-job', f'--log-dir={self.logs}', '-o', 'cut.html')
    self.assertEqual(made.stdout, 'cut.html\n')
    self.assertIn('Not here are the files of 1 node: n1 (rank 1).', made.stderr)
    text = self.read('cut.html')
    document = self.check_is_harmless(text)
    self.assertIn('The event log has no verdict.', text)
    self.assertIn('the last line is cut off', text)
    self.assertEqual(document.facts['nodes and workers'], '2 nodes, 2 workers')
    self.assertIn('productive (ETTR)', document.facts)
    # The first report lacked the files of node n1. If the command line also
    # names n1's log folder, the second report must lack no file.
    other = glob.glob(other_logs + '/a-job*')[0]
    made = self.report(run, other, '-o', 'cut.html')
    self.assertNotIn('ot here', made.stderr)
    self.assertIn('rank 1 has last words', self.read('cut.html'))
    self.assertEqual(self.show('cut.html'), [])

  def test_event_log_of_a_daemon(self):
    log = os.path.join(self.folder, 'daemon.jsonl')
    self.daemon(f'--event-log={log}')
    nodes = [self.node(rank) for rank in range(2)]
    self.wait_for_step(log, 1, 2)
    self.end(0)
    for node in nodes:
      node.communicate(timeout=_TIMEOUT_S)
      self.assertEqual(node.returncode, 0)
    until('the verdict is written', lambda: any(
        event['kind'] == 'state' and event['state']['verdict']
        for event in self.events(log)))
    text = self.report(log, '-o', '-').stdout
    document = self.check_is_harmless(text)
    self.assertIn('The job succeeded without an interruption.', text)
    self.assertEqual(document.facts['exit code'], '0')
    self.assertIn('name the run&#39;s folder', text)

  def daemon(self, *flags):
    daemon = self.start(_DAEMON, f'--listen={self.endpoint}', *flags)
    until('the daemon listens', lambda: 'listening' in daemon.stdout.readline())
    return daemon

  def test_journal_alone_after_a_killed_daemon(self):
    log = os.path.join(self.folder, 'daemon.jsonl')
    state = os.path.join(self.folder, 'state')
    daemon = self.daemon(f'--event-log={log}', f'--state-dir={state}')
    nodes = [self.node(rank) for rank in range(2)]
    self.wait_for_step(log, 1, 5)
    # Make a report while the daemon still has the journal open.
    text = self.report('--state-dir=state', log, '-o', '-').stdout
    self.check_is_harmless(text)
    self.assertIn('and agrees with the event log.', text)
    pid = self.pid(1)
    os.unlink(os.path.join(self.folder, 'pid1'))
    os.kill(pid, signal.SIGKILL)
    self.wait_for_step(log, 2, 5)
    daemon.kill()
    daemon.communicate()
    killed = [event for event in self.events(log)
              if event['kind'] == 'break'][0]
    os.unlink(log)
    before = self.files(state)
    made = self.report('--state-dir=state')
    self.assertEqual(made.stdout, 'report-a-job.html\n')
    self.assertEqual(self.files(state), before)
    text = self.read('report-a-job.html')
    document = self.check_is_harmless(text)
    self.assertIn('The journal has no verdict. Its record is of ', text)
    self.assertEqual(document.facts['rounds'], '2')
    self.assertEqual(document.facts['restarts used'], '1 of 1')
    self.assertEqual(document.facts['nodes and workers'], '2 nodes, 2 workers')
    row = document.tables['Interruptions'][0]
    self.assertEqual(row[1], '1')
    self.assertTrue(row[3].startswith('worker'), row)
    self.assertIn('SIGKILL', row[3])
    rows = document.tables['Nodes of the record']
    self.assertEqual([one[:2] + one[3:5] for one in rows],
                     [['0', 'n0', '0', 'assigned'], ['1', 'n1', '1', 'assigned']])
    self.assertEqual(document.tables['Rounds'][0][0], '2')
    began = document.tables['Rounds'][0][1].removesuffix(' UTC')
    self.assertGreaterEqual(self.clock(began.replace(' ', 'T') + '.999Z'),
                            self.clock(killed['time']))
    self.assertIn('--api-key=[left out]', text)
    self.assertEqual(self.show('report-a-job.html'), [])
    # The report must not have changed the journal: the next daemon continues
    # the job from it.
    daemon = self.daemon(f'--event-log={log}', f'--state-dir={state}')
    self.end(0)
    for node in nodes:
      node.communicate(timeout=_TIMEOUT_S)
      self.assertEqual(node.returncode, 0)
    daemon.kill()
    daemon.communicate()
    os.unlink(log)
    shutil.rmtree(self.logs)
    text = self.report('a-job', '--state-dir=state', '-o', '-').stdout
    document = self.check_is_harmless(text)
    self.assertIn('The job succeeded after 1 interruption.', text)
    self.assertEqual(document.facts['exit code'], '0')
    self.assertIn('productive (ETTR)', document.facts)
    for bytes_of_file in (b'', b'x' * 5000):
      shutil.rmtree(state)
      os.mkdir(state)
      with open(os.path.join(state, 'coordinator.journal'), 'wb') as file:
        file.write(bytes_of_file)
      made = self.report('a-job', '--state-dir=state', code=2)
      self.assertEqual(len(made.stderr.splitlines()), 1, made.stderr)
      self.assertIn('state/coordinator.journal', made.stderr)

  @staticmethod
  def files(folder):
    """The content and the time of change of each file in the folder."""
    found = {}
    for name in sorted(os.listdir(folder)):
      path = os.path.join(folder, name)
      with open(path, 'rb') as file:
        found[name] = (file.read(), os.stat(path).st_mtime_ns)
    return found

  def test_other_files_are_not_replaced(self):
    os.mkdir(self.logs)
    log = os.path.join(self.folder, 'log.jsonl')
    with open(log, 'w', encoding='ascii') as file:
      file.write('{"time":"2026-03-01T14:05:09.250Z","run_id":"../a b",'
                 '"round":0,"kind":"join","node":"n","reason":"joins"}\n')
    self.assertRegex(self.report(log).stdout,
                     r'^report-_\._a_b-[0-9a-f]{8}\.html\n$')
    self.report(log)  # may replace the first report
    with open(os.path.join(self.folder, 'mine.html'), 'w') as file:
      file.write('my own')
    made = self.report(log, '-o', 'mine.html', code=2)
    self.assertIn('mine.html exists and is no report', made.stderr)
    self.assertEqual(self.read('mine.html'), 'my own')
    made = self.report(log, '-o', 'absent/r.html', code=1)
    self.assertIn('cannot write absent/r.html', made.stderr)
    for argv in (['absent'], [], [self.logs], ['--frob']):
      made = self.report(*argv, code=2)
      self.assertEqual(len(made.stderr.splitlines()), 1, made.stderr)


if __name__ == '__main__':
  xml_main.main()
