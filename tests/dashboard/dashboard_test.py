#!/usr/bin/python3
"""The dashboard of real jobs in Chromium: it shows what `launch status --json`
prints, and nothing to strangers."""

import contextlib
import os
import re
import socket
import subprocess
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, 'python'))

import free_port
import xml_main
from dashboard_case import DAEMON, LAUNCH, TIMEOUT_S, DashboardCase
from until import until

_MAX_STREAMS = 16
_MAX_OUTPUT_STREAMS = 8
_STATUS = '<img src=x onerror="document.title=3">'  # each worker reports it

# A worker that reports step 70 + rank until it is stopped. Rank 1 ends once the
# file `end` exists, with the exit code in this file.
_WORKER = r'''
import os, socket, sys, threading
rank = int(os.environ['RANK'])
report = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
report.connect(os.environ['MUSTER_PROGRESS_SOCKET'])
while not (rank == 1 and os.path.exists(sys.argv[1])):
  report.send(b'STEP=%d\nLOSS=2.5\nTOKENS_PER_S=100\n'
              b'STATUS=%s\n' % (70 + rank, os.fsencode(sys.argv[2])))
  threading.Event().wait(0.05)
sys.exit(int(open(sys.argv[1]).read()))
'''


# A worker that first prints lines which could harm the page: a very long line,
# HTML, escape sequences and invalid UTF-8. It then prints each line that it
# reads from the FIFO of its rank; in place of the line `flood` it prints 20,000
# lines. The worker ends at the end of the FIFO.
_PRINTER = r'''
import os, sys
out = sys.stdout.buffer
sys.stderr.write('a warning\n')
sys.stderr.flush()
out.write(b'y' * 100_000 + b'\n')
out.write(b'<img src=x onerror="document.title=3"> & <b>bold</b>\n')
out.write(b'\x1b[31mred\x1b[0m \x1b]0;title\x07\x00bell\x07 \xff\xfe '
          b'\xe2\x80\xaeabc\x1b[\n')
out.write(b'hello of rank %d\n' % int(os.environ['RANK']))
out.flush()
with open(sys.argv[1] + '.say' + os.environ['RANK']) as said:
  for line in said:
    if line == 'flood\n':
      line = ''.join(f'line {i}\n' for i in range(20_000)) + 'after it\n'
    out.write(line.encode())
    out.flush()
'''


