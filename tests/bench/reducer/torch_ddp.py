"""Measures PyTorch's DDP with Gloo as reducer_bench measures Muster's Reducer.

usage: torch_ddp.py RANKS block|tiny|large STEPS

Prints BARE REDUCED EXPOSED for each pair of steps of rank 0: microseconds of
the backward pass without and with DDP, and their difference, because PyTorch
does not report the exposed time.
"""

import os
import socket
import sys
import time

import torch
import torch.distributed
import torch.multiprocessing

SHAPES = {'block': (16, 128, 384, 768), 'tiny': (1000, 16, 16, 64),
          'large': (8, 1024, 1024, 64)}
WARM_UP = 3


class Layers(torch.nn.Module):
  """Independent linear layers, so that their gradients cost the same."""

  def __init__(self, layers, inputs, outputs):
    super().__init__()
    self.weights = torch.nn.ParameterList(
        torch.nn.Parameter(torch.randn(inputs, outputs) / inputs)
        for _ in range(layers))

  def forward(self, x):
    return [x @ weight for weight in self.weights]


def backward(model, x, gradient):
  """Runs the backward pass. Returns its time in microseconds."""
  outputs = model(x)
  x.grad = None
  for weight in model.parameters():
    weight.grad = None
  begin = time.perf_counter()
  torch.autograd.backward(outputs, [gradient] * len(outputs))
  return 1e6 * (time.perf_counter() - begin)


def run(rank, ranks, shape, steps, port):
  torch.set_num_threads(1)
  torch.distributed.init_process_group(
      'gloo', init_method='tcp://127.0.0.1:%d' % port, rank=rank,
      world_size=ranks)
  layers, inputs, outputs, batch = SHAPES[shape]
  bare = Layers(layers, inputs, outputs)
  reduced = torch.nn.parallel.DistributedDataParallel(
      Layers(layers, inputs, outputs), gradient_as_bucket_view=True)
  x = torch.randn(batch, inputs, requires_grad=True)
  gradient = torch.randn(batch, outputs)
  for step in range(WARM_UP + steps):
    torch.distributed.barrier()
    alone = backward(bare, x, gradient)
    torch.distributed.barrier()
    together = backward(reduced, x, gradient)
    if rank == 0 and step >= WARM_UP:
      print('%.3f %.3f %.3f' % (alone, together, max(0, together - alone)),
            flush=True)
  torch.distributed.destroy_process_group()


def main(ranks, shape, steps):
  with socket.socket() as free:
    free.bind(('127.0.0.1', 0))
    port = free.getsockname()[1]
  torch.multiprocessing.spawn(run, (ranks, shape, steps, port), ranks)


if __name__ == '__main__':
  main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
