"""The small GPT written with PyTorch as its users do, with given weights.

GPT-2's architecture without biases, as nanoGPT trains it; the same arithmetic
as models/gpt (gelu by tanh, norms with gain alone, head tied to the token
table). With PyTorch 2.x it uses the fastest functions:
scaled_dot_product_attention and fused AdamW.
"""

import json
import math
import os

import torch
from torch import nn
from torch.nn import functional

_FUSED_ATTENTION = hasattr(functional, 'scaled_dot_product_attention')


class Norm(nn.Module):

  def __init__(self, width):
    super().__init__()
    self.weight = nn.Parameter(torch.ones(width))

  def forward(self, x):
    return functional.layer_norm(x, self.weight.shape, self.weight, None, 1e-5)


class Attention(nn.Module):

  def __init__(self, model):
    super().__init__()
    self.heads = model['heads']
    self.c_attn = nn.Linear(model['width'], 3 * model['width'], bias=False)
    self.c_proj = nn.Linear(model['width'], model['width'], bias=False)
    if not _FUSED_ATTENTION:
      future = torch.full((model['context'], model['context']), -math.inf)
      self.register_buffer('future', future.triu(1), persistent=False)

  def forward(self, x):
    batch, time, width = x.shape
    query, key, value = (
        part.view(batch, time, self.heads, -1).transpose(1, 2)
        for part in self.c_attn(x).split(width, dim=2))
    if _FUSED_ATTENTION:
      mixed = functional.scaled_dot_product_attention(query, key, value,
                                                      is_causal=True)
    else:
      scores = query @ key.transpose(2, 3) * (1 / math.sqrt(query.shape[-1]))
      mixed = (scores + self.future[:time, :time]).softmax(-1) @ value
    return self.c_proj(mixed.transpose(1, 2).reshape(batch, time, width))


class Perceptron(nn.Module):

  def __init__(self, width):
    super().__init__()
    self.c_fc = nn.Linear(width, 4 * width, bias=False)
    self.c_proj = nn.Linear(4 * width, width, bias=False)

  def forward(self, x):
    return self.c_proj(functional.gelu(self.c_fc(x), approximate='tanh'))


class Block(nn.Module):

  def __init__(self, model):
    super().__init__()
    self.ln_1 = Norm(model['width'])
    self.attn = Attention(model)
    self.ln_2 = Norm(model['width'])
    self.mlp = Perceptron(model['width'])

  def forward(self, x):
    x = x + self.attn(self.ln_1(x))
    return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):

  def __init__(self, model):
    super().__init__()
    self.wte = nn.Embedding(model['vocabulary'], model['width'])
    self.wpe = nn.Embedding(model['context'], model['width'])
    self.h = nn.ModuleList(Block(model) for _ in range(model['layers']))
    self.ln_f = Norm(model['width'])
    self.register_buffer('positions', torch.arange(model['context']),
                         persistent=False)

  def forward(self, tokens, targets):
    x = self.wte(tokens) + self.wpe(self.positions[:tokens.shape[1]])
    for block in self.h:
      x = block(x)
    logits = functional.linear(self.ln_f(x), self.wte.weight)
    return functional.cross_entropy(logits.view(-1, logits.shape[-1]),
                                    targets.view(-1))


class Start:
  """The files that `start` wrote: the model's size and weights, tokens,
  windows."""

  def __init__(self, folder):
    with open(os.path.join(folder, 'start.json'), encoding='utf-8') as file:
      self.facts = json.load(file)
    self._folder = folder
    windows = (self.facts['batch'], self.facts['model']['context'])
    # The shape of the training data is [step, micro-batch, window, position].
    self.training = self.windows('', -1, self.facts['micro_batches'], *windows)
    # The shape of the validation data is [micro-batch, window, position].
    self.validation = self.windows('validation_', -1, *windows)

  def windows(self, kind, *shape):
    """Reads tokens and targets."""
    return tuple(self.array(kind + what, torch.int32).long().view(shape)
                 for what in ('tokens', 'targets'))

  def array(self, name, dtype):
    path = os.path.join(self._folder, name)
    with open(path, 'rb') as file:
      return torch.frombuffer(bytearray(file.read()), dtype=dtype)

  def model(self):
    model = Gpt(self.facts['model'])
    values = self.array('weights', torch.float32)
    parameters = dict(model.named_parameters())
    at = 0
    with torch.no_grad():
      for name, shape in self.facts['tensors']:
        count = math.prod(shape)
        value = values[at:at + count].view(shape)
        at += count
        short = name[len('transformer.'):]
        # A matrix of GPT-2 has one row for each input, and a matrix of
        # nn.Linear has one row for each output. So transpose GPT-2's matrices.
        turned = len(shape) == 2 and short.startswith('h.')
        parameters.pop(short).copy_(value.t() if turned else value)
    assert at == len(values) and not parameters
    return model

  def optimizer(self, model):
    options = self.facts['adamw']
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW(
        [{'params': matrices, 'weight_decay': options['weight_decay']},
         {'params': vectors, 'weight_decay': 0.0}],
        lr=self.facts['learning_rate']['peak'],
        betas=(options['beta1'], options['beta2']), eps=options['epsilon'],
        **({'fused': True} if _FUSED_ATTENTION else {}))

  def learning_rate(self, step):
    """nanoGPT's schedule: a linear warm-up, then half a cosine down."""
    rate = self.facts['learning_rate']
    if step < rate['warmup']:
      return rate['peak'] * (step + 1) / (rate['warmup'] + 1)
    if step >= rate['decay_until']:
      return rate['floor']
    progress = (step - rate['warmup']) / (rate['decay_until'] - rate['warmup'])
    left = 0.5 * (1 + math.cos(math.pi * progress))
    return rate['floor'] + left * (rate['peak'] - rate['floor'])
