#!/usr/bin/python3
"""Runs a short job of two or three nodes for each seed, with one fault or none,
and checks what Muster tells about the fault: the time ledgers, the cause and
the cost of each interruption, the slow rank, the quarantined machine.

  bazel run //tests/chaos:sweep -- --seed 1 --seeds 40

The nodes are network namespaces with host names of their own, so the program
must run as root.
"""

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Optional, Tuple

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import chaos
import free_port
import hosts
import until

_LAUNCH = os.path.realpath('launcher/launch')
_DAEMON = os.path.realpath('rendezvous/daemon/rendezvousd')
_WORKER = os.path.realpath('tests/integration/stragglers/slow_worker')

# The faults. STARVED: a worker is killed, and its agent gets no processor for
# some time, as on a node without free memory. MACHINE: one node fails three
# times, and a spare node replaces it.
(NONE, WORKER, STARVED, AGENT, PAUSE, HANG, PROCESSOR, DATA, LINK,
 MACHINE) = FAULTS = (
     'none', 'killed-worker', 'killed-worker-starved-agent', 'killed-agent',
     'paused-worker', 'hung-worker', 'slow-processor', 'slow-data', 'slow-link',
     'faulty-machine')
# Phase of the step in which each of these faults makes a rank slow.
_PHASES = {PROCESSOR: 'compute', DATA: 'data', LINK: 'network'}
# For each fault: the cause of the interruption that the fault brings about, and
# words that the reason of the interruption must contain.
_CAUSES = {WORKER: ('worker', 'killed by SIGKILL'),
           STARVED: ('worker', 'killed by SIGKILL'),
           AGENT: ('node', 'was lost'), HANG: ('hang', 'stopped'),
           signal.SIGBUS: ('worker', 'SIGBUS')}

# Signal that each of these faults sends to a worker.
_SIGNALS = {WORKER: signal.SIGKILL, STARVED: signal.SIGKILL,
            PAUSE: signal.SIGSTOP, HANG: signal.SIGSTOP}

# Seconds between the reports of a node.
_REPORT_S = 1
# Upper bound of the time in seconds from the begin of a fault until the
# coordinator names the slow rank: 20 windows. The fault begins within the first
# window. Of the next 19 windows (StragglerWatch::kWindows), the rank must be
# slow in 18. A window is up to 1.5 report intervals long, because nodes report
# at different times.
NAMED_WITHIN_S = 20 * 1.5 * _REPORT_S
# Time in seconds for which a job without a fault is watched. In this time any
# slow rank would be named.
_WATCHED_S = 24 * _REPORT_S
_HANG_S = 3
_STARVED_S = 1.5
# Seconds to wait after a recovery, before the test causes the next fault or
# reads the job's status. In this time every node reports at least once.
_STEADY_S = 2 * _REPORT_S
# Number of float32 elements that each step reduces if the fault is LINK: 3 MB,
# so that the slow link delays the step.
_MANY_ELEMENTS = 3 << 18
_SLOW_LINK = '200mbit'
# Time limit in seconds of each wait for an event. It is long, because the
# machine may be busy.
_LONG_S = 120.0
# Permitted error of a sum of times: a fraction of the sum, plus seconds for
# messages that have not arrived yet.
_ERROR, _ERROR_S = 0.01, 0.1


@dataclasses.dataclass(frozen=True)
class Plan:
  """A job, and the fault that acts on it."""
  seed: int
  fault: str
  nodes: int
  workers: int  # number of workers on each node
  node: int  # the index of the node on which the fault acts
  local_rank: int
  after_s: float  # seconds of training before the fault
  lasts_s: float  # duration of the fault PAUSE, in seconds
  quota: float  # for PROCESSOR: the part of a core that the rank keeps
  failures: Tuple[str, ...] = ()  # for MACHINE: its failures, AGENT or SIGBUS

  @property
  def host(self):
    return f'node{self.node}'

  def __str__(self):
    words = [f'seed {self.seed}: {self.fault}']
    if self.fault != NONE:
      words.append(f'on {self.host}, local rank {self.local_rank}, after '
                   f'{self.after_s:.1f} s')
    if self.fault == PAUSE:
      words.append(f'for {self.lasts_s:.1f} s')
    if self.fault == PROCESSOR:
      words.append(f'keeps {self.quota:.0%} of a core')
    if self.failures:
      words.append(' then '.join(str(one) for one in self.failures))
    return ', '.join(words) + f'; {self.nodes} nodes with {self.workers}'


