"""The base class of the tests of launch --hostfile."""

import os
import re
import shutil
import signal
import tempfile
import unittest

import gate
import ssh_hosts

_HERE = os.path.dirname(os.path.realpath(__file__))
LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
WORKER = os.path.join(_HERE, 'worker.sh')


@unittest.skipIf(ssh_hosts.missing(), ssh_hosts.missing())
class OverSsh(unittest.TestCase):
  """Provides one sshd for all tests, and for each test a home folder and a
  working directory."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.folder = tempfile.mkdtemp()
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    cls.hosts = ssh_hosts.Hosts(cls.folder)
    cls.addClassCleanup(cls.hosts.stop)

  def setUp(self):
    super().setUp()
    self.home = tempfile.mkdtemp(dir=self.folder)
    self.work = tempfile.mkdtemp(dir=self.folder)

  def tearDown(self):
    super().tearDown()
    self.assertEqual(self.hosts.wait_for_nothing(), {}, 'left running')

  def write(self, folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as file:
      file.write(text)
    return path

  def gate(self):
    return gate.Gate(os.path.join(self.work, 'gate'))

  def launch(self, hosts, flags, deed, **variables):
    """Starts launch --hostfile in self.work; `hosts`: the lines of the host
    file."""
    path = self.write(self.folder, 'hosts_%d' % id(hosts), '\n'.join(hosts))
    environment = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'),
                   'HOME': self.home, **variables}
    front = ssh_hosts.Launch(
        [LAUNCH, '--hostfile=' + path,
         '--ssh-args=-F ' + self.hosts.path('config')] + flags +
        [WORKER] + deed, self.work, environment, self.hosts)
    self.addCleanup(front.close)
    return front

  def finish(self, hosts, flags, deed, code=0, **variables):
    front = self.launch(hosts, flags, deed, **variables)
    self.assertEqual(front.end(), code, front.text())
    return front

  def node_process(self, address):
    """Returns the pids of the `launch` at the host's end of the connection, and
    of its sshd."""
    for pid, words in self._processes_of(address):
      if words[1:2] == [b'--muster-ssh-node']:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
          return pid, int(file.read().rsplit(')', 1)[1].split()[1])
    raise AssertionError('no launch on ' + address)

  def client_of(self, front, address):
    """Returns the pid of the ssh client that `front` runs for this host."""
    for pid in self._children(front.process.pid):
      with open('/proc/%d/cmdline' % pid, 'rb') as file:
        if address.encode() in file.read().split(b'\0'):
          return pid
    raise AssertionError('no ssh to ' + address)

  def cut(self, address):
    """Ends the connection to a host, and lets further connections fail until
    hosts.plug(address)."""
    self.hosts.unplug(address)
    self.addCleanup(self._plug, address)
    os.kill(self.node_process(address)[1], signal.SIGKILL)

  def _plug(self, address):
    try:
      self.hosts.plug(address)
    except FileNotFoundError:
      pass  # The test has done so.

  def kill_host(self, address):
    """Kills all processes of a host, and its connection, as if the host had
    lost its power. Further connections fail until hosts.plug(address)."""
    self.hosts.unplug(address)
    self.addCleanup(self._plug, address)
    sshd = self.node_process(address)[1]
    for pid in [sshd] + [pid for pid, _ in self._processes_of(address)]:
      try:
        os.kill(pid, signal.SIGKILL)
      except ProcessLookupError:
        pass  # The end of another process has ended this one.

  def _processes_of(self, address):
    """Returns (pid, command line) of each process that a login at `address` has
    started."""
    found = []
    for pid, words in self.hosts.processes().items():
      try:
        with open('/proc/%d/environ' % pid, 'rb') as file:
          connection = re.search(rb'SSH_CONNECTION=[^\0]*', file.read())
      except OSError:
        continue
      if connection and connection.group().split()[2] == address.encode():
        found.append((pid, words))
    return found

  def agent_of(self, address):
    """Returns the pid of the agent that the `launch` on this host has started.
    """
    return self._first_child(self.node_process(address)[0])

  def guardian_of(self, address):
    """Returns the pid of the process that starts this host's workers."""
    return self._first_child(self.agent_of(address))

  def _first_child(self, pid):
    return self._children(pid)[0]

  def _children(self, pid):
    with open('/proc/%d/task/%d/children' % (pid, pid),
              encoding='utf-8') as file:
      return [int(child) for child in file.read().split()]
