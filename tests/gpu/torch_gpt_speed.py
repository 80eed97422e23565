#!/usr/bin/python3
"""Measures GPT-2 124M's training step in PyTorch on one GPU, as gpt_check
measures Muster's.

usage: torch_gpt_speed.py eager|compiled BATCH STEPS PEAK_TFLOPS

bfloat16 by autocast with float32 weights, scaled_dot_product_attention, fused
AdamW, random tokens; the vocabulary is padded to 50304, which is faster. Prints
one line of JSON in the format of gpt_check. Exit code 3: no PyTorch or no GPU;
a printed line says which.
"""

import json
import statistics
import sys
import time

_VOCABULARY, _PADDED, _CONTEXT, _LAYERS, _HEADS, _WIDTH = (
    50257, 50304, 1024, 12, 12, 768)
_WARM_UP = 5


def _skip(why):
  print('SKIPPED: %s' % why)
  sys.exit(3)


try:
  import torch
  from torch import nn
  from torch.nn import functional
except ImportError as error:
  _skip('PyTorch cannot be imported: %s' % error)


class Block(nn.Module):

  def __init__(self):
    super().__init__()
    self.ln_1 = nn.LayerNorm(_WIDTH)
    self.c_attn = nn.Linear(_WIDTH, 3 * _WIDTH)
    self.attn_proj = nn.Linear(_WIDTH, _WIDTH)
    self.ln_2 = nn.LayerNorm(_WIDTH)
    self.c_fc = nn.Linear(_WIDTH, 4 * _WIDTH)
    self.c_proj = nn.Linear(4 * _WIDTH, _WIDTH)

  def forward(self, x):
    batch, length, _ = x.shape
    query, key, value = (
        part.view(batch, length, _HEADS, -1).transpose(1, 2)
        for part in self.c_attn(self.ln_1(x)).split(_WIDTH, dim=2))
    mixed = functional.scaled_dot_product_attention(query, key, value,
                                                    is_causal=True)
    x = x + self.attn_proj(mixed.transpose(1, 2).reshape(x.shape))
    middle = functional.gelu(self.c_fc(self.ln_2(x)), approximate='tanh')
    return x + self.c_proj(middle)


class Gpt(nn.Module):

  def __init__(self):
    super().__init__()
    self.wte = nn.Embedding(_PADDED, _WIDTH)
    self.wpe = nn.Embedding(_CONTEXT, _WIDTH)
    self.h = nn.ModuleList(Block() for _ in range(_LAYERS))
    self.ln_f = nn.LayerNorm(_WIDTH)
    for parameter in self.parameters():
      if parameter.dim() > 1:
        nn.init.normal_(parameter, std=0.02)

  def forward(self, tokens, targets):
    places = torch.arange(tokens.shape[1], device=tokens.device)
    x = self.wte(tokens) + self.wpe(places)
    for block in self.h:
      x = block(x)
    logits = functional.linear(self.ln_f(x), self.wte.weight)
    return functional.cross_entropy(logits.view(-1, _PADDED),
                                    targets.view(-1))


def _flops_per_token():
  # 6 N + 6 L C T floating-point operations for each token, as in
  # GptConfig::FlopsPerToken: N weights without the position table and without
  # padding of the vocabulary, L layers, width C, context T.
  block = 12 * _WIDTH * _WIDTH + 13 * _WIDTH
  counted = _VOCABULARY * _WIDTH + _LAYERS * block + 2 * _WIDTH
  return 6 * counted + 6 * _LAYERS * _WIDTH * _CONTEXT


def main(way, batch, steps, peak_tflops):
  if not torch.cuda.is_available():
    _skip('PyTorch %s sees no GPU' % torch.__version__)
  torch.manual_seed(1)
  model = Gpt().cuda()
  optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1,
                                fused=True)
  run = torch.compile(model) if way == 'compiled' else model
  tokens, targets = (torch.randint(_VOCABULARY, (batch, _CONTEXT),
                                   device='cuda') for _ in range(2))
  milliseconds = []
  for step in range(_WARM_UP + steps):
    begin = time.monotonic()
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast('cuda', torch.bfloat16):
      loss = run(tokens, targets)
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()
    if step >= _WARM_UP:
      milliseconds.append(1000 * (time.monotonic() - begin))
  rate = 1000 * batch * _CONTEXT / statistics.median(milliseconds)
  print(json.dumps({
      'who': 'PyTorch %s, %s' % (torch.__version__, way), 'batch': batch,
      'tokens_per_second': rate,
      'mfu': rate * _flops_per_token() / (peak_tflops * 1e12),
      'loss': loss.item(), 'milliseconds': milliseconds}))


if __name__ == '__main__':
  if len(sys.argv) != 5 or sys.argv[1] not in ('eager', 'compiled'):
    sys.exit(__doc__)
  main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
