#!/usr/bin/python3
"""Tests of mutual TLS by a token, and of tokens that are derived from it."""

import base64
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(_HERE), 'python'))

import free_port
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_RENDEZVOUSD = os.path.realpath('rendezvous/daemon/rendezvousd')
_LIMIT_S = 60
_TLS_HANDSHAKE = b'\x16\x03'


def make_token(*arguments, secret=None):
  """Returns the token that `launch token ARGUMENTS` prints."""
  environment = dict(os.environ)
  environment.pop('MUSTER_TOKEN', None)
  if secret:
    environment['MUSTER_TOKEN'] = secret
  return subprocess.run(
      [_LAUNCH, 'token', *arguments], env=environment, check=True,
      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
      timeout=_LIMIT_S).stdout.strip()


class Program:
  """A program whose output a thread collects."""

  def __init__(self, test, token, *command):
    environment = dict(os.environ, COLUMNS='200')
    environment.pop('MUSTER_TOKEN', None)
    if token:
      environment['MUSTER_TOKEN'] = token
    # The stdin of openssl is a pipe that stays open, because openssl exits at
    # the end of its input.
    self.process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    self._text, self._news = '', threading.Condition()
    self._reader = threading.Thread(target=self._read)
    self._reader.start()
    test.addCleanup(self.stop)

  def _read(self):
    for line in self.process.stdout:
      with self._news:
        self._text += line
        self._news.notify_all()

  def text(self):
    with self._news:
      return ' '.join(self._text.split())

  def printed(self, words):
    with self._news:
      return self._news.wait_for(lambda: words in self._text, _LIMIT_S)

  def end(self):
    code = self.process.wait(_LIMIT_S)
    self._reader.join(_LIMIT_S)
    return code

  def stop(self):
    if self.process.poll() is None:
      self.process.terminate()
    self.end()
    self.process.stdin.close()
    self.process.stdout.close()


