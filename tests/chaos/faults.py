"""A schedule of faults, drawn from a seed.

Faults form groups. The faults of a group follow each other within seconds, even
if the job has not recovered. The next group begins when the job has recovered
and made progress.
"""

import dataclasses
import math
import random
import socket

WORKER, NODE, AGENT, GUARDIAN, DAEMON, JOURNAL, DISK, ETCD = (
    'worker', 'node', 'agent', 'guardian', 'daemon', 'journal', 'disk', 'etcd')
# FILL: a limit on the size of a process's files simulates a full disk. USE_UP:
# a file takes all the space of a disk.
KILL, STOP, FILL, CUT, USE_UP = ACTS = ('kill', 'stop', 'fill', 'cut', 'use up')
# Where the coordinator keeps its state. NONE: nowhere. FOLDER: in a folder.
# SHARED: in etcd, which two daemons share. HOSTED: nowhere; the coordinator
# runs inside the process of a node. HOSTED_FOLDER: as HOSTED, but in a folder.
NONE, FOLDER, SHARED, HOSTED, HOSTED_FOLDER = STATES = (
    'none', 'folder', 'etcd', 'hosted', 'hosted-folder')
IN_NODES = (HOSTED, HOSTED_FOLDER)

# The possible faults. Each entry has the same probability, so a fault with two
# entries is twice as likely.
_KINDS = ((KILL, WORKER), (KILL, WORKER), (KILL, NODE), (KILL, AGENT),
          (KILL, GUARDIAN), (KILL, DAEMON), (KILL, DAEMON), (STOP, WORKER),
          (STOP, AGENT), (STOP, GUARDIAN), (STOP, NODE), (STOP, DAEMON),
          (FILL, JOURNAL), (STOP, ETCD), (CUT, NODE), (CUT, NODE),
          (USE_UP, DISK))
# The targets of faults that exist only in some of the STATES (where the
# coordinator keeps its state), and these states. Other targets always exist.
_ONLY = {JOURNAL: (FOLDER,), DISK: (FOLDER, HOSTED_FOLDER), ETCD: (SHARED,),
         DAEMON: (NONE, FOLDER, SHARED)}
PARTS_OF_NODE = (WORKER, NODE, AGENT, GUARDIAN)
# The probability that a fault of a node or its processes acts on the node that
# coordinates the job.
_AT_HOST = 0.3
# The probability that a fault belongs to the group of the previous fault, and
# does not begin a new group. A group begins when the job has recovered from the
# previous group.
_JOINS_GROUP = 0.35
# Seconds between two successive faults of a group (minimum, maximum).
_GAP_S = (0.01, 1.5)
# Seconds until a killed node or daemon is started again.
_DOWN_S = (0.01, 2.0)
_SHORTEST_STOP_S = 0.1
# Maximum time in seconds for which an agent can be stopped without losing its
# lease. The lease lasts 10 s, and the last report may be up to 2 s older than
# the stop.
HARMLESS_STOP_S = 5.0
# Maximum time in seconds for which a node's network can be cut without the loss
# of its lease. TCP doubles the interval between retransmissions. So after the
# cut, the next retransmission may take as long again as the cut.
HARMLESS_CUT_S = 3.0
# Maximum time in seconds for which a guardian can be stopped without harm. An
# agent kills a guardian that has sent no sign of life for 10 s (GuardianWatch).
HARMLESS_GUARDIAN_STOP_S = 8.0
_SHORTEST_CUT_S = 0.5
# _MAX_BACKOFF_S: maximum delay before a new round, in seconds
# (RestartBackoff::kMaxDelay). _FREE_FAILURES: number of successive failures
# that cause no delay.
_MAX_BACKOFF_S = 30.0
_FREE_FAILURES = 2


