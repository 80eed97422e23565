"""Trains a few steps with DeepSpeed on CPUs; each rank prints its losses."""

import argparse

import deepspeed
import torch

parser = argparse.ArgumentParser()
parser.add_argument('--local_rank', type=int)
parser.add_argument('--stages', type=int, nargs='+')
arguments = parser.parse_args()

torch.set_num_threads(1)
deepspeed.init_distributed('gloo')
for stage in arguments.stages:
  torch.manual_seed(0)
  model = torch.nn.Linear(4, 1)
  # Use PyTorch's optimizer: DeepSpeed's would need a compiler.
  optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
  engine, _, _, _ = deepspeed.initialize(
      model=model, optimizer=optimizer, config={
          'train_micro_batch_size_per_gpu': 2,
          'zero_optimization': {'stage': stage},
          'zero_allow_untested_optimizer': True})
  batch = torch.arange(8.).reshape(2, 4) / 8 + engine.global_rank
  losses = []
  for _ in range(3):
    loss = engine(batch).pow(2).mean()
    engine.backward(loss)
    engine.step()
    losses.append('%.6f' % loss)
  print('rank %d of %d, local rank %d, ZeRO %d: losses %s' % (
      engine.global_rank, engine.world_size, arguments.local_rank, stage,
      ' '.join(losses)), flush=True)
