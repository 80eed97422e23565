"""Trains a small character model with plain PyTorch DistributedDataParallel.

The program does not depend on its launcher: the process group comes from the
environment (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), so the same file runs
under `launch`, torchrun or by hand. Under `launch` each rank also reports its
progress, which `launch status` and `launch watch` show.

  launch --standalone --nproc_per_node=2 examples/char_lm/train.py

After every --checkpoint-every steps rank 0 saves the model, the optimizer and
the step number. If the job is started again in the same folder, it resumes
after that step. Each batch depends only on the seed, the step and the rank, so
an interrupted run uses the same data in the same order as an uninterrupted one.
"""

import argparse
import collections
import contextlib
import gzip
import os
import socket
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

AGENT = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)


class Block(nn.Module):
  """One pre-norm transformer block with causal self-attention."""

  def __init__(self, width, heads):
    super().__init__()
    self.heads = heads
    self.norm1 = nn.LayerNorm(width)
    self.qkv = nn.Linear(width, 3 * width)
    self.mix = nn.Linear(width, width)
    self.norm2 = nn.LayerNorm(width)
    self.up = nn.Linear(width, 4 * width)
    self.down = nn.Linear(4 * width, width)

  def forward(self, x, mask):
    batch, length, width = x.shape
    split = (batch, length, self.heads, width // self.heads)
    q, k, v = (part.view(split).transpose(1, 2)
               for part in self.qkv(self.norm1(x)).split(width, dim=2))
    scores = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
    scores = (scores + mask).softmax(dim=-1)
    x = x + self.mix((scores @ v).transpose(1, 2).reshape(x.shape))
    return x + self.down(functional.gelu(self.up(self.norm2(x))))


class CharacterModel(nn.Module):
  """Predicts each character of a text from the characters before it."""

  def __init__(self, vocabulary, length, width, layers, heads):
    super().__init__()
    self.characters = nn.Embedding(vocabulary, width)
    self.positions = nn.Parameter(0.02 * torch.randn(length, width))
    self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
    self.norm = nn.LayerNorm(width)
    self.logits = nn.Linear(width, vocabulary)
    self.mask = torch.full((length, length), float('-inf')).triu(1)

  def forward(self, x):
    x = self.characters(x) + self.positions
    for block in self.blocks:
      x = block(x, self.mask)
    return self.logits(self.norm(x))


def read_text(path):
  """Returns the text as character numbers, and the size of its vocabulary."""
  opener = gzip.open if path.endswith('.gz') else open
  with opener(path, 'rb') as file:
    text = file.read().decode('utf-8', errors='replace')
  # All rare characters share one number, so that they do not enlarge the
  # vocabulary.
  counts = collections.Counter(text)
  common = sorted(c for c, n in counts.items() if n >= 20)
  number = {character: i for i, character in enumerate(common)}
  data = [number.get(character, len(common)) for character in text]
  return torch.tensor(data, dtype=torch.int16), len(common) + 1


def batch_of(data, options, step, rank):
  """Returns a rank's batch in a step: inputs, and targets shifted by one."""
  generator = torch.Generator()
  generator.manual_seed((options.seed * 1_000_003 + step) * 65_537 + rank)
  starts = torch.randint(
      len(data) - options.length - 1, (options.batch,), generator=generator)
  rows = torch.stack(
      [data[s:s + options.length + 1] for s in starts.tolist()]).long()
  return rows[:, :-1], rows[:, 1:]


def save(path, state):
  """Replaces the file atomically: a reader finds the old or the new state."""
  temporary = '%s.%d' % (path, os.getpid())
  with open(temporary, 'wb') as file:
    torch.save(state, file)
    file.flush()
    os.fsync(file.fileno())
  os.replace(temporary, path)


def tell(message):
  """Sends this rank's progress to its node's agent, if there is an agent."""
  with contextlib.suppress(OSError):
    AGENT.sendto(message.encode(), os.environ.get('MUSTER_PROGRESS_SOCKET', ''))


def load_everywhere(path, rank):
  """Returns rank 0's checkpoint, or None, on all ranks.

  Only rank 0 reads the file, so its disk need not be shared.
  """
  box = [None]
  if rank == 0 and os.path.exists(path):
    box[0] = torch.load(path, map_location='cpu')
  dist.broadcast_object_list(box, src=0)
  return box[0]


def train(options):
  rank, world = dist.get_rank(), dist.get_world_size()
  data, vocabulary = read_text(options.text)
  torch.manual_seed(options.seed)
  model = CharacterModel(vocabulary, options.length, options.width,
                         options.layers, options.heads)
  optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)

  path = os.path.join(options.checkpoint_dir, 'checkpoint.pt')
  state = load_everywhere(path, rank)
  first = 0
  if state is not None:
    model.load_state_dict(state['model'])
    optimizer.load_state_dict(state['optimizer'])
    first = state['step']
  if rank == 0:
    size = sum(p.numel() for p in model.parameters())
    print('%s at step %d of %d: %d ranks, %d parameters, %d characters' % (
        'resumed' if state else 'started', first, options.steps, world, size,
        len(data)), flush=True)

  parallel = DistributedDataParallel(model)
  total, since, began = torch.zeros(1), 0, time.monotonic()
  for step in range(first, options.steps):
    inputs, targets = batch_of(data, options, step, rank)
    logits = parallel(inputs)
    loss = functional.cross_entropy(
        logits.reshape(-1, vocabulary), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
    since += 1

    done = step + 1
    tell('STEP=%d' % done)
    if done % options.report_every == 0 or done == options.steps:
      dist.all_reduce(total)
      now = time.monotonic()
      rate = since * world * options.batch * options.length / (now - began)
      if rank == 0:
        print('step %4d  loss %.6f  %7.0f tokens/s' % (
            done, total.item() / (world * since), rate), flush=True)
      tell('LOSS=%.6f\nTOKENS_PER_S=%.0f' % (
          total.item() / (world * since), rate / world))
      total, since, began = torch.zeros(1), 0, now
    if rank == 0 and (done % options.checkpoint_every == 0
                      or done == options.steps):
      save(path, {'model': model.state_dict(), 'step': done,
                  'optimizer': optimizer.state_dict()})
      print('checkpoint saved after step %d' % done, flush=True)


def parse_options():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument('--text', metavar='FILE',
                      default='/usr/share/doc/jargon-text/jargon.txt.gz',
                      help='UTF-8 text to learn, plain or .gz')
  parser.add_argument('--checkpoint-dir', metavar='DIR', default='.')
  parser.add_argument('--checkpoint-every', type=int, default=50)
  parser.add_argument('--report-every', type=int, default=20)
  parser.add_argument('--steps', type=int, default=500)
  parser.add_argument('--batch', type=int, default=16, help='rows a rank')
  parser.add_argument('--length', type=int, default=64, help='characters a row')
  parser.add_argument('--width', type=int, default=64)
  parser.add_argument('--layers', type=int, default=2)
  parser.add_argument('--heads', type=int, default=4)
  parser.add_argument('--learning-rate', type=float, default=4e-3)
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


def main():
  options = parse_options()
  os.makedirs(options.checkpoint_dir, exist_ok=True)
  dist.init_process_group('gloo')
  train(options)
  dist.destroy_process_group()


if __name__ == '__main__':
  main()
