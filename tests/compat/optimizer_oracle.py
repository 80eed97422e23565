"""What optimizer_steps.cc prints, by PyTorch's own optimizers."""

import math
import sys

import torch

_COUNT = 50
_STEPS = 30


def optimizer(line, weights):
  name, *numbers = line.split()
  numbers = [float(n) for n in numbers]
  if name == 'adamw':
    rate, beta1, beta2, epsilon, decay = numbers
    return torch.optim.AdamW([weights], lr=rate, betas=(beta1, beta2),
                             eps=epsilon, weight_decay=decay)
  rate, momentum, nesterov, decay = numbers
  return torch.optim.SGD([weights], lr=rate, momentum=momentum,
                         nesterov=bool(nesterov), weight_decay=decay)


for line in sys.stdin:
  weights = torch.tensor([math.cos(0.3 * i) for i in range(_COUNT)],
                         requires_grad=True)
  steps = optimizer(line, weights)
  for n in range(1, _STEPS + 1):
    weights.grad = torch.tensor(
        [math.sin(0.7 * i + n) * (i - 20) / 10 for i in range(_COUNT)])
    steps.step()
  print(' '.join('%.9g' % w for w in weights.tolist()))
