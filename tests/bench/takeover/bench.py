"""Kills the coordinator of a running job again and again.

usage: bench.py [KILLS]    (in bazel-bin)

The job has two nodes with two workers each. A worker makes a step every 10 ms,
and prints at its end the number of its steps and the longest pause between two
steps. For each kind of coordinator the program prints the time from the SIGKILL
until `launch status` shows all nodes connected to the next coordinator, the
number of workers' restarts, and the longest pause. For comparison it prints the
longest pause of a job whose coordinator is not killed.

In further jobs of 3, 5 and 8 nodes, the `launch` process of one node contains
the coordinator. The program kills that node with its workers, measures the time
until the other nodes are connected to the next coordinator and run, and then
starts the node again.

In the last jobs each node is a network namespace, and a spare contains the
coordinator. The program cuts the network of the spare: no packet passes, and no
connection is closed, as if the machine had lost its power. It measures the time
until the other nodes are connected to the next coordinator; their round must go
on. These jobs need root.
"""

import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

_TESTS = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
sys.path[:0] = [os.path.join(_TESTS, 'integration', 'etcd'),
                os.path.join(_TESTS, 'python')]

import free_port
import hosts
import process
import processes

_NODES = 2
_WORKERS = 2
_HOSTED_NODES = (3, 5, 8)
_SAID = 'this node coordinates the job now'
_MOVED = 'the job is coordinated at '
_MAX_ENDPOINTS = 8
_LIMIT_S = 60
_networks = itertools.count()
# Seconds for which the job runs between two kills, so that leases are renewed.
_PAUSE_S = 2
_WORKER = '''
import os, sys, time
steps, longest, last = 0, 0.0, time.monotonic()
while not os.path.exists(sys.argv[1]):
  time.sleep(0.01)
  now = time.monotonic()
  steps, longest, last = steps + 1, max(longest, now - last), now
print("worker: restart %s, %d steps, longest pause %.0f ms" % (
    os.environ["TORCHELASTIC_RESTART_COUNT"], steps, longest * 1000))
'''


