#!/usr/bin/python3
"""Trains a small GPT on several nodes of this machine under a seeded schedule
of faults, and compares the training with an undisturbed one.

  bazel run //tests/chaos -- --seed 7 --faults 8 --nodes 2 --state etcd
"""

import argparse
import contextlib
import dataclasses
import datetime
import errno
import glob
import itertools
import json
import math
import os
import random
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Callable, Optional, Tuple

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import checker
import faults
import free_port
import hosts
import kernel_events

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_GPT = os.path.realpath('models/trainer/gpt')
# The environment variable that marks each process of a job. Its value is
# JOB/NODE/START, where START is the number of the node's start.
_MARK = 'MUSTER_CHAOS_NODE'
# _CHECKPOINT_EVERY: number of steps between checkpoints. _RECOVERED_STEPS:
# number of new steps after which a job counts as recovered.
_CHECKPOINT_EVERY = 20
_RECOVERED_STEPS = 40
# Maximum number of nodes of a job.
_MOST_NODES = 4
# Minimum number of nodes of a job whose coordinator runs on one of the nodes.
# If that node fails, the remaining nodes must be a majority, so that one of
# them can take over.
_LEAST_HOSTED = 3
# Number of steps of a job, far more than it can run. The driver stops the job
# after its last fault.
_STEPS = 1_000_000
# A time limit: _PATIENCE_S seconds or, if that is longer, _PATIENCE_IN_STARTS
# times the duration of the job's start (long on a busy machine). Within this
# time, the processes of a killed program must end.
_PATIENCE_S = 10.0
_PATIENCE_IN_STARTS = 15
# The same for the longest time without progress, besides the faults' own length
# and the documented waits: the job notices a fault, begins a round, and its
# workers start.
_SILENCE_S = 5.0
_SILENCE_IN_STARTS = 3
# The lease of a node, in seconds.
_LEASE_S = 10.0
# Time limit in seconds for each of these: a job's first step and a job's end.
# It is also a part of longer limits.
_LONG_S = 120.0
# Seconds after the end of a job within which all its processes must end.
_ENDING_S = 2.0
# The beginnings of the names of all service processes, which are the daemons
# and etcd.
_SERVICES = ('daemon', 'etcd')
# Size limit in bytes of the daemon's files, which simulates a full disk.
_FULL_BYTES = 512
# Size of the disk of a state folder, in bytes: a few times the size of a
# journal with its log.
_DISK_BYTES = 16 << 20
# Seconds within which a coordinator that writes to a full disk must say that
# its state is not durable.
_NOTICE_FULL_S = 2.0


@dataclasses.dataclass(frozen=True)
class Plan:
  """A job: its size, and the schedule of its faults."""
  seed: int
  faults: int
  nodes: int
  state: str  # one of faults.STATES
  longest_stop_s: float
  acts: Tuple[str, ...] = faults.ACTS
  # Whether the job ends by a failure: it has no restarts, and the driver kills
  # a worker after the last fault. Otherwise it ends with success.
  fails: bool = False

  @property
  def workers(self):
    """The number of workers on each node. The job has only 2 to 4 in total,
    since the machine may have few cores."""
    return 2 if self.nodes <= 2 else 1

  @property
  def size(self):
    return self.nodes, self.workers

  @property
  def name(self):
    return f'seed-{self.seed}-state-{self.state}'

  def __str__(self):
    return (f'seed {self.seed}, {self.faults} faults, {self.nodes} nodes, '
            f'state: {self.state}')

  def command(self):
    return (f'bazel run //tests/chaos -- --seed {self.seed} --faults '
            f'{self.faults} --nodes {self.nodes} --longest-stop '
            f'{self.longest_stop_s:g} --state {self.state}')

  def schedule(self):
    return faults.schedule(self.seed, self.faults, self.nodes, self.workers,
                           self.state, self.longest_stop_s, self.acts)


class Failed(Exception):
  """The job cannot continue; the message contains the reason."""


