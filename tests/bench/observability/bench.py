"""Measures what observation costs the small GPT's training step.

usage: bench.py [ROUNDS]    (in bazel-bin)
       bench.py --worker FILE COMMAND…    runs a worker, and adds a line with its
                                          processor time in seconds to FILE

In each round the same training of two ranks runs three times: its ranks started
by this program with torchrun's variables, under `launch`, and under `launch`
with all observers at once: metrics of each rank scraped each second and written
to a text file, an open dashboard, `launch top` in a terminal, `launch watch`,
`launch logs -f` and log files. All observers run on the machine that trains. The flight recorder and the times of ranks are part of the training
library and measure in all three.

Prints medians over the rounds: the time of a step relative to the run under
`launch` of the same round; and the processor time that all other processes of a
run (launcher and observers, with their start and end) take, as a share of that
of the workers. Where others share the processors, the times of steps vary by
more than observation costs; the second figure does not.
"""

import contextlib
import gzip
import json
import os
import pty
import re
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                os.pardir, os.pardir, 'python'))

import free_port

_LAUNCH = os.path.realpath('launcher/launch')
_GPT = os.path.realpath('models/trainer/gpt')
_TEXT = '/usr/share/doc/jargon-text/jargon.txt.gz'
_RANKS = 2
_STEPS = 800
# Number of steps that run before the first measured one.
_WARM_UP = 60
_LIMIT_S = 300
_SCRAPE_S = 1
_RUN_ID = 'bench'


def train(folder):
  """Returns the command line of the training, without a launcher."""
  return [sys.executable, os.path.realpath(__file__), '--worker',
          os.path.join(folder, 'processor'), _GPT, 'train', '--data', os.path.join(folder, 'text'),
          '--micro-batches', str(_RANKS), '--steps', str(_STEPS),
          '--log-every', '20', '--log', os.path.join(folder, 'losses')]


def environment(**changes):
  kept = {name: value for name, value in os.environ.items()
          if not name.startswith(('MUSTER_', 'PET_'))}
  return {**kept, 'OMP_NUM_THREADS': '1', **changes}


