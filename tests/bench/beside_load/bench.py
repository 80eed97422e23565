"""Measures launch and torchrun in turn while other programs use the processors.

usage: bench.py LAUNCH TORCH_PYTHON [REPETITIONS [WORKERS [BUSY]]]

The other programs are BUSY processes that never wait, each in a session of its
own, like programs of other users.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

_LIMIT_S = 600
_WORK = '''
total = 0
for i in range(%d):
  total += i
'''


def iterations(seconds):
  """Returns the number of loop iterations that take this time on an idle
  processor."""
  count = 200_000
  while True:
    begin = time.process_time()
    exec(_WORK % count, {})  # pylint: disable=exec-used
    took = time.process_time() - begin
    if took > 0.2:
      return int(count * seconds / took)
    count *= 2


def took(command):
  """Returns the seconds that a command takes; it must succeed."""
  begin = time.monotonic()
  done = subprocess.run(command, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        timeout=_LIMIT_S, check=False)
  seconds = time.monotonic() - begin
  if done.returncode != 0:
    raise RuntimeError('%s: %s' % (' '.join(command),
                                   done.stdout.decode(errors='replace')))
  return seconds


def figures(samples):
  return '%.2f/%.2f/%.2f s' % (
      min(samples), statistics.median(samples), max(samples))


def autogroup():
  try:
    with open('/proc/sys/kernel/sched_autogroup_enabled',
              encoding='utf-8') as file:
      return file.read().strip()
  except OSError:
    return 'not there'


def main(launch, python, repetitions, workers, busy):
  with tempfile.NamedTemporaryFile('w', suffix='.py') as script:
    script.write(_WORK % iterations(seconds=2))
    script.flush()
    flags = ['--standalone', '--nproc-per-node=%d' % workers]
    # With PYTHON_EXEC, `launch` starts its workers with the same Python
    # interpreter as torchrun.
    commands = (['env', 'PYTHON_EXEC=' + python, launch, '--quiet', *flags,
                 script.name],
                [python, '-m', 'torch.distributed.run', *flags, script.name])
    load = [subprocess.Popen([sys.executable, '-c', 'while True: pass'],
                             start_new_session=True) for _ in range(busy)]
    samples = [[], []]
    try:
      for _ in range(repetitions):
        for command, kept in zip(commands, samples):
          kept.append(took(command))
    finally:
      for process in load:
        process.kill()
        process.wait()
  print('%d workers of 2 s of work each, beside %d busy processes, on %d '
        'processors; sched_autogroup_enabled: %s\n' % (
            workers, busy, os.cpu_count(), autogroup()))
  print('| launch | torchrun | torchrun / launch, medians |\n|---|---|---|')
  print('| %s | %s | %.2f |' % (
      *map(figures, samples),
      statistics.median(samples[1]) / statistics.median(samples[0])))


if __name__ == '__main__':
  numbers = [int(word) for word in sys.argv[3:]]
  main(os.path.realpath(sys.argv[1]), sys.argv[2],
       *(numbers + [5, 4, 3][len(numbers):]))