class Dashboard(DashboardCase):

  def setUp(self):
    super().setUp()
    self.end_file = os.path.join(self.folder, 'end')
    self.worker = os.path.join(self.folder, 'worker.py')
    with open(self.worker, 'w') as file:
      file.write(_WORKER)

  def nodes(self, endpoint, job, *flags, token=None, count=2,
            stdout=subprocess.PIPE):
    return [self.start(LAUNCH, f'--nnodes={count}', '--nproc-per-node=2',
                       f'--rdzv-id={job}', f'--rdzv-endpoint={endpoint}',
                       f'--node-rank={rank}', '--no-python', *flags,
                       sys.executable, self.worker, self.end_file, _STATUS,
                       token=token, stdout=stdout)
            for rank in range(count)]

  def end(self, code):
    with open(self.end_file + '.new', 'w') as file:
      file.write(str(code))
    os.rename(self.end_file + '.new', self.end_file)

  def connect(self, url):
    host, port = re.match(r'http://([^:]+):(\d+)', url).groups()
    client = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
    self.addCleanup(client.close)
    return client

  def ask(self, url, path, host='127.0.0.1', headers=''):
    """Returns the status line of the answer, and the answer."""
    with contextlib.closing(self.connect(url)) as client:
      client.sendall(f'GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n'
                     .encode())
      answer = b''
      while part := client.recv(65536):
        answer += part
    return answer.split(b'\r\n')[0].decode(), answer.decode()

  def test_the_page_shows_what_the_status_prints(self):
    url, endpoint = self.daemon()
    nodes = self.nodes(endpoint, 'a-job')
    browser = self.browser
    self.show(url)
    until('the list has the job or its page is shown', lambda: (
        'a-job' in browser.text('job-rows') or browser.is_shown('job')))
    self.show(url + '#job=a-job')
    until('all ranks run',
          lambda: browser.states() == ['running'] * 4)
    status = self.status(endpoint, 'a-job')
    self.assertEqual(browser.text('run-id'), status['run_id'])
    self.assertIn(status['phase'], browser.text('state'))
    self.assertEqual(browser.text('reason'), status['reason'])
    for name, value in (
        ('round', status['round']), ('workers', status['world_size']),
        ('nodes', f"{len(status['nodes'])} of {status['max_nodes']}"),
        ('restarts',
         f"{status['restarts_used']} of {status['max_restarts']}"),
        ('master', f"{status['master_address']}:{status['master_port']}")):
      self.assertEqual(browser.field('facts', name), str(value), name)
    rows = browser.rows('node-rows')
    self.assertEqual(
        [[row[0], row[2], row[3], row[4], row[5]] for row in rows],
        [[str(node['group_rank']), node['node_id'], node['address'],
          node['phase'], node['health']] for node in status['nodes']])
    self.assertEqual([row[1] for row in rows], ['0–1', '2–3'])
    # `said`: the progress of each rank. The page must show the ranks one by
    # one: the key Home selects rank 0, and each press of the arrow key selects
    # the next rank.
    said = [one for node in status['nodes'] for one in node['progress']]
    browser.press(Keys.HOME)
    for rank, one in enumerate(said):
      self.assertEqual(one['rank'], rank)
      self.assertEqual(browser.field('rank', 'rank'), str(rank))
      self.assertEqual(browser.field('rank', 'step'), str(one['step']))
      self.assertEqual(browser.field('rank', 'steps behind'), str(3 - rank))
      self.assertEqual(browser.field('rank', 'loss'), '2.5')
      self.assertEqual(browser.field('rank', 'tokens/s'), '100')
      browser.press(Keys.ARROW_RIGHT)
    until('the charts are drawn', lambda: browser.driver.execute_script(
        'return document.querySelectorAll("#charts svg path.line").length') == 3)
    # Wait until the page follows the output. If the page asked for the output
    # only after the job's end, the server would refuse, and the browser would
    # log an error.
    until('the output of the last rank is followed',
          lambda: browser.text('output-state').startswith('live'))
    self.end(3)
    for node in nodes:
      node.communicate(timeout=TIMEOUT_S)
      self.assertEqual(node.returncode, 3)
    until('the verdict is shown', lambda: browser.is_shown('verdict'))
    verdict = self.status(endpoint, 'a-job')['verdict']
    self.assertEqual(verdict['outcome'], 'failed')
    self.assertIn('failed', browser.text('state'))
    self.assertEqual(browser.field('verdict-facts', 'exit code'), '3')
    self.assertEqual(browser.field('verdict-facts', 'why'), verdict['reason'])
    self.assertTrue(browser.field('verdict-facts', 'failed rank').startswith(
        f"{verdict['cause']['rank']} (local {verdict['cause']['local_rank']})"))
    self.assertEqual(browser.complaints(), [])

  def test_a_hostile_name_is_only_text(self):
    url, endpoint = self.daemon()
    name = '"><b><script>document.title=2'
    self.nodes(endpoint, name, count=1)
    self.nodes(endpoint, 'another', count=1)
    until('both jobs are there',
          lambda: self.ask(url, '/api/jobs')[1].count('"run_id"') == 2)
    browser = self.browser
    self.show(url)
    row = until('both jobs are listed', lambda: [
        row for row in browser.rows('job-rows') if row[0] == name
        and len(browser.rows('job-rows')) == 2])
    self.assertEqual(row[0][0], name)
    browser.driver.find_element(By.LINK_TEXT, name).click()
    until('its page is shown', lambda: browser.text('run-id') == name)
    until('the status of a rank is shown',
          lambda: browser.field('rank', 'status') == _STATUS)
    self.assertIn(name, browser.driver.title)
    self.assertEqual(browser.driver.execute_script(
        'return document.querySelectorAll("img, main script").length'), 0)
    self.assertEqual(browser.complaints(), [])

  def test_the_output_of_the_chosen_rank(self):
    with open(self.worker, 'w') as file:
      file.write(_PRINTER)
    fifos = [f'{self.end_file}.say{rank}' for rank in range(2)]
    for fifo in fifos:
      os.mkfifo(fifo)
    url, endpoint = self.daemon()
    node = self.nodes(endpoint, 'a-job', count=1, stdout=subprocess.DEVNULL)[0]
    until('the job is there',
          lambda: '"a-job"' in self.ask(url, '/api/jobs')[1])
    browser = self.browser
    self.show(url)
    until('both ranks run', lambda: browser.states() == ['unheard'] * 2)
    # open() blocks until the worker opens the FIFO for reading.
    said = [open(fifo, 'w') for fifo in fifos]
    for fifo in said:
      self.addCleanup(fifo.close)
    self.assertTrue(browser.is_shown('output-hint'))
    self.assertFalse(browser.is_shown('output'))
    browser.press(Keys.HOME)
    until('the last line is shown', lambda: (
        browser.lines()[-1:] == [['stdout', 'hello of rank 0']]))
    self.assertEqual(browser.text('output-title'), 'Output of rank 0')
    lines = browser.lines()
    self.assertIn(['stderr', 'a warning'], lines)
    self.assertEqual(lines[-3:-1], [
        ['stdout', '<img src=x onerror="document.title=3"> & <b>bold</b>'],
        ['stdout', 'red bell \ufffd\ufffd <U+202E>abc']])
    huge = [text for _, text in lines if text.startswith('yyy')]
    self.assertTrue(huge[0].endswith(' bytes more]'), huge)
    self.assertLess(max(map(len, huge)), 2200)
    until('the page follows it',
          lambda: browser.text('output-state').startswith('live'))

    def tell(line):
      for fifo in said:
        fifo.write(line + '\n')
        fifo.flush()
    tell('news')
    until('a new line is shown',
          lambda: browser.lines()[-1:] == [['stdout', 'news']])
    browser.press(Keys.ARROW_RIGHT)
    until('the output of the other rank is shown',
          lambda: ['stdout', 'hello of rank 1'] in browser.lines())
    self.assertNotIn(['stdout', 'hello of rank 0'], browser.lines())
    self.assertEqual(browser.text('output-title'), 'Output of rank 1')
    tell('flood')
    until('the end of a flood is shown',
          lambda: browser.lines()[-1:] == [['stdout', 'after it']])
    self.assertLessEqual(len(browser.lines()), 50)
    self.assertEqual(browser.driver.execute_script(
        'return document.querySelectorAll("#lines img, #lines b").length'), 0)
    self.assertNotEqual(browser.driver.title, '3')
    for fifo in said:
      fifo.close()
    self.assertEqual(node.wait(timeout=TIMEOUT_S), 0)
    until('the end is told', lambda: (
        browser.text('output-state') == 'the output has ended'))
    self.assertIn(['stdout', 'after it'], browser.lines())
    self.assertEqual(browser.complaints(), [])

  def test_a_page_for_other_hosts_has_no_output(self):
    daemon = self.start(DAEMON, '--listen=127.0.0.1:0',
                        '--dashboard-listen=0.0.0.0:0')
    url = self.said(daemon, r'dashboard on (http://\S+)')
    url = url.replace('0.0.0.0', '127.0.0.1')
    endpoint = self.said(daemon, r'listening on ([^ ,]+)')
    self.nodes(endpoint, 'a-job', count=1)
    until('the job is there',
          lambda: '"a-job"' in self.ask(url, '/api/jobs')[1])
    status, answer = self.ask(url, '/api/output?id=a-job&rank=0')
    self.assertIn('403', status)
    self.assertIn('does not show the output of workers', answer)
    browser = self.browser
    self.show(url)
    until('both ranks run', lambda: browser.states() == ['running'] * 2)
    browser.press(Keys.HOME)
    until('the page says why', lambda: (
        'does not show the output' in browser.text('output-state')))

  def test_a_job_of_one_node_asks_for_its_token(self):
    endpoint = f'127.0.0.1:{free_port.free_port()}'
    launch = self.start(LAUNCH, '--nnodes=1', f'--rdzv-endpoint={endpoint}',
                        '--nproc-per-node=2', '--no-python',
                        '--dashboard-listen=0', sys.executable, self.worker,
                        self.end_file, _STATUS)
    url = self.said(launch, r'dashboard is at (http://[^ ,]+)')
    browser = self.browser
    self.show(url)
    until('it asks for a token', lambda: browser.is_shown('sign-in'))
    self.assertFalse(browser.is_shown('job'))

    def sign_in(token):
      browser.driver.find_element(By.ID, 'token').send_keys(token + '\n')
    sign_in('wrong')
    until('it is refused', lambda: 'wrong token' in browser.text('refusal'))
    token = subprocess.run(
        [LAUNCH, 'token', '--role=view', f'--endpoint={endpoint}'],
        env=self.environment(), capture_output=True, text=True,
        timeout=TIMEOUT_S)
    self.assertEqual(token.returncode, 0, token.stderr)
    sign_in(token.stdout.strip())
    until('the job is shown', lambda: browser.states() == ['running'] * 2)
    # The page must not leak the token: it is in no address and in no cookie.
    self.assertNotIn('muster1', browser.driver.current_url)
    self.assertEqual(browser.driver.get_cookies(), [])
    browser.driver.execute_script('sessionStorage.clear()')
    self.show('about:blank')
    self.show(f'{url}#token={token.stdout.strip()}')
    until('the token of the address is taken',
          lambda: browser.states() == ['running'] * 2)
    self.assertNotIn('muster1', browser.driver.current_url)
    join = subprocess.run(
        [LAUNCH, 'token', '--role=join', f'--endpoint={endpoint}'],
        env=self.environment(), capture_output=True, text=True,
        timeout=TIMEOUT_S).stdout.strip()
    for given, expected in (('', '401'), ('Authorization: Bearer x\r\n', '401'),
                            (f'Authorization: Bearer {join}\r\n', '403')):
      for path in ('/api/jobs', '/api/output?id=none&rank=0'):
        self.assertIn(expected, self.ask(url, path, headers=given)[0])
    self.end(3)
    rest, _ = launch.communicate(timeout=TIMEOUT_S)
    self.assertNotIn('muster1', rest)

  def test_a_node_that_does_not_coordinate_says_who_does(self):
    _, endpoint = self.daemon()
    node = self.nodes(endpoint, 'a-job', '--dashboard-listen=0', count=1)[0]
    url = self.said(node, r'dashboard is at (http://[^ ,]+)')
    self.show(url)
    until('the coordinator is named',
          lambda: endpoint in self.browser.text('elsewhere'))

  def test_a_token_keeps_the_page_on_this_host(self):
    token = 'a token of more than sixteen characters'.replace(' ', '-')
    for argv in ([LAUNCH, '--nnodes=1', '--rdzv-endpoint=127.0.0.1:0',
                  '--dashboard-listen=0.0.0.0:0', '--no-python', 'true'],
                 [DAEMON, '--listen=127.0.0.1:0',
                  '--dashboard-listen=0.0.0.0:0']):
      program = self.start(*argv, token=token)
      said, _ = program.communicate(timeout=TIMEOUT_S)
      self.assertIn('--dashboard-listen: the dashboard of a job with a token '
                    'listens on this host only', said)
      self.assertEqual(program.returncode, 2, said)

  def test_strangers(self):
    url, endpoint = self.daemon()
    self.nodes(endpoint, 'a-job', count=1)
    until('the job is there',
          lambda: '"a-job"' in self.ask(url, '/api/jobs')[1])
    # A foreign site can let its own host name resolve to this host. The server
    # must refuse a request whose Host header has a foreign name.
    for path in ('/', '/api/jobs', '/api/events'):
      status, answer = self.ask(url, path, host='evil.example')
      self.assertIn('421', status)
      self.assertNotIn('a-job', answer)
    # The server closes the connection without an answer if a request has too
    # many headers.
    with self.assertRaises((OSError, AssertionError)):
      status, _ = self.ask(url, '/api/jobs', headers='X: y\r\n' * 20_000)
      self.assertIn('200', status)
    # Clients that read nothing occupy all permitted event streams. Other
    # requests must still get an answer.
    streams = []
    for _ in range(_MAX_STREAMS):
      client = self.connect(url)
      client.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
      self.assertIn(b'200 OK', client.recv(4096))
      streams.append(client)
    self.assertIn('503', self.ask(url, '/api/events')[0])
    self.assertIn('200', self.ask(url, '/api/jobs')[0])
    self.show(url + '#job=a-job')
    until('the page asks again and again instead',
          lambda: self.browser.text('live') == 'live, every 5 s')
    streams.pop().close()

    def begins(path):
      client = self.connect(url)
      client.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'
                     .encode())
      return b'200 OK' in client.recv(4096) and client
    until('a stream that has ended leaves its place',
          lambda: begins('/api/events'))
    output = '/api/output?id=a-job&rank=0'
    readers = [begins(output) for _ in range(_MAX_OUTPUT_STREAMS)]
    self.assertTrue(all(readers))
    self.assertIn('503', self.ask(url, output)[0])
    # `readers` occupy all output streams that browsers may use. The server
    # keeps further streams for `launch logs`, which must still work.
    printed = subprocess.run(
        [LAUNCH, 'logs', f'--endpoint={endpoint}', '--run-id=a-job'],
        env=self.environment(), capture_output=True, timeout=TIMEOUT_S)
    self.assertEqual(printed.returncode, 0, printed.stderr)
    # Disconnect one reader. The server must notice this and let another reader
    # take its place, even if the rank prints nothing.
    readers.pop().close()
    until('it leaves its place', lambda: begins(output))


if __name__ == '__main__':
  xml_main.main()
