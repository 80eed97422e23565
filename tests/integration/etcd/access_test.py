#!/usr/bin/python3
"""Tests how a daemon gets access to etcd, and its messages if etcd refuses it.
"""

import os
import signal
import subprocess
import sys

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, os.pardir, 'python')]

import process
import processes
import xml_main

_LEADS = 'rendezvousd: leads in etcd://'


def etcdctl(etcd, *arguments):
  subprocess.run(
      ['etcdctl', '--endpoints', '127.0.0.1:%d' % etcd.port, *arguments],
      env={**os.environ, 'ETCDCTL_API': '3'}, check=True,
      stdout=subprocess.DEVNULL, timeout=process.LONGEST_S)


class Access(processes.EtcdCase):

  def write(self, name, text):
    path = os.path.join(self.folder, name)
    with open(path, 'w', encoding='ascii') as file:
      file.write(text)
    os.chmod(path, 0o600)
    return path

  def assert_refused(self, daemon, *words):
    self.assertEqual(daemon.exit_code(), 1, daemon.output)
    lines = daemon.output.splitlines()
    self.assertEqual(len(lines), 1, daemon.output)
    self.assertTrue(lines[0].startswith('rendezvousd: cannot use etcd://'),
                    lines)
    for word in words:
      self.assertIn(word, lines[0])

  def test_user_and_password(self):
    etcd = self.start_etcd()
    any_user = self.write('any', 'root:any\n')
    self.assert_refused(self.start_daemon(etcd, '--etcd-user-file', any_user),
                        ': etcdserver: authentication is not enabled')
    etcdctl(etcd, 'user', 'add', 'root:secret')
    etcdctl(etcd, 'user', 'grant-role', 'root', 'root')
    etcdctl(etcd, 'auth', 'enable')
    self.assert_refused(self.start_daemon(etcd), 'user name is empty')
    wrong = self.write('wrong', 'root:wrong\n')
    self.assert_refused(
        self.start_daemon(etcd, '--etcd-user-file', wrong),
        'invalid user ID or password')
    right = self.write('right', 'root:secret\n')
    os.chmod(right, 0o644)
    refused = self.start_daemon(etcd, '--etcd-user-file', right)
    self.assertEqual(refused.exit_code(), 2, refused.output)
    self.assertIn('can read the password in ' + right, refused.output)
    os.chmod(right, 0o600)
    self.start_daemon(etcd, '--etcd-user-file', right).wait_for(_LEADS)

  def test_tls(self):
    def openssl(*arguments):
      subprocess.run(['openssl', *arguments], check=True, cwd=self.folder,
                     stderr=subprocess.DEVNULL)

    key = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes')
    for name in ('ca', 'other'):
      openssl('req', '-x509', *key, '-keyout', name + '.key', '-out',
              name + '.crt', '-subj', '/CN=' + name, '-days', '2')
    self.write('san', 'subjectAltName=IP:127.0.0.1\n')
    for name in ('server', 'client'):
      openssl('req', *key, '-keyout', name + '.key', '-out', name + '.csr',
              '-subj', '/CN=' + name)
      openssl('x509', '-req', '-in', name + '.csr', '-CA', 'ca.crt', '-CAkey',
              'ca.key', '-CAcreateserial', '-out', name + '.crt', '-extfile',
              'san', '-days', '2')

    def path(name):
      return os.path.join(self.folder, name)

    etcd = self.start_etcd('--cert-file', path('server.crt'), '--key-file',
                           path('server.key'), '--client-cert-auth',
                           '--trusted-ca-file', path('ca.crt'),
                           scheme='https')
    client = ('--etcd-cert', path('client.crt'), '--etcd-key',
              path('client.key'))
    # A daemon that cannot reach or use etcd must print an error and retry.
    for options in ((), ('--etcd-ca', path('ca.crt')),
                    ('--etcd-ca', path('other.crt'), *client)):
      with self.subTest(options=options):
        shut_out = self.start_daemon(etcd, *options)
        shut_out.wait_for('rendezvousd: etcd at 127.0.0.1:.*; trying again')
        shut_out.send(signal.SIGTERM)
        self.assertEqual(shut_out.exit_code(), 0, shut_out.output)
        self.assertNotIn(_LEADS, shut_out.output)
    self.start_daemon(etcd, '--etcd-ca', path('ca.crt'),
                      *client).wait_for(_LEADS)

  def test_keys_of_another_version(self):
    etcd = self.start_etcd()
    etcdctl(etcd, 'put', '/muster/election/format', '2')
    self.assert_refused(self.start_daemon(etcd), 'another version of Muster',
                        'format 2')

  def test_an_etcd_that_comes_later(self):
    class Nowhere:
      port = 1

    daemon = self.start_daemon(Nowhere)
    daemon.wait_for('rendezvousd: etcd at 127.0.0.1:1: .*; trying again')
    daemon.send(signal.SIGTERM)
    self.assertEqual(daemon.exit_code(), 0, daemon.output)

  def test_a_damaged_record_does_not_stop_the_daemons(self):
    etcd = self.start_etcd()
    etcdctl(etcd, 'put', '/muster/jobs/j', 'x')
    daemon = self.start_daemon(etcd)
    daemon.wait_for('record of job "j" cannot be used.*; to forget it, remove '
                    'its key below /muster/jobs/')
    daemon.wait_for('rendezvousd: listening on ')

  def test_the_leaders_name_is_told_when_it_is_known(self):
    etcd = self.start_etcd()
    self.start_daemon(etcd).wait_for(_LEADS)
    etcdctl(etcd, 'put', '/muster/election/leader', '\x1b[31mme')
    self.start_daemon(etcd).wait_for(r'; \?\[31mme leads')

  def test_a_password_that_is_changed_later(self):
    etcd = self.start_etcd()
    etcdctl(etcd, 'user', 'add', 'root:secret')
    etcdctl(etcd, 'user', 'grant-role', 'root', 'root')
    daemon = self.start_daemon(etcd)
    daemon.wait_for('rendezvousd: listening on ')
    etcdctl(etcd, 'auth', 'enable')
    daemon.wait_for('rendezvousd: no longer leads')
    etcdctl(etcd, '--user', 'root:secret', 'auth', 'disable')
    daemon.wait_for('rendezvousd: listening on ', times=2)


if __name__ == '__main__':
  xml_main.main()
