"""The training programs to compare. Each one runs one process per rank, and
each process is bound to a separate core."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(_HERE, os.pardir, os.pardir, 'compat'))

import interpreters


def _installed():
  """Returns the name and interpreter of each installed PyTorch, the newest
  first."""
  for name, version in (('PyTorch 2.15', interpreters.NEW),
                        ('PyTorch 1.13', interpreters.OLD)):
    why_not = interpreters.why_not(version)
    if why_not:
      print('bench: ' + why_not, file=sys.stderr)
    else:
      yield name, interpreters.PATHS[version]


PYTORCHES = tuple(_installed())
PYTORCH = PYTORCHES[0] if PYTORCHES else None


def commands(binaries, start, options, ranks):
  """Returns the command lines of the programs, which run steps on demand, by
  name."""
  script = os.path.join(_HERE, 'torch_steps.py')
  found = {'ours': [os.path.join(binaries, 'steps'), *options]}
  for name, interpreter in PYTORCHES:
    found[name] = [interpreter, script, start]
    # Measure compiled PyTorch (torch.compile) too, but only on one rank and
    # only for information: Muster's targets for speed are relative to PyTorch
    # without compilation. PyTorch 1.13 has no torch.compile.
    if ranks == 1 and name != 'PyTorch 1.13':
      found[name + ', compiled'] = [interpreter, script, start, 'compiled']
  return found


def _free_port():
  with socket.socket() as listener:
    listener.bind(('127.0.0.1', 0))
    return listener.getsockname()[1]


def _environment(rank, ranks, port):
  """Returns an environment with one thread for every library, and with
  torchrun's variables for a rank."""
  changes = {'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
  if ranks > 1:
    changes.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                   LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR='127.0.0.1',
                   MASTER_PORT=str(port))
  return interpreters.environment(**changes)


class Training:
  """The processes of one training, one per rank, on cores `first`, `first` + 1,
  …"""

  def __init__(self, command, ranks, first=0, **streams):
    port = _free_port()
    streams = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL,
               **streams}
    self.processes = [
        subprocess.Popen(
            [shutil.which('taskset'), '--cpu-list', str(first + rank),
             *command], text=True, env=_environment(rank, ranks, port),
            **streams) for rank in range(ranks)]

  def wait(self):
    for process in self.processes:
      if process.wait():
        raise subprocess.CalledProcessError(process.returncode, process.args)


class Contender(Training):
  """A program that runs steps on request, and uses no processor time between
  its turns."""

  def __init__(self, command, ranks):
    self.began = time.monotonic()
    super().__init__(command, ranks, stdin=subprocess.PIPE,
                     stdout=subprocess.PIPE)

  def take_steps(self, count):
    """Runs steps. Returns the output line of each rank (see steps.cc)."""
    for process in self.processes:
      process.stdin.write('%d\n' % count)
      process.stdin.flush()
    return [json.loads(process.stdout.readline())
            for process in self.processes]

  def end(self):
    for process in self.processes:
      process.stdin.close()
    self.wait()
