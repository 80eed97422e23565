"""Computes the output of optimizer_steps.cc with PyTorch's own optimizers.

Each input line begins with a word for precision.py, such as float32.
"""

import math
import sys

import torch

from precision import Precision

_COUNT = 50
_STEPS = 30


def optimizer(name, numbers, weights):
  numbers = [float(n) for n in numbers]
  if name == 'adamw':
    rate, beta1, beta2, epsilon, decay = numbers
    return torch.optim.AdamW([weights], lr=rate, betas=(beta1, beta2),
                             eps=epsilon, weight_decay=decay)
  rate, momentum, nesterov, decay = numbers
  return torch.optim.SGD([weights], lr=rate, momentum=momentum,
                         nesterov=bool(nesterov), weight_decay=decay)


for line in sys.stdin:
  word, name, *numbers = line.split()
  precision = Precision(word)
  weights = precision.tensor(
      [math.cos(0.3 * i) for i in range(_COUNT)]).requires_grad_()
  steps = optimizer(name, numbers, weights)
  for n in range(1, _STEPS + 1):
    weights.grad = precision.tensor(
        [math.sin(0.7 * i + n) * (i - 20) / 10 for i in range(_COUNT)])
    steps.step()
    for tensor in [weights, *steps.state[weights].values()]:
      # Disturb (change slightly, see precision.py) the weights and the
      # optimizer's state, except Adam's step counter, which is a tensor without
      # dimensions.
      if torch.is_tensor(tensor) and tensor.dim():
        precision.disturb(tensor)
  print(' '.join('%.17g' % w for w in weights.tolist()))
