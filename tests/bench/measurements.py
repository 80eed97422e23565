"""The measurements, each for Muster's `launch` and for another launcher, in
seconds or MiB.

`ours` and `peer` are functions that measure with a Bench and return a list of
samples. `target` is the project's goal: a ratio of medians or a time.
"""

import collections
import os
import signal
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)),
                             os.pardir, 'compat'))

import interpreters
import jobs

Measurement = collections.namedtuple(
    'Measurement', 'name title unit target ours peer peer_name')

_PEERS = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir,
                      'peers')
_LIMIT_S = 60


class Bench:
  """The programs, a scratch folder, and the command line of each launcher."""

  def __init__(self, binaries, folder):
    self.launch = os.path.join(binaries, 'launcher', 'launch')
    self.stamp = os.path.join(binaries, 'tests', 'bench', 'stamp')
    self.scale = os.path.join(binaries, 'tests', 'bench', 'coordinator_scale',
                              'coordinator_scale')
    self.folder = folder

  def job(self):
    return jobs.Job(self.folder)

  def ours(self, *arguments):
    return [self.launch, *arguments]

  def torchrun(self, *arguments):
    return ['/usr/bin/python3', os.path.join(_PEERS, 'torchrun.py'),
            '--monitor_interval', '0.1', *arguments]

  def our_nodes(self, nnodes, nproc, restarts=0):
    """The command of one node of a job; it is the same for all nodes."""
    return self.ours(
        '--nnodes', nnodes, '--nproc_per_node', str(nproc), '--rdzv-id', 'bench',
        '--rdzv-endpoint', '127.0.0.1:%d' % jobs.free_port(), '--log-dir',
        self.folder, '--max-restarts', str(restarts), '--no-python')

  def torchrun_nodes(self, nnodes, nproc, restarts=0):
    return self.torchrun(
        '--nnodes', nnodes, '--nproc_per_node', str(nproc), '--rdzv_id', 'bench',
        '--rdzv_backend', 'c10d', '--rdzv_endpoint',
        '127.0.0.1:%d' % jobs.free_port(), '--max_restarts', str(restarts),
        '--no_python')


def _whole_command(command, count):
  samples = []
  for _ in range(count):
    before = time.monotonic()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    samples.append(time.monotonic() - before)
  return samples


def _first_worker(bench, command, count):
  samples = []
  for _ in range(count):
    with bench.job() as job:
      before = job.start(command)
      job.nodes[0].wait(_LIMIT_S)
      stamps = job.wait_stamps(1, 1)
      samples.append(min(stamp.time for stamp in stamps) - before)
  return samples


def _last_worker(bench, make_command, nodes, count):
  samples = []
  for _ in range(count):
    with bench.job() as job:
      command = make_command()
      before = [job.start(command + [bench.stamp]) for _ in range(nodes)][0]
      stamps = job.wait_stamps(nodes, _LIMIT_S)
      for node in job.nodes:
        node.wait(_LIMIT_S)
      samples.append(max(stamp.time for stamp in stamps) - before)
  return samples


def _first_worker_killed(bench, make_command, count):
  """Kills the last worker of `count` jobs with 2 nodes of 2 workers, once in
  each job: the launcher delays the later restarts of a job that fails
  repeatedly."""
  samples = []
  for _ in range(count):
    samples += _worker_killed(bench, make_command(), 1)
  return samples


def _worker_killed(bench, command, count):
  """Kills the last worker of one job with 2 nodes of 2 workers, `count` times.
  """
  samples = []
  with bench.job() as job:
    for _ in range(2):
      job.start(command + [bench.stamp, 'hold'])
    for round_number in range(1, count + 1):
      stamps = job.wait_stamps(4 * round_number, _LIMIT_S)
      # Each worker writes one stamp when it starts, so the last four stamps are
      # those of the four running workers. Kill the worker with the highest
      # rank.
      victim = max(stamps[-4:], key=lambda stamp: stamp.rank)
      before = time.monotonic()
      os.kill(victim.pid, signal.SIGKILL)
      stamps = job.wait_stamps(4 * (round_number + 1), _LIMIT_S)
      samples.append(max(stamp.time for stamp in stamps[-4:]) - before)
  return samples


def _agent_killed(bench, make_command, count, limit):
  """Kills one of three nodes with one worker each, so that the job continues
  with two."""
  samples = []
  for _ in range(count):
    with bench.job() as job:
      command = make_command() + [bench.stamp, 'hold']
      # The node that starts first hosts the rendezvous. One of the other nodes
      # is killed later.
      job.start(command)
      _wait_listening(command)
      for _ in range(2):
        job.start(command)
      job.wait_stamps(3, _LIMIT_S)
      before = time.monotonic()
      job.nodes[-1].kill()
      try:
        stamps = job.wait_stamps(5, limit)
        samples.append(max(stamp.time for stamp in stamps[-2:]) - before)
      except jobs.TimedOut:
        samples.append(float('inf'))
  return samples


