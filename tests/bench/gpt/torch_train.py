"""Runs a whole training with PyTorch. Writes a log in the format of
models/trainer.

usage: torch_train.py START LOG
"""

import json
import sys

import torch_trainer

_LOG_EVERY = 10
_VALIDATE_EVERY = 250


def main(start, path):
  trainer = torch_trainer.Trainer(start)
  steps = trainer.start.facts['steps']
  with open(path, 'w', encoding='utf-8') as log:
    def say(**facts):
      if trainer.rank == 0:
        print(json.dumps(facts), file=log, flush=True)

    for step in range(1, steps + 1):
      loss = trainer.step(step - 1)
      if step % _LOG_EVERY == 0:
        say(step=step, loss=trainer.mean_over_ranks(loss))
      if step % _VALIDATE_EVERY == 0 and trainer.rank == 0:
        say(step=step, validation_loss=trainer.validate())


if __name__ == '__main__':
  main(sys.argv[1], sys.argv[2])
