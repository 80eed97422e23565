"""Checks the story of a job with faults: did it follow the rules?"""

import dataclasses
import json
import re
from typing import Dict, List, Optional, Tuple

import faults

# The resolution of the event log's times, in seconds.
_CLOCK_S = 0.002

# Matches the reason of a round's end if it names a worker with exit code 1.
# Such a worker may have failed only because another worker was killed.
_VICTIM = r'\brank \d+ on \S+ exit code 1\b'


# Matches the first line of the verdict that a launch prints.
_VERDICT = re.compile(
    r'^\S.* (SUCCEEDED|FAILED|CANCELLED|TIMED OUT|PREEMPTED) (?:in|after) .*$',
    re.MULTILINE)
# The cause of an interruption in the coordinator's status if it took over after
# the interruption and has no record of it.
_UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True)
class Verdict:
  """The end of a job."""
  outcome: str  # as a launch prints it
  exit_code: int  # of each launch
  rounds: int
  restarts: int  # used
  # Number of the interruptions whose cost the coordinator knows; 0 if the job
  # was never interrupted.
  interruptions: int
  # Rank and pid of the worker whose failure ended the job; None: the job did
  # not fail.
  culprit: Optional[Tuple[int, int]] = None


def verdict_in(text):
  """Returns the verdict in the output of a launch; None: it printed none."""
  titles = list(_VERDICT.finditer(text))
  if not titles:
    return None
  title = titles[-1].group()
  text = text[titles[-1].start():]

  def number(pattern, where=text):
    found = re.search(pattern, where)
    return int(found.group(1)) if found else 0

  culprit = re.search(r'^ +worker +rank (\d+) .*pid (\d+)', text, re.MULTILINE)
  return Verdict(
      outcome=titles[-1].group(1), exit_code=number(r'exit code (\d+)', title),
      rounds=number(r'\b(\d+) rounds?\b'),
      restarts=number(r'\b(\d+) of \d+ restarts? used\b'),
      interruptions=number(r'\blost to (\d+) '),
      culprit=tuple(map(int, culprit.groups())) if culprit else None)


@dataclasses.dataclass
class Group:
  """A group of faults and what the job did until the next group."""
  faults: List[faults.Fault]
  begin: float  # Unix time of the first fault
  # Round and pid of each worker, by rank, before the faults and after the
  # recovery.
  before: Dict[int, Tuple[int, int]] = dataclasses.field(default_factory=dict)
  after: Dict[int, Tuple[int, int]] = dataclasses.field(default_factory=dict)
  # used_before, used_after: how many of the job's restarts were used before the
  # faults, and after the recovery
  used_before: int = 0
  used_after: int = 0
  # ranks of the workers that a fault killed directly
  killed_ranks: List[int] = dataclasses.field(default_factory=list)
  # cause and reason of each interruption that the coordinator's status names
  # after the recovery, without those of rounds before the faults
  told: List[Tuple[str, str]] = dataclasses.field(default_factory=list)
  steps: List[int] = dataclasses.field(default_factory=list)  # in log order
  silence_s: float = 0.0  # longest time without a new line of the log
  # The waits that the documents allow, in seconds, by their names. Their sum is
  # the limit of silence_s.
  waits: Dict[str, float] = dataclasses.field(default_factory=dict)
  recovered: bool = False
  ends_job: bool = False  # whether the job is to end, not to recover
  # whether the status said that the state is not durable while the disk was
  # full; None: the disk was not full, or no record had to be written
  notices_full: Optional[bool] = None

  @property
  def bound_s(self):
    return sum(self.waits.values())

  def __str__(self):
    return '[' + '; '.join(str(fault) for fault in self.faults) + ']'


@dataclasses.dataclass
class Story:
  """A job from its start to its end."""
  began: float  # Unix time
  groups: List[Group]
  expected: Dict[int, str]  # step -> loss of the undisturbed job, exact text
  # (step, loss) of the disturbed job, in log order
  losses: List[Tuple[int, str]]
  # exit code of each node's last launch, by the node's name
  exit_codes: Dict[str, Optional[int]]
  # the verdict that each node's last launch printed, by the node's name
  printed: Dict[str, Optional[Verdict]]
  # how the job really ended; None: it did not end, or was not observed
  verdict: Optional[Verdict]
  left: List[str]  # descriptions of the processes that should have ended
  events: List[dict]  # the coordinators' event logs


def losses_of(lines):
  """Returns the steps and the exact text of their losses, in log order."""
  found = []
  for line in lines:
    entry = json.loads(line, parse_float=str)
    if 'loss' in entry:
      found.append((entry['step'], entry['loss']))
  return found


def complaints(story):
  """Yields a sentence for each rule that the job has violated."""
  yield from _losses(story)
  yield from _ends(story)
  for process in story.left:
    yield f'a process is left: {process}'
  for group in story.groups:
    yield from _rounds(group)
    yield from _told(group)
    if not group.recovered and not group.ends_job:
      yield f'the job did not recover after {group}'
    if group.notices_full is False:
      yield f'the status did not tell the full disk after {group}'
    if group.silence_s > group.bound_s:
      yield (f'no progress for {group.silence_s:.1f} s after {group}; the '
             f'limit is {group.bound_s:.1f} s: ' + ', '.join(
                 f'{wait} {seconds:.1f} s'
                 for wait, seconds in group.waits.items()))
  yield from _causes(story)


def _ends(story):
  expected = story.verdict.exit_code if story.verdict else 0
  for node, code in sorted(story.exit_codes.items()):
    if code != expected:
      yield f'the last launch of {node} ended with {code}, not {expected}'
  if story.verdict is None:
    return
  for node, printed in sorted(story.printed.items()):
    if printed != story.verdict:
      yield f'{node} printed {printed}; the job ended with {story.verdict}'


