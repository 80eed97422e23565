"""What scaled_steps.cc prints, by PyTorch's GradScaler."""

import math
import sys

import torch

_COUNT = 50
_STEPS = 30


def run(rate, initial, interval, clip):
  weights = torch.tensor([math.cos(0.3 * i) for i in range(_COUNT)],
                         requires_grad=True)
  optimizer = torch.optim.AdamW([weights], lr=rate)
  scaler = torch.amp.GradScaler('cpu', init_scale=initial,
                                growth_interval=int(interval))
  norm = 0
  for n in range(1, _STEPS + 1):
    gradient = torch.tensor(
        [math.sin(0.7 * i + n) * (i - 20) / 10 for i in range(_COUNT)])
    weights.grad = scaler.scale(gradient)
    if n % 7 == 3:
      weights.grad[n] = math.inf
    scaler.unscale_(optimizer)
    found = torch.nn.utils.clip_grad_norm_([weights], clip or math.inf).item()
    norm = found if math.isfinite(found) else norm
    scaler.step(optimizer)
    scaler.update()
  return weights.tolist() + [scaler.get_scale(), norm]


for line in sys.stdin:
  print(' '.join('%.9g' % x for x in run(*map(float, line.split()))))