@dataclasses.dataclass(frozen=True)
class Fault:
  """One fault. A schedule is drawn before the job starts."""
  act: str
  target: str
  # index of the node or daemon on which the fault acts (modulo their number)
  node: int = 0
  worker: int = 0  # local rank of the target
  gap_s: float = 0.0  # seconds since the previous fault of the group
  # Seconds until the fault ends: a stopped process continues, a killed node or
  # daemon is started again, the disk has room again, or the network is healed.
  lasts_s: float = 0.0
  order: int = 0  # seed of the order in which a node's processes are killed
  # Whether the fault acts on the node that coordinates the job at that time,
  # not on `node`.
  at_host: bool = False

  def __str__(self):
    where = {WORKER: f'worker {self.worker} of node{self.node}',
             NODE: f'node{self.node}',
             AGENT: f'agent of node{self.node}',
             GUARDIAN: f'guardian of node{self.node}',
             DAEMON: f'daemon {self.node}',
             ETCD: 'etcd',
             JOURNAL: "journal's disk",
             DISK: 'the disk of the state folder'}[self.target]
    if self.at_host and self.target in PARTS_OF_NODE:
      where += ' (it coordinates)'
    if self.act == KILL and self.target == WORKER:
      return f'kill {where}'
    until = 'started again after' if self.act == KILL else 'for'
    return f'{self.act} {where}, {until} {self.lasts_s:.2f} s'

  @property
  def ends_node(self):
    return self.act == KILL and self.target in (NODE, AGENT, GUARDIAN)

  @property
  def fills_disk(self):
    return self.act in (FILL, USE_UP)

  @property
  def ends_coordinator(self):
    """Whether another coordinator may take the job over."""
    return self.target == DAEMON or self.at_host and self.rounds > 0

  @property
  def outlives_lease(self):
    """Whether a node may be silent for longer than its lease."""
    return (self.act == STOP and self.target in (AGENT, NODE) and
            self.lasts_s > HARMLESS_STOP_S or
            self.act == CUT and self.lasts_s > HARMLESS_CUT_S)

  @property
  def outlives_guardian_watch(self):
    """Whether the guardian is stopped for so long that its agent may kill it.
    """
    return (self.act == STOP and self.target == GUARDIAN and
            self.lasts_s > HARMLESS_GUARDIAN_STOP_S)

  @property
  def rounds(self):
    """The number of rounds that the fault may end."""
    return int(self.ends_node or (self.act, self.target) == (KILL, WORKER) or
               self.outlives_lease or self.outlives_guardian_watch)

  @property
  def pauses_workers(self):
    return self.target in (WORKER, NODE) or self.rounds > 0

  @property
  def harms_for_s(self):
    """For how long the fault itself may stop the job's progress, in seconds."""
    # If an agent is killed, its lease is not added: the kernel closes the
    # connections of a killed process, so the coordinator notices the death at
    # once.
    if self.act == CUT and not _SENDS_AGAIN_SOON:
      return 2 * self.lasts_s
    return self.lasts_s


def backoff_s(failures):
  """Returns the longest delay of the round that follows a worker's failure, in
  seconds (RestartBackoff).

  Args:
    failures: number of the job's failures so far.
  """
  if failures <= _FREE_FAILURES:
    return 0.0
  return min(_MAX_BACKOFF_S, 2.0**(failures - _FREE_FAILURES - 2))


def _sends_again_soon():
  """Whether the kernel supports TCP_RTO_MAX_MS (base/net/connect.h)."""
  with socket.socket() as tried:
    try:
      tried.setsockopt(socket.IPPROTO_TCP, 44, 1000)
    except OSError:
      return False
    return True


_SENDS_AGAIN_SOON = _sends_again_soon()


def _log_uniform(rng, shortest, longest):
  return math.exp(rng.uniform(math.log(shortest), math.log(longest)))


def schedule(seed, faults, nodes, workers, state, longest_stop_s, acts=ACTS):
  """Returns groups of faults, `faults` in all.

  Args:
    seed: seed of the schedule; equal arguments give equal schedules. faults:
    number of faults. nodes: number of nodes. workers: number of workers on each
    node. state: where the coordinator keeps its state. longest_stop_s: maximum
    duration of a stop and of a cut, in seconds. acts: kinds of faults that are
    possible on this machine.
  """
  rng = random.Random(seed)
  kinds = [kind for kind in _KINDS
           if kind[0] in acts and state in _ONLY.get(kind[1], STATES)]
  groups = []
  for _ in range(faults):
    act, target = rng.choice(kinds)
    joins = rng.random() < _JOINS_GROUP
    shortest_s = {KILL: _DOWN_S[0], CUT: _SHORTEST_CUT_S}.get(
        act, _SHORTEST_STOP_S)
    longest_s = _DOWN_S[1] if act == KILL else longest_stop_s
    fault = Fault(
        act, target, node=rng.randrange(nodes), worker=rng.randrange(workers),
        gap_s=_log_uniform(rng, *_GAP_S),
        lasts_s=_log_uniform(rng, shortest_s, longest_s),
        order=rng.randrange(1 << 30),
        at_host=(state in IN_NODES and target in PARTS_OF_NODE and
                 rng.random() < _AT_HOST))
    # Do not kill a coordinator while its disk is full: the killed coordinator
    # would lose the records that it could not write. This loss is documented
    # and no defect. A coordinator inside a node's process does not start with a
    # full disk, so end no node then.
    with_fill = groups and any(
        one.fills_disk and (other.target == DAEMON or
                            state in IN_NODES and other.ends_node)
        for pair in groups[-1] for one, other in ((pair, fault), (fault, pair)))
    # A full disk has no effect until the daemon writes. So put the next fault
    # into the group of the full disk, because that fault makes the daemon
    # write.
    joins = joins or groups and groups[-1][-1].fills_disk
    if groups and joins and not with_fill:
      groups[-1].append(fault)
    else:
      groups.append([fault])
  return groups
