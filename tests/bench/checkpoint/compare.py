"""Measures checkpoints of Muster and PyTorch in turn, several times, and prints
a table.

usage: compare.py BINARY FOLDER [REPEATS [PYTHON]]

BINARY is checkpoint_bench. FOLDER is on the disk to which checkpoints are
written. PYTHON is an interpreter with PyTorch 2.x, which is measured too.
"""

import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
MIB = (16, 256)
SAVES = 4
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS='1', PYTHONWARNINGS='ignore',
                   GLOO_SOCKET_IFNAME='lo', TORCH_CPP_LOG_LEVEL='ERROR')


def samples(command, folder):
  """Returns the times of each save in milliseconds: until the training
  continues, until all is written and, for Muster's, the comparison."""
  with tempfile.TemporaryDirectory(dir=folder) as place:
    output = subprocess.run(command + [place], check=True, timeout=600,
                            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            text=True, env=ENVIRONMENT).stdout
  # Make the kernel write this run's checkpoints to the disk now. Otherwise it
  # would write them during the next run, and slow that run down.
  os.sync()
  return [tuple(map(float, line.split())) for line in output.splitlines()]


def main(binary, folder, repeats=3, python=None):
  ours = 'CheckpointWriter'
  for ranks in (1, 2):
    for mib in MIB:
      size = [str(ranks), str(mib), str(SAVES)]
      commands = {ours: [binary] + size}
      if python:
        theirs = [python, os.path.join(HERE, 'torch_saves.py')]
        commands['torch.save'] = theirs + ['save'] + size
        commands['DCP async_save'] = theirs + ['dcp'] + size
      found = {name: [] for name in commands}
      for repeat in range(int(repeats)):
        for name, command in commands.items():
          print('bench: %d of %s, %s, %d MiB, %d ranks' % (
              repeat + 1, repeats, name, mib, ranks), file=sys.stderr,
                flush=True)
          found[name] += samples(command, folder)
      print('\n%d MiB, the same on %d rank%s; medians of %s runs of %d saves\n'
            % (mib, ranks, 's' if ranks > 1 else '', repeats, SAVES))
      print('| by | training waits | ratio | comparing replicas '
            '| until it is written |')
      print('|---' * 5 + '|')
      base = statistics.median(s[0] for s in found[ours])
      for name, saves in found.items():
        blocked = statistics.median(s[0] for s in saves)
        written = statistics.median(s[1] for s in saves)
        compared = '–'
        if name == ours:
          compared = '%.1f ms' % statistics.median(s[2] for s in saves)
        print('| %s | %.1f ms | %.1f | %s | %.0f ms |' % (
            name, blocked, blocked / base, compared, written), flush=True)


if __name__ == '__main__':
  main(*sys.argv[1:])
