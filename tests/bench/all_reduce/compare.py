"""Measures all_reduce of three libraries in turn, several times, and prints
tables.

usage: compare.py BINARIES [REPEATS]

BINARIES is the folder of all_reduce_shm, all_reduce_mpi and all_reduce_gloo.
"""

import os
import statistics
import subprocess
import sys

KIB = 1024
MIB = 1024 * KIB
SIZES = (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB,
         64 * MIB, 128 * MIB)
OURS = ('heap', 'private')
PEERS = ('OpenMPI', 'Gloo ring', 'Gloo bcube')


def commands(binaries, ranks):
  """Returns the command line of each program, without its sizes."""
  program = lambda name: os.path.join(binaries, name)
  mpirun = ['mpirun', '--allow-run-as-root', '--oversubscribe', '--bind-to',
            'none', '--mca', 'btl', 'self,vader', '-n', str(ranks)]
  return {
      'heap': [program('all_reduce_shm'), str(ranks), 'heap'],
      'private': [program('all_reduce_shm'), str(ranks), 'private'],
      'OpenMPI': mpirun + [program('all_reduce_mpi')],
      'Gloo ring': [program('all_reduce_gloo'), str(ranks), 'ring'],
      'Gloo bcube': [program('all_reduce_gloo'), str(ranks), 'bcube'],
  }


def measure(command, contents, sizes):
  """Runs one program. Returns the time of a call in microseconds, by number of
  bytes."""
  output = subprocess.run(
      command + [contents] + [str(size) for size in sizes], check=True,
      stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=300,
      text=True).stdout
  lines = (line.split() for line in output.splitlines())
  return {int(size): float(time) for size, time in lines}


def samples_of(binaries, ranks, contents, sizes, repeats):
  """Measures all programs in turn. Returns lists of times in microseconds, by
  program and number of bytes."""
  samples = {}
  for repeat in range(repeats):
    for name, command in commands(binaries, ranks).items():
      print('bench: %d ranks, %d of %d, %s' % (ranks, repeat + 1, repeats,
                                               name),
            file=sys.stderr, flush=True)
      for size, time in measure(command, contents, sizes).items():
        samples.setdefault((name, size), []).append(time)
  return samples


def size_text(size):
  return '%d MB' % (size // MIB) if size >= MIB else '%d KB' % (size // KIB)


def time_text(samples):
  values = (min(samples), statistics.median(samples), max(samples))
  if values[1] >= 1000:
    return '/'.join('%.2f' % (value / 1000) for value in values) + ' ms'
  return '/'.join('%.2f' % value for value in values) + ' us'


def print_table(samples, ranks, contents, sizes):
  print('\n%d ranks, data %s between the calls\n' % (ranks, contents))
  names = OURS + PEERS
  print('| bytes | %s | heap | private |' % ' | '.join(names))
  print('|---' * (len(names) + 3) + '|')
  for size in sizes:
    median = {name: statistics.median(samples[name, size]) for name in names}
    best = min(median[name] for name in PEERS)
    print('| %s | %s | %.1fx | %.1fx |' % (
        size_text(size),
        ' | '.join(time_text(samples[name, size]) for name in names),
        best / median['heap'], best / median['private']))


def main(binaries, repeats):
  print('all_reduce of float32 sums, in place; min/median/max of %d runs; '
        'ratios: the best peer\'s median / ours' % repeats)
  for ranks, contents, sizes in ((2, 'kept', SIZES), (2, 'written', SIZES[4:]),
                                 (4, 'kept', SIZES[:1])):
    samples = samples_of(binaries, ranks, contents, sizes, repeats)
    print_table(samples, ranks, contents, sizes)


if __name__ == '__main__':
  main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
