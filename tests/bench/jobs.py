"""Jobs of `stamp` workers under a launcher, with the times of their events."""

import collections
import os
import signal
import socket
import subprocess
import time

Stamp = collections.namedtuple('Stamp', 'time rank pid')


class TimedOut(Exception):
  """An expected event did not happen within the time limit."""


def free_port():
  with socket.socket() as probe:
    probe.bind(('127.0.0.1', 0))
    return probe.getsockname()[1]


def resident_kib(pid):
  """Returns the resident memory of a process in KiB."""
  with open('/proc/%d/status' % pid, encoding='utf-8') as file:
    for line in file:
      if line.startswith('VmRSS:'):
        return int(line.split()[1])
  return 0


def children_of(pid):
  """Returns the pids of a process's children, started by any of its threads."""
  found = []
  folder = '/proc/%d/task' % pid
  for task in os.listdir(folder):
    with open('%s/%s/children' % (folder, task), encoding='utf-8') as file:
      found += [int(child) for child in file.read().split()]
  return found


class Job:
  """The launcher processes of one job (one for each node), and their workers'
  stamps.

  Use it as a context manager: at the end it kills all processes that still run.
  """

  def __init__(self, folder):
    self.path = os.path.join(folder, 'stamps-%d' % time.monotonic_ns())
    self.log = self.path + '.log'
    self.nodes = []

  def __enter__(self):
    return self

  def __exit__(self, *_):
    for number in (signal.SIGINT, signal.SIGKILL):
      for node in self.nodes:
        if node.poll() is None:
          node.send_signal(number)
      deadline = time.monotonic() + 10
      for node in self.nodes:
        try:
          node.wait(max(0.01, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
          pass
    for stamp in self.stamps():
      # Kill the workers too: torchrun leaves them behind when it is killed.
      try:
        with open('/proc/%d/comm' % stamp.pid, encoding='utf-8') as file:
          if file.read().strip() == 'stamp':
            os.kill(stamp.pid, signal.SIGKILL)
      except OSError:
        pass
    return False

  def start(self, command):
    """Starts one node. Returns the time just before the start."""
    environment = dict(os.environ, STAMP_FILE=self.path, OMP_NUM_THREADS='1',
                       TMPDIR=os.path.dirname(self.path))
    with open(self.log, 'ab') as log:
      before = time.monotonic()
      self.nodes.append(subprocess.Popen(
          command, env=environment, stdin=subprocess.DEVNULL, stdout=log,
          stderr=log))
    return before

  def stamps(self):
    try:
      with open(self.path, encoding='utf-8') as file:
        return [Stamp(int(t) / 1e9, int(rank), int(pid)) for t, rank, pid in
                (line.split() for line in file)]
    except FileNotFoundError:
      return []

  def wait_stamps(self, count, limit):
    """Waits until there are `count` stamps; returns all stamps."""
    deadline = time.monotonic() + limit
    while True:
      stamps = self.stamps()
      if len(stamps) >= count:
        return stamps
      if time.monotonic() > deadline:
        raise TimedOut('%d of %d workers after %g s; log:\n%s' % (
            len(stamps), count, limit, self.tail()))
      time.sleep(0.002)

  def tail(self):
    with open(self.log, encoding='utf-8', errors='replace') as file:
      return ''.join(file.readlines()[-15:])