def _wait_listening(command):
  """Waits until the rendezvous endpoint of a command listens."""
  port = [a for a in command if a.startswith('127.0.0.1:')][0].split(':')[1]
  wanted = ':%04X' % int(port)
  deadline = time.monotonic() + _LIMIT_S
  while time.monotonic() < deadline:
    for path in ('/proc/net/tcp', '/proc/net/tcp6'):
      with open(path, encoding='utf-8') as file:
        for line in file:
          fields = line.split()
          if fields[1].endswith(wanted) and fields[3] == '0A':
            return
    time.sleep(0.005)
  raise jobs.TimedOut('nothing listens on port ' + port)


def _rendezvous(bench, nodes, count):
  """Lets many agents, each with a separate connection, join at one rendezvousd.
  """
  samples = []
  for _ in range(count):
    table = subprocess.run([bench.scale, str(nodes)], check=True, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           timeout=_LIMIT_S).stdout
    samples.append(_cell(table, 'clear text', 'last join to last place, ms') / 1000)
  return samples


def _cell(table, row, column):
  """The number in the column with this title, of the row with this cell."""
  rows = [[cell.strip() for cell in line.split('|')]
          for line in table.splitlines() if line.startswith('|')]
  return float(next(cells for cells in rows[2:] if row in cells)
               [rows[0].index(column)])


def _c10d_rendezvous(nodes, count):
  # Use PyTorch from PyPI, which tests/bench/setup installs. c10d_rendezvous.py
  # runs each of the 128 nodes as a thread. With so many threads, Debian's
  # PyTorch dies of SIGSEGV on some processors.
  command = [interpreters.PATHS[interpreters.NEW], os.path.join(_PEERS, 'c10d_rendezvous.py'),
             str(nodes)]
  return [float(subprocess.run(command, check=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               timeout=4 * _LIMIT_S).stdout)
          for _ in range(count)]


def _agent_memory(bench, command):
  """Measures the memory of each node's launcher and its own processes, without
  the workers."""
  with bench.job() as job:
    for _ in range(2):
      job.start(command + [bench.stamp, 'hold'])
    workers = {stamp.pid for stamp in job.wait_stamps(4, _LIMIT_S)}
    samples = []
    for node in job.nodes:
      pending, total = [node.pid], 0
      while pending:
        pid = pending.pop()
        if pid not in workers:
          total += jobs.resident_kib(pid)
          pending += jobs.children_of(pid)
      samples.append(total / 1024)
  return samples


ALL = (
    Measurement(
        'whole_command', '`--standalone --nproc_per_node=8 /bin/true`, whole',
        's', '1/3',
        lambda b: _whole_command(
            b.ours('--standalone', '--nproc_per_node=8', '/bin/true'), 30),
        lambda b: _whole_command(
            ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', '8',
             '/bin/true'], 30), 'mpirun'),
    Measurement(
        'first_worker', '8 workers on one node, first of them starts', 's', '-',
        lambda b: _first_worker(
            b, b.ours('--standalone', '--nproc_per_node=8', '--no-python',
                      b.stamp), 20),
        lambda b: _first_worker(
            b, b.torchrun('--standalone', '--nproc_per_node=8', '--no_python',
                          b.stamp), 5), 'torchrun'),
    Measurement(
        'eight_nodes', '8 nodes x 1 worker, last of them starts', 's', '1/50',
        lambda b: _last_worker(b, lambda: b.our_nodes('8', 1), 8, 10),
        lambda b: _last_worker(b, lambda: b.torchrun_nodes('8', 1), 8, 5),
        'torchrun'),
    Measurement(
        'rendezvous_128', 'rendezvous alone, 128 nodes: last join to last '
        'assignment', 's', '1/100', lambda b: _rendezvous(b, 128, 10),
        lambda b: _c10d_rendezvous(128, 5), 'c10d 2.15'),
    Measurement(
        'worker_killed', 'SIGKILL of a worker of 2 x 2 until all 4 run again',
        's', '1/40',
        lambda b: _first_worker_killed(
            b, lambda: b.our_nodes('2', 2, 100), 20),
        lambda b: _worker_killed(b, b.torchrun_nodes('2', 2, 100), 10),
        'torchrun'),
    Measurement(
        'agent_killed', 'SIGKILL of an agent until the 2 survivors run again',
        's', '1 s',
        lambda b: _agent_killed(b, lambda: b.our_nodes('2:3', 1, 3), 10, 30),
        lambda b: _agent_killed(b, lambda: b.torchrun_nodes('2:3', 1, 3), 1, 60),
        'torchrun'),
    Measurement(
        'memory', 'resident memory of a node\'s launcher', 'MiB', '1/10',
        lambda b: _agent_memory(b, b.our_nodes('2', 2)),
        lambda b: _agent_memory(b, b.torchrun_nodes('2', 2)), 'torchrun'),
)