def plan_of(seed, fault=None):
  """Returns the plan of a seed. `fault`: takes the place of the drawn fault."""
  rng = random.Random(f'sweep {seed}')
  drawn = rng.choice(FAULTS)
  fault = fault or drawn
  nodes = rng.choice((2, 3))
  if fault == LINK:
    nodes = 3
  elif fault == MACHINE:
    nodes = 2
  workers = 2 if nodes == 2 else 1
  return Plan(
      seed=seed, fault=fault, nodes=nodes, workers=workers,
      node=rng.randrange(nodes),
      local_rank=0 if fault == LINK else rng.randrange(workers),
      after_s=rng.uniform(2 * _REPORT_S, 4), lasts_s=rng.uniform(1.5, 4),
      quota=rng.uniform(0.04, 0.08),
      failures=tuple(rng.choice((AGENT, signal.SIGBUS)) for _ in range(3))
      if fault == MACHINE else ())


@dataclasses.dataclass
class Status:
  """The output of `launch status --json`, with its time (Unix time)."""
  asked: float
  answered: float
  job: dict

  def spent(self, activities, nodes):
    """Returns the seconds that these nodes have spent on the activities."""
    return sum(node['seconds'][activity] for node in self.job['nodes']
               if node['node_id'] in nodes for activity in activities)


@dataclasses.dataclass
class Agent:
  """One start of a node's agent. All times are Unix times."""
  node: str
  started: float
  killed: Optional[float] = None


@dataclasses.dataclass
class Story:
  """A job from its start to its end."""
  plan: Plan
  agents: List[Agent] = dataclasses.field(default_factory=list)
  # rank of the worker on which the fault acts; for LINK, which slows down the
  # network of a node: rank of this node's only worker
  rank: Optional[int] = None
  began: float = 0.0  # Unix time of the fault
  recovered: float = 0.0  # Unix time at which the job had made new steps
  before: Optional[Status] = None  # the status before the fault
  after: Optional[Status] = None  # the status after the recovery
  end: Optional[dict] = None  # the status after the end of the job
  events: List[dict] = dataclasses.field(default_factory=list)
  machines: Dict[str, str] = dataclasses.field(default_factory=dict)
  exit_codes: Dict[str, Optional[int]] = dataclasses.field(default_factory=dict)
  outputs: Dict[str, str] = dataclasses.field(default_factory=dict)
  limit: str = ''  # for PROCESSOR: how the processor time was limited

  def joined(self, agent):
    """Returns the time at which the coordinator first heard of the agent."""
    return min(event['unix'] for event in self.events
               if event['kind'] == 'join' and event['node'] == agent.node and
               event['unix'] > agent.started)

  def named(self):
    """Returns the events that name a slow rank, with the rank."""
    return [(int(re.search(r'rank (\d+) \(', event['reason']).group(1)), event)
            for event in self.events if event['kind'] == 'straggler']


def complaints(story):
  """Yields a sentence for each thing that Muster told wrongly."""
  yield from _ends(story)
  yield from _ledgers(story)
  yield from _interruptions(story)
  yield from _stall(story)
  yield from _slow_ranks(story)
  yield from _machines(story)