def _told(group):
  """Yields a sentence if the status names a cause that is none of the faults,
  or names no cause for a new round."""
  for cause, reason in group.told:
    if cause == _UNKNOWN:
      if not any(fault.ends_coordinator for fault in group.faults):
        yield f'the status does not know the cause of {group}'
    elif not any(re.search(pattern, reason) for pattern in _patterns(group)):
      yield f'the status names the cause "{reason}" after {group}'
  if group.recovered and not group.told and (
      _round_of(group.before) < _round_of(group.after)):
    yield f'the status names no cause for the new round after {group}'


def _losses(story):
  seen = {}
  for step, loss in story.losses:
    if story.expected.get(step) != loss:
      yield (f'step {step} has the loss {loss}; undisturbed it has '
             f'{story.expected.get(step)}')
      return
    seen[step] = loss
  if not seen:
    yield 'no step was logged'
  missing = set(range(1, max(seen, default=0) + 1)) - set(seen)
  if missing:
    yield f'steps without a logged loss: {sorted(missing)[:10]}'


def _round_of(workers):
  """Returns the newest round of workers: rank -> (round, pid)."""
  return max(number for number, _ in workers.values())


def _rounds(group):
  if not group.recovered:
    return
  before, after = _round_of(group.before), _round_of(group.after)
  allowed = sum(fault.rounds for fault in group.faults)
  if not 0 <= after - before <= allowed:
    yield (f'round {before} before and round {after} after {group}, which '
           f'explains {allowed} new rounds')
  # `payable`: the maximum number of restarts, out of --max-restarts, that the
  # job may use up because of the faults in `group`. A round that breaks because
  # of a failed worker uses up one; the loss of a node uses up none. So
  # `payable` is 0 if no failed worker can be the cause of a break
  # (_may_name_victim).
  payable = allowed if _may_name_victim(group) else 0
  if not 0 <= group.used_after - group.used_before <= payable:
    yield (f'{group.used_before} restarts were used before and '
           f'{group.used_after} after {group}, which explains {payable}')
  if allowed == 0:
    if group.before != group.after:
      yield (f'workers (rank: round, pid) {group.before} before and '
             f'{group.after} after {group}, which ends no worker')
    for first, second in zip(group.steps, group.steps[1:]):
      if second != first + 1:
        yield (f'step {second} came after step {first} although {group} '
               'costs none')
        return


def _causes(story):
  """Yields a sentence for each failure, loss and broken round without a cause
  among the faults."""
  causes = {}  # round -> (group, reason); a later event replaces an earlier one
  for event in story.events:
    kind, node, reason = event['kind'], event['node'], event['reason']
    if kind not in ('failure', 'lost', 'break', 'blame', 'leave', 'refuse',
                    'cancel', 'omitted'):
      continue
    group = next((group for group in reversed(story.groups)
                  if event['unix'] >= group.begin - _CLOCK_S), None)
    ending = [fault for fault in (group.faults if group else [])
              if fault.rounds]
    on_node = [fault for fault in ending if f'node{fault.node}' == node]
    # A fault explains an event of its own node. A fault of the coordinator's
    # node that lasts longer than a lease explains an event of any node, because
    # a coordinator that is cut off from the network declares all other nodes
    # lost.
    harming = [fault for fault in ending if fault in on_node or not node or
               fault.at_host and fault.outlives_lease]
    what = f'the event log says "{reason}" ({kind}, {node}) after {group}'
    if kind in ('refuse', 'cancel', 'omitted') or kind == 'leave' and not any(
        fault.target == faults.GUARDIAN for fault in on_node):
      yield what + ', which no fault explains'
    elif not ending:
      yield what + ', which ends no round'
    elif kind == 'lost' and all(
        fault.target == faults.WORKER for fault in harming):
      yield what + ', which harms no agent there'
    elif kind == 'failure' and 'SIGKILL' in reason and not any(
        fault.act == faults.KILL for fault in on_node):
      yield what + ', which kills no worker there'
    elif kind in ('break', 'blame'):
      causes[event['round']] = (group, reason.split('; not by')[0])
  for number, (group, reason) in sorted(causes.items()):
    if not any(re.search(pattern, reason) for pattern in _patterns(group)):
      yield f'round {number} has the cause "{reason}" after {group}'


def _may_name_victim(group):
  """Whether a round's cause may be a peer whose connection broke.

  The cause is the first failure that is reported to the coordinator. The
  failure of a peer may be reported first in three cases: the machine is busy;
  an agent or the daemon is stopped; or an agent notices the death of its
  guardian only after the order to stop.
  """
  return len(group.faults) > 1 or group.faults[0].target in (faults.WORKER,
                                                             faults.GUARDIAN)


def _patterns(group):
  """Yields a pattern for each cause that the faults of a group may have."""
  for rank in group.killed_ranks:
    yield rf'\brank {rank} on \S+ killed by SIGKILL'
  if _may_name_victim(group):
    yield _VICTIM
  for fault in group.faults:
    if fault.rounds and fault.target != faults.WORKER:
      yield r'\(group rank \d+\) was lost'
      yield r'group rank \d+ (\(\S+\) )?is lost, which coordinated'
    # A node that is cut off for almost a lease may come too late to a
    # coordinator that has no record.
    if fault.outlives_lease and any(
        other.ends_coordinator for other in group.faults):
      yield r'\d+ nodes? of \d+ did not come to the new coordinator'
    if fault.target == faults.GUARDIAN:
      yield (r'goes: the guardian process \(pid \d+\) (was killed by signal 9|'
             r'gave no sign of life)')
