#!/usr/bin/python3
"""`launch top` in a pseudo-terminal."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, 'python'))

import free_port
import xml_main
from screen import Screen

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_MANY_RANKS = os.path.realpath('tests/dashboard/many_ranks')
_TIMEOUT_S = 60

_WORKER = r'''
import os, socket, sys, threading
print(8 * str(1 + int(os.environ['RANK'])), 'printed', flush=True)
print('<b>\x1b]0;title\x07\x1b[2Jhostile', file=sys.stderr, flush=True)
report = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
report.connect(os.environ['MUSTER_PROGRESS_SOCKET'])
while True:
  report.send(b'STEP=%d\n' % (700 + int(os.environ['RANK'])))
  threading.Event().wait(0.05)
'''


class Terminal:
  """A program in a pseudo-terminal."""

  def __init__(self, argv, environment, lines, columns):
    self.master, self.slave = pty.openpty()
    fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                struct.pack('HHHH', lines, columns, 0, 0))
    self.before = termios.tcgetattr(self.slave)
    self.program = subprocess.Popen(
        argv, stdin=self.slave, stdout=self.slave, stderr=self.slave,
        env=dict(environment, TERM='xterm', LC_ALL='C.UTF-8'))
    self.seen = ''
    self.screen = Screen(lines, columns)
    self.decoder = codecs.getincrementaldecoder('utf-8')(errors='replace')

  def close(self):
    self.program.kill()
    self.program.wait()
    os.close(self.master)
    os.close(self.slave)

  def read_until(self, pattern, look):
    """Reads until the text that `look` returns matches, and returns it."""
    deadline = time.monotonic() + _TIMEOUT_S
    while not re.search(pattern, look()):
      left = deadline - time.monotonic()
      if not select.select([self.master], [], [], max(0, left))[0]:
        raise AssertionError(f'{pattern} is not in {look()!r}')
      read = self.decoder.decode(os.read(self.master, 65536))
      self.seen += read
      self.screen.feed(read)
    return look()

  def until(self, pattern):
    """Reads until the output since the last call matches, and returns it."""
    seen = self.read_until(pattern, lambda: self.seen)
    self.seen = ''
    return seen

  def until_shown(self, pattern):
    """Reads until the screen's lines match, and returns them."""
    return self.read_until(pattern,
                           lambda: '\n'.join(self.screen.lines()))

  def press(self, keys):
    os.write(self.master, keys)


