"""Runs the measurements of measurements.py and prints one table.

usage: bench.py BINARIES [NAME... | list]

BINARIES is the folder that Bazel calls bazel-bin.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile

import jobs
import measurements


def figures(samples, unit):
  """Formats samples as min/median/max; without samples returns a text that says
  so."""
  if not samples:
    return '-'
  values = (min(samples), statistics.median(samples), max(samples))
  if values[1] == float('inf'):
    return 'never'
  if unit == 'MiB':
    return '/'.join('%.0f' % value for value in values) + ' MiB'
  if values[1] < 1:
    return '/'.join('%.1f' % (1000 * value) for value in values) + ' ms'
  return '/'.join('%.2f' % value for value in values) + ' s'


def row(one, ours, peer):
  ratio = '-'
  if ours and peer and statistics.median(peer) != float('inf'):
    ratio = '1/%.1f' % (statistics.median(peer) / statistics.median(ours))
  return '| %s | %s (%d) | %s %s (%d) | %s | %s |' % (
      one.title, figures(ours, one.unit), len(ours), one.peer_name,
      figures(peer, one.unit), len(peer), ratio, one.target)


def sample(function, bench, label):
  print('bench: ' + label, file=sys.stderr, flush=True)
  try:
    return function(bench)
  except (jobs.TimedOut, OSError, subprocess.SubprocessError) as error:
    print('bench: %s failed: %s' % (label, error), file=sys.stderr, flush=True)
    return []


def machine():
  with open('/proc/cpuinfo', encoding='utf-8') as file:
    model = [line.split(':')[1].strip() for line in file
             if line.startswith('model name')]
  return '%d x %s, Linux %s' % (
      os.cpu_count(), model[0] if model else platform.machine(),
      platform.release())


def main(binaries, names):
  known = [one.name for one in measurements.ALL]
  if names == ['list']:
    print('\n'.join(known))
    return 0
  unknown = set(names) - set(known)
  if unknown:
    print('bench: no measurement is called %s; there are: %s' % (
        ' '.join(sorted(unknown)), ' '.join(known)), file=sys.stderr)
    return 2
  rows = []
  with tempfile.TemporaryDirectory(prefix='muster-bench-') as folder:
    bench = measurements.Bench(binaries, folder)
    for one in measurements.ALL:
      if names and one.name not in names:
        continue
      ours = sample(one.ours, bench, one.name + ', launch')
      peer = sample(one.peer, bench, one.name + ', ' + one.peer_name)
      rows.append((row(one, ours, peer), bool(ours)))
  print('%s; min/median/max (samples); ratio of medians\n' % machine())
  print('| what | launch | peer | ratio | target |\n|---|---|---|---|---|')
  for text, _ in rows:
    print(text)
  return 0 if all(measured for _, measured in rows) else 1


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], sys.argv[2:]))