def _ends(story):
  for node, code in sorted(story.exit_codes.items()):
    if code != 0:
      yield f'the launch of {node} ended with {code}'
  verdict = story.end['verdict']
  if verdict['outcome'] != 'succeeded':
    yield f'the verdict is {verdict["outcome"]}: {verdict["reason"]}'


def _expected(story):
  """Returns (cause, host, words) of each interruption."""
  faults = story.plan.failures or (story.plan.fault,)
  if story.plan.fault == MACHINE:
    faults += (WORKER,)  # makes the spare take the machine's place
  return [(_CAUSES[fault][0], story.plan.host, _CAUSES[fault][1])
          for fault in faults if fault in _CAUSES]


def _ledgers(story):
  for status in filter(None, (story.before, story.after)):
    job = status.job
    for node in job['nodes']:
      if not node['connected']:
        continue
      total = sum(node['seconds'].values())
      agent = [agent for agent in story.agents
               if agent.node == node['node_id'] and
               agent.started < status.asked][-1]
      least = status.asked - node['silent_seconds'] - story.joined(agent)
      most = status.answered - node['silent_seconds'] - agent.started
      if (total < least * (1 - _ERROR) - _ERROR_S or
          total > most * (1 + _ERROR) + _ERROR_S):
        yield (f'the activities of {node["node_id"]} add up to {total:.2f} s; '
               f'it has run for {least:.2f} to {most:.2f} s')
    total = sum(job['time']['node_seconds'].values())
    least = most = sum(
        sum(node['seconds'].values()) for node in job['nodes'])
    for agent in story.agents:
      if agent.killed and agent.killed < status.asked:
        most += agent.killed - agent.started
        least += max(0, agent.killed - story.joined(agent) - 2 * _REPORT_S)
    if (total < least * (1 - _ERROR) - _ERROR_S or
        total > most * (1 + _ERROR) + _ERROR_S):
      yield (f'the activities of the job add up to {total:.2f} s; those of its '
             f'nodes to {least:.2f} to {most:.2f} s')


def _interruptions(story):
  expected = _expected(story)
  verdict = story.end['verdict']
  found = verdict['time']['newest_interruptions']
  if ([(one['cause'], one['host']) for one in found] !=
      [(cause, host) for cause, host, _ in expected]):
    yield f'the interruptions are {found}, not {expected}'
    return
  for one, (cause, _, words) in zip(found, expected):
    if words not in one['reason']:
      yield f'the reason is "{one["reason"]}", not {words}'
    if cause != 'node' and story.plan.fault != MACHINE and (
        f'rank {story.rank} ' not in one['reason']):
      yield f'the reason is "{one["reason"]}", not rank {story.rank}'
  failed = sum(cause != 'node' for cause, *_ in expected)
  if verdict['restarts_used'] != failed:
    yield f'{verdict["restarts_used"]} restarts were used, not {failed}'
  if verdict['rounds'] != len(expected) + 1:
    yield f'{verdict["rounds"]} rounds for {len(expected)} interruptions'
  for node, output in sorted(story.outputs.items()):
    # The verdict has a line "… % productive …" only if the job had an
    # interruption.
    line = ''.join(re.findall(r'.* % productive.*', output)[-1:])
    lost = re.findall(r'(worker|node|hang) (?:on )?(\w+) [\d.]+(?:ms|s)', line)
    if set(lost) != {(cause, host) for cause, host, _ in expected}:
      yield f'the verdict of {node} says "{line}", not {expected}'
  if len(found) == 1:
    yield from _cost(story, found[0])


