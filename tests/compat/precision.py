"""The arithmetic of an oracle: float32, or float64 with disturbances.

rounding.py explains the purpose. An oracle's line begins with `float32`,
`float64`, or `float64:SEED` for disturbances that are drawn from SEED.
"""

import torch

# The size of a disturbance (a small deliberate change of a value), relative to
# the value. It is so small that outputs change in proportion to it. It is much
# larger than float64's rounding error.
DISTURBANCE = 2.0**-30


class Precision:

  def __init__(self, word, rank=0):
    name, _, seed = word.partition(':')
    self.dtype = {'float32': torch.float32, 'float64': torch.float64}[name]
    self._generator = None
    if seed:
      self._generator = torch.Generator().manual_seed(1000 * int(seed) + rank)

  def tensor(self, values):
    return self.disturbed(torch.tensor(values, dtype=self.dtype))

  def disturbed(self, tensor):
    """Returns `tensor` with each element changed by DISTURBANCE up or down."""
    if self._generator is None:
      return tensor
    signs = torch.randint(0, 2, tensor.shape, generator=self._generator)
    return tensor * (1 + DISTURBANCE * (2 * signs.to(self.dtype) - 1))

  def disturb(self, tensor):
    """Like `disturbed`, in place."""
    with torch.no_grad():
      tensor.copy_(self.disturbed(tensor))
