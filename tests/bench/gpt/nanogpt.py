"""Trains with nanoGPT's settings for CPUs, with Muster and with PyTorch, and
compares the losses.

usage: nanogpt.py BINARIES TEXT PLOTS

BINARIES is the folder that Bazel calls bazel-bin. PLOTS is the folder to which
the pictures are written. The settings are the example's defaults: 4 layers, 4
heads, width 128, 12 windows of 64 characters per step, 2000 steps, a learning
rate that decreases from 1e-3 to 1e-4 by a cosine after 100 steps of warm-up,
AdamW (0.9, 0.99), weight decay 0.1 of matrices only, gradients clipped to a
norm of 1, validation by 20 batches.
"""

import json
import os
import subprocess
import sys
import tempfile

import loss_curves
from contenders import PYTORCH, Training

_PUBLISHED, _PUBLISHED_WITHIN, _BOTH_WITHIN = 1.88, 0.03, 0.02


def courses(path):
  """Reads the training and validation losses by step."""
  training, validation = {}, {}
  with open(path, encoding='utf-8') as file:
    for line in file:
      said = json.loads(line)
      if 'validation_loss' in said:
        validation[said['step']] = said['validation_loss']
      elif 'loss' in said:
        training[said['step']] = said['loss']
  return training, validation


def train(binaries, text, ranks, folder):
  """Runs Muster's training and PyTorch's, in parallel if there are cores for
  both."""
  os.mkdir(folder)
  # Whatever the number of ranks, all ranks together use 12 windows of the text
  # in each step, and 240 in each validation.
  options = ['--data', text, '--batch', str(12 // ranks), '--micro-batches',
             str(ranks), '--validation-batches', str(20 * ranks)]
  here = os.path.dirname(os.path.realpath(__file__))
  logs = [os.path.join(folder, name) for name in ('ours', 'pytorch')]
  subprocess.run([os.path.join(binaries, 'tests', 'bench', 'gpt', 'start'),
                  folder, *options], check=True)
  commands = (
      [os.path.join(binaries, 'models', 'trainer', 'gpt'), 'train',
       *options, '--log', logs[0]],
      [PYTORCH[1], os.path.join(here, 'torch_train.py'), folder, logs[1]])
  at_once = os.cpu_count() >= 2 * ranks
  under_way = []
  for number, command in enumerate(commands):
    print('nanogpt: %s, ranks: %d' % (('ours', PYTORCH[0])[number], ranks),
          file=sys.stderr, flush=True)
    under_way.append(Training(command, ranks, number * ranks if at_once else 0))
    if not at_once:
      under_way[-1].wait()
  if at_once:
    for training in under_way:
      training.wait()
  return [courses(log) for log in logs]


def main(binaries, text, plots):
  if PYTORCH is None:
    sys.exit('nanogpt: there is no PyTorch; tools/setup_torch2 installs it')
  results = {}
  with tempfile.TemporaryDirectory(prefix='muster-nanogpt-') as folder:
    for ranks in (1, 2):
      results[ranks] = train(binaries, text, ranks,
                             os.path.join(folder, str(ranks)))
  right = True
  print('| ranks | step | validation, ours | validation, %s | difference |\n'
        '|---|---|---|---|---|' % PYTORCH[0])
  for ranks, ((training, ours), (peer, theirs)) in results.items():
    last = max(ours)
    for step in sorted(ours):
      print('| %d | %d | %.4f | %.4f | %+.0e |' % (
          ranks, step, ours[step], theirs[step], ours[step] - theirs[step]))
    close = abs(ours[last] - theirs[last]) <= _BOTH_WITHIN
    published = abs(ours[last] - _PUBLISHED) <= _PUBLISHED_WITHIN
    right = right and close and published
    print('\n%d rank%s: %.4f is %swithin %.2f of the published %.2f, and '
          '%swithin %.2f of PyTorch\'s %.4f\n' % (
              ranks, 's' if ranks > 1 else '', ours[last],
              '' if published else 'NOT ', _PUBLISHED_WITHIN, _PUBLISHED,
              '' if close else 'NOT ', _BOTH_WITHIN, theirs[last]))
    title = 'nanoGPT\'s recipe for CPUs on tinyshakespeare, ' + (
        'one rank' if ranks == 1 else '%d ranks with DDP' % ranks)
    path = os.path.join(plots, 'nanogpt_%d_rank%s.svg' % (
        ranks, 's' if ranks > 1 else ''))
    with open(path, 'w', encoding='utf-8') as file:
      file.write(loss_curves.draw(title, (training, ours), (peer, theirs)))
    print('nanogpt: wrote ' + path, file=sys.stderr)
  return 0 if right else 1


if __name__ == '__main__':
  sys.exit(main(*sys.argv[1:]))