def _cost(story, interruption):
  """Yields a sentence if the cost of the only interruption is wrong."""
  took = story.recovered - story.began
  if interruption['lost_seconds'] > took + _ERROR_S:
    yield (f'{interruption["lost_seconds"]:.2f} s are lost; the job had new '
           f'steps after {took:.2f} s')
  # Sum up the times of only those nodes whose agent was not killed. A restarted
  # agent has lost the times from before its restart.
  kept = {f'node{i}' for i in range(story.plan.nodes)} - {
      agent.node for agent in story.agents if agent.killed}
  spent, stalled = (
      story.after.spent(activities, kept) - story.before.spent(activities, kept)
      for activities in (('starting', 'initialising', 'recomputing', 'stopping',
                          'recovering'), ('stalled',)))
  # The lost time of the interruption includes all of `spent`, the time of
  # activities such as starting and recovering. It includes `stalled`, the time
  # of stalls, only if the stall lasts until the interruption. So add `stalled`
  # only to the upper limit.
  if not (spent * (1 - _ERROR) - _ERROR_S <= interruption['lost_node_seconds']
          <= (spent + stalled) * (1 + _ERROR) + _ERROR_S):
    yield (f'{interruption["lost_node_seconds"]:.2f} s of nodes are lost; the '
           f'ledgers have {spent:.2f} s, and {stalled:.2f} s of stalls')
  if story.plan.fault == HANG and interruption['lost_seconds'] < _HANG_S:
    yield (f'{interruption["lost_seconds"]:.2f} s are lost; the worker hung '
           f'for {_HANG_S} s')


def _stall(story):
  plan = story.plan
  if plan.fault != PAUSE:
    return
  for i in range(plan.nodes):
    node = {f'node{i}'}
    stalled = (story.after.spent(['stalled'], node) -
               story.before.spent(['stalled'], node))
    if not plan.lasts_s * 0.9 - _ERROR_S <= stalled <= plan.lasts_s + 1:
      yield (f'node{i} has stalled for {stalled:.2f} s; a worker was stopped '
             f'for {plan.lasts_s:.2f} s')


def _slow_ranks(story):
  plan = story.plan
  phase = _PHASES.get(plan.fault)
  named = story.named()
  for rank, event in named:
    if phase is None or rank != story.rank or event['node'] != plan.host:
      yield f'rank {rank} is named: {event["reason"]}'
  slow = [(one['rank'], one['host'], one['local_rank'], one['phase'])
          for one in story.after.job['slow_ranks'] if one['persistent']]
  expected = [(story.rank, plan.host, plan.local_rank, phase)] if phase else []
  if slow != expected:
    yield f'the slow ranks are {slow}, not {expected}'
  if phase and not named:
    yield 'the slow rank is not named by an event'
  elif phase and named[0][1]['unix'] > story.began + NAMED_WITHIN_S:
    yield (f'the slow rank was named after '
           f'{named[0][1]["unix"] - story.began:.1f} s, not '
           f'{NAMED_WITHIN_S} s')


def _machines(story):
  plan = story.plan
  suspects = {event['node'] for event in story.events
              if event['kind'] in ('suspect', 'quarantine')}
  expected = {plan.host} if plan.fault in (AGENT, MACHINE) else set()
  if suspects != expected:
    yield f'suspected are {suspects}, not {expected}'
  quarantined = {host for host, state in story.machines.items()
                 if state == 'quarantined'}
  if quarantined != ({plan.host} if plan.fault == MACHINE else set()):
    yield f'quarantined are {quarantined}: {story.machines}'
  if plan.fault == MACHINE:
    left_out = {node['node_id'] for node in story.after.job['nodes']
                if node['group_rank'] is None}
    if left_out != {plan.host}:
      yield f'the last round has left out {left_out}'