class Bench:
  """One job with its coordinators."""

  def __init__(self, folder):
    self._folder = folder
    self._processes = []
    self._stop = os.path.join(folder, 'stop')
    self._endpoints = []
    self._nodes = []
    self._hosts = []

  def start(self, name, argv):
    started = process.Process(name, argv)
    self._processes.append(started)
    return started

  def start_daemon(self, endpoint, *options):
    return self.start('rendezvousd', [
        processes.DAEMON, '--listen', endpoint, *options])

  def start_nodes(self, endpoints):
    self._endpoints = endpoints
    self._nodes = [
        self.start('node', [
            processes.LAUNCH, '--rdzv-endpoint', ','.join(endpoints),
            '--rdzv-conf=is_host=0', '--rdzv-id=bench',
            '--nnodes=%d' % _NODES, '--node-rank=%d' % i,
            '--nproc-per-node=%d' % _WORKERS, '--no-python',
            sys.executable, '-c', _WORKER, self._stop])
        for i in range(_NODES)
    ]
    self.wait_connected()

  def start_hosted(self, index, nodes):
    """Starts a node of `nodes` at 127.0.0.N; the first one begins the job."""
    if not self._endpoints:
      port = free_port.free_port()
      self._endpoints = ['127.0.0.%d:%d' % (i + 1, port) for i in range(nodes)]
    return self._start_hosted(index, nodes, [], '127.0.0.%d' % (index + 1))

  def start_on_hosts(self, size):
    """Starts a job of `size` nodes and a spare, which contains the coordinator.
    Each node is a network namespace. Returns the namespace of the spare, and the
    `launch` processes of the spare and of the other nodes."""
    # Use a new network for each job: the kernel removes the old one later.
    network = next(_networks)
    bridge = hosts.Bridge('bench%d' % network, '10.87.%d.254' % network)
    for i in range(size + 1):
      address = '10.87.%d.%d' % (network, i + 1)
      self._hosts.append(hosts.Host(bridge, 'b%d-%d' % (network, i), address))
      self._endpoints.append(address + ':29400')
    # The first node is unhealthy until the others have begun the round.
    begun = os.path.join(self._folder, 'begun')
    spare, *self._nodes = [
        self._start_hosted(i, size, host.inside(), host.address,
                           *(['--health-command', 'test -e ' + begun,
                              '--health-interval=0.1'] if i == 0 else []))
        for i, host in enumerate(self._hosts)
    ]
    self.wait_for_nodes(size)
    with open(begun, 'w', encoding='ascii'):
      pass
    return self._hosts[0], spare, self._nodes

  def _start_hosted(self, index, nodes, inside, address, *options):
    return self.start('node', [
        *inside,
        processes.LAUNCH, '--rdzv-endpoint', self._endpoints[0],
        '--rdzv-conf=is_host=%d' % (index == 0), '--rdzv-id=bench',
        '--local-addr=' + address, '--node-id=n%d' % index,
        '--nnodes=%d:%d' % (nodes - 1, nodes),
        '--nproc-per-node=%d' % _WORKERS, *options, '--no-python',
        sys.executable, '-c', _WORKER, self._stop])

  def restarts_used(self):
    return self._status()['restarts_used']

  def wait_for_nodes(self, number):
    """Waits until this number of nodes are connected to one coordinator and
    running."""
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
      status = self._status()
      if status is not None and number == sum(
          node['connected'] and node['phase'] == 'running'
          for node in status['nodes']):
        return
    raise RuntimeError('%d nodes are not connected after %d s:\n%s' % (
        number, _LIMIT_S, ''.join(p.output for p in self._processes)))

  def _status(self):
    asked = subprocess.run(
        [processes.LAUNCH, 'status', '--json', '--run-id=bench',
         '--endpoint', ','.join(self._endpoints[:_MAX_ENDPOINTS])],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(asked.stdout) if asked.returncode == 0 else None

  def wait_connected(self):
    """Waits until all nodes are connected to one coordinator."""
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
      status = self._status()
      if status is not None:
        nodes = status['nodes']
        if len(nodes) == _NODES and all(
            node['connected'] and node['round'] == 1 for node in nodes):
          return
    raise RuntimeError('not all nodes are connected after %d s:\n%s' % (
        _LIMIT_S, ''.join(p.output for p in self._processes)))

  def finish(self):
    """Ends the workers. Returns (highest number of restarts, longest pause in
    ms)."""
    with open(self._stop, 'w', encoding='ascii'):
      pass
    restarts, pauses = [], []
    for node in self._nodes:
      if node.exit_code() != 0:
        raise RuntimeError(node.output)
      for times in range(1, _WORKERS + 1):
        found = node.wait_for(
            r'worker: restart (\d+), \d+ steps, longest pause (\d+) ms', times)
        restarts.append(int(found.group(1)))
        pauses.append(int(found.group(2)))
    return max(restarts), max(pauses)

  def end(self):
    for one in self._processes:
      one.end()
    for host in self._hosts:
      host.close()


def endpoint():
  return '127.0.0.1:%d' % free_port.free_port()


def time_kill(bench, coordinator, restart):
  """Returns the seconds from the kill until all nodes are connected again."""
  time.sleep(_PAUSE_S)
  begin = time.monotonic()
  coordinator.send(signal.SIGKILL)
  coordinator.exit_code()
  restart()
  bench.wait_connected()
  return time.monotonic() - begin


def undisturbed(bench, kills):
  one = endpoint()
  bench.start_daemon(one).wait_for('listening on')
  bench.start_nodes([one])
  time.sleep(_PAUSE_S * kills)
  return []


def restarted(bench, kills, folder):
  one = endpoint()
  options = ['--state-dir', os.path.join(folder, 'state')]
  daemon = [bench.start_daemon(one, *options)]
  daemon[0].wait_for('listening on')
  bench.start_nodes([one])

  def restart():
    daemon[0] = bench.start_daemon(one, *options)

  return [time_kill(bench, daemon[0], restart) for _ in range(kills)]


def shared(bench, kills, folder):
  etcd = bench.start('etcd', [
      'etcd', '--data-dir', os.path.join(folder, 'etcd'),
      '--listen-client-urls', 'http://127.0.0.1:0',
      '--advertise-client-urls', 'http://127.0.0.1:0',
      '--listen-peer-urls', 'http://127.0.0.1:0'])
  port = etcd.wait_for(r'client requests on 127\.0\.0\.1:(\d+)').group(1)
  options = ['--state', 'etcd://127.0.0.1:' + port]
  endpoints = [endpoint(), endpoint()]
  daemons = [bench.start_daemon(endpoints[0], *options)]
  daemons[0].wait_for('listening on')
  daemons.append(bench.start_daemon(endpoints[1], *options))
  daemons[1].wait_for('stands by')
  bench.start_nodes(endpoints)
  took = []
  for kill in range(kills):
    leader = kill % 2
    took.append(time_kill(bench, daemons[leader], lambda: None))
    daemons[leader] = bench.start_daemon(endpoints[leader], *options)
    daemons[leader].wait_for('stands by')
  return took


def hosted(bench, kills, size):
  """Returns the times in seconds, and the number of restarts that were spent.
  """
  nodes = [bench.start_hosted(i, size) for i in range(size)]
  bench.wait_for_nodes(size)
  host, took = 0, []
  for _ in range(kills):
    time.sleep(_PAUSE_S)
    before = [node.output.count(_SAID) for node in nodes]
    begin = time.monotonic()
    nodes[host].send(signal.SIGKILL)
    nodes[host].exit_code()
    bench.wait_for_nodes(size - 1)
    took.append(time.monotonic() - begin)
    nodes[host] = bench.start_hosted(host, size)
    bench.wait_for_nodes(size)
    host = next(i for i in range(size)
                if i != host and nodes[i].output.count(_SAID) > before[i])
  return took, bench.restarts_used()


def cut_off(bench, size, pause):
  """Cuts the network of the node that contains the coordinator, which is a
  spare. Returns the time in seconds until the other nodes are connected to the
  next coordinator, as their `launch` prints it. (While a coordinator is
  elected, `launch status` asks once a second, which is too coarse here.)"""
  host, spare, nodes = bench.start_on_hosts(size)
  time.sleep(pause)
  begin = time.monotonic()
  host.cut()
  for node in nodes:
    node.wait_for(_MOVED)
  took = time.monotonic() - begin
  host.heal()
  spare.wait_for(_MOVED)
  return took


def figures(samples):
  if not samples:
    return '–'
  return '%.2f/%.2f/%.2f s' % (
      min(samples), statistics.median(samples), max(samples))


def run_alone(run):
  """Runs `run` with a job of its own. Returns its result."""
  with tempfile.TemporaryDirectory(prefix='muster-bench-takeover-') as folder:
    bench = Bench(folder)
    try:
      return run(bench, folder)
    finally:
      bench.end()


def main(kills):
  why_not = hosts.enter_namespaces(['nsenter'])
  if why_not is None:
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
  print('| coordinator | kills | without coordinator: least/median/most | '
        'restarts | longest pause of a worker |\n|---|---|---|---|---|')

  def row(name, took, restarts, pause):
    print('| %s | %d | %s | %d | %s |' % (
        name, len(took), figures(took), restarts, pause), flush=True)

  for name, run in (
      ('lives', lambda bench, _: undisturbed(bench, kills)),
      ('`rendezvousd --state-dir`, started again at once',
       lambda bench, folder: restarted(bench, kills, folder)),
      ('two `rendezvousd --state=etcd://…`',
       lambda bench, folder: shared(bench, kills, folder))):
    took, restarts, pause = run_alone(
        lambda bench, folder: (run(bench, folder), *bench.finish()))
    row(name, took, restarts, '%d ms' % pause)
  for size in _HOSTED_NODES:
    took, restarts = run_alone(lambda bench, _: hosted(bench, kills, size))
    row('inside a `launch` of %d, killed with its node' % size, took, restarts,
        '–')
  if why_not is not None:
    print('no cut networks: ' + why_not, file=sys.stderr)
    return
  for size in _HOSTED_NODES:
    # Vary the time since the nodes' last message to the coordinator.
    cuts = [
        run_alone(lambda bench, _: (
            cut_off(bench, size, _PAUSE_S + cut / kills), *bench.finish()))
        for cut in range(kills)]
    took, restarts, pauses = zip(*cuts)
    row('inside a `launch` beside %d nodes, its network cut' % size, took,
        max(restarts), '%d ms' % max(pauses))


if __name__ == '__main__':
  main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
