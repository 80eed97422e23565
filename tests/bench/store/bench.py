"""Compares the server of Muster's store with PyTorch's.

  bench.py BIN_FOLDER [throughput] [scale]

throughput: PyTorch's own client, in this Python, calls set, get and add. scale:
the program `load` opens 1,000 connections, the same for every server. Each
repetition measures all servers, alternately in this order and in reverse.
Ratios are ratios of the medians. In `scale` the program `bare_sends` shows the
lower bound: a server with one thread and only the necessary system calls.
"""

import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time

REPETITIONS = 11
OPERATIONS = {'set': 10000, 'get': 1500, 'add': 1500}
CONNECTIONS = 1000
# The lines of Debian's own /etc/hosts. PyTorch's server looks up the name of
# each peer. Without these lines and with an unreachable resolver, the benchmark
# would only measure the look-ups.
HOSTS = '127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n'
PEER = '''
import datetime, sys
import torch.distributed as d
more = {} if sys.argv[1] == 'default' else {'use_libuv': sys.argv[1] == 'libuv'}
s = d.TCPStore('127.0.0.1', int(sys.argv[2]), 1, True,
               datetime.timedelta(seconds=60), wait_for_workers=False, **more)
print(s.port, flush=True)
sys.stdin.read()
'''


class Server:
  """A store server that runs in a separate process."""

  def __init__(self, name, command, framing='modern'):
    self.name = name
    self.framing = framing
    self._process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    self.port = int(self._process.stdout.readline())
    self.pid = self._process.pid

  def stop(self):
    self._process.stdin.close()
    self._process.wait()


def quick_hosts():
  """Returns the beginning of a command line that runs a command with HOSTS as
  its /etc/hosts. Empty if this process may not do so."""
  hosts = tempfile.NamedTemporaryFile('w', delete=False)
  hosts.write(HOSTS)
  hosts.close()
  wrap = ['unshare', '-m', 'sh', '-c',
          'mount --bind %s /etc/hosts && exec "$@"' % hosts.name, 'sh']
  if subprocess.run(wrap + ['true'], capture_output=True).returncode != 0:
    return []
  return wrap


def servers(bin_folder):
  import torch
  wrap = quick_hosts()
  version = torch.__version__.split('+')[0]
  peer = wrap + [sys.executable, '-c', PEER]
  if not hasattr(torch.distributed.Store, 'append'):
    framing = 'old'
    pytorch = [Server('PyTorch %s' % version, peer + ['default', '29871'],
                      framing)]
  else:
    framing = 'modern'
    pytorch = [Server('PyTorch %s, libuv' % version, peer + ['libuv', '0']),
               Server('PyTorch %s, legacy' % version, peer + ['legacy', '0'])]
  ours = Server('ours', [os.path.join(bin_folder, 'serve')], framing)
  bare = Server('bare sends', [os.path.join(bin_folder, 'bare_sends')], framing)
  return [ours] + pytorch, bare


def client(ports, number, pipe):
  import datetime
  import torch.distributed as dist
  stores = [dist.TCPStore('127.0.0.1', port, 2, False,
                          datetime.timedelta(seconds=60),
                          wait_for_workers=False) for port in ports]
  value = 'v' * 64
  mine = 'key%d' % number
  for store in stores:
    store.set('shared', value)
  pipe.send('ready')
  while True:
    order = pipe.recv()
    if order is None:
      return
    which, operation, count = order
    store = stores[which]
    if operation == 'set':
      for _ in range(count):
        store.set(mine, value)
      # The server sends no reply to a set. So get the key: the reply shows that
      # the server has handled all sets.
      store.get(mine)
    elif operation == 'get':
      for _ in range(count):
        store.get('shared')
    else:
      for _ in range(count):
        store.add('number', 1)
    pipe.send('done')


def in_pairs(peers, measure):
  """Returns a list of REPETITIONS results for each server. One more repetition
  comes first and does not count."""
  results = [[] for _ in peers]
  for repetition in range(REPETITIONS + 1):
    order = list(range(len(peers)))
    for which in order if repetition % 2 else reversed(order):
      result = measure(which)
      if repetition:
        results[which].append(result)
  return results


def throughput(peers):
  print('| operations a second | clients | %s |' %
        ' | '.join(p.name for p in peers + peers[1:]))
  for clients in (1, 2, 8):
    pipes, processes = [], []
    for number in range(clients):
      near, far = multiprocessing.Pipe()
      process = multiprocessing.Process(
          target=client, args=([p.port for p in peers], number, far))
      process.start()
      near.recv()
      pipes.append(near)
      processes.append(process)
    for operation in ('set', 'get', 'add'):
      count = OPERATIONS[operation] // (2 if clients > 2 else 1)

      def measure(which):
        begin = time.perf_counter()
        for pipe in pipes:
          pipe.send((which, operation, count))
        for pipe in pipes:
          pipe.recv()
        return count * clients / (time.perf_counter() - begin)

      row = in_pairs(peers, measure)
      median = [statistics.median(r) for r in row]
      cells = ['%.1fk/%.1fk/%.1fk' % (min(r) / 1e3, m / 1e3, max(r) / 1e3)
               for r, m in zip(row, median)]
      cells += ['%.2f' % (median[0] / m) for m in median[1:]]
      print('| %s | %d | %s |' % (operation, clients, ' | '.join(cells)),
            flush=True)
    for pipe in pipes:
      pipe.send(None)
    for process in processes:
      process.join()


def scale(peers, load):
  print('| %d connections, ms | %s |' %
        (CONNECTIONS, ' | '.join(p.name for p in peers + peers[1:])))
  for mode in ('join', 'connect', 'release'):

    def measure(which):
      server = peers[which]
      return float(subprocess.check_output(
          [load, mode, server.framing, str(server.port), str(server.pid),
           str(CONNECTIONS)])) / 1e3

    row = in_pairs(peers, measure)
    median = [statistics.median(r) for r in row]
    cells = ['%.1f/%.1f/%.1f' % (min(r), m, max(r))
             for r, m in zip(row, median)]
    cells += ['%.2f' % (m / median[0]) for m in median[1:]]
    print('| %s | %s |' % (mode, ' | '.join(cells)), flush=True)


def main():
  multiprocessing.set_start_method('spawn')
  wanted = sys.argv[2:] or ['throughput', 'scale']
  peers, bare = servers(sys.argv[1])
  try:
    print('(min/median/max of %d; ratios: how many times better ours is)' %
          REPETITIONS)
    if 'throughput' in wanted:
      throughput(peers)
    if 'scale' in wanted:
      scale(peers + [bare], os.path.join(sys.argv[1], 'load'))
  finally:
    for server in peers + [bare]:
      server.stop()


if __name__ == '__main__':
  main()