def run_all(commands):
  """Starts (command, environment) pairs and waits until all have succeeded."""
  running = [subprocess.Popen(command, env=variables, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
             for command, variables in commands]
  try:
    for process in running:
      output, _ = process.communicate(timeout=_LIMIT_S)
      if process.returncode != 0:
        raise RuntimeError('%s: %s' % (process.args, output))
  finally:
    for process in running:
      process.kill()
      process.wait()


def without_launcher(folder):
  port = str(free_port.free_port())
  run_all([(train(folder), environment(
      RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(_RANKS),
      LOCAL_WORLD_SIZE=str(_RANKS), MASTER_ADDR='127.0.0.1', MASTER_PORT=port))
           for rank in range(_RANKS)])


def job(endpoint, *options):
  return [_LAUNCH, '--nnodes=1', '--nproc-per-node=%d' % _RANKS,
          '--rdzv-id=' + _RUN_ID, '--rdzv-endpoint=' + endpoint, *options]


def under_launch(folder):
  endpoint = '127.0.0.1:%d' % free_port.free_port()
  run_all([(job(endpoint) + train(folder), environment())])


class Observers:
  """Everything that watches a job, until `end`."""

  def __init__(self, endpoint, metrics, dashboard):
    self._ended = threading.Event()
    # Counters of the observers: successful requests for the page of metrics,
    # job states that the dashboard has sent, and bytes that the commands have
    # written.
    self.seen = {'scrapes': 0, 'states': 0}
    self._threads = [
        threading.Thread(target=self._scrape, args=[metrics]),
        threading.Thread(target=self._read_states, args=[endpoint, dashboard])]
    for command in (['watch'], ['logs', '-f'], ['top']):
      self.seen[command[0]] = 0
      self._threads.append(threading.Thread(
          target=self._follow, args=[command[0], [
              _LAUNCH, *command, '--endpoint', endpoint, '--run-id', _RUN_ID]]))
    for thread in self._threads:
      thread.start()

  def _follow(self, name, command):
    """Runs the command in a terminal, again and again until the job has begun
    and until `end`."""
    while not self._ended.wait(0.1):
      screen, terminal = pty.openpty()
      process = subprocess.Popen(
          command, env=environment(TERM='xterm'), stdin=terminal,
          stdout=terminal, stderr=subprocess.DEVNULL)
      os.close(terminal)
      try:
        while not self._ended.is_set():
          if select.select([screen], [], [], 0.1)[0]:
            self.seen[name] += len(os.read(screen, 65536))
      except OSError:
        pass  # the command has ended
      finally:
        process.kill()
        process.wait()
        os.close(screen)

  def _scrape(self, address):
    while not self._ended.wait(_SCRAPE_S):
      with contextlib.suppress(OSError):
        with urllib.request.urlopen('http://%s/metrics' % address,
                                    timeout=5) as page:
          self.seen['scrapes'] += bool(page.read())

  def _read_states(self, endpoint, address):
    """Reads the dashboard's stream with the token of the local job."""
    while not self._ended.wait(0.1):
      token = subprocess.run(
          [_LAUNCH, 'token', '--role', 'view', '--endpoint', endpoint],
          env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
          stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
      request = urllib.request.Request(
          'http://%s/api/events?id=%s' % (address, _RUN_ID),
          headers={'Authorization': 'Bearer ' + token})
      with contextlib.suppress(OSError):
        with urllib.request.urlopen(request, timeout=5) as stream:
          for line in stream:
            self.seen['states'] += line.startswith(b'data:')

  def end(self):
    self._ended.set()
    for thread in self._threads:
      thread.join()


def observed(folder):
  endpoint, metrics, dashboard = (
      '127.0.0.1:%d' % free_port.free_port() for _ in range(3))
  observers = Observers(endpoint, metrics, dashboard)
  try:
    run_all([(job(endpoint, '--metrics-listen=' + metrics, '--metrics-ranks',
                  '--metrics-textfile=' + os.path.join(folder, 'page.prom'),
                  '--dashboard-listen=' + dashboard,
                  '--log-dir=' + os.path.join(folder, 'logs'),
                  '--tee=3') + train(folder), environment())])
  finally:
    observers.end()
  if not all(observers.seen.values()):
    raise RuntimeError('an observer saw nothing: %s' % observers.seen)


def tokens_per_s(folder):
  """Returns the median speed of the steps after the warm-up, and removes the
  log."""
  path = os.path.join(folder, 'losses')
  with open(path, encoding='utf-8') as log:
    lines = [json.loads(line) for line in log]
  os.remove(path)
  # Log lines with a validation loss have no tokens_per_s. Skip these lines.
  return statistics.median(
      line['tokens_per_s'] for line in lines
      if line['step'] > _WARM_UP and 'tokens_per_s' in line)


def processor_s(whose):
  """Returns a processor time in seconds; `whose`: as in resource.getrusage."""
  used = resource.getrusage(whose)
  return used.ru_utime + used.ru_stime


def run_worker(path, command):
  code = subprocess.call(command)
  used = (processor_s(resource.RUSAGE_CHILDREN) +
          processor_s(resource.RUSAGE_SELF))
  with open(path, 'a', encoding='utf-8') as file:
    file.write('%r\n' % used)
  return code


def share_of_others(folder, all_s):
  """Returns the processor time of the run without its workers, relative to that
  of the workers, and removes the file. `all_s`: processor time of the run."""
  path = os.path.join(folder, 'processor')
  with open(path, encoding='utf-8') as file:
    workers = [float(line) for line in file]
  os.remove(path)
  assert len(workers) == _RANKS, workers
  return all_s / sum(workers) - 1


def main(rounds):
  ways = {'no launcher': without_launcher, '`launch`': under_launch,
          '`launch`, all observers': observed}
  speeds = {name: [] for name in ways}
  shares = {name: [] for name in ways}
  with tempfile.TemporaryDirectory(prefix='muster-bench-') as folder:
    with gzip.open(_TEXT, 'rb') as source:
      text = re.sub(rb'[^\n -~]', b'', source.read())
    with open(os.path.join(folder, 'text'), 'wb') as file:
      file.write(text)
    for number in range(rounds):
      print('bench: round %d of %d' % (number + 1, rounds), file=sys.stderr,
            flush=True)
      for name in list(ways)[::-1 if number % 2 else 1]:
        before = processor_s(resource.RUSAGE_CHILDREN)
        ways[name](folder)
        shares[name].append(share_of_others(
            folder, processor_s(resource.RUSAGE_CHILDREN) - before))
        speeds[name].append(tokens_per_s(folder))
  print('| training of %d ranks, %d times each | tokens/s | time of a step | '
        'processor time beside the workers |\n|---|---|---|---|' % (
            _RANKS, rounds))
  for name, samples in speeds.items():
    step = statistics.median(
        base / one for base, one in zip(speeds['`launch`'], samples))
    print('| %s | %.0f/%.0f/%.0f | %.4f | %.2f %% |' % (
        name, min(samples), statistics.median(samples), max(samples), step,
        100 * statistics.median(shares[name])))


if __name__ == '__main__':
  if sys.argv[1:2] == ['--worker']:
    sys.exit(run_worker(sys.argv[2], sys.argv[3:]))
  main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
