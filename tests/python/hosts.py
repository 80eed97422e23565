"""Simulated hosts on one machine: network namespaces that are connected by a
bridge."""

import os
import shutil
import subprocess
import sys

_INSIDE = 'MUSTER_TEST_NAMESPACES'
# States of a bridge's port, as <linux/if_bridge.h> numbers them.
_DISABLED, _FORWARDING = '0', '3'


def enter_namespaces(programs=()):
  """Runs this program again in a new network namespace and a new mount
  namespace.

  When the program has ended, the kernel removes everything that it created
  there.

  Args:
    programs: names of additional programs that must be installed.

  Returns:
    None in the new namespaces; otherwise the reason why they cannot be created.
  """
  if os.environ.get(_INSIDE):
    return None
  os.environ['PATH'] = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
  for program in ['ip', 'bridge', 'unshare', *programs]:
    if not shutil.which(program):
      return 'no program "%s"' % program
  tried = subprocess.run(
      ['unshare', '--net', '--mount', '--pid', '--fork', 'sh', '-c',
       'ip link add bridge0 type bridge && '
       'ip link add veth0 type veth peer name veth1 && '
       'mount -t tmpfs none /srv'],
      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
  if tried.returncode != 0:
    return 'no namespaces for this process: ' + tried.stdout.strip()
  os.environ[_INSIDE] = '1'
  os.execvp('unshare', ['unshare', '--net', '--mount', sys.executable,
                        os.path.abspath(sys.argv[0])] + sys.argv[1:])


def _run(*words):
  subprocess.run(words, check=True)


class Bridge:
  """The switch between hosts, with an address of this process."""

  def __init__(self, name, address):
    """`name`: name of the bridge's interface, which must be new in this network
    namespace."""
    self.name, self.address = name, address
    # Give the bridge a MAC address of its own. Otherwise it uses that of a
    # port, and changes it when ports are added or removed. The ARP entries of
    # other hosts would then be wrong for up to 45 s.
    _run('ip', 'link', 'add', name, 'address', '02:00:00:00:00:01', 'type',
         'bridge')
    _run('ip', 'addr', 'add', address + '/24', 'dev', name)
    _run('ip', 'link', 'set', name, 'up')
    _run('ip', 'link', 'set', 'lo', 'up')

  def attach(self, link, pid):
    """Creates the interface eth0 in the network namespace of `pid`.

    Args:
      link: name of the bridge's port for this interface. pid: a process in the
      namespace.
    """
    _run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0',
         'netns', str(pid))
    _run('ip', 'link', 'set', link, 'master', self.name, 'up')

  def cut(self, link):
    """Drops all packets to and from a port, like a switch that has failed.

    Neither end notices it; `ip link set ... down` would take the carrier away.
    """
    _run('bridge', 'link', 'set', 'dev', link, 'state', _DISABLED)

  def heal(self, link):
    _run('bridge', 'link', 'set', 'dev', link, 'state', _FORWARDING)


class Host:
  """A network namespace with one interface. `cut` separates it from the other
  hosts."""

  def __init__(self, bridge, link, address):
    self.address = address
    self._bridge, self._link = bridge, link
    # This process keeps the namespace alive. It ends when its parent closes the
    # pipe.
    self._holder = subprocess.Popen(
        ['unshare', '--net', 'cat'], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE)
    self._holder.stdin.write(b'\n')
    self._holder.stdin.flush()
    self._holder.stdout.readline()  # cat runs in its new namespace
    self._bridge.attach(link, self._holder.pid)
    _run(*self.inside(), 'ip', 'link', 'set', 'lo', 'up')
    _run(*self.inside(), 'ip', 'addr', 'add', address + '/24', 'dev', 'eth0')
    _run(*self.inside(), 'ip', 'link', 'set', 'eth0', 'up')

  def inside(self):
    """Returns the beginning of a command line that runs a command on this host.
    """
    return ['nsenter', '--net=/proc/%d/ns/net' % self._holder.pid]

  def cut(self):
    self._bridge.cut(self._link)

  def heal(self):
    self._bridge.heal(self._link)

  def limit_rate(self, rate):
    """Limits both directions of the host's link to `rate`, such as '200mbit'.
    Returns whether the kernel can do this."""
    return self._queue('replace', 'root', 'tbf', 'rate', rate, 'burst', '32kb',
                       'latency', '50ms')

  def free_rate(self):
    """Ends the limit, if there is one."""
    self._queue('del', 'root')

  def _queue(self, action, *words):
    """Changes the queues of both directions. Returns whether all could be."""
    return all([
        subprocess.run([*inside, 'tc', 'qdisc', action, 'dev', interface,
                        *words], stderr=subprocess.DEVNULL,
                       check=False).returncode == 0
        for inside, interface in (([], self._link), (self.inside(), 'eth0'))])

  def close(self):
    self._holder.stdin.close()
    self._holder.stdout.close()
    self._holder.wait()
