#!/usr/bin/python3
"""Tests of hostile connections to a coordinator and to its probes: silent,
slow, half-open, malformed, or very many. Agents, operators and probes must
still be served."""

import contextlib
import os
import random
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path[:0] = [os.path.dirname(os.path.realpath(__file__)),
                os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, 'python')]

import free_port
import http2
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_PATIENCE_S = 60
_ATTACH = '/muster.v1.Coordinator/Attach'
_TOKEN = 'correct-horse'


class Program:
  """A program whose output is read while it runs."""

  def __init__(self, *argv, descriptors=None, token=''):
    environment = dict(os.environ, NO_COLOR='1')
    environment.pop('MUSTER_TOKEN', None)
    if token:
      environment['MUSTER_TOKEN'] = token

    def prepare():
      if descriptors is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    self.process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=environment, preexec_fn=prepare,
        text=True)
    self._output = ''
    self._grown = threading.Condition()
    self._reader = threading.Thread(target=self._read, daemon=True)
    self._reader.start()

  def _read(self):
    for line in self.process.stdout:
      with self._grown:
        self._output += line
        self._grown.notify_all()
    with self._grown:
      self._output += '\0'
      self._grown.notify_all()

  def output(self):
    with self._grown:
      return self._output

  def wait_for(self, pattern):
    """Returns the match of `pattern` in the output; None if the program ends
    without it."""
    def found():
      return re.search(pattern, self._output) or '\0' in self._output
    with self._grown:
      self._grown.wait_for(found, _PATIENCE_S)
      return re.search(pattern, self._output)

  def exit_code(self):
    code = self.process.wait(_PATIENCE_S)
    self._reader.join(_PATIENCE_S)
    return code

  def end(self):
    if self.process.poll() is None:
      self.process.send_signal(signal.SIGKILL)
    self.process.wait(_PATIENCE_S)
    self._reader.join(_PATIENCE_S)
    self.process.stdout.close()


def is_hung_up_on(connection, deadline):
  """Whether the peer ends the connection before `deadline` (time.monotonic()).
  """
  connection.settimeout(None)
  while True:
    left = deadline - time.monotonic()
    ready, _, _ = select.select([connection], [], [], max(left, 0))
    if not ready:
      return False
    try:
      if not connection.recv(65536):
        return True
    except OSError:
      return True


class ListenerTest(unittest.TestCase):

  def setUp(self):
    super().setUp()
    self.cleanup = contextlib.ExitStack()
    self.addCleanup(self.cleanup.close)
    _raise_descriptors()

  def start(self, *argv, **options):
    program = Program(*argv, **options)
    self.cleanup.callback(program.end)
    return program

  def daemon(self, *flags, **options):
    """Starts rendezvousd. Returns its process, its port and the port of its
    probes, if it has one."""
    daemon = self.start(_DAEMON, '--listen=127.0.0.1:0', *flags, **options)
    port = daemon.wait_for(r'listening on 127\.0\.0\.1:(\d+)')
    self.assertTrue(port, daemon.output())
    if not flags:
      return daemon, int(port[1]), None
    probes = daemon.wait_for(r'answering probes on 127\.0\.0\.1:(\d+)')
    self.assertTrue(probes, daemon.output())
    return daemon, int(port[1]), int(probes[1])

  def node(self, port, *flags, nnodes=2, command=('true',), **options):
    return self.start(_LAUNCH, '--nnodes=%d' % nnodes, '--rdzv-backend=c10d',
                      '--rdzv-endpoint=127.0.0.1:%d' % port, '--rdzv-id=job',
                      '--rdzv-conf=is_host=0', *flags, '--no-python', *command,
                      **options)

  def dial(self, port, *messages):
    connection = socket.create_connection(('127.0.0.1', port), _PATIENCE_S)
    self.cleanup.callback(connection.close)
    try:
      for message in messages:
        connection.sendall(message)
    except OSError:
      pass  # the peer has already closed the connection
    return connection

  def status(self, port, token=''):
    return self.start(_LAUNCH, 'status', '--endpoint=127.0.0.1:%d' % port,
                      token=token)

  def assert_status_works(self, port, token=''):
    status = self.status(port, token)
    self.assertEqual(status.exit_code(), 0, status.output())

  def assert_a_job_runs(self, port, nodes=2, **options):
    started = [self.node(port, nnodes=nodes, **options) for _ in range(nodes)]
    for node in started:
      self.assertEqual(node.exit_code(), 0, node.output())


