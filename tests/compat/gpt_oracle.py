"""What gpt_gradients.cc prints, by a GPT-2 written with PyTorch."""

import math
import sys

import torch
from torch.nn import functional

_BATCH, _TIME = 3, 16
_VOCABULARY, _CONTEXT, _LAYERS, _HEADS, _WIDTH = 31, 20, 3, 4, 32
_BIASES = sys.argv[1] == 'biases'


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


def values(index, name, shape):
  norm = len(shape) == 1 and '.weight' in name
  numbers = [(1 if norm else 0) +
             0.2 * math.sin(1.7 * k + 0.013 * k * k + index)
             for k in range(math.prod(shape))]
  return torch.tensor(numbers).reshape(shape).requires_grad_()


weights = {name: values(i, name, shape)
           for i, (name, shape) in enumerate(shapes())}


def linear(x, name):
  y = x @ weights[name + '.weight']
  return y + weights[name + '.bias'] if _BIASES else y


def norm(x, name):
  return functional.layer_norm(x, (_WIDTH,), weights[name + '.weight'],
                               weights.get(name + '.bias'), 1e-5)


def attention(x, name):
  parts = linear(x, name + '.c_attn').split(_WIDTH, dim=2)
  query, key, value = (part.view(_BATCH, _TIME, _HEADS, -1).transpose(1, 2)
                       for part in parts)
  scores = query @ key.transpose(2, 3) / math.sqrt(_WIDTH // _HEADS)
  future = torch.ones(_TIME, _TIME).triu(1).bool()
  mixed = scores.masked_fill(future, -math.inf).softmax(-1) @ value
  return linear(mixed.transpose(1, 2).reshape(_BATCH, _TIME, _WIDTH),
                name + '.c_proj')


def gelu(x):
  return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) *
                                   (x + 0.044715 * x**3)))


tokens = torch.tensor([i * i % 31 for i in range(_BATCH * _TIME)])
targets = torch.tensor([(i * 7 + 3) % 31 for i in range(_BATCH * _TIME)])
stream = (weights['transformer.wte.weight'][tokens.view(_BATCH, _TIME)] +
          weights['transformer.wpe.weight'][:_TIME])
for layer in range(_LAYERS):
  h = 'transformer.h.%d.' % layer
  stream = stream + attention(norm(stream, h + 'ln_1'), h + 'attn')
  stream = stream + linear(gelu(linear(norm(stream, h + 'ln_2'),
                                       h + 'mlp.c_fc')), h + 'mlp.c_proj')
logits = (norm(stream, 'transformer.ln_f') @
          weights['transformer.wte.weight'].t())
loss = functional.cross_entropy(logits.view(-1, _VOCABULARY), targets)
loss.backward()
print('%.9g' % loss.item())
for name, weight in weights.items():
  print(name, ' '.join('%.9g' % g for g in weight.grad.flatten().tolist()))
