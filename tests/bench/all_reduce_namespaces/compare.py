"""Compares all_reduce of Muster, Gloo and OpenMPI between network namespaces.

Creates two namespaces that a veth pair joins, and runs each library in turn,
several rounds. Prints the medians over the rounds, and the ratio of the fastest
other library to Muster.

usage: compare.py WORKER MPI_WORKER ROUNDS [CONTENDER...]
"""

import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

OURS = ('tcp', 'tcp_encrypted', 'gloo')
PEERS = ('gloo_ring', 'gloo_bcube', 'gloo_halving_doubling', 'openmpi')


def sh(*command):
  subprocess.run(command, check=True)


@contextlib.contextmanager
def namespaces():
  """Creates two network namespaces joined by a veth pair. Yields their names
  and addresses."""
  names = ['musterbench%d_%d' % (os.getpid(), i) for i in (0, 1)]
  addresses = ['10.213.77.1', '10.213.77.2']
  links = ['mb%dx%d' % (os.getpid(), i) for i in (0, 1)]
  try:
    for name in names:
      sh('ip', 'netns', 'add', name)
    sh('ip', 'link', 'add', links[0], 'netns', names[0], 'type', 'veth',
       'peer', 'name', links[1], 'netns', names[1])
    for name, address, link in zip(names, addresses, links):
      sh('ip', '-n', name, 'addr', 'add', address + '/24', 'dev', link)
      sh('ip', '-n', name, 'link', 'set', link, 'up')
      sh('ip', '-n', name, 'link', 'set', 'lo', 'up')
    yield names, addresses
  finally:
    for name in names:
      subprocess.run(['ip', 'netns', 'del', name], check=False)


@contextlib.contextmanager
def store(worker, names, scratch):
  """Starts a store in the first namespace. Yields its port."""
  port_file = os.path.join(scratch, 'port')
  server = subprocess.Popen(
      ['ip', 'netns', 'exec', names[0], worker, 'store', port_file])
  try:
    while not os.path.exists(port_file):
      time.sleep(0.01)
    with open(port_file) as file:
      yield file.read().strip()
  finally:
    server.send_signal(signal.SIGTERM)
    server.wait()


def run_worker(kind, worker, names, addresses):
  with tempfile.TemporaryDirectory() as scratch:
    environment = dict(os.environ, GLOO_STORE_FOLDER=scratch)
    with store(worker, names, scratch) as port:
      ranks = [
          subprocess.Popen(
              ['ip', 'netns', 'exec', names[rank], worker, kind, str(rank),
               '2', addresses[rank], addresses[0], port],
              env=environment, stdout=subprocess.PIPE, text=True)
          for rank in (0, 1)
      ]
      output = [rank.communicate(timeout=300)[0] for rank in ranks]
      assert all(rank.returncode == 0 for rank in ranks), kind
      return output[0]


def run_openmpi(mpi_worker, names, addresses):
  """Runs mpirun in the first namespace, with its daemon in the second."""
  with tempfile.TemporaryDirectory() as scratch:
    agent = os.path.join(scratch, 'agent')
    with open(agent, 'w') as file:
      # mpirun runs this script in place of ssh, with the arguments HOST and
      # COMMAND. The script runs COMMAND in the second namespace.
      file.write('#!/bin/sh\nshift\nexec ip netns exec %s sh -c "$*"\n' %
                 names[1])
    os.chmod(agent, 0o755)
    subnet = addresses[0].rsplit('.', 1)[0] + '.0/24'
    # Do not bind OpenMPI's ranks to cores, because Muster's ranks are not bound
    # either.
    done = subprocess.run(
        ['ip', 'netns', 'exec', names[0], 'mpirun', '--allow-run-as-root',
         '--host', '%s:1,%s:1' % tuple(addresses), '-np', '2',
         '--map-by', 'node', '--bind-to', 'none',
         '--mca', 'plm_rsh_agent', agent, '--mca', 'btl', 'tcp,self',
         '--mca', 'pml', 'ob1',
         '--mca', 'btl_tcp_if_include', subnet,
         '--mca', 'oob_tcp_if_include', subnet, mpi_worker],
        stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    return done.stdout


def parse(output):
  rows = (line.split() for line in output.splitlines())
  return {int(row[0]): float(row[1]) for row in rows if len(row) == 2}


def print_table(figures, kinds):
  print('\nmicroseconds, medians of %d rounds; ratio: best peer / ours' %
        max(len(f) for f in figures[kinds[0]].values()))
  print('%10s' % 'bytes' + ''.join('%23s' % kind for kind in kinds) +
        '%10s' % 'ratio')
  for size in sorted(figures[kinds[0]]):
    row = {kind: statistics.median(figures[kind][size]) for kind in kinds}
    peers = [row[kind] for kind in kinds if kind in PEERS]
    ratio = '%10.2f' % (min(peers) / row['tcp']) if peers and 'tcp' in row \
        else ''
    print('%10d' % size + ''.join('%23.1f' % row[kind] for kind in kinds) +
          ratio)


def main():
  worker, mpi_worker, rounds = sys.argv[1:4]
  kinds = sys.argv[4:] or [*OURS, *PEERS]
  if shutil.which('ip') is None or os.geteuid() != 0:
    sys.exit('needs iproute2 and the right to make network namespaces (root)')
  figures = {kind: {} for kind in kinds}
  with namespaces() as (names, addresses):
    for _ in range(int(rounds)):
      for kind in kinds:
        output = (run_openmpi(mpi_worker, names, addresses)
                  if kind == 'openmpi' else
                  run_worker(kind, worker, names, addresses))
        for size, microseconds in parse(output).items():
          figures[kind].setdefault(size, []).append(microseconds)
        print('.', end='', flush=True)
  print_table(figures, kinds)


if __name__ == '__main__':
  main()