class Top(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    folder = tempfile.TemporaryDirectory()
    cls.addClassCleanup(folder.cleanup)
    worker = os.path.join(folder.name, 'worker.py')
    with open(worker, 'w') as file:
      file.write(_WORKER)
    cls.environment = dict(os.environ)
    cls.environment.pop('MUSTER_TOKEN', None)
    cls.endpoint = f'127.0.0.1:{free_port.free_port()}'
    launch = subprocess.Popen(
        [_LAUNCH, '--nnodes=1', '--nproc-per-node=4', '--rdzv-id=a-job',
         f'--rdzv-endpoint={cls.endpoint}', '--no-python', sys.executable,
         worker], env=cls.environment, cwd=folder.name,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)

    def stop():
      launch.terminate()
      launch.wait(timeout=_TIMEOUT_S)
    cls.addClassCleanup(stop)
    deadline = time.monotonic() + _TIMEOUT_S
    while cls.text('status') is None or '703' not in cls.text('status'):
      if time.monotonic() > deadline:
        raise AssertionError('the job does not run')

  @classmethod
  def text(cls, command):
    printed = subprocess.run(
        [_LAUNCH, command, f'--endpoint={cls.endpoint}'], env=cls.environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=_TIMEOUT_S)
    return printed.stdout if printed.returncode == 0 else None

  def top(self, lines=40, columns=120):
    terminal = Terminal([_LAUNCH, 'top', f'--endpoint={self.endpoint}'],
                        self.environment, lines, columns)
    self.addCleanup(terminal.close)
    return terminal

  def test_shows_the_ranks_and_one_alone_until_q(self):
    top = self.top()
    top.until(r'job a-job: running(.|\n)*RANK(.|\n)*703(.|\n)*q quit')
    top.press(b'\n')
    top.until('last report')
    top.press(b'\n')
    top.until('RANK')
    top.press(b'q')
    self.assertEqual(top.program.wait(timeout=_TIMEOUT_S), 0)
    self.assertEqual(termios.tcgetattr(top.slave), top.before)

  def test_a_rank_that_is_shown_alone_has_its_output(self):
    for lines, columns in ((40, 120), (24, 80), (20, 40)):
      with self.subTest(columns=columns):
        top = self.top(lines, columns)
        top.until('q quit|arrows')
        top.press(b'r\n')
        seen = top.until(
            r'(?s)(?=.*output of rank 0)(?=.*1{8} printed)(?=.*hostile)')
        self.assertIn('<b>', seen)
        self.assertNotIn('title', seen)
        top.press(b'\x1bOB')  # the key Down
        top.until('2{8}')
        top.press(b'f')
        top.until('held')
        top.press(b'\n')
        top.until('RANK')
        top.press(b'q')
        self.assertEqual(top.program.wait(timeout=_TIMEOUT_S), 0)
        self.assertEqual(termios.tcgetattr(top.slave), top.before)

  def test_control_keys_end_it_and_leave_the_terminal_as_it_was(self):
    for key in (b'\x03', b'\x1c'):  # Ctrl-C, Ctrl-\
      top = self.top()
      top.until('q quit')
      top.press(key)
      self.assertEqual(top.program.wait(timeout=_TIMEOUT_S), 0)
      self.assertEqual(termios.tcgetattr(top.slave), top.before)

  def test_a_signal_leaves_the_terminal_as_it_was(self):
    top = self.top()
    top.until('q quit')
    self.assertNotEqual(termios.tcgetattr(top.slave), top.before)
    top.program.send_signal(signal.SIGINT)
    self.assertNotEqual(top.program.wait(timeout=_TIMEOUT_S), 0)
    self.assertEqual(termios.tcgetattr(top.slave), top.before)

  def test_without_a_terminal_it_prints_the_status_once(self):
    printed = self.text('top')
    self.assertIn('job a-job: running', printed)
    self.assertIn('703', printed)
    self.assertNotIn('\x1b', printed)


class TopOfManyRanks(unittest.TestCase):
  """A job of 1,000 simulated ranks."""

  def start(self, *argv):
    program = subprocess.Popen(argv, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)

    def stop():
      program.kill()
      program.communicate()
    self.addCleanup(stop)
    return program

  def test_shows_the_last_rank_first_and_how_it_spends_its_time(self):
    environment = dict(os.environ)
    environment.pop('MUSTER_TOKEN', None)
    port = free_port.free_port()
    endpoint = f'127.0.0.1:{port}'
    daemon = self.start(_DAEMON, f'--listen={endpoint}')
    agents = self.start(_MANY_RANKS, str(port), 'llama-70b')
    self.assertEqual(agents.stdout.readline(), 'running\n')
    agents.stdin.write('200\n')
    agents.stdin.flush()
    self.assertEqual(agents.stdout.readline(), 'reported 200\n')
    top = Terminal([_LAUNCH, 'top', f'--endpoint={endpoint}'], environment, 24,
                   110)
    self.addCleanup(top.close)
    shown = top.until_shown(
        r'(?ms)^613 +node-076 +running +160 +40 .*^Enter rank .* q quit$')
    lines = shown.splitlines()
    table = next(i for i, line in enumerate(lines) if line.startswith('RANK'))
    self.assertTrue(lines[table + 1].startswith('613 '), shown)
    # The ranks 480 to 487 are 4 to 6 steps behind.
    self.assertEqual(
        [line.split()[4] for line in lines[table + 2:table + 10]],
        ['6', '6', '5', '5', '5', '4', '4', '4'])
    self.save_picture(top, 'launch_top')
    top.press(b'\n')
    top.until_shown(r'(?s)node-076.*own work +60\.0 %, 2m 00s.*'
                    r'data +30\.0 %, 1m 00s.*collectives +10\.0 %, 20\.0s')
    top.press(b'q')
    self.assertEqual(top.program.wait(timeout=_TIMEOUT_S), 0)
    self.assertIsNone(daemon.poll())

  def save_picture(self, top, name):
    """Writes the screen to the folder that MUSTER_PICTURES names, if it is set.
    """
    folder = os.environ.get('MUSTER_PICTURES')
    if folder is not None:
      with open(os.path.join(folder, name + '.svg'), 'w') as file:
        file.write(top.screen.svg())


if __name__ == '__main__':
  xml_main.main()
