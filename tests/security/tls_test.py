#!/usr/bin/python3
"""Tests of mutual TLS between the coordinator, its nodes and its operators."""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(_HERE), 'python'))

import free_port
import xml_main

_LAUNCH = os.path.realpath('launcher/launch')
_RENDEZVOUSD = os.path.realpath('rendezvous/daemon/rendezvousd')
_LIMIT_S = 60
_HERE_TOO = 'DNS:localhost,IP:127.0.0.1'
_KEY = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256')


def _openssl(folder, *arguments):
  return subprocess.run(['openssl', *arguments], cwd=folder, check=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True,
                        timeout=_LIMIT_S).stdout


class Authority:
  """A certificate authority for tests, in the files NAME.pem and NAME.key."""

  def __init__(self, folder, name):
    self.folder, self.name = folder, name
    _openssl(folder, 'req', '-x509', *_KEY, '-nodes', '-days', '30', '-subj',
             '/CN=' + name, '-keyout', name + '.key', '-out', name + '.pem')
    self.path = os.path.join(folder, name + '.pem')

  def sign(self, name, alternatives, begin='20200101000000Z',
           end='20400101000000Z'):
    """Creates a certificate NAME.pem and its key NAME.key. Returns the flags
    that use them."""
    _openssl(self.folder, 'req', *_KEY, '-nodes', '-subj', '/CN=' + name,
             '-keyout', name + '.key', '-out', name + '.csr')
    database = os.path.join(self.folder, name + '.db')
    with open(database, 'w', encoding='ascii'):
      pass
    config = os.path.join(self.folder, name + '.cnf')
    with open(config, 'w', encoding='ascii') as file:
      file.write('[ca]\ndefault_ca=it\n[it]\ndatabase=%s\nnew_certs_dir=%s\n'
                 'default_md=sha256\nrand_serial=yes\npolicy=any\n'
                 '[any]\ncommonName=supplied\n[names]\nsubjectAltName=%s\n' %
                 (database, self.folder, alternatives))
    _openssl(self.folder, 'ca', '-batch', '-notext', '-config', config,
             '-extensions', 'names', '-cert', self.name + '.pem', '-keyfile',
             self.name + '.key', '-startdate', begin, '-enddate', end, '-in',
             name + '.csr', '-out', name + '.pem')
    os.chmod(os.path.join(self.folder, name + '.key'), 0o600)
    return flags(self.folder, name, self.name)


def flags(folder, name, authority):
  return ['--tls-cert=%s/%s.pem' % (folder, name),
          '--tls-key=%s/%s.key' % (folder, name),
          '--tls-ca=%s/%s.pem' % (folder, authority)]


class Program:
  """A program whose output a thread collects."""

  def __init__(self, test, *command):
    # The stdin of openssl is a pipe that stays open, because openssl exits at
    # the end of its input.
    self.process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
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
      return self._text

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


