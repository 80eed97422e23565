"""Measures Muster's Reducer and PyTorch's DDP in turn, several times, and
prints tables.

usage: compare.py BINARY [REPEATS [PYTHON]]

BINARY is reducer_bench. PYTHON is an interpreter with PyTorch, whose DDP is
measured too; without PYTHON the column for DDP is omitted.
"""

import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
STEPS = {'block': 20, 'tiny': 200, 'large': 20}
# The numerical libraries get one thread: `launch` gives each rank one core.
ENVIRONMENT = dict(os.environ, OPENBLAS_NUM_THREADS='1', OMP_NUM_THREADS='1',
                   MKL_NUM_THREADS='1')


def samples(command):
  """Returns tuples of times in microseconds: backward pass alone, backward pass
  with reduction, exposed communication."""
  output = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=600, text=True,
                          env=ENVIRONMENT).stdout
  return [tuple(map(float, line.split())) for line in output.splitlines()]


def measure(commands, repeats):
  """Returns the samples of several alternating runs, by the program's name."""
  found = {name: [] for name in commands}
  for repeat in range(repeats):
    for name, command in commands.items():
      print('bench: %d of %d, %s' % (repeat + 1, repeats, ' '.join(name)),
            file=sys.stderr, flush=True)
      found[name] += samples(command)
  return found


def median(values):
  return statistics.median(values)


def fastest(values):
  return statistics.quantiles(values, n=10)[0]


def row(name, found):
  bare = median([s[0] for s in found])
  reduced = median([s[1] for s in found])
  # s[0] is the time of a step without the reducer, and s[1] that of a step with
  # the reducer just after it. A disturbance of the machine affects both times,
  # so it affects their ratio less.
  over = median([s[1] / s[0] for s in found]) - 1
  # Also compare only the fastest steps: the fastest tenth of those with the
  # reducer, and the fastest tenth of those without it. Other processes of the
  # machine disturbed these steps least.
  quick = fastest([s[1] for s in found]) / fastest([s[0] for s in found]) - 1
  exposed = median([s[2] / s[1] for s in found])
  return '| %s | %.0f us | %.0f us | %+.2f %% | %+.2f %% | %.2f %% |' % (
      ' | '.join(name), bare, reduced, 100 * over, 100 * quick, 100 * exposed)


def main(binary, repeats=5, python=None):
  for ranks in (1, 2):
    commands = {}
    for shape, steps in STEPS.items():
      for place in ('own', 'bucket'):
        commands[shape, 'Reducer, ' + place] = [
            binary, str(ranks), shape, place, str(steps)]
      if python:
        commands[shape, 'PyTorch DDP'] = [
            python, os.path.join(HERE, 'torch_ddp.py'), str(ranks), shape,
            str(steps)]
    found = measure(commands, repeats)
    print('\n%d rank%s; medians of %d runs; what is over the bare loop is the '
          'median of ratios of steps that follow each other\n'
          % (ranks, 's' if ranks > 1 else '', repeats))
    print('| workload | by | bare | reduced | over | over, quickest tenth '
          '| exposed |')
    print('|---' * 7 + '|')
    for name in commands:
      print(row(name, found[name]), flush=True)


if __name__ == '__main__':
  main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:4])
