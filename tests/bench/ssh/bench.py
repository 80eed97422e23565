"""Measures jobs over ssh on several addresses of this machine, with launch and
mpirun in turn.

usage: bench.py LAUNCH [REPETITIONS [HOSTS...]]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

_TESTS = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(_TESTS, 'ssh'))

import ssh_hosts

_PROGRAM = '/bin/true'
_LIMIT_S = 120


def took(command, folder):
  """Returns the seconds that a command takes; it must succeed."""
  begin = time.monotonic()
  done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL,
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


def main(launch, repetitions, counts):
  with tempfile.TemporaryDirectory(prefix='muster-bench-ssh-') as folder:
    hosts = ssh_hosts.Hosts(folder, count=max(counts))
    try:
      config = hosts.path('config')
      print('| hosts | launch --hostfile | mpirun | one ssh login | '
            'mpirun / launch, medians |\n|---|---|---|---|---|')
      for count in counts:
        names = ['h%d' % (i + 1) for i in range(count)]
        path = os.path.join(folder, 'hosts')
        with open(path, 'w', encoding='utf-8') as file:
          file.write(''.join(name + ' slots=1\n' for name in names))
        # Write names (h1, h2, ...) into the host file, not addresses. mpirun
        # would not use ssh for an address of this machine.
        commands = (
            [launch, '--quiet', '--hostfile', path, '--ssh-args',
             '-F ' + config, _PROGRAM],
            ['mpirun', '--allow-run-as-root', '--hostfile', path, '-np',
             str(count), '--mca', 'plm_rsh_agent', 'ssh -F ' + config,
             '--mca', 'oob_tcp_if_include', 'lo', _PROGRAM],
            ['ssh', '-F', config, names[0], _PROGRAM])
        samples = [[], [], []]
        for _ in range(repetitions):
          for command, kept in zip(commands, samples):
            kept.append(took(command, folder))
        print('| %d | %s | %s | %s | %.2f |' % (
            (count,) + tuple(map(figures, samples)) +
            (statistics.median(samples[1]) / statistics.median(samples[0]),)),
            flush=True)
    finally:
      hosts.stop()


if __name__ == '__main__':
  main(os.path.realpath(sys.argv[1]),
       int(sys.argv[2]) if len(sys.argv) > 2 else 15,
       [int(count) for count in sys.argv[3:]] or [1, 2, 4, 8])
