#!/usr/bin/python3
"""A link named torchrun behaves as the real torchrun."""

import os
import re
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_HERE))
sys.path[:0] = [_HERE, os.path.join(_ROOT, 'tests', 'python')]

import interpreters
import launched
import xml_main

_PYTHON = interpreters.PATHS[interpreters.NEW]
_MODULE = ['-m', 'torch.distributed.run']
# Variables whose values differ between any two runs of torchrun.
_EACH_RUNS_OWN = {'MASTER_PORT', 'TORCHELASTIC_RUN_ID',
                  'TORCHELASTIC_ERROR_FILE'}
# Variables that may be set by the shell script with which this Python
# interpreter is started.
_PYTHONS = {'LD_LIBRARY_PATH', 'OLDPWD', 'PWD', 'SHLVL', '_'}
# Variables to which Muster gives another value than torchrun on purpose.
# MASTER_ADDR: Muster sets an address, torchrun a name that must be resolved.
_ON_PURPOSE = {'MASTER_ADDR'}


def _of_launchers(environment):
  """Returns the variables of a worker that every launcher must set to the same
  values."""
  return {name: value for name, value in environment.items()
          if name not in _EACH_RUNS_OWN | _PYTHONS | _ON_PURPOSE
          # Exported shell functions (BASH_FUNC_…) are omitted, because sh does
          # not pass them on to the programs that it starts.
          and not name.startswith(('MUSTER_', 'BASH_FUNC_'))}


def _spoken(lines):
  """Returns the workers' lines on the console, without prefixes."""
  return sorted(re.findall(r'(?:out|err) of rank \d+', lines))


class TorchrunLink(unittest.TestCase):

  def job(self, launcher, arguments):
    """Runs a job. Returns (each rank's JSON, the console output, the files of
    the output streams)."""
    with tempfile.TemporaryDirectory() as logs:
      environment = interpreters.environment(PYTHON_EXEC=_PYTHON,
                                             PYTHONPATH=_HERE)
      arguments = [word.replace('LOGS', logs) for word in arguments]
      ranks, said = launched.told_and_said(self, launcher + arguments,
                                           environment)
      kept = []
      for folder, _, names in os.walk(logs):
        for name in names:
          if name in ('stdout.log', 'stderr.log'):
            with open(os.path.join(folder, name), encoding='utf-8') as file:
              kept += [name + ': ' + line for line in _spoken(file.read())]
      return ranks, _spoken(said), kept

  def check(self, arguments):
    if interpreters.why_not(interpreters.NEW):
      self.skipTest(interpreters.why_not(interpreters.NEW))
    real = self.job([_PYTHON] + _MODULE, arguments)
    link = launched.called(self, 'torchrun')
    for ours in ([link], [launched.LAUNCH] + _MODULE):
      found = self.job(ours, arguments)
      self.assertEqual(set(found[0]), set(real[0]))
      for rank, there in real[0].items():
        here = found[0][rank]
        self.assertEqual(here['arguments'], there['arguments'])
        self.assertEqual(here['environment'].get('MASTER_ADDR'), '127.0.0.1')
        mine = _of_launchers(here['environment'])
        theirs = _of_launchers(there['environment'])
        self.assertEqual(
            {name: value for name, value in theirs.items()
             if mine.get(name) != value}, {}, 'torchrun alone')
        self.assertEqual(set(mine), set(theirs))
      self.assertEqual(found[1], real[1])
      # Muster must write each of torchrun's log files. Muster may write more:
      # `launch` also writes log files of streams that go to the console.
      self.assertLessEqual(set(real[2]), set(found[2]))

  def test_a_script(self):
    self.check(['--nnodes=1', '--nproc-per-node=2', '--standalone',
                launched.ENVIRONMENT_WORKER, '--lr', '0.1'])

  def test_a_module_and_redirects(self):
    self.check(['--nnodes', '1', '--nproc-per-node', '2', '--standalone',
                '--log-dir', 'LOGS', '-r', '1', '-t', '2', '-m',
                'environment_worker', '-x'])

  def test_a_program_and_streams_of_one_rank(self):
    self.check(['--nnodes=1', '--nproc-per-node=2', '--standalone',
                '--max-restarts=3', '--role=trainer', '--log-dir=LOGS',
                '-r', '0:3,1:1', '--no-python', '/usr/bin/python3',
                launched.ENVIRONMENT_WORKER])

  def test_torchrun_1_13(self):
    self.skipTest("Debian's torchrun 1.13 does not run under Python 3.11: it "
                  'reads its own default of --tee as none')


if __name__ == '__main__':
  xml_main.main()