class Processes:
  """The processes of one job, found in /proc by their mark."""

  def __init__(self, job):
    self._mark = job + '/'
    # By session id: the mark (_MARK) of the process that leads the session,
    # which is a launch, a daemon or a guardian. The mark is kept here because
    # only root can read it from the environment of some processes.
    self.sessions = {}

  def all(self):
    """Yields (pid, parent, mark, variables) of each process that runs."""
    for path in glob.glob('/proc/[0-9]*'):
      variables = {}
      try:
        with open(path + '/stat', 'rb') as file:
          words = file.read().rpartition(b')')[2].split()
        state, parent, session = words[0], int(words[1]), int(words[3])
        with contextlib.suppress(PermissionError):
          with open(path + '/environ', 'rb') as file:
            variables = dict(
                word.split('=', 1)
                for word in file.read().decode(errors='replace').split('\0')
                if '=' in word)
      except OSError:
        continue
      # A guardian (the agent's child process that starts the workers) leads a
      # session of its own. This session gets the mark (_MARK) of the session of
      # the guardian's parent.
      if parent in self.sessions:
        self.sessions.setdefault(session, self.sessions[parent])
      mark = variables.get(_MARK) or self.sessions.get(session, '')
      if state not in b'ZX' and mark.startswith(self._mark):
        pid = int(path[len('/proc/'):])
        yield pid, parent, mark[len(self._mark):], variables

  def workers(self):
    """Returns (rank, round, pid, node, local rank) of each worker, by rank."""
    return sorted(
        (int(variables['RANK']), int(variables['MUSTER_ROUND']), pid,
         mark.split('/')[0], int(variables['LOCAL_RANK']))
        for pid, _, mark, variables in self.all()
        if 'MUSTER_ROUND' in variables and 'RANK' in variables)

  def left(self, mark=''):
    """Returns pid -> mark of the processes with `mark`; '': of all nodes."""
    return {pid: its for pid, _, its, _ in self.all()
            if its == mark or not mark and not its.startswith(_SERVICES)}


class LoopbackHost:
  """The host of a node that cannot be cut off."""

  def __init__(self, address):
    self.address = address

  def inside(self):
    return []

  def heal(self):
    pass


class Disk:
  """A small disk that can be full: a file system in memory.

  Only root in a mount namespace of its own may create one.
  """

  def __init__(self, folder):
    """`folder`: where the disk is mounted."""
    self._folder = folder
    self._filler = os.path.join(folder, 'filler')
    os.makedirs(folder)
    subprocess.run(['mount', '-t', 'tmpfs', '-o',
                    f'size={_DISK_BYTES},mode=755', 'chaos', folder],
                   check=True)

  def use_up(self):
    """Writes a file until no space is left."""
    with open(self._filler, 'ab', buffering=0) as filler:
      try:
        while filler.write(bytes(1 << 12)):
          pass
      except OSError as error:
        if error.errno != errno.ENOSPC:
          raise

  def free(self):
    with contextlib.suppress(FileNotFoundError):
      os.remove(self._filler)

  def close(self):
    subprocess.run(['umount', '--lazy', self._folder], check=True)


class Network:
  """The hosts of nodes, and the address of daemons.

  If the process may not make network namespaces, all hosts are this machine.
  """

  def __init__(self, can_cut):
    if can_cut:
      bridge = hosts.Bridge('chaos', '10.78.0.254')
      self.address = bridge.address
      self.hosts = [hosts.Host(bridge, f'node{i}', f'10.78.0.{i + 1}')
                    for i in range(_MOST_NODES)]
    else:
      self.address = '127.0.0.1'
      self.hosts = [LoopbackHost(f'127.0.0.{i + 1}')
                    for i in range(_MOST_NODES)]


def _words(left):
  return [f'{pid} ({mark}, {_command_of(pid)})' for pid, mark in left.items()]


def _command_of(pid):
  with contextlib.suppress(OSError):
    with open(f'/proc/{pid}/cmdline', 'rb') as file:
      return file.read().replace(b'\0', b' ').decode(errors='replace')[:60]
  return 'ended'


def _send(pid, number):
  with contextlib.suppress(ProcessLookupError):
    os.kill(pid, number)