class Quota:
  """Limits a process to a part of one core, by the quota of a cgroup."""

  def __init__(self, pid, part):
    self._pid = pid
    self._group = None
    micros = 100_000
    for folder, files in (
        ('/sys/fs/cgroup', {'cpu.max': f'{int(part * micros)} {micros}'}),
        ('/sys/fs/cgroup/cpu', {'cpu.cfs_period_us': f'{micros}',
                                'cpu.cfs_quota_us': f'{int(part * micros)}'})):
      if self._join(f'{folder}/muster-sweep-{pid}', files):
        self.kind = list(files)[-1]
        return
    raise chaos.Failed('no cgroup with a quota of processor time can be made')

  def _join(self, group, files):
    try:
      os.mkdir(group)
    except OSError:
      return False
    try:
      for name, text in {**files, 'cgroup.procs': str(self._pid)}.items():
        # Open without O_CREAT: the kernel has created the control files of the
        # new cgroup.
        fd = os.open(f'{group}/{name}', os.O_WRONLY)
        try:
          os.write(fd, text.encode())
        finally:
          os.close(fd)
    except OSError:
      os.rmdir(group)
      return False
    self._group = group
    return True

  def close(self):
    """Removes the cgroup. Its process must have ended."""
    with contextlib.suppress(OSError):
      os.rmdir(self._group)


def why_no_quota():
  """Returns why the processor time of a process cannot be limited; '': it
  can."""
  with subprocess.Popen(['cat'], stdin=subprocess.PIPE) as process:
    quota = None
    try:
      quota = Quota(process.pid, 0.5)
    except chaos.Failed as why:
      return str(why)
    finally:
      process.stdin.close()
      process.wait(_LONG_S)
      if quota:
        quota.close()
  return ''


