"""The demonstration's job: two `launch` on this machine, one worker killed.

usage: demo_job.py LAUNCH [--keep]

Exits 0 only if the worker was killed, the job went on from its checkpoint,
trained to its last step, and both `launch` exited 0.
"""

import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

_NODES = 2
_WORKERS = 2
_STEPS = 400
_KILL_AFTER_STEP = 180
_VICTIM_RANK = 3
# Far more than a slow machine takes; a hang must not look like progress.
_DEADLINE_S = 300
_STOP_S = 15

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STEP = re.compile(r'step +(\d+)  loss ([\d.]+)')
_RESUMED = re.compile(r'resumed at step (\d+)')


def free_port():
  with socket.socket() as probe:
    probe.bind(('127.0.0.1', 0))
    return probe.getsockname()[1]


def say(text):
  print('demo: ' + text, flush=True)


def pid_of_rank(run_id, rank):
  """The worker process of a rank, found by the environment it was given."""
  wanted = {b'TORCHELASTIC_RUN_ID=' + run_id.encode(), b'RANK=%d' % rank}
  for entry in os.listdir('/proc'):
    if not entry.isdigit():
      continue
    try:
      with open('/proc/%s/environ' % entry, 'rb') as file:
        if wanted <= set(file.read().split(b'\0')):
          return int(entry)
    except OSError:
      continue  # It ended meanwhile, or is somebody else's.
  return None


class Job:
  """Both nodes' processes and the lines that they print."""

  def __init__(self, launch, folder):
    self.run_id = 'demo-%d' % os.getpid()
    self.lines = queue.Queue()
    self.began = time.monotonic()
    endpoint = '127.0.0.1:%d' % free_port()
    # Debian's PyTorch belongs to Debian's Python, whatever PATH names first.
    environment = dict(os.environ, PYTHON_EXEC='/usr/bin/python3')
    command = [
        launch, '--nnodes', str(_NODES), '--nproc_per_node', str(_WORKERS),
        '--rdzv-endpoint', endpoint, '--rdzv-id', self.run_id,
        '--max-restarts', '3', '--log-dir', os.path.join(folder, 'logs'),
        os.path.join('examples', 'char_lm', 'train.py'),
        '--checkpoint-dir', os.path.join(folder, 'checkpoint'),
        '--steps', str(_STEPS)]
    say('on each of %d nodes: %s' % (_NODES, ' '.join(
        ['launch'] + command[1:])))
    self.nodes = []
    for node in range(_NODES):
      # A session of its own: Ctrl-C reaches it through stop(), once.
      process = subprocess.Popen(
          command, cwd=_ROOT, env=environment, stdin=subprocess.DEVNULL,
          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
          start_new_session=True)
      self.nodes.append(process)
      threading.Thread(
          target=self._read, args=(node, process), daemon=True).start()

  def _read(self, node, process):
    for line in process.stdout:
      self.lines.put((node, line.decode('utf-8', errors='replace').rstrip()))
    self.lines.put((node, None))

  def elapsed(self):
    return time.monotonic() - self.began

  def stop(self):
    """Asks both to stop, then makes them."""
    for number in (signal.SIGINT, signal.SIGKILL):
      for process in self.nodes:
        if process.poll() is None:
          process.send_signal(number)
      deadline = time.monotonic() + _STOP_S
      for process in self.nodes:
        try:
          process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
          break
      else:
        return


class Story:
  """What has been seen so far, and what is still to be seen."""

  def __init__(self):
    self.killed_at = None
    self.resumed_step = None
    self.losses = []

  def tell(self, job, line):
    """Follows one line of rank 0; kills the victim when its time has come."""
    resumed = _RESUMED.search(line)
    if resumed and self.killed_at is not None:
      self.resumed_step = int(resumed.group(1))
      say('training goes on from step %d, %.1f s after the kill' % (
          self.resumed_step, job.elapsed() - self.killed_at))
    step = _STEP.search(line)
    if not step:
      return
    self.losses.append((int(step.group(1)), float(step.group(2))))
    if self.killed_at is None and self.losses[-1][0] >= _KILL_AFTER_STEP:
      pid = pid_of_rank(job.run_id, _VICTIM_RANK)
      if pid is not None:
        say('---- kill -9 %d: rank %d dies now ----' % (pid, _VICTIM_RANK))
        os.kill(pid, signal.SIGKILL)
        self.killed_at = job.elapsed()

  def complaint(self, codes):
    """What is missing for a success, or None."""
    if self.killed_at is None:
      return 'the worker was never killed: the job ended too early'
    if self.resumed_step is None:
      return 'the job did not go on after the kill'
    if not self.losses or self.losses[-1][0] != _STEPS:
      return 'the job did not reach step %d' % _STEPS
    if any(codes):
      return 'launch exited with %s' % codes
    return None


def watch(job, story):
  """Shows every line until both nodes are done; their exit codes."""
  open_nodes = set(range(_NODES))
  while open_nodes:
    left = _DEADLINE_S - job.elapsed()
    if left <= 0:
      raise TimeoutError('not finished after %d s' % _DEADLINE_S)
    try:
      node, line = job.lines.get(timeout=min(left, 1))
    except queue.Empty:
      continue
    if line is None:
      open_nodes.discard(node)
      continue
    print('%5.1fs node%d| %s' % (job.elapsed(), node, line), flush=True)
    story.tell(job, line)
  return [process.wait(_STOP_S) for process in job.nodes]


def main(launch, keep):
  folder = tempfile.mkdtemp(prefix='muster-demo-')
  os.mkdir(os.path.join(folder, 'checkpoint'))
  job = Job(launch, folder)
  story = Story()
  try:
    complaint = story.complaint(watch(job, story))
  except KeyboardInterrupt:
    say('interrupted; stopping both nodes')
    job.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return 128 + signal.SIGINT
  except (TimeoutError, subprocess.TimeoutExpired) as error:
    complaint = str(error)
  finally:
    job.stop()
  if complaint:
    say('FAILED: %s. Logs: %s' % (complaint, folder))
    return 1
  say('done in %.1f s: rank %d killed, resumed at step %d, loss %.2f -> %.2f, '
      'both nodes exited 0' % (job.elapsed(), _VICTIM_RANK, story.resumed_step,
                               story.losses[0][1], story.losses[-1][1]))
  if keep:
    say('logs and checkpoint: ' + folder)
  else:
    shutil.rmtree(folder, ignore_errors=True)
  return 0


if __name__ == '__main__':
  if len(sys.argv) < 2 or sys.argv[2:] not in ([], ['--keep']):
    sys.exit('usage: tools/demo [--keep]')
  # A closed terminal or a `kill` cleans up as Ctrl-C does; and a shell that
  # starts it in the background has SIGINT ignored, which is not wanted here.
  for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, signal.default_int_handler)
  sys.exit(main(sys.argv[1], sys.argv[2:] == ['--keep']))
