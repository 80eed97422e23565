"""One rank of a training with PyTorch: steps and validation."""

import os

import torch
from torch import distributed
from torch.nn import parallel

from torch_model import Start


class Trainer:
  """The same training as models/trainer, with DDP if there are several ranks.
  """

  def __init__(self, folder):
    torch.set_num_threads(1)
    self.start = Start(folder)
    self.rank = int(os.environ.get('RANK', '0'))
    self.ranks = int(os.environ.get('WORLD_SIZE', '1'))
    self.plain = self.start.model()
    self.model = self.plain
    if self.ranks > 1:
      distributed.init_process_group('gloo')
      self.model = parallel.DistributedDataParallel(
          self.plain, gradient_as_bucket_view=True, static_graph=True)
    self.parameters = list(self.plain.parameters())
    self.optimizer = self.start.optimizer(self.plain)
    self.clip = self.start.facts['clip']
    # Each rank must have exactly one micro-batch per step, because this trainer
    # does not accumulate gradients over micro-batches.
    assert self.start.facts['micro_batches'] == self.ranks

  def step(self, step):
    """Runs one step. Returns the loss of this rank's micro-batch as a tensor.
    """
    rate = self.start.learning_rate(step)
    for group in self.optimizer.param_groups:
      group['lr'] = rate
    tokens, targets = self.start.training
    step %= len(tokens)
    loss = self.model(tokens[step, self.rank], targets[step, self.rank])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
    self.optimizer.step()
    self.optimizer.zero_grad(set_to_none=True)
    return loss.detach()

  def mean_over_ranks(self, value):
    if self.ranks > 1:
      distributed.all_reduce(value)
      value /= self.ranks
    return value.item()

  def validate(self):
    with torch.no_grad():
      losses = [self.plain(*batch) for batch in zip(*self.start.validation)]
    return torch.stack(losses).mean().item()
