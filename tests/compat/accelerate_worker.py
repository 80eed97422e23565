"""Trains a few steps with Accelerate; each rank prints its losses."""

import os

import torch
from accelerate import Accelerator

torch.manual_seed(0)
torch.set_num_threads(1)
accelerator = Accelerator()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.utils.data.DataLoader(
    torch.arange(32.).reshape(8, 4) / 32, batch_size=2)
model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
losses = []
for batch in batches:
  loss = model(batch).pow(2).mean()
  optimizer.zero_grad()
  accelerator.backward(loss)
  optimizer.step()
  losses.append('%.6f' % accelerator.gather(loss.detach()[None]).sum())
print('rank %d of %d: losses %s' % (
    accelerator.process_index, accelerator.num_processes, ' '.join(losses)),
      flush=True)
# Skip PyTorch's shutdown: under any launcher, PyTorch 2.15 sometimes aborts in
# it.
os._exit(0)
