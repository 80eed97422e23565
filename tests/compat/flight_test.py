#!/usr/bin/python3
"""`launch inspect` reads what PyTorch's own flight recorder wrote."""

import os
import pickle
import subprocess
import sys
import tempfile
import time
import unittest

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [_HERE, os.path.join(_HERE, os.pardir, 'python')]

import interpreters
import xml_main

_LAUNCH = os.path.realpath(os.environ.get('MUSTER_LAUNCH', 'launcher/launch'))
_LIMIT_S = 120


def _inspect(*dumps):
  return subprocess.run([_LAUNCH, 'inspect', *dumps], stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        text=True, timeout=_LIMIT_S, check=False)


class _Code:

  def __reduce__(self):
    return os.system, ('touch executed',)


class Flight(unittest.TestCase):

  def setUp(self):
    folder = tempfile.TemporaryDirectory()
    self.addCleanup(folder.cleanup)
    self.folder = folder.name

  def write(self, name, value):
    with open(os.path.join(self.folder, name), 'wb') as file:
      file.write(value)

  def set_time(self, name, seconds):
    """Sets the time of a file, in seconds since the epoch."""
    os.utime(os.path.join(self.folder, name), (seconds, seconds))

  def test_the_rank_that_others_wait_for_is_named(self):
    if interpreters.why_not(interpreters.NEW):
      self.skipTest(interpreters.why_not(interpreters.NEW))
    subprocess.run(
        [_LAUNCH, '--standalone', '--nproc-per-node', '3',
         os.path.join(_HERE, 'flight_worker.py'), self.folder],
        env=interpreters.environment(
            PYTHON_EXEC=interpreters.PATHS[interpreters.NEW],
            TORCH_FR_BUFFER_SIZE='100'),
        stdin=subprocess.DEVNULL, timeout=_LIMIT_S, check=True)
    # Make the dump files a minute newer than the times in them. An operation
    # that is still pending in a dump then counts as stuck.
    later = time.time() + 60
    for rank in range(3):
      self.set_time('nccl_trace_rank_%d' % rank, later)
    done = _inspect(self.folder)
    text = ' '.join(done.stdout.split())
    self.assertEqual(done.returncode, 1, done.stdout)
    self.assertIn('Flight recorders of 3 of 3 ranks', text)
    self.assertIn('rank 1 is behind: it did not call all_reduce #3 of 8 '
                  'float32 (32 bytes) in group default_pg, where ranks 0, '
                  '2 wait', text)
    # Replace the dumps of PyTorch by dumps with the same contents, written by
    # Python's pickle module. The result must be the same.
    for rank in range(3):
      name = 'nccl_trace_rank_%d' % rank
      with open(os.path.join(self.folder, name), 'rb') as file:
        value = pickle.load(file)
      self.write(name, pickle.dumps(value, 4))
      self.set_time(name, later)
    self.assertEqual(_inspect(self.folder).stdout, done.stdout)
    # An empty dump of one rank must not hide the result from the dumps of the
    # other ranks.
    self.write('nccl_trace_rank_2', b'')
    done = _inspect(self.folder)
    self.assertIn('left out: ' + self.folder + '/nccl_trace_rank_2: is empty',
                  done.stdout)
    self.assertIn('rank 1 is behind', ' '.join(done.stdout.split()))

  def test_code_in_a_dump_is_not_run(self):
    self.write('nccl_trace_rank_0', pickle.dumps(_Code(), 2))
    done = _inspect(self.folder)
    self.assertEqual(done.returncode, 2)
    self.assertIn('would run Python code (GLOBAL); nothing was run',
                  done.stdout)
    self.assertFalse(os.path.exists('executed'))

  def test_a_dump_without_a_rank_in_its_name_is_refused(self):
    self.write('trace', pickle.dumps({}, 2))
    done = _inspect(os.path.join(self.folder, 'trace'))
    self.assertEqual(done.returncode, 2)
    self.assertIn('whose name must end with its rank', done.stdout)


if __name__ == '__main__':
  xml_main.main()