class Program:
  """A launch, a daemon or etcd, which may be started several times."""

  def __init__(self, name, argv, folder, job, processes):
    self.name = name
    self.starts = 0
    self.process = None
    # whether the process may have exited because of a fault that this test
    # caused, so that the exit is no error; reset at each start
    self.explained = False
    self._argv = argv
    self._log = os.path.join(folder, name + '.log')
    self._began_at = 0  # size of the log at the last start, in bytes
    self._job = job
    self._processes = processes

  @property
  def mark(self):
    return f'{self.name}/{self.starts}'

  def start(self):
    self.starts += 1
    self.explained = False
    environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith(('MUSTER_', 'PET_', 'TORCHELASTIC_', 'SLURM_'))}
    environment.update({
        _MARK: f'{self._job}/{self.mark}', 'NO_COLOR': '1',
        'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'})
    with open(self._log, 'ab') as log:
      self._began_at = log.tell()
      # Start the process in a new session, so that no signal of a terminal
      # reaches it.
      self.process = subprocess.Popen(
          self._argv, stdin=subprocess.DEVNULL, stdout=log,
          stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    self._processes.sessions[self.process.pid] = f'{self._job}/{self.mark}'

  @property
  def running(self):
    return self.process is not None and self.process.poll() is None

  def output(self):
    """Returns the output since the last start."""
    with open(self._log, 'rb') as log:
      log.seek(self._began_at)
      return log.read().decode(errors='replace')

  def tail(self):
    with open(self._log, encoding='utf-8', errors='replace') as log:
      return ''.join(log.readlines()[-40:])


@dataclasses.dataclass(order=True)
class _Task:
  """A function that is called at a given time, or earlier if a process ends
  before."""
  due: float  # on the monotonic clock
  number: int  # tasks of the same time are called in this order
  function: Callable[[], None] = dataclasses.field(compare=False)
  # pidfd of the process whose end is awaited; None: the task awaits no process,
  # or the process has ended
  pidfd: Optional[int] = dataclasses.field(default=None, compare=False)


class Agenda:
  """A list of functions, each called at a given time or at the end of a
  process.

  `wait` also ends when a file in the job's folder has changed.
  """

  def __init__(self, folder):
    self._files = kernel_events.FolderEvents(folder)
    self._selector = selectors.DefaultSelector()
    self._selector.register(self._files, selectors.EVENT_READ)
    self._number = itertools.count()
    self._tasks = []

  def __bool__(self):
    """Whether a function is still to be called."""
    return bool(self._tasks)

  def at(self, due, function):
    self._tasks.append(_Task(due, next(self._number), function))

  def at_end(self, pid, due, function):
    """Calls `function` when `pid` has ended, or at the time `due`."""
    self.at(due, function)
    task = self._tasks[-1]
    try:
      task.pidfd = self._watch(pid, task)
    except ProcessLookupError:
      task.due = time.monotonic()

  def wake_at_end(self, child):
    """Ends a wait when this child of the caller has ended."""
    self._watch(child, None)

  def _watch(self, pid, task):
    pidfd = os.pidfd_open(pid)
    self._selector.register(pidfd, selectors.EVENT_READ, task)
    return pidfd

  def _unwatch(self, pidfd):
    self._selector.unregister(pidfd)
    os.close(pidfd)

  def wait(self, end):
    """Waits until a task is due, a process has ended, or a file has changed.

    Args:
      end: the latest time at which the wait ends, on the monotonic clock.
    """
    if self._tasks:
      end = min(end, min(self._tasks).due)
    for key, _ in self._selector.select(max(0, end - time.monotonic())):
      if key.fileobj is self._files:
        self._files.clear()
        continue
      self._unwatch(key.fd)
      if key.data is not None:
        key.data.due, key.data.pidfd = time.monotonic(), None

  def do_due(self):
    """Calls the functions of all tasks that are due."""
    while self._tasks and min(self._tasks).due <= time.monotonic():
      task = min(self._tasks)
      self._tasks.remove(task)
      if task.pidfd is not None:
        self._unwatch(task.pidfd)
      task.function()

  def close(self):
    for key in list(self._selector.get_map().values()):
      if key.fileobj is not self._files:
        os.close(key.fd)
    self._selector.close()
    self._files.close()


class Job:
  """One training: its daemons, its nodes, and the faults that act on it."""

  def __init__(self, folder, plan, network):
    self._folder = folder
    self._plan = plan
    self._hosts = network.hosts
    self._patience_s = _PATIENCE_S
    self._silence_s = _SILENCE_S
    self._name = f'chaos-{os.getpid()}-{os.path.basename(folder)}'
    self._processes = Processes(self._name)
    self._steps_log = os.path.join(folder, 'steps.jsonl')
    self._read = 0  # bytes of the log that were read
    self._grown = time.monotonic()
    # numbers of the training steps that the job has logged since the last group
    # of faults began
    self._steps = []
    # number of cuts of each node's network that are active now
    self._cuts = [0] * plan.nodes
    self._healed = -math.inf  # time at which the last cut ended
    self._used = 0  # number of used restarts in the coordinator's last status
    # the use of time in the coordinator's last status
    self._time = {'interruptions': {}, 'newest_interruptions': []}
    self._began = time.monotonic()
    self.began = time.time()
    self.lines = []
    self.groups = []
    self.exit_codes = {}
    self.printed = {}
    self.verdict = None
    self.left = []
    os.makedirs(folder)
    self._agenda = Agenda(folder)
    daemons = (0 if plan.state in faults.IN_NODES else
               2 if plan.state == faults.SHARED else 1)
    ports = [free_port.free_port() for _ in range(daemons)]
    self._endpoints = ','.join(f'{network.address}:{port}' for port in ports)
    if plan.state in faults.IN_NODES:
      # Any node may host the coordinator. So every node listens on this port,
      # and the job's endpoints are the addresses of its nodes with this port.
      self._port = free_port.free_port()
      self._endpoints = ','.join(
          f'{host.address}:{self._port}' for host in self._hosts[:plan.nodes])
    self._disk = None
    if (plan.state in (faults.FOLDER, faults.HOSTED_FOLDER) and
        faults.USE_UP in plan.acts):
      self._disk = Disk(folder + '/state')
    self._worker_killed = -math.inf  # time of the last kill of a worker
    state, self._etcds = self._state()
    self._daemons = [
        self._program(f'daemon{i}', [
            _DAEMON, f'--listen={network.address}:{port}',
            f'--event-log={folder}/events.jsonl', *state])
        for i, port in enumerate(ports)]
    self._nodes = [
        self._program(f'node{i}', self._launch(i)) for i in range(plan.nodes)]
    self._programs = self._etcds + self._daemons + self._nodes

  def _state(self):
    """Returns the daemons' options for their kind of state, and the list of the
    etcd programs that it needs."""
    if self._plan.state in (faults.NONE, *faults.IN_NODES):
      return [], []
    if self._plan.state == faults.FOLDER:
      return [f'--state-dir={self._folder}/state'], []
    client = f'127.0.0.1:{free_port.free_port()}'
    etcd = self._program('etcd', [
        'etcd', f'--data-dir={self._folder}/etcd',
        f'--listen-client-urls=http://{client}',
        f'--advertise-client-urls=http://{client}',
        '--listen-peer-urls=http://127.0.0.1:0'])
    return [f'--state=etcd://{client}'], [etcd]

  def _program(self, name, argv):
    return Program(name, argv, self._folder, self._name, self._processes)

  def _launch(self, node):
    plan = self._plan
    endpoint, is_host = self._endpoints, 0
    if plan.state in faults.IN_NODES:
      endpoint, is_host = self._endpoints.partition(',')[0], int(node == 0)
    host = self._hosts[node]
    state = ([f'--state-dir={self._folder}/state']
             if plan.state == faults.HOSTED_FOLDER else [])
    return [
        *host.inside(), _LAUNCH, '--rdzv-backend=c10d', f'--rdzv-endpoint={endpoint}',
        f'--rdzv-conf=is_host={is_host}', f'--rdzv-id={self._name}',
        f'--local-addr={host.address}', f'--node-id=node{node}', *state,
        f'--nnodes={plan.nodes}', f'--nproc-per-node={plan.workers}',
        f'--max-restarts={0 if plan.fails else 100000}',
        f'--log-dir={self._folder}/logs',
        '--redirects=1', _GPT, 'train',
        f'--data={os.path.dirname(self._folder)}/text',
        f'--checkpoint-dir={self._folder}/checkpoints',
        f'--log={self._steps_log}', '--log-every=1',
        f'--checkpoint-every={_CHECKPOINT_EVERY}', f'--steps={_STEPS}',
        '--micro-batches=12', '--batch=2', '--context=16', '--layers=1',
        '--heads=2', '--width=32', '--validate-every=0', '--peak=1',
        '--learning-rate=1e-2', '--warmup=10']

  # -- methods that run the job

  def run(self, until_step=0):
    """Runs until the faults are over and `until_step` is logged, then stops.

    Args:
      until_step: minimum number of the last step.
    """
    try:
      for program in self._programs:
        self._start(program)
      self._await('its first step', self._steady, _LONG_S)
      start_s = time.monotonic() - self._began
      self._patience_s = max(_PATIENCE_S, _PATIENCE_IN_STARTS * start_s)
      self._silence_s = max(_SILENCE_S, _SILENCE_IN_STARTS * start_s)
      for group in self._plan.schedule():
        self._act(group)
      self._await(f'step {until_step}',
                  lambda: self._steps and self._steps[-1] >= until_step and
                  self._steady(), _LONG_S * 5)
      self._end()
      self._await('the end of each launch', lambda: not any(
          node.running for node in self._nodes), _LONG_S)
    finally:
      self._clean_up()
      self._agenda.close()

  def _end(self):
    """Ends the job by the end of a worker. Sets the verdict of the job."""
    rank, number, pid, node, local = self._processes.workers()[0]
    self.verdict = checker.Verdict(
        'SUCCEEDED', 0, rounds=number, restarts=self._used,
        interruptions=sum(
            one['count'] for one in self._time['interruptions'].values()))
    if self._plan.fails:
      self._say(f'kill rank {rank}, which ends the job')
      self.verdict = dataclasses.replace(
          self.verdict, outcome='FAILED', exit_code=128 + signal.SIGKILL,
          interruptions=self.verdict.interruptions + 1, culprit=(rank, pid))
      self.groups.append(checker.Group(
          [faults.Fault(faults.KILL, faults.WORKER, worker=local,
                        node=int(node.removeprefix('node')))],
          time.time(), killed_ranks=[rank], ends_job=True,
          waits={'the end of the job': self._patience_s}))
      for node in self._nodes:
        node.explained = True
      # Stop the other workers until the coordinator knows the failure, so that
      # none of them fails first because its connection to this one breaks.
      others = [other for _, _, other, *_ in self._processes.workers()
                if other != pid]
      for other in others:
        _send(other, signal.SIGSTOP)
      _send(pid, signal.SIGKILL)
      self._await('the failure in the event log', lambda: any(
          event['kind'] == 'failure' for event in self.events()), _LONG_S)
      for other in others:
        _send(other, signal.SIGCONT)
    else:
      self._say('stop the training')
      _send(pid, signal.SIGTERM)

  def _start(self, program):
    program.start()
    self._agenda.wake_at_end(program.process.pid)

  def _act(self, planned):
    if self._plan.state in faults.IN_NODES:
      planned = self._at_host(planned)
    group = checker.Group(planned, time.time(), before=self._by_rank(),
                          used_before=self._used)
    self.groups.append(group)
    self._steps = self._steps[-1:]
    last = self._grown = time.monotonic()
    group.waits = self._waits(planned)
    for fault in planned:
      if fault is not planned[0]:
        last += fault.gap_s
      self._agenda.at(last, lambda fault=fault: self._do(fault))
    # `enough` is empty while a fault has not ended or a process is missing.
    # Otherwise it has one element: the length that `_steps`, the steps logged
    # since the faults, must reach before the job counts as recovered.
    enough = []

    def recovered():
      if self._agenda or not self._all_up():
        enough.clear()
        return False
      if not enough:
        enough.append(len(self._steps) + _RECOVERED_STEPS)
      return (len(self._steps) >= enough[0] and self._steady() and
              self._coordinator_knows())

    self._await(f'recovery after {group}', recovered, _LONG_S + group.bound_s)
    group.recovered = True
    group.after = self._by_rank()
    group.used_after = self._used
    last = max(number for number, _ in group.before.values())
    group.told = [(one['cause'], one['reason'])
                  for one in self._time['newest_interruptions']
                  if one['round'] >= last]
    group.steps = self._steps[:]

  def _waits(self, planned):
    """Returns how long each cause may stop the job's progress during a group of
    faults, in seconds, by its name."""
    waits = {'the reaction': self._silence_s}
    # A stopped daemon or a full disk stops no worker.
    if not any(fault.pauses_workers for fault in planned):
      return waits
    begin_s, failures = 0.0, self._used
    waits['the faults'] = waits['the delays of new rounds'] = 0.0
    for fault in planned:
      begin_s += fault.gap_s if fault is not planned[0] else 0
      waits['the faults'] = max(waits['the faults'],
                                begin_s + fault.harms_for_s)
      failures += fault.rounds
      if fault.rounds:
        waits['the delays of new rounds'] += faults.backoff_s(failures)
    lost = [fault for fault in planned
            if fault.rounds and fault.target != faults.WORKER]
    if (any(fault.at_host for fault in lost) and
        len({fault.node for fault in lost}) > 1):
      # If the coordinator's node is lost together with another one, the next
      # coordinator may have to wait until the other one's lease has expired.
      waits['a lease'] = _LEASE_S
    return waits

  def _await(self, what, event, limit_s):
    deadline = time.monotonic() + limit_s
    while not event():
      if time.monotonic() > deadline:
        raise Failed(f'{what} did not come within {limit_s:.0f} s; the silence '
                     f'is {time.monotonic() - self._grown:.1f} s')
      self._agenda.wait(deadline)
      self._look()

  def _look(self):
    """Calls the functions that are due, reads the log, and checks that all
    programs run."""
    self._agenda.do_due()
    self._read_log()
    for program in self._programs:
      if program.process is None or program.running:
        continue
      code = program.process.returncode
      if program in self._nodes and code == 0 and not self._agenda:
        continue
      if not program.explained:
        raise Failed(f'{program.name} ended with {code} although no fault '
                     f'acted on it:\n{program.tail()}')

  def _read_log(self):
    now = time.monotonic()
    with contextlib.suppress(FileNotFoundError):
      with open(self._steps_log, 'rb') as log:
        log.seek(self._read)
        new = log.read()
      new = new[:new.rfind(b'\n') + 1]
      if new:
        self._read += len(new)
        lines = new.decode().splitlines()
        self.lines += lines
        self._steps += [step for step, _ in checker.losses_of(lines)]
        self._hear(now)
        self._grown = now
        return
    self._hear(now)

  def _hear(self, now):
    if self.groups and not self.groups[-1].recovered:
      group = self.groups[-1]
      group.silence_s = max(group.silence_s, now - self._grown)

  def _all_up(self):
    return all(program.running for program in self._programs)

  def _steady(self):
    """Whether all workers run in the same round, and steps were logged."""
    if len(self._steps) < 2:
      return False
    workers = self._processes.workers()
    return (len({rank for rank, *_ in workers}) == len(workers) ==
            self._plan.nodes * self._plan.workers and
            len({number for _, number, *_ in workers}) == 1)

  def _coordinator_knows(self):
    """Whether the coordinator has all nodes, in the round in which the workers
    run.

    Each node must have reported since the last cut: otherwise even a short
    second cut could last longer than its lease. The journal must have the newest
    state: otherwise a daemon that is killed loses records, which is documented.
    """
    status = self._status()
    if status is None:
      return False
    rounds = {number for number, _ in self._by_rank().values()}
    self._used = status['restarts_used']
    self._time = status['time']
    return ('not_durable' not in status and
            len(status['nodes']) == self._plan.nodes and
            {status['round']} == rounds and status['phase'] == 'running' and
            all(node['connected'] and node['phase'] == 'running' and
                {node['round']} == rounds and
                node['silent_seconds'] < time.monotonic() - self._healed
                for node in status['nodes']))

  def _status(self):
    """Returns what `launch status` says about the job; None: nothing."""
    with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
      return json.loads(subprocess.run(
          [_LAUNCH, 'status', '--json', f'--run-id={self._name}',
           f'--endpoint={self._endpoints}'], stdin=subprocess.DEVNULL,
          capture_output=True, timeout=_LONG_S, check=False).stdout)
    return None

  def _by_rank(self):
    return {rank: (number, pid)
            for rank, number, pid, *_ in self._processes.workers()}

  def _at_host(self, planned):
    """Returns the faults in which those on the coordinating node (at_host) name
    the node that coordinates now."""
    host = self._coordinator()
    return [
        dataclasses.replace(
            fault, node=host if fault.at_host else fault.node,
            at_host=fault.at_host or fault.node == host) for fault in planned]

  def _note_host(self, fault):
    """Marks a fault of the node that coordinates now, after an earlier fault of
    its group. Returns the fault."""
    if (self._plan.state not in faults.IN_NODES or fault.at_host or
        fault.target not in faults.PARTS_OF_NODE or
        fault.node != self._coordinator()):
      return fault
    group = self.groups[-1]
    noted = dataclasses.replace(fault, at_host=True)
    group.faults[group.faults.index(fault)] = noted
    group.waits = self._waits(group.faults)
    return noted

  def _coordinator(self):
    """Returns the index of the node that coordinates the job."""
    return max(range(self._plan.nodes), key=self._clients)

  def _clients(self, node):
    """Returns the number of connections to the coordinator's port of this node;
    -1: its launch does not run.

    A standby has none, or one from an Announcer.
    """
    address = socket.inet_aton(self._hosts[node].address)[::-1].hex().upper()
    with contextlib.suppress(OSError), open(
        f'/proc/{self._nodes[node].process.pid}/net/tcp',
        encoding='ascii') as table:
      # The fields of a line of /proc/PID/net/tcp are: number, local address,
      # remote address, state (01: established), …
      return sum(words[1] == f'{address}:{self._port:04X}' and words[3] == '01'
                 for words in map(str.split, table))
    return -1

  # -- methods that perform the faults

  def _do(self, fault):
    if fault.target == faults.DISK:
      self._use_up(fault)
      return
    fault = self._note_host(fault)
    if fault.target in (faults.DAEMON, faults.JOURNAL):
      target = self._daemons[fault.node % len(self._daemons)]
    elif fault.target == faults.ETCD:
      target = self._etcds[0]
    else:
      target = self._nodes[fault.node]
    if not target.running:
      self._say(f'{fault}: it does not run')
      return
    pid = target.process.pid
    if fault.target == faults.WORKER:
      rank, pid = next(
          ((rank, pid) for rank, _, pid, node, local in
           self._processes.workers()
           if (node, local) == (target.name, fault.worker)), (None, None))
    elif fault.target == faults.GUARDIAN:
      pid = next((child for child, parent, *_ in self._processes.all()
                  if parent == target.process.pid), None)
    if pid is None:
      self._say(f'{fault}: it does not run')
      return
    self._say(f'{fault} (pid {pid})')
    if fault.act == faults.CUT:
      self._cut(fault)
    elif fault.act == faults.STOP:
      self._stop(fault, target, pid)
    elif fault.act == faults.FILL:
      self._limit(pid, _FULL_BYTES)
      self._later(fault.lasts_s, lambda: self._limit(pid, None))
    elif fault.target == faults.WORKER:
      self.groups[-1].killed_ranks.append(rank)
      self._worker_killed = time.monotonic()
      _send(pid, signal.SIGKILL)
    else:
      self._kill(fault, target, pid)

  def _use_up(self, fault):
    self._say(str(fault))
    self._disk.use_up()
    began = time.monotonic()

    def free():
      not_durable = (self._status() or {}).get('not_durable')
      # The end of a round is recorded. In the first group of faults the
      # journal's log has not been written again from its start, so that each
      # record needs more space.
      if (len(self.groups) == 1 and
          began <= self._worker_killed < time.monotonic() - _NOTICE_FULL_S):
        self.groups[-1].notices_full = not_durable is not None
      self._disk.free()
      self._say('the disk has room again; the status said: ' + (
          not_durable['reason'] if not_durable else 'all is durable'))

    self._later(fault.lasts_s, free)

  def _cut(self, fault):
    self._hosts[fault.node].cut()
    self._cuts[fault.node] += 1

    def heal():
      self._cuts[fault.node] -= 1
      if self._cuts[fault.node] == 0:
        self._hosts[fault.node].heal()
        self._healed = time.monotonic()
        self._say(f'node{fault.node} is healed')

    self._later(fault.lasts_s, heal)

  def _stop(self, fault, target, pid):
    pids = self._of_node(target) if fault.target == faults.NODE else [pid]
    for one in (pid, *pids):
      _send(one, signal.SIGSTOP)
    if fault.outlives_guardian_watch:
      target.explained = True
    mark = target.mark

    def go_on():
      is_left = set(self._processes.left(mark))
      for one in pids:
        _send(one, signal.SIGCONT)
      if fault.outlives_guardian_watch and pid not in is_left:
        self._restart(fault, target, mark)

    self._later(fault.lasts_s, go_on)

  def _of_node(self, target):
    return sorted(pid for pid, _, mark, _ in self._processes.all()
                  if mark == target.mark)

  def _kill(self, fault, target, pid):
    target.explained = True
    pids = [pid]
    if fault.target == faults.NODE:
      pids = self._of_node(target)
      # When a machine fails, all its processes stop at the same moment. To
      # imitate this, stop all processes, the agent first, before the first one
      # is killed. So no process can react to the death of another one.
      for one in (pid, *pids):
        _send(one, signal.SIGSTOP)
      random.Random(fault.order).shuffle(pids)
    for one in pids:
      _send(one, signal.SIGKILL)
    mark = target.mark
    self._later(fault.lasts_s, lambda: self._restart(fault, target, mark))

  def _restart(self, fault, target, mark):
    """Starts `target` again once all its processes of this mark have ended."""
    deadline = time.monotonic() + self._patience_s

    def start_again():
      if target.mark != mark:
        return
      # Do not kill the processes that are left: they must end by themselves. An
      # agent ends if its guardian (the workers' parent process) has died. A
      # guardian ends the workers if the agent has died.
      left = self._processes.left(mark)
      if target.running:
        left[target.process.pid] = mark
      if left:
        if time.monotonic() < deadline:
          self._agenda.at_end(min(left), deadline, start_again)
          return
        raise Failed(f'{self._patience_s:.0f} s after "{fault}" processes are '
                     f'left: {_words(left)}')
      self._start(target)
      self._say(f'{target.name} is started again')

    start_again()

  def _limit(self, pid, size):
    """Limits the size of the files that a process writes; keeps the hard limit.
    """
    with contextlib.suppress(ProcessLookupError):
      _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
      resource.prlimit(pid, resource.RLIMIT_FSIZE,
                       (hard if size is None else size, hard))

  def _later(self, seconds, function):
    self._agenda.at(time.monotonic() + seconds, function)

  def _say(self, text):
    step = self._steps[-1] if self._steps else 0
    print(f'{time.monotonic() - self._began:7.2f} s  step {step:5}  {text}',
          flush=True)

  # -- methods that are used after the end of the job

  def _clean_up(self):
    """Ends all processes that still run, and records those that should have
    ended before."""
    for host in self._hosts:
      host.heal()
    self.exit_codes = {node.name: node.process and node.process.poll()
                       for node in self._nodes}
    self.printed = {node.name: checker.verdict_in(node.output())
                    for node in self._nodes if node.process}
    deadline = time.monotonic() + _ENDING_S
    while (left := self._processes.left()) and time.monotonic() < deadline:
      kernel_events.wait_for_end(min(left), deadline)
    self.left = _words(left)
    self._read_log()
    for pid, *_ in list(self._processes.all()):
      _send(pid, signal.SIGKILL)
    for program in self._programs:
      if program.process is not None:
        program.process.wait(_LONG_S)
    if self._disk is not None:
      self._disk.close()

  def events(self):
    """Returns the events of all coordinators, with their Unix time."""
    found = []
    for path in (glob.glob(self._folder + '/events.jsonl') +
                 glob.glob(self._folder + '/logs/*/events.jsonl')):
      if os.path.islink(os.path.dirname(path)):
        continue
      with open(path, encoding='utf-8') as file:
        for line in file:
          # Skip a line that is incomplete because its writer was killed.
          with contextlib.suppress(ValueError):
            event = json.loads(line)
            event['unix'] = datetime.datetime.fromisoformat(
                event['time'].replace('Z', '+00:00')).timestamp()
            found.append(event)
    return sorted(found, key=lambda event: event['unix'])


def _write_text(folder):
  with open(folder + '/text', 'w', encoding='ascii') as text:
    for i in range(4000):
      text.write(str(i * i % 97) + (' ' if i % 9 else '\n'))


def run(jobs, folder, network):
  """Runs the jobs with their faults, and then an undisturbed job of each size.

  Args:
    jobs: the plan of each job. folder: an empty folder for all of them.
    network: the network of their nodes.

  Returns:
    (plan, complaints) of each job.
  """
  _write_text(folder)
  stories = []
  for plan in jobs:
    print(f'== {plan}', flush=True)
    stories.append((plan, *_disturbed(plan, f'{folder}/{plan.name}',
                                       network)))
  results = []
  expected = {}
  for size in sorted({plan.size for plan in jobs}):
    last = max((step for plan, story, _ in stories if plan.size == size
                for step, _ in story.losses), default=1)
    plan = dataclasses.replace(next(plan for plan in jobs if plan.size == size),
                               faults=0, fails=False)
    print(f'== undisturbed, {size[0]} nodes, {last} steps', flush=True)
    job = Job(f'{folder}/undisturbed-{size[0]}', plan, network)
    job.run(until_step=last)
    expected[size] = dict(checker.losses_of(job.lines))
  for plan, story, failed in stories:
    story.expected = expected[plan.size]
    results.append((plan, failed + list(checker.complaints(story))))
    if results[-1][1]:
      print(f'== {plan}: what the coordinators decided')
      for event in story.events:
        print(f'{event["unix"] - story.began:7.2f} s  round {event["round"]:3}'
              f'  {event["kind"]} {event["node"] or ""}: {event["reason"]}')
  return results


def _disturbed(plan, folder, network):
  """Runs a job with its faults. Returns its story, and a list with the reason
  why the driver gave up (empty: it did not)."""
  job = Job(folder, plan, network)
  failed = []
  try:
    job.run()
  except Failed as why:
    failed.append(str(why))
  longest = max(job.groups, default=None,
                key=lambda group: group.silence_s - group.bound_s)
  rounds = max((number for group in job.groups
                for number, _ in group.after.values()), default=1)
  print(f'   {len(job.groups)} groups of faults, {rounds} rounds, '
        f'{len(job.lines)} lines of steps in {time.time() - job.began:.0f} s; '
        f'the longest silence for its limit is '
        f'{longest.silence_s if longest else 0:.1f} s, of '
        f'{longest.waits if longest else 0}, after {longest}', flush=True)
  return checker.Story(
      began=job.began, groups=job.groups, expected={},
      losses=checker.losses_of(job.lines), exit_codes=job.exit_codes,
      printed=job.printed, verdict=job.verdict, left=job.left,
      events=list(job.events())), failed


def plans_of(options, acts):
  """Returns the plans of the jobs that the command line asks for."""
  plans = []
  for seed in range(options.seed, options.seed + options.jobs):
    nodes = options.nodes or random.Random(f'size {seed}').randint(2, 4)
    state = options.state or faults.STATES[seed % len(faults.STATES)]
    if state in faults.IN_NODES:
      nodes = max(nodes, _LEAST_HOSTED)
    plans.append(Plan(
        seed=seed, faults=options.faults, nodes=nodes, state=state,
        longest_stop_s=options.longest_stop, acts=acts))
  return plans


def _read_options():
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument('--seed', type=int, default=1,
                      help='of the schedule; of the first job')
  parser.add_argument('--faults', type=int, default=8, help='in each job')
  parser.add_argument('--nodes', type=int, default=0, choices=range(_MOST_NODES + 1),
                      help='0: 2 to 4, drawn from the seed')
  parser.add_argument('--jobs', type=int, default=1,
                      help='one after the other; each adds 1 to the seed')
  parser.add_argument('--longest-stop', type=float, default=3.0,
                      help='limit of a stop and of a cut, in seconds')
  parser.add_argument('--state', choices=faults.STATES,
                      help='of the coordinator; without it the seed decides')
  return parser.parse_args()


def enter_network():
  """Enters a new network namespace and a new mount namespace, if possible.

  Returns:
    (the network, the acts that are possible, the reason why not all are).
  """
  why_not = hosts.enter_namespaces(['nsenter'])
  if why_not is None:
    return Network(can_cut=True), faults.ACTS, None
  acts = tuple(act for act in faults.ACTS
               if act not in (faults.CUT, faults.USE_UP))
  return Network(can_cut=False), acts, why_not


def main():
  options = _read_options()
  network, acts, why_not = enter_network()
  if why_not:
    print(f'No network can be cut, and no disk is used up: {why_not}')
  plans = plans_of(options, acts)
  folder = tempfile.mkdtemp(prefix='muster_chaos_')
  results = run(plans, folder, network)
  for plan, complaints in results:
    for complaint in complaints:
      print(f'FAILED: {plan}: {complaint}')
    if complaints:
      print(f'To repeat it: {plan.command()}')
  failed = sum(bool(complaints) for _, complaints in results)
  print(f'{len(results) - failed} jobs passed, {failed} failed')
  if failed:
    print(f'Logs: {folder}')
  else:
    shutil.rmtree(folder)
  return int(failed > 0)


if __name__ == '__main__':
  sys.exit(main())
