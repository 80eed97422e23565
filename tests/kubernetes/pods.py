"""Pods without Kubernetes: containers of namespaces on one machine.

A pod has a network namespace with its own address on a bridge, a PID namespace
in which its program is process 1, a read-only root folder, and a user that is
not root. Names resolve as soon as the simulated DNS of the cluster contains
them (a hosts file that is mounted in every pod). The environment contains the
values that the manifest's downward API would set.

Everything runs in a network namespace and a mount namespace that only the test
uses, so that the kernel removes all of it when the test ends.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, 'python'))
import hosts  # noqa: E402

# seconds after which a test fails if an expected event has not happened
PATIENCE = 60.0
# seconds between two checks of a condition that causes no notification
_LOOK_AGAIN = 0.05
_USER = 10001  # the same user id as in the manifests

_news = threading.Condition()  # notified when a pod has printed a line

# The shell script of a pod's first process. It reports its start, waits for its
# network interface, sets up its container (mounts, root folder, user), and
# executes the program.
_SETUP = r'''
echo 'pod: here'
read -r go
ip link set lo up
ip addr add "$POD_ADDRESS/24" dev eth0
ip link set eth0 up
hostname "$HOSTNAME"
mount --bind "$CLUSTER" /srv
mount --bind /srv/hosts /etc/hosts
mount --bind /srv/resolv.conf /etc/resolv.conf
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -o remount,bind,ro /
cd /srv/share
unset CLUSTER
exec setpriv --reuid %d --regid %d --clear-groups --no-new-privs \
  --inh-caps=-all --bounding-set=-all "$@" </dev/null
''' % (_USER, _USER)


def enter_namespaces():
  """Starts this test again in new namespaces. If that is impossible, returns
  the reason."""
  return hosts.enter_namespaces(['setpriv'])


def wait_until(what, condition):
  """Waits until `condition` returns a true value, and returns this value. Fails
  after PATIENCE."""
  deadline = time.monotonic() + PATIENCE
  while True:
    value = condition()
    if value:
      return value
    if time.monotonic() > deadline:
      raise AssertionError('within %g s not: %s' % (PATIENCE, what))
    with _news:
      _news.wait(_LOOK_AGAIN)


class Cluster:
  """The simulated cluster: a network bridge, a DNS, and the pods."""

  # number of addresses given so far in all clusters; each pod gets a new one
  _addresses = 0
  _bridge = None  # the bridge that all clusters share

  # the test's own address on the bridge; no pod has it
  address = '10.77.0.1'

  def __init__(self, programs):
    """`programs`: paths of the pods' programs; pods find them in /srv/bin."""
    self.folder = tempfile.mkdtemp(prefix='pods-', dir='/tmp')
    os.chmod(self.folder, 0o755)
    for name, mode in [('bin', 0o755), ('share', 0o777)]:
      path = os.path.join(self.folder, name)
      os.mkdir(path)
      os.chmod(path, mode)
    self.share = os.path.join(self.folder, 'share')
    for program in programs:
      shutil.copy(program, os.path.join(self.folder, 'bin'))
    self._names = {}
    self._write_names()
    with open(os.path.join(self.folder, 'resolv.conf'), 'w') as file:
      # No DNS server listens at 127.0.0.1, so look-ups of unknown names fail at
      # once.
      file.write('nameserver 127.0.0.1\noptions timeout:1 attempts:1\n')
    self.pods = []
    if Cluster._addresses == 0:
      Cluster._addresses = 1
      Cluster._bridge = hosts.Bridge('pods', self.address)

  def set_name(self, name, pod):
    """From now on `name` resolves only to the address of `pod`."""
    self._names[name] = [pod.address]
    self._write_names()

  def add_name(self, name, pod):
    """From now on `name` also resolves to the address of `pod`."""
    self._names.setdefault(name, []).append(pod.address)
    self._write_names()

  def remove_name(self, name, pod):
    self._names[name].remove(pod.address)
    self._write_names()

  def _write_names(self):
    # Overwrite the file instead of replacing it, because pods have mounted this
    # inode.
    with open(os.path.join(self.folder, 'hosts'), 'w') as file:
      file.write('127.0.0.1 localhost\n' + ''.join(
          '%s %s\n' % (address, name)
          for name, addresses in self._names.items() for address in addresses))

  def start(self, host_name, environment, command):
    """Starts a new pod with a new address."""
    Cluster._addresses += 1
    pod = Pod(self, host_name, '10.77.0.%d' % Cluster._addresses,
              'pod%d' % Cluster._addresses, environment, command)
    self.pods.append(pod)
    return pod

  def attach(self, link, pid):
    """Connects the network namespace of process `pid` to the pods' network."""
    Cluster._bridge.attach(link, pid)

  def close(self):
    for pod in self.pods:
      pod.kill()
    shutil.rmtree(self.folder, ignore_errors=True)

  def logs(self):
    return '\n'.join('--- %s (%s)\n%s' % (pod.host_name, pod.address, pod.log())
                     for pod in self.pods)