class Job:
  """Runs one plan. `story` has what was seen."""

  def __init__(self, plan, folder, network):
    self.story = Story(plan)
    self._plan = plan
    self._folder = folder
    self._hosts = network.hosts
    self._name = f'sweep-{os.getpid()}-{plan.seed}'
    self._processes = chaos.Processes(self._name)
    self._endpoint = f'{network.address}:{free_port.free_port()}'
    self._quota = None
    os.makedirs(folder)
    self._daemon = self._program('daemon', [
        _DAEMON, f'--listen={self._endpoint}',
        f'--event-log={folder}/events.jsonl'])
    spares = int(plan.fault == MACHINE)
    self._nodes = [self._program(f'node{i}', self._launch(i))
                   for i in range(plan.nodes + spares)]

  def _program(self, name, argv):
    return chaos.Program(name, argv, self._folder, self._name, self._processes)

  def _launch(self, i):
    plan = self._plan
    elements = _MANY_ELEMENTS if plan.fault == LINK else 1
    hang = [f'--hang-timeout={_HANG_S}'] if plan.fault == HANG else []
    return [
        *self._hosts[i].inside(), 'unshare', '--uts', 'sh', '-c',
        'hostname "$0" && exec "$@"', f'node{i}', _LAUNCH,
        f'--nnodes={plan.nodes}', f'--nproc-per-node={plan.workers}',
        f'--rdzv-endpoint={self._endpoint}', f'--rdzv-id={self._name}',
        f'--rdzv-conf=is_host=0,keep_alive_interval={_REPORT_S}',
        f'--node-id=node{i}', f'--local-addr={self._hosts[i].address}',
        '--max-restarts=20', *hang, f'--log-dir={self._folder}/logs',
        '--no-python', _WORKER, f'{self._folder}/order', str(elements),
        f'{self._folder}/checkpoint']

  def run(self):
    try:
      self._order('even')
      self._daemon.start()
      self._until('the daemon listens',
                  lambda: 'listening on' in self._daemon.tail())
      for node in self._nodes[:self._plan.nodes]:
        self._start(node)
      self._await_step(1)
      self._await_time(time.time() + self._plan.after_s)
      self.story.before = self._status()
      self._do()
      self.story.after = self._status()
      self.story.machines = {one['node']: one['state']
                             for one in json.loads(self._ask('nodes'))}
      self._order('end')
      self._until('all nodes end', lambda: not any(
          node.running for node in self._nodes), is_ending=True)
      self.story.end = self._status().job
    finally:
      self._clean_up()

  def _do(self):
    plan, story = self._plan, self.story
    _, story.rank, pid = self._target()
    story.began = time.time()
    if plan.fault == NONE:
      self._await_time(story.began + _WATCHED_S)
    elif plan.fault in _PHASES:
      self._slow_down(pid)
      self._until('a slow rank is named', lambda: self._count('straggler'))
    elif plan.fault == MACHINE:
      for failure in plan.failures:
        self._fail(failure)
      self._until('a quarantine', lambda: self._count('quarantine'))
      self._start(self._nodes[-1])
      self._until('the spare is there', lambda: any(
          node['node_id'] == self._nodes[-1].name
          for node in self._status().job['nodes']))
      self._fail(WORKER)
    else:
      self._fail(plan.fault)

  def _target(self):
    """Returns (round, rank, pid) of the worker on which the fault acts."""
    return next((number, rank, pid) for rank, number, pid, node, local in
                self._processes.workers()
                if (node, local) == (self._plan.host, self._plan.local_rank))

  def _fail(self, fault):
    """Waits until the job has recovered from the fault."""
    plan, story = self._plan, self.story
    node = self._nodes[plan.node]
    breaks = self._count('break')
    pid = self._target()[2]
    story.began = time.time()
    if fault == AGENT:
      node.explained = True
      node.process.kill()
      node.process.wait(_LONG_S)
      next(agent for agent in reversed(story.agents)
           if agent.node == node.name).killed = time.time()
      self._start(node)
    else:
      if fault == STARVED:
        node.process.send_signal(signal.SIGSTOP)
      os.kill(pid, _SIGNALS.get(fault, fault))
      if fault == PAUSE:
        self._await_time(story.began + plan.lasts_s)
        os.kill(pid, signal.SIGCONT)
      elif fault == STARVED:
        self._await_time(story.began + _STARVED_S)
        node.process.send_signal(signal.SIGCONT)
    if fault != PAUSE:
      self._until('the end of the round',
                  lambda: self._count('break') > breaks)
    self._await_step(self._step() + 1)
    story.recovered = time.time()
    self._await_time(story.recovered + _STEADY_S)

  def _slow_down(self, pid):
    plan = self._plan
    if plan.fault == DATA:
      self._order(f'data {self.story.rank}')
    elif plan.fault == PROCESSOR:
      self._quota = Quota(pid, plan.quota)
      self.story.limit = self._quota.kind
    else:
      if not self._hosts[plan.node].limit_rate(_SLOW_LINK):
        raise chaos.Failed('the kernel cannot limit the rate of a link')

  def _order(self, order):
    path = f'{self._folder}/order'
    with open(path + '.new', 'w', encoding='ascii') as file:
      file.write(order + '\n')
    os.rename(path + '.new', path)

  def _step(self):
    """Returns the newest step that the checkpoint has."""
    with contextlib.suppress(FileNotFoundError):
      with open(f'{self._folder}/checkpoint', encoding='ascii') as file:
        return int(file.read())
    return 0

  def _await_step(self, step):
    self._until(f'step {step}', lambda: self._step() >= step)

  def _await_time(self, end):
    self._until('', lambda: time.time() >= end)

  def _until(self, what, look, is_ending=False):
    def looked():
      for node in self._nodes:
        if node.process and not node.running and not (
            is_ending and node.process.returncode == 0):
          raise chaos.Failed(f'{node.name} ended with '
                             f'{node.process.returncode}:\n{node.tail()}')
      return look()
    until.until(f'not within {_LONG_S:.0f} s: {what}', looked, _LONG_S)

  def _start(self, node):
    self.story.agents.append(Agent(node.name, time.time()))
    node.start()

  def _ask(self, *words):
    return subprocess.run(
        [_LAUNCH, *words, f'--endpoint={self._endpoint}', '--json'],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
        timeout=_LONG_S).stdout

  def _status(self):
    asked = time.time()
    text = self._ask('status', self._name)
    return Status(asked, time.time(), json.loads(text))

  def _events(self):
    events = []
    with open(f'{self._folder}/events.jsonl', encoding='utf-8') as file:
      for line in file:
        if line.endswith('\n'):
          event = json.loads(line)
          event['unix'] = datetime.datetime.fromisoformat(
              event['time'].replace('Z', '+00:00')).timestamp()
          events.append(event)
    return [event for event in events if event['kind'] != 'state']

  def _count(self, kind):
    return sum(event['kind'] == kind for event in self._events())

  def _clean_up(self):
    story = self.story
    for host in self._hosts:
      host.free_rate()
    for node in self._nodes:
      if node.process:
        story.exit_codes[node.name] = node.process.poll()
    for pid, *_ in list(self._processes.all()):
      with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    for program in [self._daemon, *self._nodes]:
      if program.process:
        program.process.wait(_LONG_S)
    if self._quota:
      self._quota.close()
    with contextlib.suppress(FileNotFoundError):
      story.events = self._events()
    story.outputs = {node.name: node.tail() for node in self._nodes
                     if node.process}


