"""Runs training steps with PyTorch on demand; see steps.cc.

usage: torch_steps.py START [compiled] < COUNTS
"""

import json
import resource
import sys
import time

import torch
import torch_trainer

trainer = torch_trainer.Trainer(sys.argv[1])
if sys.argv[2:] == ['compiled']:
  trainer.model = torch.compile(trainer.model)
step = 0
for line in sys.stdin:
  times = []
  for _ in range(int(line)):
    begin = time.perf_counter()
    loss = trainer.step(step)
    times.append(time.perf_counter() - begin)
    step += 1
  print(json.dumps({
      'seconds': times, 'loss': trainer.mean_over_ranks(loss), 'exposed': None,
      'peak_kib': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}),
        flush=True)