class Connections(ListenerTest):

  # Attack: more connections than the coordinator's process has descriptors. The
  # coordinator must still serve operators and nodes.
  def test_more_silent_connections_than_descriptors(self):
    port = free_port.free_port()
    host = self.start(_LAUNCH, '--nnodes=2', '--rdzv-backend=c10d',
                      '--rdzv-endpoint=127.0.0.1:%d' % port, '--rdzv-id=job',
                      '--no-python', 'true', descriptors=256, token=_TOKEN)
    self.assertTrue(host.wait_for('1 of 2 nodes'), host.output())
    silent = [self.dial(port) for _ in range(306)]
    self.assert_status_works(port, _TOKEN)
    for one in silent:
      one.close()
    self.assert_status_works(port, _TOKEN)
    second = self.node(port, token=_TOKEN)
    self.assertEqual(second.exit_code(), 0, second.output())
    self.assertEqual(host.exit_code(), 0, host.output())

  def test_slow_half_open_and_malformed_connections(self):
    _, port, _ = self.daemon(descriptors=512)
    noise = random.Random(5)
    began = time.monotonic()
    hostile = []
    for _ in range(60):
      hostile += [
          self.dial(port),
          self.dial(port, b'PRI * HT'),
          self.dial(port, http2.PREFACE),
          self.dial(port, http2.HELLO),
          self.dial(port, http2.HELLO, http2.call(1, _ATTACH)[:-7]),
          self.dial(port, http2.HELLO, http2.call(1, _ATTACH)),
          self.dial(port, http2.HELLO, noise.randbytes(200)),
          self.dial(port, noise.randbytes(200)),
          self.dial(port, b'GET / HTTP/1.1\r\n\r\n'),
          self.dial(port, b'\x16\x03\x01\x02\x00\x01' + noise.randbytes(200)),
      ]
    self.assert_status_works(port)
    self.assert_a_job_runs(port)
    for i, one in enumerate(hostile):
      self.assertTrue(is_hung_up_on(one, began + _PATIENCE_S), i % 10)
    self.assert_status_works(port)

  # Attack: streams on which no report is sent. Such streams must not take the
  # place of a node.
  def test_silent_streams_take_no_places(self):
    for token in ('', _TOKEN):
      with self.subTest(token=token):
        daemon, port, _ = self.daemon(descriptors=1024, token=token)
        self.assertIn('room for', daemon.output())
        silent = [
            self.dial(port, http2.HELLO,
                      *(http2.call(2 * i + 1, _ATTACH, token)
                        for i in range(95)))
            for _ in range(10)
        ]
        # Wait for the first bytes on each connection. They show that gRPC has
        # read the streams of the connection.
        for one in silent:
          one.recv(1)
        self.assert_a_job_runs(port, token=token)

  # Attack: more streams on one connection than the coordinator allows. gRPC
  # must close the connection, and the coordinator must serve other clients.
  def test_a_connection_has_at_most_8_streams(self):
    _, port, _ = self.daemon()
    connection = self.dial(port, http2.HELLO, http2.SETTINGS_ACK)
    self.assertEqual(self.answered_streams(connection, range(8)), set(range(8)))
    connection.sendall(http2.call(17, _ATTACH))
    self.assertTrue(
        is_hung_up_on(connection, time.monotonic() + _PATIENCE_S))
    self.assert_status_works(port)

  def answered_streams(self, connection, numbers):
    """Opens calls, and returns the numbers of those whose first answer comes.
    """
    for number in numbers:
      connection.sendall(http2.call(2 * number + 1, _ATTACH))
    connection.settimeout(_PATIENCE_S)
    data = b''
    answered = set()
    while len(answered) < len(numbers):
      came = connection.recv(65536)
      if not came:
        break
      data += came
      streams, data = http2.answered(data)
      answered |= {(stream - 1) // 2 for stream in streams}
    return answered

  def test_a_flood_from_the_address_of_the_nodes(self):
    _, port, _ = self.daemon()
    flood = self.start(sys.executable, os.path.realpath(__file__), '--flood',
                       str(port))
    self.assertTrue(flood.wait_for('flooding'), flood.output())
    self.assert_a_job_runs(port, nodes=8)
    self.assertIsNone(flood.process.poll(), 'it ended before the job')


class Probes(ListenerTest):

  def probe(self, port, path='/livez'):
    """Returns the status of an HTTP request, and the answer."""
    try:
      with urllib.request.urlopen('http://127.0.0.1:%d%s' % (port, path),
                                  timeout=_PATIENCE_S) as answer:
        return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
      with error:
        return error.code, error.read().decode()
    except OSError as error:
      return 0, str(error)

  # Attack: many slow requests to the probe server. Probes must still be
  # answered.
  def test_slow_connections_do_not_starve_probes(self):
    _, _, probes = self.daemon('--probe-listen=127.0.0.1:0')
    slow = [self.dial(probes, b'GET /livez HTT') for _ in range(70)]
    for path in ('/livez', '/readyz') * 10:
      self.assertEqual(self.probe(probes, path)[0], 200)
    self.assertEqual(len(slow), 70)

  def test_liveness_sees_a_dead_listener_and_that_it_lives_again(self):
    daemon, port, probes = self.daemon('--probe-listen=127.0.0.1:0')
    pid = daemon.process.pid
    at_rest = self.sockets(pid)
    self.assert_status_works(port)
    self.assertEqual(self.probe(probes), (200, 'ok\n'))
    self.await_true(lambda: self.sockets(pid) == at_rest)
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # Leave the daemon one free descriptor. It suffices for a probe's
    # connection, but not also for a connection to the coordinator. So the probe
    # must report that the listener does not answer.
    used = {int(fd) for fd in os.listdir('/proc/%d/fd' % pid)}
    free = min(set(range(len(used) + 1)) - used)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free + 1, before[1]))
    self.assertIn('listener', self.await_probe(probes, 503))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    self.await_probe(probes, 200)
    self.assert_status_works(port)

  def sockets(self, pid):
    """Returns the number of sockets that a process has open."""
    folder = '/proc/%d/fd' % pid
    count = 0
    for fd in os.listdir(folder):
      with contextlib.suppress(OSError):
        count += os.readlink(os.path.join(folder, fd)).startswith('socket:')
    return count

  def await_probe(self, port, status):
    """Probes until the answer has `status`, and returns the answer."""
    answers = []

    def answered():
      answers.append(self.probe(port))
      return answers[-1][0] == status

    self.await_true(answered, answers)
    return answers[-1][1]

  def await_true(self, condition, shown=None):
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
      self.assertLess(time.monotonic(), deadline, shown)
      select.select([], [], [], 0.1)


def _raise_descriptors():
  _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
  resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _flood(port):
  """Opens connections as fast as it can, for two minutes, and sends bytes on
  every second one. Prints a line after the first 3,000."""
  _raise_descriptors()
  end = time.monotonic() + 2 * _PATIENCE_S
  opened = []
  count = 0
  while time.monotonic() < end:
    try:
      one = socket.create_connection(('127.0.0.1', port), 1)
      opened.append(one)
      count += 1
      if count % 2:
        one.sendall(http2.HELLO)
    except OSError:
      pass
    if count == 3000:
      print('flooding', flush=True)
    if len(opened) > 2000:
      for old in opened[:1000]:
        old.close()
      del opened[:1000]


if __name__ == '__main__':
  if sys.argv[1:2] == ['--flood']:
    _flood(int(sys.argv[2]))
  else:
    xml_main.main()
