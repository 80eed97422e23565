"""Computes the output of power_sgd_steps.cc with PyTorch's own hook over Gloo.

Each rank is a process, and rank 0 prints. Each input line begins with a word
for precision.py, such as float32. With the argument `no_error_feedback`, the
error of an approximation is not added to the next step's gradients.
"""

import math
import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

from precision import Precision

_VECTOR = 7
_EXACT_STEPS = 2


class Bucket:
  """A stand-in for DDP's bucket, which Python code cannot create: the parts
  that the hook uses."""

  def __init__(self, values, shapes):
    self._values = values
    self._gradients = [values[:_VECTOR]]
    at = _VECTOR
    for rows, columns in shapes:
      self._gradients.append(
          values[at:at + rows * columns].view(rows, columns))
      at += rows * columns

  def buffer(self):
    return self._values

  def gradients(self):
    return self._gradients

  def index(self):
    return 0

  def is_last(self):
    return True


def first_q(matrix, count):
  return [math.cos(1.7 * (i * i) + matrix) for i in range(count)]


def run(word, rank, ranks, approximation, steps, shapes, meeting):
  precision = Precision(word, rank)
  shared = Precision(word)
  dist.init_process_group('gloo', init_method='file://' + meeting, rank=rank,
                          world_size=ranks)
  state = powerSGD_hook.PowerSGDState(
      None, matrix_approximation_rank=approximation,
      start_powerSGD_iter=_EXACT_STEPS, min_compression_rate=2,
      use_error_feedback='no_error_feedback' not in sys.argv)
  # Set the hook's state (p_memory_dict, q_memory_dict) as an earlier step would
  # have left it. So PyTorch and Muster start with the same matrix Q.
  state.p_memory_dict[0] = torch.empty(
      sum(rows for rows, _ in shapes) * approximation, dtype=precision.dtype)
  # Disturb Q (change its values slightly, see precision.py) in the same way on
  # every rank, because all ranks have the same Q.
  state.q_memory_dict[0] = shared.tensor(
      [value for matrix, (_, columns) in enumerate(shapes)
       for value in first_q(matrix, columns * approximation)])
  count = _VECTOR + sum(rows * columns for rows, columns in shapes)
  arrived = []
  for step in range(steps):
    values = precision.tensor([math.sin(0.7 * i * i + rank) +
                               0.3 * math.cos(i + step) for i in range(count)])
    done = powerSGD_hook.powerSGD_hook(state, Bucket(values, shapes))
    arrived += shared.disturbed(done.wait()).tolist()
    shared.disturb(state.q_memory_dict[0])
    if 0 in state.error_dict:
      precision.disturb(state.error_dict[0])
  if rank == 0:
    print(' '.join('%.17g' % value for value in arrived), flush=True)
  dist.destroy_process_group()


for line in sys.stdin:
  precision_word, *numbers = line.split()
  world, r, number, *lengths = map(int, numbers)
  matrices = list(zip(lengths[::2], lengths[1::2]))
  with tempfile.TemporaryDirectory() as folder:
    children = []
    for place in range(world):
      child = os.fork()
      if child == 0:
        code = 1
        try:
          run(precision_word, place, world, r, number, matrices, folder + '/meeting')
          code = 0
        finally:
          sys.stderr.flush()
          os._exit(code)
      children.append(child)
    if any([os.waitpid(child, 0)[1] for child in children]):
      sys.exit('a rank failed in ' + line)
