"""Computes the output of sampler_indices.cc with PyTorch's DistributedSampler.
"""

import sys

from torch.utils.data.distributed import DistributedSampler

for line in sys.stdin:
  length, world, seed, epoch, order, tail = line.split()
  indices = []
  for rank in range(int(world)):
    sampler = DistributedSampler(
        range(int(length)), num_replicas=int(world), rank=rank,
        shuffle=order == 'shuffled', seed=int(seed),
        drop_last=tail == 'dropped')
    sampler.set_epoch(int(epoch))
    indices += list(sampler)
  print(''.join('%d ' % index for index in indices))
