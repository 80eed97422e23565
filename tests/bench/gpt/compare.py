"""Trains with Muster's program and with PyTorch in turn, and prints tables.

usage: compare.py BINARIES TEXT [ROUNDS]

BINARIES is the folder of `start` and `steps`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from contenders import Contender, commands

_WARM_UP = 30
# The programs take turns. This is the number of steps that a program runs in
# one turn. It is small, so that a disturbance of the machine affects all
# programs alike.
_STEPS = 10


def figures(samples, factor, unit):
  return '%s %s' % ('/'.join('%.1f' % (factor * value) for value in (
      min(samples), statistics.median(samples), max(samples))), unit)


class Measurements:
  """The measurements of one program: times of its steps in seconds, and its
  exposed communication."""

  def __init__(self, command, ranks):
    self.contender = Contender(command, ranks)
    ready = self.contender.take_steps(1)[0]
    self.first_step = time.monotonic() - self.contender.began
    self.first_loss = ready['loss']
    self.contender.take_steps(_WARM_UP - 1)
    self.seconds = []
    # For each call of turn() and each rank: the fraction of the steps' time for
    # which the rank waited for gradients (exposed communication time).
    self.exposed = []
    self.peak_mib = 0

  def turn(self):
    said = self.contender.take_steps(_STEPS)
    self.seconds += said[0]['seconds']
    if said[0]['exposed'] is not None:
      self.exposed += [each['exposed'] / sum(each['seconds']) for each in said]
    self.peak_mib = said[0]['peak_kib'] / 1024
    self.loss = said[0]['loss']


def race(binaries, text, ranks, rounds):
  with tempfile.TemporaryDirectory(prefix='muster-bench-') as start:
    # Each step has as many micro-batches as there are ranks. So in each step,
    # each rank trains on one micro-batch, which has 12 windows of the text.
    options = ['--data', text, '--micro-batches', str(ranks), '--steps', '1000']
    subprocess.run([os.path.join(binaries, 'start'), start, *options],
                   check=True)
    contenders = commands(binaries, start, options, ranks)
    measured = {name: Measurements(command, ranks)
               for name, command in contenders.items()}
    for number in range(rounds):
      print('bench: %d ranks, round %d of %d' % (ranks, number + 1, rounds),
            file=sys.stderr, flush=True)
      # Alternate the order. Otherwise each program would always run after the
      # same other program.
      for measurements in list(measured.values())[::-1 if number % 2 else 1]:
        measurements.turn()
    for measurements in measured.values():
      measurements.contender.end()
  return measured


def print_table(measured, ranks, target):
  print('\n%d rank%s, each on one core; %d steps each\n' % (
      ranks, 's' if ranks > 1 else '', len(measured['ours'].seconds)))
  print('| who | step | ratio | exposed communication | first step after | '
        'peak memory | last loss |\n|---|---|---|---|---|---|---|')
  ours = statistics.median(measured['ours'].seconds)
  for name, measurements in measured.items():
    print('| %s | %s | %s | %s | %.2f s | %.0f MiB | %.4f |' % (
        name, figures(measurements.seconds, 1000, 'ms'),
        '-' if name == 'ours' else '%.2f (aim: %s)' % (
            statistics.median(measurements.seconds) / ours, target),
        figures(measurements.exposed, 100, '%')
        if ranks > 1 and measurements.exposed else '-',
        measurements.first_step, measurements.peak_mib, measurements.loss))


def main(binaries, text, rounds):
  print('One step: 12 windows of 64 characters on each rank, 4 layers, 4 heads, '
        'width 128; min/median/max; ratio: the peer\'s median / ours')
  for ranks, target in ((1, '1'), (2, '1.2')):
    print_table(race(binaries, text, ranks, rounds), ranks, target)


if __name__ == '__main__':
  main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 15)