def run(plan, folder, network):
  """Runs a plan. Returns its story, and what was wrong."""
  job = Job(plan, folder, network)
  try:
    job.run()
  except (AssertionError, chaos.Failed, subprocess.SubprocessError) as why:
    return job.story, [str(why)]
  return job.story, list(complaints(job.story))


def _result(story):
  """Returns a line about what Muster told."""
  words = [f'rank {rank} named after {event["unix"] - story.began:.1f} s'
           for rank, event in story.named()]
  if story.after:
    words += [f'rank {one["rank"]} slow for now'
              for one in story.after.job['slow_ranks'] if not one['persistent']]
  if story.end:
    verdict = story.end['verdict']
    words += [f'{one["cause"]} {one["host"]} {one["lost_seconds"]:.1f} s'
              for one in verdict['time']['newest_interruptions']]
    words.append(f'{verdict["time"]["productive_ratio"]:.0%} productive')
  words += [f'{host} {state}' for host, state in story.machines.items()]
  if story.limit:
    words.append(f'limited by {story.limit}')
  return ', '.join(words)


def enter_network():
  """Returns the network of the nodes' hosts, and None or the reason why it
  cannot be made."""
  network, _, why_not = chaos.enter_network()
  return network, why_not


def main():
  parser = argparse.ArgumentParser(
      description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument('--seed', type=int, default=1, help='the first seed')
  parser.add_argument('--seeds', type=int, default=1, help='their number')
  parser.add_argument('--fault', choices=FAULTS,
                      help='without it the seed decides')
  options = parser.parse_args()
  # On SIGTERM, exit as usual, so that the job's processes are killed at the end
  # of this program.
  signal.signal(signal.SIGTERM, lambda *_: sys.exit('SIGTERM'))
  network, why_not = enter_network()
  if why_not:
    sys.exit(f'The nodes need network namespaces: {why_not}')
  folder = tempfile.mkdtemp(prefix='muster_sweep_')
  failed = []
  for seed in range(options.seed, options.seed + options.seeds):
    plan = plan_of(seed, options.fault)
    began = time.monotonic()
    story, wrong = run(plan, f'{folder}/{seed}', network)
    print(f'{"FAILED" if wrong else "ok":6} {plan}; '
          f'{time.monotonic() - began:.0f} s: {_result(story)}', flush=True)
    for one in wrong:
      print(f'       {one}', flush=True)
    if wrong:
      failed.append(seed)
      for event in story.events:
        print(f'       {event["unix"] - story.began:7.2f} s  {event["kind"]} '
              f'{event["node"] or ""}: {event["reason"]}', flush=True)
    else:
      shutil.rmtree(f'{folder}/{seed}')
  print(f'{options.seeds - len(failed)} seeds passed, {len(failed)} failed '
        f'{failed or ""}')
  if failed:
    print(f'Logs: {folder}')
  else:
    shutil.rmtree(folder)
  return int(bool(failed))


if __name__ == '__main__':
  sys.exit(main())
