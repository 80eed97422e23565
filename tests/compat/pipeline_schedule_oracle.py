"""Computes the output of pipeline_schedule_main.cc with PyTorch's schedules."""

import sys

from torch.distributed.pipelining import schedules


class Stage:
  """A stand-in for PyTorch's stage: the parts that a schedule needs when it is
  created."""

  def __init__(self, index, rank, ranks, stages):
    self.stage_index = index
    self.group_rank = rank
    self.group_size = ranks
    self.num_stages = stages
    self.stage_index_to_group_rank = {s: s % ranks for s in range(stages)}
    self.is_first = index == 0
    self.is_last = index == stages - 1
    self.has_backward = True

  def __getattr__(self, name):
    if name.startswith('__'):
      raise AttributeError(name)
    return None


_INTERLEAVED = {
    'interleaved_1f1b': schedules.ScheduleInterleaved1F1B,
    'zb1p': schedules.ScheduleInterleavedZeroBubble,
}

def orders(name, ranks, per_rank, micro_batches):
  """Returns the actions of each rank in order; None where the rank waits."""
  stages = [Stage(s, 0, ranks, ranks * per_rank)
            for s in range(0, ranks * per_rank, ranks)]
  return _INTERLEAVED[name](stages, micro_batches,
                            loss_fn=lambda *_: None).pipeline_order


for line in sys.stdin:
  name, *sizes = line.split()
  order = orders(name, *map(int, sizes))
  for rank in sorted(order):
    print(','.join(str(action) for action in order[rank]
                   if action is not None))
  print()
