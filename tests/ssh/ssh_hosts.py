"""Runs a real sshd on loopback. Its addresses 127.0.0.1, 127.0.0.2, … serve as
hosts.

All processes that a login starts have a mark in their environment, so that a
test can find the processes that a job has left behind.
"""

import os
import random
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
import uuid

import kernel_events

# Time in seconds within which an expected event must happen. It is long, so
# that tests do not fail on a loaded machine.
PATIENCE_S = 60
SSHD = shutil.which('sshd', path='/usr/sbin:/usr/local/sbin:/sbin:/usr/bin')


def missing():
  """Returns the reason why no sshd can run on this machine; empty if one can.
  """
  for program, found in (('sshd', SSHD), ('ssh', shutil.which('ssh')),
                         ('ssh-keygen', shutil.which('ssh-keygen'))):
    if not found:
      return 'no %s on this machine' % program
  return ''


def _write(path, text):
  with open(path, 'w', encoding='utf-8') as file:
    file.write(text)
  os.chmod(path, 0o600)


class Hosts:
  """One sshd. `count` of its addresses are hosts; one additional host does not
  answer commands."""

  # The address of a host that lacks the program `launch`.
  BARE = '127.0.0.99'

  def __init__(self, folder, count=8):
    self.folder = folder
    self.mark = 'MUSTER_TEST_MARK=' + uuid.uuid4().hex
    self.addresses = ['127.0.0.%d' % (i + 1) for i in range(count)]
    for name in ('host_key', 'user_key', 'strange_key'):
      subprocess.run(
          ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f',
           self.path(name)], check=True)
    shutil.copy(self.path('user_key.pub'), self.path('authorized_keys'))
    if os.geteuid() == 0:
      os.makedirs('/run/sshd', mode=0o755, exist_ok=True)
    for _ in range(20):
      self.port = random.randrange(20000, 32000)
      if self._start():
        break
    else:
      raise RuntimeError('sshd does not start: ' + self.log())
    with open(self.path('host_key.pub'), encoding='utf-8') as file:
      key = file.read()
    _write(self.path('known_hosts'), ''.join(
        '[%s]:%d %s' % (address, self.port, key)
        for address in self.addresses + [self.BARE]))
    _write(self.path('no_known_hosts'), '')
    _write(self.path('config'), self._config())

  def path(self, name):
    return os.path.join(self.folder, name)

  def log(self):
    with open(self.path('sshd.log'), encoding='utf-8') as file:
      return file.read()

  def _start(self):
    _write(self.path('sshd_config'), '\n'.join(
        ['ListenAddress %s:%d' % (address, self.port)
         for address in self.addresses + [self.BARE]] +
        ['HostKey ' + self.path('host_key'),
         'AuthorizedKeysFile ' + self.path('authorized_keys'),
         'PidFile none', 'StrictModes no', 'UsePAM no', 'UseDNS no',
         'PasswordAuthentication no', 'PermitRootLogin yes',
         'MaxStartups 200', 'SetEnv ' + self.mark,
         'Match LocalAddress ' + self.BARE,
         '  ForceCommand echo some greeting; exit 127', '']))
    self.process = subprocess.Popen(
        [SSHD, '-D', '-e', '-f', self.path('sshd_config')],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=open(self.path('sshd.log'), 'w', encoding='utf-8'))
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and self.process.poll() is None:
      try:
        for address in self.addresses + [self.BARE]:
          socket.create_connection((address, self.port), timeout=5).close()
        # All addresses have answered. The start has succeeded if this sshd
        # still runs. If it has ended, another process at the same port has
        # answered.
        return self.process.poll() is None
      except OSError:
        select.select([], [], [], 0.01)
    self.process.kill()
    self.process.wait()
    return False

  def _config(self):
    common = ['  Port %d' % self.port,
              '  IdentityFile ' + self.path('user_key'),
              '  IdentitiesOnly yes', '  IdentityAgent none',
              '  GlobalKnownHostsFile /dev/null']
    lines = ['Match exec "test -e %s"' % self.path('unplugged_%h'),
             '  ProxyCommand false']
    for alias, changes in (
        ('closed', ['HostName 127.0.0.1', 'Port 1']),
        ('refusing', ['HostName 127.0.0.1',
                      'IdentityFile ' + self.path('strange_key'),
                      'HostKeyAlias [127.0.0.1]:%d' % self.port]),
        ('unknown', ['HostName 127.0.0.1',
                     'UserKnownHostsFile ' + self.path('no_known_hosts')]),
        ('nowhere', ['HostName nowhere.invalid'])):
      lines += ['Host ' + alias] + ['  ' + change for change in changes]
      if alias == 'refusing':
        lines += ['  UserKnownHostsFile ' + self.path('known_hosts'),
                  '  IdentitiesOnly yes', '  IdentityAgent none',
                  '  Port %d' % self.port]
      elif alias != 'closed':
        lines += common
    for number, address in enumerate(self.addresses, start=1):
      lines += ['Host h%d' % number, '  HostName ' + address]
    # ssh tries the keys of all matching sections. So the host "refusing", which
    # must have a wrong key only, must not match this section.
    lines += ['Host * !refusing'] + common
    lines += ['  UserKnownHostsFile ' + self.path('known_hosts'), '']
    return '\n'.join(lines)

  def unplug(self, address):
    """Lets all further connections to this host fail, until plug()."""
    _write(self.path('unplugged_' + address), '')

  def plug(self, address):
    os.remove(self.path('unplugged_' + address))

  def stop(self):
    self.process.kill()
    self.process.wait()

  def processes(self):
    """Returns the command lines, by pid, of all processes that logins have
    started and that still run."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
      try:
        with open('/proc/%s/environ' % pid, 'rb') as file:
          if self.mark.encode() not in file.read():
            continue
        with open('/proc/%s/cmdline' % pid, 'rb') as file:
          found[int(pid)] = file.read().split(b'\0')
      except OSError:
        pass
    return found

  def states(self):
    """Returns one line for each of these processes: pid, parent, state, the
    kernel function in which it waits, and command line."""
    lines = []
    for pid, words in sorted(self.processes().items()):
      try:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
          state, parent = file.read().rsplit(')', 1)[1].split()[:2]
        with open('/proc/%d/wchan' % pid, encoding='utf-8') as file:
          waits = file.read()
      except OSError:
        continue
      lines.append('process %d of %s: %s in %s: %s' % (
          pid, parent, state, waits, b' '.join(words).decode()))
    return lines

  def wait_for_nothing(self):
    """Waits until no process of a login is left. Returns those that are left
    after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while True:
      left = self.processes()
      if not left or time.monotonic() > end:
        return left
      for pid in left:
        kernel_events.wait_for_end(pid, end)