def _only_child(pid):
  with open('/proc/%d/task/%d/children' % (pid, pid)) as file:
    return int(file.read())


def _state(stat):
  """Returns the state (R, S, T, Z …) from a line of /proc/…/stat."""
  with open(stat) as file:
    return file.read().rpartition(')')[2].split()[0]


class Pod:
  """A pod with one container, whose process 1 is the command."""

  def __init__(self, cluster, host_name, address, link, environment, command):
    self.host_name, self.address = host_name, address
    self._log = []  # lines; guarded by _news
    self._killed = False
    environment = {
        name: value.replace('POD_ADDRESS', address)
        for name, value in environment.items()}
    self._process = subprocess.Popen(
        ['unshare', '--net', '--pid', '--mount', '--uts', '--ipc', '--fork',
         '--kill-child', '--mount-proc', 'sh', '-ec', _SETUP, 'pod'] + command,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
        env={'PATH': '/srv/bin:/usr/sbin:/usr/bin:/sbin:/bin',
             'HOSTNAME': host_name, 'POD_ADDRESS': address,
             'CLUSTER': cluster.folder,
             'KUBERNETES_SERVICE_HOST': '10.96.0.1', **environment})
    self._reader = threading.Thread(target=self._read, daemon=True)
    self._reader.start()
    self.wait_for('pod: here')
    self._init = _only_child(self._process.pid)
    cluster.attach(link, self._init)
    self._process.stdin.write(b'go\n')
    self._process.stdin.close()

  def _read(self):
    for line in self._process.stdout:
      with _news:
        self._log.append(line.decode(errors='replace'))
        _news.notify_all()

  def log(self):
    with _news:
      return ''.join(self._log)

  def wait_for(self, text):
    def look():
      if self._process.poll() is not None and text not in self.log():
        raise AssertionError('%s ended with %s before it said "%s"' % (
            self.host_name, self._process.returncode, text))
      return text in self.log()
    wait_until('%s says "%s"' % (self.host_name, text), look)

  def evict(self):
    """Sends SIGTERM to process 1, the kubelet's first action when it ends a
    pod."""
    os.kill(self._init, signal.SIGTERM)

  def signal(self, number):
    os.kill(self._init, number)

  def stop_agent(self):
    """Sends SIGSTOP to the agent, whose parent is process 1. Returns when all
    its threads have stopped."""
    agent = _only_child(self._init)
    os.kill(agent, signal.SIGSTOP)
    wait_until('the agent is stopped', lambda: all(
        _state('/proc/%d/task/%s/stat' % (agent, thread)) == 'T'
        for thread in os.listdir('/proc/%d/task' % agent)))

  def kill(self):
    """Sends SIGKILL, the kubelet's last action when it ends a pod."""
    if self._process.poll() is None:
      try:
        os.kill(self._init, signal.SIGKILL)
        self._killed = True
      except ProcessLookupError:
        pass
    try:
      self._process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
      self._process.kill()
      self._process.wait()
    self._reader.join(PATIENCE)

  def exit_code(self):
    """Waits until the container has ended. Returns its exit code."""
    try:
      code = self._process.wait(PATIENCE)
      self._reader.join(PATIENCE)
      # unshare waits for the pod's process 1. If process 1 was killed, unshare
      # does not return the right exit code.
      return 128 + signal.SIGKILL if self._killed else code
    except subprocess.TimeoutExpired:
      raise AssertionError('%s did not end within %g s' % (
          self.host_name, PATIENCE)) from None

  def states(self):
    """Returns the states (R, S, Z …) of the pod's processes except the first.
    """
    space = os.readlink('/proc/%d/ns/pid' % self._init)
    states = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
      try:
        if int(pid) != self._init and os.readlink(
            '/proc/%s/ns/pid' % pid) == space:
          states.append(_state('/proc/%s/stat' % pid))
      except OSError:
        continue
    return states

  def ends_within(self, seconds):
    try:
      self._process.wait(seconds)
      return True
    except subprocess.TimeoutExpired:
      return False

  def probe(self, path, timeout=PATIENCE):
    """Sends the kubelet's HTTP probe. Returns (status, text); None: no answer.
    """
    try:
      with urllib.request.urlopen('http://%s:8080%s' % (self.address, path),
                                  timeout=timeout) as answer:
        return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
      return error.code, error.read().decode()
    except OSError:
      return None
