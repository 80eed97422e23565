"""Computes the output of scaled_steps.cc with PyTorch's GradScaler.

Each input line begins with a word for precision.py, such as float32.
"""

import math
import sys

import torch

from precision import Precision

_COUNT = 50
_STEPS = 30


def run(word, rate, initial, interval, clip):
  precision = Precision(word)
  weights = precision.tensor(
      [math.cos(0.3 * i) for i in range(_COUNT)]).requires_grad_()
  optimizer = torch.optim.AdamW([weights], lr=rate)
  scaler = torch.amp.GradScaler('cpu', init_scale=initial,
                                growth_interval=int(interval))
  norm = 0
  for n in range(1, _STEPS + 1):
    gradient = precision.tensor(
        [math.sin(0.7 * i + n) * (i - 20) / 10 for i in range(_COUNT)])
    weights.grad = scaler.scale(gradient)
    if n % 7 == 3:
      weights.grad[n] = math.inf
    scaler.unscale_(optimizer)
    found = torch.nn.utils.clip_grad_norm_([weights], clip or math.inf).item()
    norm = found if math.isfinite(found) else norm
    precision.disturb(weights.grad)
    scaler.step(optimizer)
    scaler.update()
    for tensor in [weights, *optimizer.state[weights].values()]:
      # Disturb (change slightly, see precision.py) the weights and the
      # optimizer's state, except Adam's step counter, which is a tensor without
      # dimensions.
      if torch.is_tensor(tensor) and tensor.dim():
        precision.disturb(tensor)
  return weights.tolist() + [scaler.get_scale(), norm]


for line in sys.stdin:
  precision_word, *numbers = line.split()
  print(' '.join('%.17g' % x
                 for x in run(precision_word, *map(float, numbers))))
