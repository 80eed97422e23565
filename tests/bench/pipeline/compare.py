"""Measures the pipeline schedules in turn, several times, and prints a table.

usage: compare.py BINARY [REPEATS]
"""

import os
import statistics
import subprocess
import sys

STEPS = 10
# Each case: number of ranks, number of pipeline stages for each rank, schedule,
# number of micro-batches.
CASES = [(2, 1, '1f1b', 8), (2, 1, 'gpipe', 8), (2, 1, 'zb1p', 8),
         (2, 2, 'interleaved_1f1b', 8)]
# The numerical library gets one thread: `launch` gives each rank one core.
ENVIRONMENT = dict(os.environ, OPENBLAS_NUM_THREADS='1')


def samples(binary, case):
  """Returns a tuple of times in microseconds for each step: the step's time,
  its ideal time, and the ideal time computed from its own passes."""
  command = [binary] + [str(part) for part in case] + [str(STEPS)]
  output = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=600, text=True,
                          env=ENVIRONMENT).stdout
  return [tuple(map(float, line.split())) for line in output.splitlines()]


def over(found, column):
  # step[0] is the measured time of a step. step[column] is one of the step's
  # two ideal times (see samples), computed from passes that were timed just
  # before the step or in it. A disturbance of the machine affects both times,
  # so it affects their ratio less.
  ratios = sorted(step[0] / step[column] - 1 for step in found)
  quarter = len(ratios) // 4
  return '%+.1f %% (%+.1f to %+.1f)' % (
      100 * statistics.median(ratios), 100 * ratios[quarter],
      100 * ratios[-1 - quarter])


def main(binary, repeats=5):
  found = {case: [] for case in CASES}
  for repeat in range(repeats):
    for case in CASES:
      print('bench: %d of %d, %s' % (repeat + 1, repeats, case),
            file=sys.stderr, flush=True)
      found[case] += samples(binary, case)
  print('\nMedians of %d steps; in brackets the middle half. Ideal: simulated, '
        'messages costing nothing, with\nwhat stages take alone while all '
        'ranks compute; and with what they took in the step itself.\n'
        % (repeats * STEPS))
  print('| schedule | p | v | m | step | ideal | over | over, own passes |')
  print('|---' * 8 + '|')
  for (ranks, chunks, schedule, batches), steps in found.items():
    print('| %s | %d | %d | %d | %.1f ms | %.1f ms | %s | %s |' % (
        schedule, ranks, chunks, batches,
        statistics.median(s[0] for s in steps) / 1e3,
        statistics.median(s[1] for s in steps) / 1e3,
        over(steps, 1), over(steps, 2)), flush=True)


if __name__ == '__main__':
  main(sys.argv[1], *map(int, sys.argv[2:3]))
