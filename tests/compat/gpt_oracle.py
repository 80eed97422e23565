"""Computes the output of gpt_gradients.cc with a GPT-2 written with PyTorch.

  gpt_oracle.py biases|none WORD...

prints the output for each WORD of precision.py (float32, float64,
float64:SEED), separated by empty lines. The word `erf` is float32 with a
deliberate defect: GELU by its definition instead of the approximation by tanh.
"""

import math
import sys

import torch
from torch.nn import functional

from precision import Precision

_BATCH, _TIME = 3, 16
_VOCABULARY, _CONTEXT, _LAYERS, _HEADS, _WIDTH = 31, 20, 3, 4, 32
_BIASES = sys.argv[1] == 'biases'
_DEFECT = 'erf'


def shapes():
  yield 'transformer.wte.weight', (_VOCABULARY, _WIDTH)
  yield 'transformer.wpe.weight', (_CONTEXT, _WIDTH)
  for layer in range(_LAYERS):
    for name, shape in (('ln_1', (_WIDTH,)),
                        ('attn.c_attn', (_WIDTH, 3 * _WIDTH)),
                        ('attn.c_proj', (_WIDTH, _WIDTH)),
                        ('ln_2', (_WIDTH,)),
                        ('mlp.c_fc', (_WIDTH, 4 * _WIDTH)),
                        ('mlp.c_proj', (4 * _WIDTH, _WIDTH))):
      full = 'transformer.h.%d.%s' % (layer, name)
      yield full + '.weight', shape
      if _BIASES:
        yield full + '.bias', shape[-1:]
  yield 'transformer.ln_f.weight', (_WIDTH,)
  if _BIASES:
    yield 'transformer.ln_f.bias', (_WIDTH,)


def gelu(x):
  return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) *
                                   (x + 0.044715 * x**3)))


class Model:

  def __init__(self, word):
    self._defect = word == _DEFECT
    self._precision = Precision('float32' if self._defect else word)
    self._disturbed = self._precision.disturbed
    self._weights = {name: self._values(i, name, shape)
                     for i, (name, shape) in enumerate(shapes())}

  def _values(self, index, name, shape):
    norm = len(shape) == 1 and '.weight' in name
    numbers = [(1 if norm else 0) +
               0.2 * math.sin(1.7 * k + 0.013 * k * k + index)
               for k in range(math.prod(shape))]
    return self._precision.tensor(numbers).reshape(shape).requires_grad_()

  def _linear(self, x, name):
    y = x @ self._weights[name + '.weight']
    return self._disturbed(
        y + self._weights[name + '.bias'] if _BIASES else y)

  def _norm(self, x, name):
    return self._disturbed(functional.layer_norm(
        x, (_WIDTH,), self._weights[name + '.weight'],
        self._weights.get(name + '.bias'), 1e-5))

  def _attention(self, x, name):
    parts = self._linear(x, name + '.c_attn').split(_WIDTH, dim=2)
    query, key, value = (part.view(_BATCH, _TIME, _HEADS, -1).transpose(1, 2)
                         for part in parts)
    scores = self._disturbed(
        query @ key.transpose(2, 3) / math.sqrt(_WIDTH // _HEADS))
    future = torch.ones(_TIME, _TIME).triu(1).bool()
    shares = self._disturbed(
        scores.masked_fill(future, -math.inf).softmax(-1))
    mixed = self._disturbed(shares @ value)
    return self._linear(mixed.transpose(1, 2).reshape(_BATCH, _TIME, _WIDTH),
                        name + '.c_proj')

  def _perceptron(self, x, name):
    inner = self._linear(x, name + '.c_fc')
    bent = functional.gelu(inner) if self._defect else gelu(inner)
    return self._linear(self._disturbed(bent), name + '.c_proj')

  def loss(self):
    tokens = torch.tensor([i * i % 31 for i in range(_BATCH * _TIME)])
    targets = torch.tensor([(i * 7 + 3) % 31 for i in range(_BATCH * _TIME)])
    table = self._weights['transformer.wte.weight']
    stream = (table[tokens.view(_BATCH, _TIME)] +
              self._weights['transformer.wpe.weight'][:_TIME])
    for layer in range(_LAYERS):
      h = 'transformer.h.%d.' % layer
      stream = stream + self._attention(self._norm(stream, h + 'ln_1'),
                                        h + 'attn')
      stream = stream + self._perceptron(self._norm(stream, h + 'ln_2'),
                                         h + 'mlp')
    logits = self._disturbed(self._norm(stream, 'transformer.ln_f') @ table.t())
    return functional.cross_entropy(logits.view(-1, _VOCABULARY), targets)

  def print_gradients(self):
    loss = self.loss()
    loss.backward()
    print('%.17g' % loss.item())
    for name, weight in self._weights.items():
      print(name, ' '.join('%.17g' % g
                           for g in weight.grad.flatten().tolist()))


for number, each in enumerate(sys.argv[2:]):
  if number:
    print()
  Model(each).print_gradients()
