"""Uses the round's store as a PyTorch worker does before and during training;
each rank prints a line for each check that passed.

Run by groups_test.py, three ranks under `launch`, with some PyTorch's Python.
"""

import datetime
import os
import sys

import torch
import torch.distributed as dist

_LATE = datetime.timedelta(seconds=60)


def say(subject):
  # Write the line by a single call, because other ranks print to the same
  # console.
  sys.stdout.write('rank %d: %s\n' % (dist.get_rank(), subject))
  sys.stdout.flush()


def summed(value, group=None):
  tensor = torch.tensor([float(value)])
  dist.all_reduce(tensor, group=group)
  return tensor.item()


def world(rank, size):
  assert (rank, size) == (int(os.environ['RANK']),
                          int(os.environ['WORLD_SIZE']))
  assert summed(rank + 1) == size * (size + 1) / 2
  say('init_process_group')


def groups(rank, size):
  # Make groups of ranks that overlap, and a group of each single rank. All
  # groups use one store, so each group must have its own keys there.
  pair = dist.new_group([0, 1], timeout=_LATE)
  rest = dist.new_group(list(range(1, size)), timeout=_LATE)
  alone = [dist.new_group([member]) for member in range(size)]
  if rank < 2:
    assert summed(rank + 1, pair) == 3
  if rank > 0:
    assert summed(1, rest) == size - 1
  assert summed(rank, alone[rank]) == rank
  say('new_group')


def barriers(rank, size):
  dist.barrier()
  say('barrier')
  dist.monitored_barrier(timeout=_LATE)
  if rank == 0:
    try:
      dist.monitored_barrier(timeout=datetime.timedelta(milliseconds=200))
      raise AssertionError('a barrier without the others was passed')
    except RuntimeError as error:
      assert 'monitored' in str(error).lower() or 'Rank' in str(error), error
  say('monitored_barrier')


def store(rank, size):
  below = dist.TCPStore(os.environ['MASTER_ADDR'],
                        int(os.environ['MASTER_PORT']), None, False, _LATE)
  mine = dist.PrefixStore('mine%d' % rank, below)
  ours = dist.PrefixStore('ours', below)
  mine.set('k', str(rank))
  ours.set('of%d' % rank, 'x')
  ours.wait(['of%d' % other for other in range(size)], _LATE)
  assert mine.get('k') == str(rank).encode()
  say('PrefixStore')


def ddp(rank, size):
  torch.manual_seed(rank)  # DDP then copies rank 0's weights to all ranks.
  net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
  optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
  for step in range(3):
    optimizer.zero_grad()
    inputs = torch.full((2, 4), float(rank + step))
    net(inputs).sum().backward()
    optimizer.step()
  flat = torch.cat([p.detach().flatten() for p in net.parameters()])
  gathered = [torch.zeros_like(flat) for _ in range(size)]
  dist.all_gather(gathered, flat)
  assert all(torch.equal(other, flat) for other in gathered)
  say('DDP')


def main():
  dist.init_process_group('gloo', timeout=_LATE)
  rank, size = dist.get_rank(), dist.get_world_size()
  for subject in world, groups, store, ddp, barriers:
    subject(rank, size)
  dist.destroy_process_group()


if __name__ == '__main__':
  main()