class Launch:
  """A running launch --hostfile, whose output is read as it arrives.

  hosts: if given, text() ends with the processes on the hosts once an output
      did not come in time.
  """

  def __init__(self, command, folder, environment, hosts=None):
    self._hosts = hosts
    self.process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    self.out, self.err = [], []
    self._grown = threading.Condition()
    self._open = 2
    self._readers = [
        threading.Thread(target=self._read, args=(stream, lines), daemon=True)
        for stream, lines in ((self.process.stdout, self.out),
                              (self.process.stderr, self.err))]
    for reader in self._readers:
      reader.start()

  def _read(self, stream, lines):
    for line in stream:
      with self._grown:
        lines.append(line.decode(errors='replace').rstrip('\n'))
        self._grown.notify_all()
    with self._grown:
      self._open -= 1
      self._grown.notify_all()

  def text(self):
    return '\n'.join(self.out + self.err)

  def printed(self, part, times=1):
    """Waits until `part` has been printed `times` times. Returns False if this
    does not happen."""
    def count():
      return self.text().count(part)
    with self._grown:
      is_there = self._grown.wait_for(
          lambda: count() >= times or self._open == 0, PATIENCE_S)
      if not is_there and self._hosts is not None:
        self.err += self._hosts.states()
      return count() >= times

  def lines(self, part):
    return [line for line in self.out + self.err if part in line]

  def signal(self, number):
    self.process.send_signal(number)

  def end(self):
    """Waits for the end of the output. Returns the exit code."""
    code = self.process.wait(PATIENCE_S)
    for reader in self._readers:
      reader.join(PATIENCE_S)
    return code

  def close(self):
    if self.process.poll() is None:
      self.process.send_signal(signal.SIGTERM)
      try:
        self.process.wait(PATIENCE_S)
      except subprocess.TimeoutExpired:
        self.process.kill()
        self.process.wait()
    self.process.stdout.close()
    self.process.stderr.close()