class Wiretap:
  """A man in the middle: forwards connections to a port of this machine, and
  records all bytes."""

  def __init__(self, test, target):
    self._target = target
    self._server = socket.create_server(('127.0.0.1', 0))
    self.port = self._server.getsockname()[1]
    self._lock, self._bytes, self._sockets = threading.Lock(), b'', []
    self._threads = []
    self._start(self._accept)
    test.addCleanup(self.stop)

  def heard(self):
    with self._lock:
      return self._bytes

  def stop(self):
    self._server.shutdown(socket.SHUT_RDWR)
    self._threads[0].join(_LIMIT_S)
    with self._lock:
      sockets = list(self._sockets)
    for one in sockets:
      try:
        one.shutdown(socket.SHUT_RDWR)
      except OSError:
        pass
    for thread in self._threads:
      thread.join(_LIMIT_S)
    for one in [self._server, *sockets]:
      one.close()

  def _start(self, function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    self._threads.append(thread)
    thread.start()

  def _accept(self):
    while True:
      try:
        caller, _ = self._server.accept()
      except OSError:
        return
      callee = socket.create_connection(('127.0.0.1', self._target), _LIMIT_S)
      callee.settimeout(None)
      with self._lock:
        self._sockets += [caller, callee]
      self._start(self._pass_on, caller, callee)
      self._start(self._pass_on, callee, caller)

  def _pass_on(self, source, sink):
    try:
      while data := source.recv(65536):
        with self._lock:
          self._bytes += data
        sink.sendall(data)
      sink.shutdown(socket.SHUT_WR)
    except OSError:
      pass


class Token(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = folder.name
    self.secret = make_token()

  def file(self, name, *lines):
    path = os.path.join(self.folder, name)
    with open(path, 'w', encoding='ascii') as file:
      file.writelines(line + '\n' for line in lines)
    os.chmod(path, 0o600)
    return path

  def serve(self, token, *flags):
    """Starts a rendezvousd. Returns its process and its port."""
    port_file = os.path.join(self.folder, 'port')
    server = Program(self, token, _RENDEZVOUSD, '--listen=127.0.0.1:0',
                     '--port-file=' + port_file, *flags)
    self.assertTrue(server.printed('listening on'), server.text())
    with open(port_file, encoding='ascii') as file:
      return server, int(file.read())

  def node(self, port, token, *command, nodes=1, run_id='job', host=0):
    return Program(self, token, _LAUNCH, f'--nnodes={nodes}',
                   '--nproc-per-node=1', '--rdzv-backend=c10d',
                   f'--rdzv-id={run_id}',
                   f'--rdzv-endpoint=127.0.0.1:{port}',
                   f'--rdzv-conf=is_host={host}', '--connect-timeout=20',
                   '--log-dir=' + self.folder, '--no-python', *command)

  def ask(self, verb, port, token, *arguments):
    asked = Program(self, token, _LAUNCH, verb,
                    f'--endpoint=127.0.0.1:{port}', *arguments)
    return asked.end(), asked.text()

  def test_job_runs_and_the_token_is_never_on_the_wire(self):
    server, port = self.serve(self.secret)
    self.assertIn('mutual TLS', server.text())
    tap = Wiretap(self, port)
    nodes = [self.node(tap.port, self.secret, 'true', nodes=2)
             for _ in range(2)]
    for node in nodes:
      self.assertEqual(node.end(), 0, node.text())
    code, text = self.ask('status', tap.port, self.secret)
    self.assertEqual(code, 0, text)
    self.assertIn('job', text)
    heard = tap.heard()
    self.assertGreater(len(heard), 1000)
    for secret in (self.secret.encode(), b'authorization', b'muster.v1'):
      self.assertNotIn(secret, heard)

  def test_false_coordinator_in_clear_text_gets_a_handshake_only(self):
    first = []
    with socket.create_server(('127.0.0.1', 0)) as false:
      def accept():
        caller, _ = false.accept()
        with caller:
          caller.settimeout(_LIMIT_S)
          first.append(caller.recv(65536))
          # Answer as a coordinator without TLS would: an empty SETTINGS frame
          # begins an HTTP/2 session. The client must refuse the answer.
          caller.sendall(b'\0\0\0\4\0\0\0\0\0')
      thread = threading.Thread(target=accept)
      thread.start()
      code, text = self.ask('status', false.getsockname()[1], self.secret)
      thread.join(_LIMIT_S)
    self.assertNotEqual(code, 0, text)
    self.assertEqual(first[0][:2], _TLS_HANDSHAKE)
    self.assertNotIn(self.secret.encode(), first[0])

  def test_open_coordinator_is_refused_by_who_has_a_token(self):
    _, port = self.serve('')
    node = self.node(port, self.secret, 'true')
    self.assertNotEqual(node.end(), 0, node.text())
    self.assertIn('has no token and uses no TLS', node.text())

  def test_other_and_missing_tokens_are_named(self):
    _, port = self.serve(self.secret)
    other = self.node(port, make_token(), 'true')
    self.assertNotEqual(other.end(), 0, other.text())
    self.assertRegex(other.text(), r'has another token than this process '
                     r'\("Muster token [0-9a-f]{16}" there')
    missing = self.node(port, '', 'true')
    self.assertNotEqual(missing.end(), 0, missing.text())
    self.assertIn('asks for a job token, and none was given', missing.text())

  def test_derived_token_makes_no_coordinator(self):
    derived = make_token('--role=join', secret=self.secret)
    node = self.node(free_port.free_port(), derived, 'true', nodes=2, host=1)
    self.assertEqual(node.end(), 2, node.text())
    self.assertIn('the coordinator needs the token from which it was derived',
                  node.text())

  def test_holder_of_a_derived_token_cannot_pose_as_the_coordinator(self):
    # The certificate in the derived token is signed by the same authority as
    # the coordinator's certificate. Even so, clients must refuse a server that
    # uses it.
    derived = make_token('--name=mallory', secret=self.secret)
    certificate, key = self.unpack(derived)
    server = Program(self, '', 'openssl', 's_server', '-accept', '127.0.0.1:0',
                     '-alpn', 'h2', '-cert', certificate, '-key', key)
    self.assertTrue(server.printed('ACCEPT'), server.text())
    port = int(re.search(r'ACCEPT \S*?:(\d+)', server.text())[1])
    code, text = self.ask('status', port, self.secret)
    self.assertNotEqual(code, 0, text)
    self.assertIn('CN=mallory', text)

  def unpack(self, derived):
    """Writes the certificate and the key of a derived token to files."""
    text = derived.removeprefix('muster1.')
    raw = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
    paths = []
    # The header of an Ed25519 key in PKCS #8.
    head = bytes.fromhex('302e020100300506032b657004220420')
    for name, kind, der in (('certificate', 'x509', raw[32:]),
                            ('key', 'pkey', head + raw[:32])):
      path = os.path.join(self.folder, name)
      subprocess.run(['openssl', kind, '-inform', 'DER', '-out', path],
                     input=der, check=True, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL, timeout=_LIMIT_S)
      paths.append(path)
    return paths

  def test_users_of_one_daemon_are_kept_apart(self):
    _, port = self.serve(self.secret, '--event-log=' +
                         os.path.join(self.folder, 'events'))
    ada, bob = (make_token('--name=' + name, f'--job={name}-*',
                           secret=self.secret) for name in ('ada', 'bob'))
    job = self.node(port, ada, 'sh', '-c', 'echo up; exec tail -f /dev/null',
                    run_id='ada-1')
    self.assertTrue(job.printed('up'), job.text())
    intruder = self.node(port, bob, 'true', run_id='ada-1')
    self.assertNotEqual(intruder.end(), 0, intruder.text())
    self.assertIn('bob may not join job "ada-1"', intruder.text())
    code, text = self.ask('status', port, bob)
    self.assertEqual(code, 0, text)
    self.assertNotIn('ada', text)
    for verb in ('status', 'cancel', 'watch'):
      code, text = self.ask(verb, port, bob, 'ada-1')
      self.assertNotEqual(code, 0, text)
      self.assertIn('bob may not', text)
    viewer = make_token('--name=eve', '--role=view', secret=self.secret)
    code, text = self.ask('status', port, viewer)
    self.assertIn('ada-1', text)
    code, text = self.ask('cancel', port, viewer, 'ada-1')
    self.assertNotEqual(code, 0, text)
    self.assertIn('eve may not operate', text)
    code, text = self.ask('cancel', port, ada, 'ada-1')
    self.assertEqual(code, 0, text)
    self.assertNotEqual(job.end(), 0)
    self.assertIn('as ada', job.text())
    with open(os.path.join(self.folder, 'events'), encoding='utf-8') as log:
      self.assertIn('as ada', log.read())

  def test_only_operators_of_all_jobs_judge_nodes(self):
    _, port = self.serve(self.secret)
    bob = make_token('--name=bob', '--job=bob-*', secret=self.secret)
    eve = make_token('--name=eve', '--role=view', secret=self.secret)
    for flags in ((), ('--ban=n1',), ('--free=n1',)):
      code, text = self.ask('nodes', port, bob, *flags)
      self.assertNotEqual(code, 0, text)
      self.assertIn('bob has rights for some of them only', text)
    code, text = self.ask('nodes', port, eve, '--ban=n1')
    self.assertNotEqual(code, 0, text)
    self.assertIn('eve may not operate', text)
    ada = make_token('--name=ada', '--role=operate', secret=self.secret)
    code, text = self.ask('nodes', port, ada, '--ban=n1', '--reason=fan')
    self.assertEqual(code, 0, text)
    code, text = self.ask('nodes', port, eve)
    self.assertEqual(code, 0, text)
    self.assertRegex(text, r'n1 .* banned .* fan, banned by \S+, as ada')

  def test_expired_token_is_refused(self):
    _, port = self.serve(self.secret)
    derived = make_token('--valid-for=1s', secret=self.secret)
    refused = threading.Event()
    for _ in range(_LIMIT_S):
      code, text = self.ask('status', port, derived)
      if code != 0:
        refused.set()
        break
    self.assertTrue(refused.is_set())
    self.assertIn('expired', text)

  def test_two_tokens_count_while_one_is_replaced(self):
    new = make_token()
    _, port = self.serve('', '--token-file=' +
                         self.file('both', new, self.secret))
    derived = make_token('--name=ada', secret=self.secret)
    for token in (new, self.secret, derived):
      code, text = self.ask('status', port, token)
      self.assertEqual(code, 0, text)
    code, text = self.ask('status', port, make_token())
    self.assertNotEqual(code, 0, text)
    self.assertIn('has another token', text)

  def test_open_job_says_so_once(self):
    port = free_port.free_port()
    nodes = [self.node(port, '', 'true', nodes=2, host=host)
             for host in (1, 0)]
    for node in nodes:
      self.assertEqual(node.end(), 0, node.text())
    texts = ''.join(node.text() for node in nodes)
    self.assertEqual(texts.count('this job is open'), 1, texts)
    closed = [self.node(free_port.free_port(), self.secret, 'true', nodes=1,
                        host=1)]
    self.assertEqual(closed[0].end(), 0, closed[0].text())
    self.assertNotIn('is open', closed[0].text())


if __name__ == '__main__':
  xml_main.main()