class Tls(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    folder = tempfile.TemporaryDirectory()
    cls.addClassCleanup(folder.cleanup)
    cls.folder = folder.name
    cls.lab, cls.other = (Authority(cls.folder, name)
                          for name in ('lab', 'other'))
    cls.good = cls.lab.sign('good', _HERE_TOO)

  def serve(self, tls):
    """Starts a rendezvousd. Returns its process and its port."""
    port_file = os.path.join(self.folder, self.id() + '.port')
    server = Program(self, _RENDEZVOUSD, '--listen=127.0.0.1:0',
                     '--port-file=' + port_file, *tls)
    self.assertTrue(server.printed('listening on'), server.text())
    with open(port_file, encoding='ascii') as file:
      return server, int(file.read())

  def launch(self, port, tls, *command, nodes=1, run_id='job'):
    return Program(self, _LAUNCH, '--nnodes=%d' % nodes, '--nproc-per-node=1',
                   '--rdzv-backend=c10d', '--rdzv-id=' + run_id,
                   '--rdzv-endpoint=localhost:%d' % port,
                   '--rdzv-conf=is_host=0', '--connect-timeout=20',
                   '--log-dir=' + self.folder, *tls, '--no-python', *command)

  def status(self, port, tls):
    return subprocess.run(
        [_LAUNCH, 'status', '--endpoint=localhost:%d' % port, *tls],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=_LIMIT_S)

  def test_job_and_operator_with_certificates(self):
    server, port = self.serve(self.good)
    self.assertTrue(server.printed('mutual TLS'), server.text())
    nodes = [self.launch(port, self.good, 'true', nodes=2) for _ in range(2)]
    for node in nodes:
      self.assertEqual(node.end(), 0, node.text())
    shown = self.status(port, self.good)
    self.assertEqual(shown.returncode, 0, shown.stdout)
    self.assertIn('job', shown.stdout)

  def test_launch_hosts_with_tls(self):
    port = free_port.free_port()
    nodes = [Program(self, _LAUNCH, '--nnodes=2', '--nproc-per-node=1',
                     '--rdzv-backend=c10d', '--rdzv-id=hosted',
                     '--rdzv-endpoint=localhost:%d' % port,
                     '--log-dir=' + self.folder, *self.good, '--no-python',
                     'true') for _ in range(2)]
    for node in nodes:
      self.assertEqual(node.end(), 0, node.text())

  def bundle(self):
    """Creates both.pem, which contains the certificates of both authorities."""
    with open('%s/both.pem' % self.folder, 'w', encoding='ascii') as out:
      for authority in (self.lab, self.other):
        with open(authority.path, encoding='ascii') as file:
          out.write(file.read())

  def test_wrong_certificates_are_refused_with_the_reason(self):
    _, port = self.serve(self.good)
    foreign = self.other.sign('foreign', _HERE_TOO)
    mixed = foreign[:2] + self.good[2:]
    self.bundle()
    cases = (
        ([], 'asks for TLS with a certificate; give --tls-cert'),
        (foreign, 'its certificate (CN=good) is not signed by an authority in '
         '--tls-ca %s/other.pem' % self.folder),
        (mixed, 'foreign.pem (CN=foreign) is not signed by an authority in '
         '--tls-ca %s/lab.pem' % self.folder),
        (flags(self.folder, 'foreign', 'both'),
         'refuses --tls-cert %s/foreign.pem' % self.folder),
        (self.lab.sign('elsewhere', 'DNS:node8.lab'),
         'or the URI muster:job/job'),
        (self.lab.sign('another', 'URI:muster:job/another'),
         'may not join job "job": its token or certificate is for another'),
        (self.lab.sign('viewer', _HERE_TOO + ',URI:muster:role/view'),
         'viewer may not join: its token or certificate has only the role '
         'view'),
    )
    for tls, reason in cases:
      with self.subTest(reason=reason):
        node = self.launch(port, tls, 'true')
        self.assertNotEqual(node.end(), 0, node.text())
        self.assertIn(reason, ' '.join(node.text().split()))
    shown = self.status(port, [])
    self.assertNotEqual(shown.returncode, 0)
    self.assertIn('asks for TLS', shown.stdout)

  def test_certificate_of_the_job_joins_it_from_any_host(self):
    _, port = self.serve(self.good)
    node = self.launch(port, self.lab.sign('jobs', 'URI:muster:job/job'),
                       'true')
    self.assertEqual(node.end(), 0, node.text())

  def test_false_coordinator_is_refused_and_gets_no_token(self):
    dates = {'end': '20210101000000Z'}
    for name, authority, alternatives, times, reason in (
        ('late', self.lab, _HERE_TOO, dates,
         '(CN=late) expired on 2021-01-01 00:00:00 UTC'),
        ('false', self.other, _HERE_TOO, {},
         '(CN=false) is not signed by an authority in --tls-ca'),
        ('node8', self.lab, 'DNS:node8.lab', {},
         '(CN=node8) is for node8.lab, not for localhost')):
      with self.subTest(name=name):
        authority.sign(name, alternatives, **times)
        server = Program(
            self, 'openssl', 's_server', '-accept', '127.0.0.1:0', '-alpn',
            'h2', '-cert', '%s/%s.pem' % (self.folder, name), '-key',
            '%s/%s.key' % (self.folder, name))
        self.assertTrue(server.printed('ACCEPT'), server.text())
        port = int(server.text().split('ACCEPT')[1].split()[0].split(':')[1])
        token = os.path.join(self.folder, 'token')
        with open(token, 'w', encoding='ascii') as file:
          file.write('s3cret')
        os.chmod(token, 0o600)
        node = self.launch(port, self.good + ['--token-file=' + token], 'true')
        self.assertNotEqual(node.end(), 0, node.text())
        self.assertIn(reason, ' '.join(node.text().split()))
        server.stop()
        self.assertNotIn('s3cret', server.text())

  def test_coordinator_without_tls_is_named(self):
    _, port = self.serve([])
    node = self.launch(port, self.good, 'true')
    self.assertNotEqual(node.end(), 0, node.text())
    self.assertIn('uses no TLS; start it with --tls-cert',
                  ' '.join(node.text().split()))

  def test_no_older_version_and_no_expired_client(self):
    _, port = self.serve(self.good)
    self.lab.sign('old', _HERE_TOO, end='20210101000000Z')

    def first_byte(name, version):
      # The server sends nothing before it has accepted the client's
      # certificate. So a first byte shows that the server has accepted it.
      context = ssl.create_default_context(cafile=self.lab.path)
      context.maximum_version = version
      context.set_alpn_protocols(['h2'])
      context.load_cert_chain('%s/%s.pem' % (self.folder, name),
                              '%s/%s.key' % (self.folder, name))
      with socket.create_connection(('127.0.0.1', port), _LIMIT_S) as plain:
        try:
          with context.wrap_socket(plain, server_hostname='localhost') as talk:
            return talk.recv(1)
        except (ssl.SSLError, ConnectionError):
          return b''

    newest, older = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2
    self.assertEqual(len(first_byte('good', newest)), 1)
    self.assertEqual(first_byte('good', older), b'')
    self.assertEqual(first_byte('old', newest), b'')

  def test_mistakes_in_files_are_said_before_anything_starts(self):
    path = lambda name: os.path.join(self.folder, name)
    with open(path('text.pem'), 'w', encoding='ascii') as file:
      file.write('hello\n')
    _openssl(self.folder, 'ec', '-in', 'good.key', '-aes128', '-passout',
             'pass:x', '-out', 'locked.key')
    cert, key, authority = self.good
    late = self.lab.sign('past', _HERE_TOO, end='20210101000000Z')
    early = self.lab.sign('future', _HERE_TOO, begin='20390101000000Z')
    for tls, reason in (
        ([cert, key], '--tls-ca is missing: mutual TLS needs'),
        ([cert, '--tls-key=' + path('none'), authority],
         '--tls-key %s does not exist' % path('none')),
        (['--tls-cert=' + path('text.pem'), key, authority],
         'has no certificate in PEM form'),
        ([cert, '--tls-key=' + path('text.pem'), authority],
         'has no private key in PEM form'),
        ([cert, '--tls-key=' + path('locked.key'), authority],
         'is encrypted; give a key without a passphrase'),
        ([cert, '--tls-key=' + path('lab.key'), authority],
         'is not the key of the certificate'),
        (late, '(CN=past) expired on 2021-01-01 00:00:00 UTC'),
        (early, '(CN=future) is not valid before 2039-01-01 00:00:00 UTC'),
    ):
      for command in ([_RENDEZVOUSD, '--listen=127.0.0.1:0'],
                      [_LAUNCH, 'status', '--endpoint=127.0.0.1:1'],
                      [_LAUNCH, '--standalone', '--no-python', 'true']):
        split = command[1:2] == ['--standalone']
        with self.subTest(reason=reason, command=command):
          ended = subprocess.run(
              command[:2] + tls + command[2:] if split else command + tls,
              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
              stderr=subprocess.STDOUT, text=True, timeout=_LIMIT_S)
          self.assertEqual(ended.returncode, 2, ended.stdout)
          self.assertIn(reason, ' '.join(ended.stdout.split()))

  def test_renewed_files_are_used_without_losing_a_stream(self):
    # The server's files are links, like the files of a Secret in Kubernetes. So
    # each file can be replaced atomically.
    self.lab.sign('first', _HERE_TOO)
    self.other.sign('second', _HERE_TOO)
    self.bundle()

    def point(name):
      for kind in ('pem', 'key'):
        new = '%s/new.%s' % (self.folder, kind)
        os.symlink('%s.%s' % (name, kind), new)
        os.replace(new, '%s/served.%s' % (self.folder, kind))

    point('first')
    server, port = self.serve(flags(self.folder, 'served', 'both'))
    gate = os.path.join(self.folder, 'gate')
    os.mkfifo(gate)
    node = self.launch(port, flags(self.folder, 'good', 'both'), 'sh', '-c',
                       'echo up; read -r _ <' + gate)
    self.assertTrue(node.printed('up'), node.text())
    point('second')
    # The operator has a certificate of the new certificate authority
    # (self.other), and trusts only this authority.
    operator = flags(self.folder, 'second', 'other')
    deadline = time.monotonic() + _LIMIT_S
    shown = self.status(port, operator)
    while shown.returncode != 0 and time.monotonic() < deadline:
      shown = self.status(port, operator)
    self.assertEqual(shown.returncode, 0, shown.stdout + server.text())
    with open(gate, 'w', encoding='ascii') as file:
      file.write('\n')
    self.assertEqual(node.end(), 0, node.text())
    self.assertNotIn('lost the coordinator', node.text())


if __name__ == '__main__':
  xml_main.main()
